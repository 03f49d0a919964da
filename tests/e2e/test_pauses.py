"""Collections and safepoints: against the JVM's own log of the same run."""
import re
import unittest

from jvm import JavaTest  # first: it says where harness is
from harness import wait_until

PCT = 2
LINE = re.compile(r"\[(\d+)ns\]\[(\w+)\s*\] (.*)")
PAUSE = re.compile(r"GC\(\d+\) (Pause \w+).* ([\d.]+)ms$")
SAFEPOINT = re.compile(r'Safepoint "(\w+)".*Total: +(\d+) ns')
# JDK 11's, in three lines; the total is in seconds.
SAFEPOINT_11 = re.compile(r"Entering safepoint region: (\w+)|Total time for which .* stopped: ([\d.]+) seconds")
# A cycle of G1's marking is asked for in a pause; its end is said by the thread that marks (JDK 11: "Concurrent Cycle").
CYCLE_ASKED = re.compile(r"Pause Young \(Concurrent Start\)")
CYCLE_END = re.compile(r"Concurrent (\w+ )?Cycle [\d.]+ms$", re.MULTILINE)
KIND_OF = {"Pause Young": "young", "Pause Full": "full", "Pause Remark": "concurrent_pause",
           "Pause Cleanup": "concurrent_pause"}


def read_vm_log(path, begin, end):
    """Safepoints with the collections in them: [(operation, total_ns, [kind, ...])]."""
    safepoints, kinds, entered = [], [], None
    with open(path, encoding="utf-8") as f:
        for line in f:
            match = LINE.match(line)
            if not match or not begin <= int(match[1]) <= end:
                continue
            pause, safepoint = PAUSE.match(match[3]), SAFEPOINT.match(match[3])
            of_11 = SAFEPOINT_11.match(match[3])
            if of_11 and of_11[1]:
                entered = of_11[1]
            elif of_11:
                safepoints.append((entered, round(float(of_11[2]) * 1e9), kinds))
                kinds = []
            elif pause:
                kinds.append(KIND_OF[pause[1]])
            elif safepoint:
                safepoints.append((safepoint[1], int(safepoint[2]), kinds))
                kinds = []
    return safepoints


def marking_is_over(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    return len(CYCLE_END.findall(text)) == len(CYCLE_ASKED.findall(text))


class Pauses(JavaTest):
    def run_with(self, collector, one_by_one):
        """one_by_one: each pause in an operation reports itself; else the operation is one collection."""
        path = self.path("gc.log")
        # Its log is in nanoseconds of CLOCK_MONOTONIC, as spoor's is.
        vm = self.java("Collect", options=["-Xmx64m", f"-XX:+Use{collector}GC", "-XX:+UnlockDiagnosticVMOptions",
                                           "-XX:GuaranteedSafepointInterval=0",
                                           f"-Xlog:gc,safepoint:file={path}:timenanos,tags"])
        recorder = self.record(vm)
        self.assertEqual(vm.ask("go", 120), "done")
        # The recorder takes its probes off some milliseconds before its last sample: no pause may begin in between.
        wait_until("G1 has ended its last cycle of marking", lambda: marking_is_over(path))
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        samples = log.raw_of("cpu_sample")
        wanted = read_vm_log(path, samples[0]["time_ns"], samples[-1]["time_ns"])
        kinds = []
        for _, _, inside in wanted:
            if one_by_one:
                kinds += inside
            elif inside:
                kinds.append("full" if "full" in inside else inside[-1])
        report = log.report()
        self.check_collections(log, report, kinds, collector)
        self.check_safepoints(log, report, wanted)
        return kinds

    def check_collections(self, log, report, kinds, collector):
        self.assertGreater(kinds.count("young"), 5)
        self.assertGreaterEqual(kinds.count("full"), 4)  # three by System.gc(), the others by a full heap
        got = [e["kind"] for e in log.of("gc_end")]
        self.assertEqual(got, kinds)
        by_kind = {}
        for g in report["pauses"]["gc"]:
            by_kind[g["kind"]] = by_kind.get(g["kind"], 0) + g["count"]
        self.assertEqual(by_kind, {kind: kinds.count(kind) for kind in set(kinds)})
        names = {"Serial": {"young": "Copy", "full": "MarkSweepCompact"},
                 "Parallel": {"young": "PS Scavenge", "full": "PS MarkSweep"},
                 "G1": {"young": "G1 Young Generation", "full": "G1 Old Generation"}}[collector]
        for e in log.of("gc_end"):
            if e["kind"] in names:
                self.assertEqual(e["collector"], names[e["kind"]])

    def off_its_cpu(self, log, name):
        """For how long a thread wanted a CPU and did not have it, in all."""
        # Workers that it starts have its name until they give themselves another.
        number = min((t["start_ns"], n) for n, t in log.threads().items() if t["name"] == name)[1]
        last = [e for e in log.raw_of("thread_sample", "thread_end") if e["thread"] == number][-1]
        return last["runnable_ns"] + last["stolen_ns"]

    def check_safepoints(self, log, report, wanted):
        got = report["pauses"]["safepoints"]
        self.assertEqual(sum(s["count"] for s in got), len(wanted))
        # What the probes themselves cost lies in between: a microsecond or so each. And the VM's thread may lose its
        # CPU between its own stamp and the probe, on either side.
        self.assert_near(sum(s["total_ns"] for s in got), sum(ns for _, ns, _ in wanted), PCT, "total of safepoints",
                         20000 * len(wanted) + self.off_its_cpu(log, "VM Thread"))
        operations = {}
        for s in got:
            operations[s["operations"][0]] = operations.get(s["operations"][0], 0) + s["count"]
        by_vm = {}
        for name, _, _ in wanted:
            by_vm[name] = by_vm.get(name, 0) + 1
        self.assertEqual(operations, by_vm)

    def test_serial(self):
        self.run_with("Serial", one_by_one=False)

    def test_parallel(self):
        self.run_with("Parallel", one_by_one=False)

    def test_g1(self):
        self.run_with("G1", one_by_one=True)


if __name__ == "__main__":
    unittest.main()
