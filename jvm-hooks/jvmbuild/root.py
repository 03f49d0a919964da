"""A root of another release of Debian: to make it, to run in it, and a command that looks like the JDK's from outside.

Packages come by debootstrap and apt from the archive that this machine's apt has Debian from, and nothing is installed
on this machine. What runs in the root does so in a mount namespace of its own, in which the root is / and has this
machine's /proc, /sys, /dev, /tmp, the working folder (but for the system's, of which it has its own), and the folders
that are named.
"""
import os
import shutil
import subprocess

from jvmbuild.work import Failed, ask

KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

# $1: the root; $2: the working folder; $3: more folders; then the command.
ENTER = """\
root=$1; cwd=$2; folders=$3; shift 3
for folder in /proc /sys /dev /tmp $folders; do
	mkdir -p "$root$folder" && mount --rbind "$folder" "$root$folder" || exit 125
done
case $cwd in
/ | /usr* | /lib* | /bin* | /sbin* | /etc* | /var*) ;;
*) mkdir -p "$root$cwd" && mount --rbind "$cwd" "$root$cwd" || exit 125 ;;
esac
exec chroot "$root" env -C "$cwd" "$@\""""

WRAPPER = """#!/bin/sh
# Runs {tool} of the root {root}.
exec unshare -m --propagation private sh -c '{enter}' sh '{root}' "$PWD" "{folders} $SPOOR_JDK_BIND" '{path}' "$@"
"""


def archive(label):
    """Where this machine's apt has packages of Debian from, or its security updates."""
    shown = ask("apt-get", "indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages")
    for line in shown.splitlines():
        own, _, uri = line.partition(" ")
        if own == label:
            return uri.strip()
    raise Failed(f"this machine's apt has no archive with the label {label}")


def run(what, command):
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
    except FileNotFoundError as e:
        raise Failed(f"{what}: there is no {e.filename}") from e
    if done.returncode:
        raise Failed(f"{what}: {command[0]} has ended with {done.returncode}\n" + "\n".join(
            done.stdout.splitlines()[-15:]))
    return done.stdout


def make(path, suite, packages):
    """debootstrap leaves a folder that cannot be gone on with, when it is interrupted: it is made beside its place."""
    new = f"{path}.new"
    shutil.rmtree(new, ignore_errors=True)
    run(f"Debian's {suite} cannot be fetched", ["debootstrap", "--variant=minbase", f"--keyring={KEYRING}", suite, new,
                                                archive("Debian")])
    with open(f"{new}/etc/apt/sources.list", "a", encoding="ascii") as f:
        f.write(f"deb {archive('Debian-Security')} {suite}-security main\n")
    install(new, packages)
    os.rename(new, path)


def install(path, packages):
    run("packages cannot be fetched", [
        "unshare", "-m", "sh", "-c",
        'mount -t proc proc "$0/proc" && exec chroot "$0" sh -c "apt-get update -qq && '
        'DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $* && apt-get clean"',
        path, *packages])


def missing(path, packages):
    """Those of the packages that are not installed in the root."""
    shown = ask("chroot", path, "dpkg-query", "-W", "-f", "${Package} ${db:Status-Status}\n").splitlines()
    return [package for package in packages if f"{package} installed" not in shown]


def command(path, folders, cwd, words):
    """The command that runs these words in the root, with these folders of this machine in it, in one of them."""
    return ["unshare", "-m", "--propagation", "private", "sh", "-c", ENTER, "sh", path, cwd, " ".join(folders), *words]


def wrapper_write(target, tool, path, root, folders=()):
    """An executable file that runs the root's PATH as if it were this machine's."""
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(f"{target}.new", "w", encoding="utf-8") as f:
        f.write(WRAPPER.format(tool=tool, root=root, path=path, folders=" ".join(folders), enter=ENTER))
    os.chmod(f"{target}.new", 0o755)
    os.rename(f"{target}.new", target)
