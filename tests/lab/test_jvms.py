"""JVMs in an emulator: the patched one on Debian 12's kernel, Linux 6.1, whose verifier gives programs less stack; and a
profile where Xen gives two virtual CPUs half of one."""
import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import lab
import test_lab
from test_lab import text

sys.path.append(os.path.join(os.path.dirname(lab.HERE), "e2e"))

import jvm  # noqa: E402
from harness import Log  # noqa: E402
from samples import Samples  # noqa: E402
from soaking import only_in_soak  # noqa: E402

# The JVM is in a root of its own, /j, with this machine's libraries.
RECORD = test_lab.COMMON + r"""
mkdir -p /j/proc /j/tmp /j/dev
mount -t proc none /j/proc
mount -o bind /tmp /j/tmp
mount -t devtmpfs none /j/dev
mkfifo /tmp/go
chroot /j /jdk/bin/java -XX:-UseContainerSupport -cp /classes @PROGRAM@ </tmp/go >/tmp/said 2>/out/java.err & java=$!
exec 6>/tmp/go
until_lines /tmp/said 1 300
echo "lab: java ($(cut -d' ' -f1 /proc/uptime) s)"
step doctor spoor doctor -p $java
spoor record -p $java @OPTIONS@ -o /out/log.spoor 2>/out/record.err & recorder=$!
n=0
until grep -q '^spoor: recording' /out/record.err || ! kill -0 $recorder || [ $n -gt 1200 ]; do n=$((n + 1)); sleep 0.1; done
echo "lab: recording ($(cut -d' ' -f1 /proc/uptime) s)"
echo go >&6
@MEANWHILE@
until_lines /tmp/said 2 300
kill -INT $recorder
wait $recorder
echo $? >/out/record.status
cp /tmp/said /out/said
kill $java
exec 6>&-
wait $java
"""
LIBRARIES = ("libc", "libm", "libz", "libpthread", "libdl", "librt", "libgcc_s", "libstdc++")


def root_files(home):
    """{path in the small system: file}: the JDK at home, with the libraries that it is run with."""
    files = {"j/lib64/ld-linux-x86-64.so.2": os.path.realpath("/lib64/ld-linux-x86-64.so.2")}
    for name in LIBRARIES:
        for path in glob.glob(f"/usr/lib/x86_64-linux-gnu/{name}.so.[0-9]"):
            files[f"j/lib/x86_64-linux-gnu/{os.path.basename(path)}"] = os.path.realpath(path)
    wanted = ["bin/java", "lib/modules", "lib/jvm.cfg", "lib/tzdb.dat", "lib/server/libjvm.so", "conf/security/java.security",
              *(f"lib/lib{name}.so" for name in ("jli", "java", "jimage", "zip", "nio", "net", "management",
                                                 "management_ext", "extnet"))]
    for name in wanted:
        path = os.path.join(home, name)
        if os.path.exists(path):
            files[f"j/jdk/{name}"] = os.path.realpath(path)
    return files


class JvmTest(test_lab.LabTest):
    programs = {"bin/spoor": test_lab.SPOOR}

    def boot(self, home, program, options="", machine=lab.boot_linux, meanwhile=""):
        """(what the program has said, the log)."""
        classes = jvm.java_classes("programs/*.java")
        name = program.split()[0]
        type(self).files = {**root_files(home), **{f"j/classes/{os.path.basename(path)}": path
                                                          for path in glob.glob(f"{classes}/{name}*.class")}}
        script = RECORD.replace("@PROGRAM@", program).replace("@OPTIONS@", options).replace("@MEANWHILE@", meanwhile)
        self.boot_once(lambda packages, archive, deadline_s: machine(packages, archive, deadline_s, memory_mb=3072),
                       script)
        said = text(self.results, "said").splitlines()
        why = "\n".join(text(self.results, f) for f in ("java.err", "record.err", "doctor")) + "\n".join(self.console[-9:])
        self.assertEqual(len(said), 2, why)
        self.assertEqual(text(self.results, "record.status").strip(), "0", why)
        folder = tempfile.TemporaryDirectory(prefix="spoor-lab-")
        self.addCleanup(folder.cleanup)
        path = os.path.join(folder.name, "log.spoor")
        with open(path, "wb") as f:
            f.write(self.results["log.spoor"])
        kernel = re.search(r"Linux (\S+)", text(self.results, "doctor"))[1]
        print(f"Linux {kernel}: {text(self.results, 'record.err').strip()}")
        return json.loads(said[1]), Log(path)


class Patched(JvmTest):
    """Each contention is there, with its holder, and no number is missing."""

    def check(self, home):
        threads, times = 3, 40
        counts, log = self.boot(home, f"Blocked {threads} {times}")
        self.assertEqual(log.lost(), {})
        named = {number: t["name"] for number, t in log.threads().items()}
        enters = [e for e in log.raw_of("monitor_contended_enter") if named[e["thread"]] in counts]
        self.assertEqual({e["owner_source"] for e in enters} - {"java_thread", "stack_lock", "none"}, set())
        self.assertTrue(all(e["sequence"] for e in enters))
        with tempfile.NamedTemporaryFile(prefix="spoor-lab-", suffix=".spoor") as f:
            f.write(self.results["log.spoor"])
            f.flush()
            checked = subprocess.run([test_lab.SPOOR, "verify", f.name], capture_output=True, text=True)
        self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
        self.assertNotIn("missing", checked.stdout)
        ends = collections.Counter(named[e["thread"]] for e in log.raw_of("monitor_contended_entered"))
        for name, count in counts.items():
            self.assertEqual(sum(named[e["thread"]] == name for e in enters), count,
                             f"{name} of {counts}, ends: {ends}, verify: {checked.stdout}")
        print(f"{counts}; {checked.stdout.strip().splitlines()[-1]}")

    def test_17(self):
        home = os.environ.get("SPOOR_JVM")
        if not home:
            self.skipTest("there is no patched JVM")
        self.check(home)


@only_in_soak
class Theft(JvmTest):
    """Xen gives each of two virtual CPUs half of a physical one, by turns of some ms. What threads are sampled in is right all the
    same: a sample stands for the CPU time since the one before, in which nothing stolen is."""

    def test_half_and_half(self):
        home = os.path.dirname(os.path.dirname(os.path.realpath(jvm.jdk_tool("java"))))
        said, log = self.boot(home, "Half 4", "--sample=1ms --fragments=64K", lab.boot_xen)
        self.assertEqual(log.lost(), {})
        fragments = {e["result"]: e["count"] for e in log.raw_of("fragment_stats") if e["bytes"] == 65536}
        print(f"fragments: {fragments}")
        self.assertGreater(fragments["equal"], 500)
        self.assertNotIn("different", fragments)
        named = {t["name"]: number for number, t in log.threads().items()}
        ran = {name: Samples(log, named[name]) for name in said}
        print({name: (round(s.sum_ns / 1e6), round(said[name] / 1e6), s.results) for name, s in ran.items()})
        for name, samples in ran.items():
            with self.subTest(thread=name):
                inside = sum(w for w, chain, _ in samples.list if ("Half", name) in chain)
                self.assertGreater(inside, 0.9 * samples.sum_ns)  # the rest: the thread begins, and asks for its clock
                self.assertEqual(sum(w for w, chain, _ in samples.list if ("Half", self.other(name)) in chain), 0)
        left, right = (ran[name].sum_ns for name in ("left", "right"))
        self.assertAlmostEqual(left / (left + right), 0.5, delta=0.1)
        threads = {t["name"]: t["states"] for t in log.report()["threads"]}
        stolen = {name: threads[name]["stolen_ns"] for name in said}
        clocks = {e["cpu"]: e["jvm_stolen_ns"] for e in log.raw_of("cpu_sample")}
        print(f"stolen: {stolen}; of all threads {sum(t['stolen_ns'] for t in threads.values())}, by the clocks {clocks}")
        for name, samples in ran.items():  # their own clocks go on while Xen has the CPU
            self.assertGreater(stolen[name], 0.35 * said[name])
            self.assertAlmostEqual((samples.sum_ns + stolen[name]) / said[name], 1, delta=0.03)
        self.assertAlmostEqual(sum(t["stolen_ns"] for t in threads.values()) / sum(clocks.values()), 1, delta=0.01)

    def other(self, name):
        return "right" if name == "left" else "left"


@only_in_soak
class Hotplug(JvmTest):
    """A CPU goes away while its clock runs, and comes back: samples go on, and what threads ran is all there."""
    MEANWHILE = """
sleep 2
echo 0 >/sys/devices/system/cpu/cpu1/online
cat /sys/devices/system/cpu/online >/out/fewer
cut -d' ' -f1 /proc/uptime >/out/gone
sleep 3
echo 1 >/sys/devices/system/cpu/cpu1/online
cut -d' ' -f1 /proc/uptime >/out/back
cat /sys/devices/system/cpu/online >/out/all
"""

    def check(self, options):
        home = os.path.dirname(os.path.dirname(os.path.realpath(jvm.jdk_tool("java"))))
        said, log = self.boot(home, "Half 9", options, meanwhile=self.MEANWHILE)
        self.assertEqual([text(self.results, name).strip() for name in ("fewer", "all")], ["0", "0-1"])
        self.assertEqual(log.lost(), {})
        # CLOCK_MONOTONIC and /proc/uptime are the same where nothing has been suspended.
        gone, back = (float(text(self.results, name)) * 1e9 for name in ("gone", "back"))
        named = {t["name"]: number for number, t in log.threads().items()}
        for name, cpu_ns in said.items():
            samples = [e for e in log.raw_of("run_sample") if e["thread"] == named[name]]
            parts = [sum(e["time_ns"] < gone for e in samples), sum(gone <= e["time_ns"] < back for e in samples),
                     sum(e["time_ns"] >= back for e in samples)]
            print(f"{name}: {cpu_ns / 1e6:.0f} ms, {Samples(log, named[name]).sum_ns / 1e6:.0f} sampled; before, without, after: {parts}")
            self.assertGreater(min(parts), 20)
            self.assertAlmostEqual(Samples(log, named[name]).sum_ns / cpu_ns, 1, delta=0.03)

    def test_timers(self):
        self.check("--sample=10ms")

    def test_clocks(self):
        self.check("--sample=10ms,event=cpu-clock")


if __name__ == "__main__":
    unittest.main()
