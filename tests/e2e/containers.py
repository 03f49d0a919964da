"""Containers by runc: a JVM in one, and spoor in another one beside it, in the pid namespace of the first one or not."""
import json
import os
import shutil
import subprocess

from harness import DEADLINE_S, SPOOR

PROFILE = "/usr/share/containers/seccomp.json"  # what Podman gives a container
# What Docker and containerd leave to root in a container that asks for nothing.
DEFAULT_RIGHTS = ("AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE",
                  "NET_RAW", "SETFCAP", "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT")
IDS = 65536  # of a user namespace


def why_no_containers():
    if os.geteuid():
        return "needs root, to make containers"
    missing = [f for f in ("/usr/sbin/runc", PROFILE) if not os.path.exists(f)]
    return f"there is no {missing[0]}: make test-setup" if missing else None


def podman_profile():
    """bpf() and perf_event_open() take CAP_SYS_ADMIN."""
    with open(PROFILE, encoding="utf-8") as f:
        return json.load(f)


def docker_profile():
    """As Docker's and containerd's are today: CAP_BPF is enough for bpf(), CAP_PERFMON for perf_event_open(). What they
    forbid is not permitted (EPERM); Podman says that it is not there (ENOSYS)."""
    profile = {**podman_profile(), "defaultErrnoRet": 1}
    for call, right in (("bpf", "CAP_BPF"), ("perf_event_open", "CAP_PERFMON")):
        for rule in profile["syscalls"]:
            rule["names"] = [name for name in rule["names"] if name != call]
        profile["syscalls"].append({"names": [call], "action": "SCMP_ACT_ALLOW", "includes": {"caps": [right]}})
    return profile


def without_calls(*calls):
    """Docker's, but for these system calls, which an old one does not know."""
    profile = docker_profile()
    for rule in profile["syscalls"]:
        rule["names"] = [name for name in rule["names"] if name not in calls]
    return profile


def seccomp(profile, rights):
    """A profile as Docker and Podman write them, as runc wants it: the rules that hold with these rights on x86-64."""
    rules = []
    for rule in profile["syscalls"]:
        include, exclude = rule.get("includes") or {}, rule.get("excludes") or {}
        if not set(include.get("caps") or ()) <= rights or set(exclude.get("caps") or ()) & rights:
            continue
        if "amd64" not in (include.get("arches") or ["amd64"]) or "amd64" in (exclude.get("arches") or []):
            continue
        one = {"names": rule["names"], "action": rule["action"], "args": rule.get("args") or []}
        if rule["action"] == "SCMP_ACT_ERRNO" and "errnoRet" in rule:
            one["errnoRet"] = rule["errnoRet"]
        if rule["names"]:
            rules.append(one)
    return {"defaultAction": profile["defaultAction"], "defaultErrnoRet": profile.get("defaultErrnoRet", 1),
            "architectures": ["SCMP_ARCH_X86_64"], "syscalls": rules}


class Container:
    """One that is going to run a command. rights: as a runtime gives them to user uid: whoever is not root has them in the
    bounding set only, unless they are ambient. shares: the pid namespace of this process; host: the machine's own. ids: a
    user namespace, a new one with the machine's ids from there on, or that of the process user_namespace, which has them.
    cgroup: its path, as a kubelet gives it."""

    def __init__(self, root, folder, command, rights=(), uid=0, ambient=False, profile=None, mounts=(), shares=None,
                 host=False, ids=None, user_namespace=None, cgroup=None):
        self.bundle = folder
        self.name = f"spoor-{os.getpid()}-{os.path.basename(folder)}"
        os.mkdir(folder)
        subprocess.run(["runc", "spec", "--bundle", folder], check=True)
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as f:
            config = json.load(f)
        rights = {f"CAP_{right}" for right in rights}
        names = sorted(rights)
        sets = ["bounding", "inheritable", "effective", "permitted", "ambient"] if ambient else \
            ["bounding"] if uid else ["bounding", "effective", "permitted"]
        config["process"].update(terminal=False, args=list(command), noNewPrivileges=True, user={"uid": uid, "gid": uid},
                                 capabilities={which: names for which in sets},
                                 rlimits=[{"type": "RLIMIT_NOFILE", "hard": 4096, "soft": 4096}],
                                 env=["PATH=/app:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"])
        config["root"] = {"path": root, "readonly": True}
        config["mounts"].append({"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["mode=1777"]})
        for here, there, how in mounts:
            config["mounts"].append({"destination": there, "type": "bind", "source": here, "options": ["rbind", how]})
        spaces = [{"type": kind} for kind in ("ipc", "uts", "mount", "network")]
        if not host:
            spaces.append({"type": "pid", **({"path": f"/proc/{shares}/ns/pid"} if shares else {})})
        if ids:
            spaces.append({"type": "user", **({"path": f"/proc/{user_namespace}/ns/user"} if user_namespace else {})})
            mapping = [{"containerID": 0, "hostID": ids, "size": IDS}]
            config["linux"].update(uidMappings=mapping, gidMappings=mapping)
        config["linux"]["namespaces"] = spaces
        if cgroup:
            config["linux"]["cgroupsPath"] = cgroup
        if profile:
            config["linux"]["seccomp"] = seccomp(profile, rights)
        with open(os.path.join(folder, "config.json"), "w", encoding="utf-8") as f:
            json.dump(config, f)

    def command(self):
        return ["runc", "run", "--bundle", self.bundle, self.name]

    def start(self):
        """Lets it run in the background; its first process."""
        subprocess.run(["runc", "run", "--detach", "--bundle", self.bundle, self.name], check=True,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return self.pid()

    def pid(self):
        """Its first process, as the machine knows it; None: it does not run."""
        state = subprocess.run(["runc", "state", self.name], capture_output=True, text=True)
        return json.loads(state.stdout)["pid"] or None if not state.returncode else None

    def kill(self, signal, whole=False):
        subprocess.run(["runc", "kill", *(["--all"] if whole else []), self.name, signal], check=True)

    def close(self):
        subprocess.run(["runc", "delete", "--force", self.name], capture_output=True)


class Machine:
    """The machine's own programs (/usr, /etc) in a root for containers, a folder for programs (/app), and one for logs
    (/spoor)."""

    def __init__(self, folder, classes):
        os.chmod(folder, 0o755)
        self.folder, self.containers = folder, []
        self.root, self.app, self.logs = (os.path.join(folder, name) for name in ("root", "app", "logs"))
        shutil.copytree(classes, self.app)
        os.chmod(self.app, 0o755)
        shutil.copy(SPOOR, self.app)
        os.mkdir(self.logs)
        os.chmod(self.logs, 0o777)
        for name in ("app", "dev", "etc", "proc", "spoor", "sys", "tmp", "usr"):
            os.makedirs(os.path.join(self.root, name))
        for name in ("bin", "lib", "lib64", "sbin"):
            os.symlink(f"usr/{name}", os.path.join(self.root, name))

    def container(self, name, command, **how):
        c = Container(self.root, os.path.join(self.folder, f"{name}{len(self.containers)}"), command,
                      mounts=[("/usr", "/usr", "ro"), ("/etc", "/etc", "ro"), (self.app, "/app", "ro"),
                              (self.logs, "/spoor", "rw")], **how)
        self.containers.append(c)
        return c

    def run(self, command, **how):
        """(exit status, what it says) of one that ends by itself."""
        c = self.container("run", command, **how)
        done = subprocess.run(c.command(), capture_output=True, text=True, timeout=DEADLINE_S)
        return done.returncode, done.stdout + done.stderr

    def close(self):
        for c in reversed(self.containers):
            c.close()
