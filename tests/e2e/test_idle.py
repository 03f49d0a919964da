"""Threads that take turns in waiting for new work lose none: told from waiting that delays work, and ranked below it."""
import json
import unittest

from jvm import JavaTest, PatchedJavaTest  # first: it says where harness is

ACCEPT = "sun.nio.ch.ServerSocketChannelImpl.accept"
LEDGER, TURN, GATE = "Turns$Ledger", "Turns$Turn", "Turns$Gate"


def late(group):
    return group["split"]["runnable_ns"] + group["split"]["stolen_ns"]


class Turns(JavaTest):
    def near(self, got, wanted, what, late=0, at_most=None):
        """late: for how long the holder waited for a CPU, of which nothing may be in what was got."""
        self.assertTrue(0.85 * wanted - late <= got <= 1.02 * (at_most or wanted),
                        f"{what}: {got / 1e6:.3f} ms instead of {wanted / 1e6:.3f}, {late / 1e6:.3f} of it late")

    def test_told_apart(self):
        vm = self.java("Turns", options=("-Xmx64m", "-XX:+UseSerialGC"))
        recorder = self.record(vm)
        truth = json.loads(vm.ask("go", 120))
        log = recorder.stop()
        by = {g["key"][0]: g for g in log.report("--by", "waiter_method")["groups"]}
        accept, turn, ledger = by[ACCEPT], by["Turns.next"], by["Turns.book"]
        # Two of three acceptors queue, and two of three workers. A holder that is woken is not idle.
        self.near(accept["idle_ns"], 2 * truth["accepting"], "in accept", late(accept), 2 * truth["open"])
        self.near(turn["blocked_ns"], truth["turn"], "in the queue's turn")
        self.near(turn["idle_ns"], truth["turn"], "idle, in the queue's turn", late(turn))
        self.near(ledger["blocked_ns"], truth["ledger"], "at the ledger")
        self.near(by["Turns.count"]["blocked_ns"], truth["gate"], "at the gate")
        self.assertEqual(ledger["idle_ns"], 0)
        self.assertEqual(by["Turns.count"]["idle_ns"], 0)  # its holder waits for work, it does not want to

        # By work lost: the two that delay somebody come first, and the others are listed apart.
        ranked = [g["key"][0] for g in log.report("--by", "lock_class")["groups"]]
        # Where those who have work wait for a CPU, as much is lost at the locks of the idle.
        is_busy = max(late(accept), late(turn)) > min(ledger["blocked_ns"], by["Turns.count"]["blocked_ns"]) / 2
        if not is_busy:
            self.assertEqual(set(ranked[:2]), {GATE, LEDGER}, ranked)
        plain = [g["key"][0] for g in log.report("--all", "--by", "lock_class")["groups"]]
        self.assertEqual(set(plain[:2]), {"java.util.concurrent.locks.ReentrantLock$NonfairSync", TURN}, plain)
        text = log.report_text()
        self.assertIn("idle turn-taking", text)
        first, _, apart = text.partition("  idle turn-taking: ")
        if not is_busy:
            self.assertRegex(first, r" 1\. (Turns\$Gate|Turns\$Ledger) ")
            self.assertNotRegex(first, r" [12]\. Turns\$Turn ")
        # Of who has work and waits for a CPU the others' wait is not idle: on a busy machine it is listed, too.
        for lock, name in (turn, TURN), (accept, ACCEPT):
            if late(lock) < lock["blocked_ns"] / 100:
                self.assertIn(name, apart)
        self.assertRegex(log.report_text("--all"), r" 1\. .*(ReentrantLock|Turns\$Turn)")

        finding = log.report()["contention"]["finding"]
        self.assertEqual(finding["idle_ns"], sum(g["idle_ns"] for g in by.values()))
        if not is_busy:
            self.assertIn(finding["waiter_method"], ("Turns.book", "Turns.count"))
        self.assertRegex(finding["text"], r"^\d+(\.\d+)? % of the blocked time is idle turn-taking")


class TurnsExact(PatchedJavaTest, Turns):
    pass


if __name__ == "__main__":
    unittest.main()
