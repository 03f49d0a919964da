"""Pages of logs, in a browser: what the tests of spoor html share."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("SPOOR_BUILD") or os.path.join(ROOT, "build"))
SPOOR = os.path.abspath(os.environ.get("SPOOR") or os.path.join(BUILD, "spoor"))
MODULES = os.path.join(BUILD, "web", "node_modules")
MKLOG = os.path.join(ROOT, "tests/golden/mklog.py")
MS = 1_000_000

sys.path.append(os.path.join(ROOT, "tests"))


class Browser:
    def __init__(self):
        # Chromium keeps what it likes in a home of its own.
        self.home = tempfile.mkdtemp()
        self.process = subprocess.Popen(["node", os.path.join(ROOT, "tests/web/driver.js"), MODULES], text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        env={**os.environ, "HOME": self.home})

    def __call__(self, what, **arguments):
        self.process.stdin.write(json.dumps({"do": what, **arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise AssertionError("the browser's driver has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise AssertionError(f"{what} {arguments}: {answer['error']}")
        return answer["is"]

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait(timeout=30)
        shutil.rmtree(self.home, ignore_errors=True)


def make_log(folder, lines, name="log"):
    source, log = (os.path.join(folder, f"{name}.{end}") for end in ("jsonl", "spoor"))
    with open(source, "w", encoding="utf-8") as f:
        f.writelines(json.dumps(line) + "\n" for line in lines)
    subprocess.run([sys.executable, "-B", MKLOG, source, log], check=True)
    return log


def spoor(*arguments):
    return subprocess.run([SPOOR, *arguments], capture_output=True, text=True)


def make_page(log, *options):
    page = f"{log}.html"
    done = spoor("html", "-o", page, *options, log)
    if done.returncode:
        raise AssertionError(done.stderr)
    return page


def names(threads, classes, methods):
    """Lines that define them, and a lock of each class."""
    yield {"header": {"record": {"stacks": True}}}
    for i, name in enumerate(threads, 1):
        yield {"time_ns": 1000 * MS, "event": "thread", "thread": i, "tid": 100 + i, "ns_tid": 100 + i,
               "java_id": 10 + i, "name": name, "existed": True}
    for i, name in enumerate(classes, 1):
        yield {"time_ns": 1000 * MS, "event": "class", "class": i, "name": name}
    for i, name in enumerate(methods, 1):
        class_name, _, method = name.rpartition(".")
        yield {"time_ns": 1000 * MS, "event": "method", "method": i, "class_name": class_name, "name": method,
               "signature": "()V", "source": "A.java"}


def lock(number, class_number):
    return {"time_ns": 1000 * MS, "event": "lock", "lock": number, "group": "juc" if class_number == 3 else "monitor",
            "identity": "hash", "class": class_number, "address": 139637976731904 + 256 * number,
            "hash": 1780736 + number}


def contention(at_ns, length_ns, waiter, number, owner, stacks, busy=0.5):
    counters = {"cpu_ns": at_ns // 10, "stolen_ns": 0, "runnable_ns": 0, "owner_cpu_ns": at_ns // 5,
                "owner_stolen_ns": 0, "owner_runnable_ns": 0}
    yield {"time_ns": at_ns, "event": "monitor_contended_enter", "thread": waiter, "lock": number, "owner": owner,
           "owner_source": "java_thread", "stack": stacks[0], "owner_stack": stacks[1], **counters}
    yield {"time_ns": at_ns + length_ns, "event": "monitor_contended_entered", "thread": waiter, "lock": number,
           "owner": owner, "owner_source": "java_thread", **counters,
           "owner_cpu_ns": at_ns // 5 + int(length_ns * busy)}


METHODS = ["java.lang.Thread.run", "shop.Customer.run", "shop.ProductTable.lookUpByNumber",
           "shop.ProductTable.lookUpByName", "java.util.concurrent.locks.ReentrantLock.lock", "shop.Cart.add",
           "shop.Cart.total", "net.Server.accept", "java.net.ServerSocket.accept", "sun.nio.ch.NioSocketImpl.accept"]
CLASSES = ["shop.ProductTable", "shop.Cart", "java.util.concurrent.locks.ReentrantLock$NonfairSync", "net.Server"]


def shop(seed, count=400):
    """A log of a shop, with chains of all kinds, locks of one class, threads of one name, and idle turn-taking."""
    made = random.Random(seed)
    threads = [f"http-{i % 7}" for i in range(12)] + [f"clerk-{i}" for i in range(6)]
    yield from names(threads, CLASSES, METHODS)
    for number in range(1, 13):
        yield lock(number, 1 + number % 4)
    stacks = 0
    for root in range(6):
        caller = 0
        for depth in range(made.randint(2, 9)):
            method = 1 if depth == 0 else 2 if depth == 1 else made.choice([3, 4, 5, 6, 7])
            stacks += 1
            yield {"time_ns": 1000 * MS, "event": "stack", "stack": stacks, "caller": caller, "frame": "c2",
                   "method": method, "bci": depth, "line": 10 * root + depth}
            caller = stacks
    for method in (8, 9, 10):
        stacks += 1
        yield {"time_ns": 1000 * MS, "event": "stack", "stack": stacks, "caller": 0 if method == 8 else stacks - 1,
               "frame": "c2", "method": method, "bci": 1, "line": 5}
    events, free = [], dict.fromkeys(range(1, 19), 1001 * MS)
    for _ in range(count):
        waiter, owner = made.sample(range(1, 19), 2)
        number, length = made.randint(1, 12), made.choice([10, 300, 2000, 60000]) * 1000 + made.randint(0, 999)
        begin = free[waiter] + made.randint(1000, 40 * MS)
        free[waiter] = begin + length + 1000
        idle = number % 4 == 3 and made.random() < 0.7
        pair = (stacks - 2, stacks) if idle else (made.randint(0, stacks - 3), made.randint(0, stacks - 3))
        events += contention(begin, length, waiter, number, owner, pair, 0.1 if idle else made.random())
    yield from sorted(events, key=lambda e: e["time_ns"])
    yield {"time_ns": max(free.values()) + MS, "event": "end", "reason": "done"}


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.isdir(os.path.join(MODULES, "playwright-core")):
            raise unittest.SkipTest("no playwright-core: make web-setup")
        if not shutil.which("chromium"):
            raise unittest.SkipTest("no chromium: make test-setup")
        cls.folder = tempfile.mkdtemp()
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.close()
        shutil.rmtree(cls.folder)

    def js(self, script, arg=None):
        """What a function of the page's own language says."""
        return self.browser("eval", script=script, arg=arg)

    def quiet(self):
        """Nothing that the browser has complained about, asked, or asked for."""
        self.assertEqual(self.browser("logs"), [])
