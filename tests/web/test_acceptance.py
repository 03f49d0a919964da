"""spoor html in a browser, as people use it: a diagnosis by keys alone, a filter that holds everywhere, zoom, print."""
import os
import unittest

from pages import CLASSES, METHODS, MS, ROOT, PageTest, contention, lock, make_log, make_page, names, shop
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


class Budget(PageTest):
    def test_sizes(self):
        """The page itself, and that of a log with the most cells that a page takes, in bytes."""
        self.assertLess(os.path.getsize(os.path.join(ROOT, "web/page.html")), 250_000)
        page = make_page(make_log(self.folder, shop(9, 4000), "budget"))
        self.assertLess(os.path.getsize(page), 1_000_000)

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
