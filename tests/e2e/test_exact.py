"""The synthetic suite: who blocked whom, from where, for how long, by the program's own stamps (programs/Exact.java);
each cell of the report within 2 % or 0.2 ms, and sequence numbers without a gap. python3 tests/e2e/exact_table.py
prints it as a table."""
import copy
import types
import unittest

from jvm import JavaTest, PatchedJavaTest  # first: it says where harness is
import exact
import sequences
from soaking import only_in_soak, slow

MS = 1_000_000
OP, OTHER = ("ExactOps", "block", 24), ("ExactOps", "lock", 78)
RUN = ("ExactActor", "run", 56)
WITHIN = ("ExactAct", "walk", 74)


def told():
    """Actor a has a lock for 30 ms, then b, then c; b comes after 5 ms, c after 10."""
    holds = [[0, "a", 0, False, 0, 1000, 30 * MS, 30 * MS + 9000],
             [0, "b", 1, False, 5 * MS, 30 * MS + 50_000, 50 * MS, 50 * MS + 9000],
             [0, "c", 0, False, 10 * MS, 50 * MS + 60_000, 60 * MS, 60 * MS + 9000]]
    blocks = [[0, "a", 0, False, 0, 0, 0, 1000, 0],
              [0, "b", 1, False, 5 * MS, 5 * MS + 70_000, 0, 30 * MS + 50_000, 1],
              [0, "c", 0, False, 10 * MS, 10 * MS + 30_000, 0, 50 * MS + 60_000, 2]]
    return {"locks": [{"hash": 0xab, "family": "held"}], "chains": [[WITHIN, OP, RUN], [WITHIN, OTHER, RUN]],
            "holds": holds, "blocks": blocks}


def frames(op):
    # What the report has besides: what the op calls, and what is hidden.
    return [{"class": "java.lang.Object", "method": "wait", "line": 0, "type": "native"},
            {"class": op[0], "method": op[1], "line": op[2], "type": "c2"},
            {"class": "H", "method": "invoke", "line": 0, "hidden": True},
            {"class": RUN[0], "method": RUN[1], "line": RUN[2], "type": "interpreted"}]


def nested(rows, lock=("ExactLock$Monitor", "#1 hash 0xab")):
    """Rows of (waiter, its op, owner, its op, ns) as spoor report has them."""
    groups = []
    for waiter, waiter_op, owner, owner_op, ns in rows:
        owner_key = [owner_op or owner] if owner_op in (None, exact.UNKNOWN) else frames(owner_op)
        inner = [{"key": owner_key, "blocked_ns": ns, "groups": []}]
        for key in ([owner], frames(waiter_op), [waiter], list(lock)):
            inner = [{"key": key, "blocked_ns": ns, "groups": inner}]
        groups += inner
    return {"groups": groups}


RIGHT = [("b", OTHER, "a", OP, 25 * MS - 20_000), ("b", OTHER, "(hand-over)", None, 40_000),
         ("c", OP, "a", OP, 20 * MS - 10_000), ("c", OP, "b", OTHER, 20 * MS - 30_000),
         ("c", OP, "(hand-over)", None, 90_000)]


class Comparing(unittest.TestCase):
    """Without a JVM: is a report that is not right called so?"""

    def problems(self, rows, what=None, **how):
        return exact.Comparison([exact.Scene(what or told())], exact.Report(nested(rows, **how))).problems

    def test_chains_that_are_missing(self):
        """A hold is in the only chain in which its thread had the lock, if the log says that chains are missing."""
        rows = [(*row[:3], exact.UNKNOWN if row[2] == "a" else row[3], row[4]) for row in RIGHT]
        self.assertTrue(self.problems(rows))
        lenient = exact.Comparison([exact.Scene(told())], exact.Report(nested(rows)), 0, True)
        self.assertEqual(lenient.problems, [])
        self.assertEqual(lenient.lacking_ns, 45 * MS - 30_000)
        two = told()  # a has it once more, in another chain
        two["holds"].append([0, "a", 1, False, 55 * MS, 60 * MS + 10_000, 70 * MS, 70 * MS + 9000])
        two["blocks"].append([0, "b", 1, False, 61 * MS, 61 * MS + 9000, 0, 70 * MS + 9000, -1])
        self.assertTrue(exact.Comparison([exact.Scene(two)], exact.Report(nested(rows)), 0, True).problems)

    def test_woken_in_vain(self):
        """From the unpark until the woken thread parks again nobody is charged, if it did not get the lock."""
        def allowed(holder_of_it):
            log = types.SimpleNamespace(
                locks=lambda: {1: {"hash": 0xab}}, threads=lambda: {1: {"name": "a"}, 2: {"name": holder_of_it}},
                raw_of=lambda *kinds: [{"event": kind, "sequence": n + 1, "thread": thread, "lock": 1, "by": by,
                                        "time_ns": ns * MS}
                                       for n, (kind, thread, by, ns) in enumerate((
                                           ("park_begin", 2, 0, 6), ("unpark", 1, 0, 34), ("park_end", 2, 2, 35),
                                           ("park_begin", 2, 0, 38)))])
            scene = exact.Scene(told())
            scene.allow_for(exact.Parks(log))
            key = next(k for k in scene.cells if k.waiter == "c" and k.owner == "b")
            return 20 * MS - scene.cells[key].low

        self.assertAlmostEqual(allowed("d") / MS, 4, delta=0.2)
        self.assertAlmostEqual(allowed("b") / MS, 1, delta=0.2)  # b had the lock at that time

    def test_woken_in_vain_and_not_parked_again(self):
        """As when a lock is downgraded: the woken thread keeps trying, and the lock is released meanwhile."""
        def low(ns, by=1):
            log = types.SimpleNamespace(
                locks=lambda: {1: {"hash": 0xab}}, threads=lambda: {1: {"name": "b"}, 2: {"name": "c"}},
                raw_of=lambda *kinds: [{"event": kind, "sequence": n + 1, "thread": thread, "lock": 1, "by": by,
                                        "time_ns": ns * MS} for n, (kind, thread) in enumerate((("unpark", 1), ("park_end", 2)))])
            scene = exact.Scene(told())
            scene.allow_for(exact.Parks(log))
            return scene.cells[next(k for k in scene.cells if k.waiter == "c" and k.owner == "b")].low / MS

        self.assertAlmostEqual(low(44), 14, delta=0.2)
        self.assertAlmostEqual(low(55), 20, delta=0.2)  # after b's release: there is nothing to allow for
        self.assertAlmostEqual(low(44, 0), 20, delta=0.2)  # nobody has woken it

    def changed(self, at, **changes):
        names = ("waiter", "waiter_op", "owner", "owner_op", "ns")
        rows = [dict(zip(names, row)) for row in RIGHT]
        rows[at].update(changes)
        return [tuple(row[n] for n in names) for row in rows]

    def test_right(self):
        self.assertEqual(self.problems(RIGHT), [])
        # 2 %, counted from what the stamps allow.
        self.assertEqual(self.problems(self.changed(0, ns=25 * MS + 400_000)), [])

    def test_time(self):
        self.assertTrue(self.problems(self.changed(0, ns=25 * MS + 600_000)))
        self.assertTrue(self.problems(self.changed(0, ns=25 * MS - 700_000)))
        self.assertTrue(self.problems(self.changed(3, ns=19 * MS)))
        self.assertTrue(self.problems(self.changed(1, ns=1 * MS)))

    def test_a_time_that_is_less_than_it_could_be_fails_in_small_cells_by_the_floor(self):
        small = told()
        small["holds"][0][6:] = [6 * MS, 6 * MS + 9000]
        small["holds"][1][5] = small["blocks"][1][7] = 6 * MS + 50_000
        rows = [("b", OTHER, "a", OP, 960_000), ("b", OTHER, "(hand-over)", None, 40_000),
                ("c", OP, "b", OTHER, 40 * MS - 30_000), ("c", OP, "(hand-over)", None, 50_000)]
        self.assertEqual(self.problems(rows, small), [])
        self.assertEqual(self.problems([(*rows[0][:4], 760_000), *rows[1:]], small), [])
        self.assertTrue(self.problems([(*rows[0][:4], 700_000), *rows[1:]], small))
        self.assertTrue(self.problems([(*rows[0][:4], 1_300_000), *rows[1:]], small))

    def test_who(self):
        self.assertTrue(self.problems(self.changed(0, owner="c")))
        self.assertTrue(self.problems(self.changed(0, waiter="d")))
        self.assertTrue(self.problems(self.changed(3, owner="a", owner_op=OP)))
        self.assertTrue(self.problems(RIGHT, lock=("ExactLock$Monitor", "#1 hash 0xac")))
        self.assertTrue(self.problems(RIGHT, lock=("ExactLock$Monitor", "#1")))

    def test_where(self):
        for at in (0, 2, 3):
            for column in ("waiter_op", "owner_op"):
                right = RIGHT[at][1 if column == "waiter_op" else 3]
                for wrong in ((right[0], right[1], right[2] + 1), (right[0], "other", right[2])):
                    self.assertTrue(self.problems(self.changed(at, **{column: wrong})))
        self.assertTrue(self.problems(self.changed(0, owner_op=None)))

    def test_missing_and_more(self):
        for at in (0, 2, 3):
            self.assertTrue(self.problems(RIGHT[:at] + RIGHT[at + 1:]))
        self.assertTrue(self.problems([*RIGHT, ("b", OTHER, "c", OP, MS)]))
        self.assertTrue(self.problems([*RIGHT, ("a", OP, "(hand-over)", None, MS)]))
        self.assertEqual(self.problems([*RIGHT, ("b", OTHER, "c", OP, 100_000)]), [])

    def test_nobody_knows(self):
        self.assertTrue(self.problems([*RIGHT, ("b", OTHER, "(unknown)", None, 1)]))
        self.assertTrue(self.problems(self.changed(0, owner="(unknown)", owner_op=None)))

    def test_no_owner_is_invented(self):
        parked = told()
        parked["locks"][0]["family"] = "none"
        self.assertEqual(self.problems([("b", OTHER, "(hand-over)", None, 25 * MS)], parked), [])
        self.assertTrue(self.problems([("b", OTHER, "a", OP, 25 * MS)], parked))

    def test_ended(self):
        """All of a wait is charged to the one that has ended it."""
        ended = told()
        ended["locks"][0]["family"] = "event"
        rows = [RIGHT[0], RIGHT[1], ("c", OP, "b", OTHER, 40 * MS - 30_000), ("c", OP, "(hand-over)", None, 50_000)]
        self.assertEqual(self.problems(rows, ended), [])
        self.assertTrue(self.problems(RIGHT, ended))

    def test_readers(self):
        """a and b share the lock; c waits for both."""
        shared = told()
        shared["holds"] = [[0, "a", 0, True, 0, 1000, 30 * MS, 30 * MS + 9000],
                           [0, "b", 1, True, 2 * MS, 2 * MS + 1000, 50 * MS, 50 * MS + 9000], shared["holds"][2]]
        shared["blocks"] = [shared["blocks"][2]]
        both = [("c", OP, "a*", OP, 15 * MS), ("c", OP, "b", OTHER, 25 * MS)]
        self.assertEqual(self.problems(both, shared), [])
        self.assertEqual(self.problems([("c", OP, "b", OTHER, 40 * MS)], shared), [])
        self.assertTrue(self.problems(both[:1], shared))
        self.assertTrue(self.problems([both[0], ("c", OP, "d", OTHER, 25 * MS)], shared))

    def test_stamps_that_say_little(self):
        far = told()
        self.assertTrue(exact.Scene(far).is_narrow())
        far["blocks"][1][5] = 6 * MS
        self.assertFalse(exact.Scene(far).is_narrow())
        # When somebody began to be blocked that nobody has seen may not be known.
        far["blocks"][1][5] = 0
        self.assertTrue(exact.Scene(far).is_narrow())
        self.assertEqual(self.problems(RIGHT, far), [])


def event(kind, number, thread=1, **more):
    return {"event": kind, "lock": 1, "thread": thread, "sequence": number, **more}


class Numbers(unittest.TestCase):
    """Without a JVM: is a gap in the numbers seen?"""

    def setUp(self):
        self.right = [event("monitor_contended_enter", 4), event("monitor_contended_exit", 6, 2),
                      event("monitor_contended_enter", 5, 3), event("monitor_contended_exit", 7, 2),
                      self.fold(2, 7, 6), self.fold(3, 0, 3), event("monitor_contended_entered", 17),
                      event("unpark", 40), event("park_begin", 39), event("park_end", 41)]

    def fold(self, owner, like, count, parts=2, last=16):
        return {"event": "monitor_fold", "lock": 1, "thread": 9, "first": 7, "last": last, "parts": parts,
                "owner": owner, "like": like, "count": count}

    def problems(self, events):
        s = sequences.Sequences()
        for e in events:
            s.add(e)
        return s.end().problems

    def without(self, at):
        return self.right[:at] + self.right[at + 1:]

    def test_right(self):
        self.assertEqual(self.problems(self.right), [])
        self.assertEqual(self.problems(reversed(self.right)), [])

    def test_settled_in_between(self):
        was = sequences.KEPT_MAX
        self.addCleanup(setattr, sequences, "KEPT_MAX", was)
        sequences.KEPT_MAX = 4
        many = [event("monitor_contended_enter", n) for n in range(17, 60)]
        self.assertEqual(self.problems([*self.right, *many[1:]]), [])
        self.assertTrue(self.problems([*self.right, *many[1:30], *many[31:]]))
        self.assertTrue(self.problems([*self.right, *many]))
        self.assertTrue(self.problems([*self.without(4), *many[1:]]))

    def test_missing(self):
        for at in (1, 2, 3, 4, 5, 7):
            self.assertTrue(self.problems(self.without(at)), at)
        # What is missing at either end is not in the log.
        for at in (0, 6, 8, 9):
            self.assertEqual(self.problems(self.without(at)), [], at)

    def test_twice(self):
        for at in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9):
            self.assertTrue(self.problems([*self.right, self.right[at]]), at)

    def test_folds(self):
        for fold in (self.fold(2, 7, 5), self.fold(2, 7, 7), self.fold(2, 6, 6), self.fold(4, 7, 6),
                     self.fold(2, 7, 6, last=15)):
            self.assertTrue(self.problems([*self.right[:4], fold, *self.right[5:]]), fold)
        # A window is of releases only.
        self.assertTrue(self.problems([*self.right, event("monitor_contended_enter", 9)]))

    def test_no_number(self):
        self.assertTrue(self.problems([*self.right, event("monitor_contended_enter", 0)]))

    def test_another_monitor(self):
        again = [{"event": "monitor_deflate", "lock": 1}, {"event": "monitor_inflate", "lock": 1, "cause": "wait"},
                 event("monitor_contended_enter", 1), event("monitor_contended_exit", 2)]
        self.assertEqual(self.problems([*self.right, *again]), [])
        self.assertTrue(self.problems([*self.right, *again[1:]]))
        self.assertTrue(self.problems([*self.right, *again[:2], copy.copy(again[3]), event("monitor_notify", 4)]))


class Exact(PatchedJavaTest):
    def check(self, mode):
        played = exact.run(mode, self.classes, self.path(), self.home)
        self.assertTrue(played.is_patched)
        self.assertEqual(played.log.lost(), {})
        noisy = sorted(name for name, quiet in played.quiet.items() if not quiet)
        print(f"{mode}: {len(played.scenes)} scenes, played {sum(map(len, played.scenes.values()))} times; stamps never "
              f"near each other: {noisy}", flush=True)
        self.assertLess(len(noisy), len(played.scenes) / 2)
        compared = {name: played.compare(name) for name in played.scenes}
        for name, comparison in compared.items():
            with self.subTest(mode=mode, scene=name):
                problems = comparison.problems
                self.assertEqual(len(problems), 0, "\n" + "\n".join(problems[:10]))
        self.assertLessEqual(sum(c.lacking_ns for c in compared.values()),
                             sum(c.blocked_ns for c in compared.values()) * exact.NO_CHAIN_PCT / 100)
        numbers = sequences.read(played.log.path)
        print(numbers, flush=True)
        self.assertEqual(numbers.problems, [])
        self.assertGreater(numbers.events, 1000)
        self.assertGreater(numbers.folded, 100)

    @only_in_soak  # test_tiered has the same scenes, and test_stacks.py the chains of interpreted frames
    def test_interpreted(self):
        self.check("int")

    @only_in_soak
    def test_c1(self):
        self.check("c1")

    @only_in_soak
    def test_c2(self):
        self.check("c2")

    @slow
    def test_tiered(self):
        self.check("tiered")

    @only_in_soak
    def test_parallel(self):
        self.check("parallel")

    @only_in_soak
    def test_serial(self):
        self.check("serial")


class Monitors(PatchedJavaTest):
    """--probes monitors: the hooks report monitors, with their numbers, and the scheduler parks."""
    def test_totals(self):
        played = exact.run("tiered", self.classes, self.path(), self.home, lambda name: name.startswith(exact.STOCK),
                           ("--probes", "monitors"))
        log = played.log
        self.assertTrue(played.is_patched)
        self.assertEqual(log.lost(), {})
        self.assertEqual([p for p in log.header["sources"]["probes"] if "park" in p], [])
        for name in played.scenes:
            with self.subTest(scene=name):
                comparison = played.compare(name)
                self.assertGreater(comparison.blocked_ns, 0)
                self.assertEqual(len(comparison.sum_problems), 0, "\n" + "\n".join(comparison.sum_problems[:10]))
        numbers = sequences.read(log.path)
        parks = len(log.raw_of(*sequences.OF_PARK))
        print(numbers, f"of these {parks} of parks", flush=True)
        self.assertGreater(parks, 100)
        self.assertGreater(numbers.events - parks, 100)
        self.assertEqual(numbers.without, parks)
        self.assertEqual(numbers.problems, [f"all: {parks} events have no number"])


@slow
class Stock(JavaTest):
    OPTIONS = ()

    def test_totals(self):
        """Who is charged is inferred there; how long a thread was blocked is not."""
        played = exact.run("tiered", self.classes, self.path(), self.home, lambda name: name.startswith(exact.STOCK),
                           self.OPTIONS)
        self.assertFalse(played.is_patched)
        self.assertEqual(played.log.lost(), {})
        for name in played.scenes:
            with self.subTest(scene=name):
                comparison = played.compare(name)
                self.assertGreater(comparison.blocked_ns, 0)
                self.assertEqual(len(comparison.sum_problems), 0, "\n" + "\n".join(comparison.sum_problems[:10]))
        self.check_releases(played)

    def check_releases(self, played):
        """A stock JVM's probes tell of a part of them."""


if __name__ == "__main__":
    unittest.main()
