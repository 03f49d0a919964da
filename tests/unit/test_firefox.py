"""spoor export --to firefox: the processed profile format of Firefox Profiler, version 48, read as its types say; all
chains and weights are those of --to collapsed. The profiler itself can be had from neither Debian nor npm."""
import decimal
import json
import os
import sys
import tempfile
import unittest

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "web"))

from pages import make_log, shop, spoor  # noqa: E402

# Of a thread's tables the columns that have a value for each row.
COLUMNS = {
    "frameTable": "address inlineDepth category subcategory func nativeSymbol innerWindowID implementation line column",
    "funcTable": "name isJS relevantForJS resource fileName lineNumber columnNumber",
    "stackTable": "frame prefix category subcategory",
    "samples": "stack time weight",
    "markers": "data name startTime endTime phase category",
    "nativeSymbols": "libIndex address name functionSize",
    "resourceTable": "lib name host type",
}
META = {"interval": 1, "startTime": 0, "processType": 0, "stackwalk": 1, "preprocessedProfileVersion": 48,
        "markerSchema": [], "symbolicated": True}


def text_of(*arguments):
    done = spoor("export", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Firefox(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.log = make_log(cls.folder.name, shop(1))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def profile(self, *options):
        return json.loads(text_of("--to", "firefox", *options, self.log), parse_float=decimal.Decimal)

    def chains(self, thread):
        """{a chain, outermost first, with "; " between its frames: ns}; what the format asks for is there."""
        for table, columns in COLUMNS.items():
            for column in columns.split():
                self.assertEqual(len(thread[table][column]), thread[table]["length"], (table, column))
        stacks, frames, found, at = thread["stackTable"], thread["frameTable"], {}, 0
        self.assertEqual(len(set(thread["stringArray"])), len(thread["stringArray"]))
        self.assertEqual(thread["samples"]["weightType"], "tracing-ms")
        for stack, time, weight in zip(*(thread["samples"][c] for c in ("stack", "time", "weight"))):
            self.assertEqual(time, at)
            at += weight
            names = []
            while stack is not None:
                function = frames["func"][stacks["frame"][stack]]
                names.append(thread["stringArray"][thread["funcTable"]["name"][function]])
                above = stacks["prefix"][stack]
                self.assertTrue(above is None or 0 <= above < stack)
                stack = above
            chain = ";".join(reversed(names)).replace(" ", "_")  # collapsed has no blank in a name
            found[chain] = found.get(chain, 0) + int(weight * 10**6)
        return found

    def collapsed(self, side, *options):
        lines = text_of("--to", "collapsed", "--side", side, *options, self.log).splitlines()
        return {chain.replace(" ", "_"): int(ns) for chain, _, ns in (line.rpartition(" ") for line in lines)}

    def test_both_sides_are_the_collapsed_ones(self):
        for options in ((), ("--threads", "--locks"), ("--where", "waiter_thread=http-* and in_gc=no")):
            profile = self.profile(*options)
            self.assertEqual([t["name"].split(":")[0] for t in profile["threads"]], ["waiters", "owners"])
            for thread, side in zip(profile["threads"], ("waiter", "owner")):
                with self.subTest(side=side, options=options):
                    found = self.chains(thread)
                    self.assertEqual(found, self.collapsed(side, *options))
                    self.assertGreater(len(found), 10)
        total = json.loads(spoor("report", "--by", "lock", "--format", "json", self.log).stdout)["total"]["blocked_ns"]
        self.assertEqual(sum(self.chains(self.profile()["threads"][0]).values()), total)

    def test_what_the_profiler_asks_for(self):
        profile = self.profile("--side", "both", "--lines")
        self.assertEqual({name: profile["meta"][name] for name in META}, META)
        self.assertIn({"name": "Other", "color": "grey", "subcategories": ["Other"]}, profile["meta"]["categories"])
        self.assertEqual((profile["libs"], profile["pages"]), ([], []))
        thread, = profile["threads"]
        self.assertEqual((thread["pid"], thread["isMainThread"], thread["processType"]), ("1", False, "default"))
        lines = [line for line in thread["frameTable"]["line"] if line is not None]
        self.assertGreater(len(lines), 10)
        self.assertTrue(all(line > 0 for line in lines))


if __name__ == "__main__":
    unittest.main()
