"""The page's parts about threads' states over time and stolen time: spoor time and the report say the same."""
import json
import random
import unittest

from pages import CLASSES, METHODS, MS, PageTest, make_log, make_page, names, spoor
from test_page_profile import CHOOSE, sampled
from test_page_spans import SET, STATES

ROWS = """() => [...document.querySelectorAll("#states tbody tr")].map(row =>
    [row.cells[0].textContent, row.cells[2].dataset.states.split(",").map(Number)])"""
SPAN = """id => { const d = document.querySelector(`#${id} p[data-from]`).dataset; return [+d.from, +d.to]; }"""
STOLEN = """() => [...document.querySelectorAll("#steal-threads tbody tr")].map(row =>
    [row.cells[0].textContent, +row.cells[2].dataset.n, +row.cells[4].dataset.n])"""
HOST = """() => [...document.querySelectorAll("#steal-host tbody tr")].map(row => +row.cells[2].dataset.n)"""


class States(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.lines = list(sampled(9))
        cls.log = make_log(cls.folder, cls.lines, "states")
        cls.page = make_page(cls.log)
        cls.browser("open", file=cls.page)

    def expected(self, by, begin, end):
        told = json.loads(spoor("time", "--by", by, "--format", "json", self.log).stdout)
        inside = [i for i, w in enumerate(told["windows"]) if begin <= w["from_ns"] and w["to_ns"] <= end]
        self.assertEqual(told["windows"][inside[0]]["from_ns"], begin)
        self.assertEqual(told["windows"][inside[-1]]["to_ns"], end)
        rows = {}
        for row in told["rows"]:
            sums = [sum(row["windows"][i]["states"][f"{s}_ns"] for i in inside) for s in STATES]
            if any(sums):
                rows[row["name"]] = sums
        return rows

    def compare(self):
        begin, end = self.js(SPAN, "states")
        for by, value in (("thread", "threads"), ("pool", "pools")):
            self.js(CHOOSE, ["states-by", value])
            rows = self.expected(by, begin, end)
            self.assertEqual(dict(self.js(ROWS)), rows)
            self.assertEqual({name: [stolen, runnable] for name, stolen, runnable in self.js(STOLEN)},
                             {name: [sums[1], sums[2]] for name, sums in rows.items() if sums[1] or sums[2]})
        return begin, end

    def test_the_whole_log(self):
        self.js(SET, "#")
        self.compare()
        cpus = json.loads(spoor("report", "--format", "json", self.log).stdout)["cpus"]
        sums = [sum(cpu[key] for cpu in cpus) for key in ("stolen_ns", "jvm_stolen_ns", "other_stolen_ns",
                                                          "idle_stolen_ns", "stat_steal")]
        self.assertEqual(self.js(HOST), [*sums[:4], sums[4] * 10 * MS])
        self.assertGreater(sums[0], 0)
        self.quiet()

    def test_ranges(self):
        chance = random.Random(4)
        count = self.js("() => +document.querySelector('#course svg').getAttribute('viewBox').split(' ')[2]")
        for _ in range(5):
            a = chance.randint(0, count - 80)
            self.js(SET, f"#range={a}-{a + chance.randint(30, 79)}")
            begin, end = self.compare()
            shown = [float(t) for t in self.js("() => [...document.querySelectorAll('#range-from, #range-to')].map("
                                               "e => e.value)")]
            self.assertLess(abs(begin / 1e9 - shown[0]), 0.1)
            self.assertLess(abs(end / 1e9 - shown[1]), 0.1)
            self.assertEqual(self.js(HOST)[0], self.taken(begin, end))
        self.quiet()

    def taken(self, begin, end):
        """From all CPUs, by the log's own events."""
        last, taken = {}, 0
        for line in self.lines:
            if line.get("event") == "cpu_sample":
                at = line["time_ns"] - 1000 * MS
                if line["cpu"] in last and begin < at <= end:
                    taken += line["clock_ns"] - last[line["cpu"]]
                last[line["cpu"]] = line["clock_ns"]
        return taken

    def test_for_everybody(self):
        self.browser("open", file=self.page, scheme="light", width=320)
        self.assertEqual(self.browser("axe"), [])
        over = self.js("() => document.documentElement.scrollWidth - innerWidth")
        self.assertLessEqual(over, 0, "the page is wider than the window")
        self.browser("open", file=self.page)
        self.quiet()


class Without(PageTest):
    def test_a_machine_without_a_steal_clock(self):
        lines = list(sampled(3, 1))
        lines[0]["header"]["sources"]["steal"] = "none"
        self.browser("open", file=make_page(make_log(self.folder, lines, "none")))
        self.assertIn("clock could not be read", self.js("() => document.getElementById('steal').textContent"))
        self.quiet()

    def test_nothing(self):
        end = {"time_ns": 2000 * MS, "event": "end", "reason": "done"}
        self.browser("open", file=make_page(make_log(self.folder, [*names(["a"], CLASSES, METHODS), end], "nothing")))
        for part in ("states", "steal"):
            self.assertTrue(self.js("id => document.getElementById(id).textContent", part))
        self.quiet()


if __name__ == "__main__":
    unittest.main()
