"""The page's part about CPU samples: its figures are those of spoor profile, of the whole log and of ranges."""
import json
import random
import unittest

from pages import CLASSES, METHODS, MS, PageTest, make_log, make_page, names, spoor
from test_page_spans import COUNTERS, SET, STATES

STACKS = 40
SEED = 5
# Of native code and the kernel: what was interrupted, and its callers up to the Java frames.
FUNCTIONS = ["vfs_read (kernel)", "deflate (libz.so.1.2.13)", "Node::clone (libjvm.so)"]
CALLERS = ["ksys_read (kernel)\nread (libc.so.6)\nreadBytes (libjava.so)", "vfs_read (kernel)"]
ENDS = ["complete", "complete", "complete", "complete", "bad_stub_frame", "native_rule_unknown"]
# A walk that fails has failed for a thread that has Java frames. The command knows that of the range, the page of the log.
NO_CHAIN = {"(walk failed)", "(libjvm)", "(native code)", "(kernel)", "(Java code without a chain)"}
TREE = """() => {
  const frame = document.querySelector("#profile-flame .frame");
  const rows = [];
  if (!frame) return rows;
  let root = frame.spoorNode;
  while (root.parent) root = root.parent;
  const visit = (node, path) => {
    for (const child of node.children.values()) {
      const here = [...path, child.text];
      rows.push([here, child.self ?? 0, child.now, child.samples]);
      visit(child, here);
    }
  };
  visit(root, []);
  return rows;
}"""
HEAD = """() => {
  const d = document.querySelector("#profile-head dl").dataset;
  return ["samples", "effective", "run", "ns", "failed", "inferred"].map(key => +d[key]);
}"""
FLAT = """() => [...document.querySelectorAll("#profile-flat tbody tr")].map(row =>
    [row.cells[0].textContent, ...[2, 4, 5].map(i => +row.cells[i].dataset.n)])"""
CHOOSE = """([id, value]) => {
  const select = document.getElementById(id).querySelector("select") ?? document.getElementById(id);
  select.value = value;
  select.dispatchEvent(new Event("change"));
}"""


def sampled(seed, seconds=4):
    """Threads that run, wait, and are sampled about each 10 ms that they run; rounds of counters each 100 ms."""
    chance = random.Random(seed)
    defined = list(names([f"http-{i}" for i in range(4)] + ["VM Thread", "loop"], CLASSES, METHODS))
    yield {"header": {"start_mono_ns": 1000 * MS, "record": {"window_ns": 100 * MS, "stacks": True},
                      "sources": {"throttled": "x", "steal": "rq_clock",
                                 "sample": {"event": "cpu-clock", "period_ns": 10 * MS, "jitter": True}}}}
    yield from defined[1:]
    for i, text in enumerate([*FUNCTIONS, *CALLERS], 1):
        yield {"time_ns": 1000 * MS, "event": "string", "string": i, "text": text}
    for stack in range(1, STACKS + 1):
        yield {"time_ns": 1000 * MS, "event": "stack", "stack": stack, "caller": chance.randint(0, stack - 1),
               "frame": "c2", "method": chance.randint(1, len(METHODS)), "bci": 1, "line": stack,
               "inferred": stack % 7 == 0}
    events = []
    for thread in range(1, 7):
        did, now, sample_at = dict.fromkeys(STATES, 0), 1000 * MS, chance.randint(1, 10 * MS)

        def event(kind, at, **more):
            counters = {key: did[state] for state, key in COUNTERS.items()}
            if kind == "run_sample":
                counters = {key: counters[key] for key in ("cpu_ns", "stolen_ns", "runnable_ns", "throttled_ns")}
            else:
                counters["blocked_ns"] = sum(did[s] for s in STATES[4:])
            return {"time_ns": at, "event": kind, "thread": thread, **counters, **more}
        round_at = 1000 * MS
        while now < (1000 + 1000 * seconds) * MS:
            if now >= round_at:
                events.append(event("thread_sample", now))
                round_at += 100 * MS
            ns = chance.randint(1, 3 * MS)
            state = chance.choice(["running"] * (3 if thread < 6 else 1) + ["sleep", "park", "runnable", "stolen"])
            did[state] += ns
            now += ns
            if did["running"] >= sample_at:
                java = thread != 5
                stack = chance.randint(1, STACKS) if java else 0
                result = chance.choice(ENDS) if java else "no_java_thread"
                if java and result != "complete" and chance.random() < 0.5:
                    stack = 0
                mode = chance.choice(["java", "vm", "native", "kernel"]) if java else "vm"
                symbol = 0 if mode == "java" else chance.randint(0, len(FUNCTIONS))
                callers = len(FUNCTIONS) + chance.randint(1, len(CALLERS)) if symbol and chance.random() < 0.5 else 0
                events.append(event("run_sample", now, stack=stack, result=result, mode=mode, symbol=symbol, callers=callers,
                                    via=chance.choice(["compiled", "interpreter", "anchor"]) if java else "none"))
                sample_at = did["running"] + chance.randint(5 * MS, 15 * MS)
        events.append(event("thread_sample", now))
    for cpu in range(2):
        clock = dict.fromkeys(("jvm", "other", "idle"), 1000 + cpu)
        for i in range(10 * seconds + 1):
            events.append({"time_ns": (1000 + 100 * i) * MS + 77, "event": "cpu_sample", "cpu": cpu,
                           "clock_ns": sum(clock.values()), **{f"{who}_stolen_ns": ns for who, ns in clock.items()},
                           "stat_user": 10 * i, "stat_system": i, "stat_idle": 5 * i, "stat_steal": 2 * i})
            for who in clock:
                clock[who] += chance.randint(0, 9 * MS)
    yield from sorted(events, key=lambda e: e["time_ns"])
    yield {"time_ns": max(e["time_ns"] for e in events), "event": "lost", "event_id": 57, "place": "ring_buffer",
           "count": 3}
    yield {"time_ns": max(e["time_ns"] for e in events) + MS, "event": "end", "reason": "done"}


def failed_only(options):
    """Whether some thread has samples in the range, none of which is whole: then the two say it in other words."""
    if "--from" not in options:
        return False
    begin, end = (1000 * MS + float(text.rstrip("ms")) * (MS if text.endswith("ms") else 1000 * MS)
                  for text in (options[options.index(name) + 1] for name in ("--from", "--to")))
    threads = {}
    for e in sampled(SEED):
        if e.get("event") == "run_sample" and begin <= e["time_ns"] <= end:
            threads.setdefault(e["thread"], set()).add(e["result"])
    return any("complete" not in results and results != {"no_java_thread"} for results in threads.values())


def alike(rows, merged):
    """By path its figures; merged: chains that are not there are one."""
    sums = {}
    for path, *figures in rows:
        key = tuple("(no chain)" if merged and text in NO_CHAIN else text for text in path)
        sums[key] = [a + b for a, b in zip(sums.get(key, [0] * len(figures)), figures)]
    return sums


class Profile(PageTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.log = make_log(cls.folder, sampled(SEED), "sampled")
        cls.page = make_page(cls.log)
        cls.browser("open", file=cls.page)

    def told(self, *options):
        done = spoor("profile", "--format", "json", "--least", "0", *options, self.log)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def paths(self, told):
        by, rows = {0: []}, []
        for row in told["rows"]:
            by[row["node"]] = [*by[row["parent"]], row["method"]]
            rows.append([by[row["node"]], row["self_ns"], row["total_ns"], row["total_samples"]])
        return rows

    def compare(self, *options):
        told = self.told(*options)
        merged = failed_only(options)
        self.assertEqual(alike(self.js(TREE), merged), alike(self.paths(told), merged))
        return told

    def compare_all(self, *options):
        told = self.compare(*options)
        self.assertEqual(self.js(HEAD), [told[key] for key in (
            "samples", "effective_samples", "run_ns", "sampled_ns", "failed_samples", "inferred_samples")])
        flat = [[[row["method"]], row["self_ns"], row["total_ns"], row["total_samples"]]
                for row in self.told("--flat", *options)["rows"]]
        shown = [[[name], *figures] for name, *figures in self.js(FLAT)]
        merged = failed_only(options)
        self.assertEqual(alike(shown, merged), alike(flat, merged))
        threads = {row["thread"]: [row["run_ns"], row["not_sampled_ns"], row["samples"]]
                   for row in self.told("--threads", *options)["rows"]}
        self.assertEqual(self.js("""() => Object.fromEntries([...document.querySelectorAll("#profile-threads tbody tr")]
            .map(row => [row.cells[0].textContent, [1, 2, 3].map(i => +row.cells[i].dataset.n)]))"""), threads)
        return told

    def test_the_whole_log(self):
        self.js(SET, "#")
        told = self.compare_all()
        self.assertGreater(told["samples"], 500)
        said = self.js("() => document.getElementById('profile-head').textContent")
        self.assertIn("3 samples were lost", said)
        flat = self.js("() => document.getElementById('profile-flat').textContent")
        self.assertIn("±", flat)
        for function in (*FUNCTIONS, "readBytes (libjava.so)"):
            self.assertIn(function, flat)
        self.quiet()

    def test_ranges_of_the_page(self):
        chance = random.Random(3)
        count = self.js("() => +document.querySelector('#course svg').getAttribute('viewBox').split(' ')[2]")
        self.assertGreater(count, 200)
        compared = 0
        for _ in range(6):
            a = chance.randint(0, count - 60)
            self.js(SET, f"#range={a}-{a + chance.randint(1, 59)}")
            begin, end = self.js("() => [...document.querySelectorAll('#range-from, #range-to')].map(e => e.value)")
            with self.subTest(begin=begin, end=end):
                compared += self.compare_all("--from", f"{begin}s", "--to", f"{end}s")["samples"]
        self.assertGreater(compared, 200)
        self.quiet()

    def test_ranges_of_the_map(self):
        """By mouse and by keys; 20 ms boxes in columns of a second."""
        self.js(SET, "#")
        self.js("() => document.querySelector('#samples-map').scrollIntoView({block: 'center', behavior: 'instant'})")
        self.browser("mouse", at="#samples-map", **{"from": 0.3, "to": 0.7})
        picked = self.js("() => new URLSearchParams(location.hash.slice(1)).get('slots')")
        self.assertRegex(picked, r"^\d+-\d+$")
        for slots in (picked, "0-3", "57-60", "130-199"):
            self.js(SET, f"#slots={slots}")
            first, last = (int(n) for n in slots.split("-"))
            with self.subTest(slots=slots):
                self.compare_all("--from", f"{first * 20}ms", "--to", f"{(last + 1) * 20}ms")
        self.browser("press", at="#samples-map", keys=["ArrowRight", "Shift+ArrowDown", "Shift+ArrowDown"])
        picked = self.js("() => new URLSearchParams(location.hash.slice(1)).get('slots')")
        first, last = (int(n) for n in picked.split("-"))
        self.assertEqual(last - first, 2)
        self.browser("press", keys=["Escape"])
        self.assertNotIn("slots", self.js("() => location.hash"))
        self.compare()
        self.quiet()

    def test_by_thread_and_state(self):
        self.js(SET, "#")
        for by in ("thread", "method"):
            self.js(CHOOSE, ["profile-by", by])
            self.compare("--by", by)
        self.js(CHOOSE, ["profile-states", "all"])
        self.compare("--state", "all")
        self.js(CHOOSE, ["profile-by", "state"])
        rows = self.js(TREE)
        told = self.told("--state", "all")
        tops = {row[0][0]: row[2] for row in rows if len(row[0]) == 1}
        self.assertEqual(tops, {state: ns for state, ns in told["states"].items() if ns})
        self.js(CHOOSE, ["profile-by", "method"])
        for state in ("sleep", "park", "stolen"):
            self.js(CHOOSE, ["profile-states", state])
            self.compare("--state", state)
        self.js(CHOOSE, ["profile-states", "running"])
        self.js(CHOOSE, ["profile-pool", "http-*"])
        self.compare("--thread", "http-*")
        self.js(CHOOSE, ["profile-pool", ""])
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
    def test_a_log_without_samples(self):
        end = {"time_ns": 2000 * MS, "event": "end", "reason": "done"}
        log = make_log(self.folder, [*names(["a"], CLASSES, METHODS), end], "nothing")
        self.browser("open", file=make_page(log))
        self.assertIn("no CPU samples", self.js("() => document.getElementById('profile').textContent"))
        self.quiet()


if __name__ == "__main__":
    unittest.main()
