"""spoor html in a browser: its rows are those of the report, keys are enough to use it, hostile names do nothing."""
import glob
import json
import os
import random
import re
import subprocess
import sys
import unittest
import urllib.parse

from pages import CLASSES, METHODS, MKLOG, MS, PageTest, contention, lock, make_log, make_page, names, shop, spoor
from soaking import only_in_soak

GOLDEN = os.path.dirname(MKLOG)

ASPECTS = ["lock_class", "lock", "waiter_thread", "owner_thread", "group", "waiter_stack", "waiter_method",
           "owner_stack", "owner_method", "behind", "waiter_pool", "owner_pool", "waiter_class", "owner_class",
           "waiter_package", "owner_package", "owner_state", "owner_source", "after_wait", "duration", "in_gc", "span"]
QUANTILES = ["p50_ns", "p90_ns", "p99_ns", "p999_ns"]
FILTERS = ["lock_class=shop.*", "waiter_thread=http-*", "owner_stack=*Cart*", "not waiter_stack=*lookUp*",
           "after_wait=no", "owner_thread!=clerk-* and group=monitor",
           "(lock='*hash*' or group=juc) and waiter_method=*[Rr]un",
           "owner_method='(unknown)'", "waiter_thread='http-? (tid *'", "behind='(none)' and lock_class=net.Server",
           "waiter_pool=http-* and owner_state=running", "duration!='< 10 us' and in_gc=no",
           "owner_package=shop or span='GET *'"]

# Of each element that a selector finds, a property.
EACH = "([selector, name]) => [...document.querySelectorAll(selector)].map(e => e[name])"
# A new address, and until all views have followed it.
SET = """async hash => {
  const before = document.documentElement.dataset.ready;
  if ((location.hash || "#") === hash) return;
  location.hash = hash;
  while (document.documentElement.dataset.ready === before) await new Promise(r => setTimeout(r, 1));
}"""
ROWS = """() => {
  document.getElementById("open-all").click();
  return [...document.querySelectorAll("#rows tr")].map(row => {
    const [name, work, , , blocked, idle, count, ...lengths] = row.cells;
    return [+row.getAttribute("aria-level"), name.querySelector(".text").textContent, +work.dataset.ns,
            +blocked.dataset.ns, +idle.dataset.ns, +count.dataset.count, ...lengths.map(cell => +cell.dataset.ns)];
  });
}"""


def reported(log, by, where, sort):
    """The rows that the page should have: level, texts of the key, figures."""
    chosen = ["--where", where] if where else []
    done = spoor("report", "--by", ",".join(by), "--sort", sort, "--format", "json", *chosen, log)
    tree = json.loads(done.stdout)
    rows = []

    def add(groups, level):
        for g in groups:
            rows.append([level, g["key"], g["blocked_ns"] - g["idle_ns"], g["blocked_ns"], g["idle_ns"], g["count"],
                         *(g.get(q, 0) for q in QUANTILES), g["max_ns"]])
            add(g["groups"], level + 1)
    add(tree["groups"], 2)
    total = tree["total"]
    return [total["blocked_ns"] - total["idle_ns"], total["blocked_ns"], total["idle_ns"], total["count"]], rows


def fragment(by, where="", sort="work", span=None):
    parts = {"by": ",".join(by), "where": where, "sort": sort, "range": span or ""}
    return "#" + urllib.parse.urlencode({k: v for k, v in parts.items() if v})


class Rows(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.log = make_log(cls.folder, shop(1))
        cls.page = make_page(cls.log)
        cls.browser("open", file=cls.page)

    def compare(self, by, where="", sort="work"):
        total, expected = reported(self.log, by, where, sort)
        self.js(SET, fragment(by, where, sort))
        rows = self.js(ROWS)
        self.assertEqual(rows[0][2:6], total)
        self.assertEqual([r[:1] + r[2:] for r in rows[1:]], [r[:1] + r[2:] for r in expected])
        for row, (_, key, *_) in zip(rows[1:], expected):
            aspect = by[row[0] - 2]
            if isinstance(key, str):
                self.assertEqual(row[1], key)
            elif key and isinstance(key[0], str):
                text = " ".join(key)
                shared = aspect.endswith("thread") and row[1].startswith(f"{text} (")  # several have its name
                self.assertTrue(row[1] == text or shared, (row, key))
            elif key:
                methods = [f"{f['class']}.{f['method']}" for f in key if "method" in f]
                self.assertTrue(any(row[1].startswith(m) for m in methods), (row, methods))

    def test_presets(self):
        presets = self.js(EACH, ["#preset option[value*=_]", "value"])
        self.assertGreater(len(presets), 7)
        for i, by in enumerate(presets):
            for sort in ("work", ("blocked", "count", "max", "p50", "p90", "p99", "p999", "value")[i % 8]):
                with self.subTest(by=by, sort=sort):
                    self.compare(by.split(","), sort=sort)
        self.quiet()

    def test_any_order_and_filter(self):
        chance = random.Random(7)
        for i in range(30):
            by, where = chance.sample(ASPECTS, chance.randint(1, 4)), FILTERS[i % len(FILTERS)]
            with self.subTest(by=by, where=where):
                self.compare(by, where)
        self.quiet()

    def test_idle_turns_are_apart(self):
        self.js(SET, "#")
        self.assertEqual(self.js(EACH, ["#idle-section", "hidden"]), [False])
        self.assertTrue(self.js(EACH, ["#idle tbody tr", "textContent"]))

    def test_figures_read_as_in_the_text_report(self):
        by, where = ["lock", "waiter_thread", "owner_method"], "lock_class!=net.Server"
        self.js(SET, fragment(by, where))
        self.js(ROWS)
        shown = self.js("""() => [...document.querySelectorAll('#rows tr')].map(row =>
            [6, 4, 3, 7, 8, 9, 10, 11].map(i => row.cells[i].textContent))""")
        text = spoor("report", "--by", ",".join(by), "--where", where, "--top", "1000", "--full",
                     self.log).stdout.splitlines()
        expected = []
        for cells in (re.split(r" {2,}", line.rstrip()) for line in text[1:] if line):
            # A holder with whom no contention began has no quantiles.
            count, blocked, share, _, *rest = cells[-5:] if cells[-5] == "0" else cells[-9:]
            expected.append([count, blocked, share, *([""] * (5 - len(rest))), *rest])
        self.assertGreater(len(expected), 100)
        self.assertEqual(shown, expected)

    def test_an_address_is_a_state(self):
        address = fragment(["owner_method", "lock"], "waiter_thread=http-*", "count", "3-9")
        self.js(SET, address)
        rows = self.js(ROWS)
        self.browser("open", file=self.page, hash=address)
        self.assertEqual(self.js(ROWS), rows)
        self.quiet()

    def test_a_wrong_filter_says_where(self):
        self.js(SET, fragment(["lock"], "lock_clas=x"))
        said = self.js(EACH, ["#where-error", "textContent"])[0]
        self.assertIn("at character 1: there is no aspect 'lock_clas'", said)

    def test_search_finds_folded_frames(self):
        self.js(SET, fragment(["owner_stack"], "NioSocketImpl"))
        found = self.js(ROWS)
        self.js(SET, fragment(["owner_stack"]))
        self.assertTrue(1 < len(found) < len(self.js(ROWS)))

    def test_a_range_has_the_time_that_lies_in_it(self):
        """By the log's own events, to the ns. (--from and --to take each contention that ended in between, whole.)"""
        self.js(SET, "#")
        self.browser("mouse", at="#course svg", **{"from": 0.31, "to": 0.62})
        begin, end = (float(text) for text in self.js(EACH, ["#range-from, #range-to", "value"]))
        rows = self.js(ROWS)
        self.assertTrue(0 < end - begin < 100)
        self.assertEqual(rows[0][3], self.blocked_between(begin, end))
        self.browser("press", at="#course svg", keys=["Escape"])
        self.assertEqual(self.js(ROWS)[0][3], reported(self.log, ["lock"], "", "work")[0][1])
        self.quiet()

    def test_a_second_range_is_a_baseline(self):
        """Each thread's time in either range by the log's own events, and the change in each second."""
        self.js(SET, fragment(["waiter_thread"], sort="blocked"))
        self.browser("mouse", at="#course svg", **{"from": 0.1, "to": 0.3})
        base = [float(text) for text in self.js(EACH, ["#range-from, #range-to", "value"])]
        self.browser("press", at="#base-set", keys=["Enter"])
        self.browser("mouse", at="#course svg", **{"from": 0.35, "to": 0.5})
        now = [float(text) for text in self.js(EACH, ["#range-from, #range-to", "value"])]
        self.assertGreater(now[0], base[0])
        rows = self.js("""() => [...document.querySelectorAll('#rows tr')].map(row => [
            row.querySelector(".text").textContent, +row.cells[6].dataset.ns,
            +row.querySelector(".base").dataset.ns, row.querySelector(".change").textContent])""")
        self.assertEqual(rows[0][1:3], [self.blocked_between(*now), self.blocked_between(*base)])
        ids = {line["name"]: line["thread"] for line in shop(1) if line.get("event") == "thread"
               and line["name"].startswith("clerk")}
        compared = [row for row in rows if row[0] in ids]
        self.assertEqual(len(compared), len(ids))
        for name, blocked, before, change in compared:
            self.assertEqual(blocked, self.blocked_between(*now, ids[name]), name)
            self.assertEqual(before, self.blocked_between(*base, ids[name]), name)
            more = blocked / (now[1] - now[0]) - before / (base[1] - base[0])
            self.assertEqual(change[0], "+" if more > 0 else "−", (name, change))
        address = self.js("() => location.hash")
        self.assertIn("base=", address)
        self.assertEqual(self.browser("axe"), [])
        self.browser("press", at="#base-none", keys=["Enter"])
        self.assertNotIn("base=", self.js("() => location.hash"))
        self.quiet()

    def test_the_heat_map_has_each_groups_time(self):
        """Of each box, what the log's own events say of that thread and that time; all boxes together are all time."""
        boxes = """() => [...document.querySelectorAll('#heatmap [role=gridcell]')].map(
            box => [box.getAttribute("aria-label"), +box.dataset.ns])"""
        self.js(SET, fragment(["waiter_stack", "waiter_thread"]))
        found = self.js(boxes)
        self.assertEqual(sum(ns for _, ns in found), reported(self.log, ["lock"], "", "work")[0][1])
        label = re.compile(r"(.*), ([\d.]+) s to ([\d.]+) s: (.*)")
        ids = {f"{line['name']} (tid {line['tid']})": line["thread"] for line in shop(1) if line.get("event") == "thread"}
        ids.update({line["name"]: line["thread"] for line in shop(1) if line.get("event") == "thread"
                    and line["name"].startswith("clerk")})
        compared = 0
        for text, ns in found:
            name, begin, end, _ = label.match(text).groups()
            if name in ids:
                self.assertAlmostEqual(ns, self.blocked_between(float(begin), float(end), ids[name]), delta=1, msg=text)
                compared += ns > 0
        self.assertGreater(compared, 50)
        heaviest = self.js("""() => [...document.querySelectorAll('#heatmap [data-row="1"]')].sort(
            (a, b) => b.dataset.ns - a.dataset.ns).map(box => [+box.dataset.column, +box.dataset.ns])[0]""")
        column, picked = heaviest
        self.assertGreater(picked, 0)
        self.browser("press", at=f'#heatmap [data-row="1"][data-column="{column}"]',
                     keys=["ArrowUp", "ArrowDown", "Enter"])
        state = dict(urllib.parse.parse_qsl(self.js("() => location.hash.slice(1)")))
        self.assertIn("waiter_thread=", state["where"])
        self.assertEqual(self.js(ROWS)[0][3], picked)
        self.quiet()

    def blocked_between(self, begin, end, thread=None):
        """Of the log's own events, by hand."""
        open_since, total = {}, 0
        for line in shop(1):
            at = line.get("time_ns", 0) - 1000 * MS
            if line.get("event") == "monitor_contended_enter":
                open_since[line["thread"]] = at
            elif line.get("event") == "monitor_contended_entered":
                since = open_since.pop(line["thread"])
                if thread in (None, line["thread"]):
                    total += max(0, min(at, round(end * 1e9)) - max(since, round(begin * 1e9)))
        return total


class Keys(PageTest):
    def test_all_without_a_mouse(self):
        log = make_log(self.folder, shop(2, 120))
        b = self.browser
        b("open", file=make_page(log))

        def chips():
            return self.js(EACH, ["#aspects li span", "textContent"])

        def at():
            return self.js("() => ['aria-level', 'aria-expanded'].map(a => document.activeElement.getAttribute(a))")
        self.assertEqual(chips(), ["lock_class", "lock", "owner_thread", "waiter_thread"])
        b("press", at="#aspects li:nth-child(3) button[data-act=left]", keys=["Alt+ArrowLeft", "Alt+ArrowLeft"])
        self.assertEqual(chips(), ["owner_thread", "lock_class", "lock", "waiter_thread"])
        b("press", keys=["Delete"])
        self.assertEqual(chips(), ["lock_class", "lock", "waiter_thread"])
        b("press", at="#rows tr", keys=["ArrowDown", "ArrowRight", "ArrowRight"])
        self.assertEqual(at()[0], "3")
        b("press", keys=["ArrowLeft", "ArrowLeft"])
        self.assertEqual(at(), ["2", "false"])
        b("press", keys=["End", "Enter", "ArrowDown"])
        self.assertEqual(at()[0], "3")
        frames = self.js(EACH, ["#details .chain li", "textContent"])
        self.assertTrue(any(f.startswith("java.lang.Thread.run") for f in frames), frames)
        b("press", at="#where", keys=[*"Cart", "Enter"])
        self.assertEqual(self.js("() => new URLSearchParams(location.hash.slice(1)).get('where')"), "Cart")
        b("press", at="#course svg", keys=["ArrowRight", "Shift+ArrowRight"])
        self.assertRegex(self.js("() => location.hash"), "range=0-")
        b("press", at="#flame-waiter .frame", keys=["ArrowDown", "Enter"])
        b("back")
        self.assertEqual(chips(), ["lock_class", "lock", "waiter_thread"])
        self.quiet()

    def test_drag_of_aspects(self):
        log = make_log(self.folder, shop(3, 60), "drag")
        self.browser("open", file=make_page(log))
        self.browser("drag", **{"from": "#aspects li:nth-child(4) span", "to": "#aspects li:nth-child(1) span"})
        self.assertEqual(self.js(EACH, ["#aspects li span", "textContent"]),
                         ["waiter_thread", "lock_class", "lock", "owner_thread"])
        self.quiet()


HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\"'><svg onload=alert(3)>",
           "a\u2028b\u2029c", "\u202eevil\u202c", "\U0001f600\U0001f9f5", "nul\u0001\u001b[31m\n\r\t", "x" * 10000,
           "=cmd|' /C calc'!A0", "<!--<script>", "@DATA@", "__proto__", "{{7*7}}", "javascript:alert(4)",
           "\u00fc" * 600]


class Hostile(PageTest):
    def test_names_do_nothing(self):
        def lines():
            yield from names(HOSTILE, HOSTILE, [f"{n}.{n}" for n in HOSTILE])
            for i in range(1, len(HOSTILE) + 1):
                yield lock(i, i)
                yield {"time_ns": 1000 * MS, "event": "stack", "stack": i, "caller": i - 1, "frame": "c2", "method": i,
                       "bci": 1, "line": i}
            for i in range(1, len(HOSTILE) + 1):
                other = 1 + i % len(HOSTILE)
                yield from contention((1001 + 20 * i) * MS, 10 * MS, i, i, other, (i, other))
            yield {"time_ns": 3000 * MS, "event": "end", "reason": "done"}
        log = make_log(self.folder, lines())
        page = make_page(log, "--title", "</title><script>alert(5)</script>")
        self.browser("open", file=page)
        elements = set(self.js(EACH, ["*", "localName"]))
        self.assertFalse({"img", "iframe", "object", "link"} & elements, elements)
        self.assertEqual(self.js("() => [document.scripts.length, document.title]"),
                         [1, "</title><script>alert(5)</script>"])
        for by in (["lock_class", "lock", "owner_thread"], ["waiter_stack", "owner_stack"],
                   ["owner_method", "waiter_thread", "behind"]):
            self.js(SET, fragment(by))
            rows = self.js(ROWS)
            self.assertGreater(len(rows), len(HOSTILE))
            if by[0] == "lock_class":
                texts = [row[1] for row in rows]
                for name in HOSTILE[:3]:
                    self.assertIn(name, texts)
        self.js("() => { for (const b of document.querySelectorAll('#matrix button')) b.click(); }")
        self.js(SET, "#where=%3Cimg%20src%3Dx%20onerror%3Dalert(6)%3E&by=%3Cscript%3E")
        self.quiet()


class Access(PageTest):
    def test_axe_finds_nothing_serious(self):
        log = make_log(self.folder, shop(4, 40))
        page = make_page(log)
        for scheme, width in (("dark", 1280), ("light", 1280), ("light", 320)):
            with self.subTest(scheme=scheme, width=width):
                self.browser("open", file=page, scheme=scheme, width=width)
                self.js(ROWS)
                self.assertEqual(self.browser("axe"), [])
                over = self.js("() => document.documentElement.scrollWidth - innerWidth")
                self.assertLessEqual(over, 0, "the page is wider than the window")
        self.browser("print")
        self.assertGreater(sum(height > 0 for height in self.js(EACH, ["#rows tr", "offsetHeight"])), 4)

    def test_nothing_to_show(self):
        end = {"time_ns": 2000 * MS, "event": "end", "reason": "done"}
        log = make_log(self.folder, [*names(["a"], CLASSES, METHODS), end], "nothing")
        self.browser("open", file=make_page(log))
        self.assertIn("No thread was blocked", self.js(EACH, ["#overview", "textContent"])[0])
        self.assertEqual(self.browser("axe"), [])
        self.quiet()

    def test_what_is_missing_is_said_first(self):
        with open(os.path.join(GOLDEN, "report-lost/log.jsonl"), encoding="utf-8") as f:
            lines = [json.loads(line) for line in f if line.strip() and not line.startswith("#")]
        self.browser("open", file=make_page(make_log(self.folder, lines, "lost")))
        first = self.js("() => document.getElementById('overview').firstElementChild.textContent")
        self.assertIn("1,203 EVENTS WERE LOST", first)
        self.quiet()

    @only_in_soak
    def test_all_golden_logs(self):
        """Damaged, without an end, with holes, of a patched JVM, newer: a page, without a word from the browser."""
        cases = sorted(glob.glob(os.path.join(GOLDEN, "*/log.jsonl")))
        for case in cases:
            with self.subTest(case=os.path.basename(os.path.dirname(case))):
                log = os.path.join(self.folder, "golden.spoor")
                subprocess.run([sys.executable, "-B", MKLOG, case, log], check=True)
                done = spoor("html", "-o", f"{log}.html", log)
                if not os.path.exists(f"{log}.html"):
                    self.assertEqual(done.returncode, 1)
                    continue
                self.browser("open", file=f"{log}.html")
                total, expected = reported(log, ["lock", "owner_thread"], "", "work")
                self.js(SET, fragment(["lock", "owner_thread"]))
                rows = self.js(ROWS)
                self.assertEqual(rows[0][2:6], total)
                self.assertEqual([r[2:] for r in rows[1:]], [r[2:] for r in expected])
                os.unlink(f"{log}.html")
                self.quiet()


if __name__ == "__main__":
    unittest.main()
