"""A JVM in a container, and spoor on the host, or in another container beside it (runc): what works with which rights, and
whether doctor and record say the same of what does not. docs/containers.md has the same table."""
import errno
import json
import os
import re
import signal
import subprocess
import threading
import unittest

import jvm
from containers import DEFAULT_RIGHTS, Machine, docker_profile, podman_profile, why_no_containers, without_calls
from harness import DEADLINE_S, ROOT, SPOOR, Log, owner_sample, probes_of, wait_until
import printed  # beside harness's folder

HOLD_MS, ROUNDS = 100, 1
BY_TICK = owner_sample()[0] == "tick"
USER, IDS = 1000, 200000
OF_ANOTHER = ("BPF", "PERFMON", "SYS_PTRACE", "DAC_OVERRIDE")
UNTOUCHED = ("BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH")


class Recorder:
    """spoor in a container, from where it has attached."""

    def __init__(self, container):
        self.container, self.err = container, []
        self.process = subprocess.Popen(container.command(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        for line in self.process.stderr:
            self.err.append(line)
            if line.startswith("spoor: recording "):
                return
        raise AssertionError(f"it does not record: {''.join(self.err)}")

    def ended(self):
        """Once it has written its log."""
        for line in self.process.stderr:
            self.err.append(line)
            if line.startswith("spoor: recorded "):
                return
        raise AssertionError(f"it has recorded nothing: {''.join(self.err)}")

    def stop(self):
        self.container.kill("INT")
        return self.wait()

    def wait(self):
        """Its exit status, once it has said all that it says."""
        self.err += self.process.stderr.readlines()
        return self.process.wait(DEADLINE_S)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


class Watcher:
    """spoor watch in a container."""

    def __init__(self, container):
        self.container, self.err = container, ""
        self.process = subprocess.Popen(container.command(), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.wait_for("watching: ")

    def read(self):
        for line in self.process.stderr:
            self.err += line

    def wait_for(self, word):
        try:
            wait_until(word, lambda: word in self.err)
        except AssertionError as e:
            raise AssertionError(f"{e}; it says: {self.err}") from None

    def stop(self):
        self.container.kill("TERM")
        if self.process.wait(DEADLINE_S):
            raise AssertionError(self.err)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(DEADLINE_S)
        self.process.stderr.close()


class Containers(jvm.JavaTest):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if why_no_containers():
            raise unittest.SkipTest(why_no_containers())

    def setUp(self):
        super().setUp()
        self.machine = Machine(self.tmp, self.classes)
        self.addCleanup(self.machine.close)

    def start(self, uid=USER, rights=DEFAULT_RIGHTS, **how):
        """The JVM. It is process 1 there, unless it shares the pid namespace of another container."""
        c = self.machine.container("jvm", ["java", "-Dservice=orders", "-cp", "/app", "Known", str(HOLD_MS), str(ROUNDS)],
                                   uid=uid, rights=rights, profile=docker_profile(), **how)
        vm = jvm.Java(c.command())
        self.addCleanup(vm.close)
        vm.wait_ready()
        vm.pid = c.pid()
        return vm

    def beside(self, vm, **how):
        return {"profile": docker_profile(), "shares": vm.pid, **how}

    def log(self, path):
        """A log that may be another user's."""
        path = os.path.join(self.machine.logs, path)
        os.chown(path, 0, 0)
        return Log(path)

    def check_log(self, truth, log, owners=True):
        """Each of the program's own contentions; with its owner, if owners are looked at meanwhile."""
        wanted, got = {}, {}
        for b in truth["blocked"]:
            key = (b["lock_class"], b["waiter"], *([b["owner"]] if owners else []))
            wanted[key] = wanted.get(key, 0) + 1
        self.assertEqual(log.lost(), {})
        for lock in log.report("--by", "lock_class,waiter_thread,owner_thread")["groups"]:
            for waiter in lock["groups"]:
                for owner in waiter["groups"]:
                    key = (lock["key"][0], waiter["key"][0], *([owner["key"][0]] if owners else []))
                    got[key] = got.get(key, 0) + owner["count"]
        self.assertEqual({key: got.get(key) for key in wanted}, wanted, got)
        walks = [e for e in log.raw_of("stack") if e["frame"]]
        self.assertTrue(walks, "there are no call chains")

    def record(self, vm, *options, path="log.spoor", owners=True, **how):
        """A whole recording from beside the JVM, and what spoor said meanwhile."""
        c = self.machine.container("spoor", ["spoor", "record", "-p", "1", "-o", f"/spoor/{path}",
                                             *probes_of(options, self.PROBES)], **self.beside(vm, **how))
        recorder = Recorder(c)
        self.addCleanup(recorder.close)
        truth = json.loads(vm.ask("go", 120))
        self.assertEqual(recorder.stop(), 0, recorder.err)
        self.check_log(truth, self.log(path), owners)
        return "".join(recorder.err)

    def refusal(self, vm, *options, **how):
        """What record says; doctor must not recommend what record cannot do."""
        status, said = self.machine.run(["spoor", "record", "-p", "1", "-d", "1s", "-o", "/spoor/refused.spoor",
                                         *probes_of(options, self.PROBES)], **self.beside(vm, **how))
        self.assertEqual(status, 1, said)
        self.assertFalse(os.path.exists(os.path.join(self.machine.logs, "refused.spoor")))
        return said

    def doctor(self, vm, **how):
        """(exit status, {check: (state, text with advice)})"""
        status, said = self.machine.run(["spoor", "doctor", "--format=json", "-p", "1"], **self.beside(vm, **how))
        checks = json.loads(said)["checks"]
        return status, {c["name"]: (c["state"], f"{c['found']} {c.get('advice') or ''}") for c in checks}


class FromTheHost(Containers):
    def check(self, vm):
        recorder = jvm.JavaTest.record(self, vm)
        truth = json.loads(vm.ask("go", 120))
        log = recorder.stop()
        self.check_log(truth, log)
        threads = [t for t in log.threads().values() if t["name"] == "alpha"]
        self.assertTrue(threads)
        self.assertNotEqual(threads[0]["tid"], threads[0]["ns_tid"])

    def test_a_user_namespace_of_its_own(self):
        self.check(self.start(ids=IDS))

    def test_no_user_namespace(self):
        self.check(self.start())


class Sidecar(Containers):
    def test_another_user(self):
        vm = self.start()
        self.assertNotIn("warning", self.record(vm, rights=OF_ANOTHER))

    def test_each_right_taken_away(self):
        """doctor names the one that is missing, and no other one; so does record."""
        vm = self.start()
        status, checks = self.doctor(vm, rights=OF_ANOTHER)
        self.assertEqual(status, 0, checks)
        printed.head("a sidecar lacks", "checks of doctor that fail", "the right that they name", "record")
        printed.row("nothing", "none", "none", "works")
        for right in OF_ANOTHER:
            with self.subTest(right=right):
                rights = set(OF_ANOTHER) - {right}
                status, checks = self.doctor(vm, rights=rights)
                self.assertEqual(status, 1, checks)
                said = " ".join(text for state, text in checks.values() if state != "ok")
                missing = [text for state, text in checks.values() if state == "missing"]
                self.assertTrue([text for text in missing if f"CAP_{right}" in text], checks)
                self.assertEqual(set(re.findall(r"CAP_(\w+)", " ".join(checks["capabilities"]))), {right})
                self.assertIn(f"CAP_{right}", said)
                refused = self.refusal(vm, rights=rights)
                self.assertIn(f"CAP_{right}", refused)
                printed.row(f"CAP_{right}", ", ".join(name for name, (state, _) in checks.items() if state == "missing"),
                            f"CAP_{right}", "refused, naming it")

    def test_without_touching_it(self):
        """No right to write, and nothing is written."""
        vm = self.start()
        self.assertNotIn("warning", self.record(vm, "--probes", "none", rights=UNTOUCHED))

    def test_the_same_user(self):
        """Neither tracing nor other users' files, but they must be ambient: whoever is not root has no others."""
        vm = self.start()
        rights = ("BPF", "PERFMON")
        self.assertNotIn("warning", self.record(vm, rights=rights, uid=USER, ambient=True))
        self.assertIn("CAP_BPF and CAP_PERFMON", self.refusal(vm, rights=rights, uid=USER))

    def test_root_of_a_jvm_with_rights(self):
        """Whoever lacks a right that the JVM has may not trace it, as the same user either."""
        vm = self.start(uid=0)
        said = self.refusal(vm, rights=("BPF", "PERFMON"))
        self.assertIn("CAP_SYS_PTRACE", said)
        self.assertNotIn("CAP_DAC_OVERRIDE", said)
        self.record(vm, rights=("BPF", "PERFMON", "SYS_PTRACE"))

    def test_root_of_a_jvm_without_rights(self):
        self.record(self.start(uid=0, rights=()), rights=("BPF", "PERFMON"))

    def test_a_user_namespace(self):
        """Whatever a container may there: BPF is for those of the machine's own user namespace."""
        vm = self.start(ids=IDS)
        status, checks = self.doctor(vm, rights=OF_ANOTHER, ids=IDS, user_namespace=vm.pid)
        self.assertEqual(status, 1)
        self.assertIn("user namespace", checks["bpf"][1])
        self.assertIn("user namespace", self.refusal(vm, rights=OF_ANOTHER, ids=IDS, user_namespace=vm.pid))

    def test_of_a_user_namespace(self):
        """The JVM is in one, spoor is not."""
        vm = self.start(ids=IDS)
        self.record(vm, rights=OF_ANOTHER)

    def test_not_in_its_pid_namespace(self):
        vm = self.start()
        _, said = self.machine.run(["spoor", "record", "-p", "orders", "-d", "1s"], rights=OF_ANOTHER,
                                   profile=docker_profile())
        self.assertIn("orders", said)
        status, said = self.machine.run(["spoor", "doctor"], rights=OF_ANOTHER, profile=docker_profile())
        self.assertIn("must share it", said)
        self.assertIsNotNone(vm.pid)


class Seccomp(Containers):
    def test_a_profile_that_forbids_bpf(self):
        """Podman's: with CAP_SYS_ADMIN only."""
        vm = self.start()
        status, checks = self.doctor(vm, rights=OF_ANOTHER, profile=podman_profile())
        self.assertEqual(status, 1)
        self.assertIn("seccomp", checks["bpf"][1])
        self.assertEqual(checks["capabilities"][0], "ok")
        self.assertIn("seccomp", self.refusal(vm, rights=OF_ANOTHER, profile=podman_profile()))
        self.record(vm, rights=(*OF_ANOTHER, "SYS_ADMIN"), profile=podman_profile())

    def test_a_profile_that_says_it_is_not_there(self):
        """As Podman's does of what it does not know: ENOSYS."""
        vm = self.start()
        profile = {**without_calls("bpf"), "defaultErrnoRet": errno.ENOSYS}
        status, checks = self.doctor(vm, rights=OF_ANOTHER, profile=profile)
        self.assertEqual(status, 1)
        self.assertIn("seccomp", checks["bpf"][1])
        self.assertIn("seccomp", self.refusal(vm, rights=OF_ANOTHER, profile=profile))

    def test_calls_that_an_old_profile_does_not_know(self):
        vm = self.start()
        said = self.refusal(vm, rights=OF_ANOTHER, profile=without_calls("pidfd_open"))
        self.assertRegex(said, "pidfd_open.*seccomp")
        said = self.record(vm, rights=OF_ANOTHER, profile=without_calls("perf_event_open", "close_range"), owners=BY_TICK)
        (self.assertNotRegex if BY_TICK else self.assertRegex)(said, r"warning: .*perf_event_open\(\) is refused")


class Kubernetes(Containers):
    """The manifests, as far as they say anything about the container of spoor."""

    def container_of(self, name, vm):
        import yaml
        with open(os.path.join(ROOT, "deploy/kubernetes", name), encoding="utf-8") as f:
            pod = yaml.safe_load(f)
        spec = pod["spec"].get("template", pod)["spec"]
        spoor = next(c for c in spec["containers"] if c["name"] == "spoor")
        context = spoor["securityContext"]
        self.assertTrue(context["readOnlyRootFilesystem"])
        self.assertFalse(context["allowPrivilegeEscalation"])
        self.assertEqual(context["capabilities"]["drop"], ["ALL"])
        self.assertEqual(context["seccompProfile"], {"type": "RuntimeDefault"})
        self.assertEqual([m["mountPath"] for m in spoor["volumeMounts"]], ["/spoor"])
        self.assertNotEqual(spec.get("hostPID", False), spec.get("shareProcessNamespace", False))
        with open(os.path.join(ROOT, "deploy/container/Containerfile"), encoding="utf-8") as f:
            entry = json.loads(re.search(r"^ENTRYPOINT (.*)$", f.read(), re.M).group(1))
        command = [word.replace("orders.jar", "service=orders") for word in
                   [*spoor.get("command", entry), *spoor["args"]]]
        where = {"host": True} if spec.get("hostPID") else {"shares": vm.pid}
        return self.machine.container(name.split(".")[0], command, profile=docker_profile(),
                                      rights=context["capabilities"]["add"], uid=context["runAsUser"], **where)

    def test_sidecar(self):
        """Process 1 of a pod is a container that does nothing: so spoor outlives the JVM."""
        pause = self.machine.container("pause", ["sleep", "infinity"], uid=USER).start()
        vm = self.start(shares=pause)
        self.assertNotEqual(vm.own_pid, 1)
        recorder = Recorder(self.container_of("sidecar.yaml", vm))
        self.addCleanup(recorder.close)
        truth = json.loads(vm.ask("go", 120))
        vm.end()
        self.assertEqual(recorder.wait(), 0, recorder.err)
        self.check_log(truth, self.log(sorted(os.listdir(self.machine.logs))[-1]))

    def test_watch(self):
        """What is in a pod is followed, and its log says in which; what is in none is not."""
        pod, container = "0a1b2c3d-4e5f-6071-8293-a4b5c6d7e8f9", f"{os.getpid():064x}"
        self.start()
        # It contends before it is ready, too, which a recording from its begin on has: that is of the second one.
        vm = self.start(cgroup=f"/kubepods/burstable/pod{pod}/{container}")
        watcher = Watcher(self.container_of("watch.yaml", None))
        self.addCleanup(watcher.close)
        watcher.wait_for("recording ")
        truth = json.loads(vm.ask("go", 120))
        vm.end()
        watcher.wait_for("recorded ")
        parts = os.listdir(os.path.join(self.machine.logs, "logs"))
        self.assertEqual(len(parts), 1, parts)
        second = self.start(cgroup=f"/kubepods/burstable/pod{pod}/{container[::-1]}")
        watcher.wait_for(f"recording {second.pid} to ")
        watcher.stop()
        log = self.log(f"logs/{parts[0]}")
        labels = log.header["labels"]
        self.assertEqual((labels["pod"], labels["container"]), (pod, container))
        self.check_log(truth, log, owners=False)
        self.assertEqual(len(os.listdir(os.path.join(self.machine.logs, "logs"))), 2)

    def test_node(self):
        vm = self.start()
        recorder = Recorder(self.container_of("node.yaml", vm))
        self.addCleanup(recorder.close)
        truth = json.loads(vm.ask("go", 120))
        vm.end()
        recorder.ended()
        self.check_log(truth, self.log("orders.spoor"))


class KilledAsAWhole(Containers):
    """By the runtime, as when a pod is deleted: no process of the container has a last word."""

    def flag(self, vm):
        said = subprocess.run([SPOOR, "doctor", "-p", str(vm.pid)], capture_output=True, text=True).stdout
        return next(line for line in said.splitlines() if "monitor-flag" in line)

    def kill(self, vm, *options):
        c = self.machine.container("spoor", ["spoor", "record", "-p", "1", "-o", "/spoor/log.spoor",
                                             *probes_of(options, self.PROBES)], **self.beside(vm, rights=OF_ANOTHER))
        recorder = Recorder(c)
        self.addCleanup(recorder.close)
        os.kill(c.pid(), signal.SIGSTOP)
        c.kill("KILL", whole=True)
        recorder.process.wait(DEADLINE_S)

    def test_the_flag_stays_on_until_it_is_repaired(self):
        vm = self.start()
        before = self.flag(vm)
        self.kill(vm)
        self.assertNotEqual(self.flag(vm), before)
        subprocess.run([SPOOR, "doctor", "--repair", "-p", str(vm.pid)], check=True, capture_output=True)
        self.assertEqual(self.flag(vm), before)

    def test_nothing_stays_without_probes(self):
        vm = self.start()
        before = self.flag(vm)
        self.kill(vm, "--probes", "none")
        self.assertEqual(self.flag(vm), before)


if __name__ == "__main__":
    unittest.main()
