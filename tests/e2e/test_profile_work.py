"""What samples have beyond chains: locks that were held and waited for, methods that were compiled, phases of collections,
functions of native code and the kernel; each against a witness that is not spoor's."""
import html
import json
import math
import re
import unittest

from jvm import JavaTest, PatchedJavaTest  # first: it says where harness is
from harness import spoor

MS = 10**6


class Locked(JavaTest):
    INFERRED = True

    def test_cpu_time_with_a_lock(self):
        vm = self.java("Hot", "locked", 3, 10)
        recorder = self.record(vm, "-f", "--sample=1ms")
        said = json.loads(vm.ask("go", deadline_s=120))["hot-0"]
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        by_lock = ("--by", "lock", "--thread", "hot-0", "--format", "json")
        found = json.loads(spoor("profile", *by_lock, log.path).stdout)
        plain = json.loads(spoor("profile", "--thread", "hot-0", "--format", "json", log.path).stdout)
        for key in ("sampled_ns", "samples", "run_ns"):
            self.assertEqual(found[key], plain[key])
        self.assertEqual(sum(row["self_ns"] for row in found["rows"]), plain["sampled_ns"])
        outermost = {row["method"]: row["total_ns"] for row in found["rows"] if row["depth"] == 1}
        self.assertEqual(sum(outermost.values()), found["sampled_ns"])
        prefix = "[~lock Hot$Bench" if self.INFERRED else "[lock Hot$Bench"
        with_lock = sum(ns for name, ns in outermost.items() if name.startswith(prefix))
        # main may wait for the monitor of the thread, too, which has that when it ends.
        with_any = with_lock + sum(ns for name, ns in outermost.items() if "lock java.lang.Thread " in name)
        self.assertEqual(with_any, found["lock_ns"], outermost)
        self.assertEqual(found["lock_inferred_ns"], with_any if self.INFERRED else 0)
        wanted = said["contended"] / said["total"]
        share = with_lock / found["sampled_ns"]
        sd = math.sqrt(wanted * (1 - wanted) / found["effective_samples"])
        print(f"with the lock {100 * share:.2f} %, by the thread itself {100 * wanted:.2f} %, sd {100 * sd:.2f}", flush=True)
        self.assertGreater(wanted, 0.2)
        self.assertLess(abs(share - wanted), 3 * sd + 0.004)


class LockedPatched(Locked, PatchedJavaTest):
    INFERRED = False


class Compiling(JavaTest):
    @staticmethod
    def plain(text):
        """Hidden classes are Hot$$Lambda$16/0x0000... and Hot$$Lambda$16+0x0000..."""
        return re.sub(r"[+/]0x[0-9a-f]+", "", text)

    def test_methods_that_are_compiled(self):
        """Each is one that the JVM itself says it compiles; and native functions have names."""
        said = self.path("compilations.log")
        vm = self.java("Hot", "hot", 3, 1, options=["-XX:+UnlockDiagnosticVMOptions", "-XX:+LogVMOutput", "-XX:-DisplayVMOutput",
                                                    f"-XX:LogFile={said}", "-XX:+PrintCompilation"])
        recorder = self.record(vm, "--sample=1ms,symbols")
        vm.ask("go", deadline_s=120)
        log = recorder.stop()
        vm.end()
        with open(said, encoding="utf-8", errors="replace") as f:
            witness = set(re.findall(r"([\w.$/]+::[\w$<>]+)", self.plain(html.unescape(f.read()))))
        threads = {e["thread"] for e in log.raw_of("thread") if re.match("C[12] Compiler", e["name"])}
        samples = [e for e in log.of("run_sample") if e["thread"]["id"] in threads]
        compiled = [e["compiling"] for e in samples if e["compiling"]]
        print(f"{len(samples)} samples of compiler threads, {len(compiled)} with a method", flush=True)
        self.assertGreater(len(compiled), 50)
        self.assertGreater(len(compiled), 0.8 * len(samples))
        # They have no Java frames: a walk would only ask for a rule of each address of the compiler's.
        self.assertEqual({e["result"] for e in samples}, {"no_java_frames"})
        wrong = {self.plain(f"{m['class']}::{m['method']}") for m in compiled} - witness
        self.assertEqual(wrong, set())
        self.check_symbols(log)

    def check_symbols(self, log):
        outside = [e for e in log.of("run_sample") if e["mode"] in ("vm", "kernel", "native")]
        for mode in ("vm", "kernel"):
            names = [e["symbol"] for e in outside if e["mode"] == mode]
            library = {"vm": "(libjvm.so)", "kernel": "(kernel)"}[mode]
            named = [n for n in names if n and n.endswith(library) and not n.startswith("(")]
            print(f"{mode}: {len(named)} of {len(names)} have a name, as {named[:3]}", flush=True)
            self.assertGreater(len(named), 0.95 * len(names) - 1, names)
        self.assertFalse([e for e in log.of("run_sample") if e["mode"] == "java" and e["symbol"]])


class Collecting(JavaTest):
    OUTERMOST = "[VM operation "

    def test_gc_threads_by_what_they_do(self):
        """In pauses; of which the JVM's own log knows how long they take."""
        said = self.path("gc.log")
        vm = self.java("Collect", options=["-Xmx64m", "-XX:+UseG1GC", "-XX:ParallelGCThreads=2", f"-Xlog:gc:{said}"])
        recorder = self.record(vm, "-f", "--sample=1ms")
        vm.ask("go", deadline_s=120)
        log = recorder.stop()
        vm.end()
        with open(said, encoding="utf-8") as f:
            paused_ns = sum(float(ms) for ms in re.findall(r"Pause.* ([\d.]+)ms$", f.read(), re.M)) * MS
        profile = json.loads(spoor("profile", "--thread", "GC Thread#*", "--format", "json", log.path).stdout)
        outermost = {row["method"]: row["total_ns"] for row in profile["rows"] if row["depth"] == 1}
        known = sum(ns for name, ns in outermost.items() if name.startswith(self.OUTERMOST))
        print(f"pauses of {paused_ns / MS:.0f} ms; the workers: {outermost}", flush=True)
        self.assertGreater(profile["samples"], 10)
        # A worker begins a little before a pause, and ends a little after it.
        self.assertGreater(known, 0.9 * profile["sampled_ns"])
        self.assertLess(known, 2 * paused_ns)
        return profile


class CollectingPatched(Collecting, PatchedJavaTest):
    OUTERMOST = "[GC "

    def test_gc_threads_by_what_they_do(self):
        profile = super().test_gc_threads_by_what_they_do()
        names = {row["method"] for row in profile["rows"]}
        self.assertIn("[GC Evacuate Collection Set]", names)


if __name__ == "__main__":
    unittest.main()
