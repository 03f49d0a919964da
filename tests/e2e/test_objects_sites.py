"""Places that allocate: more of them than an array's event has bits for, and code that is replaced while it is recorded."""
import collections
import json
import subprocess
import unittest
import zipfile

from jvm import ObjectsJavaTest, jdk_tool, wait_for_libjvm

from harness import spoor
from soaking import only_in_soak, slow
from test_objects_record import DEADLINE_S, NONE, SWITCH

ARRAY_SITES = 1 << 20  # jvm-hooks/objects.h: 20 bits
ROOM = "-XX:SpoorObjectsRing=96m"  # half as much again is for names, of which a site takes 24 bytes or more
ROUNDS = 60_000
# By method and class: how many of them a round makes.
PLACES = {("ManySites.few", "short[]"): 1, ("ManySites.any", "int[]"): 1, ("ManySites.large", "char[]"): 1,
          ("ManySites.references", "java.lang.Thread[]"): 1, ("ManySites.grid", "double[][]"): 1,
          ("ManySites.grid", "double[]"): 3, ("java.util.Arrays.copyOf", "long[]"): 1}
THREADS, REDEFINITIONS = 2, 120
LEFT, RIGHT = "Redefined$Left", "Redefined$Right"
MADE, NUMBERS = "Redefined$Former.made", "Redefined$Former.numbers"


class SitesTest(ObjectsJavaTest):
    def run_it(self, program, *arguments, options=()):
        """What the program has said, and the rows by site."""
        vm = subprocess.Popen([jdk_tool("java", self.home), "-Xmx160m", *SWITCH, "-XX:SpoorObjectsMode=3", *options,
                               "-cp", self.classes, program, *map(str, arguments)],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(vm.communicate)
        self.addCleanup(vm.kill)
        recorder = self.record(wait_for_libjvm(vm), "--objects")
        said, _ = vm.communicate("\n", timeout=DEADLINE_S)
        self.assertEqual((vm.returncode, recorder.wait(DEADLINE_S)), (0, 0))
        found = json.loads(spoor("objects", "--by", "site", "--format", "json", self.path()).stdout)
        self.assertEqual({name: found[name] for name in NONE}, dict.fromkeys(NONE, 0))
        self.assertGreater(found["checked"], 100)
        return said.splitlines()[-1], found["rows"]

    @staticmethod
    def by_method(rows):
        """{(method, class): objects}"""
        ret = collections.Counter()
        for row in rows:
            ret[row["site"].rsplit(":", 1)[0], row["name"]] += row["objects"]
        return ret


@slow
class ManySites(SitesTest):
    """No site is less known for the million that were met before."""

    def check(self, *options):
        said, rows = self.run_it("ManySites", ARRAY_SITES + 1, ROUNDS, options=[ROOM, *options])
        made = [row for row in rows if row["site"].startswith("Made.m")]
        self.assertEqual(sum(row["objects"] for row in made), int(said))
        self.assertEqual({(row["name"], row["objects"]) for row in made}, {("byte[]", 1)})
        found = self.by_method(rows)
        self.assertEqual({key: found[key] for key in PLACES}, {key: ROUNDS * times for key, times in PLACES.items()})

    def test_tiered(self):
        self.check()

    @only_in_soak
    def test_interpreted(self):
        self.check("-Xint")

    @only_in_soak
    def test_c1(self):
        self.check("-XX:TieredStopAtLevel=1")

    @only_in_soak
    def test_c2(self):
        self.check("-XX:-TieredCompilation", "-XX:+UseSerialGC")


class Redefinitions(SitesTest):
    """What a method has allocated is that method's, whatever its code was then, and however often it was replaced."""

    def check(self, *options):
        agent = self.path("agent.jar")
        with zipfile.ZipFile(agent, "w") as jar:
            jar.writestr("META-INF/MANIFEST.MF", "Premain-Class: Redefined\nCan-Redefine-Classes: true\n")
        said, rows = self.run_it("Redefined", THREADS, REDEFINITIONS, options=[f"-javaagent:{agent}", *options])
        left, right, numbers = map(int, said.split())
        self.assertGreater(min(left, right, numbers), 1000)
        found = self.by_method(rows)
        made = {key: count for key, count in found.items() if key[1] in (LEFT, RIGHT)}
        self.assertEqual(made, {(MADE, LEFT): left, (MADE, RIGHT): right})
        # One in each call, and another one in each that meets the other code.
        self.assertGreater(found[NUMBERS, "int[]"], numbers)
        self.assertLess(found[NUMBERS, "int[]"], 2 * numbers)

    @only_in_soak
    def test_serial(self):
        self.check("-XX:+UseSerialGC")

    def test_g1(self):
        self.check("-XX:+UseG1GC", "-XX:ParallelGCThreads=4")

    @only_in_soak
    def test_interpreted(self):
        self.check("-Xint", "-XX:+UseParallelGC")


if __name__ == "__main__":
    unittest.main()
