"""Made recordings of threads that wait for locks, of which it is known what differs: for spoor diff's tests and
bench/diff_made.

Eight threads wait for three locks, which a ninth one holds. Waits come by chance, and their lengths are drawn from a
distribution; each thread waits for about 5 % of its time.
"""
import math
import os
import random
import sys

import msgpack

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))

import mklog  # noqa: E402

MS = 1_000_000
BEGIN = 1000 * MS
THREADS, LOCKS = 8, ("shop.Table", "shop.Shelf", "shop.Cart")
SAME = (1,) * len(LOCKS)
HOLDER = THREADS + 1
SHARE = (0.5, 0.3, 0.2)  # of all waits
MEAN_NS, APART_NS = MS // 2, 9.5 * MS

# How far the lengths of waits are apart (sigma of their logarithm), and how the load of all threads changes, in waves
# of 1.3 s: by 0.5 is between half as much again and half as much.
SCENES = {"even": (0.3, 0), "tails": (1.0, 0), "waves": (0.3, 0.5)}
WAVE_NS = 1.3e9


def head():
    for i in range(1, HOLDER + 1):
        yield {"event": "thread", "thread": i, "tid": 100 + i, "ns_tid": 100 + i, "java_id": 10 + i,
               "name": f"worker-{i}" if i < HOLDER else "holder", "existed": True}
    for i, name in enumerate(LOCKS, 1):
        yield {"event": "class", "class": i, "name": name}
        yield {"event": "lock", "lock": i, "group": "monitor", "identity": "hash", "class": i, "hash": 70 + i}
        for n, verb in enumerate(("hold", "want")):
            number = 2 * i - 1 + n
            yield {"event": "method", "method": number, "class_name": name, "name": verb, "signature": "()V",
                   "source": "A.java"}
            yield {"event": "stack", "stack": number, "caller": 0, "frame": "c2", "method": number, "line": 1}


def waits(made, scene, seconds, factors):
    """(begin, end, thread, lock, from 0 on), thread by thread. Waits for the nth lock are longer by the nth factor."""
    sigma, wave = SCENES[scene]
    scale, end = MEAN_NS / math.exp(sigma * sigma / 2), BEGIN + seconds * 1e9
    phase = made.uniform(0, 2 * math.pi)
    for thread in range(1, THREADS + 1):
        at = BEGIN
        while True:
            load = 1 + wave * math.sin(phase + 2 * math.pi * at / WAVE_NS)
            at += int(made.expovariate(load / APART_NS)) + 1
            lock = made.choices(range(len(LOCKS)), SHARE)[0]
            length = int(made.lognormvariate(0, sigma) * scale * factors[lock]) + 1
            if at + length >= end:
                break
            yield at, at + length, thread, lock
            at += length


class Template:
    """An event of mklog's, of which only the time is put in: a log has many."""

    def __init__(self, events, line):
        events.clear()
        events.add({"time_ns": 0, **line})
        whole = events.payload[len(msgpack.packb([0])):]
        kind = msgpack.packb(events.kinds[line["event"]]["id"])
        cut = whole.index(kind) + len(kind)
        assert cut <= 5 and whole[cut] == 0
        self.before, self.after = whole[:cut], whole[cut + 1:]

    def at(self, apart_ns):
        return self.before + msgpack.packb(apart_ns) + self.after


def templates(events):
    for thread in range(1, THREADS + 1):
        for lock in range(1, len(LOCKS) + 1):
            same = {"thread": thread, "lock": lock, "owner": HOLDER, "owner_source": "java_thread"}
            yield (thread, lock - 1, 0), Template(events, {"event": "monitor_contended_enter", "stack": 2 * lock,
                                                           "owner_stack": 2 * lock - 1, **same})
            yield (thread, lock - 1, 1), Template(events, {"event": "monitor_contended_entered", **same})


def write(path, seed, scene="even", seconds=10, factors=SAME):
    """Of the same seed, scene and length the same waits, but for the factors; the path."""
    with open(mklog.SCHEMA, encoding="utf-8") as f:
        events = mklog.Events(mklog.json.load(f))
    of = dict(templates(events))
    moments = []
    for begin, end, thread, lock in waits(random.Random(seed), scene, seconds, factors):
        moments += ((begin, of[thread, lock, 0]), (end, of[thread, lock, 1]))
    moments.sort(key=lambda m: m[0])
    events.clear()
    for line in head():
        events.add({"time_ns": BEGIN, **line})
    payload, at = [events.payload], BEGIN
    for moment, template in moments:
        payload.append(template.at(moment - at))
        at = moment
    events.payload, events.count, events.time = b"".join(payload), events.count + len(moments), at
    events.add({"time_ns": BEGIN + int(seconds * 1e9), "event": "end", "reason": "done"})
    header = mklog.json.loads(mklog.json.dumps(mklog.HEADER))
    mklog.overlay(header, {"start_mono_ns": BEGIN, "record": {"stacks": True}})
    with open(path, "wb") as f:
        f.write(mklog.MAGIC + mklog.block(0, mklog.KIND_HEADER, 0, msgpack.packb(header)) +
                mklog.block(1, mklog.KIND_EVENTS, events.count, events.payload))
    return path
