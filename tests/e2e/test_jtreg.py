"""jtreg's own programs for JFR's lock events, with spoor beside JFR: the same events of the same threads on locks of the
same classes, as long as JFR says.

The programs are those of OpenJDK 17's source package (make jvm fetches it), on all JDKs: each has a recording of its own,
looks at what is in it, and leaves it in a file. A stock JVM has no probe for JFR's JavaMonitorInflate, so only a patched
one's are compared.
"""
import collections
import glob
import os
import re
import shutil
import unittest
from datetime import datetime

import jvm
from test_jfr import events_of, seconds
from harness import BUILD, name_of

MS = 10**6
# A thread's own running between JFR's reading of the clock and the probe: some 20 us, in cold code more.
OWN_NS = MS
NOT_ITS_OWN = ("thread_sample", "off_cpu")
ROOM = "jdk.jfr.event.runtime"
LIBRARY, FOLDER = "test/lib", "test/jdk/" + ROOM.replace(".", "/")
LOCK_PROGRAMS = {  # what each of them records: JFR's kind, from how long on
    "TestJavaMonitorWaitEvent": ("jdk.JavaMonitorWait", 0),
    "TestJavaMonitorWaitTimeOut": ("jdk.JavaMonitorWait", 0),
    "TestJavaBlockedEvent": ("jdk.JavaMonitorEnter", MS),
    "TestThreadParkEvent": ("jdk.ThreadPark", MS),
    "TestThreadSleepEvent": ("jdk.ThreadSleep", 0),
    "TestJavaMonitorInflateEvent": ("jdk.JavaMonitorInflate", 0)}
OWN_CLASSES = {"TestJavaMonitorWaitEvent": "Lock", "TestJavaMonitorWaitTimeOut": "Lock", "TestJavaBlockedEvent": "Lock",
               "TestThreadParkEvent": "Blocker", "TestJavaMonitorInflateEvent": "Lock"}
PAIRS = {"jdk.JavaMonitorWait": ("monitor_wait_begin", "monitor_wait_end"),
         "jdk.JavaMonitorEnter": ("monitor_contended_enter", "monitor_contended_entered"),
         "jdk.ThreadPark": ("park_begin", "park_end")}
CAUSES = {"Monitor Enter": "monitor_enter", "Monitor Wait": "wait", "Monitor Notify": "notify",
          "Monitor Hash Code": "hash_code", "VM Internal": "vm_internal"}


def sources():
    """The tar file of OpenJDK 17 that make jvm has fetched; None: it has not."""
    cache = os.environ.get("SPOOR_JVM_CACHE") or os.path.join(BUILD, "jvm")
    found = glob.glob(os.path.join(glob.escape(cache), "sources/17.*/openjdk-17_*.orig.tar.xz"))
    return max(found, key=os.path.getmtime, default=None)


def unpacked(tar):
    return jvm.made([tar], lambda folder: ["tar", "-xf", tar, "-C", folder, "--strip-components=1", "--wildcards",
                                           f"*/{LIBRARY}/jdk", f"*/{FOLDER}"])


def compiled(tree):
    """The programs, the classes of the library that they need, and what runs them."""
    files = [os.path.join(tree, FOLDER, f"{name}.java") for name in LOCK_PROGRAMS]
    files.append(os.path.join(jvm.HERE, "programs/Jtreg.java"))
    javac = os.path.realpath(jvm.jdk_tool("javac"))
    return jvm.made(files, lambda folder: [javac, *jvm.SHORT, "-nowarn", "-Xlint:none", "-XDignore.symbol.file", "-sourcepath",
                                           os.path.join(tree, LIBRARY), "-d", folder, *files])


def start_of(event):
    """To be compared: the digits of a second's parts are cut off where only zeros would follow."""
    whole, _, parts = event["values"]["startTime"].rstrip("Z").partition(".")
    return whole, parts.ljust(9, "0")


def of_jfr(event):
    """(Java thread's id, name, class, ns), in which the class is None for a sleep."""
    values = event["values"]
    klass = values.get("monitorClass") or values.get("parkedClass")
    return (values["eventThread"]["javaThreadId"], values["eventThread"]["javaName"],
            klass and klass["name"].replace("/", "."), round(seconds(values["duration"]) * 1e9))


class Interval:
    """What spoor has of a wait, a park or a blocked time: begin and end are events."""

    def __init__(self, log, begin, end):
        self.begin, self.end = begin, end
        self.ns = end["time_ns"] - begin["time_ns"]
        self.thread = begin["thread"]
        self.java_id = log.threads()[self.thread["id"]]["java_id"]
        self.key = (self.java_id, name_of(self.thread), begin["lock"] and begin["lock"]["class"])
        self.around = around(log, self.thread, begin["time_ns"], end)

    def bound_ns(self):
        """By how much JFR may differ. Both read the clock in the same thread, and it does not block in between: it runs,
        its CPU is stolen, or it waits for one. Of the first there is little outside of the interval."""
        return OWN_NS + passed(self.begin, self.end, "cpu_ns") + passed(*self.around, "stolen_ns", "runnable_ns")

    def most_ns(self):
        """By how much it may differ where the thread was stopped between the two readings, and no counter of its own says
        so: by a host that takes the CPU away in silence, or by a page that was not there. Both readings are between the
        thread's own events before and after."""
        return passed(*self.around, "time_ns") - self.ns + passed(self.begin, self.end, "cpu_ns")


def around(log, thread, begin_ns, end):
    """The thread's last event with its counters before a time, and the first one after another event: of those that its
    own code makes. A sample, or a switch, can come between a probe and JFR's reading of the clock."""
    own = [e for e in log.by_time if e["thread"] == thread and "runnable_ns" in e and e["event"] not in NOT_ITS_OWN]
    started = next((e["time_ns"] for e in log.of("thread_start") if e["thread"] == thread), begin_ns)
    return (max((e for e in own if e["time_ns"] < begin_ns), key=lambda e: e["time_ns"],
                default={"cpu_ns": 0, "stolen_ns": 0, "runnable_ns": 0, "time_ns": started}),
            min((e for e in own if e["time_ns"] > end["time_ns"]), key=lambda e: e["time_ns"], default=end))


def passed(first, last, *names):
    return sum(last[name] - first[name] for name in names)


# JFR of JDK 21 tells the time that was asked for in ns, not in ms as in 17: the program has its recording, and is not content.
LATER_THROWN = {"TestThreadSleepEvent": "Value not equal to 47, field='time', value='47000000'"}


class Jtreg(jvm.JavaTest):
    """On the stock JVM."""
    THROWN = {}  # what a program throws that is not of this JDK

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tar = sources()
        if not tar:
            raise unittest.SkipTest("there is no source of OpenJDK 17: make jvm")
        cls.classes = compiled(unpacked(tar))

    def setUp(self):
        super().setUp()
        self.vm = self.java("Jtreg", before=["env", "-C", self.tmp])
        self.recorder = self.record(self.vm)
        self.windows, self.files = {}, {}

    def run_program(self, name):
        begin, end, thrown = self.vm.ask(f"{ROOM}.{name}", jvm.START_DEADLINE_S).split(" ", 2)
        self.assertRegex(thrown, self.THROWN.get(name, "^$"))
        self.windows[name] = (int(begin), int(end))
        made = sorted(glob.glob(os.path.join(self.tmp, "recording-*.jfr")),
                      key=lambda path: int(re.search(r"recording-(\d+)-", path)[1]))
        self.files[name] = [os.path.join(self.tmp, f"{name}-{i}.jfr") for i in range(len(made))]
        for old, new in zip(made, self.files[name]):
            shutil.move(old, new)

    def jfr(self, name):
        """The events of a program's recordings, thread by thread in the order of time."""
        kind, _ = LOCK_PROGRAMS[name]
        events = [event for path in self.files[name] for event in events_of(path, kind)]
        return sorted(events, key=lambda e: (of_jfr(e)[0], start_of(e)))

    def within(self, name, events):
        begin, end = self.windows[name]
        return [e for e in events if begin <= e["time_ns"] <= end]

    def intervals(self, log, name, events):
        """In the order of jfr(), whose events these are: what JFR's threshold may be for or against, and what is on locks of the
        JDK before the program's own lock is gone for or after, JFR may leave out: it may have begun before the recording, or ended
        after it."""
        kind, threshold_ns = LOCK_PROGRAMS[name]
        begin, end = PAIRS[kind]
        opened, found = {}, []
        for e in self.within(name, log.of(begin, end)):
            if e["event"] == begin:
                opened[e["thread"]["id"]] = e
            elif e["thread"]["id"] in opened:
                found.append(Interval(log, opened.pop(e["thread"]["id"]), e))
        found = sorted((i for i in found if not i.begin.get("after_wait")), key=lambda i: (i.java_id, i.begin["time_ns"]))
        own = [i for i in found if (i.key[2] or "").endswith(f"{name}${OWN_CLASSES[name]}")]
        first = min((i.begin["time_ns"] for i in own), default=0)
        last = max((i.end["time_ns"] for i in own), default=0)
        told, kept = collections.Counter(of_jfr(e)[:3] for e in events), collections.Counter(i.key for i in found)
        for i in sorted(found, key=lambda i: i.ns):
            may_miss = threshold_ns and i.ns < threshold_ns + i.bound_ns() or \
                (i not in own and (i.begin["time_ns"] < first or i.end["time_ns"] > last))
            if may_miss and kept[i.key] > told[i.key]:
                kept[i.key] -= 1
                found.remove(i)
        return found

    def check_duration(self, got, ns, low_ns):
        """Whether the two are as near to each other as they are when nothing stops the thread between the readings."""
        most = max(got.bound_ns(), got.most_ns())
        self.assertLessEqual(ns, got.ns + most, got.key)
        self.assertGreaterEqual(ns, low_ns - most, got.key)
        return low_ns - got.bound_ns() <= ns <= got.ns + got.bound_ns()

    def check_wait(self, log, got, values):
        self.assertEqual(got.begin["timeout_ms"], round(seconds(values["timeout"]) * 1000))
        told = [e for e in log.of("monitor_notify") if e["lock"] == got.begin["lock"]
                and got.begin["time_ns"] < e["time_ns"] < got.end["time_ns"]]
        if values["notifier"]:
            self.assertEqual(values["notifier"]["javaName"], name_of(told[-1]["thread"]))
        self.assertEqual(values["timedOut"], not values["notifier"])
        if got.end["how"] != "unknown":
            self.assertEqual(got.end["how"], "timeout" if values["timedOut"] else "notified")
        # JFR's wait ends before the thread goes for the monitor again, which the notifier still has; spoor's when it has it.
        return told[-1]["time_ns"] - got.begin["time_ns"] if values["notifier"] else got.ns

    def check_park(self, got, values):
        """(is until a date, is there a time)"""
        until = values["until"]
        if got.begin["absolute"]:
            self.assertEqual(got.begin["time"], round(datetime.fromisoformat(until).timestamp() * 1000))
        elif got.begin["time"]:
            self.assertEqual(got.begin["time"], round(seconds(values["timeout"]) * 1e9))
        return got.begin["absolute"], got.begin["time"] > 0

    def check_program(self, log, name):
        service = {t["java_id"] for t in log.threads().values() if t["name"].startswith("JFR ") or t["daemon"]}
        events = [e for e in self.jfr(name) if of_jfr(e)[0] not in service]
        found = [i for i in self.intervals(log, name, events) if i.java_id not in service]
        self.assertEqual([i.key for i in found], [of_jfr(e)[:3] for e in events])
        self.assertIn(f"{ROOM}.{name}${OWN_CLASSES[name]}", {key[2] for key in (i.key for i in found)})
        parks, stopped = set(), []
        for got, event in zip(found, events):
            values, low_ns = event["values"], got.ns
            if event["type"] == "jdk.JavaMonitorWait":
                low_ns = self.check_wait(log, got, values)
            elif event["type"] == "jdk.ThreadPark":
                parks.add(self.check_park(got, values))
            elif got.begin["owner"] or got.ns > MS + got.bound_ns():  # else it was given back before the thread was blocked
                self.assertEqual(values["previousOwner"]["javaName"], name_of(got.begin["owner"]))
            ns = of_jfr(event)[3]
            print(f"{name}: {got.key[1]} {got.key[2]}: JFR {ns / MS:.3f} ms, spoor {got.ns / MS:.3f} ms "
                  f"(or less by {(got.ns - low_ns) / MS:.3f} ms) +- {got.bound_ns() / MS:.3f} ms", flush=True)
            if not self.check_duration(got, ns, low_ns):
                stopped.append(got.key)
        self.assertLessEqual(len(stopped), 1, stopped)  # one stop is a chance, in code of 20 us
        self.assertIn(parks, (set(), {(False, False), (False, True), (True, True)}))

    def check_sleep(self, log, name):
        main = [e for e in self.jfr(name) if e["values"]["eventThread"]["javaName"] == "main"]
        all_off = [e for e in self.within(name, log.of("off_cpu")) if name_of(e["thread"]) == "main"]
        off = [e for e in all_off if e["reason"] == "sleep"]
        self.assertEqual((len(main), len(off)), (1, 1), all_off)
        ns = of_jfr(main[0])[3]
        print(f"{name}: main: JFR {ns / MS:.3f} ms, spoor {off[0]['off_ns'] / MS:.3f} ms", flush=True)
        # The rest of JFR's time: the thread runs, its CPU is stolen, or it waits for one, before it sleeps and after that.
        waited = passed(*around(log, off[0]["thread"], off[0]["time_ns"] - off[0]["off_ns"], off[0]), "stolen_ns", "runnable_ns")
        self.assertLessEqual(off[0]["off_ns"], ns)
        self.assertGreaterEqual(off[0]["off_ns"], ns - OWN_NS - waited)

    def check_inflate(self, log, name):
        self.assertGreater(len(self.jfr(name)), 0)
        self.assertEqual(log.of("monitor_inflate"), [])

    def test_lock_events(self):
        for name in LOCK_PROGRAMS:
            self.run_program(name)
        log = self.recorder.stop()
        self.assertEqual(self.vm.end(), 0)
        self.assertEqual(log.lost(), {})
        log.by_time = sorted(log.events, key=lambda e: e["time_ns"])
        for name, (kind, _) in LOCK_PROGRAMS.items():
            with self.subTest(name):
                check = {"jdk.ThreadSleep": self.check_sleep, "jdk.JavaMonitorInflate": self.check_inflate}
                check.get(kind, self.check_program)(log, name)


class Patched(jvm.PatchedJavaTest, Jtreg):
    """On the patched JVM, which has a probe where an object gets its monitor."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.THROWN = LATER_THROWN if cls.MAJOR >= 21 else {}

    def check_inflate(self, log, name):
        threads = {"main", *(name_of(e["thread"]) for e in self.within(name, log.of("thread_start")))}
        got = [(name_of(e["thread"]), e["lock"]["class"], e["cause"]) for e in self.within(name, log.of("monitor_inflate"))
               if name_of(e["thread"]) in threads]
        wanted = [(of_jfr(e)[1], of_jfr(e)[2], CAUSES[e["values"]["cause"]]) for e in self.jfr(name)]
        self.assertEqual(sorted(got), sorted(wanted))


if __name__ == "__main__":
    unittest.main()
