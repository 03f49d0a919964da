"""Recorded call chains: read from a log as it comes, and judged against the chain that is known to be true."""
import json
import signal
import subprocess

from jvm import HERE  # noqa: F401 (first: it says where harness is)
from harness import DEADLINE_S, SPOOR

# No frames, but in the place of those that are not known.
PSEUDO = ("unresolved", "broken", "cut", "in_heap", "missing", "unknown")
RIGHT, NEAR, INCOMPLETE, WRONG = "right", "near", "incomplete", "wrong"
SHOWN = 5  # frames next to each position of a chain that is shown


def events(path, *kinds):
    """Events of these kinds with their names, one after the other: a long log is never in memory as a whole."""
    command = [SPOOR, "cat", "--resolve", "-e", ",".join(kinds), path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as cat:
        for line in cat.stdout:
            yield json.loads(line)
    if cat.returncode:
        raise AssertionError(f"{' '.join(command)}: exit status {cat.returncode}")


def end_recording(recorder):
    """As Recorder.stop, without the log in memory."""
    recorder.process.send_signal(signal.SIGINT)
    status = recorder.wait(4 * DEADLINE_S)
    if status:
        raise AssertionError(f"spoor record ends with {status}: {recorder.err}")


def walks(path):
    """How the walks ended: {result: count}."""
    return {e["result"]: e["count"] for e in events(path, "stack_walk")}


def lost(path):
    return {(e["event_id"], e["place"]): e["count"] for e in events(path, "lost") if e["count"]}


def method_of(frame):
    return f"{frame['class']}.{frame['method']}"


def show_frame(f):
    return (f"\n    {method_of(f)}{f['signature']} line {f['line']} bci {f['bci']} {f.get('type', '')}"
            f"{' inferred' if f.get('inferred') else ''}")


def show(frames, around=None):
    """Of a long chain both ends, and what is around the frame of this number."""
    shown = {n for at in (0, around, len(frames) - 1) if at is not None for n in range(at - SHOWN, at + SHOWN + 1)}
    text, left_out = "", 0
    for n, f in enumerate(frames):
        if n not in shown:
            left_out += 1
            continue
        text += (f"\n    ... {left_out} frames ..." if left_out else "") + show_frame(f)
        left_out = 0
    return text or "\n    nothing"


def show_both(recorded, true):
    """A recorded chain and the true one, where they begin to differ: counted from the outermost frame."""
    same = 0
    for a, b in zip(reversed(recorded), reversed(true)):
        if any(a[k] != b.get(k, a[k]) for k in ("class", "method", "signature", "line", "bci")):
            break
        same += 1
    return (f"the outer {same} frames of {len(recorded)} recorded and {len(true)} true ones are the same; recorded:"
            f"{show(recorded, len(recorded) - same - 1)}\n  true, below what it calls:"
            f"{show(true, len(true) - same - 1)}")


class Truth:
    """A chain as StackWalker has seen it, from the frame in which it was asked outwards; and what may have been
    called there since: alternatives, each a list of methods, innermost first, or of (method, line)."""

    def __init__(self, frames, inner=((),)):
        self.frames = frames
        self.alternatives = [[m if isinstance(m, tuple) else (m, None) for m in i] for i in inner]

    def matches(self, got, inner, at):
        """Is got right for the frame that is at this index, counted from the innermost?"""
        if at < len(inner):
            method, line = inner[at]
            return method_of(got) == method and line in (None, got["line"])
        at -= len(inner)
        if at >= len(self.frames):
            return False
        true = self.frames[at]
        # Two calls of one line differ in their bytecode index: that of the walker, and what is recorded.
        return (all(got[k] == true[k] for k in ("class", "method", "signature", "line"))
                and (at == 0 or got["bci"] == true.get("bci", got["bci"])))

    def all_match(self, frames, inner, first=0):
        return all(self.matches(f, inner, first + n) for n, f in enumerate(frames))

    def judge_whole(self, frames):
        for inner in self.alternatives:
            if len(frames) == len(inner) + len(self.frames) and self.all_match(frames, inner):
                return RIGHT
        # Where the thread was interrupted is known exactly, in which of the inlined methods it was is not.
        inferred = next((n for n, f in enumerate(frames) if not f["inferred"]), len(frames))
        for inner in self.alternatives if inferred else ():
            first = len(inner) + len(self.frames) - (len(frames) - inferred)
            if first > 0 and self.all_match(frames[inferred:], inner, first):
                own = inner[first - 1][0] if first <= len(inner) else method_of(self.frames[first - 1 - len(inner)])
                if method_of(frames[inferred - 1]) == own:
                    return NEAR
        return WRONG

    def judge(self, frames):
        if not frames:
            return INCOMPLETE
        known = next((n for n, f in enumerate(frames) if f["type"] in PSEUDO), None)
        if known is None:
            return self.judge_whole(frames)
        certain = [f for f in frames[:known] if not f["inferred"]]
        # What is left of a chain must be true, too.
        skipped = known - len(certain)
        return INCOMPLETE if any(self.all_match(certain, inner, skipped) for inner in self.alternatives) else WRONG
