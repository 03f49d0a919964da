#!/usr/bin/python3
"""Records at least so many events with sequence numbers on a patched JVM, and looks for gaps in them.

    SPOOR_BUILD=build python3 tests/e2e/sequences_long.py [--jvm HOME] [--events N]

Takes minutes, and some hundred megabytes where the temporary folder is: not for CI.
"""
import argparse
import os
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from jvm import Java, java_classes, jdk_tool  # noqa: E402 (first: it says where harness is)
import chains  # noqa: E402
import sequences  # noqa: E402
from harness import Recorder  # noqa: E402

PAIRS = 5
EVENTS_PER_TURN = 3  # at least: of parking unpark, begin, end; of monitors exit, entered, enter or notify
BUFFER = "256M"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jvm", default=os.environ.get("SPOOR_JVM"), help="home of the patched JDK [$SPOOR_JVM]")
    parser.add_argument("--events", type=lambda n: int(float(n)), default=10_000_000, help="[%(default)s]")
    parser.add_argument("--keep", metavar="FILE", help="the log")
    parser.add_argument("options", nargs="*", metavar="OPTION", help="for the JVM, behind --")
    args = parser.parse_args()
    if not args.jvm:
        parser.error("which JVM? --jvm, or SPOOR_JVM")
    turns = args.events // (2 * PAIRS * EVENTS_PER_TURN) + 1
    with tempfile.TemporaryDirectory(prefix="spoor-sequences-") as folder:
        log = args.keep or os.path.join(folder, "log.spoor")
        vm = Java([jdk_tool("java", args.jvm), *args.options, "-cp", java_classes(), "Churn", str(turns)])
        recorder = None
        try:
            vm.wait_ready()
            recorder = Recorder(vm, log, "-f", "--buffer", BUFFER)
            recorder.wait_attached()
            begin = time.monotonic()
            vm.say("go")
            vm.line(3600)
            seconds = time.monotonic() - begin
            chains.end_recording(recorder)
        finally:
            vm.close()
            if recorder:
                recorder.close()
        size = os.path.getsize(log)
        found = sequences.read(log)
        print(f"{found}\n{seconds:.1f} s, {found.events / seconds:,.0f} events/s, {size:,} bytes, "
              f"{size / found.events:.1f} bytes/event; lost {chains.lost(log)}", *found.problems, sep="\n  ")
    return 1 if found.problems or found.events < args.events else 0


if __name__ == "__main__":
    sys.exit(main())
