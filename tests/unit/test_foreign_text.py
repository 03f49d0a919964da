"""What a log, a file's name or a command line calls itself never reaches a terminal as it is: commands on a pty."""
import json
import os
import pty
import subprocess
import sys
import tempfile
import unittest

from program import SPOOR

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "golden"))
import mklog  # noqa: E402

HIDDEN = [*range(1, 0x20), *range(0x7f, 0xa0), 0x61c, 0x200e, 0x200f, *range(0x2028, 0x202f), *range(0x2066, 0x206a)]
EVIL = "\x1b]0;owned\x07\x1b[31m\x9b2J\x7f\u202egnp.exe\u2066\u2028\nspoor: error: forged"


def evil(number):
    """A name that has some of the hidden characters; all names together have all of them."""
    return f"n{number}" + EVIL + "".join(chr(c) for c in HIDDEN[number % 7::7]) + "ä"


def lines():
    jvm = {"command": "java " + evil(1), "version": evil(2), "vm": evil(3), "libjvm": "/x/" + evil(4)}
    yield {"header": {"jvm": jvm, "host": {"name": evil(5), "kernel": evil(6)}, "spoor": evil(7)}}
    base = {"time_ns": 1_000_000_000}
    for i in (1, 2):
        yield {**base, "event": "thread", "thread": i, "tid": 100 + i, "java_id": i, "name": evil(7 + i)}
    yield {**base, "event": "class", "class": 1, "name": evil(10)}
    yield {**base, "event": "lock", "lock": 1, "group": "monitor", "identity": "hash", "class": 1, "hash": 77}
    yield {**base, "event": "string", "string": 1, "text": evil(11)}
    yield {**base, "event": "method", "method": 1, "class_name": evil(12), "name": evil(13), "signature": evil(14),
           "source": evil(0)}
    yield {**base, "event": "stack", "stack": 1, "method": 1, "frame": "c2", "line": 3}
    yield {**base, "event": "note", "level": "warning", "text": evil(8)}
    yield {**base, "event": "span_begin", "thread": 2, "name": 1}
    both = {"thread": 2, "lock": 1, "owner": 1, "owner_source": "java_thread", "cpu_ns": 1, "owner_cpu_ns": 1}
    yield {"time_ns": 1_010_000_000, "event": "monitor_contended_enter", **both, "stack": 1, "owner_stack": 1}
    yield {"time_ns": 1_020_000_000, "event": "monitor_contended_entered", **both}
    yield {"time_ns": 1_030_000_000, "event": "span_end", "thread": 2}
    for at, ns in ((1_000_000_001, 0), (1_090_000_000, 80_000_000)):
        for thread in (1, 2):
            yield {"time_ns": at, "event": "thread_sample", "thread": thread, "cpu_ns": ns}
    yield {"time_ns": 1_100_000_000, "event": "end", "reason": "done"}


COMMANDS = [
    ("report",), ("report", "--format", "json"), ("report", "--by", "waiter_thread"),
    ("report", "--csv", "threads"),
    ("cat",), ("cat", "-r"), ("cat", "-H"),
    ("time",), ("time", "--format", "csv"), ("time", "--format", "json"), ("spans",), ("spans", "--format", "json"),
    ("gc", "--pauses"), ("gc", "--format", "csv"), ("gc", "--format", "json"),
    ("diff", "--before", "..", "--after", "..", "--all", "--by", "lock,waiter_thread,owner_stack"),
    ("diff", "--before", "..", "--after", "..", "--format", "json"),
    ("verify",), ("verify", "--format", "json"), ("export", "--to", "collapsed", "--threads", "--locks"),
    ("export", "--to", "speedscope"), ("export", "--to", "firefox"),
    ("export", "--to", "chrome"), ("export", "--to", "jsonl"),
    ("export", "--to", "csv", "-e", "thread"), ("export", "--to", "csv", "-e", "method"),
    ("export", "--to", "csv", "-e", "monitor_contended_enter"), ("export", "--to", "csv", "-e", "note"),
]


def on_terminal(*args):
    """What a terminal would get, of both standard output and error."""
    mine, theirs = pty.openpty()
    process = subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
    os.close(theirs)
    out = b""
    while True:
        try:
            more = os.read(mine, 65536)
        except OSError:  # EIO: the other side is closed
            break
        if not more:
            break
        out += more
    os.close(mine)
    return process.wait(), out.replace(b"\r\n", b"\n")


class ForeignText(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="spoor-foreign-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = folder.name
        # A file's name has no line end here, as a terminal does not show whose that is.
        cls.path = os.path.join(cls.folder, "app\x1b]0;owned\x07\x7f\u202e\x9b.spoor")
        events = os.path.join(cls.folder, "log.jsonl")
        with open(events, "w", encoding="utf-8") as f:
            f.writelines(json.dumps(line) + "\n" for line in lines())
        with open(cls.path, "wb") as f:
            f.write(mklog.make(events))

    def check(self, *args):
        status, out = on_terminal(SPOOR, *args)
        text = out.decode("utf-8")  # which nothing makes invalid
        found = sorted({hex(ord(c)) for c in text if c != "\n" and ord(c) in HIDDEN})
        self.assertEqual(found, [], args)
        self.assertNotIn("\nspoor: error: forged", text)
        return status, text

    def test_no_command_prints_what_a_terminal_obeys(self):
        for command in COMMANDS:
            with self.subTest(command=command):
                status, text = self.check(*command, self.path)
                self.assertEqual(status, 0, text)
                self.assertGreater(len(text), 40)

    def test_names_are_there_nevertheless(self):
        shown = self.check("report", self.path)[1]
        self.assertIn(r"\x1b]0;owned\x07\x1b[31m\u009b2J\x7f\u202egnp.exe\u2066\u2028\n", shown)

    def test_json_has_the_same_value(self):
        names = [e["name"] for e in map(json.loads, self.check("cat", self.path)[1].splitlines())
                 if e["event"] == "thread"]
        self.assertEqual(names, [evil(8), evil(9)])
        header = json.loads(self.check("cat", "-H", self.path)[1])
        self.assertEqual(header["jvm"]["command"], "java " + evil(1))

    def test_a_file_has_csv_as_it_is(self):
        command = [SPOOR, "export", "--to", "csv", "-e", "thread", self.path]
        done = subprocess.run(command, capture_output=True, check=True)
        self.assertIn(evil(8), done.stdout.decode())

    def test_messages_and_folders(self):
        folder = os.path.join(self.folder, "d\x1b[31m\u202e")
        os.makedirs(folder)
        for name in ("bad\x1b]0;owned\x07\nspoor: error: forged.spoor", "\x7f\x9b.spoor"):
            with open(os.path.join(folder, name), "wb") as f:
                f.write(b"no log")
        status, text = self.check("verify", folder)
        self.assertEqual(status, 1)
        self.assertIn(r"bad\x1b]0;owned\x07\nspoor: error: forged.spoor", text)
        for command in ("report", "cat", "time", "spans", "gc", "repair"):
            out = ("-o", os.path.join(folder, "out")) if command == "repair" else ()
            with self.subTest(command=command):
                status, text = self.check(command, *out, os.path.join(folder, "none\x1b[2J\n.spoor"))
                self.assertEqual(status, 1)
                self.assertIn(r"none\x1b[2J\n.spoor", text)
        self.assertIn(r"\x1b[2J", self.check("\x1b[2J")[1])


if __name__ == "__main__":
    unittest.main()
