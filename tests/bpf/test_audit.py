"""The scheduler's source of steal time, for every thread of the machine: what it says agrees with itself, with the
kernel's own counts, and with what threads know of themselves."""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from harness import AS_NOBODY, BUILD, DEADLINE_S, ROOT, everybody, wait_until, why_no_bpf

AUDIT = os.path.join(BUILD, "tests/audit")
TICK = 10**9 // os.sysconf("SC_CLK_TCK")
MS = 10**6
PR_SET_NAME = 15
# CPU time of its own, in ns, when a process that was told to burn ends.
BURN = """
import sys, time
end = time.thread_time_ns() + int(sys.argv[1])
while time.thread_time_ns() < end:
    pass
print(time.thread_time_ns(), flush=True)
"""


class Audit:
    """tests/bpf/audit_main.c, sample by sample."""

    def __init__(self, *options, prefix=()):
        self.process = subprocess.Popen([*prefix, AUDIT, *map(str, options)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.about = self._line()

    def _line(self):
        timer = threading.Timer(DEADLINE_S, self.process.kill)
        timer.start()
        line = self.process.stdout.readline()
        timer.cancel()
        return json.loads(line) if line else None

    def sample(self):
        """With the moments before and after it; None: there are no more."""
        before = time.monotonic_ns()
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        s = self._line()
        if s:
            s["before_ns"], s["after_ns"] = before, time.monotonic_ns()
            s["cpus"] = {c["cpu"]: c for c in s["cpus"]}
            s["by_tid"] = {t["tid"]: t for t in s["threads"]}
        return s

    def close(self):
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                pass


def busy_ticks():
    """For how long all CPUs together have worked, as /proc/stat says."""
    with open("/proc/stat", encoding="ascii") as f:
        user, nice, system, _, _, irq, softirq = map(int, f.readline().split()[1:8])
    return user + nice + system + irq + softirq


def wait_for_work(ticks):
    """Until the CPUs have worked so many ticks of 10 ms more, all together."""
    end = busy_ticks() + ticks
    wait_until(f"the CPUs work {ticks} ticks", lambda: busy_ticks() >= end)


def ran_ns(pid):
    """CPU time of a process's first thread, as the scheduler has it."""
    with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
        return int(f.read().split()[0])


class AuditTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        why = why_no_bpf()
        if why:
            raise unittest.SkipTest(why)
        if not os.path.exists(AUDIT):
            subprocess.run(["make", "-C", ROOT, f"O={BUILD}", "fake"], check=True, capture_output=True)

    def audit(self, *options, **how):
        audit = Audit(*options, **how)
        self.addCleanup(audit.close)
        if audit.about is None:
            raise AssertionError(f"it does not begin: {audit.process.stderr.read()}")
        return audit

    def clocks(self):
        """Those of this kernel, each with its audit."""
        found = {}
        for clock in ("rq_clock", "kvm_steal_time", "xen_runstate", "rq_ticks", "cpustat"):
            audit = Audit("-c", clock)
            self.addCleanup(audit.close)
            if audit.about:
                found[clock] = audit
        return found

    def load(self, count=3):
        """Processes that burn CPU time, in turns with short sleeps, and start and end others meanwhile; until the test
        is over."""
        code = ("import os, time\nwhile True:\n    x = time.monotonic() + 0.003\n"
                "    while time.monotonic() < x: pass\n    time.sleep(0.001)\n"
                "    pid = os.fork()\n    if not pid:\n        sum(range(20000)); os._exit(0)\n"
                "    os.waitpid(pid, 0)\n")
        for _ in range(count):
            process = subprocess.Popen([sys.executable, "-c", code])
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)

    def burn(self, ns):
        """A process that uses so much CPU time and ends: (its pid, CPU time as it knows it)."""
        process = subprocess.Popen([sys.executable, "-S", "-c", BURN, str(ns)], stdout=subprocess.PIPE, text=True)
        out, _ = process.communicate(timeout=DEADLINE_S)
        return process.pid, int(out)


def grown(first, last, cpu):
    return {k: last["cpus"][cpu][k] - first["cpus"][cpu][k] for k in ("steal_ns", "busy_ns", "idle_ns")}


class Sums(AuditTest):
    def test_each_window_is_conserved(self):
        """Over threads and over CPUs: the same time, the same stolen time, in every window, to the nanosecond."""
        audit = self.audit()
        self.load()
        known = {}
        before = audit.sample()
        for window in range(25):
            for t in before["threads"]:
                known[t["tid"], t["start_ticks"]] = t
            wait_for_work(4)
            s = audit.sample()
            time_ns = stolen = 0
            for t in s["threads"]:
                last = known.get((t["tid"], t["start_ticks"]), {"cpu_ns": 0, "stolen_ns": 0})
                self.assertGreaterEqual(t["cpu_ns"], last["cpu_ns"])
                self.assertGreaterEqual(t["stolen_ns"], last["stolen_ns"])
                self.assertGreaterEqual(t["cpu_ns"], t["stolen_ns"])
                time_ns += t["cpu_ns"] - last["cpu_ns"]
                stolen += t["stolen_ns"] - last["stolen_ns"]
            idle = s["idle_stolen_ns"] - before["idle_stolen_ns"]
            cpus = [grown(before, s, cpu) for cpu in s["cpus"]]
            with self.subTest(window=window):
                self.assertEqual(stolen + idle, sum(c["steal_ns"] for c in cpus))
                self.assertEqual(time_ns, sum(c["busy_ns"] + c["steal_ns"] for c in cpus) - idle)
                self.assertEqual((s["threads_lost"], s["thefts_lost"]), (0, 0))
            before = s

    def test_all_time_of_a_cpu_is_told(self):
        audit = self.audit()
        self.load(count=1)
        first = audit.sample()
        wait_for_work(30)
        last = audit.sample()
        self.assertEqual(set(first["cpus"]), os.sched_getaffinity(0) | set(first["cpus"]))
        for cpu in first["cpus"]:
            wall = sum(grown(first, last, cpu).values())
            self.assertGreaterEqual(wall, last["before_ns"] - first["after_ns"])
            self.assertLessEqual(wall, last["after_ns"] - first["before_ns"])

    def test_the_steal_of_proc_stat(self):
        """Every clock of this kernel grows as /proc/stat says, by CPU, within two of its ticks."""
        audits = self.clocks()
        if not audits:
            self.skipTest("this kernel has no steal clock")
        self.load()
        # A theft may come between two looks: /proc/stat is looked at before and after the clock.
        first = {clock: [a.sample() for _ in range(3)] for clock, a in audits.items()}
        wait_for_work(200 * os.cpu_count())
        last = {clock: [a.sample() for _ in range(3)] for clock, a in audits.items()}
        for clock, begin, end in zip(audits, first.values(), last.values()):
            for cpu in end[1]["cpus"]:
                least = end[0]["stat_steal"][cpu] - begin[2]["stat_steal"][cpu]
                most = end[2]["stat_steal"][cpu] - begin[0]["stat_steal"][cpu]
                steal = grown(begin[1], end[1], cpu)["steal_ns"]
                with self.subTest(clock=clock, cpu=cpu, steal=steal, least=least, most=most):
                    self.assertLessEqual((least - 2) * TICK, steal)
                    self.assertLessEqual(steal, (most + 2) * TICK)

    def test_exact_clocks_agree(self):
        """The scheduler's clock and the hypervisor's own record tell the same theft: within a tick, by CPU."""
        audits = {clock: a for clock, a in self.clocks().items() if a.about["exact"]}
        if len(audits) < 2:
            self.skipTest(f"this kernel has {', '.join(audits) or 'none'} only")
        outer, *inner = audits
        self.load()
        first, last = [], []
        for rounds in first, last:
            if rounds is last:
                wait_for_work(200 * os.cpu_count())
            rounds += [audits[c].sample() for c in (outer, *inner, outer)]
        # A theft may come between two samples: so one clock is looked at before and after the others.
        for cpu in range(os.cpu_count()):
            least, most = grown(first[-1], last[0], cpu)["steal_ns"], grown(first[0], last[-1], cpu)["steal_ns"]
            for clock, begin, end in zip(inner, first[1:], last[1:]):
                steal = grown(begin, end, cpu)["steal_ns"]
                with self.subTest(cpu=cpu, clock=clock, steal=steal, outer=outer, least=least, most=most):
                    self.assertLessEqual(least - TICK, steal)
                    self.assertLessEqual(steal, most + TICK)

    def test_thefts_add_up(self):
        """With threshold 0 every theft is told, and all of them are what the CPUs lost, but for the last look."""
        audit = self.audit("-t", 0)
        self.load(count=2)
        first = audit.sample()
        thefts = first["thefts"]
        for _ in range(10):
            wait_for_work(10)
            last = audit.sample()
            thefts += last["thefts"]
        thefts += audit.sample()["thefts"]
        self.assertEqual(last["thefts_lost"], 0)

        def between(from_ns, to_ns):
            slots = [0] * 64
            for theft in thefts:
                if from_ns < theft["time_ns"] < to_ns:
                    slots[theft["ns"].bit_length() - 1] += 1
            return slots

        # One that comes amid a sample may be in its histogram, or in the next one's.
        least = between(first["after_ns"], last["before_ns"])
        most = between(first["before_ns"], last["after_ns"])
        for slot, (begun, ended) in enumerate(zip(first["histogram"], last["histogram"])):
            self.assertTrue(least[slot] <= ended - begun <= most[slot], (slot, least, begun, ended, most))
        for cpu in last["cpus"]:
            told = sum(t["ns"] for t in thefts
                       if t["cpu"] == cpu and first["before_ns"] < t["time_ns"] < last["after_ns"])
            self.assertLessEqual(abs(told - grown(first, last, cpu)["steal_ns"]), 2 * TICK)


class Threads(AuditTest):
    def test_a_process_that_begins_and_ends_in_a_window(self):
        audit = self.audit()
        audit.sample()
        pid, own = self.burn(50 * MS)
        s = audit.sample()
        t = s["by_tid"][pid]
        self.assertEqual((t["pid"], t["fresh"], t["ended"]), (pid, True, True))
        # Its own clock leaves out what was stolen where the kernel does, and stops a little before it ends.
        self.assertGreaterEqual(t["cpu_ns"], own)
        self.assertLessEqual(t["cpu_ns"] - t["stolen_ns"] - own, TICK + own // 100)
        self.assertNotIn(pid, audit.sample()["by_tid"])

    def test_a_thread_that_never_leaves_its_cpu(self):
        """It is charged up to the sample, not up to its last switch."""
        process = subprocess.Popen([sys.executable, "-S", "-c", "while True: pass"])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        os.sched_setaffinity(process.pid, {max(os.sched_getaffinity(0))})
        os.sched_setscheduler(process.pid, os.SCHED_FIFO, os.sched_param(1))
        audit = self.audit()
        first = audit.sample()
        wait_until("it is known", lambda: process.pid in audit.sample()["by_tid"])
        first = audit.sample()
        begun = ran_ns(process.pid)
        wait_until("it has run for 200 ms", lambda: ran_ns(process.pid) - begun > 200 * MS)
        last = audit.sample()
        ran = last["by_tid"][process.pid]["cpu_ns"] - first["by_tid"][process.pid]["cpu_ns"]
        # The scheduler lets real-time threads have 95 % of a second by default.
        self.assertGreaterEqual(ran, (last["before_ns"] - first["after_ns"]) * 3 // 4)
        self.assertLessEqual(ran, last["after_ns"] - first["before_ns"])

    def test_of_one_process_only(self):
        process = subprocess.Popen([sys.executable, "-S", "-c", "input()" + BURN, str(80 * MS)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.stdout.close)
        audit = self.audit("-p", process.pid)
        seen = {}
        audit.sample()
        process.communicate("\n")  # it begins now, and its end is waited for

        def has_ended():
            s = audit.sample()
            seen.update(s["by_tid"] if s else {})
            return not s

        wait_until("there are no more samples", has_ended)
        self.assertEqual(set(seen), {process.pid})
        self.assertGreaterEqual(seen[process.pid]["cpu_ns"], 80 * MS)
        self.assertEqual(audit.process.wait(DEADLINE_S), 0)

    def test_names(self):
        """A thread is called as it calls itself last."""
        code = ("import ctypes, sys\nfor name in sys.stdin:\n"
                f"    ctypes.CDLL(None).prctl({PR_SET_NAME}, name.strip().encode(), 0, 0, 0)\n"
                "    print('ok', flush=True)\n")
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True)
        self.addCleanup(process.communicate)
        audit = self.audit()

        def rename(name):
            process.stdin.write(name + "\n")
            process.stdin.flush()
            process.stdout.readline()
            return audit.sample()["by_tid"][process.pid]["comm"]

        self.assertEqual([rename("first"), rename("second")], ["first", "second"])

    def test_no_room_is_told(self):
        audit = self.audit("-m", 4)
        self.load(count=2)
        wait_until("there are more threads than accounts", lambda: audit.sample()["threads_lost"])
        s = audit.sample()
        self.assertGreater(s["by_tid"][0]["cpu_ns"], 0)  # the account of what could not be told apart

    def test_a_pid_namespace_of_its_own(self):
        """Threads have the numbers that they have here; those that are not seen from here, none."""
        audit = self.audit(prefix=["unshare", "--pid", "--fork", "--mount-proc", "sh", "-c",
                                   'sh -c "while :; do :; done" & exec "$@"', "sh"])

        def numbers():
            return audit.sample()["by_tid"]

        mine = wait_until("the loop is known", lambda: [t for t in numbers().values() if t["comm"] == "sh" and
                                                        0 < t["tid"] < 20])
        self.assertEqual(mine[0]["pid"], mine[0]["tid"])
        self.assertTrue(wait_until("others are known", lambda: [n for n in numbers() if n < 0]))


class Refused(AuditTest):
    def refused(self, *options, prefix=(), program=AUDIT):
        done = subprocess.run([*prefix, program, *options], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 1, done.stdout)
        return done.stderr

    def test_no_such_clock(self):
        self.assertIn("no steal clock called sundial", self.refused("-c", "sundial"))

    def test_no_such_process(self):
        self.assertIn("no process 4194303", self.refused("-p", "4194303"))

    def test_without_the_right(self):
        folder = tempfile.TemporaryDirectory(prefix="spoor-test-")
        self.addCleanup(folder.cleanup)
        program = everybody.copy(folder.name, AUDIT)
        text = self.refused(prefix=[*AS_NOBODY, "--bounding-set=-all", "--inh-caps=-all"], program=program)
        self.assertIn("CAP_BPF", text)


if __name__ == "__main__":
    unittest.main()
