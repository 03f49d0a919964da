"""What a test that was ended has left running: its children have a mark in their environment, wherever they went."""
import itertools
import os
import signal

NAME = "SPOOR_TEST_MARK"
numbers = itertools.count(1)


def mark(env):
    """(env with a mark that nothing else has, the mark)"""
    value = f"{env.get(NAME, '')}/{os.getpid()}.{next(numbers)}"
    return {**env, NAME: value}, value


def processes(value):
    """The processes that have this mark, or one that was made below it."""
    wanted = f"{NAME}={value}".encode()
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/environ", "rb") as f:
                found = f.read().split(b"\0")
        except OSError:  # it has ended, or is not ours
            continue
        if any(v == wanted or v.startswith(wanted + b"/") for v in found):
            yield int(pid)


def kill(value):
    """Until there is none: one may have forked meanwhile. Their number."""
    seen = set()
    for _ in range(100):
        left = set(processes(value))
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        if not left - seen and not left:
            break
        seen |= left
    return len(seen)
