"""spoor top on a real JVM: what it says against the program's own clocks, the screen, and what is left of it."""
import glob
import json
import os
import queue
import re
import signal
import subprocess
import tempfile
import threading

from jvm import JavaTest  # first: it says where harness is
from harness import DEADLINE_S, SPOOR, no_report, probes_of, spoor, wait_until
from processes import children, status
from screen import LEAVE, Screen

PCT = 3
HELD = "Held.useShelf"
PANES = ("LOCKS", "HOLDERS", "THREADS", "PAUSES", "CPUS", "BY")


class Printed:
    """spoor top without a terminal."""

    def __init__(self, pid, *options):
        self.process = subprocess.Popen([SPOOR, "top", "-p", str(pid), *options], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)

    def window(self):
        return json.loads(self.lines.get(timeout=DEADLINE_S))

    def end(self, number=signal.SIGINT):
        """Its exit status, and the intervals that are left."""
        if number:
            self.process.send_signal(number)
        ended = self.process.wait(DEADLINE_S)
        self.reader.join(DEADLINE_S)
        no_report(self.process.stderr.read())
        return ended, [json.loads(line) for line in self.lines.queue]

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(DEADLINE_S)
        self.process.stdout.close()
        self.process.stderr.close()


class Top(JavaTest):
    def setUp(self):
        super().setUp()
        self.folders = os.environ.get("TMPDIR")
        os.environ["TMPDIR"] = self.tmp
        self.addCleanup(self.put_back)

    def put_back(self):
        if self.folders is None:
            del os.environ["TMPDIR"]
        else:
            os.environ["TMPDIR"] = self.folders

    def flag(self, vm):
        text = spoor("doctor", "-p", vm.pid, expect=None).stdout
        return re.search(r"DTraceMonitorProbes is (\w+)", text)[1]

    def nothing_is_left(self, vm):
        wait_until("the flag is off", lambda: self.flag(vm) == "off")
        self.assertEqual(glob.glob(os.path.join(self.tmp, "spoor-top-*")), [])

    def printed(self, vm, *options):
        top = Printed(vm.pid, *probes_of(options, self.PROBES))
        self.addCleanup(top.close)
        return top

    def screen(self, vm, *options, **size):
        screen = Screen("top", "-p", vm.pid, *probes_of(options, self.PROBES), **size)
        self.addCleanup(screen.close)
        return screen

    def sums(self, windows):
        found = {"table": 0, "shelf": 0}
        for window in windows:
            self.assertEqual((window["lost"]["total"], window["unseen_ns"], window["note"]), (0, 0, ""))
            for lock in window["locks"]:
                for name in found:
                    if lock["lock"].lower().startswith("held$" + name):
                        found[name] += lock["blocked_ns"]
        return found

    def check_sums(self, windows, said):
        got = self.sums(windows)
        for name, ns in got.items():
            self.assert_near(ns, said[name], PCT, name)


class Printing(Top):
    def test_intervals_follow_each_other_and_add_up_to_what_the_program_says(self):
        vm = self.java("Held")
        top = self.printed(vm, "-f", "json")
        windows = [top.window()]
        said = json.loads(vm.ask("go 3000 5000 2500"))
        ended, rest = top.end()
        self.assertEqual(ended, 0)
        windows += rest
        self.assertEqual([w["last"] for w in windows], [False] * (len(windows) - 1) + [True])
        self.assertEqual(windows[0]["from_ns"], 0)
        for before, after in zip(windows, windows[1:]):
            self.assertEqual(before["to_ns"], after["from_ns"])
        self.check_sums(windows, said)
        self.nothing_is_left(vm)

    def test_contentions_that_cross_the_ends_of_intervals(self):
        vm = self.java("Held")
        top = self.printed(vm, "-f", "json")
        windows = [top.window()]
        said = json.loads(vm.ask("go 600000 600000 3000"))
        ended, rest = top.end()
        self.assertEqual(ended, 0)
        windows += rest
        self.check_sums(windows, said)
        for window in windows:
            length = window["to_ns"] - window["from_ns"]
            for lock in window["locks"]:  # of three threads one holds it
                self.assertLessEqual(lock["blocked_ns"], 2 * length * (1 + PCT / 100), lock)
        self.assertGreater(max(lock["waiting"] for window in windows for lock in window["locks"]), 0)
        self.nothing_is_left(vm)

    def test_what_shows_has_no_rights(self):
        vm = self.java("Held")
        top = self.printed(vm, "-f", "json")
        top.window()
        recorder = next(pid for pid in children(top.process.pid))
        self.assertEqual(int(status(top.process.pid)["CapEff"], 16), 0)
        self.assertEqual(status(top.process.pid)["Seccomp"], "2")
        self.assertNotEqual(int(status(recorder)["CapEff"], 16), 0)
        self.assertEqual(top.end()[0], 0)

    def test_once(self):
        vm = self.java("Held")
        top = self.printed(vm, "--once", "-i", "10m", "-f", "json")
        wait_until("the flag is on", lambda: self.flag(vm) == "on")
        said = json.loads(vm.ask("go 3000 5000 1500"))
        ended, windows = top.end()
        self.assertEqual((ended, len(windows)), (0, 1))
        self.check_sums(windows, said)
        shelf = next(lock for lock in windows[0]["locks"] if "Shelf" in lock["lock"])
        self.assertEqual((shelf["waiter_method"], shelf["owner_method"]), (HELD, "Held.hold"))
        self.nothing_is_left(vm)

    def test_by_aspects_and_sorted(self):
        """The tree is the report's, and of the same contentions as the table of locks."""
        vm = self.java("Held")
        vm.say("go 3000 5000 600000")
        top = self.printed(vm, "--once", "-i", "1500ms", "-f", "json", "--by", "lock_class,waiter_pool,owner_method",
                           "--sort", "count")
        _, (window,) = top.end(number=None)
        tree = window["by"]
        self.assertEqual(tree["by"], ["lock_class", "waiter_pool", "owner_method"])
        for key in ("blocked_ns", "count", "idle_ns"):
            sums = sum(lock[key] for lock in window["locks"])
            self.assertEqual((tree["total"][key], sum(g[key] for g in tree["groups"])), (sums, sums), key)
        counts = [g["count"] for g in tree["groups"]]
        self.assertEqual((counts, [lock["count"] for lock in window["locks"]]), (sorted(counts)[::-1],) * 2)
        found = {g["key"][0]: g for g in tree["groups"]}
        for name in ("Table", "Shelf"):
            lock = next(lock for lock in window["locks"] if name in lock["lock"])
            for key in ("blocked_ns", "count", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns"):
                self.assertEqual(found[f"Held${name}"][key], lock[key], key)
            self.assertEqual([g["key"] for g in found[f"Held${name}"]["groups"]], [[f"{name.lower()}-*"]])
        text = spoor("top", "-p", vm.pid, "--once", "-i", "500ms", "--by", "owner_method,lock_class").stdout
        self.assertRegex(text, r"\nBY\nowner_method > lock_class .*\nall contentions .*\n  Held\.hold .*\n    Held\$")

    def test_aspects_for_which_time_is_cut(self):
        """Each group has its piece, the pieces add up, and what is open at the end has no length yet."""
        vm = self.java("Held")
        vm.say("go 3000 5000 20000")
        run = spoor("top", "-p", vm.pid, "--once", "-i", "500ms", "-f", "json", "--by", "duration,owner_state,in_gc,span")
        window = json.loads(run.stdout)
        tree, durations = window["by"], {}
        for key in ("blocked_ns", "count"):
            wanted = sum(lock[key] for lock in window["locks"])
            self.assertEqual((tree["total"][key], sum(g[key] for g in tree["groups"])), (wanted, wanted), key)
        for duration in tree["groups"]:
            durations[duration["key"][0]] = duration
            self.assertEqual(sum(g["blocked_ns"] for g in duration["groups"]), duration["blocked_ns"])
            # HotSpot stops all threads once a second to clean up: a holder that runs is then in a pause.
            self.assertTrue({g["key"][0] for g in duration["groups"]} <= {
                "running", "sleep", "runnable", "stolen", "(not split)", "(hand-over)", "(unknown)", "other", "I/O", "park",
                "pause"}, duration)
        self.assertIn("10-100 ms", durations)
        self.assertEqual(durations.pop("(unknown)", {"count": 0})["count"], 0)
        some = spoor("top", "-p", vm.pid, "--once", "-i", "500ms", "-f", "json", "--by", "duration",
                     "--where", "duration='10-100 ms' and in_gc=no")
        self.assertEqual([g["key"] for g in json.loads(some.stdout)["by"]["groups"]], [["10-100 ms"]])

    def test_once_as_text_by_itself(self):
        vm = self.java("Held")
        vm.say("go 3000 5000 20000")
        text = spoor("top", "-p", vm.pid, "--once", "-i", "500ms", "--where", "lock=*Shelf*").stdout
        self.assertTrue(text.startswith("no event was lost\n"), text)
        self.assertRegex(text, r"\nLOCKS\n.*\n.*Held\$Shelf.* Held\.useShelf +Held\.hold\n")
        self.assertNotIn("Held$Table", text)
        self.assertIn("\nTHREADS\n", text)
        self.nothing_is_left(vm)

    def test_the_jvm_ends(self):
        vm = self.java("Held")
        top = self.printed(vm, "-f", "json")
        top.window()
        said = json.loads(vm.ask("go 3000 5000 300"))
        vm.end()
        ended, windows = top.end(number=None)
        self.assertEqual((ended, windows[-1]["last"]), (0, True))
        self.check_sums(windows, said)

    def test_the_recorder_is_killed(self):
        vm = self.java("Held")
        top = self.printed(vm, "-f", "json")
        top.window()
        recorder = next(pid for pid in children(top.process.pid))
        os.kill(recorder, signal.SIGKILL)
        self.assertEqual(top.end(number=None)[0], 1)
        wait_until("the flag is off", lambda: self.flag(vm) == "off")

    def test_nobody_reads(self):
        vm = self.java("Held")
        with subprocess.Popen([SPOOR, "top", "-p", str(vm.pid), "-f", "json"], stdout=subprocess.PIPE) as top:
            top.stdout.readline()
            top.stdout.close()
            self.assertEqual(top.wait(DEADLINE_S), 0)
        self.nothing_is_left(vm)

    def test_no_such_jvm(self):
        with tempfile.TemporaryFile() as out:
            done = subprocess.run([SPOOR, "top", "-p", str(os.getpid())], stdout=out, stderr=subprocess.PIPE, text=True,
                                  timeout=DEADLINE_S)
        self.assertEqual(done.returncode, 1)
        self.assertIn("spoor: ", done.stderr)
        self.assertEqual(glob.glob(os.path.join(self.tmp, "spoor-top-*")), [])


class OnScreen(Top):
    def busy(self):
        vm = self.java("Held")
        vm.say("go 3000 5000 600000")
        return vm

    def check_end(self, vm, screen):
        self.assertEqual(screen.ended(), 0)
        wait_until("the screen is left", lambda: screen.bytes.rstrip(b"\r\n").endswith(LEAVE))
        self.assertEqual(screen.modes(), screen.before)
        self.nothing_is_left(vm)

    def test_keys(self):
        vm = self.busy()
        screen = self.screen(vm)
        screen.has("Tab panes")
        screen.wait("both locks", lambda frame: sum("Held.hold" in line for line in frame) == 2)
        self.assertEqual(len(screen.frame()), 24)
        self.assertEqual(screen.frame()[0], "no event was lost")
        screen.keys("\r")
        screen.wait("both call chains", lambda frame: any("waiter_stack" in line or "Held.use" in line for line in frame)
                    and any("Held.lambda$go$0" in line for line in frame))
        screen.keys("\x7f")
        screen.has("held in")
        screen.keys("h")
        screen.has("waits in")
        screen.wait("no locks", lambda frame: not any("Held$" in line for line in frame))
        screen.keys("t")
        screen.has("shelf-*")
        screen.keys("c")
        screen.has("vCPU")
        screen.keys("s")
        screen.has("by blocked")
        screen.keys("?")
        screen.has("PageDown")
        screen.keys("\x1b")
        screen.has("vCPU")
        screen.keys("q")
        self.check_end(vm, screen)

    def test_each_key_that_help_names(self):
        vm = self.busy()
        screen = self.screen(vm)
        screen.wait("both locks", lambda frame: sum("Held.hold" in line for line in frame) == 2)
        for size in ((24, 80), (60, 200)):
            screen.resize(*size)
            for key, pane in (*zip("hltpcb", ("HOLDERS", "LOCKS", *PANES[2:])),
                              *(("\t", pane) for pane in (*PANES, PANES[0]))):
                screen.keys(key)
                screen.wait(f"{key!r} shows {pane}", lambda frame, pane=pane, size=size: len(frame) == size[0] and
                            screen.marked()[:1] == [pane] and max(map(len, frame)) <= size[1])
        screen.keys(" ")
        screen.has("HELD: Space goes on")
        held = screen.frame()[1]
        rows = [line.strip() for line in screen.frame() if "Held$" in line]
        first, last = rows[0], rows[-1]
        for key, row in (("\x1b[B", rows[1]), ("\x1b[A", first), ("j", rows[1]), ("k", first), ("\x1b[F", last),
                         ("\x1b[H", first), ("\x1b[6~", last), ("\x1b[5~", first)):
            screen.keys(key)
            screen.wait(f"{key!r} chooses a row", lambda frame, row=row: screen.marked()[1:] == [row])
        self.assertEqual(screen.frame()[1], held)
        screen.keys(" ")
        screen.wait("another interval", lambda frame: frame[1] != held and "HELD" not in "".join(frame))
        for order in ("blocked", "times", "longest", "p50", "p90", "p99", "p99.9", "name", "lost work"):
            screen.keys("\x1b[17~" if order == "blocked" else "s")
            screen.has(f"by {order}")
        for key in ("\x1bOP", "?"):
            screen.keys(key)
            screen.has("PageDown")
            screen.keys("\x7f")
            screen.has("Tab panes")
        for key in ("\x1bOS", "/"):
            screen.keys(key)
            screen.has("where: _")
            screen.keys("\x1b")
            screen.has("Tab panes")
        for key in ("\x1b[15~", "a"):
            screen.keys(key)
            screen.has("by: lock_class,waiter_pool,owner_pool_")
            screen.keys("\x1b")
            screen.has("lock_class > waiter_pool > owner_pool")
        screen.keys("a" + "\x7f" * 40 + "lock_clas\r")
        screen.has("there is no aspect 'lock_clas'")
        screen.keys("s,owner_thread\r")
        screen.has("lock_class > owner_thread")
        screen.wait("owners", lambda frame: any(line.startswith("    shelf-") for line in frame))
        screen.keys("q")
        self.check_end(vm, screen)

    def test_a_filter_that_is_mended(self):
        vm = self.busy()
        screen = self.screen(vm, lines=60, columns=200)
        screen.has("Held$Table")
        screen.keys("/lock\r")
        screen.has("where: lock_")
        screen.keys("=*Shelf*\r")
        screen.wait("one lock", lambda frame: any("Held$Shelf" in line for line in frame)
                    and not any("Held$Table" in line for line in frame))
        screen.has("only contentions where lock=*Shelf*")
        screen.keys("\x1b[21~")
        self.check_end(vm, screen)

    def test_aspects_for_which_time_is_cut(self):
        """Nothing of what is on the screen is cut by them when they are chosen; the next interval is."""
        vm = self.busy()
        screen = self.screen(vm, lines=60, columns=200)
        screen.has("Held$Table")
        screen.keys("b")
        screen.has("lock_class > waiter_pool")
        screen.keys("a" + 60 * "\x7f" + "duration,in_gc\r")
        screen.wait("the next interval", lambda frame: any("duration > in_gc" in line for line in frame)
                    and any(line.split()[:2] == ["10-100", "ms"] for line in frame))
        screen.keys("/duration='no such'\r")
        screen.wait("no row", lambda frame: not any(line.split()[:2] == ["10-100", "ms"] for line in frame))
        screen.keys("q")
        self.check_end(vm, screen)

    def test_it_gets_another_size(self):
        vm = self.busy()
        screen = self.screen(vm)
        screen.has("Held.hold")
        for size in ((60, 200), (5, 20), (24, 80)):
            screen.resize(*size)
            screen.wait("its lines", lambda frame, size=size: len(frame) == size[0] and
                        max(map(len, frame)) <= size[1])
        screen.keys("q")
        self.check_end(vm, screen)

    def test_signals(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(signal=number.name):
                vm = self.java("Held")
                screen = self.screen(vm)
                screen.has("LOCKS")
                if number == signal.SIGINT:
                    screen.keys("\x03")
                else:
                    screen.process.send_signal(number)
                self.check_end(vm, screen)

    def test_while_it_attaches(self):
        vm = self.java("Held")
        screen = self.screen(vm)
        screen.has("attaching")
        screen.keys("q")
        self.check_end(vm, screen)

    def test_killed_it_gives_the_terminal_back(self):
        vm = self.java("Held")
        screen = self.screen(vm)
        screen.has("LOCKS")
        self.assertNotEqual(screen.modes(), screen.before)
        screen.process.kill()
        wait_until("the terminal is as it was", lambda: screen.modes() == screen.before)
        wait_until("the screen is left", lambda: screen.bytes.endswith(LEAVE))
        self.nothing_is_left(vm)

    def test_the_jvm_ends(self):
        vm = self.java("Held")
        screen = self.screen(vm)
        screen.has("LOCKS")
        vm.end()
        screen.has("when the recording ended")
        screen.keys("q")
        self.assertEqual(screen.ended(), 0)
        self.assertEqual(screen.modes(), screen.before)

    def test_hostile_names_are_not_obeyed(self):
        vm = self.java("Hostile")
        screen = self.screen(vm, lines=60, columns=200)
        screen.has("LOCKS")
        screen.keys("t")
        screen.has(r"\x1b]0;owned\x07")
        self.assertNotIn(b"\x1b]", screen.bytes)
        self.assertNotIn(b"\x07", screen.bytes)
        screen.keys("q")
        self.check_end(vm, screen)
