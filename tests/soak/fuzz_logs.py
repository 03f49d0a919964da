#!/usr/bin/python3
"""Golden logs, changed block by block and sealed again, through every command line that reads logs."""
import glob
import os
import struct
import subprocess
import sys
import tempfile
import zlib

from soak import HERE, LIKED, Soak

MAGIC = b"\xc1SPB"
HEAD = struct.Struct("<4sIIIII")  # magic, crc, length, sequence, events, kind
LINES = """report|report -f json|report --by lock,waiter_stack,owner_stack|report --by waiter_method,owner_method,behind
report --full|time|time --by thread --window 10ms|time --by pool --format json|spans|spans --format json|gc --pauses
spans --by-thread-name|verify|verify -f json --strict|cat|cat -r|cat -H|export --to collapsed --side both --lines
export --to speedscope|export --to chrome|export --to jsonl|report --from 1s --to 2s"""
COMMANDS = [line.split() for line in LINES.replace("\n", "|").split("|")]


def seeds(folder):
    for source in sorted(glob.glob(os.path.join(HERE, "../golden/*/log.jsonl"))):
        path = os.path.join(folder, "seed.spoor")
        subprocess.run(["/usr/bin/python3", "-B", os.path.join(HERE, "../golden/mklog.py"), source, path], check=True)
        with open(path, "rb") as f:
            yield f.read()


def split(log):
    """[[sequence, events, kind, payload]] after the file's magic."""
    blocks, at = [], 8
    while at + HEAD.size <= len(log) and log[at:at + 4] == MAGIC:
        _, _, length, sequence, events, kind = HEAD.unpack_from(log, at)
        blocks.append([sequence, events, kind, log[at + HEAD.size:at + HEAD.size + length]])
        at += HEAD.size + length
    return blocks


def number(n):
    return bytes([n]) if n < 128 else b"\xcf" + struct.pack(">Q", n)


def change_bytes(dice, payload):
    payload = bytearray(payload)
    for _ in range(dice.choice((1, 1, 2, 4, 16, 64))):
        if not payload:
            break
        at, how = dice.randrange(len(payload)), dice.randrange(6)
        if how == 0:
            payload[at] = dice.randrange(256)
        elif how == 1:
            payload[at] ^= 1 << dice.randrange(8)
        elif how == 2:
            del payload[at:at + dice.choice((1, 2, 3, 8, 100))]
        elif how == 3:
            begin = dice.randrange(len(payload))
            payload[at:at] = payload[begin:begin + dice.choice((1, 4, 16, 200, 5000))]
        else:
            payload[at:at + (how == 4)] = number(dice.choice(LIKED))
    return bytes(payload)


def change(dice, log):
    blocks = split(log)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        block, how = dice.choice(blocks), dice.randrange(10)
        if how == 0 and len(blocks) > 2:
            blocks.remove(block)
        elif how == 1:
            blocks.insert(dice.randrange(len(blocks)), list(dice.choice(blocks)))
        elif how == 2:
            dice.shuffle(blocks)
        elif how == 3:
            block[dice.randrange(3)] = dice.choice(LIKED) % 2**32
        else:
            block[3] = change_bytes(dice, block[3])
    in_order, out = dice.random() < .6, [log[:8]]
    for index, (sequence, events, kind, payload) in enumerate(blocks):
        rest = struct.pack("<IIII", len(payload), index if in_order else sequence, events, kind) + payload
        out.append(MAGIC + struct.pack("<I", zlib.crc32(rest)) + rest)
    log = b"".join(out)
    return log[:dice.randrange(len(log))] if dice.random() < .1 else log


def main():
    soak = Soak(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        logs, path = list(seeds(folder)), os.path.join(folder, "in.spoor")
        repair = ["repair", "-f", "-o", os.path.join(folder, "repaired.spoor")]
        while soak.going():
            log = change(soak.dice, soak.dice.choice(logs))
            for command in soak.dice.sample([*COMMANDS, repair], 4):
                with open(path, "wb") as f:
                    f.write(log)
                soak.run([*command, path], (0, 1), [log])
    return soak.finish()


if __name__ == "__main__":
    sys.exit(main())
