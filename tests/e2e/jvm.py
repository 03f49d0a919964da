"""What the tests on real JVMs share: compiled programs, a running JVM, and the recorder of tests/bpf."""
import glob
import hashlib
import os
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "bpf"))

from harness import BUILD, DEADLINE_S, Recorder, STOCK_PROBES, kept, probes_of, wait_until, why_no_bpf  # noqa: E402

START_DEADLINE_S = 5 * DEADLINE_S
MADE = os.path.join(BUILD, "tests/java")
# A tool of the JDK ends before what C2 compiles of it has paid: javac takes twice the CPU with it.
SHORT = ("-J-XX:TieredStopAtLevel=1",)
# One cycle after the other: objects move while threads block on them.
SHENANDOAH_WITHOUT_A_PAUSE = ("-XX:+UseShenandoahGC", "-Xmx256m", "-XX:+UnlockDiagnosticVMOptions",
                              "-XX:ShenandoahGCHeuristics=aggressive")


def jdk_tool(name, home=None):
    home = home or os.environ.get("JAVA_HOME")
    path = home and os.path.join(home, "bin", name)
    return path if path and os.path.exists(path) else shutil.which(name)


def options_of(home, options):
    """The same in the words of this JDK."""
    if not home or os.path.basename(home) != "11":
        return list(options)
    found = [re.sub(r"=CompileThresholdScaling,(\S+),([\d.]+)$", r"=option,\1,double,CompileThresholdScaling,\2", option)
             for option in options if not option.startswith("-XX:C1MaxInlineLevel")]
    return ["-XX:+UnlockExperimentalVMOptions", *found] if "-XX:+UseZGC" in found else found


def made(sources, command):
    """The folder where command(folder) has made something of the sources. It is made once for all tests that want the
    same: a run of javac takes two seconds of CPU."""
    key = hashlib.sha256(repr(command("")).encode())
    for source in sources:
        with open(source, "rb") as f:
            key.update(f"\n{os.path.basename(source)}\n".encode() + f.read())
    folder = os.path.join(MADE, key.hexdigest()[:16])
    if not os.path.isdir(folder):
        os.makedirs(MADE, exist_ok=True)
        own = tempfile.mkdtemp(dir=MADE)
        subprocess.run(command(own), check=True)
        try:
            os.rename(own, folder)
        except OSError:  # another test was faster
            shutil.rmtree(own)
    return folder


def java_classes(pattern="programs/*.java", *options):
    sources = sorted(glob.glob(os.path.join(HERE, pattern)))
    javac = os.path.realpath(jdk_tool("javac"))
    return made(sources, lambda folder: [javac, *SHORT, *options, "-d", folder, *sources])


def native_library(name):
    """What native/NAME.c is as a library for System.load()."""
    source = os.path.join(HERE, f"native/{name}.c")
    include = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(jdk_tool("javac")))), "include")
    compiler = ["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Wmissing-prototypes", "-Werror", "-shared", "-fPIC",
                "-pthread", "-I", include, "-I", os.path.join(include, "linux"), source]
    folder = made([source], lambda folder: [*compiler, "-o", os.path.join(folder, f"lib{name}.so")])
    return os.path.join(folder, f"lib{name}.so")


def why_no_java():
    for tool in ("java", "javac", "jfr"):
        if not jdk_tool(tool):
            return f"{tool} is neither in JAVA_HOME nor in PATH"
    version = subprocess.run([jdk_tool("java"), "-version"], capture_output=True, text=True).stderr
    return None if '"17.' in version else f"this is no JDK 17: {version.splitlines()[0]}"


def wait_for_libjvm(vm):
    """vm: a process that was started a moment ago. Before it has loaded libjvm.so it is no JVM."""
    def loaded():
        with open(f"/proc/{vm.pid}/maps", encoding="utf-8") as f:
            return "/libjvm.so" in f.read()

    wait_until("libjvm.so is loaded", loaded, START_DEADLINE_S)
    return vm


class JavaTest(unittest.TestCase):
    home = None  # of the JDK whose java runs the programs
    MAJOR = 17
    PROBES = STOCK_PROBES  # of its recordings, unless they give --probes

    @classmethod
    def setUpClass(cls):
        why = why_no_bpf() or why_no_java()
        if why:
            raise unittest.SkipTest(why)
        cls.classes = java_classes("programs/*.java", *cls.javac_options())

    @classmethod
    def javac_options(cls):
        """The compiler is JDK 17's."""
        return ("--release", str(cls.MAJOR)) if cls.MAJOR < 17 else ()

    def setUp(self):
        self.tmp = kept.folder(self)

    def path(self, name="log.spoor"):
        return os.path.join(self.tmp, name)

    def command(self, program, *arguments, options=()):
        return [jdk_tool("java", self.home), "-Dfile.encoding=UTF-8", "-Dstdout.encoding=UTF-8", *options,
                "-cp", self.classes, program, *map(str, arguments)]

    def java(self, program, *arguments, options=(), before=()):
        """A JVM that has said that it is ready."""
        vm = Java([*before, *self.command(program, *arguments, options=options)])
        self.addCleanup(vm.close)
        return vm.wait_ready()

    def record(self, target, *options, path=None, **how):
        recorder = Recorder(target, path or self.path(), *probes_of(options, self.PROBES), **how)
        self.addCleanup(recorder.close)
        return recorder.wait_attached()

    def assert_near(self, got, wanted, pct, what, floor=0):
        self.assertLessEqual(abs(got - wanted), max(wanted * pct / 100, floor),
                             f"{what}: {got} instead of {wanted}")


def other_jdk(major):
    """The home of a JDK that tests/jdk/fetch has fetched; None: it has not."""
    home = os.path.join(os.environ.get("SPOOR_JDKS", ""), str(major))
    if not os.path.exists(os.path.join(home, "bin/java")):
        return None
    bind_folders()
    return home


def recorder_options(home, options):
    """Of a recorder of a program on this JDK (None: the machine's): a stock one's probes, unless they say otherwise."""
    return probes_of(options, () if home and home == os.environ.get("SPOOR_JVM") else STOCK_PROBES)


def bind_folders():
    """The folders that a JVM in the root of another Debian must see, by their names here."""
    top = {"/" + os.path.realpath(folder).split(os.sep)[1] for folder in (HERE, BUILD)}
    os.environ["SPOOR_JDK_BIND"] = " ".join(sorted(top - {"/tmp"}))


def major_of(home):
    """The feature release of a JDK."""
    with open(os.path.join(home, "release"), encoding="utf-8") as f:
        return int(re.search(r'^JAVA_VERSION="(\d+)', f.read(), re.M)[1])


class OtherJavaTest(JavaTest):
    """On another JDK than the machine's: MAJOR."""
    MAJOR = None

    @classmethod
    def setUpClass(cls):
        cls.home = other_jdk(cls.MAJOR)
        if not cls.home:
            raise unittest.SkipTest(f"there is no JDK {cls.MAJOR}: make jdks")
        super().setUpClass()


class PatchedJavaTest(JavaTest):
    """On the JVM of make jvm, which tests/run finds; make test-jvm JDK=21 takes that of another release."""
    PROBES = ()

    @classmethod
    def setUpClass(cls):
        cls.home = os.environ.get("SPOOR_JVM")
        if not cls.home:
            raise unittest.SkipTest("there is no patched JVM: make jvm")
        cls.MAJOR = major_of(cls.home)
        bind_folders()
        super().setUpClass()


class ObjectsJavaTest(PatchedJavaTest):
    """On one that has object events."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if cls.MAJOR != 17:
            raise unittest.SkipTest(f"the patches for JDK {cls.MAJOR} have no object events")


class Java:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        encoding="utf-8", env={**os.environ, "LC_ALL": "C.UTF-8"}, bufsize=1)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.pid = self.process.pid
        self.own_pid = None

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def line(self, deadline_s=DEADLINE_S):
        try:
            line = self.lines.get(timeout=deadline_s)
        except queue.Empty:
            raise AssertionError(f"the Java program says nothing for {deadline_s} s\n{self._threads()}") from None
        if line is None:
            raise AssertionError(f"the Java program has ended: {self.process.wait()}")
        return line

    def _threads(self):
        """What they do, for who reads of a program that hangs: jstack's, and virtual threads if the JDK has them."""
        home = os.path.dirname(os.path.dirname(os.path.realpath(f"/proc/{self.own_pid or self.pid}/exe")))
        with tempfile.TemporaryDirectory() as folder:
            path, said = os.path.join(folder, "threads"), ""
            for words in (("Thread.print", "-l"), ("Thread.dump_to_file", path), ("Thread.vthread_scheduler",)):
                command = [jdk_tool("jcmd", home) or "jcmd", str(self.own_pid or self.pid), *words]
                try:
                    said += subprocess.run(command, capture_output=True, text=True, timeout=DEADLINE_S).stdout
                except (OSError, subprocess.TimeoutExpired) as why:
                    said += f"{command}: {why}\n"
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    said += f.read()
        return said

    def wait_ready(self):
        """A program may have much compiled before it is."""
        line = self.line(START_DEADLINE_S)
        while not line.startswith("ready "):
            line = self.line(START_DEADLINE_S)
        self.own_pid = int(line.split()[1])
        return self

    def say(self, text=""):
        self.process.stdin.write(text + "\n")

    def ask(self, text="", deadline_s=DEADLINE_S):
        self.say(text)
        return self.line(deadline_s)

    def end(self):
        """Lets it end by itself; its exit status."""
        self.process.stdin.close()
        return self.process.wait(DEADLINE_S)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
