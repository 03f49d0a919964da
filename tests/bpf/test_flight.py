"""The flight recorder, and recordings in parts: what is in the files, whatever they were written for."""
import json
import os
import re
import signal
import unittest

from harness import FakeTest, Log, spoor, wait_until


class PartsTest(FakeTest):
    def file(self, number):
        return self.path(f"log-{number:06}.spoor")

    def written(self, recorder, number):
        path = self.file(number)
        wait_until(f"file {number}; {recorder.err}", lambda: os.path.exists(path))
        spoor("verify", path)
        return Log(path)

    def no_rest(self):
        self.assertEqual([f for f in os.listdir(self.tmp) if not f.endswith(".spoor")], [])


class FlightRecorder(PartsTest):
    def test_signal(self):
        fake = self.start()
        recorder = self.record(fake, "--flight-recorder", "60s")
        self.assertEqual(os.listdir(self.tmp), [])
        fired = int(fake("in", "b", "storm", "m", 3000)[0])
        fake("in", "b", "enter", "m")
        recorder.process.send_signal(signal.SIGUSR1)
        log = self.written(recorder, 1)
        self.assertEqual(log.end(), "dumped")
        self.assertEqual(log.header["flight"]["why"], "SIGUSR1")
        self.assertNotIn("part", log.header)
        self.assertEqual(len(log.raw_of("monitor_contended_entered")), fired)
        self.assertEqual(len(log.raw_of("monitor_contended_enter")), fired + 1)
        self.assertIn("by the flight recorder: SIGUSR1", log.report_text())
        # It goes on: the next file has what came in between, and what the first has.
        fake("in", "b", "entered", "m")
        recorder.process.send_signal(signal.SIGUSR1)
        log = self.written(recorder, 2)
        self.assertEqual(len(log.raw_of("monitor_contended_entered")), fired + 1)
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)
        log = self.written(recorder, 3)
        self.assertEqual((log.end(), log.header["flight"]["why"]), ("interrupted", "the recording was interrupted"))
        self.assertEqual(len(os.listdir(self.tmp)), 3)

    def test_killed_jvm(self):
        fake = self.start()
        recorder = self.record(fake, "--flight-recorder", "60s")
        fired = int(fake("in", "b", "storm", "m", 1000)[0])
        fake.process.kill()
        self.assertEqual(recorder.wait(), 0)
        log = self.written(recorder, 1)
        self.assertEqual((log.end(), log.header["flight"]["why"]), ("jvm_exited", "the JVM has ended"))
        self.assertEqual(len(log.raw_of("monitor_contended_entered")), fired)
        self.no_rest()

    def test_trigger_blocked(self):
        """The thread is still blocked when the file is written: nothing ends what is told of."""
        fake = self.start()
        recorder = self.record(fake, "--flight-recorder", "60s", "--trigger", "blocked:300ms", "--after", "100ms")
        fake("in", "b", "storm", "m", 1000)
        self.assertEqual(os.listdir(self.tmp), [])
        fake("in", "b", "enter", "m")
        log = self.written(recorder, 1)
        self.assertRegex(log.header["flight"]["why"], r"^a thread was blocked for .*: Thread B, on demo\.LockA$")
        note, = [e for e in log.of("note") if e["text"].startswith("flight recorder: a thread was blocked")]
        enter = log.of("monitor_contended_enter")[-1]
        self.assertGreaterEqual(note["time_ns"] - enter["time_ns"], 300_000_000)
        self.assertEqual(log.end(), "dumped")
        # So soon after it there is no other one.
        fake("in", "b", "entered", "m")
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)
        self.written(recorder, 2)
        self.no_rest()

    def test_trigger_pause(self):
        """A safepoint that goes on, and a collection's pause that is over: short ones before it are no reason."""
        fake = self.start()
        options = ("--flight-recorder", "60s", "--trigger", "pause:300ms", "--after", "50ms")
        recorder = self.record(fake, *options)
        for _ in range(3):
            fake("safepoint", "begin")
            fake("safepoint", "end")
            fake("gcbegin", 0)
            fake("gcend")
        self.assertEqual(os.listdir(self.tmp), [])
        fake("safepoint", "begin")
        log = self.written(recorder, 1)
        self.assertRegex(log.header["flight"]["why"], r"^a safepoint lasted .* \(limit 300 ms\)$")
        self.assertEqual((len(log.raw_of("safepoint_begin")), len(log.raw_of("safepoint_end"))), (4, 3))
        self.assertGreaterEqual(log.raw[-1]["time_ns"] - log.raw_of("safepoint_begin")[-1]["time_ns"], 300_000_000)
        fake("safepoint", "end")
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)
        self.written(recorder, 2)
        self.no_rest()

    def test_triggers_without_a_file(self):
        """They come so soon after another one that they get none: the end says how many there were."""
        fake = self.start()
        recorder = self.record(fake, "--flight-recorder", "60s", "--trigger", "pause:1us", "--after", "10ms")
        files = 0
        for pauses in (1, 2, 3):
            fake("safepoint", "begin")
            fake("safepoint", "end")
            if pauses == 1:
                files += 1
                self.assertRegex(self.written(recorder, files).header["flight"]["why"], "^a safepoint lasted")
            seen = 0
            while seen < pauses:
                files += 1
                recorder.process.send_signal(signal.SIGUSR1)
                seen = len(self.written(recorder, files).raw_of("safepoint_end"))
        # When this one is written, the triggers have been looked at with all that the one before has.
        recorder.process.send_signal(signal.SIGUSR1)
        self.written(recorder, files + 1)
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)
        self.assertIn("spoor: 2 triggers came too soon after another one to get a file\n", recorder.err)

    def test_trigger_collection(self):
        fake = self.start()
        recorder = self.record(fake, "--flight-recorder", "60s", "--trigger", "pause:200ms", "--after", "50ms")
        fake("gcbegin", 1)
        log = self.written(recorder, 1)
        self.assertRegex(log.header["flight"]["why"], r"^a collection's pause lasted .* \(limit 200 ms\)$")
        fake("gcend")
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)

    def stolen(self, log, until_ns):
        """The shares, in %, that were stolen from all CPUs between two of their samples, up to a time."""
        moments = {}
        for e in log.raw_of("cpu_sample"):
            moments.setdefault(e["time_ns"], {})[e["cpu"]] = e["clock_ns"]
        times = sorted(t for t in moments if t <= until_ns)
        return [100 * (sum(moments[to].values()) - sum(moments[since].values())) / ((to - since) * len(moments[to]))
                for since, to in zip(times, times[1:])]

    def test_trigger_steal(self):
        """What this machine's hypervisor takes meanwhile: in the first window in which it takes anything, and only
        then, a file is written."""
        fake = self.start()
        fake.thread("Thread C", id="c")
        limit = 0.01
        recorder = self.record(fake, "--flight-recorder", "60s", "--window", "100ms", "--trigger", f"steal:{limit}%",
                               "--after", "100ms")
        for _ in range(20):
            if os.path.exists(self.file(1)):
                break
            for thread in "abc":
                fake("go", thread, "busy", 250)
            for thread in "abc":
                fake("join", thread)
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)
        log = self.written(recorder, 1)
        why = log.header["flight"]["why"]
        notes = [e for e in log.of("note") if e["text"].startswith("flight recorder: the hypervisor took")]
        if log.header["sources"]["steal"] == "none" or not any(s >= limit for s in self.stolen(log, 1 << 62)):
            self.assertEqual((why, notes), ("the recording was interrupted", []))
            self.skipTest("the hypervisor has taken nothing meanwhile: the trigger had no reason, and wrote nothing")
        told, of = re.match(r"the hypervisor took ([0-9.]+) % of the CPUs' time \(limit ([0-9.]+) %\)$", why).groups()
        shares = self.stolen(log, notes[0]["time_ns"])
        self.assertEqual(float(of), limit)
        self.assertGreaterEqual(float(told), limit)
        self.assertAlmostEqual(shares[-1], float(told), delta=0.006)
        self.assertTrue(all(s < limit for s in shares[:-1]), shares)

    def test_only_the_last(self):
        """What is older than the time and a quarter of it is gone; what is needed of it is there."""
        fake = self.start()
        recorder = self.record(fake, "--flight-recorder", "1s", "--window", "100ms")
        fake("in", "b", "storm", "m", 10)
        fake("in", "b", "enter", "m")

        def is_gone():
            number = len(os.listdir(self.tmp)) + 1
            recorder.process.send_signal(signal.SIGUSR1)
            log = self.written(recorder, number)
            return log if log.header["flight"]["number"] > 1 and not log.raw_of("monitor_contended_entered") else None

        log = wait_until("the old events are gone", is_gone)
        enter, = log.raw_of("monitor_contended_enter")
        self.assertLess(enter["time_ns"], log.header["flight"]["begin_ns"])
        thread = log.threads()[enter["thread"]]
        self.assertEqual((thread["name"], log.locks()[enter["lock"]]["group"]), ("Thread B", "monitor"))
        report = log.report()
        self.assertIn("Thread B", log.report_text())
        covered = log.raw[-1]["time_ns"] - log.header["flight"]["begin_ns"]
        self.assertLessEqual(report["recording"]["duration_ns"], covered)

    def test_cannot_be_written(self):
        fake = self.start()
        os.mkdir(self.path("gone"))
        recorder = self.record(fake, "--flight-recorder", "60s", path=self.path("gone/log.spoor"))
        os.rmdir(self.path("gone"))
        recorder.process.send_signal(signal.SIGUSR1)
        wait_until("the error", lambda: "could not be written (SIGUSR1)" in recorder.err)
        os.mkdir(self.path("gone"))
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 1)
        spoor("verify", self.path("gone/log-000001.spoor"))


class Parts(PartsTest):
    def test_subsets(self):
        fake = self.start()
        recorder = self.record(fake, "--max-size", "26M", "--deviation", "1%", "--compress", "none")
        fired, rounds = 0, 0
        while not os.path.exists(self.file(4)):
            fired += int(fake("in", "b", "storm", "m", 5000)[0])
            rounds += 1
            self.assertLess(rounds, 200)
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(), 0)
        files = sorted(os.path.join(self.tmp, f) for f in os.listdir(self.tmp))
        self.assertGreaterEqual(len(files), 4)
        spoor("verify", *files)
        whole = json.loads(spoor("report", "--format", "json", self.tmp).stdout)
        self.assertEqual(whole["contention"]["total"]["count"], fired)
        self.assertEqual(whole["recording"]["parts"]["missing"], [])
        self.assertEqual(spoor("report", *reversed(files)).stdout, spoor("report", self.path("log-*.spoor")).stdout)
        alone = [json.loads(spoor("report", "--format", "json", f).stdout) for f in files]
        self.assertEqual(sum(r["contention"]["total"]["count"] for r in alone), fired)
        for report in alone:
            for group in report["contention"]["groups"]:
                self.assertEqual(group["key"], ["demo.LockA"])
        os.rename(files[1], self.path("moved"))
        part = spoor("report", "--format", "json", self.tmp)
        self.assertIn("part 2 is not there", spoor("cat", *files[:1], *files[2:]).stderr)
        hole, = json.loads(part.stdout)["recording"]["parts"]["missing"]
        self.assertEqual((hole["first"], hole["last"]), (2, 2))
        self.assertLess(hole["from_ns"], hole["to_ns"])
        self.assertIn("goes on after part 1", spoor("report", files[0]).stdout)


if __name__ == "__main__":
    unittest.main()
