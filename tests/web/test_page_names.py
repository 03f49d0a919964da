"""Names that no reader should see as they are: on the page, in text, JSON and CSV each is the same, and can be read back."""
import csv
import io
import json
import os
import re
import subprocess
import unicodedata
import unittest

from pages import MODULES, MS, PageTest, contention, lock, make_log, make_page, names, spoor
from test_page import EACH, ROWS, SET, fragment

LABEL_BYTES = 447  # of a name in a text or on the page; more of it is cut, and ends in "..."
# As bytes of a log: what Java has in its modified UTF-8, what hostile programs have, what no one means any harm by.
RAW = [
    b"high \xed\xa0\x80 alone", b"low \xed\xb0\x80 alone", b"pair \xed\xa0\xbd\xed\xb8\x80 in six bytes",
    b"nul\0here", b"nul\xc0\x80there", b"latin \xe9\xff\xfe", b"overlong \xe0\x80\xaf", b"cut \xf0\x9f\x98",
    *(f"controls {i:02x} {chr(i)} {chr(i + 0x7f)}".encode() for i in (1, 7, 8, 9, 10, 11, 12, 13, 0x1b, 0x1f)),
    *(f"marks {code:04x} {chr(code)}abc".encode() for code in (
        0x200b, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069, 0xfeff, 0xad, 0x61c, 0x180e, 0xe0041)),
    *(f"shown {text}".encode() for text in (
        "\U0001f600\U0001f9f5", "\U0001f468\u200d\U0001f469\u200d\U0001f467", "e\u0301\u0302\u0303", "\u05d0\u05d1 \u0627\u0628",
        "\u4f60\u597d", "\uffff\U0010ffff", "\u00a0\u3000")),
    b"x" * 10000, b"y" * 447, b"y" * 448, "\u00fc".encode() * 5000, "\U0001f600".encode() * 2500, b"\x01" * 10000,
    b"</script><script>alert(1)</script>", b"<img src=x onerror=alert(2)>", b"<!--", b"&lt;b&gt;", b"]]>",
    b"\"'`\"\"", b"a\\u202eb", b"=1+1", b"+1", b"-1", b"@x", b"'x", b"a,b;c\td", b"  two  ends  ",
    b"__proto__", b"constructor", b"toString", b"hasOwnProperty", b"%s%n%99999d", b"$(id)`id`", b"${7*7}",
]
VISIBLE = "\u200c\u200d"  # of the category Cf, but scripts and emoji cannot be written without them
ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}
TEXTS = "selector => [...document.querySelectorAll(selector)].map(e => e.textContent)"
PARSE = """const fs = require("fs");
const text = new TextDecoder("utf-8", {fatal: true, ignoreBOM: true}).decode(fs.readFileSync(0));
const lines = process.argv[1] === "lines" ? text.split("\\n").filter(line => line) : [text];
process.stdout.write(JSON.stringify(lines.map(line => JSON.parse(line))));"""


def value(raw):
    """A name's text: U+FFFD for each byte that is no part of a character, and for NUL."""
    text = ""
    while raw:
        for length in range(1, 5):
            try:
                character = raw[:length].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            character, length = "\ufffd", 1
        text += "\ufffd" if character == "\0" else character
        raw = raw[length:]
    return text


def escape(character):
    if unicodedata.category(character) not in ("Cc", "Cf", "Zl", "Zp") or character in VISIBLE:
        return character
    code = ord(character)
    return ESCAPES.get(character) or (f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}" if code < 0x10000
                                      else f"\\U{code:08x}")


def visible(text):
    """The same for people: what nobody sees is an escape."""
    pieces = [escape(character) for character in text]
    if len("".join(pieces).encode()) <= LABEL_BYTES:
        return "".join(pieces)
    shown = ""
    for piece in pieces:
        if len((shown + piece).encode()) > LABEL_BYTES - 3:
            break
        shown += piece
    return f"{shown}..."


def spans_name(text):
    """spoor spans has so many bytes of it."""
    return text.encode()[:255].decode("utf-8", "ignore")


VALUES = [value(raw) for raw in RAW]
COUNT = len(RAW)


def lines():
    """Each name is a thread's, a class's, a method's with its class, and a span's."""
    texts = [raw.decode("utf-8", "surrogateescape") for raw in RAW]
    yield from names(texts, texts, [])
    for i, text in enumerate(texts, 1):
        yield {"time_ns": 1000 * MS, "event": "method", "method": i, "class_name": text, "name": text, "signature": "()V",
               "source": text}
        yield {"time_ns": 1000 * MS, "event": "string", "string": i, "text": text}
        yield {**lock(i, i), "group": "monitor"}
        yield {"time_ns": 1000 * MS, "event": "stack", "stack": i, "caller": 0, "frame": "c2", "method": i, "bci": 1,
               "line": i}
    for i in range(1, COUNT + 1):
        at, other = (1000 + 20 * i) * MS, 1 + i % COUNT
        counters = {"cpu_ns": at // 10, "stolen_ns": 0, "runnable_ns": 0}
        yield {"time_ns": at, "event": "span_begin", "thread": i, "name": i, **counters}
        # The first is the heaviest: in this order they are in all views.
        yield from contention(at + MS, 10 * MS - 1000 * i, i, i, other, (i, other))
        yield {"time_ns": at + 15 * MS, "event": "span_end", "thread": i,
               **{**counters, "cpu_ns": at // 10 + 5 * MS}}
        yield {"time_ns": at + 15 * MS, "event": "thread_sample", "thread": i,
               **{**counters, "cpu_ns": at // 10 + 5 * MS}}
    yield {"time_ns": 9000 * MS, "event": "end", "reason": "done"}


class Names(PageTest):
    maxDiff = 4000

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.log = make_log(cls.folder, lines(), "names")
        cls.page = make_page(cls.log)
        cls.browser("open", file=cls.page)

    def output(self, *arguments):
        """A command's output, as bytes."""
        done = subprocess.run([os.environ.get("SPOOR") or os.path.join(os.path.dirname(os.path.dirname(MODULES)), "spoor"),
                               *arguments], capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def parsed(self, *arguments, kind="one"):
        """JSON, by a parser that has nothing to do with spoor's, of bytes that have to be UTF-8."""
        out = self.output(*arguments)
        done = subprocess.run(["node", "-e", PARSE, kind], input=out, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads(done.stdout)
        again = [json.loads(line) for line in (out.decode().splitlines() if kind == "lines" else [out.decode()]) if line]
        self.assertEqual(told, again)
        return told if kind == "lines" else told[0]

    def test_the_tree_has_each_name(self):
        methods = [visible(f"{text}.{text}") for text in VALUES]
        for by, expected in (("lock_class", map(visible, VALUES)), ("waiter_thread", map(visible, VALUES)),
                             ("owner_thread", map(visible, VALUES)), ("waiter_method", methods),
                             ("owner_method", methods), ("waiter_class", map(visible, VALUES)),
                             ("span", map(visible, VALUES))):
            with self.subTest(by=by):
                self.js(SET, fragment([by], sort="value"))
                self.assertEqual(sorted(row[1] for row in self.js(ROWS)[1:]), sorted(expected))
        self.js(SET, fragment(["waiter_stack"]))
        self.assertEqual(sorted(row[1] for row in self.js(ROWS)[1:]),
                         sorted(f"{method}:{i}" for i, method in enumerate(methods, 1)))
        self.quiet()

    def test_all_other_views_have_them(self):
        self.js(SET, "#")
        shown = [visible(text) for text in VALUES]
        methods = [visible(f"{text}.{text}") for text in VALUES]
        self.assertEqual(self.js(TEXTS, "#heatmap th")[:12], shown[:12])
        self.assertEqual(self.js(TEXTS, "#matrix tbody th")[:15], shown[:15])
        self.assertLess(set(self.js(TEXTS, "#matrix thead span")[:15]), set(shown))
        spans = sorted({visible(spans_name(text)) for text in VALUES})
        self.assertEqual(sorted(self.js(TEXTS, "#spans-times tbody th")), spans)
        frames = self.js("() => [...document.querySelectorAll('#flame-waiter .frame')].map(f => f.title)")
        self.assertEqual(sorted(title.rpartition("\n")[0] for title in frames), sorted({"all", *methods}))
        self.assertLessEqual(set(self.js(TEXTS, "#states tbody th")), {*shown, "(other threads)"})
        # The report as text is that of the command, to the byte.
        self.assertEqual(self.js(TEXTS, "#text"), [self.output("report", self.log).decode()])
        self.js(SET, fragment(["waiter_thread"]))
        for i in (0, 3, 10, 22, 38):
            self.js("i => document.querySelectorAll('#rows tr')[i + 1].click()", i)
            chains = self.js(TEXTS, "#details .chain li")
            self.assertEqual(chains, [f"{methods[i]}:{i + 1}", f"{methods[i + 1]}:{i + 2}"])
        self.quiet()

    def test_each_span_is_a_filter_of_the_tree(self):
        self.js(SET, fragment(["span"]))
        names = self.js(TEXTS, "#spans-times tbody th")
        for i, name in enumerate(names):
            if i % 8 and len(name) < 200:
                continue
            self.js(SET, fragment(["span"]))
            self.js("i => document.querySelectorAll('#spans-times tbody button')[i].click()", i)
            chosen = [row[1] for row in self.js(ROWS)[1:]]
            self.assertTrue(chosen, name)
            begin = name[:60]
            self.assertEqual({text[:len(begin)] for text in chosen}, {begin},
                             self.js("() => location.hash"))
            if len(name.encode()) < 200:
                self.assertEqual(chosen, [name])
        self.quiet()

    def test_the_text_has_nothing_to_obey(self):
        for command in (["report", "--full", "--top", "1000"], ["report", "--by", "lock_class", "--top", "1000"],
                        ["spans", "--top", "1000"], ["time", "--by", "thread"]):
            text = self.output(*command, self.log).decode()
            hidden = {c for c in text if escape(c) != c} - {"\n"}
            self.assertEqual(hidden, set(), command)
        by = self.output("report", "--by", "lock_class", "--top", "1000", "--full", self.log).decode()
        for text in VALUES:
            # A column has so many bytes of it.
            self.assertIn(visible(text).strip()[:12], by)

    def test_json_has_each_value_whole(self):
        told = self.parsed("report", "--by", "lock_class,waiter_thread,waiter_method", "--format", "json", self.log)
        groups = told["groups"]
        self.assertEqual(sorted(g["key"] for g in groups), sorted([text] for text in VALUES))
        for g in groups:
            text, = g["key"]
            self.assertEqual(g["groups"][0]["key"], [text])
            self.assertEqual(g["groups"][0]["groups"][0]["key"], [f"{text}.{text}"])
        spans = self.parsed("spans", "--top", "1000", "--format", "json", self.log)
        self.assertEqual(sorted(row["name"] for row in spans["names"]), sorted({spans_name(text) for text in VALUES}))
        self.assertTrue(self.parsed("report", "--format", "json", self.log))
        threads = self.parsed("time", "--by", "thread", "--format", "json", self.log)["rows"]
        self.assertLessEqual({row["name"] for row in threads}, set(VALUES))
        events = self.parsed("cat", self.log, kind="lines")
        for event, key in (("thread", "name"), ("class", "name"), ("method", "class_name"), ("string", "text")):
            self.assertEqual([e[key] for e in events if e.get("event") == event], VALUES)
        rows = self.parsed("export", "--to", "jsonl", "-e", "monitor_contended_enter", self.log, kind="lines")
        self.assertEqual([row["lock_class"] for row in rows], VALUES)
        for form in (["speedscope"], ["firefox"], ["chrome"]):
            self.assertTrue(self.parsed("export", "--to", *form, self.log))

    def test_csv_gives_each_value_back(self):
        def table(*arguments):
            return list(csv.DictReader(io.StringIO(self.output(*arguments).decode(), newline="")))

        def read(text):
            return text[1:] if text.startswith("'") else text
        rows = table("report", "--csv", "contention", "--by", "lock_class,waiter_thread,waiter_method", self.log)
        self.assertEqual(sorted(read(row["lock_class"]) for row in rows), sorted(VALUES))
        self.assertEqual(sorted(read(row["waiter_method"]) for row in rows), sorted(f"{v}.{v}" for v in VALUES))
        for raw in ([], ["--raw-text"]):
            rows = table("export", "--to", "csv", *raw, "-e", "monitor_contended_enter", self.log)
            self.assertEqual([row["lock_class"] if raw else read(row["lock_class"]) for row in rows], VALUES)
            if not raw:
                self.assertFalse([row for row in rows if re.match(r"[=+\-@\t\r\n]", row["lock_class"])])
        self.assertLessEqual({read(row["name"]) for row in table("time", "--by", "thread", "--format", "csv", self.log)},
                             set(VALUES))

    def test_names_that_look_alike_stay_apart(self):
        """Two classes of which the page shows the same are two rows, as they are two groups of the report."""
        alike = ["a.B\x01", "a.B\\x01", "z" * 700 + "1", "z" * 700 + "2"]

        def some():
            yield from names([*alike, "e"], alike, [f"c{i}.{text}" for i, text in enumerate(alike)])
            for i in range(1, 5):
                yield {**lock(i, i), "group": "monitor"}
                yield from contention((1000 + 20 * i) * MS, (10 + i) * MS, i, i, 5, (0, 0))
            yield {"time_ns": 2000 * MS, "event": "end", "reason": "done"}
        log = make_log(self.folder, some(), "alike")
        told = json.loads(self.output("report", "--by", "lock_class", "--format", "json", log))["groups"]
        self.assertEqual([g["key"] for g in told], [[text] for text in alike[::-1]])
        self.browser("open", file=make_page(log), hash=fragment(["lock_class"]))
        self.assertEqual([row[1:3] for row in self.js(ROWS)[1:]], [[visible(g["key"][0]), g["blocked_ns"]] for g in told])
        self.quiet()
        self.browser("open", file=self.page)

    def test_nothing_is_made_of_them(self):
        self.js(SET, "#")
        elements = set(self.js(EACH, ["*", "localName"]))
        self.assertFalse({"img", "iframe", "object", "link", "b"} & elements, elements)
        self.assertEqual(self.js("() => document.scripts.length"), 1)
        self.assertIsNone(self.js("() => ({}).polluted ?? null"))
        self.quiet()


if __name__ == "__main__":
    unittest.main()
