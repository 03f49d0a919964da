"""spoor heap page in a browser: its rows are those of the objects, between any two moments; hostile names do nothing."""
import json
import os
import urllib.parse

from heap_logs import Objects, dump
from pages import PageTest, spoor

CLASSES = ["com.acme.Order", "com.acme.Request", "net.Page"]
ROUNDS = 6
BYTES = 16
# By round and class: born, and of these those that stay.
BORN, STAY = (3, 50, 8), ((3, 0, 8), (3, 0, 0))
HOSTILE = ["a.</script><script>alert(1)</script>", "b.<img src=x onerror=alert(2)>", "c.\"'><svg onload=alert(3)>",
           "\u202eevil\u202c", "<!--<script>", "@DATA@", "__proto__", "javascript:alert(4)"]

SET = """async hash => {
  const before = document.documentElement.dataset.ready;
  if ((location.hash || "#") === hash) return;
  location.hash = hash;
  while (document.documentElement.dataset.ready === before) await new Promise(r => setTimeout(r, 1));
}"""
ROWS = """() => {
  document.getElementById("open-all").click();
  return [...document.querySelectorAll("#rows tr")].map(row => [
    +row.getAttribute("aria-level"), row.querySelector(".text").textContent,
    ...["bytes", "objects", "net", "born", "died", "temporary"].map(
        name => +(row.querySelector(`[data-${name}]`)?.dataset[name] ?? NaN))]);
}"""


def fragment(**parts):
    return "#" + urllib.parse.urlencode({k: v for k, v in parts.items() if v})


class HeapPage(PageTest):
    def page(self, source, *options):
        path = os.path.join(self.folder, "heap.html")
        done = spoor("heap", "page", "-o", path, *options, source)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.browser("open", file=path)
        return path

    def story(self):
        objects = Objects(CLASSES)
        for i in range(ROUNDS):
            objects.collect(BORN, STAY[min(i, 1)])
        return objects.write(os.path.join(self.folder, "log.spoor"))

    def rows(self, **state):
        self.js(SET, fragment(**state))
        return self.js(ROWS)

    def test_each_interval(self):
        log = self.story()
        self.page(log)
        for first in range(ROUNDS):
            for last in range(first + 1, ROUNDS):
                with self.subTest(first=first, last=last):
                    rows = {row[1]: row[2:] for row in self.rows(by="type", range=f"{first}-{last}")}
                    between = last - first
                    # Of each round three orders stay, of the first also eight pages.
                    self.assertEqual(rows["com.acme.Order"],
                                     [3 * BYTES * (last + 1), 3 * (last + 1), *[3 * BYTES * between] * 2, 0, 0])
                    self.assertEqual(rows["com.acme.Request"], [0, 0, 0, 0, 0, 50 * BYTES * between])
                    self.assertEqual(rows["net.Page"], [8 * BYTES, 8, 0, 0, 0, 8 * BYTES * between])
                    told = json.loads(spoor("heap", "diff", "--from", f"gc:{first + 1}", "--to", f"gc:{last + 1}", "--by",
                                            "type", "--format", "json", log).stdout)
                    for group in told["groups"]:
                        self.assertEqual(rows[group["key"]][2:],
                                         [group["net_bytes"], group["born_bytes"], group["died_bytes"],
                                          group["temporary_bytes"]])
        self.quiet()

    def test_the_whole_log_filtered_and_nested(self):
        self.page(self.story())
        rows = self.rows(by="package,type,site", where="type=com.acme.*", sort="temporary")
        self.assertEqual([row[:2] for row in rows],
                         [[1, "all objects"], [2, "com.acme"], [3, "com.acme.Request"], [4, "com.acme.Request.make2:2"],
                          [3, "com.acme.Order"], [4, "com.acme.Order.make1:1"]])
        self.assertEqual(rows[0][2:], [3 * BYTES * ROUNDS, 3 * ROUNDS, *[3 * BYTES * ROUNDS] * 2, 0, 50 * BYTES * ROUNDS])
        self.assertIn("18 objects, 288 B, are alive at the log's end", self.js("() => overview.textContent"))
        self.js(SET, fragment(where="colour=red"))
        self.assertTrue(self.js("() => document.getElementById('where-error').textContent"))
        self.quiet()

    def test_keys_choose_two_moments(self):
        self.page(self.story())
        self.js("() => document.querySelector('#course svg').focus()")
        self.browser("press", keys=["ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "ArrowRight"])
        self.assertEqual(self.js("() => location.hash"), "#range=1-3")
        self.assertIn("GC 2 (2.00 s) and GC 4 (4.00 s)", self.js("() => document.getElementById('range-text').textContent"))
        self.browser("press", keys=["Escape"])
        self.assertEqual(self.js("() => location.hash"), "")
        self.js("() => document.querySelector('#rows tr').focus()")
        self.browser("press", keys=["ArrowDown", "ArrowRight"])
        self.assertEqual(self.js("() => document.querySelectorAll('#rows [aria-expanded=true]').length"), 2)
        self.assertIn("after each collection", self.js("() => details.textContent").lower())
        self.assertEqual(self.browser("axe"), [])
        self.quiet()

    def test_a_dump(self):
        self.page(dump(os.path.join(self.folder, "app.hprof"), CLASSES, (5, 7, 1)))
        rows = {row[1]: row[2:4] for row in self.rows(by="package,type", where="package!=java.lang")}
        self.assertEqual((rows["com.acme.Order"][1], rows["com.acme.Request"][1], rows["net.Page"][1]), (5, 7, 1))
        self.assertEqual(rows["com.acme"][1], 12)
        self.assertIn("of one moment", self.js("() => course.textContent"))
        self.quiet()

    def test_names_do_nothing(self):
        objects = Objects(HOSTILE)
        objects.collect([2] * len(HOSTILE), [1] * len(HOSTILE))
        for source in (objects.write(os.path.join(self.folder, "hostile.spoor")),
                       dump(os.path.join(self.folder, "hostile.hprof"), HOSTILE, [1] * len(HOSTILE))):
            self.page(source, "--title", "</title><script>alert(5)</script>")
            elements = set(self.js("() => [...document.querySelectorAll('*')].map(e => e.localName)"))
            self.assertFalse({"img", "iframe", "object", "link"} & elements, elements)
            self.assertEqual(self.js("() => [document.scripts.length, document.title]"),
                             [1, "</title><script>alert(5)</script>"])
            shown = {row[1] for row in self.rows(by="type")}
            self.assertLess({name.replace("/", ".") for name in HOSTILE}, shown)
            self.rows(by="package,type", where="<img")
            self.quiet()
