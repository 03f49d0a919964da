"""Attaching, detaching, names, exit statuses: on a real JVM."""
import json
import os
import shutil
import signal
import subprocess
import time
import unittest

from jvm import JavaTest, native_library  # first: it says where harness is
import soaking
from harness import DEADLINE_S, Log, Recorder, SPOOR, name_of, spoor, wait_until

BPFTOOL = shutil.which("bpftool") or "/usr/sbin/bpftool"
ATTACHES = 200 if soaking.is_on() else 20


def bpf_objects():
    """{(kind, id): who holds it}"""
    objects = {}
    for kind in ("prog", "map", "link"):
        while (shown := subprocess.run([BPFTOOL, "-j", kind, "show"], capture_output=True, text=True)).returncode:
            time.sleep(0.1)  # an object was gone before it could be shown
        for o in json.loads(shown.stdout or "[]"):
            if not o.get("name", "").startswith("sd_"):  # systemd's, at cgroups: of a test that starts one meanwhile
                objects[kind, o["id"]] = o.get("pids", [])
    return objects


class Names(JavaTest):
    def read_threads(self, vm, text):
        vm.say(text)
        threads = {}
        while (line := vm.line()) != "next":
            _, java_id, daemon, name = line.split(" ", 3)
            threads[int(java_id)] = (name, daemon == "true")
        return threads

    def test_names_and_ids(self):
        vm = self.java("Names", 5)
        recorder = self.record(vm, "--window", "100ms")
        wanted = self.read_threads(vm, "go on")
        self.assertEqual(len(wanted), 5)

        def renamed():
            return '"renamed"' in spoor("cat", "-e", "thread", recorder.log_path, expect=None).stdout

        wait_until("the new name is in the log", renamed)
        self.assertEqual(self.read_threads(vm, "go on"), wanted)
        log = recorder.stop()
        got = {t["java_id"]: (t["name"], t["daemon"]) for t in log.threads().values() if t["java_id"]}
        for java_id, thread in wanted.items():
            with self.subTest(name=thread[0]):
                self.assertEqual(got.get(java_id), thread)
        names = {t["name"]: t for t in log.threads().values()}
        self.assertLessEqual({"short-lived", "Reference Handler", "Finalizer", "main"}, set(names))
        self.assertTrue(names["main"]["existed"])
        self.assertFalse(names["after-1"]["existed"])
        self.assertEqual({name_of(e["thread"]) for e in log.of("thread_start")},
                         {"after-1", "after-2 \U0001f600", "short-lived"})
        native = {t["name"] for t in log.threads().values() if not t["java_id"]}
        self.assertTrue(any(n.startswith("VM Thread") for n in native), native)
        self.assertEqual({t["tid"] for t in log.threads().values()} - {names["short-lived"]["tid"]},
                         set(map(int, os.listdir(f"/proc/{vm.pid}/task"))))
        self.assertEqual(vm.end(), 5)


class Attach(JavaTest):
    def test_many_times(self):
        vm = self.java("Busy")
        rounds, flag = vm.ask("how far").split()
        self.assertEqual(flag, "false")
        log_path = self.path()
        fds = len(os.listdir(f"/proc/{vm.pid}/fd"))
        before = bpf_objects()
        for i in range(ATTACHES):
            done = subprocess.run([SPOOR, "record", "-p", str(vm.pid), "-d", "0.05s", "-q", "-f", "-o", log_path,
                                   *(["--sample=1ms"] if i % 2 else []), *(self.PROBES if i % 4 > 1 else ())],
                                  capture_output=True, text=True, timeout=DEADLINE_S)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""), f"number {i + 1}")
            if i % 20 == 19:
                last, rounds = int(rounds), vm.ask("how far").split()[0]
                self.assertGreater(int(rounds), last, "it does not run any more")
        self.assertEqual(vm.ask("how far").split()[1], "false")
        # The JVM has one for a moment at times, and may have had one before.
        wait_until("no descriptor is left", lambda: len(os.listdir(f"/proc/{vm.pid}/fd")) <= fds)

        def left():
            # Other programs of the machine may come and go; what nobody holds is what has been leaked.
            return {o for o, holders in bpf_objects().items() if o not in before and not holders}

        leaked = left()
        wait_until("no BPF object is left", lambda: not leaked & left())
        log = Log(log_path)
        self.assertEqual(log.end(), "done")
        self.assertTrue(log.of("monitor_contended_enter", "park_begin"))

    def test_two_recorders_see_the_same(self):
        vm = self.java("Contend", 100)
        recorders = [self.record(vm, path=self.path(f"{i}.spoor")) for i in range(2)]
        self.assertEqual(vm.ask("go", 120), "done")
        logs = [r.stop() for r in recorders]
        for kind in ("monitor_contended_enter", "monitor_contended_entered", "monitor_wait_begin"):
            counts = [len(log.raw_of(kind)) for log in logs]
            self.assertGreater(counts[0], 20)
            self.assertEqual(counts[0], counts[1], kind)


class SlowLoad(JavaTest):
    def test_it_reads_on_while_the_sampler_of_owners_is_loaded(self):
        """The rules to get out of native code are asked for from the first release on, which is when that is loaded."""
        vm = self.java("Contend", 100)
        recorder = self.record(vm, env={**os.environ, "LD_PRELOAD": native_library("slow_load")})
        self.assertEqual(vm.ask("go", deadline_s=60), "done")
        log = recorder.stop()
        self.assertIn("slow_load: look_by_", recorder.err)
        self.assertEqual(log.lost(), {})
        released = len(log.raw_of("monitor_contended_exit"))
        unknown = max((e["count"] for e in log.raw_of("stack_walk") if e["result"] == "native_rule_unknown"), default=0)
        print(f"{released} releases, {unknown} walks that had no rule yet", flush=True)
        self.assertGreater(released, 100)
        self.assertLess(unknown, released / 4)


class Commands(JavaTest):
    def start(self, *options):
        recorder = Recorder(self.command("Fails", *options), self.path(), *self.PROBES)
        self.addCleanup(recorder.close)
        return recorder

    def test_exit_status_is_passed_on(self):
        for status in (0, 7):
            with self.subTest(status=status):
                if os.path.exists(self.path()):
                    os.unlink(self.path())
                recorder = self.start(status)
                self.assertEqual(recorder.wait(), status, recorder.err)
                log = Log(recorder.log_path)
                self.assertEqual((log.end(), log.header["sources"]["monitor"]), ("jvm_exited", "on"),
                                 recorder.err)
                # Its end and join() may meet, too: on the Thread object.
                enter = [e for e in log.of("monitor_contended_enter")
                         if e["lock"]["class"] == "java.lang.Object" and name_of(e["thread"]) == "late"]
                # A thread is BLOCKED a little before its probe: if it loses its CPU there, main has released the lock.
                owned = [e for e in enter if e["owner_source"] != "none"]
                self.assertGreater(len(owned), 20)
                # On a busy machine it may have ended before the recorder reads the names of threads that were there.
                known = any(t["existed"] and t["java_id"] for t in log.raw_of("thread"))
                self.assertEqual({name_of(e["owner"]) for e in owned}, {"main" if known else "java"})
                self.assertLess(len(enter) - len(owned), len(enter) / 10)

    def test_a_shell_around_it(self):
        java = " ".join(self.command("Fails", 3))
        recorder = Recorder(["sh", "-c", f"{java}; exit $(($? + 1))"], self.path(), *self.PROBES)
        self.addCleanup(recorder.close)
        self.assertEqual(recorder.wait(), 4, recorder.err)
        self.assertTrue(os.path.exists(recorder.log_path), recorder.err)
        self.assertEqual(Log(recorder.log_path).end(), "jvm_exited")

    def test_terminate(self):
        recorder = self.record(self.command("Fails", 5, 10**6))
        recorder.process.send_signal(signal.SIGTERM)
        self.assertEqual(recorder.wait(), 128 + signal.SIGTERM, recorder.err)
        self.assertEqual(Log(recorder.log_path).end(), "interrupted")

    def test_doctor(self):
        vm = self.java("Busy")
        done = spoor("doctor", "-p", vm.pid)
        self.assertIn("17.", done.stdout)
        spoor("doctor", "-p", os.getpid(), expect=1)


if __name__ == "__main__":
    unittest.main()
