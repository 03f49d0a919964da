"""Logs of object events and heap dumps of which each object is known, by schemas/event-log.md and the format of .hprof."""
import os
import struct
import sys

import msgpack

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests/unit"))

from packed_log import Log, packed  # noqa: E402

OBJECTS = 6  # a block's kind
RING, CLASS, METHOD, SITE, _, WORDS, PHASE = range(1, 8)
NEW, AT, MOVEX, GC = 1, 6, 10, 13
BEGIN, GC_END, SPACE = 1, 2, 3
END = 9  # an event's number
UNITS, OLD = 2, 100_000  # of an object; where old ones are
SECOND = 1_000_000_000


def word(kind, rest):
    return kind << 28 | rest


class Objects:
    """Rounds: of each class some objects are born, of which so many live on for good; then a collection."""

    def __init__(self, classes, chains=None):
        """chains: of each class the frames that allocate it, innermost first: [["a.B.add", bytecode], ...]."""
        self.classes = classes
        self.records = [(RING, 1, 1, 0x70000000, 64 << 20, 3, 0)]
        self.phase = self.round = 0
        self.old = OLD
        self.sequences = {}
        chains = chains or [[[f"{name}.make{i}", i]] for i, name in enumerate(classes, 1)]
        self.ids, self.methods = {}, {}
        for i, name in enumerate(classes, 1):
            self.class_of(name)
        for i, chain in enumerate(chains, 1):
            frames = [number for method, bytecode in chain for number in (self.method_of(method), bytecode)]
            self.records.append((SITE, i, i, 3, frames))
        self.records.append((PHASE, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    def class_of(self, name):
        if name not in self.ids:
            self.ids[name] = i = len(self.ids) + 1
            self.records.append((CLASS, i, 4096 * i, 8 * UNITS, name.replace(".", "/")))
        return self.ids[name]

    def method_of(self, method):
        if method not in self.methods:
            of, name = method.rsplit(".", 1)
            record = (METHOD, len(self.methods) + 1, self.class_of(of), name, "()V")
            self.methods[method] = record[1]
            self.records.append(record)
        return self.methods[method]

    def words(self, stream, words):
        sequence = self.sequences.get(stream, 0)
        self.sequences[stream] = sequence + 1
        self.records.append((WORDS, stream, sequence, self.phase, 0, 1, stream, stream, SECOND, SECOND,
                             struct.pack(f"<{len(words)}I", *words)))

    def next_phase(self, end=0):
        self.phase += 1
        self.records.append((PHASE, self.phase, SECOND, end, 0, 0, 0, 0, 0, 0))

    def collect(self, born, stay):
        """born, stay: by class."""
        words, moves, at = [], [], 0
        for site, (count, kept) in enumerate(zip(born, stay), 1):
            for i in range(count):
                words += [word(AT, 0), at, word(NEW, site)]
                if i < kept:
                    moves += [word(MOVEX, 0), at, 0, self.old]
                    self.old += UNITS
                at += UNITS
        self.words(1, words)
        self.next_phase()
        self.round += 1
        ns = SECOND * (1 + self.round)
        low, high = ns & 0xffffffff, ns >> 32
        text = b"Copy\0\0\0\0Allocation Failure\0\0"
        head = [self.round, low, high, *struct.unpack(f"<{len(text) // 4}I", text)]
        self.words(2, [word(GC, BEGIN << 24 | (1 + len(head))), *head, word(GC, SPACE << 24), 0, 0, at, *moves,
                       word(GC, GC_END << 24 | 4), self.round, low, high])
        self.next_phase()

    def payload(self):
        """Of a block with all of it."""
        self.next_phase(end=1)
        return packed(b"".join(msgpack.packb(list(record)) for record in self.records), SECOND, SECOND)

    def write(self, path, end=False):
        """end: also the event that says that nothing comes after it."""
        payload = self.payload()
        log = Log()
        log.put(OBJECTS, len(self.records), payload)
        if end:
            log.block([(END, SECOND, 0, 0)])
        with open(path, "wb") as f:
            f.write(log.closed())
        return path


def dump(path, classes, counts):
    """Instances of classes without fields."""
    out, texts = [b"JAVA PROFILE 1.0.2\0" + struct.pack(">IQ", 8, 0)], {}

    def record(tag, data):
        out.append(struct.pack(">BII", tag, 0, len(data)) + data)

    for i, name in enumerate(["java/lang/Object", *(c.replace(".", "/") for c in classes)]):
        texts[i] = 0x1000 + i
        record(1, struct.pack(">Q", texts[i]) + name.encode())
        record(2, struct.pack(">IQIQ", i + 1, 0x2000 + i, 0, texts[i]))
    heap, at = b"", 0x100000
    for i in range(len(classes) + 1):
        heap += struct.pack(">BQIQQQQQQIHHH", 0x20, 0x2000 + i, 0, 0x2000 if i else 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    for i, count in enumerate(counts, 1):
        for _ in range(count):
            heap += struct.pack(">BQIQI", 0x21, at, 0, 0x2000 + i, 0)
            at += 16
    record(0x1c, heap)
    record(0x2c, b"")
    with open(path, "wb") as f:
        f.write(b"".join(out))
    return path
