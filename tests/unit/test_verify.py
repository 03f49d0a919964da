"""`spoor verify` finds each kind of damage, and `spoor repair` makes a sound log of it with all that is intact."""
import json
import os
import random
import subprocess
import sys
import tempfile
import unittest

from program import SPOOR

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "..", "schemas", "golden", "v1.spoor")

sys.path.insert(0, HERE)
import packed_log  # noqa: E402
from packed_log import DEFINITIONS, EVENTS, HEADER, SYNC, Log, body  # noqa: E402
import test_readers  # noqa: E402

THREAD, SAFEPOINT_BEGIN, SAFEPOINT_END, ENTER, SAMPLE, END = 1, 35, 36, 10, 42, 9
DEFINED = [(THREAD, 90, n, 100 + n, 100 + n, 0, n, f"worker-{n}") for n in range(1, 5)]
LOCKS = [(2, 90, 0, 1, "demo.Table"), (3, 90, 0, 1, 1, 1, 1, 0, 7)]
ROWS = [(SAFEPOINT_BEGIN, 100, 1), (SAFEPOINT_END, 200, 1), (ENTER, 150, 2, 1, 3, 2, 10, 20, 30)]
LAST = [(SAFEPOINT_BEGIN, 300, 1), (SAFEPOINT_END, 400, 1), (END, 500, 0)]


def sound(codecs=("lz4", "zstd"), codec="zstd", **header):
    """A log with everything, before its end."""
    log = Log(codecs, header)
    log.block(DEFINED, codec, DEFINITIONS)
    log.block(LOCKS, "none", DEFINITIONS)
    log.block(ROWS, codec)
    log.block(ROWS[:1], "lz4" if "lz4" in codecs else codec, SYNC)
    log.plain(ROWS)
    return log


def flipped(data, at):
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1:]


class VerifyCase(unittest.TestCase):
    maxDiff = 4000

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "a.spoor")
        self.clean = os.path.join(folder.name, "clean.spoor")

    def write(self, data, path=None):
        with open(path or self.path, "wb") as f:
            f.write(data)

    def spoor(self, *args, status=0, stdin=None):
        done = subprocess.run([SPOOR, *args], capture_output=True, input=stdin, check=False)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def verify(self, data, status, *options):
        self.write(data)
        done = self.spoor("verify", "-f", "json", *options, self.path, status=status)
        return json.loads(done.stdout)["files"][0]

    def events(self, path, *args):
        done = subprocess.run([SPOOR, "cat", *args, path], capture_output=True, check=False)
        return done.stdout.decode().splitlines()


class Verify(VerifyCase):
    def test_folders_and_patterns(self):
        folder = os.path.dirname(self.path)
        for name in ("b.spoor", "a.spoor", "other.txt"):
            self.write(sound().closed(), os.path.join(folder, name))
        done = self.spoor("verify", "-f", "json", folder)
        files = [os.path.basename(f["file"]) for f in json.loads(done.stdout)["files"]]
        self.assertEqual(files, ["a.spoor", "b.spoor"])
        done = self.spoor("verify", "-f", "json", os.path.join(folder, "?.spoor"), os.path.join(folder, "other.txt"))
        self.assertEqual(len(json.loads(done.stdout)["files"]), 3)
        # The worst of them is what counts; and that an argument stands for nothing.
        self.write(flipped(sound().closed(), 400), os.path.join(folder, "b.spoor"))
        self.spoor("verify", "-q", folder, status=1)
        self.spoor("verify", "-q", os.path.join(folder, "a*.spoor"))
        done = self.spoor("verify", "-q", os.path.join(folder, "c*.spoor"), self.path, status=1)
        self.assertIn(b"no file has a name like this", done.stderr)
        os.mkdir(os.path.join(folder, "empty"))
        done = self.spoor("verify", "-q", os.path.join(folder, "empty"), status=1)
        self.assertIn(b"there is no log", done.stderr)

    def test_bytes_by_kind(self):
        log = Log(("zstd",), {})
        rows = [(ENTER, 150 + i, 2, 1, 3, 2, 10, 20, 30) for i in range(200)]
        log.block(rows + LAST[:2], "none")
        log.block(rows, "zstd")
        found = self.verify(log.closed(), 0)
        codecs, kinds = found["blocks"]["codecs"], found["bytes_by_kind"]
        # All bytes of bodies but the base time of each.
        bases = 2 * (len(body(rows[:1])) - (len(body(rows[:2])) - len(body(rows[:1]))))
        raw = sum(k["raw_bytes"] for k in kinds.values())
        self.assertEqual(raw, codecs["none"]["raw_bytes"] + codecs["zstd"]["raw_bytes"] - bases)
        self.assertEqual(set(kinds), set(found["events_by_kind"]))
        # Uncompressed, the share is what it is; compressed, it shrinks as the block does.
        enter = kinds["monitor_contended_enter"]
        self.assertEqual(kinds["safepoint_begin"]["bytes"], kinds["safepoint_begin"]["raw_bytes"])
        self.assertLess(abs(enter["bytes"] - enter["raw_bytes"] / 2 - codecs["zstd"]["bytes"]), 10)

    def test_sound(self):
        log = sound()
        log.index()
        log.block(LAST, "zstd")
        data = log.closed()
        found = self.verify(data, 0, "--strict")
        self.assertEqual((found["damage"], found["doubts"], found["findings"]), (0, 0, []))
        self.assertEqual((found["events"], found["events_sync"], found["bytes"]), (15, 1, len(data)))
        self.assertEqual((found["first_ns"], found["last_ns"]), (90, 500))
        self.assertEqual(found["events_by_kind"]["safepoint_begin"], 3)
        blocks = found["blocks"]
        self.assertEqual([blocks[k] for k in ("header", "events", "packed", "index", "end", "sync", "all")],
                         [1, 1, 5, 2, 1, 1, 10])
        self.assertEqual({k: v["blocks"] for k, v in blocks["codecs"].items()}, {"none": 1, "lz4": 1, "zstd": 3})
        self.assertEqual(found["numbers"]["threads"], {"defined": 4, "undefined": 0})
        self.assertTrue(found["ended"] and found["closed"])
        self.assertEqual(found["header"]["features"], ["packed", "relative", "lz4", "zstd"])
        piped = self.spoor("verify", "-f", "json", "-", stdin=data)
        self.assertEqual(json.loads(piped.stdout)["files"], [{**found, "file": "-"}])

    def test_first_logs_are_sound(self):
        self.spoor("verify", GOLDEN)
        self.spoor("verify", "--strict", GOLDEN, status=1)  # events of all kinds, at random

    def finds(self, data, text, weight="damage"):
        found = self.verify(data, 1 if weight == "damage" else 0)
        texts = [f["text"] for f in found["findings"] if f["weight"] == weight]
        self.assertTrue([t for t in texts if text in t], found["findings"])
        return found

    def test_each_kind_of_damage(self):
        def made(change, *rows, **options):
            log = sound(**options)
            change(log)
            log.block(LAST, "none")
            return log.closed()

        whole = made(lambda log: None)
        begin = len(Log(("lz4", "zstd")).data)
        cases = {
            "no header: magic": (b"x" + whole[1:], "begin with the magic"),
            "header": (flipped(whole, 40), "there is no header"),
            "a bit": (flipped(whole, begin + 40), "bytes are no intact block"),
            "cut": (whole[:-40], "cut off here"),
            "bytes more": (whole + b"xyz", "3 bytes are no intact block"),
            "block more": (whole + packed_log.block(99, EVENTS, 0, body([])), "after the end of file"),
            "block lost": (made(lambda log: log.block(ROWS, lose=True)), "block 6 is missing"),
            "blocks lost": (made(lambda log: [log.block(ROWS, lose=True) for _ in "ab"]), "blocks 6 to 7 are missing"),
            "header twice": (made(lambda log: log.put(HEADER, 0, b"\x80")), "not at the beginning"),
            "first time": (made(lambda log: log.block(ROWS, first=1)), "times are not those"),
            "last time": (made(lambda log: log.block(ROWS, last=1)), "times are not those"),
            "count less": (made(lambda log: log.block(ROWS, count=2)), "more than the events it promises"),
            "count more": (made(lambda log: log.block(ROWS, count=4)), "(event 4 of 4)"),
            "no base": (made(lambda log: log.block(ROWS, raw=b"\x90" + body(ROWS)[1:])), "a base time"),
            "no event": (made(lambda log: log.block(ROWS, raw=body(ROWS)[:-5] + b"\xc1" * 5)), "(event 3 of 3)"),
            "text too long": (made(lambda log: log.block([(4, 1, 0, 1, "x" * 65537)], flags=DEFINITIONS)), "65536"),
            "no number": (made(lambda log: log.block([(ENTER, 1, 0, "x")])), "a number is none"),
            "mixed": (made(lambda log: log.block(DEFINED + ROWS)), "are mixed"),
            "no definitions": (made(lambda log: log.block(ROWS, flags=DEFINITIONS)), "are mixed"),
            "feature": (made(lambda log: log.block(ROWS, "lz4"), codecs=("zstd",)), "compressed with lz4"),
            "relative": (made(lambda log: log.block(ROWS, raw=body(ROWS, 1)), features=["packed", "lz4", "zstd"]),
                         "its numbers are relative"),
            "packed": (Log(features=[]).closed(), "an index, of which"),
            "index: previous": (made(lambda log: log.index(previous=5)), "the one before is wrong"),
            "index: entry": (made(lambda log: log.entries[2].__setitem__(4, 77)), "an entry of it is wrong"),
            "index: less": (made(lambda log: log.entries.pop()), "a block is not in it"),
            "index: more": (made(lambda log: log.entries.insert(1, [9, 1, 9, 3, 1, 0, 0, 0])), "that is not there"),
            "end": (sound().closed(last=7), "the end of file tells of the index is wrong"),
        }
        for name, (data, text) in cases.items():
            with self.subTest(name):
                self.finds(data, text)

    def test_codec(self):
        log = sound()
        log.block(ROWS, "zstd")
        for text in ("cannot be decompressed", "codec 9"):
            damaged = bytearray(log.data)
            last = damaged.rindex(b"\xc1SPB")
            damaged[last + (44 if "9" in text else 48)] = 9  # the codec; the first byte of zstd's magic
            resealed = packed_log.block(6, packed_log.PACKED, 3, bytes(damaged[last + 24:]))
            self.finds(bytes(damaged[:last]) + resealed, text)

    def test_doubts(self):
        def doubt(rows, text, end=LAST):
            log = sound()
            log.block(rows)
            log.block(end)
            return self.finds(log.closed(), text, "doubt")

        doubt([(ENTER, 150, 9, 1)], "1 threads are used and not defined, from number 9 on")
        doubt([(ENTER, 150, 1, 5)], "1 locks are used and not defined")
        doubt([(31, 150, 1, 8, 0, 9)], "2 strings are used and not defined, from number 8 on")
        doubt([(SAMPLE, 150, 1, 10**9), (SAMPLE, 160, 1, -500 * 10**6)], "by 500000000 ns at most")
        doubt([(SAMPLE, 150, 1, 10**9)], "no event end", LAST[:2])
        doubt([(END, 150, 0)], "events stand after the event end")
        quiet = sound()
        quiet.block([(SAMPLE, 160, 1, 10**9), (SAMPLE, 150, 1, -500 * 10**6)])  # the older one comes later
        quiet.block(LAST)
        self.assertEqual(self.verify(quiet.closed(), 0, "--strict")["doubts"], 0)

    def test_no_log(self):
        for data in (b"", b"hello", b"\0" * 100000):
            self.write(data)
            self.assertIn(b"not a spoor log", self.spoor("verify", self.path, status=1).stderr)
        self.assertIn(b"no such file", self.spoor("verify", self.path + "x", status=1).stderr)
        self.write(Log(features=["later"]).data)
        self.assertIn(b"newer spoor", self.spoor("verify", self.path, status=1).stderr)

    def parts(self, *parts):
        """What verify says of files that are these (recording, number), in this order; they are F0, F1, ..."""
        paths = [f"{self.path}{i}" for i in range(len(parts))]
        for path, (recording, number) in zip(paths, parts):
            log = sound(part={"recording": recording, "number": number, "begin_ns": 0} if recording else {})
            log.block(LAST)
            self.write(log.closed(), path)
        text = self.spoor("verify", *paths).stderr.decode()
        return [line.replace("spoor: warning: ", "").replace(self.path, "F") for line in text.splitlines()]

    def test_parts(self):
        self.assertEqual(self.parts(("r1", 1), ("r1", 2), ("r1", 3)), [])
        self.assertEqual(self.parts(("r1", 4), ("r1", 3), ("", 0), ("r2", 9)), [])
        self.assertEqual(self.parts(("r1", 4), ("r1", 1), ("r1", 2)), ["of recording r1 these parts are missing: 3"])
        self.assertEqual(self.parts(("r1", 9), ("r1", 1), ("r2", 2), ("r1", 3), ("r2", 5)),
                         ["of recording r1 these parts are missing: 2, 4 to 8",
                          "of recording r2 these parts are missing: 3 to 4"])

    def test_parts_that_are_there_twice(self):
        """As many as their numbers would be: a double does not hide one that is missing."""
        self.assertEqual(self.parts(("r1", 1), ("r1", 1), ("r1", 3)),
                         ["F1: this is part 1 of recording r1, as is F0", "of recording r1 these parts are missing: 2"])
        self.assertEqual(self.parts(("r1", 2), ("r2", 1), ("r1", 1), ("r1", 2), ("r1", 2)),
                         ["F3: this is part 2 of recording r1, as is F0",
                          "F4: this is part 2 of recording r1, as is F3"])

    def test_parts_of_any_numbers(self):
        most = (1 << 63) - 1
        self.assertEqual(self.parts(("r1", 0), ("r1", most)),
                         [f"of recording r1 these parts are missing: 1 to {most - 1}"])
        self.assertEqual(self.parts(*(("r1", 2 * i) for i in range(23))),
                         ["of recording r1 these parts are missing: "
                          + ", ".join(str(2 * i + 1) for i in range(20)) + ", and others"])

    def test_usage(self):
        for args in ([], ["-f", "xml", GOLDEN], ["--nonsense"]):
            self.spoor("verify", *args, status=2)
        self.assertEqual(self.spoor("verify", "-q", GOLDEN).stdout, b"")


class Repair(VerifyCase):
    def repair(self, data, *options):
        self.write(data)
        self.spoor("repair", "-f", self.path, "-o", self.clean, *options)
        verified = json.loads(self.spoor("verify", "-f", "json", self.clean).stdout)["files"][0]
        self.assertEqual(verified["damage"], 0)
        return verified

    @staticmethod
    def without_notes(lines):
        return [line for line in lines if '"spoor repair: ' not in line and '"event":"lost"' not in line]

    def test_sound_log_stays_what_it_is(self):
        log = sound(spoor="9.9", host={"name": "there"})
        log.block(LAST, "zstd")
        verified = self.repair(log.closed())
        self.assertEqual(self.events(self.clean), self.events(self.path))
        self.assertEqual((verified["header"]["host"], verified["header"]["spoor"]), ({"name": "there"}, "9.9"))
        self.assertEqual(verified["header"]["repaired"]["bytes_skipped"], 0)
        self.assertTrue(verified["closed"])

    def test_damaged_at_random(self):
        """What the reader has of the damaged log is in the clean one, in its order, and nothing else but notes."""
        begin = len(Log(("lz4", "zstd")).data)
        for seed in range(40):
            rng = random.Random(seed)
            data = bytearray(test_readers.some_log(rng))
            if len(data) <= begin:
                continue
            with self.subTest(seed=seed):
                for _ in range(rng.randrange(1, 5)):
                    data[rng.randrange(begin, len(data))] ^= 1 << rng.randrange(8)
                data = bytes(data[:rng.choice([None, max(begin, len(data) - rng.randrange(200))])])
                self.repair(data)
                lost = [line for line in self.events(self.path) if '"event":"lost"' not in line]
                self.assertEqual(self.without_notes(self.events(self.clean)), lost)
                found = json.loads(subprocess.run([SPOOR, "verify", "-f", "json", self.path], capture_output=True,
                                                  check=False).stdout)["files"][0]
                if found["blocks_missing"] > 1 or found["bytes_skipped"] > 500:  # more than an index
                    self.assertIn("spoor repair: ", "".join(self.events(self.clean)))

    def test_first_version(self):
        with open(GOLDEN, "rb") as f:
            data = f.read()
        at = data.rindex(b"\xc1SPB") + 60
        verified = self.repair(flipped(data, at))
        self.assertEqual((verified["header"]["features"], verified["closed"]), ([], False))
        self.assertEqual(self.without_notes(self.events(self.clean)),
                         [line for line in self.events(self.path) if '"event":"lost"' not in line])

    def test_contents_are_vouched_for(self):
        """A checksum that is right does not help a block with one wrong event: all of it goes."""
        log = sound()
        log.block(ROWS * 3, raw=body(ROWS * 3)[:-2] + b"\xc1\xc1")
        log.block(LAST, first=0, last=0)  # its events are good
        verified = self.repair(log.closed())
        self.assertEqual(verified["events_by_kind"]["safepoint_begin"], 3)  # 2 of sound(), 1 of LAST
        self.assertEqual((verified["events_by_kind"]["note"], verified["events_by_kind"]["lost"]), (1, 1))
        lost = json.loads(self.events(self.clean, "-e", "lost")[0])
        self.assertEqual((lost["event_id"], lost["count"]), (0, 9))
        self.assertIn("block 6 was left out with its 9 events", self.events(self.clean, "-e", "note")[0])

    def test_mixed_block(self):
        log = sound()
        log.block(DEFINED + ROWS, "zstd")
        log.block(LAST)
        verified = self.repair(log.closed())
        self.assertEqual((verified["blocks"]["events"], verified["events_by_kind"]["thread"]), (2, 8))

    def test_synchronization_behind_a_hole(self):
        """A reader of the damaged log takes it; one of the clean log, which has no hole, must have it too."""
        log = sound()
        log.block(ROWS, lose=True)
        log.block([(SAFEPOINT_BEGIN, 777, 4)], "zstd", SYNC)
        log.block(LAST)
        log.block([(SAFEPOINT_BEGIN, 888, 4)], "zstd", SYNC)
        verified = self.repair(log.closed())
        self.assertEqual(verified["blocks"]["sync"], 2)
        text = "".join(self.events(self.clean))
        self.assertIn('"time_ns":777', text)
        self.assertNotIn('"time_ns":888', text)
        self.assertEqual(self.without_notes(self.events(self.clean)), self.events(self.path))

    def test_index_and_end_are_made_anew(self):
        """No events are lost with them, and none are said to be."""
        log = sound()
        log.block(LAST)
        data = log.closed()
        for damaged in (flipped(data, log.last_index + 30), flipped(data, len(data) - 2), data[:-32], data[:-7]):
            verified = self.repair(damaged)
            self.assertEqual((verified["blocks"]["index"], verified["closed"]), (1, True))
            self.assertNotIn("note", verified["events_by_kind"])
            self.assertNotIn("lost", verified["events_by_kind"])

    def test_garbage_that_hides_no_event(self):
        """Between blocks that follow each other, and behind the end: it is told, but no event is said to be lost."""
        log = sound()
        log.block(LAST)
        data = log.closed()
        between = data.index(b"\xc1SPB", len(b"\x89SPOOR\r\n") + 4)
        for damaged in (data + b"garbage", data[:between] + b"garbage" + data[between:]):
            verified = self.repair(damaged)
            self.assertEqual(verified["events_by_kind"].get("note"), 1)
            self.assertNotIn("lost", verified["events_by_kind"])

    def test_header(self):
        log = sound(host={"name": "there"}, part={"recording": "r", "number": 3, "begin_ns": 0})
        log.block(LAST)
        data = log.closed()
        other = self.path + ".other"
        self.write(data, other)
        whole = self.events(other)
        verified = self.repair(flipped(data, 40))
        self.assertEqual(set(verified["header"]), {"format", "version", "features", "repaired"})
        self.assertEqual(verified["header"]["repaired"]["header"], "made anew")
        self.assertEqual(self.without_notes(self.events(self.clean)), whole)
        self.spoor("report", self.clean)
        verified = self.repair(b"????????" + flipped(data, 40)[8:], "--header-from", other)
        self.assertEqual(verified["header"]["host"], {"name": "there"})
        self.assertNotIn("part", verified["header"])
        self.assertEqual(self.without_notes(self.events(self.clean)), whole)
        verified = self.repair(data, "--header-from", GOLDEN)  # not needed
        self.assertEqual(verified["header"]["part"]["number"], 3)

    def test_reports_tell(self):
        log = sound()
        log.block(ROWS, lose=True)
        log.block(LAST)
        self.repair(log.closed())
        report = self.spoor("report", self.clean).stdout.decode()
        self.assertIn("WAS LOST", report)
        self.assertIn("block 6 is damaged or missing", report)

    def test_refused(self):
        self.write(sound().closed())
        before = self.spoor("cat", self.path).stdout
        self.spoor("repair", self.path, status=2)
        self.spoor("repair", "-", "-o", self.clean, status=2)
        self.assertIn(b"itself", self.spoor("repair", "-f", self.path, "-o", self.path, status=1).stderr)
        self.assertEqual(self.spoor("cat", self.path).stdout, before)
        self.spoor("repair", self.path, "-o", self.clean)
        self.assertIn(b"-f overwrites", self.spoor("repair", self.path, "-o", self.clean, status=1).stderr)
        self.write(b"hello")
        self.assertIn(b"not a spoor log", self.spoor("repair", "-f", self.path, "-o", self.clean, status=1).stderr)
        self.write(sound().closed())
        done = self.spoor("repair", self.path, "-o", "-")
        with open(self.clean, "rb") as f:
            self.assertEqual(done.stdout, f.read())
        done = self.spoor("repair", "-f", self.path, "-o", "/dev/full", status=1)
        self.assertIn(b"No space left", done.stderr)


if __name__ == "__main__":
    unittest.main()
