"""`spoor export --to pprof` and `spoor profile --format pprof`: read by the numbers of fields, and by go tool pprof."""
import collections
import json
import os
import re
import shutil
import subprocess
import unittest

from messages import one, read, several
from test_export import GOLDEN, ExportCase, spoor

import mklog

GO = shutil.which("go")
SIDES = ("waiter", "owner", "both")
UNITS = [("contentions", "count"), ("delay", "nanoseconds")]


class Profile:
    """types; samples: (names of frames, innermost first; values; labels)."""

    def __init__(self, path):
        data = read(path)
        self.texts = [t.decode("utf-8") for t in several(data, 6)]
        assert self.texts[0] == "" and len(set(self.texts)) == len(self.texts)
        self.types = [tuple(self.texts[one(t, n)] for n in (1, 2)) for t in several(data, 1)]
        functions = {one(f, 1): (self.texts[one(f, 2)], self.texts[one(f, 4)]) for f in several(data, 5)}
        self.locations = {one(m, 1): functions[one(one(m, 4), 1)] for m in several(data, 4)}
        assert sorted(functions) == sorted(self.locations) == list(range(1, len(functions) + 1))
        self.samples = []
        for s in several(data, 2):
            labels = {self.texts[one(label, 1)]: self.texts[one(label, 2)] for label in several(s, 3)}
            self.samples.append((tuple(self.locations[i][0] for i in several(s, 1)), several(s, 2), labels))

    def sums(self):
        return [sum(values) for values in zip(*(values for _, values, _ in self.samples))] or [0, 0]


def go_pprof(*args):
    done = subprocess.run([GO, "tool", "pprof", *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                          env={**os.environ, "HOME": os.environ.get("TMPDIR", "/tmp"), "TZ": "UTC"})
    assert done.returncode == 0, done.stdout
    return done.stdout.decode()


def go_sums(path):
    """Of the samples that go tool pprof has read."""
    lines = go_pprof("-raw", path).splitlines()
    sums = [0, 0]
    for line in lines[lines.index("Samples:") + 2:lines.index("Locations")]:
        values = re.match(r" *(\d+) +(\d+): ", line)
        if values:
            sums = [sums[0] + int(values[1]), sums[1] + int(values[2])]
    return sums


def go_top(*args):
    """{function: flat ns} of the profile's main value, in which nothing is hidden."""
    found = {}
    every = ("-nodecount=1000000", "-nodefraction=0", "-edgefraction=0")
    for line in go_pprof("-top", "-unit=ns", *every, *args).splitlines():
        row = re.fullmatch(r" *(-?\d+)(?:ns)? +\S+% +\S+% +\S+ +\S+%  (.*)", line)
        if row and int(row[1]):
            found[row[2]] = found.get(row[2], 0) + int(row[1])
    return found


def flat(profile):
    """The same of a profile that was read here: by the innermost frame."""
    sums = collections.Counter()
    for frames, values, _ in profile.samples:
        sums[frames[0].rstrip("\n")] += values[1]  # go prints it as it is
    return {name: ns for name, ns in sums.items() if ns}


class Contentions(ExportCase):
    def total(self, *args):
        done = spoor("report", "--format", "json", "--by", "lock_class", *args, self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        total = json.loads(done.stdout)["total"]
        return [total["count"], total["blocked_ns"]]

    def pprof(self, *args):
        path = os.path.join(self.folder, "a.pb.gz")
        done = spoor("export", "--to", "pprof", "-o", path, *args, self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def test_sums_are_the_reports(self):
        some = 0
        for seed in range(60):
            self.write_random(seed)
            wanted = self.total()
            some += wanted[0] > 0
            for side in SIDES:
                profile = Profile(self.pprof("--side", side))
                self.assertEqual(profile.types, UNITS)
                self.assertEqual(profile.sums(), wanted, (seed, side))
        self.assertGreater(some, 40)

    def test_chains_are_those_of_collapsed(self):
        for seed in range(20):
            self.write_random(seed)
            for side in SIDES:
                chains, wanted = collections.Counter(), collections.Counter()
                for chain, values, _ in Profile(self.pprof("--side", side)).samples:
                    if values[1]:
                        chains[";".join(reversed([re.sub("[\x00-\x1f]", "?", re.sub(" ", "_", f.replace(";", ":")))
                                                  if not f.startswith("(") else f for f in chain]))] += values[1]
                for line in self.export("--to", "collapsed", "--side", side).splitlines():
                    wanted[line.rpartition(" ")[0]] += int(line.rpartition(" ")[2])
                self.assertEqual(chains, wanted, (seed, side))

    def test_labels_and_where(self):
        self.write_random(3)
        rows = json.loads(spoor("report", "--format", "json", "--by", "lock_class", self.path).stdout)["groups"]
        sums = collections.Counter()
        for _, values, labels in Profile(self.pprof("-s", "owner")).samples:
            self.assertEqual(set(labels), {"lock_class", "thread", "waiter", "owner_is"})
            self.assertIn(labels["owner_is"], ("inferred", "hand-over", "unknown"))
            self.assertEqual(labels["thread"] in ("(hand-over)", "(unknown)"), labels["owner_is"] != "inferred")
            sums[labels["lock_class"]] += values[1]
        self.assertEqual(sorted(sums.values()), sorted(row["blocked_ns"] for row in rows))
        chosen = Profile(self.pprof("--where", "lock_class=a.*"))
        self.assertEqual(chosen.sums(), self.total("--where", "lock_class=a.*"))
        self.assertNotEqual(chosen.sums(), self.total())
        self.assertEqual({labels["lock_class"] for _, _, labels in chosen.samples}, {"a.Lock"})

    def test_names_are_utf8(self):
        path = os.path.join(GOLDEN, "export-both", "log.jsonl")
        with open(self.path, "wb") as f:
            f.write(mklog.make(path))
        Profile(self.pprof())  # decodes all texts

    @unittest.skipUnless(GO, "no go")
    def test_go_reads_it(self):
        for seed in range(3, 6):
            self.write_random(seed)
            for side in SIDES:
                path = self.pprof("--side", side)
                self.assertEqual(go_sums(path), self.total(), (seed, side))
            self.assertIn("Type: delay", go_pprof("-top", path))

    @unittest.skipUnless(GO, "no go")
    def test_go_shows_and_subtracts_it(self):
        """-top, and -diff_base of another log, of which nothing may be left but the difference."""
        for side in SIDES:
            paths, sums = [], []
            for seed in (3, 7):
                self.write_random(seed)
                path = self.pprof("--side", side)
                paths.append(path.replace("a.pb.gz", f"{seed}.pb.gz"))
                os.rename(path, paths[-1])
                sums.append(self.total()[1])
            before, after = (flat(Profile(path)) for path in paths)
            self.assertEqual((go_top(paths[0]), go_top(paths[1])), (before, after))
            self.assertEqual((sum(before.values()), sum(after.values())), tuple(sums))
            difference = {name: after.get(name, 0) - before.get(name, 0) for name in {*before, *after}}
            self.assertEqual(go_top(f"-diff_base={paths[0]}", paths[1]), {n: ns for n, ns in difference.items() if ns})
            self.assertEqual(go_top(f"-diff_base={paths[0]}", paths[0]), {})

    def test_no_contention(self):
        self.write([{"header": {}}, {"time_ns": 5, "event": "end", "reason": "done"}])
        self.assertEqual(Profile(self.pprof()).samples, [])

    def test_options_that_do_not_go_with_it(self):
        self.write_random(3)
        for option in ("--threads", "--locks"):
            done = spoor("export", "--to", "pprof", option, self.path)
            self.assertEqual((done.returncode, done.stdout), (2, b""))


class Samples(ExportCase):
    """What was there before: profiles of running threads."""

    @unittest.skipUnless(GO, "no go")
    def test_go_reads_it(self):
        with open(self.path, "wb") as f:
            f.write(mklog.make(os.path.join(GOLDEN, "profile-programs", "log.jsonl")))
        path = os.path.join(self.folder, "cpu.pb.gz")
        self.assertEqual(spoor("profile", "--format", "pprof", "-o", path, self.path).returncode, 0)
        told = json.loads(spoor("profile", "--format", "json", self.path).stdout)
        ns = sum(row["self_ns"] for row in told["rows"])
        self.assertGreater(ns, 0)
        self.assertEqual(go_sums(path), [told["samples"], ns])
        self.assertEqual(Profile(path).sums(), go_sums(path))
        self.assertEqual(one(read(path), 12), 10_000_000)
        self.assertEqual(go_top(path), flat(Profile(path)))
        rows = json.loads(spoor("profile", "--flat", "--format", "json", self.path).stdout)["rows"]
        self.assertEqual(sum(go_top(path).values()), sum(row["self_ns"] for row in rows))
        self.assertEqual(go_top(f"-diff_base={path}", path), {})


if __name__ == "__main__":
    unittest.main()
