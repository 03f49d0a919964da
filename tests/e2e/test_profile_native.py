"""Native callers: --sample=TIME,symbols with --fragments. JNI says what a native method's function is called, and the kernel
what a system call's is: they are on the way to whatever was interrupted below them."""
import json
import unittest

from jvm import JavaTest  # first: it says where harness is
from harness import spoor

SAMPLED = ("-f", "--sample=1ms,symbols", "--fragments=16K")
DEFLATE = "Java_java_util_zip_Deflater_deflateBytesBytes (libzip.so)"
READ = ("Java_java_io_RandomAccessFile_readBytes", "readBytes (libjava.so)")  # the one ends with a jump to the other


def chain(e):
    """From what was interrupted outwards, up to the native method."""
    return [e["symbol"], *(e["callers"].split("\n") if e["callers"] else [])]


class Native(JavaTest):
    def record_it(self, program, *command, options=(), arguments=()):
        vm = self.java(program, *arguments, options=options)
        recorder = self.record(vm, *SAMPLED)
        vm.ask(" ".join(command), deadline_s=120)
        log = recorder.stop()
        vm.end()
        self.assertEqual(log.lost(), {})
        return log

    def samples(self, log, method, *modes):
        return [e for e in log.of("run_sample") if e["mode"] in modes and e["stack"] and
                e["stack"]["frames"][0]["method"].startswith(method)]

    def assert_most(self, samples, what, is_so, least=100, share=0.97):
        good = [e for e in samples if is_so(chain(e))]
        wrong = [chain(e) for e in samples if not is_so(chain(e))]
        print(f"{what}: {len(good)} of {len(samples)}; others {wrong[:3]}", flush=True)
        self.assertGreater(len(samples), least)
        self.assertGreater(len(good), share * len(samples), wrong[:5])

    def test_libraries_and_the_kernel(self):
        log = self.record_it("Native", "go", "1000")
        deflating = self.samples(log, "deflateBytesBytes", "native")
        self.assert_most(deflating, "in deflate()", lambda c: c[-1] == DEFLATE)
        reading = self.samples(log, "readBytes", "kernel")
        self.assert_most(reading, "in readBytes", lambda c: c[-1].startswith(READ))
        # From the interrupted function to the system call, all is the kernel's; from there on, nothing. (It is in the kernel
        # in other system calls, too, and interrupted in other code.)
        in_call = [e for e in reading if "read (libc.so.6)" in chain(e)]
        self.assertGreater(len(in_call), 0.8 * len(reading))
        self.assert_most(in_call, "in read()", lambda c: [n.endswith("(kernel)") for n in c] == sorted(
            (n.endswith("(kernel)") for n in c), reverse=True) and any("read" in n and n.endswith("(kernel)") for n in c[1:]),
                         share=0.9)
        self.assertFalse([e for e in log.of("run_sample") if e["mode"] == "java" and e["callers"]])
        self.check_views(log, deflating)

    def check_views(self, log, deflating):
        collapsed = spoor("profile", "--format", "collapsed", log.path).stdout
        way = ";".join(["deflateBytesBytes", DEFLATE.replace(" ", "_")])
        self.assertIn(way + ";", collapsed)
        self.assertIn("(kernel);", collapsed)
        rows = json.loads(spoor("profile", "--flat", "--format", "json", log.path).stdout)["rows"]
        total_ns = [row["total_ns"] for row in rows if row["method"] == DEFLATE]
        self.assertEqual(len(total_ns), 1)
        self.assertGreater(total_ns[0], 0.9 * len(deflating) * 10**6)

    def test_threads_of_the_vm(self):
        log = self.record_it("Collect", "go", options=["-Xmx64m", "-XX:+UseG1GC", "-XX:ParallelGCThreads=2"])
        # SpinPause is written in assembler, and nothing says how to get out of it.
        workers = [e for e in log.of("run_sample") if e["thread"]["name"].startswith("GC Thread#") and e["mode"] == "vm" and
                   not e["symbol"].startswith("SpinPause")]
        self.assert_most(workers, "GC workers", lambda c: any(n.startswith("thread_native_entry") for n in c) and any(
            n.startswith(("GangWorker::", "WorkerThread::")) for n in c), 3, 0.6)

    def test_compiler_threads(self):
        log = self.record_it("Hot", "go", arguments=("hot", 3, 1))
        compilers = [e for e in log.of("run_sample") if e["compiling"] and e["mode"] == "vm"]
        self.assert_most(compilers, "compilers", lambda c: any(n.startswith("CompileBroker::compiler_thread_loop") for n in c),
                         20, 0.9)


if __name__ == "__main__":
    unittest.main()
