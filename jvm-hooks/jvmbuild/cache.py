"""What was built and fetched before: one folder, that any number of builds may share.

    trees/VERSION-KEY/        a JDK; VERSION: of the source, KEY: the hash of all else that went into it
    sources/VERSION/          a source package, as it was fetched, or its upstream part
    packages/VERSION/         binary packages, where the installed JDK did not do
    roots/SUITE/              a root of another release of Debian, which the JDKs of that release are built and run in
    work-PID/                 a build; what is found of it under the lock is left from one that was killed
    failed.log                of the last build that failed
    lock

All but work-PID/ comes to its name by a rename when it is complete.
"""
import contextlib
import fcntl
import glob
import hashlib
import os
import re
import shutil

from jvmbuild.work import Failed, Work, say


def key_of(files, facts):
    """A hash of the files' names and contents, and of the other facts."""
    total = hashlib.sha256()
    for path in sorted(files, key=os.path.basename):
        with open(path, "rb") as f:
            total.update(f"{os.path.basename(path)}\0{hashlib.sha256(f.read()).hexdigest()}\0".encode())
    for fact in facts:
        total.update(f"{fact}\0".encode())
    return total.hexdigest()[:16]


class Cache:
    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        if re.search(r"[\s:$]", self.folder):
            raise Failed(f"the JDK cannot be built in a folder with such a name: {self.folder}")
        os.makedirs(self.folder, exist_ok=True)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    @contextlib.contextmanager
    def locked(self):
        """The lock's file descriptor, which may be inherited: the lock ends with the last process that has it."""
        fd = os.open(self.path("lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                say("WAIT", f"for another build in {self.folder}")
                fcntl.flock(fd, fcntl.LOCK_EX)
            yield fd
        finally:
            os.close(fd)

    @contextlib.contextmanager
    def work(self, lock, keep=False):
        """Under the lock: a folder to build in, that nothing is left of unless it is to be kept."""
        self.remove(glob.glob(self.path("work-*")))
        work = Work(self.path(f"work-{os.getpid()}"), lock)
        try:
            yield work
        except Failed as e:
            if os.path.exists(work.log):
                e.tail = work.tail() if e.log else ""
                e.path = self.path("failed.log")
                os.replace(work.log, e.path)
            raise
        finally:
            if not keep:
                shutil.rmtree(work.folder, ignore_errors=True)

    def tree(self, key):
        """The path of the tree with this key; None: it was not built. Of several, the one that was made last."""
        found = glob.glob(self.path("trees", f"*-{key}"))
        return max(found, key=os.path.getmtime) if found else None

    def versions(self, kind):
        """The names of what was fetched."""
        return [os.path.basename(p) for p in glob.glob(self.path(kind, "*"))]

    def keep(self, path, kind, name):
        """Gives a complete folder its place; its path there."""
        target = self.path(kind, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        os.rename(path, target)
        return target

    def clean(self, key, feature):
        """Removes the trees and sources of a feature release, but for the tree with this key and its source."""
        tree = self.tree(key)
        found = glob.glob(self.path("trees", f"{feature}.*"))
        found += glob.glob(self.path("work-*")) + glob.glob(self.path("failed.log"))
        kept = {tree}
        if tree:
            found += [path for kind in ("sources", "packages") for path in glob.glob(self.path(kind, f"{feature}.*"))]
            version = os.path.basename(tree).removesuffix(f"-{key}")
            kept |= {self.path("sources", version), self.path("packages", version)}
        self.remove([path for path in found if path not in kept])

    def remove(self, paths):
        for path in paths:
            say("RM", path)
            # A tree that was half removed must not be taken for one.
            doomed = self.path(f"work-removed-{os.path.basename(path)}")
            if os.path.basename(path).startswith("work-"):
                doomed = path
            elif os.path.isdir(path):
                os.rename(path, doomed)
            else:
                os.unlink(path)
                continue
            shutil.rmtree(doomed, ignore_errors=True)
