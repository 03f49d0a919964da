"""Libraries with marks that the JVM loads while it is recorded."""
import os
import subprocess
import unittest

import harness
from harness import FakeTest, wait_until


class LateLibraries(FakeTest):
    def library(self, name):
        path = os.path.join(self.tmp, name)
        subprocess.run(["gcc", *harness.CFLAGS, "-fPIC", "-shared", "-o", path,
                        os.path.join(harness.HERE, "late_marks.c")], check=True)
        return path

    def test_are_recorded_long_before_the_next_window(self):
        fake = self.start()
        recorder = self.record(fake, "--window", "1h")
        for name in ("first", "second"):
            mark = ("in", "a", "mark", self.library(f"{name}.so"), name)
            wait_until(f"the probes of the {name} library are recorded", lambda mark=mark: fake(*mark) == ["1"])
        log = recorder.stop()
        self.assertEqual([e["name"] for e in log.of("span_begin")], ["first", "second"])
        self.assertEqual(len(log.of("span_end")), 2)
        self.assertEqual(len([n for n in log.notes() if n.startswith("marks of ") and n.endswith(" are recorded")]), 2)


if __name__ == "__main__":
    unittest.main()
