"""What programs/Exact.java says of who blocked whom, made into the cells of a report, and compared with these. For
test_exact.py and exact_table.py.

The program's stamps tell between which two times a thread got a lock, released it, and was blocked first and last.
What follows from that for a cell (lock, waiter, its call chain, owner, its call chain) are two bounds. On a quiet
machine they are near each other; where they are not, because threads lost their CPU next to a stamp, the scene is
played again with longer times, and all that was played is compared."""
import bisect
import collections
import contextlib
import copy
import json
import os
import re

from jvm import SHENANDOAH_WITHOUT_A_PAUSE, Java, jdk_tool, options_of, recorder_options  # first: it says where harness is
from harness import Recorder

# What a stock JVM tells of, too.
STOCK = ("block_", "chains_", "method", "static", "throwing", "interrupted_in_vain", "many_locks", "reentrant", "write",
         "read", "downgrade", "try_timeout", "interruptibly", "permit_before")
PCT, FLOOR_NS = 2, 200_000
# A thread that has lost its CPU while it spun, before it went to sleep, is not blocked for the scheduler yet.
SPUN_NS = 500_000
UNIT_US, WARM_UP_US = 12_000, 1_000
# So many short holds that the stamps are far apart, however quiet it is.
COARSE = ("storm_short", "storm_of_many")
# How to get out of a function of libjvm is asked when it is first met there, and that chain is missing: so much of
# these may be held by a known thread in a chain that is not known; and of all others together so many percent, if the
# log says that it has happened, and the thread had the lock in one chain only.
NO_CHAIN_NS = 1_000_000
NO_CHAIN_PCT = 3
ATTEMPTS = 5
NEAR = 8  # holds in a row of which several may be at the same time
BY = ("lock", "waiter_thread", "waiter_stack", "owner_thread", "owner_stack")
UNKNOWN, HAND_OVER = "(unknown)", "(hand-over)"
READERS = "readers"  # that have a lock together: which of them is charged is not said
OPENS = [f"--add-opens=java.base/java.util.concurrent{package}=ALL-UNNAMED" for package in ("", ".locks")]
# Ops are lines of their own, so that a chain is true in full; all that leads there may be inlined.
SOON = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=CompileThresholdScaling,Exact*.*,0.02",
        "-XX:CompileCommand=dontinline,ExactOps.*"]
# name: (options, how often each op runs before anything is recorded)
MODES = {
    "int": (["-Xint"], 1),
    "c1": (["-XX:TieredStopAtLevel=1", "-Xbatch"], 15),
    "c2": (["-XX:-TieredCompilation", "-Xbatch"], 15),
    "tiered": ([], 15),
    "parallel": (["-XX:+UseParallelGC"], 15),
    "serial": (["-XX:+UseSerialGC"], 15),
    "zgc": (["-XX:+UseZGC", "-Xmx256m"], 15),
    "shenandoah": (["-XX:+UseShenandoahGC", "-Xmx256m"], 15),
    "shenandoah_without_a_pause": (list(SHENANDOAH_WITHOUT_A_PAUSE), 15),
}

Key = collections.namedtuple("Key", "hash waiter waiter_chain owner owner_chain")


def tolerance(ns):
    return max(ns * PCT / 100, FLOOR_NS)


class Bounds:
    def __init__(self):
        self.low = self.high = 0

    def add(self, low, high):
        self.low += max(0, low)
        self.high += max(0, high)

    def has(self, ns):
        return self.low - tolerance(self.low) <= ns <= self.high + tolerance(self.high)

    def is_narrow(self):
        """Do they say as much as what is compared with them?"""
        return self.high - self.low <= tolerance(self.high)

    def allow(self, ns):
        self.low = max(0, self.low - ns)

    def off(self, ns):
        """By how much ns is outside of them."""
        return max(self.low - ns, ns - self.high, 0)

    def __repr__(self):
        return f"{self.low / 1e6:.3f} to {self.high / 1e6:.3f} ms"


def chain_key(frames):
    """Of (class, method, line): from the innermost op outwards. What an op itself calls is not looked at."""
    for n, frame in enumerate(frames):
        if frame[0] == "ExactOps":
            return tuple(frames[n:])
    return tuple(frames)


def merged(spans):
    """Spans of time that may overlap, as such that do not."""
    result = []
    for begin, end in sorted(spans):
        if result and begin <= result[-1][1]:
            result[-1] = result[-1][0], max(end, result[-1][1])
        else:
            result.append((begin, end))
    return result


def overlap(spans, begin, end):
    return sum(max(0, min(end, b) - max(begin, a)) for a, b in spans)


class Parks:
    """What a log says of threads that were about to come back from park, or to park again."""

    def __init__(self, log):
        self.nobody = collections.defaultdict(list)  # {hash: from an unpark to the end of its park}
        self.apart = collections.defaultdict(list)  # {(hash, thread): from the end of a park to the next begin, if any}
        self.again = collections.defaultdict(list)  # {hash: the same with its thread, of parks that an unpark ended}
        hashes = {number: lock["hash"] for number, lock in log.locks().items()}
        threads = {number: thread["name"] for number, thread in log.threads().items()}
        unparks, ends, woken = {}, {}, set()
        parks = [e for e in log.raw_of("park_begin", "park_end", "unpark") if e["sequence"]]
        for e in sorted(parks, key=lambda e: e["sequence"]):
            key = hashes.get(e.get("lock")), threads.get(e["thread"])
            if e["event"] == "unpark":
                unparks[e["sequence"]] = e["time_ns"]
            elif e["event"] == "park_end":
                ends[key] = e["time_ns"]
                woken.discard(key)
                if e["by"] in unparks:
                    self.nobody[key[0]].append((unparks[e["by"]], e["time_ns"]))
                    woken.add(key)
            elif key in ends:
                self.apart[key].append((ends.pop(key), e["time_ns"]))
                if key in woken:
                    self.again[key[0]].append((key[1], *self.apart[key][-1]))
        for key in woken & ends.keys():
            self.apart[key].append((ends[key], float("inf")))


class Hold:
    def __init__(self, told, names):
        (self.lock, self.thread, chain, self.shared, self.acquired_low, self.acquired_high, self.released_low,
         self.released_high) = told
        self.chain = names[chain]

    def tighten(self, others):
        """The lock was not acquired before others had released it, nor released after others had acquired it."""
        for h in others:
            if h is self or (self.shared and h.shared) or not h.released_low:
                continue
            if h.acquired_high < self.acquired_high:
                self.acquired_low = max(self.acquired_low, h.released_low)
            elif self.released_low <= h.acquired_high:
                self.released_high = min(self.released_high or h.acquired_high, h.acquired_high)


class Block:
    def __init__(self, told, names, holds):
        (self.lock, self.thread, chain, self.shared, self.begin_low, self.begin_high, self.end_low, self.end_high,
         until) = told
        self.chain = names[chain]
        self.hold = holds[until] if until >= 0 else None
        self.is_sure = self.begin_high != 0
        self.begin_high = self.begin_high or self.end_high

    def tighten(self):
        if self.hold:
            self.end_low = max(self.end_low, self.hold.acquired_low)

    def bounds(self, begin_low, begin_high, end_low, end_high):
        """Of what of it was between two moments."""
        return (min(self.end_low, end_low) - max(self.begin_high, begin_high),
                min(self.end_high, end_high) - max(self.begin_low, begin_low))


def holds_during(holds, block):
    """Those of sorted holds that may have been at a time when it was blocked."""
    at = bisect.bisect_left(holds, block.begin_low, key=lambda h: h.acquired_high)
    for h in holds[max(0, at - NEAR):]:
        if h.acquired_low > block.end_high:
            break
        yield h


class Scene:
    """One scene as it was played once: cells and sums of waiters, each with bounds."""

    def __init__(self, told):
        names = [chain_key([tuple(f) for f in chain]) for chain in told["chains"]]
        self.holds = [Hold(h, names) for h in told["holds"]]
        self.blocks = [Block(b, names, self.holds) for b in told["blocks"]]
        self.cells = collections.defaultdict(Bounds)  # by Key
        self.sums = collections.defaultdict(Bounds)  # by hash, waiter, waiter_chain
        self.missed = told.get("missed", False)  # somebody was not blocked, who should have been
        self.unsure = set()  # keys of sums with blocks of which it is not known when they began
        self.hashes = {lock["hash"] for lock in told["locks"]}
        self.no_owner = {lock["hash"] for lock in told["locks"] if lock["family"] == "none"}
        self.together = collections.defaultdict(set)  # {hash: threads that shared it}
        self.holds_of = {}  # {number of a lock: those that are charged}
        for b in self.blocks:
            b.hash = told["locks"][b.lock]["hash"]
        for number, lock in enumerate(told["locks"]):
            holds = sorted((h for h in self.holds if h.lock == number), key=lambda h: h.acquired_high)
            for n, h in enumerate(holds):
                h.tighten(holds[max(0, n - NEAR):n + NEAR + 1])
            blocks = [b for b in self.blocks if b.lock == number]
            if lock["family"] == "held":
                self.add_held(lock["hash"], holds, blocks)
            elif lock["family"] == "event":
                self.add_ended(lock["hash"], [h for h in self.holds if h.released_high], blocks)

    def sum_up(self, hash_code, block):
        key = hash_code, block.thread, block.chain
        self.sums[key].add(block.end_low - block.begin_high, block.end_high - block.begin_low)
        if not block.is_sure:
            self.unsure.add(key)

    def add_held(self, hash_code, holds, blocks):
        """Each moment is charged to whoever held the lock."""
        holds = sorted(self.join(hash_code, holds), key=lambda h: h.acquired_high)
        if blocks:
            self.holds_of[blocks[0].lock] = holds
        for b in blocks:
            b.tighten()
            self.sum_up(hash_code, b)
            for h in holds_during(holds, b):
                low, high = b.bounds(h.acquired_low, h.acquired_high, h.released_low, h.released_high)
                if high > 0 and h.thread != b.thread and not (h.shared and b.shared):
                    self.cells[Key(hash_code, b.thread, b.chain, h.thread, h.chain)].add(low, high)

    def join(self, hash_code, holds):
        """Holds by several at the same time are one, by READERS."""
        company = None
        for h in holds:
            if not h.shared or not company or h.acquired_high >= company.released_low:
                if company:
                    yield company
                company = h
                continue
            self.together[hash_code] |= {company.thread, h.thread}
            company = copy.copy(company)
            company.thread, company.chain = READERS, ()
            company.released_low = max(company.released_low, h.released_low)
            company.released_high = max(company.released_high, h.released_high)
        if company:
            yield company

    def add_ended(self, hash_code, holds, blocks):
        """All of it is charged to whoever has ended it: the last other one who released before."""
        for b in blocks:
            if not b.is_sure:
                continue
            last = max((h for h in holds if h.thread != b.thread and h.released_low < b.end_high),
                       key=lambda h: h.released_low)
            b.end_low = max(b.end_low, last.released_low)
            self.sum_up(hash_code, b)
            self.cells[Key(hash_code, b.thread, b.chain, last.thread, last.chain)].add(
                last.released_low - b.begin_high, min(last.released_high, b.end_high) - b.begin_low)

    def allow_for(self, parks):
        """From an unpark to the end of the park nobody is charged (Hofer 4.2.3), nor until the woken thread parks
        again, as it did not get the lock; and a thread that is about to park again is not blocked, nor one that a
        release has woken in vain, which gets the lock at the next release before it parks again. The stamps tell
        nothing of it. Returns ns."""
        sum_of_all = 0
        for b in self.blocks:
            if b.hash not in parks.nobody and (b.hash, b.thread) not in parks.apart:
                continue
            block_key = b.hash, b.thread, b.chain
            apart = parks.apart.get((b.hash, b.thread), [])
            if block_key in self.sums:
                self.sums[block_key].allow(overlap(apart, b.begin_high, b.end_low))
            in_vain = [(begin, end) for thread, begin, end in parks.again.get(b.hash, ())
                       if not any(h.lock == b.lock and h.thread == thread and h.acquired_low < end and
                                  begin < (h.released_high or end) for h in self.holds)]
            spans = merged([*apart, *in_vain, *parks.nobody.get(b.hash, ())])
            for h in holds_during(self.holds_of.get(b.lock, []), b):
                key = Key(*block_key, h.thread, h.chain)
                ns = overlap(spans, max(b.begin_high, h.acquired_high), min(b.end_low, h.released_low))
                if ns and key in self.cells:
                    self.cells[key].allow(ns)
                    sum_of_all += ns
        return sum_of_all

    def is_narrow(self):
        sure = (bounds for key, bounds in self.cells.items() if key[:3] not in self.unsure)
        return not self.missed and all(bounds.is_narrow() for bounds in sure)


class Report:
    """Cells of a report, by the same keys. Of a lock of ours, by its hash."""

    HASH = re.compile(r"hash 0x([0-9a-f]+)")

    def __init__(self, report):
        self.cells = collections.Counter()  # by Key
        self.hand_over = collections.Counter()  # by hash, waiter, waiter_chain
        self.unknown = collections.Counter()
        for keys, group in self.leaves(report["groups"], ()):
            lock, waiter, waiter_stack, owner, owner_stack = keys
            found = self.HASH.search(" ".join(lock))
            if not found:
                continue
            block = int(found[1], 16), waiter[0], chain_key(self.frames(waiter_stack))
            if owner[0] in (UNKNOWN, HAND_OVER):
                (self.unknown if owner[0] == UNKNOWN else self.hand_over)[block] += group["blocked_ns"]
            else:
                # Of several readers, one is named, and marked.
                key = Key(*block, owner[0].rstrip("*"), chain_key(self.frames(owner_stack)))
                self.cells[key] += group["blocked_ns"]

    def leaves(self, groups, keys):
        for g in groups:
            inner = (*keys, g["key"])
            if len(inner) == len(BY):
                yield inner, g
            else:
                yield from self.leaves(g["groups"], inner)

    @staticmethod
    def frames(key):
        if not key or isinstance(key[0], str):
            return [(key[0] if key else "", "", 0)]
        return [(f.get("class", ""), f.get("method", f.get("type")), f.get("line", 0)) for f in key
                if not f.get("hidden")]


def merge(key, together):
    return key._replace(owner=READERS, owner_chain=()) if key.owner in together.get(key.hash, ()) else key


def show_chain(chain):
    return " < ".join(f"{name}.{method}:{line}" for name, method, line in chain[:4]) + (" ..." if chain[4:] else "")


def show_key(key):
    owner = f", held by {key.owner} in {show_chain(key.owner_chain)}" if isinstance(key, Key) else ""
    return f"lock {key[0]:#x}, {key[1]} in {show_chain(key[2])}{owner}"


class Comparison:
    """Of what was played, once or more often, with a report; problems is empty if it is as it should be."""

    def __init__(self, scenes, report, no_chain_ns=0, may_lack_chains=False, unseen_ns=None):
        """unseen_ns: {thread's name: of its time at a lock, what nobody can have seen}."""
        self.no_chain_ns = no_chain_ns
        self.unseen_ns = unseen_ns or {}
        self.lacking_ns = 0  # held by a known thread in the one chain in which it can have been
        self.sum_problems = []  # how long each thread was blocked, by whomever
        self.cell_problems = []
        self.cells = 0
        self.blocked_ns = self.unknown_ns = self.hand_over_ns = 0
        self.worst_ns = 0  # that a cell is outside of its bounds
        self.worst_pct = 0
        hashes = set().union(*(s.hashes for s in scenes))
        together = {h: threads for s in scenes for h, threads in s.together.items()}
        wanted, sums = collections.defaultdict(Bounds), collections.defaultdict(Bounds)
        for s in scenes:
            for key, b in s.cells.items():
                wanted[merge(key, together)].add(b.low, b.high)
            for key, b in s.sums.items():
                sums[key].add(b.low, b.high)
        got = collections.Counter()
        for key, ns in report.cells.items():
            if key.hash in hashes:
                got[merge(key, together)] += ns
        self.no_owner = set().union(*(s.no_owner for s in scenes))
        if may_lack_chains and not no_chain_ns:
            self.find_chains(wanted, got)
        self.compare_cells(wanted, got)
        self.compare_sums(sums, got, {k: ns for k, ns in report.hand_over.items() if k[0] in hashes},
                          {k: ns for k, ns in report.unknown.items() if k[0] in hashes})

    @property
    def problems(self):
        return self.cell_problems + self.sum_problems

    def find_chains(self, wanted, got):
        for key in [k for k in got if k.owner_chain == ((UNKNOWN, "", 0),) and k not in wanted]:
            chains = [k for k in wanted if k[:4] == key[:4]]
            if len(chains) == 1:
                self.lacking_ns += got[key]
                got[chains[0]] += got.pop(key)

    def compare_cells(self, wanted, got):
        no_chain_ns = 0
        for key in wanted.keys() | got.keys():
            bounds, ns = wanted.get(key, Bounds()), got.get(key, 0)
            if self.no_chain_ns and key not in wanted and key.owner_chain == ((UNKNOWN, "", 0),):
                no_chain_ns += ns
                continue
            self.cells += 1
            off = bounds.off(ns)
            self.worst_ns = max(self.worst_ns, off)
            if off > FLOOR_NS:
                self.worst_pct = max(self.worst_pct, off * 100 / max(bounds.high, ns))
            if key.hash in self.no_owner:
                self.cell_problems.append(f"{show_key(key)}: nobody can know that")
            elif not bounds.has(ns):
                self.cell_problems.append(f"{show_key(key)}: {ns / 1e6:.3f} ms, instead of {bounds}")
        if no_chain_ns > self.no_chain_ns:
            self.cell_problems.append(f"held in chains that are not known: {no_chain_ns / 1e6:.3f} ms")

    def compare_sums(self, sums, got, hand_over, unknown):
        totals = collections.Counter(hand_over)
        for key, ns in (*got.items(), *unknown.items()):
            totals[key[:3]] += ns
        self.blocked_ns = sum(totals.values())
        self.hand_over_ns, self.unknown_ns = sum(hand_over.values()), sum(unknown.values())
        for key in sums.keys() | (totals.keys() if not self.no_owner else set()):
            bounds = sums.get(key, Bounds())
            at_most = max(totals[key], min(totals[key] + self.unseen_ns.get(key[1], 0), bounds.low))
            if not bounds.has(at_most):
                self.sum_problems.append(f"{show_key(key)}: blocked for {totals[key] / 1e6:.3f} ms in all, instead of "
                                         f"{bounds}")
        for key, ns in unknown.items():
            if ns and key[0] not in self.no_owner:
                self.cell_problems.append(f"{show_key(key)}: {ns / 1e6:.3f} ms by nobody knows whom")


def waited_for_cpu(log, begin_ns, end_ns):
    """{thread's name: ns between two moments}, by the thread's counters next to these."""
    names = {number: thread["name"] for number, thread in log.threads().items()}
    waited, last = collections.Counter(), {}
    for e in log.raw_of("thread_sample", "thread_end"):
        was_ns, was = last.get(e["thread"], (0, None))
        now = e["runnable_ns"] + e["stolen_ns"]
        if was is not None and was_ns < end_ns and e["time_ns"] > begin_ns:
            waited[names[e["thread"]]] += now - was
        last[e["thread"]] = e["time_ns"], now
    return waited


class Played:
    """A recording in which scenes were played."""

    def __init__(self, scenes, quiet, log):
        self.scenes = scenes  # {name: [Scene, one for each time]}
        self.quiet = quiet  # {name: whether the stamps were near each other at last}
        self.log = log
        by = "--by", ",".join(BY)
        groups = log.report(*by)["groups"]
        self.is_patched = log.header["jvm"].get("kind") == "patched"
        self.is_by_switches = (log.header["sources"]["monitor"] == "switches"
                               or log.header["record"]["probes"] == "monitors")
        if self.is_patched:  # what ends a park on what is no lock, a stock JVM does not tell
            groups += log.report("--parked", *by)["groups"]
        self.report = Report({"groups": groups})
        self.may_lack_chains = any(e["result"] == "native_rule_unknown" for e in log.raw_of("stack_walk"))
        parks = Parks(log)
        self.allowed_ns = {name: sum(s.allow_for(parks) for s in all_of) for name, all_of in scenes.items()}

    def unseen_ns(self, scenes):
        """Without probes a thread that spins for a lock is not seen, nor when it has lost its CPU as it spun."""
        blocks = [b for s in scenes for b in s.blocks]
        late = waited_for_cpu(self.log, min(b.begin_low for b in blocks), max(b.end_high for b in blocks))
        return {b.thread: SPUN_NS + late[b.thread] for b in blocks}

    def compare(self, name):
        return Comparison(self.scenes[name], self.report, NO_CHAIN_NS if name in COARSE else 0, self.may_lack_chains,
                          self.unseen_ns(self.scenes[name]) if self.is_by_switches else None)


def warm_up(vm, names):
    """Of the first walks out of each function of libjvm nothing is known: the rule for it is asked for then. And the
    JVM comes to the slow ways for the first time."""
    for name in names:
        vm.ask(f"{name} {WARM_UP_US}", 60)


def play(vm, name, attempts=ATTEMPTS):
    """A scene, until the stamps are near each other. (Scenes, whether they were near in the last one.)"""
    scenes = []
    for attempt in range(1 if name in COARSE else attempts):
        vm.say(f"{name} {UNIT_US << attempt}")
        scenes.append(Scene(json.loads(vm.line(120))))
        if scenes[-1].is_narrow():
            return scenes, True
    return scenes, name in COARSE


def command_of(mode, folder, home=None, parks_by_switches=False):
    """Locks get an identity hash at once, where nothing gives them one: the hooks on parks do."""
    options, warm = MODES[mode]
    patched = home and home == os.environ.get("SPOOR_JVM") and not parks_by_switches
    return [jdk_tool("java", home), *options_of(home, [*SOON, *OPENS, *options]),
            f"-Dexact.hash={'false' if patched else 'true'}", "-cp", folder, "Exact", str(warm)]


def run(mode, folder, log_path, home=None, wanted=None, options=()):
    """Plays scenes (all, or those whose names wanted() says) under a recorder."""
    with contextlib.ExitStack() as stack:
        vm = Java(command_of(mode, folder, home, "monitors" in options))
        stack.callback(vm.close)
        vm.wait_ready()
        recorder = Recorder(vm, log_path, "-f", *recorder_options(home, options))
        stack.callback(recorder.close)
        recorder.wait_attached()
        names = [n for n in vm.ask("scenes").split() if wanted is None or wanted(n)]
        warm_up(vm, names)
        scenes, quiet = {}, {}
        for name in names:
            scenes[name], quiet[name] = play(vm, name)
        log = recorder.stop()
        vm.end()
    return Played(scenes, quiet, log)
