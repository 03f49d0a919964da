"""What tests of the flag and its guardian share: the guardian, strangers, locks, cgroups."""
import contextlib
import os
import re
import subprocess
import sys
import uuid

from harness import NOBODY, read_text, wait_until
from processes import children, named

F_OFD_SETLK = 37
# One of them at a time, in a process of its own: says "ok" when it holds its lock, and sleeps.
LOCKER = """
import fcntl, os, struct, sys
how, path, uid = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.setgroups([])
os.setgid(uid)
os.setuid(uid)
fd = os.open(path, os.O_RDWR if how == "write" else os.O_RDONLY)
start = 1 << 60 if how == "read-far" else 0
if how == "flock":
    fcntl.flock(fd, fcntl.LOCK_EX)
else:
    kind = fcntl.F_WRLCK if how == "write" else fcntl.F_RDLCK
    fcntl.fcntl(fd, %d, struct.pack("hhxxxxqqixxxx", kind, os.SEEK_SET, start, 0, 0))
print("ok", flush=True)
sys.stdin.read()
""" % F_OFD_SETLK


def guardian_of(pid):
    found = named(children(pid), "spoor-guard")
    if len(found) != 1:
        raise AssertionError(f"{len(found)} guardians of process {pid}")
    return found[0]


def as_user(uid):
    """For subprocess's preexec_fn."""
    def drop():
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
    return drop


@contextlib.contextmanager
def locker(how, path, uid=NOBODY):
    """Somebody who holds a lock on a file: "read", "read-far" (what the audit's program did), "write", "flock"."""
    with subprocess.Popen([sys.executable, "-c", LOCKER, how, path, str(uid)], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout.readline() != "ok\n":
                raise PermissionError(process.stderr.read().strip().rpartition("\n")[2])
            yield process
        finally:
            process.kill()


def lock_files(pid):
    """What a process has open under a name, by descriptor."""
    return {fd: os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}


class Cgroup:
    """One of version 2, made for a test, and removed with all that is in it."""

    def __init__(self):
        self.path = os.path.join(cgroup2_mount(), f"spoor-test-{uuid.uuid4().hex[:12]}")
        os.mkdir(self.path)

    def enter(self):
        with open(os.path.join(self.path, "cgroup.procs"), "w", encoding="ascii") as f:
            f.write("0")

    def processes(self):
        return [int(p) for p in read_text(os.path.join(self.path, "cgroup.procs")).split()]

    def kill(self):
        with open(os.path.join(self.path, "cgroup.kill"), "w", encoding="ascii") as f:
            f.write("1")

    def close(self):
        with contextlib.suppress(OSError):
            self.kill()
        wait_until("the cgroup is empty", lambda: not self.processes())
        os.rmdir(self.path)


def cgroup2_mount():
    found = re.search(r"^\S+ \S+ \S+ / (\S+) .* - cgroup2 ", read_text("/proc/self/mountinfo"), re.M)
    return found and found[1]


def why_no_cgroup():
    where = cgroup2_mount()
    if not where:
        return "no cgroup2 is mounted"
    try:
        cgroup = Cgroup()
    except OSError as e:
        return f"{where}: {e.strerror}"
    try:
        if not os.path.exists(os.path.join(cgroup.path, "cgroup.kill")):
            return "this kernel has no cgroup.kill"
    finally:
        cgroup.close()
    return None
