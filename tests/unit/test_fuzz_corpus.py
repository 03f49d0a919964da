"""What the fuzz targets have found, or begin with, once more: each file of each corpus through its target."""
import glob
import os
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SPOOR_BUILD", os.path.join(ROOT, "build"))
SOURCES = sorted(glob.glob(os.path.join(ROOT, "tests/fuzz/*_fuzz.c")))
NAMES = [os.path.basename(path)[:-len("_fuzz.c")] for path in SOURCES]


class Corpus(unittest.TestCase):
    def test_each_target_has_one(self):
        folder = os.path.join(ROOT, "tests/fuzz/corpus")
        self.assertEqual(sorted(os.listdir(folder)), NAMES)
        for name in NAMES:
            self.assertTrue(os.listdir(os.path.join(folder, name)), name)


def test_of(name):
    def test(self):
        program = os.path.join(BUILD, "san/tests/fuzz", name + "_corpus")
        self.assertTrue(os.path.exists(program), f"{program} is not built: make unit-bins")
        folder = os.path.join(ROOT, "tests/fuzz/corpus", name)
        files = sorted(os.path.join(folder, f) for f in os.listdir(folder))
        done = subprocess.run([program, *files], capture_output=True, text=True, errors="replace", timeout=200)
        self.assertEqual(done.returncode, 0, done.stdout[-300:] + done.stderr)
        self.assertEqual(len(done.stdout.splitlines()), len(files))
    return test


for _name in NAMES:
    setattr(Corpus, f"test_{_name}", test_of(_name))

if __name__ == "__main__":
    unittest.main()
