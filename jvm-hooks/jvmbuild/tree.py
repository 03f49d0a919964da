"""A JDK that runs: an installed or unpacked one, with another libjvm.so in it."""
import glob
import os
import shutil

from jvmbuild.work import Failed, ask

COLLECTORS = ("Serial", "Parallel", "G1")
LIBJVM = "/lib/server/libjvm.so"
# jmods: what jlink makes of them would have the stock libjvm again. The others are not needed to run or compile.
LEFT_OUT = ("jmods", "docs", "man", "demo", "lib/src.zip")
EXPORTED = "spoor_hooks"


def copy(source, target, root="/", left_out=LEFT_OUT):
    """A folder with what its links point to. root: where the file system begins that absolute links are meant in."""
    os.makedirs(target)
    for entry in sorted(os.scandir(source), key=lambda e: e.name):
        path = follow(entry.path, root)
        if entry.name in left_out or path is None:
            continue
        if os.path.isdir(path):
            inside = [name.partition("/")[2] for name in left_out if name.startswith(entry.name + "/")]
            copy(path, os.path.join(target, entry.name), root, inside)
        else:
            shutil.copy2(path, os.path.join(target, entry.name))


def follow(path, root):
    """What a path stands for; None: a link to nothing. What is not below root is taken from the machine."""
    for _ in range(40):
        if not os.path.islink(path):
            return path if os.path.exists(path) else None
        to = os.readlink(path)
        if os.path.isabs(to):
            inside = os.path.join(root, to.lstrip("/"))
            path = inside if os.path.lexists(inside) else to
        else:
            path = os.path.join(os.path.dirname(path), to)
    return None


def exports(work, library):
    output = work.must("cannot read the library's symbols", ["nm", "-D", "--defined-only", library])
    return {line.split()[-1].split("@")[0] for line in output.splitlines() if len(line.split()) > 1}


def why_unfit(work, library, other):
    """The JDK's libraries call JVM_* functions: has the library all that the other one has? "": yes."""
    missing = {name for name in exports(work, other) - exports(work, library) if name.startswith("JVM_")}
    return f"it lacks {', '.join(sorted(missing)[:5])}" if missing else ""


def must_have_hooks(work, library):
    if EXPORTED not in exports(work, library):
        raise Failed(f"the libjvm.so that was built does not export {EXPORTED}: do the patches apply to nothing?")


def make(work, home, library, target, root="/"):
    """"": the tree is there, and runs. Else why it does not."""
    why = why_unfit(work, library, home + LIBJVM)
    if why:
        return why
    copy(home, target, root)
    shutil.copyfile(library, target + LIBJVM)
    # The archives of classes belong to the libjvm that has dumped them; any other one refuses them silently.
    for path in glob.glob(os.path.join(glob.escape(os.path.dirname(target + LIBJVM)), "*.jsa")):
        os.unlink(path)
    return dump_and_run(work, os.path.join(target, "bin/java"))


def dump_and_run(work, java):
    dumps = [["-Xshare:dump"], ["-XX:-UseCompressedOops", "-Xshare:dump"]]
    runs = [[f"-XX:+Use{gc}GC", "-Xshare:on", "-version"] for gc in COLLECTORS]
    for options in dumps + runs:
        status, _ = work.run([java, *options])
        if status:
            return f"java {' '.join(options)} ends with status {status}"
    status, _ = work.run([os.path.join(os.path.dirname(java), "javac"), "-version"])
    return f"javac ends with status {status}" if status else ""


def version(home):
    """What java says of its VM."""
    return ask(os.path.join(home, "bin/java"), "--version").rpartition("\n")[2]
