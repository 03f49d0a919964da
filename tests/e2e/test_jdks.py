"""JDKs 21 and 25 as they come (tests/jdk/fetch): what is proved for 17 holds for them."""
import unittest

import jvm
import test_exact
import test_holders
import test_holding
import test_jfr
import test_pauses
import test_spans
import test_stacks
import test_switches
import test_unloading
import test_wall


class Jdk21(jvm.OtherJavaTest):
    MAJOR = 21


class Jdk25(jvm.OtherJavaTest):
    MAJOR = 25


class Stacks21(Jdk21, test_stacks.Stacks):
    pass


class Stacks25(Jdk25, test_stacks.Stacks):
    pass


class Holders21(Jdk21, test_holders.Holders):
    pass


class Holders25(Jdk25, test_holders.Holders):
    pass


class Holding21(Jdk21, test_holding.Holding):
    pass


class Holding25(Jdk25, test_holding.Holding):
    pass


class Jfr21(Jdk21, test_jfr.Jfr):
    pass


class Jfr25(Jdk25, test_jfr.Jfr):
    pass


class Pauses21(Jdk21, test_pauses.Pauses):
    pass


class Pauses25(Jdk25, test_pauses.Pauses):
    def test_serial(self):
        self.run_with("Serial", one_by_one=True)

    def test_parallel(self):
        self.run_with("Parallel", one_by_one=True)


class Exact21(Jdk21, test_exact.Stock):
    pass


class Exact25(Jdk25, test_exact.Stock):
    pass


class Wall21(Jdk21, test_wall.Wall):
    pass


class Wall25(Jdk25, test_wall.Wall):
    pass


class Spans21(Jdk21, test_spans.Stock):
    pass


class Spans25(Jdk25, test_spans.Stock):
    pass


class Unloading21(Jdk21, test_unloading.Unloading):
    pass


class Unloading25(Jdk25, test_unloading.Unloading):
    pass


class SwitchesExact21(Jdk21, test_switches.Exact):
    pass


class SwitchesExact25(Jdk25, test_switches.Exact):
    pass


class SwitchesHolders21(Jdk21, test_switches.Holders):
    pass


class SwitchesHolders25(Jdk25, test_switches.Holders):
    pass


class SwitchesStacks21(Jdk21, test_switches.Stacks):
    pass


class SwitchesStacks25(Jdk25, test_switches.Stacks):
    pass


if __name__ == "__main__":
    unittest.main()
