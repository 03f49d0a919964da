#!/usr/bin/python3
"""read_log.py FILE.spoor: prints a log as `spoor cat` does, by schemas/event-log.md alone.

A second reader that shares nothing with the first one: where they differ, the description or one of
them is wrong. Exit status 1 if a part of the log is damaged or missing.
"""
import json
import os
import struct
import sys
import zlib

import msgpack

MAGIC = b"\x89SPOOR\r\n"
BLOCK_MAGIC = b"\xc1SPB"
ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SCHEMA = os.path.join(ROOT, "schemas", "events.json")
MODULUS = 1 << 64


def blocks(data):
    """Yields (kind, events, payload) of each intact block, and None for what is not one."""
    at, least = len(MAGIC), 0
    while at < len(data):
        if data[at:at + 4] == BLOCK_MAGIC and at + 24 <= len(data):
            crc, length, sequence, events, kind = struct.unpack_from("<5I", data, at + 4)
            end = at + 24 + length
            if (length <= 1 << 24 and end <= len(data) and sequence >= least
                    and zlib.crc32(data[at + 8:end]) == crc):
                if sequence > least:
                    yield None
                yield kind, events, data[at + 24:end]
                at, least = end, sequence + 1
                continue
        yield None
        at = data.find(BLOCK_MAGIC, at + 1)
        if at < 0:
            return


def value(schema, field, stored, event, last):
    if field["type"] == "enum":
        names = schema["enums"][field["enum"]]
        return names[stored] if stored < len(names) else stored
    if field["type"] != "counter":
        return stored
    thread = event[field["of"]]
    if not thread:
        return stored
    key = thread, field.get("counter", field["name"])
    last[key] = (last.get(key, 0) + stored) % MODULUS
    return last[key]


def default(schema, field):
    """What a field is taken for that is not there."""
    if field["type"] == "enum":
        return schema["enums"][field["enum"]][0]
    return {"str": "", "bool": False}.get(field["type"], 0)


def events(schema, payload):
    kinds = {e["id"]: e for e in schema["events"]}
    rows = msgpack.Unpacker(strict_map_key=False, max_buffer_size=1 << 25)
    rows.feed(payload)
    time, last = next(rows)[0], {}
    for number, dt, thread, *stored in rows:
        time = (time + dt) % MODULUS
        kind = kinds.get(number)
        if kind:
            event = {"time_ns": time, "event": kind["name"], "thread": thread}
            for field, raw in zip(kind["fields"], stored):
                event[field["name"]] = value(schema, field, raw, event, last)
            for field in kind["fields"][len(stored):]:
                event[field["name"]] = default(schema, field)
            yield event


def read(path, out):
    """Returns True if all was intact."""
    with open(path, "rb") as f:
        data = f.read()
    with open(SCHEMA, encoding="utf-8") as f:
        schema = json.load(f)
    if not data.startswith(MAGIC):
        raise ValueError("not a spoor log")
    found = list(blocks(data))
    if not found or not found[0] or found[0][0] != 1:
        raise ValueError("the header is damaged")
    header = msgpack.unpackb(found[0][2])
    if header["version"] > schema["version"] or header["features"]:
        raise ValueError("of a newer version")
    for block in found[1:]:
        if block and block[0] == 2:
            for event in events(schema, block[2]):
                print(json.dumps(event, ensure_ascii=False, separators=(",", ":")), file=out)
    return None not in found


if __name__ == "__main__":
    sys.stdout.reconfigure(encoding="utf-8")
    sys.exit(0 if read(sys.argv[1], sys.stdout) else 1)
