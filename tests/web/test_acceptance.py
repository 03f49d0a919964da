"""spoor html in a browser, as people use it: a diagnosis by keys alone, a filter that holds everywhere, zoom, print."""
import os
import unittest

from heap_logs import Objects
from pages import CLASSES, METHODS, MS, ROOT, PageTest, contention, lock, make_log, make_page, names, shop, spoor
from test_page import EACH, ROWS, SET, fragment

LOCKED = ["jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park",
          "java.util.concurrent.locks.AbstractQueuedSynchronizer.acquire",
          "java.util.concurrent.locks.ReentrantLock.lock"]
# Of all elements that a selector finds, their ns.
SUM = "selector => [...document.querySelectorAll(selector)].reduce((sum, box) => sum + +box.dataset.ns, 0)"
FOCUS = "() => { const e = document.activeElement; return [e.getAttribute('aria-level'), e.cells?.[0].textContent]; }"


def products():
    """As in Figure 4.9: a ReentrantLock, 97.68 % of the waiting in one method, whose owner is in another."""
    methods = ["java.lang.Thread.run", "shop.Customer.run", "shop.ProductTable.queryByArticleNo",
               "shop.ProductTable.queryByName", *LOCKED]
    yield from names([f"customer-{i}" for i in range(4)], CLASSES, methods)
    yield lock(1, 3)
    number = 0
    for query in (3, 4):
        for method in (1, 2, query, 8, 7, 6, 5):
            number += 1
            internal = method > 4
            yield {"time_ns": 1000 * MS, "event": "stack", "stack": number, "caller": 0 if method == 1 else number - 1,
                   "frame": "c2", "method": method, "bci": 1, "line": 7 if internal else 10 * query}
    counters = {"cpu_ns": 0, "stolen_ns": 0, "runnable_ns": 0, "owner_cpu_ns": 0, "owner_stolen_ns": 0,
                "owner_runnable_ns": 0}
    at = 1001 * MS
    for length_ns, stack in ((97_680_000, 7), (2_320_000, 14)):
        # The holder is in queryByName, in which it walks.
        yield {"time_ns": at, "event": "park_begin", "thread": 1, "lock": 1, "owner": 2, "owner_source": "java_thread",
               "stack": stack, "owner_stack": 10, **counters}
        yield {"time_ns": at + length_ns, "event": "park_end", "thread": 1, "lock": 1, "owner": 2,
               "owner_source": "java_thread", **counters}
        at += length_ns + MS
    yield {"time_ns": at, "event": "end", "reason": "done"}


class Diagnosis(PageTest):
    def test_figure_4_9_by_keys_alone(self):
        log = make_log(self.folder, products(), "products")
        self.browser("open", file=make_page(log))
        b = self.browser
        # From the page's begin by Tab alone to the questions; the thesis's is chosen by its first letters.
        b("press", at="#preset", keys=[*"Chains"])
        self.assertEqual(self.js(EACH, ["#aspects li span", "textContent"]),
                         ["group", "lock_class", "lock", "waiter_stack", "owner_stack"])
        b("press", at="#rows tr[aria-selected=true]", keys=["ArrowDown", *["ArrowRight"] * 6])
        level, text = self.js(FOCUS)
        self.assertEqual(level, "5")
        self.assertIn("shop.ProductTable.queryByArticleNo", text)
        self.assertIn("[+", text)
        self.assertNotIn("LockSupport", text)
        shares = self.js("""() => [...document.querySelectorAll('#rows tr[aria-level="5"]')].map(
            row => row.cells[2].textContent)""")
        self.assertEqual(shares, ["97.7 %", "2.3 %"])
        chain = self.js(EACH, ["#details .chain:first-child li", "textContent"])
        self.assertEqual([frame.split(":")[0].split(" ")[0] for frame in chain],
                         [*LOCKED, "shop.ProductTable.queryByArticleNo", "shop.Customer.run", "java.lang.Thread.run"])
        b("press", keys=["ArrowRight", "ArrowRight"])
        level, text = self.js(FOCUS)
        self.assertEqual(level, "6")
        self.assertIn("shop.ProductTable.queryByName", text)
        owner = self.js(EACH, ["#details .chain:last-child li", "textContent"])
        self.assertTrue(owner[0].startswith("shop.ProductTable.queryByName"), owner)
        # Another order by keys: the owner's chain first, the last aspect away.
        b("press", at="#aspects li:last-child button[data-act=left]", keys=["Alt+ArrowLeft"] * 4)
        self.assertEqual(self.js(EACH, ["#aspects li span", "textContent"])[0], "owner_stack")
        b("press", at="#aspects li:last-child button[data-act=remove]", keys=["Enter"])
        self.assertEqual(len(self.js(EACH, ["#aspects li", "textContent"])), 4)
        self.quiet()

    def test_the_same_by_mouse(self):
        log = make_log(self.folder, products(), "mouse")
        self.browser("open", file=make_page(log), hash=fragment(["group", "lock_class", "lock", "owner_stack",
                                                                  "waiter_stack"]))
        self.browser("drag", **{"from": "#aspects li:nth-child(5) span", "to": "#aspects li:nth-child(4) span"})
        self.assertEqual(self.js(EACH, ["#aspects li span", "textContent"])[3:], ["waiter_stack", "owner_stack"])
        for level in (2, 3, 4):
            self.browser("click", at=f'#rows tr[aria-level="{level}"] .twist')
        self.browser("click", at='#rows tr[aria-level="5"] .text')
        self.assertEqual(len(self.js(EACH, ["#details .chain:first-child li", "textContent"])), 7)
        self.quiet()


# All that somebody sees of the page, with what is chosen, open and marked in it.
SEEN = """() => [
  document.querySelector("main").innerText,
  [...document.querySelectorAll("select")].map(e => [e.id, e.value]),
  [...document.querySelectorAll("input")].map(e => [e.id, e.type === "checkbox" ? e.checked : e.value]),
  [...document.querySelectorAll("[aria-selected=true]")].map(e => e.textContent),
  [...document.querySelectorAll("#rows [aria-expanded]")].map(e => e.getAttribute("aria-expanded")),
  [...document.querySelectorAll(".frame")].map(e => [e.title, e.className, e.style.left, e.style.width]),
  [...document.querySelectorAll("#course rect, #heatmap td")].map(e => [e.getAttribute("class"), e.dataset.ns]),
]"""
# What is chosen in a select, as somebody would.
TAKE = """([id, value]) => {
  const select = document.getElementById(id);
  select.value = value;
  select.dispatchEvent(new Event("change"));
}"""
FRAMES = "side => [...document.querySelectorAll(`#flame-${side} .frame`)].map(f => f.title.split('\\n')[0])"


class Search(PageTest):
    """What is searched for is found in a folded [+n], and is unfolded there."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.page = make_page(make_log(cls.folder, products(), "search"))

    def rows(self):
        return self.js("""() => [...document.querySelectorAll("#rows tr")].slice(1).map(row =>
            [row.querySelector(".text").textContent, [...row.querySelectorAll("mark")].map(m => m.textContent)])""")

    def test_a_folded_frame(self):
        self.browser("open", file=self.page, hash=fragment(["waiter_stack"]))
        folded = self.rows()
        self.assertEqual(len(folded), 2)
        for text, marked in folded:
            self.assertIn("[+4]", text)
            self.assertNotIn("AbstractQueuedSynchronizer", text)
            self.assertEqual(marked, [])
        self.assertNotIn(LOCKED[2], self.js(FRAMES, "waiter"))
        self.browser("type", at="#where", text="queuedsynchronizer")
        self.browser("press", at="#where", keys=["Enter"])
        for text, marked in self.rows():
            self.assertEqual(marked, [f"{LOCKED[2]}:7"])
            self.assertTrue(text.startswith(f"{LOCKED[2]}:7 [+2] ← shop.ProductTable.query"), text)
            self.assertIn(" [+1] ← shop.Customer.run", text)
        frames = self.js(FRAMES, "waiter")
        self.assertIn(LOCKED[2], frames)
        self.assertNotIn(LOCKED[1], frames)
        found = self.js("() => [...document.querySelectorAll('.frame.found')].map(f => f.title.split('\\n')[0])")
        self.assertEqual(set(found), {LOCKED[2]})
        self.js("() => document.querySelectorAll('#rows tr')[1].click()")
        self.assertEqual(self.js(EACH, ["#details mark", "textContent"]), [f"{LOCKED[2]}:7"])
        self.assertEqual(self.browser("axe"), [])
        self.browser("click", at="#clear")
        self.assertEqual(self.rows(), folded)
        self.quiet()

    def test_a_condition_unfolds_too(self):
        self.browser("open", file=self.page, hash=fragment(["waiter_stack"], "waiter_stack=*Unsafe.park"))
        self.assertEqual([marked for _, marked in self.rows()], [[f"{LOCKED[0]}:7"]] * 2)
        # What must not be in a chain is not what is looked for.
        self.js(SET, fragment(["waiter_stack"], "not waiter_stack=*Unsafe.unpark and waiter_stack!=*.wait"))
        self.assertEqual([marked for _, marked in self.rows()], [[]] * 2)
        # Beyond the first three of a chain's rows.
        self.js(SET, fragment(["waiter_stack"], "Thread.run"))
        self.assertEqual([marked for _, marked in self.rows()], [["java.lang.Thread.run:30"], ["java.lang.Thread.run:40"]])
        self.quiet()


class Address(PageTest):
    """The state is in the address: 'back' undoes each step, and the address opened anew shows the same."""
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        from test_page_shots import sampled_shop
        cls.page = make_page(make_log(cls.folder, sampled_shop(), "address"))

    def steps(self):
        """Each changes what is seen, and each but those of the tree's rows is a step that 'back' undoes."""
        b = self.browser
        yield "preset", lambda: self.js(TAKE, ["preset", "waiter_stack,owner_stack"])
        yield "filter", lambda: (b("type", at="#where", text="Cart"), b("press", at="#where", keys=["Enter"]))
        yield "sort", lambda: self.js(TAKE, ["sort", "count"])
        yield "range", lambda: b("mouse", at="#course svg", **{"from": 0.2, "to": 0.7})
        yield "matrix", lambda: self.js(TAKE, ["matrix-kind", "method"])
        yield "internal", lambda: b("click", at="#internal")
        yield "samples", lambda: self.js(TAKE, ["profile-states", "all"])
        yield "chains", lambda: self.js(TAKE, ["profile-by", "thread"])
        yield "pool", lambda: self.js(TAKE, ["profile-pool", "http-*"])
        yield "states", lambda: self.js(TAKE, ["states-by", "threads"])
        yield "baseline", lambda: (b("click", at="#base-set"), b("mouse", at="#course svg", **{"from": 0.75, "to": 0.9}))
        yield "flame", lambda: b("click", at='[name="flame-mode"][value=both]')

    def test_back_undoes_each_step(self):
        self.browser("open", file=self.page)
        seen = [self.js(SEEN)]
        addresses = [self.js("() => location.hash")]
        for name, step in self.steps():
            with self.subTest(step=name):
                step()
                seen.append(self.js(SEEN))
                addresses.append(self.js("() => location.hash"))
                self.assertNotEqual(seen[-1], seen[-2])
                self.assertNotEqual(addresses[-1], addresses[-2])
        while len(addresses) > 1:
            addresses.pop()
            seen.pop()
            before = self.js("() => document.documentElement.dataset.ready")
            self.browser("back")
            self.js("""async before => {
                while (document.documentElement.dataset.ready === before) await new Promise(r => setTimeout(r, 1)); }""",
                    before)
            now = self.js("() => location.hash")
            if now != addresses[-1]:  # the baseline was two steps
                self.assertIn("base=", now)
                addresses.append(now)
                seen.append(None)
                continue
            self.assertEqual(self.js(SEEN), seen[-1], addresses[-1])
        self.quiet()

    def test_the_address_opened_anew(self):
        self.browser("open", file=self.page)
        for _, step in self.steps():
            step()
        self.browser("press", at="#rows tr[aria-selected=true]", keys=["ArrowDown", "ArrowRight", "ArrowRight", "ArrowDown"])
        seen, address = self.js(SEEN), self.js("() => location.hash")
        self.assertIn("&row=", address)
        self.browser("open", file=self.page, hash=address)
        self.assertEqual(self.js(SEEN), seen)
        self.assertEqual(self.js("() => location.hash"), address)
        self.browser("click", at="#open-all")
        seen, address = self.js(SEEN), self.js("() => location.hash")
        self.browser("open", file=self.page, hash=address)
        self.assertEqual(self.js(SEEN), seen)
        self.browser("click", at="#close-all")
        self.assertNotIn("open=", self.js("() => location.hash"))
        self.quiet()

    def test_a_wrong_address_is_the_page_as_it_is(self):
        self.browser("open", file=self.page)
        seen = self.js(SEEN)
        self.browser("open", file=self.page, hash="#by=x&sort=y&range=9-3&base=z&row=/9/9&open=a,/7&matrix=q&pool=%00&states="
                     "__proto__&samples=-1&flame=")
        self.assertEqual(self.js(SEEN), seen)
        self.quiet()


class Everywhere(PageTest):
    def test_a_filter_holds_in_every_view(self):
        """Time lost to work of the tree's root is that of flame graphs and matrix; blocked time, the heat map's."""
        log = make_log(self.folder, shop(1), "filter")
        self.browser("open", file=make_page(log))
        seen = set()
        for where in ("", "waiter_thread=clerk-*", "NioSocketImpl", "owner_stack=*Cart* and not lock_class=net.Server"):
            with self.subTest(where=where):
                self.js(SET, fragment(["lock_class"], where))
                _, _, work, blocked, *_ = self.js(ROWS)[0]
                text = self.js("() => document.querySelector('#rows tr .amount').textContent")
                for side in ("waiter", "owner"):
                    label = self.js("s => document.querySelector(`#flame-${s} .frame`).getAttribute('aria-label')",
                                    side)
                    self.assertEqual(label, f"all, {text}, 100 %")
                self.assertEqual(self.js(SUM, "#matrix td[data-ns]"), work)
                self.assertEqual(self.js(SUM, "#heatmap [role=gridcell]"), blocked)
                self.assertEqual(self.js(SUM, "#course rect[data-ns]"), blocked)
                self.assertIn("Drag over the bars", self.js(EACH, ["#range-text", "textContent"])[0])
                seen.add((work, blocked))
        self.assertEqual(len(seen), 4)
        self.quiet()

    def test_zoom_and_print(self):
        log = make_log(self.folder, shop(4, 40), "zoom")
        page = make_page(log)
        # 1280 pixels at 200 %.
        self.browser("open", file=page, width=640, height=400)
        rows = self.js(ROWS)
        self.assertEqual(self.browser("axe"), [])
        self.assertLessEqual(self.js("() => document.documentElement.scrollWidth - innerWidth"), 0)
        self.browser("print")
        shown = self.js("""() => [...document.querySelectorAll('#rows tr')].filter(row => row.offsetHeight &&
            getComputedStyle(row).visibility === "visible" && row.closest(".wide").scrollHeight <=
            row.closest(".wide").clientHeight + 1).length""")
        self.assertEqual(shown, len(rows), "a row is cut off in print")
        pdf = os.path.join(self.folder, "page.pdf")
        self.browser("pdf", path=pdf)
        with open(pdf, "rb") as f:
            self.assertEqual(f.read(4), b"%PDF")
        self.quiet()


PAPER = 718  # pixels across: A4 with Chromium's margins
# By part: rows that are printed, the pixels by which the widest is beyond the paper, and what cuts something off.
PRINTED = """() => Object.fromEntries([...document.querySelectorAll("main > section")].filter(s => s.offsetHeight).map(s => {
  const rows = [...s.querySelectorAll("tbody tr")].filter(r => r.offsetHeight && getComputedStyle(r).visibility === "visible");
  const cut = [...s.querySelectorAll("*")].filter(e => getComputedStyle(e).overflow !== "visible" && e.querySelector("tr") &&
      (e.scrollHeight > e.clientHeight + 1 || e.scrollWidth > e.clientWidth + 1));
  return [s.id, [rows.length, Math.max(0, ...rows.map(r => r.getBoundingClientRect().right - innerWidth)), cut.length]];
}))"""


class Print(PageTest):
    """On paper each part has all rows that the page has, and none is cut off."""
    def compare(self, page, parts):
        self.browser("open", file=page, width=PAPER)
        screen = self.js(PRINTED)
        self.browser("print")
        paper = self.js(PRINTED)
        self.assertEqual(set(paper), set(screen))
        for part in paper:
            rows, beyond, cut = paper[part]
            with self.subTest(part=part):
                self.assertEqual(rows, screen[part][0])
                self.assertLessEqual(beyond, 1, "wider than the paper")
                self.assertEqual(cut, 0)
        for part in parts:
            self.assertGreater(paper[f"{part}-section"][0], 0, part)
        pdf = os.path.join(self.folder, "printed.pdf")
        self.browser("pdf", path=pdf)
        with open(pdf, "rb") as f:
            self.assertEqual(f.read(5), b"%PDF-")
        self.quiet()

    def test_samples_states_and_steal(self):
        from test_page_shots import sampled_shop
        self.compare(make_page(make_log(self.folder, sampled_shop(), "sampled")),
                     ["heatmap", "tree", "matrix", "profile", "states", "steal", "threads"])
        self.assertGreater(self.js("() => document.getElementById('samples-map').offsetHeight"), 50)

    def test_spans(self):
        from test_page_spans import requests
        self.compare(make_page(make_log(self.folder, requests(5, 20), "spans")), ["spans", "tree"])

    def test_objects(self):
        log = Objects(["shop.Order", "shop.Cart", "char[]"])
        for i in range(4):
            log.collect([40 + i, 10, 7 * i], [4, 1, i])
        self.compare(make_page(log.write(os.path.join(self.folder, "objects.spoor"), end=True)), ["objects"])

    def test_a_difference(self):
        from test_page_shots import slower_shop
        logs = make_log(self.folder, shop(6, 300), "before"), make_log(self.folder, slower_shop(), "after")
        page = os.path.join(self.folder, "diff.html")
        self.assertEqual(spoor("diff", "--format", "html", "-o", page, *logs).returncode, 0)
        self.compare(page, ["compare", "tree", "matrix"])

    def test_rows_that_nobody_has_asked_for(self):
        """A page shows the first hundred rows of a level; paper has them all."""
        def lines():
            classes = [f"shop.C{i}" for i in range(250)]
            yield from names(["a", "b"], classes, METHODS)
            for i in range(1, 251):
                yield {**lock(i, i), "group": "monitor"}
                yield from contention((1000 + 2 * i) * MS, MS + i, 1, i, 2, (0, 0))
            yield {"time_ns": 2000 * MS, "event": "end", "reason": "done"}
        self.browser("open", file=make_page(make_log(self.folder, lines(), "many")), hash=fragment(["lock_class"]))
        count = "() => document.querySelectorAll('#rows tr[aria-level=\"2\"]').length"
        self.assertEqual(self.js(count), 101)
        self.browser("pdf", path=os.path.join(self.folder, "many.pdf"))
        self.assertEqual(self.js(count), 250)
        self.quiet()


class Budget(PageTest):
    def test_sizes(self):
        """The page itself, and that of a log with the most cells that a page takes, in bytes."""
        self.assertLess(os.path.getsize(os.path.join(ROOT, "web/page.html")), 250_000)
        self.assertLess(os.path.getsize(os.path.join(ROOT, "web/heap.html")), 250_000)
        page = make_page(make_log(self.folder, shop(9, 4000), "budget"))
        self.assertLess(os.path.getsize(page), 1_000_000)
        real = os.path.join(self.folder, "broker.html")
        self.assertEqual(spoor("html", "-o", real, os.path.join(ROOT, "docs/logs/broker.spoor")).returncode, 0)
        self.assertLess(os.path.getsize(real), 5_000_000)

    def test_many_threads(self):
        """3,000 of them, each blocked once: rows beyond the first hundred come when they are asked for."""
        def lines():
            yield from names([f"t{i:04}" for i in range(3000)], CLASSES, METHODS)
            yield lock(1, 1)
            for i in range(2, 3001):
                yield from contention((1000 + i) * MS, MS // 2 + i, i, 1, 1, (0, 0))
            yield {"time_ns": 5000 * MS, "event": "end", "reason": "done"}
        self.browser("open", file=make_page(make_log(self.folder, lines(), "threads")),
                     hash=fragment(["waiter_thread"]))
        self.assertEqual(len(self.js(EACH, ["#rows tr", "className"])), 102)
        self.assertIn("2,899 more", self.js(EACH, ["#rows tr:last-child", "textContent"])[0])
        self.browser("press", at="#rows tr[aria-selected=true]", keys=["End", "Enter"])
        self.assertEqual(len(self.js(EACH, ["#rows tr", "className"])), 202)
        self.quiet()


if __name__ == "__main__":
    unittest.main()
