"""The unit of deploy/systemd: how far it is confined, and that it records, as a user who is not root, in a systemd of
the test's own (tests/bpf/systemd_root.sh)."""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import unittest

import harness
from harness import ROOT, SPOOR, read_text, wait_until

UNIT = os.path.join(ROOT, "deploy/systemd/spoor@.service")
SYSTEMD = "/lib/systemd/systemd"
EXPOSURE_MAX = 25  # tenths
CAPABILITIES = 1 << 38 | 1 << 39 | 1 << 19 | 1 << 40  # perfmon, bpf, sys_ptrace, checkpoint_restore


@unittest.skipUnless(shutil.which("systemd-analyze"), "systemd-analyze is not installed")
class TheUnit(unittest.TestCase):
    """Looked at, not started: this takes no BPF."""

    def copy(self):
        folder = tempfile.TemporaryDirectory(prefix="spoor-test-")
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "spoor@orders.service")
        with open(path, "w", encoding="utf-8") as f:
            f.write(read_text(UNIT).replace("/usr/local/bin/spoor", SPOOR))
        return path

    def test_exposure(self):
        done = subprocess.run(["systemd-analyze", "security", "--offline=yes", f"--threshold={EXPOSURE_MAX}",
                               "--no-pager", self.copy()], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("Overall exposure level", done.stdout)

    def test_it_is_understood(self):
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", self.copy()],
                              capture_output=True, text=True)
        said = [line for line in done.stderr.splitlines() if "spoor" in line]
        self.assertEqual((done.returncode, said), (0, []), done.stderr)


@unittest.skipUnless(os.path.exists(SYSTEMD), "systemd is not installed")
class TheService(harness.BpfTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.tmp, 0o755)
        for name in ("root", "bin", "units", "work"):
            os.mkdir(os.path.join(self.tmp, name))
        self.work = os.path.join(self.tmp, "work")
        # The service has no environment of the test's: what a sanitizer says of it is in its stderr.
        self.addCleanup(lambda: harness.no_report(self.said()))
        harness.everybody.copy(os.path.join(self.tmp, "bin"), SPOOR)
        shutil.copy(UNIT, os.path.join(self.tmp, "units"))
        os.mkdir(os.path.join(self.tmp, "units/spoor@.service.d"))
        with open(os.path.join(self.tmp, "units/spoor@.service.d/test.conf"), "w", encoding="utf-8") as f:
            f.write("[Service]\nStandardError=append:/work/err\nRestartSec=100ms\n")
            # Of the fake JVM, which has no virtual threads, the default would leave the flag as it is.
            start = re.search(r"^ExecStart=(\S+ record)(.*)$", harness.read_text(UNIT), re.M)
            f.write(f"ExecStart=\nExecStart={start[1]} {' '.join(harness.STOCK_PROBES)}{start[2]}\n")
            if harness.is_sanitized():  # the unit's filter forbids the calls of LeakSanitizer
                f.write("Environment=ASAN_OPTIONS=detect_leaks=0\n")
        os.rename(harness.fake_copy(self.work), os.path.join(self.work, "orders-service"))
        self.systemd = self.start_systemd()

    def start_systemd(self):
        log = open(self.path("systemd.log"), "w", encoding="utf-8")
        self.addCleanup(log.close)
        outer = subprocess.Popen(["unshare", "--fork", "--kill-child", "--pid", "--mount", "--cgroup", "--ipc", "--uts",
                                  "--net", "sh", os.path.join(harness.HERE, "systemd_root.sh"), self.tmp],
                                 stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(outer.wait)
        self.addCleanup(outer.kill)

        def pid():
            if outer.poll() is not None:
                self.skipTest("no systemd can be started here: " + read_text(self.path("systemd.log"))[-300:])
            with contextlib.suppress(OSError, ValueError, IndexError):
                return int(read_text(f"/proc/{outer.pid}/task/{outer.pid}/children").split()[0])
            return 0
        self.systemd = wait_until("the child of unshare", pid)
        wait_until("systemd is up",
                   lambda: self.inside("systemctl is-system-running").strip() in ("running", "degraded"))
        return self.systemd

    def inside(self, command):
        return subprocess.run(["nsenter", "-t", str(self.systemd), "-p", "-m", "-C", "-i", "-u", "-n", "chroot",
                               f"/proc/{self.systemd}/root", "sh", "-c", command], capture_output=True, text=True,
                              timeout=harness.DEADLINE_S).stdout

    def said(self):
        """The service's stderr."""
        path = os.path.join(self.work, "err")
        return read_text(path) if os.path.exists(path) else ""

    def start_fake(self):
        command = ["nsenter", "-t", str(self.systemd), "-p", "-m", "-C", "-i", "-u", "-n", "chroot",
                   f"/proc/{self.systemd}/root", "/work/orders-service"]
        fake = harness.Fake(command=command)
        self.addCleanup(fake.close)
        return harness.FakeTest.furnish(fake)

    def wait_recording(self, fake):
        try:
            wait_until("it records", lambda: fake.flag() == 1)
        except AssertionError as e:
            said = self.inside("systemctl status spoor@orders-service; cat /work/err")
            raise AssertionError(f"{e}: {said}") from None

    def main_pid(self, unit):
        """As seen from here: the recorder's process in the service's namespaces."""
        inner = int(self.inside(f"systemctl show -p MainPID --value {unit}") or 0)
        if not inner:
            return 0
        for name in os.listdir("/proc"):
            if name.isdigit():
                with contextlib.suppress(OSError):
                    ns = re.search(r"^NSpid:\s*(.*)$", read_text(f"/proc/{name}/status"), re.M)
                    if ns and ns[1].split()[1:] == [str(inner)] and read_text(f"/proc/{name}/comm") == "spoor\n":
                        return int(name)
        return 0

    def test_it_records_and_puts_the_flag_back(self):
        fake = self.start_fake()
        unit = "spoor@orders-service.service"
        self.inside(f"systemctl start {unit}")
        self.wait_recording(fake)
        pid = wait_until("its process", lambda: self.main_pid(unit))

        def kept():
            return int(re.search(r"^CapEff:\s*(\w+)", read_text(f"/proc/{pid}/status"), re.M)[1], 16)
        wait_until("its rights are cut down", lambda: kept() == CAPABILITIES or kept() == CAPABILITIES | 1 << 21)
        status = read_text(f"/proc/{pid}/status")
        self.assertNotIn("0", re.search(r"^Uid:\s*(.*)$", status, re.M)[1].split())
        self.assertRegex(status, r"NoNewPrivs:\s*1")
        self.assertRegex(status, r"Seccomp:\s*2")

        self.inside(f"systemctl kill -s USR1 --kill-whom=main {unit}")
        wait_until("a file", lambda: self.inside("ls /var/log/spoor/").strip())
        self.assertIn("-rw-------", self.inside("ls -l /var/log/spoor/"))
        self.assertIn("RECORDED", self.inside("spoor report --force /var/log/spoor/*-000001.spoor"))

        self.inside(f"systemctl kill -s KILL --kill-whom=main {unit}")
        wait_until("it is started again", lambda: self.main_pid(unit) not in (0, pid))
        self.wait_recording(fake)
        self.inside(f"systemctl stop {unit}")
        self.assertEqual(fake.flag(), 0)
        self.assertNotIn("cannot", self.said())

    def test_killed_for_good(self):
        """The guardian outlives what the unit's end kills, and puts the flag back."""
        fake = self.start_fake()
        self.inside("printf '[Service]\\nRestart=no\\n' >/run/systemd/system/spoor@.service.d/no.conf; "
                    "systemctl daemon-reload")
        self.inside("systemctl start spoor@orders-service")
        self.wait_recording(fake)
        self.inside("systemctl kill -s KILL --kill-whom=main spoor@orders-service")
        wait_until("the flag is back", lambda: fake.flag() == 0)

    def test_all_of_it_is_killed(self):
        """The guardian too, as it may not leave the unit's cgroup: ExecStopPost= puts the flag back."""
        fake = self.start_fake()
        self.inside("printf '[Service]\\nRestart=no\\n' >/run/systemd/system/spoor@.service.d/no.conf; "
                    "systemctl daemon-reload")
        for _ in range(3):
            self.inside("systemctl start spoor@orders-service")
            self.wait_recording(fake)
            self.inside("systemctl kill -s KILL --kill-whom=all spoor@orders-service")
            wait_until("the flag is back", lambda: fake.flag() == 0)
            wait_until("it has ended", lambda: self.inside(
                "systemctl show -p ActiveState --value spoor@orders-service").strip() in ("failed", "inactive"))


if __name__ == "__main__":
    unittest.main()
