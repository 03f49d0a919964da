#!/usr/bin/python3
"""analyze.py COMPILER... -- FILE...: gcc's static analyzer (-fanalyzer) over each FILE; each finding is answered below.

The answers are by file, function and kind of finding, with the reason why it is none; what is not answered fails, and so
does an answer to a finding that is not there any more. Leaks are not asked for (gcc 12 takes what a container keeps for
lost): LeakSanitizer looks for them in every unit test and in the sanitized program.
"""
import concurrent.futures
import os
import re
import subprocess
import sys

ANSWERS = {
    ("user/analyze/vm/phases.c", "close_phase", "null-dereference"):
        "its callers have found o, which is one of p->open; the loop is not entered at its end",
    ("user/analyze/tracks/track.c", "in_wait", "null-dereference"):
        "track_push() has just put a level of STATE_WAIT there, which top() finds",
    ("user/base/text/print.c", "put", "null-argument"):
        "a sink without a buffer has the size 0: nothing fits, and nothing is copied",
    ("user/jvm/find.c", "jvm_find", "possible-null-argument"):
        "opendir() that fails sets errno, so that err is not 0 and the loop is not entered",
    ("user/jvm/threads.c", "jvm_threads", "use-of-uninitialized-value"):
        "list_read() has filled all count of before",
}
FLAGS = ["-fanalyzer", "-Wno-analyzer-malloc-leak", "-fdiagnostics-plain-output", "-fdiagnostics-path-format=none",
         "-c", "-o", "/dev/null"]
FINDING = re.compile(r"^(\S+?):(\d+):\d+: warning: (.*) \[-Wanalyzer-([a-z-]+)\]$")


def findings(compiler, path):
    """{(file, function, kind): its first line}; a compiler that fails otherwise ends the program."""
    done = subprocess.run([*compiler, *FLAGS, path], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    found, function = {}, "-"
    for line in done.stderr.splitlines():
        where = re.search(r"In function '(\w+)'", line.replace("\u2018", "'").replace("\u2019", "'"))
        function = where[1] if where else function
        match = FINDING.match(line)
        if match:
            found.setdefault((match[1], function, match[4]), line)
    if done.returncode:
        raise SystemExit(done.stderr or f"{compiler[0]} {path}: status {done.returncode}")
    return found


def main():
    split = sys.argv.index("--")
    compiler, files = sys.argv[1:split], sys.argv[split + 1:]
    found = {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for one in pool.map(lambda path: findings(compiler, path), files):
            found.update(one)
    wrong = [line for key, line in sorted(found.items()) if key not in ANSWERS]
    wrong += [f"{' '.join(key)}: it is answered, and not found" for key in sorted(set(ANSWERS) - set(found))]
    print("\n".join([*wrong, f"{len(files)} files, {len(found)} findings, {len(wrong)} of them not answered"]))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
