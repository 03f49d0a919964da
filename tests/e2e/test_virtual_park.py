"""Virtual threads that park (JDK 21 and 25): on locks of java.util.concurrent, and on conditions of its queues, whether they
leave their carriers or are pinned there; against the program's own counts and clocks (programs/VirtualPark.java)."""
import collections
import json
import os
import subprocess
import unittest

import jvm
import test_top
import test_virtual
from harness import SPOOR, Log, spoor

MS = 10**6
ROUNDS, WAITERS, HOLD_MS = 12, 4, 4  # the last: as in VirtualPark.java
LOCK = "java.util.concurrent.locks.ReentrantLock$NonfairSync"
WAITING = {f"waiter-{i}" for i in range(WAITERS)}
CONDITION = "java.util.concurrent.locks.AbstractQueuedSynchronizer$ConditionObject"


NO_EFFECT = "--virtual-parks has no effect: "


class Program:
    def start(self, in_monitor=False, options=(), rounds=ROUNDS, stay=False, before=()):
        return self.java("VirtualPark", rounds, WAITERS, int(in_monitor), int(stay), before=before,
                         options=(f"-Djdk.virtualThreadScheduler.parallelism={2 * WAITERS + 2}", *options))


class Parks(Program):
    PROBES = ()

    def run_program(self, in_monitor=False, options=(), env=None, rounds=ROUNDS, stay=False):
        vm = self.start(in_monitor, options, rounds, stay)
        recorder = self.record(vm, "--virtual-parks", *self.PROBES, env=env)
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
        self.assertEqual({threads[e["thread"]]["name"] for e in begun}, WAITING)
        self.assertEqual({threads[e["owner"]]["name"] for e in begun}, {"main"})
        self.assertEqual(log.report()["contention"]["incomplete"]["open"], WAITERS)

    def test_not_asked_for(self):
        """Then none of them is hit, and those of platform threads are there as ever."""
        vm = self.start(rounds=2)
        recorder = self.record(vm, *self.PROBES)
        vm.ask("go", 120)
        log = recorder.stop()
        threads = log.threads()
        self.assertEqual([e for e in log.raw_of("park_begin") if threads[e["thread"]]["virtual"]], [])
        self.assertGreater(len(log.raw_of("park_begin")), 0)


class Scheduled(Parks):
    """With no probe on locks and waits, but on these two functions."""
    PROBES = ("--probes", "none")

    def test_in_a_monitor(self):
        """One that is pinned is blocked as its carrier, which the scheduler sees, and only as that."""
        if self.MAJOR >= 24:
            self.check(in_monitor=True)
            return
        _, log = self.run_program(in_monitor=True)
        threads, locks = log.threads(), log.locks()
        self.assertEqual(len(self.pieces(log, CONDITION)), ROUNDS * WAITERS)
        classes = {e["class"] for e in log.raw_of("class") if e["name"] == LOCK}
        counts = collections.Counter(e["lock"] for e in log.raw_of("park_begin") if threads[e["thread"]]["virtual"]
                                     and locks[e["lock"]]["class"] in classes)
        # At the queue's own lock, which they want without a monitor, they may meet.
        self.assertLess(max(counts.values(), default=0), ROUNDS * WAITERS / 2)


class Parks21(Parks, jvm.OtherJavaTest):
    MAJOR = 21


class Scheduled21(Scheduled, jvm.OtherJavaTest):
    MAJOR = 21


class Scheduled25(Scheduled, jvm.OtherJavaTest):
    MAJOR = 25

    def test_zgc(self):
        self.check(options=("-XX:+UseZGC", "-Xmx256m"), whole=0.5)


class Shown(Program, jvm.OtherJavaTest):
    """The live views have them, too."""
    MAJOR = 25

    def test_top(self):
        vm = self.start()
        top = test_top.Printed(vm.pid, "--virtual-parks", "-f", "json")
        self.addCleanup(top.close)
        windows = [top.window()]
        truth = json.loads(vm.ask("go", 120))
        ended, rest = top.end()
        self.assertEqual(ended, 0)
        locks = [lock for window in windows + rest for lock in window["locks"] if lock["lock"].startswith(LOCK)]
        blocked = sum(lock["blocked_ns"] for lock in locks)
        self.assertGreater(blocked, 0.9 * ROUNDS * WAITERS * HOLD_MS * MS)
        self.assertLessEqual(blocked, 2 * sum(truth["locked"]) + sum(truth["taken"]))  # the queue's own lock is one of them


class NoEffect(jvm.JavaTest):
    """The JVM has none of what the option asks for: that is said at once, in the log, and in its report."""
    WHY = "this JVM has no virtual threads, which OpenJDK has from 21 on"

    def start(self):
        return self.java("Contend", 1)

    def check_said(self, *options):
        vm = self.start()
        done = spoor("record", "-p", vm.own_pid, "-o", self.path(), "-d", "500ms", "-q",
                     "--virtual-parks", *options)
        log = Log(self.path())
        self.assertIn(NO_EFFECT + self.WHY, done.stderr)
        sources = log.header["sources"]
        self.assertEqual(sources["virtual_parks"], "missing")
        self.assertIn(self.WHY, sources["virtual_parks_why"])
        self.assertIn(f"of virtual threads that unmount, which were asked for: {self.WHY}", " ".join(log.report_text().split()))
        top = spoor("top", "-p", vm.own_pid, "--virtual-parks", "--once", "-i", "500ms")
        self.assertIn(NO_EFFECT + self.WHY, top.stdout)

    def test_by_default(self):
        self.check_said()

    def test_usdt(self):
        self.check_said("--probes", "usdt")

    def test_none(self):
        self.check_said("--probes", "none")


class Stripped(jvm.OtherJavaTest, NoEffect):
    MAJOR = 25
    WHY = "libjvm.so has no symbol table that names freeze() and Continuation::prepare_thaw()"

    def start(self):
        return self.java("VirtualPark", 0, WAITERS, 0, 0, before=test_virtual.with_stripped(self))


class Parks25(Parks, jvm.OtherJavaTest):
    MAJOR = 25

    def test_zgc(self):
        # Of one that has been off its carrier before, the frames that have not run since are in the heap, where ZGC moves them.
        self.check(options=("-XX:+UseZGC", "-Xmx256m"), whole=0.5)

    def test_compact_headers(self):
        self.check(options=("-XX:+UseCompactObjectHeaders",))


if __name__ == "__main__":
    unittest.main()
