/* jvm/libjvm.h: what libjvm.so's file says: where the vmStructs symbols are, its build id. */
#pragma once

#include <stdbool.h>

#include "jvm/vmstructs.h"

#define BUILD_ID_TEXT_MAX 80

struct elf_file;

struct libjvm {
	uint64_t symbols[VMSYM_COUNT]; /* virtual addresses in the file; see bias */
	uint64_t first_vaddr; /* of the segment at offset 0: the bias is its mapping's start - this
			       */
	uint64_t text_low, text_high;     /* of what is mapped executable; virtual addresses too */
	char build_id[BUILD_ID_TEXT_MAX]; /* hex; "": none */
	int hooks; /* what it exports as spoor_hooks (jvm-hooks/); 0: it is a stock JVM */
};

/* -ENOEXEC: not a 64-bit little-endian ELF library. -ENOENT: without vmStructs. Others of
 * elf_file.h. */
int libjvm_read(struct elf_file *f, struct libjvm *ret);
/* Whether a struct libjvm that came from the parser process can be used as it is. */
bool libjvm_sound(const struct libjvm *l);
