/* base/arch/arch.h: what depends on the architecture, in one table for each that spoor knows. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Of the registers at a probe. */
struct arch_register {
	int16_t offset;       /* in the kernel's struct pt_regs */
	const char *names[4]; /* as the assembler has them; of several widths; NULL: no more */
};

/* How argument strings of USDT probes are written. */
enum arch_arguments {
	ARCH_ARGUMENTS_X86,   /* %rax, $1, -8(%rbp) */
	ARCH_ARGUMENTS_ARM64, /* x0, 1, [sp, 8] */
};

/* Of an entry frame, and of interpreted ones. */
struct arch_slots {
	int8_t call_wrapper, sender_sp, method, bcp;
};

#define ARCH_NOP_MAX 5
#define ARCH_NOPS_MAX 16
#define ARCH_LANDING_MAX 4

/* Kernels of arm64 have pages of 4, 16 or 64 KiB, those of x86-64 of 4: what can be read, can be
 * read in such pieces. */
#define ARCH_PAGE_MIN 4096ull

struct arch {
	const char *name, *said; /* as uname(2) has it; as people call it */
	const struct arch_register *registers;
	size_t register_count;
	enum arch_arguments arguments;
	/* Of a function: the first two arguments, and a bool that it returns; as a probe's. */
	const char *call_arguments, *call_bool;
	/* What a probe is: an instruction, and a longer one that newer kernels make a call of. 0
	 * bytes: there is none. */
	uint8_t nop[ARCH_NOP_MAX], nop_call[ARCH_NOP_MAX];
	uint8_t nop_bytes, nop_call_bytes;
	/* What a probe of the mark library is: a nop of 1 byte, then one of 5, then one of 10, to
	 * choose from by the kernel; and the offsets of the last two. 0 bytes: that is one nop. */
	uint8_t nops[ARCH_NOPS_MAX], nops_bytes, nops_5, nops_10;
	/* An instruction that only marks where calls may go: a probe behind it costs less. */
	uint8_t landing[ARCH_LANDING_MAX], landing_bytes;
	uint16_t elf_machine;
	/* Numbers of registers in DWARF. */
	uint16_t dwarf_fp, dwarf_sp, dwarf_return;
	uint32_t audit;     /* AUDIT_ARCH_... */
	uint32_t calls_max; /* numbers of system calls from here on are another table's */
	/* Words in which generational ZGC keeps references: so many low bits are none of the
	 * address; 0: the color says how many (cpu/.../gc/z/zAddress*.inline.hpp). */
	uint8_t zgc_shift;
	/* bpf/walk knows the frames of these JDKs there; last before first: of none. */
	uint32_t walks_first, walks_last;
	/* Slots of HotSpot's frames, in words from fp (cpu/.../frame_*.hpp): all 0: vmStructs has
	 * them. */
	struct arch_slots slots;
	/* Where a call leaves the return address, from the CFA; 0: in a register, and the callee
	 * puts it anywhere. */
	int16_t call_return_at;
	/* What reports stolen time to a guest of KVM; why it cannot know whether its host does. */
	const char *kvm_clock, *kvm_unknown;
	/* A machine without CPUID and without names is none but a physical one; else it may be a
	 * virtual one. */
	bool nameless_is_physical;
	/* The PMU interrupts with an NMI. */
	bool pmu_nmi;
};

extern const struct arch arch_x86_64, arch_arm64;

/* That of the machine that this is compiled for. */
#if defined(__x86_64__)
#define ARCH_HERE arch_x86_64
#elif defined(__aarch64__)
#define ARCH_HERE arch_arm64
#else
#error "base/arch has no table for this architecture"
#endif

/* That of the JVMs that are looked at: this machine's, but for tests/walk, which looks at those of
 * another one in emulation. */
#ifndef ARCH_JVM
#define ARCH_JVM ARCH_HERE
#endif

/* Where a register is in struct pt_regs; -1: there is none of this name. */
int arch_register_offset(const struct arch *a, const char *name, size_t length);
