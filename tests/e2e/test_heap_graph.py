"""Pointers in a log: who refers to whom at a collection, and all roots, beside the JVM's own dump of the same safepoint."""
import base64
import contextlib
import json
import re
import signal
import sqlite3
import subprocess
import zlib

from jvm import ObjectsJavaTest, jdk_tool

from harness import spoor

DEADLINE_S = 300
THREADS = 4
DEPTH = 4
DIFFERENCES = ("only_log", "only_dump", "other_class", "other_references", "missing_roots")
ONLY_IN_LOGS = {"JNI local", "local variable", "native stack", "thread", "handle of the JVM", "compiled code", "class loader"}
PARALLEL = ["-XX:+UseParallelGC", "-XX:ParallelGCThreads=4"]
G1 = ["-XX:+UseG1GC", "-XX:ParallelGCThreads=4"]
CALM = ["-XX:+UseSerialGC", "-Xmn200m"]  # nothing collects but what is asked for


class HeapGraphTest(ObjectsJavaTest):
    def start(self, *options, pointers="triggered"):
        vm = self.java("Pointing", THREADS, options=["-Xmx300m", *options])
        return vm, self.record(vm, "-f", "--objects=exact", f"--objects-pointers={pointers}")

    def dump(self, vm):
        done = subprocess.run([jdk_tool("jcmd", self.home), str(vm.pid), "GC.heap_dump", self.path("app.hprof")],
                              capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertIn("Heap dump file created", done.stdout + done.stderr)

    def finish(self, vm):
        self.assertEqual(vm.ask("", DEADLINE_S), "done")
        self.assertEqual(vm.end(), 0)

    @staticmethod
    def groups(name, by, *options):
        found = json.loads(spoor("heap", "--format", "json", "--by", by, *options, name).stdout)
        return {row["key"].replace("+0x", "/0x"): row["objects"] for row in found["root"]["children"]}

    def check(self, *options):
        vm, recorder = self.start(*options)
        self.assertEqual(vm.ask("collect", DEADLINE_S), "collected")
        self.dump(vm)
        recorder.stop()
        self.finish(vm)
        dump = self.path("app.hprof")
        # With G1, objects of an archive (CDS) may be in the log alone: test_heap_check has those.
        graph = json.loads(spoor("heap", "check", "--format", "json", self.path(), dump, expect=None).stdout)["graph"]
        self.assertEqual({kind: graph[kind] for kind in DIFFERENCES}, dict.fromkeys(DIFFERENCES, 0), graph)
        self.assertGreater(graph["objects"], 10_000)
        self.assertGreater(graph["references"], 20_000)
        self.assertGreater(graph["roots"], 500)
        self.assertGreaterEqual(graph["local_variables"], THREADS * DEPTH)
        self.assertEqual(graph["in_other_frames"], 0)
        self.assertEqual({kind for kind, count in graph["only_log_roots"].items() if count} - ONLY_IN_LOGS, set())
        self.assertGreater(graph["only_log_roots"]["class loader"], 0)
        for by in ("pointed_from", "points_to", "reached"):
            if by == "reached":  # the log has more roots, but none that keeps what the dump takes for garbage strongly
                own = ("--where", "type=Pointing*")
            else:
                own = ()
            self.assertEqual(self.groups(self.path(), by, *own), self.groups(dump, by, *own), by)
        return graph

    def sql_and_page(self):
        """References and roots as tables, and in a page: those of the log are those of the dump."""
        def rows(name, query):
            return json.loads(spoor("heap", "sql", "--format", "json", name, query).stdout)

        own = ("SELECT f.type AS at, r.field, t.type, count(*) AS n FROM refs r JOIN objects f ON f.id = r.from_id "
               "JOIN objects t ON t.id = r.to_id WHERE f.type LIKE 'Pointing%' AND t.type LIKE 'Pointing%' "
               "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3")
        of_log, of_dump = rows(self.path(), own), rows(self.path("app.hprof"), own)
        self.assertEqual(of_log, of_dump)
        self.assertGreater(len(of_log), 3)
        locals_ = rows(self.path(), "SELECT count(*) AS n FROM roots r JOIN objects o ON o.id = r.object_id "
                                    "WHERE o.type = 'Pointing$ByLocal'")
        self.assertGreaterEqual(locals_[0]["n"], THREADS * DEPTH)
        # What a dump has not.
        origins = rows(self.path(), "SELECT site, age, space FROM objects WHERE type = 'Pointing$ByLocal' AND site IS NOT NULL")
        self.assertGreaterEqual(len(origins), THREADS * DEPTH)
        self.assertTrue(all(row["age"] >= 1 and row["space"] for row in origins), origins[:3])
        self.assertEqual(rows(self.path("app.hprof"), "SELECT DISTINCT site, age FROM objects"), [{"site": None, "age": None}])
        text = spoor("heap", "sql", self.path(), "SELECT count(*) FROM roots").stdout.splitlines()
        self.assertRegex(text[0], r"^HEAP .*, at the end of GC \d+ \([0-9.]+ m?s\); (\d+) of \1 collections agree with the JVM's pools")
        saved = self.path("saved.sqlite")
        spoor("heap", "sql", "--save", saved, self.path())
        with contextlib.closing(sqlite3.connect(saved)) as db:
            self.assertEqual([list(row.values()) for row in of_log], [list(row) for row in db.execute(own)])
        groups = self.groups(self.path(), "pointed_from", "--where", "type=Pointing$Leaf")
        page = self.page(self.path())
        self.assertIn("collections agree", page["agreement"])
        cells = self.cells(page)
        self.assertEqual(sum(n for of, n in cells if of["type"] == "Pointing$Leaf" and "Pointing$ByLocal.to" in of["pointed_from"]),
                         groups["Pointing$ByLocal.to"])
        dump = self.cells(self.page(self.path("app.hprof")))
        self.assertEqual(self.sums(cells), self.sums(dump))

    @staticmethod
    def sums(cells):
        all_ = {}
        for of, objects in cells:
            if of["type"].startswith("Pointing"):
                key = of["type"], tuple(sorted(of["pointed_from"].split(", "))), tuple(sorted(of["points_to"].split(", ")))
                all_[key] = all_.get(key, 0) + objects
        return all_

    def page(self, name):
        spoor("heap", "page", "--references", "-o", self.path("heap.html"), name)
        with open(self.path("heap.html"), encoding="utf-8") as f:
            data = re.search(r'id="data">\s*([^<]*)<', f.read())[1]
        return json.loads(zlib.decompress(base64.b64decode(data)))

    @staticmethod
    def cells(page):
        """Of each kind its names by aspect, and its objects."""
        return [({a["name"]: a["texts"][a["of_cell"][cell]] for a in page["aspects"]}, objects)
                for cell, objects in zip(page["lives"]["cell"], page["lives"]["objects"])]

    def test_serial(self):
        self.check("-XX:+UseSerialGC")
        self.sql_and_page()
        leaves = self.groups(self.path(), "pointed_from", "--where", "type=Pointing$Leaf")
        self.assertEqual({key: leaves.get(key) for key in ("Pointing$ByLocal.to", "Pointing$ByStatic.to")},
                         {"Pointing$ByLocal.to": THREADS * DEPTH, "Pointing$ByStatic.to": 1})
        self.assertGreaterEqual(leaves["Pointing$Leaf[]"], 2)
        kept = spoor("heap", "keep", "--where", "type=Pointing$ByStatic", self.path()).stdout
        self.assertIn("static Pointing.STATIC", kept)
        kept = spoor("heap", "keep", "--where", "type=Pointing$ByLocal", self.path()).stdout
        self.assertIn("local variable", kept)
        # Beside references a log has what a dump has not.
        sites = json.loads(spoor("heap", "--format", "json", "--by", "site", "--where", "pointed_from=*", self.path()).stdout)
        self.assertTrue(sites["root"]["children"])
        self.assertIn("has no pointers of that moment; it has them of --at gc:",
                      spoor("heap", "keep", "--at", "end", self.path(), expect=1).stderr)

    def test_parallel(self):
        self.check(*PARALLEL)

    def test_g1(self):
        self.check(*G1)

    def test_g1_without_compression(self):
        self.check(*G1, "-XX:-UseCompressedOops")

    def count(self, pointers, collections):
        vm, recorder = self.start(*CALM, pointers=pointers)
        for _ in range(collections):
            vm.ask("collect", DEADLINE_S)
        recorder.stop()
        self.finish(vm)
        found = re.search(r"the pointers of (\d+) collections", recorder.err)
        return int(found[1]) if found else 0

    def test_which_collections(self):
        self.assertEqual(self.count("all", 5), 5)
        self.assertEqual(self.count("2", 5), 2)

    def test_a_recorder_that_stands_still(self):
        """The JVM waits for a second, once; the next recorder has pointers again."""
        vm, recorder = self.start(*CALM, "-XX:+UnlockDiagnosticVMOptions", "-XX:SpoorObjectsRing=1048576")
        recorder.process.send_signal(signal.SIGSTOP)
        for _ in range(12):  # of which a ring of this size cannot hold the pointers
            self.assertEqual(vm.ask("collect", DEADLINE_S), "collected")
        recorder.process.send_signal(signal.SIGCONT)
        recorder.stop()
        self.assertIn("has given them up", recorder.err)
        recorder = self.record(vm, "-f", "--objects=exact", "--objects-pointers=full")
        self.dump(vm)
        recorder.stop()
        self.finish(vm)
        found = json.loads(spoor("heap", "check", "--format", "json", self.path(), self.path("app.hprof")).stdout)
        self.assertEqual((found["differences"], found["graph"]["differences"]), (0, 0))

    def test_words(self):
        for wrong in ("0", "65536", "often", "1x", ""):
            self.assertIn("all, full, triggered, or N", spoor("record", "-p", "1", "--objects", f"--objects-pointers={wrong}",
                                                              expect=2).stderr)
        self.assertIn("is for --objects", spoor("record", "-p", "1", "--objects-pointers=all", expect=2).stderr)
