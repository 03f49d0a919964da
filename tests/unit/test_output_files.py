"""What spoor writes is for its owner alone, and never goes through a link: from outside, by command lines."""
import os
import stat
import subprocess
import tempfile
import unittest

from program import SPOOR

HERE = os.path.dirname(os.path.abspath(__file__))
LOG = os.path.join(HERE, "..", "..", "schemas", "golden", "v1.spoor")
NOBODY = 65534


def mode_of(path):
    return stat.S_IMODE(os.stat(path).st_mode)


class OutputFiles(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="spoor-output-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        was = os.umask(0)
        self.addCleanup(os.umask, was)
        self.log = self.path("log.spoor")
        with open(LOG, "rb") as from_file, open(self.log, "wb") as to:
            to.write(from_file.read())

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def spoor(self, *args, expect=0):
        done = subprocess.run([SPOOR, *args], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def exports(self):
        for form in ("collapsed", "speedscope", "firefox", "chrome", "jsonl"):
            for end in ("", ".gz"):
                yield form, self.path(form + end)

    def test_modes(self):
        for form, out in self.exports():
            with self.subTest(out=out):
                self.spoor("export", "--to", form, "-o", out, self.log)
                self.assertEqual(mode_of(out), 0o600)
                os.chmod(out, 0o666)
                self.spoor("export", "--to", form, "-o", out, self.log)
                self.assertEqual(mode_of(out), 0o600)
                self.spoor("export", "--to", form, "--mode", "0640", "-o", out, self.log)
                self.assertEqual(mode_of(out), 0o640)
        self.spoor("repair", "-o", self.path("clean.spoor"), self.log)
        self.assertEqual(mode_of(self.path("clean.spoor")), 0o600)

    def test_modes_of_folders(self):
        for mode, of_folder, options in ((0o600, 0o700, ()), (0o644, 0o755, ("--mode", "0644"))):
            out = self.path(f"tables{mode}")
            self.spoor("export", "--to", "csv", *options, "-o", out, self.log)
            self.assertEqual(mode_of(out), of_folder)
            files = os.listdir(out)
            self.assertGreater(len(files), 3)
            self.assertEqual({mode_of(os.path.join(out, f)) for f in files}, {mode})

    def test_modes_that_are_none(self):
        for mode in ("", "rw", "0", "0700", "0444", "06000", "0608", "-1", "0400"):
            with self.subTest(mode=mode):
                done = self.spoor("export", "--to", "jsonl", "--mode", mode, "-o", self.path("x"), self.log, expect=2)
                self.assertIn("--mode is", done.stderr)
        self.assertFalse(os.path.exists(self.path("x")))

    def test_links(self):
        victim = self.path("victim")
        for make in (os.symlink, os.link):
            for form, out in self.exports():
                with self.subTest(out=out, make=make.__name__):
                    with open(victim, "w", encoding="utf-8") as f:
                        f.write("as it was")
                    make(victim, out)
                    done = self.spoor("export", "--to", form, "-o", out, self.log, expect=1)
                    self.assertIn(f"{out}: cannot write it: it ", done.stderr)
                    with open(victim, encoding="utf-8") as f:
                        self.assertEqual(f.read(), "as it was")
                    self.assertEqual(mode_of(victim), 0o666)
                    os.unlink(out)
        os.symlink(victim, self.path("clean.spoor"))
        self.spoor("repair", "-f", "-o", self.path("clean.spoor"), self.log, expect=1)
        with open(victim, encoding="utf-8") as f:
            self.assertEqual(f.read(), "as it was")

    @unittest.skipIf(os.geteuid(), "only root can make files of others")
    def test_what_others_have_laid(self):
        """As the audit had it: a folder for everybody, and in it a link, a folder's link, a file of another user."""
        everybody, victims = self.path("everybody"), self.path("victims")
        os.mkdir(victims)
        os.mkdir(everybody)
        os.chmod(everybody, 0o1777)
        victim = os.path.join(victims, "f")
        with open(victim, "w", encoding="utf-8") as f:
            f.write("as it was")
        os.symlink(victim, os.path.join(everybody, "file"))
        os.symlink(victims, os.path.join(everybody, "folder"))
        with open(os.path.join(everybody, "theirs"), "w", encoding="utf-8") as f:
            f.write("theirs")
        for name in os.listdir(everybody):
            os.chown(os.path.join(everybody, name), NOBODY, NOBODY, follow_symlinks=False)
        os.chmod(self.folder, 0o755)
        for out in ("file", "folder/f", "theirs"):
            with self.subTest(out=out):
                done = self.spoor("export", "--to", "jsonl", "-o", os.path.join(everybody, out), self.log, expect=1)
                self.assertRegex(done.stderr, "it is a link|it belongs to another user")
        with open(victim, encoding="utf-8") as f:
            self.assertEqual(f.read(), "as it was")
        self.assertEqual(mode_of(victim), 0o666)

    def test_descriptors_and_devices(self):
        wanted = self.spoor("export", "--to", "jsonl", self.log).stdout
        self.assertEqual(self.spoor("export", "--to", "jsonl", "-o", "/dev/stdout", self.log).stdout, wanted)
        self.spoor("export", "--to", "jsonl", "-o", "/dev/null", self.log)
        ours, theirs = os.pipe()
        process = subprocess.Popen([SPOOR, "export", "--to", "jsonl", "-o", f"/dev/fd/{theirs}", self.log],
                                   pass_fds=[theirs])
        os.close(theirs)
        with open(ours, encoding="utf-8") as f:
            self.assertEqual(f.read(), wanted)
        self.assertEqual(process.wait(), 0)


if __name__ == "__main__":
    unittest.main()
