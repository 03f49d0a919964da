"""spoor profile --state all: one tree of all time of all threads, against the report's wall clock."""
import json
import unittest

from jvm import JavaTest, PatchedJavaTest  # first: it says where harness is
from harness import spoor
from pprof_read import Pprof

STATES = ("running", "stolen", "runnable", "throttled", "lock", "wait", "park", "sleep", "io", "pause", "other")


class StatesTest(JavaTest):
    THINGS = ("lock", "wait", "park", "sleep", "io", "spin")
    OPTIONS = ("--sample=1ms",)

    def profile(self, *options):
        return json.loads(spoor("profile", "--format", "json", *options, self.log.path).stdout)

    def run_things(self):
        vm = self.java("Wall", 3, *self.THINGS)
        recorder = self.record(vm, *self.OPTIONS, "--window", "200ms")
        vm.ask("go", deadline_s=60)
        self.log = recorder.stop()
        self.assertEqual(self.log.lost(), {})

    def check_sums(self, *part):
        """By thread and state, to the ns; so does each view."""
        report = json.loads(spoor("report", "--format", "json", *part, self.log.path).stdout)
        wanted, got = {}, {}
        for t in report["threads"]:
            if sum(t["states"].values()):
                wanted.setdefault(t["name"], []).append([t["states"][f"{s}_ns"] for s in STATES])
        rows = self.profile("--state", "all", "--threads", *part)["rows"]
        for row in rows:
            self.assertEqual(row["wall_ns"], sum(row[f"{s}_ns"] for s in STATES))
            got.setdefault(row["thread"], []).append([row[f"{s}_ns"] for s in STATES])
        self.assertEqual({k: sorted(v) for k, v in got.items()}, {k: sorted(v) for k, v in wanted.items()})
        total = sum(row["wall_ns"] for row in rows)
        for view in ((), ("--by", "thread"), ("--by", "pool"), ("--by", "package"), ("--by", "state"), ("--flat",)):
            told = self.profile("--state", "all", *view, *part)
            self.assertEqual(told["total_ns"], total)
            self.assertEqual(sum(row["self_ns"] for row in told["rows"]), total, view)
            self.assertEqual(sum(told["states"].values()), total)
        collapsed = spoor("profile", "--state", "all", "--format", "collapsed", *part, self.log.path).stdout
        self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in collapsed.splitlines()), total)
        path = self.path("all.pb.gz")
        spoor("profile", "--state", "all", "--format", "pprof", "-o", path, *part, self.log.path)
        pprof = Pprof(path)
        self.assertEqual(pprof.types, [("samples", "count"), ("time", "nanoseconds")])
        self.assertEqual([sum(v) for v in zip(*(values for _, values in pprof.samples))], [told["samples"], total])
        self.assertEqual(dict((";".join(chain).replace(" ", "_"), values[1]) for chain, values in pprof.samples if values[1]),
                         {line.rpartition(" ")[0]: int(line.rpartition(" ")[2]) for line in collapsed.splitlines()})
        # At the ends of a part, states are read between two samples of the counters, 200 ms apart, as if they grew evenly.
        self.assertLess(told["trimmed_ns"], total / (100 if part else 1000))
        for state in STATES[1:]:
            self.assertEqual(self.profile("--state", state, *part)["total_ns"], told["states"][state], state)
        return told

    def gaps(self):
        return spoor("profile", "--state", "all", "--lab", "gap-weights", self.log.path)

    def check_chains(self, thread, state, share):
        told = self.profile("--state", state, "--thread", thread)
        print(f"{thread}: {told['total_ns']} ns {state}, {told['place_not_known'][state]} without a call chain")
        # Of three seconds, on a machine that has no CPU for the holder, too.
        self.assertGreater(told["total_ns"], 10**8, thread)
        self.assertLess(told["place_not_known"][state], told["total_ns"] * (1 - share), thread)
        flat = self.profile("--state", state, "--thread", thread, "--flat")["rows"]
        known = told["total_ns"] - told["place_not_known"][state]
        runs = {row["method"]: row["total_ns"] for row in flat}
        # Threads that end at once meet at the lock of their ThreadGroup.
        self.assertEqual(runs["Wall$Worker.run"] + runs.get("java.lang.Thread.exit", 0), known, flat)
        self.assertGreater(runs["Wall$Worker.run"], known * 0.99)


class States(StatesTest):
    def test_all_time(self):
        self.run_things()
        told = self.check_sums()
        print(told["states"], told["place_not_known"], told["trimmed_ns"])
        self.check_sums("--from", "1s", "--to", "2s")
        for state in ("lock", "wait", "park"):
            self.check_chains(state, state, 0.99)
        # Some native code is walked out of for the first time.
        for state in ("sleep", "io"):
            self.check_chains(state, state, 0.95)
        self.assertIn("wants a chain of each switch", self.gaps().stderr)


class StatesPatched(PatchedJavaTest, States):
    """Its locks and parks are told by other probes."""


class StatesWithoutProbes(States):
    OPTIONS = ("--sample=1ms", "--probes", "none")


class EverySwitch(StatesTest):
    """The thesis's weights: the time to the next sample, of which there is one at each switch."""
    OPTIONS = ("--sample=1ms", "--probes", "none", "--lab", "every-switch")

    def test_gaps(self):
        self.run_things()
        self.check_sums()
        breaks = [e["off_ns"] for e in self.log.of("off_cpu") if e["stack"]]
        self.assertGreater(sum(ns < 10**6 for ns in breaks), 0)
        for state in self.THINGS[:-1]:
            exact = self.profile("--state", "all", "--thread", state)
            gaps = self.profile("--state", "all", "--thread", state, "--lab", "gap-weights")
            print(state, exact["states"], gaps["states"])
            self.assertGreater(gaps["states"][state], exact["states"][state] * 0.95)
            # Waiting for a CPU is in it, and what ran between two samples.
            more = sum(exact["states"][s] for s in ("running", "stolen", "runnable", "throttled", "other"))
            self.assertLess(gaps["states"][state], exact["states"][state] * 1.01 + more)
            self.assertLess(abs(gaps["total_ns"] - exact["total_ns"]), exact["total_ns"] * 0.1)
        gaps = self.profile("--state", "all", "--thread", "spin", "--lab", "gap-weights")
        # What it runs after a preemption, up to the next sample, counts for where it was preempted.
        self.assertGreater(gaps["states"]["running"], 0)
        self.assertAlmostEqual(gaps["total_ns"] / self.profile("--state", "all", "--thread", "spin")["total_ns"], 1, delta=0.1)
        done = self.gaps()
        self.assertEqual(done.stderr, "")
        self.assertIn("the time to the thread's next one", done.stdout)

    def test_usage(self):
        for command, words in ((("record", "-p", "1", "--lab", "every-switch"), "is for --sample"),
                               (("record", "-p", "1", "--sample", "--no-stacks", "--lab", "every-switch"), "without --no-stacks"),
                               (("record", "-p", "1", "--lab", "x"), "every-switch"),
                               (("record", "-p", "1", "--sample", "--lab", "every-switch", "--off-cpu", "1ms"), "--off-cpu"),
                               (("profile", "--lab", "x", "a"), "gap-weights"),
                               (("profile", "--lab", "gap-weights", "a"), "--state all")):
            done = spoor(*command, expect=2)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
