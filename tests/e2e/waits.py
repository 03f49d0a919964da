"""The contentions that a log tells one by one, who let each of them in and from where, and which of them another log of
the same run has, too. For test_switches.py and waits_table.py."""
import bisect
import collections

CHAIN_ENDS = ("broken", "cut", "unresolved", "in_heap")  # no frames, but in the place of frames that are missing
LOCKS = ("java.util.concurrent.locks.ReentrantLock$", "java.util.concurrent.locks.ReentrantReadWriteLock$")
# The counters of a thread are as of its own event, to some hundred ns.
AWAKE_NS = 2_000
COUNTERS = ("cpu_ns", "stolen_ns", "runnable_ns")


class Contention:
    def __init__(self, log, begin, end):
        self.begin, self.end = begin["time_ns"], end["time_ns"]
        self.ns = self.end - self.begin
        self.tid = log.tids[begin["thread"]]
        self.thread, self.lock = begin["thread"], begin["lock"]
        self.is_park = begin["event"] == "park_begin"
        self.lock_class = log.lock_classes.get(self.lock)
        self.after_wait = begin.get("after_wait", False)
        # Neither on a CPU nor waiting for one.
        self.asleep_ns = self.ns - sum(end[name] - begin[name] for name in COUNTERS)
        self.release = None  # the event that let it in

    def overlaps(self, other):
        return self.begin < other.end and other.begin < self.end

    def __repr__(self):
        return (f"thread {self.tid} on {self.lock_class}, {self.begin} to {self.end} ({self.ns} ns, asleep for "
                f"{self.asleep_ns}){', after wait' if self.after_wait else ''}")


class Waits:
    """Those of a log."""

    def __init__(self, log):
        self.tids = {number: t["tid"] for number, t in log.threads().items()}
        classes = {e["class"]: e["name"] for e in log.raw if e["event"] == "class"}
        self.lock_classes = {number: classes.get(lock["class"]) for number, lock in log.locks().items()}
        methods = {e["method"]: (e["class_name"], e["name"]) for e in log.raw if e["event"] == "method"}
        self.names = {number: t["name"] for number, t in log.threads().items()}
        self.hashes = {number: lock["hash"] for number, lock in log.locks().items()}
        self.chains = {}  # number: (class, method, line) of each frame that is not hidden; None: not all are known
        hidden = {e["method"] for e in log.raw if e["event"] == "method" and e["hidden"]}
        for e in log.raw:
            if e["event"] == "stack":
                caller = self.chains.get(e["caller"]) if e["caller"] else ()
                known = caller is not None and e["frame"] not in CHAIN_ENDS and e["method"] in methods
                own = ((*methods[e["method"]], e["line"]),) if known and e["method"] not in hidden else ()
                self.chains[e["stack"]] = (*own, *caller) if known else None
        self.contentions = sorted(self._contentions(log), key=lambda c: c.begin)
        self._find_releases(log)

    def _contentions(self, log):
        open_ = {}
        for e in log.raw_of("monitor_contended_enter", "monitor_contended_entered", "park_begin", "park_end"):
            key = e["thread"], e["event"].startswith("park")
            if e["event"] in ("monitor_contended_enter", "park_begin"):
                open_[key] = e
                continue
            begin = open_.pop(key, None)
            if begin and begin["lock"] == e["lock"] and (not key[1] or self.is_lock(begin["lock"])):
                yield Contention(self, begin, e)

    def is_lock(self, lock):
        return (self.lock_classes.get(lock) or "").startswith(LOCKS)

    def _find_releases(self, log):
        """Of a monitor the last release by another thread before the end; of a lock of juc the last unpark."""
        found = collections.defaultdict(list)  # by lock, or by the thread that is woken
        for e in log.raw_of("monitor_contended_exit", "monitor_wait_begin", "unpark"):
            key = ("unpark", e["target"]) if e["event"] == "unpark" else ("lock", e["lock"])
            found[key].append(e)
        for c in self.contentions:
            events = found.get(("unpark", c.thread) if c.is_park else ("lock", c.lock), [])
            at = bisect.bisect_right(events, c.end, key=lambda e: e["time_ns"])
            while at and events[at - 1]["time_ns"] >= c.begin and not c.release:
                at -= 1
                c.release = events[at] if events[at]["thread"] != c.thread else None

    def released(self):
        """ns: blocked in all, with a release, with one whose call chain is known in full."""
        return (sum(c.ns for c in self.contentions), sum(c.ns for c in self.contentions if c.release),
                sum(c.ns for c in self.contentions if c.release and self.chains.get(c.release["stack"]) is not None))


class Pairs:
    """The contentions of one run in two logs: usdt, by probes, and none, by the scheduler's switches."""

    def __init__(self, usdt, none, begin, end):
        """Of both, what was whole between two times."""
        self.pairs, self.groups = [], []  # (usdt, none); ([usdt], [none]) of more than one on one side
        self.only = collections.defaultdict(list)  # {why: [Contention]}
        by_thread = collections.defaultdict(lambda: ([], []))
        for which, waits in enumerate((usdt, none)):
            for c in waits.contentions:
                if begin <= c.begin and c.end <= end:
                    by_thread[c.tid, c.lock_class][which].append(c)
        for probed, switched in by_thread.values():
            self._pair(probed, switched)

    def _pair(self, probed, switched):
        """Those that overlap in time, directly or by others, are of the same waits."""
        ours, last = ([], []), 0
        for c, which in sorted([(c, 0) for c in probed] + [(c, 1) for c in switched], key=lambda c: c[0].begin):
            if c.begin >= last:
                self._add(*ours)
                ours = ([], [])
            ours[which].append(c)
            last = max(last, c.end)
        self._add(*ours)

    def _add(self, probed, switched):
        if len(probed) == 1 and len(switched) == 1:
            self.pairs.append((probed[0], switched[0]))
        elif probed and switched:
            self.groups.append((probed, switched))
        for c in probed if not switched else ():
            self.only["usdt: never off its CPU" if c.asleep_ns < AWAKE_NS else "usdt: asleep"].append(c)
        for c in switched if not probed else ():
            self.only["none: after Object.wait()" if c.after_wait else "none"].append(c)


def common(logs):
    """The time that all of these logs are about: their events have the same clock."""
    times = [[e["time_ns"] for e in log.raw if e.get("time_ns")] for log in logs]
    return max(map(min, times)), min(map(max, times))


def released_by(of, scenes, chain_key):
    """Of all contentions on locks of these scenes (exact.Scene) that a release by one thread has ended: (ns in all, ns of
    those that have that release, by the thread and from the call site that the program's own stamps say)."""
    whole = right = 0
    holds = collections.defaultdict(list)  # by the lock's hash
    for scene in scenes:
        for lock, held in scene.holds_of.items():
            number = next(b.hash for b in scene.blocks if b.lock == lock)
            holds[number] += [h for h in held if h.released_high]
    for c in of.contentions:
        before = [h for h in holds.get(of.hashes.get(c.lock), []) if h.thread != of.names[c.thread] and
                  h.released_low <= c.end and c.begin < h.released_high]
        last = max(before, key=lambda h: h.released_low, default=None)
        if not last or not last.chain:  # of several readers, who is the last is not known
            continue
        whole += c.ns
        if c.release and of.names[c.release["thread"]] == last.thread and \
                chain_key(of.chains.get(c.release["stack"]) or ()) == last.chain:
            right += c.ns
    return whole, right
