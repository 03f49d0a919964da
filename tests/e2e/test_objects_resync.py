"""Lost moves are mended in logs that are in parts or in memory, with graphs, and more than once: after that the log's heap is
the JVM's, object by object. (One log, without pointers, once: test_objects_switch.)"""
import glob
import json
import os
import signal

from test_objects_switch import DEADLINE_S, ROUNDS, SwitchedTest, UNLOCK

from harness import spoor, wait_until
from soaking import only_in_soak, slow

DUMPED = "Heap Dump Initiated GC"


class Resync(SwitchedTest):
    def begin(self, *options, collector="Serial"):
        vm = self.start(f"-XX:+Use{collector}GC", UNLOCK, "-XX:SpoorObjectsRing=4m")
        recorder = self.record(vm, "--objects=exact", *options)
        self.rest(vm, ROUNDS)
        return vm, recorder

    def parts(self):
        return sorted(glob.glob(self.path("log-*.spoor")))

    def end(self, vm, recorder, times=1):
        """A heap dump is the last that happens to the log."""
        self.rest(vm, ROUNDS)
        self.dump(vm, "after")
        recorder.process.send_signal(signal.SIGINT)
        self.assertEqual(recorder.wait(DEADLINE_S), 0, recorder.err)
        self.assertIn(f"the heap was incomplete until objects were switched on anew, {times} times", recorder.err)
        self.assert_right(vm)

    def collections(self, *paths):
        return json.loads(spoor("objects", "--by", "collection", "--format", "json", *paths).stdout)

    def assert_dumped(self, path):
        """The heap after the last dump's collection, as this file alone says it, is the dump's."""
        row = [row for row in self.collections(path)["rows"] if row["cause"] == DUMPED][-1]
        self.assertFalse(row["incomplete"])
        check = self.heap_check(f"gc:{row['gc_id']}", "after", path)
        self.assertEqual((check["differences"], check["incomplete"]), (0, False), check["examples"][:20])
        self.assertGreater(check["equal"], 100_000)
        print(f"{check['equal']} objects are equal")
        return check

    @only_in_soak
    def test_twice(self):
        vm, recorder = self.begin()
        for times in (1, 2):
            self.lose_moves(vm, recorder)
            self.rest_until(vm, lambda times=times: self.switched_again(self.path()) == times)
        self.end(vm, recorder, times=2)
        found = self.collections(self.path())
        self.assertEqual((found["switched_again"], found["incomplete_at_end"], found["end"]), (2, False, "off"))
        # Complete, incomplete, complete, incomplete, complete.
        states = [row["incomplete"] for row in found["rows"]]
        turns = [state for at, state in enumerate(states) if not at or states[at - 1] != state]
        self.assertEqual(turns, [False, True, False, True, False])
        self.assert_dumped(self.path())
        self.assertIn(": sound", spoor("verify", self.path()).stdout)

    def check_pointers(self, collector):
        """Also references and roots: of the collection that is the dump's."""
        vm, recorder = self.begin("--objects-pointers=full", collector=collector)
        self.lose_moves(vm, recorder)
        self.rest_until(vm, lambda: self.switched_again(self.path()))
        self.end(vm, recorder)
        graph = self.assert_dumped(self.path())["graph"]
        self.assertEqual((graph["differences"], graph["in_other_frames"]), (0, 0), graph)
        self.assertGreater(graph["references"], 100_000)

    @slow
    def test_pointers(self):
        self.check_pointers("Serial")

    @only_in_soak
    def test_pointers_g1(self):
        self.check_pointers("G1")

    @slow
    def test_parts(self):
        """Each begins with the heap as the recorder knows it, and with what it lacks."""
        vm, recorder = self.begin("--max-size", "256M", "--deviation", "1")
        self.lose_moves(vm, recorder)
        self.rest_until(vm, lambda: self.switched_again(*self.parts()))
        mended = len(self.parts())
        self.rest_until(vm, lambda: len(self.parts()) > mended + 1)
        self.end(vm, recorder)
        files = self.parts()
        each = [self.collections(path) for path in files]
        self.assertEqual(sum(found["switched_again"] for found in each), 1)
        broken = [at for at, found in enumerate(each) if found["incomplete_collections"] or found["incomplete_at_end"]]
        again = next(at for at, found in enumerate(each) if found["switched_again"])
        self.assertTrue(broken)
        self.assertLess(broken[-1], len(files) - 1)
        self.assertEqual(broken, list(range(broken[0], broken[-1] + 1)))
        self.assertIn(again, (broken[-1], broken[-1] + 1))
        # A part that begins amid that time says so of all its collections.
        for at in broken[1:-1]:
            self.assertEqual({row["incomplete"] for row in each[at]["rows"]} | {each[at]["incomplete_at_end"]}, {True})
        self.assert_dumped(files[-1])
        found = self.collections(*files)
        self.assertEqual((found["switched_again"], found["incomplete_at_end"]), (1, False))
        self.assertEqual(found["incomplete_collections"], sum(f["incomplete_collections"] for f in each))
        for path in files:
            self.assertIn(": sound", spoor("verify", path).stdout)

    def flight_dump(self, recorder):
        before = len(self.parts())
        os.kill(recorder.pid, signal.SIGUSR1)
        wait_until("a flight recorder's dump", lambda: len(self.parts()) > before, DEADLINE_S)
        return self.parts()[-1]

    @only_in_soak
    def test_a_flight_recorder_that_has_seen_the_loss(self):
        vm, recorder = self.begin("--flight-recorder", "10m")
        self.lose_moves(vm, recorder)
        self.rest_until(vm, lambda: self.switched_again(self.flight_dump(recorder)))
        self.end(vm, recorder)
        found = self.collections(self.parts()[-1])
        self.assertEqual((found["switched_again"], found["incomplete_at_end"]), (1, False))
        self.assertGreater(found["incomplete_collections"], 0)
        self.assert_dumped(self.parts()[-1])

    @only_in_soak
    def test_a_flight_recorder_that_has_forgotten_the_loss(self):
        vm, recorder = self.begin("--flight-recorder", "1s")
        self.lose_moves(vm, recorder)
        self.rest_until(vm, lambda: self.switched_again(self.flight_dump(recorder)))
        self.rest_until(vm, lambda: not self.collections(self.flight_dump(recorder))["switched_again"])
        self.end(vm, recorder)
        found = self.collections(self.parts()[-1])
        self.assertEqual((found["switched_again"], found["incomplete_collections"], found["incomplete_at_end"]), (0, 0, False))
        self.assert_dumped(self.parts()[-1])
