"""What a test that was ended has left running: its children have a mark in their environment, wherever they went."""
import itertools
import os
import select
import signal
import time

NAME = "SPOOR_TEST_MARK"
PF_EXITING, PF_KTHREAD = 0x4, 0x200000  # include/linux/sched.h
FLAGS, ENV_END = 6, 48  # in /proc/PID/stat, behind the name: proc_pid_stat(5)
LONGEST_S = 20  # for a process that is killed to get a CPU and end, or one that is in execve to have an environment
POLL_S = 0.002
numbers = itertools.count(1)


def mark(env):
    """(env with a mark that nothing else has, the mark)"""
    value = f"{env.get(NAME, '')}/{os.getpid()}.{next(numbers)}"
    return {**env, NAME: value}, value


def is_in_exec(folder):
    """The process has closed what it does not take along, so that whoever made it may believe it started, but has no
    environment yet: it may have to wait for a CPU there."""
    with open(f"{folder}/stat", encoding="utf-8", errors="replace") as f:
        fields = f.read().rpartition(")")[2].split()
    return int(fields[ENV_END]) == 0 and not int(fields[FLAGS]) & (PF_EXITING | PF_KTHREAD) and fields[0] not in "ZX"


def processes(value, root="/proc"):
    """(the processes that have this mark, or one that was made below it; whether there are others of which it is not known
    yet)"""
    wanted = f"{NAME}={value}".encode()
    found, unknown = set(), False
    for pid in filter(str.isdigit, os.listdir(root)):
        try:
            with open(f"{root}/{pid}/environ", "rb") as f:
                environment = f.read()
                if not environment:
                    unknown = is_in_exec(f"{root}/{pid}") or unknown
                    f.seek(0)
                    environment = f.read()  # it may have been in execve until the other file was read
        except OSError:  # it has ended, or is not ours
            continue
        if any(v == wanted or v.startswith(wanted + b"/") for v in environment.split(b"\0")):
            found.add(int(pid))
    return found, unknown


def kill(value, root="/proc"):
    """Until there is none: one may have forked meanwhile. Their number, when all have ended, or LONGEST_S are over."""
    running, killed = {}, 0  # of what was killed, {process: a descriptor that tells of its end}
    until = time.monotonic() + LONGEST_S
    try:
        while True:
            found, unknown = processes(value, root)
            for pid in found - set(running):
                try:
                    running[pid] = os.pidfd_open(pid)
                    signal.pidfd_send_signal(running[pid], signal.SIGKILL)
                    killed += 1
                except OSError:  # it has ended
                    pass
            for pid in [p for p, fd in running.items() if select.select([fd], [], [], 0)[0]]:
                os.close(running.pop(pid))
            if not found and not running and not unknown or time.monotonic() > until:
                return killed
            time.sleep(POLL_S)
    finally:
        for fd in running.values():
            os.close(fd)
