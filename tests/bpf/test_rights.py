"""Which rights spoor keeps, and when: out of /proc while it runs. docs/security.md has the same tables."""
import contextlib
import errno
import os
import re
import shutil
import signal
import subprocess
import tempfile
import unittest

import harness
from harness import AS_NOBODY, NOBODY, SPOOR, FakeTest, Log, name_of, read_text, spoor, wait_until
import printed  # noqa: E402 - beside harness's folder
from processes import status
from tracee import AT_FDCWD, EXECVE, OPENAT, SOCKET, Tracee

NAMES = {1: "dac_override", 2: "dac_read_search", 5: "kill", 19: "sys_ptrace", 21: "sys_admin", 24: "sys_resource",
         38: "perfmon", 39: "bpf", 40: "checkpoint_restore"}
RECORDING = {"bpf", "perfmon", "sys_ptrace", "checkpoint_restore", "dac_read_search"}


def caps(pid, which="CapPrm", tid=None):
    bits = int(status(pid, tid)[which], 16)
    return {NAMES.get(i, str(i)) for i in range(64) if bits >> i & 1}


def threads(pid):
    return [int(t) for t in os.listdir(f"/proc/{pid}/task")]


def needs_admin():
    """On kernels without uprobe_multi links that can be bound to a process, probes take CAP_SYS_ADMIN."""
    release = tuple(map(int, re.match(r"(\d+)\.(\d+)", os.uname().release).groups()))
    return release < (6, 10)


def recording(*more):
    """All rights of a recorder, once it records."""
    return RECORDING | set(more) | ({"sys_admin"} if needs_admin() else set())


class RightsTest(FakeTest):
    def setUp(self):
        super().setUp()
        os.chmod(self.tmp, 0o755)
        if os.geteuid():
            self.skipTest("needs root, to give rights away")

    def confined(self, pid):
        s = status(pid)
        self.assertEqual(s["NoNewPrivs"], "1")
        self.assertEqual(s["Seccomp"], "2")
        for which in ("CapInh", "CapBnd", "CapAmb"):
            self.assertEqual(caps(pid, which), set(), which)

    def wait_rights(self, recorder, expected):
        wait_until("the rights are cut down",
                   lambda: recorder.process.poll() is not None or caps(recorder.pid) == expected)
        self.assertIsNone(recorder.process.poll(), recorder.err)


class TheRecorder(RightsTest):
    def test_what_it_keeps_while_it_records(self):
        recorder = self.record(self.start(), "--window", "50ms")
        self.wait_rights(recorder, recording())
        self.assertEqual(caps(recorder.pid, "CapEff"), recording())
        self.confined(recorder.pid)
        writers = [t for t in threads(recorder.pid) if t != recorder.pid]
        self.assertTrue(writers)
        # A thread has its parent's rights until its own first lines have run.
        for tid in writers:
            wait_until("a thread that only writes has given its rights up",
                       lambda: not caps(recorder.pid, "CapPrm", tid) - {"dac_override"})
        recorder.stop()

    def test_a_jvm_of_another_user_and_a_late_library_with_marks(self):
        """What is looked for while it records works with what is left: a file that only its owner may read, and that
        has no name any more."""
        library = os.path.join(self.folder(), "late.so")
        subprocess.run(["gcc", *harness.CFLAGS, "-fPIC", "-shared", "-o", library,
                        os.path.join(harness.HERE, "late_marks.c")], check=True)
        os.chown(library, NOBODY, NOBODY)
        os.chmod(library, 0o600)
        fake = self.foreign()
        recorder = self.record(fake, "--window", "50ms")
        self.wait_rights(recorder, recording())
        os.kill(recorder.pid, signal.SIGSTOP)
        try:
            self.assertEqual(fake("in", "a", "mark", library, "too early"), ["0"])
            os.unlink(library)
        finally:
            os.kill(recorder.pid, signal.SIGCONT)
        wait_until("the library's probes are recorded", lambda: fake("in", "a", "mark", library, "late") == ["1"])
        log = recorder.stop()
        self.assertEqual(log.header["sources"]["monitor"], "on")
        self.assertEqual([(e["name"], name_of(e["thread"])) for e in log.of("span_begin")], [("late", "Thread A")])
        self.assertEqual(len(log.of("span_end")), 1)
        self.assertEqual(fake.flag(), 0)

    def test_parts_in_a_folder_of_somebody_else(self):
        """Files that are made later still can be made: root may write there, whose folder it may be."""
        folder = os.path.join(self.tmp, "theirs")
        os.mkdir(folder, 0o700)
        os.chown(folder, NOBODY, NOBODY)
        path = os.path.join(folder, "app.spoor")
        fake = self.start()
        recorder = harness.Recorder(fake, path, *harness.STOCK_PROBES, "--flight-recorder", "10s", "--max-size", "4M")
        self.addCleanup(recorder.close)
        # Not before: at first it has all rights, and SIGUSR1 would end it.
        self.wait_rights(recorder, recording("dac_override"))
        recorder.process.send_signal(signal.SIGUSR1)
        wait_until("a dump", lambda: [n for n in os.listdir(folder) if n.endswith(".spoor")])
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0, recorder.err)

    def test_the_command_has_its_rights(self):
        """A command that spoor starts is started before anything is given up."""
        out = self.path("status")
        spoor("record", "-o", self.path(), "--", "sh", "-c", f"cat /proc/self/status > {out}", expect=1)
        s = dict(re.findall(r"^(\w+):\s*(.*)$", read_text(out), re.M))
        self.assertEqual(*({k: of[k] for k in ("NoNewPrivs", "Seccomp", "CapPrm", "CapBnd")}
                           for of in (s, status("self"))))

    def test_the_command_as_another_user(self):
        out = os.path.join(self.folder(0o777), "who")
        spoor("record", "-o", self.path(), "-u", "nobody", "--", "sh", "-c",
              f"cat /proc/self/status > {out}; echo $USER $LOGNAME $HOME >> {out}; setpriv --reuid=0 true || "
              f"echo cannot go back >> {out}", expect=1)
        text = read_text(out)
        s = dict(re.findall(r"^(\w+):[ \t]*(.*)$", text, re.M))
        self.assertEqual(s["Uid"].split(), [str(NOBODY)] * 4)
        self.assertEqual(len(set(s["Gid"].split())), 1)
        self.assertNotIn("0", s["Groups"].split())
        self.assertEqual(int(s["CapPrm"], 16), 0)
        self.assertIn("nobody nobody /nonexistent", text)
        self.assertIn("cannot go back", text)
        self.assertEqual(os.stat(out).st_uid, NOBODY)

    def test_a_jvm_started_as_another_user_is_recorded_and_ended(self):
        folder = self.folder()
        program = harness.fake_copy(folder)
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        os.chmod(pipe, 0o644)
        keep_open = os.open(pipe, os.O_RDWR)
        self.addCleanup(os.close, keep_open)
        recorder = self.record(["sh", "-c", f"exec {program} < {pipe}"], "-u", "nobody")
        self.assertIn("kill", caps(recorder.pid))
        recorder.process.send_signal(signal.SIGINT)
        recorder.wait()
        log = Log(recorder.log_path)
        self.assertEqual(log.end(), "interrupted")

    def test_there_is_no_such_user(self):
        done = spoor("record", "-u", "nobody-at-all", "--", "true", expect=1)
        self.assertIn("there is no user 'nobody-at-all'", done.stderr)
        done = spoor("record", "-u", "nobody", "-p", "1", expect=2)
        self.assertIn("-u USER is for COMMAND", done.stderr)


class OfWhichJvm(RightsTest):
    def test_by_name(self):
        link = self.path("unmistakable-name")
        os.rename(harness.fake_copy(self.tmp), link)
        named = harness.Fake(command=[link])
        self.addCleanup(named.close)
        self.furnish(named)
        done = spoor("record", "-p", "unmistakable-name", "-d", "200ms", "-o", self.path())
        self.assertIn(f"recording {named.pid} to", done.stderr)
        second = harness.Fake(command=[link])
        self.addCleanup(second.close)
        done = spoor("record", "-p", "unmistakable-name", "-o", self.path("no"), expect=1)
        for pid in (named.pid, second.pid):
            self.assertIn(str(pid), done.stderr)
        done = spoor("record", "-p", "nobody-is-called-this", "-o", self.path("no"), expect=1)
        self.assertIn("no JVM has 'nobody-is-called-this'", done.stderr)
        self.assertFalse(os.path.exists(self.path("no")))


class TheOthers(RightsTest):
    @contextlib.contextmanager
    def running(self, *command, **how):
        process = subprocess.Popen([SPOOR, *map(str, command)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, **how)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def test_steal_keeps_nothing(self):
        with self.running("steal", "-d", "1000s", "-i", "100ms", "--method", "exact") as process:
            self.assertTrue(process.stdout.readline(), "it does not report")
            self.assertEqual(caps(process.pid), set())
            self.confined(process.pid)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=harness.DEADLINE_S)
            self.assertEqual(process.returncode, 0)

    def test_steal_writes_to_any_folder(self):
        """Not only to those of temporary files, which commands that read logs may write to."""
        folder = tempfile.mkdtemp(prefix="spoor-test-", dir=self.elsewhere())
        self.addCleanup(shutil.rmtree, folder, True)
        for method in ("exact", "proportional"):
            with self.subTest(method=method):
                saved = os.path.join(folder, method)
                spoor("steal", "-d", "100ms", "-i", "50ms", "--method", method, "--save", saved)
                self.assertIn("TOTAL", spoor("steal", "--input", saved).stdout.upper())

    def elsewhere(self):
        """The build folder may be in that of temporary files."""
        temporary = {os.path.realpath(p) for p in ("/tmp", os.environ.get("TMPDIR") or "/tmp")}
        for folder in ("/var/tmp", harness.BUILD, "/run"):
            if os.path.isdir(folder) and not any(
                    os.path.commonpath([os.path.realpath(folder), t]) == t for t in temporary):
                return folder
        raise AssertionError("all folders are in that of temporary files")

    def readers(self):
        """Each command that reads a log, held at its reading: the log comes out of a pipe."""
        return [["report", "-"], ["time", "-"], ["spans", "-"], ["cat", "-"], ["verify", "-"],
                ["export", "--to", "collapsed", "-"], ["export", "--to", "jsonl", "-o", self.path("x.jsonl"), "-"]]

    def test_commands_that_read_logs_have_no_rights(self):
        for command in self.readers():
            with self.subTest(command=command), self.running(*command) as process:
                wait_until("it is confined",
                           lambda: process.poll() is not None or status(process.pid)["Seccomp"] == "2")
                self.assertIsNone(process.poll(), "it was to wait for its standard input")
                self.assertEqual(caps(process.pid), set())
                self.confined(process.pid)

    def test_a_log_in_a_folder_that_root_reaches_by_a_right(self):
        """sudo spoor report in somebody's home of mode 0700: that right, and no other, is kept."""
        log = self.record(self.start()).stop().path
        home = os.path.join(self.tmp, "home")
        os.mkdir(home, 0o700)
        os.rename(log, os.path.join(home, "app.spoor"))
        os.chown(home, NOBODY, NOBODY)
        self.assertIn("RECORDED", spoor("report", "app.spoor", cwd=home).stdout)
        fifo = os.path.join(home, "pipe.spoor")
        os.mkfifo(fifo)
        with self.running("cat", os.path.join(home, "app.spoor"), fifo) as process:
            wait_until("it is confined", lambda: process.poll() is not None or status(process.pid)["Seccomp"] == "2")
            self.assertIsNone(process.poll(), "it was to wait for its pipe")
            self.assertEqual(caps(process.pid), {"dac_read_search"})

    def test_a_reader_writes_to_its_output_only(self):
        """By the kernel: an option cannot name another folder, but what has taken it over could."""
        log = self.record(self.start()).stop().path
        out = os.path.join(self.tmp, "out")
        os.mkdir(out)
        spoor("export", "--to", "jsonl", "-o", os.path.join(out, "app.jsonl"), log)
        spoor("export", "--to", "csv", "-o", os.path.join(out, "tables"), log)
        spoor("repair", "-o", os.path.join(out, "app.spoor"), log)
        spoor("export", "--to", "jsonl", "-o", "/dev/null", log)
        self.assertTrue(spoor("export", "--to", "jsonl", "-o", "/dev/stdout", log).stdout)
        elsewhere, fifo = os.path.join(self.tmp, "elsewhere"), os.path.join(self.tmp, "pipe.spoor")
        os.mkfifo(fifo)
        with self.running("report", log, fifo, env={**os.environ, "TMPDIR": out}) as process:
            wait_until("it is confined, and waits for its pipe", lambda: status(process.pid)["Seccomp"] == "2" and
                       status(process.pid)["State"].startswith("S"))
            try:
                with Tracee(process.pid) as taken:
                    calls = [taken.call(OPENAT, AT_FDCWD, elsewhere, os.O_WRONLY | os.O_CREAT, 0o600),
                             taken.call(EXECVE, "/bin/true", 0, 0), taken.call(SOCKET, 2, 1, 0)]
            except PermissionError as e:
                self.skipTest(f"it may not be traced here: {e}")
        self.assertFalse(os.path.exists(elsewhere))
        self.assertTrue(all(-call in (errno.EPERM, errno.EACCES) for call in calls), calls)

    def test_a_file_with_capabilities_gives_them_to_nobody(self):
        """C2: an export by an unprivileged user through a binary with setcap is that user's own."""
        log = self.record(self.start()).stop().path
        os.chmod(log, 0o644)
        binary = harness.everybody.copy(self.tmp, SPOOR)
        if not shutil.which("setcap"):
            self.skipTest("setcap (libcap2-bin) is not installed")
        subprocess.run(["setcap", "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_dac_override+ep", binary], check=True)
        victim = os.path.join(self.tmp, "root-only")
        os.mkdir(victim, 0o700)
        out = os.path.join(victim, "pwned")
        done = subprocess.run([*AS_NOBODY, binary, "export", "--to", "csv", "--event", "class", "-o", out, log],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(os.listdir(victim), [])
        advice = spoor("doctor", expect=None).stdout
        self.assertNotRegex(advice, r"setcap cap_")


class EachRightTakenAway(RightsTest):
    """What fails without a right is what doctor says, for a JVM of another user."""
    RIGHTS = ("bpf", "perfmon", "sys_ptrace", "dac_override", "dac_read_search", "checkpoint_restore", "sys_admin",
              "sys_resource", "kill")

    def without(self, rights, *command):
        drop = ",".join(f"-{r}" for r in rights)
        return subprocess.run(["setpriv", f"--bounding-set={drop}", f"--inh-caps={drop}", SPOOR, *map(str, command)],
                              capture_output=True, text=True, errors="replace", timeout=harness.DEADLINE_S)

    def test_each(self):
        fake = self.foreign()
        sets = [(r,) for r in self.RIGHTS] + [("bpf", "sys_admin"), ("perfmon", "sys_admin"),
                                              ("dac_override", "dac_read_search")]
        printed.head("without", "doctor", "names", "record", "contended monitors")
        for rights in sets:
            with self.subTest(without=rights):
                told = self.without(rights, "doctor", "-p", fake.pid)
                path = self.path("-".join(rights) + ".spoor")
                done = self.without(rights, "record", *harness.STOCK_PROBES, "-p", fake.pid, "-d", "100ms", "-o", path)
                self.assertIn(told.returncode, (0, 1), told.stderr)
                self.assertEqual(done.returncode, told.returncode, f"{told.stdout}{done.stderr}")
                names = ", ".join(sorted(set(re.findall(r"CAP_\w+", told.stdout)))) or "nothing"
                monitor = "none" if done.returncode else Log(path).header["sources"]["monitor"]
                printed.row(", ".join(rights), ("works", "does not")[told.returncode], names,
                           ("works", "refused")[done.returncode], monitor)
                if done.returncode == 0:
                    flag = re.search(r"^(\w+) +monitor-flag ", told.stdout, re.M)
                    self.assertEqual(monitor == "on", not flag or flag[1] == "ok", f"{monitor}: {told.stdout}")
                else:
                    named = [r for r in rights if f"CAP_{r.upper()}" in told.stdout]
                    self.assertTrue(named, told.stdout)
                self.assertEqual(fake.flag(), 0)


if __name__ == "__main__":
    unittest.main()
