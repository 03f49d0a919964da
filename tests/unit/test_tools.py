"""Programs that measure, or look at, spoor: a compiler or a spoor that fails is no result. Both are scripts here."""
import os
import subprocess
import sys
import tempfile
import unittest

from program import ROOT

sys.path.append(os.path.join(ROOT, "tests/lint"))
import analyze  # noqa: E402


class Tool(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="spoor-tools-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def script(self, name, text):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\n{text}\n")
        os.chmod(path, 0o755)
        return path


class Scale(Tool):
    def run_with(self, spoor):
        self.script("bench/scale_load", 'echo "$3" >"$1"')
        return subprocess.run([sys.executable, "-B", os.path.join(ROOT, "bench/scale"), "-n", "1", "-s", "monitors",
                               "-c", "report", "--limit", "1"], capture_output=True, text=True,
                              env={**os.environ, "O": self.folder, "SPOOR": self.script("spoor", spoor)})

    def test_a_crash_is_no_time(self):
        for ends in ("exit 2", "exit 99", "echo told >&2; kill -SEGV $$"):
            with self.subTest(ends=ends):
                done = self.run_with(ends)
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("report: status", done.stderr)

    def test_a_damaged_log_and_one_that_takes_too_long(self):
        self.assertEqual(self.run_with("exit 1").returncode, 0)
        done = self.run_with("kill -XCPU $$")
        self.assertEqual(done.returncode, 1)
        self.assertIn("over 1 s", done.stdout)


class Analyze(Tool):
    def run_with(self, more):
        said = "".join(f"{path}: In function '{function}':\n{path}:1:2: warning: x [-Wanalyzer-{kind}]\n"
                       for path, function, kind in analyze.ANSWERS)
        compiler = self.script("cc", f"cat >&2 <<'END'\n{said}END\n{more}")
        script = os.path.join(ROOT, "tests/lint/analyze.py")
        return subprocess.run([sys.executable, "-B", script, compiler, "--", "x.c"], capture_output=True, text=True)

    def test_a_compiler_that_fails_after_its_findings(self):
        done = self.run_with("")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("0 of them not answered", done.stdout)
        done = self.run_with("echo 'x.c:9:9: error: expected' >&2; exit 1")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("error: expected", done.stderr)


if __name__ == "__main__":
    unittest.main()
