"""jvm-hooks/build-jvm on a machine that is made up: apt, the compiler and the JDK are scripts of a few lines."""
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "jvm-hooks"))

from jvmbuild import debian, fetch, hotspot, releases, root, tree, work  # noqa: E402

# Each finds what it has to answer beside itself: build-jvm hands no variables on.
TOOLS = {
    "dpkg-query": """
        case $1 in
        -W) cat "$here/installed" ;;
        -L) echo /usr/share/doc; echo "$here/jdk/lib/server/libjvm.so" ;;
        esac""",
    "apt-config": """echo "LIST='$here/etc/sources.list'"; echo "PARTS='$here/etc/parts'" """,
    "apt-cache": """sed 's/^/Version: /' "$here/listed" """,
    "apt-get": """
        echo "$*" >>"$here/asked"
        for what; do :; done
        version=${what#*=}
        case $* in
        *update*) ;;
        *source*)
            if grep -qxF "$version" "$here/sources"; then echo "$version" >x.dsc; exit 0; fi
            printf 'Err:1 http://example.org/ stable/main x (dsc)\\n  404  Not Found [IP: 192.0.2.1 80]\\n'
            exit 100 ;;
        *download*)
            grep -qxF "$version" "$here/binaries" || { echo "E: Version '$version' was not found"; exit 100; }
            echo "$version" >x.deb ;;
        esac""",
    "dpkg-source": """
        mkdir -p "$4/src/hotspot/share/utilities"
        cp "$here/code.cpp" "$4/src/hotspot/code.cpp"
        cp "$here/JDK.gmk" "$4/Makefile"
        echo 'test ! -e "$0.broken" && echo "$*" >configured' >"$4/configure"
        test ! -e "$here/unconfigurable" || touch "$4/configure.broken" """,
    "dpkg-deb": """
        mkdir -p "$3/usr/lib/jvm"
        cp -a "$here/jdk" "$3/usr/lib/jvm/matching"
        echo "stock JVM_A JVM_B JVM_C spoor_hooks" >"$3/usr/lib/jvm/matching/lib/server/libjvm.so"
        touch "$3/usr/lib/jvm/matching/matching" """,
    "nm": """for file; do :; done; tr ' ' '\\n' <"$file" | sed 's/^/0 T /' """,
    "gcc": """cat "$here/compiler" """,
    "g++": """cat "$here/compiler" """,
}
JAVA = """#!/bin/sh
home=$(dirname "$0")/..
case $* in
*dump*) cp "$home/lib/server/libjvm.so" "$home/lib/server/classes.jsa" ;;
esac
cat "$home/lib/server/libjvm.so"
! grep -q unrunnable "$home/lib/server/libjvm.so"
"""
MAKEFILE = r"""
LIB := build/spoor/support/modules_libs/java.base/server
hotspot-server-libs:
	echo "$(CONF_NAME) $(JOBS)" >>@/builds
	if test -p @/begun; then echo >@/begun; read line <@/go; fi
	test ! -e @/uncompilable || { echo "code.cpp:1: error: expected ';'"; false; }
	mkdir -p $(LIB) && cp src/hotspot/code.cpp $(LIB)/libjvm.so
"""
PATCH = """\
What it is for.

--- a/src/hotspot/code.cpp
+++ b/src/hotspot/code.cpp
@@ -1 +1 @@
-JVM_A JVM_B
+JVM_A JVM_B spoor_hooks
"""


class Machine(unittest.TestCase):
    """17.0.3 is installed, apt lists 17.0.3, 17.0.2 and 17.0.1, and has the files of the last two."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="spoor-jvm-")
        self.addCleanup(folder.cleanup)
        self.here = folder.name
        self.cache = self.path("cache")
        for name, text in TOOLS.items():
            self.write(f"bin/{name}", f'#!/bin/sh\nhere=$(dirname "$0")/..\n{textwrap.dedent(text)}\n', 0o755)
        self.write("installed", "installed 17.0.3")
        self.write("listed", "17.0.1\n17.0.10~x\n17.0.2\n17.0.3\n18.0.1\n")
        self.write("sources", "17.0.1\n17.0.2\n")
        self.write("binaries", "17.0.2\n")
        self.write("compiler", "cc 1")
        self.write("code.cpp", "JVM_A JVM_B\n")
        self.write("JDK.gmk", MAKEFILE.replace("@", self.here))
        self.write("patches/series", "0001-a.patch # the only one\n\n")
        self.write("patches/0001-a.patch", PATCH)
        self.write("etc/sources.list", "")
        self.write("etc/parts/x.list", "deb http://example.org stable main\n")
        self.write("jdk/bin/java", JAVA, 0o755)
        self.write("jdk/bin/javac", JAVA, 0o755)
        self.write("jdk/lib/server/libjvm.so", "stock JVM_A JVM_B\n")
        self.write("jdk/lib/server/classes.jsa", "of another libjvm\n")
        self.write("jdk/jmods/java.base.jmod", "")
        self.write("etc/java.security", "policy")
        os.symlink(self.path("etc/java.security"), self.path("jdk/lib/security"))
        os.symlink("../no-such-file", self.path("jdk/lib/dangling"))

    def path(self, *names):
        return os.path.join(self.here, *names)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        os.chmod(path, mode)

    def read(self, *names):
        with open(self.path(*names), encoding="utf-8") as f:
            return f.read()

    def start(self, *options):
        child = subprocess.Popen(
            [sys.executable, "-B", os.path.join(ROOT, "jvm-hooks/build-jvm"), "--cache", self.cache,
             "--patches", self.path("patches"), *options],
            env={**os.environ, "PATH": f"{self.path('bin')}:{os.environ['PATH']}", "MAKEFLAGS": "n"},
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(child.communicate)
        self.addCleanup(child.kill)
        return child

    def run_it(self, *options, status=0):
        """(stdout without its newline, stderr)"""
        child = self.start(*options)
        out, err = child.communicate()
        self.assertEqual(child.returncode, status, err)
        return out.rstrip("\n"), err

    def fails(self, *options):
        out, err = self.run_it(*options, status=1)
        self.assertEqual(out, "")
        self.assertEqual(self.in_cache("trees"), [])
        self.assertEqual([name for name in self.in_cache() if name.startswith("work")], [])
        self.assertNotIn("Traceback", err)
        return err

    def in_cache(self, *names):
        path = os.path.join(self.cache, *names)
        return sorted(os.listdir(path)) if os.path.isdir(path) else []

    def builds(self):
        return len(self.read("builds").splitlines()) if os.path.exists(self.path("builds")) else 0


class WhatIsBuilt(Machine):
    def test_a_jdk_with_another_libjvm(self):
        path, _ = self.run_it("--link", self.path("current"))
        self.assertEqual(os.readlink(self.path("current")), path)
        self.assertEqual(self.read(path, "lib/server/libjvm.so"), "JVM_A JVM_B spoor_hooks\n")
        self.assertEqual(self.read(path, "lib/server/classes.jsa"), "JVM_A JVM_B spoor_hooks\n")
        self.assertEqual(sorted(os.listdir(path)), ["bin", "lib"])
        self.assertEqual(sorted(os.listdir(os.path.join(path, "lib"))), ["security", "server"])
        self.assertFalse(os.path.islink(os.path.join(path, "lib/security")))
        self.assertEqual(self.in_cache(), ["lock", "sources", "trees"])

    def test_the_headers_are_in_the_source(self):
        self.run_it("--stop-after", "patch")
        [folder] = [name for name in self.in_cache() if name.startswith("work")]
        for name, path in hotspot.HEADERS.items():
            with open(os.path.join(ROOT, "jvm-hooks", name), encoding="utf-8") as f:
                self.assertEqual(self.read(self.cache, folder, "src", path), f.read())
        self.assertEqual(self.read(self.cache, folder, "src/src/hotspot/code.cpp"), "JVM_A JVM_B spoor_hooks\n")
        self.assertEqual(self.builds(), 0)

    def test_patches_that_come_to_nothing(self):
        self.write("patches/0001-a.patch", PATCH.replace("spoor_hooks", "other"))
        self.assertIn("does not export spoor_hooks", self.fails())

    def test_a_libjvm_that_is_given(self):
        self.write("given.so", "JVM_A JVM_B mine\n")
        path, _ = self.run_it("--libjvm", self.path("given.so"))
        self.assertEqual(self.read(path, "lib/server/libjvm.so"), "JVM_A JVM_B mine\n")
        self.assertEqual(self.builds(), 0)


class WhichSource(Machine):
    def test_the_newest_that_can_be_had(self):
        path, err = self.run_it()
        self.assertTrue(os.path.basename(path).startswith("17.0.2-"), path)
        self.assertIn("17.0.3 cannot be had: 404 Not Found", err)
        self.assertIn("17.0.10~x cannot be had", err)
        self.assertNotIn("18.0.1", err)
        self.assertIn("17.0.2 is taken (installed is 17.0.3)", err)

    def test_the_installed_one_is_better_than_the_newest(self):
        self.write("sources", "17.0.10~x\n17.0.3\n")
        path, _ = self.run_it()
        self.assertTrue(os.path.basename(path).startswith("17.0.3-"), path)

    def test_one_that_is_named(self):
        path, _ = self.run_it("--source-version", "17.0.1")
        self.assertTrue(os.path.basename(path).startswith("17.0.1-"), path)
        err = self.run_it("--source-version", "17.0.4", status=1)[1]
        self.assertIn("17.0.4 can be had:\n  apt knows of 17.0.3, 17.0.10~x, 17.0.2, 17.0.1", err)

    def test_none(self):
        self.write("sources", "")
        err = self.fails()
        self.assertIn("no source of openjdk-17 can be had", err)
        self.assertIn("17.0.2: 404 Not Found", err)
        self.write("listed", "")
        self.assertIn("apt knows of none: is the network there?", self.fails())

    def test_without_a_network_what_was_fetched_before(self):
        self.assertIn("--offline", self.fails("--offline"))
        self.run_it("--stop-after", "fetch")
        asked = self.read("asked")
        path, _ = self.run_it("--offline")
        self.assertTrue(os.path.basename(path).startswith("17.0.2-"), path)
        self.assertEqual(self.read("asked"), asked)
        self.write("listed", "")
        self.write("compiler", "cc 2")
        self.assertIn("17.0.2 is taken (as fetched before", self.run_it()[1])

    def test_it_is_asked_for_without_the_machines_own_configuration(self):
        self.run_it("--stop-after", "fetch")
        [folder] = [name for name in self.in_cache() if name.startswith("work")]
        apt = os.path.join(self.cache, folder, "apt")
        self.assertTrue(all(f"-c {apt}/apt.conf" in line for line in self.read("asked").splitlines()))
        self.assertEqual(self.read(apt, "sources.list.d/x.list"), "deb-src http://example.org stable main\n")
        self.assertEqual(self.read("etc/parts/x.list"), "deb http://example.org stable main\n")

    def test_a_libjvm_that_does_not_fit_gets_the_jdk_of_its_own_version(self):
        self.write("jdk/lib/server/libjvm.so", "stock JVM_A JVM_B JVM_NEW\n")
        self.write("code.cpp", "JVM_A JVM_B\nJVM_C\n")
        path, err = self.run_it()
        self.assertIn("does not fit the installed 17.0.3: it lacks JVM_NEW", err)
        self.assertTrue(os.path.exists(os.path.join(path, "matching")))
        self.assertEqual(self.in_cache("packages"), ["17.0.2"])

    def test_and_if_there_is_none_that_is_said(self):
        self.write("jdk/lib/server/libjvm.so", "stock JVM_A JVM_B JVM_NEW\n")
        self.write("binaries", "")
        self.assertIn("the packages of 17.0.2 cannot be had", self.fails())


class TheCache(Machine):
    def test_it_is_built_once(self):
        path, _ = self.run_it()
        self.assertEqual(self.run_it("--link", self.path("current"))[0], path)
        self.assertEqual(self.builds(), 1)
        self.assertEqual(os.readlink(self.path("current")), path)

    def test_it_is_built_again_when_something_changes(self):
        paths = {self.run_it()[0]}
        for name, text in (("patches/0001-a.patch", PATCH + "\n"), ("patches/series", "0001-a.patch\n"),
                           ("compiler", "cc 2"), ("installed", "installed 17.0.4")):
            with self.subTest(name=name):
                self.write(name, text)
                path, _ = self.run_it()
                self.assertNotIn(path, paths)
                paths.add(path)
        self.assertEqual(self.builds(), 5)

    def test_what_is_old_is_removed(self):
        self.run_it("--source-version", "17.0.1")
        path, _ = self.run_it()
        self.write("compiler", "cc 2")
        self.run_it("--stop-after", "unpack")
        self.write("compiler", "cc 1")
        self.run_it("--clean")
        self.assertEqual(self.in_cache(), ["lock", "sources", "trees"])
        self.assertEqual(self.in_cache("trees"), [os.path.basename(path)])
        self.assertEqual(self.in_cache("sources"), ["17.0.2"])
        self.write("compiler", "cc 3")
        self.run_it("--clean")
        self.assertEqual(self.in_cache("trees"), [])
        self.assertEqual(self.in_cache("sources"), ["17.0.2"])

    def test_what_is_of_another_release_stays(self):
        for kind, name in (("trees", "21.0.1-0123456789abcdef"), ("sources", "21.0.1"), ("packages", "25.0.2")):
            self.write(f"cache/{kind}/{name}/x", "")
        self.run_it("--source-version", "17.0.1")
        path, _ = self.run_it()
        self.run_it("--clean")
        self.assertEqual(self.in_cache("trees"), [os.path.basename(path), "21.0.1-0123456789abcdef"])
        self.assertEqual(self.in_cache("sources"), ["17.0.2", "21.0.1"])
        self.assertEqual(self.in_cache("packages"), ["25.0.2"])

    def test_two_at_once(self):
        os.mkfifo(self.path("begun"))
        os.mkfifo(self.path("go"))
        first = self.start()
        self.read("begun")
        second = self.start()
        self.assertIn("WAIT", second.stderr.readline())
        self.write("go", "\n")
        paths = {child.communicate()[0] for child in (first, second)}
        self.assertEqual((len(paths), self.builds()), (1, 1))

    def test_one_that_is_stopped_leaves_nothing(self):
        os.mkfifo(self.path("begun"))
        os.mkfifo(self.path("go"))
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number):
                child = self.start()
                self.read("begun")
                child.send_signal(number)
                out, _ = child.communicate()
                self.assertEqual((child.returncode, out), (128 + number, ""))
                self.assertEqual(self.in_cache(), ["lock", "sources"])

    def test_a_signal_while_a_program_is_started(self):
        """It comes before the build knows the program that it has started; that ends all the same."""
        script = """
import os, signal, subprocess, sys
sys.path.insert(0, sys.argv[1])
from jvmbuild.work import Work
start = subprocess.Popen
def popen(*arguments, **how):
    child = start(*arguments, **how)
    print(child.pid, flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    return child
subprocess.Popen = popen
def stop(number, _):
    raise SystemExit(128 + number)
signal.signal(signal.SIGTERM, stop)
Work(sys.argv[2]).run(["sleep", "600"])
"""
        done = subprocess.run([sys.executable, "-B", "-c", script, os.path.join(ROOT, "jvm-hooks"), self.path("work")],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 128 + signal.SIGTERM, done.stderr)
        with self.assertRaises(ProcessLookupError):
            os.kill(int(done.stdout), 0)

    def test_one_that_is_killed_is_waited_for_and_swept_up(self):
        os.mkfifo(self.path("begun"))
        os.mkfifo(self.path("go"))
        first = self.start()
        self.read("begun")
        first.kill()
        first.wait()
        left = [name for name in self.in_cache() if name.startswith("work")]
        second = self.start()
        self.assertIn("WAIT", second.stderr.readline())
        self.write("go", "\n")
        self.read("begun")
        self.assertFalse(set(left) & set(self.in_cache()))
        self.write("go", "\n")
        path = second.communicate()[0].rstrip("\n")
        self.assertEqual(self.in_cache("trees"), [os.path.basename(path)])
        self.assertEqual(self.builds(), 2)


class WhatGoesWrong(Machine):
    def test_a_patch_that_does_not_apply(self):
        self.write("patches/0001-a.patch", PATCH.replace("-JVM_A", "-JVM_Z"))
        err = self.fails()
        self.assertIn("0001-a.patch does not apply", err)
        self.assertIn("src/hotspot/code.cpp: Hunk #1 FAILED", err)

    def test_a_patch_that_applies_with_fuzz_only(self):
        self.write("code.cpp", "".join(f"{n}\n" for n in range(9)) + "JVM_A JVM_B\n")
        body = "".join(f" {n}\n" for n in ("other", 7, 8))
        self.write("patches/0001-a.patch", PATCH.replace("@@ -1 +1 @@\n", "@@ -7,4 +7,4 @@\n" + body))
        self.assertIn("0001-a.patch does not apply", self.fails())

    def test_a_patch_for_a_file_that_is_not_there(self):
        self.write("patches/0001-a.patch", PATCH.replace("code.cpp", "gone.cpp"))
        err = self.fails()
        self.assertIn("0001-a.patch does not apply", err)
        self.assertIn("gone.cpp", err)

    def test_a_series_and_a_folder_that_do_not_agree(self):
        self.write("patches/series", "0001-a.patch\n0002-b.patch\n")
        self.assertIn("names what is not there: 0002-b.patch", self.fails())
        self.write("patches/series", "# none\n")
        self.assertIn("does not name: 0001-a.patch", self.fails())
        os.unlink(self.path("patches/series"))
        self.assertIn("there is no", self.fails())

    def test_a_source_that_cannot_be_configured(self):
        self.write("unconfigurable", "")
        self.assertIn("cannot configure the source", self.fails())

    def test_a_source_that_cannot_be_compiled(self):
        self.write("uncompilable", "")
        err = self.fails()
        self.assertIn("code.cpp:1: error: expected ';'", err)
        self.assertIn("cannot build libjvm.so", err)
        self.assertIn(os.path.join(self.cache, "failed.log"), err)
        self.assertIn("expected ';'", self.read(self.cache, "failed.log"))

    def test_a_jvm_that_does_not_run(self):
        self.write("patches/0001-a.patch", PATCH.replace("spoor_hooks", "spoor_hooks unrunnable"))
        self.write("binaries", "")
        self.assertIn("java -Xshare:dump ends with status 1", self.fails())

    def test_no_jdk(self):
        self.write("installed", "not-installed ")
        self.assertIn("openjdk-17-jre-headless is not installed", self.fails())

    def test_a_cache_in_a_folder_that_the_jdk_cannot_be_built_in(self):
        self.cache = self.path("a cache")
        self.assertIn("cannot be built in a folder with such a name", self.run_it(status=1)[1])


class OtherReleases(Machine):
    """Another release of which this machine has the JDK, as the root has that it is built in."""

    def setUp(self):
        super().setUp()
        self.write("installed", "installed 21.0.3")
        self.write("listed", "21.0.3\n17.0.9\n")
        self.write("sources", "21.0.3\n")

    def test_it_is_built_like_the_first(self):
        path, err = self.run_it("--jdk", "21")
        self.assertTrue(os.path.basename(path).startswith("21.0.3-"), path)
        self.assertIn("openjdk-21 21.0.3 is taken", err)
        self.assertNotIn("outside", os.listdir(path))

    def test_the_cache_does_not_mix_them(self):
        first, _ = self.run_it("--jdk", "21")
        self.write("listed", "25.0.3\n")
        self.write("sources", "25.0.3\n")
        second, _ = self.run_it("--jdk", "25")
        self.assertEqual(self.in_cache("trees"), sorted(map(os.path.basename, (first, second))))
        self.assertNotEqual(first.rpartition("-")[2], second.rpartition("-")[2])

    def test_in_a_root_it_has_commands_for_outside(self):
        link = self.path("jdk-21")
        path, _ = self.run_it("--jdk", "21", "--in-root", "/the/root", "--link", link)
        self.assertEqual((os.path.basename(path), os.readlink(link)), ("outside", path))
        tree = os.path.dirname(path)
        self.assertEqual(self.read(path, "lib/server/libjvm.so"), self.read(tree, "lib/server/libjvm.so"))
        for tool in ("java", "javac", "jcmd", "jfr"):
            text = self.read(path, "bin", tool)
            self.assertIn(f"'/the/root' \"$PWD\" \"{tree} $SPOOR_JDK_BIND\" '{tree}/bin/{tool}'", text)
            self.assertEqual(subprocess.run(["sh", "-n", os.path.join(path, "bin", tool)]).returncode, 0)
            self.assertTrue(os.access(os.path.join(path, "bin", tool), os.X_OK))

    def upstream(self, content, sums):
        """A file of the pool, as apt's helper brings it: not if it has not the sum that is asked for."""
        os.makedirs(self.path("into"))
        self.write("helper", f"""#!/bin/sh
            printf %s '{content}' >"$3"
            test "$4" = "SHA256:$(sha256sum <"$3" | cut -d' ' -f1)" && exit 0
            rm -f "$3"; echo 'E: Failed to fetch x  Hash Sum mismatch'; exit 100
            """, 0o755)
        before, debian.HELPER = debian.HELPER, self.path("helper")
        self.addCleanup(setattr, debian, "HELPER", before)
        archive, debian.archive = debian.archive, lambda label: "http://example.org/debian"
        self.addCleanup(setattr, debian, "archive", archive)
        os.rmdir(self.path("into"))
        source = releases.Upstream("21.0.1+2", "pool/x_21.0.1%2b2.orig.tar.xz", sums)
        return debian.fetch_upstream(work.Work(self.path("work")), source, self.path("into"))

    def test_the_upstream_part_by_its_sum(self):
        good = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"  # of "hello"
        self.assertEqual(self.upstream("hello", good), "")
        self.assertEqual(os.listdir(self.path("into")), ["x_21.0.1+2.orig.tar.xz"])

    def test_another_sum(self):
        self.assertIn("Hash Sum mismatch", self.upstream("other", "0" * 64))
        self.assertEqual(os.listdir(self.path("into")), [])

    def test_the_upstream_part_is_unpacked(self):
        os.makedirs(self.path("tar/x-21/src"))
        self.write("tar/x-21/src/a.cpp", "a")
        os.makedirs(self.path("source"))
        subprocess.run(["tar", "-C", self.path("tar"), "-cJf", self.path("source/x.orig.tar.xz"), "x-21"], check=True)
        src = hotspot.unpack(work.Work(self.path("work")), self.path("source"))
        self.assertEqual(self.read(src, "src/a.cpp"), "a")
        self.assertFalse(hotspot.knows(src, "pcsclite"))
        self.write("work/src/make/autoconf/lib.m4", "AC_ARG_WITH(pcsclite, [AS_HELP_STRING")
        self.assertTrue(hotspot.knows(src, "pcsclite"))


class Parts(unittest.TestCase):
    def test_the_packages_of_the_makefile(self):
        """A root gets what the Makefile installs on this machine, but for the JDK."""
        with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as f:
            text = f.read().replace("\\\n", " ")
        listed = next(line for line in text.splitlines() if line.startswith("JVM_PACKAGES :=")).split("$(")[0]
        with open(os.path.join(ROOT, "jvm-hooks/build-jvm"), encoding="utf-8") as f:
            packages = f.read().split("PACKAGES = (")[1].split(")")[0].replace('"', "").replace(",", "").split()
        self.assertEqual(set(listed.split()[2:]) - {"openjdk-17-jdk-headless"}, set(packages))

    def test_the_table_of_releases(self):
        self.assertIn(releases.DEFAULT, releases.RELEASES)
        for feature, release in releases.RELEASES.items():
            self.assertEqual(release.feature, feature)
            self.assertEqual(release.patches, f"patches/jdk-{feature}")
            if release.upstream:
                self.assertTrue(release.upstream.version.startswith(f"{feature}."))
                self.assertRegex(release.upstream.sha256, "^[0-9a-f]{64}$")

    def test_what_runs_in_a_root_gets_its_words_as_they_are(self):
        words = root.command("/r", ["/a", "/b"], "/a", ["echo", "x y", "$z"])
        self.assertEqual(words[-3:], ["echo", "x y", "$z"])
        self.assertEqual(words[-6:-3], ["/r", "/a", "/a /b"])
        self.assertEqual(subprocess.run(["sh", "-n", "-c", root.ENTER]).returncode, 0)

    def test_entries_of_apt(self):
        one_line = ("# deb http://example.org x main\n"
                    "deb [signed-by=/k.gpg check-valid-until=no] http://example.org bookworm main\n"
                    "deb-src http://example.org bookworm main\ndeb cdrom:[x]/ bookworm main\n")
        self.assertEqual(debian.as_source_entries(one_line, False),
                         "# deb http://example.org x main\n"
                         "deb-src [signed-by=/k.gpg check-valid-until=no] http://example.org bookworm main\n"
                         "deb-src http://example.org bookworm main\n")
        stanza = "Enabled: {}\nTypes: {}\nURIs: http://example.org\nSuites: bookworm\nSigned-By:\n -----BEGIN\n deb\n"
        for types in ("deb", "deb deb-src", "deb-src"):
            self.assertEqual(debian.as_source_entries(stanza.format("yes", types), True),
                             stanza.format("yes", "deb-src"))

    def test_versions(self):
        versions = ["17.0.9+9-1", "17.0.10+1-1", "17.0.10~ea-1", "18.0.1-1", "17.0.9+9-1", "17.0.10+1-1~deb12u1"]
        self.assertEqual(fetch.order("17.0.9+9-1", versions, "17"),
                         ["17.0.9+9-1", "17.0.10+1-1", "17.0.10+1-1~deb12u1", "17.0.10~ea-1"])
        self.assertEqual(fetch.order("17.0.8", versions[:2], "17"), ["17.0.10+1-1", "17.0.9+9-1"])

    def test_why_apt_has_not_fetched(self):
        self.assertEqual(debian.why_not_fetched("E: Version '2' for 'x' was not found\n"),
                         "Version '2' for 'x' was not found")
        self.assertEqual(debian.why_not_fetched(""), "apt does not say why")

    def test_links_are_followed_inside_of_their_root(self):
        with tempfile.TemporaryDirectory() as root:
            os.makedirs(os.path.join(root, "etc"))
            path = os.path.join(root, "etc/inside")
            with open(path, "w", encoding="utf-8"):
                pass
            for name, to in (("a", "/etc/inside"), ("b", "a"), ("c", "/etc/no-such-file-here"), ("loop", "loop"),
                             ("machine", sys.executable)):
                os.symlink(to, os.path.join(root, name))
            found = {name: tree.follow(os.path.join(root, name), root) for name in ("a", "b", "c", "loop", "machine")}
        self.assertEqual(found, {"a": path, "b": path, "c": None, "loop": None,
                                 "machine": os.path.realpath(sys.executable)})

    def test_progress(self):
        with tempfile.TemporaryDirectory() as folder:
            work_folder = work.Work(os.path.join(folder, "work"))
            progress = hotspot.Progress(work_folder, work_folder.path("src"))
            objects = work_folder.path("src", hotspot.OBJECTS)
            os.makedirs(objects)
            progress()
            self.assertEqual(progress.total, 0)
            work_folder.run(["echo", "Creating support/modules_libs/java.base/server/libjvm.so from 20 file(s)"])
            told = []
            for number in range(6):
                with open(os.path.join(objects, f"{number}.o"), "wb"):
                    pass
                progress()
                told.append(progress.told)
            self.assertEqual((progress.total, told), (20, [0, 1, 1, 2, 2, 3]))


if __name__ == "__main__":
    unittest.main()
