"""Object events switched on and off in a JVM that runs: it was started without an option, and goes on as before."""
import itertools
import json
import os
import random
import re
import signal
import subprocess
import time

from jvm import ObjectsJavaTest, jdk_tool

from harness import Recorder, spoor
import soaking
from soaking import only_in_soak, slow

DEADLINE_S = 300
NONE = ("unknown_moves", "unknown_class", "no_place", "tlabs_wrong", "checked_wrong", "gaps", "holes", "bad_words",
        "lost_names", "refused", "overwritten")
DIFFERENCES = ("other_class", "other_length", "only_log", "only_dump")
ROUNDS = 100_000
UNLOCK = "-XX:+UnlockDiagnosticVMOptions"
# A ring that holds all of a run, however late a busy machine lets the recorder empty it.
CHECK = [UNLOCK, "-XX:SpoorObjectsMode=2", "-XX:SpoorObjectsRing=128m"]
SWITCHES = 20 if soaking.is_on() else 8
KILLS = 8 if soaking.is_on() else 4


class SwitchedTest(ObjectsJavaTest):
    """A JVM in which Switched runs."""

    def start(self, *options, threads=2, rested=False):
        return self.java("Switched", threads, *(["rested"] if rested else []), options=["-Xmx192m", *options])

    def rest(self, vm, rounds):
        """(objects of Counted, bytes by thread as the JVM counts them) when all threads have done so many rounds."""
        count, *threads = vm.ask(str(rounds), DEADLINE_S).removeprefix("rested ").split()
        return int(count), {int(tid): int(number) for tid, number in zip(threads[::2], threads[1::2])}

    def objects(self, *options, path=None):
        return json.loads(spoor("objects", "--format", "json", *options, path or self.path()).stdout)

    def assert_right(self, vm):
        """The program has found nothing wrong with its objects."""
        vm.process.stdin.close()
        self.assertEqual(vm.line(DEADLINE_S), "right")
        self.assertEqual(vm.process.wait(DEADLINE_S), 0)

    @staticmethod
    def count(found, name):
        return sum(row["objects"] for row in found["rows"] if row["name"] == name)

    def assert_sound(self, found, end="off"):
        self.assertEqual({name: found[name] for name in NONE}, dict.fromkeys(NONE, 0))
        self.assertEqual((found["end"], found["damaged"]), (end, False))

    def dump(self, vm, name):
        done = subprocess.run([jdk_tool("jcmd", self.home), str(vm.pid), "GC.heap_dump", self.path(f"{name}.hprof")],
                              capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertIn("Heap dump file created", done.stdout + done.stderr)

    def heap_check(self, moment, name, path=None):
        return json.loads(spoor("heap", "check", "--format", "json", "--at", moment, path or self.path(),
                                self.path(f"{name}.hprof"), expect=None).stdout)

    def lose_moves(self, vm, recorder):
        """The recorder is stopped, until the ring is full and more."""
        os.kill(recorder.pid, signal.SIGSTOP)
        try:
            self.rest(vm, 10 * ROUNDS)
            subprocess.run([jdk_tool("jcmd", self.home), str(vm.pid), "GC.run"], capture_output=True, text=True,
                           timeout=DEADLINE_S, check=True)
        finally:
            os.kill(recorder.pid, signal.SIGCONT)

    def rest_until(self, vm, done):
        """What the collectors have lost, their own words say when there is room for some again."""
        until = time.monotonic() + DEADLINE_S
        rounds = itertools.count(ROUNDS + 1)
        while not done():
            self.assertLess(time.monotonic(), until)
            self.rest(vm, next(rounds))

    @staticmethod
    def switched_again(*paths):
        """How often the log as it is now says that the events have been switched on again."""
        return sum(spoor("cat", "--event", "note", path, expect=None).stdout.count('"text":"object events were switched on again')
                   for path in paths)


class SwitchTest(SwitchedTest):
    def check(self, *options, load=True):
        """What is recorded is what the program has done since the switch, and what the JVM counts since then."""
        vm = self.start(*options)
        before = None if load else self.rest(vm, 0)[1]
        recorder = self.record(vm, "--objects=exact")
        count, after = self.rest(vm, ROUNDS)
        recorder.stop()
        found = self.objects()
        self.assert_sound(found)
        self.assertGreater(found["found"], 1000)
        self.assertEqual([self.count(found, name) for name in ("Switched$Counted", "Switched$Row")], [count, count])
        sites = {}
        for row in self.objects("--by", "site")["rows"]:
            if row["name"] in ("Switched$Counted", "Switched$Row"):
                of = sites.setdefault(row["name"], {})
                of[row["site"].split(":")[0]] = of.get(row["site"].split(":")[0], 0) + row["objects"]
        self.assertEqual(sites, {name: {"Switched$Worker.counted": count} for name in sites})
        self.assertEqual(len(sites), 2)
        threads = {row["java_tid"]: row for row in self.objects("--by", "thread")["rows"]}
        self.assertEqual([row for row in threads.values() if row.get("vm_bytes", row["bytes"]) != row["bytes"]], [])
        for tid in after:
            self.assertIn("vm_bytes", threads[tid])
            if not load:
                self.assertEqual(threads[tid]["bytes"], after[tid] - before[tid])
        self.assertEqual(subprocess.run(["ls", "-l", f"/proc/{vm.pid}/fd"], capture_output=True, text=True,
                                        check=True).stdout.count("spoor-objects"), 0)
        return vm, found

    def test_serial(self):
        vm, _ = self.check("-XX:+UseSerialGC", *CHECK)
        self.assert_right(vm)

    def test_parallel(self):
        vm, _ = self.check("-XX:+UseParallelGC", *CHECK)
        self.assert_right(vm)

    def test_g1(self):
        vm, _ = self.check("-XX:+UseG1GC", *CHECK)
        self.assert_right(vm)

    def test_bytes_of_threads_that_rest(self):
        vm, _ = self.check("-XX:+UseG1GC", load=False)
        self.assert_right(vm)

    def test_the_interpreter(self):
        vm, _ = self.check("-XX:+UseSerialGC", "-Xint", load=False)
        self.assert_right(vm)

    def test_c1(self):
        vm, _ = self.check("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
        self.assert_right(vm)

    def test_a_small_ring_is_emptied_while_the_heap_is_walked(self):
        """After the walk a ring of 1 MB may be too small for a collection, which waits for 50 ms at most: that is told."""
        vm = self.start("-XX:+UseParallelGC", *CHECK, "-XX:SpoorObjectsRing=1m")
        recorder = self.record(vm, "--objects=exact")
        self.rest(vm, ROUNDS)
        recorder.stop()
        found = self.objects()
        self.assertGreater(found["found"], 500_000)
        self.assertEqual({name: found[name] for name in ("holes", "bad_words", "tlabs_wrong", "checked_wrong", "no_place")},
                         dict.fromkeys(("holes", "bad_words", "tlabs_wrong", "checked_wrong", "no_place"), 0))
        if not found["gaps"]:
            self.assert_sound(found)
        self.assert_right(vm)

    def test_beside_jfr(self):
        vm, _ = self.check("-XX:+UseG1GC", f"-XX:StartFlightRecording=filename={self.path('app.jfr')},settings=profile")
        self.assert_right(vm)

    def check_heap(self, *options):
        """The heap of the walk, and what happens to it, is what the JVM dumps."""
        vm = self.java("LiveSet", options=["-Xmx256m", *options])
        vm.process.stdin.write("go\n")
        vm.process.stdin.flush()
        self.assertEqual(vm.line(DEADLINE_S), "done")
        recorder = self.record(vm, "--objects=exact")
        done = subprocess.run([jdk_tool("jcmd", self.home), str(vm.pid), "GC.heap_dump", self.path("app.hprof")],
                              capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertIn("Heap dump file created", done.stdout + done.stderr)
        recorder.stop()
        found = json.loads(spoor("heap", "check", "--format", "json", self.path(), self.path("app.hprof"),
                                 expect=None).stdout)
        self.assertEqual({kind: found[kind] for kind in DIFFERENCES}, dict.fromkeys(DIFFERENCES, 0),
                         found["examples"][:20])
        self.assertGreater(found["equal"], 100_000)
        self.assert_sound(self.objects())
        vm.process.stdin.write("\n")
        vm.process.stdin.flush()
        self.assertEqual(vm.process.wait(DEADLINE_S), 0)

    def test_heap_serial(self):
        self.check_heap("-XX:+UseSerialGC")

    def test_heap_parallel(self):
        self.check_heap("-XX:+UseParallelGC")

    def test_heap_g1(self):
        self.check_heap("-XX:+UseG1GC")

    def test_heap_g1_with_what_is_dead_in_the_archive(self):
        """Of a JVM that has not marked anything yet the walk finds all that is in the archive of classes, a filler among it. No
        collection moves or frees that, and no dump has it."""
        vm = self.start("-XX:+UseG1GC", "-Xmn100m", *CHECK, rested=True)
        self.rest(vm, 0)
        recorder = self.record(vm, "--objects=exact")
        done = subprocess.run([jdk_tool("jcmd", self.home), str(vm.pid), "GC.heap_dump", self.path("app.hprof")],
                              capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertIn("Heap dump file created", done.stdout + done.stderr)
        recorder.stop()
        self.assert_sound(self.objects())
        found = json.loads(spoor("heap", "check", "--format", "json", self.path(), self.path("app.hprof"), expect=None).stdout)
        self.assertEqual({kind: found[kind] for kind in DIFFERENCES}, dict.fromkeys(DIFFERENCES, 0), found["examples"][:20])
        self.assertEqual(found["log_objects"], found["equal"] + found["class_object"] + found["archived_dead"])
        self.assertGreater(found["archived_dead"], 0)
        # Few: it explains nothing else away.
        self.assertLess(found["archived_dead"], found["equal"] // 100)
        self.assert_right(vm)

    def check_stopped(self, collector):
        """The recorder is stopped, until the ring is full and more: births and moves are lost. The heap is said to be
        incomplete, until the recorder has switched the events off and on again by itself; then it is what the JVM dumps,
        object by object. Everything else goes on meanwhile."""
        vm = self.start(f"-XX:+Use{collector}GC", UNLOCK, "-XX:SpoorObjectsRing=4m")
        recorder = self.record(vm, "--objects=exact")
        self.rest(vm, ROUNDS)
        self.dump(vm, "before")
        self.lose_moves(vm, recorder)
        self.rest_until(vm, lambda: self.switched_again(self.path()))
        count, _ = self.rest(vm, ROUNDS)
        self.dump(vm, "after")
        notes = "\n".join(note for note in recorder.stop().notes() if note.startswith("object events"))
        self.assertRegex(notes, r"^object events: moves of collections were lost; the heap is incomplete .*\n"
                                r"object events were switched on again in .*: the heap is complete again$")
        self.assertIn("the heap was incomplete until objects were switched on anew, 1 times", recorder.err)
        self.assertNotIn("to the end of this log", recorder.err)
        found = self.objects("--by", "collection")
        self.assertGreater(found["lost_bytes"], 0)
        self.assertGreaterEqual(found["lost_bytes"], found["gap_bytes"])
        self.assertEqual((found["holes"], found["bad_words"], found["tlabs_wrong"], found["lost_names"]), (0, 0, 0, 0))
        self.assertEqual((found["switched_again"], found["incomplete_at_end"], found["end"]), (1, False, "off"))
        self.assertGreater(found["unrecorded_ns"], 0)
        self.assertGreater(found["forgotten"], 1000)
        rows = found["rows"]
        self.assertEqual(found["incomplete_collections"], sum(row["incomplete"] for row in rows))
        incomplete = [row["gc_id"] for row in rows if row["incomplete"]]
        self.assertTrue(incomplete)
        dumps = [row for row in rows if row["cause"] == "Heap Dump Initiated GC"]
        # Parallel has a young collection before each full one.
        dumps = [[row for row in dumps if row["gc_id"] < incomplete[0]][-1], dumps[-1]]
        self.assertGreater(dumps[1]["gc_id"], incomplete[-1])
        self.assertEqual([row["incomplete"] for row in dumps], [False, False])
        for name, row in zip(("before", "after"), dumps):
            with self.subTest(dump=name):
                check = self.heap_check(f"gc:{row['gc_id']}", name)
                self.assertEqual((check["differences"], check["incomplete"]), (0, False), check["examples"][:20])
                self.assertGreater(check["equal"], 100_000)
        # Between them it lacks objects, and says so.
        check = self.heap_check(f"gc:{incomplete[-1]}", "before")
        self.assertTrue(check["incomplete"])
        heap = spoor("heap", "--at", f"gc:{incomplete[-1]}", self.path(), expect=None)
        self.assertIn("events were lost before this moment: the heap is incomplete", heap.stderr)
        heap = spoor("heap", "--at", f"gc:{dumps[-1]['gc_id']}", self.path(), expect=None)
        self.assertNotIn("incomplete", heap.stderr)
        # A class has one row, whichever ring its objects are of, and what was recorded after the switch is exact.
        classes = [row["name"] for row in self.objects()["rows"]]
        self.assertEqual(len(classes), len(set(classes)))
        self.assertGreaterEqual(self.count(self.objects(), "Switched$Counted"), count)
        text = spoor("objects", "--by", "collection", self.path()).stdout
        self.assertRegex(text, r"what was alive after [\d,]+ of \d+ collections, the first of them GC \d+")
        self.assertRegex(text, r"in which events were switched off and on again, 1 times")
        self.assertIn("collections after which objects are missing", spoor("heap", "life", self.path(), expect=None).stdout)
        self.assert_right(vm)

    @only_in_soak
    def test_a_recorder_that_is_stopped_serial(self):
        self.check_stopped("Serial")

    @only_in_soak
    def test_a_recorder_that_is_stopped_parallel(self):
        self.check_stopped("Parallel")

    @slow
    def test_a_recorder_that_is_stopped_g1(self):
        self.check_stopped("G1")

    @slow
    def test_on_and_off_often(self):
        """Under load, each time from nothing: a new ring, new names, new code."""
        vm = self.start("-XX:+UseG1GC", UNLOCK, "-XX:SpoorObjectsRing=16m")
        paths = [self.path(f"{i}.spoor") for i in range(SWITCHES)]
        for path in paths:
            self.record(vm, "--objects", path=path).stop()
        self.assert_right(vm)  # first: while its threads run, nobody else has the CPUs
        for path in paths:
            found = self.objects(path=path)
            self.assertEqual([found[name] for name in ("checked_wrong", "bad_words", "tlabs_wrong", "holes")], [0] * 4)
            self.assertEqual(found["end"], "off")
            self.assertGreater(found["found"], 1000)

    @slow
    def test_recorders_that_are_killed(self):
        """At any moment: between its question and the answer, while the heap is walked, later."""
        vm = self.start("-XX:+UseParallelGC", UNLOCK, "-XX:SpoorObjectsRing=1m")
        chance = random.Random(16)
        for i in range(KILLS):
            recorder = Recorder(vm.pid, self.path(f"{i}.spoor"), "--objects=exact")
            self.addCleanup(recorder.close)
            until = time.monotonic() + chance.random() * 1.5
            while time.monotonic() < until and recorder.process.poll() is None:
                time.sleep(0.001)
            recorder.close()
        recorder = self.record(vm, "--objects=exact")
        count, _ = self.rest(vm, ROUNDS)
        recorder.stop()
        found = self.objects()
        self.assert_sound(found)
        self.assertEqual(self.count(found, "Switched$Counted"), count)
        self.assert_right(vm)

    def test_one_recorder_at_a_time(self):
        vm = self.start("-XX:+UseSerialGC")
        recorder = self.record(vm, "--objects=exact")
        self.rest(vm, 0)  # the second one waits for ten seconds that the first one goes
        done = spoor("record", "--objects", "-p", vm.pid, "-o", self.path("second.spoor"), expect=1)
        self.assertIn("another recorder", done.stderr)
        count, _ = self.rest(vm, ROUNDS)
        recorder.stop()
        found = self.objects()
        self.assert_sound(found)
        self.assertEqual(self.count(found, "Switched$Counted"), count)
        self.assert_right(vm)

    def test_a_jvm_that_ends_meanwhile(self):
        vm = self.start("-XX:+UseG1GC")
        recorder = self.record(vm, "--objects=exact")
        count, _ = self.rest(vm, ROUNDS)
        self.assert_right(vm)
        self.assertEqual(recorder.wait(DEADLINE_S), 0)
        found = self.objects()
        self.assert_sound(found, "ended")
        self.assertEqual(self.count(found, "Switched$Counted"), count)

    def test_what_it_says(self):
        vm = self.start("-XX:+UseSerialGC")
        recorder = self.record(vm, "--objects")
        recorder.stop()
        self.assertRegex(recorder.err, r"switched on in [\d.]+ \w+, which found \d+ objects")
        self.assertNotIn("incomplete", recorder.err)
        self.assertIn("in the heap when events were switched on", spoor("objects", self.path()).stdout)
        vm.close()
        vm = self.start("-XX:+UseSerialGC", "-XX:-UseTLAB")
        done = spoor("record", "--objects", "-p", vm.pid, "-o", self.path("refused.spoor"), expect=1)
        self.assertIn("UseTLAB", done.stderr)
        self.assertTrue(re.search("exact or lossy", spoor("record", "--objects=all", "-p", 1, expect=2).stderr))
