"""The flag DTraceMonitorProbes goes back, whoever is killed, and whoever else locks what."""
import os
import random
import re
import shutil
import signal
import subprocess
import unittest
import uuid

from guarding import Cgroup, as_user, guardian_of, lock_files, locker, why_no_cgroup
from harness import (FAKE_DIR, NOBODY, SPOOR, Fake, FakeTest, Log, capabilities, everybody, fake_copy, is_sanitized,
                     read_text, spoor, wait_until)
from processes import MARK, ended, marked, status
from tracee import GETPPID, Ended, Tracee

CAP_SYS_RESOURCE = 24


def doctor(fake, name):
    """The line of a check."""
    text = spoor("doctor", "-p", fake.pid, expect=None).stdout
    return re.search(rf"^(\w+) +{name} +(.*)$", text, re.M).groups()


class GuardTest(FakeTest):
    def kill_both(self, recorder):
        """So that neither can do anything for the other."""
        guard = guardian_of(recorder.pid)
        os.kill(guard, signal.SIGSTOP)
        recorder.process.kill()
        os.kill(guard, signal.SIGKILL)
        recorder.wait()
        wait_until("the guardian has ended", lambda: ended(guard))


class Rights(GuardTest):
    def test_none_but_its_descriptors(self):
        for start in (self.start, self.foreign):
            with self.subTest(start=start.__name__):
                fake = start()
                recorder = self.record(fake, "-f")
                guard = guardian_of(recorder.pid)
                s = status(guard)
                self.assertEqual({k: int(s[k], 16) for k in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")},
                                 dict.fromkeys(("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"), 0))
                self.assertEqual((s["NoNewPrivs"], s["Seccomp"]), ("1", "2"))
                self.assertEqual(os.getsid(guard), guard)
                files = lock_files(guard)
                self.assertEqual({re.sub(r"\d+", "N", f) for f in files.values()},
                                 {"socket:[N]", "anon_inode:[pidfd]", "/proc/N/mem"})
                self.assertEqual(len(files), 4)
                recorder.stop()
                self.assertEqual(fake.flag(), 0)

    def test_small(self):
        """What is its own; the rest it shares with the recorder."""
        fake = self.start()
        recorder = self.record(fake)
        if is_sanitized():
            self.skipTest("a sanitizer's memory is not small")
        own = sum(map(int, re.findall(r"^Private_\w+: +(\d+) kB",
                                      read_text(f"/proc/{guardian_of(recorder.pid)}/smaps_rollup"), re.M)))
        self.assertLess(own, 1024)

    def test_the_oom_killer_passes_it_over(self):
        """As far as that is allowed here."""
        fake = self.start()
        recorder = self.record(fake)
        allowed = capabilities() >> CAP_SYS_RESOURCE & 1
        self.assertEqual(int(read_text(f"/proc/{guardian_of(recorder.pid)}/oom_score_adj")),
                         -1000 if allowed else int(read_text("/proc/self/oom_score_adj")))

    def test_another_call_ends_it(self):
        """The filter is there: a call that is not in the list ends the guardian, and the recorder does its work."""
        fake = self.start()
        recorder = self.record(fake)
        guard = guardian_of(recorder.pid)
        with self.assertRaises(Ended) as refused, Tracee(guard) as taken:
            taken.call(GETPPID)
        self.assertEqual(refused.exception.signal, signal.SIGSYS)
        wait_until("the guardian has ended", lambda: ended(guard))
        recorder.stop()
        self.assertEqual(fake.flag(), 0)


class Strangers(GuardTest):
    """Users who may read libjvm.so, and nothing else."""

    def test_locks_on_the_library(self):
        program = fake_copy(self.folder())
        library = os.path.join(os.path.dirname(program), "libjvm.so")
        for how in ("read", "read-far", "flock"):
            with self.subTest(how=how), locker(how, library):
                fake = Fake(command=[program])
                self.addCleanup(fake.close)
                self.furnish(fake)
                recorder = self.record(fake, "-f")
                # What a stranger cannot open cannot make anybody wait.
                self.assertFalse([f for f in lock_files(guardian_of(recorder.pid)).values() if "libjvm" in f])
                log = recorder.stop()
                self.assertEqual((fake.flag(), log.header["sources"]["monitor"], recorder.err.count("stays on")),
                                 (0, "on", 0))

    def test_the_memory_is_closed_to_them(self):
        fake = self.start()
        recorder = self.record(fake)
        for how in ("read", "flock"):
            with self.assertRaises(PermissionError), locker(how, f"/proc/{fake.pid}/mem"):
                pass
        recorder.stop()
        self.assertEqual(fake.flag(), 0)

    def test_the_targets_own_user_is_said(self):
        """Who could write the byte as well: the recording ends, and says what it leaves."""
        fake = self.foreign()
        for how in ("read", "write"):
            with self.subTest(how=how), locker(how, f"/proc/{fake.pid}/mem"):
                recorder = self.record(fake, "-f")
                fake("in", "b", "enter", "m")
                log = recorder.stop()
                log.one("monitor_contended_enter")
                self.assertIn("stays on in the JVM", recorder.err)
                self.assertEqual(fake.flag(), 1)
            self.assertEqual(doctor(fake, "monitor-flag")[0], "warning")
            spoor("doctor", "--repair", "-p", fake.pid)
            self.assertEqual(fake.flag(), 0)


class Origin(GuardTest):
    def test_left_behind(self):
        fake = self.start("--flag-left")
        recorder = self.record(fake)
        fake("in", "b", "enter", "m")
        log = recorder.stop()
        self.assertEqual((fake.flag(), log.header["sources"]["monitor"]), (0, "on"))
        log.one("monitor_contended_enter")
        self.assertTrue([n for n in log.notes() if "a recorder that was killed has left it on" in n])
        self.assertIn("a recorder that was killed has left it on", recorder.err)

    def test_the_users_own(self):
        fake = self.start("--flag-on")
        recorders = [self.record(fake, path=self.path(f"{i}.spoor")) for i in range(2)]
        logs = [recorders.pop(0).stop()]
        self.kill_both(recorders[0])
        self.assertEqual((fake.flag(), logs[0].header["sources"]["monitor"], logs[0].notes()), (1, "was_on", []))
        self.assertIn("started with it", doctor(fake, "monitor-flag")[1])

    def test_tables_without_origins(self):
        """As it was before: on and nobody holds it is taken for the user's."""
        fake = self.start("--no-flag-origin", "--flag-left")
        log = self.record(fake).stop()
        self.assertEqual((fake.flag(), log.header["sources"]["monitor"]), (1, "was_on"))
        done = spoor("doctor", "--repair", "-p", fake.pid, expect=1)
        self.assertIn("does not say who has set it", done.stderr)
        self.assertEqual(fake.flag(), 1)
        fake("flag", 0)
        recorders = [self.record(fake, path=self.path(f"{i}.spoor")) for i in range(2)]
        recorders.pop(0).stop()
        self.assertEqual(fake.flag(), 1)
        recorders.pop(0).stop()
        self.assertEqual(fake.flag(), 0)

    def test_on_that_turns_out_to_be_nobodys(self):
        """Who has taken the flag for the user's, and learns that it was not, owes the 0: what becomes of it is looked
        at, and said."""
        fake = self.start("--no-flag-origin", "--flag-left")
        first = self.record(fake, path=self.path("first.spoor"))
        fake("flag", 0)
        wait_until("the flag is on again", lambda: fake.flag() == 1)
        second = self.record(fake, path=self.path("second.spoor"))
        first.stop()
        self.assertEqual(fake.flag(), 1)
        self.assertIn("stays on in the JVM: another recorder holds it", first.err)
        second.stop()
        self.assertEqual(fake.flag(), 0)

    def test_off_on_the_command_line(self):
        fake = self.start("--flag-no")
        recorders = [self.record(fake, path=self.path(f"{i}.spoor")) for i in range(2)]
        recorders.pop(0).stop()
        self.assertEqual(fake.flag(), 1)
        recorders.pop(0).stop()
        self.assertEqual(fake.flag(), 0)


class Kills(GuardTest):
    def test_both_and_the_next_recorder(self):
        fake = self.start()
        self.kill_both(self.record(fake))
        self.assertEqual(fake.flag(), 1)
        log = self.record(fake, "-f").stop()
        self.assertEqual((fake.flag(), log.header["sources"]["monitor"]), (0, "on"))

    def test_both_and_doctor(self):
        fake = self.start()
        recorder = self.record(fake)
        self.assertEqual(doctor(fake, "monitor-flag"),
                         ("ok", "DTraceMonitorProbes is on for a recording that is running"))
        self.assertIn("is running", spoor("doctor", "--repair", "-p", fake.pid, expect=1).stderr)
        self.kill_both(recorder)
        state, text = doctor(fake, "monitor-flag")
        self.assertEqual(state, "warning")
        self.assertIn(f"spoor doctor --repair -p {fake.pid}", text)
        self.assertIn("It is off now", spoor("doctor", "--repair", "-p", fake.pid).stdout)
        self.assertEqual(fake.flag(), 0)
        self.assertIn("nothing to repair", spoor("doctor", "--repair", "-p", fake.pid).stdout)

    def test_the_guardian(self):
        fake = self.start()
        recorder = self.record(fake)
        os.kill(guardian_of(recorder.pid), signal.SIGKILL)
        fake("in", "b", "enter", "m")
        recorder.stop().one("monitor_contended_enter")
        self.assertEqual(fake.flag(), 0)

    def test_a_guardian_that_is_stopped(self):
        fake = self.start()
        recorder = self.record(fake)
        guard = guardian_of(recorder.pid)
        os.kill(guard, signal.SIGSTOP)
        recorder.stop()
        self.assertEqual(fake.flag(), 0)
        self.assertTrue(ended(guard))

    def test_signals_to_the_guardian(self):
        fake = self.start()
        recorder = self.record(fake)
        guard = guardian_of(recorder.pid)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2,
                       signal.SIGPIPE, signal.SIGALRM):
            os.kill(guard, number)
        recorder.process.kill()
        recorder.wait()
        wait_until("the guardian has ended", lambda: ended(guard))
        self.assertEqual(fake.flag(), 0)

    def test_the_guardian_ends_with_the_jvm(self):
        fake = self.start()
        recorder = self.record(fake)
        guard = guardian_of(recorder.pid)
        os.kill(recorder.pid, signal.SIGSTOP)
        try:
            fake.process.kill()
            fake.process.wait()
            wait_until("the guardian has ended", lambda: ended(guard))
        finally:
            os.kill(recorder.pid, signal.SIGCONT)
        self.assertEqual(recorder.wait(), 0)
        self.assertEqual(Log(recorder.log_path).end(), "jvm_exited")

    def test_a_refusal_leaves_no_guardian(self):
        fake = self.start()
        mark = uuid.uuid4().hex
        env = {**os.environ, MARK: mark}
        recorder = self.record(fake, env=env)
        self.assertIn(guardian_of(recorder.pid), marked(mark))  # so it would be seen
        recorder.stop()
        self.assertIn("exists", spoor("record", "-p", fake.pid, "-o", self.path(), expect=1, env=env).stderr)
        wait_until("nothing of it is left", lambda: not marked(mark))
        self.assertEqual(fake.flag(), 0)


class Several(GuardTest):
    def test_any_order(self):
        for seed in range(4):
            chance = random.Random(seed)
            fake = self.start()
            recorders = [self.record(fake, "-f", path=self.path(f"{i}.spoor")) for i in range(3)]
            chance.shuffle(recorders)
            while recorders:
                recorder, how = recorders.pop(), chance.choice(("int", "kill", "guard"))
                with self.subTest(seed=seed, how=how, others=len(recorders)):
                    guard = guardian_of(recorder.pid)
                    if how == "guard":
                        os.kill(guard, signal.SIGKILL)
                    if how == "kill":
                        recorder.process.kill()
                        recorder.wait()
                    else:
                        recorder.stop()
                    wait_until("the guardian has ended", lambda guard=guard: ended(guard))
                    self.assertEqual(fake.flag(), int(bool(recorders)))

    def test_all_at_once(self):
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(signal=number.name):
                fake = self.start()
                recorders = [self.record(fake, "-f", path=self.path(f"{i}.spoor")) for i in range(4)]
                guards = [guardian_of(r.pid) for r in recorders]
                for recorder in recorders:
                    recorder.process.send_signal(number)
                for recorder in recorders:
                    recorder.wait()
                wait_until("the guardians have ended", lambda guards=guards: all(map(ended, guards)))
                self.assertEqual(fake.flag(), 0)

    def test_all_but_one_killed_with_their_guardians(self):
        fake = self.start()
        recorders = [self.record(fake, path=self.path(f"{i}.spoor")) for i in range(3)]
        for recorder in recorders[:2]:
            self.kill_both(recorder)
        self.assertEqual(fake.flag(), 1)
        recorders[2].stop()
        self.assertEqual(fake.flag(), 0)

    def test_another_procfs(self):
        """Recorders that see the JVM through different mounts of procfs do not meet: the one that ends first turns the
        flag off, the other one turns it on again, says so, and still leaves it off."""
        inner = ["unshare", "--mount", "sh", "-c", "mount -t proc proc /proc && exec \"$@\"", "sh"]
        if subprocess.run([*inner, "true"], capture_output=True).returncode:
            self.skipTest("unshare --mount is not allowed here")
        fake = self.start()
        outer = self.record(fake, path=self.path("outer.spoor"))
        self.record(fake, path=self.path("inner.spoor"), prefix=inner).stop()
        wait_until("the flag is on again", lambda: fake.flag() == 1)
        fake("in", "b", "enter", "m")
        log = outer.stop()
        log.one("monitor_contended_enter")
        self.assertTrue([n for n in log.notes() if "somebody else turned the flag" in n])
        self.assertIn("somebody else turned the flag", outer.err)
        self.assertEqual(fake.flag(), 0)

    def test_turned_off_by_somebody(self):
        fake = self.start()
        recorder = self.record(fake)
        for _ in range(2):
            fake("flag", 0)
            wait_until("the flag is on again", lambda: fake.flag() == 1)
        log = recorder.stop()
        self.assertTrue([n for n in log.notes() if " off 2 times " in n])
        self.assertEqual(fake.flag(), 0)


class Groups(GuardTest):
    def setUp(self):
        super().setUp()
        why = why_no_cgroup()
        if why:
            self.skipTest(why)
        self.cgroup = Cgroup()
        self.addCleanup(self.cgroup.close)

    def record_in_cgroup(self, fake, prefix=()):
        return self.record(fake, "-f", prefix=prefix, preexec=self.cgroup.enter)

    def test_kill(self):
        fake = self.start()
        recorder = self.record_in_cgroup(fake)
        guard = guardian_of(recorder.pid)
        self.assertIn(recorder.pid, self.cgroup.processes())
        self.assertNotIn(guard, self.cgroup.processes())
        self.assertEqual(doctor(fake, "guardian")[0], "ok")
        self.cgroup.kill()
        self.assertEqual(recorder.wait(), -signal.SIGKILL)
        wait_until("the guardian has ended", lambda: ended(guard))
        self.assertEqual(fake.flag(), 0)

    def test_frozen(self):
        fake = self.start()
        recorder = self.record_in_cgroup(fake)
        guard = guardian_of(recorder.pid)
        with open(os.path.join(self.cgroup.path, "cgroup.freeze"), "w", encoding="ascii") as f:
            f.write("1")
        os.kill(recorder.pid, signal.SIGKILL)
        self.assertEqual(recorder.wait(), -signal.SIGKILL)
        wait_until("the guardian has ended", lambda: ended(guard))
        self.assertEqual(fake.flag(), 0)

    def test_cgroupfs_that_cannot_be_written(self):
        """The kill reaches the guardian then; doctor says so before, and repairs it."""
        inner = ["unshare", "--mount", "sh", "-c",
                 "for m in $(awk '$3 ~ /^cgroup2?$/ {print $2}' /proc/mounts); do "
                 "mount --bind $m $m && mount -o remount,bind,ro $m || exit 1; done; exec \"$@\"", "sh"]
        if subprocess.run([*inner, "true"], capture_output=True).returncode:
            self.skipTest("cgroupfs cannot be made read-only here")
        fake = self.start()
        said = subprocess.run([*inner, SPOOR, "doctor", "-p", str(fake.pid)], capture_output=True, text=True).stdout
        self.assertRegex(said, r"(?m)^warning +guardian +the guardian cannot leave spoor's cgroup .*Read-only")
        recorder = self.record_in_cgroup(fake, prefix=inner)
        guard = guardian_of(recorder.pid)
        self.assertIn(guard, self.cgroup.processes())
        self.cgroup.kill()
        recorder.wait()
        wait_until("the guardian has ended", lambda: ended(guard))
        self.assertEqual(fake.flag(), 1)
        spoor("doctor", "--repair", "-p", fake.pid)
        self.assertEqual(fake.flag(), 0)


    def test_a_containers_top_is_not_the_top(self):
        inner = ["unshare", "--cgroup"]
        if subprocess.run([*inner, "true"], capture_output=True).returncode:
            self.skipTest("unshare --cgroup is not allowed here")
        fake = self.start()
        said = subprocess.run([*inner, SPOOR, "doctor", "-p", str(fake.pid)], capture_output=True, text=True,
                              preexec_fn=self.cgroup.enter).stdout
        self.assertRegex(said, r"(?m)^warning +guardian +the guardian cannot leave this container.* --repair -p ")


class Users(GuardTest):
    def test_repair_of_another_users_jvm(self):
        fake = self.start("--flag-left")
        program = everybody.copy(self.folder(), SPOOR)
        done = subprocess.run([program, "doctor", "--repair", "-p", str(fake.pid)], capture_output=True, text=True,
                              preexec_fn=as_user(NOBODY))
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertTrue(done.stderr)
        self.assertEqual(fake.flag(), 1)

    def test_repair_by_name(self):
        where = shutil.copytree(FAKE_DIR, self.path("orders-4711"))
        fake = Fake(command=[os.path.join(where, "fakejvm"), "--flag-left"])
        self.addCleanup(fake.close)
        spoor("doctor", "--repair", "-p", where)
        self.assertEqual(fake.flag(), 0)
        self.assertIn("no JVM has", spoor("doctor", "-p", where + "-none", expect=1).stderr)

    def test_repair_needs_a_process(self):
        self.assertIn("-p PID", spoor("doctor", "--repair", expect=2).stderr)


del FakeTest, GuardTest

if __name__ == "__main__":
    unittest.main()
