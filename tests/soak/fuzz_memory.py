#!/usr/bin/python3
"""Words of a fake JVM's memory are changed, and doctor and record look at the JVM; then the words are put back."""
import os
import re
import struct
import sys
import tempfile

from soak import LIKED, Soak

import harness

WORD = struct.Struct("<Q")
STRETCH_MAX = 64 << 20


class Memory:
    """What can be written of a process; words that are not 0, those of libjvm.so's own data apart."""

    def __init__(self, pid):
        self.file = open(f"/proc/{pid}/mem", "r+b", 0)
        self.own, self.other = [], []
        for line in harness.read_text(f"/proc/{pid}/maps").splitlines():
            begin, end, rights, name = re.match(r"(\w+)-(\w+) (\S+) \S+ \S+ \S+ *(.*)", line).groups()
            begin, end = int(begin, 16), int(end, 16)
            if rights[0] != "r" or end - begin > STRETCH_MAX or name.startswith(("[v", "[stack")):
                continue
            if "libjvm" in name and "x" not in rights:
                self.own += self.words(begin, end)
            elif rights[1] == "w" and "lib" not in name and "[heap]" not in name:
                self.other += self.words(begin, end)
        self.all = self.own + self.other

    def words(self, begin, end):
        data = os.pread(self.file.fileno(), end - begin, begin)
        return [begin + at for at in range(0, len(data) - 7, 8) if data[at:at + 8] != bytes(8)]

    def get(self, at):
        return WORD.unpack(os.pread(self.file.fileno(), 8, at))[0]

    def put(self, at, value):
        os.pwrite(self.file.fileno(), WORD.pack(value % 2**64), at)


def changed(dice, memory, value):
    how = dice.randrange(5)
    if how == 0:
        return dice.choice(LIKED)
    if how == 1:
        return value ^ 1 << dice.randrange(64)
    if how == 2:
        return memory.get(dice.choice(memory.all))
    if how == 3:
        return dice.choice(memory.all)
    return value + dice.choice((-8, -1, 1, 8, 4096))


def main():
    soak = Soak(__doc__)
    harness.fake_build()
    fake = harness.FakeTest.furnish(harness.Fake())
    memory = Memory(fake.pid)
    with tempfile.TemporaryDirectory() as folder:
        commands = [["doctor", "-p", fake.pid]] * 4
        record = ["record", "-p", fake.pid, "-d", "150ms", "-q", "-f", "-o", os.path.join(folder, "o.spoor")]
        commands += [record, [*record, "--probes", "none"]]
        while soak.going():
            was = []
            for _ in range(soak.dice.choice((1, 1, 2, 3, 8, 30))):
                at = soak.dice.choice(memory.own if soak.dice.random() < .6 else memory.all)
                was.append((at, memory.get(at)))
                memory.put(at, changed(soak.dice, memory, was[-1][1]))
            notes = "".join(f"{at:x} {memory.get(at):x}\n" for at, _ in was)
            soak.run(soak.dice.choice(commands), (0, 1), [notes.encode()])
            for at, value in reversed(was):
                memory.put(at, value)
    fake.close()
    return soak.finish()


if __name__ == "__main__":
    sys.exit(main())
