"""Where the log goes to fails: full, cut off, gone, nobody reads any more. The recorder says so and ends with status 1,
the JVM is as before, and what was written is a log."""
import json
import os
import re
import resource
import signal
import subprocess
import threading
import unittest

from harness import FAKE_DIR, NOBODY, FakeTest, Recorder, SPOOR, STOCK_PROBES, spoor, wait_until

IOC_SHUTDOWN = 0x8004587d  # EXT4_IOC_SHUTDOWN, XFS_IOC_GOINGDOWN
STORM = 200000


def command(*arguments):
    return subprocess.run([str(a) for a in arguments], capture_output=True, text=True)


class Outputs(FakeTest):
    def storm_until_it_ends(self, fake, recorder):
        """Events, for as long as the recorder takes them; the flag must be back then."""
        def ended():
            fake("in", "b", "storm", "m", 2000)
            return recorder.process.poll() is not None

        wait_until("the recorder ends", ended)
        status = recorder.wait()
        wait_until("the flag is off again", lambda: fake.flag() == 0)
        return status

    def assert_readable(self, *paths):
        """The log is whole as far as it goes: no block is damaged, names are there, only its end is missing."""
        shown = spoor("cat", *paths)
        self.assertIn("monitor_contended_enter", shown.stdout)
        self.assertNotIn('"event":"end"', shown.stdout)
        self.assertEqual(shown.stderr, "")
        report = spoor("report", *paths, expect=1)
        self.assertIn("demo.LockA", report.stdout)
        self.assertIn("the log has no end", report.stderr)

    def assert_said(self, recorder, path, why):
        """Once, with the file and the reason."""
        lines = [line for line in recorder.err.splitlines() if re.search(why, line, re.I)]
        self.assertEqual(len(lines), 1, recorder.err)
        self.assertTrue(lines[0].startswith("spoor: "), lines[0])
        self.assertIn(path, lines[0])
        self.assertNotIn("Sanitizer", recorder.err)

    def small_disk(self, size, name="small"):
        where = self.path(name)
        os.mkdir(where)
        mounted = command("mount", "-t", "tmpfs", "-o", f"size={size}", "spoor-test", where)
        if mounted.returncode:
            self.skipTest(f"a small file system cannot be mounted: {mounted.stderr}")
        self.addCleanup(command, "umount", "-l", where)
        return where

    def all_shown(self, path):
        """The log's bytes, and whatever of it is shown."""
        with open(path, "rb") as f:
            shown = {"the file": f.read().decode("latin-1")}
        for args in (("report",), ("report", "--format", "json"), ("verify",), ("verify", "--format", "json"),
                     ("cat", "-H"), ("export", "--to", "chrome")):
            shown[args] = spoor(*args, path).stdout
        return shown

    def test_secrets_of_command_lines(self):
        secrets = ["hunter2SECRET", "s3cretOfTheUrl", "AKIAHUNTER2SECRETXYZ"]
        fake = self.start("-Dpassword=" + secrets[0], "--api-token", secrets[0], "-Durl=http://me:" + secrets[1] + "@h",
                          secrets[2], "-Dcolour=blue")
        for how, has_secrets, has_others in (((), False, True), (("--command-line", "full"), True, True),
                                             (("--command-line", "redacted"), False, True),
                                             (("--command-line", "none"), False, False)):
            with self.subTest(how=how):
                path = self.path(f"log{len(how)}{how[-1:]}.spoor")
                self.record(fake, *how, path=path).stop()
                for where, text in self.all_shown(path).items():
                    for secret in secrets:
                        self.assertEqual(secret in text, has_secrets, (where, secret))
                    self.assertEqual("colour=blue" in text, has_others, where)
                header = json.loads(spoor("cat", "-H", path).stdout)
                self.assertEqual(header["record"]["command"] is not None, has_others)

    def test_secrets_of_a_command_line_that_is_cut(self):
        """Of an argument that is not read to its end nothing tells that it has a secret."""
        much = "x" * 120000
        fake = self.start("--password=" + much, "--password=" + much, "http://me:hunter2SECRET" + much + "@h")
        self.record(fake).stop()
        command = json.loads(spoor("cat", "-H", self.path()).stdout)["jvm"]["command"]
        self.assertTrue(command.endswith("fakejvm --password=[redacted] --password=[redacted]"), command)

    def test_secrets_of_a_command_that_is_started(self):
        """spoor's own command line has them, too; and the flight recorder's files."""
        fifo = self.path("fifo")  # an end of which it holds itself: it is not told to end
        os.mkfifo(fifo)
        command = ["sh", "-c", f"exec {os.path.join(FAKE_DIR, 'fakejvm')} --db-password hunter2SECRET <>{fifo}"]
        fake = self.start("-Dpassword=hunter2SECRET")
        path = self.path("flight.spoor")
        recorder = self.record(fake, "--flight-recorder", "10s", path=path)
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)
        path = self.path("flight-000001.spoor")
        for where, text in self.all_shown(path).items():
            self.assertNotIn("hunter2SECRET", text, where)
        recorder = Recorder(command, self.path("child.spoor"), quiet=True)
        self.addCleanup(recorder.close)
        wait_until("there is a log", lambda: os.path.exists(self.path("child.spoor")))
        recorder.process.send_signal(signal.SIGINT)
        recorder.wait()
        header = spoor("cat", "-H", self.path("child.spoor")).stdout
        self.assertNotIn("hunter2SECRET", header)
        self.assertIn("--db-password [redacted] <>", json.loads(header)["record"]["command"][-1])
        self.assertIn("--db-password [redacted]", json.loads(header)["jvm"]["command"])

    def test_what_another_user_has_laid(self):
        """The audit's M7: mallory's link in a folder to which everybody may write, root's record -f."""
        everybody, victim, fake = self.path("everybody"), self.path("victim"), self.start()
        os.mkdir(everybody)
        os.chmod(everybody, 0o1777)
        for name, text in (("victim", "as it was"), ("everybody/file", "mallory's")):
            with open(self.path(name), "w", encoding="utf-8") as f:
                f.write(text)
            os.chmod(self.path(name), 0o644)
        os.symlink(victim, os.path.join(everybody, "link"))
        for name in ("file", "link"):
            path = os.path.join(everybody, name)
            os.chown(path, NOBODY, NOBODY, follow_symlinks=False)
            with self.subTest(name=name):
                recorder = Recorder(fake, path, "-f")
                self.addCleanup(recorder.close)
                self.assertEqual(recorder.wait(), 1)
                self.assert_said(recorder, path, "cannot be written: it is a link|it belongs to another user")
        wait_until("the flag is off again", lambda: fake.flag() == 0)
        for name, text in (("victim", "as it was"), ("everybody/file", "mallory's")):
            with open(self.path(name), encoding="utf-8") as f:
                self.assertEqual(f.read(), text)
            self.assertEqual(os.stat(self.path(name)).st_mode & 0o7777, 0o644)

    def test_disk_full(self):
        for codec in ("none", "lz4", "zstd"):
            with self.subTest(codec=codec):
                where = self.small_disk("256k", codec)
                fake, path = self.start(), os.path.join(where, "log.spoor")
                recorder = self.record(fake, "--compress", codec, path=path)
                self.assertEqual(self.storm_until_it_ends(fake, recorder), 1)
                self.assert_said(recorder, path, "the disk is full")
                self.assert_readable(path)

    def test_disk_full_of_parts(self):
        """It is smaller than what may be kept: the parts that are there stay."""
        where = self.small_disk("1500k")
        fake = self.start()
        recorder = self.record(fake, "--compress", "none", "--max-size", "4M", path=os.path.join(where, "log.spoor"))
        self.assertEqual(self.storm_until_it_ends(fake, recorder), 1)
        parts = sorted(os.path.join(where, name) for name in os.listdir(where))
        self.assertGreater(len(parts), 1, recorder.err)
        self.assertRegex(recorder.err, "the disk is full")
        self.assert_readable(*parts)
        for part in parts:
            self.assertNotRegex(spoor("cat", part).stderr, "damaged|cut|missing block")

    def test_full_from_the_beginning(self):
        where = self.small_disk("64k")
        with open(os.path.join(where, "ballast"), "wb", buffering=0) as f:
            try:
                while f.write(b"x" * 4096):
                    pass
            except OSError:
                pass
        fake, path = self.start(), os.path.join(where, "log.spoor")
        done = spoor("record", "-p", fake.pid, "-o", path, expect=1)
        self.assertRegex(done.stderr, "the disk is full")
        self.assertIn(path, done.stderr)
        self.assertFalse(os.path.exists(path))
        self.assertEqual(fake.flag(), 0)

    def test_read_only(self):
        where = self.small_disk("64k")
        remounted = command("mount", "-o", "remount,ro", where)
        self.assertEqual(remounted.returncode, 0, remounted.stderr)
        fake, path = self.start(), os.path.join(where, "log.spoor")
        done = spoor("record", "-p", fake.pid, "-o", path, expect=1)
        self.assertRegex(done.stderr, "the file system is read-only")
        self.assertIn(path, done.stderr)
        self.assertEqual(fake.flag(), 0)

    def test_file_too_large(self):
        """RLIMIT_FSIZE: as a quota, a bound that is met on the way; its signal must not kill the recorder."""
        fake, path = self.start(), self.path()
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200000, before[1]))
        try:
            recorder = self.record(fake, "--compress", "none")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        self.assertEqual(self.storm_until_it_ends(fake, recorder), 1)
        self.assert_said(recorder, path, "has reached the size limit")
        self.assert_readable(path)
        self.assertLessEqual(os.path.getsize(path), 200000)

    def test_device_gone(self):
        """A file system that the kernel has given up: nothing is written any more, whatever is tried."""
        image, where = self.path("image"), self.path("disk")
        os.mkdir(where)
        with open(image, "wb") as f:
            f.truncate(16 << 20)
        made = command("mkfs.ext4", "-q", "-F", "-O", "^has_journal", image)
        mounted = made.returncode or command("mount", "-o", "loop", image, where)
        if made.returncode or mounted.returncode:
            self.skipTest(f"no file system on a loop device: {made.stderr or mounted.stderr}")
        self.addCleanup(command, "umount", "-l", where)
        fake, path = self.start(), os.path.join(where, "log.spoor")
        recorder = self.record(fake, "--compress", "none", path=path)
        fake("in", "b", "storm", "m", 20000)
        wait_until("blocks are written", lambda: os.path.getsize(path) > 150000)
        self.shut_down(where)
        self.assertEqual(self.storm_until_it_ends(fake, recorder), 1)
        self.assert_said(recorder, path, "input/output error|read-only file system")

    def shut_down(self, where):
        import fcntl
        fd = os.open(where, os.O_RDONLY)
        try:
            fcntl.ioctl(fd, IOC_SHUTDOWN, (2).to_bytes(4, "little"))
        except OSError as e:
            self.skipTest(f"the file system cannot be shut down: {e}")
        finally:
            os.close(fd)

    def test_file_deleted(self):
        """As on a server that has taken it away: nobody would ever find what is written."""
        for what in ("file", "folder"):
            with self.subTest(what=what):
                folder = self.path(what)
                os.mkdir(folder)
                fake, path = self.start(), os.path.join(folder, "log.spoor")
                recorder = self.record(fake, "--compress", "none", path=path)
                fake("in", "b", "storm", "m", 20000)
                wait_until("blocks are written", lambda: os.path.getsize(path) > 150000)
                os.unlink(path)
                if what == "folder":
                    os.rmdir(folder)
                self.assertEqual(self.storm_until_it_ends(fake, recorder), 1)
                self.assert_said(recorder, path, "stale file handle|deleted|is gone")

    def stream(self, fake, *options):
        process = subprocess.Popen([SPOOR, "record", "-o", "-", *STOCK_PROBES, *options, "-p", str(fake.pid)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        return process

    def test_pipe_that_closes(self):
        fake = self.start()
        process = self.stream(fake, "--compress", "none")
        wait_until("it records", lambda: fake.flag() == 1)
        fake("go", "b", "storm", "m", STORM)
        data = process.stdout.read(400000)
        process.stdout.close()

        def ended():
            fake("in", "b", "storm", "m", 2000)
            return process.poll() is not None

        wait_until("the recorder ends", ended)
        err = process.stderr.read().decode()
        self.assertEqual(process.returncode, 1, err)
        self.assertRegex(err, "nobody reads the pipe any more")
        wait_until("the flag is off again", lambda: fake.flag() == 0)
        with open(self.path(), "wb") as f:
            f.write(data)
        self.assertIn("monitor_contended_enter", spoor("cat", self.path(), expect=None).stdout)

    def test_stream_is_the_log(self):
        fake = self.start()
        process = self.stream(fake)
        wait_until("it records", lambda: fake.flag() == 1)
        read = []
        reader = threading.Thread(target=lambda: read.append(process.stdout.read()))
        reader.start()
        fired = int(fake("in", "b", "storm", "m", 20000)[0])
        process.send_signal(signal.SIGINT)
        reader.join(60)
        self.assertEqual(process.wait(60), 0, process.stderr.read())
        with open(self.path(), "wb") as f:
            f.write(read[0])
        with open(self.path(), "rb") as f:
            streamed = spoor("cat", "-", stdin=f)
        for shown in (spoor("cat", self.path()), streamed):
            self.assertEqual(shown.stdout.count('"event":"monitor_contended_enter"'), fired)
            self.assertIn('"event":"end"', shown.stdout)


if __name__ == "__main__":
    unittest.main()
