"""spoor objects --from, --to, --where, and by second, span, length: against what the program and the JVM count."""
import csv
import io
import json
import os
import unittest

from jvm import ObjectsJavaTest, java_classes  # first: it says where harness is
from harness import BUILD, spoor

JAR = os.path.join(BUILD, "spoor-mark.jar")
SWITCH = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+SpoorTraceObjects", "-XX:SpoorObjectsMode=1"]
DEADLINE_S = 120
PHASES, ITEMS, ITEM_BYTES = 4, 100_000, 32
MAIN = "thread=main"


class ObjectsPartsTest(ObjectsJavaTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not os.path.exists(JAR):
            raise unittest.SkipTest(f"there is no {JAR}: make mark")
        cls.classes = os.pathsep.join([java_classes("marks/*.java", *cls.javac_options(), "-cp", JAR), JAR])

    def objects(self, *options, **how):
        return json.loads(self.said(*options, "--format", "json", **how))

    def said(self, *options, **how):
        return spoor("objects", *options, self.path(), **how).stdout

    def setUp(self):
        super().setUp()
        # A small TLAB, so that little is at an edge.
        vm = self.java("Allotted", PHASES, options=["-XX:+UseSerialGC", "-Xmx256m", "-XX:TLABSize=32k",
                                                    "-XX:-ResizeTLAB", *SWITCH])
        self.recorder = self.record(vm, "--objects")
        vm.say()
        self.phases = []  # (bytes, begin_ns, end_ns)
        while (line := vm.line(DEADLINE_S)) != "done":
            self.phases.append(tuple(map(int, line.split()[1:])))
        vm.say()
        self.assertEqual(vm.process.wait(DEADLINE_S), 0)
        self.assertEqual(self.recorder.wait(DEADLINE_S), 0)

    @staticmethod
    def count(found, name):
        return sum(row["objects"] for row in found["rows"] if row["name"] == name)

    def test_parts(self):
        everything = self.objects()
        self.between_collections(everything)
        self.a_range_of_time(everything)
        self.seconds(everything)
        self.spans(everything)
        self.lengths(everything)
        self.other_formats()
        self.wrong_usage()

    def between_collections(self, everything):
        """A full collection ends all TLABs: between two of them the figures are right to the byte."""
        full = [row for row in self.objects("--by", "collection")["rows"] if row["cause"] == "System.gc()"]
        self.assertEqual(len(full), PHASES + 1)
        for i, (wanted, _, _) in enumerate(self.phases):
            limits = ["--from", f"gc:{full[i]['gc_id']}", "--to", f"gc:{full[i + 1]['gc_id']}"]
            found = self.objects(*limits, "--where", MAIN)
            self.assertEqual(found["bytes"], wanted, i)
            self.assertEqual(found["at_edge"], 0)
            self.assertEqual(self.count(found, "Allotted$Item"), (i + 1) * ITEMS)
            self.assertEqual(found["objects"] + found["left_out"], everything["objects"])
            self.assertEqual(found["bytes"] + found["left_out_bytes"], everything["bytes"])
            within = self.objects(*limits, "--by", "collection")["rows"]
            self.assertEqual(within[-1]["gc_id"], full[i + 1]["gc_id"])
            self.assertGreater(within[0]["begin_ns"], full[i]["begin_ns"])
        last = full[-1]["gc_id"]
        self.assertGreater(self.objects("--from", f"gc:{last}")["left_out"], 0)

    def a_range_of_time(self, everything):
        start = json.loads(spoor("cat", "--header", self.path()).stdout)["start_mono_ns"]
        for i, (wanted, begin, end) in enumerate(self.phases):
            limits = ["--from", f"{(begin - start) / 1e9:.9f}s", "--to", f"{(end - start) / 1e9:.9f}s"]
            found = self.objects(*limits, "--where", MAIN)
            self.assertLessEqual(abs(found["bytes"] - wanted), found["at_edge_bytes"], i)
            self.assertLess(found["at_edge_bytes"], 0.1 * wanted)
            both = self.objects(*limits)
            self.assertGreaterEqual(both["bytes"], found["bytes"])
            self.assertEqual(both["objects"] + both["left_out"], everything["objects"])

    def seconds(self, everything):
        found = self.objects("--by", "second")
        self.assertEqual(sum(row["bytes"] for row in found["rows"]), everything["bytes"])
        self.assertEqual(sum(row["objects"] for row in found["rows"]), everything["objects"])
        self.assertIn("second", self.said("--by", "second").splitlines()[3])

    def spans(self, everything):
        found = self.objects("--by", "span", "--where", "thread=main or thread=noise")
        rows = {row["name"]: row for row in found["rows"]}
        self.assertEqual(set(rows), {"(no span)", *(f"phase {i}" for i in range(PHASES))})
        for i, (wanted, _, _) in enumerate(self.phases):
            row = rows[f"phase {i}"]
            self.assertEqual(row["spans"], 1)
            self.assertLessEqual(abs(row["bytes"] - wanted), found["at_edge_bytes"], i)
        self.assertLess(found["at_edge_bytes"], 0.1 * self.phases[-1][0])
        self.assertEqual(self.objects("--where", "span=phase*")["bytes"],
                         sum(row["bytes"] for name, row in rows.items() if name != "(no span)"))

    def lengths(self, everything):
        where = ["--where", MAIN + " and class=byte\\[\\] and method=Allotted.allocate"]
        rows = {row["name"]: row["objects"] for row in self.objects(*where, "--by", "length")["rows"]}
        wanted = {"0": ITEMS, "8 to 15": 2 * ITEMS, "16 to 31": 7 * ITEMS}
        # The JVM itself makes a String now and then, as it adds to what compiles, in whatever method the thread is.
        strings = self.objects("--where", where[1].replace("byte\\[\\]", "java.lang.String"))["objects"]
        self.assertEqual(sum(rows.values()), sum(wanted.values()) + strings)
        for name, number in wanted.items():
            self.assertGreaterEqual(rows[name], number)
        found = self.objects("--where", where[1] + " and length=24")["objects"]
        self.assertGreaterEqual(found, 4 * ITEMS)
        self.assertLessEqual(found, 4 * ITEMS + strings)
        tlab = {row["name"]: row["objects"] for row in self.objects("--by", "tlab")["rows"]}
        self.assertEqual(sum(tlab.values()), everything["objects"])
        self.assertEqual(self.objects("--where", "tlab=no")["objects"], tlab["outside of TLABs"])

    def other_formats(self):
        where = ["--where", "class=Allotted$Item and thread=main"]
        found = self.objects(*where)
        self.assertEqual(found["bytes"], found["objects"] * ITEM_BYTES)
        self.assertEqual(found["objects"], 10 * ITEMS)
        rows = list(csv.DictReader(io.StringIO(self.said(*where, "--format", "csv"))))
        self.assertEqual(sum(int(row["bytes"]) for row in rows), found["bytes"])
        lines = [line.rsplit(" ", 1) for line in self.said(*where, "--format", "collapsed").splitlines()]
        self.assertEqual(sum(int(number) for _, number in lines), found["bytes"])
        self.assertEqual({line.split(";")[-1] for line, _ in lines}, {"Allotted$Item"})
        text = self.said(*where)
        self.assertIn("1,000,000 objects of", text)
        self.assertIn("are left out, as --from, --to or --where say", text)
        self.assertNotIn("4294967295", self.said("--by", "chain", "--top", 100000))

    def wrong_usage(self):
        for options, why in ((["--where", "second=1"], "second"), (["--from", "noon"], "--from is a time"),
                             (["--by", "age"], "--by is class")):
            self.assertIn(why, spoor("objects", *options, self.path(), expect=2).stderr)
        self.assertIn("has no collection 4711", spoor("objects", "--from", "gc:4711", self.path(), expect=1).stderr)
        self.assertIn("nothing is between", spoor("objects", "--from", "gc:3", "--to", "gc:2", self.path(),
                                                  expect=1).stderr)
        self.assertIn("No such objects", self.said("--where", "class=Nobody"))


if __name__ == "__main__":
    unittest.main()
