"""The page's part about objects: its tables are those of spoor objects."""
import json
import os
import unittest

from heap_logs import Objects
from pages import CLASSES, METHODS, MS, PageTest, make_log, make_page, names, spoor

CLASSES_OF = ["shop.Order", "shop.</script><b>Cart", "char[]"]
ROWS = """() => [...document.querySelectorAll("#objects-table tbody tr")].map(row =>
    [...row.cells].filter(cell => cell.dataset.n).map(cell => +cell.dataset.n))"""
CHOOSE = """by => {
  const select = document.getElementById("objects-by");
  select.value = by;
  select.dispatchEvent(new Event("change"));
}"""


class WithObjects(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        log = Objects(CLASSES_OF)
        for i in range(5):
            log.collect([40 + i, 10, 7 * i], [4, 1, i])
        cls.log = log.write(os.path.join(cls.folder, "objects.spoor"), end=True)
        cls.page = make_page(cls.log)
        cls.browser("open", file=cls.page)

    def told(self, by):
        done = spoor("objects", "--by", by, "--top", "1000", "--format", "json", self.log)
        return json.loads(done.stdout)["rows"]

    def test_who_allocates(self):
        keys = ("bytes", "objects", "survived_bytes", "survived")
        for by in ("class", "site", "chain", "method"):
            with self.subTest(by=by):
                self.js(CHOOSE, by)
                rows = [[row[key] for key in keys if key in row] for row in self.told(by)]
                self.assertGreaterEqual(len(rows), 3)
                self.assertEqual(self.js(ROWS), sorted(rows, key=lambda row: -row[0]))
        text = self.js("() => document.getElementById('objects').textContent")
        self.assertIn("spoor heap page", text)
        self.quiet()

    def test_collections(self):
        shown = self.js("() => document.querySelectorAll('#objects-collections tbody tr').length")
        self.assertEqual(shown, len(self.told("collection")))
        self.assertEqual(shown, 5)
        self.quiet()

    def test_for_everybody(self):
        self.browser("open", file=self.page, scheme="light", width=320)
        self.assertEqual(self.browser("axe"), [])
        over = self.js("() => document.documentElement.scrollWidth - innerWidth")
        self.assertLessEqual(over, 0, "the page is wider than the window")
        self.browser("open", file=self.page)
        self.quiet()


class Without(PageTest):
    def test_a_log_without_objects(self):
        end = {"time_ns": 2000 * MS, "event": "end", "reason": "done"}
        self.browser("open", file=make_page(make_log(self.folder, [*names(["a"], CLASSES, METHODS), end], "nothing")))
        self.assertIn("no object events", self.js("() => document.getElementById('objects').textContent"))
        self.quiet()


if __name__ == "__main__":
    unittest.main()
