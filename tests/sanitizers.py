"""The program as `make san` builds it: which program that is, and what its sanitizers say.

Reports of ASan and LSan go to files (log_path), those of gcc's UBSan to stderr, whatever its options say; and not every
process that may make one has an exit status that somebody sees.
"""
import functools
import re

REPORT = re.compile(r"runtime error: |[A-Z]\w+Sanitizer\b")
STATUS = 99  # which no command has


def environment(folder):
    """Reports come into folder/report.PID."""
    return {"ASAN_OPTIONS": f"exitcode={STATUS}:detect_leaks=1:strict_string_checks=1:log_path={folder}/report",
            "UBSAN_OPTIONS": f"exitcode={STATUS}:print_stacktrace=1"}


@functools.lru_cache
def is_sanitized(program):
    with open(program, "rb") as f:
        return b"__asan_init" in f.read()


def has_report(text):
    return bool(REPORT.search(text))
