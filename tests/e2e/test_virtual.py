"""Virtual threads (JDK 21 and 25): who blocks, who waits, for how long, and who holds the lock, against the program's own
counts and clocks (programs/Virtual.java)."""
import glob
import json
import os
import re
import subprocess
import unittest

import jvm  # first: it says where harness is
from harness import name_of

MS = 10**6
ROUNDS, WAITERS, HOLD_MS = 12, 4, 4  # the last: as in Virtual.java
HELD = ROUNDS * WAITERS * HOLD_MS * MS  # what the waiters of one lock wait at least, for its holder
STARVED = 6
CONTENDED, WAITED = "Virtual$Contended", "Virtual$Waited"
LOCK = "java.util.concurrent.locks.ReentrantLock$NonfairSync"


def deflation(every_ms):
    """How often the VM takes monitors away that nobody uses; 0: never. It does so at times of its own else, and a monitor
    that is made anew while its owner is on no carrier does not say whose it is."""
    return ("-XX:+UnlockDiagnosticVMOptions", f"-XX:AsyncDeflationInterval={every_ms}",
            f"-XX:GuaranteedAsyncDeflationInterval={every_ms}")


def with_stripped(test):
    """What runs a java of test.MAJOR whose libjvm.so has no symbol table."""
    found = f"*/usr/lib/jvm/java-{test.MAJOR}-*/lib/server/libjvm.so"
    libjvm = glob.glob(os.path.join(os.path.dirname(test.home), found))[0]
    stripped = os.path.join(test.tmp, "libjvm.so")
    subprocess.run(["strip", "--strip-all", "-o", stripped, libjvm], check=True)
    return ("unshare", "-m", "--propagation", "private", "sh", "-c", 'mount --bind "$1" "$2" && shift 2 && exec "$@"', "sh",
            stripped, libjvm)


def locks_of(log, name):
    """Of a class, by their numbers."""
    classes = {e["class"] for e in log.raw_of("class") if e["name"] == name}
    return {number for number, one in log.locks().items() if one["class"] in classes}


class Virtual:
    def run_program(self, *options, env=None, before=(), deflated_ms=0):
        vm = self.java("Virtual", ROUNDS, WAITERS, before=before,
                       options=(*deflation(deflated_ms), "-Djdk.virtualThreadScheduler.parallelism=%d" % (2 * WAITERS + 2), *options))
        recorder = self.record(vm, env=env)
        truth = json.loads(vm.ask("go", 120))
        return truth, recorder.stop()

    def pieces(self, log, lock, begin, end):
        """[(thread, ns)] of a class of lock: from each begin to the same thread's end."""
        locks = locks_of(log, lock)
        began, ret = {}, []
        for e in log.raw_of(begin, end):
            if e["lock"] not in locks:
                continue
            if e["event"] == begin:
                self.assertNotIn(e["thread"], began, f"{begin} without {end}")
                began[e["thread"]] = e["time_ns"]
            else:
                self.assertIn(e["thread"], began, f"{end} without {begin}")
                ret.append((e["thread"], e["time_ns"] - began.pop(e["thread"])))
        self.assertFalse(began, f"{begin} without {end}")
        return ret

    def check(self, *options, env=None):
        truth, log = self.run_program(*options, env=env)
        threads = log.threads()
        self.assertEqual(log.lost(), {})
        # A virtual thread may have been on its way to a clock then.
        late = log.held_up_ns("ForkJoinPool-")
        for lock, begin, end, own in (
                (CONTENDED, "monitor_contended_enter", "monitor_contended_entered", "blocked"),
                (WAITED, "monitor_wait_begin", "monitor_wait_end", "waited")):
            pieces = self.pieces(log, lock, begin, end)
            self.assertEqual(len(pieces), ROUNDS * WAITERS, f"{own}: how often")
            for i in range(WAITERS):
                got = sum(ns for thread, ns in pieces if threads[thread]["name"] == f"waiter-{i}")
                # The program's clocks are read outside: a thread that has lost its CPU there blocks late, or is late to
                # know that it goes on.
                self.assertLessEqual(got, truth[own][i] + 0.1 * MS, f"{own}, waiter-{i}")
                self.assert_near(got, truth[own][i], 5, f"{own}, waiter-{i}", ROUNDS * 3 * MS / 2 + late)
                # All are seen blocked before the time of HOLD_MS begins, in each round.
                self.assertGreater(got, 0.9 * ROUNDS * HOLD_MS * MS, f"{own}, waiter-{i}")
            for thread, _ in pieces:
                self.assertTrue(threads[thread]["virtual"])
                self.assertEqual(threads[thread]["tid"], 0)
        # Those of the last round, by their ids.
        named = {t["java_id"]: t["name"] for t in threads.values() if t["virtual"]}
        self.assertEqual([named.get(i) for i in truth["ids"]], [f"waiter-{i}" for i in range(WAITERS)])
        self.assertEqual(named.get(truth["holder"]), "holder")
        self.check_report(log)
        self.check_lock(truth, log)
        self.check_holders(log, threads)
        self.check_carriers(log, threads)

    def check_report(self, log):
        """The report's own figures: all of them, and no others."""
        report = log.report()
        group = {g["key"][0]: g for g in report["contention"]["groups"]}
        self.assertEqual(group[CONTENDED]["count"], ROUNDS * WAITERS)
        self.assertEqual(sum(g["count"] for g in report["waiting"] if g["class"] == WAITED), ROUNDS * WAITERS)
        self.assertEqual([g for g in report["waiting"] if g["open"] or g["begin_missing"] or g["end_missing"]], [])

    def check_lock(self, truth, log):
        """A virtual thread that has a lock of java.util.concurrent is named to the platform threads that want it."""
        locks = log.report("--by", "lock_class,waiter_thread,owner_thread")["groups"]
        waiters = [g for lock in locks if lock["key"][0] == LOCK for g in lock["groups"]
                   if g["key"][0].startswith("platform-")]
        blocked = sum(g["blocked_ns"] for g in waiters)
        self.assertEqual(sum(g["count"] for g in waiters), ROUNDS * WAITERS)
        self.assertLessEqual(blocked, truth["locked"] + 0.1 * MS)
        self.assertGreater(blocked, 0.9 * HELD)
        by_name = {}
        for o in (o for g in waiters for o in g["groups"]):
            name = o["key"][0].split(" (#")[0]
            by_name[name] = by_name.get(name, 0) + o["blocked_ns"]
        # The rest is the hand-over's, and that of those who got it before: on a busy machine that can be long.
        self.assertGreater(by_name["owner"], 0.85 * HELD, by_name)
        self.assertEqual({n for n in by_name if not n.startswith("platform-")} - {"owner", "(hand-over)"}, set())

    def check_holders(self, log, threads):
        """All of the time in which all were blocked is the holder's; then they have it one after the other. While a virtual
        thread of JDK 21 schedules something, it runs as its carrier, for the VM, too; seen as itself before or later, it is
        known to have been that one."""
        groups = log.report("--by", "lock_class,owner_thread")["groups"]
        group = next(g for g in groups if g["key"][0] == CONTENDED)
        by_name = {}
        for g in group["groups"]:
            name = g["key"][0].split(" (#")[0]
            by_name[name] = by_name.get(name, 0) + g["blocked_ns"]
        self.assertGreater(by_name["holder"], 0.85 * HELD, by_name)
        carriers = sum(ns for name, ns in by_name.items() if name.startswith("ForkJoinPool"))
        self.assertLessEqual(carriers, group["blocked_ns"] * self.AS_CARRIER, by_name)

    def check_carriers(self, log, threads):
        for e in log.raw_of("monitor_contended_enter"):
            if threads[e["thread"]]["virtual"]:
                self.assertRegex(threads[e["carrier"]]["name"], "^ForkJoinPool-")
                self.assertFalse(threads[e["carrier"]]["virtual"])
            else:
                self.assertEqual(e["carrier"], 0)

    def chains(self, log):
        """The frames of each chain with which a virtual thread blocked, innermost first."""
        frames = {e["stack"]: e for e in log.raw_of("stack")}
        methods = {e["method"]: f"{e['class_name']}.{e['name']}" for e in log.raw_of("method")}
        for e in log.raw_of("monitor_contended_enter", "monitor_wait_begin"):
            at, names = e["stack"], []
            while at:
                names.append(methods.get(frames[at]["method"], frames[at]["frame"]))
                at = frames[at]["caller"]
            if e["carrier"]:
                yield names

    def test_contentions_and_waits(self):
        self.check()

    def test_probes_one_by_one(self):
        """As on kernels before 6.6."""
        self.check(env={**os.environ, "SPOOR_NO_UPROBE_MULTI": "1"})

    def test_chains(self):
        """They end where the virtual thread begins, and do not go on with its carrier's."""
        _, log = self.run_program()
        whole = 0
        for names in self.chains(log):
            self.assertFalse([n for n in names if n.startswith("java.util.concurrent.ForkJoin")], names)
            whole += names[-1] == "jdk.internal.vm.Continuation.enterSpecial"
        self.assertGreaterEqual(whole, ROUNDS * WAITERS)


class Virtual21(Virtual, jvm.OtherJavaTest):
    MAJOR = 21
    AS_CARRIER = 0.01

    def test_pinned_holder(self):
        """It stays on its carrier, so that what it did meanwhile is known: it slept, and was woken late on a busy
        machine."""
        _, log = self.run_program()
        group = next(g for g in log.report("--by", "lock_class")["groups"] if g["key"][0] == CONTENDED)
        split = group["split"]
        late = split["runnable_ns"] + split["stolen_ns"]
        # What is handed over is nobody's: much of it on a busy machine, where whoever is woken waits for a CPU, too.
        known = sum(split[f"{state}_ns"] for state in ("running", "stolen", "runnable", "throttled", "blocked"))
        self.assertGreater(split["blocked_ns"] + late, known * 0.8, split)
        # So a pinned one sleeps. It may also have to wait for a page of the JVM's, or for the VM.
        blocked = split["blocked_ns"] - split["blocked"]["io_ns"] - split["blocked"]["pause_ns"]
        self.assertGreater(split["blocked"]["park_ns"], blocked * 0.8, split)
        self.assertGreater(split["blocked"]["park_ns"], 0.9 * HELD, split)
        if late < group["blocked_ns"] / 50:
            self.assertGreater(split["blocked_ns"] + late, group["blocked_ns"] * 0.8, split)

    def waited_for_a_cpu(self, log, lock):
        """While blocked on monitors of a class."""
        locks = locks_of(log, lock)
        began, ret = {}, 0
        for e in log.raw_of("monitor_contended_enter", "monitor_contended_entered"):
            if e["lock"] in locks and e["event"] == "monitor_contended_enter":
                began[e["thread"]] = e["runnable_ns"]
            elif e["lock"] in locks:
                ret += e["runnable_ns"] - began.pop(e["thread"])
        return ret

    def waited_on_the_way_ns(self, log, lock):
        """For a CPU, before they were blocked on a monitor of that class, or slept: carriers, since what was last told of
        them, or of the virtual threads on them."""
        locks = locks_of(log, lock)
        last, carriers, ret = {}, {}, 0
        for e in log.raw_of("park_begin", "park_end", "unpark", "monitor_contended_enter", "monitor_contended_entered"):
            thread = e["thread"]
            carrier = carriers[thread] = e.get("carrier") or carriers.get(thread, 0)
            if e["event"] == "park_begin" and carrier or e["event"] == "monitor_contended_enter" and e["lock"] in locks:
                ret += e["runnable_ns"] - last.get(thread, last.get(carrier, e["runnable_ns"]))
            last[thread] = last[carrier] = e["runnable_ns"]
        return ret

    def test_all_carriers_pinned(self):
        """Two carriers, and both of their virtual threads are blocked on them: a third one starves, and it is said."""
        vm = self.java("Starve", STARVED, options=("-Djdk.virtualThreadScheduler.parallelism=2",))
        recorder = self.record(vm)
        truth = json.loads(vm.ask("go", 120))
        log = recorder.stop()
        report = log.report()
        carriers = report["carriers"][0]
        self.assertEqual((carriers["carriers"], carriers["pinned_max"]), (2, 2))
        self.assertEqual(carriers["all_pinned_count"], STARVED)
        # The program's clock is read on the way.
        missing = max(truth["pinned"] - carriers["all_pinned_ns"], 0)
        got = carriers["all_pinned_ns"] + min(missing, self.waited_on_the_way_ns(log, "Starve$Held"))
        self.assert_near(got, truth["pinned"], 5, f"all pinned, {missing} not", STARVED * MS)
        # Who makes the third one, when both are pinned, may have to wait for a CPU first.
        late = sum(e["cpu_wait_ns"] for e in log.of("off_cpu") if name_of(e["thread"]) in ("main", "DestroyJavaVM"))
        self.assertGreaterEqual(truth["starved"] + late, carriers["all_pinned_ns"] - STARVED * 2 * MS)
        pinned = {(p["class"], p["reason"]): p["count"] for p in report["pinned"]}
        self.assertEqual(pinned[("Starve$Held", "contended enter")], STARVED)
        self.assertGreaterEqual(pinned[("(no blocker)", "park")], STARVED)
        holders = log.report("--by", "lock_class,owner_thread")["groups"]
        held = next(g for g in holders if g["key"][0] == "Starve$Held")
        by_sleeper = sum(g["blocked_ns"] for g in held["groups"] if g["key"][0].split(" (#")[0] == "sleeper")
        self.assertEqual(held["count"], STARVED)
        # Who is woken waits for a CPU on a busy machine: as much of the hand-over as the waiters' own counters say.
        handed_ns = sum(g["blocked_ns"] for g in held["groups"] if g["key"][0] == "(hand-over)")
        waited_ns = self.waited_for_a_cpu(log, "Starve$Held")
        self.assertGreater(by_sleeper + min(handed_ns, waited_ns), 0.9 * held["blocked_ns"], (held["groups"], waited_ns))
        self.assertRegex(log.report_text(), r"CARRIERS of virtual threads: all were pinned for \d")


class Virtual25(Virtual, jvm.OtherJavaTest):
    MAJOR = 25
    AS_CARRIER = 0

    def test_nothing_is_pinned(self):
        """They leave their carriers, of which two are enough."""
        vm = self.java("Starve", STARVED, options=("-Djdk.virtualThreadScheduler.parallelism=2",))
        recorder = self.record(vm)
        truth = json.loads(vm.ask("go", 120))
        log = recorder.stop()
        report = log.report()
        # On a busy machine the third one's carrier, and who makes it, wait for a CPU.
        late = sum(e["cpu_wait_ns"] for e in log.of("off_cpu")
                   if re.match(r"main$|DestroyJavaVM$|ForkJoinPool-1-worker-", name_of(e["thread"])))
        self.assertLess(truth["starved"] - late, truth["pinned"] / 2)
        self.assertEqual((report["pinned"], report["carriers"]), ([], []))

    def contended_enters(self, log):
        """Those of the program's own lock. The JDK's own are for times too short at times to say who had it."""
        locks = locks_of(log, CONTENDED)
        return [e for e in log.raw_of("monitor_contended_enter") if e["lock"] in locks]

    def test_unmounted_holder(self):
        """It was on no carrier when the others came, and the log says so."""
        _, log = self.run_program()
        sources = [e["owner_source"] for e in self.contended_enters(log)]
        self.assertIn("unmounted", sources)
        self.assertNotIn("unresolved", sources)

    def test_unmounted_holder_of_a_new_monitor(self):
        """Only its own stack in the heap says that it has the lock: the owner is not known, and nobody else is named."""
        _, log = self.run_program(deflated_ms=1)
        threads, enters = log.threads(), self.contended_enters(log)
        self.assertGreaterEqual([e["owner_source"] for e in enters].count("unresolved"), WAITERS)
        for e in enters:
            if e["owner"]:
                self.assertRegex(threads[e["owner"]]["name"], "^(holder|waiter-[0-9])$")

    def test_no_symbol_table(self):
        """libjvm.so without the functions that tell of ends: what is not known is in no sum, and nobody is said to be
        blocked who is not."""
        truth, log = self.run_program(before=with_stripped(self))
        locks, names = log.locks(), {e["class"]: e["name"] for e in log.raw_of("class")}
        blocks = [(names[locks[e["lock"]]["class"]], e["reason"]) for e in log.raw_of("virtual_block")]
        self.assertEqual(blocks.count((CONTENDED, "lock")), ROUNDS * WAITERS)
        self.assertEqual(blocks.count((WAITED, "wait")), ROUNDS * WAITERS)
        report = log.report()
        self.assertEqual(report["contention"]["incomplete"]["open"], 0)
        self.assertGreaterEqual(report["contention"]["incomplete"]["end_missing"], ROUNDS * WAITERS)
        waited = next(w for w in report["waiting"] if w["class"] == WAITED)
        self.assertEqual((waited["count"], waited["open"], waited["end_missing"]), (0, 0, ROUNDS * WAITERS))
        self.assertNotIn("still blocked", log.report_text())
        self.check_lock(truth, log)

    def test_zgc(self):
        self.check("-XX:+UseZGC", "-Xmx256m")

    def test_compact_headers(self):
        self.check("-XX:+UseCompactObjectHeaders")


if __name__ == "__main__":
    unittest.main()
