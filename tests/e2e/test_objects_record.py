"""spoor record --objects and spoor objects: against what the program has done, and what the JVM counts itself."""
import csv
import io
import json
import os
import signal
import subprocess
import time
import unittest

from jvm import ObjectsJavaTest, jdk_tool, wait_for_libjvm

from harness import SPOOR, spoor, wait_until
from pprof_read import Pprof

SWITCH = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+SpoorTraceObjects"]
EXACT, CHECK = 1, 2
DEADLINE_S = 300
# Of nothing that does not fit together there may be any.
NONE = ("unknown_moves", "unknown_class", "no_place", "tlabs_wrong", "checked_wrong", "gaps", "holes", "bad_words",
        "lost_names", "refused")
ROUNDS = 300_000
BY = ("class", "site", "chain", "method", "thread", "tier")


class ObjectsRecordTest(ObjectsJavaTest):
    def start(self, *options, threads=3, rounds=ROUNDS, full=2, mode=EXACT | CHECK):
        vm = subprocess.Popen([jdk_tool("java", self.home), "-Xmx160m", *SWITCH, f"-XX:SpoorObjectsMode={mode}",
                               *options, "-cp", self.classes, "Births", str(threads), str(rounds), str(full)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.finish, vm)
        return wait_for_libjvm(vm)

    @staticmethod
    def finish(vm):
        vm.kill()
        vm.communicate()

    def objects(self, *options):
        return json.loads(spoor("objects", "--format", "json", *options, self.path()).stdout)

    def run_it(self, *options, **how):
        """(what the program says, by its first word)"""
        vm = self.start(*options, **how)
        recorder = self.record(vm, "--objects")
        said, _ = vm.communicate("\n", timeout=DEADLINE_S)
        self.assertEqual(vm.returncode, 0)
        self.assertEqual(recorder.wait(DEADLINE_S), 0)
        truth = {"count": {}, "thread": {}}
        for kind, name, number in (line.split("\t") for line in said.splitlines() if line.count("\t") == 2):
            truth[kind][name] = int(number)
        return truth

    @staticmethod
    def class_name(internal):
        """As a person reads it: [LBirths$Element; is Births$Element[]."""
        dimensions = len(internal) - len(internal.lstrip("["))
        return internal.lstrip("[").removeprefix("L" if dimensions else "").rstrip(";") + "[]" * dimensions

    def check(self, *options):
        truth = self.run_it(*options)
        found = self.objects()
        self.assertEqual({name: found[name] for name in NONE}, dict.fromkeys(NONE, 0))
        self.assertEqual((found["end"], found["damaged"], found["survivors_known"]), ("ended", False, True))
        self.assertGreater(found["checked"], 1000)
        counts = {}
        for row in found["rows"]:
            counts[row["name"]] = counts.get(row["name"], 0) + row["objects"]
        wanted = {self.class_name(name): number for name, number in truth["count"].items()}
        self.assertEqual({name: counts.get(name) for name in wanted}, wanted)
        threads = {row["java_tid"]: row for row in self.objects("--by", "thread")["rows"]}
        self.assertEqual({tid: threads[int(tid)]["bytes"] for tid in truth["thread"]}, truth["thread"])
        self.assertEqual([row for row in threads.values() if row.get("vm_bytes", row["bytes"]) != row["bytes"]], [])
        self.assertEqual({threads[int(tid)]["name"] for tid in truth["thread"]},
                         {f"Thread-{i}" for i in range(len(truth["thread"]))})
        return found

    def test_serial(self):
        found = self.check("-XX:+UseSerialGC")
        for by in BY:
            rows = self.objects("--by", by)["rows"]
            self.assertEqual(sum(row["bytes"] for row in rows), found["bytes"], by)
            self.assertEqual(sum(row["objects"] for row in rows), found["objects"], by)
        survived = sum(row["survived"] for row in found["rows"])
        collections = self.objects("--by", "collection")["rows"]
        self.assertEqual(sum(row["first_survived"] for row in collections), survived)
        self.assertGreater(sum(row["all"] for row in collections), 0)
        sites = {(row["name"], row["site"].split(":")[0]) for row in self.objects("--by", "site")["rows"]}
        self.assertIn(("Births$Plain", "Births$Worker.round"), sites)

    def test_parallel(self):
        self.check("-XX:+UseParallelGC")

    def test_g1(self):
        self.check("-XX:+UseG1GC")
        # Its threads move in no order, and which of them was seen first does not matter.
        collections = self.objects("--by", "collection")["rows"]
        young = [row for row in collections if row["collector"] == "G1New"]
        self.assertGreater(len(young), 1)
        self.assertGreater(min(row["survived"] for row in young), 0)

    def check_mortals(self, *options):
        """A thread's last words are told before a collection can begin that does not know it any more."""
        vm = self.java("Mortal", "4", "2", options=["-Xmx64m", "-Xmn1m", *SWITCH, "-XX:SpoorObjectsMode=1", *options])
        recorder = self.record(vm, "--objects")
        vm.process.stdin.write("\n")
        vm.process.stdin.flush()
        self.assertEqual(vm.line(DEADLINE_S), "done")
        self.assertEqual(vm.process.wait(DEADLINE_S), 0)
        self.assertEqual(recorder.wait(DEADLINE_S), 0)
        found = self.objects()
        self.assertEqual({name: found[name] for name in NONE}, dict.fromkeys(NONE, 0))
        # It runs for 2 s: how many there are depends on who else wants the CPUs.
        self.assertGreater(len(self.objects("--by", "collection")["rows"]), 5)

    def test_threads_that_end_serial(self):
        self.check_mortals("-XX:+UseSerialGC")

    def test_threads_that_end_parallel(self):
        self.check_mortals("-XX:+UseParallelGC")

    def test_threads_that_end_g1(self):
        self.check_mortals("-XX:+UseG1GC")

    def test_the_text_and_other_readers(self):
        self.run_it("-XX:+UseSerialGC")
        text = spoor("objects", "--top", "3", self.path()).stdout
        self.assertIn("more rows", text)
        self.assertIn("What is not known", text)
        rows = list(csv.DictReader(io.StringIO(spoor("objects", "--format", "csv", self.path()).stdout)))
        self.assertEqual({row["name"]: int(row["objects"]) for row in rows}["Births$Plain"], 3 * ROUNDS)
        found = self.objects()
        lines = [line.rsplit(" ", 1) for line in spoor("objects", "--format", "collapsed", self.path()).stdout.splitlines()]
        self.assertEqual(sum(int(number) for _, number in lines), found["bytes"])
        self.assertIn("Births$Worker.round;Births$Plain", {line[line.find("Births$Worker.round"):] for line, _ in lines})
        with open(self.path("app.pb"), "wb") as f:
            subprocess.run([SPOOR, "objects", "--format", "pprof", self.path()], stdout=f, check=True)
        profile = Pprof(self.path("app.pb"))
        self.assertEqual(profile.types, [("alloc_objects", "count"), ("alloc_space", "bytes")])
        self.assertEqual([sum(values[i] for _, values in profile.samples) for i in (0, 1)],
                         [found["objects"], found["bytes"]])
        self.assertEqual(sum(values[0] for chain, values in profile.samples if chain[-1] == "Births$Plain"), 3 * ROUNDS)
        self.assertIn(": sound\n", spoor("verify", self.path()).stdout)
        spoor("repair", self.path(), "-o", self.path("repaired.spoor"))
        self.assertEqual(spoor("objects", "--top", "3", self.path("repaired.spoor")).stdout, text)
        spoor("report", self.path())

    def wait_for_log(self, vm, size):
        """As long as the program runs."""
        wait_until(f"the log has {size} bytes", lambda: os.path.getsize(self.path()) >= size or vm.poll() is not None, DEADLINE_S)

    def test_a_jvm_that_is_killed(self):
        vm = self.start("-XX:+UseParallelGC", rounds=100_000_000)
        recorder = self.record(vm, "--objects")
        vm.stdin.write("\n")
        vm.stdin.flush()
        self.wait_for_log(vm, 1_000_000)  # of some three million objects
        self.assertIsNone(vm.poll(), "the program has ended before it was killed")
        vm.kill()
        self.assertEqual(recorder.wait(DEADLINE_S), 0)
        found = self.objects()
        self.assertEqual(found["end"], "killed")
        self.assertGreater(found["objects"], 100_000)
        self.assertEqual([found[name] for name in ("checked_wrong", "bad_words", "tlabs_wrong", "holes")], [0] * 4)

    def test_a_recorder_that_is_killed(self):
        """The program goes on, without waiting; what is in the log by then can be read."""
        vm = self.start("-XX:+UseSerialGC", "-XX:SpoorObjectsRing=2m", threads=2, rounds=10_000_000)
        recorder = self.record(vm, "--objects")
        vm.stdin.write("\n")
        vm.stdin.flush()
        self.wait_for_log(vm, 100_000)
        recorder.process.send_signal(signal.SIGKILL)
        self.assertIsNone(vm.poll(), "the program has ended before its recorder was killed")
        recorder.wait()
        said, _ = vm.communicate(timeout=DEADLINE_S)
        self.assertEqual(vm.returncode, 0)
        self.assertIn("count\tBirths$Plain\t20000000", said)
        found = json.loads(spoor("objects", "--format", "json", self.path(), expect=None).stdout)
        self.assertEqual([found[name] for name in ("checked_wrong", "bad_words", "tlabs_wrong")], [0] * 3)

    def test_a_stock_jvm(self):
        vm = subprocess.Popen([jdk_tool("java"), "-cp", self.classes, "Births", "1", "1", "0"],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.finish, vm)
        done = spoor("record", "--objects", "-p", vm.pid, "-o", self.path(), expect=1)
        self.assertIn("no object events", done.stderr)

    def test_the_reserve_does_not_move_where_threads_look(self):
        """In a ring that nobody empties yet a thread finds the free slots after those that are full, also if a collection,
        which takes one of the reserve, was the last that took any. 512 slots, 300 of them full, a look is at 256."""
        vm = self.java("Filled", "1150000", "200000", options=["-XX:+UseSerialGC", "-Xmx256m", "-Xmn128m", *SWITCH,
                                                               "-XX:SpoorObjectsRing=8m"])
        recorder = self.record(vm, "--objects")
        vm.say()
        self.assertEqual(vm.process.wait(DEADLINE_S), 0)
        self.assertEqual(recorder.wait(DEADLINE_S), 0)
        found = self.objects()
        self.assertEqual({name: found[name] for name in NONE}, dict.fromkeys(NONE, 0))
        self.assertEqual({row["name"]: row["objects"] for row in found["rows"]}["Filled$Thing"], 1_350_000)


if __name__ == "__main__":
    unittest.main()
