"""Classes and code that vanish while they are recorded: no name may be that of another. SPOOR_UNLOADING_EVENTS=1e6
takes a million events in each mode; python3 tests/e2e/unloading.py does the same outside of a test."""
import unittest

from jvm import JavaTest  # first: it says where harness is
import chains
import unloading
import soaking
from soaking import only_in_soak


# The others have frames whose code was gone before its name could be read: a busy machine has more of them.
RIGHT = 0.8


class Unloading(JavaTest):
    def check(self, mode, events=unloading.EVENTS):
        result = unloading.run(mode, self.classes, self.path(), events, self.home)
        print(unloading.describe(result), flush=True)
        self.assertEqual(result.counts[chains.WRONG], 0, "\n".join(result.bad[:5]))
        self.assertEqual(result.owners[chains.WRONG], 0, "\n".join(result.bad[:5]))
        self.assertEqual(result.locks["wrong"], 0, "\n".join(result.bad[:5]))
        # It has happened, and has been seen.
        self.assertGreater(result.unloaded, 10)
        total = sum(result.counts.values())
        self.assertGreater(total, events / 2)
        self.assertGreater(result.counts[chains.RIGHT], total * RIGHT)
        self.assertGreater(result.locks["right"], total / 4)

    @only_in_soak
    def test_serial(self):
        self.check("serial")

    def test_g1(self):
        self.check("g1")

    @only_in_soak
    def test_c1(self):
        self.check("c1")

    def test_interpreted(self):
        # The interpreter takes four times as long for each event.
        self.check("int", unloading.EVENTS if soaking.is_on() else unloading.EVENTS // 4)


if __name__ == "__main__":
    unittest.main()
