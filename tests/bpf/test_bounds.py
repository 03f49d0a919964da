"""More locks, names, threads and classes than the recorder can remember: it stays within --max-memory, ends nothing,
counts what it gives up, and its log is as sound as any. What is told apart is counted exactly."""
import json
import os
import re
import resource
import unittest

from harness import FakeTest, Log, read_text, spoor

MEMORY = 96 << 20  # the least there is
SHARE = MEMORY - (64 << 20)  # of what is remembered


class Bounds(FakeTest):
    def flood(self, fake, kind, count, at_once=50000):
        """In pieces, so that each is answered within the deadline; how many fired."""
        fired = 0
        while count:
            now = min(count, at_once)
            fired += int(fake("in", "a", "flood", kind, now)[0])
            count -= now
        return fired

    def assert_within(self, recorder, bound=MEMORY):
        """The largest it has ever been."""
        most = int(re.search(r"^VmHWM:\s*(\d+) kB", read_text(f"/proc/{recorder.pid}/status"), re.M)[1]) << 10
        self.assertLess(most, bound)

    def assert_sound(self, *paths):
        """Each file by itself, too: all numbers in it are defined in it."""
        self.assertTrue(paths)
        for path in paths:
            shown = json.loads(spoor("verify", "--format", "json", path).stdout)
            for kind, numbers in shown["files"][0]["numbers"].items():
                self.assertEqual(numbers["undefined"], 0, (path, kind))

    def bounded(self, log):
        """{kind: (forgotten, shared)}, the last word."""
        return {e["kind"]: (e["forgotten"], e["shared"]) for e in log.of("memory_bound")}

    def assert_told(self, recorder, log, kind):
        forgotten, shared = self.bounded(log)[kind]
        self.assertIn("--max-memory (96.0 MiB) was reached", recorder.err)
        self.assertEqual(len([e for e in log.of("note") if "--max-memory" in e["text"]]), 1)
        self.assertIn("were forgotten", log.report_text())
        told = log.report()["lost"]["not_kept"][kind]
        self.assertEqual((told["forgotten"], told["shared"]), (forgotten, shared))
        return forgotten, shared

    def lost_of(self, log, kind):
        return sum(e["count"] for e in log.report()["lost"]["events"] if e["event"] == kind)

    def test_the_ring_of_fast_samples(self):
        """It is larger if there is room for that; what the user says comes first."""
        fake = self.start()
        for options, wanted in (((), 16), (("--sample=1ms",), 16), (("--sample=100us",), 64),
                                (("--sample=100us", "--max-memory", str(MEMORY)), 16),
                                (("--sample=100us", "--buffer=4M"), 4)):
            log = self.record(fake, "-f", *options).stop()
            self.assertEqual(log.header["record"]["buffer_bytes"], wanted << 20, options)

    def test_monitors(self):
        """A lock on which a thread is blocked all the while keeps its number."""
        fake = self.start()
        recorder = self.record(fake, "--max-memory", str(MEMORY))
        fake("in", "b", "enter", "m")
        fired = self.flood(fake, "monitors", 200000)
        fake("in", "b", "entered", "m")
        self.assert_within(recorder)
        log = recorder.stop()
        self.assert_sound(log.path)
        forgotten, shared = self.assert_told(recorder, log, "lock")
        locks = len(log.locks())
        exits = log.raw_of("monitor_contended_exit")
        self.assertEqual(len(exits) + self.lost_of(log, "monitor_contended_exit"), fired)
        self.assertEqual(len(exits), locks - (shared > 0) - 1 + shared)
        # What is remembered at the end is what fits.
        self.assertGreater(forgotten, locks - SHARE // 80)
        self.assertGreater(locks - forgotten, 20000)
        enter, entered = log.one("monitor_contended_enter"), log.one("monitor_contended_entered")
        self.assertEqual(enter["lock"], entered["lock"])
        self.assertEqual(log.report()["contention"]["incomplete"]["open"], 0)

    def test_monitors_in_parts(self):
        fake = self.start()
        recorder = self.record(fake, "--max-memory", str(MEMORY), "--max-size", "2M")
        fake("in", "b", "enter", "m")
        self.flood(fake, "monitors", 400000)
        fake("in", "b", "entered", "m")
        self.assert_within(recorder)
        recorder.process.send_signal(2)
        self.assertEqual(recorder.wait(), 0)
        parts = sorted(os.path.join(self.tmp, f) for f in os.listdir(self.tmp))
        self.assertGreater(len(parts), 2)
        self.assert_sound(*parts)
        last = [Log(p) for p in parts[-2:]]
        entered = [e for log in last for e in log.raw_of("monitor_contended_entered")]
        self.assertEqual(len(entered), 1)
        enters = [e["lock"] for log in last for e in log.raw_of("monitor_contended_enter")]
        self.assertIn(entered[0]["lock"], enters)  # it was open when the part began
        self.assertIn("--max-memory", recorder.err)

    def test_monitors_in_memory(self):
        """The flight recorder's memory is in the bound, too."""
        fake = self.start()
        recorder = self.record(fake, "--max-memory", str(MEMORY + (4 << 20)), "--flight-recorder", "2s",
                               "--max-size", "4M")
        self.flood(fake, "monitors", 400000)
        self.assert_within(recorder, MEMORY + (4 << 20))
        recorder.process.send_signal(2)
        self.assertEqual(recorder.wait(), 0)
        self.assert_sound(*(os.path.join(self.tmp, f) for f in os.listdir(self.tmp)))

    def test_names(self):
        fake = self.start()
        recorder = self.record(fake, "--max-memory", str(MEMORY), "--max-size", "64M")
        fired = self.flood(fake, "names", 60000, 10000)
        fake("vmop", "begin", "TheLastOne", 0)
        fake("vmop", "end", "TheLastOne", 0)
        self.assert_within(recorder)
        recorder.process.send_signal(2)
        self.assertEqual(recorder.wait(), 0)
        log = Log(os.path.join(self.tmp, "log-000001.spoor"))
        self.assert_sound(log.path)
        forgotten, shared = self.assert_told(recorder, log, "string")
        requests = log.of("vm_operation_request")
        self.assertEqual(len(requests) + self.lost_of(log, "vm_operation_request"), fired)
        self.assertGreater(forgotten, 20000)
        self.assertEqual(len({e["operation"] for e in requests}), len(requests) - max(shared - 1, 0))
        self.assertEqual(log.one("vm_operation_end")["operation"], "TheLastOne")

    def test_classes(self):
        fake = self.start()
        recorder = self.record(fake, "--max-memory", str(MEMORY), "--max-size", "64M")
        fired = self.flood(fake, "classes", 40000, 10000)
        self.assert_within(recorder)
        recorder.process.send_signal(2)
        self.assertEqual(recorder.wait(), 0)
        log = Log(os.path.join(self.tmp, "log-000001.spoor"))
        self.assert_sound(log.path)
        forgotten, _ = self.assert_told(recorder, log, "class")
        self.assertGreater(forgotten, 5000)
        exits = log.of("monitor_contended_exit")
        self.assertEqual(len(exits) + self.lost_of(log, "monitor_contended_exit"), fired)
        # Each was named in its lock's definition, however many were forgotten afterwards.
        named = [e["lock"]["class"] for e in exits if (e["lock"]["class"] or "").startswith("flood.")]
        self.assertEqual(len(set(named)), len(named))
        self.assertGreaterEqual(len(named) + self.lost_of(log, "class") + self.bounded(log)["class"][1], fired)

    def test_threads(self):
        """Threads that come and go are forgotten without being counted: nobody misses them."""
        fake = self.start()
        recorder = self.record(fake, "--max-memory", str(MEMORY), "--max-size", "64M")
        fired = self.flood(fake, "threads", 20000, 5000)
        self.assert_within(recorder)
        recorder.process.send_signal(2)
        self.assertEqual(recorder.wait(), 0)
        log = Log(os.path.join(self.tmp, "log-000001.spoor"))
        self.assert_sound(log.path)
        starts = log.of("thread_start")
        self.assertEqual(len(starts) + self.lost_of(log, "thread_start"), fired)
        names = [e["thread"]["name"] for e in starts if "of many" in e["thread"]["name"]]
        self.assertEqual(len(set(names)), len(names))


class Files(FakeTest):
    """How many files it may have open."""

    def limited(self, soft, hard):
        return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    def test_too_few_are_said_to_be_too_few(self):
        fake = self.start()
        done = spoor("record", "-p", fake.pid, "-d", "1s", "-o", self.path(), expect=1, preexec_fn=self.limited(64, 64))
        self.assertIn("may have 64 files open at most, and a recording needs about 100", done.stderr)
        self.assertNotIn("refuses", done.stderr)
        self.assertEqual(fake.flag(), 0)

    def test_it_takes_as_many_as_it_may(self):
        fake = self.start()
        spoor("record", "-p", fake.pid, "-d", "100ms", "-o", self.path(), preexec_fn=self.limited(64, 1024))
        self.assertEqual(Log(self.path()).end(), "done")


class Usage(FakeTest):
    def test_too_little(self):
        done = spoor("record", "-p", 1, "--max-memory", "10M", expect=2)
        self.assertIn("--max-memory is too small", done.stderr)
        done = spoor("record", "-p", 1, "--max-memory", "128M", "--flight-recorder", "1s", expect=2)
        self.assertIn("with what --flight-recorder keeps it is 352 MiB or more", done.stderr)


if __name__ == "__main__":
    unittest.main()
