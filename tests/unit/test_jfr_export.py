"""`spoor export --to jfr`, read by `jfr` of JDK 17: sums are the report's, to the ns."""
import collections
import json
import os
import re
import shutil
import subprocess
import unittest
from datetime import datetime, timezone

from test_export import ExportCase, spoor

JFR = next((p for p in ("/usr/lib/jvm/java-17-openjdk-amd64/bin/jfr", shutil.which("jfr")) if p and os.path.exists(p)),
           None)


def ns_of(duration):
    """PT1.5S, PT1M0.5S: nanoseconds."""
    assert duration.startswith("PT") and duration.endswith("S"), duration
    rest, total = duration[2:-1], 0
    for unit, factor in (("H", 3600), ("M", 60)):
        if unit in rest:
            count, rest = rest.split(unit)
            total += int(count) * factor
    whole, _, part = rest.partition(".")
    return (total + int(whole or 0)) * 10**9 + int((part + "000000000")[:9])


def wall_ns(text):
    whole, _, part = text.rstrip("Z").partition(".")
    seconds = int(datetime.fromisoformat(whole).replace(tzinfo=timezone.utc).timestamp())
    return seconds * 10**9 + int((part + "000000000")[:9])


@unittest.skipUnless(JFR, "no jfr of JDK 17")
class Recording(ExportCase):
    def events(self):
        path = os.path.join(self.folder, "a.jfr")
        done = spoor("export", "--to", "jfr", "-o", path, self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = subprocess.run([JFR, "print", "--json", "--stack-depth", "600", path], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""), done.stdout[-500:])
        found = collections.defaultdict(list)
        for event in json.loads(done.stdout)["recording"]["events"]:
            found[event["type"]].append(event["values"])
        self.check_summary(path, found)
        return found

    def check_summary(self, path, found):
        """jfr summary, which reads the file's own list of types, counts the same."""
        done = subprocess.run([JFR, "summary", path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        counts = dict(re.findall(r"^ ([\w.]+) +(\d+) +\d+$", done.stdout.decode(), re.MULTILINE))
        self.assertEqual(counts.pop("jdk.CheckPoint"), "1")  # with the names: print leaves it out
        self.assertEqual({kind: int(n) for kind, n in counts.items() if n != "0" and kind != "jdk.Metadata"},
                         {kind: len(events) for kind, events in found.items()})

    def groups(self, by):
        done = spoor("report", "--format", "json", "--by", by, self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)["groups"]

    def test_sums_and_counts_are_the_reports(self):
        some = 0
        for seed in range(5):
            self.write_random(seed)
            found = self.events()
            sums = {kind: (len(events), sum(ns_of(e["duration"]) for e in events)) for kind, events in found.items()}
            groups = {g["key"][0]: g for g in self.groups("group")}
            monitors, juc = (groups.get(name, {"count": 0, "blocked_ns": 0}) for name in ("monitor", "juc"))
            parked = json.loads(spoor("report", "--format", "json", self.path).stdout)["parking"]
            self.assertEqual(sums.get("jdk.JavaMonitorEnter", (0, 0)), (monitors["count"], monitors["blocked_ns"]))
            self.assertEqual(sums.get("jdk.ThreadPark", (0, 0)),
                             (juc["count"] + sum(g["count"] for g in parked),
                              juc["blocked_ns"] + sum(g["total_ns"] for g in parked)))
            held = collections.Counter()
            for e in found["spoor.LockHeld"]:
                held[e["eventThread"]["osThreadId"] if e["eventThread"] else e["ownerIs"]] += ns_of(e["duration"])
            self.assertEqual(sorted(v for v in held.values() if v),
                             sorted(g["blocked_ns"] for g in self.groups("owner_thread") if g["blocked_ns"]), seed)
            some += len(found["spoor.LockHeld"])
        self.assertGreater(some, 200)

    def write_chain(self, depth=3):
        """By-name holds it; first and second want it; second gets it after first."""
        start = 1_000_000_000
        lines = [{"event": "thread", "thread": n, "tid": 100 + n, "java_id": 10 + n, "name": name}
                 for n, name in ((1, 'ow"ner\n'), (2, "first"), (3, "second"), (4, "parked"))]
        lines += [{"event": "class", "class": 1, "name": "a.b.Lock"}, {"event": "class", "class": 2, "name": "[I"},
                  {"event": "lock", "lock": 1, "class": 1, "group": "monitor", "identity": "hash", "hash": 77},
                  {"event": "lock", "lock": 2, "class": 2, "group": "other"},
                  {"event": "method", "method": 1, "class_name": "a.b.C", "name": "want", "signature": "(I)V",
                   "source": "C.java"}]
        lines += [{"event": "stack", "stack": n, "caller": n - 1, "frame": "c2", "method": 1, "line": n, "bci": 2 * n}
                  for n in range(1, depth + 1)]
        lines += [{"event": "stack", "stack": depth + 1, "caller": 0, "frame": "cut", "method": 0},
                  {"event": "stack", "stack": depth + 2, "caller": depth + 1, "frame": "interpreted", "method": 1,
                   "line": 9}]
        lines = [{"time_ns": start, **line} for line in lines]
        enter = {"event": "monitor_contended_enter", "lock": 1, "owner": 1, "owner_source": "java_thread"}
        lines += [{"time_ns": start + 10, "thread": 2, "stack": depth, **enter},
                  {"time_ns": start + 20, "thread": 3, "stack": depth + 2, **enter},
                  {"time_ns": start + 25, "event": "park_begin", "thread": 4, "lock": 2},
                  {"time_ns": start + 1_000_000_030, "event": "monitor_contended_entered", "thread": 2, "lock": 1},
                  {"time_ns": start + 1_000_000_047, "event": "monitor_contended_entered", "thread": 3, "lock": 1},
                  {"time_ns": start + 61_000_000_025, "event": "park_end", "thread": 4, "lock": 2},
                  {"time_ns": start + 61_000_000_030, "event": "end"}]
        self.write([{"header": {"start_mono_ns": start, "start_wall_ns": 1_700_000_000_000_000_000}}, *lines])

    def test_fields(self):
        self.write_chain()
        found = self.events()
        first, second = sorted(found["jdk.JavaMonitorEnter"], key=lambda e: e["startTime"])
        self.assertEqual((wall_ns(first["startTime"]), ns_of(first["duration"])),
                         (1_700_000_000_000_000_010, 1_000_000_020))
        self.assertEqual(ns_of(second["duration"]), 1_000_000_027)
        # Who had it last: it was handed on from the one that waited first.
        self.assertEqual(first["previousOwner"],
                         {"osName": 'ow"ner\n', "osThreadId": 101, "javaName": 'ow"ner\n', "javaThreadId": 11})
        self.assertEqual((first["eventThread"]["javaName"], second["eventThread"]["javaName"]), ("first", "second"))
        self.assertEqual(second["previousOwner"]["javaName"], "first")
        self.assertEqual((first["monitorClass"], first["address"]), ({"name": "a/b/Lock"}, 77))
        frames = first["stackTrace"]["frames"]
        self.assertEqual([(f["lineNumber"], f["bytecodeIndex"], f["type"]) for f in frames],
                         [(n, 2 * n, "JIT compiled") for n in (3, 2, 1)])
        self.assertEqual(frames[0]["method"], {"type": {"name": "a/b/C"}, "name": "want", "descriptor": "(I)V",
                                               "modifiers": 0, "hidden": False})
        self.assertEqual((first["stackTrace"]["truncated"], second["stackTrace"]["truncated"]), (False, True))
        [park] = found["jdk.ThreadPark"]
        self.assertEqual((ns_of(park["duration"]), park["parkedClass"]["name"]), (61_000_000_000, "[I"))
        self.assertIsNone(park["stackTrace"])

    def test_deep_chains_and_text(self):
        self.write_chain(depth=512)
        first = min(self.events()["jdk.JavaMonitorEnter"], key=lambda e: e["startTime"])
        self.assertEqual([f["lineNumber"] for f in first["stackTrace"]["frames"]], list(range(512, 0, -1)))
        text = subprocess.run([JFR, "print", os.path.join(self.folder, "a.jfr")], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, check=True).stdout.decode()
        self.assertIn("monitorClass = a.b.Lock", text)
        self.assertIn("timeout = N/A", text)

    def test_no_contention(self):
        self.write([{"header": {}}, {"time_ns": 5, "event": "end", "reason": "done"}])
        self.assertEqual(self.events(), {})


if __name__ == "__main__":
    unittest.main()
