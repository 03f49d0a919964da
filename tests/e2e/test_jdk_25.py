"""JDK 25 as it comes: what is proved for 17 holds for it."""
import unittest

import jvm
import test_exact
import test_gc
import test_holders
import test_holding
import test_jfr
import test_jtreg
import test_pauses
import test_red_zone
import test_spans
import test_stacks
import test_switches
import test_unloading
import test_wall
from other_jdks import LibraryOfRoot, always
from soaking import only_in_soak

is_slow = True  # see soaking.py: of 25, make test has virtual threads and the profile


class Jdk25(jvm.OtherJavaTest):
    MAJOR = 25


@always("test_c2", "test_tiered")
class Stacks25(Jdk25, test_stacks.Stacks):
    def test_compact_headers(self):
        self.check("compact")

    def test_zgc(self):
        self.check("zgc")

    def test_shenandoah(self):
        self.check("shenandoah")


class Holders25(Jdk25, test_holders.Holders):
    def test_compact_headers(self):
        self.check(60, 1, "-XX:+UseCompactObjectHeaders", pct=5)

    def test_shenandoah(self):
        self.check(60, 1, "-XX:+UseShenandoahGC", "-Xmx256m", pct=5)

    def test_shenandoah_without_a_pause(self):
        self.check(60, 1, *jvm.SHENANDOAH_WITHOUT_A_PAUSE, pct=5)

    def test_zgc_with_compact_headers(self):
        self.check(60, 1, "-XX:+UseZGC", "-XX:+UseCompactObjectHeaders", "-Xmx256m", pct=5)

    def test_monitor_table(self):
        self.check(60, 1, "-XX:+UnlockDiagnosticVMOptions", "-XX:+UseObjectMonitorTable", pct=5)

    def test_stack_locks(self):
        self.check(60, 1, "-XX:+UnlockExperimentalVMOptions", "-XX:LockingMode=1", pct=5)


class Holding25(Jdk25, test_holding.Holding):
    pass


class Jfr25(Jdk25, test_jfr.Jfr):
    pass


class Jtreg25(Jdk25, test_jtreg.Jtreg):
    THROWN = test_jtreg.LATER_THROWN


class RedZone25(LibraryOfRoot, Jdk25, test_red_zone.Stock):
    ROOT = "trixie"


@always("test_g1", "test_zgc")
class Gc25(Jdk25, test_gc.Gc):
    pass


class Pauses25(Jdk25, test_pauses.Pauses):
    """Each collection of an operation is told by itself."""

    def test_serial(self):
        self.run_with("Serial", one_by_one=True)

    def test_parallel(self):
        self.run_with("Parallel", one_by_one=True)


class Exact25(Jdk25, test_exact.Stock):
    pass


@always("test_each_thing_has_its_state")
class Wall25(Jdk25, test_wall.Wall):
    pass


class Spans25(Jdk25, test_spans.Stock):
    pass


@always("test_zgc")
class Unloading25(Jdk25, test_unloading.Unloading):
    def test_zgc(self):
        """Objects move while threads run, and references to them have colors."""
        self.check("zgc")


@only_in_soak
class SwitchesExact25(Jdk25, test_switches.Exact):
    pass


@always("test_matrix", "test_zgc")
class SwitchesHolders25(Jdk25, test_switches.Holders):
    pass


@always("test_c2")
class SwitchesStacks25(Jdk25, test_switches.Stacks):
    pass


if __name__ == "__main__":
    unittest.main()
