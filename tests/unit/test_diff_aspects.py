"""spoor diff by aspects for which a contention's time is cut: each side has what report says of its log."""
import json
import os
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "web"))

from pages import make_log, shop, spoor  # noqa: E402


def told(*arguments):
    done = spoor(*arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def leaves(groups, above=()):
    for group in groups:
        key = (*above, group["key"][0])
        if group.get("groups"):
            yield from leaves(group["groups"], key)
        else:
            yield key, (group["blocked_ns"] - group["idle_ns"], group["count"])


class Aspects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.logs = {side: make_log(cls.folder.name, shop(seed), side) for side, seed in (("before", 1), ("after", 2))}

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_each_side_is_its_own_report(self):
        for by in ("in_gc", "duration", "owner_state", "span", "duration,in_gc"):
            rows = told("diff", "--by", by, "--all", "--format", "json", *self.logs.values())["by"]
            for side, log in self.logs.items():
                with self.subTest(by=by, side=side):
                    found = {row["name"]: (row[side]["ns"], row[side]["count"]) for row in rows
                             if row[side]["ns"] or row[side]["count"]}
                    wanted = {" > ".join(key): figures for key, figures
                              in leaves(told("report", "--by", by, "--format", "json", log)["groups"]) if any(figures)}
                    self.assertEqual({name.replace(" <- ", " > "): figures for name, figures in found.items()}, wanted)
                    self.assertGreater(len(wanted), 0)

    def test_where(self):
        where = "duration='1-10 ms' and in_gc=no"
        totals = told("diff", "--where", where, "--all", "--format", "json", *self.logs.values())["totals"]
        blocked = next(row for row in totals if row["name"] == "blocked")
        for side, log in self.logs.items():
            total = told("report", "--by", "lock", "--where", where, "--format", "json", log)["total"]
            self.assertGreater(total["count"], 0)
            self.assertEqual(blocked[side]["count"], total["count"])

    def test_refused(self):
        for arguments, words in ((("--by", "lock,window"), "windows are not the same ones on both sides"),
                                 (("--where", "window=0*"), "'spoor report' alone has the aspect 'window'"),
                                 (("--by", "lock,lock"), "the aspect 'lock' is there twice"),
                                 (("--by", "lok"), "there is no aspect 'lok'")):
            done = spoor("diff", *arguments, *self.logs.values())
            self.assertEqual(done.returncode, 2)
            self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
