"""Each command line of README.md, docs, man pages and --help is one that the program takes. Those that need neither
root nor a JVM are run, on logs like those they speak of; what docs/guide.md shows of an answer is in the answer."""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

from program import ROOT, SPOOR

sys.path.append(os.path.join(ROOT, "tests/web"))
import heap_logs  # noqa: E402

MAN = os.path.join(ROOT, "docs/man")
LOGS = os.path.join(ROOT, "docs/logs")
# Those of running JVMs, or of the machine; and files that no test has.
LIVE = {"record", "top", "serve", "watch", "steal", "doctor"}
READERS = {"report", "spans", "time", "diff", "gc", "heap", "objects", "profile", "export", "html", "cat", "verify",
           "repair"}
# What no test has here: recordings in parts, a server, a class path.
PARTS = re.compile(r"--endpoint|--classpath|logs/$|-\*\.spoor|-0000\d\d\.spoor")
GOLDEN = {"profile": "profile-locks", "spans": "spans-text"}   # of logs that have what a command looks for
# What the logs that stand in for those of the examples lack, so that the program says that it is not there.
LACKING = [(r"heap check", "does not say how the heap is laid out|has no collection that a heap dump has asked for"),
           (r"heap keep.* app\.spoor|pointed_from.* app\.spoor", "has no pointers"),
           (r"heap callers", "has no samples of running threads"),
           (r"diff --before", "no time of the recording is in the part that was chosen"),
           (r"diff --per span", "it has no such spans")]
CLASSES = ["com.acme.Order", "java.lang.String", "com.acme.Request"]
COLLECTIONS = 60
SCRIPT = re.compile(r"```lua\n(.*?)```", re.S)


def code(text):
    """Lines of code of Markdown, each with the lines below it, up to the next empty one, or the block's end."""
    blocks, fenced = [], None
    for line in text.split("\n"):
        if line.startswith("```"):
            fenced = None if fenced is not None else []
            if fenced is not None:
                blocks.append(fenced)
        elif fenced is not None:
            fenced.append(line)
        elif line.startswith("    "):
            blocks.append([line[4:]])
    return blocks


def command_of(line):
    """The command in a line of code; without what a second column says of it."""
    found = re.match(r"(?:[$#] )?(spoor (?:[a-z]+ |[a-z]+$).*)", line)
    if not found:
        return None
    return re.split(r"\s{2,}(?=[\w#(-])|\s# ", found[1])[0].strip()


def shown(path):
    """(command, lines of its answer) of a page."""
    with open(path, encoding="utf-8") as f:
        for block in code(f.read()):
            at = [i for i, line in enumerate(block) if command_of(line)]
            for here, after in zip(at, at[1:] + [len(block)]):
                yield command_of(block[here]), [line for line in block[here + 1:after] if line.strip()]


def of_man(path):
    with open(path, encoding="utf-8") as f:
        page = f.read()
    page = re.sub(r"\\\(aq", "'", re.sub(r"\\f[A-Z]", "", page.replace("\\-", "-").replace("\\(dq", '"')))
    example = re.search(r"^\.S[hH] EXAMPLES\n(.*?)(?=^\.S[hH] )", page, re.M | re.S)
    for line in example[1].replace("\\&", "").split("\n") if example else ():
        command = command_of(re.sub(r"^\.(?:Dl|B) ", "", line).replace("\\e", "\\"))
        if command:
            yield command, []


def of_help(command):
    text = subprocess.run([SPOOR, command, "--help"], capture_output=True, text=True, check=True).stdout
    lines = text.split("\n")
    for line, after in zip(lines, lines[1:] + [""]):
        if line.startswith("  spoor "):
            if after and not after.startswith("  "):
                raise AssertionError(f"spoor {command} --help: no line has room for {line!r}")
            yield command_of(line[2:]), []


def first_of(command):
    """What is before the first pipe, redirection, && or || that no quotes hide."""
    quoted, end = None, len(command)
    for i, letter in enumerate(command):
        if quoted:
            quoted = None if letter == quoted else quoted
        elif letter in "'\"":
            quoted = letter
        elif letter in "|>&;<":
            end = i
            break
    return command[:end].strip()


def words(command):
    """The words of the first command of a pipe, without spoor itself, and a JVM's id for its placeholder."""
    line = re.sub(r"\$\([^)]*\)", "4711", first_of(command)).replace("PID", "4711")
    return shlex.split(re.sub(r" \[[^]]*\]", "", line))[1:]


def all_examples():
    """(where, command, lines of its answer)"""
    for path in [os.path.join(ROOT, "README.md"), *sorted(glob.glob(os.path.join(ROOT, "docs/*.md")))]:
        yield from ((os.path.relpath(path, ROOT), *example) for example in shown(path))
    for path in sorted(glob.glob(os.path.join(MAN, "*.1"))):
        yield from ((os.path.relpath(path, ROOT), *example) for example in of_man(path))
    for command in sorted(LIVE | READERS):
        yield from ((f"spoor {command} --help", *example) for example in of_help(command))


class Examples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="spoor-examples-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        os.mkdir(os.path.join(cls.folder, "bin"))
        os.symlink(SPOOR, os.path.join(cls.folder, "bin/spoor"))
        cls.logs = {"": os.path.join(LOGS, "broker.spoor")}
        for command, golden in GOLDEN.items():
            cls.logs[command] = os.path.join(cls.folder, f"{command}.spoor")
            subprocess.run(["/usr/bin/python3", "-B", os.path.join(ROOT, "tests/golden/mklog.py"),
                            os.path.join(ROOT, "tests/golden", golden, "log.jsonl"), cls.logs[command]], check=True)
        objects = heap_logs.Objects(CLASSES)
        for i in range(COLLECTIONS):
            objects.collect((10, 20, 30 + i % 2), (1, 3, 0))
        cls.logs["heap"] = cls.logs["objects"] = objects.write(os.path.join(cls.folder, "objects.spoor"), end=True)
        cls.dump = heap_logs.dump(os.path.join(cls.folder, "some.hprof"), CLASSES, (3, 5, 7))
        cls.examples = list(all_examples())

    def spoor(self, *arguments):
        return subprocess.run([SPOOR, *arguments], capture_output=True, text=True, timeout=120)

    def test_there_are_many_of_all_kinds(self):
        where = {source for source, *_ in self.examples}
        self.assertGreater(len(self.examples), 150)
        for source in ("README.md", "docs/guide.md", "docs/man/spoor-report.1", "spoor record --help"):
            self.assertIn(source, where)
        spoken_of = {words(command)[0] for _, command, _ in self.examples}
        self.assertEqual((LIVE | READERS) - spoken_of, set(), "no example")

    def test_each_command_line_is_one_that_the_program_takes(self):
        """--help at the end of the options is obeyed only if all options before it are right."""
        for source, command, _ in self.examples:
            with self.subTest(where=source, command=command):
                arguments = [argument.replace("FILE", "a.spoor") for argument in words(command)]
                end = arguments.index("--") if "--" in arguments else len(arguments)
                done = self.spoor(*arguments[:end], "--help")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                self.assertIn("Usage: spoor", done.stdout)

    def stand_ins(self, command, folder):
        """Files of the names that the command has, like those it speaks of."""
        for name in re.findall(r"[\w/*.-]+\.(?:spoor|hprof)|\bmine\.lua|\bfeatures\.txt", command):
            path = os.path.join(folder, name.lstrip("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            if name.endswith(".hprof"):
                shutil.copy(self.dump, path)
            elif name.endswith(".spoor"):
                shutil.copy(self.logs.get(words(command)[0], self.logs[""]), path)
        with open(os.path.join(ROOT, "docs/heap.md"), encoding="utf-8") as f:
            page = f.read()
        with open(os.path.join(folder, "mine.lua"), "w", encoding="utf-8") as f:
            f.write(SCRIPT.search(page)[1])
            f.write('classifier{name = "mine", f = function(o) return o.package end}\n')
        with open(os.path.join(folder, "features.txt"), "w", encoding="utf-8") as f:
            f.write(re.search(r"```\n(# features.txt\n.*?)```", page, re.S)[1])

    def test_those_of_files_run(self):
        ran = 0
        for source, command, _ in self.examples:
            first = first_of(command)
            name = words(command)[0]
            if (name not in READERS or PARTS.search(first) or "docs/logs" in command
                    or not re.search(r"\.(spoor|hprof)\b", first)):
                continue
            with self.subTest(where=source, command=command), tempfile.TemporaryDirectory(dir=self.folder) as folder:
                self.stand_ins(first, folder)
                out = re.search(r"(?:-o|--save) (\S+)", first)
                if out and os.path.exists(os.path.join(folder, out[1])):
                    os.unlink(os.path.join(folder, out[1]))
                line = first.replace(" /tmp/", " tmp/")
                done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, timeout=120,
                                      env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})
                said = done.stderr.decode()
                lacks = next((what for pattern, what in LACKING if re.search(pattern, line)), None)
                if lacks and done.returncode:
                    self.assertRegex(said, lacks)
                    continue
                # Warnings are of names that the log does not have.
                self.assertEqual(done.returncode, 0, said)
                self.assertRegex(said, r"^(spoor: (warning: .*|\S+: (\d+ events\b.*|nothing was damaged))\n)*$")
                ran += 1
        self.assertGreater(ran, 60)

    def test_answers_of_the_guide(self):
        """Each line that the guide shows is one of the answer, in this order; further lines may be between them."""
        ran = 0
        for source, command, lines in self.examples:
            if "docs/logs" not in command or "-o " in command:
                continue
            with self.subTest(where=source, command=command):
                done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, text=True, timeout=120,
                                      env={**os.environ, "PATH": f"{self.folder}/bin:{os.environ['PATH']}"})
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                answer = iter(done.stdout.split("\n"))
                for line in lines:
                    self.assertTrue(any(line == said for said in answer), f"{line!r}: not (here) in {done.stdout}")
                ran += 1
        self.assertGreater(ran, 4)


if __name__ == "__main__":
    unittest.main()
