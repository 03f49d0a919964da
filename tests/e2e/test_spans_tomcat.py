"""The servlet filter of jvm-hooks/mark in a Tomcat 10: every request is a span, as long as its client saw it at most."""
import http.client
import os
import queue
import shutil
import socket
import subprocess
import threading
import time
import unittest

from test_spans import JAR, MarkTest  # first: it says where harness is
from jvm import jdk_tool
from harness import DEADLINE_S, wait_until

HOME = "/usr/share/tomcat10"
EXAMPLES = "/usr/share/tomcat10-examples/examples"
CLIENTS, REQUESTS = 4, 50
PATHS = {"/examples/servlets/servlet/SessionExample": "GET /examples/servlets/servlet",
         "/examples/servlets/servlet/HelloWorldExample;jsessionid=4711": "GET /examples/servlets/servlet",
         "/examples/4711/nothing": "GET /examples/*/nothing",
         "/examples/jsp/jsp2/el/basic-arithmetic.jsp": "GET /examples/jsp/jsp2"}
SERVER = """<Server port="-1"><Service name="Catalina">
<Connector port="{port}" address="127.0.0.1" protocol="org.apache.coyote.http11.Http11NioProtocol" maxThreads="8"/>
<Engine name="Catalina" defaultHost="localhost"><Host name="localhost" appBase="webapps">
<Context path="/examples" docBase="{examples}" workDir="{base}/work/examples"/></Host></Engine></Service></Server>
"""
# What every application has: Tomcat's servlets for files and for JSP, and the filter.
WEB = """<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="6.0">
<servlet><servlet-name>default</servlet-name>
<servlet-class>org.apache.catalina.servlets.DefaultServlet</servlet-class></servlet>
<servlet><servlet-name>jsp</servlet-name><servlet-class>org.apache.jasper.servlet.JspServlet</servlet-class></servlet>
<servlet-mapping><servlet-name>default</servlet-name><url-pattern>/</url-pattern></servlet-mapping>
<servlet-mapping><servlet-name>jsp</servlet-name><url-pattern>*.jsp</url-pattern></servlet-mapping>
<filter><filter-name>spoor</filter-name><filter-class>spoor.JakartaMarkFilter</filter-class>
<async-supported>true</async-supported></filter>
<filter-mapping><filter-name>spoor</filter-name><url-pattern>/*</url-pattern></filter-mapping>
</web-app>
"""


def why_no_tomcat():
    for path in (f"{HOME}/bin/bootstrap.jar", EXAMPLES):
        if not os.path.exists(path):
            return f"there is no {path}: tomcat10-common and tomcat10-examples are not installed"
    return None


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Client(threading.Thread):
    """Asks for all paths in turn; what it saw: [(path, status, begin_ns, end_ns)]."""

    def __init__(self, port, seen):
        super().__init__(daemon=True)
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
        self.seen = seen

    def run(self):
        paths = list(PATHS)
        for i in range(REQUESTS):
            path = paths[i % len(paths)]
            begin = time.monotonic_ns()
            self.connection.request("GET", path)
            response = self.connection.getresponse()
            response.read()
            self.seen.put((path, response.status, begin, time.monotonic_ns()))
        self.connection.close()


class Tomcat(MarkTest):
    @classmethod
    def setUpClass(cls):
        why = why_no_tomcat()
        if why:
            raise unittest.SkipTest(why)
        super().setUpClass()

    def start(self):
        base, port = self.path("base"), free_port()
        for folder in ("conf", "temp", "work", "logs", "webapps", "lib"):
            os.makedirs(os.path.join(base, folder))
        shutil.copy(JAR, os.path.join(base, "lib"))
        with open(f"{base}/conf/web.xml", "w", encoding="utf-8") as f:
            f.write(WEB)
        with open(f"{base}/conf/server.xml", "w", encoding="utf-8") as f:
            f.write(SERVER.format(port=port, examples=EXAMPLES, base=base))
        log = open(f"{base}/logs/out", "wb")
        self.addCleanup(log.close)
        server = subprocess.Popen(
            [jdk_tool("java"), "-Xmx256m", f"-Dcatalina.home={HOME}", f"-Dcatalina.base={base}",
             f"-Djava.io.tmpdir={base}/temp", "-cp", f"{HOME}/bin/bootstrap.jar:{HOME}/bin/tomcat-juli.jar",
             "org.apache.catalina.startup.Bootstrap", "start"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)

        def answers():
            self.assertIsNone(server.poll(), "Tomcat has ended")
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)
                connection.request("GET", next(iter(PATHS)))
                return connection.getresponse().status == 200
            except OSError:
                return False

        wait_until("Tomcat answers", answers)
        return server, port

    def test_each_request_is_a_span(self):
        server, port = self.start()
        recorder = self.record(server)
        seen = queue.Queue()
        clients = [Client(port, seen) for _ in range(CLIENTS)]
        for client in clients:
            client.start()
        for client in clients:
            client.join(DEADLINE_S)
        requests = [seen.get(timeout=1) for _ in range(CLIENTS * REQUESTS)]
        spans = self.spans(recorder.stop())
        self.assert_complete(spans)
        self.assertEqual({r[1] for r in requests if "4711/" not in r[0]}, {200})
        wanted = {}
        for path, _, begin, end in requests:
            wanted.setdefault(PATHS[path], []).append((begin, end))
        self.assertEqual({n: s["count"] for n, s in self.by_name(spans).items()},
                         {name: len(times) for name, times in wanted.items()})
        for name, n in self.by_name(spans).items():
            self.assertLess(n["total_ns"], sum(end - begin for begin, end in wanted[name]))
            self.assert_near(sum(n["states"].values()), n["total_ns"], 0.1, name, 20_000 * n["count"])
        for span in spans["slowest"]:
            self.assertRegex(span["thread"], r"^http-nio-.*-exec-\d+$")
            self.assertTrue([1 for begin, end in wanted[span["name"]]
                             if begin <= span["begin_ns"] and span["begin_ns"] + span["ns"] <= end], span)


if __name__ == "__main__":
    unittest.main()
