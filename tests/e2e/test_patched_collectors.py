"""ZGC and Shenandoah in a patched JVM that has them (JDK 21 and 25): objects move while threads run, and what its probes tell
is the same: numbers without a gap, each holder in its turn, the scenes of programs/Exact.java by their own stamps."""
import os
import subprocess
import unittest

import jvm  # first: it says where harness is
import exact
import test_exact
import test_virtual_exact

COLLECTORS = {"zgc": "-XX:+UseZGC", "shenandoah": "-XX:+UseShenandoahGC"}


class Built(jvm.PatchedJavaTest):
    """Of a JVM whose build has left these collectors out nothing is asked."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for option in COLLECTORS.values():
            done = subprocess.run([os.path.join(cls.home, "bin/java"), option, "-version"], capture_output=True, text=True)
            if done.returncode:
                raise unittest.SkipTest(f"the patched JDK {cls.MAJOR} is built without it: {option}")


class Storms(Built):
    """Virtual and platform threads at one monitor, with notify, timeouts and interrupts."""
    unmount = True
    storm = test_virtual_exact.Storm.storm
    check_turns = test_virtual_exact.Storm.check_turns
    check_waits = test_virtual_exact.Storm.check_waits

    def test_zgc(self):
        self.storm(COLLECTORS["zgc"], "-Xmx256m")

    def test_shenandoah(self):
        self.storm(COLLECTORS["shenandoah"], "-Xmx256m")


class Scenes(Built):
    check = test_exact.Exact.check

    def test_zgc(self):
        self.check("zgc")

    def test_shenandoah(self):
        self.check("shenandoah")

    def test_shenandoah_without_a_pause(self):
        self.check("shenandoah_without_a_pause")


if __name__ == "__main__":
    unittest.main()
