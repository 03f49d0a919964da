"""Which source package is taken, and from where: from the cache, or by apt."""
import shutil

from jvmbuild import debian
from jvmbuild.work import Failed, say


def order(installed, versions, feature):
    """The versions to try: the installed one if it is among them, then from the newest down; of one feature release."""
    known = [v for v in debian.sorted_versions(versions) if v.startswith(f"{feature}.")]
    return [v for v in known if v == installed] + [v for v in known if v != installed]


class Fetch:
    """pinned: the one version that will do; None: any."""

    def __init__(self, work, cache, release, pinned=None, offline=False):
        self.work = work
        self.cache = cache
        self.package = release.package
        self.feature = release.feature
        self.upstream = release.upstream
        self.pinned = pinned
        self.offline = offline
        self.failures = []

    def source(self, installed):
        """(version, folder) of a source package for an installed version."""
        exact = self.pinned or installed
        if exact in self.cache.versions("sources"):
            return self.taken(exact, "as fetched before")
        if not self.offline:
            apt = debian.Apt(self.work)
            say("FETCH", f"which versions of {self.package} are there?")
            known = order(installed, apt.source_versions(self.package), self.feature)
            for version in known if not self.pinned else [v for v in known if v == self.pinned]:
                if version in self.cache.versions("sources"):
                    return self.taken(version, "as fetched before")
                if self.attempt(version, lambda into, v=version: apt.fetch_source(self.package, v, into), "sources"):
                    return self.taken(version, f"installed is {installed}")
            self.failures = self.failures or [f"apt knows of {', '.join(known) or 'none: is the network there?'}"]
        return self.fallback(installed)

    def fetch_upstream(self):
        """Whether the cache has the upstream part of a package that is known to be there, with the sum that it had."""
        if self.offline or not self.upstream or self.pinned not in (None, self.upstream.version):
            return False
        return self.attempt(self.upstream.version, lambda into: debian.fetch_upstream(self.work, self.upstream, into),
                            "sources")

    def taken(self, version, why):
        say("FETCH", f"{self.package} {version} is taken ({why})")
        return version, self.cache.path("sources", version)

    def attempt(self, version, fetch, kind):
        """Whether it is in the cache now."""
        folder = self.work.path("fetched")
        shutil.rmtree(folder, ignore_errors=True)
        why = fetch(folder)
        if why:
            self.failures.append(f"{version}: {why}")
            say("FETCH", f"{self.package} {version} cannot be had: {why}")
            return False
        self.cache.keep(folder, kind, version)
        return True

    def fallback(self, installed):
        """What was fetched at another time."""
        kept = [] if self.pinned else order(installed, self.cache.versions("sources"), self.feature)
        if kept:
            return self.taken(kept[0], "as fetched before" + ("" if self.offline else "; no other can be had"))
        if self.fetch_upstream():
            return self.taken(self.upstream.version, "its upstream part; no source package can be had")
        why = ["it was not fetched before, and this is --offline"] if self.offline else self.failures
        what = " ".join(filter(None, [self.package, self.pinned]))
        raise Failed("\n  ".join([f"no source of {what} can be had:", *why]), log=not self.offline)

    def packages(self, names, version):
        """A folder with the binary packages of that version, or None."""
        if version not in self.cache.versions("packages"):
            fetch = lambda into: debian.fetch_packages(self.work, names, version, into)  # noqa: E731
            if self.offline or not self.attempt(version, fetch, "packages"):
                return None
        return self.cache.path("packages", version)
