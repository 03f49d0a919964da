"""tests/run itself, over tests that are made up: what it calls a failure."""
import importlib.machinery
import importlib.util
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, TESTS)

import leftovers  # noqa: E402

UNDEFINED = "echo 'x.c:1:2: runtime error: signed integer overflow' >&2"


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="spoor-run-")
        self.addCleanup(folder.cleanup)
        self.here = folder.name
        for name in ("run", *(n for n in os.listdir(TESTS) if n.endswith(".py"))):
            self.write(f"tests/{name}", "")
            shutil.copy(os.path.join(TESTS, name), self.path("tests", name))

    def path(self, *names):
        return os.path.join(self.here, *names)

    def write(self, name, text, mode=0o644):
        path = self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(textwrap.dedent(text))
        os.chmod(path, mode)

    def python_file(self, name, body):
        self.write(name, f"import os, signal, unittest\nclass X(unittest.TestCase):\n"
                         f"{textwrap.indent(textwrap.dedent(body), '    ')}")

    def run_tests(self, *arguments, before=()):
        """(exit status, {name: result}, all that is printed)"""
        buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
        done = subprocess.run([*before, sys.executable, "-B", self.path("tests/run"), "--build", self.path("build"),
                               *arguments], capture_output=True, text=True, timeout=60, env=buffered)
        told = [line.split(None, 2) for line in done.stdout.splitlines() if line[:4] in ("ok  ", "FAIL", "skip")]
        results = {name.partition(": ")[0] if result == "skip" else name: result for result, _, name in told}
        return done.returncode, results, done.stdout + done.stderr


class Sanitizers(Run):
    def test_a_report_fails_a_golden_case_whose_status_is_right(self):
        self.write("build/san/spoor", f"#!/bin/sh\necho said\ncase $1 in bad) {UNDEFINED} ;; esac\n", 0o755)
        for name in ("good", "bad"):
            self.write(f"tests/golden/{name}/cmd", f'"$SPOOR" {name} | cat\n')
            self.write(f"tests/golden/{name}/expected", "said\n")
        status, results, text = self.run_tests("san")
        self.assertEqual(results, {"san/golden/good": "ok", "san/golden/bad": "FAIL"})
        self.assertIn("runtime error", text)
        self.assertEqual(status, 1)

    def test_a_fault_has_a_status_of_its_own(self):
        """By either sanitizer, in a program that fails anyhow."""
        for name, line in (("ub", "x += argc"), ("beyond", "p = malloc(4), ((volatile char *)p)[argc + 4] = 0")):
            self.write(f"{name}.c", f"""
                #include <stdlib.h>
                void *volatile p;
                int main(int argc, char **argv)
                {{
                    volatile int x = 0x7fffffff;
                    {line}, p = argv;
                    return 1;
                }}""")
            self.write(f"tests/golden/{name}/cmd", f'"$SPOOR" {name} 2>/dev/null\n')
            self.write(f"tests/golden/{name}/status", "1\n")
            subprocess.run(["gcc", "-Wno-all", "-fsanitize=address", "-fsanitize=undefined",
                            "-fno-sanitize-recover=all", "-o", self.path(name), self.path(f"{name}.c")], check=True)
        self.write("build/san/spoor", f"#!/bin/sh\nexec {self.here}/$1\n", 0o755)
        _, results, text = self.run_tests("san")
        self.assertEqual([results[f"san/golden/{name}"] for name in ("ub", "beyond")], ["FAIL"] * 2, text)
        self.assertEqual(text.count("exit status 99 instead of 1"), 2, text)

    def test_a_report_fails_a_program_of_unit_tests(self):
        self.write("tests/unit/x/x_test.c", "")
        for name, more, wanted in (("well", "", {"unit/x_test/a": "ok"}),
                                   ("reported", UNDEFINED, {"unit/x_test/a": "ok", "unit/x_test": "FAIL"}),
                                   ("status", "exit 1", {"unit/x_test/a": "ok", "unit/x_test": "FAIL"})):
            with self.subTest(name):
                self.write("build/san/tests/unit/x/x_test", f"#!/bin/sh\necho 1..1\necho ok 1 - a\n{more}\n", 0o755)
                _, results, text = self.run_tests("unit")
                self.assertEqual(results, wanted, text)


class Skips(Run):
    def setUp(self):
        super().setUp()
        self.python_file("tests/lint/test_x.py", """
            def test_runs(self):
                pass

            def test_skips(self):
                self.skipTest("no luck")
            """)
        self.python_file("tests/bpf/test_z.py", """
            @classmethod
            def setUpClass(cls):
                raise unittest.SkipTest("no BPF")

            def test_y(self):
                pass
            """)

    def test_any_will_do(self):
        status, results, _ = self.run_tests("lint", "bpf")
        self.assertEqual((status, results["lint/test_x.X.test_skips"]), (0, "skip"))

    def test_those_that_are_named(self):
        self.write("allowed", "# what follows\nlint/*test_skips: luck  # is needed\n")
        for which in (self.path("allowed"), "golden/*,lint/test_x.X.*"):
            status, results, text = self.run_tests("--no-skips", which, "lint")
            self.assertEqual((status, results["lint/test_x.X.test_skips"]), (0, "skip"), text)
        for which in ("", "lint/test_skips", "no-such-file"):
            status, results, text = self.run_tests("--no-skips", which, "lint")
            self.assertEqual((status, results["lint/test_x.X.test_skips"]), (1, "FAIL"))
            self.assertIn("it may not be skipped: no luck", text)

    def test_a_group_as_a_whole(self):
        """Whatever is allowed of it."""
        status, _, text = self.run_tests("--no-skips", "lint/*,bpf/*", "lint", "bpf")
        self.assertEqual(status, 1)
        self.assertIn("none of its tests was run", text)
        status, _, text = self.run_tests("--no-skips", "lint/*", "lint", "bpf")
        self.assertEqual(status, 1)
        self.assertIn("it may not be skipped: no BPF", text)

    def test_a_reason_is_wanted(self):
        self.write("allowed", "lint/*test_skips\n")
        status, _, text = self.run_tests("--no-skips", self.path("allowed"), "lint")
        self.assertEqual(status, 2)
        self.assertIn("allowed:1: there is no reason for lint/*test_skips", text)


class Loading(Run):
    def test_a_file_that_cannot_be_loaded_fails_whatever_is_asked_for(self):
        self.write("tests/lint/test_broken.py", "import no_such_module\n")
        self.python_file("tests/lint/test_y.py", "def test_y(self): pass\n")
        for arguments in (), ("-k", "test_y"):
            status, results, text = self.run_tests(*arguments, "lint")
            self.assertEqual(results, {"lint/test_broken.py": "FAIL", "lint/test_y.X.test_y": "ok"})
            self.assertIn("No module named 'no_such_module'", text)
            self.assertEqual(status, 1)


class Signals(Run):
    def test_what_was_ignored_or_blocked_is_not(self):
        """As in a job in the background of a script."""
        numbers = "(signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGUSR1, signal.SIGCHLD)"
        self.python_file("tests/lint/test_x.py", f"""
            def test_y(self):
                self.assertEqual([n for n in {numbers} if signal.getsignal(n) == signal.SIG_IGN], [])
                self.assertEqual(signal.pthread_sigmask(signal.SIG_BLOCK, ()), set())
            """)
        self.write("tests/golden/z/cmd", "kill -INT $$\n")
        self.write("tests/golden/z/status", "-2\n")
        before = (sys.executable, "-c", "import os, signal, sys\n"
                                        f"for n in {numbers}: signal.signal(n, signal.SIG_IGN)\n"
                                        "signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, signal.SIGTERM))\n"
                                        "os.execv(sys.argv[1], sys.argv[1:])")
        _, results, text = self.run_tests("lint", "golden", before=before)
        self.assertEqual(results, {"lint/test_x.X.test_y": "ok", "golden/z": "ok"}, text)


class SideBySide(Run):
    def write_pieces(self, group, wanted):
        """Two files of the group that each wait until both run at once, or see that they do not."""
        for name in "xy":
            other = "y" if name == "x" else "x"
            self.python_file(f"tests/{group}/test_{name}.py", f"""
                def test_both(self):
                    import time
                    open({self.here!r} + "/{name}", "w").close()
                    self.addCleanup(os.unlink, {self.here!r} + "/{name}")
                    until = time.monotonic() + {20 if wanted else 0.5}
                    both = False
                    while not both and time.monotonic() < until:
                        both = os.path.exists({self.here!r} + "/{other}")
                        time.sleep(0.01)
                    time.sleep(0.2 if both else 0)  # the other one looks, too
                    self.assertEqual(both, {wanted})
                """)

    def test_files_of_unit_are(self):
        self.write_pieces("unit", True)
        status, results, text = self.run_tests("unit", "-j2")
        self.assertEqual((status, len(results)), (0, 2), text)

    def test_emulators_are_not(self):
        self.write_pieces("lab", False)
        status, results, text = self.run_tests("lab", "-j2")
        self.assertEqual((status, len(results)), (0, 2), text)

    def test_real_jvms_are(self):
        self.write_pieces("e2e", True)
        status, results, text = self.run_tests("e2e", "-j2")
        self.assertEqual((status, len(results)), (0, 2), text)

    def test_nothing_is_beside_what_is_alone(self):
        self.write_pieces("unit", False)
        os.makedirs(self.path("tests/e2e"))
        os.rename(self.path("tests/unit/test_y.py"), self.path("tests/e2e/test_wall.py"))
        status, results, text = self.run_tests("unit", "e2e", "-j2")
        self.assertEqual((status, len(results)), (0, 2), text)

    def test_not_with_one_worker(self):
        self.write_pieces("unit", False)
        status, results, text = self.run_tests("unit", "-j1")
        self.assertEqual((status, len(results)), (0, 2), text)

    def test_no_worker(self):
        self.assertEqual(self.run_tests("-j0")[0], 2)


class Times(Run):
    def golden(self, count):
        self.write("build/spoor", "#!/bin/sh\necho said\n", 0o755)
        for i in range(count):
            self.write(f"tests/golden/case-{i}/cmd", '"$SPOOR"\n')
            self.write(f"tests/golden/case-{i}/expected", "said\n")
        return self.run_tests("golden")[2].splitlines()

    def test_the_slowest_of_a_run_of_many(self):
        lines = self.golden(12)
        at = next(n for n, line in enumerate(lines) if line.startswith("slowest tests"))
        self.assertRegex(lines[at - 4], "^seconds: golden [0-9]+$")
        self.assertRegex(lines[at - 3], "^CPU seconds: golden [0-9]+$")
        self.assertEqual(lines[at - 2], "longest pieces, and their CPU seconds:")
        self.assertRegex(lines[at - 1], r"^ +[0-9]+\.[0-9]+s +[0-9]+\.[0-9]+s  golden$")
        slowest = [(float(line.split()[0].rstrip("s")), line.split()[1]) for line in lines[at + 1:-1]]
        every = sorted(((float(line.split()[1].rstrip("s")), line.split()[2]) for line in lines
                        if line.startswith("ok ")), reverse=True)
        self.assertEqual(len(every), 12)
        self.assertEqual([seconds for seconds, _ in slowest], [seconds for seconds, _ in every[:10]])
        self.assertLessEqual(set(slowest), set(every))
        self.assertEqual(lines[-1], "12 passed, 0 failed, 0 skipped")

    def test_cpu_seconds_of_a_piece(self):
        """With those of processes that it has waited for."""
        self.python_file("tests/lint/test_x.py", """
            def test_busy(self):
                import subprocess, sys
                subprocess.run([sys.executable, "-c", "import time\\nwhile time.process_time() < 1: pass"], check=True)
            """)
        self.python_file("tests/lint/test_y.py", "".join(f"def test_{n}(self): pass\n" for n in range(10)))
        lines = self.run_tests("lint")[2].splitlines()
        pieces = {line.split()[2]: float(line.split()[1].rstrip("s")) for line in lines if line.endswith(".py")}
        self.assertEqual(set(pieces), {"lint/test_x.py", "lint/test_y.py"})
        self.assertGreaterEqual(pieces["lint/test_x.py"], 0.9)
        tests = [line.split()[1:] for line in lines if line.endswith("test_x.X.test_busy") and line[:2] != "ok"]
        self.assertGreaterEqual(float(tests[0][0].rstrip("s")), 0.9)  # of ticks
        said = next(line for line in lines if line.startswith("CPU seconds: lint "))
        self.assertLessEqual(abs(int(said.split()[-1]) - sum(pieces.values())), 1)

    def test_the_folder_of_one_that_fails_is_kept(self):
        """Also if only a part of it has failed; that of one that passes is not."""
        self.write("tests/lint/test_x.py", """
            import os, unittest
            import kept
            class X(unittest.TestCase):
                def leave(self, text):
                    folder = kept.folder(self)
                    with open(os.path.join(folder, "log"), "w") as f:
                        f.write(text)
                    print("was", folder)
                def test_passes(self):
                    self.leave("no")
                def test_fails(self):
                    self.leave("all")
                    self.fail()
                def test_fails_in_a_part(self):
                    self.leave("part")
                    with self.subTest("a"):
                        self.fail()
            """)
        for _ in range(2):  # a second time, in the place of the first
            _, results, text = self.run_tests("lint", "-v")
            self.assertEqual(sorted(results.values()), ["FAIL", "FAIL", "ok"])
            left = {}
            for name in os.listdir(self.path("build/failed")):
                with open(self.path("build/failed", name, "log"), encoding="ascii") as f:
                    left[name] = f.read()
            self.assertEqual(left, {"test_x.X.test_fails": "all", "test_x.X.test_fails_in_a_part": "part"})
            for name in left:
                self.assertIn(f"Its files: {self.path('build/failed', name)}\n", text)
            made = [line.split()[-1] for line in text.splitlines() if "was " in line]
            self.assertTrue(made, text)
            self.assertEqual([folder for folder in made if os.path.exists(folder)], [])

    def test_what_failed_is_said_again(self):
        self.python_file("tests/lint/test_x.py", """
            def test_breaks(self):
                print("first")
                for n in range(20):
                    print("line", n)
                self.fail("in the end")
            """)
        self.python_file("tests/lint/test_y.py", "".join(f"def test_{n}(self): pass\n" for n in range(11)))
        lines = self.run_tests("lint")[2].splitlines()
        again = lines[lines.index("failed: lint/test_x.X.test_breaks"):]
        self.assertEqual(again[-1], "11 passed, 1 failed, 0 skipped")
        self.assertEqual(again[1], "    | line 19")  # which Python may have kept until its end
        self.assertEqual(again[2], "    | Traceback (most recent call last):")
        self.assertEqual(again[-2], "    | AssertionError: in the end")
        self.assertEqual(len(again), 7)

    def test_not_of_a_run_of_few(self):
        self.assertNotIn("slowest", "".join(self.golden(10)))


class Soak(Run):
    def setUp(self):
        super().setUp()
        self.write("tests/lint/test_x.py", """
            import unittest
            from soaking import only_in_soak, slow

            class X(unittest.TestCase):
                def test_always(self):
                    pass

                @only_in_soak
                def test_sometimes(self):
                    pass

                @slow
                def test_often(self):
                    pass

            @only_in_soak
            class Y(unittest.TestCase):
                def test_y(self):
                    pass
            """)
        for name in ("lib", "crash"):
            self.python_file(f"tests/bpf/test_{name}.py", "def test_b(self):\n    pass\n")
        self.write("build/san/spoor", "", 0o755)
        self.plain, self.both = {"bpf/test_crash.X.test_b"}, {"bpf/test_crash.X.test_b", "bpf/test_lib.X.test_b"}

    def run_and_left(self, *arguments):
        """Which tests of lint and bpf were run."""
        status, results, text = self.run_tests(*arguments)
        self.assertNotIn("FAIL", results.values(), text)
        return {name for name in results if name.startswith(("lint/", "bpf/"))}, set(results)

    def test_variants_are_left_out(self):
        run, all_groups = self.run_and_left()
        self.assertEqual(run, {"lint/test_x.X.test_always", *self.both})
        self.assertNotIn("san/bpf/test_lib.X.test_b", all_groups)
        self.assertEqual(self.run_and_left("bpf")[0], self.both)

    def test_groups_that_ci_runs_too(self):
        self.python_file("tests/lab/test_l.py", "def test_boots(self):\n    pass\n")
        for given in (), ("--slow",), ("--soak",), ("lab",), ("-k", "boots"):
            self.assertEqual("lab/test_l.X.test_boots" in self.run_tests(*given)[1], bool(given), given)

    def test_what_ci_runs_too(self):
        run, all_groups = self.run_and_left("--slow")
        self.assertEqual(run, {"lint/test_x.X.test_always", "lint/test_x.X.test_often", *self.plain})
        self.assertIn("san/bpf/test_lib.X.test_b", all_groups)

    def test_soak_leaves_nothing_out(self):
        run, _ = self.run_and_left("--soak")
        self.assertEqual(run, {"lint/test_x.X.test_always", "lint/test_x.X.test_often", "lint/test_x.X.test_sometimes",
                               "lint/test_x.Y.test_y", *self.both})

    def test_what_is_asked_for_by_name(self):
        self.assertEqual(self.run_and_left("-k", "test_y", "lint")[0], {"lint/test_x.Y.test_y"})


class Leftovers(Run):
    DAEMON = """
        def test_leaves_something(self):
            import subprocess, time
            left = subprocess.Popen(["sleep", "1000"], start_new_session=True)
            with open({where!r}, "w") as f:
                f.write(str(left.pid))
            os.rename({where!r}, {where!r} + ".done")
            {then}
        """

    def left(self):
        with open(self.path("pid.done"), encoding="ascii") as f:
            pid = f.read()
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                return f.read().rpartition(")")[2].split()[0] not in "ZX"  # nobody has asked for its status yet
        except FileNotFoundError:
            return False

    def test_in_another_session(self):
        self.python_file("tests/lint/test_x.py", self.DAEMON.format(where=self.path("pid"), then=""))
        status, results, text = self.run_tests("lint")
        self.assertEqual((status, len(results)), (0, 1), text)
        self.assertFalse(self.left())

    def test_of_a_run_that_is_interrupted(self):
        self.python_file("tests/lint/test_x.py", self.DAEMON.format(where=self.path("pid"), then="time.sleep(1000)"))
        run = subprocess.Popen([sys.executable, "-B", self.path("tests/run"), "--build", self.path("build"), "lint"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until = time.monotonic() + 60
            while not os.path.exists(self.path("pid.done")) and time.monotonic() < until:
                time.sleep(0.01)
            run.send_signal(signal.SIGINT)
            self.assertNotEqual(run.wait(60), 0)
        finally:
            run.kill()
            run.wait()
        self.assertFalse(self.left())

    def test_in_execve(self):
        """For a moment, which may be long, a process has no environment: /proc as it is then and later."""
        left = subprocess.Popen(["sleep", "1000"])
        _, mark = leftovers.mark({})

        def show(environment, env_end):
            self.write(f"proc/{left.pid}/environ", environment)
            self.write("stat", " ".join([f"{left.pid} (a b) c) S", *["0"] * 47, str(env_end), "0"]))
            os.replace(self.path("stat"), self.path("proc", str(left.pid), "stat"))

        def settle():
            show(f"A=b\0{leftovers.NAME}={mark}\0", 4096)
            left.wait()
            shutil.rmtree(self.path("proc", str(left.pid)))

        try:
            show("", 0)
            later = threading.Timer(0.1, settle)
            later.start()
            self.assertGreaterEqual(leftovers.kill(mark, self.path("proc")), 1)
            later.join(60)
            self.assertEqual(left.returncode, -signal.SIGKILL)
        finally:
            left.kill()
            left.wait()

    def test_without_an_environment(self):
        """Of others nothing is waited for: they have none, are of the kernel, or end."""
        for pid, flags, env_end in ((1, 0, 4096), (2, leftovers.PF_KTHREAD, 0), (3, leftovers.PF_EXITING, 0)):
            self.write(f"proc/{pid}/environ", "")
            fields = [f"{pid} (x) S", *["0"] * 5, str(flags), *["0"] * 41, str(env_end), "0"]
            self.write(f"proc/{pid}/stat", " ".join(fields))
        self.assertEqual(leftovers.processes("/1.1", self.path("proc")), (set(), False))

    def test_nothing_begins_after_the_end(self):
        """Of a run that is interrupted: another thread may be about to start a test."""
        loader = importlib.machinery.SourceFileLoader("tests_run", self.path("tests/run"))
        run = importlib.util.module_from_spec(importlib.util.spec_from_loader("tests_run", loader))
        loader.exec_module(run)
        run.Child.end_all()
        with self.assertRaises(KeyboardInterrupt):
            run.Child(["touch", self.path("begun")], dict(os.environ))
        self.assertFalse(os.path.exists(self.path("begun")))


if __name__ == "__main__":
    unittest.main()
