/* bpf/lib/arch_arm64.bpf.h: arm64, as arch.bpf.h says. No kernel has run these programs. */
#pragma once

#define USER_PC(at) ((at)->pc)
/* In no system call. Exceptions have no number either: those are taken for interrupts. */
#define USER_IS_INTERRUPTED(at) ((at)->syscallno < 0)
#define USER_SP(at) ((at)->sp)
#define USER_FP(at) ((at)->regs[29])
#define USER_BCP(at) ((at)->regs[22]) /* rbcp, cpu/aarch64/register_aarch64.hpp */
#define USER_METHOD(at) ((at)->regs[12]) /* rmethod */
#define USER_LINK(at) ((at)->regs[30])

#define USER_REGISTERS(X) \
	X(regs[0]) X(regs[1]) X(regs[2]) X(regs[3]) X(regs[4]) X(regs[5]) X(regs[6]) \
	X(regs[7]) X(regs[8]) X(regs[9]) X(regs[10]) X(regs[11]) X(regs[12]) X(regs[13]) \
	X(regs[14]) X(regs[15]) X(regs[16]) X(regs[17]) X(regs[18]) X(regs[19]) X(regs[20]) \
	X(regs[21]) X(regs[22]) X(regs[23]) X(regs[24]) X(regs[25]) X(regs[26]) X(regs[27]) \
	X(regs[28]) X(regs[29]) X(regs[30]) X(sp) X(pc)

/* x0 gets the result: what the call was given is in orig_x0. */
#define SYSCALL_NUMBER(at) ((long)(at)->syscallno)
#define SYSCALL_READ(at) ((__s64)BPF_CORE_READ(at, syscallno))
#define SYSCALL_FIRST(at) ((at)->orig_x0)

/* include/uapi/asm-generic/unistd.h. There is no pause: libc's is ppoll() of nothing. */
enum {
	CALL_PAUSE = -1,
	CALL_FUTEX = 98,
	CALL_NANOSLEEP = 101,
	CALL_CLOCK_NANOSLEEP = 115,
	CALL_RT_SIGSUSPEND = 133
};

#define ZGC_SHIFT 16 /* ZPointerLoadShift, cpu/aarch64/gc/z */

/* BPF has no fence, but the kernel makes an atomic instruction with a result fully ordered
 * (Documentation/atomic_t.txt). Its word is nobody else's. */
#define BARRIER()                                                                                  \
	({                                                                                         \
		__u64 barrier_word = 0;                                                            \
		asm volatile("" ::"r"(__sync_fetch_and_add(&barrier_word, 1)) : "memory");         \
	})
