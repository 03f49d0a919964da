"""make install and uninstall: what is there afterwards, and that it works."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("SPOOR_BUILD", os.path.join(ROOT, "build")))


def version():
    with open(os.path.join(ROOT, "user/base/version.h"), encoding="utf-8") as f:
        return re.search(r'SPOOR_VERSION "(.*)"', f.read())[1]


class Install(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="spoor-install-")
        self.addCleanup(shutil.rmtree, self.folder)

    def make(self, target):
        environ = {k: v for k, v in os.environ.items() if not k.startswith("MAKE") and k != "MFLAGS"}
        given = [f"O={os.path.relpath(BUILD, ROOT)}", f"DESTDIR={self.folder}", "PREFIX=/usr"]
        done = subprocess.run(["make", "-s", *given, target], cwd=ROOT, capture_output=True, text=True, env=environ)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def files(self):
        return sorted(os.path.relpath(os.path.join(folder, name), self.folder)
                      for folder, _, names in os.walk(self.folder) for name in names)

    def completions(self, *words):
        script = os.path.join(self.folder, "usr/share/bash-completion/completions/spoor")
        lines = (f'. {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _spoor; '
                 'printf "%s\\n" "${COMPREPLY[@]}"')
        done = subprocess.run(["bash", "-c", lines, "bash", "spoor", *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split()

    def test_what_is_installed_works_and_goes_again(self):
        self.make("install")
        files = self.files()
        for name in ("bin/spoor", "share/man/man1/spoor-record.1", "share/java/spoor-mark.jar",
                     "share/bash-completion/completions/spoor", "share/spoor/systemd/spoor@.service"):
            self.assertIn(f"usr/{name}", files)
        self.assertEqual(len([f for f in files if f.endswith(".1")]), len(os.listdir(os.path.join(ROOT, "docs/man"))))
        program = os.path.join(self.folder, "usr/bin/spoor")
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
        self.assertIn(version(), said)
        self.assertEqual(self.completions("report", "--sort", "=", "p9"), ["p90", "p99", "p999"])
        self.assertEqual(self.completions("report", "--by", "=", "owner_so"), ["owner_source"])
        self.assertEqual(self.completions("heap", "c"), ["callers", "check", "churn"])
        self.assertEqual(self.completions("help", "pr"), ["profile"])
        self.assertEqual(self.completions("re"), ["record", "report", "repair"])
        self.assertEqual(self.completions("report", "--fo"), ["--force", "--format="])
        self.assertEqual(self.completions("report", "--format", "=", "j"), ["json"])
        self.assertEqual(self.completions("export", "-t", "s"), ["speedscope"])
        general = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
        commands = re.findall(r"^  ([a-z]+) {2,}", general, re.M)
        self.assertGreater(len(commands), 15)
        for command in commands:
            told = subprocess.run([program, command, "--help"], capture_output=True, text=True, check=True).stdout
            completed = [name.rstrip("=") for name in self.completions(command, "--")]
            for name in re.findall(r"^ {2,6}(?:-\S, )?(--[a-z][a-z-]+)", told, re.M):
                self.assertIn(name, completed, command)
        self.make("uninstall")
        self.assertEqual(self.files(), [])

    def test_the_version_is_in_one_place(self):
        paths = ["Makefile", "user", "docs", "deploy", "README.md"]
        done = subprocess.run(["git", "grep", "-IlF", version(), "--", *paths], cwd=ROOT, capture_output=True,
                              text=True)
        self.assertEqual(done.stdout.split(), ["user/base/version.h"])


if __name__ == "__main__":
    unittest.main()
