"""spoor record --sample: what is remembered of parts of stacks is never taken for a part of another one."""
from jvm import JavaTest  # first: it says where harness is
from samples import Samples

OUTER, INNER = 4, 24  # as Forked.java has them
# Of methods that are inlined the innermost may be its neighbour, where a sample has no address of its own.
NOT_INLINED = ("-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,Forked::*")
COMPILED = ("-Xcomp", *NOT_INLINED, "-XX:CompileCommand=compileonly,Forked::*")


def mix(x):
    x = x * 0x9e3779b1 & 0xffffffff
    x ^= x >> 15
    x = x * 0x85ebca6b & 0xffffffff
    return x ^ x >> 13


def calls(root, depth):
    """From the outermost one of them on."""
    def bit(at):
        if at < OUTER:
            return mix(at + 100 * (root >> 2)) & 1
        if at < depth - INNER:
            return mix(at + 7777) & 1
        return mix(at + 100_000 * (1 + (root & 3))) & 1
    return [f"m{bit(at)}" for at in range(depth)]


class Forked(JavaTest):
    DEPTH = 220

    def check(self, period, *options, depth=DEPTH):
        vm = self.java("Forked", 2, depth, options=options)
        recorder = self.record(vm, f"--sample={period}", "--probes", "none")
        times = vm.ask("go", deadline_s=120)
        log = recorder.stop()
        self.assertEqual(log.lost(), {})
        thread, = (e["thread"] for e in log.raw_of("thread") if e["name"] == "forked")
        samples = Samples(log, thread)
        told, deep, wrong = {root: calls(root, depth) for root in range(16)}, 0, []
        for _, chain, e in samples.list:
            own = [name for cls, name in chain if cls == "Forked"]
            begin = next((i for i, name in enumerate(own) if name[0] == "r" and name[1:].isdigit()), None)
            if begin is None or e["result"] != "complete":
                continue
            down = [name for name in own[begin + 1:] if name in ("m0", "m1")]
            deep += len(down) == depth
            if down != told[int(own[begin][1:])][:len(down)]:
                wrong.append((own[begin], down))
        print(f"{times} stacks, {len(samples.list)} samples, {deep} of them at the bottom: {samples.results}")
        self.assertEqual(wrong, [])
        self.assertGreater(len(samples.list), 500)
        self.assertGreater(samples.results["complete"], 0.97 * len(samples.list))
        self.assertGreater(deep, 0.3 * len(samples.list))

    def test_compiled(self):
        self.check("200us", *COMPILED)

    def test_interpreted(self):
        """Five words of each frame are compared."""
        self.check("1ms", "-Xint")

    def test_tiered(self):
        self.check("500us", *NOT_INLINED)
