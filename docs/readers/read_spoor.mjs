// read_spoor.mjs FILE.spoor [events.json]: prints a log as `spoor cat` does. Written from schemas/event-log.md alone.
// npm ci --prefix docs/readers gets what it needs. Exit status 1: a part of the log is damaged or missing.
import { readFileSync } from "node:fs";
import { Decoder } from "@msgpack/msgpack";
import { decompress as zstd } from "fzstd";
import lz4js from "lz4js";
const MAGIC = Buffer.from("c1535042", "hex"); // of a block
const TABLE = Uint32Array.from({ length: 256 }, (_, n) => [...Array(8)].reduce((c) => (c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1), n));
const crc32 = (bytes) => ~bytes.reduce((c, b) => TABLE[(c ^ b) & 255] ^ (c >>> 8), -1) >>> 0;
const CODECS = [(body) => body, (body, room) => (lz4js.decompressBlock(body, room, 0, body.length, 0), room), zstd];
const u64 = (n) => BigInt.asUintN(64, BigInt(n)); // times and counters need all 64 bits: all numbers are BigInt here
const json = (e) => `{${Object.entries(e).map(([k, v]) => `"${k}":${typeof v === "bigint" ? v : JSON.stringify(v)}`)}}`;

function* blocks(data) { // [kind, payload] of each intact block; null for what is none, and where numbers are missing
  for (let at = 8, least = 0; at >= 0 && at < data.length;) {
    const [crc, length, sequence, , kind] = [4, 8, 12, 16, 20].map((n) => (at + 24 > data.length ? 0 : data.readUInt32LE(at + n)));
    const end = at + 24 + length, good = data.subarray(at, at + 4).equals(MAGIC) && length <= 1 << 24 && sequence >= least;
    if (good && end <= data.length && crc32(data.subarray(at + 8, end)) === crc) {
      if (sequence > least) yield null;
      yield [kind, data.subarray(at + 24, end)], [at, least] = [end, sequence + 1];
    } else yield null, at = data.indexOf(MAGIC, at + 1);
  }
}

function* events(schema, payload) {
  const last = new Map(), seen = new Map();
  let time = null, relative = false, stack = 0n;
  for (const row of new Decoder({ useBigInt64: true }).decodeMulti(payload)) {
    const [number, dt, thread, ...stored] = row, kind = schema.events.find((e) => e.id === Number(number));
    const base = time === null; // the first row
    if (base) relative = dt === 1 || dt === 1n;
    time = base ? u64(number) : u64(time + BigInt(dt));
    if (base || !kind) continue;
    const event = { time_ns: time, event: kind.name, thread: u64(thread) };
    const at = (name) => kind.fields.slice(0, stored.length).findIndex((f) => f.name === name);
    if (relative && kind.name === "stack" && stored.length) {
      stored[0] = stack = u64(stack + BigInt(stored[0]));
      if (stored.length > 1) stored[1] = u64(stack - BigInt(stored[1]));
    } else if (relative && event.thread && at("cpu_ns") >= 0) {
      const others = ["stolen_ns", "runnable_ns", "blocked_ns"].map(at).filter((n) => n >= 0);
      if (seen.has(event.thread)) stored[at("cpu_ns")] = others.reduce((sum, n) => sum - BigInt(stored[n]), BigInt(stored[at("cpu_ns")]) + time - seen.get(event.thread));
      seen.set(event.thread, time);
    }
    kind.fields.forEach((field, n) => {
      let value = stored[n] ?? { str: "", bool: false }[field.type] ?? 0n;
      if (field.type !== "str" && field.type !== "bool") value = u64(value);
      if (field.type === "enum") value = schema.enums[field.enum][Number(value)] ?? value;
      if (field.type === "counter" && n < stored.length && event[field.of]) {
        const key = `${event[field.of]} ${field.counter ?? field.name}`;
        last.set(key, value = u64((last.get(key) ?? 0n) + value));
      }
      event[field.name] = value;
    });
    yield event;
  }
}
const data = readFileSync(process.argv[2]), found = blocks(data), first = found.next().value;
const schema = JSON.parse(readFileSync(process.argv[3] ?? new URL("../../schemas/events.json", import.meta.url)));
const header = first?.[0] === 1 && data.toString("latin1", 0, 8) === "\x89SPOOR\r\n" && new Decoder().decode(first[1]);
if (header?.version !== 1 || header.features.some((f) => !["packed", "relative", "lz4", "zstd"].includes(f)))
  throw new Error("not a spoor log, or its header is damaged, or it is of a newer version");
let whole = null; // what can be open is known; null: nothing was yet
for (const block of found) {
  const [kind, payload] = block ?? [0], flags = kind === 3 ? payload[21] : 0;
  if (kind === 2 || (kind === 3 && !(flags & 2 && whole)))
    for (const event of events(schema, kind === 2 ? payload
      : CODECS[payload[20]](payload.subarray(24), new Uint8Array(payload.readUInt32LE(16))))) console.log(json(event));
  if (!block) [process.exitCode, whole] = [1, false];
  else if ((kind === 2 || kind === 3) && !(flags & 1)) whole = whole === null || whole || Boolean(flags & 2);
}
