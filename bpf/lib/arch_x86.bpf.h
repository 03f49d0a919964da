/* bpf/lib/arch_x86.bpf.h: x86-64, as arch.bpf.h says. */
#pragma once

#define USER_PC(at) ((at)->ip)
/* In no system call, which has its number there, and no exception, with its error code. */
#define USER_IS_INTERRUPTED(at) ((__s64)(at)->orig_ax < 0)
#define USER_SP(at) ((at)->sp)
#define USER_FP(at) ((at)->bp)
#define USER_BCP(at) ((at)->r13)
#define USER_METHOD(at) ((at)->bx)
#define USER_LINK(at) ((at)->ax)

#define USER_REGISTERS(X)                                                                          \
	X(r15) X(r14) X(r13) X(r12) X(bp) X(bx) X(r11) X(r10) X(r9) X(r8)                          \
	X(ax) X(cx) X(dx) X(si) X(di) X(ip) X(sp)

#define SYSCALL_NUMBER(at) ((long)(at)->orig_ax)
#define SYSCALL_READ(at)                                                                           \
	({                                                                                         \
		__s64 syscall_number = -1;                                                         \
		bpf_core_read(&syscall_number, sizeof(syscall_number), &(at)->orig_ax);            \
		syscall_number;                                                                    \
	})
#define SYSCALL_FIRST(at) ((at)->di)

enum {
	CALL_PAUSE = 34,
	CALL_NANOSLEEP = 35,
	CALL_RT_SIGSUSPEND = 130,
	CALL_FUTEX = 202,
	CALL_CLOCK_NANOSLEEP = 230
};

#define ZGC_SHIFT 0

/* Only a read may overtake a write of its own CPU, and no use of BARRIER() depends on that order:
 * the compiler is all that must be held back. */
#define BARRIER() asm volatile("" ::: "memory")
