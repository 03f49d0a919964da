#!/usr/bin/python3
"""read_spoor.py FILE.spoor: prints a log as `spoor cat` does. Written from schemas/event-log.md alone. Needs the
packages msgpack, lz4 and zstandard. Exit status 1: a part of the log is damaged or missing."""
import io, json, os, struct, sys, zlib  # noqa: E401
import lz4.block, msgpack, zstandard  # noqa: E401
SCHEMA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../schemas/events.json")
CODECS = [lambda body, size: body, lambda body, size: lz4.block.decompress(body, uncompressed_size=size),
          lambda body, size: zstandard.ZstdDecompressor().decompress(body, max_output_size=size)]

def blocks(data):  # (kind, payload) of each intact block; None for what is none, and where numbers are missing
    at, least = 8, 0
    while 0 <= at < len(data):
        magic, crc, length, sequence, _, kind = struct.unpack("<4s5I", data[at:at + 24].ljust(24, b"\0"))
        end = at + 24 + length
        if magic == b"\xc1SPB" and sequence >= least and length <= 1 << 24 and zlib.crc32(data[at + 8:end]) == crc:
            yield from [None] * (sequence > least) + [(kind, data[at + 24:end])]
            at, least = end, sequence + 1
        else:
            yield None
            at = data.find(b"\xc1SPB", at + 1)

def events(schema, payload):
    kinds, last = {e["id"]: e for e in schema["events"]}, {}
    rows = msgpack.Unpacker(io.BytesIO(payload), max_buffer_size=1 << 25, strict_map_key=False)
    time, *how = next(rows)
    relative, stack, seen = how[:1] == [1], 0, {}
    for number, dt, thread, *stored in rows:
        time = (time + dt) % (1 << 64)
        event = {"time_ns": time, "event": kinds.get(number, {}).get("name"), "thread": thread}
        index = {f["name"]: n for n, f in enumerate(kinds[number]["fields"][:len(stored)])} if number in kinds and relative else {}
        if event["event"] == "stack" and index:
            stack = stored[0] = (stack + stored[0]) % (1 << 64)
            stored[1:2] = [(stack - caller) % (1 << 64) for caller in stored[1:2]]
        elif "cpu_ns" in index and thread:
            beside = sum(stored[index[name]] for name in ("stolen_ns", "runnable_ns", "blocked_ns") if name in index)
            stored[index["cpu_ns"]] += time - seen[thread] - beside if thread in seen else 0
            seen[thread] = time
        for n, field in enumerate(kinds[number]["fields"] if number in kinds else []):
            value = stored[n] if n < len(stored) else {"str": "", "bool": False}.get(field["type"], 0)
            if field["type"] == "enum":
                value = dict(enumerate(schema["enums"][field["enum"]])).get(value, value)
            elif field["type"] == "counter" and n < len(stored) and event[field["of"]]:
                key = event[field["of"]], field.get("counter", field["name"])
                value = last[key] = (last.get(key, 0) + value) % (1 << 64)
            event[field["name"]] = value
        yield from [event] * (number in kinds)

def read(data, schema):  # the header, then the events; None where something is damaged or missing
    found, whole = blocks(data), None  # whole: what can be open is known; None: nothing was yet
    first = next(found, None)
    header = msgpack.unpackb(first[1]) if first and first[0] == 1 and data.startswith(b"\x89SPOOR\r\n") else {}
    if header.get("version") != 1 or set(header["features"]) - {"packed", "relative", "lz4", "zstd"}:
        raise ValueError("not a spoor log, or its header is damaged, or it is of a newer version")
    yield header
    for kind, payload in (block or (0, None) for block in found):
        flags = payload[21] if kind == 3 else 0
        if kind == 3 and not (flags & 2 and whole):
            yield from events(schema, CODECS[payload[20]](payload[24:], int.from_bytes(payload[16:20], "little")))
        elif kind == 2:
            yield from events(schema, payload)
        yield from [None] * (not kind)
        whole = (whole in (None, True) or flags & 2 > 0) if kind in (2, 3) and not flags & 1 else kind > 0 and whole

if __name__ == "__main__":
    with open(SCHEMA, encoding="utf-8") as s, open(sys.argv[1], "rb") as f:
        header, *rest = read(f.read(), json.load(s))
    lines = (json.dumps(event, ensure_ascii=False, separators=(",", ":")) for event in rest if event)
    sys.exit(print(*lines, sep="\n") or None in rest)
