"""The recorder is killed at any moment: what is in the file is right, and all of what was written whole is read.

A fake JVM numbers all that it does, and is recorded from beginning to end by one recorder, the witness. Others
record the same at the same time and are killed. Of the events of a JVM with hooks, times and numbers come from the JVM
itself, and both must have them alike. Some write in parts, and have begun the second or third when they are killed;
some are flight recorders, which write a file again and again: each that has its name is whole.

SPOOR_CRASH_KILLS tells how many are killed, SPOOR_CRASH_SEED repeats the moments of a run. For 300 run this file by
itself: tests/run ends a test after five minutes.
"""
import glob
import json
import os
import random
import re
import signal
import struct
import subprocess
import time
import unittest
import zlib

from harness import BpfTest, SPOOR, spoor, wait_until

KILLS = int(os.environ.get("SPOOR_CRASH_KILLS", "24"))
SEED = int(os.environ.get("SPOOR_CRASH_SEED", random.randrange(10**9)))
AT_ONCE = 4   # recorders beside the witness
A_ROUND = 12  # of them to one witness
MAGIC, BLOCK_MAGIC = b"\x89SPOOR\r\n", b"\xc1SPB"
KIND_EVENTS, KIND_PACKED = 2, 3
DEFINITIONS, SYNC = 1, 2
DEFINED = {"thread", "class", "lock", "string", "method", "stack"}
MONITOR = {"monitor_contended_enter", "monitor_contended_entered", "monitor_contended_exit"}
PARK = {"park_begin", "unpark", "park_end"}
SWITCH = "monitor_contended_enter"
VM_TIME = {"monitor_contended_entered", "monitor_contended_exit"}  # the JVM tells the time, too
COUNTS = {"cpu_ns", "stolen_ns", "runnable_ns", "throttled_ns"}
TICK_NS = 10**7
SAME_MOMENT_NS = 10**9  # two recorders stamp one hit of a probe one after the other; the machine may pause between


def blocks(path):
    """(kind, events, flags) of each whole block from the beginning on, and the offset behind the last of them."""
    with open(path, "rb") as f:
        data = f.read()
    found, at = [], len(MAGIC)
    if not data.startswith(MAGIC):
        return found, 0
    while data[at:at + 4] == BLOCK_MAGIC and len(data) >= at + 24:
        crc, length, _, events, kind = struct.unpack_from("<IIIII", data, at + 4)
        end = at + 24 + length
        if end > len(data) or zlib.crc32(data[at + 8:end]) != crc:
            break
        found.append((kind, events, data[at + 24 + 21] if kind == KIND_PACKED else 0))
        at = end
    return found, at


def events_in(path):
    """How many events a reader of this file alone finds: of synchronization, what comes before all else."""
    count, begun = 0, False
    for kind, events, flags in blocks(path)[0]:
        if kind not in (KIND_EVENTS, KIND_PACKED) or (flags & SYNC and begun):
            continue
        begun |= not flags & (SYNC | DEFINITIONS)
        count += events
    return count


def cat(*paths):
    """The finished spoor cat, how many events it shows, and those that are of interest here."""
    done = subprocess.run([SPOOR, "cat", *paths], capture_output=True, text=True, errors="replace", timeout=60)
    if done.returncode not in (0, 1):
        raise AssertionError(f"spoor cat {paths}: exit status {done.returncode}: {done.stderr}")
    lines = done.stdout.splitlines()
    return done, len(lines), [json.loads(line) for line in lines if '"event":"off_cpu"' not in line]


class Told:
    """What the log says of the events that the JVM numbers, by what no recorder chooses: thread ids, classes, ..."""

    def __init__(self, events):
        self.threads = {e["thread"]: (e["tid"], e["name"]) for e in events if e["event"] == "thread"}
        self.classes = {e["class"]: e["name"] for e in events if e["event"] == "class"}
        self.locks = {e["lock"]: (self.classes.get(e["class"]), e["address"], e["hash"])
                      for e in events if e["event"] == "lock"}
        self.events = {}
        self.repeated = []
        for e in events:
            if e["event"] not in MONITOR | PARK:
                continue
            thread = self.threads.get(e["thread"], e["thread"])
            fields = {k: v for k, v in e.items() if k not in COUNTS and not k.startswith("owner_")}
            for key in ("thread", "target", "owner"):
                fields[key] = self.threads.get(e.get(key), e.get(key))
            fields["lock"] = self.locks.get(e.get("lock"), e.get("lock"))
            key = (e["event"], thread, e["sequence"])
            if key in self.events:
                self.repeated.append(key)
            self.events[key] = fields


def takes_signals(pid):
    """Whether SIGUSR1 does no longer end it."""
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return int(re.search(r"^SigBlk:\s*([0-9a-f]+)", f.read(), re.M)[1], 16) >> (signal.SIGUSR1 - 1) & 1


class Victim:
    """A recorder that is killed: some while it begins, most between its first byte and the end of its life."""

    def __init__(self, test, target, mode, number, chance):
        self.mode = mode
        self.in_parts, self.flight = "--max-size" in mode, "--flight-recorder" in mode
        self.least = 3 if "none" in mode else 2  # parts: with the third one, the first is deleted
        self.pause = chance.uniform(0, 0.1)
        self.asked = 0
        self.base = test.path(f"victim-{number}.spoor")
        self.begun = chance.random() < 0.1
        self.delay = chance.uniform(0, 0.4) if self.begun else chance.choice((0.1, 0.4, 1.2)) * chance.random()
        self.process = subprocess.Popen([SPOOR, "record", "-q", "-o", self.base, "--no-stacks", *mode,
                                         "-p", str(target.pid)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.PIPE, text=True)
        test.addCleanup(self.close)
        self.at = time.monotonic() + self.delay if self.begun else None
        self.killed_ns = None

    def paths(self):
        return sorted(glob.glob(self.base) + glob.glob(self.base[:-len(".spoor")] + "-[0-9]*.spoor"))

    def first_is_gone(self):
        return bool(self.paths()) and not self.paths()[0].endswith("-000001.spoor")

    def at_work(self):
        """Whether what is of interest in its life has begun."""
        if self.in_parts:
            return any(int(p[-len("000001.spoor"):-len(".spoor")]) >= self.least for p in self.paths())
        return any(os.path.getsize(p) for p in self.paths())

    def ask(self):
        """A flight recorder is asked for a file time and again."""
        if self.flight and time.monotonic() >= self.asked + self.pause and takes_signals(self.process.pid):
            self.process.send_signal(signal.SIGUSR1)
            self.asked = time.monotonic()

    def killed(self):
        """Kills it if the moment is there; whether it is."""
        if self.killed_ns:
            return True
        if self.process.poll() is not None:
            raise AssertionError(f"{self.mode}: it has ended by itself: {self.process.stderr.read()}")
        self.ask()
        if self.at is None and self.at_work():
            self.at = time.monotonic() + self.delay
        if self.at is not None and time.monotonic() >= self.at:
            self.killed_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
            self.process.send_signal(signal.SIGKILL)
        return bool(self.killed_ns)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


class Killed(BpfTest):
    def start(self, rounds=1):
        """A fake JVM at work until nobody records it any more."""
        fake = self.fake(variant="patched")
        for i in "12":
            fake.thread(f"Thread {i}", id=i)
            fake("class", f"demo/Lock{i}")
            fake("object", f"o{i}", f"demo/Lock{i}", "0x123" + i)
            fake("monitor", f"m{i}", f"o{i}")
        for i in "12":
            fake("go", i, "churn", f"m{i}", rounds)
        return fake

    def check_right(self, told, witness, what):
        """No event that did not happen, none that was otherwise."""
        for key, event in told.events.items():
            truth = witness.events.get(key)
            self.assertIsNotNone(truth, f"{what}: {key} never happened")
            apart = abs(event["time_ns"] - truth["time_ns"])
            self.assertLess(apart, 1 if key[0] in VM_TIME else SAME_MOMENT_NS, f"{what}: {event} {truth}")
            event = {**event, "time_ns": truth["time_ns"]}
            self.assertEqual(event, truth, what)
        self.assertEqual(told.repeated, [], what)

    def check_counts(self, events, what):
        """A thread's CPU time does not go back, but for what two CPUs that read it may differ by: a tick."""
        last = {}
        for e in sorted((e for e in events if e["event"] in MONITOR | PARK), key=lambda e: e["sequence"]):
            key = (e["event"] in PARK, e["thread"])
            self.assertGreaterEqual(e["cpu_ns"] + TICK_NS, last.get(key, 0), f"{what}: {e}")
            last[key] = e["cpu_ns"]

    def check_no_hole(self, told, what):
        """What was written are the first events: of each thread's numbers none is missing before the last. They begin
        with the probe that is attached last."""
        numbers = {}
        for kind, thread, sequence in told.events:
            if kind in MONITOR:
                numbers.setdefault(thread, []).append(sequence)
        for thread, found in numbers.items():
            first = min((n for kind, t, n in told.events if kind == SWITCH and t == thread), default=None)
            found = sorted(n for n in found if first is not None and n >= first)
            self.assertEqual(found, list(range(first, first + len(found))) if found else [], f"{what}: {thread}")

    def check(self, victim, witness):
        """How many events were read, and how many ns before the kill the last one was."""
        every = []
        for path in victim.paths():
            what = f"{victim.mode} {os.path.basename(path)} after {victim.delay:.3f} s, seed {SEED}"
            whole, end = blocks(path)
            done, count, events = cat(path)
            if not whole:
                self.assertEqual((done.returncode, count), (1, 0), what)
                self.assertTrue(done.stderr.startswith("spoor: "), done.stderr)
                continue
            self.assertEqual(count, events_in(path), what)
            self.assertEqual(done.returncode != 0, os.path.getsize(path) != end, what + done.stderr)
            self.assertEqual([e["reason"] for e in events if e["event"] == "end"], ["dumped"] * victim.flight, what)
            if victim.flight:
                spoor("verify", path)
            told = Told(events)
            self.check_right(told, witness, what)
            self.check_counts(events, what)
            if len(victim.paths()) == 1:
                self.assertFalse([e for e in events if e["event"] == "lost"], what)
                self.check_no_hole(told, what)
            every += [e for e in events if e["event"] in MONITOR | PARK]
        if victim.in_parts and len(victim.paths()) > 1:
            self.check_set(victim, witness)
        last = max((e["time_ns"] for e in every), default=None)
        return len(every), victim.killed_ns - last if last and not victim.flight else None

    def check_set(self, victim, witness):
        """Its parts as one log, in any order: nothing twice, and no hole where one ends and the next begins."""
        what = f"{victim.mode} as one after {victim.delay:.3f} s, seed {SEED}"
        paths = [p for p in victim.paths() if blocks(p)[0]]
        told = Told(cat(*reversed(paths))[2])
        self.check_right(told, witness, what)
        self.check_no_hole(told, what)

    def modes(self):
        """Half a dozen: one after the other is used, so that of a round two each are."""
        limit = ["--max-size", "512K", "--deviation", "50%"]
        return [*(["--compress", codec] for codec in ("none", "lz4", "zstd")), ["--compress", "none", *limit],
                ["--compress", "zstd", *limit], ["--flight-recorder", "60s"]]

    def test_at_any_moment(self):
        chance, modes = random.Random(SEED), self.modes()
        print(f"{KILLS} kills, SPOOR_CRASH_SEED={SEED}")
        seen, parts, rotated, dumps = [], 0, 0, []
        for first in range(0, KILLS, A_ROUND):
            fake = self.start(rounds=2)
            witness = self.record(fake, "--no-stacks", path=self.path(f"witness-{first}.spoor"))
            victims = []
            for begin in range(first, min(KILLS, first + A_ROUND), AT_ONCE):
                wave = [Victim(self, fake, modes[n % len(modes)], n, chance)
                        for n in range(begin, min(KILLS, first + A_ROUND, begin + AT_ONCE))]
                wait_until("all are killed", lambda: all([v.killed() for v in wave]))
                wait_until("all are gone", lambda: all(v.process.poll() is not None for v in wave))
                victims += wave
            witness = Told(witness.stop().raw)
            parts += sum(victim.in_parts and len(victim.paths()) > 1 for victim in victims)
            rotated += sum(victim.in_parts and victim.first_is_gone() for victim in victims)
            dumps += [len(victim.paths()) for victim in victims if victim.flight]
            seen += [self.check(victim, witness) for victim in victims]
            fake.close()
            for path in glob.glob(self.path("*.spoor")):
                os.unlink(path)
        lost_ms = sorted(ns // 10**6 for _, ns in seen if ns is not None)
        self.assertGreater(len(lost_ms), len(seen) // 3, "too few of them had written an event")
        print(f"{sum(n for n, _ in seen)} events read; {parts} logs in parts, of {rotated} of them the first was "
              f"deleted; {len(dumps)} flight recorders with {sum(dumps)} files; before the kill, the last event was by "
              f"{lost_ms[len(lost_ms) // 2]} ms (median), {lost_ms[-1]} ms (worst)")
        if KILLS >= A_ROUND:
            self.assertGreater(parts, 0, "no log in parts")
            self.assertGreater(sum(dumps), 0, "no file of a flight recorder")

    def test_what_is_a_second_old_is_in_the_file(self):
        """Without anything that fills a block, and with a window that does not end."""
        fake = self.fake()
        fake.thread("Thread A", id="a")
        fake("class", "demo/Lock")
        fake("object", "o", "demo/Lock")
        fake("monitor", "m", "o")
        recorder = self.record(fake, "--window", "1h", "--no-stacks")
        fake("in", "a", "enter", "m")
        wait_until("the event is in the file", lambda: any(
            e["event"] == "monitor_contended_enter" for e in cat(recorder.log_path)[2]))
        recorder.process.kill()
        recorder.wait()
        events = cat(recorder.log_path)[2]
        entered = [e for e in events if e["event"] == "monitor_contended_enter"]
        self.assertEqual(len(entered), 1)
        told = {e["event"]: e for e in events if e.get("thread") == entered[0]["thread"] or e["event"] in DEFINED}
        self.assertEqual((told["thread"]["name"], told["lock"]["lock"], told["class"]["name"]),
                         ("Thread A", entered[0]["lock"], "demo.Lock"))


if __name__ == "__main__":
    unittest.main()
