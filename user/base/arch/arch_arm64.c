#include "base/arch/arch.h"

#include <elf.h>
#include <linux/audit.h>

#define R(n)                                                                                       \
	{                                                                                          \
		(n) * 8,                                                                           \
		{                                                                                  \
			"x" #n, "w" #n                                                             \
		}                                                                                  \
	}

/* Offsets of struct user_pt_regs, arch/arm64/include/uapi/asm/ptrace.h, with which pt_regs begins:
 * a part of the ABI. */
static const struct arch_register registers[] = {
	R(0),
	R(1),
	R(2),
	R(3),
	R(4),
	R(5),
	R(6),
	R(7),
	R(8),
	R(9),
	R(10),
	R(11),
	R(12),
	R(13),
	R(14),
	R(15),
	R(16),
	R(17),
	R(18),
	R(19),
	R(20),
	R(21),
	R(22),
	R(23),
	R(24),
	R(25),
	R(26),
	R(27),
	R(28),
	{29 * 8, {"x29", "w29", "fp"}},
	{30 * 8, {"x30", "w30", "lr"}},
	{31 * 8, {"sp", "wsp"}},
};

/* None: walks are proved in emulation only (docs/arm64.md), by tests/walk, which says 19. */
#ifndef ARCH_ARM64_WALKS_LAST
#define ARCH_ARM64_WALKS_LAST 0
#endif

const struct arch arch_arm64 = {
	.name = "aarch64",
	.said = "arm64",
	.registers = registers,
	.register_count = sizeof(registers) / sizeof(*registers),
	.arguments = ARCH_ARGUMENTS_ARM64,
	.call_arguments = "8@x0 8@x1",
	.call_bool = "1@w0",
	.nop = {0x1f, 0x20, 0x03, 0xd5},
	.nop_bytes = 4,
	.elf_machine = EM_AARCH64,
	.dwarf_fp = 29,
	.dwarf_sp = 31,
	.dwarf_return = 30,
	.audit = AUDIT_ARCH_AARCH64,
	.calls_max = 0x40000000u, /* no call of the table has such a number */
	.zgc_shift = 16,
	/* In 18 and 19 these frames are the same. */
	.walks_first = 17,
	.walks_last = ARCH_ARM64_WALKS_LAST,
	.slots = {.call_wrapper = -8, .sender_sp = -1, .method = -3, .bcp = -9},
	.kvm_clock = "PVTime (stolen_time), ns",
	.kvm_unknown =
		"only the kernel's log (\"using stolen time PV\") says whether the host offers "
		"it: if not, it is always 0",
	.nameless_is_physical = false,
};
