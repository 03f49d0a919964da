"""Collections, phases and safepoints of a patched JVM: against the JVM's own log of the same run."""
import collections
import re
import statistics
import unittest

from jvm import PatchedJavaTest

# A phase as HotSpot's GCTraceTime logs it at its end; G1's own tables have a colon and fewer digits.
PHASE = re.compile(r"\[\d+ns\]\[gc[\w,]*\s*\] GC\((\d+)\) (.*?[^:])(?: \d+M->\d+M\(\d+M\))? (\d+\.\d{3})ms$")
# JDK 25 logs no clean-up; JDK 21 and 25 log the leaving apart.
SAFEPOINT = re.compile(r'Safepoint "(\w+)", .*Reaching safepoint: +(\d+) ns, (?:Cleanup: +(\d+) ns, )?'
                       r"At safepoint: +(\d+) ns, (?:Leaving safepoint: +(\d+) ns, )?Total: +(\d+) ns")
# A young pause of G1 that found no room to copy to: JDK 17 has a line for it, 21 and 25 a word in the pause's name.
FAILED = re.compile(r"\[gc *\] GC\((\d+)\) (?:To-space exhausted|Pause Young .*\(Evacuation Failure)")
# A thread may lose its CPU between the log's look at the clock and the probe: so of most, not of each.
MEDIAN_NS = 100_000
# The log sums up phases that have a timer each; this has none.
NO_TIMER = ("Concurrent Mark",)


class VmLog:
    def __init__(self, path):
        self.phases = collections.defaultdict(list)  # of each collection: (name, ns), in the order of their ends
        self.safepoints = []
        self.failed = set()  # collections of which an evacuation has failed
        with open(path, encoding="utf-8") as f:
            for line in f:
                phase, safepoint = PHASE.match(line), SAFEPOINT.search(line)
                if FAILED.search(line):
                    self.failed.add(int(FAILED.search(line)[1]))
                if phase and phase[2] not in NO_TIMER:
                    self.phases[int(phase[1])].append((phase[2].strip(), round(float(phase[3]) * 1e6)))
                elif safepoint:
                    reach, cleanup, at, leave, _ = (int(ns or 0) for ns in safepoint.groups()[1:])
                    self.safepoints.append((safepoint[1], reach, cleanup, at + leave))


def phases_of(log):
    """Of each collection that was recorded whole: its begin, and (name, ns) of its phases in the order of ends."""
    begun = {e["gc"]: e for e in log.of("collection_begin")}
    whole = {e["gc"] for e in log.of("collection_end")} & set(begun)
    found, open_ = {gc: (begun[gc], []) for gc in whole}, {}
    for e in log.of("gc_phase_begin", "gc_phase_end"):
        stack = open_.setdefault((e["thread"]["id"], e["phase"]), [])
        if e["event"] == "gc_phase_begin":
            stack.append(e["time_ns"])
        elif stack:
            begin = stack.pop()
            if e["gc"] in whole and e["kind"] != "worker":
                found[e["gc"]][1].append((e["phase"], e["time_ns"] - begin))
    return found


def without_cause(name, cause):
    """Of a young pause of G1 the log has more, which was not known when it began."""
    return re.sub(r" \(Evacuation Failure.*\)$", "", name).removesuffix(f" ({cause})")


class Phases(PatchedJavaTest):
    def run_with(self, collector):
        path = self.path("vm.log")
        vm = self.java("Collect", options=["-Xmx64m", f"-XX:+Use{collector}GC",
                                           f"-Xlog:gc*=debug,safepoint:file={path}:timenanos,tags"])
        recorder = self.record(vm)
        self.assertEqual(vm.ask("go", 120), "done")
        log = recorder.stop()
        self.assertEqual(vm.end(), 0)
        self.assertEqual(log.lost(), {})
        return log, VmLog(path)

    def check(self, collector, names):
        """names: collectors that must have been at work."""
        log, vm = self.run_with(collector)
        if collector == "G1":
            self.check_names(log, vm)
        self.check_phases(log, vm)
        self.check_safepoints(log, vm)
        self.check_report(log, names)
        return log

    def check_phases(self, log, vm):
        found, differences = phases_of(log), []
        self.assertGreater(len(found), 8)
        for gc, (begin, phases) in found.items():
            got = collections.defaultdict(list)
            for name, ns in phases:  # from JDK 21 on with the cause
                got[without_cause(name, begin["cause"])].append(ns)
            for name, ns in vm.phases[gc]:
                name = without_cause(name, begin["cause"])
                self.assertTrue(got[name], f"GC({gc}) {name} is not in the log, or too few times: {phases}")
                differences.append(abs(got[name].pop(0) - ns))
        self.assertGreater(len(differences), len(found))
        self.assertLess(statistics.median(differences), MEDIAN_NS, differences)

    def check_names(self, log, vm):
        """What ends is what has begun, by its name: also of a pause that G1 calls otherwise once its evacuation has
        failed (JDK 21 and 25)."""
        begun, ended = (collections.Counter((e["gc"], e["thread"]["id"], e["phase"]) for e in log.of(f"gc_phase_{what}"))
                        for what in ("begin", "end"))
        whole = set(phases_of(log))
        self.assertEqual({k: n for k, n in begun.items() if k[0] in whole},
                         {k: n for k, n in ended.items() if k[0] in whole})
        print(f"{len(vm.failed & whole)} collections in which an evacuation failed", flush=True)
        self.assertTrue(vm.failed & whole, "no evacuation has failed")
        for gc in vm.failed & whole:
            self.assertTrue([phase for phase_gc, _, phase in ended if phase_gc == gc and phase.startswith("Pause Young")])

    def check_safepoints(self, log, vm):
        """The probe tells the VM's own numbers: to the nanosecond."""
        got = [(e["operation"], e["reach_ns"], e["cleanup_ns"], e["operation_ns"]) for e in log.of("safepoint")]
        self.assertGreater(len(got), 5)
        first = vm.safepoints.index(got[0])
        self.assertEqual(got, vm.safepoints[first:first + len(got)])
        asked = {e["operation"]: e["requester"]["name"] for e in log.of("safepoint") if e["requester"]}
        self.assertEqual({asked[name] for name in asked if name.endswith("ForAllocation")} - {"main"}, set())

    def check_report(self, log, names):
        pauses = log.report()["pauses"]
        got = collections.Counter()
        for row in pauses["collections"]:
            got[row["collector"]] += row["count"]
        self.assertEqual(got, collections.Counter(begin["collector"] for begin, _ in phases_of(log).values()))
        self.assertEqual(set(got), names)
        self.assertEqual(sum(row["count"] for row in pauses["safepoint_times"]), len(log.of("safepoint")))
        self.assertEqual(sum(row["total_ns"] for row in pauses["safepoint_times"]),
                         sum(e["reach_ns"] + e["cleanup_ns"] + e["operation_ns"] for e in log.of("safepoint")))
        ends = collections.Counter(e["phase"] for e in log.of("gc_phase_end"))
        counted = collections.Counter()

        def walk(rows):
            for row in rows:
                counted[row["phase"]] += row["count"]
                walk(row["phases"])

        walk(pauses["phases"])
        self.assertLessEqual(sum((ends - counted).values()), pauses["phases_incomplete"])
        self.assertEqual(counted - ends, collections.Counter())

    def test_serial(self):
        self.check("Serial", {"DefNew", "SerialOld"})

    def test_parallel(self):
        self.check("Parallel", {"ParallelScavenge", "ParallelOld"})

    def test_g1(self):
        log = self.check("G1", {"G1New", "G1Old", "G1Full"})
        self.assertEqual({e["kind"] for e in log.of("gc_phase_end")}, {"pause", "concurrent", "worker"})
        marked = [e for e in log.of("safepoint") if e["operation"] == "G1PauseRemark"]
        self.assertTrue(marked)
        self.assertEqual({e["requester"]["name"] for e in marked}, {"G1 Main Marker"})


if __name__ == "__main__":
    unittest.main()
