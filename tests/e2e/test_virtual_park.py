"""Virtual threads that park (JDK 21 and 25): on locks of java.util.concurrent, and on conditions of its queues, whether they
leave their carriers or are pinned there; against the program's own counts and clocks (programs/VirtualPark.java)."""
import json
import os
import unittest

import jvm
from harness import spoor

MS = 10**6
ROUNDS, WAITERS, HOLD_MS = 12, 4, 4  # the last: as in VirtualPark.java
LOCK = "java.util.concurrent.locks.ReentrantLock$NonfairSync"
CONDITION = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"


class Parks:
    def run_program(self, in_monitor=False, options=(), env=None, rounds=ROUNDS, stay=False):
        vm = self.java("VirtualPark", rounds, WAITERS, int(in_monitor), int(stay),
                       options=(f"-Djdk.virtualThreadScheduler.parallelism={2 * WAITERS + 2}", *options))
        recorder = self.record(vm, "--virtual-parks", env=env)
        truth = json.loads(vm.ask("go", 120))
        return truth, recorder.stop()

    def pieces(self, log, name):
        """[(begin, end)] of the parks of waiters on the blocker of that class for which they park most, each begin with the
        same thread's end. (For the lock within the queue they park, too, if they meet there.)"""
        classes = {e["class"] for e in log.raw_of("class") if e["name"] == name}
        locks = {number for number, one in log.locks().items() if one["class"] in classes}
        threads, began, ret = log.threads(), {}, {}
        for e in sorted(log.raw_of("park_begin", "park_end"), key=lambda e: e["time_ns"]):
            if not (threads[e["thread"]]["name"] or "").startswith("waiter-"):
                continue
            if e["event"] == "park_begin":
                self.assertNotIn(e["thread"], began, "a begin without its end")
                began[e["thread"]] = e
            else:
                self.assertIn(e["thread"], began, "an end without its begin")
                begin = began.pop(e["thread"])
                if begin["lock"] in locks:
                    ret.setdefault(begin["lock"], []).append((begin, e))
        self.assertFalse(began, "a begin without its end")
        return max(ret.values(), key=len)

    def check_clocks(self, log, pieces, truth, what):
        threads = log.threads()
        self.assertEqual(len(pieces), ROUNDS * WAITERS, f"{what}: how often")
        for i in range(WAITERS):
            got = sum(end["time_ns"] - begin["time_ns"] for begin, end in pieces
                      if threads[begin["thread"]]["name"] == f"waiter-{i}")
            self.assertLessEqual(got, truth[i] + 0.1 * MS, f"{what}, waiter-{i}")
            # All are seen parked before the time of HOLD_MS begins, in each round.
            self.assertGreater(got, 0.9 * ROUNDS * HOLD_MS * MS, f"{what}, waiter-{i}")

    def chain(self, log, stack):
        frames = {e["stack"]: e for e in log.raw_of("stack")}
        methods = {e["method"]: f"{e['class_name']}.{e['name']}" for e in log.raw_of("method")}
        names = []
        while stack:
            names.append(methods.get(frames[stack]["method"], frames[stack]["frame"]))
            stack = frames[stack]["caller"]
        return names

    def check(self, in_monitor=False, options=(), env=None, whole=0.8):
        truth, log = self.run_program(in_monitor, options, env)
        threads = log.threads()
        self.assertEqual(log.lost(), {})
        locked, taken = self.pieces(log, LOCK), self.pieces(log, CONDITION)
        self.check_clocks(log, locked, truth["locked"], "locked")
        self.check_clocks(log, taken, truth["taken"], "taken")
        for begin, end in locked + taken:
            thread = threads[begin["thread"]]
            self.assertTrue(thread["virtual"])
            self.assertEqual(thread["tid"], 0)
            self.assertRegex(threads[begin["carrier"] or begin["unmounted_from"]]["name"], "^ForkJoinPool-")
        self.check_holder(log, truth, threads, locked)
        self.check_chains(log, locked, "VirtualPark.lockAndUnlock", whole)
        self.check_chains(log, taken, "VirtualPark.take", whole)
        return log, locked

    def check_holder(self, log, truth, threads, locked):
        """While it slept, and all were blocked, it is the owner: by its own id."""
        named = {t["java_id"]: t["name"] for t in threads.values() if t["virtual"]}
        self.assertEqual(named.get(truth["holder"]), "holder")
        owners = [threads[begin["owner"]]["name"] for begin, _ in locked if begin["owner"]]
        self.assertEqual(owners, ["holder"] * (ROUNDS * WAITERS))
        group = next(g for g in log.report("--by", "lock_class,owner_thread")["groups"] if g["key"][0] == LOCK)
        self.assertGreaterEqual(group["count"], ROUNDS * WAITERS)
        by_name = {}
        for g in group["groups"]:
            name = g["key"][0].split(" (#")[0]
            by_name[name] = by_name.get(name, 0) + g["blocked_ns"]
        self.assertGreater(by_name["holder"], 0.85 * ROUNDS * WAITERS * HOLD_MS * MS, by_name)

    def check_chains(self, log, pieces, method, least):
        """The program's own method is there, and the chain ends where the virtual thread begins."""
        whole = 0
        for begin, _ in pieces:
            names = self.chain(log, begin["stack"])
            self.assertFalse([n for n in names if n.startswith("java.util.concurrent.ForkJoinWorkerThread")], names)
            whole += method in names and names[-1] == "jdk.internal.vm.Continuation.enterSpecial"
        self.assertGreaterEqual(whole, least * len(pieces))  # the first walks ask for rules that are not known yet

    def test_parks(self):
        log, locked = self.check()
        self.assertFalse([begin for begin, _ in locked if begin["carrier"]])
        self.assertEqual({begin["cpu_ns"] for begin, _ in locked}, {0})  # it has no time of its own

    def test_probes_one_by_one(self):
        self.check(env={**os.environ, "SPOOR_NO_UPROBE_MULTI": "1"})

    def test_in_a_monitor(self):
        """Before JDK 24 they are pinned: each park is told once, as that of a thread that stays on its carrier."""
        log, locked = self.check(in_monitor=True)
        self.assertEqual({bool(begin["carrier"]) for begin, _ in locked}, {self.MAJOR < 24})

    def test_it_goes_on(self):
        """Those that are parked when the recording ends are told, too."""
        _, log = self.run_program(rounds=0, stay=True)
        threads = log.threads()
        begun = [e for e in log.raw_of("park_begin") if threads[e["thread"]]["virtual"]]
        self.assertEqual({threads[e["thread"]]["name"] for e in begun}, {f"waiter-{i}" for i in range(WAITERS)})
        self.assertEqual({threads[e["owner"]]["name"] for e in begun}, {"main"})
        self.assertEqual(log.report()["contention"]["incomplete"]["open"], WAITERS)


    def test_not_asked_for(self):
        """Then none of them is hit, and those of platform threads are there as ever."""
        vm = self.java("VirtualPark", 2, WAITERS, 0, 0)
        recorder = self.record(vm)
        vm.ask("go", 120)
        log = recorder.stop()
        threads = log.threads()
        self.assertEqual([e for e in log.raw_of("park_begin") if threads[e["thread"]]["virtual"]], [])
        self.assertGreater(len(log.raw_of("park_begin")), 0)

    def test_without_probes(self):
        vm = self.java("VirtualPark", 0, WAITERS, 0, 0)
        done = spoor("record", "-p", vm.pid, "-o", self.path(), "-d", "1s", "--virtual-parks", "--probes", "none", expect=1)
        self.assertIn("--virtual-parks needs --probes usdt", done.stderr)


class Parks21(Parks, jvm.OtherJavaTest):
    MAJOR = 21


class Parks25(Parks, jvm.OtherJavaTest):
    MAJOR = 25

    def test_zgc(self):
        # Of one that has been off its carrier before, the frames that have not run since are in the heap, where ZGC moves them.
        self.check(options=("-XX:+UseZGC", "-Xmx256m"), whole=0.5)

    def test_compact_headers(self):
        self.check(options=("-XX:+UseCompactObjectHeaders",))


if __name__ == "__main__":
    unittest.main()
