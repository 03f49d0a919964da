"""A cgroup with a CPU quota, of version 1 or 2: made for a test, and gone after it."""
import contextlib
import os

from harness import wait_until

PERIOD_US = 10_000  # short: what a thread begins or ends in the midst of matters less
SHARES_MOST_V1, WEIGHT_MOST_V2 = 262_144, 10_000  # of 1024 and 100, that others have


def mounts(kind):
    """[(where, options)] of the cgroup hierarchies of a kind."""
    with open("/proc/self/mounts", encoding="utf-8") as f:
        fields = [line.split() for line in f]
    return [(m[1], m[3].split(",")) for m in fields if m[2] == kind]


def root_v1():
    return next((where for where, options in mounts("cgroup") if "cpu" in options), None)


def root_v2():
    for where, _ in mounts("cgroup2"):
        with contextlib.suppress(OSError), open(os.path.join(where, "cgroup.controllers"), encoding="utf-8") as f:
            if "cpu" in f.read().split():
                return where
    return None


def write(path, value):
    with open(path, "w", encoding="utf-8") as f:
        f.write(str(value))


class Quota:
    """Processes in it get this share of one CPU, in short periods; first: before all others that want it, so that they
    use it up on a busy machine, too."""

    def __init__(self, share, first=False):
        root = root_v1()
        self.v1 = bool(root)
        root = root or root_v2()
        if not root:
            raise FileNotFoundError("there is no cgroup hierarchy with the cpu controller")
        self.path = os.path.join(root, f"spoor-test-{os.getpid()}")
        self.stat = os.path.join(self.path, "cpu.stat")
        if not self.v1:
            write(os.path.join(root, "cgroup.subtree_control"), "+cpu")
        os.mkdir(self.path)
        try:
            if self.v1:
                write(os.path.join(self.path, "cpu.cfs_period_us"), PERIOD_US)
                write(os.path.join(self.path, "cpu.cfs_quota_us"), int(PERIOD_US * share))
                if first:
                    write(os.path.join(self.path, "cpu.shares"), SHARES_MOST_V1)
            else:
                write(os.path.join(self.path, "cpu.max"), f"{int(PERIOD_US * share)} {PERIOD_US}")
                if first:
                    write(os.path.join(self.path, "cpu.weight"), WEIGHT_MOST_V2)
        except OSError:
            os.rmdir(self.path)
            raise

    def add(self, pid):
        """A process with all its threads."""
        write(os.path.join(self.path, "cgroup.procs"), pid)

    def close(self):
        """Its processes have ended."""
        def gone():
            with contextlib.suppress(OSError):
                os.rmdir(self.path)
            return not os.path.exists(self.path)

        wait_until("the cgroup is empty", gone)


def why_no_quota():
    try:
        Quota(0.5).close()
    except OSError as e:
        return f"no cgroup with a CPU quota can be made here: {e}"
    return None
