"""Source packages by apt, without a word in the machine's own apt configuration.

A machine has seldom deb-src entries. So the entries that it has are copied, as deb-src ones, with all that they say of
suites, keys and options, and apt is run with these and with lists of its own.
"""
import functools
import os
import re
import subprocess

from jvmbuild.root import archive
from jvmbuild.work import Failed, ask

HELPER = "/usr/lib/apt/apt-helper"
ENTRY = re.compile(r"^(\s*)deb(?:-src)?(\s)")
TYPES = re.compile(r"^Types:.*", re.I)

# Read after the machine's configuration: #clear takes out what that wants to be run after an update.
CONFIG = """\
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Sandbox::User "root";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "{folder}/sources.list.d";
Dir::State::lists "{folder}/lists";
Dir::Cache "{folder}/cache";
"""


def installed(package):
    """Its source version, or ""."""
    state, _, version = ask("dpkg-query", "-W", "-f", "${db:Status-Status} ${source:Version}", package).partition(" ")
    return version if state == "installed" else ""


def files_of(package):
    return ask("dpkg-query", "-L", package).splitlines()


def as_source_entries(text, deb822):
    """The text of a file of apt entries, each turned into a deb-src entry."""
    if deb822:
        return "".join(TYPES.sub("Types: deb-src", line) for line in text.splitlines(True))
    return "".join(ENTRY.sub(r"\1deb-src\2", line) for line in text.splitlines(True) if "cdrom:" not in line)


def source_lists():
    """(path, is deb822) of the files that hold the machine's entries."""
    values = dict(re.findall(r"(\w+)='(.*)'", ask("apt-config", "shell", "LIST", "Dir::Etc::sourcelist/f",
                                                  "PARTS", "Dir::Etc::sourceparts/d")))
    parts = values.get("PARTS", "")
    names = sorted(os.listdir(parts)) if os.path.isdir(parts) else []
    paths = [values.get("LIST", "")] + [os.path.join(parts, name) for name in names]
    return [(path, path.endswith(".sources")) for path in paths
            if os.path.isfile(path) and path.endswith((".list", ".sources"))]


def sorted_versions(versions):
    """Newest first, each once."""
    def compare(a, b):
        return -1 if subprocess.run(["dpkg", "--compare-versions", a, "gt", b]).returncode == 0 else 1
    return sorted(set(versions), key=functools.cmp_to_key(compare))


class Apt:
    def __init__(self, work):
        self.work = work
        self.folder = work.path("apt")
        self.config = os.path.join(self.folder, "apt.conf")
        for name in ("lists/partial", "sources.list.d", "cache"):
            os.makedirs(os.path.join(self.folder, name))
        self.write("apt.conf", CONFIG.format(folder=self.folder))
        self.write("sources.list", "")
        for path, deb822 in source_lists():
            with open(path, encoding="utf-8") as f:
                name = os.path.basename(path)
                self.write(os.path.join("sources.list.d", name), as_source_entries(f.read(), deb822))

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
            f.write(text)

    def source_versions(self, package):
        """All that can be seen, newest first; none if nothing can be reached."""
        self.work.run(["apt-get", "-c", self.config, "-q", "update"])
        _, output = self.work.run(["apt-cache", "-c", self.config, "showsrc", "--only-source", package])
        return sorted_versions(re.findall(r"^Version: (\S+)$", output, re.M))

    def fetch_source(self, package, version, into):
        """"": its files are in the folder. Else why not."""
        return fetch(self.work, into, ["-c", self.config, "source", "--download-only", "--only-source",
                                       f"{package}={version}"])


def fetch_upstream(work, upstream, into):
    """A file of the archive's pool, of which the sum is known. "": it is in the folder. Else why not."""
    os.makedirs(into)
    base = archive("Debian").rstrip("/")
    path = os.path.join(into, os.path.basename(upstream.path).replace("%2b", "+"))
    status, output = work.run([HELPER, "download-file", f"{base}/{upstream.path}", path, f"SHA256:{upstream.sha256}"])
    return why_not_fetched(output) if status else ""


def fetch_packages(work, packages, version, into):
    """By the machine's own lists. "": they are in the folder. Else why not."""
    return fetch(work, into, ["download", *(f"{package}={version}" for package in packages)])


def fetch(work, into, arguments):
    os.makedirs(into)
    status, output = work.run(["apt-get", "-q", *arguments], cwd=into)
    return why_not_fetched(output) if status or not os.listdir(into) else ""


def why_not_fetched(output):
    answer = re.search(r"^Err:.*\n\s+(.*?)(?: \[IP: .*)?$", output, re.M)
    errors = re.findall(r"^E: (.*)$", output, re.M)
    return " ".join(answer[1].split()) if answer else errors[-1] if errors else "apt does not say why"


def must_be_installed(package):
    version = installed(package)
    if not version:
        raise Failed(f"{package} is not installed; make jvm installs what is needed")
    return version
