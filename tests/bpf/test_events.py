"""Every event kind, field by field, from a JVM of which everything is known."""
import glob
import os
import re
import unittest

from harness import (
    BpfTest, COUNTERS, ROOT, name_of, owner_sample, read_text, schema_ids, spoor, stock_probes, wait_until)

U64_MAX = (1 << 64) - 1


class Known(BpfTest):
    """A fake JVM with two threads and a lock, narrow pointers or not."""
    options = ()
    variant = ""

    def start(self, *options):
        fake = self.fake(*self.options, *options, variant=self.variant)
        fake.thread("Thread A", id="a")
        fake.thread("Thread B", id="b")
        fake("class", "demo/LockA")
        fake("object", "o", "demo/LockA")
        fake("monitor", "m", "o", "0x1234567")
        return fake

    def assert_counters(self, event, prefix=""):
        for name in COUNTERS:
            self.assertGreaterEqual(event[prefix + name], 0)
            self.assertLess(event[prefix + name], 3600 * 10**9, "a counter is no time since the recording began")


class Monitors(Known):
    def test_enter_with_java_thread_as_owner(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "a", "own", "m")
        fake("in", "b", "enter", "m")
        fake("in", "a", "busy", 30)
        fake("owner", "m", "none")
        fake("in", "b", "own", "m")
        fake("in", "b", "entered", "m")
        fake("in", "b", "exit", "m")
        log = recorder.stop()
        enter, entered = log.one("monitor_contended_enter"), log.one("monitor_contended_entered")
        self.assertEqual((name_of(enter["thread"]), enter["thread"]["tid"]), ("Thread B", fake.tids["b"]))
        self.assertEqual((name_of(enter["owner"]), enter["owner_source"]), ("Thread A", "java_thread"))
        self.assertEqual(enter["lock"]["class"], "demo.LockA")
        self.assertEqual(enter["lock"]["group"], "monitor")
        self.assertEqual((name_of(entered["thread"]), name_of(entered["owner"])), ("Thread B", "Thread A"))
        self.assertEqual(entered["lock"], enter["lock"])
        self.assertEqual(log.one("monitor_contended_exit")["lock"], enter["lock"])
        for event in (enter, entered):
            self.assert_counters(event)
            self.assert_counters(event, "owner_")
        # The owner ran for 30 ms meanwhile (a switch that BPF has not seen is made good by the kernel's own count), and
        # the blocked thread hardly.
        self.assertGreaterEqual(entered["owner_cpu_ns"] + entered["owner_stolen_ns"]
                                - enter["owner_cpu_ns"] - enter["owner_stolen_ns"], 30e6 * 0.99)
        self.assertLess(entered["cpu_ns"] - enter["cpu_ns"], 10e6)
        lock = log.locks()[enter["lock"]["id"]]
        self.assertEqual((lock["hash"], lock["identity"], lock["group"]), (0x1234567, "hash", "monitor"))
        report = log.report("--by", "lock_class,owner_thread,waiter_thread")
        group = report["groups"][0]
        self.assertEqual((report["total"]["count"], group["key"], group["count"]), (1, ["demo.LockA"], 1))
        self.assertEqual(group["blocked_ns"], entered["time_ns"] - enter["time_ns"])
        self.assertEqual(group["groups"][0]["key"][-1], "Thread A")
        self.assertEqual(group["groups"][0]["groups"][0]["key"][-1], "Thread B")

    def test_owner_by_stack_address(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "a", "stackown", "m")
        fake("in", "b", "enter", "m")
        enter = recorder.stop().one("monitor_contended_enter")
        self.assertEqual((name_of(enter["owner"]), enter["owner_source"]), ("Thread A", "stack_lock"))

    def test_stack_address_of_thread_started_later(self):
        fake = self.start()
        recorder = self.record(fake)
        fake.thread("Thread C", id="c")
        fake("in", "c", "stackown", "m")
        fake("in", "b", "enter", "m")
        enter = recorder.stop().one("monitor_contended_enter")
        self.assertEqual((name_of(enter["owner"]), enter["owner_source"]), ("Thread C", "stack_lock"))

    def test_no_owner_and_owner_that_fits_nobody(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("owner", "m", "none")
        fake("in", "b", "enter", "m")
        fake("owner", "m", "0xdead0000")
        fake("in", "b", "enter", "m")
        free, strange = recorder.stop().of("monitor_contended_enter")
        self.assertEqual((free["owner"], free["owner_source"]), (None, "none"))
        self.assertEqual((strange["owner"], strange["owner_source"]), (None, "unresolved"))
        self.assertEqual([strange["owner_" + c] for c in COUNTERS], [0, 0, 0])

    def test_owner_whose_java_thread_had_another_before(self):
        fake = self.start()
        fake.thread("Short", id="s")
        recorder = self.record(fake)
        fake("in", "s", "own", "m")
        fake("in", "b", "enter", "m")
        fake("stop", "s")
        fake.thread("Heir", id="h")  # at the same JavaThread
        fake("in", "h", "own", "m")
        fake("in", "b", "enter", "m")
        events = recorder.stop().of("monitor_contended_enter")
        self.assertEqual([name_of(e["owner"]) for e in events], ["Short", "Heir"])

    def test_wait_and_notify(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "b", "wait", "m", 1500)
        fake("in", "a", "notify", "m")
        fake("in", "a", "quicknotify", "m")
        fake("in", "a", "notifyall", "m")
        fake("in", "a", "quicknotifyall", "m")
        fake("in", "b", "waited", "m")
        log = recorder.stop()
        begin, end = log.one("monitor_wait_begin"), log.one("monitor_wait_end")
        self.assertEqual((name_of(begin["thread"]), begin["timeout_ms"]), ("Thread B", 1500))
        self.assertEqual(begin["lock"]["class"], "demo.LockA")
        self.assertEqual((end["lock"], name_of(end["thread"])), (begin["lock"], "Thread B"))
        self.assertEqual([(name_of(e["thread"]), e["all"]) for e in log.of("monitor_notify")],
                         [("Thread A", False)] * 2 + [("Thread A", True)] * 2)
        for event in log.of("monitor_wait_begin", "monitor_wait_end", "monitor_notify"):
            self.assert_counters(event)

    def test_identity(self):
        fake = self.start()
        fake("class", "demo/LockB")
        fake("object", "p", "demo/LockB")
        fake("object", "q", "demo/LockB")
        fake("monitor", "mp", "p")
        fake("monitor", "mq", "q")
        recorder = self.record(fake)
        for monitor in ("mp", "mq", "mp"):
            fake("in", "b", "enter", monitor)
        fake("move", "p")  # the monitor stays
        fake("in", "b", "enter", "mp")
        fake("monitor", "mp", "o", "0x1234567")  # deflated; its memory now belongs to another object
        fake("in", "b", "enter", "mp")
        fake("in", "b", "enter", "m")  # the same object by its hash, through another monitor
        log = recorder.stop()
        first, other, again, moved, reused, same = [e["lock"] for e in log.of("monitor_contended_enter")]
        self.assertEqual(first, again)
        self.assertEqual(first, moved)
        self.assertEqual(first["class"], "demo.LockB")
        self.assertNotEqual(first["id"], other["id"])
        self.assertNotEqual(first["id"], reused["id"])
        self.assertEqual(reused["class"], "demo.LockA")
        self.assertEqual(reused, same)
        locks = log.locks()
        self.assertEqual((locks[first["id"]]["identity"], locks[first["id"]]["hash"]), ("monitor", 0))
        self.assertEqual((locks[reused["id"]]["identity"], locks[reused["id"]]["hash"]), ("hash", 0x1234567))

    def test_hash_in_a_mark_that_is_not_neutral_is_none(self):
        fake = self.start()
        fake("monitor", "m", "o", "0")
        recorder = self.record(fake)
        fake("in", "b", "enter", "m")
        log = recorder.stop()
        self.assertEqual(log.locks()[log.one("monitor_contended_enter")["lock"]["id"]]["hash"], 0)

    def test_a_jdk_that_keeps_thread_ids_in_its_monitors(self):
        """JDK 24 and later, without the field that says which thread has which id: hashes are right, owners are not
        known, and the log says so."""
        self.variant = "jdk24"
        fake = self.start()
        recorder = self.record(fake)
        fake("owner", "m", "31")
        fake("in", "b", "enter", "m")
        log = recorder.stop()
        enter = log.one("monitor_contended_enter")
        lock = log.locks()[enter["lock"]["id"]]
        self.assertEqual((lock["identity"], lock["hash"]), ("hash", 0x1234567))
        self.assertEqual((enter["owner"], enter["owner_source"]), (None, "unresolved"))
        self.assertIn("not resolved", log.header["facts"]["owner"])
        self.assertTrue([n for n in log.of("note") if "owners of monitors are not resolved" in n["text"]])
        self.assertIn("owners of monitors are not resolved", recorder.err)

    def test_class_names(self):
        names = ["demo/Übermut", "Top", "demo/Outer$Inner", "x/" + "n" * 400, "[Ljava/lang/String;"]
        fake = self.start()
        for i, name in enumerate(names):
            fake("class", name)
            fake("object", f"o{i}", name)
            fake("monitor", f"m{i}", f"o{i}")
        recorder = self.record(fake)
        for i in range(len(names)):
            fake("in", "b", "enter", f"m{i}")
        seen = [e["lock"]["class"] for e in recorder.stop().of("monitor_contended_enter")]
        self.assertEqual(seen[:3], ["demo.Übermut", "Top", "demo.Outer$Inner"])
        self.assertTrue(seen[3].startswith("x." + "n" * 200) and seen[3].endswith("..."), seen[3])
        self.assertEqual(seen[4], "[Ljava.lang.String;")

    def test_class_at_the_address_of_an_unloaded_one_is_told_again(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "b", "enter", "m")
        fake("unload", "demo/Other")
        fake("in", "b", "enter", "m")
        log = recorder.stop()
        self.assertEqual([e["lock"]["class"] for e in log.of("monitor_contended_enter")], ["demo.LockA"] * 2)


class SilentOwners(Known):
    """An owner that no event tells of is seen when somebody leaves a CPU, and by sampling those that do not."""

    def released(self):
        fake = self.start()
        fake.thread("Thread C", id="c")
        recorder = self.record(fake)
        fake("in", "a", "own", "m")
        fake("in", "b", "enter", "m")
        fake("owner", "m", "none")
        fake("in", "a", "exit", "m")
        return fake, recorder

    def assert_seen(self, log, threads, owner):
        seen = [e for e in log.of("monitor_owner_seen") if name_of(e["thread"]) in threads]
        self.assertTrue(seen, log.of("monitor_owner_seen"))
        self.assertEqual((name_of(seen[0]["owner"]), seen[0]["owner_source"]), (owner, "java_thread"))
        self.assertEqual(seen[0]["lock"]["class"], "demo.LockA")
        self.assert_counters(seen[0], "owner_")

    def test_by_a_waiter_that_sleeps_again(self):
        fake, recorder = self.released()
        fake("in", "c", "own", "m")
        fake("in", "b", "sleep", 5)
        # Thread A may be late in leaving its CPU, and looks then.
        self.assert_seen(recorder.stop(), ("Thread A", "Thread B"), "Thread C")

    def test_by_the_owner_that_leaves_its_cpu(self):
        fake, recorder = self.released()
        fake("in", "a", "own", "m")
        fake("in", "a", "sleep", 5)
        log = recorder.stop()
        self.assert_seen(log, ("Thread A",), "Thread A")
        group = log.report("--by", "owner_thread")
        self.assertEqual(group["total"]["count"], 0, "still blocked: in no sum")

    def test_the_time_is_charged_to_it(self):
        fake, recorder = self.released()
        fake("in", "c", "own", "m")
        fake("in", "b", "sleep", 5)
        fake("in", "c", "busy", 50)
        fake("owner", "m", "none")
        fake("in", "b", "own", "m")
        fake("in", "b", "entered", "m")
        groups = recorder.stop().report("--by", "owner_thread")["groups"]
        charged = {g["key"][0]: g["blocked_ns"] for g in groups}
        self.assertGreaterEqual(charged["Thread C"], 50e6)

    def test_not_when_nothing_is_new(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "a", "own", "m")
        fake("in", "b", "enter", "m")
        fake("in", "b", "sleep", 5)
        fake("in", "a", "busy", 20)
        fake("in", "a", "sleep", 5)
        self.assertEqual(recorder.stop().of("monitor_owner_seen"), [])


class SilentOwnersNarrow(SilentOwners):
    options = ("--narrow",)


class MonitorsNarrow(Monitors):
    options = ("--narrow",)


class Parks(Known):
    def test_reentrant_lock_with_owner(self):
        fake = self.start()
        fake("juc", "r", "reentrant")
        recorder = self.record(fake)
        fake("in", "a", "hold", "r")
        fake("in", "b", "park", "r", 0, 0)
        fake("in", "a", "busy", 30)
        fake("in", "a", "free", "r")
        fake("in", "a", "unpark", "b")
        fake("in", "b", "parked")
        log = recorder.stop()
        begin, end, unpark = log.one("park_begin"), log.one("park_end"), log.one("unpark")
        self.assertEqual(name_of(begin["thread"]), "Thread B")
        self.assertEqual((name_of(begin["owner"]), begin["owner_source"]), ("Thread A", "exclusive_owner"))
        self.assertEqual((begin["lock"]["class"], begin["lock"]["group"]),
                         ("java.util.concurrent.locks.ReentrantLock$NonfairSync", "juc"))
        self.assertEqual((begin["absolute"], begin["time"], begin["readers"]), (False, 0, 0))
        self.assertEqual((end["lock"], name_of(end["owner"])), (begin["lock"], "Thread A"))
        self.assertGreaterEqual(end["owner_cpu_ns"] + end["owner_stolen_ns"]
                                - begin["owner_cpu_ns"] - begin["owner_stolen_ns"], 30e6 * 0.99)
        self.assertEqual((name_of(unpark["thread"]), name_of(unpark["target"])), ("Thread A", "Thread B"))
        for event in (begin, end):
            self.assert_counters(event)
            self.assert_counters(event, "owner_")
        group = log.report("--by", "group,lock_class,owner_thread,waiter_thread")["groups"][0]
        self.assertEqual((group["key"], group["count"]), (["juc"], 1))
        self.assertEqual(group["blocked_ns"], end["time_ns"] - begin["time_ns"])
        self.assertEqual(group["groups"][0]["groups"][0]["key"][-1], "Thread A")

    def test_lock_without_owner_and_own_class(self):
        fake = self.start()
        fake("class", "demo/MyLock$Sync", "reentrant")
        fake("juc", "mine", "demo/MyLock$Sync")
        recorder = self.record(fake)
        fake("in", "b", "park", "mine", 0, 0)
        fake("in", "b", "parked")
        fake("in", "a", "hold", "mine")
        fake("in", "b", "park", "mine", 0, 0)
        fake("in", "b", "parked")
        free, held = recorder.stop().of("park_begin")
        self.assertEqual((free["owner"], free["owner_source"]), (None, "none"))
        self.assertEqual((name_of(held["owner"]), held["owner_source"]), ("Thread A", "exclusive_owner"))
        self.assertEqual(held["lock"]["group"], "juc")
        self.assertEqual(held["lock"]["id"], free["lock"]["id"])

    def test_read_write_lock(self):
        fake = self.start()
        fake("juc", "rw", "rrwl")
        recorder = self.record(fake)
        fake("in", "a", "read", "rw")
        fake("state", "rw", 3 << 16)
        fake("in", "b", "park", "rw", 0, 0)
        fake("in", "b", "parked")
        fake("state", "rw", 1)
        fake("in", "a", "hold", "rw")
        fake("in", "b", "park", "rw", 0, 0)
        fake("in", "b", "parked")
        readers, writer = recorder.stop().of("park_begin")
        self.assertEqual((name_of(readers["owner"]), readers["owner_source"], readers["readers"]),
                         ("Thread A", "first_reader", 3))
        self.assertEqual((name_of(writer["owner"]), writer["owner_source"], writer["readers"]),
                         ("Thread A", "exclusive_owner", 0))

    def test_no_blocker_and_blocker_that_is_no_lock(self):
        fake = self.start()
        fake("class", "demo/Queue")
        fake("object", "queue", "demo/Queue", "0x777")
        recorder = self.record(fake)
        fake("in", "b", "park", "-", 0, 1000000)
        fake("in", "b", "parked")
        fake("in", "b", "park", "queue", 1, 1700000000123)
        fake("in", "b", "parked")
        log = recorder.stop()
        nothing, queue = log.of("park_begin")
        self.assertEqual((nothing["lock"], nothing["absolute"], nothing["time"]), (None, False, 1000000))
        self.assertEqual((queue["lock"]["class"], queue["lock"]["group"], queue["owner"], queue["owner_source"]),
                         ("demo.Queue", "other", None, "unknown"))
        self.assertEqual((queue["absolute"], queue["time"]), (True, 1700000000123))
        self.assertEqual(log.locks()[queue["lock"]["id"]]["hash"], 0x777)
        report = log.report()
        self.assertEqual(report["contention"]["total"]["count"], 0)
        self.assertIn("demo.Queue", [p["class"] for p in report["parking"]])

    def test_blocker_that_a_collector_moves(self):
        fake = self.start()
        fake("juc", "r", "reentrant")
        recorder = self.record(fake)
        fake("in", "a", "hold", "r")
        fake("in", "b", "park", "r", 0, 0)
        fake("move", "r")
        fake("in", "b", "parked")
        fake("in", "b", "park", "r", 0, 0)
        fake("in", "b", "parked")
        events = recorder.stop().of("park_begin", "park_end")
        self.assertEqual(len({e["lock"]["id"] for e in events}), 1)
        self.assertEqual(len(events), 4)

    def test_unpark_of_thread_that_never_parked(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "a", "unpark", "b")
        fake("unpark", "b")  # by a thread that is no Java thread
        unknown, native = recorder.stop().of("unpark")
        self.assertIsNone(unknown["target"])
        self.assertEqual(native["thread"]["tid"], fake.vm_tid)

    def test_end_without_begin(self):
        fake = self.start()
        fake("juc", "r", "reentrant")
        fake("in", "b", "park", "r", 0, 0)
        recorder = self.record(fake)
        fake("in", "b", "parked")
        log = recorder.stop()
        self.assertEqual(log.of("park_begin"), [])
        self.assertEqual(name_of(log.one("park_end")["thread"]), "Thread B")
        log.report()

    def test_classes_loaded_after_attach(self):
        fake = self.start("--late-juc")
        recorder = self.record(fake, "--window", "1h")  # at the end of each spoor looks for new classes, too
        fake("load-juc")
        fake("juc", "r", "reentrant")
        fake("in", "a", "hold", "r")
        parks = 0

        def known_after_another_park():
            nonlocal parks
            fake("in", "b", "park", "r", 0, 0)
            fake("in", "b", "parked")
            parks += 1
            return "exclusive_owner" in spoor("cat", "-e", "park_begin", recorder.log_path, expect=None).stdout

        # The first park tells spoor of the class; it then looks for the owner's field. Until it knows: "unknown".
        wait_until("the owner is known", known_after_another_park)
        events = recorder.stop().of("park_begin")
        sources = [e["owner_source"] for e in events]
        self.assertEqual(len(sources), parks)
        self.assertEqual((sources[-1], name_of(events[-1]["owner"])), ("exclusive_owner", "Thread A"))
        self.assertEqual(set(sources), {"unknown", "exclusive_owner"})
        self.assertEqual({e["lock"]["group"] for e in events[-1:]}, {"juc"})


class ParksNarrow(Parks):
    options = ("--narrow",)


class Vm(Known):
    def test_collections(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("vmop", "begin", "G1CollectForAllocation", 0)
        fake("safepoint", "begin")
        fake("gcbegin", 0)
        fake("pool", "begin", "G1 Young Generation", "G1 Eden Space", 1, 2000, 3000, 18446744073709551615)
        fake("pool", "end", "G1 Young Generation", "G1 Eden Space", 1, 20, 3000, 5000)
        fake("gcend")
        fake("gcbegin", 0)  # as Serial and Parallel: a full one is said to be young
        fake("pool", "begin", "PS Scavenge", "PS Eden Space", 1, 2, 3, 4)
        fake("pool", "begin", "PS MarkSweep", "PS Old Gen", 1, 2, 3, 4)
        fake("pool", "end", "PS MarkSweep", "PS Old Gen", 1, 2, 3, 4)
        fake("pool", "end", "PS Scavenge", "PS Eden Space", 1, 2, 3, 4)
        fake("gcend")
        fake("safepoint", "end")
        fake("vmop", "end", "G1CollectForAllocation", 0)
        fake("vmop", "begin", "G1PauseRemark", 0)
        fake("gcbegin", 0)
        fake("gcend")
        fake("vmop", "end", "G1PauseRemark", 0)
        log = recorder.stop()
        begins, ends = log.of("gc_begin"), log.of("gc_end")
        self.assertEqual([b["operation"] for b in begins], ["G1CollectForAllocation"] * 2 + ["G1PauseRemark"])
        self.assertEqual([(e["kind"], e["collector"]) for e in ends],
                         [("young", "G1 Young Generation"), ("full", "PS MarkSweep"), ("concurrent_pause", None)])
        before, after = log.of("gc_pool")[:2]
        self.assertEqual((before["moment"], before["manager"], before["pool"], before["used_bytes"],
                          before["committed_bytes"], before["max_bytes"]),
                         ("before", "G1 Young Generation", "G1 Eden Space", 2000, 3000, U64_MAX))
        self.assertEqual((after["moment"], after["used_bytes"], after["max_bytes"]), ("after", 20, 5000))
        self.assertEqual(len(log.of("gc_pool")), 6)
        pauses = log.report()["pauses"]
        self.assertEqual(sum(g["count"] for g in pauses["gc"]), 3)
        self.assertEqual(sum(g["total_ns"] for g in pauses["gc"]),
                         sum(e["time_ns"] - b["time_ns"] for b, e in zip(begins, ends)))
        self.assertEqual(sum(s["count"] for s in pauses["safepoints"]), 1)

    def test_operations_and_safepoints(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "a", "vmop", "request", "ThreadDump", 0)
        fake("vmop", "begin", "ThreadDump", 0)
        fake("safepoint", "begin")
        fake("vmop", "begin", "Nested", 2)
        fake("gcbegin", 0)
        fake("gcend")
        fake("vmop", "end", "Nested", 2)
        fake("safepoint", "end")
        fake("vmop", "end", "ThreadDump", 0)
        log = recorder.stop()
        request = log.one("vm_operation_request")
        self.assertEqual((name_of(request["thread"]), request["operation"], request["mode"]),
                         ("Thread A", "ThreadDump", 0))
        self.assertEqual([(e["event"], e["operation"], e["mode"]) for e in log.of("vm_operation_begin",
                                                                                  "vm_operation_end")],
                         [("vm_operation_begin", "ThreadDump", 0), ("vm_operation_begin", "Nested", 2),
                          ("vm_operation_end", "Nested", 2), ("vm_operation_end", "ThreadDump", 0)])
        self.assertEqual(log.one("gc_begin")["operation"], "Nested")
        begin, end = log.one("safepoint_begin"), log.one("safepoint_end")
        self.assertLess(begin["time_ns"], end["time_ns"])
        self.assertEqual(begin["thread"]["tid"], fake.vm_tid)


class Threads(Known):
    def test_names_before_and_after_attach(self):
        fake = self.start()
        fake.thread("Grüße 你好", "daemon", id="u")
        recorder = self.record(fake, "--window", "100ms")
        fake.thread("Später", "daemon", id="late")
        fake.thread("x" * 300, id="long")
        fake("rename", "b", "B renamed")
        fake("in", "a", "busy", 250)
        fake("stop", "late")
        log = recorder.stop()
        by_tid = {t["tid"]: t for t in log.threads().values()}
        for id, name, daemon, existed in (("a", "Thread A", False, True), ("b", "B renamed", False, True),
                                          ("u", "Grüße 你好", True, True), ("late", "Später", True, False)):
            with self.subTest(name=name):
                t = by_tid[fake.tids[id]]
                self.assertEqual((t["name"], t["java_id"], t["daemon"], t["existed"]),
                                 (name, fake.java_ids[id], daemon, existed))
                self.assertEqual(t["ns_tid"], t["tid"])
        self.assertTrue(by_tid[fake.tids["long"]]["name"].startswith("x" * 100))
        self.assertEqual(by_tid[fake.vm_tid]["java_id"], 0)
        started = {e["thread"]["tid"] for e in log.of("thread_start")}
        self.assertEqual(started, {fake.tids["late"], fake.tids["long"]})
        self.assertEqual([e["thread"]["tid"] for e in log.of("thread_end")], [fake.tids["late"]])

    def test_start_times_are_the_kernels(self):
        fake = self.start()
        recorder = self.record(fake)
        log = recorder.stop()
        for thread in log.threads().values():
            with open(f"/proc/{fake.pid}/task/{thread['tid']}/stat", encoding="utf-8") as f:
                ticks = int(f.read().rpartition(")")[2].split()[19])
            self.assertEqual(thread["start_ns"] // 10_000_000, ticks)

    def test_names_without_a_flag_write_and_without_events(self):
        fake = self.start()
        log = self.record(fake, "--no-write").stop()
        names = {t["name"] for t in log.threads().values()}
        self.assertLessEqual({"Thread A", "Thread B"}, names)


class ThreadsNarrow(Threads):
    options = ("--narrow",)


class OlderKernels(Known):
    """Without uprobe_multi links each location of a probe is a perf event, attached by libbpf."""

    def setUp(self):
        super().setUp()
        os.environ["SPOOR_NO_UPROBE_MULTI"] = "1"
        self.addCleanup(os.environ.pop, "SPOOR_NO_UPROBE_MULTI")

    def test_events_and_their_arguments(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "a", "own", "m")
        fake("in", "b", "enter", "m")
        fake("in", "b", "quicknotify", "m")
        fake("in", "b", "park", "-", 1, 1700000000123)
        fake("in", "b", "parked")
        log = recorder.stop()
        self.assertEqual(set(log.header["sources"]["probes"]), stock_probes())
        self.assertEqual(name_of(log.one("monitor_contended_enter")["owner"]), "Thread A")
        self.assertEqual(log.one("monitor_notify")["lock"]["class"], "demo.LockA")
        park = log.one("park_begin")
        self.assertEqual((park["absolute"], park["time"]), (True, 1700000000123))


class Schema(BpfTest):
    def test_each_kind_has_a_test(self):
        """Events are looked at by their names, in quotes: in the tests with the fake JVM, or, for what it cannot give,
        in those with real ones."""
        tests = [p for folder in ("tests/bpf", "tests/e2e") for p in glob.glob(os.path.join(ROOT, folder, "*.py"))]
        named = {name for path in tests for name in re.findall(r'"(\w+)"', read_text(path))}
        self.assertEqual(set(schema_ids()) - named, set())

    def test_header(self):
        fake = self.fake("--narrow")
        header = self.record(fake, "--window", "250ms", "--buffer", "1M").stop().header
        self.assertEqual((header["format"], header["version"], header["jvm"]["pid"]), ("spoor", 1, fake.pid))
        self.assertEqual(header["jvm"]["version"], "17.0.99+1-fake")
        self.assertTrue(header["jvm"]["libjvm"].endswith("/tests/fake/libjvm.so"))
        self.assertTrue(header["jvm"]["flags"]["UseG1GC"])
        self.assertFalse(header["jvm"]["flags"]["UseSerialGC"])
        self.assertEqual((header["record"]["window_ns"], header["record"]["buffer_bytes"]), (250000000, 1 << 20))
        self.assertEqual((header["sources"]["monitor"], header["sources"]["probes_missing"]), ("on", []))
        self.assertEqual(set(header["sources"]["probes"]), stock_probes())
        self.assertEqual((header["sources"]["owner_sample"], header["sources"]["owner_sample_ns"]), owner_sample())


del Known  # it has no tests of its own

if __name__ == "__main__":
    unittest.main()
