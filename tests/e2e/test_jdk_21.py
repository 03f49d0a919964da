"""JDK 21 as it comes: what is proved for 17 holds for it."""
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

is_slow = True  # see soaking.py: make test has 17


class Jdk21(jvm.OtherJavaTest):
    MAJOR = 21


@always("test_c2")
class Stacks21(Jdk21, test_stacks.Stacks):
    pass


@always("test_matrix", "test_lock_stacks", "test_shenandoah_without_a_pause", "test_zgc", "test_zgc_generational")
class Holders21(Jdk21, test_holders.Holders):
    def test_shenandoah(self):
        self.check(60, 1, "-XX:+UseShenandoahGC", "-Xmx256m", pct=5)

    def test_shenandoah_without_a_pause(self):
        self.check(60, 1, *jvm.SHENANDOAH_WITHOUT_A_PAUSE, pct=5)

    def test_lock_stacks(self):
        self.check(60, 1, "-XX:+UnlockExperimentalVMOptions", "-XX:LockingMode=2", pct=5)

    def test_zgc_generational(self):
        self.check(60, 1, "-XX:+UseZGC", "-XX:+ZGenerational", "-Xmx256m", pct=5)


@only_in_soak
class Holding21(Jdk21, test_holding.Holding):
    pass


@only_in_soak
class Jfr21(Jdk21, test_jfr.Jfr):
    pass


@only_in_soak
class Jtreg21(Jdk21, test_jtreg.Jtreg):
    THROWN = test_jtreg.LATER_THROWN


class RedZone21(LibraryOfRoot, Jdk21, test_red_zone.Stock):
    ROOT = "trixie"


@always("test_g1")
class Pauses21(Jdk21, test_pauses.Pauses):
    pass


@always("test_g1")
class Gc21(Jdk21, test_gc.Gc):
    pass


@only_in_soak
class Exact21(Jdk21, test_exact.Stock):
    pass


@only_in_soak
class Wall21(Jdk21, test_wall.Wall):
    pass


@only_in_soak
class Spans21(Jdk21, test_spans.Stock):
    pass


@only_in_soak
class Unloading21(Jdk21, test_unloading.Unloading):
    pass


@only_in_soak
class SwitchesExact21(Jdk21, test_switches.Exact):
    pass


@always("test_g1")
class SwitchesMoved21(Jdk21, test_switches.Moved):
    """Their parks are read as a collector moves them."""


@always("test_matrix")
class SwitchesHolders21(Jdk21, test_switches.Holders):
    pass


@only_in_soak
class SwitchesStacks21(Jdk21, test_switches.Stacks):
    pass


if __name__ == "__main__":
    unittest.main()
