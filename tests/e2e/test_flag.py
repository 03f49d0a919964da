"""The flag of a real JVM: who has set it, who puts it back, and who cannot keep anybody from that."""
import os
import re
import signal
import unittest

from jvm import JavaTest  # first: it says where harness is
from guarding import Cgroup, guardian_of, locker, why_no_cgroup
from harness import read_text, spoor, wait_until
from processes import ended

ROUNDS = 2000


class Flag(JavaTest):
    def state(self, vm):
        """What doctor says of the flag."""
        text = spoor("doctor", "-p", vm.pid, expect=None).stdout
        return re.search(r"^(\w+) +monitor-flag +DTraceMonitorProbes is (.*)$", text, re.M).groups()

    def assert_off(self, vm):
        wait_until("the flag is off", lambda: self.state(vm)[1].startswith("off"))

    def contend(self, vm):
        self.sum = getattr(self, "sum", 0) + 7 * ROUNDS * (ROUNDS - 1) // 2
        self.assertEqual(vm.ask(str(ROUNDS)), str(self.sum))

    def library(self, vm):
        return re.search(r"\S+/libjvm\.so$", read_text(f"/proc/{vm.pid}/maps"), re.M)[0]

    def kill(self, recorder, first):
        guard = guardian_of(recorder.pid)
        if first == "both":
            os.kill(guard, signal.SIGSTOP)
        recorder.process.kill()
        if first == "both":
            os.kill(guard, signal.SIGKILL)
        recorder.wait()
        wait_until("the guardian has ended", lambda: ended(guard))

    def test_strangers_locks(self):
        vm = self.java("Killed")
        for how in ("read-far", "flock"):
            with self.subTest(how=how), locker(how, self.library(vm)):
                recorder = self.record(vm, "-f")
                self.contend(vm)
                log = recorder.stop()
                self.assertEqual((self.state(vm)[1][:3], log.header["sources"]["monitor"]), ("off", "on"))
                self.assertTrue(log.of("monitor_contended_enter"))

    def test_killed(self):
        vm = self.java("Killed")
        self.kill(self.record(vm, path=self.path("1.spoor")), "recorder")
        self.assert_off(vm)
        self.kill(self.record(vm, path=self.path("2.spoor")), "both")
        self.assertEqual(self.state(vm)[0], "warning")
        self.contend(vm)
        log = self.record(vm).stop()
        self.assertEqual(log.header["sources"]["monitor"], "on")
        self.assert_off(vm)
        self.kill(self.record(vm, path=self.path("3.spoor")), "both")
        self.assertEqual(self.state(vm)[0], "warning")
        spoor("doctor", "--repair", "-p", vm.pid)
        self.assert_off(vm)
        self.contend(vm)

    def test_a_cgroup_is_killed(self):
        why = why_no_cgroup()
        if why:
            self.skipTest(why)
        cgroup = Cgroup()
        self.addCleanup(cgroup.close)
        vm = self.java("Killed")
        recorder = self.record(vm, preexec=cgroup.enter)
        guard = guardian_of(recorder.pid)
        self.contend(vm)
        cgroup.kill()
        self.assertEqual(recorder.wait(), -signal.SIGKILL)
        wait_until("the guardian has ended", lambda: ended(guard))
        self.assertTrue(self.state(vm)[1].startswith("off"))

    def test_the_users_own(self):
        for option in ("-XX:+DTraceMonitorProbes", "-XX:+ExtendedDTraceProbes"):
            with self.subTest(option=option):
                vm = self.java("Killed", options=[option])
                self.sum = 0
                recorder = self.record(vm, "-f")
                self.contend(vm)
                log = recorder.stop()
                self.assertEqual(log.header["sources"]["monitor"], "was_on")
                self.kill(self.record(vm, "-f"), "both")
                self.assertTrue(self.state(vm)[1].startswith("on: the JVM was started with it"), self.state(vm))
                spoor("doctor", "--repair", "-p", vm.pid)
                self.assertEqual(self.state(vm)[0], "ok")


del JavaTest

if __name__ == "__main__":
    unittest.main()
