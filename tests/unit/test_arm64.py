"""The BPF objects of the other architecture compile, which needs no cross compiler, and know its registers only."""
import os
import shutil
import subprocess
import tempfile
import unittest

from program import ROOT
from soaking import slow

OBJECTS = ("spoor.bpf.o", "audit.bpf.o")
# Members of struct pt_regs, as relocations name them.
REGISTERS = {"arm64": {"pc", "sp", "regs", "syscallno", "orig_x0"}, "x86_64": {"ip", "bp", "orig_ax", "r13", "di"}}
BPFTOOL = "/usr/sbin/bpftool" if os.path.exists("/usr/sbin/bpftool") else shutil.which("bpftool")


def make(folder, arch, *words):
    """make of a plain environment: MAKEFLAGS and O of the one that has started the tests are not its own."""
    env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "O", "CC")}
    return subprocess.run(["make", "-s", "-C", ROOT, f"ARCH={arch}", f"O={folder}", *words], env=env,
                          capture_output=True, text=True)


class OtherArchitecture(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="spoor-arch-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    @slow
    def test_objects_compile_and_name_its_registers(self):
        paths = [os.path.join(self.folder, name) for name in OBJECTS]
        done = make(self.folder, "arm64", "-j2", *paths)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        types = subprocess.run([BPFTOOL, "btf", "dump", "file", paths[0], "format", "c"], capture_output=True,
                               text=True)
        self.assertEqual(types.returncode, 0, types.stderr)
        registers = types.stdout.split("\nstruct pt_regs {", 1)[1].split("\n}", 1)[0]
        words = set(registers.replace(",", " ").replace(";", " ").replace("[", " ").split())
        self.assertEqual(words & REGISTERS["arm64"], REGISTERS["arm64"])
        self.assertFalse(words & REGISTERS["x86_64"], registers)

    def test_both_spellings_are_one(self):
        wanted = [make(self.folder, arch, "-n", "all") for arch in ("arm64", "aarch64")]
        self.assertEqual([w.returncode for w in wanted], [0, 0], wanted[0].stderr + wanted[1].stderr)
        self.assertEqual(wanted[0].stdout, wanted[1].stdout)
        self.assertIn("aarch64-linux-gnu-gcc", wanted[0].stdout)
        self.assertIn("-D__TARGET_ARCH_arm64", wanted[0].stdout)

    def test_one_that_is_not_known_is_refused(self):
        done = make(self.folder, "riscv64", "-n", "all")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not for riscv64", done.stderr)


if __name__ == "__main__":
    unittest.main()
