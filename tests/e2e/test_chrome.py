"""The timeline of real JVMs: what a program says it did when, and what the report says of the same log."""
import json
import os
import sys
import unittest

from jvm import HERE, JavaTest, PatchedJavaTest  # first: it says where harness is
from harness import spoor
from quota import Quota, why_no_quota

sys.path.insert(0, os.path.join(os.path.dirname(HERE), "unit"))
import timeline  # noqa: E402

MS = 1_000_000
LEAST_NS = 35 * MS  # of what lasts 40 ms, but for what was short before it
SHORT_NS = MS // 10  # a thread that had lost its CPU just before: what it ran in between is in the slice


class TimelineTest:
    """For a stock JVM and a patched one."""

    def export(self, log, *options, name="app.json.gz"):
        spoor("export", "--to", "chrome", "-o", self.path(name), *options, log.path)
        read = timeline.load(self.path(name))
        read.check_threads()
        return read

    def course(self):
        vm = self.java("Course")
        recorder = self.record(vm)
        rows = json.loads(vm.ask("go", 120))
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        return rows, log

    def check_act(self, read, row):
        """A slice of the kind, in the time in which the program says that it was so."""
        time_0 = int(read.file["otherData"]["time_0_mono_ns"])
        track = row["thread"] if row["thread"] in read.tracks else None
        found = [s for s in read.slices(row["what"], track=track)
                 if row["from"] - SHORT_NS <= s.begin_ns + time_0 and s.end_ns + time_0 <= row["to"]]
        near = [(s.category, s.name, s.begin_ns + time_0 - row["from"], s.end_ns + time_0 - row["to"])
                for name, slices in read.tracks.items() if track in (None, name) for s in slices
                if s.end_ns + time_0 > row["from"] - MS and s.begin_ns + time_0 < row["to"] + MS]
        self.assertTrue(found, f"{row}; from its begin and its end: {near}")
        longest = max(found, key=lambda s: s.length_ns)
        self.assertGreaterEqual(longest.length_ns, LEAST_NS, row)
        return longest

    def tracks_of(self, read, name):
        """The threads of a name: there is one per round."""
        return [track for track in read.threads() if track == name or track.startswith(f"{name} (tid ")]

    def check_flow(self, read, flow, from_name, to_name, to_ns):
        found = [f for f in read.flows if f[0] == flow and f[4] == to_ns
                 and f[1] in self.tracks_of(read, from_name) and f[3] in self.tracks_of(read, to_name)]
        self.assertTrue(found, f"{flow} from {from_name} to {to_name}")

    def test_course(self):
        rows, log = self.course()
        read = self.export(log)
        for name in ("main", "holder", "waiter", "parked", "consumer", "producer", "idle"):
            self.assertTrue(self.tracks_of(read, name), name)
        self.assertEqual(len(rows), 3 * 5)
        for row in rows:
            with self.subTest(what=row["what"]):
                act = self.check_act(read, row)
                if row["what"] == "lock":
                    self.assertEqual(act.name, "lock Course$Table")
                    self.check_flow(read, "owner", row["thread"], row["other"], act.begin_ns)
                    self.assertTrue(act.args["owner"].startswith("holder"))
                    self.assertTrue(any("Course" in frame for frame in act.args["chain"]), act.args)
                elif row["what"] == "juc":
                    self.check_flow(read, "unpark", row["other"], row["thread"], act.end_ns)
                elif row["what"] == "wait":
                    self.assertEqual(act.name, "wait Course$Queue")
                elif row["what"] == "park":
                    self.check_flow(read, "unpark", row["other"], row["thread"], act.end_ns)
        idle, = read.tracks["idle"]
        self.assertEqual(idle.category, "park")
        self.check_sums(log, read)

    def check_sums(self, log, read):
        """For each thread: its slices of contentions for monitors, and the report's blocked time."""
        threads = {}  # those of one name together
        for group in log.report("--by", "group,waiter_thread")["groups"]:
            for g in group["groups"] if group["key"][0] == "monitor" else []:
                threads[g["key"][0]] = threads.get(g["key"][0], 0) + g["blocked_ns"]
        self.assertTrue(threads)
        for name, blocked_ns in threads.items():
            slices = [s for track in self.tracks_of(read, name) for s in read.slices("lock", track=track)
                      if s.args.get("end") is None and s.args.get("begin") is None]
            with self.subTest(thread=name):
                self.assertEqual(sum(s.length_ns for s in slices), blocked_ns)

    def test_states_are_the_counters(self):
        """What slices of a state add up to is what the recorder has counted, but for what is short."""
        _, log = self.course()
        read = self.export(log)
        breaks_ns = int(read.file["otherData"]["breaks_from_ms"] * MS)
        samples = {}
        for e in log.raw_of("thread_sample", "thread_end"):
            samples.setdefault(e["thread"], []).append(e)
        names = log.threads()
        checked = 0
        for number, seen in samples.items():
            track = self.tracks_of(read, names[number]["name"])
            if len(track) != 1 or len(seen) < 2:
                continue
            for category, counter in (("sleep", "sleep_ns"), ("park", "park_ns"), ("wait", "wait_ns")):
                grown = seen[-1][counter] - seen[0][counter]
                slices = read.slices(category, *(["juc"] if category == "park" else []), track=track[0])
                # In a slice is also the way back to a CPU.
                inside = sum(s.length_ns for s in read.tracks[track[0]] if s.parent in slices)
                shown = sum(s.length_ns for s in slices) - inside
                with self.subTest(thread=track[0], state=category):
                    self.assertGreaterEqual(shown, grown * 0.9 - 20 * breaks_ns)
                    # Of that way, what is short is not told, nor is the time on the CPU. Of a wait, the recorder
                    # may count a part otherwise.
                    if category != "wait":
                        self.assertLessEqual(shown, grown * 1.1 + (10 + 3 * len(slices)) * breaks_ns)
                checked += 1
        self.assertGreater(checked, 10)

    def test_a_quota(self):
        """A spinning thread in a cgroup with a tenth of a CPU: what it is kept from its CPU for is throttled."""
        why = why_no_quota()
        if why:
            self.skipTest(why)
        vm = self.java("Wall", 2, "spin")
        quota = Quota(0.1)
        self.addCleanup(quota.close)
        self.addCleanup(vm.close)  # before it
        quota.add(vm.pid)
        recorder = self.record(vm)
        said = json.loads(vm.ask("go"))
        log = recorder.stop()
        read = self.export(log)
        track, = self.tracks_of(read, said[0]["name"])
        number, = [n for n, t in log.threads().items() if t["name"] == said[0]["name"]]
        last = [e for e in log.raw_of("thread_sample", "thread_end") if e["thread"] == number][-1]
        throttled = read.slices("throttled", track=track)
        self.assertGreater(last["throttled_ns"], 0)
        self.assertTrue(throttled)
        # Those shorter than the threshold have no slice, nor has one that went on at the end.
        self.assert_near(sum(s.length_ns for s in throttled), last["throttled_ns"], 10, "throttled", 20 * MS)

    def test_collections(self):
        vm = self.java("Collect", options=["-Xmx64m", "-XX:+UseG1GC"])
        recorder = self.record(vm)
        self.assertEqual(vm.ask("go", 120), "done")
        log = recorder.stop()
        read = self.export(log)
        pauses = read.tracks["GC pauses"]
        self.assertEqual(len(pauses), len(log.of("gc_end")))
        self.assertEqual({s.name.split(" ")[0] for s in pauses}, {"young", "full", "concurrent's"} &
                         {e["kind"].split("_")[0].replace("concurrent", "concurrent's") for e in log.of("gc_end")})
        whole = [s for s in read.tracks["safepoints"] if not s.depth]
        self.assertEqual(len(whole), len(log.of("safepoint_end")))
        for pause in pauses:
            self.assertTrue(any(s.begin_ns <= pause.begin_ns and pause.end_ns <= s.end_ns for s in whole), pause)
        self.assertIn("G1 Eden Space, MiB", read.counters)
        self.assertIn("threads, by what they do", read.counters)
        for cpu in range(os.cpu_count()):
            self.assertIn(f"vCPU {cpu}: by /proc/stat, %", read.counters)
        self.check_phases(log, read)

    def check_phases(self, log, read):
        pass


class Stock(TimelineTest, JavaTest):
    pass


class Patched(TimelineTest, PatchedJavaTest):
    def check_phases(self, log, read):
        phases = [s for name, slices in read.tracks.items() if name.startswith("GC phases: ") for s in slices]
        workers = [s for name, slices in read.tracks.items() if name.startswith("GC worker ") for s in slices]
        ends = [e for e in log.of("gc_phase_end") if e["kind"] != "worker"]
        self.assertTrue(workers)
        self.assertGreaterEqual(len(phases), len([e for e in ends]) * 0.99)
        self.assertTrue(any(s.depth for s in phases))
        collections = [s for name, slices in read.tracks.items() if name.startswith("GC collections: ")
                       for s in slices]
        self.assertEqual(len(collections), len(log.of("collection_end")))
        measured = [s for s in read.tracks["safepoints"] if not s.depth]
        self.assertTrue(all("threads" in s.args for s in measured))
        self.assertTrue(any(s.name == "operation" for s in read.tracks["safepoints"]))


if __name__ == "__main__":
    unittest.main()
