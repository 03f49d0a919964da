"""What the soak programs share: bounded runs of the sanitized program, counted; what failed is kept."""
import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(os.path.dirname(HERE), "bpf"), os.path.dirname(HERE)]

import sanitizers  # noqa: E402

BUILD = os.environ.setdefault("SPOOR_BUILD", os.path.join(os.path.dirname(os.path.dirname(HERE)), "build"))
SPOOR = os.environ.setdefault("SPOOR", os.path.join(BUILD, "san/spoor"))
MEMORY_BYTES = 2 << 30  # resident; of a program whose shadow memory needs no limit of addresses
FILE_BYTES = 1 << 30
# Numbers that have been limits to somebody.
LIKED = (0, 1, 2, 3, 7, 8, 16, 127, 128, 255, 256, 0xfff8, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 10**9,
         2**40, 2**47 - 1, 2**47, 2**62, 2**63 - 1, 2**63, 2**64 - 4096, 2**64 - 8, 2**64 - 1)


class Soak:
    def __init__(self, doc, seconds=60):
        parser = argparse.ArgumentParser(description=doc)
        parser.add_argument("--seconds", type=float, default=seconds)
        parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
        parser.add_argument("--keep", metavar="DIR", help="where what failed is put")
        parser.add_argument("--slow", type=float, default=60, metavar="SECONDS", help="a run that takes longer fails")
        self.options = parser.parse_args()
        self.keep = self.options.keep or tempfile.mkdtemp(prefix="spoor-soak-")
        self.dice = random.Random(self.options.seed)
        self.end = None  # the time begins with the first run
        self.runs = self.failed = 0
        self.slowest_s = 0.0
        self.largest_bytes = 0
        print(f"seed {self.options.seed}; what fails is in {self.keep}", flush=True)

    def going(self):
        self.end = self.end or time.monotonic() + self.options.seconds
        return time.monotonic() < self.end

    def run(self, arguments, statuses, files=()):
        """True: it ended as it should. files: what led to it, kept if it did not."""
        env = {**os.environ, "ASAN_OPTIONS": "exitcode=99:allocator_may_return_null=1:soft_rss_limit_mb="
               f"{MEMORY_BYTES >> 20}", "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1"}
        begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        try:
            done = subprocess.run([SPOOR, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, env=env, timeout=self.options.slow, preexec_fn=limit_files)
            err, status = done.stderr.decode("utf-8", "replace"), done.returncode
        except subprocess.TimeoutExpired as late:
            err, status = (late.stderr or b"").decode("utf-8", "replace"), "too slow"
        self.runs += 1
        self.slowest_s = max(self.slowest_s, time.monotonic() - begin)
        self.largest_bytes = max(before, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss) * 1024
        too_large = self.largest_bytes > MEMORY_BYTES and before * 1024 <= MEMORY_BYTES
        if status in statuses and not too_large and not sanitizers.has_report(err):
            return True
        self.failed += 1
        name = os.path.join(self.keep, f"{self.failed:04}")
        with open(name + ".txt", "w", encoding="utf-8") as f:
            f.write(f"{arguments}\nstatus {status}, {self.largest_bytes >> 20} MiB\n{err}")
        for i, content in enumerate(files):
            with open(f"{name}.{i}", "wb") as f:
                f.write(content)
        print(f"FAIL {arguments}: {status}: {name}.txt", flush=True)
        return False

    def finish(self):
        print(f"{self.runs} runs, {self.failed} failed; slowest {self.slowest_s:.1f} s, largest "
              f"{self.largest_bytes >> 20} MiB")
        return 1 if self.failed or not self.runs else 0


def limit_files():
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))
