#!/usr/bin/python3
"""Records a program by its probes (usdt) and without them (none) at the same time, and says which contentions are in both
logs, which in one only and why, and for how much of the blocked time it is seen who let the thread in, and from where.

    SPOOR_BUILD=build python3 tests/e2e/waits_table.py [--jvm HOME] [--show N] [PROGRAM ...]

PROGRAM: scenes (Exact.java's that a stock JVM tells of), Contend, and of bench/: Mixed, Pipelines, Alternate, HandOver.
Of these a slot of a second. --alone records without probes only: two recorders slow a program down twice."""
import argparse
import contextlib
import os
import statistics
import sys
import tempfile

sys.dont_write_bytecode = True

from jvm import HERE, Java, java_classes, jdk_tool  # noqa: E402 (first: it says where harness is)
import exact  # noqa: E402
from harness import Recorder  # noqa: E402
import waits  # noqa: E402

BENCH = ("Mixed", "Pipelines", "Alternate", "HandOver")
MODES = {"usdt": ("--probes", "usdt"), "none": ("--probes", "none", "--every-wait")}


def commands(program, home):
    """(what starts it, what it is asked for once it is ready: function of the Java)."""
    java = jdk_tool("java", home)
    if program == "scenes":
        def play(vm):
            names = [n for n in vm.ask("scenes").split() if n.startswith(exact.STOCK)]
            exact.warm_up(vm, names)
            for name in names:
                exact.play(vm, name)
        return exact.command_of("tiered", java_classes(), home), play
    if program in BENCH:
        classes = java_classes("../../bench/[!M]*.java") if program != "Mixed" else java_classes("../../bench/[MS][il]*.java")
        return [java, "-cp", classes, program, "1", "0.2", "1"], lambda vm: vm.ask("go", 120)
    return [java, "-cp", java_classes(), program, "40"], lambda vm: vm.ask("go", 120)


def wait_ready(vm):
    while not vm.line(120).startswith("ready"):
        pass


def record(program, modes, home, folder):
    """{mode: Log}"""
    with contextlib.ExitStack() as stack:
        command, go = commands(program, home)
        vm = Java(command)
        stack.callback(vm.close)
        wait_ready(vm)
        recorders = {}
        for mode in modes:
            recorders[mode] = Recorder(vm, os.path.join(folder, f"{program}-{mode}.spoor"), "-f", *MODES[mode])
            stack.callback(recorders[mode].close)
            recorders[mode].wait_attached()
        go(vm)
        return {mode: recorder.stop() for mode, recorder in recorders.items()}


def share(part, whole):
    return f"{100 * part / whole:.2f} %" if whole else "-"


def print_released(mode, of):
    blocked, seen, chained = of.released()
    print(f"  {mode}: {len(of.contentions)} contentions, {blocked / 1e6:.1f} ms; of that time the release is seen for "
          f"{share(seen, blocked)}, with all of its call chain for {share(chained, blocked)}")


def print_pairs(pairs, show):
    begins = [n.begin - u.begin for u, n in pairs.pairs]
    ends = [n.end - u.end for u, n in pairs.pairs]
    print(f"  in both {len(pairs.pairs)}; several of one that are one of the other: {len(pairs.groups)} groups")
    if begins:
        print(f"    none begins {statistics.median(begins) / 1e3:.1f} us later, and ends "
              f"{statistics.median(ends) / 1e3:.1f} us later (medians)")
    for probed, switched in pairs.groups[:show]:
        print(f"    {probed} are {switched}")
    for why, found in sorted(pairs.only.items()):
        print(f"  only {why}: {len(found)}, {sum(c.ns for c in found) / 1e6:.3f} ms")
        for c in found[:show]:
            print(f"    {c}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jvm", help="home of the JDK [that of the machine]")
    parser.add_argument("--show", type=int, default=3, help="so many of each kind one by one [%(default)s]")
    parser.add_argument("--alone", action="store_true", help="record by switches only")
    parser.add_argument("programs", nargs="*", metavar="PROGRAM")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="spoor-waits-") as folder:
        for program in args.programs or ("scenes", "Contend", *BENCH):
            logs = record(program, ("none",) if args.alone else tuple(MODES), args.jvm, folder)
            found = {mode: waits.Waits(log) for mode, log in logs.items()}
            print(f"{program}: lost {({mode: log.lost() for mode, log in logs.items()})}", flush=True)
            for mode, of in found.items():
                print_released(mode, of)
            if len(found) == 2:
                print_pairs(waits.Pairs(found["usdt"], found["none"], *waits.common(logs.values())), args.show)


if __name__ == "__main__":
    main()
