"""JDKs 11, 21 and 25 as they come (tests/jdk/fetch): what is proved for 17 holds for them."""
import os
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
from soaking import only_in_soak


def always(*names):
    """Of a class of tests, all but these are run in a soak only: that much is new in a JDK is seen by few."""
    def marked(cls):
        for name in unittest.defaultTestLoader.getTestCaseNames(cls):
            if name not in names:
                setattr(cls, name, only_in_soak(lambda self, test=getattr(cls, name): test(self)))
        return cls
    return marked


class Jdk11(jvm.OtherJavaTest):
    MAJOR = 11


class Jdk21(jvm.OtherJavaTest):
    MAJOR = 21


class Jdk25(jvm.OtherJavaTest):
    MAJOR = 25


@always("test_c2", "test_tiered")
class Stacks11(Jdk11, test_stacks.Stacks):
    INLINED_BY_C2 = 3  # it depends on when C2 gets the CPU to compile which of them

    @only_in_soak
    def test_zgc(self):
        self.check("zgc")

    @only_in_soak
    def test_shenandoah(self):
        self.check("shenandoah")


@always("test_c2", "test_tiered")
class Stacks21(Jdk21, test_stacks.Stacks):
    pass


@always("test_c1", "test_c2", "test_tiered")
class Stacks25(Jdk25, test_stacks.Stacks):
    def test_compact_headers(self):
        self.check("compact")

    def test_zgc(self):
        self.check("zgc")

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


@always("test_matrix", "test_lock_stacks", "test_zgc", "test_zgc_generational")
class Holders21(Jdk21, test_holders.Holders):
    def test_shenandoah(self):
        self.check(60, 1, "-XX:+UseShenandoahGC", "-Xmx256m", pct=5)

    def test_lock_stacks(self):
        self.check(60, 1, "-XX:+UnlockExperimentalVMOptions", "-XX:LockingMode=2", pct=5)

    def test_zgc_generational(self):
        self.check(60, 1, "-XX:+UseZGC", "-XX:+ZGenerational", "-Xmx256m", pct=5)


class Holders25(Jdk25, test_holders.Holders):
    def test_compact_headers(self):
        self.check(60, 1, "-XX:+UseCompactObjectHeaders", pct=5)

    def test_shenandoah(self):
        self.check(60, 1, "-XX:+UseShenandoahGC", "-Xmx256m", pct=5)

    def test_zgc_with_compact_headers(self):
        self.check(60, 1, "-XX:+UseZGC", "-XX:+UseCompactObjectHeaders", "-Xmx256m", pct=5)

    def test_monitor_table(self):
        self.check(60, 1, "-XX:+UnlockDiagnosticVMOptions", "-XX:+UseObjectMonitorTable", pct=5)

    def test_stack_locks(self):
        self.check(60, 1, "-XX:+UnlockExperimentalVMOptions", "-XX:LockingMode=1", pct=5)


class Holding11(Jdk11, test_holding.Holding):
    pass


@only_in_soak
class Holding21(Jdk21, test_holding.Holding):
    pass


class Holding25(Jdk25, test_holding.Holding):
    pass


class Jfr11(Jdk11, test_jfr.Jfr):
    pass


@only_in_soak
class Jfr21(Jdk21, test_jfr.Jfr):
    pass


class Jfr25(Jdk25, test_jfr.Jfr):
    pass


class Jtreg21(Jdk21, test_jtreg.Jtreg):
    THROWN = test_jtreg.LATER_THROWN


class Jtreg25(Jdk25, test_jtreg.Jtreg):
    THROWN = Jtreg21.THROWN


class RedZone11(Jdk11, test_red_zone.Stock):
    ROOT = "bullseye"

    def library(self):
        return os.path.join(os.environ["SPOOR_JDKS"], self.ROOT, f"usr/lib/jvm/java-{self.MAJOR}-openjdk-amd64",
                            "lib/server/libjvm.so")


class RedZone21(Jdk21, test_red_zone.Stock):
    ROOT = "trixie"
    library = RedZone11.library


class RedZone25(Jdk25, test_red_zone.Stock):
    ROOT = "trixie"
    library = RedZone11.library


class Pauses11(Jdk11, test_pauses.Pauses):
    pass


@always("test_g1")
class Pauses21(Jdk21, test_pauses.Pauses):
    pass


@always("test_g1")
class Gc21(Jdk21, test_gc.Gc):
    pass


@always("test_g1", "test_zgc")
class Gc25(Jdk25, test_gc.Gc):
    pass


class Pauses25(Jdk25, test_pauses.Pauses):
    """Each collection of an operation is told by itself."""

    def test_serial(self):
        self.run_with("Serial", one_by_one=True)

    def test_parallel(self):
        self.run_with("Parallel", one_by_one=True)


@only_in_soak
class Exact11(Jdk11, test_exact.Stock):
    pass


@only_in_soak
class Exact21(Jdk21, test_exact.Stock):
    pass


class Exact25(Jdk25, test_exact.Stock):
    pass


@always("test_each_thing_has_its_state")
class Wall11(Jdk11, test_wall.Wall):
    pass


@only_in_soak
class Wall21(Jdk21, test_wall.Wall):
    pass


@always("test_each_thing_has_its_state")
class Wall25(Jdk25, test_wall.Wall):
    pass


class Spans11(Jdk11, test_spans.Stock):
    # The first one to want a monitor that is biased to another thread waits for the VM to take that back.
    BEFORE = {"lock": ("other",)}


@only_in_soak
class Spans21(Jdk21, test_spans.Stock):
    pass


class Spans25(Jdk25, test_spans.Stock):
    pass


@always("test_g1")
class Unloading11(Jdk11, test_unloading.Unloading):
    pass


@always("test_g1")
class Unloading21(Jdk21, test_unloading.Unloading):
    pass


@always("test_zgc")
class Unloading25(Jdk25, test_unloading.Unloading):
    def test_zgc(self):
        """Objects move while threads run, and references to them have colors."""
        self.check("zgc")


@only_in_soak
class SwitchesExact11(Jdk11, test_switches.Exact):
    pass


@only_in_soak
class SwitchesExact21(Jdk21, test_switches.Exact):
    pass


@only_in_soak
class SwitchesExact25(Jdk25, test_switches.Exact):
    pass


@always("test_matrix")
class SwitchesHolders11(Jdk11, test_switches.Holders):
    test_zgc = Holders11.test_zgc


@always("test_matrix")
class SwitchesHolders21(Jdk21, test_switches.Holders):
    pass


@always("test_matrix", "test_zgc")
class SwitchesHolders25(Jdk25, test_switches.Holders):
    pass


@always("test_c2")
class SwitchesStacks11(Jdk11, test_switches.Stacks):
    INLINED_BY_C2 = Stacks11.INLINED_BY_C2


@only_in_soak
class SwitchesStacks21(Jdk21, test_switches.Stacks):
    pass


@always("test_c2")
class SwitchesStacks25(Jdk25, test_switches.Stacks):
    pass


if __name__ == "__main__":
    unittest.main()
