"""`--endpoint`: profiles of `spoor export` and `spoor profile` sent by HTTP, to a server that does what servers do."""
import gzip
import os
import socket
import ssl
import subprocess
import unittest

import otlp_server
from otlp_server import answers, closes, in_chunks, message, never
from test_export import GOLDEN, ExportCase, spoor
from program import SPOOR

import mklog

DEADLINE_S = 120
OTEL = "OTEL_EXPORTER_OTLP_"


class SendCase(ExportCase):
    def setUp(self):
        super().setUp()
        self.write_random(3)

    def server(self, *given, **options):
        server = otlp_server.Server(*given, **options)
        self.addCleanup(server.close)
        return server

    def send(self, url, *args, env=None, command=("export", "--to", "otlp")):
        """(exit status, what is said)."""
        clean = {k: v for k, v in os.environ.items() if not k.startswith(OTEL) and not k.lower().endswith("_proxy")}
        done = subprocess.run([SPOOR, *command, "--endpoint", url, *args, self.path], env={**clean, **(env or {})},
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=DEADLINE_S)
        self.assertEqual(done.stdout, b"")
        return done.returncode, done.stderr.decode()

    def written(self, *args, command=("export", "--to", "otlp")):
        path = os.path.join(self.folder, "a.otlp")
        self.assertEqual(spoor(*command, "-o", path, *args, self.path).returncode, 0)
        with open(path, "rb") as f:
            return f.read()

    def file(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path


class Sent(SendCase):
    def test_what_comes_is_what_a_file_has(self):
        for side in ("waiter", "owner", "both"):
            server = self.server(answers(200))
            status, said = self.send(server.url, "--side", side)
            self.assertEqual(status, 0, said)
            [(path, headers, body)] = server.requests
            self.assertEqual(path, "/v1development/profiles")
            self.assertEqual((headers["Content-Type"], headers["Content-Encoding"]), ("application/x-protobuf", "gzip"))
            self.assertRegex(headers["User-Agent"], r"^spoor/\d")
            self.assertNotIn("Expect", headers)
            self.assertEqual(gzip.decompress(body), self.written("--side", side))
            self.assertEqual(said, f"spoor: {len(body)} bytes have been sent to {server.url}/v1development/profiles\n")

    def test_samples_of_the_cpu(self):
        with open(self.path, "wb") as f:
            f.write(mklog.make(os.path.join(GOLDEN, "profile-programs", "log.jsonl")))
        command = ("profile", "--format", "otlp")
        for args in ((), ("--by", "thread", "--lines")):
            server = self.server(answers(200))
            self.assertEqual(self.send(server.url, *args, command=command)[0], 0)
            self.assertEqual(gzip.decompress(server.requests[0][2]), self.written(*args, command=command))

    def test_a_long_one(self):
        """Of more than what sockets take at once."""
        events = [{"event": "thread", "thread": i, "tid": i, "name": os.urandom(300).hex()} for i in range(1, 1001)]
        events.append({"event": "class", "class": 1, "name": "a.Lock"})
        events.append({"event": "lock", "lock": 1, "class": 1, "group": "monitor"})
        for i in range(1, 1001):
            for event in ("monitor_contended_enter", "monitor_contended_entered"):
                events.append({"event": event, "thread": i, "lock": 1, "owner": i % 1000 + 1,
                               "owner_source": "java_thread"})
        events.append({"event": "end"})
        self.write([{"header": {}}, *({"time_ns": 1000 + i, **event} for i, event in enumerate(events))])
        server = self.server(answers(200))
        status, said = self.send(server.url, env={OTEL + "COMPRESSION": "none"})
        self.assertEqual(status, 0, said)
        self.assertGreater(len(server.requests[0][2]), 1 << 20)
        self.assertEqual(server.requests[0][2], self.written())

    def test_an_answer_in_pieces(self):
        server = self.server(in_chunks(message(1, message(2, "half of it is ä mess\x1b[2J".encode()))))
        status, said = self.send(server.url)
        self.assertEqual(status, 0)
        self.assertIn("the server says: half of it is ä mess\\x1b[2J\n", said)

    def test_some_are_rejected(self):
        server = self.server(answers(200, message(1, b"\x08\x02" + message(2, b"no room"))))
        status, said = self.send(server.url)
        self.assertEqual((status, said.count("\n")), (1, 1))
        self.assertIn("the server has rejected 2 of the profiles: no room", said)

    def test_where_it_goes(self):
        server = self.server(answers(200))
        here = server.url
        for url, env, path in (("/", {}, "/v1development/profiles"), ("/own/path", {}, "/own/path"),
                               ("/own/", {}, "/own/"), ("?a=b", {}, "/?a=b"),
                               ("env", {"ENDPOINT": here}, "/v1development/profiles"),
                               ("env", {"ENDPOINT": here + "/base/"}, "/base/v1development/profiles"),
                               ("env", {"ENDPOINT": "http://127.0.0.1:1", "PROFILES_ENDPOINT": here + "/p"}, "/p")):
            status, said = self.send(url if url == "env" else here + url, env={OTEL + k: v for k, v in env.items()})
            self.assertEqual(status, 0, said)
            self.assertEqual(server.requests[-1][0], path, url)

    def test_headers_and_compression(self):
        server = self.server(answers(200))
        path = self.file("headers", "# the key\nAuthorization: Bearer a:b=c, d\nX-Empty:\n")
        status, said = self.send(server.url, "--headers", path,
                                 env={OTEL + "HEADERS": "x-tenant=a%20b%2Cc, authorization=Basic old",
                                      OTEL + "COMPRESSION": "none"})
        self.assertEqual(status, 0, said)
        [(_, headers, body)] = server.requests
        self.assertEqual((headers["Authorization"], headers["x-tenant"], headers["X-Empty"]),
                         ("Bearer a:b=c, d", "a b,c", ""))
        self.assertNotIn("Content-Encoding", headers)
        self.assertEqual(body, self.written())

    def test_no_rights(self):
        """What reads the log cannot make sockets; what sends can write no file and run no program."""
        server = self.server(never)
        clean = {k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}
        with subprocess.Popen([SPOOR, "export", "--to", "otlp", "--endpoint", server.url, "/dev/stdin"], env=clean,
                              stdin=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.addCleanup(process.kill)
            children = f"/proc/{process.pid}/task/{process.pid}/children"

            def confined():
                with open(children, encoding="utf-8") as f:
                    found = f.read().split()
                for pid in found and [process.pid, *found]:
                    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
                        status = dict(line.split(":\t", 1) for line in f.read().splitlines() if ":\t" in line)
                    if (status["Seccomp"], status["NoNewPrivs"], int(status["CapEff"], 16)) != ("2", "1", 0):
                        return False
                return bool(found)

            while not confined():
                self.assertIsNone(process.poll())
            process.stdin.close()  # an empty log: nothing is sent
            self.assertEqual(process.wait(DEADLINE_S), 1)
        self.assertEqual(server.requests, [])


class Tls(SendCase):
    def setUp(self):
        super().setUp()
        self.context = otlp_server.certificates(self.folder)
        self.ca = os.path.join(self.folder, "ca.pem")

    def test_an_authority_of_ones_own(self):
        server = self.server(answers(200), tls=self.context)
        self.assertEqual(self.send(server.url, "--ca", self.ca)[0], 0)
        self.assertEqual(self.send(server.url, env={OTEL + "CERTIFICATE": self.ca})[0], 0)
        self.assertEqual([gzip.decompress(body) for _, _, body in server.requests], [self.written()] * 2)

    def test_who_is_not_trusted_gets_nothing(self):
        server = self.server(answers(200), tls=self.context)
        status, said = self.send(server.url)
        self.assertEqual((status, server.requests), (1, []))
        self.assertRegex(said, r"^spoor: https://localhost:\d+/v1\w+/profiles: nothing was taken: .*certificate")
        # Another name than the certificate's.
        status, said = self.send(server.url.replace("localhost", "127.0.0.1"), "--ca", self.ca)
        self.assertEqual((status, server.requests, said.count("\n")), (1, [], 1))

    def test_a_server_that_wants_to_know_who_sends(self):
        self.context.verify_mode = ssl.CERT_REQUIRED
        self.context.load_verify_locations(self.ca)
        self.context.maximum_version = ssl.TLSVersion.TLSv1_2  # it is refused in the handshake
        server = self.server(answers(200), tls=self.context)
        status, said = self.send(server.url, "--ca", self.ca)
        self.assertEqual((status, server.requests), (1, []), said)
        client = os.path.join(self.folder, "client")
        env = {"CERTIFICATE": self.ca, "CLIENT_CERTIFICATE": client + ".pem", "CLIENT_KEY": client + ".key"}
        status, said = self.send(server.url, env={OTEL + k: v for k, v in env.items()})
        self.assertEqual((status, len(server.requests)), (0, 1), said)


class Again(SendCase):
    def test_a_server_that_is_busy(self):
        server = self.server(answers(503, Retry_After="1"), answers(429, Retry_After="1"), answers(200))
        status, said = self.send(server.url)
        self.assertEqual((status, len(server.requests)), (0, 3), said)
        self.assertEqual(len({body for _, _, body in server.requests}), 1)
        self.assertIn("the server answers 503; again in 1.0 s, attempt 2 of 5", said)
        self.assertIn("the server answers 429; again in 1.0 s, attempt 3 of 5", said)

    def test_connections_that_break(self):
        server = self.server(closes, answers(200))
        status, said = self.send(server.url)
        self.assertEqual((status, len(server.requests)), (0, 2), said)
        self.assertRegex(said, r"again in [01]\.\d s, attempt 2 of 5")

    def test_a_server_that_does_not_answer(self):
        server = self.server(never, answers(200))
        status, said = self.send(server.url, "--timeout", "2s")
        self.assertEqual(status, 0, said)
        self.assertRegex(said, r"timed out.*; again in")

    def test_a_server_that_is_starting(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        with subprocess.Popen([SPOOR, "export", "--to", "otlp", "--endpoint", f"http://127.0.0.1:{port}", self.path],
                              stderr=subprocess.PIPE, text=True) as process:
            self.addCleanup(process.kill)
            self.assertIn("attempt 2 of 5", process.stderr.readline())
            server = self.server(answers(200), port=port)
            self.assertEqual(process.wait(DEADLINE_S), 0)
        self.assertEqual(len(server.requests), 1)

    def test_not_for_ever(self):
        server = self.server(answers(503, Retry_After="1"))
        status, said = self.send(server.url)
        self.assertEqual((status, len(server.requests)), (1, 5))
        self.assertRegex(said.splitlines()[-1], "nothing was taken: the server answers 503$")

    def test_who_asks_for_much_patience_is_not_waited_for(self):
        server = self.server(answers(429, Retry_After="3600"))
        status, said = self.send(server.url)
        self.assertEqual((status, len(server.requests), said.count("\n")), (1, 1, 1))
        self.assertIn("it asks to come back in 3600 s", said)

    def test_the_last_word(self):
        for status, hint in ((400, "opentelemetry-proto 1.10"), (401, "--headers FILE"), (404, "no profiles at"),
                             (413, "--from and --until"), (415, "no gzip"), (500, ""), (301, "no redirection")):
            server = self.server(answers(status, b"not\x1b here\r\nmore", kind="text/plain", Location="http://a/"))
            got, said = self.send(server.url)
            self.assertEqual((got, len(server.requests), said.count("\n")), (1, 1, 1), said)
            self.assertIn(f"the server answers {status}", said)
            self.assertIn(hint, said)
            self.assertIn(": not\\x1b here\n", said)

    def test_what_a_status_says(self):
        server = self.server(answers(400, b"\x08\x03" + message(2, b"no such field")))
        self.assertIn(": no such field\n", self.send(server.url)[1])

    def test_answers_that_are_none(self):
        for answer in (answers(200, b"<html>", kind="text/html"), answers(200, b"\x0a\x05\x08"),
                       answers(200, b"x" * 70000, kind="text/plain")):
            server = self.server(answer)
            status, said = self.send(server.url)
            self.assertEqual((status, len(server.requests), said.count("\n")), (1, 1, 1))
            self.assertIn("is it a collector?", said)


class Usage(SendCase):
    def refused(self, url, *args, env=None, status=1):
        got, said = self.send(url, *args, env=env)
        self.assertEqual(got, status, said)
        return said

    def test_urls(self):
        for url in ("localhost:4318", "ftp://localhost", "http://", "http:///a", "http://a b", "http://a\n", "file:/"):
            self.assertIn("it cannot be sent: --endpoint is no URL", self.refused(url))
        for url in ("http://me:secret@localhost:1", "https://key@localhost"):
            self.assertNotIn("secret", self.refused(url))
        self.assertIn("OTLP_ENDPOINT is set", self.refused("env"))

    def test_headers(self):
        url = "http://127.0.0.1:1"
        for text in ("no colon: \x01secret\n", "secret\n", "a b: secret\n", "Content-Type: secret\n", ": secret\n",
                     "A: secret\n" * 3 + "\0", "".join(f"a{i}: secret\n" for i in range(65)), "a: " + "secret" * 20000):
            said = self.refused(url, "--headers", self.file("headers", text))
            self.assertIn("it cannot be sent: " + self.folder, said)
            self.assertNotIn("secret", said)
        self.assertIn("No such file", self.refused(url, "--headers", self.folder + "/none"))
        for value in ("secret", "a b=secret", "a=secret%0d%0aHost: x", "host=secret"):
            said = self.refused(url, env={OTEL + "HEADERS": value})
            self.assertIn(OTEL + "HEADERS", said)
            self.assertNotIn("secret", said)

    def test_settings(self):
        url = "http://127.0.0.1:1"
        self.assertIn("neither gzip nor none", self.refused(url, env={OTEL + "COMPRESSION": "zstd"}))
        for value in ("x", "-1", "0", "3600001", "10s", " 5"):
            self.assertIn(OTEL + "TIMEOUT", self.refused(url, env={OTEL + "TIMEOUT": value}))

    def test_options(self):
        url = "http://127.0.0.1:1"
        self.refused(url, "-o", os.path.join(self.folder, "a"), status=2)
        self.refused(url, "--timeout", "0", status=2)
        for args in (("export", "--to", "pprof", "--endpoint", url), ("export", "--to", "otlp", "--ca", "x"),
                     ("profile", "--endpoint", url), ("export", "--anonymize", "-o", "x", "--endpoint", url)):
            self.assertEqual(spoor(*args, self.path).returncode, 2, args)

    def test_a_log_that_cannot_be_read_is_not_sent(self):
        server = self.server(answers(200))
        with open(self.path, "wb") as f:
            f.write(b"no log")
        self.refused(server.url)
        self.assertEqual(server.requests, [])


if __name__ == "__main__":
    unittest.main()
