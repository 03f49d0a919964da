"""JVMs that do what they can to whoever records them: what is at their files' paths, what is in their files, which
files they map, and another program in their place. Each of these once hung, crashed or misled a recorder."""
import os
import shutil
import signal
import struct
import subprocess
import unittest

import harness
from harness import AS_NOBODY, NOBODY, BpfTest, Fake, FakeTest, fake_copy, read_text, spoor, wait_until
from processes import children, named, status


def parsers(recorder):
    """The parser process and its zygote, of a recorder."""
    found = named(children(recorder), "spoor-parser")
    return found + [p for zygote in found for p in children(zygote)]


class KilledFake(Fake):
    """One that need not end with its input."""

    def close(self):
        self.process.kill()
        super().close()


class HostileFake(KilledFake):
    """A fake JVM with tests/bpf/hostile.c in it."""

    def __init__(self, tmp, folder=None, program=None, libraries=harness.FAKE_DIR):
        preload = os.path.join(tmp, "hostile.so")
        subprocess.run(["gcc", *harness.CFLAGS, "-fPIC", "-shared", "-pthread", "-o", preload,
                        os.path.join(harness.HERE, "hostile.c")], check=True)
        self.go_path = os.path.join(tmp, "go")
        variables = {"LD_PRELOAD": preload, "HOSTILE_GO": self.go_path, "HOSTILE_MAP": folder, "HOSTILE_EXEC": program}
        super().__init__(command=["env", *(f"{k}={v}" for k, v in variables.items() if v),
                                  os.path.join(libraries, "fakejvm")])

    def go(self):
        open(self.go_path, "w").close()

    def go_and_map(self):
        """What is in the folder now, and nothing that it has mapped before."""
        self.go()
        wait_until("its files are mapped", lambda: os.path.exists(self.go_path + ".done"))
        os.unlink(self.go_path + ".done")


# At an address that no segment has: whoever looks for it looks at all.
NOWHERE = struct.pack("<QQQ", 6 << 60, 0, 5 << 60)


def elf_note(name, probe, arguments=b"", numbers=NOWHERE):
    desc = numbers + b"\0".join((name, probe, arguments, b""))
    return struct.pack("<III", 8, len(desc), 3) + b"stapsdt\0" + desc + b"\0" * (-len(desc) % 4)


def evil_library(source, target, segments, notes):
    """The library with so many program headers (over 65,534: by PN_XNUM, in a hole of the file), and with notes."""
    with open(source, "rb") as f:
        b = bytearray(f.read())
    e_phoff, e_shoff = struct.unpack_from("<QQ", b, 32)
    e_phnum, _, e_shnum, _ = struct.unpack_from("<HHHH", b, 56)
    headers, sections = bytes(b[e_phoff:e_phoff + e_phnum * 56]), bytearray(b[e_shoff:e_shoff + e_shnum * 64])
    many = segments > 65534
    notes_at = len(b) + -len(b) % 16
    b += b"\0" * (notes_at - len(b)) + notes
    notes_len = len(b) - notes_at
    b += b"\0" * (-len(b) % 16)
    if many:
        struct.pack_into("<I", sections, 44, segments)
    struct.pack_into("<Q", b, 40, len(b))
    struct.pack_into("<H", b, 60, e_shnum + 1)
    b += sections + struct.pack("<IIQQQQIIQQ", 0, 7, 0, 0, notes_at, notes_len, 0, 0, 4, 0)
    b += b"\0" * (-len(b) % 4096)
    struct.pack_into("<Q", b, 32, len(b))
    struct.pack_into("<H", b, 56, 0xffff if many else segments)
    end = len(b) + segments * 56
    b += headers
    # In place: whoever has mapped it goes on with what it has.
    with open(target, "r+b" if os.path.exists(target) else "wb") as f:
        f.write(b)
    os.truncate(target, end)


def endless_notes(count):
    return elf_note(b"spoor_mark", b"begin") * count


def mark_library(target, arguments):
    """One with the probes of marks, where its first probe is."""
    source = os.path.join(harness.FAKE_DIR, "libjvm.so")
    with open(source, "rb") as f:
        b = f.read()
    at = b.index(b"stapsdt\0") + 8
    numbers = b[at:at + 16] + b"\0" * 8
    notes = b"".join(elf_note(b"spoor_mark", probe, arguments, numbers) for probe in (b"begin", b"end"))
    evil_library(source, target, struct.unpack_from("<H", b, 56)[0], notes)


class Files(BpfTest):
    """What the target's files are, and what is at their paths."""

    def hostile_mounts(self, make):
        """A fake JVM of nobody's, in namespaces of its own, in which its libjvm.so, of inode number $want, is covered
        by $cover, of the same number: make sets both."""
        os.chmod(self.tmp, 0o755)
        folder, mount = self.copy(), os.path.join(self.tmp, "m")
        os.mkdir(mount)
        os.chown(mount, NOBODY, NOBODY)
        # The copies of the library go on until one has the number of a file that is there already.
        script = """
            set -e
            mkdir {0}/1 {0}/2
            mount -t tmpfs none {0}/1; mount -t tmpfs none {0}/2
            cp {1}/fakejvm {0}/1
            {2}
            {0}/1/fakejvm <&3 &
            until grep -q libjvm.so /proc/$!/maps; do :; done
            mount --bind $cover {0}/1/libjvm.so
            test $(stat -c %i {0}/1/libjvm.so) = $want
            touch {0}/covered
            wait
        """.format(mount, folder, make.format(mount, folder))
        fake = KilledFake(command=[*AS_NOBODY, "unshare", "-U", "-r", "-m", "sh", "-c", "exec 3<&0; " + script])
        self.addCleanup(fake.close)
        wait_until("the library is covered", lambda: os.path.exists(os.path.join(mount, "covered")))
        return fake

    def records(self, fake):
        recorder = self.record(fake, "--no-stacks")
        fake.thread("Thread A", id="a")
        self.assertIn("Thread A", [e["name"] for e in recorder.stop().of("thread")])

    def test_a_fifo_at_its_path(self):
        """An open() of a FIFO waits for a writer, and nothing but SIGKILL ended the recorder."""
        fake = self.hostile_mounts("""
            cp {1}/libjvm.so {0}/1; want=$(stat -c %i {0}/1/libjvm.so); n=0
            while mkfifo {0}/2/f$n; [ $(stat -c %i {0}/2/f$n) != $want ]; do n=$((n + 1)); test $n -lt 50; done
            cover={0}/2/f$n""")
        self.records(fake)
        self.assertIn(f"process {fake.pid}", spoor("doctor", "-p", fake.pid, expect=None).stdout)

    def test_a_device_at_its_path(self):
        fake = self.hostile_mounts("""
            cover=/dev/zero; want=$(stat -c %i $cover); n=0
            while cp {1}/libjvm.so {0}/1/l; [ $(stat -c %i {0}/1/l) != $want ]; do
                mv {0}/1/l {0}/1/l$n; : > {0}/1/l$n; n=$((n + 1)); test $n -lt 1000; done
            mv {0}/1/l {0}/1/libjvm.so""")
        self.records(fake)

    def copy(self):
        """A folder with a fake JVM of its own."""
        folder = os.path.join(self.tmp, "jvm")
        os.mkdir(folder)
        fake_copy(folder)
        return folder

    def test_a_libjvm_with_endless_headers(self):
        """4,000,000 program headers, for each of 20,000 notes twice, were looked through with signals blocked."""
        folder = self.copy()
        fake = KilledFake(command=[os.path.join(folder, "fakejvm")])
        self.addCleanup(fake.close)
        evil_library(os.path.join(folder, "libjvm.so"), os.path.join(folder, "libjvm.so"), 4000000,
                     endless_notes(20000))
        recorder = harness.Recorder(fake, self.path())
        self.addCleanup(recorder.close)
        self.assertEqual(recorder.wait(), 1, recorder.err)
        self.assertIn("cannot be read", recorder.err)
        self.assertFalse(os.path.exists(self.path()))
        spoor("doctor", "-p", fake.pid, expect=1)

    def test_a_libjvm_that_is_cut_short(self):
        folder = self.copy()
        fake = KilledFake(command=[os.path.join(folder, "fakejvm")])
        self.addCleanup(fake.close)
        for size in (100000, 4096, 100, 0):
            # What the JVM has in memory of its file goes as well: it must not run any more.
            os.kill(fake.pid, signal.SIGSTOP)
            os.truncate(os.path.join(folder, "libjvm.so"), size)
            recorder = harness.Recorder(fake, self.path())
            self.addCleanup(recorder.close)
            self.assertEqual(recorder.wait(), 1, f"{size}: {recorder.err}")


class Mapped(FakeTest):
    """Any file that the target maps executable is looked at for marks, while it is recorded."""

    def mapped(self, make):
        folder = os.path.join(self.tmp, "files")
        os.mkdir(folder)
        make(folder)
        fake = HostileFake(self.tmp, folder)
        self.addCleanup(fake.close)
        recorder = self.record(self.furnish(fake), "--window", "50ms")
        fake.go_and_map()
        return fake, recorder

    def check(self, fake, recorder):
        """It goes on recording."""
        fake("in", "a", "gcbegin", "1")
        fake("in", "a", "gcend")
        log = recorder.stop()
        self.assertEqual(log.end(), "interrupted")
        self.assertEqual(len(log.of("gc_end")), 1)
        return log

    def test_files_that_are_no_libraries(self):
        """Their lists of probes were freed without having been made."""
        def make(folder):
            for i in range(30):
                with open(os.path.join(folder, f"f{i}"), "w", encoding="ascii") as f:
                    f.write("x\n")
        fake, recorder = self.mapped(make)
        log = self.log_with_windows(fake, recorder, 4)
        self.assertEqual(log.end(), "interrupted")

    def log_with_windows(self, fake, recorder, count):
        size = os.path.getsize(recorder.log_path)
        for _ in range(count):
            wait_until("another window", lambda: os.path.getsize(recorder.log_path) > size)
            size = os.path.getsize(recorder.log_path)
        return self.check(fake, recorder)

    def test_libraries_with_endless_headers_and_notes(self):
        def make(folder):
            source = os.path.join(harness.FAKE_DIR, "libjvm.so")
            evil_library(source, os.path.join(folder, "headers.so"), 4000000, endless_notes(20000))
            evil_library(source, os.path.join(folder, "spoor-mark.so"), 20000, endless_notes(20000))
            evil_library(source, os.path.join(folder, "spoor-mark-2.so"), 10, endless_notes(100000))
        fake, recorder = self.mapped(make)
        log = self.log_with_windows(fake, recorder, 2)
        self.assertTrue([n for n in log.notes() if "spoor-mark-2.so" in n and "not recorded" in n], log.notes())

    def test_more_files_than_are_looked_at(self):
        def make(folder):
            for i in range(6000):
                os.close(os.open(os.path.join(folder, f"f{i}"), os.O_CREAT | os.O_WRONLY))
        fake, recorder = self.mapped(make)
        wait_until("the note is in the log", lambda: "too many files are mapped" in
                   spoor("cat", recorder.log_path, expect=None).stdout)
        log = self.check(fake, recorder)
        self.assertEqual(len([n for n in log.notes() if "too many files are mapped" in n]), 1)


    def noted(self, recorder, text):
        """How many notes of it there are by now."""
        return spoor("cat", "-e", "note", recorder.log_path, expect=None).stdout.count(text)

    def test_marks_with_arguments_that_are_none(self):
        """What described them was kept, and its entry in the kernel's table was gone, though nothing was attached."""
        def make(folder):
            for i in range(150):
                mark_library(os.path.join(folder, f"spoor-mark-{i}.so"), b"nothing %d" % i)
        fake, recorder = self.mapped(make)
        wait_until("all were looked at", lambda: self.noted(recorder, "not recorded") == 150)
        mark_library(os.path.join(self.tmp, "files", "good.so"), b"8@%rdi 8@%rsi")
        fake.go_and_map()
        wait_until("the good one is recorded", lambda: self.noted(recorder, "good.so are recorded"))
        self.check(fake, recorder)

    def test_marks_with_arguments_of_megabytes(self):
        def make(folder):
            for i in range(32):
                mark_library(os.path.join(folder, f"spoor-mark-{i}.so"), b"%d" % i + b"x" * 2000000)
        fake, recorder = self.mapped(make)
        # Where three take half a second each, as the machine is busy, no more are looked at, and that is said.
        def given_up():
            return self.noted(recorder, "no more are looked at") and self.noted(recorder, "be parsed in time") == 2
        wait_until("all were looked at", lambda: self.noted(recorder, "not recorded") == 32 or given_up())
        most = int(status(recorder.pid)["VmHWM"].split()[0]) << 10
        if "ASAN_OPTIONS" not in os.environ:
            self.assertLess(most, 96 << 20)
        self.check(fake, recorder)

    def test_more_marks_than_the_kernels_table_has_room_for(self):
        """Each with arguments of its own. A library that has the same as an earlier one needs no room."""
        folder, old = os.path.join(self.tmp, "files"), os.path.join(self.tmp, "old")
        fake, recorder = self.mapped(lambda folder: None)
        for i in range(180):
            mark_library(os.path.join(folder, f"{i}.so"), b"8@$%d" % i)
            if i % 30 == 29:
                fake.go_and_map()
                wait_until("all were looked at", lambda: self.noted(recorder, "recorded") == i + 1)
                os.rename(folder, f"{old}{i}")
                os.mkdir(folder)
        # The JVM's own probes have some of the 256 entries, and each library two.
        refused = self.noted(recorder, "too many libraries describe")
        self.assertGreater(refused, 180 - 256 // 2)
        self.assertEqual(self.noted(recorder, "so are recorded") + refused, 180)
        mark_library(os.path.join(folder, "good.so"), b"8@$7")
        fake.go_and_map()
        wait_until("the good one is recorded", lambda: self.noted(recorder, "good.so are recorded"))
        self.check(fake, recorder)


class Parser(FakeTest):
    """The process that reads the target's files."""

    def test_it_has_no_rights_and_ends_with_the_recorder(self):
        recorder = self.record(self.start())
        both = parsers(recorder.pid)
        self.assertEqual(len(both), 2)
        for pid in both:
            s = status(pid)
            self.assertEqual([int(s[c], 16) for c in ("CapEff", "CapPrm", "CapInh", "CapAmb")], [0] * 4)
            self.assertEqual(s["NoNewPrivs"], "1")
            self.assertEqual(s["Seccomp"], "2")
            if not harness.is_sanitized():  # whose reports need stderr
                self.assertEqual(os.listdir(f"/proc/{pid}/fd"), ["0"])
        recorder.process.kill()
        recorder.process.wait()
        wait_until("they have ended", lambda: not any(os.path.exists(f"/proc/{p}") for p in both))

    def test_without_it_a_recording_goes_on(self):
        folder = os.path.join(self.tmp, "files")
        os.mkdir(folder)
        shutil.copy(os.path.join(harness.FAKE_DIR, "libjvm.so"), os.path.join(folder, "new.so"))
        fake = HostileFake(self.tmp, folder)
        self.addCleanup(fake.close)
        recorder = self.record(self.furnish(fake), "--window", "50ms")
        for pid in parsers(recorder.pid):
            os.kill(pid, signal.SIGKILL)
        fake.go_and_map()
        wait_until("the note is in the log", lambda: "no more are looked at" in
                   spoor("cat", recorder.log_path, expect=None).stdout)
        fake("in", "a", "gcbegin", "1")
        fake("in", "a", "gcend")
        log = recorder.stop()
        self.assertEqual(log.end(), "interrupted")
        self.assertEqual(len(log.of("gc_end")), 1)


class Signals(FakeTest):
    def test_one_that_attaches_ends_by_a_signal(self):
        """They were blocked, and looked at when it had attached: for a target that makes it wait, never."""
        fake = self.start()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            statuses = []
            # One that has attached by then ends, too, but not of the signal.
            while -number not in statuses:
                self.assertLess(len(statuses), 5, f"it always goes on attaching: {statuses}")
                recorder = harness.Recorder(fake, self.path(f"{number}-{len(statuses)}.spoor"))
                self.addCleanup(recorder.close)
                wait_until("it attaches", lambda: recorder.process.poll() is not None or parsers(recorder.pid))
                recorder.process.send_signal(number)
                statuses.append(recorder.wait())
            self.assertFalse(os.path.exists(recorder.log_path))
            self.assertEqual(fake.flag(), 0)


class Flood(FakeTest):
    def test_records_that_come_faster_than_they_are_read(self):
        """The ring was drained until it was empty, and that it never was: nothing but SIGKILL ended the recorder."""
        fake = self.start()
        recorder = self.record(fake, "--no-stacks", "--window", "100ms", "--buffer", "4M")
        # On one CPU, on which the thread that drains the ring gets less than the two that fill it.
        cpu = {min(os.sched_getaffinity(0))}
        os.sched_setaffinity(recorder.pid, cpu)
        os.setpriority(os.PRIO_PROCESS, recorder.pid, 12 if harness.is_sanitized() else 19)
        for thread in ("a", "b"):
            os.sched_setaffinity(fake.tids[thread], cpu)
            fake("go", thread, "storm", "m", 10 ** 8)
        wait_until("it counts what is lost, and goes on", lambda: '"lost"' in
                   spoor("cat", "-e", "lost", recorder.log_path, expect=None).stdout)
        recorder.process.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(), 0, recorder.err)
        self.assertEqual(fake.flag(), 0)
        spoor("verify", recorder.log_path)


class Exec(FakeTest):
    def test_another_program_in_the_jvms_place(self):
        """The recorder took `sleep` for its JVM, and had nothing to say about it."""
        fake = HostileFake(self.tmp, program="/bin/sleep")
        self.addCleanup(fake.close)
        recorder = self.record(self.furnish(fake), "--window", "50ms")
        fake.go()
        self.assertEqual(recorder.wait(), 0, recorder.err)
        self.assertIn("the process runs another program now", recorder.err)
        log = harness.Log(recorder.log_path)
        self.assertEqual(log.end(), "jvm_exited")
        self.assertTrue([n for n in log.notes() if "runs another program" in n], log.notes())
        self.assertEqual(read_text(f"/proc/{fake.pid}/comm").strip(), "sleep")


if __name__ == "__main__":
    unittest.main()
