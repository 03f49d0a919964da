"""spoor heap check: the heap that object events make is the heap that the JVM dumps, object by object, both ways."""
import glob
import json
import os
import subprocess
import zipfile

from jvm import ObjectsJavaTest, jdk_tool, native_library

from harness import spoor
from soaking import only_in_soak, slow

SWITCH = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+SpoorTraceObjects", "-XX:SpoorObjectsMode=1"]
DIFFERENCES = ("other_class", "other_length", "only_log", "only_dump")
DEADLINE_S = 300
PLAIN = "-XX:-UseCompressedOops"
# What moves objects in other ways, or gives memory out in others.
TORTURE = (
    ("-XX:+UseSerialGC", "-XX:MarkSweepAlwaysCompactCount=1", "-XX:MarkSweepDeadRatio=0", "-XX:-ResizeTLAB"),
    ("-XX:+UseSerialGC", "-XX:MarkSweepAlwaysCompactCount=4", "-XX:MarkSweepDeadRatio=50", "-XX:MaxTenuringThreshold=0"),
    ("-XX:+UseSerialGC", "-XX:ReservedCodeCacheSize=4m", "-XX:InitialCodeCacheSize=2m"),
    ("-XX:+UseParallelGC", "-XX:ParallelGCThreads=1", "-XX:MarkSweepDeadRatio=0"),
    ("-XX:+UseParallelGC", "-XX:ParallelGCThreads=8", "-XX:MarkSweepAlwaysCompactCount=1", "-XX:TLABSize=4k"),
    ("-XX:+UseParallelGC", "-XX:-UseAdaptiveSizePolicy", "-XX:SurvivorRatio=30", "-XX:+UseNUMA"),
    ("-XX:+UseG1GC", "-XX:G1HeapRegionSize=1m", "-XX:ParallelGCThreads=8", "-XX:MaxGCPauseMillis=1"),
    ("-XX:+UseG1GC", "-XX:G1HeapRegionSize=32m", "-XX:ParallelGCThreads=1"),
    ("-XX:+UseG1GC", "-XX:+ExplicitGCInvokesConcurrent", "-XX:InitiatingHeapOccupancyPercent=0"),
    ("-XX:+UseG1GC", "-XX:+UseStringDeduplication", "-XX:+UseBiasedLocking", "-XX:MinHeapFreeRatio=1", "-XX:MaxHeapFreeRatio=2"),
)


class HeapCheckTest(ObjectsJavaTest):
    PROGRAM = "LiveSet"
    LEAST = 100_000  # objects that are compared

    def run_it(self, *options):
        """A log, and a dump of a moment in it."""
        vm = self.java(self.PROGRAM, options=["-Xmx256m", *SWITCH, *options])
        recorder = self.record(vm, "--objects")
        vm.process.stdin.write("go\n")
        vm.process.stdin.flush()
        self.assertEqual(vm.line(DEADLINE_S), "done")
        done = subprocess.run([jdk_tool("jcmd", self.home), str(vm.pid), "GC.heap_dump", self.path("app.hprof")],
                              capture_output=True, text=True, timeout=DEADLINE_S)
        self.assertIn("Heap dump file created", done.stdout + done.stderr)
        vm.process.stdin.write("\n")
        vm.process.stdin.flush()
        self.assertEqual(vm.process.wait(DEADLINE_S), 0)
        self.assertEqual(recorder.wait(DEADLINE_S), 0)
        return vm

    def compare(self, *options, expect=0):
        return json.loads(spoor("heap", "check", "--format", "json", *options, self.path(), self.path("app.hprof"),
                                expect=expect).stdout)

    @staticmethod
    def types(*arguments):
        found = json.loads(spoor("heap", "--format", "json", "--by", "type", *arguments).stdout)
        # Dumps have fewer of java.lang.Class, and fillers.
        return {row["key"].replace("+0x", "/0x"): (row["objects"], row["bytes"]) for row in found["root"]["children"]
                if row["key"] not in ("java.lang.Class", "int[]", "java.lang.Object")}

    def check(self, *options):
        self.vm = self.run_it(*options)
        found = self.compare()
        self.assertEqual({kind: found[kind] for kind in DIFFERENCES}, dict.fromkeys(DIFFERENCES, 0), found["examples"][:20])
        self.assertEqual((found["differences"], found["examples"], found["moment"]), (0, [], "gc_end"))
        self.assertGreater(found["equal"], self.LEAST)
        self.assertEqual(found["log_objects"], found["equal"] + found["class_object"])
        self.assertEqual(found["dump_objects"], found["equal"] + found["filler"] + found["archived"])
        self.check_pools("-XX:+UseSerialGC" in options)
        return found

    def check_pools(self, exact):
        """Each collection, beside what the JVM's own pools held at its end."""
        found = json.loads(spoor("heap", "check", "--format", "json", self.path()).stdout)
        compared = [row for row in found["rows"] if row["verdict"] != "no_figures"]
        self.assertEqual((found["differs"], found["not_followed"]), (0, 0), compared)
        self.assertGreater(found["agrees"], 1)
        # Only the pauses of G1's concurrent cycle have no figures.
        self.assertEqual([row["collector"] for row in found["rows"] if row["verdict"] == "no_figures"],
                         ["G1Old"] * found["no_figures"])
        self.assertTrue(all(row["object_bytes"] for row in compared))
        if exact:
            self.assertEqual((found["exact"], found["most_more_bytes"]), (found["agrees"], 0))
        text = spoor("heap", "check", self.path()).stdout
        self.assertIn(f"{found['agrees']} of {found['agrees']} collections agree", text)

    def test_serial(self):
        found = self.check("-XX:+UseSerialGC")
        self.assertEqual(found["archived"], 0)
        self.assertIn("No difference: ", spoor("heap", "check", self.path(), self.path("app.hprof")).stdout)
        # As a tree, a log's heap is the dump's, type by type, with sizes that the dump's layout infers.
        self.assertEqual(self.types("--at", "dump", self.path()), self.types(self.path("app.hprof")))
        kept = json.loads(spoor("heap", "--format", "json", "--by", "site,age", "--at", "dump", self.path()).stdout)
        sites = {row["key"].split(":")[0]: row for row in kept["root"]["children"]}
        self.assertIn("LiveSet.work", sites)
        # Those of the last round have allocated what is kept, and no object is of nobody.
        by = {what: json.loads(spoor("heap", "--format", "json", "--by", what, "--at", "dump", self.path()).stdout)["root"]
              for what in ("thread", "space", "chain")}
        threads = {row["key"]: row["objects"] for row in by["thread"]["children"]}
        self.assertGreaterEqual(sum(count > 1000 for name, count in threads.items() if name.startswith("Thread-")), 3,
                                threads)
        # The dump has asked for a full collection: all is old, but for what did not fit.
        spaces = {row["key"]: row["objects"] for row in by["space"]["children"]}
        self.assertLessEqual(set(spaces), {"old", "survivors"})
        self.assertGreater(spaces["old"], 100_000)
        for root in by.values():
            self.assertEqual(sum(row["objects"] for row in root["children"]), root["objects"])
        self.assertTrue(all(row["children"] for row in sites.values()))
        self.assertIn("has no pointers, which that needs", spoor("heap", "keep", self.path(), expect=1).stderr)
        # By its number it is the same moment; another one is not.
        self.assertEqual(self.compare("--at", f"gc:{found['gc']}"), found)
        earlier = self.compare("--at", f"before:{found['gc']}", expect=1)
        self.assertGreater(earlier["differences"], 0)
        self.assertEqual(earlier["moment"], "gc_begin")
        self.assertEqual(len(earlier["examples"]), min(1000, earlier["differences"]))
        text = spoor("heap", "check", "--at", f"before:{found['gc']}", self.path(), self.path("app.hprof"), expect=1).stdout
        self.assertIn("more differences", text)
        self.assertIn("has no collection 9999999",
                      spoor("heap", "check", "--at", "gc:9999999", self.path(), self.path("app.hprof"), expect=1).stderr)

    def test_serial_without_compression(self):
        self.check("-XX:+UseSerialGC", PLAIN)

    def test_parallel(self):
        self.check("-XX:+UseParallelGC", "-XX:ParallelGCThreads=4")

    @only_in_soak
    def test_parallel_without_compression(self):
        self.check("-XX:+UseParallelGC", "-XX:ParallelGCThreads=4", PLAIN)

    def test_g1(self):
        self.assertGreater(self.check("-XX:+UseG1GC", "-XX:ParallelGCThreads=4")["archived"], 0)

    def test_g1_without_an_archive(self):
        found = self.check("-XX:+UseG1GC", "-XX:ParallelGCThreads=4", "-Xshare:off")
        self.assertEqual(found["archived"], 0)

    def test_g1_without_compression(self):
        self.check("-XX:+UseG1GC", "-XX:ParallelGCThreads=4", PLAIN)

    def test_wide_alignment(self):
        self.check("-XX:+UseSerialGC", "-XX:ObjectAlignmentInBytes=32")

    def test_beside_an_agent_that_is_told_of_each_object(self):
        """The agent and spoor, each told by the JVM in its own way, count the same."""
        self.check("-XX:+UseG1GC", "-XX:ParallelGCThreads=4", f"-agentpath:{native_library('sampler')}=LiveSet$Node")
        line = self.vm.line(DEADLINE_S)
        self.assertRegex(line, r"^sampled \d+ of \d+$")
        sampled = int(line.split()[1])
        found = json.loads(spoor("objects", "--where", "class=LiveSet$Node", "--format", "json", self.path()).stdout)
        self.assertGreater(sampled, 100_000)
        self.assertEqual([(row["name"], row["objects"]) for row in found["rows"]], [("LiveSet$Node", sampled)])

    @only_in_soak
    def test_a_dynamic_archive(self):
        """Its classes are of a jar: folders cannot be archived."""
        archive, jar = self.path("app.jsa"), self.path("app.jar")
        with zipfile.ZipFile(jar, "w") as out:
            for path in glob.glob(os.path.join(self.classes, "LiveSet*.class")):
                out.write(path, os.path.basename(path))
        self.classes = jar
        vm = self.java(self.PROGRAM, options=["-Xmx256m", f"-XX:ArchiveClassesAtExit={archive}"])
        self.assertEqual(vm.ask("go", DEADLINE_S), "done")
        vm.say()
        self.assertEqual(vm.end(), 0)
        self.check("-XX:+UseG1GC", "-XX:ParallelGCThreads=4", "-Xshare:on", f"-XX:SharedArchiveFile={archive}")

    @only_in_soak
    def test_what_moves_objects_otherwise(self):
        for options in TORTURE:
            with self.subTest(options=options):
                self.check(*options)
            for name in os.listdir(self.tmp):
                if name.endswith((".spoor", ".hprof")):
                    os.unlink(os.path.join(self.tmp, name))

    def test_words(self):
        self.assertIn("which LOG, and, if there is one, which DUMP", spoor("heap", "check", expect=2).stderr)
        self.assertIn("it has no --at", spoor("heap", "check", "--at", "end", "a", expect=2).stderr)
        self.assertIn("--at is dump, begin", spoor("heap", "check", "--at", "gc:", "a", "b", expect=2).stderr)


class TorturedTest(ObjectsJavaTest):
    """What is rare when objects are allocated: see Tortured.java."""
    PROGRAM = "Tortured"
    LEAST = 50_000
    run_it, compare, check = HeapCheckTest.run_it, HeapCheckTest.compare, HeapCheckTest.check

    def check_pools(self, exact):
        """Where the heap is nearly full, objects die at the end of Serial's old generation, of which there are no gaps."""
        HeapCheckTest.check_pools(self, False)


@slow
class Tortured(TorturedTest):
    def test_g1(self):
        self.check("-XX:+UseG1GC", "-XX:ParallelGCThreads=4", "-XX:G1HeapRegionSize=1m")

    @only_in_soak
    def test_g1_with_much_else(self):
        self.check("-XX:+UseG1GC", "-XX:ParallelGCThreads=8", "-XX:+UseStringDeduplication", "-XX:+ExplicitGCInvokesConcurrent",
                   "-XX:+UseLargePages", "-XX:ReservedCodeCacheSize=8m", "-XX:InitialCodeCacheSize=3m")


@only_in_soak
class TorturedObjects(TorturedTest):
    def test_serial(self):
        self.check("-XX:+UseSerialGC")

    def test_parallel(self):
        self.check("-XX:+UseParallelGC", "-XX:ParallelGCThreads=4")
