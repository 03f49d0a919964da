"""Chains of virtual threads whose outer frames are in the heap (JDK 21 and 25), against StackWalker, asked in the line in
which the thread waits (programs/Unmounted.java). SPOOR_UNMOUNTED_ROUNDS=1000 takes more rounds of each thread."""
import bisect
import collections
import json
import os
import unittest

import jvm
import chains
from soaking import only_in_soak, slow

ROUNDS = int(os.environ.get("SPOOR_UNMOUNTED_ROUNDS", "40"))
THREADS, DEPTH, WARM = 4, 60, 60
RUN = ("java.lang.VirtualThread", "run")
# What StackWalker does not tell of: frames of java.lang.VirtualThread and jdk.internal.vm.Continuation.
BELOW = ["java.lang.VirtualThread$VThreadContinuation$1.run",
         *("jdk.internal.vm.Continuation." + name for name in ("enter0", "enter", "enterSpecial"))]
WAIT = ("java.lang.Object.wait0", "java.lang.Object.wait", "java.lang.Object.wait")
SHORT = ("java.lang.Object.wait0", "java.lang.Object.wait")


def read_acts(vm):
    """{thread: [(begin, end, frames)]}, in the order of time."""
    frames, acts = [], collections.defaultdict(list)
    while (line := vm.line(240)) != "done":
        told = json.loads(line)
        if "chain" not in told:
            told["class"] = told["class"].replace("/", "+")
            told["line"] = max(told["line"], 0)
            frames.append(told)
            continue
        acts[told["thread"]].append((told["begin"], told["end"], [frames[n] for n in told["chain"]]))
    return acts


def upto_run(frames):
    """The frames up to VirtualThread.run, and the methods of those after."""
    at = next((n for n, f in enumerate(frames) if (f["class"], f["method"]) == RUN), len(frames) - 1)
    return frames[:at + 1], [chains.method_of(f) for f in frames[at + 1:]]


class Result:
    def __init__(self, acts):
        self.acts = acts
        self.counts, self.ends, self.bad = collections.Counter(), collections.Counter(), []

    def judge(self, event):
        acts = self.acts.get(event["thread"].get("name"), ())
        at = bisect.bisect_right(acts, event["time_ns"], key=lambda act: act[0]) - 1
        if at < 0 or event["time_ns"] > acts[at][1]:
            return
        frames = event["stack"]["frames"] if event["stack"] else []
        true, _ = upto_run(acts[at][2])
        got, below = upto_run(frames)
        verdict = chains.Truth(true, (WAIT, SHORT)).judge(got)
        if verdict == chains.RIGHT and below != BELOW:
            verdict = chains.WRONG
        self.counts[verdict] += 1
        self.ends[frames[-1]["type"] if frames and frames[-1]["type"] in chains.PSEUDO else "whole"] += 1
        if verdict not in (chains.RIGHT, chains.INCOMPLETE):
            self.bad.append(f"{verdict} {below}: {chains.show_both(got, true)}")


def own(frame):
    return frame["class"].startswith("Unmounted")


def edges(frames):
    """Who calls whom, from where."""
    return {(chains.method_of(callee), chains.method_of(caller), caller["line"])
            for callee, caller in zip(frames, frames[1:])}


class Every:
    """All chains of a log, of whatever event: no two frames may be next to each other that never are. So parts of a chain
    that stand there twice, or of another one, are seen."""

    ASIDE = ("pause", "back", "where", "lambda$where$1", "lambda$contender$2", "tell", "show", "block", "virtual",
             "<init>")

    def __init__(self, acts):
        self.known = set().union(*(edges(frames) for told in acts.values() for _, _, frames in told))
        self.chains, self.strange = 0, set()

    def look(self, stack):
        if not stack or not any(own(f) for f in stack["frames"]):
            return
        self.chains += 1
        for callee, caller in zip(stack["frames"], stack["frames"][1:]):
            edge = (chains.method_of(callee), chains.method_of(caller), caller["line"])
            inside = callee["class"].startswith(("jdk.internal.vm.", "java.lang.VirtualThread"))
            if own(caller) and not caller["inferred"] and (inside or (own(callee) and not callee["inferred"]
                                                           and not self.may(edge))):
                self.strange.add(edge)
        enters = [f for f in stack["frames"] if chains.method_of(f) == BELOW[-2]]
        if len(enters) > 1:
            self.strange.add(("enter", "enter", 0))

    def may(self, edge):
        """Calls that are in no chain that waits."""
        return edge in self.known or edge[0].split(".")[-1] in self.ASIDE or edge[1] == "Unmounted.main"


class Unmounted:
    EVENTS = ("monitor_wait_begin", "monitor_contended_enter", "monitor_contended_exit", "park_begin", "unpark",
              "owner_stack", "monitor_owner_seen")

    def run_mode(self, *options, given=()):
        vm = self.java("Unmounted", THREADS, ROUNDS, DEPTH, WARM, options=("-Xmx128m", *options))
        recorder = self.record(vm, *given)
        vm.say("go")
        acts = read_acts(vm)
        chains.end_recording(recorder)
        vm.end()
        result = Result(acts)
        every = Every(acts)
        for event in chains.events(self.path(), *self.EVENTS):
            if event["event"] == "monitor_wait_begin":
                result.judge(event)
            every.look(event.get("stack"))
            every.look(event.get("owner_stack"))
        print(f"{self.MAJOR} {options}: {dict(result.counts)}, ends {dict(result.ends)}, of {every.chains} strange "
              f"{len(every.strange)}, "
              f"walks {chains.walks(self.path())}")
        self.assertEqual(sorted(every.strange)[:5], [])
        return result

    def check(self, *options):
        result = self.run_mode(*options)
        self.assertEqual(result.bad[:3], [])
        self.assertEqual(result.ends["broken"], 0)
        self.assertGreater(result.counts[chains.RIGHT], 0.99 * sum(result.counts.values()))
        self.assertGreater(result.counts[chains.RIGHT], ROUNDS * THREADS)

    def test_tiered(self):
        self.check()

    @slow
    def test_interpreted(self):
        self.check("-Xint")

    def test_c1(self):
        self.check("-XX:TieredStopAtLevel=1")

    @only_in_soak
    def test_c2(self):
        self.check("-XX:-TieredCompilation", "-XX:CompileThreshold=200")

    @only_in_soak
    def test_serial(self):
        self.check("-XX:+UseSerialGC", "-Xmn2m")

    @only_in_soak
    def test_parallel(self):
        self.check("-XX:+UseParallelGC", "-Xmn2m")

    def check_ends(self, *options):
        """The collector may move a chunk at any time: the chains end where the heap begins, and say so."""
        result = self.run_mode(*options)
        self.assertEqual(result.bad[:3], [])
        self.assertGreater(result.ends["in_heap"], ROUNDS * THREADS)
        self.assertEqual(result.ends["broken"], 0)

    def test_zgc(self):
        self.check_ends("-XX:+UseZGC")

    @only_in_soak
    def test_shenandoah(self):
        self.check_ends("-XX:+UseShenandoahGC")

    @only_in_soak
    def test_oops_of_64_bits(self):
        self.check("-XX:-UseCompressedOops")

    @only_in_soak
    def test_without_probes(self):
        """Threads are walked where they lose their CPU, at any address."""
        self.run_mode(given=("--probes", "none"))


class Unmounted21(Unmounted, jvm.OtherJavaTest):
    MAJOR = 21


class Unmounted25(Unmounted, jvm.OtherJavaTest):
    MAJOR = 25

    @only_in_soak
    def test_compact_headers(self):
        self.check("-XX:+UseCompactObjectHeaders")


if __name__ == "__main__":
    unittest.main()
