"""Very many virtual threads (JDK 21 and 25): no name, id or lock of one is another's, and the recorder's memory does not grow with
them (programs/VirtualMany.java)."""
import collections
import os
import re
import unittest

import jvm
from harness import DEADLINE_S
from soaking import only_in_soak

EVERY = 1000  # one in so many of a lock's threads stays in it
ENTER, ENTERED = "monitor_contended_enter", "monitor_contended_entered"


def resident_kb(pid):
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        return int(re.search(r"^VmRSS:\s+(\d+) kB", f.read(), re.M)[1])


class Many:
    def check(self, half, alive):
        vm = self.java("VirtualMany", half, alive, EVERY, options=("-Djdk.virtualThreadScheduler.parallelism=8", "-Xmx1g"))
        recorder = self.record(vm)
        memory = []
        for number in (1, 2):
            entered, stayed = map(int, vm.ask("go", 10 * DEADLINE_S).split())
            self.assertEqual(entered, half * number)
            memory.append(resident_kb(recorder.pid))
        log = recorder.stop()
        threads, locks, wrong = log.threads(), log.locks(), []
        classes = {e["class"]: e["name"] for e in log.raw_of("class")}
        count, named, owned, owners, tids, others = 0, 0, 0, 0, {}, collections.Counter()
        for thread in threads.values():
            found = re.fullmatch(r"many-(\d+)", thread["name"] or "")
            if found:
                self.assertTrue(thread["virtual"])
                self.assertNotIn(thread["java_id"], tids)
                tids[thread["java_id"]] = int(found[1])
        # They are made one after the other: who comes later has the larger id.
        self.assertEqual([tids[key] for key in sorted(tids)], sorted(tids.values()))
        for e in log.raw_of(ENTER):
            name = classes.get(locks[e["lock"]]["class"], "")
            if not name.startswith("VirtualMany$Lock"):
                continue
            own, count = int(name[-1]), count + 1
            for role in ("thread", "owner"):
                who = threads.get(e[role])
                found = re.fullmatch(r"many-(\d+)", (who or {}).get("name") or "")
                if role == "owner":
                    owners, owned = owners + bool(e[role]), owned + bool(found)
                    if who and not found:
                        others[(who["name"], who["virtual"])] += 1
                else:
                    named += bool(found)
                if found and int(found[1]) & 3 != own:
                    wrong.append((role, who["name"], name))
        lost = log.lost()
        print(f"JDK {self.MAJOR}: {entered} threads, {stayed} stays, {count} contentions, {named} of their threads and {owned} of "
              f"{owners} owners by name; recorder {memory[0]} kB after half of it, {memory[1]} kB after all; log "
              f"{os.path.getsize(log.path) >> 20} MB; lost {lost}; other owners {others.most_common(3)}", flush=True)
        self.assertEqual(wrong[:5], [])
        self.assertGreater(count, stayed)
        self.assertGreaterEqual(named, count * 0.99)
        # While one gives its carrier to another, the carrier is all that is known of the owner; of one that nobody has seen
        # mounted since it began, its id.
        self.assertEqual([who for who in others if not re.match(r"ForkJoinPool-1-worker-|VirtualThread\[#", who[0])], [])
        # Of a hundred short ones on a busy machine 74 % were known by name.
        self.assertGreaterEqual(owned, owners * 0.6)
        self.assertLess(memory[1], memory[0] * 1.25 + 16384)

    def test_thousands(self):
        self.check(20_000, 5_000)

    @only_in_soak
    def test_a_million(self):
        self.check(500_000, 100_000)


class Many21(Many, jvm.OtherJavaTest):
    MAJOR = 21


class Many25(Many, jvm.OtherJavaTest):
    MAJOR = 25


if __name__ == "__main__":
    unittest.main()
