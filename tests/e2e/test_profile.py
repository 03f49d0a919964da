"""spoor record --sample: shares and sums against the clocks of the threads themselves, chains against what can call what."""
import json
import math
import time
import unittest

from jvm import JavaTest, OtherJavaTest, PatchedJavaTest  # first: it says where harness is
from harness import spoor
from samples import Samples
import soaking
from soaking import only_in_soak, slow

MS = 10**6
TICK_NS = round(time.clock_getres(6) * 1e9)  # CLOCK_MONOTONIC_COARSE
OTHER_SECONDS = 4 if soaking.is_on() else 2  # of a program that another test has recorded for longer
CALLS = {"run": {"lambda"}, "lambda": {"hot", "lockstep"},
         "hot": {"work", "now", "tell"}, "lockstep": {"early", "late", "tell", "now"},
         "early": {"now"}, "late": {"now"}, "recursion": {"down"}, "down": {"down", "arithmetic"}, "tell": {"now"},
         "work": {"arithmetic", "recursion", "megamorphic", "arraycopy", "checksum", "collections"},
         "megamorphic": {"lambda", "step"}, "step": {"lambda"}}


def plain(name):
    return "lambda" if name.startswith("lambda$") else name


class ProfileTest(JavaTest):
    def run_hot(self, mode, seconds, argument, *options):
        vm = self.java("Hot", mode, seconds, argument)
        recorder = self.record(vm, *options, path=self.path(f"{vm.pid}.spoor"))
        said = json.loads(vm.ask("go", deadline_s=120))
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        self.check_profile(log, said)
        names = {e["name"]: e["thread"] for e in log.raw_of("thread")}
        return {name: (Samples(log, names[name]), said[name]) for name in said}

    def check_profile(self, log, said):
        """What spoor profile makes of it adds up to the threads' own clocks."""
        threads = json.loads(spoor("profile", "--threads", "--format", "json", log.path).stdout)
        rows = {row["thread"]: row for row in threads["rows"]}
        for name, own in said.items():
            self.assert_near(rows[name]["run_ns"], own["total"], 2, name, floor=5 * MS)
        for row in rows.values():
            self.assertEqual(row["sampled_ns"] + row["not_sampled_ns"], row["run_ns"], row)
        self.assertEqual(sum(row["run_ns"] for row in rows.values()), threads["run_ns"])
        tree = json.loads(spoor("profile", "--format", "json", log.path).stdout)
        collapsed = spoor("profile", "--format", "collapsed", log.path).stdout.splitlines()
        for sums in (sum(row["self_ns"] for row in tree["rows"]), sum(row["sampled_ns"] for row in rows.values()),
                     sum(int(line.rpartition(" ")[2]) for line in collapsed)):
            self.assertEqual(sums, tree["sampled_ns"])

    def check_sums(self, samples, said, period_ns):
        # What it ran after it had said so, and before it was first seen, is nearly nothing.
        self.assert_near(samples.end_ns, said["total"], 2, "the thread's own clock", floor=5 * MS)
        self.assertEqual(samples.sum_ns + samples.rest_ns, samples.end_ns)
        print(f"the counter went back by {samples.back_ns} ns at most")
        self.assertGreaterEqual(samples.rest_ns, -samples.stolen_since_ns)
        self.assertLess(samples.rest_ns, 20 * period_ns)
        self.assert_near(len(samples.list), samples.end_ns / period_ns, 25, "samples")

    def check_shares(self, samples, said, methods):
        total = sum(said[m] for m in methods)
        inside, _ = samples.share(*methods)
        for method in methods:
            names = {"arithmetic": ("arithmetic",), "recursion": ("recursion",)}.get(method, (method,))
            share, sd = samples.share(*names)
            wanted = said[method] / total
            if method == "arithmetic":  # recursion calls it, too
                deep, _ = samples.share("down")
                share -= deep
            share /= inside
            print(f"{method}: {100 * share:.2f} %, itself {100 * wanted:.2f} %, sd {100 * sd:.2f}")
            # Three times, of the hundreds of shares of a run of the suite, one is missed now and then.
            self.assertLess(abs(share - wanted), 4 * sd + 0.004, method)

    def check_walks(self, samples, least=0.97):
        wrong = []
        for _, chain, _ in samples.list:
            own = [plain(name) for cls, name in chain if cls == "Hot" or cls.startswith("Hot$")]
            wrong += [(a, b) for a, b in zip(own, own[1:]) if b not in CALLS.get(a, ())]
        self.assertEqual(wrong, [])
        failed = {}
        for _, _, e in samples.list:
            if e["result"] != "complete":
                key = e["mode"], e["via"], e["result"]
                failed[key] = failed.get(key, 0) + 1
        print(failed)
        whole = samples.results.get("complete", 0) / len(samples.list)
        print(f"{len(samples.list)} samples, {100 * whole:.2f} % of the walks complete: {samples.results}")
        self.assertGreater(whole, least)

    def check_adapters(self):
        """Between the interpreter and compiled code an adapter has the return address in a register for a moment: the frame
        that calls is there all the same."""
        loops = {("Adapters", "even"), ("Adapters", "odd")}
        vm = self.java("Adapters", 2, options=["-XX:-UseOnStackReplacement"])
        recorder = self.record(vm, "--sample=500us")
        self.assertEqual(vm.ask("go", deadline_s=60), "done")
        log = recorder.stop()
        thread, = {e["thread"] for e in log.raw_of("thread") if e["name"] == "main"}
        samples = Samples(log, thread)
        whole = [chain for _, chain, e in samples.list if e["result"] == "complete"]
        self.assertGreater(len(whole), 1000)
        without = [chain for chain in whole if not loops & set(chain)]
        print(f"{samples.results}; {len(without)} of {len(whole)} chains are without the method that calls: {without}")
        self.assertLess(len(without), len(whole) / 400)

    def check_hot(self, *options, seconds=4, sample="1ms", period_ns=MS):
        for name, (samples, said) in self.run_hot("hot", seconds, 2, f"--sample={sample}", *options).items():
            with self.subTest(name):
                self.check_sums(samples, said, period_ns)
                self.check_shares(samples, said, ("arithmetic", "recursion", "megamorphic", "arraycopy", "checksum",
                                                  "collections"))
                self.check_walks(samples)


class OddPlaces(ProfileTest):
    METHODS = ("exceptions", "fresh", "deoptimized", "reflected")
    CALLS = {"run": {"lambda", "collect"}, "lambda": {"odd"}, "odd": {"work"}, "work": set(METHODS),
             "exceptions": {"thrower", "<init>"}, "thrower": {"thrower", "<init>"}, "fresh": {"<init>", "loadClass", "area"},
             "<init>": {"<init>"}, "deoptimized": {"area"}, "reflected": {"called"}, "loadClass": {"loadClass"}}

    def check(self, *options):
        """Exceptions, classes that are loaded anew and collected, compiled code that is invalidated, calls through native code."""
        vm = self.java("Odd", 3, options=("-XX:+UseSerialGC", "-Dsun.reflect.inflationThreshold=2147483647", *options))
        recorder = self.record(vm, "--sample=1ms", path=self.path(f"{vm.pid}.spoor"))
        said = json.loads(vm.ask("go", deadline_s=120))
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        self.check_profile(log, said)
        thread, = (e["thread"] for e in log.raw_of("thread") if e["name"] == "odd")
        samples = Samples(log, thread, "Odd")
        self.check_sums(samples, said["odd"], MS)
        self.check_shares(samples, said["odd"], self.METHODS)
        wrong, nameless = [], 0
        for _, chain, _ in samples.list:
            # After an unloading, of which there are five a second, what was sampled since the recorder's last look has no names.
            own = [plain(name) for cls, name in chain if cls.startswith("Odd") or name == "unresolved"]
            wrong += [(a, b) for a, b in zip(own, own[1:]) if "unresolved" not in (a, b) and b not in self.CALLS.get(a, ())]
            nameless += "unresolved" in own
        self.assertEqual(wrong, [])
        self.assertLess(nameless, len(samples.list) / 10)
        print(f"{nameless} chains with frames without a name")
        whole = samples.results.get("complete", 0) / len(samples.list)
        print(f"{len(samples.list)} samples, {100 * whole:.2f} % of the walks complete: {samples.results}")
        self.assertGreater(whole, 0.95)

    def test_odd_places(self):
        self.check()


class Profile(ProfileTest):
    def test_shares_and_sums(self):
        self.check_hot()

    def test_ticks(self):
        """Of the kernel: each is a sample. TIME becomes the nearest number of ticks."""
        self.check_hot(sample=f"{TICK_NS}ns,event=tick", period_ns=TICK_NS)

    @slow
    def test_one_tick_of_some(self):
        vm = self.java("Hot", "hot", 2, 2)
        recorder = self.record(vm, f"--sample={3 * TICK_NS + 1000}ns,event=tick")
        vm.ask("go", deadline_s=60)
        log = recorder.stop()
        self.assertEqual(log.header["sources"]["sample"]["event"], "tick")
        self.assertEqual(log.header["sources"]["sample"]["period_ns"], 3 * TICK_NS)
        count = len(log.raw_of("run_sample"))
        cpu_ns = json.loads(spoor("profile", "--threads", "--format", "json", log.path).stdout)["run_ns"]
        # By chance: a third of them. Twice as far off as five standard deviations would be.
        wanted = cpu_ns / TICK_NS / 3
        self.assert_near(count, wanted, 25, "samples", floor=10 * wanted ** 0.5)

    def test_without_probes(self):
        self.check_hot("--probes", "none", seconds=OTHER_SECONDS)

    def early(self, *options, seconds=3, period_us=1000):
        (samples, said), = self.run_hot("lockstep", seconds, period_us, *options).values()
        share, sd = samples.share("early")
        inside, _ = samples.share("early", "late")
        wanted = said["early"] / (said["early"] + said["late"])
        between = samples.median_between_ns() / MS
        print(f"{options}: {100 * share / inside:.1f} %, itself {100 * wanted:.1f} %, sd {100 * sd:.1f}; {len(samples.list)} samples, "
              f"{between:.3f} ms from sample to sample")
        return abs(share / inside - wanted) / sd, between

    def test_in_step_with_the_clock(self):
        """A program that repeats itself in the clock's own period: each sample is at another place, however long that goes on."""
        for _ in range(2):
            off_by, between = self.early("--sample=5ms", seconds=2, period_us=5471)
            self.assertLess(off_by, 4)
            self.assertTrue(4.4 < between < 6.6, between)  # 5.471; the median of 365 between half and one and a half of it

    @slow
    def test_lockstep(self):
        """A program that repeats itself in the period of --sample is seen as it is: its clock's period is another."""
        off_by, between = self.early("--sample=1ms")
        self.assertLess(off_by, 3.5)
        self.assertTrue(1.03 < between < 1.16, between)  # 1.0942: the median of 2,700
        _, between = self.early("--sample=1ms,jitter=off")
        self.assertTrue(0.98 < between < 1.03, between)

    def test_bursts(self):
        """Of a thread that sleeps before it has run for a period each moment is as likely to be found as any other."""
        # So long that four standard deviations are 0.1.
        (samples, said), = self.run_hot("bursts", 800, 400, "--sample=2ms").values()
        share, _ = samples.share("early")
        inside, _ = samples.share("early", "late")
        wanted = said["early"] / (said["early"] + said["late"])
        sd = math.sqrt(wanted * (1 - wanted) / len(samples.list))
        count, due = len(samples.list), samples.end_ns / (2 * MS * 1.0942)
        print(f"{100 * share / inside:.1f} %, itself {100 * wanted:.1f} %, sd {100 * sd:.1f}; {count} samples, {due:.0f} are due")
        self.assertLess(abs(share / inside - wanted), 4 * sd)
        self.assert_near(count, due, 10, "samples", floor=4 * due ** 0.5)

    @only_in_soak
    def test_lockstep_is_wrong_without_jitter(self):
        """Needs a quiet machine: time that is stolen, or that another thread takes, moves the clock against the program."""
        self.assertGreater(max(self.early("--sample=1ms,jitter=off,event=cpu-clock")[0] for _ in range(2)), 3.5)

    def check_deep(self, mode, *options):
        """What is below the interrupted frame is the same each time, and is not walked each time: else a walk of so many
        frames would soon be refused (too_often)."""
        vm = self.java("Hot", mode, 2, 450, options=options)
        recorder = self.record(vm, "--sample=100us")
        vm.ask("go", deadline_s=60)
        log = recorder.stop()
        thread, = (e["thread"] for e in log.raw_of("thread") if e["name"] == "hot-0")
        samples = Samples(log, thread)
        print(samples.results)
        self.assertNotIn("too_often", samples.results)
        self.assertGreater(len(samples.list), 5000)
        self.assertGreater(samples.results["complete"], 0.95 * len(samples.list))
        deep = sum(len(chain) > 450 for _, chain, e in samples.list if e["result"] == "complete")
        self.assertGreater(deep, 0.9 * samples.results["complete"])

    COMPILED = ("-Xcomp", *(f"-XX:CompileCommand={c}" for c in ("quiet", "compileonly,Hot::*", "dontinline,Hot::below")))

    def test_a_deep_stack_often(self):
        self.check_deep("deep", *self.COMPILED)

    def test_a_deep_stack_often_interpreted(self):
        """Five words of each frame, in 45 KB of stack."""
        self.check_deep("deep", "-Xint")

    def test_a_deep_stack_below_a_stub(self):
        """The stub that copies has no frame of its own."""
        self.check_deep("copies", *self.COMPILED)

    def test_a_deep_stack_below_a_frame_that_is_gone(self):
        """Where the interpreter returns from a method, that has no frame any more."""
        self.check_deep("returns", "-Xint")

    def test_from_the_interpreter_to_compiled_code(self):
        self.check_adapters()

    def test_a_clock_runs_with_its_thread_only(self):
        """The main thread waits all the time, and is not sampled; nor is any thread while the JVM is idle."""
        vm = self.java("Hot", "hot", 1, 1)
        recorder = self.record(vm, "--sample=100us")
        vm.ask("go", deadline_s=60)
        log = recorder.stop()
        taken = {}
        for e in log.raw_of("run_sample"):
            taken[e["thread"]] = taken.get(e["thread"], 0) + 1
        cpu = {e["thread"]: e["cpu_ns"] for e in log.raw_of("thread_sample", "thread_end")}
        for thread, count in taken.items():
            self.assertLess(count, cpu[thread] / (100_000 * 0.5) + 5, thread)


MODES = {"interpreted": ("-Xint",), "c1": ("-XX:TieredStopAtLevel=1",), "c1_profiled": ("-XX:TieredStopAtLevel=3",),
         "c2": ("-XX:-TieredCompilation",), "all_compiled": ("-Xcomp",), "not_inlined": ("-XX:-Inline",),
         "serial": ("-XX:+UseSerialGC",), "parallel": ("-XX:+UseParallelGC",), "zgc": ("-XX:+UseZGC",),
         "wide_pointers": ("-XX:-UseCompressedOops",)}


class ModeTest(ProfileTest):
    """Chains at addresses that the clock chooses: no wrong one, whatever has made the code, and hardly any that is not whole."""

    def check_mode(self, name):
        vm = self.java("Hot", "hot", 2, 1, options=MODES[name])
        recorder = self.record(vm, "--sample=1ms")
        vm.ask("go", deadline_s=240)
        log = recorder.stop()
        thread, = (e["thread"] for e in log.raw_of("thread") if e["name"] == "hot-0")
        self.check_walks(Samples(log, thread))


@only_in_soak
class ProfileModes(ModeTest):
    pass


for mode in MODES:
    setattr(ProfileModes, f"test_{mode}", lambda self, mode=mode: self.check_mode(mode))


@only_in_soak
class ProfileModes11(ModeTest, OtherJavaTest):
    MAJOR = 11

    def test_interpreted(self):
        self.check_mode("interpreted")


@only_in_soak
class ProfileModes21(ModeTest, OtherJavaTest):
    MAJOR = 21

    def test_interpreted(self):
        self.check_mode("interpreted")


@only_in_soak
class ProfileModes25(ModeTest, OtherJavaTest):
    MAJOR = 25

    def test_interpreted(self):
        self.check_mode("interpreted")


class ProfilePatched(ProfileTest, PatchedJavaTest):
    def test_shares_and_sums(self):
        self.check_hot(seconds=OTHER_SECONDS)


@only_in_soak
class Profile11(ProfileTest, OtherJavaTest):
    MAJOR = 11

    def test_from_the_interpreter_to_compiled_code(self):
        self.check_adapters()


@only_in_soak
class Profile21(ProfileTest, OtherJavaTest):
    MAJOR = 21

    def test_shares_and_sums(self):
        self.check_hot()

    def test_from_the_interpreter_to_compiled_code(self):
        self.check_adapters()


class Profile25(ProfileTest, OtherJavaTest):
    MAJOR = 25

    def test_shares_and_sums(self):
        self.check_hot(seconds=OTHER_SECONDS)

    def test_from_the_interpreter_to_compiled_code(self):
        self.check_adapters()


if __name__ == "__main__":
    unittest.main()
