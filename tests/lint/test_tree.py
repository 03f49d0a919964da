"""spoor's own tree keeps the rules; and a tree that breaks each of them is seen to."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import rooms
import rules

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
GEN = os.path.join(ROOT, "schemas/gen.py")
CONTRIBUTING = os.path.join(ROOT, "docs/contributing.md")
ROOMS_BEGIN, ROOMS_END = (f"<!-- python3 tests/lint/rooms.py: {at} -->" for at in ("begin", "end"))


class Tree(unittest.TestCase):
    """One test for each rule."""


def add(rule):
    def test(self):
        wrong = list(rule(rules.Tree(ROOT)))
        self.assertFalse(wrong, "\n" + "\n".join(wrong))
    setattr(Tree, f"test_{rule.__name__}", test)


for one in rules.RULES:
    add(one)


class Schema(unittest.TestCase):
    def test_the_description_is_not_stale(self):
        done = subprocess.run([sys.executable, "-B", GEN, os.path.join(ROOT, "schemas/events.in.json"), "--check-docs"],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


class Page(unittest.TestCase):
    """What is compiled into spoor html is what web/src builds, and nothing in it makes markup of a text."""

    def test_the_page_is_what_its_sources_build(self):
        done = subprocess.run([sys.executable, "-B", os.path.join(ROOT, "web/build"), "--check"], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_no_text_becomes_markup_or_script(self):
        forbidden = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|createContextualFragment|srcdoc|"
                               r"\beval\b|new Function|\bfetch\(|XMLHttpRequest|WebSocket|sendBeacon|https?://(?!www\.w3\.org/2000/svg)")
        folder = os.path.join(ROOT, "web/src")
        for name in sorted(os.listdir(folder)):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                for number, line in enumerate(f, 1):
                    self.assertIsNone(forbidden.search(line), f"{name}:{number}: {line}")
                    if not name.endswith(".html"):
                        self.assertLessEqual(len(line.rstrip("\n")), 120, f"{name}:{number}")


def table_of_rooms(text):
    """The lines between the two marks in docs/contributing.md."""
    return text.split(ROOMS_BEGIN + "\n")[1].split(ROOMS_END + "\n")[0].splitlines()


class Rooms(unittest.TestCase):
    def test_contributing_shows_the_table_of_rooms(self):
        with open(CONTRIBUTING, encoding="utf-8") as f:
            shown = table_of_rooms(f.read())
        self.assertEqual(shown, list(rooms.table()), "put the output of tests/lint/rooms.py into docs/contributing.md")


GOOD = {
    "user/main.c": '#include "cmd/cmd.h"\nint main(void)\n{\n\treturn cmd_x();\n}\n',
    "user/cmd/cmd.h": "/* cmd/cmd.h: commands. */\n#pragma once\n\nint cmd_x(void);\n",
    "user/cmd/x.c": '#include "cmd/cmd.h"\n#include "log/format/codec.h"\n#include "record/kernel/features/uprobe_multi.h"\n\n'
                    'static const int limits[] = {1, 2};\nstatic const char *const names[] = {"a"};\n'
                    'static volatile sig_atomic_t stop;\nstatic int (*const runs[])(int x) = {0};\n'
                    'struct x {\n\tint y;\n};\nenum { A, B };\nstruct z;\nstatic int later(int x);\n\nint cmd_x(void)\n{\n\treturn printf("%d /proc/x is read", '
                    'limits[0] + log_x() + probe_x() + z_x());\n}\n'
                    'static void y(const char *name)\n{\n\tprint_text(stdout, "%s", name);\n\tputchar(\'\\n\');\n'
                    '\tfprintf(stderr, *name ? "100 %% of %" PRIu64 : "%5.1f %%s", 3);\n'
                    '\tfputs(*name ? *name == \'?\' ? "a" : "b" : "c, (" "d", stdout);\n}\n',
    "user/log/format/codec.h": "/* log/format/codec.h: logs. */\n#pragma once\n\nint log_x(void);\n",
    "user/log/format/codec.c": '#include "log/format/codec.h"\n#include <msgpack.h>\n\n/* printf( and exit( in a comment */\n'
                      'int log_x(void)\n{\n\treturn fprintf(stderr, "stdout exit(1)");\n}\n',
    "user/record/kernel/features/uprobe_multi.h": "/* record/kernel/features/uprobe_multi.h: probes. */\n#pragma once\n\nint probe_x(void);\n",
    "user/record/kernel/features/uprobe_multi.c": '#include <bpf/libbpf.h>\n#include "bpf/wire/wire.h"\n#include "record/kernel/features/uprobe_multi.h"\n'
                          'int probe_x(void)\n{\n\treturn open("/proc/self/maps");\n}\n',
    "user/log/format/y.h": '/* log/format/y.h: x. */\n#pragma once\n\n#include "log/format/codec.h"\n\nstruct twice {\n\tint y;\n};\n',
    "user/analyze/park/parking.h": "/* analyze/park/parking.h: x. */\n#pragma once\n\nstruct parking {\n\tint y;\n};\n",
    "user/analyze/park/parks.h": "/* analyze/park/parks.h: x. */\n#pragma once\n\nstruct parks {\n\tint y;\n};\n",
    "user/analyze/park/parking_row.c": "const struct analysis_row parking_analysis = {\n\t.x = 1,\n};\n",
    "user/analyze/registry/parks_row.c": "const struct analysis_row parks_analysis = {\n\t.x = 1,\n};\n",
    "user/report/model/parking.c": '#include "analyze/park/parking.h"\n',
    "user/base/w.h": "/* base/w.h: x. */\n#pragma once\n\nint y_x(void);\nint z_x(void);\n",
    "user/base/z.c": "int z_x(void)\n{\n\treturn y_x();\n}\n",
    "bpf/wire/wire.h": "/* bpf/wire/wire.h: records. */\n#pragma once\n",
    "bpf/lib/x.bpf.h": '/* bpf/lib/x.bpf.h: maps. */\n#pragma once\n\n#include "jvm-hooks/probes.h"\n',
    "jvm-hooks/probes.h": "/* jvm-hooks/probes.h: probes. */\n#pragma once\n",
    "user/base/arch/arch_x86_64.c": 'static const char *const regs[] = {"rdi"};\n',
    "user/base/n.c": '/* of x86-64, in rax */\nstatic void n(void)\n{\n\t__asm__ volatile("nop");\n}\n',
    "steal/stat.c": 'static int stat_x(void)\n{\n\treturn open("/proc/stat");\n}\n',
}

# What each rule must see: the rule, the file, its text; the good tree has everything else.
BAD = [
    ("analyses_are_found", "user/analyze/park/spread.c", "const struct analysis_row\n\tspread_analysis = {\n};\n"),
    ("analyses_are_found", "user/analyze/park/hidden.c", "static const struct analysis_row hidden_analysis = {\n};\n"),
    ("includes_point_down", "user/log/format/up.c", '#include "cmd/cmd.h"\n'),
    ("includes_point_down", "user/log/format/wire.c", '#include "bpf/wire/wire.h"\n'),
    ("includes_point_down", "user/jvm/hooks.c", '#include "jvm-hooks/probes.h"\n'),
    ("includes_point_down", "user/report/text/side.c", '#include "record/kernel/features/uprobe_multi.h"\n'),
    ("includes_point_down", "user/jvm/target/side.c", '#include "log/format/codec.h"\n'),
    ("includes_point_down", "user/record/kernel/bpf.c", '#include "bpf/lib/x.bpf.h"\n'),
    ("includes_point_down", "user/analyze/threads/y.c", '#include "analyze/park/parking.h"\n'),
    ("includes_point_down", "user/cmd/y.c", '#include "log/format/y.h"\n'),
    ("includes_point_down", "user/report/model/y.c", '#include "analyze/park/parks.h"\n'),
    ("includes_point_down", "user/other/y.c", "\n"),
    ("no_circle_of_includes", "user/log/format/codec.h",
     '/* log/format/codec.h: logs. */\n#pragma once\n\n#include "log/format/y.h"\n\nint log_x(void);\n'),
    ("no_circle_of_calls", "user/base/y.c", "int y_x(void)\n{\n\treturn z_x();\n}\n"),
    ("names_are_unique", "user/report/text/codec.c", "\n"),
    ("names_are_unique", "user/report/text/z.h", "/* report/text/z.h: x. */\n#pragma once\n\nstruct twice {\n\tint x;\n};\n"),
    ("libraries_have_one_room", "user/cmd/y.c", "#include <bpf/btf.h>\n"),
    ("libraries_have_one_room", "user/record/kernel/y.c", "#include <msgpack.h>\n"),
    ("proc_is_read_in_three_rooms", "user/cmd/y.c", 'static int y(void)\n{\n\treturn open("/proc/self/stat");\n}\n'),
    ("stdout_is_written_in_two_rooms", "user/log/format/y.c", 'static void y(void)\n{\n\tprintf("x");\n}\n'),
    ("stdout_is_written_in_two_rooms", "steal/y.c", 'static void y(void)\n{\n\tfputs("x", stdout);\n}\n'),
    *[("foreign_text_goes_through_print", "user/cmd/y.c", "static void y(const char *name)\n{\n\t" + call + ";\n}\n")
      for call in ('printf("%s", name)', 'fprintf(stderr, "x %-10s y", name)', "fputs(name, stdout)", "puts(name)",
                   "printf(name)", "putchar(*name)", "fwrite(name, 1, 3, stdout)", 'printf("%.*s", 3, name)',
                   'fputs(*name ? name : "none", stdout)', 'fputs(*name ? "some" : name, stdout)',
                   'fprintf(stderr, *name ? "%u" : "%c", 3)', "json_dumpf(root, stdout, 0)", "vfprintf(stderr, name, ap)",
                   'printf("(" "%d)" "%s", 3, name)', "perror(name)", "print_own(stdout, name)")],
    *[("a_targets_files_have_one_door", path, line) for path, line in (
        ("user/record/kernel/y.c", 'static const char y[] = "/proc/%d/root%s";\n'),
        ("user/jvm/elf/libjvm.c", 'static const char y[] = "/proc/%d/map_files/x";\n'),
        ("user/jvm/elf/libjvm.c", "#include <gelf.h>\n"), ("user/record/kernel/unwind.c", "#include <elfutils/libdw.h>\n"),
        ("user/jvm/native.c", "static int y(void)\n{\n\treturn unwind_open(1);\n}\n"),
        ("user/jvm/elf/unwind.c", "static int y = ELF_C_READ_MMAP;\n"),
        ("user/record/kernel/y.c", "static int y(void)\n{\n\treturn bpf_program__attach_usdt(1);\n}\n"))],
    *[("architecture_is_in_its_tables", path, line) for path, line in (
        ("user/jvm/target/y.c", "#if defined(__x86_64__)\n#endif\n"),
        ("user/jvm/target/y.c", 'static const char *const y = "8@%rdi";\n'),
        ("user/jvm/target/y.c", "#include <asm/ptrace.h>\n"), ("steal/y.c", "#include <cpuid.h>\n"),
        ("user/jvm/target/y.c", "static const int y = EM_X86_64;\n"),
        ("user/jvm/target/y.c", 'static const char *const y = "/usr/lib/x86_64-linux-gnu/libc.so";\n'),
        ("user/jvm/target/y.c", "static const char y[] = {0x90};\n"), ("user/jvm/y.c", "#define PAGE 4096ull\n"),
        ("user/base/y.c", 'static void y(void)\n{\n\t__asm__ volatile("rep movsb");\n}\n'),
        ("bpf/lib/y.bpf.h", "static int y(struct pt_regs *regs)\n{\n\treturn regs->orig_ax == 202;\n}\n"),
        ("bpf/probes/y.bpf.c", "static int y(struct pt_regs *regs)\n{\n\treturn regs->ip;\n}\n"),
        ("bpf/probes/y.bpf.c", "#if defined(__TARGET_ARCH_arm64)\n#endif\n"))],
    ("nobody_exits", "user/cmd/y.c", "static void y(void)\n{\n\texit(1);\n}\n"),
    ("sizes", "user/log/format/long.c", "\n" * 801),
    ("sizes", "user/log/format/long.h", "/* log/format/long.h: x. */\n#pragma once\n" + "\n" * 119),
    ("sizes", "user/log/format/wide.c", "\t\t/* " + "x" * 84 + " */\n"),
    ("functions_are_short", "user/log/format/y.c", "static void y(void)\n{\n" + "\ty();\n" * 81 + "}\n"),
    ("headers_begin_alike", "user/log/format/y.h", "#pragma once\n"),
    ("headers_begin_alike", "user/log/format/y.h", "/* log/format/z.h: another name. */\n#pragma once\n"),
    ("headers_begin_alike", "user/log/format/y.h", "/* log/format/y.h: x. */\n\nint y(void);\n#pragma once\n"),
    ("nothing_to_do", "user/log/format/y.c", "/* TODO: later */\n"),
    ("no_mutable_globals", "user/log/format/y.c", "static int count;\n"),
    ("no_mutable_globals", "user/log/format/y.c", "static int count = 3;\n"),
    ("no_mutable_globals", "user/log/format/y.c", "static char buffer[20];\n"),
    ("no_mutable_globals", "user/log/format/y.c", "static const char *name;\n"),
    ("no_mutable_globals", "user/log/format/y.c", "static const char *names[] = {\"a\"};\n"),
    ("no_mutable_globals", "user/log/format/y.c", "static struct y state;\n"),
    ("no_mutable_globals", "user/log/format/y.c", "static struct {\n\tint x;\n} state;\n"),
    ("no_mutable_globals", "user/log/format/y.c", "static volatile sig_atomic_t flag;\n"),
    ("no_mutable_globals", "user/log/format/y.c", "static int (*hook)(int x);\n"),
    ("no_mutable_globals", "user/log/format/y.c", "int shared;\n\nint y(void)\n{\n\tint local = 1;\n\n\treturn local;\n}\n"),
    ("everything_is_static_or_declared", "user/log/format/y.c", "int y(void)\n{\n\treturn 0;\n}\n"),
    *[("nothing_unused", "user/base/v.h", "/* base/v.h: x. */\n#pragma once\n\n" + text) for text in (
        "int v_x(void);\n", "struct v *v_x(const struct v *v, int (*each)(void *ctx, int x),\n\t\tint x);\n",
        "extern const int v_x[3];\n", "static inline int v_x(void)\n{\n\treturn 1;\n}\n",
        'void v_x(const char *s, ...) __attribute__((format(printf, 1, 2)));\n')],
    ("includes_are_single", "user/cmd/y.c", '#include "cmd/cmd.h"\n#include <stdio.h>\n\n#include "cmd/cmd.h"\n'),
    *[("texts_are_added_to_by_length", "user/cmd/y.c", "static void y(char *b, size_t n)\n{\n\t" + call + ";\n}\n")
      for call in ('snprintf(b + n, 8 - n, "x")', 'n += (size_t)snprintf(b, 8, "x")',
                   'n += (size_t)snprintf(\n\t\tb + n, 8 - n, "x")')],
    ("nothing_private", "docs/y.md", "see /work/" + "main/docs\n"),
]


class TheRulesThemselves(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp(prefix="spoor-lint-")
        self.addCleanup(shutil.rmtree, self.root)
        for path, text in GOOD.items():
            self.write(path, text)

    def write(self, path, text):
        full = os.path.join(self.root, path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "w", encoding="utf-8") as f:
            f.write(text)

    def test_a_good_tree_passes(self):
        for rule in rules.RULES:
            with self.subTest(rule=rule.__name__):
                self.assertEqual(list(rule(rules.Tree(self.root))), [])

    def test_each_rule_sees_what_breaks_it(self):
        of_one_file = {rule.__name__ for rule in rules.RULES} - {"rooms_are_small"}
        self.assertEqual({name for name, _, _ in BAD}, of_one_file)
        for name, path, text in BAD:
            with self.subTest(rule=name, text=text[:60]):
                self.write(path, text)
                wrong = list(getattr(rules, name)(rules.Tree(self.root)))
                os.unlink(os.path.join(self.root, path))
                self.assertTrue(any(w.startswith(path + ":") for w in wrong), f"not seen: {wrong}")

    def test_a_room_of_too_many_files_is_seen(self):
        for i in range(rules.ROOM_FILES):
            self.write(f"user/heap/script/many_{i}.c", "")
        self.assertEqual(list(rules.rooms_are_small(rules.Tree(self.root))), [])
        self.write("user/heap/script/one_more.h", "/* heap/script/one_more.h: x. */\n#pragma once\n")
        self.assertEqual([w.split(":")[0] for w in rules.rooms_are_small(rules.Tree(self.root))], ["user/heap/script"])

    def test_what_rows_declare_is_declared(self):
        """By a header that makes a prototype of each row of a .def file."""
        self.write("user/base/rows.def", "ROW(ONE, one)\nROW(THREE, three)\n#undef ROW\n")
        self.write("user/base/rows.h", '/* base/rows.h: x. */\n#pragma once\n\n#define ROW(id, name) int row_##name(void);\n'
                                       '#include "base/rows.def"\n')
        self.write("user/base/y.c", "".join(f"int row_{name}(void)\n{{\n\treturn 1;\n}}\n"
                                            for name in ("one", "two", "three", "ONE")))
        wrong = list(rules.everything_is_static_or_declared(rules.Tree(self.root)))
        self.assertEqual([re.search(r"row_\w+", w)[0] for w in wrong], ["row_two", "row_ONE"], wrong)

    def test_a_stale_table_of_rooms_is_seen(self):
        with open(CONTRIBUTING, encoding="utf-8") as f:
            text = f.read()
        held = rooms.ROOMS["bpf/wire"][0]
        self.assertEqual(text.count(held), 1)
        self.assertNotEqual(table_of_rooms(text.replace(held, held + ", and more")), list(rooms.table()))

    def test_a_stale_description_is_seen(self):
        copy = os.path.join(self.root, "schemas")
        shutil.copytree(os.path.join(ROOT, "schemas"), copy)
        events = os.path.join(copy, "events.in.json")
        with open(events, encoding="utf-8") as f:
            text = f.read()
        with open(events, "w", encoding="utf-8") as f:
            f.write(text.replace("A garbage collection pause begins.", "Something else.", 1))
        done = subprocess.run([sys.executable, "-B", GEN, events, "--check-docs"], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)


if __name__ == "__main__":
    unittest.main()
