"""spoor diff --format html in a browser: its figures are those of spoor diff --format json."""
import json
import os
import random
import re
import tempfile
import unittest

from pages import CLASSES, METHODS, MS, PageTest, contention, lock, make_log, names, shop, spoor
from test_page import EACH, HOSTILE, SET, fragment

# Aspects that spoor diff takes, which has no facets.
ASPECTS = ["lock_class", "lock", "waiter_thread", "owner_thread", "group", "waiter_method", "owner_method", "behind",
           "waiter_pool", "owner_pool", "waiter_class", "owner_class", "waiter_package", "owner_package",
           "owner_source", "after_wait", "waiter_stack", "owner_stack"]
STACKS = {"waiter_stack", "owner_stack"}
# Of each row the level, its text, and ns: lost to work, in the baseline, and the change of the rates.
ROWS = """() => {
  document.getElementById("open-all").click();
  return [...document.querySelectorAll("#rows tr")].map(row => {
    const cells = row.cells, base = row.querySelector(".base"), change = row.querySelector(".change");
    return [+row.getAttribute("aria-level"), row.querySelector(".text").textContent, +cells[1].dataset.ns,
            +base.dataset.ns, +change.dataset.ns];
  });
}"""
FRAMES = """side => [...document.querySelectorAll(`#flame-${side} .frame`)].map(f => [
    f.getAttribute("aria-label"), f.classList.contains("ghost"), parseFloat(f.style.width), f.textContent])"""
# Of each table the caption, and of each row the texts.
TABLES = """selector => [...document.querySelectorAll(selector)].map(table => [
    table.caption.textContent, [...table.tBodies[0].rows].map(row => [...row.cells].map(cell => cell.textContent))])"""


def diff(*arguments):
    done = spoor("diff", "--format", "json", *arguments)
    if done.returncode:
        raise AssertionError(done.stderr)
    return json.loads(done.stdout)


def steady(chain, seed, extra=()):
    """A log of contentions whose waiters' chain is one of few, with lines that differ."""
    made = random.Random(seed)
    yield from names(["a", "b", "c"], CLASSES, METHODS)
    yield lock(1, 1)
    for i, method in enumerate([1, 2, *chain], 1):
        yield {"time_ns": 1000 * MS, "event": "stack", "stack": i, "caller": i - 1, "frame": "c2", "method": method,
               "bci": 1, "line": made.randint(1, 900)}
    for i in range(100):
        yield from contention((1001 + 10 * i) * MS, 5 * MS, 1, 1, 2, (2 + len(chain), 2))
    yield from extra
    yield {"time_ns": 2010 * MS, "event": "end", "reason": "done"}


class Compared(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.logs = [make_log(cls.folder, shop(seed, count), f"log{seed}")
                    for seed, count in ((1, 300), (2, 350), (3, 300), (4, 420))]
        cls.page = cls.make(cls.logs[0], cls.logs[1])

    @classmethod
    def make(cls, *arguments):
        page = tempfile.mkstemp(".html", dir=cls.folder)[1]
        done = spoor("diff", "--format", "html", "-o", page, *arguments)
        if done.returncode:
            raise AssertionError(done.stderr)
        return page

    def compare(self, by, figures):
        """The rows of the last aspect, and those of diff --by; chains have other names there."""
        self.js(SET, fragment(by))
        path, found = [], []
        for level, text, work, base, change in self.js(ROWS)[1:]:
            path[level - 2:] = [text]
            if level - 1 == len(by):
                name = path[0] + "".join((" <- " if a.startswith("owner_") else " > ") + t
                                         for a, t in zip(by[1:], path[1:]))
                found.append([None if STACKS & set(by) else name, base, work, change])
        expected = [[None if STACKS & set(by) else row["name"], row["before"]["ns"], row["after"]["ns"],
                     row["change_ns"]] for row in figures["by"] if row["before"]["ns"] or row["after"]["ns"]]
        found = [row for row in found if row[1] or row[2]]

        def order(row):
            return (row[0] or "", *row[1:])
        found.sort(key=order)
        expected.sort(key=order)
        self.assertEqual([row[:3] for row in found], [row[:3] for row in expected])
        self.assertGreater(len(found), 0)
        if len(figures["logs"]) == 2:
            for one, other in zip(found, expected):
                self.assertAlmostEqual(one[3], other[3], delta=2, msg=str(one))

    def test_tree_is_that_of_diff(self):
        chance = random.Random(11)
        self.browser("open", file=self.page)
        orders = [[aspect] for aspect in ASPECTS] + [chance.sample(ASPECTS, 2) for _ in range(12)]
        for by in orders:
            with self.subTest(by=by):
                self.compare(by, diff("--by", ",".join(by), *self.logs[:2]))
        self.quiet()

    def test_tables_and_sentences_are_those_of_diff(self):
        self.browser("open", file=self.page)
        figures = diff(*self.logs[:2])
        said = self.js(EACH, ["#overview .finding", "textContent"])
        self.assertEqual(said[:len(figures["sentences"])], figures["sentences"])
        self.assertEqual(self.js("() => document.getElementById('overview').firstElementChild.textContent"),
                         figures["sentences"][0])
        text = spoor("diff", "--all", "--top", "10000", *self.logs[:2]).stdout
        self.js("() => { for (const d of document.querySelectorAll('#compare details')) d.open = true; }")
        tables = dict(self.js(TABLES, "#compare .part table"))
        compared = 0
        for part in re.split(r"\n\n", text):
            head, *lines = part.splitlines()
            head = next((name for name in tables if name in (head, f"{head}, also what may be chance") and
                         (head + ", also what may be chance" not in tables or name != head)), None)
            if head is None:
                continue
            for row in tables[head]:
                line = next(one for one in lines if one.strip().startswith(row[0] + "  "))
                figures_of = re.split(r" {2,}", line.strip()[len(row[0]):].strip())
                self.assertEqual([c.lstrip("+-") for c in row[1:] if c], [c.lstrip("+-") for c in figures_of])
                compared += 1
        self.assertGreater(compared, 50)
        alike = self.js(EACH, ["#likeness td .value", "textContent"])
        self.assertEqual(alike, [f"{100 * of[key]:.1f} %" for of in figures["call_chains"].values()
                                 for key in ("overlap", "hot_before_in_after", "hot_after_in_before")])
        self.quiet()

    def test_several_logs_a_side(self):
        files = [*self.logs[:2], "--", *self.logs[2:]]
        self.browser("open", file=self.make(*files))
        self.assertIn("no common course", self.js(EACH, ["#course", "textContent"])[0])
        for by in (["lock_class"], ["waiter_thread", "owner_method"], ["lock"], ["waiter_stack"]):
            with self.subTest(by=by):
                # Ranks of locks are of each log, and sums of the same rank are added up.
                self.compare(by, diff("--by", ",".join(by), *files))
        self.quiet()

    def test_where_holds_on_both_sides(self):
        where = ["--where", "waiter_thread=http-* and not lock_class=net.Server"]
        self.browser("open", file=self.make(*where, *self.logs[:2]))
        self.compare(["lock_class", "owner_thread"], diff(*where, "--by", "lock_class,owner_thread", *self.logs[:2]))
        self.quiet()

    def test_a_log_and_itself(self):
        self.browser("open", file=self.make(self.logs[0], self.logs[0]))
        self.assertIn("no difference that stands out", self.js(EACH, ["#overview .verdict", "textContent"])[0])
        self.js(SET, fragment(["lock", "waiter_stack", "owner_stack"]))
        rows = self.js(ROWS)
        self.assertGreater(len(rows), 50)
        self.assertEqual([row for row in rows if row[4] or row[2] != row[3]], [])
        self.assertEqual([f for f in self.js(FRAMES, "waiter") if f[1] or f[3][:1] in "+\u2212" and f[3]], [])
        self.quiet()

    def test_stretches_of_one_log(self):
        cut = ["--before", "..0.5s", "--after", "0.5s..", self.logs[0]]
        self.browser("open", file=self.make(*cut))
        self.compare(["lock_class", "waiter_thread"], diff(*cut, "--by", "lock_class,waiter_thread"))
        self.quiet()

    def test_a_range_after_is_compared_by_the_second(self):
        self.browser("open", file=self.page, hash=fragment(["lock_class"], span="20-59"))
        figures = diff("--by", "lock_class", *self.logs[:2])
        before = {row["name"]: row["before"]["ns"] for row in figures["by"]}
        rows = self.js(ROWS)[1:]
        self.assertEqual({row[1]: row[3] for row in rows}, before)
        self.assertEqual(self.js(EACH, ["#base-set", "id"]), [])
        self.quiet()


class Flames(PageTest):
    def test_ghosts_signs_and_sizes(self):
        """Of two logs that differ in one method, and in how long the rest takes."""
        other = list(contention(2000 * MS, 5 * MS, 3, 1, 2, (2, 2)))
        before = make_log(self.folder, steady([4, 5], 1, other), "before")
        after = make_log(self.folder, steady([4, 6], 2, other), "after")
        page = os.path.join(self.folder, "flames.html")
        self.assertEqual(spoor("diff", "--format", "html", "-o", page, before, after).returncode, 0)
        self.browser("open", file=page)

        def frames(mode):
            if mode != "after":
                self.browser("click", at=f"#flame-modes [value={mode}]")
            return {f[0].split(",")[0]: f[1:] for f in self.js(FRAMES, "waiter")}
        found = frames("after")
        gone, new = "java.util.concurrent.locks.ReentrantLock.lock", "shop.Cart.add"
        self.assertNotIn(gone, found, "frames of java.util.concurrent are folded")
        self.browser("click", at="#internal")
        found = frames("after")
        self.assertEqual([found[gone][0], found[new][0]], [True, False])
        self.assertTrue(found[new][2].startswith("+ Cart.add"), found[new])
        self.assertTrue(found[gone][2].startswith("\u2212 "), found[gone])
        self.assertAlmostEqual(found[gone][1], found[new][1], delta=0.1)
        self.assertLess(found["all"][2].find("+"), 0, "no change in all")
        self.assertRegex(self.js(FRAMES, "waiter")[0][0], r"after 500 ms/s|after 50\d ms/s")
        found = frames("before")
        self.assertEqual([found[gone][0], found[new][0]], [False, True])
        found = frames("both")
        self.assertEqual([found[gone][0], found[new][0]], [True, False])
        self.assertIn("flame=both", self.js("() => location.hash"))
        self.assertNotIn(gone, frames("plain-after"))
        self.assertNotIn(new, frames("plain-before"))
        self.assertEqual(self.js("() => document.querySelector('.flame').textContent.match(/[+\u2212]/)"), None)
        # Each frame as wide as its time after; what is gone, as it was.
        self.browser("click", at="#flame-modes [value=after]")
        found = frames("after")
        self.assertAlmostEqual(found["shop.ProductTable.lookUpByName"][1] / found["all"][1], 1000 / 1005, places=3)
        self.quiet()

    def test_a_second_range_has_them_too(self):
        log = make_log(self.folder, shop(1), "ranges")
        page = f"{log}.html"
        self.assertEqual(spoor("html", "-o", page, log).returncode, 0)
        self.browser("open", file=page)
        self.assertEqual(self.js(EACH, ["#flame-compare", "hidden"]), [True])
        self.js(SET, "#range=60-62&base=10-40&sort=blocked")
        self.assertEqual(self.js(EACH, ["#flame-compare", "hidden"]), [False])
        self.assertTrue(any(f[1] for f in self.js(FRAMES, "waiter")), "no frame is in the baseline only")
        label = self.js(FRAMES, "waiter")[0][0]
        root = self.js("() => ['.base', '.change'].map(c => document.querySelector(`#rows tr ${c}`).textContent)")
        self.assertIn(f"the baseline {root[0]}/s", label)
        self.assertIn(f"change {root[1]}/s", label)
        self.browser("press", at="#flame-modes [value=after]", keys=["ArrowRight"])
        self.assertIn("flame=before", self.js("() => location.hash"))
        self.quiet()


class ComparedHostile(PageTest):
    def test_names_do_nothing(self):
        def lines(shift):
            yield from names(HOSTILE, HOSTILE, [f"{n}.{n}" for n in HOSTILE])
            count = len(HOSTILE)
            for i in range(1, count + 1):
                yield lock(i, i)
                yield {"time_ns": 1000 * MS, "event": "stack", "stack": i, "caller": i - 1, "frame": "c2", "method": i,
                       "bci": 1, "line": i}
            for i in range(1, count + 1):
                yield from contention((1001 + 20 * i) * MS, (5 + shift) * MS, i, i, 1 + (i + shift) % count,
                                      (i, 1 + i % count))
            yield {"time_ns": 3000 * MS, "event": "end", "reason": "done"}
        before, after = (make_log(self.folder, lines(i), f"hostile{i}") for i in (0, 3))
        page = os.path.join(self.folder, "hostile.html")
        done = spoor("diff", "--all", "--by", "lock_class", "--format", "html", "-o", page, "--title",
                     "</title><script>alert(5)</script>", before, after)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.browser("open", file=page)
        elements = set(self.js(EACH, ["*", "localName"]))
        self.assertFalse({"img", "iframe", "object", "link"} & elements, elements)
        self.assertEqual(self.js("() => document.scripts.length"), 1)
        texts = self.js("() => document.getElementById('compare').textContent")
        for name in HOSTILE[:3]:
            self.assertIn(name, texts)
        self.quiet()


class ComparedAccess(PageTest):
    def test_axe_finds_nothing_serious(self):
        logs = [make_log(self.folder, shop(seed, 60), f"axe{seed}") for seed in (1, 2)]
        page = os.path.join(self.folder, "axe.html")
        self.assertEqual(spoor("diff", "--format", "html", "-o", page, *logs).returncode, 0)
        for scheme, width in (("dark", 1280), ("light", 1280), ("light", 320)):
            with self.subTest(scheme=scheme, width=width):
                self.browser("open", file=page, scheme=scheme, width=width)
                self.js("() => { for (const d of document.querySelectorAll('details')) d.open = true; }")
                self.assertEqual(self.browser("axe"), [])
                over = self.js("() => document.documentElement.scrollWidth - innerWidth")
                self.assertLessEqual(over, 0, "the page is wider than the window")
        self.quiet()


if __name__ == "__main__":
    unittest.main()
