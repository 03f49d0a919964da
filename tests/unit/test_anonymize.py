"""`spoor export --anonymize`: the same figures without the names, in every golden log that is sound."""
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import unittest

from program import SPOOR

HERE = os.path.dirname(os.path.abspath(__file__))
GOLDEN = os.path.join(HERE, "..", "golden")
JDK = re.compile(r"\[*L?(java|javax|jdk|sun)\.")
JVM = re.compile(r"(main|java|Finalizer|Reference Handler|Common-Cleaner|VM .*|G1 .*|(Par)?GC Thread#.*|"
                 r"C[12] CompilerThre.*|Signal Dispatcher|Service Thread|"
                 r"ZDriver.*|Monitor Deflation Thread|Attach Listener|DestroyJavaVM)$")
TEXTS = ("name", "text", "class_name", "signature", "source")

sys.path[:0] = [HERE, GOLDEN]
import mklog  # noqa: E402
from packed_log import DEFINITIONS, Log  # noqa: E402


def spoor(*args, expect=0):
    done = subprocess.run([SPOOR, *args], capture_output=True, text=True, check=False)
    if done.returncode != expect:
        raise AssertionError(f"{args}: {done.returncode}: {done.stderr}")
    return done


def lines(path):
    return [json.loads(line) for line in spoor("cat", path).stdout.splitlines()]


def numbers(value):
    """All of a JSON value but its texts; lists sorted, as rows that are equally long are in the order of names."""
    if isinstance(value, dict):
        return {k: numbers(v) for k, v in value.items()}
    if isinstance(value, list):
        return sorted((numbers(v) for v in value), key=json.dumps)
    return "" if isinstance(value, str) else value


class Anonymize(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="spoor-anonymize-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.key = self.path("key")
        with open(self.key, "wb") as f:
            f.write(b"0123456789abcdef")

    def path(self, name):
        return os.path.join(self.folder, name)

    def anonymized(self, path, *options, to="out.spoor"):
        out = self.path(to)
        spoor("export", "--anonymize", *options, "-o", out, path)
        return out

    @staticmethod
    def is_large(source):
        with open(source, encoding="utf-8") as f:
            text = f.read()
        return len(text) > 100_000 or re.search(r'"repeat": \[\d{4}', text)

    def golden(self):
        for name in sorted(os.listdir(GOLDEN)):
            source = os.path.join(GOLDEN, name, "log.jsonl")
            if not os.path.exists(source) or self.is_large(source):
                continue
            path = self.path(name + ".spoor")
            with open(path, "wb") as f:
                f.write(mklog.make(source))
            if not subprocess.run([SPOOR, "verify", "-q", path], capture_output=True, check=False).returncode:
                yield name, path

    def test_figures_are_the_same(self):
        count = 0
        for name, path in self.golden():
            with self.subTest(log=name):
                out = self.anonymized(path, "--key", self.key)
                was, now = lines(path), lines(out)
                if now and now[0].get("text", "").startswith("object events were left out"):
                    now = now[1:]
                self.assertEqual(*([{k: v for k, v in e.items() if k not in TEXTS or not isinstance(v, str)}
                                    for e in events] for events in (was, now)))
                for args in (("report", "-f", "json"), ("time", "-f", "json"), ("spans", "-f", "json")):
                    one, other = (subprocess.run([SPOOR, *args, p], capture_output=True, text=True, check=False)
                                  for p in (path, out))
                    self.assertEqual(one.returncode, other.returncode)
                    self.assertEqual(len(one.stdout.splitlines()), len(other.stdout.splitlines()))
                    if one.returncode or not one.stdout:
                        continue
                    one, other = (numbers(json.loads(done.stdout)) for done in (one, other))
                    for value in (one, other):
                        value.get("recording", {}).pop("header", None)
                        value.get("recording", {}).pop("record", None)
                        value.get("recording", {}).pop("labels", None)
                    self.assertEqual(one, other)
                spoor("verify", out)
                count += 1
        self.assertGreater(count, 30)

    @staticmethod
    def words(path):
        """{kind of event: words of four letters or more}, in names that are neither the JDK's nor the JVM's."""
        events = lines(path)
        # Of the strings, those that the application made: the others are the JVM's.
        given = {e["name"] for e in events if e["event"] in ("span_begin", "thread_rename")}
        found = {}
        for e in events:
            if e["event"] not in ("class", "method", "thread", "note") and e.get("string") not in given:
                continue
            for text in (e[k] for k in TEXTS if isinstance(e.get(k), str)):
                if not JDK.match(e.get("class_name", text)) and not JVM.match(text):
                    text = re.sub(r"L(java|javax|jdk|sun)/[^;]*;|<c?l?init>|[.]java$", "", text)
                    found.setdefault(e["event"], set()).update(re.findall(r"[^\W\d_]{4,}", text))
        return found

    def test_no_name_is_left(self):
        """Of four letters or more, but those of the JDK and the JVM, in what the blocks hold, and in the header."""
        seen, in_headers = {}, 0
        for name, path in self.golden():
            with self.subTest(log=name):
                out = self.anonymized(path)
                words, left = self.words(path), set().union(*self.words(out).values())
                for kind, of_kind in words.items():
                    self.assertEqual(of_kind & left, set())
                    seen.setdefault(kind, set()).update(of_kind)
                was, header = (spoor("cat", "-H", p).stdout for p in (path, out))
                self.assertNotIn("labels", json.loads(header))
                for word in ("testhost", "java Main"):
                    in_headers += word in was
                    self.assertNotIn(word, header)
                self.assertIs(json.loads(header)["anonymized"], True)
        self.assertEqual(set(seen), {"class", "method", "thread", "note", "string"})
        self.assertGreater(min(map(len, seen.values())), 5, seen)
        self.assertGreater(in_headers, 30)

    def test_what_becomes_of_each_kind_of_name(self):
        log = Log(("zstd", "lz4"))
        names = [(1, 10, 1, 101, 101, 0, 5, "http-nio-8080-exec-12", False, True),
                 (1, 11, 2, 102, 102, 0, 0, "GC Thread#0", False, True),
                 (2, 12, 0, 1, "org.acme.shop.Basket$Item"), (2, 13, 0, 2, "java.util.HashMap"),
                 (2, 14, 0, 3, "[Lorg.acme.shop.Basket;"), (2, 15, 0, 4, "[[I"),
                 (4, 16, 0, 1, "checkout acme"), (4, 17, 0, 2, "G1CollectForAllocation"),
                 (7, 18, 0, 1, "org.acme.shop.Basket", "addItem", "(ILorg/acme/shop/Basket;Ljava/lang/String;)V",
                  "Basket.java"),
                 (7, 19, 0, 2, "java.util.HashMap", "put", "()V", "HashMap.java"),
                 (7, 20, 0, 3, "org.acme.shop.Basket", "<init>", "()V", "")]
        log.block(names, "zstd", DEFINITIONS)
        log.block([(52, 30, 1, 1), (38, 31, 2, 2, 0), (6, 32, 0, 1, "acme's note")], "lz4")
        path = self.path("log.spoor")
        with open(path, "wb") as f:
            f.write(log.closed())
        one, other = self.anonymized(path, "--key", self.key), self.anonymized(path, "--key", self.key, to="b.spoor")
        self.assertEqual(lines(one), lines(other))
        self.assertNotEqual(lines(one), lines(self.anonymized(path, to="c.spoor")))
        found = {(e["event"], i): e for i, e in enumerate(lines(one))}
        text = json.dumps(list(found.values()))
        for word in ("acme", "shop", "Basket", "Item", "addItem", "http", "nio", "exec", "checkout", "note\""):
            self.assertNotIn(word, text.replace('"note"', ""))
        thread = found["thread", 0]["name"]
        self.assertRegex(thread, r"^[a-z]{10}-[a-z]{10}-8080-[a-z]{10}-12$")
        self.assertEqual(found["thread", 1]["name"], "GC Thread#0")
        basket = found["method", 8]["class_name"]
        self.assertRegex(basket, r"^[a-z]{10}\.[a-z]{10}\.[a-z]{10}\.[a-z]{10}$")
        self.assertEqual(found["class", 2]["name"].split("$")[0], basket)
        self.assertEqual(found["class", 3]["name"], "java.util.HashMap")
        self.assertEqual(found["class", 4]["name"], f"[L{basket};")
        self.assertEqual(found["class", 5]["name"], "[[I")
        self.assertRegex(found["string", 6]["text"], r"^[a-z]{10} [a-z]{10}$")
        self.assertEqual(found["string", 7]["text"], "G1CollectForAllocation")
        method = found["method", 8]
        self.assertEqual(method["signature"], f"(IL{basket.replace('.', '/')};Ljava/lang/String;)V")
        self.assertRegex(method["source"], r"^[a-z]{10}\.java$")
        self.assertEqual((found["method", 9]["name"], found["method", 9]["source"]), ("put", "HashMap.java"))
        self.assertEqual(found["method", 10]["name"], "<init>")

    def test_threads_that_are_called_as_the_jvms(self):
        """A Java thread's name is its application's, whatever it begins with; of one whose Java id is not known, the
        JVM's words stay, and others do not."""
        threads = [(1, 0, "G1 import ACME "), (1, 7, "G1 import ACME Corp"), (2, 8, "GC Thread#4"),
                   (3, 9, "C2 CompilerThread for ACME"), (4, 0, "Shenandoah ACME"), (5, 0, "ZDriver\0ACME"),
                   (6, 0, "main\0ACME"), (7, 0, "G1 Young RemSet"), (8, 0, "VM Periodic Tas"),
                   (9, 10, "C1 CompilerThread12"), (10, 0, "G1 Conc#3"), (11, 11, "main")]
        log = Log(("zstd",))
        log.block([(1, 10, n, 100 + n, 100 + n, 0, java, name, False, True) for n, java, name in threads], "zstd",
                  DEFINITIONS)
        log.block([(52, 30, 1, 1)], "zstd")
        path = self.path("log.spoor")
        with open(path, "wb") as f:
            f.write(log.closed())
        names = [e["name"] for e in lines(self.anonymized(path, "--key", self.key)) if e["event"] == "thread"]
        self.assertEqual(len(names), len(threads))
        for (_, _, was), now in zip(threads, names):
            self.assertNotIn("ACME", now)
            self.assertNotIn("import", now)
            self.assertEqual(re.sub("[^0-9]", "", was), re.sub("[^0-9]", "", now))
        word = "[a-z]{10}"
        for name, wanted in zip(names, (f"{word}1 {word} {word} ", f"{word}1 {word} {word} {word}", f"{word} {word}#4",
                                        f"C2 CompilerThread {word} {word}", f"Shenandoah {word}",
                                        f"ZDriver.{word}", f"{word}.{word}")):
            self.assertRegex(name, re.compile(f"^{wanted}$", re.S))
        self.assertEqual(names[7:], [name for _, _, name in threads[7:]])

    def test_names_that_hashes_make_too_long(self):
        """Of words of one letter, which become ten. A text is cut as long as a log's may be."""
        texts = ["a " * 30000, "\u00e4 " * 20000, "x"]
        log = Log(("zstd",))
        log.block([(4, 10, 0, i + 1, text) for i, text in enumerate(texts)], "zstd", DEFINITIONS)
        log.block([(52, 30, 1, 1)], "zstd")
        path = self.path("log.spoor")
        with open(path, "wb") as f:
            f.write(log.closed())
        out = self.anonymized(path)
        spoor("verify", out)
        self.assertEqual([len(e["text"]) for e in lines(out) if e["event"] == "string"], [65536, 65536, 10])

    def test_a_block_that_hashes_make_too_long(self):
        for codec in ("zstd", "none"):
            log = Log(("zstd",))
            log.block([(4, 10, 0, i + 1, "a " * 6000) for i in range(260)], codec, DEFINITIONS)
            path, out = self.path("log.spoor"), self.path("out.spoor")
            with open(path, "wb") as f:
                f.write(log.closed())
            done = spoor("export", "--anonymize", "-o", out, path, expect=1)
            self.assertIn("longer than a log's may be", done.stderr)
            self.assertFalse(os.path.exists(out))

    def simple(self):
        path = self.path("log.spoor")
        with open(path, "wb") as f:
            f.write(mklog.make(os.path.join(GOLDEN, "report-two-threads", "log.jsonl")))
        return path

    def piped(self, path, pieces):
        """The log, anonymized with a key from a pipe of which each piece takes a read() of its own."""
        to_read, to_write = os.pipe2(os.O_DIRECT)
        for piece in pieces:
            os.write(to_write, piece)
        os.close(to_write)
        out = self.path("piped.spoor")
        done = subprocess.run([SPOOR, "export", "--anonymize", "--key", f"/dev/fd/{to_read}", "-o", out, path],
                              capture_output=True, text=True, check=False, pass_fds=[to_read])
        os.close(to_read)
        self.assertEqual(done.returncode, 0, done.stderr)
        return lines(out)

    def test_each_byte_of_the_key_counts(self):
        path, bytes_of_key = self.simple(), random.Random(2).randbytes(4096)
        found = []
        for key in (bytes_of_key, bytes_of_key[:-1], bytes_of_key[:100]):
            with open(self.key, "wb") as f:
                f.write(key)
            found.append(lines(self.anonymized(path, "--key", self.key)))
            self.assertEqual(self.piped(path, [key]), found[-1])
            self.assertEqual(self.piped(path, [key[:16], key[16:17], key[17:]]), found[-1])
        for i, one in enumerate(found):
            self.assertNotIn(one, found[:i])

    def test_keys_that_are_none(self):
        path, out = self.simple(), self.path("out")
        for count in (0, 15, 4097, 10000):
            with open(self.key, "wb") as f:
                f.write(b"x" * count)
            done = spoor("export", "--anonymize", "--key", self.key, "-o", out, path, expect=1)
            self.assertIn("16 bytes at least and 4096 at most", done.stderr)
        spoor("export", "--anonymize", "--key", "/dev/zero", "-o", out, path, expect=1)
        done = spoor("export", "--anonymize", "--key", self.folder, "-o", out, path, expect=1)
        self.assertIn(f"{self.folder}: cannot read the key: Is a directory", done.stderr)
        self.assertFalse(os.path.exists(out))

    def test_what_fails_is_named(self):
        """The log, if it is the log that cannot be read; nothing is left that looks like a new one."""
        log = Log(("zstd",))
        log.block([(1, 10, 1, 101, 101, 0, 5, "worker", False, True)], "zstd", DEFINITIONS)
        log.block([(9999, 30, 1, ["a name"])], "zstd")
        path, out = self.path("log.spoor"), self.path("out.spoor")
        for data in (b"", b"as it was"):
            with open(path, "wb") as f:
                f.write(log.data)
            if data:
                with open(out, "wb") as f:
                    f.write(data)
            done = spoor("export", "--anonymize", "-o", out, path, expect=1)
            self.assertIn(f"{path}: cannot export it: an event in it has a form", done.stderr)
            self.assertNotIn(out, done.stderr)
            self.assertFalse(os.path.exists(out))
        path = self.simple()
        done = spoor("export", "--anonymize", "-o", "/dev/full", path, expect=1)
        self.assertIn("/dev/full: cannot write it: No space left", done.stderr)
        os.symlink(self.key, out)
        spoor("export", "--anonymize", "-o", out, path, expect=1)
        self.assertTrue(os.path.islink(out) and os.path.exists(self.key))

    def test_usage(self):
        path, out = self.simple(), self.path("out")
        for options in (("--to", "csv"), ("--mode", "0644"), ("--threads",), ("--from", "1s"), ("--frames", "3")):
            spoor("export", "--anonymize", *options, "-o", out, path, expect=2)
        spoor("export", "--anonymize", path, expect=2)
        spoor("export", "--key", self.key, "--to", "jsonl", path, expect=2)
        spoor("export", "--anonymize", "-o", out, path, path, expect=2)
        self.assertIn("this is the log itself", spoor("export", "--anonymize", "-o", path, path, expect=1).stderr)
        with open(path, "r+b") as f:
            f.seek(-20, os.SEEK_END)
            f.write(random.Random(1).randbytes(10))
        self.assertIn("spoor repair", spoor("export", "--anonymize", "-o", out, path, expect=1).stderr)
        self.assertFalse(os.path.exists(out))


if __name__ == "__main__":
    unittest.main()
