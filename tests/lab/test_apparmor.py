"""AppArmor, as container runtimes use it: spoor and the JVM under one profile, under two, and spoor under none; on Debian's
kernel, which has it on. The profile says what runtimes' own say: everything but mounts and the kernel's own files, and
tracing of what is under the same profile only."""
import os
import subprocess
import tempfile
import unittest

import lab
import test_lab
from test_lab import text

PROFILE = """
profile %s flags=(attach_disconnected,mediate_deleted) {
  capability,
  file,
  network,
  signal,
  unix,
  umount,
  deny mount,
  deny /sys/** wkl,
  deny /proc/sys/** wkl,
  deny /proc/sysrq-trigger rwkl,
  deny /proc/kcore rwkl,
  ptrace (trace, read, tracedby, readby) peer=%s,
}
"""
SCRIPT = test_lab.COMMON + r"""
cat /sys/module/apparmor/parameters/enabled >/out/enabled
step load dd if=/t/policy of=/sys/kernel/security/apparmor/.replace bs=1M
# under PROFILE COMMAND...
under() { profile=$1; shift; ( echo "exec $profile" >/proc/self/attr/apparmor/exec; exec "$@" ); }
mkfifo /tmp/commands
under pod /t/fakejvm </tmp/commands >/tmp/answers & fake=$!
exec 6>/tmp/commands
until_lines /tmp/answers 1 30
pid=$(sed -n '1s/ok \([0-9]*\).*/\1/p' /tmp/answers)
cat /proc/$pid/attr/apparmor/current >/out/label
step same_doctor under pod /bin/spoor doctor -p $pid
step same under pod /bin/spoor record -p $pid -d 300ms -o /out/same.spoor
step none under pod /bin/spoor record -p $pid -d 300ms --probes none -o /out/none.spoor
step outside /bin/spoor record -p $pid -d 300ms -o /out/outside.spoor
step apart_doctor under other /bin/spoor doctor -p $pid
step apart under other /bin/spoor record -p $pid -d 300ms -o /out/apart.spoor
exec 6>&-
wait $fake
"""


def policy(packages, folder):
    """What the kernel is given of the two profiles, made by the package's own compiler."""
    root = packages.one("apparmor")
    source, binary = (os.path.join(folder, name) for name in ("profiles", "policy"))
    with open(source, "w", encoding="ascii") as f:
        f.write("".join(PROFILE % (name, name) for name in ("pod", "other")))
    features = os.path.join(root, "etc/apparmor.d/abi/3.0")
    done = lab.run([os.path.join(root, "sbin/apparmor_parser"), "--config-file", "/dev/null", "--skip-kernel-load",
                    "--skip-cache", "--kernel-features", features, "--policy-features", features, "--ofile", binary, source])
    if done.returncode:
        raise lab.LabError(f"apparmor_parser: {done.stderr}")
    return binary


class AppArmor(test_lab.LabTest):
    programs = test_lab.Debian.programs

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="spoor-lab-")
        cls.addClassCleanup(folder.cleanup)
        try:
            cls.files = {**test_lab.Debian.files, "t/policy": policy(lab.Packages(), folder.name)}
        except lab.Unavailable as why:
            raise unittest.SkipTest(str(why)) from None
        cls.boot_once(lab.boot_linux, SCRIPT)

    def test_profiles(self):
        said = {name: (text(self.results, f"{name}.status").strip(),
                       text(self.results, name) + text(self.results, f"{name}.err"))
                for name in ("load", "same_doctor", "same", "none", "outside", "apart_doctor", "apart")}
        self.assertEqual((text(self.results, "enabled").strip(), said["load"][0]), ("Y", "0"), said["load"][1])
        self.assertEqual(text(self.results, "label").strip(), "pod (enforce)")
        for name in ("same_doctor", "same", "none", "outside"):
            with self.subTest(name):
                self.assertEqual(said[name][0], "0", said[name][1])
        for name in ("same", "none", "outside"):
            with self.subTest(name), tempfile.NamedTemporaryFile(prefix="spoor-lab-") as f:
                f.write(self.results[f"{name}.spoor"])
                f.flush()
                subprocess.run([test_lab.SPOOR, "verify", f.name], check=True, capture_output=True)
        for name in ("apart_doctor", "apart"):
            with self.subTest(name):
                status, words = said[name]
                self.assertEqual(status, "1", words)
                self.assertIn("AppArmor or SELinux confines spoor as 'other (enforce)', and the process as 'pod (enforce)'",
                              " ".join(words.split()))


if __name__ == "__main__":
    unittest.main()
