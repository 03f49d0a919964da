"""spoor record --objects in parts: each begins with the heap, and can be read alone."""
import glob
import json
import subprocess

from jvm import ObjectsJavaTest, jdk_tool

from harness import spoor, wait_until

DEADLINE_S = 120
# Of nothing that does not fit together there may be any.
NONE = ("unknown_moves", "unknown_class", "no_place", "tlabs_wrong", "checked_wrong", "gaps", "holes", "bad_words",
        "lost_names", "refused", "overwritten")
ROUNDS, LEAKED = 60, 300
# A ring that has room for all events, however long the recorder waits for a CPU.
OPTIONS = ["-Xmx256m", "-Xmn128m", "-XX:+UnlockDiagnosticVMOptions", "-XX:SpoorObjectsMode=2", "-XX:SpoorObjectsRing=256m"]


class RotateTest(ObjectsJavaTest):
    def run_it(self, *options, record=("--max-size", "256M", "--deviation", "1"), rounds=ROUNDS, pause_ms=0):
        """The parts, and a dump at the end of the last one."""
        vm = self.java("Growth", str(rounds // 2), str(LEAKED), str(pause_ms), options=[*OPTIONS, *options])
        recorder = self.record(vm, "--objects=exact", *record)
        self.assertEqual(vm.ask("go", DEADLINE_S), "done")
        if "--max-size" in record:
            # A part ends between two collections. A recorder that lags behind sees no such moment before all is over.
            wait_until("the first part has ended", lambda: len(self.parts()) > 1, DEADLINE_S)
        self.assertEqual(vm.ask("go", DEADLINE_S), "done")
        done = subprocess.run([jdk_tool("jcmd", self.home), str(vm.pid), "GC.heap_dump", self.path("app.hprof")],
                              capture_output=True, text=True, timeout=DEADLINE_S, check=False)
        self.assertIn("Heap dump file created", done.stdout + done.stderr)
        vm.say()
        self.assertEqual(vm.process.wait(DEADLINE_S), 0)
        self.assertEqual(recorder.wait(DEADLINE_S), 0)
        return self.parts()

    def parts(self):
        return sorted(glob.glob(self.path("log-*.spoor")))

    @staticmethod
    def said(*command):
        return json.loads(spoor(*command).stdout)

    def check(self, *options):
        files = self.run_it(*options)
        self.assertGreater(len(files), 1)
        counts, carried, collected = {}, [], []
        for path in files:
            found = self.said("objects", "--format", "json", path)
            self.assertEqual({name: found[name] for name in NONE}, dict.fromkeys(NONE, 0), path)
            if found["survivors_known"]:
                collected.append(path)
            carried.append(found["carried"])
            for row in found["rows"]:
                self.assertLessEqual(row.get("survived") or 0, row["objects"])
                counts[row["name"]] = counts.get(row["name"], 0) + row["objects"]
        # Parts have all objects of the program, each once.
        self.assertEqual((counts["Growth$Order"], counts["Growth$Request"]), (ROUNDS * LEAKED, ROUNDS * LEAKED * 50))
        # The last part may begin after the last collection.
        self.assertGreaterEqual(len(collected), len(files) - 1)
        self.assertEqual(carried[0], 0)
        self.assertGreater(carried[-1], LEAKED * ROUNDS / 2)
        checked = self.said("heap", "check", "--format", "json", collected[-1], self.path("app.hprof"))
        self.assertEqual((checked["differences"], checked["moment"]), (0, "gc_end"), checked["examples"][:10])
        self.assertGreater(checked["equal"], LEAKED * ROUNDS)
        self.assertIn("when this part of the recording began", spoor("objects", files[-1]).stdout)
        self.together(files, counts)
        return files

    def together(self, files, counts):
        """All parts as one recording."""
        found = self.said("objects", "--format", "json", *files)
        self.assertEqual({name: found[name] for name in NONE}, dict.fromkeys(NONE, 0))
        self.assertEqual({row["name"]: row["objects"] for row in found["rows"]}, counts)
        self.assertEqual(found["carried"], 0)
        rows = self.said("objects", "--by", "collection", "--format", "json", *files)["rows"]
        ids = [row["gc_id"] for row in rows]
        self.assertEqual(ids, sorted(set(ids)))
        each = [self.said("objects", "--by", "collection", "--format", "json", path)["rows"] for path in files]
        self.assertEqual(ids, [row["gc_id"] for rows in each for row in rows])
        limits = ["--from", f"gc:{ids[0]}", "--to", f"gc:{ids[-1]}"]
        within = self.said("objects", "--format", "json", *limits, *files)
        self.assertEqual(within["objects"] + within["left_out"], found["objects"])
        if len(files) > 2:
            said = spoor("objects", files[0], *files[2:], expect=1)
            self.assertIn("parts between those that are there are missing", said.stderr)

    def test_serial(self):
        files = self.check("-XX:+UseSerialGC")
        # At the end of a round, which is when a part ends, all that has leaked is there.
        state = self.said("heap", "--by", "type", "--at", "end", "--format", "json", files[1])["root"]
        orders = next(row["objects"] for row in state["children"] if row["key"] == "Growth$Order")
        self.assertGreater(orders, 0)
        self.assertEqual(orders % LEAKED, 0)
        for path in files:
            self.assertIn(": sound", spoor("verify", path).stdout)

    def test_g1(self):
        # Without an archive: its regions have a filler, which the walk takes for an object and no dump has.
        self.check("-XX:+UseG1GC", "-XX:ParallelGCThreads=2", "-Xshare:off")

    def test_pointers(self):
        """Parts with graphs: that of the last collection is the dump's, objects, references and roots."""
        record = ("--max-size", "256M", "--deviation", "1", "--objects-pointers=full")
        files = self.run_it("-XX:+UseSerialGC", record=record)
        self.assertGreater(len(files), 1)
        last = files[-1] if self.said("objects", "--format", "json", files[-1])["survivors_known"] else files[-2]
        checked = self.said("heap", "check", "--format", "json", last, self.path("app.hprof"))
        self.assertEqual((checked["differences"], checked["moment"]), (0, "gc_end"), checked["examples"][:10])
        graph = checked["graph"]
        self.assertEqual((graph["differences"], graph["in_other_frames"]), (0, 0), graph)
        self.assertGreater(graph["objects"], LEAKED * ROUNDS)
        self.assertGreater(graph["references"], LEAKED * ROUNDS)
        for path in files:
            self.assertIn(": sound", spoor("verify", path).stdout)

    def test_a_flight_recorder(self):
        """What is older than a second is gone, but for what was in the heap then."""
        path, = self.run_it("-XX:+UseSerialGC", record=("--flight-recorder", "1s"), rounds=3 * ROUNDS, pause_ms=15)
        found = self.said("objects", "--format", "json", path)
        self.assertEqual({name: found[name] for name in NONE}, dict.fromkeys(NONE, 0))
        self.assertGreater(found["carried"], 1000)
        self.assertLess(sum(row["objects"] for row in found["rows"] if row["name"] == "Growth$Order"),
                        3 * ROUNDS * LEAKED)
        checked = self.said("heap", "check", "--format", "json", path, self.path("app.hprof"))
        self.assertEqual((checked["differences"], checked["moment"]), (0, "gc_end"), checked["examples"][:10])
        self.assertGreater(checked["equal"], 3 * LEAKED * ROUNDS)

    def test_small_parts_are_refused(self):
        self.assertIn("256M or more", spoor("record", "--objects", "-p", 1, "--max-size", "100M", expect=2).stderr)
