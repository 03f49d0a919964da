"""The probes of a patched JVM (jvm-hooks/probes.h): chosen, attached in order, and every argument in its field."""
import json
import os
import re
import signal
import subprocess
import time
import unittest

from harness import BpfTest, FAKE_DIR, Fake, ROOT, fake_build, name_of, spoor, stock_probes, wait_until
from processes import libjvm_code

NAMES = re.findall(r"X\((\w+)\)", re.sub(r".*?define SPOOR_PROBES", "", open(
    os.path.join(ROOT, "jvm-hooks/probes.h"), encoding="utf-8").read(), flags=re.S).partition("\n")[2])
MONITOR, PARK = [n for n in NAMES if n.startswith("monitor")], ["park__end", "unpark", "park__begin"]
SWITCHES = {"monitor__enter": MONITOR, "park__begin": PARK}
AFTER_WAIT, IN_WAIT, RESOLVES = 1, 2, 4
NOWHERE = 0x1000  # a monitor that cannot be read
VIRTUAL = 1 << 31  # SPOOR_VIRTUAL: the number is the id of a virtual thread


class Patched(BpfTest):
    """A patched fake JVM with two threads and an object."""
    env = {}

    def setUp(self):
        super().setUp()
        for key, value in self.env.items():
            os.environ[key] = value
            self.addCleanup(os.environ.pop, key)

    def start(self, *options, variant="patched"):
        fake = self.fake(*options, variant=variant)
        self.people(fake)
        return fake

    def people(self, fake):
        fake.thread("Thread A", id="a")
        fake.thread("Thread B", id="b")
        fake("class", "demo/LockA")
        fake("object", "o", "demo/LockA", "0x777")
        fake("monitor", "m", "o")

    def hook(self, fake, thread, name, *args):
        """Fires it, and it must have been raised."""
        self.assertEqual(fake("in", thread, "hook", name, *args), ["1"], name)

    def enter(self, fake, thread, sequence, monitor="m:m", hash=0x777, klass="k:demo/LockA", flags=0):
        self.hook(fake, thread, "monitor__enter", monitor, sequence, klass, hash, flags)


class Choice(Patched):
    def test_hooks_instead_of_the_stock_probes(self):
        fake = self.start()
        recorder = self.record(fake)
        self.assertEqual(fake.flag(), 0)  # it is not needed
        self.assertEqual(fake("in", "b", "enter", "m"), ["0"])
        fake("in", "b", "park", "-", 0, 0)
        fake("in", "a", "unpark", "b")
        fake("in", "b", "parked")
        fake("gcbegin", 0)  # collections are told by both
        log = recorder.stop()
        self.assertEqual((log.header["jvm"]["kind"], log.header["jvm"]["hooks"]), ("patched", 1))
        self.assertEqual((log.header["sources"]["monitor"], log.header["sources"]["probes_missing"]), ("hooks", []))
        probes = log.header["sources"]["probes"]
        self.assertEqual([p for p in probes if re.match(r"hotspot:(monitor|thread__(un)?park)", p)], [])
        self.assertEqual({p.partition(":")[2] for p in probes if p.startswith("spoor:")}, set(NAMES))
        self.assertIn("hotspot:class__unloaded", probes)
        self.assertEqual(probes[-2:], ["spoor:monitor__enter", "spoor:park__begin"])
        self.assertIn("sequence", log.header["facts"])
        self.assertEqual(log.of("park_begin", "park_end", "unpark", "note"), [])
        log.one("gc_begin")

    def test_nothing_is_written_and_nothing_is_missing(self):
        fake = self.start()
        recorder = self.record(fake, "--no-write")
        self.enter(fake, "b", 1)
        log = recorder.stop()
        self.assertEqual(log.header["sources"]["monitor"], "hooks")
        log.one("monitor_contended_enter")
        self.assertNotIn("monitor events", recorder.err)

    def test_stock_probes_if_told_so(self):
        fake = self.start()
        recorder = self.record(fake, "--stock-probes")
        self.assertEqual((set(fake.semaphores()), fake.flag()), ({0}, 1))
        fake("in", "b", "enter", "m")
        fake("in", "b", "park", "-", 0, 0)
        log = recorder.stop()
        self.assertEqual((log.header["jvm"]["kind"], log.header["jvm"]["hooks"]), ("stock", 1))
        self.assertEqual(log.header["sources"]["hooks_why"], "--probes usdt was given")
        self.assertTrue(log.header["record"]["stock_probes"])
        self.assertEqual((log.one("monitor_contended_enter")["sequence"], fake.flag()), (0, 0))
        log.one("park_begin")
        self.assertEqual(log.one("note")["level"], "info")
        self.assertNotIn("patched", recorder.err)  # it was wanted

    def test_hooks_of_another_version_are_not_used(self):
        self.as_stock("newer", "its hooks are of version 99, this spoor knows version 1")

    def test_hooks_that_are_not_complete_are_not_used(self):
        self.as_stock("partial", "it lacks the probe spoor:safepoint")

    def as_stock(self, variant, why):
        fake = self.start(variant=variant)
        recorder = self.record(fake)
        self.assertEqual((set(fake.semaphores()), fake.flag()), ({0}, 1))
        fake("in", "b", "enter", "m")
        log = recorder.stop()
        self.assertEqual((log.header["jvm"]["kind"], log.header["sources"]["hooks_why"]), ("stock", why))
        self.assertEqual((log.one("note")["level"], log.one("note")["text"]),
                         ("warning", f"the JVM is patched, but its hooks were not used: {why}"))
        self.assertIn(f"this JVM is patched, but its hooks are not used: {why}", recorder.err)
        self.assertEqual(log.one("monitor_contended_enter")["lock"]["class"], "demo.LockA")
        self.assertIn(why, log.report_text().replace("\n             ", " "))

    def test_a_stock_jvm_is_none(self):
        fake = self.start(variant="")
        recorder = self.record(fake, "--stock-probes")
        log = recorder.stop()
        self.assertEqual((log.header["jvm"]["kind"], "hooks" in log.header["jvm"]), ("stock", False))
        self.assertNotIn("hooks_why", log.header["sources"])
        self.assertEqual(set(log.header["sources"]["probes"]), stock_probes())

    def test_doctor_measures_a_hit(self):
        done = json.loads(spoor("doctor", "-F", "json", "-p", self.start().pid).stdout)
        found = {c["name"]: c["found"] for c in done["checks"]}
        if os.environ.get("SPOOR_NO_UPROBE_MULTI") or "ns at" not in found["uprobes"]:
            self.skipTest("this kernel has no uprobe_multi links")
        self.assertRegex(found["uprobes"], r"\d+ ns at a 1-byte nop \(trap\), \d+ ns at one of 5 bytes \((call|trap)\),"
                                           r" of 10 bytes: (none can be set|\d+ ns \((call|trap)\))$")

    def test_doctor(self):
        def hooks_of(variant):
            done = json.loads(spoor("doctor", "-F", "json", "-p", self.start(variant=variant).pid).stdout)
            return next(c for c in done["checks"] if c["name"] == "hooks"), {c["name"] for c in done["checks"]}

        check, names = hooks_of("patched")
        self.assertEqual(check["state"], "ok")
        self.assertRegex(check["found"], f"patched.*version 1.*{len(NAMES)} probes, all 5-byte nops")
        self.assertNotIn("monitor-flag", names)
        check, names = hooks_of("")
        self.assertEqual(check["state"], "ok")
        self.assertIn("stock", check["found"])
        self.assertIn("monitor-flag", names)
        check, _ = hooks_of("newer")
        self.assertEqual(check["state"], "warning")
        self.assertIn("version 99", check["found"])


class Semaphores(Patched):
    def test_up_while_attached(self):
        fake = self.start()
        self.assertEqual(fake.semaphores(), [0] * len(NAMES))
        recorder = self.record(fake)
        self.assertEqual(fake.semaphores(), [1] * len(NAMES))
        recorder.stop()
        self.assertEqual(fake.semaphores(), [0] * len(NAMES))

    def test_down_after_sigkill_of_the_recorder(self):
        fake = self.start()
        recorder = self.record(fake)
        recorder.process.kill()
        recorder.wait()
        wait_until("the semaphores are down", lambda: not any(fake.semaphores()))
        recorder = self.record(fake, "-f")
        self.enter(fake, "b", 1)
        recorder.stop().one("monitor_contended_enter")

    def test_two_recorders(self):
        fake = self.start()
        recorders = [self.record(fake, path=self.path(f"{i}.spoor")) for i in range(2)]
        self.assertEqual(fake.semaphores(), [1] * len(NAMES))  # one for the probe's breakpoint, whoever listens
        self.enter(fake, "b", 7)
        recorders[0].stop().one("monitor_contended_enter", sequence=7)
        self.assertEqual(fake.semaphores(), [1] * len(NAMES))
        recorders[1].stop().one("monitor_contended_enter", sequence=7)
        self.assertEqual(fake.semaphores(), [0] * len(NAMES))

    def test_switches_go_first(self):
        fake = self.start()
        recorder = self.record(fake)
        seen = [fake.semaphores()]
        recorder.process.send_signal(signal.SIGINT)
        while any(seen[-1]) or recorder.process.poll() is None:
            seen.append(fake.semaphores())  # in their order: the switch is read after its family
        recorder.wait()
        for values in seen:
            up = dict(zip(NAMES, values))
            for switch, family in SWITCHES.items():
                self.assertTrue(not up[switch] or all(up[n] for n in family), up)

    def test_what_is_numbered_is_seen(self):
        """A number is drawn when the semaphore is seen up: with no other order of things would all be in the log."""
        fake = self.start()
        fake("go", "b", "drum", "m")
        recorder = self.record(fake, "--no-stacks", "--buffer", "256M", "--window", "50ms")
        wait_until("some are in the file", lambda: os.path.getsize(recorder.log_path) > 100000)
        log = recorder.stop()
        last = int(fake("join", "b")[0])
        self.assertEqual(log.lost(), {})
        self.assertEqual([e["sequence"] for e in log.raw_of("monitor_contended_enter")], list(range(1, last + 1)))

    def test_somebody_else_has_the_probe(self):
        """With its semaphore, as every other tool does it: then so do we."""
        fake = self.start()
        other = self.record(fake, path=self.path("other.spoor"), env={**os.environ, "SPOOR_NO_UPROBE_MULTI": "1"})
        recorder = self.record(fake)
        self.enter(fake, "b", 1)
        log = recorder.stop()
        self.assertEqual(log.header["sources"]["probes_missing"], [])
        log.one("monitor_contended_enter", sequence=1)
        self.enter(fake, "b", 2)
        other.stop().one("monitor_contended_enter", sequence=2)
        self.assertEqual(fake.semaphores(), [0] * len(NAMES))

    def test_only_in_that_process(self):
        fake, other = self.start(), self.start()
        recorder = self.record(fake)
        self.assertEqual(set(other.semaphores()), {0})
        recorder.stop()

    def test_the_code_is_as_before(self):
        fake = self.start()
        before = libjvm_code(fake.pid)
        recorder = self.record(fake)
        for sequence in range(3):  # the second hit is where kernels from 6.18 on make a call of it
            self.enter(fake, "b", sequence)
        self.assertNotEqual(libjvm_code(fake.pid), before)
        recorder.stop()
        self.assertEqual(libjvm_code(fake.pid), before)


class SemaphoresOlderKernels(Semaphores):
    """Perf events, attached by libbpf, one for each location. They have no gates."""
    env = {"SPOOR_NO_UPROBE_MULTI": "1"}
    test_what_is_numbered_is_seen = None
    test_somebody_else_has_the_probe = None


class Monitors(Patched):
    def test_enter_entered_exit(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "a", "own", "m")
        self.enter(fake, "b", 41)
        acquired = time.monotonic_ns()
        fake("in", "b", "hook", "monitor__entered", "m:m", 43, acquired, 0)
        released = time.monotonic_ns()
        self.hook(fake, "a", "monitor__exit", "m:m", 42, acquired - 5000, acquired - 10, 0, 0)
        self.hook(fake, "b", "monitor__exit", "m:m", 44, 0, released, 0, 0)
        self.hook(fake, "b", "monitor__exit", "m:m", 45, released + 9, released, 0, 0)
        log = recorder.stop()
        enter, entered = log.one("monitor_contended_enter"), log.one("monitor_contended_entered")
        self.assertEqual((name_of(enter["thread"]), enter["sequence"], enter["after_wait"]), ("Thread B", 41, False))
        self.assertEqual((name_of(enter["owner"]), enter["owner_source"]), ("Thread A", "java_thread"))
        self.assertEqual((enter["lock"]["class"], enter["lock"]["group"]), ("demo.LockA", "monitor"))
        self.assertEqual((name_of(entered["thread"]), entered["sequence"], entered["after_wait"], entered["time_ns"]),
                         ("Thread B", 43, False, acquired))
        self.assertEqual((entered["lock"], name_of(entered["owner"])), (enter["lock"], "Thread A"))
        exits = sorted(log.of("monitor_contended_exit"), key=lambda e: e["sequence"])
        self.assertEqual([(name_of(e["thread"]), e["sequence"], e["time_ns"], e["held_ns"]) for e in exits],
                         [("Thread A", 42, acquired - 10, 4990), ("Thread B", 44, released, 0),
                          ("Thread B", 45, released, 0)])
        self.assertEqual({(e["lock"]["id"], e["in_wait"], e["forward"], e["resolves"]) for e in exits},
                         {(enter["lock"]["id"], False, 0, 0)})
        lock = log.locks()[enter["lock"]["id"]]
        self.assertEqual((lock["identity"], lock["hash"]), ("hash", 0x777))

    def test_owner_by_stack_address(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "a", "stackown", "m")
        self.enter(fake, "b", 1)
        enter = recorder.stop().one("monitor_contended_enter")
        self.assertEqual((name_of(enter["owner"]), enter["owner_source"]), ("Thread A", "stack_lock"))

    def test_the_owner_of_entered_is_by_sequence(self):
        fake = self.start()
        fake.thread("Thread C", id="c")
        recorder = self.record(fake)
        fake("in", "a", "own", "m")
        self.enter(fake, "b", 1)
        self.enter(fake, "c", 2)
        self.hook(fake, "b", "monitor__entered", "m:m", 4, 0, 0)
        self.hook(fake, "a", "monitor__exit", "m:m", 3, 0, time.monotonic_ns(), 0, 0)  # is late
        self.hook(fake, "c", "monitor__entered", "m:m", 6, 0, 0)
        entered = {e["sequence"]: e for e in recorder.stop().of("monitor_contended_entered")}
        self.assertEqual([name_of(entered[n]["owner"]) for n in (4, 6)], ["Thread A", "Thread B"])

    def test_wait_and_notify(self):
        fake = self.start()
        recorder = self.record(fake)
        now = time.monotonic_ns()
        self.hook(fake, "b", "monitor__wait", "m:m", "k:demo/LockA", 0x777, 1500)
        self.hook(fake, "b", "monitor__exit", "m:m", 10, now - 100, now, IN_WAIT, 10)
        self.hook(fake, "a", "monitor__notify", "m:m", 11, "t:b", 0)
        self.hook(fake, "a", "monitor__notify", "m:m", 12, "t:a", 1)
        self.hook(fake, "b", "monitor__entered", "m:m", 13, now, AFTER_WAIT)
        for how in (1, 2, 3, 77):
            self.hook(fake, "b", "monitor__waited", "m:m", how)
        self.enter(fake, "b", 14, flags=AFTER_WAIT)
        self.hook(fake, "b", "monitor__exit", "m:m", 15, now, now + 7, RESOLVES, 10)
        log = recorder.stop()
        begin = log.one("monitor_wait_begin")
        self.assertEqual((name_of(begin["thread"]), begin["timeout_ms"], begin["lock"]["class"]),
                         ("Thread B", 1500, "demo.LockA"))
        self.assertEqual([e["how"] for e in log.of("monitor_wait_end")],
                         ["notified", "timeout", "interrupted", "unknown"])
        self.assertEqual([(name_of(e["thread"]), e["sequence"], name_of(e["target"]), e["all"])
                          for e in log.of("monitor_notify")],
                         [("Thread A", 11, "Thread B", False), ("Thread A", 12, "Thread A", True)])
        self.assertTrue(log.one("monitor_contended_entered")["after_wait"])
        self.assertTrue(log.one("monitor_contended_enter")["after_wait"])
        self.assertEqual([(e["sequence"], e["held_ns"], e["in_wait"], e["forward"], e["resolves"])
                          for e in log.of("monitor_contended_exit")], [(10, 100, True, 10, 0), (15, 7, False, 0, 10)])
        self.assertEqual(len({e["lock"]["id"] for e in log.events if e["event"].startswith("monitor_")}), 1)

    def test_fold(self):
        fake = self.start()
        recorder = self.record(fake)
        self.enter(fake, "b", 1)
        ended = time.monotonic_ns()
        self.hook(fake, "b", "monitor__fold", "m:m", 2, 900, "t:a", 2, 600, 123456789, ended, 2)
        self.hook(fake, "b", "monitor__fold", "m:m", 2, 900, 0, 0, 299, 1 << 40, ended, 2)
        log = recorder.stop()
        one, rest = sorted(log.of("monitor_fold"), key=lambda e: -e["count"])
        self.assertEqual([one[k] for k in ("first", "last", "parts", "like", "count", "held_ns", "time_ns")],
                         [2, 900, 2, 2, 600, 123456789, ended])
        self.assertEqual((name_of(one["owner"]), name_of(one["thread"])), ("Thread A", "Thread B"))
        self.assertEqual([rest[k] for k in ("owner", "like", "count", "held_ns")], [None, 0, 299, 1 << 40])
        self.assertEqual(one["lock"], log.one("monitor_contended_enter")["lock"])

    def test_virtual_threads_are_named_by_their_ids(self):
        fake = self.start()
        recorder = self.record(fake)
        self.enter(fake, "b", 1)
        self.hook(fake, "a", "monitor__notify", "m:m", 2, VIRTUAL | 77, 0)
        self.hook(fake, "a", "monitor__fold", "m:m", 3, 5, VIRTUAL | 78, 3, 2, 7, time.monotonic_ns(), 1)
        self.hook(fake, "a", "unpark", 1, "p:b", VIRTUAL | 77)
        log = recorder.stop()
        threads = log.threads()
        named = [threads[log.raw_of(kind)[0][field]] for kind, field in (
            ("monitor_notify", "target"), ("monitor_fold", "owner"), ("unpark", "target"))]
        self.assertEqual([(t["virtual"], t["java_id"], t["tid"]) for t in named],
                         [(True, 77, 0), (True, 78, 0), (True, 77, 0)])

    def test_inflate_and_deflate(self):
        fake = self.start()
        fake("object", "p", "demo/LockA", "0x888")
        fake("monitor", "n", "p")
        recorder = self.record(fake)
        self.hook(fake, "a", "monitor__inflate", "m:m", 1, "k:demo/LockA", 0x777)
        self.enter(fake, "b", 1)
        self.hook(fake, "a", "monitor__deflate", "m:m", "k:demo/LockA", 0x777)
        self.hook(fake, "a", "monitor__inflate", "m:m", 4, "k:demo/LockA", 0x888)  # the same address, another object
        self.enter(fake, "b", 1, hash=0x888)
        self.hook(fake, "a", "monitor__deflate", "m:n", "k:demo/LockA", 0x999)  # nothing is known of it
        self.hook(fake, "a", "monitor__inflate", "m:n", 6, "k:demo/LockA", 0x777)  # the first object again
        self.enter(fake, "b", 1, monitor="m:n")
        log = recorder.stop()
        first, other, again = log.of("monitor_inflate")
        self.assertEqual([e["cause"] for e in (first, other, again)], ["monitor_enter", "hash_code", "jni_exit"])
        self.assertEqual(first["lock"], again["lock"])
        self.assertNotEqual(first["lock"]["id"], other["lock"]["id"])
        self.assertEqual(log.one("monitor_deflate")["lock"], first["lock"])
        self.assertEqual([e["lock"] for e in log.of("monitor_contended_enter")],
                         [first["lock"], other["lock"], again["lock"]])
        self.assertEqual(sorted(lock["hash"] for lock in log.locks().values()), [0x777, 0x888])

    def test_another_object_at_an_address_without_a_deflate(self):
        fake = self.start()
        recorder = self.record(fake)
        self.enter(fake, "b", 1)
        self.enter(fake, "b", 1, hash=0x888)
        one, other = recorder.stop().of("monitor_contended_enter")
        self.assertNotEqual(one["lock"]["id"], other["lock"]["id"])

    def test_the_object_of_a_monitor_that_no_probe_has_told_is_read(self):
        fake = self.start()
        fake("class", "demo/LockB")
        fake("object", "p", "demo/LockB")
        fake("monitor", "n", "p", "0x999")
        recorder = self.record(fake)
        self.hook(fake, "a", "monitor__notify", "m:m", 1, "t:b", 0)  # has no hash yet
        self.hook(fake, "a", "monitor__exit", "m:n", 1, 0, time.monotonic_ns(), 0, 0)
        self.hook(fake, "b", "monitor__entered", "m:m", 2, time.monotonic_ns(), AFTER_WAIT)
        self.enter(fake, "b", 3)
        self.enter(fake, "b", 2, monitor="m:n", klass="k:demo/LockB", hash=0x999)
        log = recorder.stop()
        self.assertEqual({e["lock"]["id"] for e in log.of("monitor_notify", "monitor_contended_entered")},
                         {log.one("monitor_contended_enter", sequence=3)["lock"]["id"]})
        other = log.one("monitor_contended_exit")["lock"]
        self.assertEqual((other["class"], other), ("demo.LockB",
                                                   log.one("monitor_contended_enter", sequence=2)["lock"]))
        self.assertEqual(sorted(lock["hash"] for lock in log.locks().values()), [0x777, 0x999])

    def test_a_record_that_comes_before_the_one_that_tells_its_lock(self):
        fake = self.start()
        recorder = self.record(fake)
        now = time.monotonic_ns()
        self.hook(fake, "a", "monitor__exit", NOWHERE, 2, 0, now, 0, 0)
        self.hook(fake, "b", "monitor__fold", NOWHERE, 3, 4, "t:a", 2, 2, 5, now, 1)
        self.enter(fake, "b", 1, monitor=NOWHERE)
        log = recorder.stop()
        self.assertEqual({e["lock"]["id"] for e in log.of("monitor_contended_exit", "monitor_fold",
                                                          "monitor_contended_enter")},
                         {log.one("monitor_contended_enter")["lock"]["id"]})
        self.assertEqual(len(log.locks()), 1)

    def test_the_deflation_tells_its_lock(self):
        fake = self.start()
        recorder = self.record(fake)
        self.hook(fake, "a", "monitor__exit", NOWHERE, 2, 0, time.monotonic_ns(), 0, 0)
        self.hook(fake, "b", "monitor__deflate", NOWHERE, "k:demo/LockA", 0x777)
        log = recorder.stop()
        self.assertEqual(log.one("monitor_contended_exit")["lock"], log.one("monitor_deflate")["lock"])
        self.assertEqual(log.one("monitor_deflate")["lock"]["class"], "demo.LockA")

    def test_a_lock_that_nobody_tells(self):
        fake = self.start()
        recorder = self.record(fake, "--window", "100ms")
        self.hook(fake, "a", "monitor__exit", NOWHERE, 2, 0, time.monotonic_ns(), 0, 0)
        shown = wait_until("it is written without", lambda: spoor(
            "cat", "-e", "monitor_contended_exit", recorder.log_path, expect=None).stdout)
        self.assertIn('"sequence":2', shown.replace(" ", ""))
        self.enter(fake, "b", 3, monitor=NOWHERE)
        log = recorder.stop()
        self.assertEqual(log.one("monitor_contended_exit")["lock"]["id"],
                         log.one("monitor_contended_enter")["lock"]["id"])
        self.assertEqual(log.locks()[log.one("monitor_contended_enter")["lock"]["id"]]["hash"], 0x777)

    def test_no_silent_owners_are_looked_for(self):
        fake = self.start()
        recorder = self.record(fake)
        self.enter(fake, "b", 1)
        fake("in", "a", "own", "m")
        fake("in", "b", "sleep", 5)
        fake("in", "a", "sleep", 5)
        self.assertEqual(recorder.stop().of("monitor_owner_seen"), [])


class MonitorsOlderKernels(Monitors):
    env = {"SPOOR_NO_UPROBE_MULTI": "1"}


class Parks(Patched):
    def park(self, fake, thread, sequence, klass, hash, absolute=0, time=0):
        self.hook(fake, thread, "park__begin", sequence, f"p:{thread}", klass, hash, absolute, time)

    def test_begin_unpark_end(self):
        fake = self.start()
        fake("juc", "r", "reentrant", "0x111")
        recorder = self.record(fake)
        fake("in", "a", "hold", "r")
        fake("in", "b", "block", "r")
        self.park(fake, "b", 100, "k:reentrant", 0x111, 1, 1700000000123)
        self.hook(fake, "a", "unpark", 101, "p:b", "t:b")
        self.hook(fake, "b", "park__end", 102, "p:b", 1, 101)
        fake("in", "b", "block", "-")
        self.park(fake, "b", 103, 0, 0, 0, 1000000)
        self.hook(fake, "b", "park__end", 104, "p:b", 2, 0)
        log = recorder.stop()
        begin, nothing = log.of("park_begin")
        end, timeout = log.of("park_end")
        unpark = log.one("unpark")
        self.assertEqual((name_of(begin["thread"]), begin["sequence"], begin["absolute"], begin["time"]),
                         ("Thread B", 100, True, 1700000000123))
        self.assertEqual((name_of(begin["owner"]), begin["owner_source"]), ("Thread A", "exclusive_owner"))
        self.assertEqual((begin["lock"]["class"], begin["lock"]["group"]),
                         ("java.util.concurrent.locks.ReentrantLock$NonfairSync", "juc"))
        lock = log.locks()[begin["lock"]["id"]]
        self.assertEqual((lock["identity"], lock["hash"]), ("hash", 0x111))
        self.assertEqual((name_of(unpark["thread"]), name_of(unpark["target"]), unpark["sequence"]),
                         ("Thread A", "Thread B", 101))
        self.assertEqual((end["lock"], name_of(end["owner"]), end["sequence"], end["how"], end["by"]),
                         (begin["lock"], "Thread A", 102, "unparked", 101))
        self.assertEqual((nothing["lock"], nothing["absolute"], nothing["time"], nothing["owner"]),
                         (None, False, 1000000, None))
        self.assertEqual((timeout["lock"], timeout["how"], timeout["by"]), (None, "timeout", 0))

    def test_readers(self):
        fake = self.start()
        fake("juc", "rw", "rrwl", "0x222")
        recorder = self.record(fake)
        fake("in", "a", "read", "rw")
        fake("state", "rw", 3 << 16)
        fake("in", "b", "block", "rw")
        self.park(fake, "b", 1, "k:rrwl", 0x222)
        begin = recorder.stop().one("park_begin")
        self.assertEqual((name_of(begin["owner"]), begin["owner_source"], begin["readers"]),
                         ("Thread A", "first_reader", 3))

    def test_how_it_ended(self):
        fake = self.start()
        recorder = self.record(fake)
        for how in range(6):
            self.hook(fake, "b", "park__end", how, "p:b", how, 0)
        self.assertEqual([e["how"] for e in recorder.stop().of("park_end")],
                         ["unknown", "unparked", "timeout", "interrupted", "spurious", "unknown"])

    def test_identity_is_class_and_hash(self):
        fake = self.start()
        fake("class", "demo/Latch", "reentrant")
        recorder = self.record(fake)
        for klass, hash in (("demo/LockA", 1), ("demo/LockA", 2), ("demo/Latch", 1), ("demo/LockA", 1)):
            self.park(fake, "b", 1, f"k:{klass}", hash)
        ids = [e["lock"]["id"] for e in recorder.stop().of("park_begin")]
        self.assertEqual((len(set(ids)), ids[0]), (3, ids[3]))

    def test_many_short_lived_blockers(self):
        fake = self.start()
        fake("class", "demo/Sync", "reentrant")
        recorder = self.record(fake)
        for hash in range(1, 1003):
            self.park(fake, "b", hash, "k:demo/LockA", hash)
            self.park(fake, "b", hash, "k:demo/Sync", hash)
        self.park(fake, "b", 2000, "k:demo/LockA", 1)
        log = recorder.stop()
        of = {"demo.LockA": [], "demo.Sync": []}
        for event in log.of("park_begin"):
            of[event["lock"]["class"]].append(event["lock"]["id"])
        self.assertEqual(len(set(of["demo.Sync"])), 1002)
        self.assertEqual(len(set(of["demo.LockA"])), 1001)
        self.assertEqual((of["demo.LockA"][-1], of["demo.LockA"][1000]), (of["demo.LockA"][0], of["demo.LockA"][1001]))
        self.assertEqual(log.locks()[of["demo.LockA"][1001]]["identity"], "unknown")
        note = log.one("note")
        self.assertEqual(note["level"], "info")
        self.assertIn("1000 objects of class demo.LockA", note["text"])

    def test_a_lock_that_is_monitor_and_blocker(self):
        fake = self.start()
        recorder = self.record(fake)
        self.enter(fake, "b", 1)
        self.park(fake, "b", 1, "k:demo/LockA", 0x777)
        log = recorder.stop()
        self.assertEqual(log.one("monitor_contended_enter")["lock"]["id"], log.one("park_begin")["lock"]["id"])


class Vm(Patched):
    def test_collections_and_phases(self):
        fake = self.start()
        recorder = self.record(fake)
        self.hook(fake, "a", "gc__begin", 12, "s:G1New", "s:G1 Evacuation Pause")
        self.hook(fake, "a", "gc__phase__begin", 12, "s:Evacuate Collection Set", 1, 0)
        self.hook(fake, "b", "gc__phase__begin", 12, "s:" + "x" * 300, 0, 2)
        self.hook(fake, "b", "gc__phase__end", 12, "s:" + "x" * 300, 0, 2)
        self.hook(fake, "a", "gc__phase__end", 12, "s:Evacuate Collection Set", 1, 1)
        self.hook(fake, "a", "gc__end", 12)
        log = recorder.stop()
        begin = log.one("collection_begin")
        self.assertEqual((begin["gc"], begin["collector"], begin["cause"]), (12, "G1New", "G1 Evacuation Pause"))
        self.assertEqual(log.one("collection_end")["gc"], 12)
        self.assertEqual([(e["event"], e["gc"], e["phase"][:28], e["level"], e["kind"], name_of(e["thread"]))
                          for e in log.of("gc_phase_begin", "gc_phase_end")],
                         [("gc_phase_begin", 12, "Evacuate Collection Set", 1, "pause", "Thread A"),
                          ("gc_phase_begin", 12, "x" * 28, 0, "worker", "Thread B"),
                          ("gc_phase_end", 12, "x" * 28, 0, "worker", "Thread B"),
                          ("gc_phase_end", 12, "Evacuate Collection Set", 1, "concurrent", "Thread A")])

    def test_safepoint(self):
        fake = self.start()
        recorder = self.record(fake)
        ended = time.monotonic_ns()
        self.hook(fake, "a", "safepoint", "s:G1CollectForAllocationXXX", 22, "t:b", ended - 1000, ended - 900,
                  ended - 850, ended, 17, 3)
        self.hook(fake, "a", "safepoint", "s:Cleanup", 7, 0, ended - 30, ended - 20, ended - 10, ended + 1, 2, 0)
        one, other = recorder.stop().of("safepoint")
        self.assertEqual((one["operation"], name_of(one["requester"]), one["time_ns"]),
                         ("G1CollectForAllocation", "Thread B", ended))
        self.assertEqual([one[k] for k in ("reach_ns", "cleanup_ns", "operation_ns", "threads", "running")],
                         [100, 50, 850, 17, 3])
        self.assertEqual((other["operation"], other["requester"], other["running"]), ("Cleanup", None, 0))


class OtherNamespace(Patched):
    """The thread ids that the JVM's probes tell are those of its own pid namespace."""

    def test_targets(self):
        fake_build("patched")
        inner = ["unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc",
                 os.path.join(FAKE_DIR, "patched", "fakejvm")]
        if subprocess.run(inner[:-1] + ["true"], capture_output=True).returncode:
            self.skipTest("unshare --pid --mount is not allowed here")
        fake = Fake(command=inner)
        self.addCleanup(fake.close)
        pid = int(wait_until("the JVM's outer pid", lambda: subprocess.run(
            ["pgrep", "-P", str(fake.process.pid)], capture_output=True, text=True).stdout).split()[0])
        self.people(fake)
        recorder = self.record(pid, "--probes", "hooks")
        self.enter(fake, "b", 1)
        self.hook(fake, "a", "monitor__notify", "m:m", 2, "t:b", 0)
        self.hook(fake, "a", "monitor__fold", "m:m", 3, 4, "t:a", 3, 1, 1, time.monotonic_ns(), 1)
        self.hook(fake, "a", "unpark", 1, "p:b", "t:b")
        self.hook(fake, "a", "safepoint", "s:x", 1, "t:b", 0, 0, 0, time.monotonic_ns(), 1, 1)
        log = recorder.stop()
        self.assertEqual(name_of(log.one("monitor_notify")["target"]), "Thread B")
        self.assertEqual(name_of(log.one("unpark")["target"]), "Thread B")
        self.assertEqual(name_of(log.one("monitor_fold")["owner"]), "Thread A")
        self.assertEqual(name_of(log.one("safepoint")["requester"]), "Thread B")


del Patched  # it has no tests of its own

if __name__ == "__main__":
    unittest.main()
