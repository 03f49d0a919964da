"""No probe stands where something lives below the stack pointer (tests/red_zone.py): stock and patched JVMs, and the
library of the jar for marks. The probes of a patched JVM are nops of 5 bytes, all others begin with one of 1."""
import os
import tempfile
import unittest
import zipfile

import jvm  # first: it says where harness is
import red_zone
from harness import BUILD

MARK_JAR = os.path.join(BUILD, "spoor-mark.jar")


class RedZone(unittest.TestCase):
    def check(self, library, prefix):
        """Of the probes with this prefix, how many nops of which size there are."""
        nops, faults = red_zone.check(library)
        self.assertEqual(faults, [])
        own = {s.name for s in red_zone.sites(library) if s.name.startswith(prefix)}
        self.assertGreater(len(own), 0)
        return nops, own

    def test_mark(self):
        if not os.path.exists(MARK_JAR):
            self.skipTest("there is no spoor-mark.jar: make mark")
        with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(MARK_JAR) as jar:
            library = jar.extract("spoor/libspoor-mark-linux-amd64.so", folder)
            nops, own = self.check(library, "spoor_mark:")
        self.assertEqual((nops, own), ({1: 2}, {"spoor_mark:begin", "spoor_mark:end"}))


class Stock(jvm.JavaTest):
    check = RedZone.check

    def library(self):
        home = os.path.dirname(os.path.dirname(os.path.realpath(jvm.jdk_tool("java", self.home))))
        return os.path.join(home, "lib/server/libjvm.so")

    def test_libjvm(self):
        nops, _ = self.check(self.library(), "hotspot:")
        self.assertEqual(set(nops), {1})


class Patched(jvm.PatchedJavaTest, Stock):
    def test_libjvm(self):
        nops, own = self.check(self.library(), "spoor:")
        self.assertEqual(set(nops), {1, 5})
        self.assertGreaterEqual(nops[5], len(own))


if __name__ == "__main__":
    unittest.main()
