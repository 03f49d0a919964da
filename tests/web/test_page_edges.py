"""Pages of logs that are empty, cut, damaged, of the smallest and of the largest kind: they say what the text says."""
import json
import os
import unittest

from pages import CLASSES, METHODS, MS, PageTest, contention, lock, make_log, names, shop, spoor
from test_page import EACH, fragment

PAGE_BYTES = 5_000_000
SUMS = """() => {
  const [, work, , , blocked, idle, count] = document.querySelector("#rows tr").cells;
  return [+work.dataset.ns, +blocked.dataset.ns, +idle.dataset.ns, +count.dataset.count];
}"""
END = {"time_ns": 2000 * MS, "event": "end", "reason": "done"}
LOST = {"time_ns": 1900 * MS, "event": "lost", "event_id": 20, "place": "ring_buffer", "count": 1203}


def base(count=60):
    return list(shop(4, count))[:-1]


def cut_in_blocks(lines, how):
    """The log in three blocks; something happens to the second."""
    third = len(lines) // 3
    yield from lines[:third]
    yield {"block": "next"}
    yield from lines[third:2 * third]
    yield {"block": how}
    yield from lines[2 * third:]
    yield END


def threads(count):
    """Each is blocked once, all by the same."""
    yield from names([f"t{i:05}" for i in range(count)], CLASSES, METHODS)
    yield lock(1, 1)
    for i in range(2, count + 1):
        yield from contention(1000 * MS + i * 100_000, 50_000 + i, i, 1, 1, (0, 0))
    yield {"time_ns": 1000 * MS + (count + 9) * 100_000, "event": "end", "reason": "done"}


class Edges(PageTest):
    def made(self, lines, name):
        log = make_log(self.folder, lines, name)
        done = spoor("html", "-o", f"{log}.html", log)
        return log, f"{log}.html", done

    def compare(self, lines, name, warnings=(), status=0, **more):
        """The text is the command's, its warnings are the page's first, and the sums are those of JSON."""
        log, page, done = self.made(lines, name)
        self.assertEqual(done.returncode, status, done.stderr)
        self.browser("open", file=page, **more)
        text = spoor("report", log).stdout
        self.assertEqual(self.js(EACH, ["#text", "textContent"]), [text])
        first = self.js("() => document.getElementById('overview').innerText")
        shown = self.js(EACH, ["#overview .lost li", "textContent"])
        self.assertEqual(bool(shown), bool(warnings), shown)
        for warning in warnings:
            self.assertIn(warning, " ".join(text.split()))
            self.assertIn(warning, " ".join(first.split()))
        total = json.loads(spoor("report", "--by", "lock", "--format", "json", log).stdout)["total"]
        self.assertEqual(self.js(SUMS), [total["blocked_ns"] - total["idle_ns"], total["blocked_ns"], total["idle_ns"],
                                     total["count"]])
        self.quiet()
        self.assertLess(os.path.getsize(page), PAGE_BYTES)
        os.unlink(page)
        return first

    def test_nothing_but_a_header(self):
        self.assertIn("No thread was blocked", self.compare([{"header": {}}, END], "header"))

    def test_no_contention(self):
        first = self.compare([*names(["a", "b"], CLASSES, METHODS), END], "quiet")
        self.assertIn("No thread was blocked", first)
        self.assertIn("Nothing was lost", first)

    def test_no_length(self):
        """All at one moment."""
        lines = [*names(["a", "b"], CLASSES, METHODS), lock(1, 1), *contention(1000 * MS, 0, 1, 1, 2, (0, 0)),
                 {**END, "time_ns": 1000 * MS}]
        self.compare(lines, "moment")

    def test_one_thread(self):
        lines = [*names(["main"], CLASSES, METHODS), lock(1, 1), *contention(1100 * MS, 5 * MS, 1, 1, 0, (0, 0)), END]
        first = self.compare(lines, "one")
        self.assertIn("shop.ProductTable", first)

    def test_no_end(self):
        self.compare(base(), "no-end", ["ended not properly: the recorder was killed"], status=1)

    def test_damaged(self):
        self.compare(cut_in_blocks(base(), "damage"), "damaged", ["THE LOG IS DAMAGED"], status=1)

    def test_a_hole(self):
        self.compare(cut_in_blocks(base(), "lose"), "hole", ["THE LOG IS DAMAGED"], status=1)

    def test_cut(self):
        self.compare([*base(), END, {"cut_bytes": 7}], "cut", ["THE LOG IS DAMAGED"], status=1)

    def test_lost_events(self):
        lines = sorted([*base(), LOST], key=lambda line: line.get("time_ns", 0))
        self.compare([*lines, END], "lost", ["1,203 EVENTS WERE LOST. Counts and times of these kinds are lower bounds:",
                                             "the ring buffer was full"])

    def test_a_newer_spoor(self):
        """Of what it does not know it says that it is there; of another format it makes nothing."""
        lines = [{**line, "header": {**line["header"], "spoor": "99.0.0"}} if "header" in line else line for line in base()]
        self.compare([*lines, END], "newer")
        _, page, done = self.made([{"header": {"version": 2}}, END], "format")
        self.assertEqual(done.returncode, 1)
        self.assertIn("a newer spoor wrote this log", done.stderr)
        self.assertFalse(os.path.exists(page))

    def test_an_empty_file(self):
        log = os.path.join(self.folder, "empty.spoor")
        with open(log, "wb"):
            pass
        done, report = spoor("html", "-o", f"{log}.html", log), spoor("report", log)
        self.assertEqual((done.returncode, done.stderr), (report.returncode, report.stderr))
        self.assertIn("not a spoor log", done.stderr)
        self.assertFalse(os.path.exists(f"{log}.html"))

    def test_thirty_thousand_threads(self):
        first = self.compare(threads(30_000), "threads", hash=fragment(["waiter_thread"]))
        self.assertIn("t00000", first)
        more = self.js("() => [...document.querySelectorAll('#rows tr')].at(-1).textContent")
        self.assertIn("29,899 more", more)


if __name__ == "__main__":
    unittest.main()
