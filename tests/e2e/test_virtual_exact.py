"""Virtual threads of a patched JVM: numbered events of contentions and waits that begin on one carrier and end on another
(JDK 25), or of pinned ones (JDK 21). Numbers without a gap, and each holder in its turn (programs/VirtualStorm.java)."""
import collections
import json
import unittest

import jvm
import sequences
import test_virtual

STORM_VIRTUAL, STORM_PLATFORM, STORM_ROUNDS = 24, 2, 400
ENTER, ENTERED, EXIT = "monitor_contended_enter", "monitor_contended_entered", "monitor_contended_exit"


class VirtualPatchedTest(jvm.PatchedJavaTest):
    """On a release that has virtual threads."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.MAJOR < 21:
            raise unittest.SkipTest(f"JDK {cls.MAJOR} has no virtual threads")
        cls.unmount = cls.MAJOR >= 24


class Rounds(test_virtual.Virtual, VirtualPatchedTest):
    """The program, and the checks, of a stock JVM: the ends are told by probes here, and not by functions."""
    AS_CARRIER = 0

    def check_lock(self, truth, log):
        super().check_lock(truth, log)
        self.assertEqual(sequences.read(log.path).problems, [])

    def check_report(self, log):
        super().check_report(log)
        self.assertEqual(log.raw_of("virtual_block"), [])
        self.assertEqual({e["how"] for e in log.raw_of("monitor_wait_end")}, {"notified"})
        self.assertEqual(log.header["jvm"]["kind"], "patched")
        threads, locks = log.threads(), log.locks()
        waited = {e["class"] for e in log.raw_of("class") if e["name"] == test_virtual.WAITED}
        woken = [threads[e["target"]] for e in log.raw_of("monitor_notify") if locks[e["lock"]]["class"] in waited]
        self.assertEqual(len(woken), test_virtual.ROUNDS * test_virtual.WAITERS)
        self.assertEqual({(t["name"], t["virtual"]) for t in woken},
                         {(f"waiter-{i}", True) for i in range(test_virtual.WAITERS)})


class Turns:
    """Of one monitor: who has it, by the numbers of its events."""

    def __init__(self):
        self.events = []
        self.folds = []

    def problems(self):
        """After entered, while others are blocked, the next that is told to leave is the one that has entered."""
        blocked, owner, ret = set(), None, []
        for e in sorted(self.events, key=lambda e: e["sequence"]):
            kind, thread, number = e["event"], e["thread"], e["sequence"]
            if kind == "monitor_notify":
                blocked.add(e["target"])
            elif kind == ENTER:
                blocked.add(thread)
            elif kind == ENTERED:
                if thread not in blocked:
                    ret.append(f"{number}: {thread} has entered, and was not blocked")
                blocked.discard(thread)
                owner = thread if blocked else None
            elif kind == EXIT:
                if owner not in (None, thread):
                    ret.append(f"{number}: {thread} has left, and {owner} had it")
                owner = None
        if blocked:
            ret.append(f"{blocked} have never entered")
        return ret


class Storm(VirtualPatchedTest):
    def storm(self, *options):
        vm = self.java("VirtualStorm", STORM_VIRTUAL, STORM_PLATFORM, STORM_ROUNDS,
                       options=("-Djdk.virtualThreadScheduler.parallelism=3", *options))
        recorder = self.record(vm)
        truth = json.loads(vm.ask("go", 240))
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        found = sequences.read(log.path)
        self.assertEqual(found.problems, [], str(found))
        names = {number: t["name"] for number, t in log.threads().items()}
        self.check_turns(log, names)
        self.check_waits(log, names, truth)
        return log, found

    def check_turns(self, log, names):
        monitors, virtual = collections.defaultdict(Turns), collections.Counter()
        threads = log.threads()
        for e in log.raw_of(ENTER, ENTERED, EXIT, "monitor_notify"):
            monitors[e["lock"]].events.append(e)
            virtual[e["event"], threads[e["thread"]]["virtual"]] += 1
        for lock, turns in monitors.items():
            self.assertEqual(turns.problems(), [], f"lock {lock}, {names}")
        for kind in (ENTER, ENTERED, EXIT, "monitor_notify"):
            self.assertGreater(virtual[kind, True], STORM_VIRTUAL, virtual)
        # Who unmounts is on whatever carrier is free when it goes on.
        self.assertGreater(len({e["carrier"] for e in log.raw_of(ENTER) if e["carrier"]}), 1)

    def check_waits(self, log, names, truth):
        """A wait of an interrupted thread throws before it waits, and is not told."""
        begun, ended = collections.Counter(), collections.Counter()
        how = collections.defaultdict(collections.Counter)
        for e in log.raw_of("monitor_wait_begin", "monitor_wait_end"):
            name = names[e["thread"]]
            if e["event"] == "monitor_wait_begin":
                begun[name] += 1
            else:
                ended[name] += 1
                how[name][e["how"]] += 1
        self.assertEqual(begun, ended)
        for name, (waits, interrupted) in truth.items():
            self.assertLessEqual(begun[name], waits, name)
            self.assertGreaterEqual(begun[name], waits - interrupted, name)
            self.assertLessEqual(how[name]["interrupted"], interrupted, name)
            if int(name.split("-")[1]) % 2 == 0:
                self.assertEqual((begun[name], how[name]["interrupted"]), (waits, 0), name)
        total = sum((how[name] for name in truth), collections.Counter())
        for reason in ("notified", "timeout", "interrupted"):
            self.assertGreater(total[reason], 0, total)

    def test_tiered(self):
        log, _ = self.storm()
        self.assertEqual(log.report()["contention"]["incomplete"]["open"], 0)

    def test_interpreted(self):
        self.storm("-Xint")

    def test_lightweight_locks(self):
        """They are JDK 25's only ones; in 21 an owner may then be anonymous."""
        if self.unmount:
            self.skipTest("these are the only ones, and test_tiered has them")
        self.storm("-XX:+UnlockExperimentalVMOptions", "-XX:LockingMode=2")

    def test_compact_headers(self):
        """With the table of monitors: C2 has other code for them."""
        if not self.unmount:
            self.skipTest(f"JDK {self.MAJOR} has no compact headers")
        self.storm("-XX:+UseCompactObjectHeaders")


if __name__ == "__main__":
    unittest.main()
