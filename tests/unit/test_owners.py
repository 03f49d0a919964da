"""Logs of other users are read on demand only: by every command that reads one."""
import os
import subprocess
import tempfile
import unittest

from program import SPOOR
import everybody

HERE = os.path.dirname(os.path.abspath(__file__))
LOG = os.path.join(HERE, "..", "..", "schemas", "golden", "v1.spoor")
NOBODY, SOMEBODY = 65534, 65533
COMMANDS = [("report",), ("time",), ("spans",), ("cat",), ("cat", "-r"), ("cat", "-H"), ("verify",),
            ("export", "--to", "jsonl"), ("export", "--to", "chrome"), ("export", "--to", "collapsed"),
            ("repair", "-o", "OUT")]


@unittest.skipIf(os.geteuid(), "only root can make files of others")
class Owners(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="spoor-owners-")
        self.addCleanup(folder.cleanup)
        self.program = everybody.copy(folder.name, SPOOR)
        self.folder, self.path = folder.name, os.path.join(folder.name, "a.spoor")
        with open(LOG, "rb") as from_file, open(self.path, "wb") as to:
            to.write(from_file.read())
        os.chmod(self.path, 0o644)

    def run_as(self, user, command, path, *more):
        return subprocess.run([self.program, *command, *more, path], capture_output=True, text=True, user=user,
                              check=False, env={"LANG": "C.UTF-8"})

    def test_who_reads_whose(self):
        for owner, user, allowed in ((0, 0, True), (0, NOBODY, True), (NOBODY, NOBODY, True), (NOBODY, 0, False),
                                     (NOBODY, SOMEBODY, False)):
            os.chown(self.path, owner, owner)
            for command in COMMANDS:
                with self.subTest(owner=owner, user=user, command=command):
                    if command[0] == "repair":
                        command = (*command[:2], os.path.join(tempfile.gettempdir(), f"spoor-owners-{os.getpid()}"))
                        self.addCleanup(lambda out=command[2]: os.path.exists(out) and os.unlink(out))
                    done = self.run_as(user, command, self.path)
                    said = f"{self.path}: it belongs to user {owner}, neither to you nor to root" in done.stderr
                    self.assertEqual(said, not allowed, done.stderr)
                    if allowed:
                        self.assertEqual(done.returncode, 0, done.stderr)
                    else:
                        self.assertEqual((done.returncode, done.stdout), (1, ""))
                        done = self.run_as(user, command, self.path, "--force")
                        self.assertEqual(done.returncode, 0, done.stderr)
                    if command[0] == "repair":
                        os.unlink(command[2])

    def test_folders_and_patterns(self):
        other = os.path.join(self.folder, "b.spoor")
        os.link(self.path, other)
        os.chown(self.path, NOBODY, NOBODY)
        for arg in (self.folder, os.path.join(self.folder, "*.spoor"), os.path.join(self.folder, "a.sp*")):
            done = self.run_as(0, ("verify",), arg)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("it belongs to user", done.stderr)

    def test_what_steal_replays(self):
        samples = os.path.join(HERE, "..", "golden", "steal-json", "samples")
        with open(samples, "rb") as from_file, open(self.path, "wb") as to:
            to.write(from_file.read())
        os.chown(self.path, NOBODY, NOBODY)
        done = self.run_as(0, ("steal", "--input"), self.path)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("it belongs to user", done.stderr)
        done = self.run_as(0, ("steal", "--force", "--input"), self.path)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_standard_input_was_opened_by_who_asks(self):
        os.chown(self.path, NOBODY, NOBODY)
        with open(self.path, "rb") as log:
            done = subprocess.run([SPOOR, "cat", "-H", "-"], stdin=log, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
