"""What the tests of the recorder share: the fake JVM, a recorder, a log. Nothing here sleeps to let something happen:
it waits for a condition, with a deadline."""
import contextlib
import functools
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.dirname(HERE))

import everybody  # noqa: E402
import kept  # noqa: E402
import sanitizers  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("SPOOR_BUILD", os.path.join(ROOT, "build"))
SPOOR = os.environ.get("SPOOR", os.path.join(BUILD, "spoor"))
FAKE_DIR = os.path.join(BUILD, "tests/fake")
PROBE_TABLE = os.path.join(ROOT, "bpf/wire/wire_probe.def")
# The fake JVM as a stock one, and as patched ones: its folder in FAKE_DIR, and what it is built with.
FAKE_VARIANTS = {"": [], "patched": ["-DFAKE_HOOKS=1"], "newer": ["-DFAKE_HOOKS=99"],
                 "partial": ["-DFAKE_HOOKS=1", "-DFAKE_HOOKS_PARTIAL"], "jdk24": ["-DFAKE_JDK24"]}
CFLAGS = "-std=gnu11 -O2 -g -Wall -Wextra -Wstrict-prototypes -Wmissing-prototypes -Wvla -Werror -D_GNU_SOURCE".split()
DEADLINE_S = 60
CAP_SYS_ADMIN, CAP_PERFMON, CAP_BPF = 21, 38, 39
CLOCK_MONOTONIC_COARSE = 6
COUNTERS = ("cpu_ns", "stolen_ns", "runnable_ns")


def wait_until(what, condition, deadline_s=DEADLINE_S):
    """The first true value of condition()."""
    end = time.monotonic() + deadline_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"{what}: not within {deadline_s} s")
        time.sleep(0.005)


def is_sanitized():
    return sanitizers.is_sanitized(SPOOR)


def no_report(err):
    """err is what a program has said; a sanitizer's report in it fails the test, whatever the program's exit status."""
    if sanitizers.has_report(err):
        raise AssertionError(f"a sanitizer reports:\n{err}")


def read_text(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def capabilities():
    return int(re.search(r"^CapEff:\s*([0-9a-f]+)", read_text("/proc/self/status"), re.M)[1], 16)


def why_no_bpf():
    """Why nothing can be recorded here, or None. It asks the kernel, not spoor: spoor is what is tested."""
    have = capabilities()
    if not have >> CAP_SYS_ADMIN & 1 and not (have >> CAP_BPF & 1 and have >> CAP_PERFMON & 1):
        return "needs root, or CAP_BPF and CAP_PERFMON"
    if not os.path.exists("/sys/kernel/btf/vmlinux"):
        return "this kernel has no BTF (/sys/kernel/btf/vmlinux)"
    bpftool = shutil.which("bpftool") or "/usr/sbin/bpftool"
    if subprocess.run([bpftool, "prog", "show"], capture_output=True).returncode:
        return "the kernel refuses bpf(), even to list programs"
    return None


NOBODY = 65534
# A command as a user without rights.
AS_NOBODY = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]


class BpfTest(unittest.TestCase):
    """A test that records."""

    @classmethod
    def setUpClass(cls):
        why = why_no_bpf()
        if why:
            raise unittest.SkipTest(why)
        fake_build()

    def setUp(self):
        self.tmp = kept.folder(self)

    def path(self, name="log.spoor"):
        return os.path.join(self.tmp, name)

    def folder(self, mode=0o755):
        """Another one, for other users."""
        folder = tempfile.mkdtemp(prefix="spoor-test-")
        self.addCleanup(shutil.rmtree, folder, True)
        os.chmod(folder, mode)
        return folder

    def fake(self, *options, variant=""):
        fake_build(variant)
        fake = Fake(*options, variant=variant)
        self.addCleanup(fake.close)
        return fake

    def record(self, target, *options, path=None, **how):
        probes = STOCK_PROBES if getattr(target, "variant", "") != "patched" else ()
        recorder = Recorder(target, path or self.path(), *probes_of(options, probes), **how)
        self.addCleanup(recorder.close)
        return recorder.wait_attached()


class FakeTest(BpfTest):
    """Of a fake JVM with two threads, one of which has a monitor."""

    def start(self, *options, **how):
        return self.furnish(self.fake(*options, **how))

    def foreign(self, *options):
        """The same, of a user who is not root."""
        fake = Fake(command=[*AS_NOBODY, fake_copy(self.folder()), *options])
        self.addCleanup(fake.close)
        return self.furnish(fake)

    @staticmethod
    def furnish(fake):
        fake.thread("Thread A", id="a")
        fake.thread("Thread B", id="b")
        fake("class", "demo/LockA")
        fake("object", "o", "demo/LockA")
        fake("monitor", "m", "o")
        fake("in", "a", "own", "m")
        return fake


# --- the fake JVM -----------------------------------------------------------------------------

def fake_build(variant=""):
    """As the Makefile's `fake` does it, for a build folder that it has not been made in, and for the variants."""
    where = os.path.join(FAKE_DIR, variant)
    library, program = os.path.join(where, "libjvm.so"), os.path.join(where, "fakejvm")
    files = [os.path.join(HERE, f) for f in sorted(os.listdir(HERE)) if f.startswith("fakejvm")]
    sources = [f for f in files if f.endswith(".c") and not f.endswith("_main.c")]
    newest = max(os.path.getmtime(f) for f in files + [os.path.join(ROOT, "jvm-hooks/probes.h"), PROBE_TABLE])
    if all(os.path.exists(p) and os.path.getmtime(p) >= newest for p in (library, program)):
        return
    os.makedirs(where, exist_ok=True)
    subprocess.run(["gcc", *CFLAGS, *FAKE_VARIANTS[variant], "-fPIC", "-shared", "-fvisibility=hidden", "-pthread",
                    "-Wl,-soname,libjvm.so", "-o", library, *sources], check=True)
    subprocess.run(["gcc", *CFLAGS, "-pthread", "-o", program, os.path.join(HERE, "fakejvm_main.c"), f"-L{where}",
                    "-l:libjvm.so", "-Wl,-rpath,$ORIGIN"], check=True)


def stock_probes():
    """"provider:name" of all probes that a stock JVM's recording attaches to, from the recorder's table."""
    rows = re.findall(r'^(ANY|SEEN|STOCK)\("?(\w+)"?, "?(\w+)"?,', read_text(PROBE_TABLE), re.M)
    return {f"{first}:{second}" if kind == "ANY" else f"hotspot:{first}" for kind, first, second in rows}


def fake_copy(folder, variant=""):
    """The fake JVM in a folder where everybody can start it; its program."""
    fake_build(variant)
    return everybody.copy(folder, *(os.path.join(FAKE_DIR, variant, name) for name in ("fakejvm", "libjvm.so")))


class Fake:
    def __init__(self, *options, command=None, variant=""):
        self.variant = variant
        command = command or [os.path.join(FAKE_DIR, variant, "fakejvm"), *options]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True, encoding="utf-8", bufsize=1)
        self.answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.pid, self.vm_tid = map(int, self._answer("the start"))
        self.tids = {}
        self.java_ids = {}

    def _read(self):
        for line in self.process.stdout:
            self.answers.put(line.rstrip("\n"))
        self.answers.put(None)

    def _answer(self, question):
        try:
            line = self.answers.get(timeout=DEADLINE_S)
        except queue.Empty:
            raise AssertionError(f"the fake JVM does not answer {question}") from None
        if line is None or not line.startswith("ok"):
            raise AssertionError(f"the fake JVM answers {question} with {line}")
        return line.split()[1:]

    def __call__(self, *command):
        """A command, see fakejvm.c; the words behind "ok"."""
        self.process.stdin.write("\t".join(str(c) for c in command) + "\n")
        return self._answer(command)

    def thread(self, name, *options, id=None):
        id = id or name
        tid, java_id = self("thread", id, name, *options)
        self.tids[id] = int(tid)
        self.java_ids[id] = int(java_id)
        return id

    def flag(self):
        return int(self("flag")[0])

    def semaphores(self):
        """How many are attached to each of the hooks, in the order of SPOOR_PROBES."""
        return list(map(int, self("semaphores")))

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.kill()
        self.process.wait()


# Where the default would be that the scheduler tells of locks and waits; tests that are about that give --probes none.
STOCK_PROBES = ("--probes", "usdt")


def probes_of(options, default):
    """The options of a recording, with those of `default` unless they say themselves which probes are taken."""
    told = any(str(o).split("=")[0] in ("--probes", "--stock-probes") for o in options)
    return options if told else (*default, *options)


# --- a recorder -------------------------------------------------------------------------------

class Recorder:
    """spoor record. target: a pid, something with a pid, or a list: a command. prefix: what execs spoor."""

    def __init__(self, target, path, *options, quiet=False, env=None, prefix=(), preexec=None):
        self.log_path = path
        self.quiet = quiet
        command = [*prefix, SPOOR, "record", "-o", path, *options] + (["-q"] if quiet else [])
        command += ["--", *target] if isinstance(target, list) else ["-p", str(getattr(target, "pid", target))]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, errors="replace", env=env,
                                        preexec_fn=preexec)
        self.pid = self.process.pid
        self.err = ""
        self.out = ""
        self.attached = threading.Event()
        self.readers = [threading.Thread(target=self._read_err, daemon=True),
                        threading.Thread(target=self._read_out, daemon=True)]
        for reader in self.readers:
            reader.start()

    def _read_err(self):
        for line in self.process.stderr:
            self.err += line
            if line.startswith("spoor: recording "):
                self.attached.set()

    def _read_out(self):
        for line in self.process.stdout:
            self.out += line

    def _is_attached(self):
        if self.quiet:
            return os.path.exists(self.log_path) and os.path.getsize(self.log_path) > 0
        return self.attached.is_set()

    def wait_attached(self):
        end = time.monotonic() + DEADLINE_S
        while not self._is_attached():
            if self.process.poll() is not None and not self._is_attached():
                self.readers[0].join(DEADLINE_S)
                if self._is_attached():
                    break
                raise AssertionError(f"spoor record has ended with {self.process.returncode}: {self.err}")
            if time.monotonic() > end:
                raise AssertionError(f"spoor record is not attached after {DEADLINE_S} s: {self.err}")
            time.sleep(0.005)
        return self

    def wait(self, deadline_s=DEADLINE_S):
        try:
            status = self.process.wait(deadline_s)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"spoor record does not end: {self.err}") from None
        for reader in self.readers:
            reader.join(DEADLINE_S)
        return status

    def stop(self, signal_number=signal.SIGINT, expect=0):
        """Ends the recording; the log."""
        self.process.send_signal(signal_number)
        status = self.wait()
        if status != expect:
            raise AssertionError(f"spoor record ends with {status}, not {expect}: {self.err}")
        return Log(self.log_path)

    def close(self):
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join(DEADLINE_S)
        self.process.stdout.close()
        self.process.stderr.close()
        no_report(self.err)


def spoor(*arguments, expect=0, **how):
    """Runs a command of spoor to its end; the CompletedProcess."""
    done = subprocess.run([SPOOR, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                          timeout=DEADLINE_S, **how)
    if expect is not None and done.returncode != expect:
        raise AssertionError(f"spoor {' '.join(map(str, arguments))}: exit status {done.returncode}\n"
                             f"{done.stdout[-2000:]}{done.stderr}")
    no_report(done.stderr)
    return done


# --- a log ------------------------------------------------------------------------------------

class Lines:
    """What spoor cat prints: events, each of which is parsed when it is first wanted."""

    KIND = re.compile(r'"event":"(\w+)"')

    def __init__(self, text):
        self.lines = text.splitlines()  # an event, once it has been wanted
        self.kinds = [self.KIND.search(line)[1] for line in self.lines]

    def __len__(self):
        return len(self.lines)

    def at(self, n):
        if isinstance(self.lines[n], str):
            self.lines[n] = json.loads(self.lines[n])
        return self.lines[n]

    def last(self):
        return self.at(-1) if self.lines else None

    def events(self, kinds=None):
        """In the order of the log; None: all of them."""
        return [self.at(n) for n, kind in enumerate(self.kinds) if kinds is None or kind in kinds]


class Log:
    """A log as `spoor cat` shows it: numbers in .raw, names in .events. The log is read as a whole at once, and must be
    intact. Lines that nobody asks for are not parsed: a log of samples of deep stacks has gigabytes with names."""

    def __init__(self, path):
        self.path = path
        self.was = self._file()
        self._raw = Lines(spoor("cat", path).stdout)

    def _file(self):
        of = os.stat(self.path)
        return of.st_dev, of.st_ino, of.st_size, of.st_mtime_ns

    def _cat(self, *options):
        if self._file() != self.was:
            raise AssertionError(f"{self.path} is another log by now")
        return spoor("cat", *options, self.path).stdout

    @functools.cached_property
    def header(self):
        return json.loads(self._cat("--header"))

    @functools.cached_property
    def _named(self):
        lines = Lines(self._cat("--resolve"))
        if len(self._raw) != len(lines):
            raise AssertionError("spoor cat and spoor cat --resolve show different numbers of events")
        return lines

    @property
    def raw(self):
        return self._raw.events()

    @property
    def events(self):
        return self._named.events()

    def of(self, *kinds):
        """Events by kind, with names, in the order of time."""
        return sorted(self._named.events(kinds), key=lambda e: e["time_ns"])

    def raw_of(self, *kinds):
        return sorted(self._raw.events(kinds), key=lambda e: e["time_ns"])

    def one(self, kind, **fields):
        found = [e for e in self.of(kind) if all(e[k] == v for k, v in fields.items())]
        if len(found) != 1:
            raise AssertionError(f"{len(found)} events {kind} {fields}: {found}")
        return found[0]

    def threads(self):
        """The last word on each thread, by its number."""
        return {e["thread"]: e for e in self._raw.events(("thread",))}

    def locks(self):
        return {e["lock"]: e for e in self._raw.events(("lock",))}

    def notes(self):
        return [e["text"] for e in self.of("note")]

    def lost(self):
        """{event id: count} over all stages; the last word counts."""
        last = {(e["event_id"], e["place"]): e["count"] for e in self.raw_of("lost")}
        total = {}
        for (event_id, _), count in last.items():
            total[event_id] = total.get(event_id, 0) + count
        return total

    def end(self):
        last = self._raw.last()
        return last["reason"] if last and last["event"] == "end" else None

    def report(self, *options):
        return json.loads(spoor("report", "--format", "json", *options, self.path).stdout)

    def report_text(self, *options):
        return spoor("report", *options, self.path).stdout

    def held_up_ns(self, name=""):
        """For how long threads whose names begin so waited for a CPU, a disk or the VM: on a busy machine they are
        late then, whatever they were about to do."""
        states = [t["states"] for t in self.report()["threads"] if t["name"].startswith(name)]
        return sum(s[f"{state}_ns"] for s in states for state in ("stolen", "runnable", "throttled", "io", "pause"))


def schema_ids():
    with open(os.path.join(ROOT, "schemas/events.json"), encoding="utf-8") as f:
        return {e["name"]: e["id"] for e in json.load(f)["events"]}


def owner_sample():
    """(What the header of a log has as owner_sample, as owner_sample_ns), of a recording on this machine."""
    tick_ns = round(time.clock_getres(CLOCK_MONOTONIC_COARSE) * 1e9)
    return ("tick", tick_ns) if tick_ns <= 4_000_000 else ("cpu-clock", 4_000_000)


def name_of(thread):
    """The name in a thread column of `spoor cat --resolve`; None for none."""
    return thread and thread["name"]
