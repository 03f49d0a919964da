"""What the tests of a JDK other than the machine's share (tests/jdk/fetch)."""
import os
import unittest

from soaking import only_in_soak


def always(*names):
    """Of a class of tests, all but these are run in a soak only: that much is new in a JDK is seen by few."""
    def marked(cls):
        for name in unittest.defaultTestLoader.getTestCaseNames(cls):
            if name not in names:
                setattr(cls, name, only_in_soak(lambda self, test=getattr(cls, name): test(self)))
        return cls
    return marked


class LibraryOfRoot:
    """The libjvm.so of a JDK in a root of another Debian, by its path here."""

    def library(self):
        return os.path.join(os.environ["SPOOR_JDKS"], self.ROOT, f"usr/lib/jvm/java-{self.MAJOR}-openjdk-amd64",
                            "lib/server/libjvm.so")
