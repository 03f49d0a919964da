"""bench/recorder.py: starts and ends recorders (spoor, JFR) on a running JVM, for the scripts beside it."""
import collections
import importlib.machinery
import importlib.util
import json
import os
import re
import resource
import selectors
import signal
import subprocess
import time

TIMEOUT_S = 60

JFC = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
%s</configuration>
"""
JFC_EVENT = """  <event name="jdk.%s">
    <setting name="enabled">true</setting>
    <setting name="stackTrace">true</setting>
    <setting name="threshold">0 ms</setting>
  </event>
"""
JFR_EVENTS = ("JavaMonitorEnter", "JavaMonitorWait", "ThreadPark")


class BenchError(Exception):
    """Something could not be measured; its text is for the user."""


def load(name):
    """A script beside this one, as a module."""
    loader = importlib.machinery.SourceFileLoader(name, os.path.join(os.path.dirname(os.path.realpath(__file__)), name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader))
    loader.exec_module(module)
    return module


def read_line(stream, what, timeout_s=TIMEOUT_S):
    """The next line of an unbuffered binary stream, or BenchError after the deadline or at its end."""
    line = b""
    deadline = time.monotonic() + timeout_s
    with selectors.DefaultSelector() as selector:
        selector.register(stream, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(0, deadline - time.monotonic())):
                raise BenchError(f"{what}: no answer within {timeout_s} s")
            byte = os.read(stream.fileno(), 1)
            if not byte:
                raise BenchError(f"{what}: ended, its last words: {line.decode(errors='replace') or 'none'}")
            line += byte
    return line.decode(errors="replace").rstrip("\n")


def cpu_ns_of(pid):
    """CPU time of a process, of its threads that live, and of its children."""
    total = 0
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/schedstat", encoding="ascii") as f:
            total += int(f.read().split()[0])
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
            children = f.read().split()
        total += sum(cpu_ns_of(child) for child in children)
    return total


class Java:
    """A JVM that talks through its standard input and output; see Slots.java."""

    def __init__(self, java, args):
        self.process = subprocess.Popen([java, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.pid = self.process.pid

    def line(self):
        return read_line(self.process.stdout, "java")

    def go(self):
        self.process.stdin.write(b"go\n")

    def ask(self):
        self.go()
        return json.loads(self.line())

    def end(self):
        if self.process.poll() is None:
            self.process.stdin.close()
            try:
                self.process.wait(TIMEOUT_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.stdout.close()
        return self.process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if exc[0] is not None:
            self.process.kill()
        self.end()


class SpoorRecorder:
    """spoor record -p PID, from "it records" to its end."""

    name = "spoor"

    def __init__(self, spoor, pid, path, options=()):
        self.path = path
        self.spoor = spoor
        start = time.monotonic()
        self.process = subprocess.Popen(
            [spoor, "record", "-p", str(pid), "-f", "-o", path, *options], stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE, bufsize=0)
        self.said = []
        try:
            self._wait_until_attached()
        except BenchError:
            self.process.kill()
            self.process.wait()
            raise
        self.attach_s = time.monotonic() - start

    def _wait_until_attached(self):
        while True:
            try:
                line = read_line(self.process.stderr, "spoor record")
            except BenchError as err:
                raise BenchError("\n".join([str(err), *self.said])) from None
            self.said.append(line)
            if "recording" in line and self.path in line:
                return

    def cpu_ns(self):
        return cpu_ns_of(self.process.pid)

    def end(self, wait_only=False):
        """Detaches, or waits for the end of the target; the log is complete after that."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.monotonic()
        if not wait_only and self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            _, rest = self.process.communicate(timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise BenchError(f"spoor record did not end within {TIMEOUT_S} s") from None
        self.detach_s = time.monotonic() - start
        self.said += rest.decode(errors="replace").splitlines()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if self.process.returncode:
            raise BenchError("\n".join([f"spoor record: exit status {self.process.returncode}", *self.said]))

    def counts(self):
        return log_counts(self.spoor, self.path)


class JfrRecorder:
    """A Java Flight Recorder recording that is started and stopped in the running JVM."""

    name = "jfr"

    def __init__(self, tools, pid, path):
        self.tools = tools
        self.pid = pid
        self.path = path
        settings = path + ".jfc"
        with open(settings, "w", encoding="ascii") as out:
            out.write(JFC % "".join(JFC_EVENT % name for name in JFR_EVENTS))
        start = time.monotonic()
        self._jcmd("JFR.start", "name=bench", "settings=" + settings, "maxsize=0", "disk=true")
        self.attach_s = time.monotonic() - start
        self.cpu_s = None

    def _jcmd(self, *command):
        done = subprocess.run([os.path.join(self.tools, "jcmd"), str(self.pid), *command], capture_output=True,
                              text=True, timeout=TIMEOUT_S, check=False)
        if done.returncode:
            raise BenchError(f"jcmd {command[0]}: {done.stdout}{done.stderr}")

    def end(self):
        start = time.monotonic()
        self._jcmd("JFR.stop", "name=bench", "filename=" + self.path)
        self.detach_s = time.monotonic() - start

    def cpu_ns(self):
        """None: it works within the JVM."""
        return None

    def counts(self):
        """Events by kind without those of JFR's own housekeeping, and the bytes of the whole file."""
        text = subprocess.run([os.path.join(self.tools, "jfr"), "summary", self.path], capture_output=True, text=True,
                              timeout=TIMEOUT_S, check=True).stdout
        events = collections.Counter()
        for kind, count in re.findall(r"^ *jdk\.(\w+) +(\d+) +\d+$", text, re.MULTILINE):
            if kind in JFR_EVENTS:
                events[kind] += int(count)
        # Its writer drops whole buffers when it cannot keep up, and says how many bytes they had.
        lost = int((re.findall(r"^ *jdk\.DataLoss +(\d+)", text, re.MULTILINE) or [0])[0])
        return {"events": sum(events.values()), "contended": events["JavaMonitorEnter"], "lost": lost,
                "bytes": os.path.getsize(self.path), "kinds": dict(events)}


METADATA = ("thread", "class", "lock", "string", "lost", "note", "method", "stack", "stack_walk", "end")
PSEUDO_FRAMES = ("unresolved", "broken", "cut", "in_heap")
NO_CHAIN = ("no_java_frames", "no_java_thread")  # there was nothing to walk


class Chains:
    """What a log says of call chains: those of threads that block on monitors, and of who blocks them."""

    KINDS = (b"stack", b"stack_walk", b"monitor_contended_enter", b"monitor_contended_entered", b"owner_stack",
             b"monitor_owner_seen", b"monitor_contended_exit")

    def __init__(self):
        self.walks = {}
        self.stacks = {0: (0, False)}  # number: frames, complete
        self.blocks = collections.Counter()  # by the number of the waiter's chain
        self.owner_wanted = set()  # threads that are blocked, and whose holder's chain is not known yet
        self.owners_known = 0
        self.exits = self.exits_known = 0  # those that tell since when the monitor was held, and from where

    def event(self, event):
        getattr(self, event["event"])(event)

    def stack(self, event):
        frames, complete = self.stacks.get(event["caller"], (0, False)) if event["caller"] else (0, True)
        real = event["frame"] not in PSEUDO_FRAMES
        self.stacks[event["stack"]] = (frames + real, complete and real)

    def stack_walk(self, event):
        self.walks[event["result"]] = event["count"]

    def monitor_contended_enter(self, event):
        self.blocks[event["stack"]] += 1
        self.owner_wanted.add(event["thread"])
        self.owner_is_at(event["thread"], event["owner_stack"])

    def monitor_contended_entered(self, event):
        self.owner_wanted.discard(event["thread"])

    def monitor_contended_exit(self, event):
        if event["sequence"]:
            self.exits += 1
            self.exits_known += event["stack"] != 0 or event["forward"] != 0

    def monitor_owner_seen(self, event):
        self.owner_is_at(event["thread"], event["owner_stack"])

    def owner_stack(self, event):
        self.owner_is_at(event["waiter"], event["stack"])

    def owner_is_at(self, waiter, stack):
        if stack and waiter in self.owner_wanted:
            self.owner_wanted.remove(waiter)
            self.owners_known += 1

    def counts(self):
        known = self.walks.get("already_known", 0)
        walks = sum(n for result, n in self.walks.items() if result != "already_known")
        failed = sum(n for result, n in self.walks.items()
                     if result not in ("already_known", "complete", "cut", "in_heap", *NO_CHAIN))
        blocks = sum(self.blocks.values())
        complete = sum(n for number, n in self.blocks.items() if self.stacks.get(number, (0, False))[1])
        depths = sorted(d for number, n in self.blocks.items() for d in [self.stacks.get(number, (0,))[0]] * n)
        owner_share = self.exits_known / self.exits if self.exits else self.owners_known / max(1, blocks)
        return {"walks": walks, "known_share": known / max(1, walks), "failed_share": failed / max(1, walks),
                "waiter_share": complete / max(1, blocks), "owner_share": owner_share,
                "depth": depths[len(depths) // 2] if depths else 0}


def log_counts(spoor, path):
    """Counts of a log by its own cat; "events" are those that happened, without metadata."""
    kinds = collections.Counter()
    lost = {}
    chains = Chains()
    # The name comes first in every line, and parsing millions of lines as JSON takes minutes.
    name = re.compile(rb'"(?:event|name)": ?"(\w+)"')
    with subprocess.Popen([spoor, "cat", path], stdout=subprocess.PIPE) as cat:
        for line in cat.stdout:
            found = name.search(line)
            kind = found.group(1) if found else b"?"
            kinds[kind.decode()] += 1
            if kind == b"lost":
                event = json.loads(line)
                lost[event["event_id"], event["place"]] = event["count"]
            elif kind in Chains.KINDS:
                chains.event(json.loads(line))
    if cat.returncode:
        raise BenchError(f"spoor cat {path}: exit status {cat.returncode}")
    return {"events": sum(n for kind, n in kinds.items() if kind not in METADATA),
            "contended": kinds["monitor_contended_enter"], "lost": sum(lost.values()),
            "bytes": os.path.getsize(path), "kinds": dict(kinds), "chains": chains.counts()}
