"""The JVM stays a JVM: programs/Stays*.java check themselves, on a patched JVM, while nobody, or somebody, records it.
SPOOR_STAYS_SCALE=20 takes so many times as long; SPOOR_STAYS_KEEP=1 keeps a JVM that hangs, or is wrong."""
import os
import threading
import time

from jvm import PatchedJavaTest, native_library  # first: it says where harness is
from harness import DEADLINE_S, Recorder

SCALE = float(os.environ.get("SPOOR_STAYS_SCALE", "1"))
KEEP = bool(os.environ.get("SPOOR_STAYS_KEEP"))
SCENES = ("recursion", "counts", "hash", "park", "management", "native", "loaders")
MS = 150
# Little is run: what is hot is compiled soon. Monitors come and go as often as they can.
SOON = ["-XX:CompileThresholdScaling=0.05", "-XX:CompileCommand=quiet",
        "-XX:CompileCommand=dontinline,StaysRecursion.nested"]
DEFLATE = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+UnlockExperimentalVMOptions", "-XX:AsyncDeflationInterval=20",
           "-XX:GuaranteedSafepointInterval=20", "-XX:MonitorUsedDeflationThreshold=1"]
C1, C2 = ["-XX:TieredStopAtLevel=1", *SOON], ["-XX:-TieredCompilation", *SOON]
G1, PARALLEL, SERIAL = ["-XX:+UseG1GC"], ["-XX:+UseParallelGC"], ["-XX:+UseSerialGC"]
AT_ONCE = ("Stays*", "java/io/PrintStream", "java/util/concurrent/locks/*", "java/lang/Object", "java/lang/Thread")
END, KILL, DETACHED = "end", "kill", "detached"


class Attaching:
    """Records a JVM over and over; each recorder ends by itself, or every second one is killed."""

    def __init__(self, vm, path, kill):
        self.vm, self.path, self.kill = vm, path, kill
        self.is_over = threading.Event()
        self.begun = self.killed = 0
        self.problem = None
        self.recorder = self._begin()
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _begin(self):
        recorder = Recorder(self.vm, self.path, "-f", "-d", "400ms")
        try:
            recorder.wait_attached()
        except AssertionError:
            recorder.close()
            raise
        self.begun += 1
        return recorder

    def _end(self):
        if self.kill and self.begun % 2:
            self.recorder.process.kill()
            self.recorder.process.wait()
            self.killed += 1
        elif self.recorder.wait():
            raise AssertionError(f"spoor record has failed: {self.recorder.err}")
        self.recorder.close()

    def _run(self):
        try:
            while True:
                self._end()
                if self.is_over.is_set():
                    return
                self.recorder = self._begin()
        except AssertionError as e:
            # It may be the JVM that has ended.
            self.problem = str(e)

    def end(self):
        self.is_over.set()
        self.thread.join(2 * DEADLINE_S)
        self.recorder.close()
        if self.thread.is_alive():
            raise AssertionError("the recorder does not come back")
        if self.problem:
            raise AssertionError(self.problem)


class Stays(PatchedJavaTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.library = native_library("stays")

    def check(self, how, *options):
        ms = round(MS * SCALE)
        options = [*sum(options, []), f"-Dstays.keep={str(KEEP).lower()}"]
        vm = self.java("Stays", ms, self.library, *SCENES, options=options)
        attaching = None if how == DETACHED else Attaching(vm, self.path(), how == KILL)
        begin = time.monotonic()
        vm.say("go")
        steps = {}
        # Later than the program's own watchdog, which says more.
        patience = ms / 1000 + 3 * DEADLINE_S
        while (line := self.line_of(vm, patience)) != "done":
            scene, count = line.split()
            steps[scene] = int(count)
        print(f"{time.monotonic() - begin:.1f} s,", *(f"{scene} {count}" for scene, count in steps.items()), flush=True)
        if attaching:
            attaching.end()
            print(f"{attaching.begun} recordings, {attaching.killed} killed", flush=True)
            self.assertEqual(attaching.killed > 0, how == KILL)
        self.assertEqual(tuple(steps), SCENES)
        self.assertTrue(all(steps.values()), steps)
        self.assertEqual(vm.end(), 0)

    def line_of(self, vm, patience):
        try:
            return vm.line(patience)
        except AssertionError:
            if KEEP:
                print(f"the JVM stays for you: {vm.pid}", flush=True)
                vm.process.wait()
            raise

    def test_detached(self):
        self.check(DETACHED, G1, SOON, DEFLATE)

    def test_g1_c2(self):
        self.check(END, G1, C2, DEFLATE)

    def test_parallel_tiered(self):
        self.check(END, PARALLEL, SOON)

    def test_serial_c2_recorder_is_killed(self):
        self.check(KILL, SERIAL, C2)

    def test_g1_c1_recorder_is_killed(self):
        self.check(KILL, G1, C1)

    def test_parallel_interpreted(self):
        self.check(END, PARALLEL, ["-Xint"], DEFLATE)

    def test_serial_compiled_at_once(self):
        # What is compiled by C2 before it is run, without a second of the JVM's own start.
        self.check(END, SERIAL, ["-Xcomp", "-XX:-TieredCompilation", "-XX:CompileCommand=quiet"],
                   [f"-XX:CompileCommand=compileonly,{c}.*" for c in AT_ONCE])
