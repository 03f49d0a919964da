"""Two recordings of one program, of which one lock is held for twice as long in the second: spoor diff says so, first, and its
figures are those of each recording's own report."""
import json
import subprocess
import time
import unittest

from jvm import JavaTest, PatchedJavaTest, DEADLINE_S  # first: it says where harness is
from harness import SPOOR

LOCKS = ("Held$Table", "Held$Shelf")
GO_MS, RECORD_S = 6000, 4


class Diff(JavaTest):
    def recorded(self, vm, name, table_us, shelf_us):
        """Threads are at it before the recording begins, and after it has ended."""
        vm.say(f"go {table_us} {shelf_us} {GO_MS}")
        recorder = self.record(vm, path=self.path(name))
        time.sleep(RECORD_S)
        log = recorder.stop()
        vm.line(DEADLINE_S)
        self.assertEqual(log.lost(), {})
        return log

    def diff(self, *args, status=0):
        done = subprocess.run([SPOOR, "diff", *args], capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout

    def check_side(self, found, side, log):
        """All of it is in the log's own report."""
        groups = log.report("--by", "lock_class")["groups"]
        totals = {row["name"]: row[side] for row in found["totals"]}
        self.assertEqual(totals["blocked"]["ns"] + totals["idle_turns"]["ns"], sum(g["blocked_ns"] for g in groups))
        self.assertEqual(totals["blocked"]["count"], sum(g["count"] for g in groups))
        self.assertEqual(totals["cpu"]["ns"], sum(t["states"]["running_ns"] for t in log.report()["threads"]))
        for lock in LOCKS:
            row = next(r for r in found["locks"] if r["name"] == lock)[side]
            self.assertEqual(row["ns"], sum(g["blocked_ns"] - g["idle_ns"] for g in groups if g["key"] == [lock]))

    def test_what_has_changed(self):
        vm = self.java("Held")
        before = self.recorded(vm, "before.spoor", 1500, 1500)
        after = self.recorded(vm, "after.spoor", 24000, 1500)
        found = json.loads(self.diff("--format", "json", before.path, after.path))
        self.check_side(found, "before", before)
        self.check_side(found, "after", after)
        self.assertEqual(found["verdict"], "more_waiting")
        self.assertRegex(found["sentences"][0], r"^Waiting for locks rose from .*Held\.useTable <- ")
        self.assertEqual(found["locks"][0]["name"], "Held$Table")
        self.assertEqual(found["locks"][0]["by_chance"], "no")
        self.assertTrue(found["methods"][0]["name"].startswith("Held.useTable <- "), found["methods"][0])

        # The other way round: signs are mirrored, nothing else.
        back = json.loads(self.diff("--format", "json", after.path, before.path))
        self.assertEqual(back["verdict"], "less_waiting")
        self.assertEqual({r["name"]: (r["before"], r["after"], r["change_ns"]) for r in found["locks"]},
                         {r["name"]: (r["after"], r["before"], -r["change_ns"]) for r in back["locks"]})

        # A log against itself.
        same = json.loads(self.diff("--format", "json", after.path, after.path))
        self.assertEqual(same["verdict"], "no_difference")
        for part in ("totals", "locks", "methods", "pools", "pauses"):
            for row in same[part]:
                self.assertEqual((row["change_ns"], row["by_chance"] != "no"), (0, True), row)
        for side in ("waiters", "owners"):
            self.assertAlmostEqual(same["call_chains"][side]["overlap"], 1)

        self.diff("--fail-if", "blocked>10%", before.path, after.path, status=3)
        self.diff("--fail-if", "blocked>10%", after.path, before.path)
        # The one that has not changed.
        shelf = json.loads(self.diff("--where", "lock_class=Held$Shelf", "--format", "json", before.path, after.path))
        self.assertEqual([r["name"] for r in shelf["locks"]], ["Held$Shelf"])
        text = self.diff("--by", "lock", before.path, after.path)
        self.assertIn("Held$Table (1)", text)

    def test_two_stretches_of_one_recording(self):
        vm = self.java("Held")
        recorder = self.record(vm)
        truth = json.loads(vm.ask("go 1000 3000 1000", DEADLINE_S))
        log = recorder.stop()
        events = [e["time_ns"] for e in log.events]
        start = log.header["start_mono_ns"]
        half = f"{(events[0] + events[-1]) / 2 / 1e9 - start / 1e9:.3f}s"
        found = json.loads(self.diff("--format", "json", "--before", f"..{half}", "--after", f"{half}..", log.path))
        whole = json.loads(self.diff("--format", "json", log.path, log.path))

        def blocked(side, which):
            return next(r[which] for r in side["totals"] if r["name"] == "blocked")
        halves = blocked(found, "before")["ns"] + blocked(found, "after")["ns"]
        # One wait of each of six threads may be cut by the middle: what ends after it is in neither whole.
        self.assertLessEqual(halves, blocked(whole, "before")["ns"])
        self.assertGreaterEqual(halves, blocked(whole, "before")["ns"] * 0.8)
        for lock, name in zip(LOCKS, ("table", "shelf")):
            ns = next(r for r in whole["locks"] if r["name"] == lock)["before"]["ns"]
            # A thread that gets the lock by spinning waits, too, and is not blocked.
            self.assertLessEqual(ns, truth[name] * 1.001)
            self.assertGreaterEqual(ns, truth[name] * 0.8)


class DiffExact(PatchedJavaTest, Diff):
    pass


if __name__ == "__main__":
    unittest.main()
