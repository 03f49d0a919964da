"""System calls in the name of a process that waits in one: what somebody could do who has taken it over.

(gdb would do, but that of Debian 12 cannot write the registers of a CPU with AMX: "Couldn't write extended state
status". Only general registers are needed.)
"""
import ctypes
import os
import signal

NAMES = ("r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi orig_rax rip cs eflags rsp ss fs_base gs_base ds "
         "es fs gs").split()
ARGUMENTS = ("rdi", "rsi", "rdx", "r10", "r8", "r9")
GETREGS, SETREGS, SINGLESTEP, DETACH, SEIZE, INTERRUPT = 12, 13, 9, 17, 0x4206, 0x4207
SYSCALL = b"\x0f\x05"
OPENAT, SOCKET, EXECVE, GETPPID = 257, 41, 59, 110
AT_FDCWD = -100
libc = ctypes.CDLL(None, use_errno=True)


class Registers(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in NAMES]


def ptrace(request, pid, data=0):
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    if libc.ptrace(request, pid, None, data) < 0:
        raise OSError(ctypes.get_errno(), f"ptrace({request:#x}): {os.strerror(ctypes.get_errno())}")


class Ended(Exception):
    """The process has been ended; by the signal .signal."""

    def __init__(self, status):
        super().__init__(f"wait status {status:#x}")
        self.signal = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None


class Tracee:
    """with Tracee(pid) as t: t.call(number, arguments...); a text is given as its address. Whoever may not trace gets
    an OSError; Ended: the call has ended the process."""

    def __init__(self, pid):
        self.pid = pid

    def __enter__(self):
        ptrace(SEIZE, self.pid)
        ptrace(INTERRUPT, self.pid)
        self.wait()
        self.before = self.registers()
        with open(f"/proc/{self.pid}/mem", "rb") as memory:
            memory.seek(self.before.rip - len(SYSCALL))
            if memory.read(len(SYSCALL)) != SYSCALL:
                raise AssertionError("it does not wait in a system call")
        return self

    def __exit__(self, kind, *_):
        if kind is Ended:
            return
        ptrace(SETREGS, self.pid, ctypes.addressof(self.before))
        ptrace(DETACH, self.pid)

    def wait(self):
        status = os.waitpid(self.pid, 0)[1]
        if not os.WIFSTOPPED(status):
            raise Ended(status)
        return os.WSTOPSIG(status)

    def registers(self):
        r = Registers()
        ptrace(GETREGS, self.pid, ctypes.addressof(r))
        return r

    def call(self, number, *arguments):
        """What the system call returns: -errno if it fails."""
        r = self.registers()
        r.rax, r.orig_rax, r.rip, r.rsp = number, 2**64 - 1, self.before.rip - len(SYSCALL), self.before.rsp
        address = (r.rsp - 4096) & ~15
        for register, argument in zip(ARGUMENTS, arguments):
            if isinstance(argument, str):
                with open(f"/proc/{self.pid}/mem", "r+b", buffering=0) as memory:
                    memory.seek(address)
                    memory.write(argument.encode() + b"\0")
                argument, address = address, address - 256
            setattr(r, register, argument % 2**64)
        ptrace(SETREGS, self.pid, ctypes.addressof(r))
        ptrace(SINGLESTEP, self.pid)
        got = self.wait()
        if got != signal.SIGTRAP:
            raise AssertionError(f"it was stopped by {signal.Signals(got).name}")
        return ctypes.c_int64(self.registers().rax).value
