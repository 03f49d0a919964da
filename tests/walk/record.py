#!/usr/bin/python3
"""Looks at running JVMs in all modes with walkimage, and records the images of tests/unit/bpf/hotspot_walk_test.c.

    tests/walk/record.py --build DIR [--images DIR] [--stops N] [--keep N] [--emulated ROOT] [MODE ...]

It says how many chains were right, by kind of location, and which were wrong. With --images it writes images there, in
place of those of the same modes: of each kind of location at most --keep. Needs root and a JDK 17.

--emulated: JVMs are those of an arm64 machine's root, in qemu-user (make walk-arm64).
"""
import argparse
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
E2E = os.path.join(os.path.dirname(HERE), "e2e")
DEADLINE_S = 900

# Name: JVM options, arguments of Stacks (how often each op is run alone first, rounds of meetings) or another program,
# options of walkimage. Alone there is one thread, "main", that is busy all the time; in meetings threads block.
ALONE = (10 ** 6, 1)
MEET = (20, 10 ** 6)
JAVA = ("--java", "--threads", "main", "--steps", "300")
THROWING = ("--java", "--throws", "--threads", "main", "--after", "3")
NO_INLINING = "-XX:CompileCommand=dontinline,Throws::*"
MODES = {
    "int": (["-Xint"], ALONE, JAVA),
    "c1": (["-XX:TieredStopAtLevel=1"], ALONE, JAVA),
    "c2": (["-XX:-TieredCompilation"], ALONE, JAVA),
    "tiered": ([], ALONE, JAVA),
    "comp": (["-Xcomp"], ALONE, (*JAVA, "--after", "20")),
    "parallel": (["-XX:+UseParallelGC"], ALONE, JAVA),
    "meet-int": (["-Xint"], MEET, ()),
    "meet-tiered": ([], MEET, ("--after", "3")),
    "meet-comp": (["-Xcomp"], (1, 10 ** 6), ("--after", "20")),
    "throws-c1": (["-XX:TieredStopAtLevel=1", NO_INLINING], "Throws", (*THROWING, "--steps", "2000")),
    "throws-c2": (["-XX:-TieredCompilation", NO_INLINING], "Throws", (*THROWING, "--steps", "2000")),
    "supers-c1": (["-XX:TieredStopAtLevel=1"], "Supers", ("--java", "--threads", "main", "--after", "3", "--steps", "600")),
    "deep": ([], "Deep", ("--threads", "main", "--steps", "20", "--after", "2")),
}
MANY = ("meet-int", "meet-tiered", "meet-comp")  # cheap: one location per stop


EMULATOR = "qemu-aarch64-static"
EMULATED_AFTER = ("--after", "40")  # s: it is slow, and begins with what the JVM cannot be asked about
EMULATED_JDK = "usr/lib/jvm/java-17-openjdk-arm64"


def tool(name):
    path = shutil.which(name)
    if not path:
        sys.exit(f"record: {name} is not in PATH")
    return path


def build(folder, emulated):
    include = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(tool("javac")))), "include")
    jni = ["aarch64-linux-gnu-gcc" if emulated else "gcc", "-D_GNU_SOURCE", "-O2", "-g", "-fPIC", "-shared", "-I" + os.path.dirname(os.path.dirname(HERE)),
           "-I" + include, "-I" + os.path.join(include, "linux")]
    subprocess.run([*jni, "-o", os.path.join(folder, "libagent.so"), os.path.join(HERE, "agent.c")], check=True)
    subprocess.run([*jni, "-o", os.path.join(folder, "libstacks.so"), os.path.join(E2E, "native/stacks.c")], check=True)
    subprocess.run([tool("javac"), "-d", folder, os.path.join(HERE, "Deep.java"),
                    os.path.join(HERE, "Throws.java"), os.path.join(HERE, "Supers.java"),
                    os.path.join(E2E, "programs/KernelThread.java"),
                    *glob.glob(os.path.join(E2E, "programs/Stacks*.java"))], check=True)


class Jvm:
    """Runs a program with the agent; Stacks is told to begin with its meetings as soon as it is ready."""

    def __init__(self, folder, emulated, options, arguments):
        self.file = os.path.join(folder, "agct")
        with open(self.file, "wb") as f:
            f.truncate(1 << 16)
        java = [tool("java")]
        if emulated:
            java = [tool(EMULATOR), "-L", emulated, os.path.join(emulated, EMULATED_JDK, "bin/java")]
        program = [arguments] if isinstance(arguments, str) else [
            "Stacks", os.path.join(folder, "libstacks.so"), *map(str, arguments)]
        self.process = subprocess.Popen(
            [*java, f"-agentpath:{os.path.join(folder, 'libagent.so')}={self.file}", *options, "-cp", folder,
             *program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            if line.startswith("ready"):
                self.process.stdin.write("\n")
                self.process.stdin.flush()
            else:
                print("java:", line, end="")

    def close(self):
        self.process.kill()
        self.process.wait()


def run(mode, options, build_folder, folder, out):
    jvm_options, arguments, more = MODES[mode]
    stops = options.stops * (20 if mode in MANY else 1)
    jvm = Jvm(folder, options.emulated, jvm_options, arguments)
    try:
        command = [os.path.join(build_folder, "tests/walk/walkimage"), "--wait", "--mode", mode, "--stops", str(stops),
                   *more, *(EMULATED_AFTER if options.emulated else ())]
        if out:
            command += ["--out", out]
        if options.verbose:
            command += ["--verbose"]
        return subprocess.run([*command, str(jvm.process.pid), jvm.file], timeout=DEADLINE_S).returncode
    finally:
        jvm.close()


def choose(out, images, keep):
    """Of each kind of location some images: of those modes that have the fewest so far, and small ones."""
    kinds, per_mode, count = {}, dict.fromkeys(MODES, 0), 0
    for path in glob.glob(os.path.join(out, "*.walk")):
        name = os.path.basename(path)
        mode = next((m for m in sorted(MODES, key=len, reverse=True) if name.startswith(m + "-")), None)
        if mode:
            kinds.setdefault(re.sub(r"-\d+\.walk$", "", name[len(mode) + 1:]), []).append((path, mode))
    for kind in sorted(kinds, key=lambda k: (len(kinds[k]), k)):
        for _ in range(min(keep, len(kinds[kind]))):
            path, mode = min(kinds[kind], key=lambda x: (per_mode[x[1]], os.path.getsize(x[0])))
            kinds[kind].remove((path, mode))
            per_mode[mode] += 1
            count += 1
            shutil.copy(path, images)
    print(count, "images of", len(kinds), "kinds of locations:", per_mode)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", default="build")
    parser.add_argument("--images")
    parser.add_argument("--stops", type=int, default=100)
    parser.add_argument("--keep", type=int, default=1)
    parser.add_argument("--emulated", metavar="ROOT")
    parser.add_argument("--verbose", action="store_true", help="each location that the walker gives up at")
    parser.add_argument("modes", nargs="*", metavar="MODE")
    options = parser.parse_args()
    modes = options.modes or list(MODES)
    wrong = []
    with tempfile.TemporaryDirectory(prefix="spoor-walk-") as folder:
        out = os.path.join(folder, "images")
        os.mkdir(out)
        build(folder, options.emulated)
        for mode in modes:
            print(f"== {mode}", flush=True)
            if run(mode, options, options.build, folder, out if options.images else None):
                wrong.append(mode)
        if options.images:
            os.makedirs(options.images, exist_ok=True)
            for path in glob.glob(os.path.join(options.images, "*.walk")):
                if any(os.path.basename(path).startswith(m + "-") for m in modes):
                    os.unlink(path)
            choose(out, options.images, options.keep)
    if wrong:
        sys.exit(f"record: wrong chains, or no end, in: {' '.join(wrong)}")


main()
