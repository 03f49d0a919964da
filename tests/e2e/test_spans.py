"""Marks of an application (jvm-hooks/mark) on a real JVM: spans against the program's own clock."""
import collections
import glob
import json
import os
import re
import subprocess
import unittest
import zipfile

from jvm import JavaTest, PatchedJavaTest, java_classes  # first: it says where harness is
from harness import BUILD, DEADLINE_S, SPOOR, name_of, spoor
import red_zone

JAR = os.path.join(BUILD, "spoor-mark.jar")
PCT, FLOOR_NS = 2, 200_000
MS = 1_000_000
NOPS = bytes.fromhex("90 0f1f440000 662e0f1f840000000000")
STATE_OF = {"sleep": "sleep", "lock": "lock", "juc": "park", "burn": "running", "park": "park", "wait": "wait",
            "read": "io", "innermost": "sleep"}
LOCKS = {"lock": "Spans$Lock", "juc": "java.util.concurrent.locks.ReentrantLock$NonfairSync"}


class Span:
    """As the program tells it."""

    def __init__(self, line):
        _, self.name, *times = line.split(" ")
        self.before, self.begun, self.ending, self.ended, self.known, self.cpu = map(int, times)

    def slack(self):
        """How well the program knows it: it may have lost its CPU between a stamp and the mark."""
        return max(FLOOR_NS, self.begun - self.before + self.ended - self.ending)

    def fits(self, got):
        begin, end = got["begin_ns"], got["begin_ns"] + got["ns"]
        return self.before <= begin <= self.begun and self.ending <= end <= self.ended


class MarkTest(JavaTest):
    BEFORE = {}  # by state: others that come before it, for the same reason

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not os.path.exists(JAR):
            raise unittest.SkipTest(f"there is no {JAR}: make mark")
        cls.classes = os.pathsep.join([java_classes("marks/*.java", *cls.javac_options(), "-cp", JAR), JAR])

    def told(self, vm, command, deadline_s=DEADLINE_S):
        """What the program says up to "done"."""
        vm.say(command)
        lines = []
        while (line := vm.line(deadline_s)) != "done":
            lines.append(line)
        return lines

    def spans(self, log, *options):
        return json.loads(spoor("spans", "--format", "json", "--top", 1000, *options, log.path).stdout)

    def by_name(self, spans):
        return {n["name"]: n for n in spans["names"]}

    def assert_complete(self, spans):
        facts = spans["facts"]
        self.assertEqual((facts["lost"], facts["begin_missing"], facts["open"], facts["late_ns"]), (0, 0, 0, 0))

    def check_state(self, span, got, state):
        """A thread that wants to sleep may have to run for a while, or to wait for a CPU, or for a page (other); all else it
        slept."""
        states = got["states"]
        if "other" not in self.BEFORE.get(state, ()):
            # Who tells the compilers of a method to compile waits, in glibc, until those that were told before have got
            # a CPU (pthread_cond_broadcast() waits for the group of waiters of the one before).
            late = self.compilers_waited_ns(got)
            self.assertLess(states["other"], got["ns"] / 10 + late, f"{span.name}: {states}")
        beside = {"running", "stolen", "runnable", "throttled", "pause", "other", *self.BEFORE.get(state, ())}
        active = sum(states[s] for s in beside)
        if state == "running":
            # The kernel's clock of CPU time leaves out interrupts; many switches, many of these. It has stolen time in
            # it where another CPU looks at the clock during the theft: since Linux 6.14 the kernel drops what it
            # cannot take off at once (update_rq_clock_task()).
            undeducted = states["stolen"] if states[state] < span.known else 0
            # What the span has beside what the program has timed (code that is run for the first time) is around it.
            wanted = min(max(states[state], span.known), span.cpu)
            self.assert_near(states[state], wanted, PCT, f"{span.name}: {states}",
                             FLOOR_NS + states["runnable"] / 10 + undeducted)
            return
        # A theft is told with the turn in which it ends: it may have begun while the thread was off its CPU.
        self.assert_near(states[state], got["ns"] - active, PCT, f"{span.name}: {states}",
                         FLOOR_NS + states["stolen"])
        least = span.known * (100 - PCT) / 100 - FLOOR_NS - active
        self.assertGreaterEqual(states[state], least, f"{span.name}: {states}")

    def compilers_waited_ns(self, got):
        """For how long one of the VM's compilers waited for a CPU, at most, while the span was open."""
        begin, end = got["begin_ns"], got["begin_ns"] + got["ns"]
        waited = collections.Counter()
        for e in self.log.of("off_cpu"):
            within = min(e["cpu_wait_ns"], e["time_ns"] - begin, end - (e["time_ns"] - e["off_ns"]))
            if within > 0 and "CompilerThre" in name_of(e["thread"]):
                waited[name_of(e["thread"])] += within
        return max(waited.values(), default=0)

    def assert_pairs(self, wanted, spans):
        """Each span of the program's with the one of spoor's that fits its clock."""
        left = list(spans["slowest"])
        pairs = []
        for span in wanted:
            found = [got for got in left if got["name"] == span.name and span.fits(got)]
            self.assertEqual(len(found), 1, f"{span.name} from {span.begun} to {span.ending}: {found}")
            left.remove(found[0])
            pairs.append((span, found[0]))
        self.assertEqual(left, [])
        return pairs


class Contents:
    """On the stock JVM, and on the patched one."""
    ROUNDS = 5

    def test_spans_hold_what_the_program_did(self):
        vm = self.java("Spans")
        self.told(vm, "recorded")  # the library is there before the recorder is
        recorder = self.record(vm)
        self.assertEqual(self.told(vm, "await 1"), ["recorded true"])
        wanted = [Span(line) for line in self.told(vm, f"scenes {self.ROUNDS}")]
        self.log = log = recorder.stop()
        self.assertEqual(log.lost(), {})
        spans = self.spans(log)
        self.assert_complete(spans)
        for span, got in self.assert_pairs(wanted, spans):
            with self.subTest(name=span.name):
                self.check(span, got)
        for name, n in self.by_name(spans).items():
            own = [s for s in wanted if s.name == name]
            lengths = [s.ending - s.begun for s in own]
            self.assertEqual(n["count"], len(own))
            self.assert_near(n["total_ns"], sum(lengths), PCT, name, sum(s.slack() for s in own))
            self.assert_near(n["max_ns"], max(lengths), PCT, name, max(s.slack() for s in own))
        self.check_nesting(spans)
        # The first ways out of native code are not known yet when they are met; a holder that is seen at one moment
        # only, as on a stock JVM, is where it was then.
        for name, method in (("lock", "Spans$Holder.hold"), ("juc", "Spans$JucHolder.hold")):
            held = collections.Counter()
            for by in (b for s in spans["slowest"] for b in s["blocked_by"]):
                if (by["class"], by["holder"]) == (LOCKS[name], "holder"):
                    held[by["holder_method"]] += by["ns"]
            known = {method, "Spans$Holder.keep"}
            self.assertTrue(known & set(held), held)
            elsewhere = sum(ns for m, ns in held.items() if m not in known | {"(unknown)"})
            self.assertLess(elsewhere, sum(held.values()) / 50, held)
        self.assertLess(spans["facts"]["states_error_ns"], sum(n["total_ns"] for n in spans["names"]) / 1000)

    def check(self, span, got):
        states = got["states"]
        self.assert_near(got["ns"], span.ending - span.begun, PCT, f"{span.name}: length", span.slack())
        # A switch to it that BPF has not seen is made good at its next one: see switch_in_late() in sched.bpf.c.
        self.assert_near(sum(states.values()), got["ns"], PCT, f"{span.name}: sum of the states", FLOOR_NS)
        self.assertEqual(got["thread"], "worker")
        if span.name in STATE_OF:
            self.check_state(span, got, STATE_OF[span.name])
        if span.name in LOCKS:
            # From the moment when it blocks to when it has the lock. After the release it may wait for a CPU for long; and
            # the program sees it blocked before it is: it runs a little until then, if it has a CPU.
            by = got["blocked_by"]
            held = sum(b["ns"] for b in by if (b["class"], b["holder"]) == (LOCKS[span.name], "holder"))
            unblocked = sum(states[s] for s in ("running", "stolen", "runnable", "throttled"))
            self.assertGreaterEqual(held, span.known * (100 - PCT) / 100 - unblocked, f"{by}, {states}")
            self.assert_near(sum(b["ns"] for b in by), states[STATE_OF[span.name]], PCT, f"held: {by}",
                             FLOOR_NS + states["runnable"] + states["running"])

    def check_nesting(self, spans):
        within = {s["name"]: s["within"] for s in spans["slowest"]}
        self.assertEqual((within["outer"], within["inner"], within["innermost"]), (None, "outer", "inner"))
        names = self.by_name(spans)
        for outer, inner in (("outer", "inner"), ("inner", "innermost")):
            self.assert_near(names[outer]["self_ns"], names[outer]["total_ns"] - names[inner]["total_ns"], 0.1, outer)
        self.assertEqual(names["inner"]["states"]["sleep"], names["innermost"]["states"]["sleep"])
        self.assertEqual(names["inner"]["self_states"]["sleep"], 0)
        self.assertGreater(names["outer"]["self_states"]["running"], 19 * MS * self.ROUNDS)


class Stock(Contents, MarkTest):
    pass


class Patched(Contents, MarkTest, PatchedJavaTest):
    pass


class Ways(MarkTest):
    def test_nothing_is_called_while_nobody_records(self):
        vm = self.java("Spans", options=["-Xlog:jni+resolve=debug:file=" + self.path("jni.log")])
        self.assertEqual(self.told(vm, "recorded"), ["recorded false"])
        self.told(vm, "many 1000000")

        def called():
            with open(self.path("jni.log"), encoding="utf-8") as f:
                return set(re.findall(r"native method spoor\.Mark\.(\w+)", f.read()))

        self.assertEqual(called(), {"semaphores"})
        recorder = self.record(vm)
        self.assertEqual(self.told(vm, "await 1"), ["recorded true"])
        self.told(vm, "many 100")
        self.assertEqual(called(), {"semaphores", "fireBegin", "fireEnd"})
        log = recorder.stop()
        self.assertEqual(self.told(vm, "recorded"), ["recorded false"])
        self.assertEqual(self.by_name(self.spans(log))["many"]["count"], 100)

    def test_the_library_may_come_after_the_recorder(self):
        vm = self.java("Spans")
        recorder = self.record(vm, "--window", "50ms")
        self.assertEqual(self.told(vm, "await 1"), ["recorded true"])
        self.told(vm, "many 10")
        log = recorder.stop()
        spans = self.spans(log)
        self.assert_complete(spans)
        self.assertEqual(self.by_name(spans)["many"]["count"], 10)

    def test_two_class_loaders_have_two_libraries(self):
        vm = self.java("Spans")
        self.told(vm, "recorded")
        recorder = self.record(vm, "--window", "50ms")
        self.assertEqual(self.told(vm, "await 1"), ["recorded true"])
        self.told(vm, "loaders")
        self.told(vm, "many 1")
        spans = self.spans(recorder.stop())
        self.assertEqual({n: s["count"] for n, s in self.by_name(spans).items()},
                         {"of loader 0": 1, "of loader 1": 1, "many": 1})

    def test_two_recorders(self):
        vm = self.java("Spans")
        self.told(vm, "recorded")
        recorders = [self.record(vm, path=self.path(f"{i}.spoor")) for i in range(2)]
        self.assertEqual(self.told(vm, "await 1"), ["recorded true"])
        self.told(vm, "many 50")
        for recorder in recorders:
            self.assertEqual(self.by_name(self.spans(recorder.stop()))["many"]["count"], 50)
        self.assertEqual(self.told(vm, "recorded"), ["recorded false"])

    def test_as_on_older_kernels(self):
        vm = self.java("Spans")
        self.told(vm, "recorded")
        recorder = self.record(vm, "--window", "50ms", env={**os.environ, "SPOOR_NO_UPROBE_MULTI": "1"})
        self.assertEqual(self.told(vm, "await 1"), ["recorded true"])
        self.told(vm, "many 30")
        self.told(vm, "loaders")
        spans = self.spans(recorder.stop())
        self.assertEqual({n: s["count"] for n, s in self.by_name(spans).items()},
                         {"many": 30, "of loader 0": 1, "of loader 1": 1})

    def test_all_ways_to_mark(self):
        vm = self.java("Spans")
        self.told(vm, "recorded")
        recorder = self.record(vm)
        self.assertEqual(self.told(vm, "await 1"), ["recorded true"])
        self.told(vm, "sides")
        log = recorder.stop()
        spans = self.spans(log)
        self.assert_complete(spans)
        # 10 bytes each: cut amid a character it would be another text.
        cut = "\u00e4\u20ac\U0001f600 " * 12 + "\u00e4\u20ac"
        self.assertLessEqual(len(cut.encode()), 127)
        self.assertEqual({n: s["count"] for n, s in self.by_name(spans).items()},
                         {"a runnable": 1, "a callable": 1, "a span": 1, cut: 1, "(no name)": 1, "null": 1,
                          "that fails": 1, "together": 4})
        self.assertEqual({s["thread"] for s in spans["slowest"] if s["name"] == "together"},
                         {f"crew-{i}" for i in range(4)})
        chosen = self.spans(log, "--name", "a *")
        self.assertEqual(sorted(self.by_name(chosen)), ["a callable", "a runnable", "a span"])

    def test_names_of_threads(self):
        vm = self.java("Spans")
        recorder = self.record(vm)
        wanted = [Span(line) for line in self.told(vm, "renames 40")]
        self.log = log = recorder.stop()
        spans = self.spans(log, "--by-thread-name=^req-[0-9]+ (/.*)")
        self.assertEqual({n: s["count"] for n, s in self.by_name(spans).items()}, {"/a": 20, "/b": 20})
        for span, got in self.assert_pairs(wanted, spans):
            self.assert_near(got["ns"], span.ending - span.begun, PCT, span.name, span.slack())
            self.check_state(span, got, "sleep")
        self.assertEqual(self.spans(log)["names"], [])
        self.assertIn("idle", self.by_name(self.spans(log, "--by-thread-name")))


class Filters(MarkTest):
    """The servlet filters, with the API's own classes; test_spans_tomcat.py has a real server."""
    REQUESTS = {"GET /": "GET /", "GET /shop/cart/4711/items": "GET /shop/cart/*",
                "POST /shop//cart;v=1": "POST /shop/cart", "GET /a/b/c/d": "GET /a/b/c",
                "GET /123e4567-e89b-12d3-a456-426614174000/a": "GET /*/a"}

    def check(self, api, jars, *segments):
        found = [path for pattern in jars for path in glob.glob(pattern)]
        if not found:
            self.skipTest(f"none of {jars} is there: the servlet API is not installed")
        vm = self.java("Filters", api, found[0], *segments)
        answers = [vm.ask("GET /before"), vm.line()]
        recorder = self.record(vm)
        self.assertEqual(vm.ask("await"), "true")
        for request in self.REQUESTS:
            answers += [vm.ask(request), vm.line()]
        answers += [vm.ask("GET /failed fail"), vm.line()]
        spans = self.spans(recorder.stop())
        paths = ["/before", *[r.split(" ")[1] for r in self.REQUESTS], "/failed"]
        self.assertEqual(answers[::2], [f"asked for {path}" for path in paths])
        self.assertEqual(answers[1::2], ["returned"] * (len(paths) - 1) + ["thrown on purpose"])
        self.assert_complete(spans)
        self.assertEqual(vm.end(), 0)
        return {n: s["count"] for n, s in self.by_name(spans).items()}

    def test_javax(self):
        names = self.check("javax", ["/usr/share/java/servlet-api-[34].*.jar", "/usr/share/java/servlet-api.jar",
                                     "/usr/share/java/tomcat9-servlet-api.jar"])
        self.assertEqual(names, {name: 1 for name in [*self.REQUESTS.values(), "GET /failed"]})

    def test_jakarta(self):
        names = self.check("jakarta", ["/usr/share/java/tomcat10-servlet-api.jar",
                                       "/usr/share/tomcat10/lib/servlet-api.jar"], "1")
        self.assertEqual(names, {"GET /": 1, "GET /shop": 1, "POST /shop": 1, "GET /*": 1, "GET /a": 1,
                                 "GET /failed": 1})


class Places(MarkTest):
    """Where the library is, or cannot be."""

    def library(self):
        path = self.path("library.so")
        with zipfile.ZipFile(JAR) as jar, open(path, "wb") as f:
            f.write(jar.read("spoor/libspoor-mark-linux-amd64.so"))
        return path

    def record_many(self, vm):
        self.assertEqual(self.told(vm, "recorded"), ["recorded false"])
        recorder = self.record(vm)
        self.assertEqual(self.told(vm, "await 1"), ["recorded true"])
        self.told(vm, "many 20")
        self.assertEqual(self.by_name(self.spans(recorder.stop()))["many"]["count"], 20)

    def test_which_nop_is_taken(self):
        """That which the kernel makes a call of, if there is one: doctor has tried."""
        doctor = subprocess.run([SPOOR, "doctor"], capture_output=True, text=True).stdout
        wanted = 6 if re.search(r"of 10 bytes: \d+ ns \(call", doctor) else 1 if "5 bytes (call)" in doctor else 0
        library = self.library()
        site = next(s.at for s in red_zone.sites(library) if s.name == "spoor_mark:begin")
        vm = self.java("Spans", options=["-Dspoor.mark.library=" + library])
        self.told(vm, "recorded")
        recorder = self.record(vm)
        self.assertEqual(self.told(vm, "await 1"), ["recorded true"])
        self.told(vm, "many 20")
        with open(f"/proc/{vm.pid}/maps", encoding="utf-8") as f:
            base = next(int(line.split("-")[0], 16) for line in f if line.rstrip().endswith(library))
        with open(f"/proc/{vm.pid}/mem", "rb") as f:
            f.seek(base + site)
            now = f.read(len(NOPS))
        changed = [i for i in (0, 1, 6) if now[i] != NOPS[i]]
        print(f"doctor: {wanted}; {now.hex(' ')}", flush=True)
        self.assertEqual(changed, [wanted])
        self.assertEqual(self.by_name(self.spans(recorder.stop()))["many"]["count"], 20)

    def test_a_file_that_stays(self):
        self.record_many(self.java("Spans", options=["-Dspoor.mark.library=" + self.library()]))

    def in_namespace(self, script):
        """In a mount namespace with a folder that is another file system there, and empty outside."""
        folder = self.path("private")
        os.mkdir(folder)
        self.addCleanup(lambda: self.assertEqual(os.listdir(folder), []))
        return folder, ["unshare", "-m", "--propagation", "private", "sh", "-c",
                        f'mount -t tmpfs none {folder} && {script} && exec "$@"', "sh"]

    def test_another_mount_namespace(self):
        folder, before = self.in_namespace(f"cp {self.library()} {self.path('private')}/")
        self.record_many(self.java("Spans", options=[f"-Dspoor.mark.library={folder}/library.so"], before=before))

    def test_another_mount_namespace_and_deleted(self):
        folder, before = self.in_namespace("true")
        self.record_many(self.java("Spans", options=[f"-Djava.io.tmpdir={folder}"], before=before))

    def test_nothing_is_left_of_it(self):
        vm = self.java("Spans", options=[f"-Djava.io.tmpdir={self.tmp}"])
        before = os.listdir(self.tmp)
        self.told(vm, "recorded")
        self.assertEqual(os.listdir(self.tmp), before)
        with open(f"/proc/{vm.pid}/maps", encoding="utf-8") as f:
            self.assertRegex(f.read(), r"spoor-mark-\d+\.so \(deleted\)")

    def test_where_it_cannot_be_unpacked_marks_do_nothing(self):
        logging = self.path("logging.properties")
        with open(logging, "w", encoding="utf-8") as f:
            f.write("handlers=java.util.logging.FileHandler\njava.util.logging.FileHandler.level=ALL\n"
                    f"java.util.logging.FileHandler.pattern={self.path('log.xml')}\nspoor.mark.level=FINE\n")
        vm = self.java("Spans", options=["-Djava.io.tmpdir=/nonexistent",
                                         "-Djava.util.logging.config.file=" + logging])
        self.assertEqual(self.told(vm, "recorded"), ["recorded false"])
        self.told(vm, "sides")
        self.told(vm, "many 1000")
        self.assertEqual(vm.end(), 0)
        with open(self.path("log.xml"), encoding="utf-8") as f:
            messages = re.findall(r"<message>(.*)</message>", f.read())
        self.assertEqual(len(messages), 1, messages)
        self.assertRegex(messages[0], "marks do nothing: .*NoSuchFileException")


if __name__ == "__main__":
    unittest.main()
