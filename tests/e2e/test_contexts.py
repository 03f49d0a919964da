"""One run of a program that knows the CPU time of each of its calling contexts, seen by spoor and by JFR: how alike the three
call trees are, beside what chance leaves (contexts.py)."""
import json
import re
import subprocess
import unittest

from jvm import JavaTest, OtherJavaTest  # first: it says where harness is
from contexts import floor, hot_cover, overlap, sure_to_be_hot
from harness import SPOOR
from samples import Samples
from soaking import slow
from test_jfr import events_of

SECONDS = 5
THREAD = "call-tree"
SETTINGS = """<?xml version="1.0" encoding="UTF-8"?>
<configuration version="2.0"><event name="{}"><setting name="enabled">true</setting>{}</event></configuration>
"""


def generated(name):
    """Numbers in the names of generated classes differ from tool to tool, and count for nothing."""
    return re.sub(r"(\$\$Lambda|\$Proxy|Accessor).*", r"\1", name)


def tree_of(samples, only=None):
    """samples: pairs of a weight and a chain of (class, method) from the outermost. only: frames that are contexts; the
    others belong to the nearest one outwards."""
    tree = {}
    for weight, chain in samples:
        path = tuple(name if only else f"{generated(cls)}.{name}" for cls, name in chain if not only or only(cls, name))
        if path:
            tree[path] = tree.get(path, 0) + weight
    return tree


def is_context(cls, name):
    return cls == "CallTree" and re.fullmatch(r"m\d", name)


def jfr_samples(path, kind, thread_field):
    """Pairs as above; how many more have no chain, or one that was cut."""
    found, dropped = [], 0
    for event in events_of(path, kind, frames=64):
        values = event["values"]
        if (values[thread_field] or {}).get("javaName") != THREAD:
            continue
        trace = values["stackTrace"]
        if not trace or trace["truncated"]:
            dropped += 1
            continue
        found.append((1, [(f["method"]["type"]["name"].replace("/", "."), f["method"]["name"])
                          for f in reversed(trace["frames"])]))
    return found, dropped


class ContextsTest(JavaTest):
    KIND, SETTING, FIELD = None, None, None  # the event of JFR's, its setting, its field of the thread

    def run_both(self):
        settings, recording = self.path("all.jfc"), self.path("all.jfr")
        with open(settings, "w", encoding="utf-8") as f:
            f.write(SETTINGS.format(self.KIND, self.SETTING))
        vm = self.java("CallTree", SECONDS,
                       options=[f"-XX:StartFlightRecording:settings={settings},filename={recording}"])
        recorder = self.record(vm, "--sample=1ms")
        said = json.loads(vm.ask("go", deadline_s=30 * SECONDS))
        log = recorder.stop()
        self.assertEqual(vm.end(), 0)
        self.assertEqual(log.lost(), {})
        thread, = (e["thread"] for e in log.raw_of("thread") if e["name"] == THREAD)
        own = [(weight, chain) for weight, chain, e in Samples(log, thread).list if e["result"] == "complete"]
        theirs, dropped = jfr_samples(recording, self.KIND, self.FIELD)
        print(f"{len(own)} samples of spoor's with a chain, {len(theirs)} of JFR's, {dropped} of JFR's are left out", flush=True)
        return {tuple(path.split("/")): ns for path, ns in said.items()}, own, theirs

    def show(self, what, one, other, least):
        """one and other: a tree of samples."""
        got = overlap(one, other), hot_cover(one, other), hot_cover(other, one)
        print(f"{what}: overlap {100 * got[0]:.1f} % (chance alone: {100 * least[0]:.1f}), hot edges of the second "
              f"{100 * got[1]:.0f} % ({100 * least[1]:.0f}), of the first {100 * got[2]:.0f} % ({100 * least[2]:.0f})",
              flush=True)
        return got

    def check_contexts(self):
        truth, own, theirs = self.run_both()
        effective = int(sum(w for w, _ in own) ** 2 / sum(w * w for w, _ in own))
        self.assertGreater(effective, 300 * SECONDS)
        self.assertGreater(len(theirs), 20 * SECONDS)
        spoor, jfr = (tree_of(samples, is_context) for samples in (own, theirs))
        halves = [tree_of(own[i::2], is_context) for i in range(2)]
        got = self.show("spoor and the truth", spoor, truth, floor((truth, effective), (truth, None)))
        self.show("JFR and the truth", jfr, truth, floor((truth, len(theirs)), (truth, None)))
        self.show("spoor and JFR", spoor, jfr, floor((truth, effective), (truth, len(theirs))))
        self.show("two halves of spoor's", *halves, floor((truth, effective // 2), (truth, effective // 2)))
        whole = [tree_of(samples) for samples in (own, theirs)]
        self.show("spoor and JFR, all frames", *whole, floor((whole[0], effective), (whole[0], len(theirs))))
        # The clock is read by the thread itself, and what that takes is in the one context or the other.
        self.assertGreater(got[0], floor((truth, effective), (truth, None))[0] - 0.01)
        sure = sure_to_be_hot(truth, effective)
        self.assertGreater(len(sure), 2)
        self.assertEqual(sure - {path for path, w in spoor.items() if w >= 0.1 * max(spoor.values())}, set())


def whole_tree(log):
    """What spoor diff has for running_whole, of the log's own events."""
    methods = {e["method"]: e for e in log.raw_of("method")}
    stacks = {e["stack"]: e for e in log.raw_of("stack")}

    def chain(stack):
        found = []
        while stack:
            e = stacks[stack]
            method = methods.get(e["method"])
            if not method:
                return None
            if not method["hidden"]:
                found.append((method["class_name"], method["name"]))
            stack = e["caller"]
        return found[::-1]

    samples = []
    for thread in {e["thread"] for e in log.raw_of("run_sample")}:
        samples += [(weight, chain(e["stack"])) for weight, _, e in Samples(log, thread).list if e["stack"] and weight]
    return tree_of((weight, found) for weight, found in samples if found)


@slow
class Diff(JavaTest):
    """The measures of spoor diff are those of contexts.py, to the last digit."""

    def recorded(self, program, name, seconds):
        vm = self.java(program, seconds)
        recorder = self.record(vm, "--sample=1ms", path=self.path(name))
        vm.ask("go", deadline_s=30 * seconds)
        return recorder.stop()

    def diff(self, *args):
        done = subprocess.run([SPOOR, "diff", "--format", "json", *args], capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["call_chains"]["running_whole"]

    def test_measures_of_spoor_diff(self):
        before, after = (self.recorded("CallTree", name, 3) for name in ("before.spoor", "after.spoor"))
        trees = [whole_tree(log) for log in (before, after)]
        found = self.diff(before.path, after.path)
        print(found, flush=True)
        self.assertGreater(len(trees[0]), 40)
        self.assertAlmostEqual(found["overlap"], overlap(*trees), 9)
        self.assertAlmostEqual(found["hot_before_in_after"], hot_cover(trees[1], trees[0]), 9)
        self.assertAlmostEqual(found["hot_after_in_before"], hot_cover(*trees), 9)
        self.assertGreater(found["overlap_least"], 0.7)


class Contexts17(ContextsTest):
    KIND, SETTING, FIELD = "jdk.ExecutionSample", '<setting name="period">10 ms</setting>', "sampledThread"

    def test_execution_samples(self):
        self.check_contexts()


@slow
class Contexts25(ContextsTest, OtherJavaTest):
    MAJOR = 25
    KIND, SETTING, FIELD = "jdk.CPUTimeSample", '<setting name="throttle">1ms</setting>', "eventThread"

    def test_cpu_time_samples(self):
        self.check_contexts()


if __name__ == "__main__":
    unittest.main()
