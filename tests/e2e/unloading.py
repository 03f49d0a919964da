"""Runs programs/Unload.java under a recorder, and holds each recorded name against the number of its thread. For
test_unloading.py; as a command it takes as many events as are wanted:

    SPOOR_BUILD=build python3 tests/e2e/unloading.py [--events N] [MODE ...]
"""
import argparse
import collections
import contextlib
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True

# First: it says where harness is.
from jvm import HERE, Java, java_classes, jdk_tool, options_of, recorder_options  # noqa: E402
import chains  # noqa: E402
from harness import Recorder  # noqa: E402

SOON = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=CompileThresholdScaling,Unload*.*,0.05"]
SMALL = ["-Xmx48m", "-XX:ReservedCodeCacheSize=3m", "-XX:+UseCodeCacheFlushing", "-XX:NmethodSweepActivity=100"]
MODES = {
    "serial": ["-XX:+UseSerialGC"],
    "g1": ["-XX:+UseG1GC"],
    "g1_concurrent": ["-XX:+UseG1GC", "-XX:+ExplicitGCInvokesConcurrent"],
    "c1": ["-XX:+UseParallelGC", "-XX:TieredStopAtLevel=1"],
    "int": ["-XX:+UseSerialGC", "-Xint"],
    "zgc": ["-XX:+UseZGC"],
}
SECTIONS, PARKS, GENERATIONS_PER_GC = 150, 100, 5
EVENTS = int(float(os.environ.get("SPOOR_UNLOADING_EVENTS", "60000")))
# How many chains of its own threads a generation has, roughly: to make N events of generations.
EVENTS_PER_GENERATION = 600

ZEROS = "0000000"
TEMPLATE = os.path.join(HERE, "programs", f"Unload{ZEROS}.java")
NUMBER = re.compile(r"(?<!\d)\d{7}(?!\d)")
KINDS = ("monitor_contended_enter", "monitor_contended_exit", "park_begin", "unpark", "owner_stack",
         "monitor_owner_seen")
OWN_LOCK = re.compile(r"Unload\d+\$Lock\d+")
PARKED = ("jdk.internal.misc.Unsafe.park", "java.util.concurrent.locks.LockSupport.park")
UNPARKED = ("jdk.internal.misc.Unsafe.unpark", "java.util.concurrent.locks.LockSupport.unpark")
LOCK = f"LUnload{ZEROS}$Lock{ZEROS};"
ENTERS = (("enterInner", f"({LOCK}LUnloadPair;I)I"), ("enterMiddle", f"(LUnloadPair;{LOCK}I)I"),
          ("enterOuter", f"(LUnloadPair;I{LOCK})I"), ("enter", "(LUnloadPair;I)V"))
PARKS_OF = (("parkInner", f"({LOCK}LUnloadPair;I)I"), ("parkOuter", f"(LUnloadPair;I{LOCK})I"),
            ("park", "(LUnloadPair;I)V"))


def lines_of(path):
    """{method: the line of its code}: it is the one behind that with the method's name and a brace."""
    lines = {}
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            match = re.match(r"    (?:\w+ )+(\w+)\(.*\{$", line)
            if match:
                lines[match[1].replace(ZEROS, "")] = number + 1
    return lines


class Template:
    """The chains of a generation, by its number."""

    def __init__(self):
        self.lines = lines_of(TEMPLATE)

    def truth(self, number, methods, inner):
        frames = []
        for name, signature in methods:
            own = name if name in ("enter", "park") else name + number
            frames.append({"class": "Unload" + number, "method": own, "line": self.lines[name],
                           "signature": signature.replace(ZEROS, number)})
        return frames, inner


class Result:
    def __init__(self, mode):
        self.mode = mode
        self.counts = collections.Counter()  # verdicts of the chains of threads at their own events
        self.owners = collections.Counter()  # likewise, of chains of which only the names are known
        self.locks = collections.Counter()
        self.unresolved = 0  # chains with such frames
        self.bad = []
        self.unloaded = 0
        self.walks = self.lost = None


class Judge:
    def __init__(self, mode):
        self.result = Result(mode)
        self.template = Template()

    def names_of(self, frames):
        for f in frames:
            if f["class"].startswith("Unload"):
                yield from NUMBER.findall(f["class"] + " " + f["method"] + " " + f["signature"])

    def own_chain(self, kind, frames, number):
        """The chain of the event's own thread: each of its methods is known, and its line."""
        inner = {"park_begin": PARKED, "unpark": UNPARKED}.get(kind, ())
        frames = [f for f in frames if f["class"] not in ("Unload$Worker",)]
        methods = ENTERS if kind.startswith("monitor_") else PARKS_OF
        truth = chains.Truth(*self.template.truth(number, methods, [inner]))
        return truth.judge(frames)

    def say(self, verdict, event, column, frames):
        if verdict == chains.WRONG:
            self.result.bad.append(f"{self.result.mode}: {event['event']}.{column} of {event['thread']} at "
                                   f"{event['time_ns']}: {chains.show(frames)}")

    def lock(self, event, number):
        """False: it is none of the program's own locks."""
        lock = event.get("lock")
        name = lock and lock.get("class")
        if name is None:
            self.result.locks["not known"] += 1
            return lock is not None
        if not OWN_LOCK.fullmatch(name):
            return False
        right = name == f"Unload{number}$Lock{number}"
        self.result.locks["right" if right else "wrong"] += 1
        if not right:
            self.result.bad.append(f"{self.result.mode}: {event['event']} of {event['thread']} at {event['time_ns']}: "
                                   f"lock {lock}")
        return True

    def owner(self, event, column, thread):
        """A chain of a thread wherever it was: no name may be of another generation."""
        match = NUMBER.search(thread.get("name", "")) if thread else None
        if not match or not event[column]:
            return
        frames = event[column]["frames"]
        complete = all(f["type"] not in chains.PSEUDO for f in frames)
        wrong = set(self.names_of(frames)) - {match[0]}
        verdict = chains.WRONG if wrong else chains.RIGHT if complete else chains.INCOMPLETE
        self.result.owners[verdict] += 1
        self.say(verdict, event, column, frames)

    def event(self, event):
        if event["event"] == "owner_stack":
            self.owner(event, "stack", event["thread"])
            return
        if "owner_stack" in event:
            self.owner(event, "owner_stack", event["owner"])
        match = NUMBER.search((event["thread"] or {}).get("name", ""))
        if not match or "stack" not in event:
            return
        stack = event["stack"]
        frames = stack["frames"] if stack else []
        if event["event"] == "unpark":
            # Others than parkInner unpark, too: at the end of a thread.
            if any(f["method"] == "leave" for f in frames):
                return
        elif not self.lock(event, match[0]):
            return
        verdict = self.own_chain(event["event"], frames, match[0])
        self.result.counts[verdict] += 1
        self.result.unresolved += any(f["type"] == "unresolved" for f in frames)
        self.say(verdict, event, "stack", frames)


def run(mode, folder, log_path, events, home=None):
    generations = max(10, events // EVENTS_PER_GENERATION)
    command = [jdk_tool("java", home), *options_of(home, [*SOON, *SMALL, *MODES[mode]]), "-cp", folder, "Unload",
               *map(str, (generations, SECTIONS, PARKS, GENERATIONS_PER_GC))]
    judge = Judge(mode)
    with contextlib.ExitStack() as stack:
        vm = Java(command)
        stack.callback(vm.close)
        vm.wait_ready()
        recorder = Recorder(vm, log_path, *recorder_options(home, ()))
        stack.callback(recorder.close)
        recorder.wait_attached()
        judge.result.unloaded = int(vm.ask("go", 60 + generations))
        chains.end_recording(recorder)
        vm.end()
    for event in chains.events(log_path, *KINDS):
        judge.event(event)
    judge.result.walks, judge.result.lost = chains.walks(log_path), chains.lost(log_path)
    return judge.result


def describe(result):
    counts, owners, locks = result.counts, result.owners, result.locks
    return (f"{result.mode}: {sum(counts.values())} chains: {counts[chains.RIGHT]} right, {counts[chains.NEAR]} near, "
            f"{counts[chains.INCOMPLETE]} incomplete ({result.unresolved} with unresolved frames), "
            f"{counts[chains.WRONG]} wrong; {sum(owners.values())} chains of owners, {owners[chains.WRONG]} with a "
            f"wrong name; locks: {dict(locks)}; {result.unloaded} classes unloaded\n  walks {result.walks}, lost "
            f"{result.lost}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=lambda n: int(float(n)), default=EVENTS,
                        help="about so many in each mode [%(default)s]")
    parser.add_argument("--bad", type=int, default=3, help="show so many wrong chains [%(default)s]")
    parser.add_argument("modes", nargs="*", metavar="MODE", help=", ".join(MODES))
    args = parser.parse_args()
    if set(args.modes) - set(MODES):
        parser.error(f"the modes are {', '.join(MODES)}")
    with tempfile.TemporaryDirectory(prefix="spoor-unloading-") as folder:
        for mode in args.modes or MODES:
            result = run(mode, java_classes(), os.path.join(folder, "log.spoor"), args.events)
            print(describe(result), *result.bad[:args.bad], sep="\n", flush=True)
            os.unlink(os.path.join(folder, "log.spoor"))


if __name__ == "__main__":
    main()
