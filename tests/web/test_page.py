"""spoor html in a real browser: its rows are those of the report, it is used without a mouse, and hostile names do nothing."""
import json
import os
import random
import re
import unittest
import urllib.parse

from pages import CLASSES, METHODS, MS, PageTest, contention, lock, make_log, make_page, names, shop, spoor

ASPECTS = ["lock_class", "lock", "waiter_thread", "owner_thread", "group", "waiter_stack", "waiter_method", "owner_stack",
           "owner_method", "behind"]
FILTERS = ["lock_class=shop.*", "waiter_thread=http-*", "owner_stack=*Cart*", "not waiter_stack=*lookUp*", "after_wait=no",
           "owner_thread!=clerk-* and group=monitor", "(lock='*hash*' or group=juc) and waiter_method=*[Rr]un",
           "owner_method='(unknown)'", "waiter_thread='http-? (tid *'", "behind='(none)' and lock_class=net.Server"]

SET = """async hash => {
  const before = document.documentElement.dataset.ready;
  if ((location.hash || "#") === hash) return;
  location.hash = hash;
  while (document.documentElement.dataset.ready === before) await new Promise(r => setTimeout(r, 1));
}"""
ROWS = """() => {
  document.getElementById("open-all").click();
  return [...document.querySelectorAll("#rows tr")].map(row => {
    const [name, work, , , blocked, idle, count, max] = row.cells;
    return [+row.getAttribute("aria-level"), name.querySelector(".text").textContent, +work.dataset.ns, +blocked.dataset.ns,
            +idle.dataset.ns, +count.dataset.count, +max.dataset.ns];
  });
}"""


def reported(log, by, where, sort):
    """The rows that the page should have: level, texts of the key, figures."""
    done = spoor("report", "--by", ",".join(by), "--sort", sort, "--format", "json", *(["--where", where] if where else []), log)
    tree = json.loads(done.stdout)
    rows = []

    def add(groups, level):
        for g in groups:
            rows.append([level, g["key"], g["blocked_ns"] - g["idle_ns"], g["blocked_ns"], g["idle_ns"], g["count"], g["max_ns"]])
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
        self.browser("eval", script=SET, arg=fragment(by, where, sort))
        rows = self.browser("eval", script=ROWS)
        self.assertEqual(rows[0][2:6], total)
        self.assertEqual([r[:1] + r[2:] for r in rows[1:]], [r[:1] + r[2:] for r in expected])
        for row, (_, key, *_) in zip(rows[1:], expected):
            aspect = by[row[0] - 2]
            if isinstance(key, str):
                self.assertEqual(row[1], key)
            elif key and isinstance(key[0], str):
                text = " ".join(key)
                self.assertTrue(row[1] == text or (aspect.endswith("thread") and row[1].startswith(f"{text} (")), (row, key))
            elif key:
                methods = [f"{f['class']}.{f['method']}" for f in key if "method" in f]
                self.assertTrue(any(row[1].startswith(m) for m in methods), (row, methods))

    def test_presets(self):
        presets = self.browser("eval", script="() => [...document.querySelectorAll('#preset option')].map(o => o.value).filter(Boolean)")
        self.assertGreater(len(presets), 7)
        for i, by in enumerate(presets):
            for sort in ("work", ("blocked", "count", "max")[i % 3]):
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
        self.browser("eval", script=SET, arg="#")
        self.assertTrue(self.browser("eval", script="() => !document.getElementById('idle-section').hidden && document.querySelectorAll('#idle tbody tr').length"))

    def test_figures_read_as_in_the_text_report(self):
        by, where = ["lock", "waiter_thread", "owner_method"], "lock_class!=net.Server"
        self.browser("eval", script=SET, arg=fragment(by, where))
        self.browser("eval", script=ROWS)
        shown = self.browser("eval", script="""() => [...document.querySelectorAll('#rows tr')].map(row =>
            [6, 4, 3, 7].map(i => row.cells[i].textContent))""")
        text = spoor("report", "--by", ",".join(by), "--where", where, "--top", "1000", self.log).stdout.splitlines()
        expected = [re.split(r" {2,}", line.rstrip())[-4:] for line in text[1:] if line]
        self.assertGreater(len(expected), 100)
        self.assertEqual(shown, expected)

    def test_an_address_is_a_state(self):
        address = fragment(["owner_method", "lock"], "waiter_thread=http-*", "count", "3-9")
        self.browser("eval", script=SET, arg=address)
        rows = self.browser("eval", script=ROWS)
        self.browser("open", file=self.page, hash=address)
        self.assertEqual(self.browser("eval", script=ROWS), rows)
        self.quiet()

    def test_a_wrong_filter_says_where(self):
        self.browser("eval", script=SET, arg=fragment(["lock"], "lock_clas=x"))
        self.assertIn("at character 1: there is no aspect 'lock_clas'", self.browser("eval", script="() => document.getElementById('where-error').textContent"))

    def test_search_finds_folded_frames(self):
        self.browser("eval", script=SET, arg=fragment(["owner_stack"], "NioSocketImpl"))
        found = self.browser("eval", script=ROWS)
        self.browser("eval", script=SET, arg=fragment(["owner_stack"]))
        self.assertTrue(1 < len(found) < len(self.browser("eval", script=ROWS)))

    def test_a_range_has_the_time_that_lies_in_it(self):
        """By the log's own events, to the ns. (--from and --to take each contention that ended in between, whole.)"""
        self.browser("eval", script=SET, arg="#")
        self.browser("mouse", at="#course svg", **{"from": 0.31, "to": 0.62})
        begin, end = (float(x) for x in self.browser("eval", script="() => ['from', 'to'].map(x => document.getElementById(`range-${x}`).value)"))
        rows = self.browser("eval", script=ROWS)
        self.assertTrue(0 < end - begin < 100)
        self.assertEqual(rows[0][3], self.blocked_between(begin, end))
        self.browser("press", at="#course svg", keys=["Escape"])
        self.assertEqual(self.browser("eval", script=ROWS)[0][3], reported(self.log, ["lock"], "", "work")[0][1])
        self.quiet()

    def blocked_between(self, begin, end):
        """Of the log's own events, by hand."""
        open_since, total = {}, 0
        for line in shop(1):
            at = line.get("time_ns", 0) - 1000 * MS
            if line.get("event") == "monitor_contended_enter":
                open_since[line["thread"]] = at
            elif line.get("event") == "monitor_contended_entered":
                since = open_since.pop(line["thread"])
                total += max(0, min(at, round(end * 1e9)) - max(since, round(begin * 1e9)))
        return total


class Keys(PageTest):
    def test_all_without_a_mouse(self):
        log = make_log(self.folder, shop(2, 120))
        b = self.browser
        b("open", file=make_page(log))

        def chips():
            return b("eval", script="() => [...document.querySelectorAll('#aspects li')].map(c => c.dataset.aspect)")

        def at():
            return b("eval", script="() => { const a = document.activeElement; return [a.getAttribute('aria-level'), a.getAttribute('aria-expanded'), a.id || a.dataset.act || '']; }")
        self.assertEqual(chips(), ["lock_class", "lock", "owner_thread", "waiter_thread"])
        b("press", at="#aspects li:nth-child(3) button[data-act=left]", keys=["Alt+ArrowLeft", "Alt+ArrowLeft"])
        self.assertEqual(chips(), ["owner_thread", "lock_class", "lock", "waiter_thread"])
        b("press", keys=["Delete"])
        self.assertEqual(chips(), ["lock_class", "lock", "waiter_thread"])
        b("press", at="#rows tr", keys=["ArrowDown", "ArrowRight", "ArrowRight"])
        self.assertEqual(at()[0], "3")
        b("press", keys=["ArrowLeft", "ArrowLeft"])
        self.assertEqual(at()[:2], ["2", "false"])
        b("press", keys=["End", "Enter", "ArrowDown"])
        self.assertEqual(at()[0], "3")
        frames = b("eval", script="() => [...document.querySelectorAll('#details .chain li')].map(x => x.textContent)")
        self.assertTrue(any(f.startswith("java.lang.Thread.run") for f in frames), frames)
        b("press", at="#where", keys=[*"Cart", "Enter"])
        self.assertEqual(b("eval", script="() => new URLSearchParams(location.hash.slice(1)).get('where')"), "Cart")
        b("press", at="#course svg", keys=["ArrowRight", "Shift+ArrowRight"])
        self.assertRegex(b("eval", script="() => location.hash"), "range=0-")
        b("press", at="#flame-waiter .frame", keys=["ArrowDown", "Enter"])
        b("back")
        self.assertEqual(chips(), ["lock_class", "lock", "waiter_thread"])
        self.quiet()

    def test_drag_of_aspects(self):
        log = make_log(self.folder, shop(3, 60), "drag")
        self.browser("open", file=make_page(log))
        self.browser("drag", **{"from": "#aspects li:nth-child(4) span", "to": "#aspects li:nth-child(1) span"})
        self.assertEqual(self.browser("eval", script="() => [...document.querySelectorAll('#aspects li')].map(c => c.dataset.aspect)"),
                         ["waiter_thread", "lock_class", "lock", "owner_thread"])
        self.quiet()


HOSTILE = ["</script><script>alert(1)</script>", "<img src=x onerror=alert(2)>", "\"'><svg onload=alert(3)>", "a\u2028b\u2029c",
           "\u202eevil\u202c", "😀🧵", "nul\u0001\u001b[31m\n\r\t", "x" * 10000, "=cmd|' /C calc'!A0", "<!--<script>", "@DATA@",
           "__proto__", "{{7*7}}", "javascript:alert(4)", "ü" * 600]


class Hostile(PageTest):
    def test_names_do_nothing(self):
        def lines():
            yield from names(HOSTILE, HOSTILE, [f"{n}.{n}" for n in HOSTILE])
            for i in range(1, len(HOSTILE) + 1):
                yield lock(i, i)
                yield {"time_ns": 1000 * MS, "event": "stack", "stack": i, "caller": i - 1, "frame": "c2", "method": i, "bci": 1, "line": i}
            for i in range(1, len(HOSTILE) + 1):
                yield from contention((1001 + 20 * i) * MS, 10 * MS, i, i, 1 + i % len(HOSTILE), (i, 1 + i % len(HOSTILE)))
            yield {"time_ns": 3000 * MS, "event": "end", "reason": "done"}
        log = make_log(self.folder, lines())
        page = make_page(log, "--title", "</title><script>alert(5)</script>")
        self.browser("open", file=page)
        elements = self.browser("eval", script="() => [...new Set([...document.querySelectorAll('*')].map(e => e.localName))]")
        self.assertFalse({"img", "iframe", "object", "link", "a2"} & set(elements), elements)
        self.assertEqual(self.browser("eval", script="() => [document.scripts.length, document.title]"), [1, "</title><script>alert(5)</script>"])
        for by in (["lock_class", "lock", "owner_thread"], ["waiter_stack", "owner_stack"], ["owner_method", "waiter_thread", "behind"]):
            self.browser("eval", script=SET, arg=fragment(by))
            rows = self.browser("eval", script=ROWS)
            self.assertGreater(len(rows), len(HOSTILE))
            if by[0] == "lock_class":
                texts = [row[1] for row in rows]
                for name in HOSTILE[:3]:
                    self.assertIn(name, texts)
        self.browser("eval", script="() => { for (const b of document.querySelectorAll('#matrix button')) b.click(); }")
        self.browser("eval", script=SET, arg="#where=%3Cimg%20src%3Dx%20onerror%3Dalert(6)%3E&by=%3Cscript%3E")
        self.quiet()


class Access(PageTest):
    def test_axe_finds_nothing_serious(self):
        log = make_log(self.folder, shop(4, 40))
        page = make_page(log)
        for scheme in ("light", "dark"):
            for width in (1280, 320):
                with self.subTest(scheme=scheme, width=width):
                    self.browser("open", file=page, scheme=scheme, width=width)
                    self.browser("eval", script=ROWS)
                    self.assertEqual(self.browser("axe"), [])
                    over = self.browser("eval", script="() => document.documentElement.scrollWidth - innerWidth")
                    self.assertLessEqual(over, 0, "the page is wider than the window")
        self.browser("print")
        self.assertGreater(self.browser("eval", script="() => [...document.querySelectorAll('#rows tr')].filter(r => r.offsetHeight).length"), 4)

    def test_nothing_to_show(self):
        log = make_log(self.folder, [*names(["a"], CLASSES, METHODS), {"time_ns": 2000 * MS, "event": "end", "reason": "done"}], "nothing")
        self.browser("open", file=make_page(log))
        self.assertIn("No thread was blocked", self.browser("eval", script="() => document.getElementById('overview').textContent"))
        self.assertEqual(self.browser("axe"), [])
        self.quiet()

    def test_what_is_missing_is_said_first(self):
        case = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../golden/report-lost/log.jsonl")
        with open(case, encoding="utf-8") as f:
            lines = [json.loads(line) for line in f if line.strip() and not line.startswith("#")]
        self.browser("open", file=make_page(make_log(self.folder, lines, "lost")))
        first = self.browser("eval", script="() => document.getElementById('overview').firstElementChild.textContent")
        self.assertIn("1,203 EVENTS WERE LOST", first)
        self.quiet()


if __name__ == "__main__":
    unittest.main()
