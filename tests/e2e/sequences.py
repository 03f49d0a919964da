#!/usr/bin/python3
"""Reads logs and looks whether the JVM's sequence numbers have a gap: those of each monitor, and that of park.

    SPOOR_BUILD=build python3 tests/e2e/sequences.py LOG ...

The numbers of a monitor are those of its enter, entered, exit and notify events, and those that its folds stand for:
all numbers of a fold's window are exits of their own or counted in one of its parts. Between the first and the last one
none may be missing, none may be there twice. An object that loses its monitor gets another one, which counts anew.
"""
import bisect
import heapq
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bpf"))

from harness import SPOOR  # noqa: E402

OF_MONITOR = ("monitor_contended_enter", "monitor_contended_entered", "monitor_contended_exit", "monitor_notify")
OF_PARK = ("park_begin", "park_end", "unpark")
KINDS = (*OF_MONITOR, *OF_PARK, "monitor_fold", "monitor_inflate", "monitor_deflate", "lost")
PROBLEMS_MAX = 100
KEPT_MAX = 400_000  # numbers of one monitor in memory: later ones may come earlier


class Run:
    """Numbers in any order, and whether they make one run without a gap. What is in order is forgotten at once."""

    def __init__(self):
        self.first = self.last = None  # of the part that has no gap
        self.later = []  # heap of (first, last) behind it
        self.strays = []  # before its end: they came late, or for the second time
        self.count = 0

    def add(self, first, last=None):
        last = first if last is None else last
        self.count += last - first + 1
        if self.first is None:
            self.first, self.last = first, last
            return
        heapq.heappush(self.later, (first, last))
        while self.later and self.later[0][0] <= self.last + 1:
            first, last = heapq.heappop(self.later)
            if first == self.last + 1:
                self.last = last
            else:
                self.strays.append((first, last))

    def end(self):
        """Missing numbers, and those that were there twice, as (first, last)."""
        missing, twice, at = [], [], None
        for first, last in sorted([(self.first, self.last), *self.strays, *self.later]) if self.count else ():
            if at is not None and first > at + 1:
                missing.append((at + 1, first - 1))
            if at is not None and first <= at:
                twice.append((first, min(at, last)))
            at = last if at is None else max(at, last)
        return missing, twice


class Window:
    """What folds say of the numbers from first to last; and the exits among them, by their threads."""

    def __init__(self, parts):
        self.parts = parts
        self.folds = []

    def check(self, first, last, numbers, exits):
        """numbers: all exits', sorted."""
        told = sum(f["count"] for f in self.folds)
        inside = numbers[bisect.bisect_left(numbers, first):bisect.bisect_right(numbers, last)]
        own = len(inside)
        if len(self.folds) != self.parts:
            yield f"{len(self.folds)} of {self.parts} parts are there"
        elif told + own != last - first + 1:
            yield f"{told} releases are counted, and {own} told, instead of {last - first + 1}"
        for f in self.folds:
            if f["like"] and (f["like"] not in inside or exits[f["like"]] != f["owner"]):
                yield f"like {f['like']}, which is no exit in it of thread {f['owner']}"


class Monitor:
    """From its inflation to its deflation."""

    def __init__(self):
        self.numbers = set()  # that are told of, and not settled yet
        self.exits = {}  # {number: thread}
        self.windows = {}  # {(first, last): Window}
        self.run = Run()
        self.folded = 0

    def add(self, number, thread, is_exit):
        if number in self.numbers:
            yield f"{number} is there twice"
        self.numbers.add(number)
        if is_exit:
            self.exits[number] = thread
        if len(self.numbers) > KEPT_MAX:
            yield from self.settle(sorted(self.numbers)[KEPT_MAX // 2])

    def settle(self, before):
        """What is wrong with the numbers before this one, and with the windows that begin before it."""
        windows = sorted(w for w in self.windows if w[0] < before)
        if windows:
            before = max(before, windows[-1][1] + 1)
        at = 0
        for number in sorted(n for n in self.numbers if n < before):
            while at < len(windows) and windows[at][1] < number:
                at += 1
            if at == len(windows) or number < windows[at][0]:
                self.run.add(number)
            elif number not in self.exits:
                yield f"{number}, in the window {windows[at][0]} to {windows[at][1]}, is no exit"
        exits = sorted(self.exits)
        for first, last in windows:
            window = self.windows.pop((first, last))
            yield from (f"the window {first} to {last}: {p}" for p in window.check(first, last, exits, self.exits))
            self.folded += sum(f["count"] for f in window.folds)
            self.run.add(first, last)
        self.numbers = {n for n in self.numbers if n >= before}
        self.exits = {n: thread for n, thread in self.exits.items() if n >= before}

    def end(self):
        yield from self.settle(float("inf"))
        missing, twice = self.run.end()
        yield from (f"{first} to {last} are missing" for first, last in missing)
        yield from (f"{first} to {last} are there twice" for first, last in twice)


class Sequences:
    """All of a log; events are added in the order of the file."""

    def __init__(self):
        self.monitors = {}
        self.park = Run()
        self.problems = []
        self.events = self.folded = self.monitor_count = self.without = 0
        self.lost = {}

    def monitor(self, lock):
        return self.monitors.setdefault(lock, Monitor())

    def add(self, e):
        kind = e["event"]
        if kind == "lost":
            self.lost[e["event_id"], e["place"]] = e["count"]
        elif kind == "monitor_deflate":
            self.close(e["lock"])
        elif kind == "monitor_fold":
            self.events += 1
            window = self.monitor(e["lock"]).windows.setdefault((e["first"], e["last"]), Window(e["parts"]))
            window.folds.append(e)
        elif kind != "monitor_inflate":
            self.number(kind, e)

    def number(self, kind, e):
        self.events += 1
        number = e["sequence"]
        if not number:
            self.without += 1
        elif kind in OF_PARK:
            self.park.add(number)
        else:
            for text in self.monitor(e["lock"]).add(number, e["thread"], kind == "monitor_contended_exit"):
                self.problem(e["lock"], text)

    def problem(self, what, text):
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(f"{what if isinstance(what, str) else f'lock {what}'}: {text}")

    def close(self, lock):
        m = self.monitors.pop(lock, None)
        if m:
            self.monitor_count += 1
            for text in m.end():
                self.problem(lock, text)
            self.folded += m.folded

    def end(self):
        for lock in list(self.monitors):
            self.close(lock)
        missing, twice = self.park.end()
        for first, last in missing:
            self.problem("park", f"{first} to {last} are missing")
        for first, last in twice:
            self.problem("park", f"{first} to {last} are there twice")
        if self.without:
            self.problem("all", f"{self.without} events have no number")
        return self

    def __str__(self):
        return (f"{self.events} events with numbers of {self.monitor_count} monitors and of park "
                f"({self.park.count}), {self.folded} releases folded, lost {sum(self.lost.values())}: "
                f"{len(self.problems)} problems")


def read(path):
    """The Sequences of a log, which is never in memory as a whole."""
    sequences = Sequences()
    with subprocess.Popen([SPOOR, "cat", "-e", ",".join(KINDS), path], stdout=subprocess.PIPE) as cat:
        for line in cat.stdout:
            sequences.add(json.loads(line))
    if cat.returncode:
        raise AssertionError(f"spoor cat {path}: exit status {cat.returncode}")
    return sequences.end()


def main():
    bad = False
    for path in sys.argv[1:]:
        sequences = read(path)
        print(f"{path}: {sequences}", *sequences.problems, sep="\n  ")
        bad = bad or bool(sequences.problems)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
