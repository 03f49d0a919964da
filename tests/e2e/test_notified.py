"""The aspects after_wait and owner_source, by the counts of a program that knows its own."""
import json
import unittest

from jvm import JavaTest, PatchedJavaTest  # first: it says where harness is

WAITS, PLAIN, MS = 37, 23, 3


class Notified(JavaTest):
    def rows(self, log, aspect, thread):
        """{value: (contentions, blocked ns)} of the program's lock on which that thread was blocked."""
        name = {"waiter": "Notified$Lock", "plain": "Notified$Plain"}[thread]
        groups = log.report("--by", aspect, "--where", f"waiter_thread={thread}* and lock_class='{name}'")["groups"]
        return {g["key"][0]: (g["count"], g["blocked_ns"]) for g in groups}

    def recorded(self):
        vm = self.java("Notified")
        recorder = self.record(vm)
        said = json.loads(vm.ask(f"go {WAITS} {PLAIN} {MS}"))
        return said, recorder.stop()

    def test_stock(self):
        """There a way back into a monitor is not seen, and each owner is inferred."""
        _, log = self.recorded()
        self.assertEqual(self.rows(log, "after_wait", "waiter"), {})
        for aspect, value in (("after_wait", "no"), ("owner_source", "inferred")):
            rows = self.rows(log, aspect, "plain")
            self.assertEqual({v: count for v, (count, _) in rows.items()}, {value: PLAIN}, aspect)


class NotifiedPatched(PatchedJavaTest, Notified):
    def test_stock(self):
        said, log = self.recorded()
        for thread, wait, count in (("waiter", "yes", WAITS), ("plain", "no", PLAIN)):
            for aspect, value in (("after_wait", wait), ("owner_source", "fact")):
                rows = self.rows(log, aspect, thread)
                self.assertEqual({v: n for v, (n, _) in rows.items()}, {value: count}, (thread, aspect))
        [(_, blocked_ns)] = self.rows(log, "after_wait", "waiter").values()
        self.assertTrue(said["least"] <= blocked_ns <= said["most"], (said, blocked_ns))


del JavaTest, PatchedJavaTest

if __name__ == "__main__":
    unittest.main()
