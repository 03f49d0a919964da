"""The whole program with one allocation, or system call, that fails: the files that need libbpf are in no unit test.
Here a sample of them; tests/soak/fail_each.py goes through all."""
import os
import subprocess
import sys
import unittest

import failing
from harness import ROOT, STOCK_PROBES, FakeTest, wait_until

SAMPLE = int(os.environ.get("SPOOR_FAIL_SAMPLE", "20"))
GOLDEN = os.path.join(ROOT, "tests/golden")


class NthFails(FakeTest):
    def each(self, arguments, done=None, **how):
        f = failing.Failing(self.tmp, arguments, done, **how)
        counts = f.counts()
        faults = [f.fault(kind, n) for kind in failing.KINDS for n in failing.spread(counts[kind], SAMPLE)]
        self.assertEqual([x for x in faults if x], [], f"of {counts}")
        return f

    def test_record(self):
        fake, before = self.start(), failing.orphans()
        self.each(["record", *STOCK_PROBES, "-q", "-f", "-o", self.path(), "-d", "100ms", "-p", fake.pid],
                  lambda _: "the flag is on" if fake.flag() else None)
        left = failing.orphans() - before  # of other tests, too: those go meanwhile
        wait_until("no program is left", lambda: not left & failing.orphans())

    def test_doctor(self):
        self.each(["doctor", "-p", self.start().pid])

    def test_steal(self):
        self.each(["steal", "-d", "100ms", "-i", "50ms", "--method", "exact"])

    def test_readers(self):
        """Each of a golden log that has something for it."""
        for golden, *arguments in (("report-chains", "report"), ("time-threads-json", "time"), ("spans-json", "spans"),
                                   ("gc-serial", "gc", "--pauses"), ("report-json", "verify"),
                                   ("report-chains", "cat", "-r"), ("export-chrome", "export", "--to", "chrome"),
                                   ("export-both", "export", "--to", "collapsed"),
                                   ("time-threads-json", "export", "--to", "csv", "-e", "thread_sample")):
            with self.subTest(command=arguments):
                log = self.path(golden + ".spoor")
                subprocess.run([sys.executable, "-B", f"{GOLDEN}/mklog.py", f"{GOLDEN}/{golden}/log.jsonl", log],
                               check=True)
                self.assertGreater(len(self.each([*arguments, log], steady=True).said), 250)

    def test_without_memory_nothing_is_left_out_in_silence(self):
        log = self.path()
        subprocess.run([sys.executable, "-B", f"{GOLDEN}/mklog.py", f"{GOLDEN}/verify-json/log.jsonl", log], check=True)
        for arguments in (["verify", "-f", "json"], ["verify", "-q", "-f", "json"]):
            with self.subTest(command=arguments):
                self.assertEqual(list(failing.Failing(self.tmp, [*arguments, log]).silent_faults()), [])

    def test_without_memory_no_json_lacks_anything(self):
        log = self.path()
        subprocess.run([sys.executable, "-B", f"{GOLDEN}/mklog.py", f"{GOLDEN}/report-json/log.jsonl", log], check=True)
        samples = f"{GOLDEN}/steal-json/samples"
        for arguments in (["report", "-f", "json", log], ["time", "-f", "json", log], ["spans", "-f", "json", log],
                          ["gc", "-p", "-f", "json", log],
                          ["steal", "-f", "json", "--method", "both", "--input", samples]):
            with self.subTest(command=arguments):
                self.assertEqual(list(failing.Failing(self.tmp, arguments).silent_faults(80)), [])

    def test_without_memory_no_anonymized_log_is_left(self):
        log, out, key = self.path(), os.path.join(self.tmp, "out.spoor"), os.path.join(self.tmp, "key")
        subprocess.run([sys.executable, "-B", f"{GOLDEN}/mklog.py", f"{GOLDEN}/verify-json/log.jsonl", log], check=True)
        with open(key, "wb") as f:
            f.write(b"0123456789abcdef")

        def left(status):
            there = os.path.exists(out)
            if there:
                os.unlink(out)
            return f"status {status}, and a file" if there == bool(status) else None
        f = failing.Failing(self.tmp, ["export", "--anonymize", "--key", key, "-o", out, log], left)
        self.assertEqual(list(f.silent_faults()), [])


if __name__ == "__main__":
    unittest.main()
