"""`spoor export` from outside: the formats as their readers see them, and the same sums as the report's."""
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

from program import SPOOR

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden")
SIDES = ("waiter", "owner", "both")

sys.path.insert(0, GOLDEN)
import mklog  # noqa: E402

NO_METHOD = ("unresolved", "broken", "cut", "in_heap")


def spoor(*args, stdout=subprocess.PIPE):
    return subprocess.run([SPOOR, *args], stdout=stdout, stderr=subprocess.PIPE, check=False)


def some_chains(rng):
    """Methods 1 to 20 and chains 1 to 80; some are of frames that the log does not define, or of no method."""
    for method in range(1, 21):
        if rng.random() < 0.95:
            yield {"event": "method", "method": method, "class_name": rng.choice(["a.B", "c.D E", "x;y"]),
                   "name": rng.choice(["run", "do it", "f\n", "g 12", "ä"]), "signature": "()V",
                   "source": rng.choice(["", "B.java"]), "hidden": rng.random() < 0.2}
    for stack in range(1, 81):
        frame = rng.choice(["interpreted", "c1", "c2", "inlined", "native"] * 3 + list(NO_METHOD))
        named = frame not in NO_METHOD
        if rng.random() < 0.95:
            yield {"event": "stack", "stack": stack, "caller": rng.randrange(stack), "frame": frame,
                   "method": rng.randrange(1, 21) if named else 0, "line": rng.randrange(100)}


def some_lines(rng):
    """Events of threads that block on locks, with everything that can be known and not known of it."""
    yield {"header": {}}
    for thread in range(1, 9):
        yield {"event": "thread", "thread": thread, "tid": 100 + thread,
               "name": rng.choice(["w", "a b", "x;y 7", "", "w"])}
    for lock in range(1, 7):
        yield {"event": "class", "class": lock, "name": rng.choice(["a.Lock", "b.Lock", "c d;e"])}
        yield {"event": "lock", "lock": lock, "class": lock if rng.random() < 0.9 else 99,
               "group": "monitor" if lock < 4 else "juc" if lock < 6 else "other"}
    yield from some_chains(rng)
    free, blocked = list(range(1, 9)), {}
    for _ in range(rng.randrange(400)):
        if free and (not blocked or rng.random() < 0.5):
            thread, lock = free.pop(rng.randrange(len(free))), rng.randrange(1, 7)
            owner = rng.choice([0, *range(1, 9)])
            blocked[thread] = lock
            yield {"event": "monitor_contended_enter" if lock < 4 else "park_begin", "thread": thread, "lock": lock,
                   "owner": owner, "owner_source": rng.choice(["unknown", "none"]) if not owner else "java_thread",
                   "stack": rng.randrange(84), "owner_stack": rng.randrange(84) if owner else 0}
            if rng.random() < 0.3:
                yield {"event": "owner_stack", "thread": owner, "waiter": thread, "stack": rng.randrange(84),
                       "source": rng.choice(["switch", "sample"])}
        else:
            thread = rng.choice(list(blocked))
            lock = blocked.pop(thread)
            free.append(thread)
            if rng.random() < 0.5 and lock < 4:
                yield {"event": "monitor_contended_exit", "thread": rng.randrange(1, 9), "lock": lock,
                       "stack": rng.randrange(84)}
            yield {"event": "monitor_contended_entered" if lock < 4 else "park_end", "thread": thread, "lock": lock}
    yield {"event": "end"}


class ExportCase(unittest.TestCase):
    maxDiff = 2000

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

    def write_random(self, seed):
        rng, time = random.Random(seed), 1_000_000_000
        lines = []
        for line in some_lines(rng):
            time += rng.randrange(1000)
            lines.append(line if "header" in line else {"time_ns": time, **line})
        self.write(lines)

    def export(self, *args):
        done = spoor("export", *args, self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def blocked_ns(self):
        done = spoor("report", "--format", "json", "--by", "lock_class", self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["total"]["blocked_ns"]


def options_of(rng):
    return [o for o in ("--lines", "--threads", "--locks", "--hidden") if rng.random() < 0.4]


class Collapsed(ExportCase):
    def chains(self, *args):
        """{frames: weight}, read as flamegraph.pl does; no chain is there twice."""
        chains = collections.OrderedDict()
        for line in self.export("--to", "collapsed", *args).splitlines():
            match = re.fullmatch(r"(.*)\s+?(\d+(?:\.\d*)?)", line)
            self.assertIsNotNone(match, line)
            self.assertIsNone(re.fullmatch(r".*\s+?\d+(?:\.\d*)?", match[1]), f"read as two weights: {line}")
            self.assertNotRegex(line, "[\x00-\x1f\x7f-\x9f]")
            frames = tuple(match[1].split(";"))
            self.assertTrue(all(frames), line)
            for frame in frames:
                if not frame.startswith("("):
                    self.assertNotIn(" ", frame)
            self.assertGreater(int(match[2]), 0)
            chains[frames] = chains.get(frames, 0) + int(match[2])
        return chains

    def test_sums_are_the_reports(self):
        for seed in range(25):
            rng = random.Random(seed)
            self.write_random(seed)
            blocked_ns = self.blocked_ns()
            for side in SIDES:
                options = options_of(rng)
                with self.subTest(seed=seed, side=side, options=options):
                    self.assertEqual(sum(self.chains("--side", side, *options).values()), blocked_ns)

    def test_both_is_made_of_the_sides(self):
        """Cut at the separator, the chains of both sides are those of each."""
        for seed in range(15):
            self.write_random(seed)
            both = self.chains("--side", "both", "--threads")
            for side, index in (("waiter", 0), ("owner", 1)):
                chains = collections.Counter()
                for frames, weight in both.items():
                    at = frames.index("(blocked by)")
                    chains[(frames[:at], frames[at + 1:])[index]] += weight
                with self.subTest(seed=seed, side=side):
                    self.assertEqual(dict(chains), dict(self.chains("--side", side, "--threads")))

    def test_the_heaviest_branch_is_first(self):
        self.write_random(3)
        totals, order = collections.Counter(), []
        for frames, weight in self.chains("--lines").items():
            for depth in range(1, len(frames) + 1):
                if frames[:depth] not in totals:
                    order.append(frames[:depth])
                totals[frames[:depth]] += weight
        self.assertGreater(len(order), 50)
        last = {}
        for prefix in order:
            parent = prefix[:-1]
            self.assertGreaterEqual(last.get(parent, totals[prefix]), totals[prefix])
            last[parent] = totals[prefix]


class Speedscope(ExportCase):
    def check(self, file):
        """What file-format-schema.json of speedscope 1.x demands of a file with sampled profiles."""
        known = {"$schema", "shared", "profiles", "name", "activeProfileIndex", "exporter"}
        self.assertLessEqual(set(file), known)
        self.assertEqual(file["$schema"], "https://www.speedscope.app/file-format-schema.json")
        self.assertEqual(set(file["shared"]), {"frames"})
        for frame in file["shared"]["frames"]:
            self.assertLessEqual(set(frame), {"name", "file", "line", "col"})
            self.assertIsInstance(frame["name"], str)
            self.assertIsInstance(frame.get("file", ""), str)
            self.assertIsInstance(frame.get("line", 1), int)
        self.assertIsInstance(file["name"], str)
        self.assertIsInstance(file["exporter"], str)
        self.assertIn(file["activeProfileIndex"], range(len(file["profiles"])))
        for profile in file["profiles"]:
            self.assertEqual(set(profile), {"type", "name", "unit", "startValue", "endValue", "samples", "weights"})
            self.assertEqual((profile["type"], profile["unit"]), ("sampled", "nanoseconds"))
            self.assertIsInstance(profile["name"], str)
            self.assertEqual(len(profile["samples"]), len(profile["weights"]))
            for sample in profile["samples"]:
                self.assertTrue(sample)
                for index in sample:
                    self.assertIn(index, range(len(file["shared"]["frames"])))
            self.assertEqual(sum(profile["weights"]), profile["endValue"] - profile["startValue"])

    def read(self, *args):
        file = json.loads(self.export("--to", "speedscope", *args))
        self.check(file)
        return file

    def test_schema_and_sums(self):
        for seed in range(25):
            rng = random.Random(seed)
            self.write_random(seed)
            options = options_of(rng)
            side = rng.choice([None, *SIDES])
            with self.subTest(seed=seed, side=side, options=options):
                file = self.read(*options, *(["--side", side] if side else []))
                self.assertEqual([p["endValue"] for p in file["profiles"]],
                                 [self.blocked_ns()] * (1 if side else 2))
                self.assertEqual(file["name"], "a.spoor")

    def test_the_same_chains_as_collapsed(self):
        for seed in range(10):
            self.write_random(seed)
            profiles = self.read("--lines", "--threads", "--locks")
            frames = [f["name"] + (f":{f['line']}" if "line" in f else "") for f in profiles["shared"]["frames"]]
            for profile, side in zip(profiles["profiles"], ("waiter", "owner")):
                lines = self.export("--to", "collapsed", "--side", side, "--lines", "--threads", "--locks")
                chains = [[frames[index] for index in sample] for sample in profile["samples"]]
                clean = [";".join(self.clean(frame) for frame in chain) for chain in chains]
                got = [f"{chain} {weight}" for chain, weight in zip(clean, profile["weights"])]
                with self.subTest(seed=seed, side=side):
                    self.assertEqual(got, lines.splitlines())

    @staticmethod
    def clean(frame):
        lock = re.fullmatch(r"\(lock (.*)\)", frame)
        if lock:
            return f"(lock {Speedscope.clean(lock[1])})" if lock[1] != "of unknown class" else frame
        ours = re.fullmatch(r"\((?!tid|thread)[^)]*\)", frame)
        return frame if ours else frame.replace(";", ":").replace(" ", "_").replace("\n", "?")


class Command(ExportCase):
    def test_the_same_file_and_stdout(self):
        self.write_random(1)
        out = os.path.join(self.folder, "out")
        self.assertEqual(self.export("--to", "speedscope", "-o", out), "")
        with open(out, encoding="utf-8") as f:
            self.assertEqual(f.read(), self.export("--to", "speedscope"))

    def test_a_log_does_not_overwrite_itself(self):
        self.write_random(1)
        with open(self.path, "rb") as f:
            before = f.read()
        done = spoor("export", "--to", "collapsed", "-o", self.path, self.path)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"the log itself", done.stderr)
        with open(self.path, "rb") as f:
            self.assertEqual(f.read(), before)

    def test_full_disk(self):
        self.write_random(1)
        for to in ("collapsed", "speedscope"):
            with open("/dev/full", "wb") as full:
                done = spoor("export", "--to", to, self.path, stdout=full)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"No space left", done.stderr)

    def test_closed_pipe(self):
        """A chain that is longer than any pipe into one that nobody reads: quiet, and it ends."""
        stacks = []
        for n in range(200000):
            stacks.append({"time_ns": 1, "event": "stack", "stack": n + 1, "caller": n, "frame": "c2", "method": 1})
            if n % 1000 == 0:
                stacks.append({"block": "next"})
        self.write([{"header": {}},
                    {"time_ns": 1, "event": "method", "method": 1, "class_name": "a.B", "name": "recurse"}, *stacks,
                    {"time_ns": 2, "event": "monitor_contended_enter", "thread": 1, "lock": 1, "stack": 200000},
                    {"time_ns": 3, "event": "monitor_contended_entered", "thread": 1, "lock": 1},
                    {"time_ns": 4, "event": "end"}])
        for to in ("collapsed", "speedscope"):
            with subprocess.Popen([SPOOR, "export", "--to", to, self.path], stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE) as child:
                self.assertTrue(child.stdout.read(10))
                child.stdout.close()
                self.assertEqual(child.stderr.read(), b"")
                self.assertEqual(child.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
