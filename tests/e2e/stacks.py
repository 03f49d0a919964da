"""Runs programs/Stacks.java in one of many modes under a recorder, and counts how many of the recorded call chains
are those that StackWalker has seen. For test_stacks.py and stacks_table.py."""
import bisect
import collections
import contextlib
import json
import os

from jvm import Java, jdk_tool, native_library, options_of, recorder_options  # first: it says where harness is
import chains
from harness import Recorder

SOON = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=CompileThresholdScaling,Stacks*.*,0.02",
        "-XX:CompileCommand=exclude,StacksShapes.cold*"]
# name: (options, how often each op runs before anything is measured)
MODES = {
    "int": (["-Xint"], 1),
    "c1": (["-XX:TieredStopAtLevel=1", "-Xbatch"], 15),
    "c1_profiled": (["-XX:TieredStopAtLevel=3", "-Xbatch"], 15),
    "c2": (["-XX:-TieredCompilation", "-Xbatch"], 15),
    "tiered": ([], 15),
    "comp": (["-Xcomp"], 2),
    "parallel": (["-XX:+UseParallelGC"], 15),
    # Each call of an interpreted method, also of a native one, looks whether it is to be compiled.
    "serial": (["-XX:+UseSerialGC", "-XX:Tier0InvokeNotifyFreqLog=0",
                "-XX:CompileCommand=exclude,StacksShapes.callShape"], 15),
    "g1_no_compressed_oops": (["-XX:+UseG1GC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers"], 15),
    "compact": (["-XX:+UseCompactObjectHeaders"], 15),  # JDK 25
    "not_compact": (["-XX:-UseCompactObjectHeaders"], 15),  # JDK 27
    "zgc": (["-XX:+UseZGC"], 15),
    "shenandoah": (["-XX:+UseShenandoahGC"], 15),
    "little_inlining": (["-XX:MaxInlineLevel=1", "-XX:C1MaxInlineLevel=1", "-Xbatch"], 15),
    "deep_inlining": (["-XX:MaxInlineLevel=40", "-XX:MaxRecursiveInlineLevel=8", "-XX:-TieredCompilation", "-Xbatch",
                       "-XX:CompileCommand=inline,Stacks*.*"], 15),
}
SCALE = float(os.environ.get("SPOOR_STACKS_SCALE", "1"))
ROUNDS = 2

ACT = "StacksAct."
UNSAFE, SUPPORT = "jdk.internal.misc.Unsafe.", "java.util.concurrent.locks.LockSupport."
AQS = "java.util.concurrent.locks.AbstractQueuedSynchronizer."
REENTRANT = "java.util.concurrent.locks.ReentrantLock"
PARK = (UNSAFE + "park", SUPPORT + "park")
UNPARK = (UNSAFE + "unpark", SUPPORT + "unpark")
# What each op calls below the frame in which StackWalker was asked, innermost first.
BLOCKS = {
    "ENTER": ("monitor_contended_enter", ()),
    "ENTER_SYNCHRONIZED": ("monitor_contended_enter", None),  # the program tells it, with its line
    "ENTER_STATIC": ("monitor_contended_enter", None),
    "LOCK": ("park_begin", (*PARK, AQS + "acquire", AQS + "acquire", REENTRANT + "$Sync.lock", REENTRANT + ".lock")),
    "WAIT": ("monitor_wait_begin", ("java.lang.Object.wait",)),
    "PARK": ("park_begin", PARK),
    "PARK_IN": ("park_begin", (*PARK, ACT + "parkHere")),
}
UNLOCK = (*UNPARK, AQS + "signalNext", AQS + "release", REENTRANT + ".unlock")
RELEASES = {
    "SLEEP_IN": ("monitor_contended_exit", ()), "THROW_IN": ("monitor_contended_exit", ()),
    "SYNCHRONIZED": ("monitor_contended_exit", ()), "STATIC": ("monitor_contended_exit", ()),
    "SPIN_IN": ("monitor_contended_exit", ()), "NOTIFY": ("monitor_contended_exit", ()),
    "PARK_IN": ("unpark", UNLOCK), "SPIN_LOCK": ("unpark", UNLOCK), "UNPARK": ("unpark", UNPARK),
}
THREAD = "java.lang.Thread."
SLEEP = [(THREAD + "sleep", ACT + "sleep")]
# What is otherwise in another JDK than 17: from this release on, until the next one that is listed.
INSTEAD = {
    11: {BLOCKS["LOCK"][1]: (*PARK, AQS + "parkAndCheckInterrupt", AQS + "acquireQueued", AQS + "acquire",
                             REENTRANT + ".lock"),
         UNLOCK: (*UNPARK, AQS + "unparkSuccessor", AQS + "release", REENTRANT + ".unlock")},
    17: {},
    21: {SLEEP[0]: (THREAD + "sleep0", *SLEEP[0]),
         ("java.lang.Object.wait",): ("java.lang.Object.wait0", "java.lang.Object.wait")},
    25: {SLEEP[0]: (THREAD + "sleepNanos0", THREAD + "sleepNanos", *SLEEP[0]),
         ("java.lang.Object.wait",): ("java.lang.Object.wait0", "java.lang.Object.wait")},
}
SPIN = [(ACT + "spin",), ("java.lang.Thread.onSpinWait", ACT + "spin"), ("java.lang.System.nanoTime", ACT + "spin")]
HOLDS = {"SLEEP_IN": SLEEP, "THROW_IN": SLEEP, "SYNCHRONIZED": SLEEP, "STATIC": SLEEP,
         "PARK_IN": [(*PARK, ACT + "parkHere")], "SPIN_IN": SPIN, "SPIN_LOCK": SPIN}
LOCK_CLASSES = {"ENTER_STATIC": "java.lang.Class", "STATIC": "java.lang.Class"}
MONITOR_CLASS = "StacksAct$Lock"
# The sides of a contention, as they are counted.
WAITER, OWNER, RELEASE, RUNNING = "waiter", "holder asleep", "release", "holder running"
EXACT_SIDES = (WAITER, OWNER)
CLOCK_NS = 5000


class Act:
    """What one thread did in one meeting, see StacksAct.java."""

    def __init__(self, told, frames):
        self.__dict__.update(told)
        self.frames = [frames[n] for n in self.frames]
        self.inner = self.inner is not None and [(chains.method_of(frames[self.inner]), frames[self.inner]["line"])]
        self.lock_class = LOCK_CLASSES.get(self.op, MONITOR_CLASS)

    def truth(self, inner, instead):
        return chains.Truth(self.frames, [self.inner] if inner is None else [instead.get(inner, inner)])

    def truth_of_hold(self, instead):
        return chains.Truth(self.frames, [instead.get(inner, inner) for inner in HOLDS[self.op]])

    def is_settled_at(self, time_ns):
        return self.op in HOLDS and self.settled_begin <= time_ns <= self.settled_end


def read_acts(vm, major):
    """The program's own word, once it has been told to begin."""
    frames, acts = [], []
    while (line := vm.line(240)) != "done":
        told = json.loads(line)
        if "seq" in told:
            acts.append(Act(told, frames))
            continue
        # HotSpot's own name of a hidden class has '+' where Java has '/'; that of an anonymous one, as JDK 11 makes
        # them, ends there. What is native has neither line nor bci.
        told["class"] = told["class"].split("/")[0] if major == 11 else told["class"].replace("/", "+")
        told["line"] = max(told["line"], 0)
        if told.pop("native"):
            told["line"] = told["bci"] = 0
        frames.append(told)
    return acts


class Result:
    """Counts of one mode."""

    def __init__(self, mode):
        self.mode = mode
        self.counts = collections.defaultdict(collections.Counter)  # by side, then by verdict
        self.bad = {chains.WRONG: [], chains.INCOMPLETE: [], chains.NEAR: []}  # texts
        self.unknown = 0  # holders asleep whose chain the event does not have
        self.no_release = 0  # the JVM does not tell of each
        self.spins_seen = self.spins = 0
        self.types = collections.Counter()
        self.shape_types = collections.defaultdict(set)  # {(shape, method): types}
        self.most_inlined = 0
        self.walks = self.lost = None

    def judge(self, side, act, truth, event, column="stack"):
        stack = event[column]
        frames = stack["frames"] if stack else []
        verdict = truth.judge(frames)
        self.counts[side][verdict] += 1
        for f in frames:
            self.types[f["type"]] += 1
            self.shape_types[act.shape, chains.method_of(f)].add(f["type"])
        if act.shape == "inlined":
            self.most_inlined = max(self.most_inlined, sum(f["type"] == "inlined" for f in frames))
        if verdict != chains.RIGHT:
            self.bad[verdict].append(
                f"{self.mode}: {verdict}: {side} {act.shape} {act.op} {event['event']}.{column} of {act.thread} at "
                f"{event['time_ns']} (begin {event['time_ns'] - act.begin} ns ago, end in {act.end - event['time_ns']}): {chains.show_both(frames, act.frames)}")

    def missing(self, side, act, what):
        self.counts[side][chains.INCOMPLETE] += 1
        self.bad[chains.INCOMPLETE].append(f"{self.mode}: no event: {side} {act.shape} {act.op} {what} of {act.thread}")

    def show_bad(self, limit=5):
        return "\n".join([text for texts in self.bad.values() for text in texts][:limit])

    def summary(self):
        """One line, by which a failure can be told where the rest of its output is cut away."""
        sides = ((side, self.counts[side]) for side in (WAITER, OWNER, RELEASE, RUNNING))
        return f"{self.mode}: " + "; ".join(
            f"{side}: " + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
            for side, counts in sides)

    def count(self, *verdicts, sides=(WAITER, OWNER, RELEASE, RUNNING)):
        return sum(self.counts[s][v] for s in sides for v in verdicts or self.counts[s])

    def share(self, *verdicts, sides=(WAITER, OWNER, RELEASE, RUNNING)):
        return self.count(*verdicts, sides=sides) / max(1, self.count(sides=sides))


class Judge:
    """Goes through the events of a log once, with the acts of each thread at hand."""

    KINDS = ("monitor_contended_enter", "monitor_wait_begin", "park_begin", "monitor_contended_exit", "unpark",
             "owner_stack", "monitor_owner_seen")

    def __init__(self, mode, acts, clock_ns, major=17):
        self.clock_ns = clock_ns
        self.instead = INSTEAD[max(release for release in INSTEAD if release <= major)]
        self.result = Result(mode)
        self.acts = acts
        self.by_thread = collections.defaultdict(list)
        for act in sorted(acts, key=lambda act: act.begin):
            self.by_thread[act.thread].append(act)
        self.seen = set()  # (seq, what of it)

    def act_at(self, thread, time_ns):
        acts = self.by_thread.get(thread.get("name"), ()) if thread else ()
        at = bisect.bisect_right(acts, time_ns, key=lambda act: act.begin) - 1
        return acts[at] if at >= 0 and time_ns <= acts[at].end else None

    def own_stack(self, event, act):
        kind = event["event"]
        if kind.startswith("monitor_") and event["lock"] and event["lock"].get("class") != act.lock_class:
            return
        for side, table in ((WAITER, BLOCKS), (RELEASE, RELEASES)):
            known = table.get(act.op)
            # The scheduler's clock is exact to some microseconds, and a worker parks before and after each act. In the
            # act it blocks some time after its begin, and its end comes long after that. On a machine with five threads
            # for each CPU the clock was 6.8 us early.
            if side == WAITER and (event["time_ns"] - act.begin < self.clock_ns
                                   or act.end - event["time_ns"] < 2 * self.clock_ns):
                continue
            if known and known[0] == kind:
                self.result.judge(side, act, act.truth(known[1], self.instead), event)
                self.seen.add((act.seq, side))

    def owner_stack(self, event, column, owner):
        """Somebody's chain, who may be the event's own thread or the owner of a lock that the event tells of."""
        holder = self.act_at(owner, event["time_ns"])
        if not holder or not holder.is_settled_at(event["time_ns"]):
            return
        asleep = HOLDS[holder.op] is not SPIN
        if event[column] is None:
            self.result.unknown += asleep and event["event"] != "monitor_owner_seen"
            return
        self.result.judge(OWNER if asleep else RUNNING, holder, holder.truth_of_hold(self.instead), event, column)
        self.seen.add((holder.seq, OWNER))

    def event(self, event):
        act = self.act_at(event["thread"], event["time_ns"])
        if act and "stack" in event and event["event"] != "owner_stack":
            self.own_stack(event, act)
        if event["event"] == "owner_stack":
            self.owner_stack(event, "stack", event["thread"])
        elif act and "owner_stack" in event:
            self.owner_stack(event, "owner_stack", event["owner"])

    def end(self):
        for act in self.acts:
            if act.op in BLOCKS and (act.seq, WAITER) not in self.seen:
                self.result.missing(WAITER, act, BLOCKS[act.op][0])
            if act.op in RELEASES and (act.seq, RELEASE) not in self.seen:
                # A monitor's release is told of if somebody is to be woken: if he slept already.
                if RELEASES[act.op][0] == "unpark":
                    self.result.missing(RELEASE, act, "unpark")
                self.result.no_release += 1
            if HOLDS.get(act.op) is SPIN:
                self.result.spins += 1
                self.result.spins_seen += (act.seq, OWNER) in self.seen
        return self.result


def run(mode, folder, log_path, rounds, given=(), home=None, major=17):
    """One mode, as a Result. given: options of the recorder; home, major: of the JDK, if it is another one."""
    options, warm = MODES[mode]
    command = [jdk_tool("java", home), *options_of(home, SOON + options), "-cp", folder, "Stacks", native_library("stacks"),
               str(warm), str(rounds)]
    with contextlib.ExitStack() as stack:
        vm = Java(command)
        stack.callback(vm.close)
        vm.wait_ready()
        recorder = Recorder(vm, log_path, *recorder_options(home, given))
        stack.callback(recorder.close)
        recorder.wait_attached()
        vm.say("go")
        acts = read_acts(vm, major)
        chains.end_recording(recorder)
        vm.end()
    judge = Judge(mode, acts, CLOCK_NS if "none" in given else 0, major)  # --probes none
    for event in chains.events(log_path, *Judge.KINDS):
        judge.event(event)
    result = judge.end()
    result.walks, result.lost = chains.walks(log_path), chains.lost(log_path)
    return result


def rounds_of(scale=SCALE):
    return max(1, round(ROUNDS * scale))


HEADINGS = ("mode", "chains", "right", "near", "incomplete", "wrong", "right %", "holder known %", "most inlined")


def rows(result):
    """Lines of the table: all of a mode, and its sides."""
    known = result.count(sides=(OWNER,))
    for name, sides in ((result.mode, (WAITER, OWNER, RELEASE, RUNNING)), *((f"  {s}", (s,)) for s in
                                                                          (WAITER, OWNER, RELEASE, RUNNING))):
        yield (name, result.count(sides=sides),
               *(result.count(v, sides=sides) for v in (chains.RIGHT, chains.NEAR, chains.INCOMPLETE, chains.WRONG)),
               f"{result.share(chains.RIGHT, sides=sides):.2%}",
               f"{known / max(1, known + result.unknown):.1%}" if name == result.mode else "",
               result.most_inlined if name == result.mode else "")


def table(results):
    lines = [HEADINGS] + [row for r in results for row in rows(r)]
    widths = [max(len(str(line[n])) for line in lines) for n in range(len(HEADINGS))]
    return "\n".join("  ".join(str(c).ljust(w) if n == 0 else str(c).rjust(w)
                               for n, (c, w) in enumerate(zip(line, widths))) for line in lines)
