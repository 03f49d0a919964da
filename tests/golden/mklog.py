#!/usr/bin/python3
"""mklog.py IN.jsonl OUT.spoor: makes a log from JSON lines, by schemas/event-log.md and events.json alone.

The first line is {"header": {...}}: it is laid over a header that is good for most cases; null takes a key away.
Each other line is an event as `spoor cat` prints it: {"time_ns": N, "event": "name", "thread": N, FIELD: VALUE, ...};
fields that are left out are 0, "" or false; enums go by name or number. Call chains are such events, too: one
"method" per method and one "stack" per frame, with the number of its caller's chain. Or it is one of
  {"block": "next"}     closes the block
  {"block": "damage"}   closes it and turns a bit of it over
  {"block": "lose"}     closes it and leaves it out, so that its sequence number is missing
  {"cut_bytes": N}      (the last line) cuts the file
  {"objects": {"classes": [NAME, ...], "chains": [[[METHOD, BYTECODE], ...], ...], "rounds": [[BORN, STAY], ...]}}
                        a block of object events: a collection for each round, before which of each class so many objects
                        are born, and so many of these stay for good; chains may be left out (tests/web/heap_logs.py)
In a text, \\udcXX is the byte XX: a text of a log need not be UTF-8.
Empty lines and lines that begin with # are skipped. "repeat": [COUNT, STEP_NS] in an event's line makes
COUNT of it, one every STEP_NS.
"""
import json
import os
import struct
import sys
import zlib

import msgpack

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../web"))

import heap_logs  # noqa: E402

MAGIC = b"\x89SPOOR\r\n"
BLOCK_MAGIC = b"\xc1SPB"
KIND_HEADER, KIND_EVENTS = 1, 2
SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "schemas", "events.json")

HEADER = {
    "format": "spoor", "version": 1, "features": [], "spoor": "0.1.0", "boot_id": "0", "clock": "CLOCK_MONOTONIC",
    "start_mono_ns": 1_000_000_000, "start_wall_ns": 1_760_000_000_000_000_000,
    "host": {"name": "testhost", "kernel": "6.18.0", "arch": "x86_64", "cpus": 2, "hypervisor": "KVM", "user_hz": 100},
    "jvm": {"pid": 4242, "ns_pid": 4242, "start_ticks": 1, "version": "17.0.15+6", "vm": "OpenJDK 64-Bit Server VM",
            "libjvm": "/usr/lib/jvm/libjvm.so", "build_id": "00", "kind": "stock", "command": "java Main",
            "flags": {"UseG1GC": True, "UseSerialGC": False, "UseParallelGC": False}},
    "record": {"command": ["spoor", "record"], "window_ns": 1_000_000_000, "buffer_bytes": 16777216, "no_write": False},
    "sources": {"steal": "rq_clock", "sched": "tp_btf", "monitor": "on", "probes": [], "probes_missing": []},
    "facts": {},
}


def overlay(base, over):
    for key, value in over.items():
        if value is None:
            base.pop(key, None)
        elif isinstance(value, dict) and isinstance(base.get(key), dict):
            overlay(base[key], value)
        else:
            base[key] = value


def block(sequence, kind, count, payload):
    head = struct.pack("<IIII", len(payload), sequence, count, kind)
    return BLOCK_MAGIC + struct.pack("<I", zlib.crc32(head + payload)) + head + payload


class Events:
    """The open block."""

    def __init__(self, schema):
        self.enums = schema["enums"]
        self.kinds = {e["name"]: e for e in schema["events"]}
        self.clear()

    def clear(self):
        self.count = 0
        self.payload = bytearray()
        self.time = 0
        self.counters = {}

    def add(self, line):
        kind = self.kinds[line["event"]]
        unknown = set(line) - {"time_ns", "event", "thread"} - {f["name"] for f in kind["fields"]}
        if unknown:
            raise KeyError(f"{line['event']} has no field {', '.join(sorted(unknown))}")
        if not self.count:
            self.time = line["time_ns"]
            self.payload = bytearray(msgpack.packb([self.time]))
        fields = kind["fields"]
        while fields and self.is_default(fields[-1], line):  # left out, as spoor's own writer does
            fields = fields[:-1]
        values = [self.value(f, line) for f in fields]
        self.payload += msgpack.packb([kind["id"], line["time_ns"] - self.time, line.get("thread", 0)] + values,
                                      unicode_errors="surrogateescape")
        self.time = line["time_ns"]
        self.count += 1

    def is_default(self, field, line):
        value = line.get(field["name"])
        if field["type"] == "enum" and isinstance(value, str):
            value = self.enums[field["enum"]].index(value)
        return not value or (field["type"] == "counter" and not line.get(field["of"], 0))

    def value(self, field, line):
        value = line.get(field["name"])
        if field["type"] == "str":
            return value or ""
        if field["type"] == "bool":
            return bool(value)
        if field["type"] == "enum":
            return self.enums[field["enum"]].index(value) if isinstance(value, str) else value or 0
        if field["type"] != "counter":
            return value or 0
        thread = line.get(field["of"], 0)
        if not thread:
            return 0
        key = (thread, field.get("counter", field["name"]))
        difference = (value or 0) - self.counters.get(key, 0)
        self.counters[key] = value or 0
        return difference


def lines_of(path):
    with open(path, encoding="utf-8") as f:
        for number, text in enumerate(f, 1):
            if not text.strip() or text.startswith("#"):
                continue
            try:
                line = json.loads(text)
            except ValueError as e:
                raise SystemExit(f"{path}:{number}: {e}") from None
            count, step = line.pop("repeat", (1, 0))
            for i in range(count):
                yield {**line, "time_ns": line["time_ns"] + i * step} if "time_ns" in line else line


def make(path):
    with open(SCHEMA, encoding="utf-8") as f:
        events = Events(json.load(f))
    header, blocks, cut = json.loads(json.dumps(HEADER)), [], 0

    def close(how):
        data = bytearray(block(len(blocks) + 1, KIND_EVENTS, events.count, events.payload))
        if how == "damage":
            data[len(data) // 2] ^= 1
        blocks.append(b"" if how == "lose" else bytes(data))
        events.clear()

    for line in lines_of(path):
        if "header" in line:
            overlay(header, line["header"])
        elif "block" in line:
            close(line["block"])
        elif "objects" in line:
            header["features"] = sorted({*header["features"], "packed"})
            objects = heap_logs.Objects(line["objects"]["classes"], line["objects"].get("chains"))
            for born, stay in line["objects"]["rounds"]:
                objects.collect(born, stay)
            payload = objects.payload()
            blocks.append(block(len(blocks) + 1, heap_logs.OBJECTS, len(objects.records), payload))
        elif "cut_bytes" in line:
            cut = line["cut_bytes"]
        else:
            events.add(line)
    if events.count:
        close("next")
    data = MAGIC + block(0, KIND_HEADER, 0, msgpack.packb(header)) + b"".join(blocks)
    return data[:len(data) - cut]


def write(source, path):
    data = make(source)
    with open(path, "wb") as f:
        f.write(data)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    write(*sys.argv[1:])


if __name__ == "__main__":
    main()
