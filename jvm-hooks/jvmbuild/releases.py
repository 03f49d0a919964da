"""The releases of the JDK that there are patches for, and where each comes from: one row for each."""
import typing

from jvmbuild.work import ask

X_HEADERS = tuple(f"lib{name}-dev" for name in ("x11", "xext", "xrender", "xrandr", "xtst", "xt"))


class Upstream(typing.NamedTuple):
    """The upstream part of a source package: it stays in the archive's pool when apt no longer lists the package."""
    version: str
    path: str
    sha256: str


class Release(typing.NamedTuple):
    feature: int
    suite: str  # of Debian: the first that has packages of the release
    without: tuple  # features of the JVM that are not built
    upstream: typing.Optional[Upstream]  # taken when no source package can be had
    # What the source's configure wants to see beyond JVM_PACKAGES of the Makefile. It is installed in a root only.
    more_packages: tuple

    @property
    def package(self):
        return f"openjdk-{self.feature}"

    @property
    def binaries(self):
        """The first has the libjvm.so, the second the compiler."""
        return f"{self.package}-jre-headless", f"{self.package}-jdk-headless"

    @property
    def patches(self):
        return f"patches/jdk-{self.feature}"

    def here(self):
        """Whether it can be built on this machine itself: its JDK is installed, or this is its release of Debian."""
        states = ask("dpkg-query", "-W", "-f", "${db:Status-Status} ${source:Version}", self.binaries[0])
        return states.startswith("installed ") or codename() == self.suite


# What is left out would be a tenth of the build: collectors and a compiler interface that the patches know not.
WITHOUT = ("shenandoahgc", "zgc", "epsilongc", "jvmci")

RELEASES = {release.feature: release for release in (
    Release(17, "bookworm", WITHOUT, None, ()),
    Release(21, "trixie", WITHOUT, Upstream(
        "21.0.12.1+1", "pool/main/o/openjdk-21/openjdk-21_21.0.12.1%2b1.orig.tar.xz",
        "ec270145b9c8870e6f0263597efefc6e2c90d99dbe41135b3d8fb8b887499aa5"), X_HEADERS),
    Release(25, "trixie", WITHOUT, Upstream(
        "25.0.3+9", "pool/main/o/openjdk-25/openjdk-25_25.0.3%2b9.orig.tar.xz",
        "2dd6c441b49705480db1ebfcd03f43d5dcb7f1d4290e98c1fa6eeefae50cfa07"), X_HEADERS),
)}
DEFAULT = 17


def codename():
    """Of this machine's Debian; "": it is none."""
    try:
        with open("/etc/os-release", encoding="utf-8") as f:
            lines = dict(line.rstrip("\n").split("=", 1) for line in f if "=" in line)
    except OSError:
        return ""
    return lines.get("VERSION_CODENAME", "").strip('"') if lines.get("ID") == "debian" else ""
