"""spoor export --to cells and --to heatmap: by whatever rows are put together, the sums are those of the report."""
import collections
import csv
import io
import json
import os
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "web"))

from pages import make_log, shop, spoor  # noqa: E402
from test_page_profile import sampled  # noqa: E402

SLOT_NS = 20_000_000


def rows_of(*arguments):
    done = spoor("export", "--to", *arguments)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(io.StringIO(done.stdout, newline="")))


def told(*arguments):
    done = spoor(*arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def text_of(key):
    return key if isinstance(key, str) else " ".join(key)


class Maps(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.log = make_log(cls.folder.name, shop(1))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_cells_by_any_aspect(self):
        rows = rows_of("cells", self.log)
        self.assertGreater(len(rows), 100)
        for by, columns in (("lock_class", ["lock_class"]), ("lock", ["lock_class", "lock"]), ("group", ["group"]),
                            ("waiter_pool", ["waiter_pool"]), ("owner_method", ["owner_method"]),
                            ("waiter_class", ["waiter_class"]), ("owner_package", ["owner_package"]),
                            ("owner_source", ["owner_source"]), ("after_wait", ["after_wait"])):
            with self.subTest(by=by):
                sums = collections.defaultdict(lambda: [0, 0, 0])
                for row in rows:
                    of = sums[" ".join(row[c] for c in columns)]
                    for i, figure in enumerate(("count", "blocked_ns", "idle_ns")):
                        of[i] += int(row[figure])
                groups = told("report", "--by", by, "--format", "json", self.log)["groups"]
                self.assertEqual(dict(sums), {text_of(g["key"]): [g["count"], g["blocked_ns"], g["idle_ns"]]
                                              for g in groups})
        longest = max(int(row["max_ns"] or 0) for row in rows)
        locks = told("report", "--by", "lock", "--format", "json", self.log)["groups"]
        self.assertEqual(longest, max(g["max_ns"] for g in locks))
        for row in rows:
            self.assertEqual(bool(row["p50_ns"]), row["count"] != "0")
            if row["p50_ns"]:
                self.assertLessEqual(int(row["p50_ns"]), int(row["max_ns"]))
                self.assertGreater(int(row["p50_ns"]), 0)

    def test_where_chooses_cells(self):
        where = "waiter_thread=http-* and lock_class=shop.*"
        rows = rows_of("cells", "--where", where, self.log)
        total = told("report", "--by", "lock", "--where", where, "--format", "json", self.log)["total"]
        self.assertEqual(sum(int(row["blocked_ns"]) for row in rows), total["blocked_ns"])
        self.assertTrue(all(row["waiter_pool"] == "http-*" for row in rows))
        done = spoor("export", "--to", "cells", "--lines", self.log)
        self.assertEqual(done.returncode, 2)
        self.assertIn("takes --where alone", done.stderr)

    def test_blocked_time_by_windows(self):
        rows = rows_of("heatmap", self.log)
        self.assertEqual({row["what"] for row in rows}, {"contention"})
        lengths = {int(row["to_ns"]) - int(row["from_ns"]) for row in rows}
        self.assertEqual(len(lengths), 1)
        sums = collections.Counter()
        for row in rows:
            sums[row["lock_class"]] += int(row["ns"])
        groups = told("report", "--by", "lock_class", "--format", "json", self.log)["groups"]
        self.assertEqual(sums, {text_of(g["key"]): g["blocked_ns"] for g in groups})
        self.assertGreater(len({row["from_ns"] for row in rows}), 100)

    def test_where_chooses_what_a_map_shows(self):
        for where in ("waiter_thread=http-*", "owner_method=*.lookUp* or lock_class=*Cache*", "after_wait=no",
                      "duration='1-10 ms'", "in_gc=no and not waiter_thread=http-*"):
            with self.subTest(where=where):
                by = ("--by", "lock_class,waiter_thread", "--format", "json")
                report = told("report", *by, "--where", where, self.log)
                sums = collections.Counter()
                for row in rows_of("heatmap", "--where", where, self.log):
                    if row["what"] == "contention":
                        sums[row["lock_class"], row["thread"]] += int(row["ns"])
                asked = collections.Counter()
                for lock in report["groups"]:
                    for thread in lock["groups"]:
                        name = thread["key"] if isinstance(thread["key"], str) else thread["key"][0]
                        asked[text_of(lock["key"]), name] += thread["blocked_ns"]
                self.assertGreater(len(asked), 0)
                self.assertEqual(+sums, +asked)

    def test_where_by_what_cells_must_be_cut_by(self):
        """Each format that has contentions' time takes each aspect: the whole is the report's."""
        for where in ("duration='1-10 ms'", "owner_state=running or owner_state=runnable", "in_gc=no", "window=0*",
                      "span=*"):
            with self.subTest(where=where):
                total = told("report", "--by", "lock", "--where", where, "--format", "json", self.log)["total"]
                self.assertGreater(total["blocked_ns"], 0)
                cells = rows_of("cells", "--where", where, self.log)
                self.assertEqual(sum(int(row["blocked_ns"]) for row in cells), total["blocked_ns"])
                self.assertEqual(sum(int(row["count"]) for row in cells), total["count"])
                chains = spoor("export", "--to", "collapsed", "--where", where, self.log)
                self.assertEqual(chains.returncode, 0, chains.stderr)
                self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in chains.stdout.splitlines()),
                                 total["blocked_ns"])
        done = spoor("export", "--to", "chrome", "--where", "in_gc=no", self.log)
        self.assertEqual(done.returncode, 2)
        self.assertIn("--where is not for --to chrome", done.stderr)

    def test_samples_by_slots(self):
        log = make_log(self.folder.name, sampled(5), "sampled")
        rows = [row for row in rows_of("heatmap", log) if row["what"] == "samples"]
        whole = told("profile", "--format", "json", "--least", "0", log)
        self.assertEqual(sum(int(row["samples"]) for row in rows), whole["samples"])
        self.assertEqual(sum(int(row["ns"]) for row in rows), whole["sampled_ns"])
        for first, last in ((0, 3), (57, 60), (130, 199)):
            begin, end = first * SLOT_NS, (last + 1) * SLOT_NS
            part = told("profile", "--format", "json", "--least", "0", "--from", f"{begin}ns", "--to", f"{end}ns", log)
            here = [row for row in rows if begin <= int(row["from_ns"]) and int(row["to_ns"]) <= end]
            self.assertEqual(sum(int(row["samples"]) for row in here), part["samples"])
        self.assertGreater(whole["samples"], 500)


if __name__ == "__main__":
    unittest.main()
