"""`spoor export --to perfetto`: sums and counts are the report's, and the rules of Perfetto's tables of lock
contention, written down here anew, give back owners and methods."""
import bisect
import collections
import json
import os
import unittest

import messages
import protoc
from messages import fields, one, several
from test_export import GOLDEN, ExportCase, spoor

import mklog


def words(text, separator, index):
    """STR_SPLIT of Perfetto's SQL: None where there are fewer."""
    found = text.split(separator) if text is not None else []
    return found[index] if index < len(found) else None


def method(text, after):
    """The method after a word, as android_extract_android_monitor_contention_*_method."""
    rest = words(text, after, 1)
    parts = [words(rest, "(", 0), words(rest, "(", 1)]
    return None if None in parts else "(".join(parts)


def taken_apart(name):
    """What android/monitor_contention.sql makes of a slice's name; None: the slice is not in the table."""
    if not name.startswith("monitor contention"):
        return None
    blocking, blocked = method(name, ") at "), method(name, "blocking from ")
    row = {"owner": words(words(name, "with owner ", 1), " (", 0), "tid": words(words(name, " (", 1), ")", 0),
           "blocking": blocking, "blocked": blocked,
           "short_blocking": words(words(blocking, " ", 1), "(", 0),
           "short_blocked": words(words(blocked, " ", 1), "(", 0),
           "waiters": words(words(name, "waiters=", 1), " ", 0),
           "blocking_src": words(words(name, ")(", 1), ")", 0), "blocked_src": words(words(name, ")(", 2), ")", 0)}
    return row


class Trace:
    """slices: dicts with name, category, begin, end, track and the annotations."""

    def __init__(self, path):
        self.threads, self.processes, self.slices = {}, [], []
        texts = collections.defaultdict(dict)
        opened = {}
        for number, packet in enumerate(several(messages.read(path), 1)):
            assert one(packet, 10) == 1
            for data in several(packet, 12):
                for kind, entry in fields(data):
                    assert one(entry, 1) not in texts[kind]
                    texts[kind][one(entry, 1)] = one(entry, 2).decode("utf-8")
            assert (one(packet, 13) == 1) == (number == 0)
            for track in several(packet, 60):
                assert one(track, 1) not in self.threads
                for process in several(track, 3):
                    self.processes.append((one(process, 1), one(process, 6, b"").decode()))
                for thread in several(track, 4):
                    self.threads[one(track, 1)] = (one(thread, 2), one(thread, 5, b"").decode())
            for event in several(packet, 11):
                track = one(event, 11)
                assert track in self.threads and one(packet, 58) == 3
                if one(event, 9) == 1:
                    assert track not in opened, "a slice within another one"
                    opened[track] = {"name": texts[2][one(event, 10)], "category": texts[1][one(event, 3)],
                                     "begin": one(packet, 8), "track": track,
                                     **{texts[3][one(a, 1)]: texts[29][one(a, 17)] for a in several(event, 4)}}
                else:
                    assert one(event, 9) == 2
                    self.slices.append({**opened.pop(track), "end": one(packet, 8)})
        assert not opened


class Perfetto(ExportCase):
    def trace(self):
        path = os.path.join(self.folder, "a.pftrace")
        done = spoor("export", "--to", "perfetto", "-o", path, self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Trace(path)

    def total(self):
        done = spoor("report", "--format", "json", "--by", "group", self.path)
        groups = json.loads(done.stdout)
        return {g["key"][0]: (g["count"], g["blocked_ns"]) for g in groups["groups"]}

    def test_sums_and_counts_are_the_reports(self):
        some = 0
        for seed in range(60):
            self.write_random(seed)
            sums = collections.defaultdict(lambda: [0, 0])
            for s in self.trace().slices:
                sums[s["category"]][0] += 1
                sums[s["category"]][1] += s["end"] - s["begin"]
            self.assertEqual({k: tuple(v) for k, v in sums.items()}, self.total(), seed)
            some += len(sums)
        self.assertGreater(some, 80)

    def test_the_tables_rules_give_back_owner_and_methods(self):
        found = 0
        for seed in range(60):
            self.write_random(seed)
            trace = self.trace()
            tids = dict(trace.threads.values())
            for s in trace.slices:
                row = taken_apart(s["name"])
                if row is None:
                    self.assertIn(s["owner_is"], ("hand-over", "unknown"), s)
                    continue
                found += 1
                self.assertNotIn(None, row.values(), s)
                self.assertRegex(row["waiters"], r"^\d+$")
                owner = tids[int(row["tid"])]  # a thread that has a track
                self.assertEqual(row["owner"], owner, s)
                self.assertNotEqual(int(row["tid"]), trace.threads[s["track"]][0], "blocked by itself")
                for side, chain in (("blocking", "owner_chain"), ("blocked", "chain")):
                    if row[f"short_{side}"] == "unknown":
                        self.assertEqual(row[f"{side}_src"], "unknown:0")
                        continue
                    rows = [r.replace("\\n", "\n").replace(" ", "_") for r in s[chain].split("\n")]
                    self.assertTrue(any(r.startswith(row[f"short_{side}"]) for r in rows), (row, s))
        self.assertGreater(found, 1000)

    def test_waiters_are_those_that_were_there_before(self):
        for seed in range(30):
            self.write_random(seed)
            locks = collections.defaultdict(list)
            for s in self.trace().slices:
                locks[s["lock"]].append(s)
            for slices in locks.values():
                slices.sort(key=lambda s: s["begin"])
                begins = [s["begin"] for s in slices]
                for s in slices:
                    row = taken_apart(s["name"])
                    before = slices[:bisect.bisect_left(begins, s["begin"])]
                    same = sum(o["begin"] == s["begin"] for o in slices) - 1
                    if row is not None:
                        least = sum(o["end"] > s["begin"] for o in before)
                        self.assertTrue(least <= int(row["waiters"]) <= least + same, s)

    def write_one(self, owner="a (b) with owner c = ) at", line=70, signature="(I[Ljava/lang/String;J)[[La/B;"):
        time = 1_000_000_000
        self.write([{"header": {"start_mono_ns": time, "start_wall_ns": 1700000000_000000000,
                                "jvm": {"pid": 77, "command": "java A"}}}] +
                   [{"time_ns": time + at, **e} for at, e in (
                       (0, {"event": "thread", "thread": 1, "tid": 101, "name": owner}),
                       (0, {"event": "thread", "thread": 2, "tid": 102, "name": "waiter"}),
                       (0, {"event": "class", "class": 1, "name": "a.Lock"}),
                       (0, {"event": "lock", "lock": 1, "class": 1, "group": "monitor"}),
                       (0, {"event": "method", "method": 1, "class_name": "a.B(", "name": "hold it)",
                            "signature": signature, "source": "B (x).java"}),
                       (0, {"event": "method", "method": 2, "class_name": "a.C", "name": "want", "signature": "()V",
                            "source": ""}),
                       (0, {"event": "stack", "stack": 1, "frame": "c2", "method": 1, "line": line}),
                       (0, {"event": "stack", "stack": 2, "frame": "c2", "method": 2, "line": 4}),
                       (5, {"event": "monitor_contended_enter", "thread": 2, "lock": 1, "owner": 1,
                            "owner_source": "java_thread", "stack": 2, "owner_stack": 1}),
                       (25, {"event": "monitor_contended_entered", "thread": 2, "lock": 1}),
                       (30, {"event": "end"}))])

    def test_one_slice(self):
        self.write_one()
        trace = self.trace()
        self.assertEqual(trace.processes, [(77, "java A")])
        self.assertEqual(sorted(tid for tid, _ in trace.threads.values()), [101, 102])
        [s] = trace.slices
        self.assertEqual((s["begin"], s["end"]), (1_000_000_005, 1_000_000_025))
        self.assertEqual(s["name"], "monitor contention with owner a_[b]_with_owner_c___]_at (101) at "
                                    "a.B[][] a.B[.hold_it](int, java.lang.String[], long)(B_[x].java:70) waiters=0 "
                                    "blocking from void a.C.want()(unknown:4)")
        self.assertEqual(taken_apart(s["name"]), {
            "owner": "a_[b]_with_owner_c___]_at", "tid": "101", "waiters": "0",
            "blocking": "a.B[][] a.B[.hold_it](int, java.lang.String[], long)", "blocked": "void a.C.want()",
            "short_blocking": "a.B[.hold_it]", "short_blocked": "a.C.want",
            "blocking_src": "B_[x].java:70", "blocked_src": "unknown:4"})
        self.assertEqual(s["owner_is"], "inferred")

    def test_signatures_that_are_none(self):
        for signature in ("", "(", ")", "()", "(I", "I)V", "(L)V", "(Lx", "([", "(Q)V", "((I)V", "()V)",
                          "(" + "[" * 300 + "I)V"):
            self.write_one(signature=signature)
            row = taken_apart(self.trace().slices[0]["name"])
            self.assertEqual((row["short_blocking"], row["blocking_src"], row["short_blocked"], row["tid"]),
                             ("a.B[.hold_it]", "B_[x].java:70", "a.C.want", "101"), signature)

    @unittest.skipUnless(protoc.PROTOC, "no protoc")
    def test_protoc_decodes_it(self):
        for seed in range(5):
            self.write_random(seed)
            trace = self.trace()
            with open(os.path.join(self.folder, "a.pftrace"), "rb") as f:
                decoded = protoc.decode("perfetto", "perfetto.Trace", f.read())
            ns = {"TYPE_SLICE_BEGIN": 0, "TYPE_SLICE_END": 0}
            for packet in protoc.several(decoded, "packet"):
                for event in protoc.several(packet, "track_event"):
                    ns[protoc.one(event, "type")] += protoc.one(packet, "timestamp")
            self.assertEqual(ns["TYPE_SLICE_END"] - ns["TYPE_SLICE_BEGIN"],
                             sum(s["end"] - s["begin"] for s in trace.slices))

    def test_golden_log(self):
        with open(self.path, "wb") as f:
            f.write(mklog.make(os.path.join(GOLDEN, "export-both", "log.jsonl")))
        self.assertEqual(sum(s["end"] - s["begin"] for s in self.trace().slices), self.blocked_ns())

    def test_options_that_do_not_go_with_it(self):
        self.write_random(3)
        for options in (("--threads",), ("--locks",), ("--where", "lock_class=a.*"), ("-s", "owner"),
                        ("--frames", "3"), ("--min", "1us")):
            done = spoor("export", "--to", "perfetto", *options, self.path)
            self.assertEqual((done.returncode, done.stdout), (2, b""), options)

    def test_no_contention(self):
        self.write([{"header": {}}, {"time_ns": 5, "event": "end", "reason": "done"}])
        self.assertEqual(self.trace().slices, [])


if __name__ == "__main__":
    unittest.main()
