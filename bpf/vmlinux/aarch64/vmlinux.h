/* bpf/vmlinux/aarch64/vmlinux.h: the kernel's types that the programs use, on arm64. */
#pragma once
#define __VMLINUX_H__ /* bpf_tracing.h: pt_regs has the kernel's names of registers */

#include "bpf/vmlinux/kernel_types.h"

/* arch/arm64/include/asm/ptrace.h */
struct user_pt_regs {
	u64 regs[31];
	u64 sp, pc, pstate;
} __attribute__((preserve_access_index));

struct pt_regs {
	union {
		struct user_pt_regs user_regs;
		struct {
			u64 regs[31];
			u64 sp, pc, pstate;
		};
	};
	u64 orig_x0;
	s32 syscallno; /* -1: not in a system call */
} __attribute__((preserve_access_index));
