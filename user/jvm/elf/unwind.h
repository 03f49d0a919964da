/* jvm/elf/unwind.h: how to get from a pc in a shared library to its caller, from its
 * .eh_frame. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct arch;
struct unwind;

/* The caller's sp is the CFA. */
struct unwind_rule {
	bool cfa_from_fp; /* CFA = fp + cfa_offset; else sp + cfa_offset */
	bool fp_saved; /* the caller's fp is at CFA + fp_offset; else it is still in the register */
	int32_t cfa_offset;
	int32_t fp_offset;
	bool return_kept; /* the return address is still in its register; never on x86-64 */
	int32_t return_offset; /* else it is there, from the CFA; on x86-64 -8, as calls leave it */
};

/*
 * Reads what is needed of the library's file; the descriptor stays the caller's. Outside of tests
 * only the parser process does so (parser.h): libdw is not made for hostile files. -ENOENT: it has
 * no .eh_frame that can be read. -EPROTO: it is no ELF file of this machine.
 */
int unwind_open(int fd, struct unwind **ret);
/* Of a file for another machine. */
int unwind_open_of(const struct arch *a, int fd, struct unwind **ret);
void unwind_close(struct unwind *u);

/*
 * The rule at a pc: vaddr is an address as the library's file counts them (address in the process -
 * load bias). For a return address give it less 1. -ENOENT: no FDE covers it. -ENOTSUP: its rule is
 * an expression, or of other registers, or the return address is elsewhere. -ENOMEM.
 */
int unwind_rule(struct unwind *u, uint64_t vaddr, struct unwind_rule *ret);
