"""spoor serve on a real JVM: scraped by Prometheus, checked by promtool, against the program's own clocks."""
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import unittest
import urllib.parse
import urllib.request

from test_top import PCT, Top  # first: it says where harness is
from harness import BUILD, DEADLINE_S, SPOOR, no_report, spoor, wait_until

UNPACKED = os.path.join(BUILD, "prometheus/usr/bin")
PROMETHEUS, PROMTOOL, VICTORIA = (shutil.which(name, path=UNPACKED) or shutil.which(name)
                                  for name in ("prometheus", "promtool", "victoria-metrics"))
DEPLOY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "deploy", "prometheus")
SAMPLE = re.compile(r'(\w+)(?:\{((?:\w+="(?:[^"\\]|\\.)*",?)*)\})? ([0-9.]+)')


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url, **headers):
    with urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=DEADLINE_S) as answer:
        return answer.read().decode()


def samples(text):
    """{(name, labels): value}; each line is read whole."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = SAMPLE.fullmatch(line)
        assert match, line
        labels = tuple(re.findall(r'(\w+)="((?:[^"\\]|\\.)*)"', match[2] or ""))
        assert (match[1], labels) not in found, line
        found[match[1], labels] = float(match[3])
    return found


def blocked_by_class(found):
    """Seconds by the class's name, in small letters."""
    return {dict(labels)["lock_class"].rpartition("$")[2].lower(): value for (name, labels), value in found.items()
            if name == "spoor_lock_blocked_seconds_total"}


class Served:
    def __init__(self, pid, *options):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = subprocess.Popen([SPOOR, "serve", "-p", str(pid), "-l", f"127.0.0.1:{self.port}", *options],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def answers(self, path="/metrics"):
        try:
            return get(self.url + path)
        except OSError:
            return None

    def end(self):
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=DEADLINE_S)
        no_report(err)
        return self.process.returncode, out, err

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.communicate()


class Prometheus:
    def __init__(self, folder, target, each="1s"):
        self.port = free_port()
        config = os.path.join(folder, "prometheus.yml")
        with open(config, "w", encoding="utf-8") as f:
            json.dump({"global": {"scrape_interval": each}, "rule_files": [os.path.abspath(f"{DEPLOY}/alerts.yml")],
                       "scrape_configs": [{"job_name": "spoor", "static_configs": [{"targets": [target]}]}]}, f)
        self.process = subprocess.Popen(self.command(folder, config), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def command(self, folder, config):
        return [PROMETHEUS, f"--config.file={config}", f"--storage.tsdb.path={folder}/tsdb", "--log.level=error",
                f"--web.listen-address=127.0.0.1:{self.port}"]

    def query(self, text):
        """{labels: value} now; None: it is not up yet."""
        url = f"http://127.0.0.1:{self.port}/api/v1/query?" + urllib.parse.urlencode({"query": text})
        try:
            found = json.loads(get(url))["data"]["result"]
        except OSError:
            return None
        return {tuple(sorted(row["metric"].items())): float(row["value"][1]) for row in found}

    def close(self):
        self.process.kill()
        self.process.wait()


class Victoria(Prometheus):
    """It has Prometheus's configuration, but for rules, and its way of being asked."""

    def command(self, folder, config):
        with open(config, encoding="utf-8") as f:
            whole = json.load(f)
        del whole["rule_files"]
        with open(config, "w", encoding="utf-8") as f:
            json.dump(whole, f)
        return [VICTORIA, f"-promscrape.config={config}", f"-storageDataPath={folder}/victoria",
                f"-httpListenAddr=127.0.0.1:{self.port}", "-search.latencyOffset=1ms", "-search.disableCache",
                "-memory.allowedBytes=256MiB"]


class Serve(Top):
    def served(self, vm, *options):
        serve = Served(vm.pid, *options)
        self.addCleanup(serve.close)
        return serve

    @unittest.skipUnless(PROMETHEUS and PROMTOOL, "no prometheus: make prometheus-setup")
    def test_prometheus_has_what_the_program_says(self):
        vm = self.java("Held")
        serve = self.served(vm, "-i", "1s")
        wait_until("the first interval is over", lambda: serve.answers())
        prometheus = Prometheus(self.tmp, f"127.0.0.1:{serve.port}")
        self.addCleanup(prometheus.close)
        # Holds of 0.6 s: contentions go over the ends of intervals.
        said = json.loads(vm.ask("go 3000 600000 4000"))
        before = {}

        def all_is_there():
            nonlocal before
            found = samples(serve.answers())
            for key, value in found.items():
                if key[0].endswith(("_total", "_bucket", "_sum", "_count")):
                    self.assertGreaterEqual(value, before.get(key, 0), key)
            self.assertLessEqual(set(before), set(found))
            before = found
            blocked = blocked_by_class(found)
            waiters = sum(value for (name, _), value in found.items() if name == "spoor_lock_waiters")
            return not waiters and all(blocked.get(name, 0) >= ns / 1e9 * (1 - PCT / 100) for name, ns in said.items())

        wait_until("what the program says is in the sums", all_is_there)
        text = serve.answers()
        got = blocked_by_class(samples(text))
        for name, ns in said.items():
            self.assert_near(got[name] * 1e9, ns, PCT, name)
        lengths = {dict(labels)["lock_class"].rpartition("$")[2].lower(): value
                   for (name, labels), value in samples(text).items() if name == "spoor_lock_contention_seconds_sum"}
        for name, ns in said.items():
            self.assert_near(lengths[name] * 1e9, ns, PCT, "sum of lengths: " + name)
        wait_until("Prometheus has scraped it", lambda: all(
            abs(value - got[dict(labels)["lock_class"].rpartition("$")[2].lower()]) < 1e-6 for labels, value in
            (prometheus.query("spoor_lock_blocked_seconds_total") or {(("lock_class", "$table"),): -1}).items()))
        self.assertEqual(list(prometheus.query('up{job="spoor"}').values()), [1])
        self.assertTrue(prometheus.query('spoor_info{jvm_kind="stock"}'))
        checked = subprocess.run([PROMTOOL, "check", "metrics"], input=text, capture_output=True, text=True, check=False)
        self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, "", ""))
        opened = get(serve.url + "/metrics", Accept="application/openmetrics-text;version=1.0.0")
        self.assertTrue(opened.endswith("# EOF\n"))
        self.assertEqual(serve.answers("/healthz"), "recording\n")
        self.assertIsNone(serve.answers("/other"))
        self.assertEqual(serve.end()[0], 0)
        self.nothing_is_left(vm)

    def test_cpu_time_by_method(self):
        vm = self.java("Hot", "hot", 1, 2)
        recorder = self.record(vm.pid, "--sample=1ms")
        serve = self.served(vm, "-i", "1s", "--labels", "12", "--sample=1ms,event=cpu-clock")
        wait_until("the first interval is over", lambda: serve.answers())
        vm.ask("go", deadline_s=5 * DEADLINE_S)
        intervals = samples(serve.answers())["spoor_intervals_total", ()]
        wait_until("all is in the sums", lambda: samples(serve.answers())["spoor_intervals_total", ()] > intervals + 3)
        found = samples(serve.answers())
        log = recorder.stop()
        flat = json.loads(spoor("profile", "--flat", "-f", "json", log.path).stdout)
        own = {row["method"]: row["self_ns"] for row in flat["rows"]}
        got = {labels[0][1]: value * 1e9 for (name, labels), value in found.items() if name == "spoor_cpu_seconds_total"}
        self.assertLessEqual(len(got), 13)
        self.assertIn("other", got)
        # Each has samples of its own: a thread's last ones are not the other's.
        self.assert_near(sum(got.values()), sum(own.values()), PCT, "all samples")
        for name, ns in got.items():
            if name.startswith("Hot."):
                self.assert_near(ns, own[name], 5, name, floor=0.05 * sum(own.values()))
        self.assertGreater(sum(ns for name, ns in got.items() if name.startswith("Hot.")), sum(got.values()) / 4)
        lost = {dict(labels)["place"]: value for (name, labels), value in found.items()
                if name == "spoor_events_lost_total" and dict(labels)["event"] == "other"}
        self.assertEqual(lost, dict.fromkeys(("ring_buffer", "map_full", "read_failed", "writer", "log", "memory", "recorder",
                                              "reorder"), 0))
        self.assertEqual(serve.end()[0], 0)

    def test_the_address_is_taken(self):
        vm = self.java("Held")
        serve = self.served(vm)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            other = subprocess.run([SPOOR, "serve", "-p", str(vm.pid), "-l", "127.0.0.1:%d" % s.getsockname()[1]],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=DEADLINE_S,
                                   check=False)
        self.assertEqual(other.returncode, 1)
        self.assertIn("Address already in use", other.stderr)
        wait_until("it answers", lambda: serve.answers("/healthz"))
        self.assertEqual(serve.end()[0], 0)
        self.nothing_is_left(vm)


@unittest.skipUnless(PROMTOOL, "no promtool: make prometheus-setup")
class Deployed(unittest.TestCase):
    def test_rules_and_dashboard_name_what_there_is(self):
        with open(os.path.join(DEPLOY, "..", "..", "user/report/live/metrics_put.c"), encoding="utf-8") as f:
            names = set(re.findall(r'"(spoor_\w+)"', f.read()))
        self.assertGreater(len(names), 15)
        checked = subprocess.run([PROMTOOL, "check", "config", f"{DEPLOY}/prometheus.yml"], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertIn("8 rules found", checked.stdout)
        with open(f"{DEPLOY}/alerts.yml", encoding="utf-8") as f:
            used = re.findall(r"\bspoor_\w+", f.read())
        with open(f"{DEPLOY}/dashboard.json", encoding="utf-8") as f:
            for panel in json.load(f)["panels"]:
                for target in panel["targets"]:
                    used += re.findall(r"\bspoor_\w+", target["expr"])
        self.assertGreater(len(used), 15)
        for name in used:
            self.assertIn(re.sub("_(total|bucket|sum|count)$", "", name), names)
        with open(os.path.join(DEPLOY, "..", "..", "docs/serve.md"), encoding="utf-8") as f:
            rows = [line.split("|")[1] for line in f if line.startswith("| `spoor_")]
        documented = {re.sub("_total$", "", name) for row in rows for name in re.findall(r"`(spoor_\w+)`", row)}
        self.assertEqual(documented, names)


del Top  # its tests are those of another file

if __name__ == "__main__":
    unittest.main()
