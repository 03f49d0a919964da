"""What spoor says where a container, or its seccomp profile, does not let it: which thing it is."""
import os
import subprocess
import sys
import unittest

from harness import DEADLINE_S, SPOOR, BpfTest, FakeTest, Log, owner_sample

# Runs a program under a seccomp filter that refuses a system call: argv is its number, and the command.
FILTERED = """
import ctypes, os, struct, sys
code = b"".join(struct.pack("<HBBI", *i) for i in (
    (0x20, 0, 0, 0),                       # the system call's number
    (0x15, 0, 1, int(sys.argv[1])),
    (0x06, 0, 0, 0x00050001),              # SECCOMP_RET_ERRNO, EPERM
    (0x06, 0, 0, 0x7fff0000)))             # SECCOMP_RET_ALLOW
memory = ctypes.create_string_buffer(code)
program = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", 4, ctypes.addressof(memory)))
libc = ctypes.CDLL(None, use_errno=True)
assert not libc.prctl(38, 1, 0, 0, 0) and not libc.prctl(22, 2, program)
os.execv(sys.argv[2], sys.argv[2:])
"""
SYS_PERF_EVENT_OPEN, SYS_BPF, SYS_CLOSE_RANGE = 298, 321, 436


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=6 * DEADLINE_S)


class OldProfiles(FakeTest):
    def test_close_range(self):
        """A system call of 2020: older seccomp profiles refuse what they do not know."""
        fake = self.start()
        recorder = self.record(fake, prefix=[sys.executable, "-c", FILTERED, str(SYS_CLOSE_RANGE)])
        fake("in", "b", "enter", "m")
        self.assertEqual(fake.flag(), 1)
        log = recorder.stop()
        self.assertEqual(log.header["sources"]["monitor"], "on")
        self.assertEqual(fake.flag(), 0)

    def test_perf_event_open(self):
        """The recording works without it, but says what it does not see where the kernel's ticks are rare."""
        fake = self.start()
        filtered = [sys.executable, "-c", FILTERED, str(SYS_PERF_EVENT_OPEN)]
        recorder = self.record(fake, prefix=["env", "SPOOR_NO_TICK_LOOK=1", *filtered])
        log = recorder.stop()
        self.assertIn("owners of locks that keep their CPU are not looked at", recorder.err)
        self.assertEqual([log.header["sources"][k] for k in ("owner_sample", "owner_sample_ns")], ["none", 0])
        recorder = self.record(fake, "-f", prefix=filtered)
        log = recorder.stop()
        self.assertEqual("not looked at" in recorder.err, owner_sample()[0] != "tick")
        self.assertEqual(log.header["sources"]["owner_sample"], "tick" if owner_sample()[0] == "tick" else "none")

    def test_samples_without_perf_event_open(self):
        """Timers need none; a thread's clock does."""
        fake = self.start()
        prefix = [sys.executable, "-c", FILTERED, str(SYS_PERF_EVENT_OPEN)]
        recorder = self.record(fake, "--sample=1ms", prefix=prefix)
        fake("in", "b", "busy", 300)
        log = recorder.stop()
        self.assertEqual(log.header["sources"]["sample"]["event"], "timer")
        self.assertGreater(len(log.of("run_sample")), 50)
        done = run(*prefix, SPOOR, "record", "-p", str(fake.pid), "--sample=1ms,event=cpu-clock",
                   "-o", self.path("none"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("event=timer", done.stderr)


class Refusals(BpfTest):
    def lines(self, done):
        """Checks of doctor that are not ok, by name."""
        lines = [line.split(None, 2) for line in done.stdout.splitlines() if line.startswith(("missing", "warning"))]
        return {line[1]: line[2] for line in lines}

    def test_without_sys(self):
        hidden = ("unshare", "-m", "sh", "-c", 'mount -t tmpfs none /sys && exec "$@"', "sh")
        self.assertEqual(run(*hidden, "true").returncode, 0)
        for command in (("record", "-p", str(os.getpid()), "-o", "/dev/null", "-f"),
                        ("steal", "--method", "exact", "-d", "1")):
            done = run(*hidden, SPOOR, *command)
            self.assertNotIn("42949", done.stderr)
            if command[0] == "steal":
                self.assertIn("/sys/devices/system/cpu/possible cannot be read", done.stderr)
                self.assertIn("mount /sys", done.stderr)
            self.assertNotIn("libbpf:", done.stderr)
            self.assertNotEqual(done.returncode, 0)

    def test_in_a_user_namespace(self):
        inside = ("unshare", "-Ur")
        if run(*inside, "true").returncode:
            self.skipTest("user namespaces are not allowed here")
        wrong = self.lines(run(*inside, SPOOR, "doctor"))
        for check in ("bpf", "scheduler"):
            self.assertIn("in a user namespace", wrong[check])
            self.assertIn("run spoor on the host", wrong[check])

    def test_seccomp(self):
        wrong = self.lines(run(sys.executable, "-c", FILTERED, str(SYS_BPF), SPOOR, "doctor"))
        self.assertIn("seccomp filter", wrong["bpf"])
        self.assertIn("allow bpf()", wrong["bpf"])
        self.assertNotIn("capabilities", wrong)

    def test_without_capabilities(self):
        wrong = self.lines(run("capsh", "--drop=cap_bpf,cap_perfmon,cap_sys_admin", "--shell=" + SPOOR, "--", "doctor"))
        self.assertIn("CAP_BPF and CAP_PERFMON", wrong["bpf"])
        self.assertIn("CAP_BPF", wrong["capabilities"])


if __name__ == "__main__":
    unittest.main()
