"""Tests that look at one more variant of what another test looks at, or at the same thing more often: they take long, and
are run by `tests/run --soak` (make soak) only, or when -k asks for tests by name."""
import os

WITH_SOAK = "SPOOR_SOAK"


def is_on():
    return bool(os.environ.get(WITH_SOAK))


def only_in_soak(test):
    """Decorator of a test, or of a class of them."""
    test.only_in_soak = True
    return test


def is_only_in_soak(case):
    """case: a unittest.TestCase."""
    return any(getattr(it, "only_in_soak", False) for it in (case, getattr(case, case._testMethodName, None)))
