"""The folder that a build works in: its log, the programs that it runs, and how they end."""
import os
import signal
import subprocess
import sys
import time

POLL_S = 1
STOPPING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
TAIL_LINES = 40
PROMPT = "\n$ "
# The JDK's make lists every test that it knows, in lines of some kB.
NOISE = ("ALL_NAMED_TESTS",)
# A build must not depend on who calls it: the flags of a make above, a JAVA_HOME, CFLAGS.
KEPT = ("PATH", "HOME", "TMPDIR", "APT_CONFIG", "http_proxy", "https_proxy", "no_proxy")


class Failed(Exception):
    """Ends the build; its text is for the user. log: the log says more; tail: its end; path: where it is then."""

    def __init__(self, text, log=False):
        super().__init__(text)
        self.log = log
        self.tail = self.path = ""


def say(step, text):
    print(f"  {step:<6}{text}", file=sys.stderr, flush=True)


def environment():
    return {**{name: os.environ[name] for name in KEPT if name in os.environ}, "LC_ALL": "C.UTF-8"}


def ask(*command):
    """What a program prints; "" if it fails or is not there."""
    try:
        done = subprocess.run(command, env=environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except FileNotFoundError:
        return ""
    return "" if done.returncode else done.stdout.strip()


class Work:
    """lock: a file descriptor that what is run here inherits, so that a lock ends with the last of them."""

    def __init__(self, folder, lock=None):
        self.folder = folder
        self.lock = lock
        self.log = os.path.join(folder, "log")
        os.makedirs(folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def run(self, command, cwd=None, while_waiting=lambda: None):
        """(exit status, output); the output is in the log, too."""
        with open(self.log, "ab") as log:
            log.write(f"{PROMPT}{' '.join(command)}\n".encode())
            log.flush()
            begin = log.tell()
            child, before = None, signal.pthread_sigmask(signal.SIG_BLOCK, STOPPING)
            try:
                child = subprocess.Popen(command, cwd=cwd or self.folder, env=environment(), stdin=subprocess.DEVNULL,
                                         stdout=log, stderr=log, start_new_session=True,
                                         preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before),
                                         pass_fds=[] if self.lock is None else [self.lock])
                signal.pthread_sigmask(signal.SIG_SETMASK, before)  # not before the child is known: it is to end, too
                wait(child, while_waiting)
            except BaseException:
                if child:
                    end(child)
                raise
            finally:
                signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return child.returncode, self.logged(begin)

    def must(self, what, command, **how):
        """Its output; Failed says that what did not work."""
        try:
            status, output = self.run(command, **how)
        except FileNotFoundError as e:
            raise Failed(f"{what}: there is no {e.filename}; make jvm installs what is needed") from e
        if status:
            raise Failed(f"{what}: {command[0]} ended with status {status}", log=True)
        return output

    def logged(self, begin=0):
        if not os.path.exists(self.log):
            return ""
        with open(self.log, encoding="utf-8", errors="replace") as log:
            log.seek(begin)
            return log.read()

    def tail(self):
        """The end of what the last program said."""
        said = self.logged().rpartition(PROMPT)[2]
        lines = [line for line in said.splitlines() if not line.startswith(NOISE)]
        return "\n".join(lines[-TAIL_LINES:])


def wait(child, while_waiting):
    while True:
        try:
            child.wait(POLL_S)
            return
        except subprocess.TimeoutExpired:
            while_waiting()


def end(child):
    """With all that it has started."""
    try:
        os.killpg(child.pid, signal.SIGTERM)
        deadline = time.monotonic() + 5
        while child.poll() is None and time.monotonic() < deadline:
            time.sleep(0.05)
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    child.wait()
