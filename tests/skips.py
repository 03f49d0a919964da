"""Which tests may be skipped: tests/run --no-skips.

A file has one line for each: a pattern of the test's name, a colon and a blank, the reason why nobody can see to it that
the test runs; # begins a comment. A list has patterns with commas between them.
"""
import fnmatch
import os


class Allowed:
    """given: a file, a list, or None: any skip will do. The name of no file is a pattern that no test has."""

    def __init__(self, given):
        self.any = given is None
        self.patterns = list(patterns_of(given)) if given and os.path.exists(given) else (given or "").split(",")

    def __call__(self, name):
        return self.any or any(fnmatch.fnmatchcase(name, p) for p in self.patterns)


def patterns_of(path):
    with open(path, encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            pattern, _, reason = line.partition("#")[0].strip().partition(": ")
            if pattern and not reason:
                raise ValueError(f"{path}:{number}: there is no reason for {pattern}")
            if pattern:
                yield pattern
