"""A server for profiles, as OTLP has it, that does with each request what a test tells it to."""
import contextlib
import http.server
import ssl
import subprocess
import threading

TYPE = "application/x-protobuf"


class Server(http.server.ThreadingHTTPServer):
    """answers: a function of the handler for each request; the last one is for all that follow.
    requests: (path, headers, body) of each."""
    daemon_threads = True

    def __init__(self, *answers, port=0, tls=None):
        super().__init__(("127.0.0.1", port), Handler)
        self.answers, self.requests, self.released = list(answers), [], threading.Event()
        self.scheme = "https" if tls else "http"
        if tls:
            self.socket = tls.wrap_socket(self.socket, server_side=True)
        self.url = f"{self.scheme}://localhost:{self.server_port}"
        self.thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def handle_error(self, request, client_address):
        """Of a client that is gone, or that does not trust the certificate."""

    def close(self):
        self.released.set()
        self.shutdown()
        self.server_close()
        self.thread.join()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, dict(self.headers), body))
        answers = self.server.answers
        with contextlib.suppress(ConnectionError):
            (answers.pop(0) if len(answers) > 1 else answers[0])(self)


def answers(status, body=b"", kind=TYPE, **headers):
    def answer(handler):
        handler.send_response(status)
        if body or kind != TYPE:
            handler.send_header("Content-Type", kind)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)
    return answer


def in_chunks(body):
    """A byte each."""
    def answer(handler):
        handler.send_response(200)
        handler.send_header("Content-Type", TYPE)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        for byte in body:
            handler.wfile.write(b"1\r\n%c\r\n" % byte)
            handler.wfile.flush()
        handler.wfile.write(b"0\r\n\r\n")
    return answer


def closes(handler):
    handler.close_connection = True
    handler.connection.close()


def never(handler):
    """Nothing, until the server is closed."""
    handler.server.released.wait()


def certificates(folder):
    """An authority, a certificate of localhost by it, and one of a client; a server's context."""
    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    openssl("req", "-x509", *curve, "-keyout", "ca.key", "-out", "ca.pem", "-subj", "/CN=authority", "-days", "2")
    for name in ("localhost", "client"):
        openssl("req", *curve, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
        with open(f"{folder}/{name}.ext", "w", encoding="utf-8") as f:
            f.write(f"subjectAltName=DNS:{name}\n")
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
                "-days", "2", "-extfile", f"{name}.ext", "-out", f"{name}.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/localhost.pem", f"{folder}/localhost.key")
    return context


def message(number, body):
    """A field with a length; of less than 128 bytes."""
    return bytes([number << 3 | 2, len(body)]) + body
