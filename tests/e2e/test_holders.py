"""Who blocks whom, and for how long: against what the program itself has measured."""
import json
import os
import subprocess
import unittest

from jvm import JavaTest  # first: it says where harness is
from harness import wait_until

PCT = 2
ATTEMPTS = 6


class Holders(JavaTest):
    def matrix_of_truth(self, truth):
        matrix = {}
        for b in truth["blocked"]:
            key = (b["lock_class"], b["owner"], b["waiter"])
            count, total = matrix.get(key, (0, 0))
            matrix[key] = (count + 1, total + b["blocked_ns"])
        return matrix

    def matrix_of_report(self, log):
        matrix = {}
        for lock in log.report("--by", "lock_class,owner_thread,waiter_thread")["groups"]:
            for owner in lock["groups"]:
                for waiter in owner["groups"]:
                    matrix[lock["key"][0], owner["key"][0], waiter["key"][0]] = waiter
        return matrix

    def run_quietly(self, ms, rounds, pct, *options, before=(), find_pid=None):
        """A run in which the program's own measure is as exact as what it is compared with: it says itself by how
        much it may be off. Longer holds, if the machine is busy."""
        for attempt in range(ATTEMPTS):
            vm = self.java("Known", ms << attempt, rounds, options=options, before=before)
            recorder = self.record(find_pid(vm) if find_pid else vm, "-f")
            truth = json.loads(vm.ask("go", 120))
            log = recorder.stop()
            noise = max(b["noise_ns"] / b["blocked_ns"] for b in truth["blocked"]) * 100
            if noise < pct or attempt == ATTEMPTS - 1:
                return truth, log
            print(f"holds of {ms << attempt} ms: the program was kept from its CPU for {noise:.1f} % of one",
                  flush=True)
            recorder.close()
            vm.close()

    def check(self, ms, rounds, *options, pct=PCT, **how):
        truth, log = self.run_quietly(ms, rounds, pct, *options, **how)
        wanted, got = self.matrix_of_truth(truth), self.matrix_of_report(log)
        for key, (count, blocked_ns) in wanted.items():
            with self.subTest(lock=key[0], owner=key[1], waiter=key[2]):
                self.assertIn(key, got)
                self.assertEqual(got[key]["count"], count)
                self.assert_near(got[key]["blocked_ns"], blocked_ns, pct, "blocked")
        # Waiters that are let in one after the other may meet for a moment; nothing else may be there.
        others = {k: v["blocked_ns"] for k, v in got.items() if k not in wanted and k[0] in {w[0] for w in wanted}}
        self.assertLess(sum(others.values()), sum(ns for _, ns in wanted.values()) * pct / 100, others)
        return truth, log

    def test_matrix(self):
        truth, log = self.check(150, 2)
        groups = {g["key"][0]: g for g in log.report("--by", "group,lock_class")["groups"]}
        self.assertEqual(set(groups), {"monitor", "juc"})
        self.assertLessEqual({g["key"][0] for g in groups["monitor"]["groups"]}, {"Known$LockA", "Known$LockB"})
        # The object behind the monitor, by its identity hash code.
        hashes = {lock["hash"] for lock in log.locks().values() if lock["identity"] == "hash"}
        self.assertIn(truth["hashB"], hashes)

    def test_what_the_holder_did_meanwhile(self):
        """Known holders: some sleep in the lock, some compute. By the kernel's counts, which the program reads: on a busy machine
        who sleeps waits for a CPU in the end, and who computes is blocked by a safepoint whose end is late."""
        hold_ms = 150
        vm = self.java("Known", hold_ms, 1)
        recorder = self.record(vm)
        truth = json.loads(vm.ask("go", 120))
        log = recorder.stop()
        got = self.matrix_of_report(log)
        for b in truth["blocked"]:
            key = b["lock_class"], b["owner"], b["waiter"]
            with self.subTest(lock=key[0], owner=key[1], waiter=key[2], busy=b["busy"]):
                split, blocked_ns = got[key]["split"], got[key]["blocked_ns"]
                self.assertEqual(sum(ns for ns in split.values() if isinstance(ns, int)), blocked_ns, split)
                self.assertEqual(split["not_split_ns"], 0)
                if not b["busy"]:
                    self.assertGreater(b["owner_blocked_ns"], 0.95 * hold_ms * 10**6, b)
                # The waiter came some time after the owner had the lock.
                before_ns = b["held_ns"] - b["blocked_ns"] + b["noise_ns"]
                self.assertLess(split["blocked_ns"], b["owner_blocked_ns"] + 0.1 * blocked_ns, (split, b))
                self.assertGreater(split["blocked_ns"] + split["stolen_ns"],
                                   b["owner_blocked_ns"] - before_ns - 0.1 * blocked_ns, (split, b))

    def test_serial_without_compression(self):
        self.check(60, 1, "-XX:+UseSerialGC", "-XX:-UseCompressedOops", "-XX:-UseCompressedClassPointers", pct=5)

    def test_parallel_interpreted(self):
        self.check(60, 1, "-XX:+UseParallelGC", "-Xint", pct=5)

    def test_zgc(self):
        self.check(60, 1, "-XX:+UseZGC", "-Xmx256m", pct=5)

    def test_large_heap_shifted(self):
        """Narrow oops with a base, not only a shift."""
        self.check(60, 1, "-XX:HeapBaseMinAddress=40g", "-Xmx512m", "-XX:ObjectAlignmentInBytes=16", pct=5)

    def test_pid_namespace(self):
        before = ["unshare", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc"]
        if subprocess.run([*before, "true"], capture_output=True).returncode:
            self.skipTest("unshare --pid --mount is not allowed here")

        def outer(vm):
            self.assertEqual(vm.own_pid, 1)
            return int(wait_until("the JVM's outer pid", lambda: subprocess.run(
                ["pgrep", "-P", str(vm.pid)], capture_output=True, text=True).stdout).split()[0])

        truth, log = self.check(60, 1, before=before, pct=5, find_pid=outer)
        self.assertEqual(log.header["jvm"]["ns_pid"], 1)
        tids = {int(t) for t in os.listdir(f"/proc/{log.header['jvm']['pid']}/task")}
        for t in log.threads().values():
            if t["name"] in ("alpha", "beta", "gamma", "main"):
                self.assertIn(t["tid"], tids)
                self.assertNotEqual(t["tid"], t["ns_tid"])


if __name__ == "__main__":
    unittest.main()
