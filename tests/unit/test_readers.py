"""The readers in docs/readers, which are written from the description alone, say what `spoor cat` says."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import BUILD, SPOOR

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
READERS = os.path.join(ROOT, "docs", "readers")
SCHEMA = os.path.join(ROOT, "schemas", "events.json")
GOLDEN = os.path.join(ROOT, "schemas", "golden", "v1.spoor")
LINES = 70

sys.path.insert(0, HERE)
import packed_log  # noqa: E402
from packed_log import DEFINITIONS, SYNC, Log, as_it_is  # noqa: E402


def kinds():
    with open(SCHEMA, encoding="utf-8") as f:
        return json.load(f)["events"]


KINDS = kinds()
DEFINING = {"thread", "class", "lock", "string", "method", "stack"}


def some_row(rng, definitions):
    kind = rng.choice([k for k in KINDS if (k["name"] in DEFINING) == definitions])
    thread, fields, values = rng.randrange(4), [], {}
    for field in kind["fields"]:
        stored = {"str": rng.choice(["", "x", "ä\n\"𝄞", "y" * 300]), "bool": rng.random() < 0.5,
                  "thread": rng.randrange(4), "enum": rng.randrange(9),
                  "counter": rng.choice([0, -1, 1 << 40, -(1 << 63), (1 << 64) - 1])}.get(
                      field["type"], rng.choice([0, 1, rng.randrange(1 << 64), (1 << 64) - 1]))
        if field["type"] == "counter" and not {"thread": thread, **values}[field["of"]]:
            stored = 0
        values[field["name"]] = stored
        fields.append(stored)
    time = rng.choice([0, 5, rng.randrange(1 << 64), (1 << 64) - 1])
    return (kind["id"], time, thread, *fields[:rng.randrange(len(fields) + 1) if rng.random() < 0.2 else None])


def some_log(rng):
    codecs = rng.choice([(), ("lz4",), ("zstd",), ("lz4", "zstd")])
    log = Log(codecs)
    for _ in range(rng.randrange(8)):
        flags = rng.choice([0, 0, DEFINITIONS, SYNC])
        rows = [some_row(rng, flags == DEFINITIONS) for _ in range(rng.randrange(1, 60))]
        numbers = rng.choice([(), (1,), (1, "x"), (2,), ("x", 1)])
        if not flags and rng.random() < 0.3:
            log.plain(rows, *numbers)
        else:
            log.block(rows, rng.choice(["none", *codecs]), flags, lose=rng.random() < 0.1,
                      raw=packed_log.body(rows, *numbers))
        if rng.random() < 0.2:
            log.index()
    return log.closed() if rng.random() < 0.7 else log.data


class Readers:
    """For each of the readers; reader() is its command."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.spoor")

    def agree(self, path):
        cat = subprocess.run([SPOOR, "cat", path], capture_output=True, check=False)
        read = subprocess.run([*self.reader(), path, SCHEMA], capture_output=True, check=False)
        self.assertEqual(read.stdout.decode().splitlines() or [""], as_it_is(cat.stdout).decode().splitlines() or [""])
        self.assertEqual(read.returncode, cat.returncode, read.stderr + cat.stderr)
        return read

    def test_first_logs(self):
        self.assertEqual(self.agree(GOLDEN).returncode, 0)

    def test_every_kind_with_extreme_values(self):
        with open(SCHEMA, encoding="utf-8") as f:
            schema = json.load(f)
        for codec in packed_log.CODECS:
            data, told = packed_log.extremes(schema, codec)
            with open(self.path, "wb") as f:
                f.write(data)
            lines = self.agree(self.path).stdout.decode().rstrip("\n").split("\n")
            for line, event in zip(lines, told, strict=True):
                self.assertEqual(json.loads(line), event, codec)

    def test_packed_logs(self):
        for seed in range(self.rounds):
            with self.subTest(seed=seed):
                with open(self.path, "wb") as f:
                    f.write(some_log(random.Random(seed)))
                self.agree(self.path)

    def test_damaged_logs(self):
        begin = len(Log(("lz4", "zstd")).data)
        for seed in range(self.rounds):
            rng = random.Random(seed)
            data = bytearray(some_log(rng))
            with self.subTest(seed=seed):
                for _ in range(rng.randrange(1, 4) if len(data) > begin else 0):
                    data[rng.randrange(begin, len(data))] ^= 1 << rng.randrange(8)
                with open(self.path, "wb") as f:
                    f.write(data[:rng.choice([None, None, max(begin, len(data) - rng.randrange(200))])])
                self.agree(self.path)

    def test_refused(self):
        for data in (b"", b"hello", packed_log.MAGIC, Log(features=["later"]).data):
            with open(self.path, "wb") as f:
                f.write(data)
            self.assertEqual(self.agree(self.path).stdout.strip(), b"")

    def test_is_short(self):
        with open(self.source, encoding="utf-8") as f:
            self.assertLessEqual(len(f.readlines()), LINES)


class Python(Readers, unittest.TestCase):
    source = os.path.join(READERS, "read_spoor.py")
    rounds = 15

    def reader(self):
        return [sys.executable, "-B", self.source]


class JavaScript(Readers, unittest.TestCase):
    source = os.path.join(READERS, "read_spoor.mjs")
    rounds = 6

    @classmethod
    def setUpClass(cls):
        """What it needs is put under the build folder once, in the versions of package-lock.json."""
        cls.folder = os.path.join(BUILD, "readers")
        lock = os.path.join(READERS, "package-lock.json")
        for program in ("node", "npm"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"there is no {program}")
        os.makedirs(cls.folder, exist_ok=True)
        shutil.copy(cls.source, cls.folder)
        stamp = os.path.join(cls.folder, "installed.json")
        with open(lock, encoding="utf-8") as f:
            wanted = f.read()
        if os.path.exists(stamp):
            with open(stamp, encoding="utf-8") as f:
                if f.read() == wanted:
                    return
        for name in ("package.json", "package-lock.json"):
            shutil.copy(os.path.join(READERS, name), cls.folder)
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=cls.folder,
                              capture_output=True, text=True, timeout=200, check=False)
        if done.returncode:
            raise unittest.SkipTest("npm cannot install its packages: " + done.stderr[-300:])
        with open(stamp, "w", encoding="utf-8") as f:
            f.write(wanted)

    def reader(self):
        return ["node", os.path.join(self.folder, "read_spoor.mjs")]


if __name__ == "__main__":
    unittest.main()
