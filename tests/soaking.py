"""Tests that make test leaves out, as they look at one more variant of what another test looks at, or at the same thing more
often. CI runs those that are @slow, a release those that are @only_in_soak; all are run when -k asks for tests by name."""
import os
import sys

WITH_SLOW = "SPOOR_SLOW"
WITH_SOAK = "SPOOR_SOAK"


def is_on():
    return bool(os.environ.get(WITH_SOAK))


def slow(test):
    """Decorator of a test, or of a class of them: run by tests/run --slow, as CI does, and by --soak. A file of them says
    is_slow = True."""
    test.is_slow = True
    return test


def only_in_soak(test):
    """Likewise: run by tests/run --soak (make soak)."""
    test.only_in_soak = True
    return test


def is_left_out(case):
    """case: a unittest.TestCase."""
    levels = case, getattr(case, case._testMethodName, None), sys.modules[type(case).__module__]
    if is_on():
        return False
    only_in_ci = not os.environ.get(WITH_SLOW) and any(getattr(level, "is_slow", False) for level in levels)
    return only_in_ci or any(getattr(level, "only_in_soak", False) is True for level in levels)
