"""The image of deploy/container/Containerfile, made and run by Podman beside a JVM in another container of Podman's: with
the rights and the seccomp profiles of docs/containers.md. There is no registry here: of the image everything is made by the
Containerfile, but for its base, which has the C library and nothing else, and the program, which has been built already."""
import glob
import json
import os
import shutil
import subprocess
import tarfile
import unittest

import jvm
from containers import docker_profile, why_no_containers
from harness import BUILD, DEADLINE_S, ROOT, SPOOR, Log, spoor

UNPACKED = os.path.join(os.path.abspath(BUILD), "podman")
PODMAN = shutil.which("podman", path=os.path.join(UNPACKED, "usr/bin")) or shutil.which("podman")
LIMITS = ("--ulimit", "nofile=4096:4096", "--ulimit", "nproc=4096:4096")
UNTOUCHED = ("BPF", "PERFMON", "SYS_PTRACE", "DAC_READ_SEARCH")
USER = 1000


def c_library(program):
    """The shared libraries that a program needs, which are the C library's own."""
    shown = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
    found = [word for word in shown.split() if word.startswith("/")]
    others = [path for path in found if not os.path.basename(path).startswith(("libc.so", "libm.so", "ld-linux"))]
    if others:
        raise AssertionError(f"{program} needs more than the C library: {others}")
    return found


class Store:
    """Podman with images and containers of its own, none of the machine's."""

    def __init__(self, folder):
        self.folder = folder
        self.names = set()
        libraries = glob.glob(os.path.join(UNPACKED, "usr/lib/*-linux-gnu"))
        own = {"LD_LIBRARY_PATH": ":".join(libraries), "CONTAINERS_CONF": f"{folder}/containers.conf",
               "CONTAINERS_STORAGE_CONF": f"{folder}/storage.conf", "CONTAINERS_REGISTRIES_CONF": f"{folder}/registries.conf"}
        self.env = {**os.environ, **own}
        # A container's end is told by another Podman, which conmon starts with these variables only.
        conmon_env = json.dumps([f"{k}={v}" for k, v in own.items()])
        conmon = os.path.join(UNPACKED, "usr/bin/conmon")
        conmon = f'conmon_path=["{conmon}"]\n' if os.path.exists(conmon) else ""
        for name, text in (("storage.conf", f'[storage]\ndriver="vfs"\nrunroot="{folder}/run"\ngraphroot="{folder}/store"\n'),
                           ("containers.conf", f'[engine]\nevents_logger="none"\nconmon_env_vars={conmon_env}\n{conmon}'),
                           ("registries.conf", "")):
            with open(os.path.join(folder, name), "w", encoding="ascii") as f:
                f.write(text)
        self.podman = [PODMAN, "--root", f"{folder}/store", "--runroot", f"{folder}/run", "--tmpdir", f"{folder}/tmp",
                       "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--runtime", "/usr/sbin/runc"]

    def command(self, *words):
        """As a command that a test can start: with its environment."""
        own = [f"{k}={v}" for k, v in self.env.items() if os.environ.get(k) != v]
        return ["env", *own, *self.podman, *words]

    def run(self, *words, expect=0, **how):
        done = subprocess.run(self.command(*words), capture_output=True, text=True, timeout=DEADLINE_S, **how)
        if expect is not None and done.returncode != expect:
            raise AssertionError(f"podman {' '.join(words)}: {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def container(self, name, *words):
        """podman run, as a command; it ends with the store."""
        self.names.add(name)
        return self.command("run", "-i", "--rm", "--name", name, "--network", "none", *LIMITS, *words)

    def close(self):
        for name in self.names:
            self.run("rm", "--force", "--ignore", "--time", "0", name, expect=None)
        self.run("rmi", "--all", "--force", expect=None)


class Podman(jvm.JavaTest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        why = why_no_containers() or (None if PODMAN else "there is no podman: make podman-setup")
        if why:
            raise unittest.SkipTest(why)

    def setUp(self):
        super().setUp()
        os.chmod(self.tmp, 0o755)
        self.store = Store(self.tmp)
        self.addCleanup(self.store.close)
        self.base()
        self.logs, self.app = (os.path.join(self.tmp, name) for name in ("logs", "app"))
        os.mkdir(self.logs)
        shutil.copytree(self.classes, self.app)
        os.chmod(self.app, 0o755)

    def base(self):
        """localhost/base: the C library."""
        image = os.path.join(self.tmp, "base.tar")
        with tarfile.open(image, "w") as tar:
            for path in c_library(SPOOR):
                tar.add(os.path.realpath(path), path)
        self.store.run("import", image, "localhost/base")

    def build(self):
        """localhost/spoor, by the Containerfile, which is given what it would have built."""
        built = os.path.join(self.tmp, "built")
        os.makedirs(os.path.join(built, "src/build"))
        shutil.copy(SPOOR, os.path.join(built, "src/build/spoor"))
        self.store.run("build", "--network", "none", "-f", os.path.join(ROOT, "deploy/container/Containerfile"),
                       "--build-context", "debian:12-slim=container-image://localhost/base",
                       "--build-context", f"build={built}", "-t", "localhost/spoor", self.logs)

    def start(self):
        """A JVM of a user's, with what Podman gives it, in a container that has the machine's programs."""
        command = self.store.container("jvm", "--user", str(USER), "-v", "/usr:/usr:ro", "-v", "/etc:/etc:ro",
                                       "-v", f"{self.app}:/app:ro", "localhost/base",
                                       "/usr/bin/java", "-cp", "/app", "Known", "100", "1")
        vm = jvm.Java(command)
        self.addCleanup(vm.close)
        return vm.wait_ready()

    def beside(self, profile, *words, rights=UNTOUCHED, name="spoor"):
        """spoor in the JVM's pid namespace, with these rights only."""
        path = os.path.join(self.tmp, "seccomp.json")
        if profile:
            with open(path, "w", encoding="ascii") as f:
                json.dump(profile, f)
        return self.store.container(name, "--pid", "container:jvm", "--cap-drop", "all",
                                    *(word for right in rights for word in ("--cap-add", right)), "--read-only",
                                    *(["--security-opt", f"seccomp={path}"] if profile else []),
                                    "-v", f"{self.logs}:/spoor", "localhost/spoor", *words)

    def ask(self, *command, **how):
        done = subprocess.run(self.beside(*command, **how), capture_output=True, text=True, timeout=DEADLINE_S)
        return done.returncode, done.stdout + done.stderr

    def test_the_image_beside_a_jvm(self):
        self.build()
        told = json.loads(self.store.run("inspect", "localhost/spoor").stdout)[0]["Config"]
        self.assertEqual((told["Entrypoint"], told["WorkingDir"]), (["spoor"], "/spoor"))
        vm = self.start()
        # Podman's own profile: bpf() is for CAP_SYS_ADMIN.
        status, said = self.ask(None, "doctor", "-p", "1")
        self.assertEqual(status, 1, said)
        self.assertIn("a seccomp filter", " ".join(said.split()))
        # One that knows CAP_BPF, as the docs say.
        status, said = self.ask(docker_profile(), "doctor", "-p", "1")
        self.assertEqual(status, 0, said)
        self.assertNotIn("seccomp", said)
        recorder = subprocess.Popen(self.beside(docker_profile(), "record", "--probes", "none", "-p", "1", "-o",
                                                "/spoor/log.spoor"), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(recorder.stderr.close)
        self.addCleanup(recorder.wait)
        self.addCleanup(recorder.kill)
        said = recorder.stderr.readline()
        self.assertIn("recording 1 to", said)
        truth = json.loads(vm.ask("go", 120))
        self.store.run("kill", "--signal", "INT", "spoor")
        said = recorder.stderr.read()
        self.assertEqual(recorder.wait(DEADLINE_S), 0, said)
        self.assertNotIn("warning", said)
        self.check(truth)

    def check(self, truth):
        path = os.path.join(self.logs, "log.spoor")
        spoor("verify", path)
        log = Log(path)
        self.assertEqual(log.lost(), {})
        wanted, got = {}, {}
        for b in truth["blocked"]:
            key = b["lock_class"], b["waiter"], b["owner"]
            wanted[key] = wanted.get(key, 0) + 1
        for lock in log.report("--by", "lock_class,waiter_thread,owner_thread")["groups"]:
            for waiter in lock["groups"]:
                for owner in waiter["groups"]:
                    got[lock["key"][0], waiter["key"][0], owner["key"][0]] = owner["count"]
        self.assertEqual({key: got.get(key) for key in wanted}, wanted, got)


if __name__ == "__main__":
    unittest.main()
