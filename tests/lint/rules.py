"""The rules of spoor's source tree that a machine can check; each rule yields "file:line: what is wrong"."""
import os
import re

from rooms import LIBRARIES, ROOMS, below

SOURCE = (".c", ".h")
FILE_LINES, HEADER_LINES, COLUMNS, TAB, FUNCTION_LINES = 800, 120, 100, 8, 80
WIRE_LINES = 200
ROOM_FILES = 26

GENERATED = {"log/schema_gen.h": "user/log/format", "spoor.skel.h": "user/record/kernel",
             "audit.skel.h": "user/record/kernel", "relay.skel.h": "user/record/kernel", "vmlinux.h": "bpf/vmlinux",
             "bpf/wire/wire_families.h": "bpf/wire"}


class Tree:
    """The files of a tree that are looked at, with comments and strings told apart."""

    def __init__(self, root):
        self.root = root

    def files(self, *rooms, endings=SOURCE):
        for room in rooms:
            for folder, folders, names in os.walk(os.path.join(self.root, room)):
                folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "__pycache__")
                for name in sorted(names):
                    if name.endswith(endings):
                        yield os.path.relpath(os.path.join(folder, name), self.root)

    def text(self, path):
        with open(os.path.join(self.root, path), encoding="utf-8") as f:
            return f.read()

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))


TOKENS = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)


def without(text, comments=True, strings=True):
    """The text with comments, and what stands in quotes, blanked out; lines stay where they are."""
    def blank(match):
        token = match[0]
        is_comment = token.startswith("/")
        if is_comment and comments:
            return re.sub(r"[^\n]", " ", token)
        if not is_comment and strings:
            return token[0] + " " * (len(token) - 2) + token[-1]
        return token
    return TOKENS.sub(blank, text)


def room_of(path):
    folder = os.path.dirname(path)
    while folder and folder not in ROOMS:
        folder = os.path.dirname(folder)
    return folder


def find(pattern, text):
    """(line number, match) of each."""
    for match in re.finditer(pattern, text, re.M):
        yield text.count("\n", 0, match.start()) + 1, match


def includes(tree, path):
    return find(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', without(tree.text(path), strings=False))


def resolve(tree, path, kind, name):
    """The path of an included file of ours; None: it is somebody else's."""
    if name in GENERATED:
        return GENERATED[name] + "/" + os.path.basename(name)
    folders = ["user/", ""] if kind == "<" else [os.path.dirname(path) + "/", "user/", ""]
    for folder in folders:
        if tree.exists(folder + name):
            return os.path.normpath(folder + name)
    return None


def top_of(room):
    return "/".join(room.split("/")[:2 if room.startswith("user/") else 1])


FOUND_ROW = r"const struct analysis_row (\w+)_analysis = \{"


def analyses_are_found(tree):
    """The Makefile finds the row of an analysis by this one line."""
    for path in tree.files("user/analyze", endings=(".c",)):
        if room_of(path) == "user/analyze/registry":
            continue
        for line, match in find(r"^.*\bstruct analysis_row\b(?! \*).*$", without(tree.text(path))):
            if not re.fullmatch(FOUND_ROW, match[0]):
                yield f"{path}:{line}: the row of an analysis is defined as 'const struct analysis_row NAME_analysis = {{'"


def findings_headers(tree):
    """The headers that have the findings of an analysis: "struct name {" of a row "analysis_row name_analysis"."""
    names = {name for p in tree.files("user/analyze", endings=(".c",)) if room_of(p) != "user/analyze/registry"
             for name in re.findall(f"^{FOUND_ROW}$", tree.text(p), re.M)}
    return {path for path in tree.files("user/analyze", endings=(".h",))
            if names & set(re.findall(r"^struct (\w+) \{$", without(tree.text(path)), re.M))}


def includes_point_down(tree):
    findings = findings_headers(tree)
    for path in tree.files("user", "steal", "bpf"):
        room = room_of(path)
        if os.path.dirname(path) not in ROOMS and room != "bpf/vmlinux":
            yield f"{path}:1: in no room of tests/lint/rooms.py"
            continue
        for line, match in includes(tree, path):
            target = resolve(tree, path, match[1], match[2])
            other = target and room_of(target)
            if not other or other in (room, "bpf/vmlinux"):
                continue
            if other not in below(room):
                yield f"{path}:{line}: {room} may not include {match[2]} ({other})"
            elif top_of(other) != top_of(room) and match[2] not in GENERATED and not is_face(target) and \
                    target not in findings:
                yield f"{path}:{line}: {match[2]} is not in the face of {other} (tests/lint/rooms.py)"


def is_face(path):
    name, face = os.path.basename(path), ROOMS[room_of(path)][2]
    return face == "*" or os.path.splitext(name)[0] in face.split()


def is_within(room, other):
    return room == other or room.startswith(other + "/")


def libraries_have_one_room(tree):
    for path in tree.files("user", "steal", "bpf"):
        for line, match in includes(tree, path):
            for library, (names, room) in LIBRARIES.items():
                is_its = any(match[2] == n or (n.endswith("/") and match[2].startswith(n)) for n in names)
                if is_its and not is_within(room_of(path), room):
                    yield f"{path}:{line}: only {room} knows {library}"


def circles(edges):
    """The strongly connected components of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]
    for one in sorted(edges):
        if one not in index:
            visit(one)
    return found


def no_circle_of_includes(tree):
    edges = {path: {resolve(tree, path, m[1], m[2]) for _, m in includes(tree, path)} - {None}
             for path in tree.files("user", "steal", "bpf")}
    for circle in circles(edges):
        yield f"{circle[0]}:1: includes go in a circle: {' '.join(circle)}"


DEFINITION = r"^(?!static\b|typedef\b|extern\b|struct \w+ \{)[a-z][\w \t*]*?[ *](\w+)(?:\([^;{}]*?\)\s*\n\{|(?:\[\w*\])? = \{)"


# A name that is no member, no struct's tag and no variable's declaration.
USE = re.compile(r"(?<![\w.>])(?<!struct )(?<!enum )[a-z]\w+(?=\s*[(),;}\]])")


def no_circle_of_calls(tree):
    """No two files use each other's functions and tables: neither could be read, tested or moved alone."""
    texts = {path: without(tree.text(path)) for path in tree.files("user", "steal", endings=(".c",))}
    home = {match[1]: path for path, text in texts.items() for _, match in find(DEFINITION, text)
            if match[1] != "main"}
    edges = {path: {home[word] for word in USE.findall(text) if word in home} - {path} for path, text in texts.items()}
    for circle in circles(edges):
        yield f"{circle[0]}:1: files use each other in a circle: {' '.join(circle)}"


def names_are_unique(tree):
    """A file's name says which file it is; a struct's tag, which struct."""
    seen = {}
    for path in tree.files("user", "steal", "bpf"):
        name = os.path.basename(path)
        # One for each architecture, of which a build sees one.
        if name == "vmlinux.h":
            continue
        if name in seen:
            yield f"{path}:1: {seen[name]} has this name, too"
        seen.setdefault(name, path)
    tags = {}
    for path in tree.files("user", "steal", "bpf", endings=(".h",)):
        for line, match in find(r"^(?:struct|union|enum) (\w+) \{", without(tree.text(path))):
            if os.path.basename(path) == "vmlinux.h":
                continue
            if match[1] in tags:
                yield f"{path}:{line}: {match[1]} is in {tags[match[1]]}, too"
            tags.setdefault(match[1], path)


def proc_is_read_in_three_rooms(tree):
    for path in tree.files("user"):
        # create.c knows the names of its own descriptors.
        if top_of(room_of(path)) in ("user/jvm", "user/record") or path == "user/base/create.c":
            continue
        for line, match in find(r'"[^"\n]*/proc/[^"\n]*"', without(tree.text(path), strings=False)):
            # To talk of it is not to read it.
            if re.search(r"\s", match[0].replace(r"\n", "").strip('"')):
                continue
            yield f"{path}:{line}: only user/jvm, user/record and steal read /proc: {match[0]}"


def stdout_is_written_in_two_rooms(tree):
    allowed = ("user/report", "user/cmd", "user")
    for path in tree.files("user", "steal"):
        if any(is_within(room_of(path), room) for room in allowed if room != "user") or room_of(path) == "user":
            continue
        for line, match in find(r"\bstdout\b|\b(?:printf|puts|putchar|vprintf|putchar_unlocked)\s*\(",
                                without(tree.text(path))):
            yield f"{path}:{line}: only report/ and cmd/ write to stdout: {match[0].strip()}"


# Which argument of a function must be a literal, because it goes out as it is.
RAW_PRINTERS = {"printf": 0, "vprintf": 0, "fprintf": 1, "vfprintf": 1, "dprintf": 1, "vdprintf": 1, "puts": 0, "fputs": 0,
                "puts_unlocked": 0, "fputs_unlocked": 0, "putchar": 0, "putc": 0, "fputc": 0, "putchar_unlocked": 0,
                "putc_unlocked": 0, "fputc_unlocked": 0, "fwrite": 0, "fwrite_unlocked": 0, "perror": 0, "psignal": 1,
                "json_dumps": 0, "json_dumpb": 0, "json_dumpf": 0, "json_dumpfd": 0, "json_dump_file": 0,
                "json_dump_callback": 0}
# What implements a kind of output; and libbpf's own words, in the developers' environment variable's case.
MAY_PRINT = {
    "user/base/text/print.c": set(RAW_PRINTERS),
    "user/base/text/msg.c": {"fwrite"},
    "user/report/flame/export_collapsed.c": {"putc_unlocked", "fwrite_unlocked"},  # collapsed stacks have no quotes
    "user/report/web/page_shell.c": {"putc", "fwrite", "fputs"},  # the page's own markup, and a text with &#..;
    "user/report/web/page_data.c": {"fwrite_unlocked"},  # digits
    "user/report/web/page_compare.c": {"fwrite"},  # JSON that page_cells_json() has made
    "user/report/web/parts/page_put.c": {"fwrite_unlocked"},  # digits
    "user/report/web/pack64.c": {"putc"},  # base64
    "user/report/jfr/jfr_bytes.c": {"fwrite"},  # no text: events of a recording
    "user/report/protobuf/proto.c": {"fwrite"},  # no text: messages of protobuf
    "steal/sources/recording.c": {"fprintf", "fputc"},  # a format of its own: a log
    "user/record/kernel/steal_audit.c": {"vfprintf"},
    "user/record/kernel/relay.c": {"vfprintf"},
    "user/record/kernel/bpf_session.c": {"vfprintf"},
}
# Who may print a text as it is: spoor's own names of fields and columns, and JSON that is made already.
MAY_PRINT_OWN = {"user/base/text/print.c", "user/report/chrome/chrome_out.c", "user/report/csv/event_table.c",
                 "user/report/flame/export_collapsed.c", "user/report/json/event_json.c"}
LITERAL = re.compile(r'(?:\s|\b(?:PRI|SCNu|SPOOR_VERSION|SCHEMA|JSON_INTEGER_FORMAT)\w*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\')+')


def arguments(text, at):
    """Those of the call whose parenthesis opens at text[at - 1]; quotes are part of them."""
    depth, begin, found = 0, at, []
    while at < len(text):
        token = TOKENS.match(text, at)
        if token:
            at = token.end()
            continue
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            if not depth:
                return found + [text[begin:at]]
            depth -= 1
        elif text[at] == "," and not depth:
            found.append(text[begin:at])
            begin = at + 1
        at += 1
    return found


def alternatives(argument):
    """Of a ?: what it may become."""
    plain = without(argument)
    if "?" not in plain:
        return [argument]
    begin, depth = plain.index("?") + 1, 0
    for at in range(begin, len(plain)):
        depth += (plain[at] == "?") - (plain[at] == ":")
        if depth < 0:
            return alternatives(argument[begin:at]) + alternatives(argument[at + 1:])
    return [argument]


def foreign_text_goes_through_print(tree):
    """A terminal obeys what a log or a process calls itself: only base/text/print.h prints text that is no literal."""
    names = "|".join(RAW_PRINTERS)
    for path in tree.files("user", "steal", endings=(".c",)):
        text = without(tree.text(path), strings=False)
        calls = without(tree.text(path))
        for line, _ in find(r"\bprint_own\s*\(", calls if path not in MAY_PRINT_OWN else ""):
            yield f"{path}:{line}: print_own() does not encode: only who writes JSON or CSV itself may use it"
        for line, match in find(rf"(?<![\w.>])({names})\s*\(", calls):
            name = match[1]
            if name in MAY_PRINT.get(path, ()):
                continue
            given = arguments(text, match.end())
            number = RAW_PRINTERS[name]
            parts = alternatives(given[number]) if number < len(given) else []
            literal = parts and not name.startswith(("json_", "fwrite", "v")) and all(
                LITERAL.fullmatch(p) for p in parts)
            texts = "printf" in name and any(re.search(r"%[-+ #0'*.\d]*[lh]*[scm]", p.replace("%%", "")) for p in parts)
            if not literal or texts:
                yield f"{path}:{line}: text that is no literal goes through base/text/print.h, not {name}()"


def nobody_exits(tree):
    for path in tree.files("user", "steal"):
        if path == "user/main.c":
            continue
        for line, match in find(r"(?<![\w.>])(?:exit|abort|quick_exit|err|errx)\s*\(", without(tree.text(path))):
            yield f"{path}:{line}: nobody below main() exits: {match[0]}"


def sizes(tree):
    for path in tree.files("user", "steal", "bpf", "tests/unit", "tests/fuzz", "tests/bpf", "jvm-hooks",
                           endings=(".c", ".h", ".py")):
        lines = tree.text(path).splitlines()
        # A BPF header holds code: there is nothing to link it from.
        is_header = path.endswith(".h") and not path.endswith(".bpf.h") and not path.startswith("tests")
        wall = HEADER_LINES if is_header else FILE_LINES
        # One page for all that crosses between kernel and user space: cut in two, neither half could be read alone.
        wall = WIRE_LINES if path.startswith("bpf/wire/") else wall
        if len(lines) > wall:
            yield f"{path}:{wall + 1}: {len(lines)} lines; the wall is {wall}"
        for number, line in enumerate(lines, 1):
            width = len(line.expandtabs(TAB))
            if width > columns_of(path):
                yield f"{path}:{number}: {width} columns; the wall is {columns_of(path)}"


def rooms_are_small(tree):
    """A room of more files than one looks over has two subjects: split it by them."""
    for room in ROOMS:
        folder = os.path.join(tree.root, room)
        names = [n for n in (os.listdir(folder) if os.path.isdir(folder) else []) if n.endswith(SOURCE)]
        if len(names) > ROOM_FILES:
            yield f"{room}:1: {len(names)} files; the wall is {ROOM_FILES}"


def columns_of(path):
    return 120 if path.endswith(".py") or path.startswith("tests") else COLUMNS


def functions_are_short(tree):
    for path in tree.files("user", "steal", "bpf"):
        begin = None
        for number, line in enumerate(without(tree.text(path)).splitlines(), 1):
            if line.startswith("{"):
                begin = number
            elif line.startswith("}") and begin:
                if number - begin - 1 > FUNCTION_LINES:
                    yield f"{path}:{begin}: a function of {number - begin - 1} lines; the wall is {FUNCTION_LINES}"
                begin = None


def headers_begin_alike(tree):
    for path in tree.files("user", "steal", "bpf", endings=(".h",)):
        text = tree.text(path)
        name = path[len("user/"):] if path.startswith("user/") else path
        if not text.startswith(f"/* {name}: "):
            yield f"{path}:1: a header begins with '/* {name}: what it is for. */'"
        after = re.sub(r"^\s*/\*.*?\*/\s*", "", text, count=1, flags=re.S)
        if not after.startswith("#pragma once\n"):
            yield f"{path}:2: #pragma once follows the head comment"


def nothing_to_do(tree):
    for path in tree.files("user", "steal", "bpf", "tests", "bench", "schemas",
                           endings=(".c", ".h", ".py", ".json", ".md", ".java", ".sh")):
        if path.startswith("tests/lint/"):
            continue
        for line, _ in find(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))", tree.text(path)):
            yield f"{path}:{line}: a TODO without an issue"


def top_level(text):
    """(line, statement) of what stands outside of all braces; what is in them is left out."""
    depth, statement, line = 0, "", 1
    code = re.sub(r"^[ \t]*#(?:\\\n|[^\n])*", lambda m: "\n" * m[0].count("\n"), without(text), flags=re.M)
    for number, row in enumerate(code.splitlines(), 1):
        for char in row + " ":
            if not depth and not statement.strip():
                statement, line = "", number
            if char == "{":
                depth += 1
                statement += "{}" if depth == 1 else ""
            elif char == "}":
                depth -= 1
                if not depth and re.search(r"\)\s*(?:__attribute__.*)?{}$", statement) and "=" not in statement:
                    statement = ""  # a function
            elif not depth:
                statement += char
                if char == ";":
                    yield line, " ".join(statement.split())
                    statement = ""


def is_mutable_variable(statement):
    head = statement.split("=")[0].rstrip("; ")
    if re.match(r"(?:typedef|extern|_Static_assert)\b", head) or re.search(r"{}$", head):
        return False
    pointer = re.search(r"\(\s*\*\s*(const\b)?\s*\w*(?:\[[^\]]*\])*\s*\)", head)
    if pointer:
        return not pointer[1]
    if "(" in re.sub(r"__attribute__\s*\(\(.*?\)\)", "", head) or " " not in head:
        return False
    if re.fullmatch(r"(?:struct|union|enum) \w+", head):
        return False
    return not re.search(r"\bconst\b", head.rsplit("*", 1)[-1])


def no_mutable_globals(tree):
    """Only base/tables/hash.c has the process's key, and main and the commands may have signal flags."""
    for path in tree.files("user", "steal", endings=(".c",)):
        for line, statement in top_level(tree.text(path)):
            flag = statement.startswith("static volatile sig_atomic_t ")
            if path == "user/base/tables/hash.c" or (flag and (room_of(path) == "user" or is_within(room_of(path), "user/cmd"))):
                continue
            if is_mutable_variable(statement):
                yield f"{path}:{line}: a mutable global: {statement}"


def declared_by_rows(tree, headers):
    """What a header declares for each row of a .def file: "#define ROW(id, name) int of_##name(void);"."""
    rows = "\n".join(tree.text(p) for p in tree.files("user", "steal", endings=(".def",)))
    for macro, parameters, body in re.findall(r"#define (\w+)\(([\w, ]+)\)((?:[^\n]*\\\n)*[^\n]*)", headers):
        names = parameters.split(", ")
        for prefix, name in re.findall(r"(\w+_)##(\w+)\(", body):
            for row in re.findall(rf"^{macro}\(([^()]*)\)$", rows, re.M):
                yield f"{prefix}{row.split(', ')[names.index(name)]}("


def everything_is_static_or_declared(tree):
    declared = "".join(tree.text(p) for p in tree.files("user", "steal", endings=(".h",)))
    declared = set(re.findall(r"\b\w+(?=\()", "\n".join([declared, *declared_by_rows(tree, declared)])))
    for path in tree.files("user", "steal", endings=(".c",)):
        if path == "user/main.c":
            continue
        for line, match in find(r"^(?!static\b|typedef\b|extern\b)[a-z][\w \t*]*?[ *](\w+)\([^;]*?\)\s*\n\{",
                                without(tree.text(path))):
            if match[1] not in declared:
                yield f"{path}:{line}: {match[1]}() is neither static nor declared in a header"


DECLARED = (r"^(?!typedef\b)(?:[a-z_]\w*[ \t*]+)+(\w+)\((?:[^(){};]|\([^()]*\))*\)\s*(?:__attribute__\s*\(\([^;{]*\)\)\s*)?[;{]",
            r"^extern [\w \t*]+?(\w+)(?:\[[^\]]*\])*;")


def nothing_unused(tree):
    """What a header declares is used by a file that does not define it, be it a test's."""
    texts = {path: without(tree.text(path)) for path in tree.files("user", "steal", "tests", "bench")}
    words = {}
    for path, text in texts.items():
        for word in re.findall(r"\b[a-z]\w*", text):
            words.setdefault(word, []).append(path)
    home = {(path, match[1]) for path, text in texts.items() if path.endswith(".c")
            for _, match in find(DEFINITION, text)}
    for path in tree.files("user", "steal", endings=(".h",)):
        for pattern in DECLARED:
            for line, match in find(pattern, texts[path]):
                used = list(words[match[1]])
                used.remove(path)
                if all((user, match[1]) in home for user in used):
                    yield f"{path}:{line}: nobody uses {match[1]}, or only who defines it: make it static, or remove it"


def includes_are_single(tree):
    for path in tree.files("user", "steal", "bpf", "tests", "bench"):
        seen = set()
        for line, match in includes(tree, path):
            if match[2] in seen and not match[2].endswith(".def"):  # a list is made into several things
                yield f"{path}:{line}: {match[2]} is included twice"
            seen.add(match[2])


# What opens a target's files, what parses them; where that may be; why nowhere else.
DOORS = [
    (r'"[^"\n]*/proc/%d/(?:root|map_files|cwd|exe)\b', False, ("mapped_file.c",), "opens a target's files"),
    (r"[<\"](?:libelf|gelf|elfutils/\w+)\.h[>\"]", False, ("unwind.c",), "knows libelf and libdw"),
    (r"\b(?:elf_file_open|unwind_open(?:_of)?)\s*\(", True, ("parser_child.c", "elf_file.c", "unwind.c"), "has a target's file parsed"),
    (r"\bELF_C_\w*MMAP\w*", True, (), "maps a file: its owner can truncate it (SIGBUS)"),
    (r"\bbpf_program__attach_usdt\s*\(", True, (), "lets libbpf parse a target's file"),
]


def a_targets_files_have_one_door(tree):
    for path in tree.files("user", endings=(".c",)):
        for pattern, no_strings, allowed, what in DOORS:
            if top_of(room_of(path)) == "user/jvm" and os.path.basename(path) in allowed:
                continue
            for line, match in find(pattern, without(tree.text(path), strings=no_strings)):
                yield f"{path}:{line}: {match[0]}: {' and '.join(allowed) or 'nobody'} in user/jvm {what}"


# What only one architecture has. Comments may speak of it; strings may not, as argument strings of probes are some.
OF_ONE_ARCHITECTURE = "|".join((
    r"__(?:x86_64|i386|amd64|aarch64|arm)__|__TARGET_ARCH_\w+",
    r"\b(?:[er](?:[abcd]x|[sd]i|[sb]p|ip)|r(?:[89]|1[0-5])[dwb]?|eflags|orig_[er]?ax|orig_x0|syscallno)\b",
    r"->(?:ip|bp|ax|bx|cx|dx|si|di)\b",
    r"\b(?i:x86|x86_64|x86-64|amd64|aarch64|arm64)\b|-(?:x86_64|aarch64)-",
    r"\b(?:EM_X86_64|EM_AARCH64|AUDIT_ARCH_\w+|user_regs_struct|user_pt_regs)\b",
    r"<(?:cpuid|asm/ptrace|sys/reg|sys/user|x86intrin|immintrin|arm_neon)\.h>|\b_*(?:cpuid|rdtscp?)\b",
    r"0x0f, 0x1f\b|\{0x90\}|== 0x90\b",
    r"^#define \w*PAGE\w*[ \t]+\(?(?:4096|0x1000)",
    r"\b__?asm__ (?:volatile|goto)?\s*\((?!\"nop\"|\"\"|\"\.)"))
# Where it may be, and why.
MAY_KNOW_ARCHITECTURE = {
    "user/base/arch": "the tables",
    "bpf/vmlinux": "the kernel's registers",
    "bpf/lib/arch.bpf.h": "chooses", "bpf/lib/arch_x86.bpf.h": "a table", "bpf/lib/arch_arm64.bpf.h": "a table",
    "bpf/walk/frames.bpf.h": "chooses", "bpf/walk/frames_x86_64.bpf.h": "a table", "bpf/walk/frames_arm64.bpf.h": "a table",
    "steal/sources/hypervisor.c": "CPUID, if there is one", "steal/sources/hypervisor.h": "its answers",
    "jvm-hooks/mark/mark.c": "its nop, and what its file is called",
}


def architecture_is_in_its_tables(tree):
    """What depends on the machine's architecture is in a table for each: elsewhere it would be wrong on the other one."""
    for path in tree.files("user", "steal", "bpf", "jvm-hooks"):
        if any(is_within(path, allowed) for allowed in MAY_KNOW_ARCHITECTURE):
            continue
        for line, match in find(OF_ONE_ARCHITECTURE, without(tree.text(path), strings=False)):
            yield f"{path}:{line}: {match[0]}: what depends on the architecture is in user/base/arch, bpf/lib/arch.bpf.h " \
                  "or bpf/walk/frames.bpf.h"


def nothing_private(tree):
    for path in tree.files(".", endings=(".c", ".h", ".py", ".json", ".md", ".java", ".sh", "Makefile", "run")):
        if path.startswith(("build", ".git", "tests/lint/")):
            continue
        for line, match in find(r"(?<![\w.])/work/(?:main|shared)\b", tree.text(path)):
            yield f"{path}:{line}: a path of one machine: {match[0]}"


def texts_are_added_to_by_length(tree):
    """What snprintf() returns is what there would have been: who adds it up writes beyond the end one day."""
    for path in tree.files("user", "steal", endings=(".c", ".h")):
        if path == "user/base/text/strbuf.c":
            continue
        for line, match in find(r"\bsnprintf\(\s*[\w.>-]+ \+ |\+= [^;]*\bsnprintf\(", without(tree.text(path))):
            yield f"{path}:{line}: {match[0]}: use buffer_add() or a strbuf"


RULES = [includes_point_down, libraries_have_one_room, no_circle_of_includes, no_circle_of_calls, names_are_unique,
         proc_is_read_in_three_rooms, stdout_is_written_in_two_rooms,
         foreign_text_goes_through_print, a_targets_files_have_one_door,
         analyses_are_found, nobody_exits, sizes, rooms_are_small, functions_are_short, headers_begin_alike, nothing_to_do, no_mutable_globals,
         everything_is_static_or_declared, architecture_is_in_its_tables, nothing_unused, includes_are_single, nothing_private,
         texts_are_added_to_by_length]
