"""A recording in parts of which one is gone: the report of the rest says what the report of a whole one says of the
same times. The whole one is another recorder's, of the same fake JVM."""
import json
import os
import signal
import time
import unittest

from harness import FakeTest, Log, spoor, wait_until

MS = 10**6
FAR_NS = 2000 * MS  # more than a reader looks back
PARTS = ("--max-size", "26M", "--deviation", "1%", "--compress", "none", "--window", "50ms")


def report(command, *arguments):
    return json.loads(spoor(command, "--format", "json", *arguments).stdout)


def begun_ns(part):
    return json.loads(spoor("cat", "--header", part).stdout)["part"]["begin_ns"]


def sums(reports, *keys):
    total = 0
    for value in reports:
        for key in keys:
            value = value[key]
        total += value
    return total


class Holes(FakeTest):
    def start(self, *options, **how):
        fake = super().start(*options, **how)
        fake.thread("Thread C", id="c")
        fake.thread("Thread D", id="d")
        fake("class", "demo/Held")
        fake("object", "oh", "demo/Held")
        fake("monitor", "h", "oh")
        fake("in", "a", "own", "h")
        return fake

    def part(self, number):
        return self.path(f"parts/log-{number:06}.spoor")

    def both(self, fake, work, parts):
        """Two recorders, while work() is done until there are so many parts."""
        os.mkdir(self.path("parts"))
        whole = self.record(fake, "--window", "50ms", path=self.path("whole.spoor"))
        some = self.record(fake, *PARTS, path=self.path("parts/log.spoor"))
        rounds = 0
        while not os.path.exists(self.part(parts)):
            work(rounds)
            rounds += 1
            self.assertLess(rounds, 400)
        return whole, some

    def end(self, *recorders):
        for recorder in recorders:
            recorder.process.send_signal(signal.SIGINT)
            self.assertEqual(recorder.wait(), 0, recorder.err)

    def around(self, rest):
        """Options for the times before and behind its hole in the whole recording, in seconds since its begin."""
        start = json.loads(spoor("cat", "--header", self.path("whole.spoor")).stdout)["start_mono_ns"]
        hole, = rest["recording"]["holes"]
        # The last part may have been begun a moment before the end, and hold none.
        parts = reversed(rest["recording"]["parts"]["parts"])
        entered = next(filter(None, (Log(self.part(n)).raw_of("monitor_contended_entered") for n in parts)))
        times = (hole["from_ns"], hole["to_ns"], entered[-1]["time_ns"])
        end, begin, last = [f"{(ns - start) / 1e9:.9f}s" for ns in times]
        return ["--to", end], ["--from", begin, "--to", last]

    def test_totals_of_the_rest(self):
        fake = self.start()

        def work(_):
            fake("in", "b", "storm", "m", 2000)
            fake("in", "d", "enter", "m")
            fake("in", "d", "busy", 2)
            fake("in", "d", "entered", "m")
            fake("in", "d", "park", "-", 0, 0)
            fake("in", "d", "sleep", 2)
            fake("in", "d", "parked")

        # One thread is blocked from the first part on to the last.
        fake("in", "b", "storm", "m", 1)

        def rounds(n):
            if n == 2:
                fake("in", "c", "enter", "h")
            if os.path.exists(self.part(4)):
                begun = begun_ns(self.part(3))
                wait_until("the next parts are far from the others", lambda: time.monotonic_ns() > begun + FAR_NS)
            work(n)

        whole, some = self.both(fake, rounds, 7)
        fake("in", "c", "entered", "h")
        self.end(some, whole)
        os.remove(self.part(3))
        rest = report("report", self.path("parts"))
        hole, = rest["recording"]["holes"]
        self.assertEqual(rest["recording"]["missing_ns"], hole["to_ns"] - hole["from_ns"])
        self.assertGreater(hole["to_ns"] - hole["from_ns"], 5 * MS)
        known = [report("report", *options, self.path("whole.spoor")) for options in self.around(rest)]
        all_of_it = report("report", self.path("whole.spoor"))
        # Threads B and D are in one contention at most where the hole begins, and where it ends.
        self.check_counts(rest["contention"]["total"]["count"], sums(known, "contention", "total", "count"),
                          all_of_it["contention"]["total"]["count"])
        self.check_held(rest, hole)
        self.check_blocked(rest)
        self.check_parked(rest, known, all_of_it)
        self.check_threads(rest, hole)
        self.check_time(hole)
        self.check_timeline(hole)

    def test_numbered(self):
        """Of a patched JVM: in holes, numbers are missing, and are no gaps in what is there."""
        fake = super().start(variant="patched")

        def work(n):
            fake("in", "a", "sleep", 5) if n else fake("go", "b", "churn", "m", 40)

        whole, some = self.both(fake, work, 5)
        self.end(some, whole)
        fake("join", "b")
        os.remove(self.part(3))
        rest = report("report", self.path("parts"))
        known = [report("report", *options, self.path("whole.spoor")) for options in self.around(rest)]
        everything = report("report", self.path("whole.spoor"))
        self.check_counts(rest["contention"]["total"]["count"], sums(known, "contention", "total", "count"),
                          everything["contention"]["total"]["count"], 200)
        self.assertEqual(rest["contention"]["vouched"]["monitor_events"]["gaps"], 0)
        self.assertEqual(rest["contention"]["vouched"]["park_events"]["gaps"], 0)

    def test_damage(self):
        """A block in the middle of a file that cannot be read: what was open before it is not known to be open."""
        fake = self.start()
        recorder = self.record(fake, "--compress", "none", path=self.path("whole.spoor"))
        fake("in", "c", "enter", "h")
        for _ in range(4):
            fake("in", "b", "storm", "m", 5000)
        fake("in", "c", "entered", "h")
        self.end(recorder)
        whole = report("report", self.path("whole.spoor"))
        with open(self.path("whole.spoor"), "r+b") as f:
            data = f.read()
            blocks = [at for at in range(len(data) - 24) if data[at:at + 4] == b"\xc1SPB" and data[at + 20] == 3]
            f.seek(blocks[len(blocks) // 2] + 100)
            f.write(b"\xff\x00\xff\x00")
        rest = json.loads(spoor("report", "--format", "json", self.path("whole.spoor"), expect=1).stdout)
        hole, = rest["recording"]["holes"]
        self.assertGreater(rest["recording"]["missing_ns"], 0)
        self.assertEqual(hole["to_ns"] - hole["from_ns"], rest["recording"]["missing_ns"])
        self.assertLess(rest["contention"]["total"]["count"], whole["contention"]["total"]["count"])
        self.assertGreaterEqual(rest["contention"]["incomplete"]["open"], 1)
        groups = {g["key"][0]: g for g in rest["contention"]["groups"]}
        self.assertNotIn("demo.Held", groups)

    def check_counts(self, rest, known, everything, slack=4):
        self.assertLessEqual(abs(rest - known), slack)
        self.assertLess(rest, everything * 0.95)

    def groups(self, path, by, *options):
        return {tuple(g["key"]): g for g in report("report", "--by", by, *options, path)["groups"]}

    def check_held(self, rest, hole):
        """Thread C: from where the hole ends, and no sooner; what was before it counts as not ended."""
        log = Log(self.path("whole.spoor"))
        enter, = [e for e in log.of("monitor_contended_enter") if e["thread"]["name"] == "Thread C"]
        entered, = [e for e in log.of("monitor_contended_entered") if e["thread"]["name"] == "Thread C"]
        self.assertLess(enter["time_ns"], hole["from_ns"])
        got = self.groups(self.path("parts"), "waiter_thread")[("Thread C",)]
        self.assertEqual(got["count"], 1)
        self.assertLess(abs(got["blocked_ns"] - (entered["time_ns"] - hole["to_ns"])), MS)
        open_ns = rest["contention"]["incomplete"]["open_ns"]
        self.assertGreaterEqual(open_ns, hole["from_ns"] - enter["time_ns"] - MS)
        self.assertLess(open_ns, hole["from_ns"] - enter["time_ns"] + 20 * MS)

    def check_blocked(self, report_of_rest):
        def blocked(path, *options):
            return self.groups(path, "waiter_thread", *options)[("Thread D",)]["blocked_ns"]

        whole = self.path("whole.spoor")
        rest = blocked(self.path("parts"))
        parts = sum(blocked(whole, *options) for options in self.around(report_of_rest))
        self.assertLess(abs(rest - parts), 20 * MS)
        self.assertLess(rest, blocked(whole))

    def check_parked(self, rest, known, everything):
        def total(r, key):
            return sum(row[key] for row in r["parking"])
        for key, slack in (("count", 2), ("total_ns", 20 * MS)):
            self.assertLess(abs(total(rest, key) - sum(total(r, key) for r in known)), slack + 1)
            self.assertLess(total(rest, key), total(everything, key))

    def check_time(self, hole):
        time = report("time", self.path("parts"), "--window", "50ms")
        self.assertEqual(time["holes"], [hole])
        self.assertLessEqual(sum(w.get("missing_ns", 0) for w in time["windows"]), time["missing_ns"])
        self.assertGreater(sum(w.get("missing_ns", 0) for w in time["windows"]), 0)

    def check_timeline(self, hole):
        """Nothing is drawn in the hole; and of a part of it, no more is read than is needed for it."""
        def timeline(*options):
            return json.loads(spoor("export", "--to", "chrome", *options, self.path("parts")).stdout)
        drawn = timeline()
        base = int(drawn["otherData"]["time_0_mono_ns"])
        depths, begun = {}, {}
        for e in sorted((e for e in drawn["traceEvents"] if e["ph"] in "BE"), key=lambda e: e["ts"]):
            ns = base + round(e["ts"] * 1000)
            self.assertFalse(hole["from_ns"] < ns < hole["to_ns"], e)
            if ns <= hole["from_ns"]:
                depths[e["tid"]] = depths.get(e["tid"], 0) + (1 if e["ph"] == "B" else -1)
            begun.setdefault(ns > hole["from_ns"], set()).add(e["tid"])
        self.assertEqual(set(depths.values()), {0})
        self.assertTrue(begun[True] and begun[False])
        self.assertIn("nothing is known from here on", [e["name"] for e in drawn["traceEvents"] if e["ph"] == "i"])
        # Thread C was blocked before: that is known at the begin of any part.
        start = json.loads(spoor("cat", "--header", self.part(1)).stdout)["start_mono_ns"]
        # Its block ends in the last part, however soon after that part has begun.
        entered, = [e["time_ns"] for e in Log(self.path("whole.spoor")).of("monitor_contended_entered")
                    if e["thread"]["name"] == "Thread C"]
        blocked = (begun_ns(self.part(7)) + entered) // 2
        with open(self.part(1), "r+b") as f:
            f.seek(os.path.getsize(self.part(1)) // 2)
            f.write(bytes(64))
        spoor("export", "--to", "chrome", self.path("parts"), expect=1)
        part = timeline("--from", f"{(blocked - start) / 1e9:.9f}s")
        held = [e for e in part["traceEvents"] if e["ph"] == "B" and e["name"] == "lock demo.Held"]
        self.assertEqual(len(held), 1, [e for e in part["traceEvents"] if e["ph"] == "B"][:20])

    def check_threads(self, rest, hole):
        """What is missing of each thread is the hole, and up to a sample more on either side."""
        length = hole["to_ns"] - hole["from_ns"]
        for thread in rest["threads"]:
            with self.subTest(thread=thread["name"]):
                self.assertGreaterEqual(thread["missing_ns"], length - 60 * MS)
                self.assertLess(thread["missing_ns"], length + 300 * MS)
                # A round of samples has one time; a busy machine stops it in the midst.
                self.assertLess(abs(thread["error_ns"]), 10 * MS)
                states = sum(thread["states"].values())
                self.assertEqual(states - thread["wall_ns"], thread["error_ns"])


if __name__ == "__main__":
    unittest.main()
