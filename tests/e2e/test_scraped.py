"""What spoor serve says while Prometheus and VictoriaMetrics scrape it, over collections, classes that are unloaded, threads that
end, ten thousand classes of locks and clients that misbehave, beside a recording of the same time."""
import glob
import json
import os
import re
import signal
import socket
import subprocess
import time
import types
import unittest

from test_top import PCT, Top  # first: it says where harness is
from test_serve import PROMETHEUS, PROMTOOL, VICTORIA, Prometheus, Served, Victoria, blocked_by_class, samples
from test_spans import MarkTest
from harness import DEADLINE_S, Recorder, spoor, wait_until
from processes import children, status
from soaking import only_in_soak, slow

# Of one row: lock classes 20, pools 12, collectors 12, names of spans 10, methods 1; docs/serve.md says so.
SERIES_OF_A_LABEL = 55
SERIES_BESIDE = 60
LATE_NS = 3 * 10**9  # so old is what spoor serve has analysed, of intervals of a second
COUNTERS = ("_total", "_bucket", "_sum", "_count")
TABLE = ('lock_class', "Metered$Table"), ("group", "monitor")
BLOCKED = 'spoor_lock_blocked_seconds_total{lock_class="Metered$Table",group="monitor"}'


def listening(pid):
    """What the process listens at: TCP addresses as in /proc/net/tcp, and paths."""
    own = set()
    for fd in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            own.update(re.findall(r"socket:\[(\d+)\]", os.readlink(fd)))
        except FileNotFoundError:
            continue
    found = []
    for family in ("tcp", "tcp6"):
        with open(f"/proc/{pid}/net/{family}", encoding="ascii") as f:
            rows = [line.split() for line in list(f)[1:]]
        found += [row[1] for row in rows if row[3] == "0A" and row[9] in own]
    with open(f"/proc/{pid}/net/unix", encoding="utf-8") as f:
        rows = [line.split() for line in list(f)[1:]]
    return found + [row[-1] for row in rows if int(row[3], 16) & 0x10000 and row[6] in own]


class Misbehaving:
    """Clients: ten that send a byte now and then, ten that send no end of headers, ten that shut down what they send by,
    with and without a request, and ten that read no answer."""
    ASK = b"GET /metrics HTTP/1.1\r\nHost: spoor\r\n"

    def __init__(self, port):
        self.port = port
        self.slow = []

    def connect(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=DEADLINE_S)
        return s

    def answer(self, *sent, shut):
        """What comes until the end; b"": the connection was closed."""
        with self.connect() as s:
            got = b""
            try:
                for piece in sent:
                    s.sendall(piece)
                if shut:
                    s.shutdown(socket.SHUT_WR)
                while more := s.recv(65536):
                    got += more
            except (BrokenPipeError, ConnectionResetError):
                pass
            return got

    def step(self):
        """The slow ones go on. Those that the server has given up are gone, and others come."""
        for s in list(self.slow):
            try:
                s.send(b"x")
            except OSError:
                self.slow.remove(s)
                s.close()
        while len(self.slow) < 8:
            self.slow.append(self.connect())
            self.slow[-1].send(b"GET /metrics HTTP/1.1\r\nX: ")

    def once(self, case):
        huge = self.answer(self.ASK, *([b"X: " + b"y" * 65536 + b"\r\n"] * 16), shut=False)
        case.assertNotIn(b" 200 ", huge[:32])
        half = self.answer(self.ASK + b"\r\n", shut=True)
        case.assertTrue(not half or b" 200 " in half[:32] or b" 503 " in half[:32], half[:200])
        case.assertNotIn(b" 200 ", self.answer(self.ASK, shut=True)[:32])
        case.assertEqual(self.answer(shut=True), b"")
        unread = self.connect()
        unread.sendall(self.ASK + b"\r\n")
        unread.close()

    def close(self):
        for s in self.slow:
            s.close()


@unittest.skipUnless(PROMETHEUS and PROMTOOL and VICTORIA, "no prometheus or no victoria-metrics: make prometheus-setup")
@slow
class Scraped(MarkTest, Top):
    ROUNDS, THREADS, COLLECTIONS = 100, 10, 10
    CLASSES, LOCKS = 500, 1000
    SECONDS = 0  # to go on for; 0: ROUNDS once
    SCRAPED_EACH = "1s"
    LABELS = 50

    def scraped(self, store, query):
        """Of one series; None: it is not there yet."""
        return next(iter((store.query(query) or {}).values()), None)

    def both_have(self, wanted):
        wait_until("both have scraped it", lambda: all(
            abs((self.scraped(store, BLOCKED) or 0) - wanted) < 1e-6 for store in self.stores))

    def look(self):
        """No counter falls, none goes, and there are no more than there may be."""
        found = samples(self.serve.answers())
        for key, value in self.before.items():
            self.assertGreaterEqual(found[key], value, key)
        self.before = {key: value for key, value in found.items() if key[0].endswith(COUNTERS)}
        self.looks += 1
        self.most = max(self.most, len(found))
        cpus = sum(key[0] == "spoor_stolen_seconds_total" for key in found)
        self.assertLessEqual(len(found), SERIES_OF_A_LABEL * (self.LABELS + 1) + SERIES_BESIDE + cpus)
        return found

    def ask(self, vm, words):
        vm.say(words)

        def said():
            self.look()
            self.clients.step()
            return not vm.lines.empty()

        wait_until("the program is done", said, 20 * DEADLINE_S)
        return json.loads(vm.line())

    def begin(self):
        vm = self.java("Metered", options=("-XX:+UseSerialGC", "-Xmx512m"))
        recorder = Recorder(vm.pid, self.path())  # by what spoor serve records by: self.record() asks for probes
        self.addCleanup(recorder.close)
        recorder.wait_attached()
        self.serve = Served(vm.pid, "-i", "1s", "--labels", str(self.LABELS))
        self.addCleanup(self.serve.close)
        wait_until("the first interval is over", lambda: self.serve.answers())
        self.seen_from_ns = time.monotonic_ns()
        self.before, self.looks, self.most = {}, 0, 0
        self.stores = []
        for kind in (Prometheus, Victoria):
            folder = os.path.join(self.tmp, kind.__name__)
            os.mkdir(folder)
            self.stores.append(kind(folder, f"127.0.0.1:{self.serve.port}", self.SCRAPED_EACH))
            self.addCleanup(self.stores[-1].close)
        self.clients = Misbehaving(self.serve.port)
        self.addCleanup(self.clients.close)
        return vm, recorder

    def check_listening(self, recorder):
        """spoor serve at its address, its recorder and spoor record nowhere."""
        self.assertEqual(listening(self.serve.process.pid), [f"0100007F:{self.serve.port:04X}"])
        for pid in (*children(self.serve.process.pid), recorder.process.pid, *children(recorder.process.pid)):
            self.assertEqual(listening(pid), [], pid)

    def histogram(self, found, family, count, total_ns, floor_ns=1_000_000, at_the_ends=0, split=0, **labels):
        """As many as the log has, but for those of it that spoor serve need not have seen. split: so many more may be two for
        one of the recorders and one for the other."""
        got = {}
        for (name, own), value in found.items():
            own = dict(own)
            if labels.items() <= own.items() and own.get("le", "+Inf") == "+Inf":
                got[name] = got.get(name, 0) + value
        self.assertEqual(got[family + "_count"], got[family + "_bucket"], (family, labels))
        self.assertLessEqual(got[family + "_count"], count + split, (family, labels))
        self.assertGreaterEqual(got[family + "_count"], count - at_the_ends - split, (family, labels))
        self.assert_near(got[family + "_sum"] * 1e9, total_ns, PCT, f"{family} {labels}", floor_ns)

    def events(self, log, names):
        lines = spoor("cat", "--event", names, log.path).stdout.splitlines()
        return sorted(map(json.loads, lines), key=lambda e: e["time_ns"])

    def at_the_end(self, begin_ns, end_ns):
        """May it be in the log only? That begins before spoor serve does, and ends after what it has said was asked for."""
        return begin_ns < self.seen_from_ns or end_ns > self.seen_to_ns

    def collections_at_the_ends(self, log):
        """The lengths, in ns, of those that may be in the log only."""
        found, begin_ns = [], None
        for e in self.events(log, "gc_begin,gc_end"):
            if e["event"] == "gc_begin":
                begin_ns = e["time_ns"]
            elif begin_ns:
                if self.at_the_end(begin_ns, e["time_ns"]):
                    found.append(e["time_ns"] - begin_ns)
                begin_ns = None
        return found

    def safepoints(self, log):
        """Of each by the log's events: ns until the first VM operation; from then on, or None; may it be in the log only?"""
        begin = reached = None
        found = []
        for e in self.events(log, "safepoint_begin,safepoint_end,vm_operation_begin"):
            if e["event"] == "safepoint_begin":
                begin, reached = e["time_ns"], None
            elif e["event"] == "vm_operation_begin":
                reached = reached or e["time_ns"]
            elif begin:
                found.append(((reached or e["time_ns"]) - begin, reached and e["time_ns"] - reached,
                              self.at_the_end(begin, e["time_ns"])))
                begin = None
        return found

    def check_safepoints(self, found, all_of):
        phases = {"reach": [(row[0], row[2]) for row in all_of],
                  "operation": [(row[1], row[2]) for row in all_of if row[1] is not None]}
        whole = sum(ns for rows in phases.values() for ns, _ in rows)
        served = [found["spoor_safepoint_seconds_sum", (("phase", phase),)] for phase in phases]
        self.assertAlmostEqual(sum(served), found["spoor_safepoint_duration_seconds_sum", ()], 6)
        for phase, rows in phases.items():  # the VM thread may lose its CPU between the recorders' programs
            self.histogram(found, "spoor_safepoint_seconds", len(rows), sum(ns for ns, _ in rows), whole / 10,
                           sum(at_end for _, at_end in rows), phase=phase)

    def all_is_seen(self, found):
        """None is lost. But a recorder that gets no CPU for seconds hands over what is too old for its interval, or out of
        order, and says so."""
        lost = {labels: value for (name, labels), value in found.items() if name == "spoor_events_lost_total" and value}
        self.assertEqual({dict(labels)["place"] for labels in lost} - {"reorder"}, set(), lost)
        unseen = found["spoor_unseen_seconds_total", ()]
        if unseen or lost:
            print(f"the machine was too busy to see all: {unseen} s unseen, late: {lost}")
        return not unseen and not lost

    def check_report(self, found, log):
        """Two recorders saw the same. Where it is probes that report contentions, the one that was attached last is told first,
        and the other when that one is done, which takes 4 us, and 0.2 ms for a thread's first contention, as its name and
        call chains are new. So they count the same, and a thread is to be blocked for long beside 0.2 ms."""
        report = json.loads(spoor("report", "--format", "json", log.path).stdout)
        self.assertEqual(report["lost"]["total"], 0)
        locks = json.loads(spoor("report", "--format", "json", "--by", "lock_class", log.path).stdout)
        [lock] = [row for row in locks["groups"] if row["key"] == ["Metered$Table"]]
        got = found["spoor_lock_blocked_seconds_total", TABLE]
        print(f"blocked: {got:.6f} s served, {lock['blocked_ns'] / 1e9:.6f} s recorded, {lock['count']} contentions, "
              f"{100 * (got * 1e9 / lock['blocked_ns'] - 1):+.3f} %")
        pauses = report["pauses"]
        self.assertGreaterEqual(sum(row["count"] for row in pauses["gc"]), self.COLLECTIONS)
        if not self.all_is_seen(found):
            self.assertLessEqual(got * 1e9, lock["blocked_ns"] * 1.01)
            return
        safepoints = self.safepoints(log)
        for name, rows, at_the_ends in (("spoor_gc_pause_duration_seconds", "gc", self.collections_at_the_ends(log)),
                                        ("spoor_safepoint_duration_seconds", "safepoints",
                                         [row[0] + (row[1] or 0) for row in safepoints if row[2]])):
            self.histogram(found, name, sum(row["count"] for row in pauses[rows]),
                           sum(row["total_ns"] for row in pauses[rows]), 1_000_000 + sum(at_the_ends), len(at_the_ends))
        self.check_safepoints(found, safepoints)
        # Whether a thread that is woken and blocks again goes on with its contention is for each recorder to infer, of the CPU
        # time meanwhile: below 200 us it does (bpf/lib/waits.bpf.h), and the second has less of it, by the programs of the
        # first. 7 of 2,444 were seen beside a build of the JVM, with 0.002 % of the time between the two.
        self.histogram(found, "spoor_lock_contention_seconds", lock["count"], lock["blocked_ns"],
                       split=max(2, lock["count"] // 500), lock_class="Metered$Table")
        self.assert_near(got * 1e9, lock["blocked_ns"], 1, "blocked, beside the log")
        counts = [row["count"] for row in locks["groups"] if row["key"][0].startswith("Metered$C")]
        self.assertEqual(len(counts), self.CLASSES)
        # A thread that gets the lock before it has left its CPU was not blocked for who asks the scheduler.
        print(f"{sum(counts)} of {self.locks()} contentions of the many")
        self.assert_near(sum(counts), self.locks(), 2, "contentions of the many")
        all_of = sum(value for (name, _), value in found.items() if name == "spoor_lock_contentions_total")
        self.assert_near(all_of, sum(row["count"] for row in locks["groups"]), 1, "all contentions")
        spans = self.by_name(self.spans(log))["use"]
        self.histogram(found, "spoor_span_duration_seconds", spans["count"], spans["total_ns"], name="use")

    def locks(self):
        return self.LOCKS - self.LOCKS % 50

    def check_stores(self, before, grown, since):
        for store in self.stores:
            # A scrape that takes longer than the interval has failed: on a busy machine one may.
            self.assertGreaterEqual(self.scraped(store, 'avg_over_time(up{job="spoor"}[1h])'), 0.95)
            for name in {name for name, _ in self.before}:
                self.assertEqual(self.scraped(store, f"sum(resets({name}[1h]))"), 0, name)
            increase = self.scraped(store, f"max_over_time({BLOCKED}[1h]) - min_over_time({BLOCKED}[1h])")
            self.assert_near(increase, grown, 1, type(store).__name__)
        # It has no value before the first, and so the whole of the first is an increase.
        self.assert_near(self.scraped(self.stores[1], f"increase({BLOCKED}[1h])"), before + grown, 1, "increase()")
        self.check_rate(grown, since)

    def check_rate(self, grown, since):
        pass

    def check_page(self, log):
        pass

    def until_done(self, vm):
        """What the program says, in all."""
        self.ask(vm, f"locks {self.CLASSES} {self.LOCKS}")
        began = time.monotonic()
        sums, times = 0, 0
        while not times or time.monotonic() - began < self.SECONDS:
            said = self.ask(vm, f"go {self.ROUNDS} {self.THREADS} {self.COLLECTIONS}")
            sums += said["blocked"]
            times += 1
            self.clients.once(self)
        self.assertGreaterEqual(said["unloaded"], times * (self.ROUNDS - self.ROUNDS // self.COLLECTIONS))
        return sums, times

    def test_over_collections_classes_threads_and_clients(self):
        vm, recorder = self.begin()
        self.check_listening(recorder)
        vm.ask("go 1 2 0")
        wait_until("the class is there", lambda: blocked_by_class(samples(self.serve.answers())).get("table"))
        wait_until("all of it is", lambda: self.spans_served() == 2)
        before = blocked_by_class(samples(self.serve.answers()))["table"]
        self.both_have(before)
        resident = int(status(self.serve.process.pid)["VmRSS"].split()[0])
        since = time.time()
        blocked, times = self.until_done(vm)
        spans = 2 + times * self.ROUNDS * self.THREADS
        wait_until("all is in the sums", lambda: self.spans_served() == spans, 2 * DEADLINE_S)
        self.seen_to_ns = time.monotonic_ns() - LATE_NS
        text = self.serve.answers()
        found = self.look()
        grown = found["spoor_lock_blocked_seconds_total", TABLE] - before
        print(f"{times * self.ROUNDS * self.THREADS} threads, {self.looks} looks, {self.most} series at most, "
              f"{resident} KiB before, {status(self.serve.process.pid)['VmRSS']} after")
        self.assert_near(grown * 1e9, blocked, PCT, "blocked, by the program's clocks")
        self.both_have(before + grown)
        self.check_stores(before, grown, since)
        checked = subprocess.run([PROMTOOL, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))
        self.check_listening(recorder)
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0, recorder.err)
        log = types.SimpleNamespace(path=recorder.log_path)  # too large for Log, which has all events in memory
        self.check_report(found, log)
        self.check_page(log)
        self.assertEqual(self.serve.end()[0], 0)

    def spans_served(self):
        return sum(value for (name, _), value in samples(self.serve.answers()).items()
                   if name == "spoor_span_duration_seconds_count")


@only_in_soak
class ScrapedForLong(Scraped):
    """Five minutes, ten thousand classes, and more locks than a page has cells for."""
    SECONDS = 300
    SCRAPED_EACH = "2s"
    CLASSES, LOCKS = 10_000, 50_300

    def check_rate(self, grown, since):
        """Over all of it, from before its begin to after its end, when nothing was blocked."""
        length = time.time() - since
        for store in self.stores:
            rate = self.scraped(store, f"rate({BLOCKED}[{length:.0f}s])")
            print(f"{type(store).__name__}: rate {rate:.6f}, {grown / length:.6f} by the sums, over {length:.0f} s")
            self.assert_near(rate, grown / length, 1, "rate")

    def check_page(self, log):
        """Of more cells than fit into a page, those of the least time are put together, and their locks' names go."""
        page = os.path.join(self.tmp, "page.html")
        spoor("html", "-o", page, log.path)
        self.assertLess(os.path.getsize(page), 20 << 20)


del Top, MarkTest  # their tests are those of other files

if __name__ == "__main__":
    unittest.main()
