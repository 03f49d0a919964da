#!/usr/bin/python3
"""Each allocation and each system call of record, doctor and steal fails in turn (tests/bpf/fail.c)."""
import argparse
import os
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "bpf"))
import failing  # noqa: E402
import harness  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("commands", nargs="*", default=["record", "doctor", "steal"])
    options = parser.parse_args()
    harness.fake_build()
    fake, runs, faults = harness.FakeTest.furnish(harness.Fake()), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        lines = {"record": ["record", "-q", "-f", "-o", os.path.join(folder, "o.spoor"), "-d", "100ms", "-p", fake.pid],
                 "doctor": ["doctor", "-p", fake.pid], "steal": ["steal", "-d", "100ms", "-i", "50ms"]}
        for command in options.commands:
            f = failing.Failing(folder, lines[command], lambda _: "the flag is on" if fake.flag() else None)
            for kind, count in f.counts().items():
                for n in range(1, count + 1, options.step):
                    fault, runs = f.fault(kind, n), runs + 1
                    if fault:
                        faults += 1
                        print(fault, flush=True)
    fake.close()
    print(f"{runs} runs, {faults} faults")
    return 1 if faults or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
