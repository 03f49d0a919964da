"""spoor record --fragments: chains that are found in a copy of the stack are those that the walk in BPF has found, and
take their place where it has found none."""
import unittest

from jvm import JavaTest  # first: it says where harness is
from harness import spoor
from samples import Samples

SIZES = [4096, 8192, 16384, 32768, 65536]
WHOLE = ("equal", "different", "fallback")
DECODED = (*WHOLE, "incomplete", "failed", "both_failed")


def number(row, results):
    return sum(row.get(result, 0) for result in results)


class Fragments(JavaTest):
    def run_hot(self, arguments, *options, java=()):
        vm = self.java("Hot", *arguments, options=java)
        recorder = self.record(vm, *options)
        vm.ask("go", deadline_s=120)
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        table = {}
        for e in log.raw_of("fragment_stats"):
            table.setdefault(e["bytes"], {})[e["result"]] = e["count"]
        self.check_table(table)
        thread, = (e["thread"] for e in log.raw_of("thread") if e["name"] == "hot-0")
        samples = Samples(log, thread)
        by_fragment = [e for e in log.raw_of("run_sample") if e["via"] == "fragment"]
        self.assertEqual({e["result"] for e in by_fragment} - {"complete", "cut"}, set())
        self.assertEqual(len(by_fragment), table[max(table)].get("fallback", 0))
        return table, samples

    def check_table(self, table):
        """Of each size the same fragments; a larger one does no worse."""
        whole = 0
        for size, row in sorted(table.items()):
            decoded = number(row, DECODED)
            print(f"{size // 1024} KB: {100 * number(row, WHOLE) / decoded:.2f} % of {decoded} whole: {row}")
            self.assertEqual(row.get("different", 0), 0)
            self.assertEqual(sum(row.values()), sum(table[SIZES[0]].values()))
            self.assertGreaterEqual(number(row, WHOLE), whole)
            whole = number(row, WHOLE)

    def test_the_same_chains(self):
        table, samples = self.run_hot(("hot", 3, 2), "--sample=1ms", "--fragments=64K")
        self.assertEqual(sorted(table), SIZES)
        self.assertGreater(table[65536]["equal"], 500)
        self.assertGreater(number(table[65536], WHOLE), 0.95 * number(table[65536], DECODED))
        self.assertGreater(samples.results["complete"], 200)

    def test_a_deep_stack(self):
        """400 interpreted frames are some 40 KB. A thread with such a stack is soon walked no more in BPF (too_often),
        and its samples have the chains that their fragments give."""
        table, samples = self.run_hot(("deep", 2, 400), "--sample=200us", "--fragments=64K", java=["-Xint"])
        self.assertGreater(table[4096]["incomplete"], 100)
        self.assertLess(number(table[16384], WHOLE), 0.1 * number(table[16384], DECODED))
        self.assertGreater(number(table[65536], WHOLE), 0.95 * number(table[65536], DECODED))
        self.assertGreater(table[65536]["equal"], 50)
        self.assertGreater(table[65536]["fallback"], 50)
        depths = [len(chain) for _, chain, e in samples.list if e["via"] == "fragment"]
        print(f"{len(depths)} chains of {min(depths)} to {max(depths)} frames by their fragments")
        self.assertGreater(sum(depth > 400 for depth in depths), 0.95 * len(depths))
        for _, chain, e in samples.list:
            if e["via"] == "fragment":
                self.assertNotIn(("", "broken"), chain)

    def test_usage(self):
        for words, said in ((["--fragments"], "--fragments is for --sample"),
                            (["--fragments", "--sample", "--no-stacks"], "without --no-stacks"),
                            (["--fragments=5K", "--sample"], "4K, 8K, 16K, 32K or 64K"),
                            (["--fragments=128K", "--sample"], "4K, 8K, 16K, 32K or 64K"),
                            (["--fragments=", "--sample"], "4K, 8K, 16K, 32K or 64K")):
            self.assertIn(said, spoor("record", "-p", "1", *words, expect=2).stderr)

    def test_the_default_size(self):
        table, _ = self.run_hot(("hot", 1, 1), "--sample=1ms", "--fragments")
        self.assertEqual(sorted(table), SIZES[:4])
        self.assertGreater(table[32768]["equal"], 100)


if __name__ == "__main__":
    unittest.main()
