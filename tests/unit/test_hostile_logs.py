"""Small logs that were made to cost much: each command ends, within bounded memory, and says what it leaves out."""
import json
import os
import subprocess
import sys
import tempfile
import unittest

from program import SPOOR
from soaking import slow

HERE = os.path.dirname(os.path.abspath(__file__))

sys.path.insert(0, HERE)
from packed_log import PACKED, Log, body, packed  # noqa: E402

DEADLINE_S = 60
STRING, PARK_BEGIN, END = 4, 10, 9
CONTENDED_ENTER, CONTENDED_ENTERED = 10, 11
GC_BEGIN, GC_END, GC_POOL = 30, 31, 32
COLLECTION_BEGIN, PHASE_BEGIN, PHASE_END, SAFEPOINT = 45, 47, 48, 49

with open(os.path.join(HERE, "../../schemas/events.json"), encoding="utf-8") as f:
    EVENTS = {e["name"]: e for e in json.load(f)["events"]}


class HostileLogs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def path(self, name):
        return os.path.join(self.folder, name)

    def log(self, name, rows, blocks=1):
        """The same rows in each block."""
        log = Log(("lz4", "zstd"), {})
        first, last = rows[0][1], rows[-1][1]
        payload = packed(body(rows), first, last, "zstd")
        for _ in range(blocks):
            log.put(PACKED, len(rows), payload, 0, first, last)
        log.block([(END, last, 0, 0)])
        with open(self.path(name), "wb") as f:
            f.write(log.closed())
        return self.path(name)

    @staticmethod
    def row(event, at, thread, **fields):
        """Of an event by its name; fields that are not given are 0."""
        kinds = {"str": "x", "bool": False}
        return (EVENTS[event]["id"], at, thread,
                *(fields.get(f["name"], kinds.get(f["type"], 0)) for f in EVENTS[event]["fields"]))

    def run_spoor(self, *args):
        return subprocess.run([SPOOR, *args], capture_output=True, text=True, timeout=DEADLINE_S, errors="replace")

    def test_pipes_and_devices_of_a_folder_are_left_out(self):
        os.mkfifo(self.path("x.spoor"))
        os.symlink("/dev/zero", self.path("z.spoor"))
        done = self.run_spoor("report", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("there is no log", done.stderr)
        sound = self.log("a.spoor", [(35, 100, 1), (36, 200, 1)])
        done = self.run_spoor("verify", sound)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for what in (self.folder, os.path.join(self.folder, "*.spoor")):
            done = self.run_spoor("verify", what)
            self.assertEqual(done.returncode, 1)
            for name in ("x.spoor", "z.spoor"):
                self.assertIn(f"{name}: is a pipe or a device: left out", done.stderr)
            self.assertIn("a.spoor", done.stdout)
            self.assertEqual(self.run_spoor("report", what).returncode, 0)

    def test_a_device_is_no_log(self):
        for command in ("verify", "report", "cat"):
            self.assertEqual(self.run_spoor(command, "/dev/zero").returncode, 1)

    def test_events_at_one_time_are_not_all_held(self):
        path = self.log("bomb.spoor", [(PARK_BEGIN, 1000, 1, 1, 2, 2)] * 100000, 24)
        self.assertLess(os.path.getsize(path), 100000)
        with open(self.path("out"), "w+", encoding="utf-8") as out:
            child = subprocess.Popen([SPOOR, "report", path], stdout=out, stderr=out)
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            self.assertEqual(child.returncode, 0)
            self.assertIn("RECORDED", out.read())
        # As structures these are 2.4 million events of 168 bytes.
        self.assertLess(used.ru_maxrss, 300 * 1024, "KiB")

    def test_numbers_that_differ_in_their_upper_bits_only_share_no_slot(self):
        """Whatever they are multiplied with: a hash must not lose these bits."""
        n = 1 << 18
        begins = [(COLLECTION_BEGIN, 1000 + i, 0, (i + 1) << 46, 1, 1) for i in range(n - 1)]
        done = self.run_spoor("report", "--from", "1", self.log("open.spoor", begins, 4))
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stderr, r"\A.*: the recording ends before --from: nothing of it is reported\n\Z")
        cells = []
        for i in range(1 << 17):
            lock, stack, holder_stack = ((i >> by & 63) << 58 | 1 for by in (12, 6, 0))
            cells.append((CONTENDED_ENTER, 1000 + 2 * i, 5, lock, 6, 1, 0, 0, 0, 0, 0, 0, stack, holder_stack))
            cells.append((CONTENDED_ENTERED, 1001 + 2 * i, 5, lock, 6, 1, 0, 0, 0, 0, 0, 0))
        done = self.run_spoor("report", self.log("cells.spoor", cells))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    @slow
    def test_rows_within_rows_are_not_looked_for_one_by_one(self):
        """Each of these has as many rows as events, and rows that belong to rows."""
        n, gc = 250000, 7
        kinds = {
            "requesters": [(SAFEPOINT, 1000, 0, i, i, 1, 1, 1, 1, 1) for i in range(1, n)],
            "phases": [(COLLECTION_BEGIN, 1000, 0, gc, 1, 1)] +
                      [row for i in range(1, n) for row in ((PHASE_BEGIN, 1000 + i, 1, gc, i, 1, 0),
                                                            (PHASE_END, 1000 + i, 1, gc, i, 1, 0))],
            "pools": [row for i in range(1, n // 4) for row in (
                (GC_BEGIN, 1000 + i, 0, i), (GC_POOL, 1000 + i, 0, 0, i, i, 1, 1, 1),
                (GC_POOL, 1000 + i, 0, 1, i, i, 1, 1, 1), (GC_END, 1000 + i, 0, i, 1, i))],
            "pools_of_one": [(GC_BEGIN, 1000, 0, 1)] + [(GC_POOL, 1000, 0, 0, i, i, 1, 1, 1) for i in range(1, n)] +
                            [(GC_END, 1001, 0, 1, 1, 1)],
        }
        for name, rows in kinds.items():
            with self.subTest(name):
                done = self.run_spoor("report", "--format", "json", self.log(name + ".spoor", rows))
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertGreater(len(done.stdout), 1000)

    def test_blocks_may_be_missing_anywhere(self):
        """What is open is closed at each hole, the sums once at the end; rows stay a tree."""
        def collection(at, gc):
            return [(COLLECTION_BEGIN, at, 1, gc, 1, 2), (PHASE_BEGIN, at + 1, 1, gc, 3, 1, 0),
                    (PHASE_BEGIN, at + 2, 1, gc, 4, 2, 0), (PHASE_END, at + 3, 1, gc, 4, 2, 0),
                    (PHASE_END, at + 6, 1, gc, 3, 1, 0), (46, at + 7, 1, gc)]

        for missing in ((1,), (1, 3), (1, 2, 3), (1, 2, 3, 4)):
            log = Log(("zstd",))
            for i in range(5):  # segments: behind a hole the names come again
                at = 1000 * (i + 1)
                log.block([(STRING, at, 0, n, f"phase {n}") for n in range(1, 6)], "zstd", 1)
                log.block(collection(at, i + 1), "zstd", lose=i in missing)
            log.block([(END, 9000, 0, 0)])
            path = self.path("holes.spoor")
            with open(path, "wb") as f:
                f.write(log.closed())
            for command in (["report"], ["report", "--format", "json"], ["time"], ["spans", "--from", "0"], ["gc"],
                            ["export", "--force", "--to", "chrome", "-o", self.path("out.json")]):
                with self.subTest(missing=missing, command=command):
                    done = self.run_spoor(*command, path)
                    self.assertEqual(done.returncode, 1, done.stderr)
                    self.assertIn(f"and {len(missing)} missing blocks", done.stderr)
                    if command == ["report"]:
                        left = 5 - len(missing)
                        self.assertRegex(done.stdout, rf"\n  phase 3 +pause +{left} +{5 * left} ns")
                        self.assertRegex(done.stdout, rf"\n    phase 4 +pause +{left} +{left} ns")

    @slow
    def test_a_hole_costs_no_more_than_what_came_since_the_last_one(self):
        """Threads times holes is more than anybody waits for: each of these had 26 s in a log of 4 MB."""
        threads, holes = 60000, 24000
        row = self.row
        log = Log(("zstd",))
        for name, fields in (("thread", {"tid": 7}), ("thread_sample", {}), ("park_begin", {"lock": 1}),
                             ("unpark", {"target": 3}), ("span_begin", {"name": 1}),
                             ("monitor_contended_exit", {"lock": 2})):
            rows = []
            for i in range(1, threads):
                numbered = {k: i + v for k, v in fields.items() if k in ("tid", "lock", "target")}
                rows.append(row(name, 10, i, **{**fields, **numbered}))
            log.block(rows, "zstd", 1 if name == "thread" else 0)
        for i in range(holes):
            log.block([row("thread_sample", 100 + 20 * i, 1)], "zstd", lose=True)
            log.block([row("thread_sample", 110 + 20 * i, 2)], "zstd")
        log.block([(END, 200 + 20 * holes, 0, 0)])
        path = self.path("holes.spoor")
        with open(path, "wb") as f:
            f.write(log.closed())
        for command in (["report"], ["time"], ["spans"], ["gc"],
                        ["export", "--to", "chrome", "-o", self.path("out.json")]):
            with self.subTest(command[0]):
                done = self.run_spoor(*command, path)
                self.assertEqual(done.returncode, 1)
                self.assertIn("0 damaged and 24,000 missing blocks", done.stderr)

    def test_a_number_costs_no_more_than_another(self):
        """After each hole tables are made anew: they must not be as long as the largest number in them."""
        number, holes = (1 << 18) - 1, 20000
        log = Log(("zstd",))
        for i in range(holes):
            at = 1000 + 10 * i
            log.block([self.row("monitor_contended_exit", at, number, lock=number),
                       self.row("monitor_wait_begin", at + 1, number, lock=number),
                       self.row("span_begin", at + 2, number, name=number)], "zstd")
            log.block([self.row("monitor_wait_end", at + 5, number, lock=number)], "zstd", lose=True)
        log.block([(END, 2000 + 10 * holes, 0, 0)])
        with open(self.path("numbers.spoor"), "wb") as f:
            f.write(log.closed())
        for command in ("report", "time", "spans", "gc"):
            with self.subTest(command):
                # 1.5 s; it was 20.
                done = subprocess.run(["prlimit", "--cpu=12", SPOOR, command, self.path("numbers.spoor")],
                                      capture_output=True, text=True, timeout=DEADLINE_S)
                self.assertEqual(done.returncode, 1)
                self.assertIn("0 damaged and 20,000 missing blocks", done.stderr)

    def test_a_thread_that_is_blocked_everywhere(self):
        rows = [self.row("monitor_contended_enter", 1000 + i, 1 + i % 3, lock=1 + i, sequence=1) for i in range(100000)]
        done = self.run_spoor("report", self.log("everywhere.spoor", rows))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("and 182 more", done.stdout)  # 64 of each thread are kept
        self.assertIn("99,808 contentions", done.stdout)

    def test_slices_that_never_end(self):
        n = 250000
        kinds = {
            "pauses": [(GC_BEGIN, 1000 + i, 0, 1) for i in range(n)],
            "phases": [row for i in range(n) for row in (
                (PHASE_BEGIN, 1000 + i, 1, 7, i % 200, i % 200, 0), (PHASE_END, 1000 + i, 1, 7, 300, 1, 0))],
            "spans": [(52, 1000 + i, 1, i) + (0,) * 11 for i in range(n)],
            "operations": [(38, 1000 + i, 1, i, 0) for i in range(n)],
        }
        for name, rows in kinds.items():
            with self.subTest(name):
                done = self.run_spoor("export", "--force", "--to", "chrome", "-o", self.path("out.json"),
                                      self.log(name + ".spoor", rows))
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_max_memory(self):
        rows = [(2, 1000, 0, n, f"class {n}") for n in range(1, 200001)]
        path = self.log("names.spoor", rows)
        done = self.run_spoor("report", path)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        for command in (["report"], ["export", "--to", "chrome", "-o", self.path("out.json")]):
            with self.subTest(command=command[0]):
                done = self.run_spoor(*command, "--max-memory", "32M", path)
                self.assertEqual(done.returncode, 1)
                self.assertIn("out of memory: --from and --to read a part of the log, --max-memory allows more",
                              done.stderr)
                self.assertFalse(os.path.exists(self.path("out.json")))
        self.assertEqual(self.run_spoor("report", "--max-memory", "31M", path).returncode, 2)
        self.assertEqual(self.run_spoor("report", "--max-memory", "much", path).returncode, 2)


if __name__ == "__main__":
    unittest.main()
