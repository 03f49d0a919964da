"""The program that `make all` builds has what compiler and linker offer against faults in memory (docs/security.md).
The program is looked at as checksec does, by readelf and nm of binutils, and so is each object of spoor's sources."""
import os
import platform
import re
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("SPOOR_BUILD", os.path.join(ROOT, "build"))
PROGRAM = os.path.join(BUILD, "spoor")
SWITCHES = ["-fstack-protector-strong", "-fstack-clash-protection", "-fPIE", "-ftrivial-auto-var-init=zero"]
# With _FORTIFY_SOURCE each call of these becomes one of __NAME_chk. snprintf is not here: gcc leaves a call of it alone
# where its bound is known to fit.
ALWAYS_CHECKED = {"printf", "fprintf", "sprintf", "asprintf", "vprintf", "vfprintf", "vsprintf", "vsnprintf", "dprintf"}
IS_X86 = platform.machine() == "x86_64"


def tool(*command):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", check=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def segments(path):
    """[(type, virtual address, size in memory, flags)] of an ELF file."""
    row = re.compile(r"^ +([A-Z_]+) +0x\w+ 0x(\w+) 0x\w+ 0x\w+ 0x(\w+) ([R ][W ][E ]) ", re.M)
    found = row.finditer(tool("readelf", "-lW", path))
    return [(m[1], int(m[2], 16), int(m[3], 16), m[4].replace(" ", "")) for m in found]


def sections(path):
    """[(name, address, flags)] of what an ELF file has in memory."""
    row = re.compile(r"\] (\S+) +[A-Z_]+ +(\w{16}) \w+ \w+ \w+ +([A-Z]*A[A-Z]*) ")
    return [(m[1], int(m[2], 16), m[3]) for m in row.finditer(tool("readelf", "-SW", path))]


def all_undefined(paths):
    """{path: names}, of all in one run: a start of nm for each object takes five seconds of CPU."""
    found = {path: set() for path in paths}
    for line in tool("nm", "-uA", *paths).splitlines():
        path, name = line.rsplit(maxsplit=2)[0].rstrip(":"), line.split()[-1]
        found[path].add(name.split("@")[0])
    return found


def undefined(path):
    return all_undefined([path])[path]


def by_file(what, paths, *options):
    """{path: what readelf says}, of all in one run."""
    parts = re.split(r"^File: (.*)\n", tool("readelf", what, *options, *paths), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def objects():
    """Of spoor's own sources; the compiler of the program, not of the sanitized one."""
    found = []
    for folder in ("user", "steal"):
        for where, _, names in os.walk(os.path.join(BUILD, folder)):
            found += [os.path.join(where, n) for n in names if n.endswith(".o")
                      and os.path.exists(os.path.join(ROOT, os.path.relpath(where, BUILD), n[:-2] + ".c"))]
    return sorted(found)


def faults(path):
    """What the ELF program lacks."""
    rows = segments(path)
    dynamic = tool("readelf", "-dW", path)
    loads = [r for r in rows if r[0] == "LOAD"]
    parts = sections(path)
    got = [at for name, at, _ in parts if name in (".got", ".got.plt")]
    relro = [r for r in rows if r[0] == "GNU_RELRO"]
    foreign = [name for name, at, kind in parts if "X" not in kind
               if any("E" in flags and begin <= at < begin + size for _, begin, size, flags in loads)]
    checks = {
        "position independent": re.search(r"FLAGS_1.*\bPIE\b", dynamic),
        "bound when loaded": re.search(r"\(FLAGS\).*BIND_NOW", dynamic) and re.search(r"FLAGS_1.*\bNOW\b", dynamic),
        "relocations read-only": relro and got and all(any(at <= g < at + size for _, at, size, _ in relro)
                                                       for g in got),
        "stack not executable": [r[3] for r in rows if r[0] == "GNU_STACK"] == ["RW"],
        "nothing writable and executable": not any("W" in flags and "E" in flags for _, _, _, flags in rows),
        "code in pages of its own": len([r for r in loads if "E" in r[3]]) == 1 and not foreign,
        "no path of libraries": not re.search(r"\((RPATH|RUNPATH)\)", dynamic),
        "no relocation of code": not re.search(r"\(TEXTREL\)", dynamic),
        "stack protector": "__stack_chk_fail" in undefined(path),
        "calls with bounds": {"__snprintf_chk", "__vsnprintf_chk", "__memcpy_chk", "__read_chk"} <= undefined(path),
    }
    return [what for what, good in checks.items() if not good]


class Hardening(unittest.TestCase):
    def test_the_program(self):
        self.assertEqual(faults(PROGRAM), [])

    def test_a_plain_program_has_faults(self):
        """The check sees each of them: a program that is built with nothing has all."""
        folder = tempfile.mkdtemp(prefix="spoor-test-")
        self.addCleanup(shutil.rmtree, folder)
        source, path = os.path.join(folder, "plain.c"), os.path.join(folder, "plain")
        with open(source, "w", encoding="utf-8") as f:
            f.write('int puts(const char *);\nint main(void) { return puts("x"); }\n')
        tool("gcc", "-O0", "-no-pie", "-fno-stack-protector", "-Wl,-z,lazy,-z,norelro,-z,execstack,-z,noseparate-code,"
             "-rpath,/nowhere", "-o", path, source)
        self.assertEqual(set(faults(path)), {
            "position independent", "bound when loaded", "relocations read-only", "stack not executable",
            "nothing writable and executable", "code in pages of its own", "no path of libraries", "stack protector",
            "calls with bounds"})

    def test_the_objects_were_compiled_so(self):
        """Debian 12's static libraries lack the property of CET, and the program with them: its own objects have it."""
        wanted = SWITCHES + (["-fcf-protection=full"] if IS_X86 else [])
        found = objects()
        self.assertGreater(len(found), 100)
        calls = all_undefined(found)
        notes, producers = by_file("-nW", found), by_file("--debug-dump=info", found, "--dwarf-depth=1")
        seen = 0
        for path in found:
            with self.subTest(object=os.path.relpath(path, BUILD)):
                self.assertEqual(calls[path] & ALWAYS_CHECKED, set())
                if IS_X86:
                    self.assertRegex(notes[path], r"x86 feature:.*IBT")
                    self.assertRegex(notes[path], r"x86 feature:.*SHSTK")
                made = re.search(r"DW_AT_producer.*: (GNU C.*|clang.*)", producers[path])
                if made:
                    seen += 1
                    self.assertEqual([w for w in wanted if w not in made[1].split()], [], made[1])
        if not seen:
            self.skipTest("built without -g: what it was compiled with cannot be seen")


class Flags(unittest.TestCase):
    """make compiles anew what was compiled with other flags: a program is never half hardened."""

    def test_other_flags_compile_anew(self):
        folder = tempfile.mkdtemp(prefix="spoor-test-")
        self.addCleanup(shutil.rmtree, folder)
        made = os.path.join(folder, "user/base/text/units.o")

        def make(*variables):
            given = {"O": folder, **dict(v.split("=", 1) for v in variables)}
            target = os.path.join(given["O"], os.path.relpath(made, folder))
            tool("env", "-u", "MAKEFLAGS", "-u", "MAKELEVEL", "make", "-C", ROOT,
                 *(f"{k}={v}" for k, v in given.items()), target)
            return os.stat(made).st_mtime_ns, "__stack_chk_fail" in undefined(made)

        first = make()
        self.assertEqual(make(), first)
        # By whatever name the folder is given: who builds anew what others are running takes it from them.
        self.assertEqual(make(f"O={os.path.relpath(folder, ROOT)}"), first)
        other = make("HARDEN=")
        self.assertNotEqual(other, first)
        self.assertEqual((first[1], other[1]), (True, False))
        self.assertEqual(make("HARDEN="), other)
        self.assertEqual(make()[1], first[1])


if __name__ == "__main__":
    unittest.main()
