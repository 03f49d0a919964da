"""spoor watch: JVMs that come and go, each with a log of its own that says the same as spoor record would; rules, bounds,
and what is left when somebody is killed."""
import glob
import json
import os
import signal
import subprocess
import threading

import jvm
from harness import DEADLINE_S, SPOOR, Log, no_report, spoor, wait_until

MS = 10**6
PCT = 2
CPU = min(os.sched_getaffinity(0))
ROUNDS = 2000


class Watch:
    """spoor watch, from when it watches."""

    def __init__(self, folder, *options, quiet=False):
        self.folder, self.err, self.told = folder, "", []
        self.process = subprocess.Popen([SPOOR, "watch", "--json", "-o", folder, *options], text=True, errors="replace",
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.readers = [threading.Thread(target=self._read_err, daemon=True),
                        threading.Thread(target=self._read_out, daemon=True)]
        for reader in self.readers:
            reader.start()
        wait_until("it watches", lambda: "spoor: watching: " in self.err or self.process.poll() is not None)
        if self.process.poll() is not None:
            self.close()
            raise AssertionError(f"it has ended: {self.err}")

    def _read_err(self):
        for line in self.process.stderr:
            self.err += line

    def _read_out(self):
        for line in self.process.stdout:
            self.told.append(json.loads(line))

    def of(self, vm, event):
        return [t for t in self.told if t["pid"] == vm.pid and t["event"] == event]

    def wait_for(self, vm, event):
        return wait_until(f"{event} of {vm.pid}", lambda: self.of(vm, event))[0]

    def wait_recorded(self, *vms):
        for vm in vms:
            wait_until(f"{vm.pid} is recorded", lambda: f"recording {vm.pid} to " in self.err)

    def recorder_of(self, vm):
        """The pid of the process that records it."""
        for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
            try:
                with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                    parent = int(f.read().rpartition(")")[2].split()[1])
                files = [os.readlink(link) for link in glob.glob(f"/proc/{pid}/fd/*")] if parent == self.process.pid else ()
            except OSError:
                continue
            if any(f"-{vm.pid}-" in file for file in files):
                return pid
        raise AssertionError(f"nobody records {vm.pid}")

    def log(self, vm):
        parts = sorted(glob.glob(self.of(vm, "found")[0]["log"].replace(".spoor", "-*.spoor")))
        assert len(parts) == 1, parts
        return Log(parts[0])

    def stop(self, expect=0):
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(DEADLINE_S)
        assert status == expect, f"it ends with {status}: {self.err}"
        for reader in self.readers:
            reader.join(DEADLINE_S)
        return self

    def close(self):
        self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join(DEADLINE_S)
        self.process.stdout.close()
        self.process.stderr.close()
        no_report(self.err)


def attached_to_the_scheduler():
    """{program: how many links of tracepoints it has} of this machine."""
    links = json.loads(subprocess.run(["bpftool", "-j", "link", "show"], capture_output=True, text=True, check=True).stdout)
    names = {p["id"]: p.get("name", "") for p in json.loads(
        subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True, check=True).stdout)}
    count = {}
    for link in links:
        name = names.get(link.get("prog_id"), "")
        count[name] = count.get(name, 0) + 1
    return count


class WatchTest(jvm.JavaTest):
    def setUp(self):
        super().setUp()
        self.word = f"-Dwatch.word={os.path.basename(self.tmp)}"  # other tests have JVMs, too

    def watch(self, *options):
        watch = Watch(os.path.join(self.tmp, "logs"), "--name", self.word, *options)
        self.addCleanup(watch.close)
        return watch

    def start(self, program, *arguments, options=(), **how):
        return self.java(program, *arguments, options=(self.word, *options), **how)


class Follow(WatchTest):
    def test_comes_and_goes(self):
        """One that was there before, and one that begins; who ends has its log whole, and the other goes on."""
        old = self.start("Killed")
        watch = self.watch("--", "--probes", "usdt")
        new = self.start("Killed")
        self.assertLess(watch.wait_for(new, "found")["age_ms"], 1000)
        self.assertEqual(watch.wait_for(new, "found")["name"], "Killed")
        watch.wait_recorded(old, new)
        for vm in (old, new):
            self.assertEqual(int(vm.ask(str(ROUNDS))), 7 * ROUNDS * (ROUNDS - 1) // 2)
        self.assertEqual(new.end(), 0)
        self.assertEqual(watch.wait_for(new, "ended")["status"], 0)
        self.check(watch.log(new), "jvm_exited")
        self.assertFalse(watch.of(old, "ended"))
        watch.stop()
        self.check(watch.log(old), "interrupted")
        self.assertEqual(int(old.ask(str(ROUNDS))), 2 * 7 * ROUNDS * (ROUNDS - 1) // 2)
        shown = subprocess.run([jvm.jdk_tool("jinfo"), "-flag", "DTraceMonitorProbes", str(old.pid)], capture_output=True,
                               text=True, check=True).stdout
        self.assertEqual(shown.strip(), "-XX:-DTraceMonitorProbes")

    def check(self, log, end):
        self.assertEqual(log.end(), end)
        self.assertEqual(log.lost(), {})
        entered = [e["lock"]["class"] for e in log.of("monitor_contended_entered")]
        # Both threads have contended for it: that is how the program begins. The JDK may have locks of its own besides.
        self.assertGreaterEqual(entered.count("java.lang.Object"), 2, entered)
        with open("/proc/self/cgroup", encoding="utf-8") as f:
            self.assertIn(log.header["labels"]["cgroup"], {line.rstrip("\n").split(":", 2)[2] for line in f})

    def test_two_on_one_cpu(self):
        """A switch from one recorded JVM to another is of both: what each had of the CPU is what the kernel has counted."""
        # It has threads of these names before it is ready, too.
        vms = [self.start("Wall", 2, f"spin-{i}", before=("taskset", "-c", str(CPU))) for i in range(2)]
        watch = self.watch()
        watch.wait_recorded(*vms)
        for vm in vms:
            vm.say("go")
        said = [{t["name"]: t for t in json.loads(vm.line())} for vm in vms]
        watch.stop()
        for i, vm in enumerate(vms):
            log = watch.log(vm)
            self.assertEqual(log.lost(), {})
            rows = [t for t in log.report()["threads"] if t["name"] == f"spin-{i}"]
            self.assertEqual(len(rows), 1, rows)
            one = rows[0]
            states, truth = one["states"], said[i][f"spin-{i}"]
            wall = sum(states.values())
            room = wall * PCT / 100
            self.assertLessEqual(abs(wall - one["wall_ns"]), max(one["wall_ns"] / 1000, MS / 5))
            self.assertLessEqual(states["running_ns"], truth["cpu_ns"] + room)
            self.assertGreaterEqual(states["running_ns"] + states["stolen_ns"], truth["cpu_ns"] - room)
            self.assertGreater(states["runnable_ns"], wall / 4)
            self.check_clocks(log)

    def check_clocks(self, log):
        """What was stolen of each CPU is the target's, others' or idle, and none of it is told twice."""
        samples = log.of("cpu_sample")
        self.assertTrue(samples)
        for e in samples:
            self.assertEqual(e["jvm_stolen_ns"] + e["other_stolen_ns"] + e["idle_stolen_ns"], e["clock_ns"], e)

    def test_one_set_of_programs(self):
        """However many JVMs there are, the scheduler calls as many programs."""
        watch = self.watch()
        before = attached_to_the_scheduler()
        vms = [self.start("Killed") for _ in range(3)]
        watch.wait_recorded(*vms)
        after = attached_to_the_scheduler()
        relays = {name: n for name, n in after.items() if name.startswith("relay_")}
        self.assertGreaterEqual(relays.get("relay_switch", 0), 1)
        self.assertEqual(relays, {name: n for name, n in before.items() if name.startswith("relay_")})
        for vm in vms:
            vm.ask(str(ROUNDS))
        watch.stop()
        for vm in vms:
            log = watch.log(vm)
            self.assertEqual(log.lost(), {})
            self.assertTrue(log.of("thread_sample"))

    def test_rules(self):
        wanted = self.start("Killed", options=("-Dservice=orders",))
        other = self.start("Killed", options=("-Dservice=billing",))
        listed = [json.loads(line) for line in spoor("watch", "--list", "--json", "-n", self.word, "-n", "!=billing",
                                                     "-q").stdout.splitlines()]
        followed = {one["pid"]: one["followed"] for one in listed}
        self.assertEqual((followed[wanted.pid], followed[other.pid]), (True, False))
        watch = self.watch("-n", "!=billing")
        watch.wait_recorded(wanted)
        late = self.start("Killed", options=("-Dservice=billing",))
        also = self.start("Killed")
        watch.wait_recorded(also)
        watch.stop()
        self.assertEqual({t["pid"] for t in watch.told}, {wanted.pid, also.pid})
        self.assertNotIn(str(late.pid), watch.err)

    def test_labels_and_words(self):
        for wrong in (["-l", "pood=*"], ["-l", "pod"], ["-n", ""], ["word"], ["--max-size", "1K"], ["--max-jvms", "0"],
                      ["--", "-p", "12"], ["--", "-o", "x"], ["--", "--flight-recorder", "10s"], ["--", "--nothing"],
                      ["--max-total", "1M", "--max-size", "2M"]):
            with self.subTest(wrong):
                self.assertTrue(spoor("watch", *wrong, expect=2).stderr)


class Bounds(WatchTest):
    def test_max_jvms(self):
        """One beyond it waits until another one has ended."""
        watch = self.watch("--max-jvms", "1")
        first = self.start("Killed")
        watch.wait_recorded(first)
        second = self.start("Killed")
        watch.wait_for(second, "no_place")
        wait_until("it says so", lambda: "is not recorded yet: 1 JVMs are (--max-jvms)" in watch.err)
        first.end()
        watch.wait_recorded(second)
        second.ask(str(ROUNDS))
        watch.stop()
        self.assertTrue(watch.log(second).of("thread_sample"))
        self.assertEqual([t["event"] for t in watch.told if t["pid"] == second.pid], ["no_place", "found", "ended"])

    def test_max_total(self):
        """The oldest logs of those that have ended make room; files of others stay."""
        folder = os.path.join(self.tmp, "logs")
        os.mkdir(folder)
        for name, size in (("old-1-20260101-000000-000001.spoor", 3 << 20), ("older-2-20260101-000000-000007.spoor", 3 << 20),
                           ("mine.spoor", 9 << 20), ("note-000001.spoor", 1 << 20)):
            with open(os.path.join(folder, name), "wb") as f:
                f.truncate(size)
        os.utime(os.path.join(folder, "older-2-20260101-000000-000007.spoor"), (1, 1))
        watch = self.watch("--max-size", "4M", "--max-total", "8M")
        first = self.start("Killed")
        found = watch.wait_for(first, "found")
        self.assertEqual((found["deleted_files"], found["deleted_bytes"]), (1, 3 << 20))
        second = self.start("Killed")
        self.assertEqual(watch.wait_for(second, "found")["deleted_files"], 1)
        third = self.start("Killed")
        watch.wait_for(third, "no_room")
        watch.wait_recorded(first, second)
        self.assertEqual({f for f in os.listdir(folder) if "-1-" in f or "-2-" in f}, set())
        self.assertLess({"mine.spoor", "note-000001.spoor"}, set(os.listdir(folder)))
        second.end()
        watch.wait_recorded(third)
        watch.stop()

    def test_two_in_one_folder(self):
        self.watch()
        done = spoor("watch", "-o", os.path.join(self.tmp, "logs"), expect=1)
        self.assertIn("another spoor watch writes to it", done.stderr)


class Killings(WatchTest):
    def test_the_watcher(self):
        """Its recorders end with it, each with a whole log."""
        watch = self.watch()
        vms = [self.start("Killed") for _ in range(2)]
        watch.wait_recorded(*vms)
        recorders = [watch.recorder_of(vm) for vm in vms]
        watch.process.kill()
        watch.process.wait()
        wait_until("its recorders have ended", lambda: not [p for p in recorders if os.path.exists(f"/proc/{p}")])
        for vm in vms:
            self.assertEqual(watch.log(vm).end(), "interrupted")
            vm.ask(str(ROUNDS))

    def test_a_recorder(self):
        """The others do not notice, and its slot is free for the next one."""
        watch = self.watch("--max-jvms", "2")
        victim, other = self.start("Killed"), self.start("Killed")
        watch.wait_recorded(victim, other)
        os.kill(watch.recorder_of(victim), signal.SIGKILL)
        self.assertEqual(watch.wait_for(victim, "ended")["status"], 128 + signal.SIGKILL)
        said = f"the recorder of {victim.pid} Killed was killed by signal 9"
        wait_until("it says so", lambda: said in watch.err)  # by another thread of this test than the line above
        third = self.start("Killed")
        watch.wait_recorded(third)
        for vm in (victim, other, third):
            vm.ask(str(ROUNDS))
        watch.stop()
        for vm in (other, third):
            log = watch.log(vm)
            self.assertEqual((log.end(), log.lost()), ("interrupted", {}))
            self.assertTrue(log.of("thread_sample"))

    def test_who_pretends(self):
        """A process that calls its threads as HotSpot's VM thread is called, again and again, is none."""
        pretender = subprocess.Popen(
            ["/usr/bin/python3", "-c", "while True:\n open('/proc/self/comm', 'w').write('VM Thread')\n "
             "open('/proc/self/comm', 'w').write('x')"])
        self.addCleanup(pretender.wait)
        self.addCleanup(pretender.kill)
        watch = self.watch()
        vm = self.start("Killed")
        watch.wait_recorded(vm)
        watch.stop()
        self.assertEqual({t["pid"] for t in watch.told}, {vm.pid})
