"""Recordings without a probe on locks and waits (--probes none), held against what the programs know of themselves."""
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import unittest
import unittest.mock

from jvm import JavaTest, jdk_tool  # first: it says where harness is
from harness import spoor, wait_until
import exact
import test_chrome
import test_exact
import jvm
import test_holders
import test_jfr
import test_spans
import test_stacks
import test_wall
import waits
from soaking import only_in_soak, slow


MS = 1_000_000


class BySwitches(JavaTest):
    """What another class tests, of such a recording."""
    OPTIONS = ("--probes", "none")

    def record(self, target, *options, **how):
        return super().record(target, *options, *self.OPTIONS, **how)


class Holders(BySwitches, test_holders.Holders):
    def test_shenandoah_without_a_pause(self):
        self.check(60, 1, *jvm.SHENANDOAH_WITHOUT_A_PAUSE, pct=5)


class Exact(BySwitches, test_exact.Stock):
    """Who blocks whom, in many scenes."""
    # On a machine that is not busy 99.5 % and more; a thread that is woken late is woken by the JVM's own timer first.
    SEEN_PCT, RIGHT_PCT = 95, 95

    def check_releases(self, played):
        """By blocked time: of nearly each contention the release that ended it is there with its whole call chain, and it
        is the one that the program's own stamps have."""
        of = waits.Waits(played.log)
        blocked, seen, chained = of.released()
        whole, right = waits.released_by(of, [s for all_of in played.scenes.values() for s in all_of], exact.chain_key)
        print(f"blocked {blocked / 1e6:.1f} ms; with the release {100 * seen / blocked:.2f} %, with its whole call chain "
              f"{100 * chained / blocked:.2f} %; of {whole / 1e6:.1f} ms that the program knows it is the right one for "
              f"{100 * right / whole:.2f} %", flush=True)
        self.assertGreater(whole, blocked / 2)
        self.assertGreaterEqual(chained, blocked * self.SEEN_PCT / 100)
        self.assertGreaterEqual(right, whole * self.RIGHT_PCT / 100)


class Wall(BySwitches, test_wall.Wall):
    pass


class Throttled(BySwitches, test_wall.Throttled):
    test_waiting_for_a_cpu_is_something_else = None


class Timeline(BySwitches, test_chrome.Stock):
    pass


class Spans(BySwitches, test_spans.Stock):
    pass


class Jfr(BySwitches, test_jfr.Jfr):
    SPIN_NS = 60_000
    AWAKE_PCT = 3

    def check_count(self, got, wanted, pct):
        """JFR tells of a park that finds its permit there, or has it while the thread is on its way to sleep."""
        self.assertLessEqual(got, wanted * (1 + pct / 100), "count")
        self.assertGreaterEqual(got, wanted * (1 - (pct + self.AWAKE_PCT) / 100), "count")

    def check_total(self, got, count, wanted, pct):
        """JFR's begin of a contention is before the thread spins, which no switch tells."""
        self.assertLessEqual(got, wanted * (1 + pct / 100), "total ns")
        self.assertGreaterEqual(got, wanted * (1 - pct / 100) - count * self.SPIN_NS, "total ns")


def in_soak(test):
    """A test of another class, here in the soak only."""
    @only_in_soak
    def run(self):
        test(self)
    return run


class Stacks(BySwitches, test_stacks.Stacks):
    OPTIONS = (*BySwitches.OPTIONS, "--every-wait")  # a sum's chain is not of one wait
    test_c1 = in_soak(test_stacks.Stacks.test_c1)
    test_serial = in_soak(test_stacks.Stacks.test_serial)
    test_deep_inlining = in_soak(test_stacks.Stacks.test_deep_inlining)
    test_g1_no_compressed_oops = in_soak(test_stacks.Stacks.test_g1_no_compressed_oops)


OLDER = unittest.mock.patch.dict(os.environ, {"SPOOR_NO_SCHED_ENTRY": "1"})


@OLDER
class HoldersOlderKernels(Holders):
    """What a thread blocks on is read at the switch itself, as before Linux 6.15."""
    test_shenandoah_without_a_pause = test_large_heap_shifted = test_parallel_interpreted = test_serial_without_compression = test_zgc = None


@slow
@OLDER
class StacksOlderKernels(Stacks):
    test_c1 = test_serial = test_deep_inlining = test_g1_no_compressed_oops = test_interpreted = None
    test_tiered = None


class Waits(BySwitches):
    ROUNDS = 2000
    OF = {"parker": ("park", "parking", "Parks$Blocker"), "in wait": ("wait", "waiting", "Parks$Monitor"),
          "on tasks": ("park", "parking", "Parks$Task")}

    def run_parks(self, *options):
        vm = self.java("Parks", self.ROUNDS)
        recorder = self.record(vm, *options)
        said = json.loads(vm.ask("go", 120))
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        self.assertEqual(log.header["sources"]["monitor"], "switches")
        return said, log

    def check(self, said, log):
        """Each wait is there once, alone or in a sum."""
        report = log.report()
        for name, (_, section, of) in self.OF.items():
            with self.subTest(thread=name):
                row = next(r for r in report[section] if r["class"] == of)
                print(f"{name}: {row['count']} waits, {row['total_ns']} ns; itself {said[name]}")
                self.assertEqual((row["open"], row["begin_missing"], row["end_missing"]), (0, 0, 0))
                self.assertEqual(said[name]["count"], self.ROUNDS)
                # A thread may be woken, and preempted before it is out of its wait: then it is not blocked twice. The
                # kernel's own mutexes in a wait's way are short.
                # On some machines a few switches never reach BPF (docs/architecture.md).
                self.assertGreaterEqual(row["count"], self.ROUNDS * 0.99)
                self.assertLessEqual(row["count"], self.ROUNDS * 1.02)
                self.assertLessEqual(row["total_ns"], said[name]["ns"])
                self.assertGreater(row["total_ns"], said[name]["ns"] * 0.8)

    def test_short_waits_are_summed_up(self):
        said, log = self.run_parks()
        self.check(said, log)
        for name, (reason, _, of) in self.OF.items():
            sums = [e for e in log.of("wait_sum") if e["thread"]["name"] == name]
            with self.subTest(thread=name):
                self.assertEqual({(e["reason"], e["lock"]["class"]) for e in sums}, {(reason, of)})
                self.assertGreater(sum(e["count"] for e in sums), self.ROUNDS / 2)
                # What the log knows by its class alone is one sum, too, however many objects there are.
                self.assertLess(len(sums), self.ROUNDS / 20)
                self.assertLess(max(e["longest_ns"] for e in sums), 1_000_000)
                for e in sums:
                    self.assertLessEqual(e["off_ns"], e["begin_ns"])
                    self.assertLessEqual(e["cpu_wait_ns"], e["off_ns"])
                    self.assertLessEqual(e["longest_ns"], e["off_ns"])

    def test_every_wait(self):
        said, log = self.run_parks("--every-wait")
        self.check(said, log)
        self.assertEqual(log.of("wait_sum"), [])
        self.assertGreaterEqual(len(log.of("park_begin")), self.ROUNDS * 0.99)

    def test_who_unparks(self):
        """Of a wait that is told alone: who ended it, and where."""
        _, log = self.run_parks("--every-wait")
        woken = [e for e in log.of("unpark") if e["target"] and e["target"]["name"] == "parker"]
        self.assertGreaterEqual(len(woken), self.ROUNDS * 0.98)
        self.assertEqual({e["thread"]["name"] for e in woken}, {"main"})


class Moved(BySwitches):
    """What a thread parks on is read of the thread, which is blocked meanwhile, and nothing but a look at the VM's safepoints
    says whether a collector has moved both."""
    KINDS = ("North", "East", "South", "West")

    def check(self, *options):
        vm = self.java("Moved", 3, 4, options=options)
        recorder = self.record(vm, "--every-wait")
        said = json.loads(vm.ask("go", 120))
        log = recorder.stop()
        turns = {}
        for e in log.of("park_begin"):
            if e["thread"]["name"].startswith("parker-"):
                turns.setdefault(e["thread"]["tid"], []).append(e["lock"]["class"] if e["lock"] else None)
        known = [[self.KINDS.index(name.removeprefix("Moved$")) for name in of if name] for of in turns.values()]
        steps = [(b - a) % 4 for of in known for a, b in zip(of, of[1:])]
        unknown = sum(of.count(None) for of in turns.values())
        collections = len(log.of("gc_begin"))
        print(f"{collections} collections; {sum(said.values())} waits by itself, {sum(map(len, known))} in the log, "
              f"{unknown} of nothing known; steps {[steps.count(i) for i in range(4)]}", flush=True)
        self.assertGreater(collections, 20)
        self.assertGreater(len(known), 10)
        self.assertLess(unknown, len(steps) / 20)
        # By turns: but for those that did not sleep, or are not known.
        self.assertGreater(len(steps), sum(said.values()) * 0.9)
        self.assertGreater(steps.count(1), len(steps) * 0.95)
        self.assertLess(steps.count(0) + steps.count(3), len(steps) / 200)

    def test_g1(self):
        self.check("-Xmx64m", "-XX:+UseG1GC")

    def test_serial(self):
        self.check("-Xmx32m", "-Xmn4m", "-XX:+UseSerialGC")

    @slow
    def test_parallel(self):
        self.check("-Xmx32m", "-Xmn4m", "-XX:+UseParallelGC", "-XX:-UseCompressedOops")


class FlightRecorder(BySwitches):
    def contentions(self, path):
        groups = json.loads(spoor("report", "-f", "json", "--by", "lock_class", path).stdout)["groups"]
        return {g["key"][0]: (g["count"], g["blocked_ns"]) for g in groups}

    def test_what_it_keeps_is_what_another_recorder_writes(self):
        vm = self.java("Contend", 20)
        flight = self.record(vm, "--flight-recorder", "60s", path=self.path("flight.spoor"))
        other = self.record(vm)
        self.assertEqual(vm.ask("go", 120), "done")
        flight.process.send_signal(signal.SIGUSR1)
        wait_until("there is a file", lambda: glob.glob(self.path("flight-*.spoor")))
        dumped, = glob.glob(self.path("flight-*.spoor"))
        spoor("verify", dumped)
        got, wanted = self.contentions(dumped), self.contentions(other.stop().path)
        self.assertIn("Contend$Hot", wanted)
        for name, (count, blocked_ns) in wanted.items():
            if not name.startswith("Contend$"):
                continue
            with self.subTest(lock=name):
                self.assertEqual(got[name][0], count)
                self.assert_near(got[name][1], blocked_ns, 1, "blocked")


class BesideProbes(JavaTest):
    """Two recorders at one JVM, one by its probes and one by the scheduler's switches: contention by contention."""
    MODES = {"usdt": ("--probes", "usdt"), "none": ("--probes", "none")}

    def test_each_contention(self):
        """What one has and the other has not is explained: who never slept has no switch, and probes do not tell who goes
        for the monitor after Object.wait()."""
        vm = self.java("Contend", 120)  # on a busy machine a fifth of what could be is a contention
        recorders = {mode: self.record(vm, *options, path=self.path(f"{mode}.spoor")) for mode, options in self.MODES.items()}
        self.assertEqual(vm.ask("go", 120), "done")
        logs = {mode: recorder.stop() for mode, recorder in recorders.items()}
        for log in logs.values():
            self.assertEqual(log.lost(), {})
        pairs = waits.Pairs(*(waits.Waits(logs[mode]) for mode in ("usdt", "none")), *waits.common(logs.values()))
        print(f"in both {len(pairs.pairs)}, several that are one {len(pairs.groups)}, in one only "
              f"{({why: len(found) for why, found in pairs.only.items()})}", flush=True)
        self.assertGreater(len(pairs.pairs), 100)
        # On some machines a few switches never reach BPF (docs/architecture.md): two waits are one then, or one has none.
        most = len(pairs.pairs) * 0.01
        self.assertLessEqual(len(pairs.groups), most, pairs.groups)
        self.assertLessEqual(len(pairs.only["usdt: asleep"] + pairs.only["none"]), most, pairs.only)
        # From leaving the CPU to getting one again is within the wait by the probes, but for what passes between two reads
        # of a clock.
        late = [(u, n) for u, n in pairs.pairs if n.begin < u.begin - MS or n.end > u.end + MS]
        self.assertLessEqual(len(late), most, late)


class Crowd(BySwitches):
    """Very many threads."""

    def run_crowd(self, threads, times, *options):
        vm = self.java("Crowd", threads, times, options=["-Xss256k", "-Xmx256m"])
        recorder = self.record(vm, *options)
        said = json.loads(vm.ask("go", 300))
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        names = {t["name"] for t in log.threads().values()}
        self.assertEqual(len({n for n in names if n.startswith("one-")}), threads)
        parks = [e.get("count", 1) for e in log.of("park_begin", "wait_sum")
                 if e["lock"] and e["lock"]["class"] == "Crowd$Seat"]
        # One that was woken as it was about to park, and has been preempted, did not sleep.
        self.assertGreaterEqual(sum(parks), said["parks"] * 0.99)
        return said, log

    def test_a_thousand_on_one_lock(self):
        said, log = self.run_crowd(1000, 10)
        lock = next(l for l in log.report("--by", "lock_class")["groups"] if l["key"] == ["Crowd$Wanted"])
        print(f"{lock['count']} contentions, {lock['blocked_ns']} ns; itself {said}")
        self.assertLessEqual(lock["count"], said["waits"])
        # What a thread that spins waits has no switch.
        self.assert_near(lock["blocked_ns"], said["wait_ns"], 2, "blocked")

    @only_in_soak
    def test_ten_thousand(self):
        self.run_crowd(10000, 0, "--max-threads", "32768")

    def test_more_than_there_is_room_for(self):
        """Nothing is told of them; how often is counted, and what to do about it is said."""
        vm = self.java("Crowd", 1500, 0, options=["-Xss256k", "-Xmx256m"])
        recorder = self.record(vm, "--max-threads", "1024")
        vm.ask("go", 300)
        log = recorder.stop()
        told = {e["thread"]["tid"] for e in log.of("thread_sample")}
        self.assertGreater(len(told), 500)
        self.assertLess(len(told), 1500)
        self.assertGreater(sum(e["count"] for e in log.report()["lost"]["events"] if e["event"] == "thread"), 0)
        self.assertIn("more threads than there was room for (record with a larger --max-threads)", log.report_text())


def strip(libjvm):
    """What tells tracers of a library's probes goes; nothing else."""
    subprocess.run(["objcopy", "--remove-section", ".note.stapsdt", libjvm], check=True)


class WithoutProbes(test_holders.Holders):
    """A JVM that was built without any: as if its notes had never been there."""
    PROBES = ()
    test_large_heap_shifted = test_parallel_interpreted = test_zgc = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        home = os.path.dirname(os.path.dirname(os.path.realpath(jdk_tool("java"))))
        cls.home = tempfile.mkdtemp(prefix="spoor-jvm-")
        cls.addClassCleanup(shutil.rmtree, cls.home, True)
        shutil.copytree(home, cls.home, symlinks=False, dirs_exist_ok=True,
                        ignore=shutil.ignore_patterns("src.zip", "jmods", "docs", "demo", "man", "*.jsa"))
        strip(os.path.join(cls.home, "lib/server/libjvm.so"))

    def test_what_the_log_says(self):
        vm = self.java("Contend", 20)
        recorder = self.record(vm)
        self.assertEqual(vm.ask("go", 120), "done")
        log = recorder.stop()
        self.assertEqual(log.header["record"]["probes"], "none")
        self.assertEqual(log.header["sources"]["monitor"], "switches")
        self.assertTrue(log.of("monitor_contended_enter"))
        missing = log.header["sources"]["probes_missing"]
        self.assertIn("hotspot:gc__begin", missing)
        self.assertNotIn("hotspot:monitor__contended__enter", missing)

    def test_doctor_says_the_same(self):
        vm = self.java("Contend", 1)
        said = spoor("doctor", "-p", str(vm.pid)).stdout
        self.assertRegex(said, r"(?m)^warning +probes +the JVM has no USDT probes \(a build without dtrace\)")
        self.assertRegex(said, r"(?m)^ok +monitor-flag +DTraceMonitorProbes is of no use")
        self.assertNotRegex(said, r"(?m)^\w+ +guardian ")
        self.assertNotIn("turned on", said)
        self.assertIn("works, with the limits named in", said)


del JavaTest, BySwitches

if __name__ == "__main__":
    unittest.main()
