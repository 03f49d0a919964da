"""The page's part about spans: its figures are those of spoor spans, of the whole log and of ranges."""
import json
import random
import re
import unittest

from pages import CLASSES, METHODS, MS, PageTest, lock, make_log, make_page, names, spoor

STATES = ["running", "stolen", "runnable", "throttled", "lock", "wait", "park", "sleep", "io", "pause", "other"]
COUNTERS = {"running": "cpu_ns", "stolen": "stolen_ns", "runnable": "runnable_ns", "throttled": "throttled_ns",
            "lock": "lock_ns", "wait": "wait_ns", "park": "park_ns", "sleep": "sleep_ns", "io": "io_ns",
            "pause": "pause_ns"}
NAMES = ["GET /cart", "GET /report", "query", "</script><b>POST", "count"]

# A new address, and until all views have followed it.
SET = """async hash => {
  const before = document.documentElement.dataset.ready;
  if ((location.hash || "#") === hash) return;
  location.hash = hash;
  while (document.documentElement.dataset.ready === before) await new Promise(r => setTimeout(r, 1));
}"""
TIMES = """() => [...document.querySelectorAll("#spans-times tbody tr")].map(row =>
    [row.cells[0].textContent, ...[...row.cells].slice(1).filter(c => c.dataset.n).map(c => +c.dataset.n)])"""
SHARES = """() => [[...document.querySelectorAll("#spans-states thead th")].map(c => c.textContent),
    ...[...document.querySelectorAll("#spans-states tbody tr")].map(row => [...row.cells].map(c => +c.dataset.n))]"""
SLOWEST = """() => [...document.querySelectorAll("#spans-slowest tbody tr")].map(row =>
    [+row.cells[0].dataset.n, row.cells[1].textContent.split(" in ")[0]])"""


class Worker:
    """A thread that does something all the time, and knows how much of what."""

    def __init__(self, number, chance):
        self.number, self.chance, self.now = number, chance, 1000 * MS + number
        self.did = dict.fromkeys(STATES, 0)

    def work(self, most):
        for state in self.chance.sample(STATES, 3):
            ns = self.chance.randint(1, most)
            self.did[state] += ns
            self.now += ns

    def event(self, kind, **more):
        counters = {key: self.did[state] for state, key in COUNTERS.items()}
        blocked = sum(self.did[s] for s in STATES[4:])
        return {"time_ns": self.now, "event": kind, "thread": self.number, **counters, "blocked_ns": blocked, **more}

    def span(self, depth=0):
        name = self.chance.randint(1, len(NAMES))
        yield self.event("span_begin", name=name)
        self.work(self.chance.choice([50_000, MS, 9 * MS]))
        if depth < 3 and self.chance.random() < 0.5:
            yield from self.span(depth + 1)
        if self.chance.random() < 0.3:
            yield from self.blocked()
        self.work(200_000)
        yield self.event("span_end")

    def blocked(self):
        number, ns = self.chance.randint(1, 4), self.chance.randint(1000, 3 * MS)
        owner = 1 + self.number % 6
        yield {"time_ns": self.now, "event": "monitor_contended_enter", "thread": self.number, "lock": number,
               "owner": owner, "owner_source": "java_thread", "stack": 1, "owner_stack": 2}
        self.now += ns
        self.did["lock"] += ns
        yield {"time_ns": self.now, "event": "monitor_contended_entered", "thread": self.number, "lock": number,
               "owner": owner, "owner_source": "java_thread"}


def requests(seed, count):
    chance = random.Random(seed)
    yield from names([f"http-{i}" for i in range(6)], CLASSES, METHODS)
    for number in range(1, 5):
        yield lock(number, number)
    for stack, method in ((1, 3), (2, 4)):
        yield {"time_ns": 1000 * MS, "event": "stack", "stack": stack, "caller": 0, "frame": "c2", "method": method,
               "bci": 1, "line": 5}
    for i, name in enumerate(NAMES, 1):
        yield {"time_ns": 1000 * MS, "event": "string", "string": i, "text": name}
    events, last = [], 0
    for number in range(1, 7):
        worker = Worker(number, chance)
        for _ in range(count):
            worker.work(2 * MS)
            events += worker.span()
        last = max(last, worker.now)
    yield from sorted(events, key=lambda e: e["time_ns"])
    yield {"time_ns": last + MS, "event": "end", "reason": "done"}


class Spans(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.log = make_log(cls.folder, requests(5, 60), "spans")
        cls.page = make_page(cls.log)
        cls.browser("open", file=cls.page)

    def told(self, *options):
        done = spoor("spans", "--format", "json", "--top", "200", *options, self.log)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def compare(self, *options):
        told = self.told(*options)
        keys = ["name", "count", "total_ns", "self_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"]
        shown = self.js(TIMES)
        expected = [[row[key] for key in keys] for row in told["names"]]
        for row, of in zip(shown, expected):
            # The command knows nothing of spans within a span that ended before --from: self is larger there.
            if options:
                self.assertLessEqual(row[3], of[3])
                of[3] = row[3]
        self.assertEqual(shown, expected)
        heads, *rows = self.js(SHARES)
        shown = [{"I/O": "io"}.get(head, head) for head in heads[2:]]
        self.assertEqual([row[1:] for row in rows],
                         [[row["total_ns"], *(row["states"][s] for s in shown)] for row in told["names"]])
        self.assertEqual({s for s in STATES if any(row["states"][s] for row in told["names"])}, set(shown))
        slowest = self.js(SLOWEST)
        self.assertGreater(len(slowest), 0)
        self.assertEqual(slowest, [[s["ns"], s["name"]] for s in told["slowest"]][:len(slowest)])
        return told

    def test_the_whole_log(self):
        self.js(SET, "#")
        told = self.compare()
        self.assertGreater(sum(row["count"] for row in told["names"]), 400)
        self.quiet()

    def test_ranges(self):
        self.js(SET, "#")
        count = int(re.search(r" in (\d+) windows", self.js(
            "() => document.querySelector('#course svg').getAttribute('aria-label')")).group(1))
        self.assertGreater(count, 200)
        chance = random.Random(3)
        compared = 0
        for _ in range(8):
            a = chance.randint(0, count - 80)
            b = a + chance.randint(40, 79)
            self.js(SET, f"#range={a}-{b}")
            begin, end = self.js("() => [...document.querySelectorAll('#range-from, #range-to')].map(e => e.value)")
            with self.subTest(begin=begin, end=end):
                told = self.compare("--from", f"{begin}s", "--to", f"{end}s")
                compared += sum(row["count"] for row in told["names"])
                said = self.js("() => document.getElementById('spans').textContent")
                still_open = re.search(r"ended after the range, and are in none of its figures: (\d+)", said)
                self.assertEqual(int(still_open.group(1)) if still_open else 0, told["facts"]["open"])
        self.assertGreater(compared, 300)
        self.quiet()

    def test_a_name_is_a_filter_of_the_tree(self):
        self.js(SET, "#")
        self.js("""() => [...document.querySelectorAll("#spans-times button")].find(
            b => b.textContent === "query").click()""")
        where = self.js("() => new URLSearchParams(location.hash.slice(1)).get('where')")
        self.assertEqual(where, "span='query'")
        done = spoor("report", "--by", "lock_class", "--where", where, "--format", "json", self.log)
        rows = self.js("() => [...document.querySelectorAll('#rows tr')].map(row => +row.cells[4].dataset.ns)")
        self.assertGreater(rows[0], 0)
        self.assertEqual(rows[0], json.loads(done.stdout)["total"]["blocked_ns"])
        self.js("""() => [...document.querySelectorAll("#spans-times button")].find(
            b => b.textContent.startsWith("</script>")).click()""")
        self.assertGreater(self.js("() => +document.querySelector('#rows tr').cells[4].dataset.ns"), 0)
        self.quiet()

    def test_who_held_them_up(self):
        self.js(SET, "#")
        told = self.told()
        shown = self.js("""() => [...document.querySelectorAll("#spans-slowest tbody tr")].map(row =>
            [...row.querySelectorAll("li")].map(li => li.textContent))""")
        self.assertTrue(any(shown))
        for lines, span in zip(shown, told["slowest"]):
            self.assertEqual(len(lines), len(span["blocked_by"]))
            for line, by in zip(lines, span["blocked_by"]):
                self.assertIn(f"held by {by['holder']}", line)
                if by["holder_method"]:
                    self.assertIn(by["holder_method"], line)
        self.quiet()

    def test_for_everybody(self):
        for scheme, width in (("dark", 1280), ("light", 320)):
            with self.subTest(scheme=scheme, width=width):
                self.browser("open", file=self.page, scheme=scheme, width=width)
                self.assertEqual(self.browser("axe"), [])
                over = self.js("() => document.documentElement.scrollWidth - innerWidth")
                self.assertLessEqual(over, 0, "the page is wider than the window")
        self.browser("open", file=self.page)
        self.quiet()


class Without(PageTest):
    def test_a_log_without_spans(self):
        end = {"time_ns": 2000 * MS, "event": "end", "reason": "done"}
        log = make_log(self.folder, [*names(["a"], CLASSES, METHODS), end], "nothing")
        self.browser("open", file=make_page(log))
        self.assertIn("has marked nothing", self.js("() => document.getElementById('spans').textContent"))
        self.quiet()

    def test_what_is_missing_is_said(self):
        lines = [line for line in requests(6, 3) if line.get("event") != "end"]
        ends = [i for i, line in enumerate(lines) if line.get("event") == "span_end"]
        begins = [i for i, line in enumerate(lines) if line.get("event") == "span_begin"]
        del lines[ends[-1]]
        del lines[begins[0]]
        lines.append({"time_ns": lines[-1]["time_ns"] + MS, "event": "end", "reason": "done"})
        self.browser("open", file=make_page(make_log(self.folder, lines, "missing")))
        said = self.js("() => document.getElementById('spans').textContent")
        self.assertIn("whose begin was lost, and that are in no figure: 1.", said)
        self.assertRegex(said, r"have not ended in the log, and are in no figure: [1-9]")
        self.quiet()


if __name__ == "__main__":
    unittest.main()
