"""spoor gc: each collection against the JVM's own log of the same run."""
import bisect
import json
import re
import statistics
import time
import unittest

from jvm import JavaTest, PatchedJavaTest

from harness import schema_ids, spoor

MEGABYTE = 1 << 20
# A collection as HotSpot logs it at its end. Pauses of a concurrent cycle have figures of the heap, too.
PAUSE = re.compile(r"\[(\d+)ns\]\[gc\s*\] GC\((\d+)\) (Pause \w+)(.*?) (\d+)M->(\d+)M\((\d+)M\) ([\d.]+)ms$")
CYCLE = re.compile(r"\[(\d+)ns\]\[gc\s*\] GC\(\d+\) (\w+) Collection \(.*\) \d+M\(\d+%\)->\d+M")
KIND_OF = {"Pause Young": "young", "Pause Full": "full", "Pause Remark": "concurrent_pause",
           "Pause Cleanup": "concurrent_pause"}
SHENANDOAH = re.compile(r"\[(\d+)ns\]\[gc\s*\] GC\(\d+\) Pause (\w+).* [\d.]+ms$")
KIND_OF_CYCLE = {"Garbage": "cycle", "Major": "cycle", "Minor": "minor_cycle"}
# HotSpot's causes for each of spoor's words, which are inferred from the VM operation.
CAUSES = {"allocation": ("Allocation Failure", "G1 Evacuation Pause", "G1 Humongous Allocation", "G1 Compaction Pause",
                         "G1 Preventive Collection", "GCLocker Initiated GC", "Ergonomics"),
          "asked for": ("System.gc()",),
          "start of cycle": ("G1 Humongous Allocation", "Metadata GC Threshold"),
          "in a cycle": ("",), "metadata": ("Metadata GC Threshold",)}
# Between the stamps of the VM and the probes a thread may lose its CPU: so of most pauses, not of each.
MEDIAN_NS = 100_000


class VmPause:
    def __init__(self, match):
        self.gc, self.kind = int(match[2]), KIND_OF[match[3]]
        self.causes = re.findall(r"\(((?:[^()]|\(\))*)\)", match[4]) or [""]
        self.before, self.after, self.committed = int(match[5]), int(match[6]), int(match[7])
        self.ns = round(float(match[8]) * 1e6)
        self.end_ns = int(match[1])
        self.begin_ns = self.end_ns - self.ns


def read_vm_log(path, pattern):
    with open(path, encoding="utf-8") as f:
        return [match for match in map(pattern.match, f) if match]


class Collections:
    def run_collector(self, collector, *options):
        path = self.path("gc.log")
        # Its log is in nanoseconds of CLOCK_MONOTONIC, as spoor's is.
        vm = self.java("Collect", options=["-Xmx64m", f"-XX:+Use{collector}GC", *options,
                                           f"-Xlog:gc*:file={path}:timenanos,tags"])
        recorder = self.record(vm)
        self.assertEqual(vm.ask("go", 120), "done")
        asked = time.monotonic_ns()
        log = recorder.stop()
        self.assertEqual(vm.end(), 0)
        of_gc = {schema_ids()[name] for name in ("gc_begin", "gc_end", "gc_pool", "vm_operation_begin")}
        self.assertEqual(set(log.lost()) & of_gc, set())
        got = json.loads(spoor("gc", "--pauses", "--format", "json", log.path).stdout)
        # The recorder takes its probes off one after another while the VM goes on: from the last pause on that began
        # before the recorder was asked to stop, a pause may have some of its events and not the others.
        self.until = max(row["begin_mono_ns"] for row in got["each_pause"] if row["begin_mono_ns"] < asked)
        return path, got

    def whole(self, got):
        """The pauses from whose begin to end all probes were on."""
        return [row for row in got["each_pause"] if row["begin_mono_ns"] < self.until]

    def pairs(self, path, got):
        """Each of spoor's pauses with the collections in it, of the VM's log: Serial and Parallel may do two in one."""
        pairs = [(row, []) for row in self.whole(got)]
        begins = [row["begin_mono_ns"] for row, _ in pairs]
        for wanted in map(VmPause, read_vm_log(path, PAUSE)):
            # The VM's thread writes its line in the pause or after it, and always before the next one.
            at = bisect.bisect(begins, wanted.end_ns) - 1
            if at >= 0 and wanted.end_ns < self.until:
                pairs[at][1].append(wanted)
        for row, inside in pairs:
            self.assertTrue(inside, f"the VM's log has no such pause: {row}")
            self.assertLessEqual(len(inside), 1 if row["collector"].startswith("G1") else 2)
        self.assertGreater(len(pairs), 8)
        return pairs

    def check(self, collector, region_megabytes):
        """region_megabytes: by how much the figures of the pools and the log may differ."""
        path, got = self.run_collector(collector)
        pairs = self.pairs(path, got)
        for row, inside in pairs:
            with self.subTest(gc=inside[0].gc):
                kinds = {w.kind for w in inside}
                self.assertEqual(row["kind"], "full" if "full" in kinds else inside[0].kind)
                self.check_cause(row, inside)
                self.check_heap(row, inside, region_megabytes)
        differences = [abs(row["ns"] - sum(w.ns for w in inside)) for row, inside in pairs if len(inside) == 1]
        self.assertLess(statistics.median(differences), MEDIAN_NS, differences)
        self.check_sums(got)
        return got

    def check_cause(self, row, inside):
        self.assertEqual(row["cause_basis"], "inferred")
        for wanted in inside:
            self.assertTrue(set(wanted.causes) & set(CAUSES[row["cause"]]), f"{row['cause']}: {wanted.causes}")

    def check_heap(self, row, inside, megabytes):
        if row["heap_before_bytes"] is None:
            self.assertEqual(row["kind"], "concurrent_pause")
            return
        for what, got, wanted in (("before", row["heap_before_bytes"], inside[0].before),
                                  ("after", row["heap_after_bytes"], inside[-1].after),
                                  ("committed", row["committed_bytes"], inside[-1].committed)):
            self.assertLessEqual(abs(got // MEGABYTE - wanted), megabytes, f"{what}: {got} and {wanted} MB")
        self.assertEqual(row["freed_bytes"], max(0, row["heap_before_bytes"] - row["heap_after_bytes"]))

    def check_sums(self, got):
        rows = got["each_pause"]
        self.assertEqual(got["pauses"]["count"], len(rows))
        self.assertEqual(got["pauses"]["total_ns"], sum(row["ns"] for row in rows))
        self.assertEqual(got["pauses"]["max_ns"], max(row["ns"] for row in rows))
        self.assertEqual(got["heap"]["freed_bytes"], sum(row["freed_bytes"] or 0 for row in got["collections"]))
        self.assertEqual(sum(row["count"] for row in got["causes"] if not row["kind"].endswith("cycle")), len(rows))
        self.assertLessEqual(got["heap"]["limit_bytes"], 64 * MEGABYTE)
        self.assertGreater(got["heap"]["limit_bytes"], 56 * MEGABYTE)
        self.assertIn(got["trend"]["basis"], ("after_old", "after_young"))

    def test_g1(self):
        self.check("G1", 2)  # the pools are of whole regions, of 1 MB each


class Gc(Collections, JavaTest):
    def test_serial(self):
        self.check("Serial", 0)

    def test_parallel(self):
        self.check("Parallel", 0)

    def test_zgc(self):
        path, got = self.run_collector("Z")
        ends = {int(match[1]): KIND_OF_CYCLE[match[2]] for match in read_vm_log(path, CYCLE)}
        cycles = got["collections"]
        self.assertGreater(len(cycles), 3)
        for kind in {row["kind"] for row in cycles}:  # those of young and of old objects overlap
            # The readings of the pools come just before the VM's line. None is missing in between.
            stamps = sorted(ns for ns in ends if ends[ns] == kind)
            at = [bisect.bisect(stamps, row["begin_mono_ns"]) for row in cycles if row["kind"] == kind]
            self.assertEqual(at, list(range(at[0], at[0] + len(at))), kind)
        # In the first one the probe that says which operation it was was not there yet.
        kinds = [row["kind"] for row in self.whole(got)]
        self.assertIn(kinds[0], ("concurrent_pause", "unknown"))
        self.assertEqual(set(kinds[1:]), {"concurrent_pause"}, kinds)
        self.assertGreaterEqual(len(got["each_pause"]), 3 * len(cycles))

    def test_shenandoah(self):
        path, got = self.run_collector("Shenandoah")
        rows = self.whole(got)
        begins, counts = [row["begin_mono_ns"] for row in rows], [0] * len(rows)
        for match in read_vm_log(path, SHENANDOAH):
            at = bisect.bisect(begins, int(match[1])) - 1
            if at >= 0 and int(match[1]) < self.until:
                counts[at] += 1
                of_cycle = match[2] in ("Init", "Final")
                kind = "concurrent_pause" if of_cycle else "full"
                # The operation gives the kind; the probe on its begin was not there yet in the first pause.
                self.assertIn(rows[at]["kind"], (kind, "unknown") if not at else (kind,), f"{match[0]} {rows[at]}")
        self.assertEqual(counts, [1] * len(rows))
        self.assertGreater(len(rows), 8)
        self.assertEqual({row["kind"] for row in got["collections"]}, {"cycle"})


class PatchedGc(Collections, PatchedJavaTest):
    def check_cause(self, row, inside):
        """HotSpot's own, but for the pauses of a concurrent cycle."""
        if row["kind"] != "concurrent_pause":
            self.assertEqual(row["cause_basis"], "recorded")
            self.assertIn(row["cause"], inside[-1].causes)


if __name__ == "__main__":
    unittest.main()
