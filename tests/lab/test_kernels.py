"""Kernels of other Debian releases, which apt fetches: what doctor says of a recording, record does.

Debian 11's is too old, and both say so. Of the others each makes something else of a probe's nop; the costs are those of
an emulated machine, of which traps can be counted at most."""
import os
import re
import sys
import unittest

import lab
import suites
import test_lab
from test_lab import text

sys.path.append(os.path.dirname(lab.HERE))

from soaking import only_in_soak  # noqa: E402

RECORD = test_lab.COMMON + r"""
uname -r >/out/uname
mkfifo /tmp/commands
/t/fakejvm </tmp/commands >/tmp/answers & fake=$!
exec 6>/tmp/commands
until_lines /tmp/answers 1 30
pid=$(sed -n '1s/ok \([0-9]*\).*/\1/p' /tmp/answers)
step doctor spoor doctor -p $pid
step record spoor record -p $pid -d 300ms -o /out/log.spoor
step none spoor record -p $pid -d 300ms --probes none -o /out/none.spoor
step steal spoor steal -d 300ms -q
exec 6>&-
wait $fake
"""
HIT = r"a 1-byte nop \(trap\), \d+ ns at one of 5 bytes \((\w+)\), of 10 bytes: (none can be set|\d+ ns \((\w+)\))"


class Kernels(test_lab.LabTest):
    programs, files = test_lab.Debian.programs, test_lab.Debian.files

    def boot(self, suite):
        """{step: (status, what it has said)}"""
        self.boot_once(lambda packages, archive, deadline_s: lab.boot_linux(
            packages, archive, deadline_s, kernel=suites.Suite(packages, suite).kernel()), RECORD)
        return {name: (text(self.results, f"{name}.status").strip(),
                       text(self.results, name) + text(self.results, f"{name}.err"))
                for name in ("doctor", "record", "none", "steal")}

    def check_yes(self, suite):
        """(what becomes of a probe at a nop of 5 bytes, and at one of 10)."""
        said = self.boot(suite)
        for name, (status, words) in said.items():
            with self.subTest(name):
                self.assertEqual(status, "0", words)
        self.assertIn(f"Linux {text(self.results, 'uname').strip()}", said["doctor"][1])
        hit = re.search(HIT, said["doctor"][1])
        self.assertTrue(hit, said["doctor"][1])
        print(hit[0], flush=True)
        return hit[1], hit[3] or "none"

    def test_backports(self):
        """The newest that there is: 7.3 in November 2026."""
        self.assertIn(self.check_yes("trixie-backports"), {("call", "none"), ("trap", "call")})

    @only_in_soak
    def test_13(self):
        self.assertEqual(self.check_yes("trixie"), ("trap", "none"))

    @only_in_soak
    def test_11(self):
        """5.10: spoor steal has another way."""
        for name, (status, words) in self.boot("bullseye").items():
            with self.subTest(name):
                self.assertEqual(status, "0" if name == "steal" else "1", words)
                self.assertIn("has no bpf_loop()", words)


if __name__ == "__main__":
    unittest.main()
