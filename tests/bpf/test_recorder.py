"""How a recording begins and ends, what it leaves behind, what it loses, and what it says."""
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time
import unittest

from harness import (AS_NOBODY, DEADLINE_S, FAKE_DIR, Fake, FakeTest, Log, Recorder, SPOOR, STOCK_PROBES, everybody,
                     name_of, schema_ids, spoor, wait_until)
from processes import children, libjvm_code

IDS = schema_ids()
ENTER, ENTERED = IDS["monitor_contended_enter"], IDS["monitor_contended_entered"]
BPFTOOL = shutil.which("bpftool") or "/usr/sbin/bpftool"


def alive(pids):
    return [pid for pid in pids if os.path.exists(f"/proc/{pid}")]


class Losses(FakeTest):
    def stop_and_storm(self, fake, recorder, pairs):
        """As many events as are asked for, while the recorder does not read: the ring must run over."""
        os.kill(recorder.pid, signal.SIGSTOP)
        try:
            fired = int(fake("in", "b", "storm", "m", pairs)[0])
        finally:
            os.kill(recorder.pid, signal.SIGCONT)
        self.assertEqual(fired, pairs)
        return fired

    def test_recorded_and_lost_is_fired(self):
        fake = self.start()
        recorder = self.record(fake, "--buffer", "64k")
        fired = self.stop_and_storm(fake, recorder, 20000)
        fired += int(fake("in", "b", "storm", "m", 20000)[0])
        fired += self.stop_and_storm(fake, recorder, 20000)
        log = recorder.stop()
        lost = log.lost()
        enters, entereds = len(log.raw_of("monitor_contended_enter")), len(log.raw_of("monitor_contended_entered"))
        self.assertGreater(lost[ENTER], 30000)
        self.assertEqual((enters + lost[ENTER], entereds + lost[ENTERED]), (fired, fired))
        others = {IDS[kind] for kind in ("thread_sample", "monitor_owner_seen", "off_cpu", "theft")}
        self.assertLessEqual(set(lost) - {ENTER, ENTERED}, others)
        report = log.report()
        self.assertEqual(report["lost"]["total"], sum(lost.values()))
        self.assertIn("lost", log.report_text())
        self.assertIn("lost", recorder.err)

    def test_nothing_is_lost_by_default(self):
        fake = self.start()
        recorder = self.record(fake)
        fired = int(fake("in", "b", "storm", "m", 50000)[0])
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        self.assertEqual(len(log.raw_of("monitor_contended_enter")), fired)
        self.assertEqual(len(log.raw_of("monitor_contended_entered")), fired)
        self.assertIn(" 0 lost", recorder.err)

    def test_names_lost_in_a_storm_come_later(self):
        fake = self.start()
        recorder = self.record(fake, "--buffer", "64k", "--window", "100ms")
        os.kill(recorder.pid, signal.SIGSTOP)
        try:
            fake("in", "b", "storm", "m", 20000)
            fake.thread("Late", id="l")
            fake("class", "demo/Late")
            fake("object", "p", "demo/Late")
            fake("monitor", "mp", "p")
            fake("in", "l", "enter", "mp")
        finally:
            os.kill(recorder.pid, signal.SIGCONT)

        def named_after_another_enter():
            fake("in", "l", "enter", "mp")
            shown = spoor("cat", "--resolve", "-e", "monitor_contended_enter", recorder.log_path, expect=None).stdout
            return "demo.Late" in shown and '"Late"' in shown

        wait_until("the late thread and class have their names", named_after_another_enter, 20)
        log = recorder.stop()
        last = log.of("monitor_contended_enter")[-1]
        self.assertEqual((name_of(last["thread"]), last["thread"]["tid"], last["lock"]["class"]),
                         ("Late", fake.tids["l"], "demo.Late"))


class Flag(FakeTest):
    def assert_flag_goes_back(self, fake):
        wait_until("the flag is off again", lambda: fake.flag() == 0)

    def test_on_meanwhile_and_back_whatever_ends_it(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            with self.subTest(signal=number.name):
                fake = self.start()
                recorder = self.record(fake, "-f")
                self.assertEqual(fake.flag(), 1)
                log = recorder.stop(number)
                self.assertEqual(fake.flag(), 0)
                self.assertEqual(log.end(), "interrupted")
                self.assertEqual(log.header["sources"]["monitor"], "on")

    def test_back_when_the_time_is_over(self):
        fake = self.start()
        recorder = self.record(fake, "-d", "100ms")
        self.assertEqual(recorder.wait(), 0)
        self.assertEqual(fake.flag(), 0)
        self.assertEqual(Log(recorder.log_path).end(), "done")

    def test_back_after_sigkill_of_the_recorder(self):
        fake = self.start()
        recorder = self.record(fake, "--window", "50ms")
        fake("in", "b", "enter", "m")
        wait_until("the event is in the file", lambda: "monitor_contended_enter" in spoor(
            "cat", recorder.log_path, expect=None).stdout)
        recorder.process.kill()
        recorder.wait()
        self.assert_flag_goes_back(fake)
        self.assertIn("monitor_contended_enter", spoor("cat", recorder.log_path, expect=None).stdout)
        report = spoor("report", recorder.log_path, expect=None)
        self.assertIn("demo.LockA", report.stdout)

    def test_two_recorders_the_last_puts_it_back(self):
        for first, number in (("one", signal.SIGINT), ("two", signal.SIGINT), ("one", signal.SIGKILL)):
            with self.subTest(first=first, signal=number.name):
                fake = self.start()
                recorders = {n: self.record(fake, "-f", path=self.path(n + ".spoor")) for n in ("one", "two")}
                fired = int(fake("in", "b", "storm", "m", 1000)[0])
                ends_first = recorders.pop(first)
                if number == signal.SIGKILL:
                    guards = children(ends_first.pid)
                    self.assertTrue(guards)
                    ends_first.process.kill()
                    ends_first.wait()
                    # Whatever its guardian does, it has done it when it has ended.
                    wait_until("its guardian has ended", lambda: not alive(guards))
                else:
                    log = ends_first.stop()
                    self.assertEqual(len(log.raw_of("monitor_contended_enter")), fired)
                self.assertEqual(fake.flag(), 1)
                fake("in", "b", "enter", "m")
                log = recorders.popitem()[1].stop()
                self.assertEqual(len(log.raw_of("monitor_contended_enter")), fired + 1)
                self.assert_flag_goes_back(fake)

    def test_a_flag_that_was_on_stays_on(self):
        fake = self.start("--flag-on")
        recorder = self.record(fake)
        fake("in", "b", "enter", "m")
        log = recorder.stop()
        self.assertEqual((fake.flag(), log.header["sources"]["monitor"]), (1, "was_on"))
        log.one("monitor_contended_enter")

    def test_no_write(self):
        fake = self.start()
        recorder = self.record(fake, "--no-write")
        self.assertEqual(fake.flag(), 0)
        fake("in", "b", "enter", "m")
        fake("in", "b", "park", "-", 0, 0)
        self.assertEqual(fake.flag(), 0)
        log = recorder.stop()
        self.assertEqual((fake.flag(), log.header["sources"]["monitor"]), (0, "missing"))
        self.assertEqual(log.of("monitor_contended_enter"), [])
        log.one("park_begin")
        text = log.report_text()
        self.assertRegex(text, r"(?i)monitor[^\n]*(missing|not recorded)")
        self.assertIn("DTraceMonitorProbes", text)
        self.assertIn("DTraceMonitorProbes", recorder.err)

    def test_quiet_says_what_is_wrong(self):
        fake = self.start()
        recorder = self.record(fake, "--no-write", "--no-stacks", quiet=True)
        recorder.stop()
        self.assertRegex(recorder.err, r"^spoor: warning: monitor events are missing: [^\n]*\n$")

    def test_no_stacks(self):
        fake = self.start()
        recorder = self.record(fake, "--no-stacks")
        fake("in", "b", "enter", "m")
        log = recorder.stop()
        self.assertTrue(log.header["record"]["no_stacks"])
        self.assertEqual(log.header["sources"]["stacks_missing"], "--no-stacks was given")
        self.assertEqual((log.one("monitor_contended_enter")["stack"], log.of("stack_walk")), (None, []))
        self.assertNotIn("call chains", recorder.err)  # nobody wanted them

    def test_code_that_is_laid_out_otherwise(self):
        fake = self.start()  # it has no code cache
        recorder = self.record(fake)
        fake("in", "b", "enter", "m")
        log = recorder.stop()
        why = log.header["sources"]["stacks_missing"]
        self.assertIn(f"call chains are missing: the code of this JVM is not laid out as spoor knows it: {why}",
                      recorder.err)
        self.assertFalse(log.header["record"]["no_stacks"])
        self.assertIsNone(log.one("monitor_contended_enter")["stack"])
        self.assertIn(why, log.report_text().replace("\n             ", " "))

    def test_no_write_with_the_flag_on(self):
        fake = self.start("--flag-on")
        recorder = self.record(fake, "--no-write")
        fake("in", "b", "enter", "m")
        log = recorder.stop()
        self.assertEqual((fake.flag(), log.header["sources"]["monitor"]), (1, "was_on"))
        log.one("monitor_contended_enter")

    def test_two_jvms_at_once(self):
        fakes = [self.start(), self.start("--narrow")]
        recorders = [self.record(f, path=self.path(f"{i}.spoor")) for i, f in enumerate(fakes)]
        for i, fake in enumerate(fakes):
            fake("in", "b", "storm", "m", 100 + i)
        logs = [recorders[0].stop()]
        self.assertEqual([f.flag() for f in fakes], [0, 1])
        logs.append(recorders[1].stop())
        self.assertEqual([len(log.raw_of("monitor_contended_enter")) for log in logs], [100, 101])
        for fake, log in zip(fakes, logs):
            tids = set(map(int, os.listdir(f"/proc/{fake.pid}/task")))
            self.assertEqual({t["tid"] for t in log.threads().values()}, tids)


def bpf_ids_of(pid):
    """What of BPF a process holds: {(kind, id)}."""
    found = set()
    for fd in os.listdir(f"/proc/{pid}/fdinfo"):
        try:
            with open(f"/proc/{pid}/fdinfo/{fd}", encoding="utf-8") as f:
                found |= {(kind, int(number)) for kind, number in
                          re.findall(r"^(prog|map|link)_id:\s*(\d+)", f.read(), re.M)}
        except FileNotFoundError:
            pass
    return found


def bpf_ids():
    return {(kind, entry["id"]) for kind in ("prog", "map", "link")
            for entry in json.loads(subprocess.run([BPFTOOL, "-j", kind, "show"], capture_output=True, text=True,
                                                   check=True).stdout or "[]")}


class Room(FakeTest):
    """What the kernel keeps for threads is by how many there are, or as many as are asked for."""

    def room(self, recorder):
        held = {number for kind, number in bpf_ids_of(recorder.pid) if kind == "map"}
        shown = json.loads(subprocess.run([BPFTOOL, "-j", "map", "show"], capture_output=True, text=True,
                                          check=True).stdout)
        return next(m["max_entries"] for m in shown if m["id"] in held and m.get("name") == "threads")

    def test_for_threads(self):
        for options, room in ((), 4096), (("--max-threads", "5000"), 8192), (("--max-threads", "3"), 1024):
            with self.subTest(options=options):
                recorder = self.record(self.start(), "-f", *options)
                self.assertEqual(self.room(recorder), room)
                recorder.stop()


class Leftovers(FakeTest):
    def test_nothing_of_bpf_is_left(self):
        for number in (signal.SIGINT, signal.SIGKILL):
            with self.subTest(signal=number.name):
                fake = self.start()
                recorder = self.record(fake, "-f")
                held = bpf_ids_of(recorder.pid)
                self.assertEqual({kind for kind, _ in held}, {"prog", "map", "link"})
                self.assertLessEqual({h for h in held if h[0] != "link"}, bpf_ids())
                recorder.process.send_signal(number)
                recorder.wait()
                # The kernel frees them after a grace period.
                wait_until("all BPF objects are gone", lambda: not held & bpf_ids())

    def test_no_process_is_left(self):
        fake = self.start()
        recorder = self.record(fake)
        guards = children(recorder.pid)
        self.assertTrue(guards)
        recorder.stop()
        self.assertFalse(alive(guards))

    def test_the_probes_are_as_before(self):
        """Breakpoints are out of the target's code again."""
        fake = self.start()
        before = libjvm_code(fake.pid)
        recorder = self.record(fake)
        self.assertNotEqual(libjvm_code(fake.pid), before)
        recorder.stop()
        self.assertEqual(libjvm_code(fake.pid), before)


class Ends(FakeTest):
    def test_jvm_killed_in_mid_recording(self):
        fake = self.start()
        recorder = self.record(fake)
        fake("in", "b", "storm", "m", 1000)
        fake.process.kill()
        fake.process.wait()
        self.assertEqual(recorder.wait(), 0)
        log = Log(recorder.log_path)
        self.assertIn(log.end(), ("jvm_exited", "jvm_killed"))
        self.assertEqual(len(log.raw_of("monitor_contended_enter")), 1000)
        self.assertEqual({e["thread"]["tid"] for e in log.of("thread_end")} & set(fake.tids.values()),
                         set(fake.tids.values()))
        self.assertIn("demo.LockA", log.report_text())

    def test_jvm_ends_by_itself(self):
        fake = self.start()
        recorder = self.record(fake)
        fake.process.stdin.write("quit\t3\n")
        self.assertEqual(recorder.wait(), 0)
        self.assertEqual(Log(recorder.log_path).end(), "jvm_exited")

    def test_command_and_its_status(self):
        fake = os.path.join(FAKE_DIR, "fakejvm")
        lines = r"thread\ta\tA\nin\ta\tpark\t-\t0\t0\nsleep\t3000\nin\ta\tparked\nquit\t3\n"
        recorder = Recorder(["sh", "-c", f"printf '{lines}' | {fake} >/dev/null"], self.path(), *STOCK_PROBES)
        self.addCleanup(recorder.close)
        self.assertEqual(recorder.wait(), 3, recorder.err)
        log = Log(recorder.log_path)
        self.assertEqual(name_of(log.one("park_end")["thread"]), "A")
        self.assertEqual(log.header["sources"]["monitor"], "on")
        self.assertEqual(log.end(), "jvm_exited")

    def test_command_that_is_no_jvm(self):
        for command, status in ((["sh", "-c", "exit 7"], 7), (["true"], 1), (["/no/such/program"], 127)):
            with self.subTest(command=command):
                done = spoor("record", "-o", self.path(), "--", *command, expect=status)
                self.assertTrue(done.stderr.startswith("spoor: "), done.stderr)
                self.assertFalse(os.path.exists(self.path()))

    def test_disk_full(self):
        where = self.path("small")
        os.mkdir(where)
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k", "spoor-test", where], capture_output=True,
                                 text=True)
        if mounted.returncode:
            self.skipTest(f"a small file system cannot be mounted: {mounted.stderr}")
        self.addCleanup(subprocess.run, ["umount", "-l", where])
        fake = self.start()
        recorder = self.record(fake, path=os.path.join(where, "log.spoor"))
        fake("in", "b", "storm", "m", 100000)
        self.assertEqual(recorder.wait(), 1)
        self.assertRegex(recorder.err, "the disk is full")
        self.assertEqual(fake.flag(), 0)
        shown = spoor("cat", recorder.log_path, expect=None)
        self.assertIn("monitor_contended_enter", shown.stdout)
        self.assertNotIn('"event":"end"', shown.stdout)
        self.assertIn("demo.LockA", spoor("report", recorder.log_path, expect=None).stdout)


class Refusals(FakeTest):
    def refused(self, *arguments, status=1):
        done = spoor("record", *arguments, expect=status)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith("spoor"), done.stderr)
        return done.stderr

    def test_no_such_process(self):
        done = subprocess.Popen(["true"])
        done.wait()
        err = self.refused("-p", done.pid, "-o", self.path())
        self.assertIn(str(done.pid), err)
        self.assertFalse(os.path.exists(self.path()))

    def test_not_a_jvm(self):
        other = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(other.wait)
        self.addCleanup(other.kill)
        self.assertRegex(self.refused("-p", other.pid, "-o", self.path()), "not a JVM")
        self.assertFalse(os.path.exists(self.path()))

    def stripped(self, *objcopy):
        """A fake JVM whose libjvm.so has lost something."""
        folder = self.path("stripped")
        shutil.copytree(FAKE_DIR, folder)
        library = os.path.join(folder, "libjvm.so")
        subprocess.run(["objcopy", *objcopy, library], check=True)
        fake = Fake(command=[os.path.join(folder, "fakejvm")])
        self.addCleanup(fake.close)
        return fake

    def test_a_jvm_without_probes(self):
        """The scheduler tells of its waits (tests/e2e/test_switches.py); other probes cannot be had."""
        fake = self.stripped("--remove-section=.note.stapsdt")
        self.assertRegex(self.refused("-p", fake.pid, "--probes", "usdt", "-o", self.path()),
                         "no USDT probes.*without dtrace")
        self.assertRegex(self.refused("-p", fake.pid, "--probes", "hooks", "-o", self.path()), "not a patched JVM")
        self.assertFalse(os.path.exists(self.path()))
        done = spoor("doctor", "-F", "json", "-p", fake.pid)
        probes = next(c for c in json.loads(done.stdout)["checks"] if c["name"] == "probes")
        self.assertEqual(probes["state"], "warning")
        self.assertIn("no USDT probes", probes["found"])
        log = self.record(fake, "--probes", "auto").stop()
        self.assertEqual((log.header["record"]["probes"], log.header["sources"]["monitor"]), ("none", "switches"))
        self.assertEqual(fake("flag"), ["0"])

    def test_a_thread(self):
        fake = self.start()
        self.assertIn("thread", self.refused("-p", fake.tids["a"], "-o", self.path()))

    def test_output_exists(self):
        fake = self.start()
        with open(self.path(), "w", encoding="utf-8") as f:
            f.write("precious")
        err = self.refused("-p", fake.pid, "-o", self.path())
        self.assertIn("-f", err)
        with open(self.path(), encoding="utf-8") as f:
            self.assertEqual(f.read(), "precious")
        self.assertEqual(fake.flag(), 0)
        log = self.record(fake, "-f").stop()
        self.assertEqual(log.end(), "interrupted")

    def test_output_cannot_be_written(self):
        fake = self.start()
        path = self.path("no/such/folder/log.spoor")
        self.assertIn(path, self.refused("-p", fake.pid, "-o", path))
        self.assertEqual(fake.flag(), 0)

    def test_wrong_usage(self):
        for arguments in ((), ("-p", "1", "--", "true"), ("-p", "0"), ("-p", "-1"), ("-p", "1", "-d", "soon"),
                          ("-p", "1", "--buffer", "much"), ("-p", "1", "--nonsense")):
            with self.subTest(arguments=arguments):
                self.refused(*arguments, status=2)

    def test_without_privileges(self):
        fake = self.start()
        if os.geteuid():
            self.skipTest("needs root, to give it up")
        binary = everybody.copy(self.tmp, SPOOR)
        os.chmod(self.tmp, 0o777)
        done = subprocess.run([*AS_NOBODY, binary, "record", "-p", str(fake.pid), "-o", self.path()],
                              capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"CAP_\w+|root")
        self.assertEqual(fake.flag(), 0)


class Speech(FakeTest):
    def test_quiet(self):
        fake = self.start()
        recorder = self.record(fake, "--no-stacks", quiet=True)
        log = recorder.stop()
        self.assertEqual((recorder.err, recorder.out), ("", ""))
        self.assertEqual(log.end(), "interrupted")

    def test_no_status_line_without_a_terminal(self):
        fake = self.start()
        recorder = self.record(fake, "-d", "600ms")
        self.assertEqual(recorder.wait(), 0)
        self.assertNotIn("\r", recorder.err)
        self.assertEqual(recorder.err.splitlines()[0], f"spoor: recording {fake.pid} to {recorder.log_path}")
        self.assertIn(recorder.log_path, recorder.err.splitlines()[-1])
        self.assertEqual(recorder.out, "")

    def test_status_line_on_a_terminal(self):
        fake = self.start()
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        process = subprocess.Popen([SPOOR, "record", "-p", str(fake.pid), "-o", self.path()], stderr=slave,
                                   stdin=subprocess.DEVNULL)
        os.close(slave)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        line = r"\r.*\d.*s .*\d+ events.*\d+/s.*\d+ lost.*B"
        text, end = "", time.monotonic() + DEADLINE_S
        while not re.search(line, text) and time.monotonic() < end:  # it may come in pieces
            if select.select([master], [], [], 1)[0]:
                text += os.read(master, 4096).decode("utf-8", "replace")
        self.assertRegex(text, line)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(DEADLINE_S), 0)

    def test_default_name(self):
        fake = self.start()
        process = subprocess.run([SPOOR, "record", "-p", str(fake.pid), "-d", "50ms"], cwd=self.tmp, timeout=DEADLINE_S,
                                 capture_output=True, text=True)
        self.assertEqual(process.returncode, 0, process.stderr)
        names = os.listdir(self.tmp)
        self.assertEqual(len(names), 1)
        self.assertRegex(names[0], rf"^spoor-{fake.pid}-[0-9T-]+\.spoor$")


class OtherNamespace(FakeTest):
    """A JVM with its own pid namespace: the numbers that it knows its threads by are not the kernel's."""

    def test_pid_namespace(self):
        inner = ["unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc",
                 os.path.join(FAKE_DIR, "fakejvm")]
        if subprocess.run(inner[:-1] + ["true"], capture_output=True).returncode:
            self.skipTest("unshare --pid --mount is not allowed here")
        fake = self.start_in(inner)
        recorder = self.record(fake.outer)
        fake.thread("Late", id="l")
        fake("in", "b", "enter", "m")
        fake("in", "l", "own", "m")
        fake("in", "b", "enter", "m")
        fake("in", "b", "park", "-", 0, 0)
        fake("in", "b", "parked")
        fake("in", "l", "unpark", "b")
        log = recorder.stop()
        self.assertEqual((log.header["jvm"]["pid"], log.header["jvm"]["ns_pid"]), (fake.outer, 1))
        self.assertEqual([name_of(e["owner"]) for e in log.of("monitor_contended_enter")], ["Thread A", "Late"])
        by_name = {t["name"]: t for t in log.threads().values()}
        outer = {int(t) for t in os.listdir(f"/proc/{fake.outer}/task")}
        for id, name in (("a", "Thread A"), ("b", "Thread B"), ("l", "Late")):
            self.assertEqual(by_name[name]["ns_tid"], fake.tids[id])
            self.assertIn(by_name[name]["tid"], outer)
        self.assertEqual(name_of(log.one("unpark")["target"]), "Thread B")

    def start_in(self, command):
        fake = Fake(command=command)
        self.addCleanup(fake.close)
        fake.outer = int(wait_until("the JVM's outer pid", lambda: subprocess.run(
            ["pgrep", "-P", str(fake.process.pid)], capture_output=True, text=True).stdout).split()[0])
        return self.furnish(fake)


del FakeTest

if __name__ == "__main__":
    unittest.main()
