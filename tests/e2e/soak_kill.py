"""Kills recorders and guardians at random moments, and looks at what is left. Not run by tests/run.

    tests/e2e/soak_kill.py [--rounds N] [--java] [--seed N]

In each round a recorder is started on a running JVM (the fake one; a real one with --java), in half of them with --sample,
in a cgroup of its own, and at a random moment between its start and a while after its attach, or after its SIGINT, is killed with SIGKILL:
    recorder   it alone
    guardian   it alone; the recorder is then ended by SIGINT
    both       first the one, at once the other
    cgroup     by cgroup.kill: all that is in the recorder's cgroup
Then: no process of the round is left; the BPF programs, maps and links that the recorder had are gone; the code of
libjvm.so is as before, byte by byte, or after the next recording at the latest (the kernel does not take out all of its
breakpoints for a process that is killed while it attaches: "failed to unregister, leaking uprobe"); the flag is off, except where both were killed, where it may be on: then
`spoor doctor` says so and `spoor doctor --repair` turns it off. Between rounds the JVM works, and says what it must say.
Exit status 0: all of this held. The last lines are a table; Ctrl-C ends it earlier.
"""
import argparse
import contextlib
import hashlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import types
import uuid

from jvm import Java, java_classes, jdk_tool  # first: it says where harness is
from guarding import Cgroup
from harness import FAKE_DIR, SPOOR, Fake, FakeTest, fake_build, read_text, spoor, wait_until
from processes import ended

HOW = ("recorder", "guardian", "both", "cgroup")
MARK = "SPOOR_SOAK"
ROUNDS = 500  # of the Java program, each time it is asked
AFTER_START, AFTER_SIGINT = 1.5, 1.0  # of the time to attach, and to end: how late at most a kill comes


class FakeTarget:
    def __init__(self):
        fake_build()
        self.jvm = Fake(os.path.join(FAKE_DIR, "fakejvm"))
        FakeTest.furnish(self.jvm)
        self.pid = self.jvm.pid

    def works(self):
        """Its threads answer, and it fires no probe: it sees that the flag is off."""
        return int(self.jvm("in", "b", "storm", "m", 50)[0]) == 0

    def close(self):
        self.jvm.close()


class JavaTarget:
    def __init__(self):
        self.jvm = Java([jdk_tool("java"), "-cp", java_classes(), "Killed"]).wait_ready()
        self.pid = self.jvm.pid
        self.sum = 0

    def works(self):
        self.sum += 7 * ROUNDS * (ROUNDS - 1) // 2
        return self.jvm.ask(str(ROUNDS)) == str(self.sum)

    def close(self):
        self.jvm.close()


def flag_state(pid):
    """"off", "left", or what else doctor says."""
    checks = json.loads(spoor("doctor", "-F", "json", "-p", pid, expect=None).stdout)["checks"]
    found = next(c["found"] for c in checks if c["name"] == "monitor-flag")
    return "off" if " is off " in found else "left" if "left it on" in found else found


def code_of(pid):
    """A digest of libjvm.so's code in the target."""
    line = next(x for x in read_text(f"/proc/{pid}/maps").splitlines() if x.endswith("libjvm.so") and " r-xp " in x)
    low, high = (int(x, 16) for x in line.split()[0].split("-"))
    with open(f"/proc/{pid}/mem", "rb") as f:
        f.seek(low)
        return hashlib.sha256(f.read(high - low)).hexdigest()


def marked(mark):
    """Processes with the mark in their environment: what was started in a round."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as f:
            if wanted in f.read().split(b"\0"):
                found.append(int(pid))
    return found


def guardian(mark):
    for pid in marked(mark):
        with contextlib.suppress(OSError):
            if read_text(f"/proc/{pid}/comm").strip() == "spoor-guard":
                return pid
    return None


def bpf_of(pid):
    """{(kind, id)} of what a process holds now."""
    found = set()
    with contextlib.suppress(OSError):
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            with contextlib.suppress(OSError):
                found |= set(re.findall(r"^(prog|map|link)_id:\s*(\d+)", read_text(f"/proc/{pid}/fdinfo/{fd}"), re.M))
    return found


def bpf_there(kind, number):
    return subprocess.run(["bpftool", kind, "show", "id", number], capture_output=True).returncode == 0


def kill(pid, number=signal.SIGKILL):
    if pid:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


class Round:
    def __init__(self, target, chance, folder, times):
        self.target, self.chance, self.times = target, chance, times
        self.how = chance.choice(HOW)
        self.mark = uuid.uuid4().hex
        self.cgroup = Cgroup()
        self.process = subprocess.Popen(
            [SPOOR, "record", "-q", "-f", "-p", str(target.pid), "-o", os.path.join(folder, "soak.spoor"),
             *(["--sample=100us"] if chance.random() < 0.5 else [])],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, MARK: self.mark}, preexec_fn=self.cgroup.enter)

    def wait_for_the_moment(self):
        if self.chance.random() < 0.3:
            wait_until("it records", lambda: self.process.poll() is not None or self.attached())
            self.process.send_signal(signal.SIGINT)
            time.sleep(self.chance.random() * self.times[1] * AFTER_SIGINT)
        else:
            time.sleep(self.chance.random() * self.times[0] * AFTER_START)

    def attached(self):
        return any(kind == "link" for kind, _ in bpf_of(self.process.pid))

    def strike(self):
        guard = guardian(self.mark)
        victims = {"recorder": [self.process.pid], "guardian": [guard], "cgroup": [],
                   "both": self.chance.sample([self.process.pid, guard], 2)}[self.how]
        self.held = bpf_of(self.process.pid)
        for victim in victims:
            kill(victim)
        if self.how == "cgroup":
            self.cgroup.kill()
        if self.how == "guardian":
            self.process.send_signal(signal.SIGINT)
        self.process.wait(60)

    def code_is(self, code):
        with contextlib.suppress(AssertionError):  # the kernel takes its breakpoints out a little later
            return wait_until("the code is as before", lambda: code_of(self.target.pid) == code, 5)
        return False

    def check(self, code, folder):
        """What is wrong afterwards, and what the flag was."""
        wrong = []
        wait_until("the round's processes have ended", lambda: all(map(ended, marked(self.mark))))
        wait_until("the BPF objects are gone", lambda: not any(bpf_there(*h) for h in self.held))
        state = flag_state(self.target.pid)
        if state == "left" and self.how == "both":
            spoor("doctor", "--repair", "-p", self.target.pid)
            if flag_state(self.target.pid) != "off":
                wrong.append("the flag is on after --repair")
        elif state != "off":
            wrong.append(f"the flag is {state}")
        self.breakpoints = not self.code_is(code)
        if self.breakpoints:
            record(self.target, folder)
        if not self.code_is(code):
            wrong.append("the JVM's code is another one")
        if not self.target.works():
            wrong.append("the JVM says something else than it must")
        self.cgroup.close()
        return wrong, state


def record(target, folder):
    """A recording that nobody kills; how long it takes to attach, and to end."""
    start = time.monotonic()
    r = Round(target, random.Random(), folder, None)
    wait_until("it records", r.attached)
    attached = time.monotonic()
    r.process.send_signal(signal.SIGINT)
    r.process.wait(60)
    r.cgroup.close()
    return attached - start, time.monotonic() - attached


def soak(options, folder):
    chance = random.Random(options.seed)
    target = JavaTarget() if options.java else FakeTarget()
    count = {how: types.SimpleNamespace(rounds=0, armed=0, left=0, breakpoints=0, wrong=0) for how in HOW}
    code = code_of(target.pid)
    times = [sorted(pair)[1] for pair in zip(*(record(target, folder) for _ in range(3)))]
    print(f"{times[0]:.2f} s to attach, {times[1]:.2f} s to end", flush=True)
    try:
        for n in range(options.rounds):
            r = Round(target, chance, folder, times)
            c = count[r.how]
            r.wait_for_the_moment()
            r.strike()
            wrong, state = r.check(code, folder)
            c.rounds += 1
            c.armed += bool(r.held)
            c.left += state == "left"
            c.breakpoints += r.breakpoints
            c.wrong += bool(wrong)
            for what in wrong:
                print(f"round {n}, {r.how}: {what}", flush=True)
    except KeyboardInterrupt:
        r.process.kill()
        r.cgroup.close()
    finally:
        target.close()
    print(f"{'killed':10} {'rounds':>7} {'with BPF':>9} {'flag left, repaired':>20} {'breakpoints left, repaired':>27} "
          f"{'wrong':>6}")
    for how, c in count.items():
        print(f"{how:10} {c.rounds:7} {c.armed:9} {c.left:20} {c.breakpoints:27} {c.wrong:6}")
    return any(c.wrong for c in count.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=100)
    parser.add_argument("--java", action="store_true")
    parser.add_argument("--seed", type=int, default=time.time_ns() & 0xffff)
    options = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):  # a shell starts what runs beside it without SIGINT
        signal.signal(number, signal.default_int_handler)
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="spoor-soak-") as folder:
        return int(soak(options, folder))


if __name__ == "__main__":
    sys.exit(main())
