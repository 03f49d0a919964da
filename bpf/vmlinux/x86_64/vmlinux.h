/* bpf/vmlinux/x86_64/vmlinux.h: the kernel's types that the programs use, on x86-64. */
#pragma once
#define __VMLINUX_H__ /* bpf_tracing.h: pt_regs has the kernel's names of registers */

#include "bpf/vmlinux/kernel_types.h"

/* arch/x86/include/asm/ptrace.h */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx;
	unsigned long r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax;
	unsigned long ip, cs, flags, sp, ss;
} __attribute__((preserve_access_index));
