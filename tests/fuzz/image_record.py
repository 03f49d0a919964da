#!/usr/bin/python3
"""image_record.py OUT COMMAND...: makes a sparse image for image_fuzz of a fake JVM (tests/bpf) that got the COMMANDs.

What `spoor doctor -p` reads of it is what the image holds: strace shows each pread64 of /proc/PID/mem.
"""
import os
import re
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "../bpf"))
import harness  # noqa: E402


def symbol_names():
    """In the order of enum vmsym, as vmstructs.c lists them."""
    text = harness.read_text(os.path.join(harness.ROOT, "user/jvm/layout/vmstructs.c"))
    return re.findall(r'"(gHotSpotVM\w+)"', re.search(r"libjvm_symbol_names\[.*?\};", text, re.S)[0])


def symbols(pid):
    maps = harness.read_text(f"/proc/{pid}/maps")
    base, path = re.search(r"^([0-9a-f]+)-\S+ \S+ 00000000 .*?(/\S*libjvm\.so)$", maps, re.M).groups()
    table = dict(reversed(line.split()[::2]) for line in
                 subprocess.run(["nm", "-D", path], capture_output=True, text=True, check=True).stdout.splitlines()
                 if len(line.split()) == 3)
    return [int(base, 16) + int(table[name], 16) for name in symbol_names()]


def reads(pid):
    with tempfile.NamedTemporaryFile("r") as trace:
        subprocess.run(["strace", "-f", "-e", "trace=pread64", "-e", "write=none", "-o", trace.name, harness.SPOOR,
                        "doctor", "-p", str(pid)], stdout=subprocess.DEVNULL, check=False)
        found = re.findall(r"pread64\(\d+, .*, (\d+), (\d+)\) += ([1-9]\d*)$", trace.read(), re.M)
    return sorted({(int(at), int(n)) for _, at, n in found if int(at) > 1 << 20})


def merged(ranges):
    out = []
    for at, n in ranges:
        if out and at <= out[-1][0] + out[-1][1]:
            out[-1][1] = max(out[-1][1], at + n - out[-1][0])
        else:
            out.append([at, n])
    return out


def main():
    harness.fake_build()
    fake = harness.Fake()
    harness.FakeTest.furnish(fake)
    for command in sys.argv[2:]:
        fake(*command.split())
    with open(f"/proc/{fake.pid}/mem", "rb", 0) as mem, open(sys.argv[1], "wb") as out:
        out.write(struct.pack("<20Q", *symbols(fake.pid)))
        for at, n in merged(reads(fake.pid)):
            out.write(struct.pack("<QI", at, n) + os.pread(mem.fileno(), n, at))
    fake.close()


if __name__ == "__main__":
    main()
