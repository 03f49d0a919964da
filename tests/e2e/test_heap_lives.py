"""spoor heap grow, churn, life: of a program whose leak, cache and garbage have sizes that are known."""
import json
import os
import time

from jvm import ObjectsJavaTest

from harness import spoor

SWITCH = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+SpoorTraceObjects", "-XX:SpoorObjectsMode=1"]
ROUNDS, LEAKED, PAGES = 12, 1000, 500
DEADLINE_S = 120
CPU_S, SAMPLES = 1, 200  # of the program whose callers are sampled


class HeapLivesTest(ObjectsJavaTest):
    def run_it(self, *options):
        vm = self.java("Growth", str(ROUNDS), str(LEAKED), options=["-Xmx256m", "-Xmn128m", *SWITCH, *options])
        recorder = self.record(vm, "--objects")
        vm.process.stdin.write("go\n")
        vm.process.stdin.flush()
        self.assertEqual(vm.line(DEADLINE_S), "done")
        vm.process.stdin.write("\n")
        vm.process.stdin.flush()
        self.assertEqual(vm.process.wait(DEADLINE_S), 0)
        self.assertEqual(recorder.wait(DEADLINE_S), 0)

    def ask(self, *words):
        return json.loads(spoor("heap", *words, "--format", "json", self.path()).stdout)

    @staticmethod
    def group(found, name):
        return next(row for row in found["groups"] if row["key"].startswith(name))

    def levels(self):
        """Groups in groups have the sums of the flat ones, in each view."""
        for view, unit in (("grow", "growth_bytes"), ("churn", "temporary_bytes"), ("life", "dead_bytes")):
            flat = {row["key"]: row[unit] for row in self.ask(view, "--by", "type")["groups"]}
            tree = self.ask(view, "--by", "type,site")
            self.assertEqual(tree["by"], ["type", "site"])
            self.assertEqual({row["key"]: row[unit] for row in tree["groups"] if row[unit]}, flat)
            for row in tree["groups"]:
                self.assertEqual(sum(site[unit] for site in row["children"]), row[unit], row["key"])
            sites = {row["key"]: row[unit] for row in self.ask(view, "--by", "site")["groups"]}
            self.assertEqual({f"{row['key']} at {site['key']}": site[unit] for row in tree["groups"] for site in row["children"]
                              if site[unit]}, sites)
        text = spoor("heap", "churn", "--by", "package,type,callers", "--top", "5", self.path()).stdout
        self.assertRegex(text, r"by package, type, callers\n")
        self.assertRegex(text, r"\n {6}Growth.serve:\d+ +\d")
        rows = spoor("heap", "churn", "--by", "type,site", "--format", "csv", self.path()).stdout.splitlines()
        self.assertGreater(len(rows), 3)

    def over_time(self):
        """What each round leaves is alive after its collection; features by the code that allocates."""
        found = self.ask("time", "--by", "type")
        order = self.group(found, "Growth$Order")
        self.assertEqual(order["objects_at"], [round_ * LEAKED for round_ in range(1, len(found["moments"]) + 1)])
        times = [moment["time_ns"] for moment in found["moments"]]
        self.assertEqual(times, sorted(set(times)))
        self.assertEqual(len(found["all"]["bytes"]), len(times))
        features = self.path("features")
        with open(features, "w", encoding="utf-8") as f:
            f.write("Audit (255 0 0) { Growth.leak() }\nServing { Growth.serve() Growth$Request }\n")
        found = self.ask("time", "--features", features, "--by", "feature,type")
        self.assertEqual(self.group(found, "Audit > Growth$Order")["objects_at"], order["objects_at"])
        churn = self.ask("churn", "--features", features, "--by", "feature,type")
        serving = self.group(churn, "Serving")
        requests = (ROUNDS - 1) * 50 * LEAKED - 1
        self.assertEqual({row["key"]: row["temporary_objects"] for row in serving["children"]},
                         {"Growth$Request": requests, "int[]": requests})
        life = self.group(self.ask("life", "--by", "type"), "Growth$Request")
        self.assertEqual(life["timed_objects"], life["dead_objects"])
        self.assertLessEqual(life["lived_least_ns"], life["lived_most_ns"])
        # A request is found dead by the collection of its round, but for the last one of each.
        self.assertLess(life["lived_least_ns"], life["lived_most_ns"])
        # The moment before a time, and how far before.
        early = times[3] + 1000
        state = self.ask("diff", "--from", f"{early}ns", "--to", "end")["state"]
        self.assertEqual((state["from_distance_ns"], state["to_distance_ns"]), (1000, 0))

    def check(self, *options):
        self.run_it(*options)
        found = self.ask("grow")
        state = found["state"]
        order = found["groups"][0]
        # A round is a collection, and all of a round's orders have been allocated before it.
        rounds = state["to_moment"] - state["from_moment"]
        self.assertEqual(rounds, ROUNDS - 2)
        collections = state["collections"]
        self.assertEqual((collections["differ"], collections["layout_known"]), (0, True))
        self.assertGreaterEqual(collections["agree"], ROUNDS)
        self.assertTrue(order["key"].startswith("Growth$Order at Growth.leak:"), order)
        self.assertEqual((order["growth_objects"], order["trend"]), (rounds * LEAKED, "grows"))
        self.assertEqual(order["born_objects"], rounds * LEAKED)
        self.assertEqual(order["permanent_objects"], 2 * LEAKED)
        self.assertEqual((order["died_objects"], order["temporary_objects"]), (0, 0))
        curve = [int(bytes) for bytes in order["curve_bytes"]]
        self.assertEqual(curve, sorted(curve))
        self.assertEqual(curve[-1], order["old_bytes"])
        # The cache has been there in whole since the first round, and does not grow between later ones.
        self.assertEqual([row["key"] for row in found["groups"] if row["key"].startswith("Growth$Page")], [])
        churn = self.ask("churn", "--by", "type")
        request = self.group(churn, "Growth$Request")
        self.assertEqual(request["temporary_objects"], (ROUNDS - 1) * 50 * LEAKED - 1)
        numbers = self.group(churn, "int[]")
        self.assertGreaterEqual(numbers["temporary_objects"], request["temporary_objects"])
        self.assertGreater(numbers["bytes_per_s"], 0)
        between = self.ask("diff", "--from", f"gc:{state['from_gc']}", "--to", f"gc:{state['to_gc']}", "--by", "type")
        order = self.group(between, "Growth$Order")
        self.assertEqual([order[f"{what}_objects"] for what in ("permanent", "died", "born", "temporary")],
                         [2 * LEAKED, 0, rounds * LEAKED, 0])
        self.assertEqual(order["net_bytes"], order["born_bytes"])
        request = self.group(between, "Growth$Request")
        self.assertEqual(request["temporary_objects"], rounds * 50 * LEAKED - 1)
        ages = self.ask("life")["ages"]
        self.assertEqual([row["survived"] for row in ages][:4], ["0", "1", "2", "3 to 4"])
        # The last request of a round is found dead one collection later than all others.
        self.assertGreaterEqual(ages[1]["dead_objects"], ROUNDS - 2)
        self.levels()
        self.over_time()
        whole = self.ask("grow", "--from", "begin", "--to", "end", "--by", "type")
        order = self.group(whole, "Growth$Order")
        self.assertEqual((order["born_objects"], order["permanent_objects"]), (ROUNDS * LEAKED, 0))
        return found

    def test_serial(self):
        self.check("-XX:+UseSerialGC")
        text = spoor("heap", "grow", self.path()).stdout
        self.assertRegex(text.splitlines()[0], r"; (\d+) of \1 collections agree with the JVM's pools$")
        self.assertIn("Growth$Order at Growth.leak", text.split("GROWTH")[0])
        self.assertIn("NOT KNOWN", text)
        self.assertIn("growth_bytes", spoor("heap", "grow", "--format", "csv", self.path()).stdout.splitlines()[0])
        self.assertIn("not after its begin", spoor("heap", "life", "--from", "end", "--to", "end", self.path(),
                                                   expect=1).stderr)

    def test_g1(self):
        self.check("-XX:+UseG1GC", "-XX:ParallelGCThreads=2")

    def test_callers(self):
        """Samples say who has called: seven of ten the one caller, three the other."""
        vm = self.java("CalledBy", options=["-Xmx64m", "-XX:+UseSerialGC", "-XX:CompileCommand=dontinline,CalledBy.make", *SWITCH])
        recorder = self.record(vm, "--objects", "--sample=1ms")
        vm.process.stdin.write("go\n")
        vm.process.stdin.flush()
        deadline = time.monotonic() + DEADLINE_S
        while self.cpu_s(vm) < CPU_S and time.monotonic() < deadline:
            time.sleep(0.1)
        vm.process.stdin.write("stop\n")
        vm.process.stdin.flush()
        while vm.line(DEADLINE_S) != "done":
            pass
        vm.process.stdin.write("\n")
        vm.process.stdin.flush()
        self.assertEqual(vm.process.wait(DEADLINE_S), 0)
        self.assertEqual(recorder.wait(DEADLINE_S), 0)
        done = spoor("heap", "callers", "--format", "json", self.path(), expect=None)
        found = json.loads(done.stdout)
        sites = [row for row in found["sites"] if row["key"].startswith("long[] at CalledBy.make:") and row["samples"]]
        self.assertTrue(sites, found["sites"][:5])
        site = sites[0]
        self.assertGreater(site["samples"], SAMPLES)
        share = {row["key"].split(":")[0]: row["samples"] / site["samples"] for row in site["callers"]}
        print(site["samples"], "samples", share)
        # Five standard deviations of as many samples.
        spread = 5 * (0.7 * 0.3 / site["samples"]) ** 0.5
        self.assertAlmostEqual(share["CalledBy.often"], 0.7, delta=spread)
        self.assertAlmostEqual(share["CalledBy.seldom"], 0.3, delta=spread)
        worker = site["callers"][0]["callers"][0]
        self.assertTrue(worker["key"].startswith("CalledBy.lambda$main$"), worker)

    @staticmethod
    def cpu_s(vm):
        with open(f"/proc/{vm.process.pid}/stat", encoding="utf-8") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def test_words(self):
        self.assertIn("which FILE", spoor("heap", "grow", expect=2).stderr)
        self.assertIn("age is not known of objects that are dead",
                      spoor("heap", "churn", "--by", "age", "x", expect=2).stderr)
