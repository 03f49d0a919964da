"""Wall clock by state: against the clocks of the threads themselves, and of the kernel for a quota."""
import collections
import csv
import io
import json
import os
import subprocess
import sys
import unittest

from jvm import JavaTest, PatchedJavaTest  # first: it says where harness is
from harness import spoor, wait_until
from quota import Quota, why_no_quota
from soaking import slow

PCT = 2
MS = 10**6
SAMPLE_NS = 200 * MS
STATES = ("running", "stolen", "runnable", "throttled", "lock", "wait", "park", "sleep", "io", "pause", "other")
ON_THE_WAY = ("running", "stolen", "runnable", "throttled")
CPU = min(os.sched_getaffinity(0))
PINNED = ("taskset", "-c", str(CPU))


class WallTest(JavaTest):
    def run_things(self, seconds, *things, options=(), before=(), placed=None):
        """{name: what a thread says of itself}, {name: what spoor says}, the log."""
        vm = self.java("Wall", seconds, *things, options=options, before=before)
        if placed:
            placed(vm)
        recorder = self.record(vm, "--window", "200ms")
        said = {t["name"]: t for t in json.loads(vm.ask("go"))}
        self.end_of_threads(vm, said)
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        threads = log.report()["threads"]
        for t in threads:
            self.assertEqual(set(t["states"]), {f"{s}_ns" for s in STATES})
            # Those that have ended are told by an event of their own; the last round of samples may be stopped.
            self.assert_adds_up(t, MS / 5 if t["name"] in said else 20 * MS)
        threads = [t for t in threads if t["name"] in said and t["group"] == "java"]
        self.assertEqual(sorted(t["name"] for t in threads), sorted(said))
        return said, {t["name"]: {s: t["states"][f"{s}_ns"] for s in STATES} for t in threads}, log

    def tell(self, what, got, wanted):
        """tests/run -v shows it."""
        print(f"{what}: {got / MS:.3f} ms, itself {wanted / MS:.3f} ms, off by {100 * (got / wanted - 1):.3f} %")

    def end_of_threads(self, vm, said):
        """join() is over a little before the kernel's thread is."""
        def names():
            for tid in os.listdir(f"/proc/{vm.pid}/task"):
                try:
                    with open(f"/proc/{vm.pid}/task/{tid}/comm", encoding="utf-8") as f:
                        yield f.read().rstrip("\n")
                except (FileNotFoundError, ProcessLookupError):
                    pass

        wait_until("the threads are gone", lambda: not {n[:15] for n in said} & set(names()))

    def check_cpu(self, name, got, said):
        """What it had of a CPU is what the kernel has counted for it, and what it did not have are gaps in its loop."""
        wall = sum(got.values())
        off = wall - got["running"]
        room = wall * PCT / 100
        self.tell(f"{name}, on a CPU", got["running"] + got["stolen"], said["cpu_ns"])
        self.tell(f"{name}, gaps", off, said["gone_ns"])
        # Whether the kernel counts stolen time as the thread's depends on how it was built.
        self.assertLessEqual(got["running"], said["cpu_ns"] + room)
        self.assertGreaterEqual(got["running"] + got["stolen"], said["cpu_ns"] - room)
        # There are more gaps: of interrupts, and of a host that takes a CPU away and does not say so.
        self.assertLessEqual(off, said["gone_ns"] + room, "gaps in its loop")

    def assert_adds_up(self, thread, room_ns):
        total = sum(thread["states"].values())
        # A round of samples takes some microseconds, in which threads go on.
        self.assertLessEqual(abs(total - thread["wall_ns"]), max(thread["wall_ns"] / 1000, room_ns), thread)
        self.assertEqual(total - thread["wall_ns"], thread["error_ns"], thread)


def rough_ends(log, told, window_ns):
    """Which windows have an end where no round of samples is near, as when the recorder comes late on a busy machine: half a
    sample's window is near, and where windows end is counted from the log's begin."""
    rounds = {e["time_ns"] for e in log.raw_of("thread_sample")}
    ends = ((k, log.header["start_mono_ns"] + k * window_ns) for k in range(1, len(told["windows"])))
    return [k for k, end in ends if all(abs(ns - end) > SAMPLE_NS / 2 for ns in rounds)]


class Wall(WallTest):
    def check_thing(self, state, said, got):
        """It is in this state for as long as its calls take, but for its way out of them and the wait for a CPU."""
        name = said["name"]
        wall = sum(got.values())
        room = said["total_ns"] * PCT / 100
        self.tell(f"{name}, with what is on the way", got[state] + sum(got[s] for s in ON_THE_WAY), said["in_ns"])
        # Before its first clock and after its last one it may have to wait for a CPU.
        self.assertLessEqual(abs(wall - said["total_ns"]), room + got["runnable"] + got["stolen"], name)
        self.assertGreater(said["in_ns"], said["total_ns"] * 0.7, name)
        self.assertLessEqual(got[state], said["in_ns"] + room, f"{name}: {got}")
        self.assertGreaterEqual(got[state] + sum(got[s] for s in ON_THE_WAY), said["in_ns"] - room, f"{name}: {got}")
        self.assertLessEqual(got["other"], room, f"{name}: {got}")

    def test_each_thing_has_its_state(self):
        things = ("sleep", "wait", "park", "lock", "io")
        said, got, log = self.run_things(3, *things)
        for state in things:
            with self.subTest(state=state):
                self.check_thing(state, said[state], got[state])
        with self.subTest("what else the threads do"):
            self.assertGreater(got["holder"]["sleep"] + sum(got["holder"][s] for s in ON_THE_WAY),
                               said["holder"]["total_ns"] * 0.9)
            main = next(t for t in log.report()["threads"] if t["name"] == "main")
            self.assertGreater(main["states"]["wait_ns"], 2500 * MS)  # Thread.join
        self.check_time(log)

    def check_time(self, log):
        """What spoor time says adds up to what the report says, in whatever way it is asked."""
        threads = log.report()["threads"]
        wanted = {s: sum(t["states"][f"{s}_ns"] for t in threads) for s in STATES}
        for by in ("thread", "pool", "group"):
            for window in ((), ("--window", "200ms"), ("--window", "1s"), ("--window", "70ms")):
                with self.subTest(by=by, window=window):
                    told = json.loads(spoor("time", "-f", "json", "--by", by, *window, log.path).stdout)
                    lines = list(csv.DictReader(io.StringIO(
                        spoor("time", "-f", "csv", "--by", by, *window, log.path).stdout)))
                    for s in STATES:
                        cells = [w["states"][f"{s}_ns"] for row in told["rows"] for w in row["windows"]]
                        self.assertEqual(sum(cells), wanted[s], s)
                        self.assertEqual(sum(int(line[f"{s}_ns"]) for line in lines), wanted[s], s)
                    self.assertEqual(len(lines), len(told["rows"]) * len(told["windows"]))
                    if window != ("--window", "70ms"):
                        rough = rough_ends(log, told, 1000 * MS if window == ("--window", "1s") else SAMPLE_NS)
                        self.assertEqual([k for k, w in enumerate(told["windows"]) if not w["exact"]],
                                         sorted({k for end in rough for k in (end - 1, end)}))
                        # Over such an end all threads' intervals reach.
                        self.assertLessEqual(told["intervals_shared_out"], told["intervals"] / 100 + len(rough) * len(threads))

    def test_waiting_for_a_cpu(self):
        said, got, _ = self.run_things(3, "spin-1", "spin-2", before=PINNED)
        for name, one in said.items():
            with self.subTest(name):
                wall = sum(got[name].values())
                self.assertGreater(got[name]["runnable"], wall / 4)
                self.check_cpu(name, got[name], one)
                self.assertEqual(got[name]["throttled"], 0)

    def test_stopped_by_the_vm(self):
        said, got, log = self.run_things(3, "spin", "collect", options=["-XX:+UseSerialGC", "-Xmx128m"])
        report = log.report()
        safepoints = sum(s["total_ns"] for s in report["pauses"]["safepoints"])
        wall = sum(got["spin"].values())
        self.assertGreater(got["spin"]["pause"], safepoints / 2)
        self.assertLessEqual(got["spin"]["pause"], safepoints + wall * PCT / 100)
        # It runs a little until it stops, and waits for a CPU when it may go on; and it runs while the VM's own thread has no
        # CPU to say that a safepoint begins or is over.
        vm = next(t for t in report["threads"] if t["name"] == "VM Thread")
        late = vm["states"]["runnable_ns"] + vm["states"]["stolen_ns"]
        self.assertGreater(got["spin"]["pause"] + got["spin"]["runnable"] + got["spin"]["stolen"],
                           (safepoints - late) * 0.8, f"VM Thread without a CPU: {late}")
        self.tell("pause, and what the VM says of its safepoints", got["spin"]["pause"], safepoints)
        self.check_cpu("spin", got["spin"], said["spin"])


class EachSleep(JavaTest):
    """On some machines switches to a thread are not seen, one in some thousand (bpf/lib/thread.bpf.h, switch_in_late())."""
    THREADS, TIMES, MS = 20, 100, 47

    def check(self, probes, *options):
        vm = self.java("Sleeps", self.THREADS, self.TIMES, self.MS)
        recorder = self.record(vm, "--probes", probes, *options)
        said = json.loads(vm.ask("go", deadline_s=120))
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        names = {e["thread"]: e["name"] for e in log.raw_of("thread")}
        sleeps = collections.defaultdict(list)
        for e in log.raw_of("off_cpu"):
            if e["reason"] == "sleep":
                sleeps[names[e["thread"]]].append(e)
        for name, own_ns in said.items():
            with self.subTest(name):
                self.assertGreaterEqual(len(sleeps[name]), self.TIMES)  # seen: one of 2,000 in two pieces
                slept_ns = sum(e["off_ns"] for e in sleeps[name])
                self.assertGreaterEqual(slept_ns, 0.99 * self.TIMES * self.MS * 10**6)
                self.assertLessEqual(slept_ns, own_ns)
                times = sorted((e["time_ns"] - e["off_ns"], e["time_ns"]) for e in sleeps[name])
                for (_, ended), (begun, _) in zip(times, times[1:]):
                    self.assertLessEqual(ended, begun)
        return log, [sleeps[name] for name in said]

    def test_without_probes(self):
        self.check("none")

    def test_with_probes(self):
        self.check("usdt")

    def test_chains(self):
        """A break whose end was not seen has its own chain, not that of the next one."""
        log, sleeps = self.check("none", "--sample=10ms")
        methods = {e["method"]: f"{e['class_name']}.{e['name']}" for e in log.raw_of("method")}
        frames = {e["stack"]: e for e in log.raw_of("stack")}
        wrong, chains, compared = [], 0, 0
        for own in sleeps:
            whole = len(own) == self.TIMES
            for turn, e in enumerate(sorted(own, key=lambda e: e["time_ns"])):
                names, stack = set(), e["stack"]
                while stack:
                    names.add(methods.get(frames[stack]["method"]))
                    stack = frames[stack]["caller"]
                chains += bool(names)
                if names and whole:
                    compared += 1
                    if f"Sleeps.{('even', 'odd')[turn % 2]}" not in names:
                        wrong.append((turn, e, names))
        self.assertEqual(wrong, [])
        self.assertGreater(chains, 0.9 * self.THREADS * self.TIMES)
        self.assertGreater(compared, 0.8 * self.THREADS * self.TIMES)


class WallOnPatchedJvm(PatchedJavaTest, Wall):
    """Its locks and parks are told by other probes."""
    test_waiting_for_a_cpu = test_stopped_by_the_vm = None


class WallWithParksByTheScheduler(WallOnPatchedJvm):
    def record(self, target, *options, **how):
        return super().record(target, *options, "--probes", "monitors", **how)


@slow
class Throttled(WallTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        why = why_no_quota()
        if why:
            raise unittest.SkipTest(why)

    def run_throttled(self, share, *spinners, first=False):
        """Threads that keep busy on one CPU: each is throttled when their cgroup is."""
        quota = Quota(share, first)
        self.addCleanup(quota.close)
        said, got, log = self.run_things(8, *spinners, before=PINNED, placed=lambda vm: quota.add(vm.pid),
                                         options=["-XX:+UseSerialGC", f"-Dstat={quota.stat}"])
        self.assertNotEqual(log.header["sources"]["throttled"], "none")
        for name in spinners:
            self.tell(f"{name}, throttled", got[name]["throttled"], said[name]["throttled_ns"])
        for name in spinners:
            with self.subTest(thread=name):
                self.assert_near(got[name]["throttled"], said[name]["throttled_ns"], 1, "throttled")
                self.check_cpu(name, got[name], said[name])
        return got, said

    def test_half_a_cpu_for_a_busy_jvm(self):
        spinners = ("spin-1", "spin-2", "spin-3", "spin-4")
        got, said = self.run_throttled(0.5, *spinners, first=True)
        self.assertGreater(min(t["throttled_ns"] for t in said.values()), 2000 * MS)
        # What they were not throttled they shared, and nobody else was to have it.
        running = sum(t["running"] + t["stolen"] for t in got.values())
        print(f"running: {running / MS:.0f} ms of {8000 * 0.5:.0f}")

    # A tenth of a CPU is less than its fair share on a busy machine, too.
    def test_waiting_for_a_cpu_is_something_else(self):
        rival = subprocess.Popen([*PINNED, sys.executable, "-c", "while True: pass"])
        self.addCleanup(rival.wait)
        self.addCleanup(rival.kill)
        got, _ = self.run_throttled(0.1, "spin")
        self.assertGreater(got["spin"]["throttled"], 1000 * MS)
        self.assertGreater(got["spin"]["runnable"], 400 * MS)


if __name__ == "__main__":
    unittest.main()
