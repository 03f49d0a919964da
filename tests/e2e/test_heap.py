"""spoor heap: dumps of real JVMs against the JVM's own histogram, and against a program that knows its heap."""
import contextlib
import json
import os
import re
import sqlite3
import subprocess
import unittest

from jvm import JavaTest, OtherJavaTest, jdk_tool
from other_jdks import always

from harness import spoor

PRIMITIVES = {"Z": "boolean", "C": "char", "F": "float", "D": "double", "B": "byte", "S": "short", "I": "int", "J": "long"}
# G1 and others count what of the archive of classes (CDS) no class has asked for yet, and fillers of their own.
UNCLEAR = {"java.lang.Class", "jdk.internal.vm.FillerElement[]", "jdk.internal.vm.FillerObject"}
SESSIONS = 20_000
# Which class refers to a session.
SESSIONS_OF = """
classifier{name = "held_in", kind = "many", needs = {"pointed_from"}, f = function(o)
  if o.type ~= "HeapShapes$Session" then return nil end
  local all = {}
  for i, from in ipairs(o:pointed_from()) do all[i] = from.type end
  return all
end}
"""
SESSION_MEMBERS = 4  # the session, its bytes, its entry of the map, its key


def class_name(name):
    dims = len(name) - len(name.lstrip("["))
    base = name[dims:]
    if dims:
        base = PRIMITIVES.get(base) or base[1:-1]
    return base + dims * "[]"


def histogram(text):
    """{class: [objects, bytes]}; classes of several loaders have the same name."""
    found = {}
    for count, size, name in re.findall(r"^ *\d+: +(\d+) +(\d+) +(\S+)", text, re.M):
        both = found.setdefault(class_name(name), [0, 0])
        both[0] += int(count)
        both[1] += int(size)
    return found


class Heap(JavaTest):
    def jcmd(self, vm, *arguments):
        done = subprocess.run([jdk_tool("jcmd", self.home), str(vm.pid), *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def dump(self, vm, name, *options):
        path = self.path(name)
        self.assertIn("Heap dump file created", self.jcmd(vm, "GC.heap_dump", *options, path))
        return path

    def heap(self, *arguments):
        return json.loads(spoor("heap", *arguments, "--format", "json").stdout)

    def check(self, *options):
        vm = self.java("HeapShapes", options=["-Xmx128m", *options])
        before = histogram(self.jcmd(vm, "GC.class_histogram"))
        path = self.dump(vm, "app.hprof")
        after = histogram(self.jcmd(vm, "GC.class_histogram"))
        found = self.heap(path)
        classes = {c["key"]: [c["objects"], c["bytes"]] for c in found["root"]["children"]}
        stable = {name for name in before if before[name] == after.get(name)} - UNCLEAR
        if self.MAJOR < 15:  # their names are not those of the histogram
            stable = {name for name in stable if "$$Lambda" not in name}
        if "jdk.internal.vm.FillerElement[]" in before:
            stable.discard("int[]")  # a dump has these as such
        self.assertGreater(len(stable), 100)
        self.assertGreaterEqual(stable, {f"HeapShapes${name}" for name in ("Base", "Derived")} | {"long[]", "java.lang.Object[]"})
        wrong = {name: (before[name], classes.get(name)) for name in stable if before[name] != classes.get(name)}
        # A single object of a class with fields that no dump shows, which no neighbour limits.
        self.assertLessEqual(sum(abs(b[1] - (c or [0, 0])[1]) for b, c in wrong.values()), 64, wrong)
        self.assertEqual({name for name, (b, c) in wrong.items() if not c or b[0] != c[0]}, set())
        self.assertIsNone(found["state"]["damage"])
        vm.end()
        return path, found

    def test_g1(self):
        path, found = self.check("-XX:+UseG1GC")
        self.assertEqual(found["state"]["sizes"]["reference_bytes"], 4)
        # Also from a pipe, and compressed.
        with open(path, "rb") as f:
            piped = spoor("heap", "--format", "csv", "-", stdin=f).stdout
        self.assertEqual(piped, spoor("heap", "--format", "csv", path).stdout)
        subprocess.run(["gzip", path], check=True)
        self.assertEqual(piped, spoor("heap", "--format", "csv", path + ".gz").stdout)

    def test_serial(self):
        self.check("-XX:+UseSerialGC")

    def test_parallel_without_compression(self):
        _, found = self.check("-XX:+UseParallelGC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers")
        self.assertEqual((found["state"]["sizes"]["reference_bytes"], found["state"]["sizes"]["header_bytes"]), (8, 16))

    def test_wide_alignment(self):
        _, found = self.check("-XX:+UseSerialGC", "-XX:ObjectAlignmentInBytes=16")
        self.assertEqual(found["state"]["sizes"]["alignment"], 16)


class OfCollectors(Heap):
    """Those that do not move all objects together: a distance is no size."""

    def test_z(self):
        self.check("-XX:+UseZGC")

    def test_shenandoah(self):
        self.check("-XX:+UseShenandoahGC")

    test_g1 = test_serial = test_parallel_without_compression = test_wide_alignment = None


class Leak(Heap):
    """The answer is in the first lines, and nothing was known of it before."""

    def test_leak(self):
        vm = self.java("HeapShapes", options=["-Xmx128m"])
        before = self.dump(vm, "before.hprof")
        self.assertEqual(vm.ask(f"leak {SESSIONS}"), "done")
        after = self.dump(vm, "after.hprof")
        keep = spoor("heap", "keep", after).stdout.splitlines()
        self.assertIn(f"{SESSIONS:,}", " ".join(keep[:3]))
        self.assertIn("static HeapShapes.REGISTRY > HeapShapes$Registry.sessions", " ".join(" ".join(keep[:5]).split()))
        diff = self.heap("diff", before, after)
        grown = {g["key"]: g["more_objects"] for g in diff["groups"]}
        self.assertEqual(grown["HeapShapes$Session"], SESSIONS)
        ways = self.heap("keep", "--where", "type=HeapShapes$Session", after)
        self.assertEqual(ways["objects"], SESSIONS)
        self.assertEqual(ways["ways"][0]["step"], "static HeapShapes.REGISTRY")
        self.assertEqual(ways["ways"][0]["objects"], SESSIONS)
        self.assertEqual(ways["freed_objects"], 2 * SESSIONS)  # with their bytes
        retained = self.heap("--retained", "--where", "type=HeapShapes$Session", after)
        self.assertEqual(retained["root"]["children"][0]["retained_bytes"], ways["freed_bytes"])
        mine = self.path("mine.lua")
        with open(mine, "w", encoding="utf-8") as f:
            f.write(SESSIONS_OF)
        held = self.heap("--script", mine, "--by", "held_in", after)["root"]["children"]
        self.assertEqual({g["key"]: g["objects"] for g in held if g["key"] != "(none)"},
                         {"java.util.concurrent.ConcurrentHashMap$Node": SESSIONS})
        self.sql(after, retained["root"]["children"][0])
        map_only = self.heap("keep", "--where", "type=HeapShapes$Registry", after)
        # Small keys are those of Long's own cache, which keeps them.
        self.assertGreaterEqual(map_only["freed_objects"], SESSION_MEMBERS * SESSIONS - 128)
        vm.end()

    def sql(self, dump, sessions):
        """What SQL says is what the other commands say, from the dump and from a saved file."""
        select = ("SELECT count(*), sum(bytes), (SELECT count(*) FROM refs JOIN objects o ON o.id = to_id"
                  " WHERE o.type = 'HeapShapes$Session' AND field LIKE '%Node.val') FROM objects"
                  " WHERE type = 'HeapShapes$Session'")
        rows = spoor("heap", "sql", dump, select, "--format", "csv").stdout.splitlines()
        self.assertEqual(rows[1], f"{SESSIONS},{sessions['bytes']},{SESSIONS}")
        saved = self.path("saved.sqlite")
        spoor("heap", "sql", "--save", saved, dump)
        with contextlib.closing(sqlite3.connect(saved)) as db:
            self.assertEqual(db.execute(select).fetchone(), (SESSIONS, sessions["bytes"], SESSIONS))
            self.assertEqual(db.execute("SELECT instances FROM classes WHERE name = 'HeapShapes$Session'").fetchall(),
                             [(SESSIONS,)])
        self.assertEqual(os.stat(saved).st_mode & 0o777, 0o600)
        again = spoor("heap", "sql", "--save", saved, dump, expect=1)
        self.assertIn("is there already", again.stderr)
        self.assertEqual([n for n in os.listdir(os.path.dirname(saved)) if n.startswith(".spoor-")], [])

    def test_damaged(self):
        vm = self.java("HeapShapes", options=["-Xmx128m"])
        path = self.dump(vm, "app.hprof")
        os.truncate(path, os.path.getsize(path) // 2)
        done = spoor("heap", path, expect=1)
        self.assertRegex(done.stderr, r"damaged at byte \d+: the file ends in the middle of a record")
        self.assertIn("OBJECTS by type", done.stdout)
        vm.end()

    test_g1 = test_serial = test_parallel_without_compression = test_wide_alignment = None


@always("test_g1", "test_parallel_without_compression")
class Jdk11(OtherJavaTest, Heap):
    MAJOR = 11


@always("test_g1", "test_parallel_without_compression")
class Jdk21(OtherJavaTest, Heap):
    MAJOR = 21


class Jdk25(OtherJavaTest, Heap):
    MAJOR = 25

    def test_compact_headers(self):
        _, found = self.check("-XX:+UnlockExperimentalVMOptions", "-XX:+UseCompactObjectHeaders")
        self.assertEqual(found["state"]["sizes"]["header_bytes"], 8)


if __name__ == "__main__":
    unittest.main()
