"""Reads a timeline (`spoor export --to chrome`) as its viewers do, and says what is wrong with it."""
import gzip
import json
from decimal import Decimal

PHASES = {"M", "B", "E", "i", "C", "s", "f"}
MARKS = "recording: losses, notes"
# The states of a thread; what they are called as categories.
STATES = {"running", "stolen", "runnable", "throttled", "lock", "juc", "wait", "park", "sleep", "io", "pause", "other"}


def ns(us):
    value = Decimal(us) * 1000
    if value != int(value) or value < 0:
        raise AssertionError(f"no time in whole ns: {us}")
    return int(value)


class Slice:
    def __init__(self, event, begin_ns, parent):
        self.name, self.category, self.args = event["name"], event["cat"], dict(event.get("args", {}))
        self.begin_ns, self.end_ns = begin_ns, None
        self.parent, self.depth = parent, parent.depth + 1 if parent else 0

    @property
    def length_ns(self):
        return self.end_ns - self.begin_ns

    def __repr__(self):
        return f"{self.name} {self.begin_ns}-{self.end_ns}"


class Timeline:
    """tracks: name -> slices in the order of their begins; flows: (name, from track, ns, to track, ns)."""

    def __init__(self, data):
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        self.file = json.loads(data.decode("utf-8"), parse_float=Decimal)
        if set(self.file) != {"traceEvents", "otherData"}:
            raise AssertionError(f"members: {set(self.file)}")
        self.events = self.file["traceEvents"]
        self.names, self.sort, self.tracks, self.by_number = {}, {}, {}, {}
        self.marks, self.counters, self.flows = [], {}, []
        for e in self.events:
            if e["ph"] not in PHASES or not isinstance(e["pid"], int):
                raise AssertionError(f"what is this? {e}")
            if e["ph"] == "M":
                self._metadata(e)
        for number in [n for n in self.names if list(self.names.values()).count(self.names[n]) > 1]:
            self.names[number] += f" [{number}]"
        self._read_slices()
        self._read_flows()

    def _metadata(self, e):
        if e["name"] == "process_name":
            self.process = e["args"]["name"]
        elif e["name"] == "thread_name":
            if e["tid"] in self.names:
                raise AssertionError(f"track {e['tid']} is named twice")
            self.names[e["tid"]] = e["args"]["name"]
        else:
            self.sort[e["tid"]] = e["args"]["sort_index"]

    def _read_slices(self):
        stacks, at = {}, {}
        timed = [(ns(e["ts"]), e) for e in self.events if e["ph"] != "M"]
        for time_ns, e in sorted(timed, key=lambda pair: pair[0]):  # stable, as viewers sort
            tid, phase = e["tid"], e["ph"]
            if phase == "C":
                self.counters.setdefault(e["name"], []).append((time_ns, e["args"]))
                continue
            if tid not in self.names:
                raise AssertionError(f"a track without a name: {e}")
            stack, slices = stacks.setdefault(tid, []), self.by_number.setdefault(tid, [])
            if phase == "i":
                self.marks.append((time_ns, e))
            elif phase == "B":
                slices.append(Slice(e, time_ns, stack[-1] if stack else None))
                stack.append(slices[-1])
            elif phase == "E":
                if not stack:
                    raise AssertionError(f"an end without a begin: {e}")
                done = stack.pop()
                if e["name"] != done.name:
                    raise AssertionError(f"an end that is not {done}'s: {e}")
                done.end_ns = time_ns
                doubled = set(done.args) & set(e.get("args", {}))
                if doubled:
                    raise AssertionError(f"said twice of {done}: {doubled}")
                done.args.update(e.get("args", {}))
            at[tid] = time_ns
        for tid, stack in stacks.items():
            if stack:
                raise AssertionError(f"slices without an end on {self.names[tid]}: {stack}")
        self.tracks = {self.names[tid]: slices for tid, slices in self.by_number.items()}

    def _read_flows(self):
        ends = {"s": {}, "f": {}}
        for e in self.events:
            if e["ph"] not in ends:
                continue
            if e["id"] in ends[e["ph"]]:
                raise AssertionError(f"a flow has two {e['ph']}: {e}")
            ends[e["ph"]][e["id"]] = e
            if e["ph"] == "f" and e.get("bp") != "e":
                raise AssertionError(f"a flow that ends at the next slice: {e}")
        if set(ends["s"]) != set(ends["f"]):
            raise AssertionError(f"flows with one end: {set(ends['s']) ^ set(ends['f'])}")
        for number, begin in ends["s"].items():
            end = ends["f"][number]
            if (begin["name"], begin["cat"]) != (end["name"], end["cat"]):
                raise AssertionError(f"the ends of a flow are not alike: {begin} {end}")
            from_ns, to_ns = ns(begin["ts"]), ns(end["ts"])
            if from_ns > to_ns:
                raise AssertionError(f"a flow goes back in time: {begin} {end}")
            for e, time_ns in ((begin, from_ns), (end, to_ns)):
                if not any(s.begin_ns <= time_ns <= s.end_ns for s in self.by_number.get(e["tid"], [])):
                    raise AssertionError(f"a flow's end is in no slice: {e}")
            self.flows.append((begin["name"], self.names[begin["tid"]], from_ns, self.names[end["tid"]], to_ns))

    def threads(self):
        """The tracks of threads: those with states."""
        return {name: slices for name, slices in self.tracks.items()
                if slices and all(s.category in STATES for s in slices)}

    def check_threads(self):
        """Their outermost slices leave no gap but where the log has a hole, and what is within another is not longer
        than that."""
        holes = [ns(e["ts"]) for e in self.events if e["ph"] == "i" and e["name"] == "nothing is known from here on"]
        for name, slices in self.threads().items():
            outer = [s for s in slices if not s.depth]
            for before, after in zip(outer, outer[1:]):
                known = not any(before.end_ns <= hole <= after.begin_ns for hole in holes)
                if before.end_ns != after.begin_ns and known:
                    raise AssertionError(f"{name}: between {before} and {after}")
            for s in slices:
                if s.parent and not s.parent.begin_ns <= s.begin_ns < s.end_ns <= s.parent.end_ns:
                    raise AssertionError(f"{name}: {s} is not in {s.parent}")
                if s.parent and s.category == "running":
                    raise AssertionError(f"{name}: {s} is in {s.parent}")

    def slices(self, *categories, track=None):
        return [s for name, slices in self.tracks.items() for s in slices
                if s.category in categories and track in (None, name)]

    def in_order(self):
        """The tracks' names in the order in which they are to be shown."""
        return [self.names[tid] for tid in sorted(self.names, key=lambda tid: self.sort[tid])]


def load(path):
    with open(path, "rb") as f:
        return Timeline(f.read())
