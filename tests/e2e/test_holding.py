"""What the holder of a lock did while another thread waited for it, and which locks it waited for itself: against the
clocks of the program."""
import json
import unittest

from jvm import JavaTest, PatchedJavaTest  # first: it says where harness is

MS = 10**6
HOLD_MS = 200


class Holding(JavaTest):
    def record_round(self):
        vm = self.java("Holding", HOLD_MS, options=("-Xmx64m", "-XX:+UseSerialGC"))
        recorder = self.record(vm)
        truth = json.loads(vm.ask("go", 120))
        return truth, recorder.stop()

    def lost(self, log, lock):
        """{what its holder was behind: the group}, of one class of lock."""
        found = [g for g in log.report("--by", "lock_class,behind")["groups"] if g["key"][0] == lock]
        self.assertEqual(len(found), 1, lock)
        return found[0], {g["key"][0]: g for g in found[0]["groups"]}

    def near(self, got, wanted, what):
        # A thread that is woken on a busy machine comes late, and is not blocked any more by then: that is told apart.
        self.assertLess(abs(got - wanted), wanted * 0.05 + 3 * MS, f"{what}: {got / MS:.3f} ms instead of {wanted / MS:.3f}")

    def test_split_and_chain(self):
        truth, log = self.record_round()
        outer, behind = self.lost(log, "Holding$Outer")
        self.near(outer["blocked_ns"], truth["blocked"], "blocked")
        self.assertEqual(sum(ns for k, ns in outer["split"].items() if isinstance(ns, int)), outer["blocked_ns"])
        self.assertEqual(sum(outer["split"]["blocked"].values()), outer["split"]["blocked_ns"])
        waiting = ("stolen_ns", "runnable_ns", "throttled_ns")
        self.assertEqual(set(behind), {"(none)", "Holding$Middle"})
        # Behind the second lock: from its own enter to when it had it.
        split = behind["Holding$Middle"]["split"]
        self.near(behind["Holding$Middle"]["blocked_ns"], truth["behind"], "behind the second lock")
        self.assertEqual(split["blocked"]["lock_ns"], split["blocked_ns"])
        # All the rest is its own doing.
        split = behind["(none)"]["split"]
        on_the_way = sum(split[w] for w in waiting)
        # What it waits for a CPU after each read is in the program's own figure, and is on the way here.
        self.assertLess(split["blocked"]["io_ns"], truth["read"] * 1.05 + 3 * MS)
        self.assertGreaterEqual(split["blocked"]["io_ns"], truth["read"] * 0.95 - 3 * MS - on_the_way)
        self.assertGreaterEqual(split["blocked"]["sleep_ns"], HOLD_MS * MS * 0.99)
        self.assertLess(split["blocked"]["sleep_ns"], truth["slept"] + 20 * MS)
        self.assertGreaterEqual(split["running_ns"] + on_the_way, truth["computed"] * 0.95)
        self.assertGreaterEqual(split["blocked"]["pause_ns"] + on_the_way, truth["collected"] * 0.5)
        # While it computes, it may be stopped by safepoints that are no collection of its own.
        self.assertLessEqual(split["blocked"]["pause_ns"], truth["collected"] + 20 * MS)
        # Nobody has the lock while it is handed over to one that waits for a CPU.
        self.assertLess(split["not_split_ns"], outer["blocked_ns"] * 0.05 + log.held_up_ns("waiter"))
        # The chain to its head: the second lock's holder waits for the third.
        _, behind = self.lost(log, "Holding$Middle")
        self.assertIn("Holding$Inner", behind)
        self.assertGreaterEqual(behind["Holding$Inner"]["blocked_ns"], HOLD_MS * MS * 0.9)
        text = log.report_text()
        self.assertRegex(text, r"chain: Holding\$Outer #\d.* <- Holding\$Middle #\d.* <- Holding\$Inner #\d")
        self.assertIn("what its holders did", text)


class HoldingExact(PatchedJavaTest, Holding):
    pass


if __name__ == "__main__":
    unittest.main()
