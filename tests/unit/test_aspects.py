"""report --by, --where, --sort: every aspect against a count over the contentions of which the log was made.

Each contention has a lock of its own, so that it is known without spoor who held it: the owner that its events name.
"""
import bisect
import collections
import csv
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import ROOT, SPOOR

sys.path.append(f"{ROOT}/tests/web")

from pages import MS, contention, lock, make_log, names  # noqa: E402

START = 1000 * MS
# Who holds locks is never blocked: else the report says where it was blocked meanwhile.
WAITERS = ["http-0", "http-1", "http-2", "http-3", "http-4", "timer", "main"]
THREADS = [*WAITERS, "db-pool-0-worker", "db-pool-1-worker", "db-pool-2-worker", "keeper"]
POOLS = ["http-*"] * 5 + ["timer", "main"] + ["db-pool-*-worker"] * 3 + ["keeper"]
CLASSES = ["shop.Cart", "shop.db.Table", "Plain"]
METHODS = ["Plain.run", "shop.Cart.add", "shop.Cart.total", "shop.db.Table.get", "shop.db.Pool.take"]
SPANS = ["GET /cart", "GET /item", "checkout"]
WINDOW = 100 * MS
DURATIONS = ["< 10 us", "10-100 us", "100 us-1 ms", "1-10 ms", "10-100 ms", "100 ms-1 s", "1-10 s", ">= 10 s"]
PER_MILLE = {"p50_ns": 500, "p90_ns": 900, "p99_ns": 990, "p999_ns": 999}
FACETS = ["duration", "window", "in_gc", "span", "owner_state"]
ASPECTS = ["waiter_pool", "owner_pool", "waiter_class", "owner_class", "waiter_package", "owner_package",
           "owner_source", "after_wait", *FACETS, "waiter_thread", "owner_thread", "lock_class", "owner_method",
           "waiter_method", "group", "behind", "lock"]
CHAINS = {"waiter_stack", "owner_stack"}  # those of tests/web/test_page.py are held against JSON
Held = collections.namedtuple("Held", "begin end waiter owner lock_class waiter_method owner_method running number")


def percent(part, whole):
    if part == whole:
        return "100 %"
    share = 100 * part / whole
    return "0 %" if not part else "<0.1 %" if share < 0.1 else ">99.9 %" if share > 99.9 else f"{share:.1f} %"


def shown_ns(text):
    number, unit = text.split() if text != "0" else (0, "ns")
    return float(number) * {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}[unit]


def value(group):
    return " ".join(group["key"])


class Shop:
    """A log, and what is in it."""

    def __init__(self, seed, count):
        self.made = random.Random(seed)
        self.held, self.pauses, self.spans = [], [], collections.defaultdict(list)
        self.lines = [*names(THREADS, CLASSES, METHODS), *self.strings(), *self.stacks()]
        events = [*self.collections(), *self.spans_of_all(), *self.contentions(count)]
        events.sort(key=lambda e: e["time_ns"])
        self.lines += events
        self.lines.append({"time_ns": events[-1]["time_ns"] + MS, "event": "end", "reason": "done"})

    @staticmethod
    def strings():
        for i, text in enumerate(SPANS, 1):
            yield {"time_ns": START, "event": "string", "string": i, "text": text}

    @staticmethod
    def stacks():
        for i in range(1, len(METHODS) + 1):
            yield {"time_ns": START, "event": "stack", "stack": i, "caller": 0, "frame": "c2", "method": i, "line": i}

    def collections(self):
        at = START
        for _ in range(25):
            begin = at + self.made.randint(1, 120) * MS + self.made.randint(0, MS)
            at = begin + self.made.randint(1, 40 * MS)
            self.pauses.append((begin, at))
            yield {"time_ns": begin, "event": "gc_begin", "thread": 11}
            yield {"time_ns": at, "event": "gc_end", "thread": 11}

    def spans_of_all(self):
        """Of each thread, one after the other, with one within some."""
        counters = dict.fromkeys(["cpu_ns", "stolen_ns", "runnable_ns"], 0)
        for thread in range(1, len(THREADS) + 1):
            at, changes = START, self.spans[thread]
            for _ in range(12):
                outer, inner = self.made.sample(range(1, len(SPANS) + 1), 2)
                moments = [at + n * MS for n in sorted(self.made.sample(range(1, 300), 4))]
                at = moments[-1]
                what = [(outer, "span_begin"), (inner, "span_begin"), (outer, "span_end"), (0, "span_end")]
                for moment, (now, kind) in zip(moments, what):
                    name = {"name": now} if kind == "span_begin" else {}
                    changes.append((moment, now))
                    yield {"time_ns": moment, "event": kind, "thread": thread, **name, **counters}

    def contentions(self, count):
        free = dict.fromkeys(range(1, len(THREADS) + 1), START + MS)
        for number in range(1, count + 1):
            waiter = self.made.randint(1, len(WAITERS))
            owner = self.made.randint(len(WAITERS) + 1, len(THREADS))
            owner = 0 if self.made.random() < 0.1 else owner
            lock_class = self.made.randint(1, len(CLASSES))
            stacks = self.made.randint(0, len(METHODS)), self.made.randint(0, len(METHODS)) if owner else 0
            length = int(10 ** self.made.uniform(3, 8.2))
            begin = free[waiter] + self.made.randint(1, 20 * MS)
            free[waiter] = begin + length + 1
            busy = self.made.choice([0, 0.25, 1])
            yield {"time_ns": begin, "event": "lock", "lock": number, "group": "monitor", "identity": "hash",
                   "class": lock_class, "hash": number}
            for event in contention(begin, length, waiter, number, owner, stacks, busy):
                if not owner:
                    event["owner_source"] = "unknown"
                yield event
            self.held.append(Held(begin, begin + length, waiter, owner, lock_class, *stacks,
                                  int(length * busy), number))

    def gc(self, ns):
        return any(begin <= ns < end for begin, end in self.pauses)

    def span(self, thread, ns):
        changes = self.spans[thread]
        at = bisect.bisect_right(changes, (ns, 99))
        return SPANS[changes[at - 1][1] - 1] if at and changes[at - 1][1] else "(no span)"

    def fixed(self, h):
        """The aspects that are the same for all of a contention."""
        def method(number, what):
            if not number:
                return "(unknown)"
            name = METHODS[number - 1]
            of_class = name.rpartition(".")[0]
            return {"method": name, "class": of_class,
                    "package": of_class.rpartition(".")[0] or "(no package)"}[what]

        waiter, owner = THREADS[h.waiter - 1], THREADS[h.owner - 1] if h.owner else "(unknown)"
        return {"waiter_thread": waiter, "owner_thread": owner, "waiter_pool": POOLS[h.waiter - 1],
                "owner_pool": POOLS[h.owner - 1] if h.owner else "(unknown)",
                "waiter_class": method(h.waiter_method, "class"), "owner_class": method(h.owner_method, "class"),
                "waiter_package": method(h.waiter_method, "package"),
                "owner_package": method(h.owner_method, "package"),
                "owner_method": method(h.owner_method, "method"), "waiter_method": method(h.waiter_method, "method"),
                "group": "monitor", "behind": "(none)",
                "lock": f"{CLASSES[h.lock_class - 1]} #{h.number} hash {h.number:#x}",
                "lock_class": CLASSES[h.lock_class - 1], "owner_source": "inferred" if h.owner else "(unknown)",
                "after_wait": "no", "span": self.span(h.waiter, h.begin),
                "duration": DURATIONS[sum(h.end - h.begin >= 10 ** n for n in range(4, 11))]}

    def at(self, ns):
        window = (ns - START) // WINDOW
        ends = (f"{n * WINDOW / 1e9:.3f}" for n in (window, window + 1))
        return {"window": "-".join(ends) + " s", "in_gc": "yes" if self.gc(ns) else "no"}

    @staticmethod
    def states(h):
        if not h.owner:
            return {"(unknown)": 1.0}
        share = h.running / (h.end - h.begin)
        return {"running": share, "other": 1 - share}

    def pieces(self, h):
        """(aspects, ns) of all that a contention falls into."""
        cuts = {h.begin, h.end}
        cuts |= {ns for pause in self.pauses for ns in pause if h.begin < ns < h.end}
        cuts |= set(range(START + ((h.begin - START) // WINDOW + 1) * WINDOW, h.end, WINDOW))
        cuts = sorted(cuts)
        for begin, end in zip(cuts, cuts[1:]):
            for state, share in self.states(h).items():
                if share:
                    yield {**self.fixed(h), **self.at(begin), "owner_state": state}, (end - begin) * share

    def begin(self, h):
        states = self.states(h)
        first = max(states, key=lambda s: (states[s], s == "running"))
        return {**self.fixed(h), **self.at(h.begin), "owner_state": first}


class Aspects(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp()
        cls.shop = Shop(5, 600)
        cls.log = make_log(cls.folder, cls.shop.lines)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def report(self, *args):
        done = subprocess.run([SPOOR, "report", "--window", f"{WINDOW // MS}ms", *args, self.log],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def tree(self, by, *args):
        return json.loads(self.report("--by", ",".join(by), "--format", "json", *args))

    def expected(self, by, chosen=lambda aspects: True):
        """By the values of the aspects: blocked time, and the lengths of the contentions that are counted there."""
        blocked, lengths = collections.Counter(), collections.defaultdict(list)
        for h in self.shop.held:
            for aspects, ns in self.shop.pieces(h):
                if chosen(aspects):
                    for depth in range(len(by) + 1):
                        blocked[tuple(aspects[a] for a in by[:depth])] += ns
            aspects = self.shop.begin(h)
            for depth in range(len(by) + 1):
                if chosen(aspects):
                    lengths[tuple(aspects[a] for a in by[:depth])].append(h.end - h.begin)
        return blocked, lengths

    def quantiles(self, figures, lengths, where):
        self.assertEqual("p50_ns" in figures, bool(lengths), where)
        lengths = sorted(lengths)
        for key, per_mille in PER_MILLE.items():
            if lengths:
                exact = lengths[max(-(-len(lengths) * per_mille // 1000), 1) - 1]
                self.assertAlmostEqual(figures[key], exact, delta=exact / 128 + 1, msg=where)
                if exact == lengths[-1]:
                    self.assertEqual(figures[key], exact, where)

    def compare(self, by, where=None, chosen=lambda aspects: True):
        tree = self.tree(by, *(["--where", where] if where else []))
        blocked, lengths = self.expected(by, chosen)
        # Of a part it is known how much its holder ran, but not when: a piece has its share, rounded.
        cut = {"window", "in_gc"} & set(by) and "owner_state" in by
        delta = 1 + (2 * len(self.shop.held) if cut or where else 0)
        seen = []

        def check(group, path, parent):
            seen.append(path)
            self.assertEqual(group["count"], len(lengths[path]), path)
            self.assertAlmostEqual(group["blocked_ns"], blocked[path], delta=delta, msg=path)
            self.quantiles(group, lengths[path], path)
            split = group["split"]
            parts = ("running_ns", "stolen_ns", "runnable_ns", "throttled_ns", "blocked_ns", "not_split_ns")
            self.assertEqual(sum(split[k] for k in parts if isinstance(split[k], int)) +
                             (sum(split["blocked"].values()) if not isinstance(split["blocked_ns"], int) else 0),
                             group["blocked_ns"], path)
            self.assertEqual(group["parent_blocked_ns"], parent, path)
            for inner in group["groups"]:
                check(inner, (*path, value(inner)), group["blocked_ns"])

        total = tree["total"]
        self.assertEqual(total["count"], len(lengths[()]))
        self.assertAlmostEqual(total["blocked_ns"], blocked[()], delta=delta)
        self.quantiles(total, lengths[()], "total")
        for group in tree["groups"]:
            check(group, (value(group),), total["blocked_ns"])
        self.assertEqual(set(seen), (set(blocked) | {p for p, l in lengths.items() if l}) - {()})

    def test_no_aspect_is_left_out(self):
        """Of those that spoor names: here against the log's own contentions, and in the page against JSON."""
        done = subprocess.run([SPOOR, "report", "--by", "?", self.log], capture_output=True, text=True)
        named = done.stderr.splitlines()[0].split("there are ")[1].split(", ")
        self.assertEqual(sorted([*ASPECTS, *CHAINS]), sorted(named))
        with open(f"{ROOT}/tests/web/test_page.py", encoding="utf-8") as f:
            of_page = re.findall(r'"(\w+)"', re.search(r"^ASPECTS = \[(.*?)\]", f.read(), re.DOTALL | re.MULTILINE)[1])
        self.assertEqual(sorted([*of_page, "window"]), sorted(named))  # the page has ranges of time

    def test_each_aspect_alone(self):
        for aspect in ASPECTS:
            with self.subTest(aspect):
                self.compare([aspect])

    def test_any_order(self):
        made = random.Random(3)
        for _ in range(25):
            by = made.sample(ASPECTS, 3)
            with self.subTest(",".join(by)):
                self.compare(by)

    def test_where(self):
        conditions = {
            "waiter_pool=http-*": lambda a: a["waiter_pool"] == "http-*",
            "owner_state=running and in_gc=no": lambda a: a["owner_state"] == "running" and a["in_gc"] == "no",
            "duration='1-10 ms' or duration='10-100 ms'": lambda a: a["duration"] in ("1-10 ms", "10-100 ms"),
            "not span='(no span)' and waiter_package=shop.*":
                lambda a: a["span"] != "(no span)" and a["waiter_package"].startswith("shop."),
            "window='0.[0-2]*' and owner_class!=Plain":
                lambda a: re.match(r"0\.[0-2]", a["window"]) and a["owner_class"] != "Plain",
            "owner_source=inferred and after_wait=no": lambda a: a["owner_source"] == "inferred",
        }
        for where, chosen in conditions.items():
            with self.subTest(where):
                self.compare(["waiter_pool", "lock_class"], where, chosen)

    def test_sort(self):
        for by in (["waiter_thread"], ["window"], ["span", "duration"]):
            for sort, key in {"count": "count", "max": "max_ns", "p50": "p50_ns", "p90": "p90_ns", "p99": "p99_ns",
                              "p999": "p999_ns", "blocked": "blocked_ns"}.items():
                with self.subTest(by=by, sort=sort):
                    groups = self.tree(by, "--sort", sort)["groups"]
                    figures = [g.get(key, 0) for g in groups]
                    self.assertEqual(figures, sorted(figures, reverse=True))
        windows = [value(g) for g in self.tree(["window"], "--sort", "value")["groups"]]
        self.assertEqual(windows, sorted(windows))
        durations = [value(g) for g in self.tree(["duration"], "--sort", "value")["groups"]]
        self.assertEqual(durations, [d for d in DURATIONS if d in durations])

    def test_the_longest_is_not_cut(self):
        longest = collections.Counter()
        for h in self.shop.held:
            for aspects, _ in self.shop.pieces(h):
                longest[aspects["window"]] = max(longest[aspects["window"]], h.end - h.begin)
        for group in self.tree(["window"])["groups"]:
            self.assertEqual(group["max_ns"], longest[value(group)])
        self.assertEqual(max(g["max_ns"] for g in self.tree(["duration"])["groups"]), max(longest.values()))

    def test_windows_of_their_own_length(self):
        done = subprocess.run([SPOOR, "report", "--by", "window", "--format", "json", self.log], capture_output=True,
                              text=True, check=True)
        groups = json.loads(done.stdout)["groups"]
        ends = [[float(x) for x in value(g)[:-2].split("-")] for g in groups]
        lengths = {round(end - begin, 3) for begin, end in ends}
        last = max(h.end for h in self.shop.held) - START
        least = min(n for k in range(8) for n in (10 ** k, 2 * 10 ** k) if last <= 60 * n * MS)
        self.assertEqual(lengths, {least / 1000})
        self.assertEqual(sum(g["blocked_ns"] for g in groups), sum(h.end - h.begin for h in self.shop.held))

    def test_too_many_windows_are_said(self):
        held = [*contention(START + 7 * MS, 5000 * MS, 1, 1, 8, (1, 1))]
        lines = [*names(THREADS, CLASSES, METHODS), *self.shop.stacks(), lock(1, 1), *held,
                 {"time_ns": held[-1]["time_ns"], "event": "end", "reason": "done"}]
        log = make_log(self.folder, lines, "long")
        done = subprocess.run([SPOOR, "report", "--by", "window", "--window", "1ms", log], capture_output=True,
                              text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("more than 4095 windows", done.stderr)

    def by_csv(self, tree, by, *args):
        """Each group of the last level is a row."""
        head, *rows = csv.reader(self.report("--csv", "contention", "--by", ",".join(by), *args).splitlines())
        rows = [dict(zip(head, row)) for row in rows]
        leaves = []

        def walk(groups, path):
            for g in groups:
                if g["groups"]:
                    walk(g["groups"], (*path, value(g)))
                else:
                    leaves.append(((*path, value(g)), g))
        walk(tree["groups"], ())
        # A lock has two columns.
        texts = [tuple(f"{row[f'{a}_class']} {row[a]}".strip() if a in ("lock", "behind") else row[a] for a in by)
                 for row in rows]
        self.assertEqual(texts, [path for path, _ in leaves])
        for cells, (path, leaf) in zip(rows, leaves):
            for key in ("count", "blocked_ns", "parent_blocked_ns", *PER_MILLE, "max_ns"):
                self.assertEqual(cells[key], str(leaf.get(key, "")), (path, key))

    def by_text(self, tree, by, *args):
        """The same lines, with figures that are rounded to three digits; shares are of all, and of the group above."""
        title, *lines = self.report("--by", ",".join(by), "--full", "--top", "1000", *args).splitlines()
        self.assertRegex(title, rf"^{' > '.join(by)} +count +blocked +share +parent +p50 +p90 +p99 +p99.9 +max$")
        whole, wanted = tree["total"]["blocked_ns"], []

        def walk(groups, depth):
            for g in groups:
                wanted.append((2 * depth * " " + value(g), g))
                walk(g["groups"], depth + 1)
        walk(tree["groups"], 1)
        self.assertTrue(lines[0].startswith("all contentions "))
        self.assertEqual(len(lines) - 1, len(wanted))
        for line, (name, g) in zip(lines[1:], wanted):
            self.assertTrue(line.startswith(f"{name}  "), (line, name))
            cells = re.split(r" {2,}", line[len(name):].strip())
            keys = ["blocked_ns", *(PER_MILLE if g["count"] else ()), "max_ns"]
            self.assertEqual(cells[0], f"{g['count']:,}", line)
            self.assertEqual(cells[2:4], [percent(g["blocked_ns"], whole),
                                          percent(g["blocked_ns"], g["parent_blocked_ns"])], line)
            for cell, key in zip([cells[1], *cells[4:]], keys, strict=True):
                self.assertAlmostEqual(shown_ns(cell), g[key], delta=g[key] * 0.0051 + 0.1, msg=(line, key))

    def test_text_csv_and_json_are_the_same(self):
        made = random.Random(11)
        sorts = ["work", "blocked", "count", "max", "p50", "p90", "p99", "p999", "value"]
        wheres = [None, "waiter_pool=http-*", "owner_state=running and in_gc=no", "duration!='< 10 us'",
                  "window='0.[0-2]*' or owner_class!=Plain"]
        for n in range(30):
            by, where = made.sample(ASPECTS, made.randint(1, 4)), wheres[n % len(wheres)]
            args = ["--sort", sorts[n % len(sorts)], *(["--where", where] if where else [])]
            with self.subTest(by=",".join(by), args=args):
                tree = self.tree(by, *args)
                self.assertTrue(tree["groups"])
                self.by_csv(tree, by, *args)
                self.by_text(tree, by, *args)


if __name__ == "__main__":
    unittest.main()
