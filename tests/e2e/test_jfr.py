"""The same run seen by JFR and by spoor: counts and totals by lock class."""
import collections
import json
import re
import subprocess
import unittest

from jvm import JavaTest, SHORT, jdk_tool  # first: it says where harness is
from harness import DEADLINE_S, spoor

PCT = 2
ROUNDS = (400, 200, 200)  # with sections of 1, 2, 4 ms
KINDS = {"jdk.JavaMonitorEnter": "monitorClass", "jdk.ThreadPark": "parkedClass", "jdk.JavaMonitorWait": "monitorClass"}
SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0">
%s
</configuration>
""" % "\n".join(f'<event name="{kind}"><setting name="enabled">true</setting><setting name="threshold">0 ms</setting>'
                '<setting name="stackTrace">false</setting></event>' for kind in KINDS)


def seconds(duration):
    """An ISO 8601 duration, PT1M2.3S."""
    match = re.fullmatch(r"PT(?:(\d+)H)?(?:(\d+)M)?(?:([\d.]+)S)?", duration)
    return int(match[1] or 0) * 3600 + int(match[2] or 0) * 60 + float(match[3] or 0)


def events_of(path, *kinds, frames=5):
    """The events of these kinds in a recording of JFR's, with so many frames of each chain at most."""
    shown = subprocess.run([jdk_tool("jfr"), *SHORT, "print", "--json", "--stack-depth", str(frames), "--events", ",".join(kinds), path],
                           capture_output=True, text=True, check=True, timeout=2 * DEADLINE_S).stdout
    return json.loads(shown)["recording"]["events"]


class Jfr(JavaTest):
    def totals_of_jfr(self, path):
        totals = {kind: {} for kind in KINDS}
        for event in events_of(path, *KINDS):
            values = event["values"]
            if not ((values.get("eventThread") or {}).get("javaName") or "").startswith("contender-"):
                continue
            klass = values[KINDS[event["type"]]]
            name = klass["name"].replace("/", ".") if klass else None
            count, ns = totals[event["type"]].get(name, (0, 0))
            totals[event["type"]][name] = (count + 1, ns + seconds(values["duration"]) * 1e9)
        return totals

    def totals_of_spoor(self, log):
        totals = {kind: {} for kind in KINDS}
        report = log.report("--by", "group,lock_class")
        for group in report["groups"]:
            kind = "jdk.JavaMonitorEnter" if group["key"] == ["monitor"] else "jdk.ThreadPark"
            for g in group["groups"]:
                totals[kind][g["key"][0]] = (g["count"], g["blocked_ns"])
        whole = log.report()
        for kind, section in (("jdk.ThreadPark", "parking"), ("jdk.JavaMonitorWait", "waiting")):
            for p in whole[section]:
                count, ns = totals[kind].get(p["class"], (0, 0))
                totals[kind][p["class"]] = (count + p["count"], ns + p["total_ns"])
        return totals

    def run_with_both(self, ms, rounds):
        """Per mille of its time for which the program had no CPU, its recording, and its log."""
        settings, recording = self.path("all.jfc"), self.path("all.jfr")
        with open(settings, "w", encoding="utf-8") as f:
            f.write(SETTINGS)
        vm = self.java("Contend", rounds, ms,
                       options=["-XX:TieredStopAtLevel=1",  # JFR's own code is most of what is compiled
                                f"-XX:StartFlightRecording:settings={settings},filename={recording}"])
        recorder = self.record(vm, "-f")
        self.assertEqual(vm.ask("go", 240), "done")
        gone = int(vm.line())
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        self.assertEqual(vm.end(), 0)
        return gone, recording, log

    def check_count(self, got, wanted, pct):
        self.assert_near(got, wanted, pct, "count")

    def check_total(self, got, count, wanted, pct):
        self.assert_near(got, wanted, pct, "total ns")

    def test_totals(self):
        # A thread that loses its CPU between JFR's stamp and spoor's probe makes them differ, by a time slice: that
        # is less in longer sections.
        for attempt, rounds in enumerate(ROUNDS):
            ms = 1 << attempt
            gone, recording, log = self.run_with_both(ms, rounds)
            if gone < 5 * PCT * ms:
                break
            print(f"sections of {ms} ms: the program had no CPU for {gone} per mille of its time", flush=True)
        pct = max(PCT, gone / (5 * ms))  # the same bound, where it was never met: PCT unless the machine is busy
        wanted, got = self.totals_of_jfr(recording), self.totals_of_spoor(log)
        for kind, classes in (("jdk.JavaMonitorEnter", ("Contend$Hot", "Contend$Warm")),
                              ("jdk.ThreadPark", ("java.util.concurrent.locks.ReentrantLock$NonfairSync",
                                                  "java.util.concurrent.locks.AbstractQueuedSynchronizer$"
                                                  "ConditionObject")),
                              ("jdk.JavaMonitorWait", ("Contend$Bell",))):
            for name in classes:
                with self.subTest(kind=kind, lock=name):
                    self.assertIn(name, wanted[kind])
                    self.assertGreater(wanted[kind][name][0], 50)
                    self.assertIn(name, got[kind])
                    self.check_count(got[kind][name][0], wanted[kind][name][0], pct)
                    self.check_total(got[kind][name][1], *wanted[kind][name], pct)
        self.check_previous_owners(recording, log)

    def entered(self, path):
        """By thread and class, in the order of time: who had the monitor before."""
        found = collections.defaultdict(list)
        for event in events_of(path, "jdk.JavaMonitorEnter"):
            values = event["values"]
            if (values["eventThread"]["javaName"] or "").startswith("contender-"):
                owner = values["previousOwner"]
                key = values["eventThread"]["javaThreadId"], values["monitorClass"]["name"]
                found[key].append((values["startTime"], owner and owner["javaThreadId"]))
        return {key: [owner for _, owner in sorted(rows)] for key, rows in found.items()}

    def check_previous_owners(self, recording, log):
        """The exported events beside JFR's own: of threads of which both have all."""
        exported = self.path("exported.jfr")
        spoor("export", "--to", "jfr", "-o", exported, log.path)
        wanted, got = self.entered(recording), self.entered(exported)
        same = both = 0
        for key, owners in wanted.items():
            if len(got.get(key, ())) == len(owners):
                pairs = [(a, b) for a, b in zip(owners, got[key]) if a]
                both += len(pairs)
                same += sum(a == b for a, b in pairs)
        print(f"previous owners: {same} of {both} as JFR has them", flush=True)
        self.assertGreater(both, 100)
        self.assertGreater(same, 0.98 * both)


if __name__ == "__main__":
    unittest.main()
