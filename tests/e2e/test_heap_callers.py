"""--classpath of spoor heap: callers that are inferred from the code, beside the stack traces of the program itself."""
import json
import os
import shutil

from jvm import ObjectsJavaTest, java_classes

from harness import spoor

SWITCH = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+SpoorTraceObjects", "-XX:SpoorObjectsMode=1"]
DEADLINE_S = 300
# By the class of the objects: all callers up to main are the only ones.
UNIQUE = {"Deep": 5, "Twice": 4, "Part": 5, "Small": 5}
AMBIGUOUS = ("Shared", "OfBase", "OfBelow", "InLambda", "ByHandle", "InThread", "Reflected", "Recursive", "Compared")
INFERRED = " (inferred)"


class HeapCallersTest(ObjectsJavaTest):
    def run_it(self, *options):
        """The program's own traces, by class: lists of methods."""
        vm = self.java("Callers", options=["-Xmx64m", "-XX:+UseSerialGC", *SWITCH, *options])
        recorder = self.record(vm, "--objects")
        vm.process.stdin.write("go\n")
        vm.process.stdin.flush()
        traces = {}
        while (line := vm.line(DEADLINE_S)) != "done":
            _, name, trace = line.split(" ", 2)
            traces.setdefault(name, []).append(trace.split(" < "))
        vm.process.stdin.write("\n")
        vm.process.stdin.flush()
        self.assertEqual(vm.process.wait(DEADLINE_S), 0)
        self.assertEqual(recorder.wait(DEADLINE_S), 0)
        return traces

    @classmethod
    def chains(cls, rows, above=()):
        """All chains of callers, innermost first, as (method, inferred)."""
        for row in rows:
            inferred = row["key"].endswith(INFERRED)
            chain = (*above, (row["key"].removesuffix(INFERRED).rsplit(":", 1)[0], inferred))
            if row.get("children"):
                yield from cls.chains(row["children"], chain)
            else:
                yield chain

    def ask(self, *options):
        # Whether collections agree with the JVM's pools, and with that the exit status, is test_heap_check's subject.
        done = spoor("heap", "life", "--by", "type,chain", "--from", "begin", "--to", "end", "--format", "json", *options,
                     self.path(), expect=None)
        found = json.loads(done.stdout)
        if done.returncode:
            print(found["state"]["collections"], done.stderr)
        return {row["key"]: list(self.chains(row["children"])) for row in found["groups"]}, found

    def check(self, *options):
        traces = self.run_it(*options)
        code = shutil.copytree(java_classes("programs/Callers.java"), self.path("code"))
        groups, found = self.ask("--classpath", code)
        plain, _ = self.ask()
        extended = {}
        for name, known in traces.items():
            self.assertIn(name, groups)
            for chain in groups[name]:
                methods = [method for method, _ in chain]
                recorded = [method for method, inferred in chain if not inferred]
                self.assertEqual(methods[:len(recorded)], recorded)  # who was seen comes first
                fitting = [trace for trace in known if trace[:len(recorded)] == recorded]
                self.assertTrue(fitting, (name, chain, known))
                for trace in fitting:  # what is inferred is so each time
                    self.assertEqual(methods, trace[:len(methods)], name)
                extended[name] = max(extended.get(name, 0), len(methods) - len(recorded))
            self.assertEqual(sorted([method for method, inferred in chain if not inferred] for chain in groups[name]),
                             sorted([method for method, _ in chain] for chain in plain[name]))
        for name in AMBIGUOUS:
            if "-Xint" in options:
                self.assertEqual(extended["Callers$" + name], 0, groups["Callers$" + name])
        for name, depth in UNIQUE.items():
            self.assertEqual({len(chain) for chain in groups["Callers$" + name]}, {depth}, groups["Callers$" + name])
        self.assertFalse(any(INFERRED in chain for chains in plain.values() for frames in chains for chain, _ in frames))
        self.assertIn("are the only ones in", json.dumps(found["not_known"]))
        return code

    def test_interpreter(self):
        code = self.check("-Xint")
        rows = spoor("heap", "churn", "--by", "chain", "--format", "csv", "--classpath", code, self.path()).stdout
        self.assertRegex(rows, r"Callers.deep:0 < \(inferred\) Callers.middle:0 < Callers.outer:0 < Callers.round:0 < Callers.main")
        text = spoor("heap", "life", "--by", "type,callers", "--top", "1000", "--classpath", code, self.path()).stdout
        self.assertRegex(text, r"(?s)\n +Callers.main:\d+ \(inferred\).*Callers.outer:0 \(inferred\).*Callers.deep:0 ")
        # A class of the log is in no class file: it may call what is not private.
        os.remove(os.path.join(code, "Callers$Made.class"))
        done = spoor("heap", "life", "--by", "type,chain", "--from", "begin", "--to", "end", "--format", "json", "--classpath",
                     code, self.path())
        self.assertIn("--classpath lacks 1 classes of the log, such as Callers$Made", done.stderr)
        groups = {row["key"]: list(self.chains(row["children"])) for row in json.loads(done.stdout)["groups"]}
        self.assertEqual([len(chain) for chain in groups["Callers$Deep"]], [1])
        with open(os.path.join(code, "Callers.class"), "r+b") as f:
            f.truncate(1000)
        self.assertIn("is damaged", spoor("heap", "life", "--classpath", code, self.path(), expect=1).stderr)
        os.makedirs(self.path("none"))
        self.assertIn("no class file is in",
                      spoor("heap", "life", "--classpath", self.path("none"), self.path(), expect=1).stderr)

    def test_compiled(self):
        self.check("-XX:TieredStopAtLevel=1")
