"""Kernels of other releases of Debian than this machine's: apt is run with entries and lists of its own, so that the
machine's are not touched. What has been fetched of a release stays, whatever newer kernel it has by then."""
import glob
import os
import re

import lab

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# After the machine's configuration: #clear takes out what that wants to be run after an update.
CONFIG = """\
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Sandbox::User "root";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "{folder}/parts";
Dir::State::lists "{folder}/lists";
Dir::Cache "{folder}/cache";
"""


def archives():
    """{label: address} of what this machine's apt has packages from."""
    shown = lab.run(["apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages"]).stdout
    return dict(line.split(" ", 1) for line in shown.splitlines())


class Suite:
    """A release: bullseye, trixie, trixie-backports."""

    def __init__(self, packages, name):
        self.packages, self.name = packages, name
        self.folder = os.path.join(packages.cache, f"apt-{name}")

    def _apt(self, tool, *words):
        done = lab.run([tool, "-q", "-c", os.path.join(self.folder, "apt.conf"), "-o", "Acquire::http::Timeout=15", *words],
                       cwd=os.path.join(self.packages.cache, "debs"))
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip() or "no word").splitlines()[-1]
            raise lab.Unavailable(f"{tool} {words[0]} of {self.name}: {last}")
        return done.stdout

    def _configure(self):
        known = archives()
        if "Debian" not in known:
            raise lab.Unavailable("this machine's apt has no archive of Debian's")
        entries = [(known["Debian"], self.name)]
        if "Debian-Security" in known and "-" not in self.name:
            entries.append((known["Debian-Security"], f"{self.name}-security"))
        for name in ("lists/partial", "parts", "cache"):
            os.makedirs(os.path.join(self.folder, name), exist_ok=True)
        for name, text in (("apt.conf", CONFIG.format(folder=self.folder)),
                           ("sources.list", "".join(f"deb [signed-by={KEYRING}] {where} {suite} main\n"
                                                    for where, suite in entries))):
            with open(os.path.join(self.folder, name), "w", encoding="ascii") as f:
                f.write(text)

    def _dependency(self, package, pattern):
        found = re.search(rf"Depends: ({pattern})$", self._apt("apt-cache", "depends", package), re.M)
        return found and found[1]

    def _fetch(self):
        self._configure()
        self._apt("apt-get", "update")
        image = self._dependency("linux-image-amd64", r"linux-image-\d\S+")
        if not image:
            raise lab.Unavailable(f"{self.name} has no linux-image-amd64")
        # Since 6.19 the kernel itself is a package of its own.
        self._apt("apt-get", "download", self._dependency(image, r"linux-binary-\d\S+") or image)

    def kernel(self):
        """The path of its newest kernel at the time of the first call."""
        where = self.packages.unpack(f"kernel-{self.name}", self._fetch)
        found = glob.glob(os.path.join(where, "boot/vmlinuz-*")) + glob.glob(os.path.join(where, "usr/lib/modules/*/vmlinuz"))
        if not found:
            raise lab.Unavailable(f"{self.name}: its package has no kernel")
        return found[0]
