""".ci/run is red when anything in it is: with an apt-get and a make that only say what they were asked for."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# Fails where its command line begins with what the file `broken` says.
TOOL = """#!/bin/sh
here=$(dirname "$0")/..
echo "$(basename "$0") $*" >>"$here/asked"
case "$(basename "$0") $*" in "$(cat "$here/broken")"*) exit 3 ;; esac
"""
STEPS = ("apt-get update", "apt-get install", "make test", "make analyze", "make fuzz")


class Ci(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="spoor-ci-")
        self.addCleanup(folder.cleanup)
        self.here = folder.name
        shutil.copytree(os.path.join(ROOT, ".ci"), self.path(".ci"))
        os.mkdir(self.path("bin"))
        for name in ("apt-get", "make"):
            with open(self.path("bin", name), "w", encoding="utf-8") as f:
                f.write(TOOL)
            os.chmod(f.name, 0o755)

    def path(self, *names):
        return os.path.join(self.here, *names)

    def run_ci(self, broken):
        """(exit status, what was asked for)"""
        for name, text in (("broken", broken), ("asked", "")):
            with open(self.path(name), "w", encoding="utf-8") as f:
                f.write(text)
        done = subprocess.run(["bash", self.path(".ci/run")], capture_output=True, text=True,
                              env={**os.environ, "PATH": f"{self.path('bin')}:{os.environ['PATH']}"})
        with open(self.path("asked"), encoding="utf-8") as f:
            return done.returncode, f.read().splitlines()

    def test_each_step_that_fails_ends_it(self):
        for step in STEPS:
            with self.subTest(step=step):
                status, asked = self.run_ci(step)
                self.assertNotEqual(status, 0)
                self.assertTrue(asked[-1].startswith(step), asked)

    def test_all_steps_are_taken(self):
        for broken in ("nothing", "make -s jvm-clean"):
            with self.subTest(broken=broken):
                status, asked = self.run_ci(broken)
                self.assertEqual(status, 0)
                self.assertEqual([next(s for s in (*STEPS, "make -s jvm-clean") if a.startswith(s)) for a in asked],
                                 [*STEPS, "make -s jvm-clean"])


class Packages(unittest.TestCase):
    def wanted(self, target):
        done = subprocess.run(["make", "-n", "-C", ROOT, target], capture_output=True, text=True, check=True)
        return set(re.search(r"for p in (.*?);", done.stdout)[1].split())

    def test_who_builds_spoor_gets_no_tests(self):
        build, test = self.wanted("setup"), self.wanted("test-setup")
        self.assertLess(build, test)
        self.assertFalse([p for p in build if "tomcat" in p or "cmocka" in p])

    def test_no_server_is_installed(self):
        """The package tomcat10 has a service, which begins with its installation."""
        self.assertIn("tomcat10-examples", self.wanted("test-setup"))
        for target in ("setup", "test-setup", "jvm-setup"):
            self.assertNotIn("tomcat10", self.wanted(target))


if __name__ == "__main__":
    unittest.main()
