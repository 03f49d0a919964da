"""Kernels of other Debian releases, which apt fetches: what doctor says of a recording, record does.

Debian 11's is too old, and both say so. Of the others each makes something else of a probe's nop; the costs are those of
an emulated machine, of which traps can be counted at most."""
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import lab
import suites
import test_lab
from test_lab import text

sys.path.append(os.path.dirname(lab.HERE))

import red_zone  # noqa: E402
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
# Marks, by a library that is loaded now. When one is recorded, what stands at its probe.
printf 'thread\ta\tAlpha\n' >&6
until_lines /tmp/answers 2 60
spoor record -p $pid -o /out/marks.spoor 2>/out/marks.err & recorder=$!
n=0
while kill -0 $recorder 2>/dev/null && [ "$(tail -n 1 /tmp/answers)" != "ok 1" ] && [ $n -lt 200 ]; do
	n=$((n + 1))
	sleep 0.1
	wanted=$(($(lines /tmp/answers) + 1))
	printf 'in\ta\tmark\t/t/late.so\tx\n' >&6
	until_lines /tmp/answers $wanted 60
done
base=$(sed -n 's/-.*late.so$//p' /proc/$pid/maps | head -n 1)
dd if=/proc/$pid/mem of=/out/nops bs=1 skip=$((0x$base + $(cat /t/site))) count=16 2>/out/nops.err
kill -INT $recorder
wait $recorder
echo $? >/out/marks.status
step none spoor record -p $pid -d 300ms --probes none -o /out/none.spoor
step steal spoor steal -d 300ms -q
exec 6>&-
wait $fake
"""
HIT = r"a 1-byte nop \(trap\), \d+ ns at one of 5 bytes \((\w+)\), of 10 bytes: (none can be set|\d+ ns \((\w+)\))"


NOPS = bytes.fromhex("90 0f1f440000 662e0f1f840000000000")


class Kernels(test_lab.LabTest):
    programs = test_lab.Debian.programs

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="spoor-lab-")
        cls.addClassCleanup(folder.cleanup)
        library, site = os.path.join(folder.name, "late.so"), os.path.join(folder.name, "site")
        subprocess.run(["gcc", "-O2", "-D_GNU_SOURCE", "-fPIC", "-shared", "-o", library,
                        os.path.join(lab.ROOT, "tests/bpf/late_marks.c")], check=True)
        with open(site, "w", encoding="ascii") as f:
            f.write(str(next(s.at for s in red_zone.sites(library) if s.name == "spoor_mark:begin")))
        cls.files = {**test_lab.Debian.files, "t/late.so": library, "t/site": site}

    def boot(self, suite):
        """{step: (status, what it has said)}"""
        self.boot_once(lambda packages, archive, deadline_s: lab.boot_linux(
            packages, archive, deadline_s, kernel=suites.Suite(packages, suite).kernel()), RECORD)
        self.show()
        return {name: (text(self.results, f"{name}.status").strip(),
                       text(self.results, name) + text(self.results, f"{name}.err"))
                for name in ("doctor", "record", "marks", "none", "steal")}

    def check_yes(self, suite):
        """(what becomes of a probe at a nop of 5 bytes, and at one of 10)."""
        said = self.boot(suite)
        for name, (status, words) in said.items():
            with self.subTest(name):
                self.assertEqual(status, "0", words)
        # kernel.perf_event_paranoid is 3 there: clocks are for CAP_SYS_ADMIN, which spoor gives up only once it has them.
        self.assertNotIn("perf_event_open() is refused", " ".join(words for _, words in said.values()))
        self.assertIn(f"Linux {text(self.results, 'uname').strip()}", said["doctor"][1])
        hit = re.search(HIT, said["doctor"][1])
        self.assertTrue(hit, said["doctor"][1])
        with tempfile.NamedTemporaryFile(prefix="spoor-lab-") as f:
            f.write(self.results["marks.spoor"])
            f.flush()
            shown = subprocess.run([test_lab.SPOOR, "cat", f.name], capture_output=True, text=True).stdout
        spans = [e for e in map(json.loads, shown.splitlines()) if e["event"] == "span_begin"]
        self.assertEqual(len(spans), 1)
        now = self.results.get("nops", b"")
        print(f"{hit[0]}; a mark's probe: {now.hex(' ')}", flush=True)
        # Of a mark's three nops that is taken which the kernel makes a call of, or the first.
        wanted = 6 if hit[3] == "call" else 1 if hit[1] == "call" else 0
        self.assertEqual([i for i in (0, 1, 6) if now[i:i + 1] != NOPS[i:i + 1]], [wanted])
        return hit[1], hit[3] or "none"

    def test_backports(self):
        """The newest that there is: 7.3 in November 2026."""
        self.assertIn(self.check_yes("trixie-backports"), {("call", "none"), ("trap", "call")})

    @only_in_soak
    def test_13(self):
        self.assertEqual(self.check_yes("trixie"), ("trap", "none"))

    def test_13_locked_down(self):
        """lockdown=confidentiality: from Linux 6.2 on the kernel's memory is read by casts, and nothing is missing."""
        self.boot_once(lambda packages, archive, deadline_s: lab.boot_linux(
            packages, archive, deadline_s, options="lockdown=confidentiality",
            kernel=suites.Suite(packages, "trixie").kernel()), test_lab.LOCKED)
        self.assertIn("[confidentiality]", text(self.results, "lockdown"))
        self.show("confidentiality")
        for name in ("doctor", "unseen", "record", "none", "steal"):
            words = text(self.results, name) + text(self.results, f"{name}.err")
            with self.subTest(name):
                self.assertEqual(text(self.results, f"{name}.status").strip(), "0", words)
                self.assertNotIn("locked down for confidentiality", words)
        for name, log in (("record", "log"), ("none", "none")):
            with self.subTest(name), tempfile.NamedTemporaryFile(prefix="spoor-lab-") as f:
                # Of the fake JVM's code nothing is known, on no kernel.
                warnings = [line for line in text(self.results, f"{name}.err").splitlines()
                            if "warning" in line and "call chains are missing" not in line]
                self.assertEqual(warnings, [])
                f.write(self.results[f"{log}.spoor"])
                f.flush()
                shown = subprocess.run([test_lab.SPOOR, "cat", f.name], capture_output=True, text=True, check=True).stdout
                events = [json.loads(line) for line in shown.splitlines()]
                self.assertEqual([e["text"] for e in events if e["event"] == "note" and "locked down" in e["text"]], [])
                # Its threads, by the names that the kernel has of them, and their sums.
                self.assertIn("fakejvm", {e["name"] for e in events if e["event"] == "thread"})
                self.assertTrue([e for e in events if e["event"] == "thread_sample"])
                self.assertTrue([e for e in events if e["event"] == "cpu_sample"])

    @only_in_soak
    def test_11(self):
        """5.10: spoor steal has another way."""
        for name, (status, words) in self.boot("bullseye").items():
            with self.subTest(name):
                self.assertEqual(status, "0" if name == "steal" else "1", words)
                self.assertIn("has no bpf_loop()", words)


if __name__ == "__main__":
    unittest.main()
