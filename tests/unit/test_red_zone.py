"""The checker tests/red_zone.py, on functions with probes of which is known what they keep below the stack pointer."""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import red_zone  # noqa: E402

SOURCE = r"""
#include <sys/sdt.h>
long called(long n);
long keeps(const long *p, long n)
{
	volatile long kept = n;
	STAP_PROBE2(t, keeps, p, n);
	return kept + *p;
}
long argument(long n)
{
	volatile long local[2] = {n, 1};
	STAP_PROBE1(t, argument, local[0]);
	return n;
}
long array(long n)
{
	volatile char text[40];
	for (int i = 0; i < n; i++)
		text[i] = i;
	STAP_PROBE(t, array);
	return text[n / 2];
}
long one_way(long n, long m)
{
	volatile long kept = n;
	if (m) {
		kept = m;
		STAP_PROBE(t, overwritten);
		kept = n + m;
	} else {
		STAP_PROBE(t, one_way);
	}
	return kept;
}
long before(long n)
{
	volatile long kept = n;
	register long ret = kept;
	STAP_PROBE(t, before);
	return ret;
}
long calls(long n)
{
	volatile long kept = n;
	STAP_PROBE1(t, calls, n);
	called(n);
	return kept;
}
long tail(long n)
{
	STAP_PROBE1(t, tail, n);
	return called(n + 1);
}
"""
LIVE = {"keeps", "argument", "array", "one_way"}
ALL = LIVE | {"overwritten", "before", "calls", "tail"}


class RedZone(unittest.TestCase):
    def at_fault(self, *options):
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, "probes.c"), os.path.join(folder, "probes.so")
            with open(source, "w", encoding="ascii") as f:
                f.write(SOURCE)
            subprocess.run(["gcc", *options, "-shared", "-fPIC", "-o", library, source], check=True)
            nops, faults = red_zone.check(library)
            self.assertEqual({site.name for site in red_zone.sites(library)}, {f"t:{name}" for name in ALL})
        self.assertEqual(nops, {1: len(ALL)})
        return {name.removeprefix("t:") for name, _, _ in faults}

    def test_leaves(self):
        for options in (["-O1"], ["-O2"], ["-O2", "-fno-omit-frame-pointer"], ["-O3", "-fcf-protection=none"]):
            with self.subTest(options):
                self.assertEqual(self.at_fault(*options), LIVE)

    def test_not_optimized(self):
        # All that such a function has is in memory, its parameters too; but what calls has moved the stack pointer.
        self.assertEqual(self.at_fault("-O0") - {"overwritten", "before"}, LIVE)

    def test_without_a_red_zone(self):
        for level in ("-O0", "-O1", "-O2"):
            with self.subTest(level):
                self.assertEqual(self.at_fault(level, "-mno-red-zone"), set())


if __name__ == "__main__":
    unittest.main()
