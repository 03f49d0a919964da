"""An owner that keeps its CPU: nobody sees it at a switch. Its call chain, and that it has the lock, are seen at the kernel's
ticks, or by a clock of the CPUs where these are too rare."""
import os
import unittest
import unittest.mock

from jvm import JavaTest  # first: it says where harness is
from harness import owner_sample, spoor

MS = 10**6
ROUNDS, HOLD_MS, ATTEMPTS = 20, 40, 10


class Keeps(JavaTest):
    OPTIONS = ()
    CLOCK = owner_sample()[0]

    def check(self, *options):
        vm = self.java("Keeps")
        recorder = self.record(vm, *options)
        waited = 0
        for _ in range(ATTEMPTS):
            waited += int(vm.ask(f"go {ROUNDS} {HOLD_MS}", 120))
            if self.looked(recorder):
                break
        log = recorder.stop()
        self.assertEqual(log.header["sources"]["owner_sample"], self.CLOCK)
        groups = log.report("--by", "lock_class,owner_thread,owner_stack")["groups"]
        group = next(g for g in groups if g["key"][0] == "Keeps$Lock")
        self.assertLess(abs(group["blocked_ns"] - waited), waited * 0.05 + log.held_up_ns("main"))
        chains = [e["stack"] for e in log.of("owner_stack") if e["source"] == "sample"]
        self.assertTrue(chains, log.of("owner_stack"))
        for chain in chains:
            self.assertIn("holder", [f["method"] for f in chain["frames"] if f["class"] == "Keeps"])

    @staticmethod
    def looked(recorder):
        """On a busy machine the owner may lose its CPU before anybody looks, and its chain is read then."""
        said = spoor("cat", "-e", "owner_stack", recorder.log_path, expect=None).stdout
        return '"source":"sample"' in said.replace(" ", "")

    def test_by_probes(self):
        self.check("--probes", "usdt")

    def test_by_switches(self):
        self.check("--probes", "none")


@unittest.mock.patch.dict(os.environ, {"SPOOR_NO_TICK_LOOK": "1"})
class KeepsByClock(Keeps):
    CLOCK = "cpu-clock"


if __name__ == "__main__":
    unittest.main()
