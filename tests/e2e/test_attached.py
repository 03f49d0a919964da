"""Threads of native code that attach to the VM and detach: each time they are another JavaThread."""
from jvm import JavaTest, native_library  # first: it says where harness is
import test_jdk_11
import test_jdk_21
import test_jdk_25
from other_jdks import always
from soaking import slow


class Attached(JavaTest):
    """What they park on, by the program's own turns."""
    KINDS = ("North", "East", "South", "West")

    def check(self, threads, turns, naps, *options):
        vm = self.java("Attached", native_library("attached"), threads, turns, naps, options=["-Xmx32m"])
        recorder = self.record(vm, *options)
        parks = int(vm.ask("go", 120))
        log = recorder.stop()
        found = {}
        for e in log.of("park_begin"):
            found.setdefault(e["thread"]["tid"], []).append(e["lock"]["class"] if e["lock"] and e["stack"] else "")
        found = {tid: of for tid, of in found.items() if any(name.startswith("Attached$") for name in of)}
        known = [[self.KINDS.index(name.removeprefix("Attached$")) for name in of if name] for of in found.values()]
        steps = [(b - a) % 4 for of in known for a, b in zip(of, of[1:])]
        unknown = sum(of.count("") for of in found.values())
        print(f"{parks} parks by itself, {sum(map(len, known))} in the log, {unknown} of nothing known; "
              f"steps {[steps.count(i) for i in range(4)]}", flush=True)
        self.assertEqual(len(found), threads)
        self.assertLessEqual(unknown, parks / 100)
        # By turns: but for those that did not sleep, or are not known.
        self.assertGreaterEqual(sum(map(len, known)), parks * 0.97)
        self.assertGreaterEqual(steps.count(1), len(steps) * 0.97)
        self.assertLessEqual(steps.count(0) + steps.count(3), len(steps) / 200)

    def test_by_switches(self):
        self.check(3, 300, 0, "--probes", "none", "--every-wait")

    def test_by_switches_after_naps(self):
        self.check(3, 300, 20, "--probes", "none", "--every-wait")

    @slow
    def test_by_switches_after_long(self):
        self.check(2, 20, 2000, "--probes", "none", "--every-wait")

    def test_by_probes(self):
        self.check(3, 300, 0, "--probes", "usdt")

    def test_by_probes_after_naps(self):
        self.check(3, 300, 20, "--probes", "usdt")


@always("test_by_switches", "test_by_probes_after_naps")
class Attached11(test_jdk_11.Jdk11, Attached):
    pass


@always("test_by_switches_after_naps")
class Attached21(test_jdk_21.Jdk21, Attached):
    pass


@always("test_by_switches")
class Attached25(test_jdk_25.Jdk25, Attached):
    pass
