"""`spoor export --to chrome` from outside: what viewers need of a timeline, for known logs and for any."""
import gzip
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

from program import SPOOR

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden")

sys.path[:0] = [GOLDEN, HERE]
import mklog  # noqa: E402
import timeline  # noqa: E402

MS = 1_000_000
HEADER = {"header": {"record": {"off_cpu_ns": MS}}}
NO_LOG = {"thread", "class", "lock", "string", "method", "stack", "end"}


def some_value(rng, field, enums, now_ns):
    if field["type"] == "bool":
        return rng.random() < 0.5
    if field["type"] == "enum":
        return rng.randrange(len(enums[field["enum"]]) + 1)  # one that is not known, too
    if field["type"] == "str":
        return rng.choice(["", "a\"b\\c", "\u00e4\n\u0085", "x" * 700])
    if field["name"] in ("off_ns", "cpu_wait_ns", "taken_ns", "throttled_part_ns"):
        return rng.randrange(2 * MS)
    if field["type"] == "counter":
        return rng.randrange(now_ns)
    return rng.randrange(9)


def some_lines(seed, count=600):
    """Events of all kinds, with any values; some come late."""
    rng, time_ns = random.Random(seed), 1_000_000_000
    with open(mklog.SCHEMA, encoding="utf-8") as f:
        schema = json.load(f)
    yield HEADER
    for thread in range(1, 8):
        yield {"time_ns": time_ns, "event": "thread", "thread": thread, "tid": 100 + thread % 6, "java_id": thread % 3,
               "name": rng.choice(["main", "w-1", "w-10", "", "GC Thread#0", "x" * 600 + "\u00e4"])}
    kinds = [k for k in schema["events"] if k["name"] not in NO_LOG]
    for _ in range(count):
        kind = rng.choice(kinds)
        time_ns += rng.randrange(MS)
        line = {"time_ns": time_ns - rng.choice([0, 0, 0, 1000]), "event": kind["name"], "thread": rng.randrange(9)}
        for field in kind["fields"]:
            line[field["name"]] = some_value(rng, field, schema["enums"], time_ns)
        yield line
        if rng.random() < 0.01:
            yield {"block": rng.choice(["next", "damage", "lose"])}
    yield {"time_ns": time_ns, "event": "end"}


class ChromeCase(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.path = os.path.join(folder.name, "a.spoor")

    def write(self, lines):
        source = os.path.join(self.folder, "a.jsonl")
        with open(source, "w", encoding="utf-8") as f:
            for line in lines:
                f.write(json.dumps(line) + "\n")
        with open(self.path, "wb") as f:
            f.write(mklog.make(source))

    def export(self, *args, status=0):
        done = subprocess.run([SPOOR, "export", "--to", "chrome", *args, self.path], capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        read = timeline.Timeline(done.stdout)
        read.check_threads()
        return read

    def golden(self, case):
        with open(os.path.join(GOLDEN, case, "log.jsonl"), encoding="utf-8") as f:
            self.write(json.loads(line) for line in f if line.strip() and not line.startswith("#"))


class Known(ChromeCase):
    def test_tracks_and_their_order(self):
        self.golden("export-chrome")
        read = self.export()
        self.assertEqual(read.process, "demo.Server, pid 4242")
        threads = [name for name in read.in_order() if name in read.threads()]
        # One kernel thread id, used by two threads of one name.
        self.assertEqual(threads, ["main", "worker-1", "worker-10 (tid 102)", "worker-10 (tid 102) #7", "GC Thread#0",
                                   "C2 CompilerThread0", "VM Thread"])
        self.assertEqual(read.in_order()[:4], [timeline.MARKS, "GC pauses", "safepoints", "VM operations"])
        self.assertEqual(set(read.tracks) - set(threads), {timeline.MARKS, "GC pauses", "safepoints", "VM operations",
                                                           "worker-1 spans", "worker-10 (tid 102) names"})

    def test_a_lock(self):
        self.golden("export-chrome")
        read = self.export()
        lock, = read.slices("lock")
        self.assertEqual((lock.name, lock.begin_ns, lock.end_ns), ("lock demo.Table", 10 * MS, 30_010_000))
        self.assertEqual(lock.args["owner"], "main")
        self.assertEqual(lock.args["chain"], ['demo."Table".byName:31', "demo.Server.run:840"])
        self.assertEqual(lock.args["owner_doing"], "sleep")
        # 7.5 ms of CPU and 2 ms waiting for one; the rest of 20.01 ms the owner was blocked.
        self.assertEqual([float(lock.args[k]) for k in ("owner_cpu_ms", "owner_runnable_ms", "owner_blocked_ms")],
                         [7.5, 2.0, 10.51])
        inside = [s for s in read.tracks["worker-1"] if s.parent is lock]
        self.assertEqual([(s.category, s.begin_ns, s.end_ns) for s in inside], [("runnable", 28_500_000, 30 * MS)])
        self.assertEqual([f for f in read.flows if "worker-1" in (f[1], f[3])][:2],
                         [("owner", "worker-1", 10 * MS, "main", 10 * MS),
                          ("release", "main", 29_999_000, "worker-1", 30_010_000)])

    def test_losses_and_notes(self):
        self.golden("export-chrome")
        marks = [(time_ns, e["cat"], e["name"]) for time_ns, e in self.export().marks]
        self.assertEqual(marks, [(MS, "note", 'the probe "x"\tis missing'), (75 * MS, "lost", "12 lost: park_begin"),
                                 (75_500_000, "lost", "2 lost: park_begin"), (100 * MS, "end", "end of the recording")])

    def test_counters(self):
        self.golden("export-chrome")
        counters = self.export().counters
        stolen, = counters["vCPU 0: stolen, ms/s"]
        # 3.0001, 0.9999 and 0 ms in 95 ms, shown from the begin of these.
        self.assertEqual((stolen[0], {k: float(v) for k, v in stolen[1].items()}),
                         (100_000, {"from the JVM": 31.58, "from others": 10.525, "while idle": 0}))
        self.assertEqual([float(v["used"]) for _, v in counters["G1 Eden Space, MiB"]], [20, 1.5])
        threads, = counters["threads, by what they do"]
        self.assertEqual(threads[0], 200_000)
        # Seven threads, of which two were there for a part of the 94.8 ms.
        self.assertAlmostEqual(float(sum(threads[1].values())), 6, delta=0.2)

    def test_a_range(self):
        self.golden("export-chrome")
        read = self.export("--from", "20ms", "--until", "50ms")
        self.assertEqual(min(s.begin_ns for t in read.tracks.values() for s in t), 20 * MS)
        self.assertEqual(max(s.end_ns for t in read.tracks.values() for s in t), 50 * MS)
        lock, = read.slices("lock")
        self.assertEqual((lock.begin_ns, lock.end_ns, float(lock.args["whole_ms"])), (20 * MS, 30_010_000, 20.01))
        self.assertEqual({f[0] for f in read.flows}, {"release", "owner", "unpark"})
        self.assertEqual(read.slices("wait", "gc", "safepoint"), [])

    def test_compressed(self):
        self.golden("export-chrome")
        out = os.path.join(self.folder, "out.json.gz")
        subprocess.run([SPOOR, "export", "--to", "chrome", "-o", out, self.path], check=True)
        with gzip.open(out) as f:
            packed = f.read()
        plain = subprocess.run([SPOOR, "export", "--to", "chrome", self.path], capture_output=True, check=True).stdout
        self.assertEqual(packed, plain)


class Any(ChromeCase):
    def test_valid_whatever_comes(self):
        for seed in range(40):
            rng = random.Random(seed)
            lines = list(some_lines(seed))
            damaged = any(line.get("block") in ("damage", "lose") for line in lines)
            self.write(lines)
            options = []
            if seed % 2:
                options = rng.choice([["--min", f"{rng.randrange(2000)}us"], ["--from", "50ms", "--until", "120ms"],
                                      ["--thread-name", "w-*"], ["--from", "10s"], ["--frames", "0"]])
            with self.subTest(seed=seed, options=options):
                read = self.export(*options, status=1 if damaged else 0)
                self.assertEqual(read.file["otherData"]["complete"], "no" if damaged else "yes")
                self.assertTrue(read.tracks or options)

    def test_cut_anywhere(self):
        self.write(some_lines(99, 150))
        with open(self.path, "rb") as f:
            data = f.read()
        for size in range(len(data) - 1, 600, -97):
            with open(self.path, "wb") as f:
                f.write(data[:size])
            with self.subTest(size=size):
                done = subprocess.run([SPOOR, "export", "--to", "chrome", self.path], capture_output=True, check=False)
                self.assertEqual(done.returncode, 1)
                if done.stdout:
                    timeline.Timeline(done.stdout).check_threads()

    def test_sums_are_the_reports(self):
        """For each thread: what its slices of contentions add up to, and the report's blocked time."""
        for seed in range(20):
            rng, time_ns = random.Random(seed), 1_000_000_000
            lines = [HEADER]
            lines += [{"time_ns": time_ns, "event": "thread", "thread": t, "tid": 100 + t, "name": f"t-{t}"}
                      for t in range(1, 7)]
            lines += [{"time_ns": time_ns, "event": "lock", "lock": n, "group": "monitor" if n < 4 else "juc"}
                      for n in range(1, 6)]
            blocked = {}
            for _ in range(300):
                time_ns += rng.randrange(MS)
                thread = rng.randrange(1, 7)
                lock = blocked.pop(thread, 0)
                if not lock:
                    lock = blocked[thread] = rng.randrange(1, 6)
                    kind = "monitor_contended_enter" if lock < 4 else "park_begin"
                elif rng.random() < 0.05:
                    continue  # lost
                else:
                    kind = "monitor_contended_entered" if lock < 4 else "park_end"
                lines.append({"time_ns": time_ns, "event": kind, "thread": thread, "lock": lock})
            lines.append({"time_ns": time_ns, "event": "end"})
            self.write(lines)
            read = self.export()
            report = json.loads(subprocess.check_output([SPOOR, "report", "--format", "json", "--by", "waiter_thread",
                                                         self.path]))
            wanted = {g["key"][0]: g["blocked_ns"] for g in report["groups"]}
            got = {}
            for name in read.threads():
                whole = [s for s in read.slices("lock", "juc", track=name) if "end" not in s.args]
                got[name] = sum(s.length_ns for s in whole)
            with self.subTest(seed=seed):
                self.assertEqual({k: v for k, v in got.items() if v}, wanted)

    def test_memory_is_bounded(self):
        """A log with many slices, all within one that does not end, takes no more than one with few."""
        def lines(count):
            yield HEADER
            yield {"time_ns": 1_000_000_000, "event": "span_begin", "thread": 1}
            for n in range(count):
                time_ns = 1_000_000_000 + n * 100_000
                if n % 500 == 0:
                    yield {"block": "next"}
                yield {"time_ns": time_ns, "event": "span_begin", "thread": 1}
                yield {"time_ns": time_ns + 1000, "event": "park_begin", "thread": 1}
                yield {"time_ns": time_ns + 2000, "event": "off_cpu", "thread": 2, "reason": "io", "off_ns": 500}
                yield {"time_ns": time_ns + 50_000, "event": "park_end", "thread": 1}
                yield {"time_ns": time_ns + 60_000, "event": "span_end", "thread": 1}

        def peak_kib(count):
            self.write(lines(count))
            with open(os.devnull, "wb") as null:
                child = subprocess.Popen([SPOOR, "export", "--to", "chrome", self.path], stdout=null,
                                         stderr=subprocess.DEVNULL)
                _, status, usage = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(child.returncode, 1)  # it has no end
            return usage.ru_maxrss

        # Both are longer than the window in which events are sorted.
        self.assertLess(peak_kib(60_000), peak_kib(15_000) + 4 * 1024)


if __name__ == "__main__":
    unittest.main()
