"""The log format from outside: `spoor cat`, a second reader and writer, the description."""
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

import msgpack
from program import SPOOR

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMAS = os.path.join(HERE, "..", "..", "schemas")
GOLDEN = os.path.join(SCHEMAS, "golden")
U64 = (1 << 64) - 1

sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "docs", "readers")]
import read_spoor  # noqa: E402
from packed_log import as_it_is  # noqa: E402


def cat(*args, stdout=subprocess.PIPE):
    done = subprocess.run([SPOOR, "cat", *args], stdout=stdout, stderr=subprocess.PIPE, check=False)
    done.stdout = done.stdout and as_it_is(done.stdout)
    return done


def second_reader(path):
    _, *rest = read_spoor.read(contents(path), json.loads(contents(SCHEMAS, "events.json")))
    lines = (json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n" for event in rest if event)
    return None not in rest, "".join(lines).encode()


def default(schema, field):
    """What a field is taken for that is not there."""
    if field["type"] == "enum":
        return schema["enums"][field["enum"]][0]
    return {"str": "", "bool": False}.get(field["type"], 0)


def contents(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def block(sequence, kind, count, payload):
    head = struct.pack("<4I", len(payload), sequence, count, kind)
    return b"\xc1SPB" + struct.pack("<I", zlib.crc32(head + payload)) + head + payload


def log(*event_blocks, header=None):
    header = header or {"format": "spoor", "version": 1, "features": []}
    out = b"\x89SPOOR\r\n" + block(0, 1, 0, msgpack.packb(header))
    for n, (count, payload) in enumerate(event_blocks):
        out += block(n + 1, 2, count, payload)
    return out


def without_appended(text, expected):
    """The events without fields at their end that are 0, false or "" and that are not expected: of logs without
    them, the output has one more with each field that the schema gets."""
    schema = json.loads(contents(SCHEMAS, "events.json"))
    defaults = {e["name"]: {f["name"]: default(schema, f) for f in e["fields"]} for e in schema["events"]}
    lines = []
    for line, wanted in zip(text.decode().splitlines(), expected.decode().splitlines(), strict=True):
        event, kept = json.loads(line), json.loads(wanted)
        for name in reversed(list(event)):
            if name in kept or event[name] not in (defaults[event["event"]][name], None):
                break
            del event[name]
        lines.append(json.dumps(event, ensure_ascii=False, separators=(",", ":")) + "\n")
    return "".join(lines)


def some_number(rng):
    return rng.choice([0, 1, rng.randrange(5), rng.randrange(1 << 20), rng.randrange(1 << 64), U64])


def some_field(rng, field):
    if field["type"] == "str":
        return "".join(rng.choice('aä"\\\n\x01\x7f\u2028𝄞/<') for _ in range(rng.randrange(40)))
    if field["type"] == "bool":
        return rng.random() < 0.5
    if field["type"] == "counter":
        return rng.choice([0, rng.randrange(-(1 << 63), 1 << 63), rng.randrange(-1000, 1000)])
    if field["type"] == "thread":
        return rng.randrange(4)
    return some_number(rng)


def some_block(rng, kinds):
    """Events as stored; a counter of thread 0 is stored as 0."""
    payload = msgpack.packb([some_number(rng)])
    count = rng.randrange(1, 60)
    for _ in range(count):
        kind = rng.choice(kinds)
        thread = rng.randrange(4)
        values = {}
        for field in kind["fields"]:
            stored = some_field(rng, field)
            if field["type"] == "counter" and not {"thread": thread, **values}[field["of"]]:
                stored = 0
            values[field["name"]] = stored
        fields = list(values.values())
        fields = fields[:rng.randrange(len(fields) + 1)] if rng.random() < 0.1 else fields
        dt = rng.choice([0, rng.randrange(-50, 100), rng.randrange(-(1 << 63), 1 << 63)])
        payload += msgpack.packb([kind["id"], dt, thread, *fields])
    return count, payload


class LogCase(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.spoor")

    def write(self, data):
        with open(self.path, "wb") as f:
            f.write(data)


class Golden(LogCase):
    """Logs of every version that there was stay readable, with the same result."""

    def test_cat(self):
        for args, expected in (((), "v1.jsonl"), (("--resolve",), "v1.resolved.jsonl")):
            done = cat(*args, os.path.join(GOLDEN, "v1.spoor"))
            self.assertEqual(without_appended(done.stdout, contents(GOLDEN, expected)),
                             contents(GOLDEN, expected).decode())
            self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_header(self):
        done = cat("--header", os.path.join(GOLDEN, "v1.spoor"))
        self.assertEqual(done.stdout.decode(), contents(GOLDEN, "v1.header.json").decode())
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_second_reader(self):
        intact, text = second_reader(os.path.join(GOLDEN, "v1.spoor"))
        self.assertTrue(intact)
        self.assertEqual(without_appended(text, contents(GOLDEN, "v1.jsonl")),
                         contents(GOLDEN, "v1.jsonl").decode())

    def test_every_kind_is_there(self):
        lines = contents(GOLDEN, "v1.jsonl").decode().splitlines()
        self.assertGreaterEqual({json.loads(line)["event"] for line in lines},
                                {"thread", "class", "lock", "string", "lost", "note", "end",
                                 "monitor_contended_enter", "park_begin", "gc_pool", "cpu_sample"})


class Agreement(LogCase):
    """Random logs that a second writer makes: both readers say the same."""

    def setUp(self):
        super().setUp()
        self.kinds = json.loads(contents(SCHEMAS, "events.json"))["events"]

    def agree(self, status):
        done = cat(self.path)
        intact, text = second_reader(self.path)
        self.assertEqual(done.stdout.decode(), text.decode())
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(intact, status == 0)
        return done

    def test_intact(self):
        for seed in range(30):
            rng = random.Random(seed)
            with self.subTest(seed=seed):
                self.write(log(*(some_block(rng, self.kinds) for _ in range(rng.randrange(6)))))
                self.agree(0)

    def test_damaged(self):
        for seed in range(30):
            rng = random.Random(seed)
            start = len(log())
            data = bytearray(log(*(some_block(rng, self.kinds) for _ in range(5))))
            with self.subTest(seed=seed):
                for _ in range(rng.randrange(1, 4)):
                    data[rng.randrange(start, len(data))] ^= 1 << rng.randrange(8)
                self.write(data)
                done = self.agree(1)
                self.assertIn(self.path.encode(), done.stderr)
                self.assertIn(b"missing", done.stderr)

    def test_unknown_events_and_fields(self):
        later = [{"id": 60000, "name": "later", "fields": [{"name": "x", "type": "str"}]}]
        more = [{**e, "fields": [*e["fields"], {"name": "more", "type": "uint"}]} for e in self.kinds]
        rng = random.Random(1)
        self.write(log(some_block(rng, later), *(some_block(rng, later + more) for _ in range(5))))
        done = self.agree(0)
        self.assertIn(b"does not know", done.stderr)
        self.assertGreater(done.stdout.count(b"\n"), 50)


class Description(LogCase):
    def test_example(self):
        """The bytes in event-log.md are a log, and it says what is written there."""
        text = contents(SCHEMAS, "event-log.md").decode()
        example = text[text.index("## Example"):text.index("## Vocabulary")]
        hex_part, cat_part = re.split("`spoor cat` prints it as.*", example)
        data = b""
        for line in hex_part.splitlines():
            pairs = re.match(r"    \s*((?:[0-9a-f]{2}(?:\s{1,2}|$))+)", line)
            data += bytes.fromhex(pairs.group(1)) if pairs else b""
        self.assertIn(f"{len(data)} bytes", hex_part)
        self.write(data)
        expected = "".join(line[4:] + "\n" for line in cat_part.splitlines() if line.startswith("    {"))
        done = cat(self.path)
        self.assertEqual(without_appended(done.stdout, expected.encode()), expected)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(second_reader(self.path), (True, done.stdout))

    def gen(self, *args):
        return subprocess.run([sys.executable, os.path.join(SCHEMAS, "gen.py"), *args],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)

    def test_tables_are_fresh(self):
        done = self.gen(os.path.join(SCHEMAS, "events.in.json"), "--check-docs")
        self.assertEqual((done.returncode, done.stderr), (0, b""))

    def test_stale_tables_are_noticed(self):
        folder = os.path.dirname(self.path)
        schema = json.loads(contents(SCHEMAS, "events.json"))
        schema["events"][0]["doc"] = "something else"
        events = os.path.join(folder, "events.json")
        with open(events, "w", encoding="utf-8") as f:
            json.dump(schema, f)
        with open(os.path.join(folder, "event-log.md"), "wb") as f:
            f.write(contents(SCHEMAS, "event-log.md"))
        self.assertEqual(self.gen(events, "--check-docs").returncode, 1)
        self.assertEqual(self.gen(events, "--docs").returncode, 0)
        self.assertEqual(self.gen(events, "--check-docs").returncode, 0)

    def test_wrong_schemas_are_refused(self):
        def change(edit):
            schema = {"format": "spoor", "version": 1, "enums": {"e": ["a"]},
                      "events": [{"id": 1, "name": "one", "doc": "", "fields": [
                          {"name": "t", "type": "thread"},
                          {"name": "c", "type": "counter", "of": "t"}]},
                          {"id": 2, "name": "two", "doc": "", "fields": []}]}
            edit(schema, schema["events"])
            return schema

        def field(**keys):
            return lambda s, e: e[1]["fields"].append({"name": "f", "type": "uint", **keys})

        wrong = {
            "used twice": lambda s, e: e[1].update(id=1),
            "two events": lambda s, e: e[1].update(name="one"),
            "bad id": lambda s, e: e[1].update(id=0),
            "unknown type": field(type="float"),
            "more than 32": lambda s, e: e[1].update(fields=[{"name": f"f{n}", "type": "uint"}
                                                             for n in range(33)]),
            "no earlier thread": field(type="counter", of="t"),
            "no enum": field(type="enum", enum="x"),
            "lower case": field(name="F"),
            "of its own": field(name="event"),
            "unknown keys": field(units="ns"),
            "go together": field(of="t"),
            "C identifier": lambda s, e: (e[1].update(name="one_t"), field(name="x")(s, e),
                                          e[0]["fields"].append({"name": "t_x", "type": "uint"})),
        }
        folder = os.path.dirname(self.path)
        events = os.path.join(folder, "events.json")
        for message, edit in {"": lambda s, e: None, **wrong}.items():
            with self.subTest(message=message):
                with open(events, "w", encoding="utf-8") as f:
                    json.dump(change(edit), f)
                done = self.gen(events, "--c", folder)
                self.assertEqual(done.returncode, 1 if message else 0, done.stderr)
                self.assertIn(message, done.stderr.decode())


class Command(LogCase):
    """What `spoor cat` does with its arguments, and with what it cannot read or write."""

    golden = os.path.join(GOLDEN, "v1.spoor")

    def test_event_filter(self):
        done = cat("--event", "gc_begin,gc_end", "-e", "note", self.golden)
        kinds = [json.loads(line)["event"] for line in done.stdout.splitlines()]
        self.assertEqual(set(kinds), {"gc_begin", "gc_end", "note"})
        self.assertEqual(len(kinds), contents(GOLDEN, "v1.jsonl").count(b'"event":"gc_begin"') * 3)

    def test_usage(self):
        for args in ([], ["--event", "nonsense", self.golden], ["--nonsense"]):
            done = cat(*args)
            self.assertEqual((done.returncode, done.stdout), (2, b""), args)
            self.assertTrue(done.stderr)
        self.assertIn(b"monitor_contended_enter", cat("--event", "x", self.golden).stderr)
        self.assertEqual(cat("--help").returncode, 0)

    def test_no_log(self):
        newer = {"format": "spoor", "version": 2, "features": []}
        for data, words in ((b"", "not a spoor log"), (b"hello\nworld\n", "not a spoor log"),
                            (log()[:30], "damaged"), (log(header=newer), "newer spoor")):
            self.write(data)
            for args in ([], ["--resolve"], ["--header"]):
                done = cat(*args, self.path)
                self.assertEqual((done.returncode, done.stdout), (1, b""))
                self.assertIn(words, done.stderr.decode())
                self.assertIn(self.path, done.stderr.decode())
                self.assertEqual(done.stderr.count(b"\n"), 1)
        done = cat(self.path + "x")
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"no such file", done.stderr)

    def test_cut(self):
        data = contents(self.golden)
        self.write(data[:-1])
        done = cat("--resolve", self.path)
        self.assertEqual(done.returncode, 1)
        whole = contents(GOLDEN, "v1.jsonl").count(b"\n")
        self.assertEqual(done.stdout.count(b"\n"), whole * 3 // 4)
        self.assertIn(b"1 damaged", done.stderr)

    def test_names_behind_their_use(self):
        self.write(log(
            (2, msgpack.packb([5]) + msgpack.packb([10, 0, 3, 1, 4]) + msgpack.packb([30, 0, 0, 6])),
            (5, msgpack.packb([5]) + msgpack.packb([1, 0, 3, 123, 123, 9, 17, "worker-1", False, True])
             + msgpack.packb([1, 0, 4, 124, 124, 9, 18, "old", False, True])
             + msgpack.packb([1, 0, 4, 124, 124, 9, 18, "worker-2", False, True])
             + msgpack.packb([3, 0, 0, 1, 1, 2, 0, 0, 0]) + msgpack.packb([2, 0, 0, 2, "LockA"]))))
        lines = [json.loads(line) for line in cat("--resolve", self.path).stdout.splitlines()]
        self.assertEqual({name: lines[0][name] for name in ("time_ns", "event", "thread", "lock", "owner", "stack")},
                         {"time_ns": 5, "event": "monitor_contended_enter",
                          "thread": {"id": 3, "name": "worker-1", "tid": 123},
                          "lock": {"id": 1, "class": "LockA", "group": "monitor"},
                          "owner": {"id": 4, "name": "worker-2", "tid": 124}, "stack": None})
        self.assertEqual(lines[1], {"time_ns": 5, "event": "gc_begin", "thread": None, "operation": 6})
        self.assertEqual((lines[5]["class"], lines[5]["lock"]["id"]), ("LockA", 1))
        self.assertEqual((lines[6]["class"], lines[6]["name"]), (2, "LockA"))

    def test_closed_pipe(self):
        """A log of many blocks into a pipe that nobody reads: quiet, and it ends."""
        payload = msgpack.packb([1]) + b"".join(msgpack.packb([35, 1, 7]) for _ in range(10000))
        self.write(log(*((10000, payload) for _ in range(20))))
        with subprocess.Popen([SPOOR, "cat", self.path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            self.assertTrue(child.stdout.readline())
            child.stdout.close()
            self.assertEqual(child.stderr.read(), b"")
            self.assertEqual(child.wait(timeout=60), 0)

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            done = cat(self.golden, stdout=full)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No space left", done.stderr)


if __name__ == "__main__":
    unittest.main()
