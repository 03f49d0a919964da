"""Pictures of each part of each page at 1280 x 800, in light and dark: kept for people to look at, in build/web/pictures."""
import glob
import os
import struct
import unittest
import zlib

from heap_logs import Objects
from pages import BUILD, CLASSES, METHODS, MS, ROOT, PageTest, make_log, make_page, names, shop, spoor
from small_png import chunks
from test_page_profile import sampled
from test_page_spans import requests

PICTURES = os.path.join(BUILD, "web", "pictures")
WIDTH, HEIGHT = 1280, 800
LEAST_LINES = 8  # of a picture that differ from each other: a blank one has one or two
PARTS = """() => [...document.querySelectorAll("header, main > section")].filter(e => e.offsetHeight)
    .map(e => e.id || e.localName)"""

BEYOND = "() => { const e = document.querySelector('#tree').parentElement; return e.scrollWidth - e.clientWidth; }"


def sampled_shop():
    """Threads that are blocked, run and are sampled, with pauses."""
    locks, other = list(shop(6, 1500)), list(sampled(7, 2))
    defined = [line for line in locks if line.get("event") in ("thread", "class", "method", "lock", "stack")]
    stacks = sum(line["event"] == "stack" for line in defined)
    events = [line for line in locks if line not in defined and "header" not in line and line["event"] != "end"]
    for line in other:
        if line.get("event") == "run_sample":
            line["stack"] = line.get("stack", 0) % (stacks + 1)
    events += [line for line in other if line.get("event") in ("thread_sample", "run_sample", "cpu_sample")]
    events.sort(key=lambda line: line["time_ns"])
    end = {"time_ns": events[-1]["time_ns"] + MS, "event": "end", "reason": "done"}
    return [other[0], *defined, *events, end]


def slower_shop():
    """The same shop, in which each contention takes as long as it did and half of that again."""
    for line in shop(6, 1500):
        if "time_ns" in line:
            line["time_ns"] = 1000 * MS + (line["time_ns"] - 1000 * MS) * 3 // 2
        yield line


def lines_of(png):
    """The picture's lines, as they are packed; its width and height."""
    parts = list(chunks(png))
    width, height, depth, colour = struct.unpack_from(">IIBB", parts[0][1])
    step = 1 + width * depth // 8 * {0: 1, 2: 3, 6: 4}[colour]
    raw = zlib.decompress(b"".join(data for name, data in parts if name == b"IDAT"))
    return {raw[at:at + step] for at in range(0, len(raw), step)}, width, height


class Pictures(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        os.makedirs(PICTURES, exist_ok=True)

    def take(self, page, name, parts):
        """parts: those that the page has to have."""
        for old in glob.glob(os.path.join(PICTURES, f"{name}-*.png")):
            os.unlink(old)
        for scheme in ("light", "dark"):
            self.browser("open", file=page, scheme=scheme, width=WIDTH, height=HEIGHT)
            path = os.path.join(PICTURES, f"{name}-{scheme}.png")
            self.browser("shot", path=path)
            with open(path, "rb") as f:
                lines, *size = lines_of(f.read())
            self.assertEqual(size, [WIDTH, HEIGHT])
            self.assertGreater(len(lines), LEAST_LINES, path)
            if name != "diff":  # which has two columns more
                self.assertLessEqual(self.js(BEYOND), 0, "columns of the tree are out of sight")
            self.js("""() => { for (const part of document.querySelectorAll("#text-section details")) part.open = true; }""")
            shown = self.js(PARTS)
            self.assertLessEqual(set(parts), set(shown))
            for part in shown:
                path = os.path.join(PICTURES, f"{name}-{part}-{scheme}.png")
                self.browser("shot", path=path, at=part if part == "header" else f"#{part}")
                with open(path, "rb") as f:
                    lines, width, height = lines_of(f.read())
                self.assertGreater(len(lines), LEAST_LINES, path)
                self.assertTrue(WIDTH * 0.9 < width <= WIDTH and height > 20, (path, width, height))
        self.quiet()

    def test_a_page(self):
        self.take(make_page(make_log(self.folder, sampled_shop(), "shop")), "page",
                  [f"{part}-section" for part in ("overview", "course", "heatmap", "tree", "idle", "flame", "matrix", "profile",
                                                  "states", "steal", "threads", "text")])

    def test_spans(self):
        self.take(make_page(make_log(self.folder, requests(5, 60), "spans")), "spans", ["spans-section", "tree-section"])

    def test_objects(self):
        log = Objects(["shop.Order", "shop.Cart", "char[]"])
        for i in range(12):
            log.collect([400 + 10 * i, 100, 70 * i], [40, 10, 7 * i])
        self.take(make_page(log.write(os.path.join(self.folder, "objects.spoor"), end=True)), "objects", ["objects-section"])

    def test_a_real_log(self):
        """The message broker of docs/guide.md, which collects garbage, too."""
        page = os.path.join(self.folder, "broker.html")
        self.assertEqual(spoor("html", "-o", page, os.path.join(ROOT, "docs/logs/broker.spoor")).returncode, 0)
        self.take(page, "broker", ["pauses-section", "tree-section"])

    def test_a_difference(self):
        before, after = make_log(self.folder, shop(6, 1500), "before"), make_log(self.folder, slower_shop(), "after")
        page = os.path.join(self.folder, "diff.html")
        done = spoor("diff", "--format", "html", "-o", page, before, after)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.take(page, "diff", ["compare-section", "tree-section", "flame-section"])

    def test_the_heap(self):
        log = Objects(["com.acme.Order", "com.acme.Request", "net.Page", "byte[]"])
        for i in range(9):
            log.collect([30, 500, 80, 200 + 40 * i], [3, 0, 8 * (i % 3), 20 * i])
        page = os.path.join(self.folder, "heap.html")
        done = spoor("heap", "page", "-o", page, log.write(os.path.join(self.folder, "heap.spoor")))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.take(page, "heap", [])

    def test_what_is_lost(self):
        lines = list(sampled(3, 1))[:-1]
        lines += [{"time_ns": lines[-1]["time_ns"], "event": "lost", "event_id": 4, "place": "ring_buffer", "count": 1203},
                  {"block": "next"}, {"block": "lose"}]
        lines += [*list(names(["a"], CLASSES, METHODS))[1:]]
        log = make_log(self.folder, lines, "lost")
        self.assertEqual(spoor("html", "-o", f"{log}.html", log).returncode, 1)
        self.take(f"{log}.html", "lost", ["overview-section"])


if __name__ == "__main__":
    unittest.main()
