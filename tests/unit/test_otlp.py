"""`spoor export --to otlp` and `spoor profile --format otlp`: decoded by protoc with a schema of ours."""
import collections
import json
import os
import unittest

import protoc
from protoc import one, several
from test_export import GOLDEN, SIDES, ExportCase, spoor
from test_pprof import Profile

import mklog


class Otlp:
    """types: of its two profiles; samples: as test_pprof's."""

    def __init__(self, path):
        with open(path, "rb") as f:
            data = protoc.decode("otlp", "otlp.ProfilesData", f.read())
        dictionary = one(data, "dictionary")
        texts = [json.loads(self.unescape(t)) for t in several(dictionary, "string_table")]
        assert texts[0] == "" and len(set(texts)) == len(texts)
        for table in ("mapping", "location", "function", "link", "attribute", "stack"):
            assert several(dictionary, table + "_table")[0] == [], table
        functions = [texts[one(f, "name_strindex")] for f in several(dictionary, "function_table")]
        locations = [one(one(m, "lines", []), "function_index") for m in several(dictionary, "location_table")]
        stacks = [several(s, "location_indices") for s in several(dictionary, "stack_table")]
        attributes = [(texts[one(a, "key_strindex")],
                       json.loads(self.unescape(one(one(a, "value", []), "string_value", '""'))))
                      for a in several(dictionary, "attribute_table")]
        assert len(set(attributes)) == len(attributes)
        self.resource = one(data, "resource_profiles")
        self.profiles = []
        for p in several(one(self.resource, "scope_profiles"), "profiles"):
            kind = one(p, "sample_type")
            samples = []
            for s in several(p, "samples"):
                [value] = several(s, "values")
                labels = dict(attributes[i] for i in several(s, "attribute_indices"))
                assert 0 < one(s, "stack_index") < len(stacks)
                samples.append((tuple(functions[locations[i]] for i in stacks[one(s, "stack_index")]), value, labels))
            self.profiles.append((texts[one(kind, "type_strindex")], texts[one(kind, "unit_strindex")], samples))

    @staticmethod
    def unescape(text):
        """C escapes of protoc, whose octal ones are bytes, to JSON."""
        body = text[1:-1].encode().decode("unicode_escape").encode("latin-1").decode("utf-8")
        return json.dumps(body)


@unittest.skipUnless(protoc.PROTOC, "no protoc")
class Contentions(ExportCase):
    def otlp(self, *args):
        path = os.path.join(self.folder, "a.otlp")
        done = spoor("export", "--to", "otlp", "-o", path, *args, self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return Otlp(path)

    def test_the_samples_are_those_of_pprof(self):
        some = 0
        for seed in range(20):
            self.write_random(seed)
            for side in SIDES:
                path = os.path.join(self.folder, "a.pb")
                self.assertEqual(spoor("export", "--to", "pprof", "-s", side, "-o", path, self.path).returncode, 0)
                pprof, otlp = Profile(path), self.otlp("-s", side)
                self.assertEqual([p[:2] for p in otlp.profiles], pprof.types)
                for i in range(2):
                    self.assertEqual([(frames, value, labels) for frames, value, labels in otlp.profiles[i][2]],
                                     [(frames, values[i], labels) for frames, values, labels in pprof.samples])
                some += len(pprof.samples)
        self.assertGreater(some, 1000)

    def test_sums_are_the_reports(self):
        for seed in range(20, 40):
            self.write_random(seed)
            done = spoor("report", "--format", "json", "--by", "lock_class", self.path)
            total = json.loads(done.stdout)["total"]
            sums = [sum(value for _, value, _ in samples) for _, _, samples in self.otlp().profiles]
            self.assertEqual(sums, [total["count"], total["blocked_ns"]], seed)

    def test_names_are_utf8(self):
        with open(self.path, "wb") as f:
            f.write(mklog.make(os.path.join(GOLDEN, "export-both", "log.jsonl")))
        otlp = self.otlp()
        attributes = collections.Counter(one(a, "key") for a in several(one(otlp.resource, "resource"), "attributes"))
        self.assertEqual(attributes, {'"service.name"': 1, '"process.pid"': 1, '"spoor.profile"': 1})

    def test_no_contention(self):
        self.write([{"header": {}}, {"time_ns": 5, "event": "end", "reason": "done"}])
        self.assertEqual([samples for _, _, samples in self.otlp().profiles], [[], []])


@unittest.skipUnless(protoc.PROTOC, "no protoc")
class Samples(ExportCase):
    """Profiles of running threads, and of all their time."""

    def profile(self, path, form, *args):
        done = spoor("profile", "--format", form, "-o", path, *args, self.path)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path

    def test_the_samples_are_those_of_pprof(self):
        for log, args in (("profile-programs", ()), ("profile-programs", ("--by", "thread", "--lines")),
                          ("profile-states", ("--state", "all")), ("profile-locks", ("--by", "lock"))):
            with open(self.path, "wb") as f:
                f.write(mklog.make(os.path.join(GOLDEN, log, "log.jsonl")))
            pprof = Profile(self.profile(os.path.join(self.folder, "a.pb"), "pprof", *args))
            otlp = Otlp(self.profile(os.path.join(self.folder, "a.otlp"), "otlp", *args))
            told = json.loads(spoor("profile", "--format", "json", *args, self.path).stdout)
            self.assertEqual([p[:2] for p in otlp.profiles], pprof.types)
            self.assertEqual(sum(value for _, value, _ in otlp.profiles[1][2]), sum(r["self_ns"] for r in told["rows"]))
            self.assertGreater(len(pprof.samples), 3)
            for i in range(2):
                self.assertEqual([(frames, value) for frames, value, _ in otlp.profiles[i][2]],
                                 [(frames, values[i]) for frames, values, _ in pprof.samples])


if __name__ == "__main__":
    unittest.main()
