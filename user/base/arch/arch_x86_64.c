#include "base/arch/arch.h"

#include <elf.h>
#include <linux/audit.h>

/* Offsets of struct pt_regs, arch/x86/include/uapi/asm/ptrace.h: a part of the ABI. */
static const struct arch_register registers[] = {
	{0 * 8, {"r15", "r15d", "r15w", "r15b"}}, {1 * 8, {"r14", "r14d", "r14w", "r14b"}},
	{2 * 8, {"r13", "r13d", "r13w", "r13b"}}, {3 * 8, {"r12", "r12d", "r12w", "r12b"}},
	{4 * 8, {"rbp", "ebp", "bp", "bpl"}},     {5 * 8, {"rbx", "ebx", "bx", "bl"}},
	{6 * 8, {"r11", "r11d", "r11w", "r11b"}}, {7 * 8, {"r10", "r10d", "r10w", "r10b"}},
	{8 * 8, {"r9", "r9d", "r9w", "r9b"}},     {9 * 8, {"r8", "r8d", "r8w", "r8b"}},
	{10 * 8, {"rax", "eax", "ax", "al"}},     {11 * 8, {"rcx", "ecx", "cx", "cl"}},
	{12 * 8, {"rdx", "edx", "dx", "dl"}},     {13 * 8, {"rsi", "esi", "si", "sil"}},
	{14 * 8, {"rdi", "edi", "di", "dil"}},    {16 * 8, {"rip", "eip"}},
	{19 * 8, {"rsp", "esp", "sp", "spl"}},
};

const struct arch arch_x86_64 = {
	.name = "x86_64",
	.said = "x86-64",
	.registers = registers,
	.register_count = sizeof(registers) / sizeof(*registers),
	.arguments = ARCH_ARGUMENTS_X86,
	.call_arguments = "8@%rdi 8@%rsi",
	.call_bool = "1@%al",
	.nop = {0x90},
	.nop_bytes = 1,
	/* nopl 0(%rax,%rax,1): Linux 6.18 makes a system call of it. */
	.nop_call = {0x0f, 0x1f, 0x44, 0x00, 0x00},
	.nop_call_bytes = 5,
	.nops = {0x90, 0x0f, 0x1f, 0x44, 0, 0, 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0},
	.nops_bytes = 16,
	.nops_5 = 1,
	.nops_10 = 6,
	/* endbr64: uprobes step over it out of line, but emulate the push that follows. */
	.landing = {0xf3, 0x0f, 0x1e, 0xfa},
	.landing_bytes = 4,
	.elf_machine = EM_X86_64,
	.dwarf_fp = 6,
	.dwarf_sp = 7,
	.dwarf_return = 16,
	.audit = AUDIT_ARCH_X86_64,
	.pmu_nmi = true,
	.calls_max = 0x40000000u, /* x32's calls are the same numbers with this bit */
	.walks_last = UINT32_MAX,
	.call_return_at = -8,
	.kvm_clock = "kvm_steal_time, ns",
	.kvm_unknown = "CPUID cannot be asked whether the host offers it",
	.nameless_is_physical = true,
};
