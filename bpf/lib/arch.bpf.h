/* bpf/lib/arch.bpf.h: what depends on the architecture in BPF, but for the walker's frames. */
#pragma once

/*
 * Each architecture's header gives the same names; at is a struct pt_regs of user code:
 *	USER_PC, _SP, _FP, _BCP(at)  registers; BCP: the bytecode pointer of HotSpot's interpreter
 *	USER_METHOD, _LINK(at)       in which it has a Method, and a return address, while it makes
 *	                             a frame
 *	USER_REGISTERS(X)            all that an argument of a probe may be in, X(member) each
 *	SYSCALL_NUMBER(at)           negative: the thread is in no system call
 *	SYSCALL_READ(at)             likewise, where the registers are read by a helper
 *	SYSCALL_FIRST(at)            the call's first argument
 *	CALL_*                       system calls that wait for another thread or for time
 *	ZGC_SHIFT                    so many low bits of generational ZGC's references are none of
 *	                             the address; 0: the color says how many
 *	BARRIER()                    orders what is read and written before it against what is read
 *	                             and written after it, as other CPUs see it
 */
#if defined(__TARGET_ARCH_x86)
#include "bpf/lib/arch_x86.bpf.h"
#elif defined(__TARGET_ARCH_arm64)
#include "bpf/lib/arch_arm64.bpf.h"
#else
#error "bpf/lib has no table for this architecture"
#endif
