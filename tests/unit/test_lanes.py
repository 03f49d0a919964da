"""tests/lanes.py: which pieces of work run side by side, and when there is one more than usual."""
import os
import sys
import tempfile
import threading
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import lanes  # noqa: E402

DEADLINE_S = 60


class Machine(lanes.Spare):
    """One whose clock and CPUs go on when a test says so."""

    def __init__(self, root):
        self.proc, self.now, self.ticks = root, 0, [0] * 8
        self.memory(lanes.Spare.FREE_KB)
        self.go_on(0, 0)
        super().__init__(root, lambda: self.now)

    def memory(self, kb):
        with open(f"{self.proc}/meminfo", "w", encoding="ascii") as f:
            f.write(f"MemTotal: 99999999 kB\nMemAvailable:   {kb} kB\n")

    def go_on(self, seconds, idle_share, waiting_for_disks=0):
        self.now += seconds
        for index, share in ((0, 1 - idle_share - waiting_for_disks), (3, idle_share), (4, waiting_for_disks)):
            self.ticks[index] += round(200 * seconds * share)
        with open(f"{self.proc}/stat", "w", encoding="ascii") as f:
            f.write(f"cpu  {' '.join(map(str, self.ticks))} 0 0\ncpu0 1 2 3\n")


class Spare(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="spoor-lanes-")
        self.addCleanup(folder.cleanup)
        self.machine = Machine(folder.name)

    def spare_after(self, *how):
        self.machine.go_on(*how)
        return self.machine()

    def test_idle_cpus(self):
        self.assertTrue(self.spare_after(2, 0.5))
        self.assertFalse(self.spare_after(2, 0.1))
        self.assertTrue(self.spare_after(2, 0.1, 0.4))

    def test_not_before_some_seconds(self):
        self.assertFalse(self.spare_after(1, 1))
        self.assertTrue(self.spare_after(1, 1))

    def test_what_was_before_a_piece_began_does_not_count(self):
        self.machine.go_on(10, 1)
        self.machine.begin()
        self.assertFalse(self.spare_after(1, 1))
        self.assertFalse(self.spare_after(4, 0))

    def test_memory(self):
        self.machine.memory(lanes.Spare.FREE_KB - 1)
        self.assertFalse(self.spare_after(2, 1))
        self.machine.memory(lanes.Spare.FREE_KB)
        self.assertTrue(self.spare_after(2, 1))

    def test_this_machine(self):
        spare = lanes.Spare()
        self.assertGreater(spare.then[1], spare.then[0])
        self.assertFalse(spare())


class Often:
    """There is always something to spare, or never."""

    def __init__(self, answer):
        self.answer = answer

    def begin(self):
        pass

    def __call__(self):
        return self.answer


class Run(unittest.TestCase):
    def most_at_once(self, lane_names, *how, meet=0, **named):
        """How many pieces were in work at once; each waits until there are `meet` of them."""
        at_once, seen, lock = [], [], threading.Condition()

        def piece(name):
            with lock:
                at_once.append(name)
                seen.append(sorted(map(str, at_once)))
                lock.notify_all()
                self.assertTrue(lock.wait_for(lambda: max(map(len, seen)) >= meet, DEADLINE_S))
                at_once.remove(name)

        lanes.run([(lane, lambda n=n: piece(n)) for n, lane in enumerate(lane_names)], *how, **named)
        self.assertEqual(len(seen), len(lane_names))
        return max(map(len, seen))

    def test_jobs_without_a_look(self):
        self.assertEqual(self.most_at_once([None] * 4, 3, 5, Often(False), meet=3), 3)

    def test_up_to_most_while_there_is_something_to_spare(self):
        self.assertEqual(self.most_at_once([None] * 7, 1, 4, Often(True), meet=4), 4)

    def test_lanes(self):
        self.assertEqual(self.most_at_once(["a"] * 5, 4), 1)
        self.assertEqual(self.most_at_once(["a"] * 5, 4, widths={"a": 2}, meet=2), 2)
        self.assertEqual(self.most_at_once(["a", "a", "b", "b"], 4, meet=2), 2)

    def test_nothing_beside_one_that_is_alone(self):
        beside, lock = [], threading.Lock()
        order = [lanes.ALONE, None, lanes.ALONE, "a", "a", None]
        count = [0]

        def piece(alone):
            with lock:
                count[0] += 1
                if alone:
                    beside.append(count[0])
            threading.Event().wait(0.02)  # so that others would have begun
            with lock:
                if alone:
                    beside.append(count[0])
                count[0] -= 1

        lanes.run([(lane, lambda lane=lane: piece(lane is lanes.ALONE)) for lane in order], 3, 6, Often(True))
        self.assertEqual(beside, [1] * 4)

    def test_an_exception_ends_all(self):
        def fails():
            raise ValueError("no")

        done = []
        with self.assertRaisesRegex(ValueError, "no"):
            lanes.run([(None, fails), *[(None, lambda: done.append(1))] * 5], 1, 3, Often(False))
        self.assertEqual(done, [])


if __name__ == "__main__":
    unittest.main()
