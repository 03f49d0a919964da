"""Runs commands of spoor in which one allocation, or one system call, fails (fail.c), and says what is wrong then."""
import json
import os
import shutil
import signal
import struct
import subprocess

import harness

FIELDS = struct.Struct("<5Q40s")
KINDS = ("allocation", "call")
DEADLINE_S = 60


def library():
    source, made = os.path.join(harness.HERE, "fail.c"), os.path.join(harness.BUILD, "tests/fail.so")
    if not os.path.exists(made) or os.path.getmtime(made) < os.path.getmtime(source):
        os.makedirs(os.path.dirname(made), exist_ok=True)
        # The C library's own checks of bounds would call what is defined here by other names.
        flags = [*harness.CFLAGS, "-Wno-missing-prototypes", "-U_FORTIFY_SOURCE", "-shared", "-fPIC"]
        subprocess.run(["gcc", *flags, "-o", made, source], check=True)
    return made


def orphans():
    """BPF programs that no process holds: what is pinned, or left behind."""
    bpftool = shutil.which("bpftool") or "/usr/sbin/bpftool"
    shown = subprocess.run([bpftool, "-j", "prog", "show"], capture_output=True, text=True)
    return {p["id"] for p in json.loads(shown.stdout or "[]") if not p.get("pids")}


class Failing:
    """One command line; `done` is called with the exit status after each run and returns what is wrong, or None.
    steady: who succeeds all the same says the same."""

    def __init__(self, folder, arguments, done=None, steady=False):
        self.path = os.path.join(folder, "fail")
        self.command = [harness.SPOOR, *map(str, arguments)]
        self.done = done
        self.steady = steady
        self.said = None

    def run(self, kind=None, n=0):
        """(exit status, output, how many of each there were, what failed); status None: it did not end."""
        with open(self.path, "wb") as f:
            f.write(FIELDS.pack(n if kind == "allocation" else 0, n if kind == "call" else 0, 0, 0, 0, b""))
        env = {**os.environ, "LD_PRELOAD": library(), "FAIL_FILE": self.path}
        process = subprocess.Popen(self.command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True)
        try:
            err = process.communicate(timeout=DEADLINE_S)[0]
            status = process.returncode
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            err, status = process.communicate()[0], None
        with open(self.path, "rb") as f:
            _, _, allocations, calls, hits, name = FIELDS.unpack(f.read(FIELDS.size))
        return status, err, {"allocation": allocations, "call": calls}, name.rstrip(b"\0").decode() if hits else None

    def counts(self):
        status, err, counts, _ = self.run()
        self.said = err
        if status != 0 or not all(counts.values()):
            raise AssertionError(f"{self.command}: exit status {status} without any failure, {counts}\n{err}")
        return counts

    def fault(self, kind, n):
        """What is wrong when the nth fails; None: nothing."""
        status, err, _, name = self.run(kind, n)
        wrong = None
        if status is None:
            wrong = "it does not end"
        elif status not in (0, 1):
            wrong = f"exit status {status}"
        elif status == 1 and not err.strip():
            wrong = "no message"
        elif status == 0 and self.steady and err != self.said:
            wrong = "it succeeds, and says something else"
        elif self.done:
            wrong = self.done(status)
        return wrong and f"{' '.join(self.command[1:3])}: {kind} {n} ({name}) fails: {wrong}\n{err[-2000:]}"

    def silent_faults(self, tests=None):
        """Allocations that fail without a message or a difference: (n, what failed, exit status) of each that is bad.
        Whoever has no memory fails and says so, or prints what it prints with memory. tests: how many of them; None:
        all."""
        status, wanted, counts, _ = self.run()
        if status != 0 or not counts["allocation"]:
            raise AssertionError(f"{self.command}: exit status {status} without any failure, {counts}\n{wanted}")
        for n in range(1, counts["allocation"] + 1, max(1, counts["allocation"] // (tests or counts["allocation"]))):
            status, got, _, name = self.run("allocation", n)
            if (status, got) != (0, wanted) and (status != 1 or "spoor: " not in got):
                yield n, name, status
            else:
                wrong = self.done and self.done(status)
                if wrong:
                    yield n, name, wrong


def spread(count, tests):
    """At most so many numbers from 1 to count: closest together at the beginning, where all is set up."""
    if count <= tests:
        return list(range(1, count + 1))
    return sorted({1 + round((count - 1) * (i / (tests - 1)) ** 1.5) for i in range(tests)})
