"""From a source package to a libjvm.so: unpack, patch, configure, build."""
import glob
import os
import re
import shutil
import time

from jvmbuild.work import Failed, say

CONF = "spoor"
UTILITIES = "src/hotspot/share/utilities"
PROBES = f"{UTILITIES}/spoorProbes.h"
# The headers of jvm-hooks that the patches include, and what they are called there.
HEADERS = {"probes.h": PROBES, "objects.h": f"{UTILITIES}/spoorObjectWords.h",
           "graph.h": f"{UTILITIES}/spoorGraphBytes.h"}
# HotSpot uses none of these libraries, but configure wants to see that the JDK could.
STUBS = ("cups/cups.h", "cups/ppd.h", "fontconfig/fontconfig.h", "alsa/asoundlib.h")
LIBJVM = f"build/{CONF}/support/modules_libs/java.base/server/libjvm.so"
OBJECTS = f"build/{CONF}/hotspot/variant-server/libjvm/objs"
JOB_KB = 1 << 20


def unpack(work, source):
    """The path of the tree, with the distribution's own patches in it if it is a source package."""
    upstream = glob.glob(os.path.join(glob.escape(source), "*.orig.tar.xz"))
    if len(upstream) == 1 and os.listdir(source) == [os.path.basename(upstream[0])]:
        src = work.path("src")
        os.makedirs(src)
        work.must("cannot unpack the source", ["tar", "-xf", upstream[0], "--no-same-owner", "--strip-components=1",
                                               "-C", src])
        return src
    dsc = glob.glob(os.path.join(glob.escape(source), "*.dsc"))
    if len(dsc) != 1:
        raise Failed(f"{source} should hold one .dsc file, and holds {len(dsc)}: remove it, and run make jvm again")
    src = work.path("src")
    work.must("cannot unpack the source", ["dpkg-source", "--no-copy", "-x", dsc[0], src])
    return src


def series(folder):
    """Paths of the patches, in order. Each patch of the folder must be in its series."""
    path = os.path.join(folder, "series")
    try:
        with open(path, encoding="utf-8") as f:
            names = [name for line in f for name in line.split("#")[0].split()]
    except FileNotFoundError as e:
        raise Failed(f"there is no {path}") from e
    there = {os.path.basename(p) for p in glob.glob(os.path.join(glob.escape(folder), "*.patch"))}
    for what, wrong in (("names what is not there", set(names) - there), ("does not name", there - set(names))):
        if wrong:
            raise Failed(f"{path} {what}: {', '.join(sorted(wrong))}")
    return [os.path.join(folder, name) for name in names]


def apply_patches(work, src, hooks, patches):
    """hooks: the folder of HEADERS."""
    for name, path in HEADERS.items():
        shutil.copyfile(os.path.join(hooks, name), os.path.join(src, path))
    for path in patches:
        status, output = work.run(["patch", "-p1", "-F0", "--force", "--no-backup-if-mismatch", "-i", path], cwd=src)
        if status:
            raise Failed(f"{os.path.basename(path)} does not apply to this source:\n{rejected(output)}")


def rejected(output):
    """Of what patch printed, the files that it failed in, and where."""
    told, current = [], ""
    for line in output.splitlines():
        match = re.match(r"(?:checking|patching) file (.*)", line)
        current = match[1] if match else current
        if re.match(r"Hunk #\d+ (?:FAILED|ignored)", line):
            told.append(f"  {current}: {line}")
        elif re.match(r"can't find file|patch: \*\*\*|\d+ out of \d+ hunks? ignored", line):
            told.append(f"  {line}")
        elif re.match(r"\|?\+\+\+ ", line):
            told.append(f"  {line.lstrip('|')}")
    return "\n".join(told or output.splitlines()[-5:])


def knows(src, option):
    """Whether the source's configure has the option. Debian's patches add one, and make it mandatory."""
    for path in glob.glob(os.path.join(glob.escape(src), "make/autoconf/*.m4")):
        with open(path, encoding="utf-8") as f:
            if f"AC_ARG_WITH({option}," in f.read():
                return True
    return False


def configure(work, src, boot_jdk, version, without):
    """without: features of the JVM that are not built."""
    stub = work.path("stub")
    for name in STUBS:
        path = os.path.join(stub, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write("/* HotSpot does not need it. */\n")
    build = re.search(r"\+(\d+)", version)
    work.must("cannot configure the source", [
        "bash", "configure", f"--with-conf-name={CONF}", f"--with-boot-jdk={boot_jdk}", "--with-jvm-variants=server",
        "--with-jvm-features=" + ",".join(["dtrace", *(f"-{name}" for name in without)]),
        "--enable-headless-only", "--disable-warnings-as-errors", "--disable-javac-server", "--without-jtreg",
        "--with-debug-level=release", "--with-native-debug-symbols=none",
        "--with-version-pre=", f"--with-version-build={build[1] if build else 0}", "--with-version-opt=spoor",
        *(["--with-pcsclite=bundled"] if knows(src, "pcsclite") else []),
        "--with-freetype=bundled", "--with-zlib=bundled",
        f"--with-cups-include={stub}", f"--with-fontconfig-include={stub}",
        f"--with-alsa-include={stub}", f"--with-alsa-lib={stub}"], cwd=src)


def jobs():
    """One for each CPU, if there is memory for it."""
    with open("/proc/meminfo", encoding="ascii") as f:
        available = re.search(r"^MemAvailable:\s+(\d+)", f.read(), re.M)
    most = int(available[1]) // JOB_KB if available else 1
    return max(1, min(len(os.sched_getaffinity(0)), most))


class Progress:
    """Tells each tenth of the files that the compiler is done with."""

    def __init__(self, work, src):
        self.work = work
        self.objects = os.path.join(src, OBJECTS)
        self.begin = time.monotonic()
        self.total = 0
        self.told = 0

    def __call__(self):
        if not self.total:
            match = re.search(r"libjvm\.so from (\d+) file", self.work.logged())
            self.total = int(match[1]) if match else 0
            return
        done = len(glob.glob(os.path.join(glob.escape(self.objects), "*.o")))
        if done * 10 // self.total > self.told:
            self.told = done * 10 // self.total
            minutes = (time.monotonic() - self.begin) / 60
            say("CXX", f"{done} of {self.total} files, {minutes:.1f} minutes")


def build(work, src):
    """The path of the new libjvm.so."""
    # NICE: the JDK's make would put itself behind everything else.
    command = ["make", f"CONF_NAME={CONF}", "NICE=env", f"JOBS={jobs()}", "LOG=warn", "hotspot-server-libs"]
    work.must("cannot build libjvm.so", command, cwd=src, while_waiting=Progress(work, src))
    return os.path.join(src, LIBJVM)
