#!/usr/bin/python3
"""Logs of made-up patterns, with n and 4 n events, through the commands that read logs: none may take more than 8 times
the CPU for 4 times the events, as what looks through all for each does.

A pattern is some kinds of events, interleaved or one after the other; each field has numbers that stay, grow, come
again or are at random; blocks of the log may be missing. What grows too fast is tried again with 16 n events, and
printed with the seed that makes it: growth.py --seed N --count 1.
"""
import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests/unit"))

from packed_log import Log  # noqa: E402

SPOOR = os.environ.get("SPOOR") or os.path.join(os.environ.get("SPOOR_BUILD") or os.path.join(ROOT, "build"), "spoor")
COMMANDS = (("report",), ("report", "--format", "json"), ("report", "--by", "owner_stack,waiter_stack,lock,owner_thread"),
            ("time",), ("gc", "--pauses"), ("profile",), ("spans",), ("verify",), ("export", "--to", "chrome"),
            ("export", "--to", "collapsed"), ("html", "-o", "-"),
            ("diff", "--before", "..", "--after", "..", "--by", "owner_stack,waiter_stack,lock,owner_thread"))
EVENTS = 10000
SEEN_S = 0.5  # what takes less is not looked at
TIMES, ALLOWED = 4, 8
DEADLINE_S = 120


def numbers(dice):
    """A function of i and n: the number in the ith event of n."""
    base = dice.choice((1, 1, 1, 1 << 20, 1 << 40))
    every = dice.choice((2, 7, 64, 513, 5000))
    own = random.Random(dice.random())
    return dice.choice((lambda i, n: base, lambda i, n: base + i, lambda i, n: base + n - i, lambda i, n: 1 + i % every,
                        lambda i, n: own.randrange(8), lambda i, n: own.randrange(1, n + 1), lambda i, n: 1 + i // 2,
                        lambda i, n: 1 + i % max(1, int(n ** .5))))


def values(dice, field):
    if field["type"] == "str":
        return dice.choice((lambda i, n: f"name {i}", lambda i, n: "x"))
    if field["type"] == "bool":
        return dice.choice((lambda i, n: False, lambda i, n: True, lambda i, n: bool(i & 1)))
    if field["type"] == "enum":
        return dice.choice((lambda i, n: 0, lambda i, n: 1, lambda i, n: 2, lambda i, n: i % 3))
    return numbers(dice)


class Pattern:
    def __init__(self, seed, schema):
        dice = random.Random(seed)
        kinds = [dice.choice(schema) for _ in range(dice.choice((1, 2, 2, 3, 4)))]
        self.name = [kind["name"] for kind in kinds]
        self.kinds = [(kind["id"], numbers(dice), [values(dice, f) for f in kind["fields"]]) for kind in kinds]
        self.interleaved = dice.random() < .5
        self.step_ns = dice.choice((0, 1, 1000))
        self.block = dice.choice((2000, 2000, 2000, 20))
        self.holes = dice.random() < .4

    def order(self, n):
        each = max(1, n // len(self.kinds))
        if self.interleaved:
            return ((kind, i) for i in range(each) for kind in self.kinds)
        return ((kind, i) for kind in self.kinds for i in range(each))

    def log(self, n, path):
        at, rows, log = 1000, [], Log(("zstd",))
        for (event, thread, fields), i in self.order(n):
            rows.append((event, at, thread(i, n) & 0xffffffff, *(f(i, n) for f in fields)))
            at += self.step_ns
        for number, first in enumerate(range(0, len(rows), self.block)):
            part = rows[first:first + self.block]
            log.block(part, "zstd", lose=self.holes and number % 2 == 1)
        log.block([(9, at, 0, 0)])
        with open(path, "wb") as f:
            f.write(log.closed())


def cpu_s(command, path, folder):
    """And None, or what is wrong with how it ended."""
    output = ("--force", "-o", os.path.join(folder, "out")) if command[0] == "export" else ()
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    try:
        status = subprocess.run([SPOOR, *command, *output, path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                timeout=DEADLINE_S).returncode
    except subprocess.TimeoutExpired:
        status = f"no end after {DEADLINE_S} s"
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    return used, None if status in (0, 1) else f"status {status}"


def look(pattern, command, sizes, folder):
    """What is wrong with the command on logs of so many events, or None."""
    used = []
    for n in sizes:
        path = os.path.join(folder, f"{n}.spoor")
        if not os.path.exists(path):
            pattern.log(n, path)
        seconds, wrong = cpu_s(command, path, folder)
        if wrong:
            return wrong
        used.append(seconds)
    if used[1] < SEEN_S or used[1] < ALLOWED * max(used[0], 0.02):
        return None
    return f"{used[0]:.2f} s of CPU for {sizes[0]} events, {used[1]:.2f} s for {sizes[1]}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32), help="of the first pattern")
    parser.add_argument("--count", type=int, help="patterns at most")
    options = parser.parse_args()
    with open(os.path.join(ROOT, "schemas/events.json"), encoding="utf-8") as f:
        schema = json.load(f)["events"]
    end, seed, found = time.monotonic() + options.seconds, options.seed, 0
    print(f"seed {seed}", flush=True)
    while time.monotonic() < end and (options.count is None or seed - options.seed < options.count):
        pattern = Pattern(seed, schema)
        with tempfile.TemporaryDirectory(prefix="spoor-growth-") as folder:
            for command in COMMANDS:
                wrong = look(pattern, command, (EVENTS, EVENTS * TIMES), folder)
                if wrong and not wrong.startswith("status"):
                    wrong = look(pattern, command, (EVENTS * TIMES, EVENTS * TIMES ** 2), folder)
                if wrong:
                    found += 1
                    print(f"seed {seed}: spoor {' '.join(command)}: {wrong}; {', '.join(pattern.name)}", flush=True)
        seed += 1
    print(f"{seed - options.seed} patterns, {found} found")
    sys.exit(found > 0)


if __name__ == "__main__":
    main()
