"""What /proc says of processes: their rights, their children, the code of their libjvm.so."""
import contextlib
import hashlib
import os
import re

from harness import read_text

MARK = "SPOOR_TEST"  # in the environment of a process, and of all that it starts


def status(pid, tid=None):
    """{name: text}; {}: it is gone."""
    try:
        text = read_text(f"/proc/{pid}/task/{tid}/status" if tid else f"/proc/{pid}/status")
    except (FileNotFoundError, ProcessLookupError):
        return {}
    return dict(re.findall(r"^(\w+):\s*(.*)$", text, re.M))


def children(pid):
    found = []
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        for tid in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found += map(int, read_text(f"/proc/{pid}/task/{tid}/children").split())
    return found


def named(pids, name):
    return [p for p in pids if status(p).get("Name") == name]


def ended(pid):
    """It is gone, or waits only to be reaped."""
    return status(pid).get("State", "Z")[0] in "ZX"


def marked(mark):
    """Processes with this text in the variable MARK."""
    wanted, found = f"{MARK}={mark}".encode(), []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as f:
            if wanted in f.read().split(b"\0"):
                found.append(int(pid))
    return found


def libjvm_code(pid):
    """A digest: breakpoints change it."""
    line = next(x for x in read_text(f"/proc/{pid}/maps").splitlines() if x.endswith("libjvm.so") and " r-xp " in x)
    low, high = (int(x, 16) for x in line.split()[0].split("-"))
    with open(f"/proc/{pid}/mem", "rb") as f:
        f.seek(low)
        return hashlib.sha256(f.read(high - low)).hexdigest()
