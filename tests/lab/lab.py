"""Other kernels, and a real hypervisor, in software emulation: QEMU, Xen and a Debian kernel from Debian's packages,
unpacked into a cache (nothing is installed), and a small system in memory that runs a script and tells its results."""
import base64
import glob
import gzip
import io
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.environ.get("SPOOR_BUILD", os.path.join(ROOT, "build"))
CACHE = os.environ.get("SPOOR_LAB_CACHE") or os.path.join(BUILD, "lab")
FETCH_DEADLINE_S = 120
APT = ["apt-get", "-q", "-o", "Acquire::http::Timeout=15", "-o", "Acquire::Retries=1"]
# A model that both Xen and Debian's kernel start on; "max" has features that the emulation does not do right.
CPU_MODEL = "Nehalem"
# The emulated machine's clock counts instructions, 2 ns each, and leaps when there is nothing to do: so it has the same
# time in the same order whatever else this machine does. With a clock of real time, what is taken from the emulator
# itself would be missing in the guest, and no hypervisor there would know of it. (With more than one physical CPU
# Linux does not start up with it.) What an interrupt costs is so many instructions: at 8 ns each, 100 us and more, and a
# thread cannot tell them from theft. A load is cheap (500 million instructions take 1 to 2 s), the way up is not.
CLOCK = ("-accel", "tcg,thread=single", "-icount", "shift=1,sleep=off")
RESULTS = "LAB-RESULTS"


class LabError(Exception):
    """What did not work, for the user."""


class Unavailable(LabError):
    """The packages cannot be had: a reason to skip."""


def run(command, deadline_s=FETCH_DEADLINE_S, **how):
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=deadline_s, **how)
    except FileNotFoundError:
        raise Unavailable(f"there is no {command[0]} here") from None
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{shlex.join(command)}: not done within {deadline_s} s") from None
    return done


# --- packages ---------------------------------------------------------------------------------

class Packages:
    """Debian packages, unpacked in a folder of their own each; what is there already is not fetched again."""

    why_not = None

    def __init__(self, cache=CACHE):
        self.cache = cache
        os.makedirs(os.path.join(cache, "debs/partial"), exist_ok=True)

    def _apt(self, *words):
        # Its own archive folder, so that neither the machine's cache nor its locks are touched.
        done = run([*APT, "-o", f"Dir::Cache::archives={self.cache}/debs", "-o", "Debug::NoLocking=1",
                    "-o", "APT::Sandbox::User=root", *words], cwd=os.path.join(self.cache, "debs"),
                   env={**os.environ, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"})
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
            raise Unavailable(f"apt-get {words[0]} {words[-1]}: {last}")

    def unpack(self, name, fetch):
        """The folder of what fetch() puts into debs/, under a name; of what was fetched before."""
        where = os.path.join(self.cache, name)
        if os.path.exists(where):
            return where
        if self.why_not:
            raise Unavailable(self.why_not)
        for old in glob.glob(os.path.join(self.cache, "debs/*.deb")):
            os.unlink(old)
        try:
            fetch()
        except Unavailable:
            try:
                run([*APT, "update"])
                fetch()
            except Unavailable as why:
                Packages.why_not = str(why)  # nobody is to wait for it again
                raise
        partial = tempfile.mkdtemp(prefix=name + "-", dir=self.cache)
        debs = glob.glob(os.path.join(self.cache, "debs/*.deb"))
        for deb in debs:
            if run(["dpkg", "-x", deb, partial]).returncode:
                raise Unavailable(f"{os.path.basename(deb)} cannot be unpacked")
            os.unlink(deb)
        os.rename(partial, where)
        return where

    def one(self, package):
        """The folder of one package, without those that it depends on."""
        return self.unpack(package, lambda: self._apt("download", package))

    def with_dependencies(self, package):
        """The folder of a package and all that it needs and this machine does not have."""
        return self.unpack(package + "+", lambda: self._apt("install", "-y", "--download-only",
                                                             "--no-install-recommends", package))

    def kernel(self):
        """(vmlinuz, version) of the release's own kernel."""
        done = run(["apt-cache", "depends", "linux-image-amd64"])
        found = re.search(r"Depends: (linux-image-(\d\S+))", done.stdout)
        if not found:
            raise Unavailable("apt knows of no linux-image-amd64: is this Debian, and has apt-get update been run?")
        image = glob.glob(os.path.join(self.one(found[1]), "boot/vmlinuz-*"))
        if not image:
            raise Unavailable(f"{found[1]} has no kernel image")
        return image[0], found[2]

    def xen(self):
        """The hypervisor, unpacked (a multiboot loader takes no gzip)."""
        done = run(["apt-cache", "search", "--names-only", r"^xen-hypervisor-[0-9.]+-amd64$"])
        names = sorted(line.split()[0] for line in done.stdout.splitlines() if line.strip())
        if not names:
            raise Unavailable("apt knows of no xen-hypervisor-*-amd64")
        packed = [p for p in glob.glob(os.path.join(self.one(names[-1]), "boot/xen-*.gz")) if "dbg" not in p]
        if not packed:
            raise Unavailable(f"{names[-1]} has no hypervisor")
        image = packed[0][:-len(".gz")]
        if not os.path.exists(image):
            with gzip.open(packed[0]) as source, open(image + ".new", "wb") as to:
                shutil.copyfileobj(source, to)
            os.rename(image + ".new", image)
        return image

    def busybox(self):
        return os.path.join(self.one("busybox-static"), "bin/busybox")

    def qemu(self):
        """(command, environment) of QEMU: the machine's own, or the package's."""
        own = shutil.which("qemu-system-x86_64")
        if own:
            return [own], dict(os.environ)
        root = self.with_dependencies("qemu-system-x86")
        libs = [os.path.join(root, p) for p in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")]
        env = {**os.environ, "LD_LIBRARY_PATH": ":".join(libs), "QEMU_MODULE_DIR": os.path.join(libs[0], "qemu")}
        command = [os.path.join(root, "usr/bin/qemu-system-x86_64")]
        for folder in ("usr/share/qemu", "usr/share/seabios", "usr/lib/ipxe/qemu"):
            command += ["-L", os.path.join(root, folder)]
        tried = run([*command, "-version"], env=env)
        if tried.returncode:
            shutil.rmtree(root, ignore_errors=True)  # of another time, when the machine had other libraries
            raise Unavailable(f"QEMU does not start: {tried.stderr.strip()[-200:]}")
        return command, env


# --- the small system -------------------------------------------------------------------------

def cpio(entries):
    """A "newc" archive of {path: (mode, bytes)}."""
    out = io.BytesIO()

    def add(name, mode, data, number):
        raw = name.encode() + b"\0"
        head = "070701" + "".join(f"{v:08x}" for v in (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(raw), 0))
        out.write(head.encode() + raw)
        out.write(b"\0" * (-out.tell() % 4))
        out.write(data)
        out.write(b"\0" * (-out.tell() % 4))

    for number, (name, (mode, data)) in enumerate(sorted(entries.items()), 1):
        add(name, mode, data, number)
    add("TRAILER!!!", 0, b"", 0)
    return out.getvalue()


def libraries(program):
    """The shared libraries that a program is loaded with, by ldd."""
    done = run(["ldd", program])
    return re.findall(r"(/\S+) \(0x", done.stdout)


INIT = """#!/bin/busybox sh
/bin/busybox mkdir -p /proc /sys /dev /tmp /out /run
/bin/busybox --install -s /bin
export PATH=/bin HOME=/ LC_ALL=C
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
mount -t debugfs none /sys/kernel/debug 2>/dev/null
mount -t tracefs none /sys/kernel/tracing 2>/dev/null
mount -t securityfs none /sys/kernel/security 2>/dev/null
mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup
dmesg -n 1
ip link set lo up 2>/dev/null
echo "lab: $(uname -r), $(nproc) CPUs, up $(cut -d' ' -f1 /proc/uptime) s"
cd /out
step() {
	name=$1; shift
	echo "lab: $name ($(cut -d' ' -f1 /proc/uptime) s)"
	"$@" >"/out/$name" 2>"/out/$name.err"
	echo $? >"/out/$name.status"
}
. /script
echo "lab: done ($(cut -d' ' -f1 /proc/uptime) s)"
stty -F /dev/ttyS1 raw 115200
{ echo @RESULTS@; tar -C /out -cf - . | gzip | base64; echo @RESULTS@; } >/dev/ttyS1
sync
sleep 1
poweroff -f
sleep 60
""".replace("@RESULTS@", RESULTS)


def initramfs(packages, programs, script, files=()):
    """programs: {path in it: file}, with their libraries; files the same, as they are; script: of the shell, sourced
    with step NAME COMMAND...: the outputs, and NAME.err and NAME.status, are the results."""
    entries = {}

    def folder(path):
        while path and path not in entries:
            entries[path] = (stat.S_IFDIR | 0o755, b"")
            path = os.path.dirname(path)

    def put(path, data, mode=0o755):
        path = path.lstrip("/")
        folder(os.path.dirname(path))
        entries[path] = (stat.S_IFREG | mode, data)

    def copy(path, source):
        with open(source, "rb") as f:
            put(path, f.read())

    def copy_stripped(path, source):
        """What the emulated machine unpacks takes it long, and most of a program is for debuggers."""
        with tempfile.NamedTemporaryFile(prefix="spoor-lab-") as f:
            done = run(["strip", "--strip-debug", "-o", f.name, source])
            copy(path, source if done.returncode else f.name)

    copy("bin/busybox", packages.busybox())
    for path, source in dict(programs).items():
        copy_stripped(path, source)
    for path, source in dict(files).items():
        copy(path, source)
    for library in sorted({lib for source in dict(programs).values() for lib in libraries(source)}):
        copy(library, library)
    put("init", INIT.encode())
    put("script", script.encode(), 0o644)
    return gzip.compress(cpio(entries), 1)


# --- the machine ------------------------------------------------------------------------------

class Machine:
    """One boot, from start to power-off, with the results of its script. A machine with one_line has no second serial
    line: the results are in what its console says."""

    def __init__(self, command, env, deadline_s, one_line=False):
        self.folder = tempfile.mkdtemp(prefix="spoor-lab-")
        self.results_path = os.path.join(self.folder, "ttyS1")
        self.console = []
        self.begin = time.monotonic()
        self.deadline_s = deadline_s
        self.process = subprocess.Popen(
            [*command, "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
             *([] if one_line else ["-serial", "stdio"]), "-serial", "file:" + self.results_path], env=env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
            start_new_session=True)
        self._go_first()
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _go_first(self):
        """It takes minutes of a CPU, and its deadline does not know what else goes on here. A session of its own is a
        group of the scheduler's, whose niceness counts."""
        try:
            os.setpriority(os.PRIO_PROCESS, self.process.pid, -10)
            with open(f"/proc/{self.process.pid}/autogroup", "w", encoding="ascii") as f:
                f.write("-10")
        except OSError:
            pass  # not as root, or no such groups

    def _read(self):
        for line in self.process.stdout:
            line = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]|\r", "", line).rstrip()
            if line:
                self.console.append(f"{time.monotonic() - self.begin:6.1f} s  {line}")

    def _text(self):
        if not os.path.exists(self.results_path):
            return ""
        with open(self.results_path, encoding="ascii", errors="replace") as f:
            return f.read()

    def wait(self):
        """{name: bytes} of all results."""
        end = self.begin + self.deadline_s
        try:
            while self._text().count(RESULTS) < 2:
                if self.process.poll() is not None:
                    break
                if time.monotonic() > end:
                    raise LabError(f"not done within {self.deadline_s} s; its console:\n" + self.tail())
                time.sleep(0.1)
            text = self._text()
        finally:
            self.close()
        parts = text.split(RESULTS)
        if len(parts) != 3:
            raise LabError("it has ended without results; its console:\n" + self.tail())
        return unpack("".join(parts[1].split()))

    def tail(self):
        return "\n".join((self.console or self._text().splitlines())[-40:])

    def close(self):
        self.process.kill()
        self.process.wait()
        self.reader.join(10)
        self.process.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def unpack(text):
    try:
        with tarfile.open(fileobj=io.BytesIO(gzip.decompress(base64.b64decode(text)))) as tar:
            return {m.name[2:]: tar.extractfile(m).read() for m in tar.getmembers() if m.isfile()}
    except (ValueError, OSError, EOFError, tarfile.TarError) as err:
        raise LabError(f"the results have come out damaged: {err}") from None


def boot_linux(packages, archive, deadline_s, cpus=2, memory_mb=1024, options="", kernel=None):
    """A kernel on an emulated machine, the release's own unless it is given; options: more of its command line."""
    kernel = kernel or packages.kernel()[0]
    command, env = packages.qemu()
    return _boot(command, env, archive, deadline_s, [
        "-accel", "tcg,thread=single", "-smp", str(cpus), "-m", str(memory_mb), "-kernel", kernel,
        "-append", f"console=ttyS0 quiet panic=1 {options}"], "-initrd", "{archive}")


def boot_xen(packages, archive, deadline_s, cpus=2, memory_mb=2048):
    """The same kernel as Xen's first domain, with `cpus` virtual CPUs on one physical one."""
    kernel, _ = packages.kernel()
    xen = packages.xen()
    command, env = packages.qemu()
    # com1 is Xen's, with the domain's console on it; com2 the domain's own.
    return _boot(command, env, archive, deadline_s, [
        *CLOCK, "-smp", "1", "-m", str(memory_mb), "-kernel", xen,
        "-append", f"console=com1 com1=115200,8n1 dom0_mem={memory_mb // 2}M dom0_max_vcpus={cpus} loglvl=warning"],
        "-initrd", f"{kernel} console=hvc0 quiet panic=1,{{archive}}")


def _boot(command, env, archive, deadline_s, options, option, value):
    with tempfile.NamedTemporaryFile(prefix="spoor-lab-", suffix=".gz") as f:
        f.write(archive)
        f.flush()
        machine = Machine([*command, "-cpu", CPU_MODEL, *options, option, value.replace("{archive}", f.name)], env,
                          deadline_s)
        try:
            results = machine.wait()
        except BaseException:
            machine.close()
            raise
    return results, machine.console


if __name__ == "__main__":
    try:
        p = Packages()
        print(p.qemu()[0][0], p.kernel()[0], p.xen(), p.busybox(), sep="\n")
    except LabError as e:
        sys.exit(f"lab: {e}")
