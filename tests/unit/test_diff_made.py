"""spoor diff on made recordings, of which it is known what differs (bench/diff_made asks the same a hundred times)."""
import json
import os
import subprocess
import tempfile
import unittest

import waiting_logs
from program import SPOOR
from waiting_logs import LOCKS, SAME, SCENES

PARTS = ("totals", "locks", "methods", "pools", "pauses")


class Made(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def log(self, name, seed, factors=SAME, seconds=10, scene="even"):
        return waiting_logs.write(os.path.join(self.folder, f"{name}.spoor"), seed, scene, seconds, factors)

    def diff(self, *args):
        done = subprocess.run([SPOOR, "diff", "--format", "json", *args], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    @staticmethod
    def blocked(found):
        return next(r for r in found["totals"] if r["name"] == "blocked")

    def test_the_figures_are_those_of_the_waits(self):
        log = self.log("a", 1, (1, 1.5, 1))
        sums = [0] * len(LOCKS)
        for begin, end, _, lock in waiting_logs.waits(waiting_logs.random.Random(1), "even", 10, (1, 1.5, 1)):
            sums[lock] += end - begin
        found = self.diff(log, log)
        self.assertEqual({r["name"]: r["before"]["ns"] for r in found["locks"]}, dict(zip(LOCKS, sums)))
        self.assertEqual(self.blocked(found)["after"]["ns"], sum(sums))

    def test_a_log_and_itself(self):
        log = self.log("a", 2)
        found = self.diff(log, log)
        self.assertEqual(found["verdict"], "no_difference")
        for part in PARTS:
            for row in found[part]:
                self.assertEqual(row["change_ns"], 0, (part, row))
                self.assertNotEqual(row["by_chance"], "no", (part, row))
        for side in ("waiters", "owners"):
            chains = found["call_chains"][side]
            self.assertEqual([chains[k] for k in ("overlap", "hot_before_in_after", "hot_after_in_before")], [1] * 3)

    def test_one_lock_of_a_copy_is_held_for_twice_as_long(self):
        """It comes first, the sentence names it, in both directions; what is after is before, signs are mirrored."""
        for number, name in enumerate(LOCKS):
            for scene in ("even", "tails"):
                with self.subTest(name, scene=scene):
                    there, back = self.both_ways(3, number, scene)
                    self.assertEqual((there["verdict"], back["verdict"]), ("more_waiting", "less_waiting"))
                    for found, verb in ((there, "rose"), (back, "fell")):
                        self.assertRegex(found["sentences"][0], rf"^Waiting for locks {verb} from .* of that is in "
                                         rf"{name}\.want <- {name}\.hold\.$")

    def both_ways(self, seed, number, scene):
        factors = tuple(2 if i == number else 1 for i in range(len(LOCKS)))
        logs = [self.log("a", seed, SAME, 10, scene), self.log("b", seed, factors, 10, scene)]
        there, back = self.diff(*logs), self.diff(*reversed(logs))
        for found in (there, back):
            self.assertEqual(found["locks"][0]["name"], LOCKS[number])
            self.assertEqual(found["locks"][0]["by_chance"], "no")
        for part in PARTS:
            self.assertEqual(
                {r["name"]: (r["before"], r["after"], r["change_ns"], r["by_chance"]) for r in there[part]},
                {r["name"]: (r["after"], r["before"], -r["change_ns"], r["by_chance"]) for r in back[part]})
        return there, back

    def test_one_lock_where_the_sum_of_all_is_too_noisy(self):
        """A fifth of all waiting doubles, in load that comes in waves: the sum may be chance, that lock's is not."""
        there, back = self.both_ways(3, 2, "waves")
        for found, verb in ((there, "rose"), (back, "fell")):
            self.assertEqual(found["verdict"], "no_difference")
            self.assertRegex(found["sentences"][0],
                             rf"no difference that stands out; .*\. But waiting for shop\.Cart {verb} from ")

    def test_five_percent(self):
        """A minute of tenths that differ by 1 %, and its halves."""
        for seed in range(2):
            with self.subTest(seed):
                before = self.log("a", 2 * seed, SAME, 60)
                after = self.log("b", 2 * seed + 1, (1.05,) * len(LOCKS), 60)
                self.assertEqual(self.diff(before, after)["verdict"], "more_waiting")
                self.assertEqual(self.diff(after, before)["verdict"], "less_waiting")
                self.assertEqual(self.diff("--before", "..30s", "--after", "30s..", before)["verdict"], "no_difference")


if __name__ == "__main__":
    unittest.main()
