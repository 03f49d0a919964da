"""JDK 11 as it comes: what is proved for 17 holds for it."""
import unittest

import jvm
import test_exact
import test_holders
import test_holding
import test_jfr
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


class Jdk11(jvm.OtherJavaTest):
    MAJOR = 11


@always("test_c2")
class Stacks11(Jdk11, test_stacks.Stacks):
    INLINED_BY_C2 = 3  # it depends on when C2 gets the CPU to compile which of them

    @only_in_soak
    def test_zgc(self):
        self.check("zgc")

    @only_in_soak
    def test_shenandoah(self):
        self.check("shenandoah")


@always("test_matrix", "test_biased_locks_off", "test_small_heap", "test_zgc")
class Holders11(Jdk11, test_holders.Holders):
    def test_biased_locks_off(self):
        """They are on, if nothing else is said."""
        self.check(60, 1, "-XX:-UseBiasedLocking", pct=5)

    def test_small_heap(self):
        self.check(60, 1, "-Xmx64m", pct=5)

    def test_zgc(self):
        self.check(60, 1, "-XX:+UnlockExperimentalVMOptions", "-XX:+UseZGC", "-Xmx256m", pct=5)

    def test_shenandoah(self):
        self.check(60, 1, "-XX:+UseShenandoahGC", "-Xmx256m", pct=5)


class Holding11(Jdk11, test_holding.Holding):
    pass


@only_in_soak
class Jfr11(Jdk11, test_jfr.Jfr):
    pass


class RedZone11(LibraryOfRoot, Jdk11, test_red_zone.Stock):
    ROOT = "bullseye"


class Pauses11(Jdk11, test_pauses.Pauses):
    pass


@only_in_soak
class Exact11(Jdk11, test_exact.Stock):
    pass


@always("test_each_thing_has_its_state")
class Wall11(Jdk11, test_wall.Wall):
    pass


class Spans11(Jdk11, test_spans.Stock):
    # The first one to want a monitor that is biased to another thread waits for the VM to take that back.
    BEFORE = {"lock": ("other",)}


@always("test_g1")
class Unloading11(Jdk11, test_unloading.Unloading):
    pass


@only_in_soak
class SwitchesExact11(Jdk11, test_switches.Exact):
    pass


@always("test_g1")
class SwitchesMoved11(Jdk11, test_switches.Moved):
    """Their parks are read as a collector moves them."""


@always("test_matrix")
class SwitchesHolders11(Jdk11, test_switches.Holders):
    test_zgc = Holders11.test_zgc


@only_in_soak
class SwitchesStacks11(Jdk11, test_switches.Stacks):
    INLINED_BY_C2 = Stacks11.INLINED_BY_C2


if __name__ == "__main__":
    unittest.main()
