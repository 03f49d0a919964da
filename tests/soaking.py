"""Tests that make test leaves out, as they look at one more variant of what another test looks at, or at the same thing more
often. CI runs those that are @slow, a release those that are @only_in_soak; all are run when -k asks for tests by name."""
import os

WITH_SLOW = "SPOOR_SLOW"
WITH_SOAK = "SPOOR_SOAK"


def is_on():
    return bool(os.environ.get(WITH_SOAK))


def slow(test):
    """Decorator of a test, or of a class of them: run by tests/run --slow, as CI does, and by --soak."""
    test.is_slow = True
    return test


def only_in_soak(test):
    """Likewise: run by tests/run --soak (make soak)."""
    test.only_in_soak = True
    return test


def is_left_out(case):
    """case: a unittest.TestCase."""
    both = case, getattr(case, case._testMethodName, None)
    return not is_on() and any(getattr(it, "only_in_soak", False) or (getattr(it, "is_slow", False) and
                                                                    not os.environ.get(WITH_SLOW)) for it in both)
