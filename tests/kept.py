"""The folder of a test's logs: removed when the test ends, but kept when it has failed, for whoever looks for the cause of
what is not seen twice."""
import os
import shutil
import tempfile

BUILD = os.environ.get("SPOOR_BUILD", os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "build"))


def place(test):
    """Of what a failed test leaves; that of the time before is replaced."""
    return os.path.join(BUILD, "failed", test.id())


def failed(test):
    """To be called when a test fails (tests/run does). Where its folder will be, if it has one."""
    test.kept_failed = True
    return place(test) if hasattr(test, "kept_folder") else None


def folder(test):
    """Of one test: a new one."""
    test.kept_folder = tempfile.mkdtemp(prefix="spoor-test-")
    test.addCleanup(end, test)
    return test.kept_folder


def end(test):
    if getattr(test, "kept_failed", False):
        try:
            shutil.rmtree(place(test), True)
            os.makedirs(os.path.dirname(place(test)), exist_ok=True)
            shutil.move(test.kept_folder, place(test))
        except (OSError, shutil.Error) as e:
            print(f"{test.kept_folder} is not kept: {e}")
    shutil.rmtree(test.kept_folder, True)
