#!/usr/bin/python3
"""Two builds of the last commit, in folders of different names, have the same bytes; and the kernel's BTF is not needed.

Each build is that of a fresh clone, in a mount namespace of its own in which /sys/kernel/btf is an empty folder.
"""
import argparse
import hashlib
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HIDDEN = "mount -t tmpfs none /sys/kernel/btf && test ! -e /sys/kernel/btf/vmlinux && exec make -j2 all"


def built(commit, folder):
    subprocess.run(["git", "clone", "-q", "--no-checkout", ROOT, folder], check=True)
    subprocess.run(["git", "checkout", "-q", "--detach", commit], cwd=folder, check=True)
    done = subprocess.run(["unshare", "--mount", "sh", "-c", HIDDEN], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"the build failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    with open(os.path.join(folder, "build/spoor"), "rb") as f:
        return f.read()


def main():
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    if os.geteuid():
        sys.exit("root is needed, to hide /sys/kernel/btf from the build")
    # Others may commit meanwhile.
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    with tempfile.TemporaryDirectory(prefix="spoor-reproducible-") as folder:
        first, second = (built(commit, os.path.join(folder, name)) for name in ("one", "another-one"))
    print(f"{len(first)} bytes, sha256 {hashlib.sha256(first).hexdigest()[:16]}")
    if first != second:
        different = sum(a != b for a, b in zip(first, second))
        sys.exit(f"the builds differ: {len(first)} and {len(second)} bytes, {different} of them different")
    print("two builds have the same bytes, without the kernel's BTF")


if __name__ == "__main__":
    main()
