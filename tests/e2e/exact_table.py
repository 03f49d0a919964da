#!/usr/bin/python3
"""Plays the scenes of programs/Exact.java and prints for each how near the report's cells are to what was so.

    SPOOR_BUILD=build python3 tests/e2e/exact_table.py [--jvm HOME] [--mode MODE,...] [--problems N] [SCENE ...]

nobody's: what the program says was held, but by the rules for park is charged to nobody, as a thread had been unparked.
worst: how far a cell is outside of the two bounds that the program's own stamps give for it.
"""
import argparse
import os
import sys
import tempfile

sys.dont_write_bytecode = True

from jvm import java_classes  # noqa: E402 (first: it says where harness is)
import exact  # noqa: E402
from chains import lost  # noqa: E402

HEADINGS = ("scene", "times", "quiet", "cells", "blocked ms", "hand-over ms", "nobody's ms", "unknown ms",
            "worst ms", "worst %", "problems")


def row(name, played):
    c = played.compare(name)
    return (name, len(played.scenes[name]), "yes" if played.quiet[name] else "no", c.cells, f"{c.blocked_ns / 1e6:.1f}",
            f"{c.hand_over_ns / 1e6:.3f}", f"{played.allowed_ns[name] / 1e6:.3f}", f"{c.unknown_ns / 1e6:.3f}",
            f"{c.worst_ns / 1e6:.3f}", f"{c.worst_pct:.2f}", len(c.problems)), c.problems


def table(lines):
    widths = [max(len(str(line[n])) for line in lines) for n in range(len(lines[0]))]
    return "\n".join("  ".join(str(c).ljust(w) if n == 0 else str(c).rjust(w)
                               for n, (c, w) in enumerate(zip(line, widths))) for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jvm", default=os.environ.get("SPOOR_JVM"), help="home of the JDK that plays [$SPOOR_JVM]")
    parser.add_argument("--mode", default="tiered", help=f"of {','.join(exact.MODES)} [%(default)s]")
    parser.add_argument("--problems", type=int, default=3, help="show so many of each scene [%(default)s]")
    parser.add_argument("--keep", metavar="FILE", help="the log")
    parser.add_argument("scenes", nargs="*", metavar="SCENE")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spoor-exact-") as folder:
        for mode in args.mode.split(","):
            path = args.keep or os.path.join(folder, mode + ".spoor")
            played = exact.run(mode, java_classes(), path, args.jvm, args.scenes.__contains__ if args.scenes else None)
            rows = [row(name, played) for name in played.scenes]
            print(f"{mode}: lost {lost(path)}", table([HEADINGS, *(r for r, _ in rows)]), sep="\n", flush=True)
            for r, problems in rows:
                for problem in problems[:args.problems]:
                    print(f"{r[0]}: {problem}", flush=True)


if __name__ == "__main__":
    main()
