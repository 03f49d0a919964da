"""Where the threads' time goes: on a CPU, stolen, waiting for a CPU, blocked; and that the sums are right."""
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
import unittest

from harness import BpfTest, SPOOR, spoor, wait_until

MS = 10**6
SWITCH_NS = MS
TICK = 10**9 // os.sysconf("SC_CLK_TCK")
TIMES = ("cpu_ns", "stolen_ns", "runnable_ns", "blocked_ns")


def ticks(pid, tid):
    """utime + stime of a thread, in ns."""
    with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8") as f:
        fields = f.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK


BPFTOOL = shutil.which("bpftool") or "/usr/sbin/bpftool"


def bpftool(*arguments):
    return json.loads(subprocess.run([BPFTOOL, "-j", *arguments], capture_output=True, text=True, check=True).stdout)


def cpu_timers(pid):
    """The clocks of the CPUs that a recorder has, bpf/lib/cpu_timer.bpf.h."""
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        with open(f"/proc/{pid}/fdinfo/{fd}", encoding="ascii") as f:
            found = re.search(r"^map_id:\s+(\d+)$", f.read(), re.MULTILINE)
        if found and bpftool("map", "show", "id", found[1])["name"] == "cpu_timers":
            return [entry["formatted"]["value"] for entry in bpftool("map", "dump", "id", found[1])]
    return []


def burn(seconds, threads):
    """Load by threads that are not the target's: Python's, each in a process."""
    pids = []
    for _ in range(threads):
        pid = os.fork()
        if not pid:
            import time
            end = time.monotonic() + seconds
            while time.monotonic() < end:
                pass
            os._exit(0)
        pids.append(pid)
    return pids


class Sched(BpfTest):
    def start(self):
        fake = self.fake()
        for id in ("a", "b", "c"):
            fake.thread(f"Thread {id}", id=id)
        return fake

    def marks(self, log, tid):
        """A thread's counters at its unpark events, in order."""
        return [e for e in log.of("unpark") if e["thread"]["tid"] == tid]

    def test_samples_of_running_threads(self):
        """Their weights and what is left add up to the thread's counter; a thread that sleeps has none."""
        fake = self.start()
        recorder = self.record(fake, "--sample=1ms")
        fake("in", "a", "busy", 400)
        fake("in", "b", "sleep", 100)
        fake.thread("late", id="d")
        fake("in", "d", "busy", 100)  # begun after the clocks were
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        self.assertEqual(log.header["sources"]["sample"], {"event": "timer", "period_ns": MS, "jitter": True,
                                                           "symbols": False, "fragment_bytes": 0})
        for id, least in (("a", 300), ("b", 0), ("d", 70)):
            of = [e for e in log.of("run_sample") if e["thread"]["tid"] == fake.tids[id]]
            last = [e for e in log.of("thread_sample") if e["thread"]["tid"] == fake.tids[id]][-1]
            self.assertGreaterEqual(len(of), least, id)
            self.assertLessEqual(len(of), last["cpu_ns"] / (MS / 2) + 5, id)
            # At its end a turn may turn out to have been stolen in part.
            counters = [e["cpu_ns"] + e["stolen_ns"] for e in of]
            self.assertEqual(counters, sorted(counters))
            if of:
                self.assertLessEqual(last["cpu_ns"] - of[-1]["cpu_ns"], 20 * MS)
        self.assertLess(len([e for e in log.of("run_sample") if e["thread"]["tid"] == fake.tids["b"]]), 20)

    def test_timers_rest_while_the_target_does(self):
        fake = self.start()
        recorder = self.record(fake, "--sample=1ms")
        fake("in", "a", "busy", 300)
        wait_until("no timer runs", lambda: not any(t["runs"] for t in cpu_timers(recorder.pid)))
        timers = cpu_timers(recorder.pid)
        time.sleep(0.3)
        self.assertEqual(cpu_timers(recorder.pid), timers)
        fake("in", "b", "busy", 100)
        ran = sum(t["ran_ns"] for t in cpu_timers(recorder.pid))
        log = recorder.stop()
        last = {e["thread"]["tid"]: e for e in log.of("thread_sample")}
        cpu = sum(e["cpu_ns"] + e["stolen_ns"] for e in last.values())
        self.assertGreater(ran, 380 * MS)
        self.assertLessEqual(abs(ran - cpu), max(cpu / 50, 5 * MS), "what the CPUs' clocks have counted")
        # As many samples as are due by these clocks, at 1.0942 ms and 4 % more or less; in a longer theft there is one.
        due, stolen = ran / MS / 1.0942, sum(e["stolen_ns"] for e in last.values()) / MS
        self.assertLess(len(log.of("run_sample")), due * 1.05 + len(timers))
        self.assertGreater(len(log.of("run_sample")), due * 0.8 - stolen)

    def test_timers_beside_others(self):
        """A thread that has to leave its CPU again and again is found in each of its turns."""
        fake = self.start()
        recorder = self.record(fake, "--sample=1ms")
        others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * os.cpu_count())]
        self.addCleanup(lambda: [(o.kill(), o.wait()) for o in others])
        fake("in", "a", "busy", 800)
        log = recorder.stop()
        of = [e for e in log.of("run_sample") if e["thread"]["tid"] == fake.tids["a"]]
        self.assertGreater(max(e["runnable_ns"] for e in of), 100 * MS)  # it had to wait
        cpu = [e["cpu_ns"] + e["stolen_ns"] for e in of]
        self.assertEqual(cpu, sorted(cpu))
        self.assertLess(max(b - a for a, b in zip(cpu, cpu[1:])), 60 * MS)

    def test_no_timers_where_soft_interrupts_have_threads(self):
        """Their functions would see nobody. As a kernel that was started with threadirqs says it, to spoor alone."""
        fake = self.start()
        told = self.path("cmdline")
        with open(told, "w", encoding="ascii") as f:
            f.write("root=/dev/vda quiet threadirqs\n")
        prefix = ["unshare", "--mount", "sh", "-c", f'mount --bind {told} /proc/cmdline && exec "$@"', "sh"]
        recorder = self.record(fake, "--sample=1ms", prefix=prefix)
        fake("in", "a", "busy", 200)
        log = recorder.stop()
        self.assertEqual(log.header["sources"]["sample"]["event"], "cpu-clock")
        self.assertGreater(len(log.of("run_sample")), 100)
        done = subprocess.run([*prefix, SPOOR, "record", "-p", str(fake.pid), "-o", self.path("none"), "-d", "1s",
                               "--sample=1ms,event=timer"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("this kernel (threadirqs)", done.stderr)
        self.assertIn("event=cpu-clock", done.stderr)

    def test_samples_by_cycles(self):
        """Not in an NMI, as the PMU has it on x86: it could lock the kernel. test_arm64.py has another PMU."""
        fake = self.start()
        done = subprocess.run([SPOOR, "record", "-p", str(fake.pid), "-o", self.path("none"), "-d", "1s",
                               "--sample=1ms,event=cycles"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        wanted = "interrupts with an NMI" if platform.machine() == "x86_64" else "no counter of cycles"
        self.assertIn(wanted, done.stderr)
        self.assertIn("event=cpu-clock", done.stderr)

    def test_samples_of_threads_that_spin(self):
        """In libjvm's function that spins for a monitor, by its name in the symbol table; the report says how many."""
        fake = self.start()
        recorder = self.record(fake, "--probes", "none", "--sample=1ms")
        fake("in", "a", "spin", 300)
        fake("in", "b", "busy", 300)
        log = recorder.stop()
        modes = {id: [e["mode"] for e in log.of("run_sample") if e["thread"]["tid"] == fake.tids[id]] for id in "ab"}
        spun = modes["a"].count("spin")
        self.assertGreater(spun, 200)
        self.assertGreater(spun, len(modes["a"]) * 0.9)
        self.assertNotIn("spin", modes["b"])
        self.assertEqual(log.report()["contention"]["vouched"]["spins"],
                         {"samples": len(log.of("run_sample")), "spinning": spun, "about_ns": spun * MS})
        shown = spoor("profile", "--format", "json", log.path).stdout
        self.assertLessEqual(abs(json.loads(shown)["mode_ns"]["spin"] - 300 * MS), 30 * MS)

    def test_busy_and_asleep(self):
        fake = self.start()
        recorder = self.record(fake)
        before = {id: ticks(fake.pid, fake.tids[id]) for id in "abc"}
        for id in "abc":
            fake("in", id, "unpark", "a")
        fake("in", "a", "busy", 400)
        fake("in", "b", "sleep", 300)
        after = {id: ticks(fake.pid, fake.tids[id]) for id in "abc"}
        for id in "abc":
            fake("in", id, "unpark", "a")
        log = recorder.stop()
        first, last = self.marks(log, fake.tids["a"])
        ran = last["cpu_ns"] - first["cpu_ns"]
        # Both clocks count without what was stolen where the kernel takes it out, else the fake's counts it in.
        self.assertGreaterEqual(ran + last["stolen_ns"] - first["stolen_ns"], 400 * MS)
        self.assertLess(ran, 440 * MS)
        self.assertLessEqual(abs(after["a"] - before["a"] - ran), 3 * TICK)
        first, last = self.marks(log, fake.tids["b"])
        self.assertLess(last["cpu_ns"] - first["cpu_ns"], 20 * MS)
        self.assertLessEqual(abs(after["b"] - before["b"] - (last["cpu_ns"] - first["cpu_ns"])), 3 * TICK)
        asleep = last["time_ns"] - first["time_ns"] - sum(last[c] - first[c] for c in TIMES[:3])
        self.assertGreaterEqual(asleep, 300 * MS)
        threads = {t["tid"]: t for t in log.report()["threads"]}
        self.assertGreaterEqual(threads[fake.tids["a"]]["running_ns"] + threads[fake.tids["a"]]["stolen_ns"], 400 * MS)
        self.assertGreaterEqual(threads[fake.tids["b"]]["blocked_ns"], 300 * MS)

    def test_waiting_for_a_cpu(self):
        fake = self.start()
        for id in "abc":
            os.sched_setaffinity(fake.tids[id], {min(os.sched_getaffinity(0))})
        recorder = self.record(fake)
        for id in "abc":
            fake("go", id, "busy", 200)
        for id in "abc":
            fake("join", id)
        log = recorder.stop()
        last = {e["thread"]["tid"]: e for e in log.of("thread_sample")}
        waited = sum(last[fake.tids[id]]["runnable_ns"] for id in "abc")
        # Three times 200 ms on one CPU: whoever is last has waited for 400 ms, the second for 200 ms at least.
        self.assertGreater(waited, 500 * MS)

    def test_each_thread_has_its_whole_time(self):
        fake = self.start()
        recorder = self.record(fake, "--window", "50ms")
        fake.thread("late", id="d")
        for id in "abcd":
            fake("go", id, "busy", 150)
        for id in "abcd":
            fake("join", id)
            fake("in", id, "sleep", 20)
        fake("stop", "d")
        log = recorder.stop()
        first_seen = {}
        for e in log.raw:
            if e["event"] == "thread":
                first_seen.setdefault(e["thread"], e["time_ns"])
        samples = log.raw_of("thread_sample", "thread_end")
        ends = [e for e in samples if e["event"] == "thread_end"]
        self.assertEqual(len(ends), 1)
        last = {e["thread"]: e for e in samples}
        self.assertEqual(set(last), set(first_seen))
        for number, e in last.items():
            with self.subTest(thread=number, kind=e["event"]):
                self.assertEqual(sum(e[t] for t in TIMES), e["time_ns"] - first_seen[number])

    def test_counters_never_go_back(self):
        fake = self.start()
        recorder = self.record(fake, "--window", "50ms")
        for _ in range(5):
            for id in "abc":
                fake("go", id, "busy", 20)
            for id in "abc":
                fake("join", id)
                fake("in", id, "unpark", "a")
        log = recorder.stop()
        last = {}
        for e in log.raw_of("unpark", "thread_sample", "thread_end"):
            before = last.get(e["thread"], e)
            # Steal is known a little later than it happens: it may move from running to stolen.
            # A thread may be sampled in the middle of a switch away from it, whose time is a little earlier.
            self.assertGreaterEqual(e["cpu_ns"] + e["stolen_ns"] + SWITCH_NS, before["cpu_ns"] + before["stolen_ns"])
            self.assertGreaterEqual(e["stolen_ns"], before["stolen_ns"])
            self.assertGreaterEqual(e["runnable_ns"], before["runnable_ns"])
            last[e["thread"]] = e

    def test_steal_adds_up(self):
        """Per CPU: what is charged to the JVM, to others and to idle is the growth of the scheduler's steal clock."""
        fake = self.start()
        others = burn(2, 2)
        self.addCleanup(lambda: [os.waitpid(p, 0) for p in others])
        recorder = self.record(fake, "--window", "100ms")
        for id in "abc":
            fake("go", id, "busy", 400)
        fake.thread("short", id="d")
        fake("in", "d", "busy", 100)
        fake("stop", "d")
        for id in "abc":
            fake("join", id)
        log = recorder.stop()
        if log.header["sources"]["steal"] == "none":
            self.skipTest("this kernel tells no steal by run queue")
        first, last = {}, {}
        for e in log.raw_of("cpu_sample"):
            first.setdefault(e["cpu"], e)
            last[e["cpu"]] = e
            self.assertEqual(e["jvm_stolen_ns"] + e["other_stolen_ns"] + e["idle_stolen_ns"], e["clock_ns"], e)
        self.assertEqual(set(last), set(range(os.cpu_count())))
        for cpu, e in last.items():
            with self.subTest(cpu=cpu):
                clock = e["clock_ns"] - first[cpu]["clock_ns"]
                stat = (e["stat_steal"] - first[cpu]["stat_steal"]) * TICK
                self.assertLessEqual(abs(clock - stat), 2 * TICK)
        threads = {e["thread"]: e["stolen_ns"] for e in log.raw_of("thread_sample", "thread_end")}
        self.assertEqual(sum(threads.values()), sum(e["jvm_stolen_ns"] for e in last.values()))
        report = log.report()
        self.assertEqual([c["stolen_ns"] for c in sorted(report["cpus"], key=lambda c: c["cpu"])],
                         [last[cpu]["clock_ns"] - first[cpu]["clock_ns"] for cpu in sorted(last)])

    def test_samples_at_the_pace_of_the_window(self):
        fake = self.start()
        recorder = self.record(fake, "--window", "50ms")

        def samples():
            shown = spoor("cat", "-e", "cpu_sample", recorder.log_path, expect=None).stdout
            return {json.loads(line)["time_ns"] for line in shown.splitlines()}

        wait_until("the file grows window by window", lambda: len(samples()) >= 4)
        log = recorder.stop()
        times = sorted({e["time_ns"] for e in log.raw_of("cpu_sample")})
        self.assertGreaterEqual(len(times), 4)  # at the beginning, in between, at the end
        span = times[-1] - times[0]
        self.assertLessEqual(len(times), span // (50 * MS) + 2)
        per_time = {}
        for e in log.raw_of("thread_sample"):
            per_time.setdefault(e["time_ns"], set()).add(e["thread"])
        for threads in per_time.values():
            self.assertEqual(threads, set(log.threads()))


if __name__ == "__main__":
    unittest.main()
