"""spoor steal on this machine, without a JVM: what it says agrees with /proc and with what processes know of
themselves, with privilege and without."""
import csv
import io
import json
import os
import select
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bpf"))

from harness import DEADLINE_S, NOBODY, SPOOR, everybody, kept, no_report, why_no_bpf  # noqa: E402

MS = 10**6
TICK = 10**9 // os.sysconf("SC_CLK_TCK")
# Says that it is ready; burns CPU, in two threads with names, each time it is told to; says what it has used.
SPIN = """
import ctypes, sys, threading, time
def burn(name, ns, used):
    ctypes.CDLL(None).prctl(15, name.encode(), 0, 0, 0)
    begin = time.thread_time_ns()
    while time.thread_time_ns() < begin + ns:
        pass
    used.append(time.thread_time_ns())
print("ready", flush=True)
for line in sys.stdin:
    used = []
    threads = [threading.Thread(target=burn, args=(f"burner-{i}", int(line) * 1000000, used)) for i in (1, 2)]
    for t in threads: t.start()
    for t in threads: t.join()
    print(time.process_time_ns(), flush=True)
"""


class Program:
    """A child that is talked to line by line, with a deadline."""

    def __init__(self, command, **how):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, **how)
        self.rest = b""

    def line(self):
        while b"\n" not in self.rest:
            if not select.select([self.process.stdout], [], [], DEADLINE_S)[0]:
                raise AssertionError("it says nothing")
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                return None
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def say(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def steal_ticks():
    with open("/proc/stat", encoding="ascii") as f:
        return int(f.readline().split()[8])


def spoor(*arguments, expect=0, program=SPOOR, **how):
    ran = subprocess.run([program, "steal", *map(str, arguments)], capture_output=True, text=True, timeout=DEADLINE_S,
                         **how)
    if expect is not None and ran.returncode != expect:
        raise AssertionError(f"exit status {ran.returncode} instead of {expect}: {ran.stdout}{ran.stderr}")
    no_report(ran.stderr)
    return ran


class StealTest(unittest.TestCase):
    def setUp(self):
        self.tmp = kept.folder(self)

    def start(self, command, **how):
        program = Program(command, **how)
        self.addCleanup(program.close)
        return program

    def spinner(self):
        program = self.start([sys.executable, "-c", SPIN])
        self.assertEqual(program.line(), "ready")
        return program

    def audit(self, *options, **how):
        """A running audit that writes JSON; its first line."""
        program = self.start([SPOOR, "steal", "--format", "json", *map(str, options)], **how)
        begin = json.loads(program.line())
        self.assertEqual(begin["what"], "begin")
        return program, begin

    def total(self, program):
        """Ends the audit; all of its lines from now on."""
        program.process.send_signal(signal.SIGINT)
        lines = []
        while (line := program.line()) is not None:
            lines.append(json.loads(line))
        self.assertEqual(lines[-1]["what"], "total")
        return lines, program.process.wait()

    def check_sums(self, span):
        threads = sum(t["stolen_ns"] for t in span["threads"])
        self.assertEqual(threads, span["threads_stolen_ns"])
        self.assertEqual(sum(c["stolen_ns"] for c in span["cpus"]), span["machine_stolen_ns"])
        for t in span["threads"]:
            self.assertEqual(t["apparent_ns"], t["corrected_ns"] + t["stolen_ns"])
        if not span["faults"].get("exceeded"):
            self.assertEqual(threads + span["others_stolen_ns"] + span.get("idle_stolen_ns", 0),
                             span["machine_stolen_ns"])

    def burn(self, method):
        """Watches a process that burns CPU: (what it says, what is said of it)."""
        spinner = self.spinner()
        audit, begin = self.audit("-i", "100ms", "--method", method)
        self.assertEqual(begin["method"], "exact" if method == "exact" else "proportional")
        self.assertEqual(json.loads(audit.line())["what"], "interval")  # it counts
        spinner.say("400")
        used = int(spinner.line())
        json.loads(audit.line())
        json.loads(audit.line())
        lines, status = self.total(audit)
        self.assertEqual(status, 0)
        for span in lines:
            self.check_sums(span)
        mine = [t for t in lines[-1]["threads"] if t["pid"] == spinner.process.pid]
        return used, mine, lines[-1]


class Unprivileged(StealTest):
    def as_nobody(self, *arguments, **how):
        program = everybody.copy(self.tmp, SPOOR)
        return spoor(*arguments, program=program, user=NOBODY, group=NOBODY, extra_groups=[], **how)

    def test_the_estimate_needs_no_privilege(self):
        spinner = self.spinner()
        spinner.say("400")  # an idle machine may have no thread to tell of
        before = steal_ticks()
        ran = self.as_nobody("-i", "50ms", "-d", "500ms", "--method", "proportional", "--format", "json")
        after = steal_ticks()
        lines = [json.loads(line) for line in ran.stdout.splitlines()]
        self.assertEqual(lines[0]["source"]["clock"], "/proc/stat")
        self.assertEqual(sum(line["what"] == "interval" for line in lines), lines[-1]["intervals"])
        for span in lines[1:]:
            self.check_sums(span)
        self.assertLessEqual(lines[-1]["machine_stolen_ns"], (after - before + os.cpu_count()) * TICK)
        self.assertTrue(lines[-1]["threads"])

    def test_exact_says_what_it_needs(self):
        ran = self.as_nobody("-d", "100ms", "--method", "exact", expect=1)
        self.assertIn("CAP_BPF", ran.stderr)
        self.assertIn("--method proportional", ran.stderr)
        self.assertEqual(ran.stdout, "")

    def test_without_a_method_it_takes_what_it_gets_and_says_so(self):
        ran = self.as_nobody("-d", "100ms")
        self.assertIn("is an estimate", ran.stderr)
        self.assertIn("proportional: an estimate", ran.stdout)

    def test_what_a_process_has_used(self):
        used, mine, _ = self.burn("proportional")
        # Threads that ended before they were ever looked at are in the row of their process's ended threads.
        self.assertLessEqual({t["kind"] for t in mine}, {"thread", "ended"})
        corrected = sum(t["corrected_ns"] for t in mine)
        self.assertLessEqual(abs(corrected - 800 * MS), 8 * TICK + (used - 800 * MS))

    def test_a_process_to_its_end(self):
        spinner = self.spinner()
        audit, _ = self.audit("-i", "20ms", "--method", "proportional", "-p", spinner.process.pid)
        audit.line()
        spinner.process.stdin.close()  # it ends; nobody has asked for its status yet
        lines = []
        while (line := audit.line()) is not None:
            lines.append(json.loads(line))
        self.assertEqual(lines[-1]["what"], "total")
        self.assertEqual(audit.process.wait(), 0)
        self.assertLessEqual({t["pid"] for t in lines[-1]["threads"]}, {spinner.process.pid})
        spinner.process.stdin = open(os.devnull, "wb")

    def test_no_such_process(self):
        child = subprocess.Popen(["true"])
        child.wait()
        ran = spoor("-p", child.pid, "--method", "proportional", expect=1)
        self.assertIn(f"there is no process {child.pid}", ran.stderr)

    def test_saved_and_replayed_is_the_same(self):
        saved = os.path.join(self.tmp, "samples")
        options = ("--method", "proportional", "--format", "csv")
        live = spoor("-i", "50ms", "-d", "300ms", "--save", saved, *options).stdout
        replayed = spoor("--input", saved, *options).stdout
        self.assertEqual(replayed, live)
        rows = list(csv.DictReader(io.StringIO(live)))
        self.assertEqual({r["span"] for r in rows}, {"interval", "total"})
        self.assertLessEqual({"machine", "cpu", "others"}, {r["what"] for r in rows})

    def test_a_reader_that_has_seen_enough(self):
        audit, _ = self.audit("-i", "10ms", "--method", "proportional")
        audit.line()
        audit.process.stdout.close()
        self.assertEqual(audit.process.wait(timeout=DEADLINE_S), 0)
        audit.process.stdout = open(os.devnull, "rb")

    def test_a_full_disk(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            ran = subprocess.run([SPOOR, "steal", "-d", "100ms", "-i", "20ms", "--method", "proportional"], stdout=full,
                                 stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("No space left", ran.stderr)
        ran = spoor("-d", "100ms", "-i", "20ms", "--method", "proportional", "--save", "/dev/full", expect=1)
        self.assertIn("/dev/full", ran.stderr)


class Exact(StealTest):
    @classmethod
    def setUpClass(cls):
        why = why_no_bpf()
        if why:
            raise unittest.SkipTest(why)

    def test_what_a_process_has_used(self):
        used, mine, total = self.burn("exact")
        burners = [t for t in mine if t["name"].startswith("burner-")]
        self.assertEqual({t["name"] for t in burners}, {"burner-1", "burner-2"})
        for t in burners:
            # With what its own clock does not see: that it was set up, and taken down.
            self.assertGreaterEqual(t["corrected_ns"], 390 * MS)
            self.assertLessEqual(t["corrected_ns"], 410 * MS + (used - 800 * MS))
        self.assertIn("slots", total["thefts"])

    def test_it_agrees_with_the_kernels_ticks(self):
        spinner = self.spinner()
        audit, begin = self.audit("-i", "100ms", "--method", "both")
        self.assertTrue(begin["both"])
        audit.line()
        spinner.say("300")
        spinner.line()
        lines, status = self.total(audit)
        self.assertEqual(status, 0)
        total = lines[-1]
        self.check_sums(total)
        by_ticks = total["threads_proportional_ns"] + total["others_proportional_ns"]
        slack = 2 * TICK * os.cpu_count()
        self.assertLessEqual(abs(by_ticks - total["machine_stolen_ns"]), slack)
        self.assertEqual(total["proportional_error"]["exact_ns"], total["threads_stolen_ns"])

    def test_one_process_only(self):
        spinner = self.spinner()
        audit, _ = self.audit("-i", "50ms", "--method", "exact", "-p", spinner.process.pid)
        audit.line()
        spinner.say("100")
        spinner.line()
        spinner.process.stdin.close()  # it ends; nobody has asked for its status yet
        lines = []
        while (line := audit.line()) is not None:
            lines.append(json.loads(line))
        self.assertEqual(audit.process.wait(), 0)
        spinner.process.stdin = open(os.devnull, "wb")
        total = lines[-1]
        self.assertEqual({t["pid"] for t in total["threads"]}, {spinner.process.pid})
        self.assertGreaterEqual(sum(t["corrected_ns"] for t in total["threads"]), 195 * MS)
        self.assertEqual(total["wanted_ns"], sum(t["apparent_ns"] for t in total["threads"]))

    def test_both_saved_and_replayed(self):
        saved = os.path.join(self.tmp, "samples")
        options = ("--method", "both", "--format", "csv")
        live = spoor("-i", "50ms", "-d", "300ms", "--save", saved, *options).stdout
        self.assertEqual(spoor("--input", saved, *options).stdout, live)


if __name__ == "__main__":
    unittest.main()
