"""spoor on an arm64 kernel, in software emulation: its BPF programs are verified, and the fake JVM is recorded.

What make ARCH=arm64 all fake unit-bins has built is booted with Debian's own kernel. Without it, or without its
packages, the tests are skipped. See docs/arm64.md."""
import glob
import importlib.machinery
import importlib.util
import json
import os
import subprocess
import tempfile
import unittest

import lab

BUILD = os.path.join(lab.BUILD, "arm64")
SYSROOT = os.environ.get("SPOOR_CROSS_CACHE", os.path.join(lab.BUILD, "sysroot")) + "/arm64"
LOADER = "lib/ld-linux-aarch64.so.1"
DEADLINE_S = 900
NS = 10**9
# What qemu-user cannot do: filters of system calls, openat2(), a process's own files.
UNIT = ("base/base_privilege", "jvm/target/jvm_mapped_file", "jvm/jvm_native", "jvm/elf/jvm_parser",
        "jvm/target/jvm_process", "record/launch")

SCRIPT = r"""
for test in /tests/*_test; do step ${test##*/} $test; done
mkfifo /tmp/in
/fake/fakejvm </tmp/in >/out/said 2>&1 & jvm=$!
exec 7>/tmp/in
answers=0
# ask WORDS...: a line to the fake JVM, and its answer
ask() {
	printf '%s\n' "$*" | tr ' ' '\t' >&7
	answers=$((answers + 1))
	n=0
	until [ "$(wc -l </out/said)" -ge $answers ]; do
		n=$((n + 1)); [ $n -gt 600 ] && { echo "lab: no answer to $*"; break; }
		sleep 0.1
	done
}
for line in "thread a anna" "thread b berta" "class Foo" "object o Foo 77" "monitor m o"; do ask $line; done
step doctor spoor doctor -p $jvm
for probes in usdt none cycles; do
	echo "lab: record $probes ($(cut -d' ' -f1 /proc/uptime) s)"
	options="--probes $probes"
	[ $probes = cycles ] && options="--probes none --sample=10ms,event=cycles"
	spoor record $options -o /tmp/$probes.spoor -p $jvm 2>/out/record.$probes & recorder=$!
	n=0
	until grep -q recording /out/record.$probes || [ $n -gt 600 ]; do n=$((n + 1)); sleep 0.1; done
	sleep 8
	ask in a own m
	ask go b enter m
	sleep 1
	ask in a exit m
	ask in b entered m
	ask join b
	ask in b exit m
	ask in a busy 300
	ask in a sleep 300
	sleep 2
	kill -INT $recorder
	wait $recorder
	echo $? >/out/record.$probes.status
	step report.$probes spoor report --format json /tmp/$probes.spoor
done
step samples spoor cat -e run_sample --resolve /tmp/cycles.spoor
"""


def sysroot():
    """The program that fetches packages of another architecture."""
    path = os.path.join(lab.ROOT, "deploy/cross/sysroot")
    loader = importlib.machinery.SourceFileLoader("sysroot", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("sysroot", loader))
    loader.exec_module(module)
    return module


def kernel_and_busybox(cache):
    """The folder into which both are unpacked."""
    where = os.path.join(cache, "arm64")
    if os.path.isdir(where):
        return where
    fetch = sysroot()
    with tempfile.TemporaryDirectory(dir=cache) as new:
        try:
            apt = fetch.apt_settings(new, "arm64")
            fetch.run("arm64 packages", ["apt-get", *apt, "update"])
            shown = subprocess.run(["apt-cache", *apt, "depends", "linux-image-arm64"], capture_output=True, text=True).stdout
            kernel = next(w for w in shown.split() if w.startswith("linux-image-") and w[len("linux-image-")].isdigit())
            os.mkdir(f"{new}/debs")
            for name in (kernel, "busybox-static"):
                done = subprocess.run(["apt-get", *apt, "download", name], cwd=f"{new}/debs", capture_output=True, text=True)
                if done.returncode:
                    raise lab.Unavailable(f"{name} cannot be fetched: {done.stderr.strip()[-200:]}")
            for deb in glob.glob(f"{new}/debs/*.deb"):
                fetch.run(deb, ["dpkg-deb", "-x", deb, f"{new}/root"])
        except (fetch.Failed, StopIteration) as err:
            raise lab.Unavailable(str(err)) from None
        os.rename(f"{new}/root", where)
    return where


def command_of(packages):
    """(command, environment) of the emulator."""
    root = packages.with_dependencies("qemu-system-arm")
    libs = [os.path.join(root, p) for p in ("usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu")]
    env = {**os.environ, "LD_LIBRARY_PATH": ":".join(libs), "QEMU_MODULE_DIR": os.path.join(libs[0], "qemu")}
    return [os.path.join(root, "usr/bin/qemu-system-aarch64"), "-L", os.path.join(root, "usr/share/qemu")], env


def entries_of(files, script):
    """The small system, as lab.initramfs makes it of this machine's programs."""
    entries = {"init": (0o100755, lab.INIT.replace("stty -F /dev/ttyS1 raw 115200\n", "").replace(
        "/dev/ttyS1", "/dev/console").encode()), "script": (0o100644, script.encode())}
    for path, source in files.items():
        folder = os.path.dirname(path)
        while folder:
            entries[folder] = (0o040755, b"")
            folder = os.path.dirname(folder)
        with open(source, "rb") as f:
            entries[path] = (0o100755, f.read())
    return entries


class Booted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.exists(os.path.join(BUILD, "tests/fake/fakejvm")) or not os.path.isdir(SYSROOT):
            raise unittest.SkipTest("nothing is built for arm64: make cross-setup, make ARCH=arm64 all fake unit-bins")
        try:
            packages = lab.Packages()
            root = kernel_and_busybox(packages.cache)
            command, env = command_of(packages)
        except lab.Unavailable as why:
            raise unittest.SkipTest(str(why)) from None
        with tempfile.TemporaryDirectory(prefix="spoor-arm64-") as folder:
            cls.results = cls.boot(folder, root, command, env)

    @classmethod
    def boot(cls, folder, root, command, env):
        files = {"bin/busybox": f"{root}/bin/busybox", "bin/spoor": f"{BUILD}/spoor", LOADER: f"{SYSROOT}/{LOADER}",
                 "fake/fakejvm": f"{BUILD}/tests/fake/fakejvm", "fake/libjvm.so": f"{BUILD}/tests/fake/libjvm.so"}
        for name in ("libc.so.6", "libm.so.6", "libgcc_s.so.1", "libcmocka.so.0"):
            path = os.path.realpath(f"{SYSROOT}/usr/lib/aarch64-linux-gnu/{name}")
            if not os.path.exists(path):
                path = os.path.realpath(f"{SYSROOT}/lib/aarch64-linux-gnu/{name}")
            files[f"lib/aarch64-linux-gnu/{name}"] = path
        for name in UNIT:
            files[f"tests/{os.path.basename(name)}_test"] = f"{BUILD}/tests/unit/{name}_test"
        files = {path: source for path, source in files.items() if os.path.exists(source)}
        with open(f"{folder}/ird", "wb") as f:
            f.write(lab.cpio(entries_of(files, SCRIPT)))
        machine = lab.Machine([*command, "-M", "virt", "-cpu", "cortex-a72", "-accel", "tcg,thread=multi", "-smp", "2", "-m",
                               "1024", "-kernel", glob.glob(f"{root}/boot/vmlinuz-*")[0], "-initrd", f"{folder}/ird",
                               "-append", "console=ttyAMA0 quiet panic=1"], env, DEADLINE_S, one_line=True)
        return {name: data.decode("utf-8", "replace") for name, data in machine.wait().items()}

    def report(self, probes):
        self.assertEqual(self.results[f"record.{probes}.status"].strip(), "0", self.results[f"record.{probes}"])
        self.assertIn(" 0 lost", self.results[f"record.{probes}"])
        return json.loads(self.results[f"report.{probes}"])

    def test_doctor(self):
        self.assertEqual(self.results["doctor.status"].strip(), "0", self.results["doctor"])
        self.assertIn("call chains are missing: spoor does not know how HotSpot's frames look on arm64",
                      self.results["doctor"])

    def ran(self, report):
        """What each thread has run, by name."""
        return {t["name"]: t["running_ns"] for t in report["threads"]}

    def test_probes_are_decoded(self):
        """One contention of a second and more: of whom, on what, held by whom."""
        report = self.report("usdt")
        self.assertEqual(report["contention"]["total"]["count"], 1)
        classes = report["contention"]["groups"]
        owners = classes[0]["groups"][0]["groups"]
        self.assertEqual([g["key"] for g in classes], [["Foo"]])
        self.assertEqual(owners[0]["key"], ["anna"])
        self.assertEqual(owners[0]["groups"][0]["key"], ["berta"])
        self.assertGreater(owners[0]["blocked_ns"], NS)
        self.assertGreater(self.ran(report)["anna"], 0.3 * NS)

    def test_switches_alone(self):
        report = self.report("none")
        self.assertGreater(self.ran(report)["anna"], 0.3 * NS)
        for thread in report["threads"]:
            self.assertEqual(thread["error_ns"], 0, thread)

    def test_samples_by_cycles(self):
        """The emulated CPU has a PMU. It counts emulated cycles: how many there are in a period depends on this machine."""
        running_ns = self.ran(self.report("cycles"))["anna"]
        samples = [json.loads(line) for line in self.results["samples"].splitlines()]
        anna = [e for e in samples if e["thread"]["name"] == "anna"]
        print(f"{len(anna)} samples in {running_ns / 1e6:.0f} ms", flush=True)
        self.assertGreater(len(anna), 3)

    def test_unit_tests(self):
        for name in UNIT:
            with self.subTest(name=name):
                base = os.path.basename(name) + "_test"
                self.assertEqual(self.results[base + ".status"].strip(), "0", self.results[base + ".err"])


if __name__ == "__main__":
    unittest.main()
