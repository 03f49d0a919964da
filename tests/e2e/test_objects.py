"""The ring of object events: what a reader counts is what the program has done, and what the JVM counts itself."""
import contextlib
import fcntl
import os
import signal
import subprocess
import tempfile
import time
import unittest

from jvm import HERE, jdk_tool, java_classes, made, major_of, native_library, why_no_java

SWITCH = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+SpoorTraceObjects"]
EXACT, CHECK, NO_MOVES = 1, 2, 16
HEAP = ["-Xmx160m"]
DEADLINE_S = 300
# Of nothing that does not fit together there may be any.
NONE = ("unknown_class", "no_address", "retired_wrong", "tops_wrong", "wrong", "gaps", "bad_words", "lost_names",
        "ring_lost_bytes")


def reader():
    source = os.path.join(HERE, "native/objects.c")
    header = os.path.join(HERE, "../../jvm-hooks/objects.h")
    command = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", source]
    folder = made([source, header], lambda folder: [*command, "-o", os.path.join(folder, "objects")])
    return os.path.join(folder, "objects")


class Read:
    """What the reader has printed."""

    def __init__(self, text):
        self.classes, self.threads, self.sums, self.end = {}, {}, {}, None
        for line in text.splitlines():
            kind, *fields = line.split("\t")
            if kind == "class":
                self.classes[fields[0]] = self.classes.get(fields[0], 0) + int(fields[1])
            elif kind == "thread":
                self.threads.setdefault(int(fields[0]), []).append((int(fields[2]), int(fields[3])))
            elif kind == "sum":
                self.sums[fields[0]] = int(fields[1])
            elif kind == "end":
                self.end = fields[0]


class ObjectsTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.home = os.environ.get("SPOOR_JVM")
        why = why_no_java() if cls.home else "there is no patched JVM: make jvm"
        if not why and major_of(cls.home) != 17:
            why = "only the patches for JDK 17 have object events"
        if why:
            raise unittest.SkipTest(why)
        cls.classes = java_classes()
        cls.reader = reader()

    def start(self, *arguments, options=(), mode=EXACT | CHECK, environment=None):
        vm = subprocess.Popen([jdk_tool("java", self.home), *HEAP, *SWITCH, f"-XX:SpoorObjectsMode={mode}", *options,
                               "-cp", self.classes, "Births", *map(str, arguments)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment)
        self.addCleanup(self.finish, vm)
        return vm

    def attach(self, vm, *arguments):
        process = subprocess.Popen([self.reader, str(vm.pid), *map(str, arguments)], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.finish, process)
        self.assertEqual(process.stdout.readline(), "attached\n")
        return process

    @staticmethod
    def finish(process):
        process.kill()
        process.communicate()

    @staticmethod
    def go(vm):
        vm.stdin.write("\n")
        vm.stdin.close()
        vm.stdin = None

    @staticmethod
    def open_ring(vm):
        """The ring, once it is sealed, which is a moment after it is there."""
        deadline = time.monotonic() + DEADLINE_S
        while time.monotonic() < deadline:
            for entry in list(os.scandir(f"/proc/{vm.pid}/fd")):
                with contextlib.suppress(FileNotFoundError):  # closed meanwhile
                    if "spoor-objects" in os.readlink(entry.path):
                        ring = os.open(entry.path, os.O_RDWR)
                        if fcntl.fcntl(ring, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK:
                            return ring
                        os.close(ring)
        raise AssertionError("the JVM has no ring")

    def run_it(self, *arguments, options=(), mode=EXACT | CHECK, slots=()):
        """(what the program says, what the reader has read)"""
        vm = self.start(*arguments, options=options, mode=mode)
        process = self.attach(vm, *slots)
        truth, _ = vm.communicate("\n", timeout=DEADLINE_S)
        text, _ = process.communicate(timeout=DEADLINE_S)
        self.assertEqual((vm.returncode, process.returncode), (0, 0))
        return [line.split("\t") for line in truth.splitlines() if line.count("\t") == 2], Read(text)

    def assert_true(self, truth, read):
        counts = {name: int(number) for kind, name, number in truth if kind == "count"}
        threads = {int(tid): [(int(number),) * 2] for kind, tid, number in truth if kind == "thread"}
        self.assertEqual({name: read.classes.get(name) for name in counts}, counts)
        self.assertEqual({tid: read.threads.get(tid) for tid in threads}, threads)
        self.assertEqual([pair for pairs in read.threads.values() for pair in pairs if pair[0] != pair[1]], [])
        self.assertEqual({name: read.sums[name] for name in NONE}, dict.fromkeys(NONE, 0))
        self.assertEqual(read.end, "ended")
        self.assertGreater(read.sums["retired"], 0)

    def check(self, *options, rounds=400_000, full=0):
        truth, read = self.run_it(3, rounds, full, options=options)
        self.assert_true(truth, read)
        self.assertEqual(read.sums["unknown_moves"], 0)
        self.assertGreater(read.sums["right"], 1000)
        return read

    def test_serial(self):
        read = self.check("-XX:+UseSerialGC", full=3)
        self.assertGreater(read.sums["runs"], 1000)

    def test_parallel(self):
        self.check("-XX:+UseParallelGC")

    def test_g1(self):
        self.check("-XX:+UseG1GC")

    def test_c1(self):
        self.check("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")

    def test_c2(self):
        self.check("-XX:+UseSerialGC", "-XX:-TieredCompilation")

    def test_compiled_at_once(self):
        self.check("-XX:+UseG1GC", "-Xcomp", rounds=200_000)

    def test_interpreter(self):
        self.check("-XX:+UseSerialGC", "-Xint", rounds=50_000, full=2)

    def test_wide_oops_and_alignment(self):
        self.check("-XX:+UseSerialGC", "-XX:-UseCompressedOops", full=1)
        self.check("-XX:+UseSerialGC", "-XX:ObjectAlignmentInBytes=16", full=1)

    def test_promotion_and_evacuation_that_fail(self):
        """In a heap that is nearly full. Whether copies fail there is up to chance, but a tenth do not come to that."""
        kept = 0
        for _ in range(10):
            kept += self.check("-XX:+UseSerialGC", "-Xmx14m", "-Xmn9m", rounds=200_000).sums["kept"]
            kept += self.check("-XX:+UseG1GC", "-Xmx16m", rounds=200_000).sums["kept"]
            if kept > 0:
                return
        self.fail("nothing was kept")

    def test_with_jfr(self):
        """JFR frees classes that it has changed, and other classes get their addresses."""
        with tempfile.TemporaryDirectory() as folder:
            self.check("-XX:+UseG1GC", f"-XX:StartFlightRecording=filename={folder}/a.jfr,settings=profile")

    def test_full_collections(self):
        """Also where what stays is left in place: a dense prefix, regions that are nearly full of live objects."""
        for options in (["-XX:+UseParallelGC"], ["-XX:+UseParallelGC", "-XX:-UseMaximumCompactionOnSystemGC"],
                        ["-XX:+UseG1GC"], ["-XX:+UseG1GC", "-XX:MarkSweepDeadRatio=50"]):
            with self.subTest(options=options):
                read = self.check(*options, full=3)
                self.assertGreater(read.sums["runs"], 1000)
                self.assertEqual(read.sums["untraced"], 0)

    def test_no_reader(self):
        """Threads wait for a second, once, and go on; what a reader finds later is told as a gap."""
        vm = self.start(2, 1_000_000, 0, options=["-XX:+UseSerialGC", "-XX:SpoorObjectsRing=2m"])
        truth, _ = vm.communicate("\n", timeout=DEADLINE_S)
        self.assertEqual(vm.returncode, 0)
        self.assertIn("count\tBirths$Plain\t2000000", truth)

    def test_a_reader_that_is_killed(self):
        vm = self.start(2, 1_000_000, 0, options=["-XX:+UseSerialGC", "-XX:SpoorObjectsRing=2m"])
        process = self.attach(vm, 1)
        process.send_signal(signal.SIGKILL)
        truth, _ = vm.communicate("\n", timeout=DEADLINE_S)
        self.assertEqual(vm.returncode, 0)
        self.assertIn("count\tBirths$Plain\t2000000", truth)

    def test_a_slow_reader(self):
        """With threads that wait for it, nothing of what they have allocated is lost."""
        truth, read = self.run_it(2, 400_000, 0, options=["-XX:+UseSerialGC", "-XX:SpoorObjectsRing=2m"],
                                  mode=EXACT | NO_MOVES, slots=[2])
        self.assert_true(truth, read)
        self.assertGreater(read.sums["waits"], 0)

    def test_a_slow_reader_that_nobody_waits_for(self):
        _, read = self.run_it(2, 1_000_000, 0, options=["-XX:+UseSerialGC", "-XX:SpoorObjectsRing=2m"], mode=0,
                              slots=[1])
        self.assertGreater(read.sums["gaps"], 0)
        self.assertEqual([read.sums[name] for name in ("bad_words", "retired_wrong", "tops_wrong")], [0, 0, 0])

    def test_a_jvm_that_is_killed(self):
        """The reader finds all that was written, up to the last words."""
        vm = self.start(2, 100_000_000, 0, options=["-XX:+UseParallelGC"])
        process = self.attach(vm)
        self.go(vm)
        try:
            vm.wait(2)
        except subprocess.TimeoutExpired:
            pass
        vm.kill()
        text, _ = process.communicate(timeout=DEADLINE_S)
        read = Read(text)
        self.assertEqual(read.end, "killed")
        self.assertGreater(read.sums["objects"], 100_000)
        self.assertEqual([read.sums[name] for name in ("wrong", "bad_words", "retired_wrong")], [0, 0, 0])

    def test_a_hostile_reader(self):
        """Whatever it writes, the JVM does its work."""
        vm = self.start(2, 1_000_000, 1, options=["-XX:+UseSerialGC", "-XX:SpoorObjectsRing=2m"])
        ring = self.open_ring(vm)
        self.addCleanup(os.close, ring)
        size = os.fstat(ring).st_size
        for call in (lambda: os.ftruncate(ring, 0), lambda: os.ftruncate(ring, size * 2)):
            self.assertRaises(PermissionError, call)
        self.go(vm)
        noise = 0
        while vm.poll() is None:
            for byte in (0x00, 0xFF, 0x41, 0x01):
                os.pwrite(ring, bytes([byte]) * (64 << 10), 0)
                noise += 1
        self.assertEqual(vm.returncode, 0)
        self.assertGreater(noise, 4)

    def test_a_ring_that_is_cut_before_it_is_sealed(self):
        """The JVM does without a ring."""
        environment = {**os.environ, "LD_PRELOAD": native_library("cuts")}
        vm = self.start(2, 1000, 0, options=["-XX:+DisplayVMOutputToStdout"], environment=environment)
        truth, _ = vm.communicate("\n", timeout=DEADLINE_S)
        self.assertEqual(vm.returncode, 0)
        self.assertIn("warning: SpoorTraceObjects: cannot make the ring: Device or resource busy", truth)
        self.assertIn("count\tBirths$Plain\t2000", truth)


if __name__ == "__main__":
    unittest.main()
