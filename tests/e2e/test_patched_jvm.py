"""The JDK that make jvm has made: it runs, and has the probes that jvm-hooks/probes.h promises."""
import os
import re
import struct
import subprocess
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOTE = re.compile(r"Provider: spoor\s+Name: (\w+)\s+Location: (\w+), Base: \w+, Semaphore: (\w+)")
# What kernels from 6.18 on turn into a call.
NOP5 = bytes.fromhex("0f1f440000")
PT_LOAD = 1


def promised(major):
    with open(os.path.join(ROOT, "jvm-hooks/probes.h"), encoding="utf-8") as f:
        text = f.read()
    listed = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    # Object events are in the patches of JDK 17 only.
    listed = listed[listed.index("#define SPOOR_SWITCHES(X)" if major == 17 else "#define SPOOR_PROBES(X)"):]
    return set(re.findall(r"\bX\((\w+)\)", listed)) - {"X"}, int(re.search(r"#define SPOOR_HOOKS (\d+)", text)[1])


class Library:
    def __init__(self, path):
        self.path = path
        with open(path, "rb") as f:
            self.data = f.read()

    def notes(self):
        """(name, address, address of its semaphore) of each location of a probe."""
        text = subprocess.run(["readelf", "-nW", self.path], capture_output=True, text=True, check=True).stdout
        return [(name, int(location, 16), int(semaphore, 16)) for name, location, semaphore in NOTE.findall(text)]

    def symbol(self, name):
        text = subprocess.run(["nm", "-D", "--defined-only", self.path], capture_output=True, text=True,
                              check=True).stdout
        return int(re.search(rf"^(\w+) \w {name}(?:@|$)", text, re.M)[1], 16)

    def at(self, address, size):
        """Bytes of the file."""
        offset, entry, count = struct.unpack_from("<Q14xHH", self.data, 32)
        for i in range(count):
            kind, _, begin, virtual, _, length, _, _ = struct.unpack_from("<IIQQQQQQ", self.data, offset + i * entry)
            if kind == PT_LOAD and virtual <= address and address + size <= virtual + length:
                return self.data[begin + address - virtual:][:size]
        raise AssertionError(f"{address:#x} is not in {self.path}")


class PatchedJvm(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = os.environ.get("SPOOR_JVM")
        if not cls.home:
            raise unittest.SkipTest("there is no patched JVM: make jvm")
        cls.library = Library(os.path.join(cls.home, "lib/server/libjvm.so"))

    def test_it_has_the_probes_that_are_promised(self):
        with open(os.path.join(self.home, "release"), encoding="utf-8") as f:
            major = int(re.search(r'JAVA_VERSION="(\d+)', f.read())[1])
        names, version = promised(major)
        self.assertGreater(len(names), 10)
        self.assertEqual({name for name, _, _ in self.library.notes()}, names)
        self.assertEqual(self.library.at(self.library.symbol("spoor_hooks"), 4), struct.pack("<i", version))

    def test_each_probe_is_a_nop_behind_a_semaphore(self):
        semaphores = {}
        self.assertTrue(self.library.notes())
        for name, address, semaphore in self.library.notes():
            with self.subTest(probe=name):
                self.assertEqual(self.library.at(address, 5), NOP5)
                self.assertEqual(semaphores.setdefault(name, semaphore), semaphore)
                self.assertEqual(self.library.at(semaphore, 2), b"\0\0")
        self.assertEqual(len(set(semaphores.values())), len(semaphores))

    def test_it_runs_with_its_own_archive_of_classes(self):
        for collector in ("Serial", "Parallel", "G1"):
            for more in ((), ("-XX:-UseCompressedOops",), ("-Xint",), ("-XX:TieredStopAtLevel=1",)):
                with self.subTest(collector=collector, more=more):
                    done = subprocess.run([os.path.join(self.home, "bin/java"), f"-XX:+Use{collector}GC", "-Xshare:on",
                                           *more, "-version"], capture_output=True, text=True)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertIn("-spoor", done.stderr)


if __name__ == "__main__":
    unittest.main()
