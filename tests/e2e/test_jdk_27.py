"""JDKs 26 and 27 as they come: what is proved for 25 holds for them. 27 has compact headers and its table of monitors unless
it is told otherwise, and no class pointers of 8 bytes."""
import unittest

import test_jdk_25
import test_unmounted
import test_virtual
import test_virtual_park
from other_jdks import always
from soaking import only_in_soak


@always("test_tiered")
class Stacks27(test_jdk_25.Stacks25):
    MAJOR = 27

    def test_headers_of_before(self):
        self.check("not_compact")


@always("test_matrix", "test_zgc", "test_headers_of_before")
class Holders27(test_jdk_25.Holders25):
    MAJOR = 27
    test_stack_locks = None  # JDK 27 does not have them any more

    def test_headers_of_before(self):
        self.check(60, 1, "-XX:-UseCompactObjectHeaders", pct=5)

is_slow = True  # see soaking.py: make test has 17


class Holding27(test_jdk_25.Holding25):
    MAJOR = 27


@only_in_soak
class Jfr27(test_jdk_25.Jfr25):
    MAJOR = 27


@only_in_soak
class Jtreg27(test_jdk_25.Jtreg25):
    MAJOR = 27


class RedZone27(test_jdk_25.RedZone25):
    MAJOR = 27
    ROOT = "forky"


@always("test_g1")
class Gc27(test_jdk_25.Gc25):
    MAJOR = 27


@only_in_soak
class Pauses27(test_jdk_25.Pauses25):
    MAJOR = 27


@only_in_soak
class Exact27(test_jdk_25.Exact25):
    MAJOR = 27


@only_in_soak
class Spans27(test_jdk_25.Spans25):
    MAJOR = 27


@only_in_soak
class Unloading27(test_jdk_25.Unloading25):
    MAJOR = 27


@only_in_soak
class SwitchesExact27(test_jdk_25.SwitchesExact25):
    MAJOR = 27


@always("test_matrix")
class SwitchesHolders27(test_jdk_25.SwitchesHolders25):
    MAJOR = 27


@only_in_soak
class SwitchesStacks27(test_jdk_25.SwitchesStacks25):
    MAJOR = 27


class Virtual27(test_virtual.Virtual25):
    MAJOR = 27


@only_in_soak
class Unmounted27(test_unmounted.Unmounted25):
    MAJOR = 27


@only_in_soak
class Parks27(test_virtual_park.Parks25):
    MAJOR = 27


@only_in_soak
class Stacks26(test_jdk_25.Stacks25):
    MAJOR = 26


@always("test_matrix")
class Holders26(test_jdk_25.Holders25):
    MAJOR = 26
    test_stack_locks = None  # likewise


@only_in_soak
class Exact26(test_jdk_25.Exact25):
    MAJOR = 26


@only_in_soak
class SwitchesStacks26(test_jdk_25.SwitchesStacks25):
    MAJOR = 26

if __name__ == "__main__":
    unittest.main()
