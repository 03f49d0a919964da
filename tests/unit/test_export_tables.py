"""`spoor export --to csv|jsonl` from outside: tables have what `spoor cat` says, whatever the texts are."""
import csv
import datetime
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

from program import SPOOR

HERE = os.path.dirname(os.path.abspath(__file__))
SCHEMAS = os.path.join(HERE, "..", "..", "schemas")
GOLDEN = os.path.join(HERE, "..", "golden")
TEXTS = ["", "x", "a,b", 'say "no"', "two\nlines", "\r", "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "'quoted", "＝1", "a;b",
         "ä𝄞", "plain text", "null", "\\", "\x01"]
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "'", "＝", "＋", "－", "＠")

sys.path[:0] = [HERE, GOLDEN]
import mklog  # noqa: E402
import packed_log  # noqa: E402


def contents(*path):
    with open(os.path.join(*path), encoding="utf-8", newline="") as f:
        return f.read()


def some_event(rng, kind):
    out = {"event": kind["name"], "thread": rng.randrange(5), "time_ns": rng.choice([0, 5, 10**9, 1 << 60])}
    for field in kind["fields"]:
        defined = field["type"] in ("thread", "class", "lock", "string", "method", "stack")
        out[field["name"]] = {"str": rng.choice(TEXTS), "bool": rng.random() < 0.5, "enum": rng.choice([0, 1, 99])}.get(
            field["type"], rng.randrange(6) if defined else rng.choice([0, 1, (1 << 63) - 1]))
        if field["type"] == "counter" and not out.get(field["of"], 0):
            out[field["name"]] = 0
    return out


def column(field):
    unit = field.get("unit", "")
    return field["name"] + (f"_{unit}" if unit and not field["name"].endswith("_" + unit) else "").replace(" ", "_")


def frames(stack):
    """What a table has of a call chain that cat has resolved."""
    if not stack or "frames" not in stack:
        return None
    out = []
    for f in stack["frames"]:
        mark = f["type"] if f["type"] in ("missing", "broken", "cut", "in_heap", "unresolved") else "unknown"
        known = f["class"] or f["method"] or f["signature"]  # the methods of these logs have a signature
        out.append(f"{f['class']}.{f['method']}" + (f":{f['line']}" if f["line"] else "") if known else f"({mark})")
    return out + ([f"({stack['more']} more)"] if "more" in stack else [])


class Tables(unittest.TestCase):
    maxDiff = 3000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.log = os.path.join(self.folder, "a.spoor")
        self.kinds = json.loads(contents(SCHEMAS, "events.json"))["events"]

    def spoor(self, *args, status=0):
        done = subprocess.run([SPOOR, *args], capture_output=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done

    def export(self, *args, status=0):
        return self.spoor("export", *args, self.log, status=status).stdout.decode()

    def write(self, events):
        source = os.path.join(self.folder, "a.jsonl")
        with open(source, "w", encoding="utf-8") as f:
            for line in [{"header": {}}, *({"time_ns": 5, **event} for event in events)]:
                f.write(json.dumps(line) + "\n")
        with open(self.log, "wb") as f:
            f.write(mklog.make(source))

    def write_some(self, seed):
        rng = random.Random(seed)
        events = [some_event(rng, kind) for kind in self.kinds for _ in range(3) if kind["name"] != "end"]
        for event in events:
            if event["event"] == "method":
                event["signature"] = "()V"
            if event["event"] == "stack":
                event["caller"] = rng.randrange(event["stack"] or 1)
        rng.shuffle(events)
        self.write([*events, {"event": "end", "time_ns": 7}])

    def expected(self, raw, resolved):
        """The row of an event, from what cat prints of it without and with names."""
        kind = next(k for k in self.kinds if k["name"] == raw["event"])
        wall = mklog.HEADER["start_wall_ns"] + raw["time_ns"] - mklog.HEADER["start_mono_ns"]
        seconds = datetime.datetime.fromtimestamp(wall // 10**9, datetime.timezone.utc)
        thread = resolved["thread"] or {}
        row = {"event": raw["event"], "time_ns": raw["time_ns"],
               "time": f"{seconds:%Y-%m-%dT%H:%M:%S}.{wall % 10**9:09}Z", "thread": raw["thread"],
               "thread_name": thread.get("name"), "thread_tid": thread.get("tid")}
        for field in kind["fields"]:
            name, given = field["name"], resolved[field["name"]]
            row[column(field)] = raw[name]
            if field["type"] == kind["name"]:
                continue
            if field["type"] == "thread":
                row.update({f"{name}_name": (given or {}).get("name"), f"{name}_tid": (given or {}).get("tid")})
            elif field["type"] == "lock":
                lock_class = (given or {}).get("class")
                row.update({f"{name}_class": lock_class if isinstance(lock_class, str) else None,
                            f"{name}_group": (given or {}).get("group")})
            elif field["type"] in ("class", "string") and kind["name"] != "lock":
                row[f"{name}_name" if field["type"] == "class" else f"{name}_text"] = given if isinstance(
                    given, str) else None
            elif field["type"] == "class":
                row[f"{name}_name"] = given if isinstance(given, str) else None
            elif field["type"] == "method":
                row[f"{name}_name"] = f"{given['class']}.{given['method']}" if given and "class" in given else None
            elif field["type"] == "stack":
                row[f"{name}_frames"] = frames(given)
        return row

    def rows(self):
        raw = [json.loads(line) for line in self.spoor("cat", self.log).stdout.splitlines()]
        resolved = [json.loads(line) for line in self.spoor("cat", "-r", "-n", "12", self.log).stdout.splitlines()]
        return [self.expected(*pair) for pair in zip(raw, resolved, strict=True)]

    def test_jsonl_says_what_cat_says(self):
        for seed in range(5):
            with self.subTest(seed=seed):
                self.write_some(seed)
                lines = [json.loads(line) for line in self.export("--to", "jsonl").splitlines()]
                self.assertEqual(lines, self.rows())

    @staticmethod
    def cell(value):
        """A value of JSON lines as CSV has it."""
        if value is None:
            return ""
        if isinstance(value, bool):
            return "true" if value else "false"
        text = " < ".join(value) if isinstance(value, list) else str(value)
        return "'" + text if text.startswith(FORMULA) else text

    def test_csv_has_the_same(self):
        self.write_some(11)
        tables = os.path.join(self.folder, "tables")
        self.export("--to", "csv", "-o", tables)
        rows = {}
        for row in self.rows():
            rows.setdefault(row.pop("event"), []).append(row)
        self.assertEqual({f"{name}.csv" for name in rows}, set(os.listdir(tables)))
        for name, wanted in rows.items():
            with self.subTest(name):
                head, *got = csv.reader(io.StringIO(contents(tables, f"{name}.csv"), newline=""), strict=True)
                self.assertEqual(head, list(wanted[0]))
                self.assertEqual(len(set(head)), len(head))
                self.assertEqual(got, [[self.cell(v) for v in row.values()] for row in wanted])

    def test_every_kind_with_extreme_values(self):
        """The fields themselves; names are those of other tests."""
        schema = json.loads(contents(SCHEMAS, "events.json"))
        columns = {kind["name"]: {"time_ns": "time_ns", "thread": "thread",
                                  **{f["name"]: column(f) for f in kind["fields"]}} for kind in self.kinds}
        data, told = packed_log.extremes(schema, "zstd")
        with open(self.log, "wb") as f:
            f.write(data)
        lines = self.export("--to", "jsonl").split("\n")
        self.assertEqual(lines.pop(), "")
        tables = os.path.join(self.folder, "tables")
        self.export("--to", "csv", "-o", tables)
        rows = {name: csv.DictReader(io.StringIO(contents(tables, f"{name}.csv"), newline=""), strict=True)
                for name in columns}
        for line, event in zip(map(json.loads, lines), told, strict=True):
            names = columns[event["event"]]
            self.assertEqual({name: line[names[name]] for name in names}, {name: event[name] for name in names})
            row = next(rows[event["event"]])
            cells = {name: self.cell(event[name]) for name in names}
            self.assertEqual({name: row[names[name]] for name in names}, cells)
        self.assertEqual([next(table, None) for table in rows.values()], [None] * len(rows))

    def test_formulas(self):
        self.write([{"event": "note", "text": t} for t in TEXTS] + [{"event": "end"}])
        safe = list(csv.DictReader(io.StringIO(self.export("--to", "csv", "-e", "note"), newline="")))
        raw = list(csv.DictReader(io.StringIO(self.export("--to", "csv", "-e", "note", "--raw-text"), newline="")))
        self.assertEqual([row["text"] for row in raw], TEXTS)
        self.assertFalse([row["text"] for row in safe if row["text"].startswith(tuple("=+-@\t\r\n＝＋－＠"))])
        back = [row["text"][1:] if row["text"].startswith("'") else row["text"] for row in safe]
        self.assertEqual(back, TEXTS)
        self.assertGreater(sum(row["text"].startswith("'") for row in safe), 5)

    def test_folder_and_file(self):
        self.write([{"event": "gc_begin"}, {"event": "note"}, {"event": "end"}])
        for output in ("new", "new/", "there"):
            folder = os.path.join(self.folder, output)
            if output == "there":
                os.mkdir(folder)
            self.export("--to", "csv", "-o", folder)
            self.assertEqual(sorted(os.listdir(folder)), ["end.csv", "gc_begin.csv", "note.csv"])
        folder = os.path.join(self.folder, "json/")
        self.export("--to", "jsonl", "-e", "note,gc_end", "-o", folder)
        self.assertEqual(sorted(os.listdir(folder)), ["gc_end.jsonl", "note.jsonl"])
        file = os.path.join(self.folder, "one.csv")
        self.export("--to", "csv", "-e", "note", "-o", file)
        self.assertEqual(contents(file), self.export("--to", "csv", "-e", "note"))

    def test_usage(self):
        self.write([{"event": "end"}])
        for args in (["--to", "csv"], ["--to", "csv", "-e", "note,end"], ["--to", "csv", "-e", "x"],
                     ["--to", "jsonl", "--raw-text"], ["--to", "collapsed", "-e", "note"],
                     ["--to", "csv", "-e", "end", "--lines"], ["--to", "collapsed", "--frames", "3"]):
            self.assertEqual(self.export(*args, status=2), "", args)

    def test_failures(self):
        self.write([{"event": "note"}, {"event": "end"}])
        with open("/dev/full", "wb") as full:
            done = subprocess.run([SPOOR, "export", "--to", "jsonl", self.log], stdout=full, stderr=subprocess.PIPE,
                                  check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"No space left", done.stderr)
        before = contents(SCHEMAS, "events.json")
        done = self.spoor("export", "--to", "csv", "-e", "note", "-o", self.log, self.log, status=1)
        self.assertIn(b"the log itself", done.stderr)
        self.assertEqual(contents(SCHEMAS, "events.json"), before)
        self.spoor("export", "--to", "csv", "-o", os.path.join(self.log, "x"), self.log, status=1)
        with open(self.log, "rb") as f:
            data = f.read()
        with open(self.log, "wb") as f:
            f.write(data[:-3])
        self.export("--to", "jsonl", status=1)

    def test_closed_pipe(self):
        self.write([{"event": "note", "text": "x" * 300, "repeat": [2000, 1]}, {"event": "end"}])
        with subprocess.Popen([SPOOR, "export", "--to", "jsonl", self.log], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as child:
            self.assertTrue(child.stdout.readline())
            child.stdout.close()
            self.assertEqual(child.stderr.read(), b"")
            self.assertEqual(child.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
