"""Does anything live below the stack pointer at the USDT probes of a library for x86-64?

Linux 6.18 turns a breakpoint on a 5-byte nop into a call, and the call pushes 32 bytes below the stack pointer. A leaf
function may keep values there, in the 128 bytes of its red zone, without moving the stack pointer. So no probe may stand
where such a value was written before and is read after it.

The functions are found by .eh_frame_hdr, so that stripped libraries can be checked. In each function with a probe the
stack pointer is followed from its entry, in bytes from where it was at the entry, and the frame pointer where it is a
copy of it. An access is in the red zone if it is below the stack pointer of its own instruction. A probe is at fault if
such a write leads to it, and such a read of the same bytes follows it with no write in between; an argument of the probe
is a read, an address that is taken is both.
"""
import bisect
import collections
import os
import re
import struct
import subprocess
import tempfile

Site = collections.namedtuple("Site", "name at args")
Insn = collections.namedtuple("Insn", "at next name operands target text")
RED_ZONE = 128

LINE = re.compile(r"^\s*([0-9a-f]+):\t((?:[0-9a-f]{2} )+)\s*\t?(.*)$")
MEMORY = re.compile(r"(?:%\w+:)?(-?0x[0-9a-f]+)?\((%\w+)?(?:,(%\w+),\d)?\)")
NOTE_MEMORY = re.compile(r"(-?\d+)\((%r[sb]p)\)")
PREFIXES = {"lock", "rep", "repz", "repnz", "repe", "repne", "bnd", "notrack", "data16", "cs", "ds"}
READS = ("cmp", "test", "ucomis", "comis", "vucomis", "vcomis", "bt", "push", "jmp", "call", "prefetch")
WRITES = ("mov", "vmov", "set", "pop", "fst", "fist", "cvt", "stmxcsr")
ENDS = ("ret", "jmp", "hlt", "ud2")


# --- the file -----------------------------------------------------------------------------------

def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, "LC_ALL": "C"}).stdout


def sites(path):
    """The probes of a library."""
    note = re.compile(r"Provider: (\S+)\s+Name: (\S+)\s+Location: 0x([0-9a-f]+).*\n\s+Arguments: (.*)")
    return [Site(f"{m[1]}:{m[2]}", int(m[3], 16), m[4]) for m in note.finditer(run("readelf", "-n", "-W", path))]


def section(path, name):
    """(address, bytes)"""
    for line in run("readelf", "-S", "-W", path).splitlines():
        fields = line.replace("[ ", "[").split()
        if len(fields) > 5 and fields[1] == name:
            with open(path, "rb") as f:
                f.seek(int(fields[4], 16))
                return int(fields[3], 16), f.read(int(fields[5], 16))
    raise ValueError(f"{path} has no {name}")


class Functions:
    """Where functions begin and end."""

    def __init__(self, path):
        at, table = section(path, ".eh_frame_hdr")
        self.frames_at, self.frames = section(path, ".eh_frame")
        version, pointer, count, entry = table[:4]
        if (version, pointer & 0x0f, count, entry) != (1, 0x0b, 0x03, 0x3b):
            raise ValueError(f"{path}: .eh_frame_hdr is of another form")
        rows = struct.iter_unpack("<ii", table[12:12 + 8 * struct.unpack_from("<I", table, 8)[0]])
        self.rows = [(at + begin, at + frame) for begin, frame in rows]
        self.begins = [begin for begin, _ in self.rows]

    def around(self, address):
        """(begin, end)"""
        i = bisect.bisect(self.begins, address) - 1
        begin, frame = self.rows[i] if i >= 0 else (0, 0)
        length = struct.unpack_from("<I", self.frames, frame + 12 - self.frames_at)[0] if begin else 0
        if not begin <= address < begin + length:
            raise ValueError(f"{address:#x} is in no function")
        return begin, begin + length


def operands_of(text):
    """Split at the commas that are not within parentheses."""
    return re.findall(r"(?:\([^)]*\)|[^,(])+", text)


def instructions(code, begin):
    """{address: Insn} of a function's bytes. Of these alone: objdump takes a third of a second to open a libjvm.so."""
    found = {}
    with tempfile.NamedTemporaryFile() as f:
        f.write(code)
        f.flush()
        shown = run("objdump", "-D", "-w", "-b", "binary", "-m", "i386:x86-64", f"--adjust-vma={begin:#x}", f.name)
    for line in shown.splitlines():
        match = LINE.match(line)
        if not match:
            continue
        at, text = int(match[1], 16), match[3].partition("#")[0].strip()
        words = text.split(None, 1)
        while len(words) > 1 and words[0] in PREFIXES:
            words = words[1].split(None, 1)
        name, rest = (words + ["", ""])[:2]
        target = re.match(r"0x([0-9a-f]+)$", rest) if name.startswith(("j", "call", "loop")) else None
        found[at] = Insn(at, at + len(match[2].split()), name, operands_of(rest) if not target else [],
                         int(target[1], 16) if target else None, text)
    return found


# --- one function -------------------------------------------------------------------------------

class Frame(collections.namedtuple("Frame", "rsp rbp")):
    """Where the stack pointer and the frame pointer point, from the stack pointer's value at the entry on; None: it is
    not known."""

    def after(self, insn):
        rsp, rbp = self
        last = insn.operands[-1].strip() if insn.operands else ""
        value = re.match(r"\$(-?0x[0-9a-f]+)$", insn.operands[0].strip()) if insn.operands else None
        if insn.name.startswith("push"):
            rsp = None if rsp is None else rsp - 8
        elif insn.name.startswith("pop"):
            rsp = None if rsp is None else rsp + 8
            rbp = None if last == "%rbp" else rbp
        elif insn.name.startswith("leave"):
            rsp, rbp = None if rbp is None else rbp + 8, None
        elif last == "%rsp":
            rsp = self._rsp(insn, value)
        elif last == "%rbp":
            rbp = rsp if insn.text.split()[1:] == ["%rsp,%rbp"] else None
        return Frame(rsp, rbp)

    def _rsp(self, insn, value):
        by = signed(value[1]) if value else None
        if insn.name.startswith("add") and value:
            return None if self.rsp is None else self.rsp + by
        if insn.name.startswith("sub") and value:
            return None if self.rsp is None else self.rsp - by
        memory = MEMORY.match(insn.operands[0].strip())
        if insn.name.startswith("lea") and memory and not memory[3]:
            base = {"%rsp": self.rsp, "%rbp": self.rbp}.get(memory[2])
            return None if base is None else base + signed(memory[1] or "0x0")
        return self.rbp if insn.operands[0].strip() == "%rbp" else None


def signed(text):
    value = int(text, 16)
    return value - (1 << 64) if value >= 1 << 63 else value


def below(frame, base, offset):
    """By how many bytes an address is below the stack pointer; 0 or less: it is not, or that is not known."""
    if base == "%rsp":
        return -offset
    if base == "%rbp" and None not in frame:
        return frame.rsp - frame.rbp - offset
    return 0


class Access(collections.namedtuple("Access", "depth reads writes")):
    """Of the red zone. depth: bytes below the stack pointer of this instruction; None: anywhere there."""


def access_of(insn, frame):
    """What an instruction does in the red zone; None: nothing."""
    if insn.name.startswith(("nop", "endbr", "xchg %ax")):
        return None
    for i, operand in enumerate(insn.operands):
        memory = MEMORY.search(operand)
        if not memory or not memory[2]:
            continue
        depth = below(frame, memory[2], signed(memory[1] or "0x0"))
        if not 0 < depth <= RED_ZONE:
            continue
        if insn.name.startswith("lea"):
            moved = insn.operands[-1].strip() in ("%rsp", "%rbp")
            return None if moved else Access(None, True, True)
        if memory[3]:
            return Access(None, True, True)
        last = i == len(insn.operands) - 1
        reads = not last or insn.name.startswith(READS) or not insn.name.startswith(WRITES)
        return Access(depth, reads, last and not insn.name.startswith(READS))
    return None


class Function:
    def __init__(self, insns, begin):
        self.insns, self.frames = insns, {}
        todo = [(begin, Frame(0, None))]
        while todo:
            at, frame = todo.pop()
            if at not in insns or at in self.frames:
                continue
            self.frames[at] = frame
            todo += [(to, frame.after(insns[at])) for to in self.followers(at)]
        for at in insns:  # what only a table of jumps leads to
            self.frames.setdefault(at, Frame(None, None))
        self.leaders = collections.defaultdict(list)
        for at in insns:
            for to in self.followers(at):
                self.leaders[to].append(at)
        self.accesses = {at: access_of(insn, self.frames[at]) for at, insn in insns.items()}

    def followers(self, at):
        insn = self.insns[at]
        ret = [] if insn.name.startswith(ENDS) else [insn.next]
        return ret + ([insn.target] if insn.target and insn.name[0] == "j" else [])

    def written_before(self, site):
        """Depths that were written in the red zone on a way to the site."""
        seen, todo, depths = set(), list(self.leaders[site]), set()
        while todo:
            at = todo.pop()
            # A call writes over all that is there; whoever moves the stack pointer down has no red zone before it.
            if at in seen or at not in self.insns or self.insns[at].name.startswith("call"):
                continue
            seen.add(at)
            if self.accesses[at] and self.accesses[at].writes:
                depths.add(self.accesses[at].depth)
            todo += self.leaders[at]
        return depths

    def read_after(self, site, depth):
        """Whether these bytes (None: any) are read in the red zone after the site, before they are written."""
        seen, todo = set(), [site]
        while todo:
            at = todo.pop()
            if at in seen or at not in self.insns or self.insns[at].name.startswith("call"):
                continue
            seen.add(at)
            access = self.accesses[at]
            if access and access.reads and (None in (depth, access.depth) or abs(access.depth - depth) < 16):
                return True
            if access and access.writes and access.depth == depth:
                continue
            todo += self.followers(at)
        return False

    def at_fault(self, site):
        """Why nothing may be pushed at a site; "": nothing speaks against it."""
        frame = self.frames.get(site.at)
        if frame is None:
            return "there is no instruction"
        for offset, base in NOTE_MEMORY.findall(site.args):
            if 0 < below(frame, base, int(offset)) <= RED_ZONE:
                return f"its argument {offset}({base}) is in the red zone"
        for depth in self.written_before(site.at):
            if self.read_after(site.at, depth):
                where = "somewhere" if depth is None else f"{depth} bytes"
                return f"what is {where} below the stack pointer is read after it"
        return ""


def check(path):
    """({bytes of the nop: probes}, [(name, address, why)] of those that are at fault)."""
    functions, made, faults, nops = Functions(path), {}, [], collections.Counter()
    text_at, text = section(path, ".text")
    for site in sites(path):
        begin, end = functions.around(site.at)
        if begin not in made:
            made[begin] = Function(instructions(text[begin - text_at:end - text_at], begin), begin)
        insn = made[begin].insns.get(site.at)
        nops[insn.next - insn.at if insn and insn.name.startswith("nop") else None] += 1
        why = made[begin].at_fault(site)
        if why:
            faults.append((site.name, site.at, why))
    return dict(nops), faults
