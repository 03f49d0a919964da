"""What threads are blocked for, and that it adds up; long breaks one by one; renaming; throttling by a CPU quota."""
import contextlib
import glob
import os
import time
import unittest

from harness import BpfTest, wait_until

MS = 10**6
IN_NATIVE, BLOCKED = 6, 10  # tests/bpf/fakejvm.h
STATES = ("cpu_ns", "stolen_ns", "runnable_ns", "blocked_ns")


class Counted(BpfTest):
    def start(self, ids="ab"):
        fake = self.fake()
        for id in ids:
            fake.thread(f"Thread {id}", id=id)
        return fake

    def counted(self, log, fake, id):
        """From the thread's first sample to its last."""
        mine = [e for e in log.of("thread_sample") if e["thread"]["tid"] == fake.tids[id]]
        first, last = mine[0], mine[-1]
        return {k: last[k] - first[k] for k in last if k.endswith("_ns") and k != "time_ns"}, \
            last["time_ns"] - first["time_ns"]


class States(Counted):
    @contextlib.contextmanager
    def took(self, what):
        """What it took at most, on however busy a machine."""
        begin = time.monotonic_ns()
        yield
        self.took_ns[what] = time.monotonic_ns() - begin

    def setUp(self):
        super().setUp()
        self.took_ns = {}

    def test_reasons(self):
        fake = self.start()
        fake("class", "demo/LockA")
        fake("object", "o", "demo/LockA")
        fake("monitor", "m", "o", "0x1234567")
        recorder = self.record(fake)
        with self.took("sleep"):
            fake("in", "a", "jsleep", 40)
        with self.took("lock"):
            fake("in", "a", "enter", "m")
            fake("in", "a", "sleep", 50)
            fake("in", "a", "entered", "m")
        with self.took("wait"):
            fake("in", "a", "wait", "m", 100)
            fake("in", "a", "sleep", 60)
            fake("in", "a", "waited", "m")
        with self.took("park"):
            fake("in", "a", "park", "o", 0, 0)
            fake("in", "a", "sleep", 70)
            fake("in", "a", "parked")
        # In native code: something outside of the JVM; in the VM: its own affair.
        with self.took("io"):
            fake("in", "a", "state", IN_NATIVE)
            fake("in", "a", "sleep", 80)
            fake("in", "a", "state", BLOCKED)
        log = recorder.stop()
        # It waits for its commands by what is no probe, and in native code up to the change of its state.
        counts, wall = self.counted(log, fake, "a")
        self.assertEqual(sum(counts[s] for s in STATES), wall)
        for reason, ms in (("sleep", 40), ("lock", 50), ("wait", 60), ("park", 70), ("io", 80)):
            self.assertGreaterEqual(counts[reason + "_ns"], ms * MS - MS, reason)
            self.assertLessEqual(counts[reason + "_ns"], self.took_ns[reason], reason)
        self.assertEqual(counts["pause_ns"], 0)

    def test_lock_within_wait(self):
        fake = self.start()
        fake("class", "demo/LockA")
        fake("object", "o", "demo/LockA")
        fake("monitor", "m", "o", "0x1234567")
        recorder = self.record(fake)
        fake("in", "a", "wait", "m", 100)
        fake("in", "a", "sleep", 30)
        with self.took("lock"):
            fake("in", "a", "enter", "m")
            fake("in", "a", "sleep", 60)
            fake("in", "a", "entered", "m")
        fake("in", "a", "sleep", 30)
        fake("in", "a", "waited", "m")
        fake("in", "a", "sleep", 200)
        counts, wall = self.counted(recorder.stop(), fake, "a")
        self.assertGreaterEqual(counts["lock_ns"], 60 * MS)
        self.assertGreaterEqual(counts["wait_ns"], 60 * MS)
        self.assertLessEqual(counts["lock_ns"], self.took_ns["lock"])
        self.assertGreaterEqual(counts["blocked_ns"] - counts["lock_ns"] - counts["wait_ns"], 200 * MS)

    def test_stopped_by_a_safepoint(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "a", "state", BLOCKED)
        fake("in", "b", "safepoint", "begin")
        fake("go", "a", "sleep", 200)
        fake("in", "b", "sleep", 80)
        fake("in", "b", "safepoint", "end")
        fake("join", "a")
        log = recorder.stop()
        counts, _ = self.counted(log, fake, "a")
        # It slept on when the safepoint had ended: that is something else.
        self.assertGreaterEqual(counts["pause_ns"], 75 * MS)
        self.assertLessEqual(counts["pause_ns"], self.between(log, "safepoint_begin", "safepoint_end"))
        self.assertGreater(counts["blocked_ns"], 200 * MS)

    def between(self, log, begin, end):
        return log.one(end)["time_ns"] - log.one(begin)["time_ns"]

    def test_waits_for_its_vm_operation(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "a", "state", BLOCKED)
        fake("in", "a", "vmop", "request", "Cleanup", 0)
        fake("go", "a", "sleep", 200)
        wait_until("asleep", lambda: sleeps(fake.pid, fake.tids["a"]))
        fake("in", "b", "safepoint", "begin")
        fake("in", "b", "sleep", 30)
        fake("in", "b", "safepoint", "end")
        fake("join", "a")
        log = recorder.stop()
        counts, _ = self.counted(log, fake, "a")
        self.assertGreaterEqual(counts["pause_ns"], 30 * MS)
        self.assertLessEqual(counts["pause_ns"], self.between(log, "vm_operation_request", "safepoint_end"))
        self.assertGreater(counts["blocked_ns"], 200 * MS)

    def test_breaks_are_told(self):
        fake = self.start()
        recorder = self.record(fake, "--off-cpu", "20ms")
        fake("in", "a", "state", IN_NATIVE)
        with self.took("io"):
            fake("in", "a", "sleep", 50)
        fake("in", "a", "sleep", 5)
        fake("in", "a", "jsleep", 60)
        log = recorder.stop()
        self.assertEqual(log.header["record"]["off_cpu_ns"], 20 * MS)
        mine = [e for e in log.of("off_cpu") if e["thread"]["tid"] == fake.tids["a"]]
        self.assertTrue(all(e["off_ns"] >= 20 * MS for e in mine))
        sleeps_told = [e for e in mine if e["reason"] == "sleep"]
        self.assertEqual(len(sleeps_told), 1)
        self.assertGreaterEqual(sleeps_told[0]["off_ns"] - sleeps_told[0]["cpu_wait_ns"], 60 * MS)
        self.assertTrue([e for e in mine if e["reason"] == "io" and 50 * MS <= e["off_ns"] <= self.took_ns["io"]])

    def test_blocked_since_before(self):
        """What a thread is in when the recorder comes is read from java.lang.Thread and the VM."""
        fake = self.start()
        fake("in", "a", "state", IN_NATIVE)
        fake("go", "a", "sleep", 4000)
        wait_until("asleep", lambda: sleeps(fake.pid, fake.tids["a"]))
        recorder = self.record(fake)
        fake("join", "a")
        counts, wall = self.counted(recorder.stop(), fake, "a")
        self.assertGreaterEqual(counts["io_ns"], 100 * MS)
        self.assertEqual(sum(counts[s] for s in STATES), wall)

    def test_the_list_of_threads_is_where_it_was(self):
        """A thread is looked for before it is in the list; then it is, another has left it, and the list is as long as
        it was, at the same address."""
        fake = self.start()
        fake.thread("Short", id="s")
        recorder = self.record(fake, "--probes", "none", "--off-cpu", "20ms")
        fake.thread("Late", "unlisted", id="l")
        wait_until("asleep", lambda: sleeps(fake.pid, fake.tids["l"]))
        fake("list", "l")
        fake("stop", "s")
        wait_until("it has ended", lambda: not os.path.exists(f"/proc/{fake.pid}/task/{fake.tids['s']}"))
        fake("in", "l", "state", IN_NATIVE)
        wait_until("asleep", lambda: sleeps(fake.pid, fake.tids["l"]))  # the next command may be there before it is
        fake("in", "l", "sleep", 40)
        log = recorder.stop()
        mine = [e for e in log.of("off_cpu") if e["thread"]["tid"] == fake.tids["l"]]
        self.assertEqual({e["reason"] for e in mine if e["off_ns"] >= 40 * MS}, {"io"})

    def test_renamed(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "a", "rename", "request 17")
        fake("in", "a", "jsleep", 40)
        fake("in", "a", "rename", "a name that is much too long")
        log = recorder.stop()
        first, second = [e for e in log.of("thread_rename") if e["thread"]["tid"] == fake.tids["a"]]
        self.assertEqual([first["name"], second["name"]], ["request 17", "a name that is "])
        self.assertGreaterEqual(second["sleep_ns"] - first["sleep_ns"], 40 * MS)


def sleeps(pid, tid):
    with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8") as f:
        return f.read().rpartition(")")[2].split()[0] == "S"


class Quota:
    """A cgroup with a tenth of a CPU, less than a thread gets on a busy machine: of version 1 or 2, whichever has the
    controller here."""
    PERIOD_US = 100000
    QUOTA_US = 10000

    def __init__(self):
        v1 = "/sys/fs/cgroup/cpu"
        v2 = next((m for m in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
                   if "cpu" in read_words(f"{m}/cgroup.controllers")), None)
        self.v1 = os.path.exists(f"{v1}/cpu.cfs_quota_us") or bool(glob.glob(f"{v1}/*/cpu.cfs_quota_us"))
        if not self.v1 and not v2:
            raise unittest.SkipTest("no cgroup with a CPU controller here")
        self.path = os.path.join(v1 if self.v1 else v2, f"spoor-test-{os.getpid()}")
        os.mkdir(self.path)
        try:
            if self.v1:
                self.write("cpu.cfs_period_us", self.PERIOD_US)
                self.write("cpu.cfs_quota_us", self.QUOTA_US)
            else:
                self.write("cpu.max", f"{self.QUOTA_US} {self.PERIOD_US}")
        except OSError as err:
            os.rmdir(self.path)
            raise unittest.SkipTest(f"no CPU quota can be set here: {err}") from err

    def write(self, name, value):
        with open(os.path.join(self.path, name), "w", encoding="ascii") as f:
            f.write(str(value))

    def add(self, tid):
        # Single threads: in version 2 that needs a threaded cgroup.
        if not self.v1:
            self.write("cgroup.type", "threaded")
        self.write("tasks" if self.v1 else "cgroup.threads", tid)

    def throttled_ns(self):
        with open(os.path.join(self.path, "cpu.stat"), encoding="ascii") as f:
            stat = dict(line.split() for line in f)
        return int(stat["throttled_time"]) if self.v1 else int(stat["throttled_usec"]) * 1000

    def close(self):
        root = os.path.dirname(self.path)
        for tid in read_words(os.path.join(self.path, "tasks" if self.v1 else "cgroup.threads")):
            try:
                with open(os.path.join(root, "tasks" if self.v1 else "cgroup.threads"), "w", encoding="ascii") as f:
                    f.write(tid)
            except OSError:
                pass
        wait_until("the cgroup is empty",
                   lambda: not read_words(os.path.join(self.path, "tasks" if self.v1 else "cgroup.threads")))
        os.rmdir(self.path)


def read_words(path):
    try:
        with open(path, encoding="ascii") as f:
            return f.read().split()
    except OSError:
        return []


class Throttled(Counted):
    def test_quota(self):
        fake = self.start()
        quota = Quota()
        self.addCleanup(quota.close)
        quota.add(fake.tids["a"])
        # It has a CPU of its own, so that all its waiting is throttling.
        os.sched_setaffinity(fake.tids["a"], {max(os.sched_getaffinity(0))})
        recorder = self.record(fake)
        before = quota.throttled_ns()
        fake("in", "a", "busy", 300)
        told = quota.throttled_ns() - before
        log = recorder.stop()
        if log.header["sources"]["throttled"] == "none":
            raise unittest.SkipTest("this kernel does not tell how long a run queue was throttled")
        counts, wall = self.counted(log, fake, "a")
        self.assertEqual(sum(counts[s] for s in STATES), wall)
        # On a busy machine it waits for its CPU, too, and is throttled less.
        self.assertGreater(told, 100 * MS)
        self.assertLessEqual(counts["throttled_ns"], counts["runnable_ns"])
        # A tick at the quota's end counts for the kernel, too.
        self.assertLess(abs(counts["throttled_ns"] - told), told * 0.01 + 4 * MS)

    def test_no_quota(self):
        fake = self.start("abc")
        for id in "abc":
            os.sched_setaffinity(fake.tids[id], {min(os.sched_getaffinity(0))})
        recorder = self.record(fake)
        for id in "abc":
            fake("go", id, "busy", 100)
        for id in "abc":
            fake("join", id)
        log = recorder.stop()
        counts = [self.counted(log, fake, id)[0] for id in "abc"]
        self.assertGreater(sum(c["runnable_ns"] for c in counts), 200 * MS)
        self.assertEqual(sum(c["throttled_ns"] for c in counts), 0)


if __name__ == "__main__":
    unittest.main()
