"""Makes logs with packed blocks, an index and an end of file, by schemas/event-log.md alone; for tests that read them.

    log = Log(codecs=("zstd",))
    log.block([(35, 1000, 7), (12, 1300, 3, 1, 500)])   # (id, time, thread, fields as they are stored ...)
    log.block(..., codec="zstd", flags=SYNC)
    data = log.closed()
"""
import re
import struct
import zlib

import lz4.block
import msgpack
import zstandard

MAGIC = b"\x89SPOOR\r\n"
HEADER, EVENTS, PACKED, INDEX, END = range(1, 6)
DEFINITIONS, SYNC = 1, 2
CODECS = ("none", "lz4", "zstd")


def block(sequence, kind, count, payload):
    head = struct.pack("<4I", len(payload), sequence, count, kind)
    return b"\xc1SPB" + struct.pack("<I", zlib.crc32(head + payload)) + head + payload


def body(rows, *numbers):
    """Events as the payload of kind 2 has them. numbers: what stands behind the base time; 1: they are relative."""
    time = rows[0][1] if rows else 0
    out = [msgpack.packb([time, *numbers])]
    for number, when, *rest in rows:
        out.append(msgpack.packb([number, (when - time + (1 << 63)) % (1 << 64) - (1 << 63), *rest]))
        time = when
    return b"".join(out)


def packed(raw, first, last, codec="none", flags=0):
    data = {"none": lambda: raw, "lz4": lambda: lz4.block.compress(raw, store_size=False),
            "zstd": lambda: zstandard.ZstdCompressor(write_content_size=False).compress(raw)}[codec]()
    return struct.pack("<QQIBBH", first, last, len(raw), CODECS.index(codec), flags, 0) + data


class Log:
    def __init__(self, codecs=(), header=None, features=None):
        features = ["packed", "relative", *codecs] if features is None else features
        self.data = MAGIC
        self.sequence = 0
        self.entries, self.last_index = [], 0
        self.put(HEADER, 0, msgpack.packb({"format": "spoor", "version": 1, "features": features, **(header or {})}))

    def put(self, kind, count, payload, flags=0, first=0, last=0, lose=False):
        if kind != HEADER:
            self.entries.append([len(self.data), len(payload), self.sequence, kind, count, flags, first,
                                 last])
        if not lose:
            self.data += block(self.sequence, kind, count, payload)
        self.sequence += 1

    def plain(self, rows, *numbers):
        self.put(EVENTS, len(rows), body(rows, *numbers))

    def block(self, rows, codec="none", flags=0, lose=False, **wrong):
        """wrong: first, last, raw or count, if they are not to be the right ones."""
        times = [row[1] for row in rows] or [0]
        first, last = wrong.get("first", min(times)), wrong.get("last", max(times))
        payload = packed(wrong.get("raw", body(rows)), first, last, codec, flags)
        self.put(PACKED, wrong.get("count", len(rows)), payload, flags, first, last, lose)

    def index(self, previous=None):
        at = len(self.data)
        rows = [[self.last_index if previous is None else previous], *self.entries]
        self.data += block(self.sequence, INDEX, 0, b"".join(map(msgpack.packb, rows)))
        self.sequence += 1
        self.entries, self.last_index = [], at

    def closed(self, last=None):
        self.index()
        at = self.last_index if last is None else last
        self.data += block(self.sequence, END, 0, struct.pack("<Q", at))
        self.sequence += 1
        return self.data


DEFINING = {"thread", "class", "lock", "string", "method", "stack"}
U64 = 1 << 64
NUMBERS = [0, 1, 127, 128, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, U64 - 1]
DELTAS = [0, 1, -1, -128, 1 << 32, -(1 << 63), (1 << 63) - 1, U64 - 1, -5]
TEXTS = ["", "x", "\x01\x1f\x7f\"\\\t\n", "ä𝄞", "\u2028\ud7ff\ue000\uffff\U0010ffff", "y" * 31, "ö" * 128,
         "z" * 65535, "€" * 21845]  # the last ones: as long as a text may be
THREADS = [0, 1, 127, 128, (1 << 32) - 1]


def extreme(kind, style, enums, counts):
    """An event of the kind, as a row for Log and as `spoor cat` tells it: over len(NUMBERS) styles, each of its fields
    has each of the extremes of its type. counts: what is known of the counters in this block."""
    row = [kind["id"], NUMBERS[style], THREADS[(style + kind["id"]) % len(THREADS)]]
    told = {"time_ns": row[1], "event": kind["name"], "thread": row[2]}
    for i, field in enumerate(kind["fields"]):
        at = (style + i) % len(NUMBERS)
        stored = value = NUMBERS[at]
        if field["type"] == "str":
            stored = value = TEXTS[at]
        elif field["type"] == "bool":
            stored = value = bool(at & 1)
        elif field["type"] == "enum":
            value = dict(enumerate(enums[field["enum"]])).get(stored, stored)
        elif field["type"] == "counter":
            key = told[field["of"]], field.get("counter", field["name"])
            stored = DELTAS[at] if key[0] else 0
            value = counts[key] = (counts.get(key, 0) + stored) % U64 if key[0] else 0
        row.append(stored)
        told[field["name"]] = value
    return tuple(row), told


def extremes(schema, codec):
    """A log with every kind of event in every style, and its events as `spoor cat` tells them."""
    log, told = Log(() if codec == "none" else (codec,)), []
    for defining in (True, False):
        kinds = sorted((k for k in schema["events"] if (k["name"] in DEFINING) == defining),
                       key=lambda k: k["name"] == "end")
        for begin in range(0, len(kinds), 4):
            counts = {}
            pairs = [extreme(kind, style, schema["enums"], counts) for kind in kinds[begin:begin + 4]
                     for style in range(len(NUMBERS))]
            log.block([row for row, _ in pairs], codec, DEFINITIONS if defining else 0)
            told += [event for _, event in pairs]
    return log.closed(), told


def as_it_is(lines):
    """What spoor cat prints, without the escapes of what a terminal would obey: other readers have none."""
    found = re.compile(rb"(?<!\\)((?:\\\\)*)\\u([0-9a-f]{4})")
    return found.sub(lambda m: m[1] + chr(int(m[2], 16)).encode() if int(m[2], 16) >= 0x7f else m[0], lines)
