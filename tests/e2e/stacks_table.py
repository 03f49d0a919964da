#!/usr/bin/python3
"""Prints for each mode how many recorded call chains are those that StackWalker has seen, as a table.

    SPOOR_BUILD=build python3 tests/e2e/stacks_table.py [--rounds N] [--bad N] [MODE ...]
"""
import argparse
import os
import sys
import tempfile

sys.dont_write_bytecode = True

from jvm import java_classes  # noqa: E402 (first: it says where harness is)
import stacks  # noqa: E402


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=stacks.rounds_of(), help="rounds in each mode [%(default)s]")
    parser.add_argument("--bad", type=int, default=0,
                        help="show so many chains of each mode that are not right, wrong ones first")
    parser.add_argument("modes", nargs="*", metavar="MODE", help=", ".join(stacks.MODES))
    args = parser.parse_args()
    if set(args.modes) - set(stacks.MODES):
        parser.error(f"the modes are {', '.join(stacks.MODES)}")
    results = []
    with tempfile.TemporaryDirectory(prefix="spoor-stacks-") as folder:
        for mode in args.modes or [mode for mode in stacks.MODES if mode != "compact"]:  # JDK 25 has it
            result = stacks.run(mode, java_classes(), os.path.join(folder, mode + ".spoor"), args.rounds)
            results.append(result)
            print(f"{mode}: walks {result.walks}, lost {result.lost}", file=sys.stderr, flush=True)
            if args.bad:
                print(result.show_bad(args.bad), file=sys.stderr, flush=True)
    print(stacks.table(results))


if __name__ == "__main__":
    main()
