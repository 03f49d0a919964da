/* jvm/libjvm.h: what libjvm.so's file says: where the vmStructs symbols are, its build id. */
#pragma once

#include "jvm/vmstructs.h"

#define BUILD_ID_TEXT_MAX 80

struct libjvm {
	uint64_t symbols[VMSYM_COUNT]; /* virtual addresses in the file; see bias */
	uint64_t first_vaddr; /* of the segment at offset 0: the bias is its mapping's start - this
			       */
	uint64_t text_low, text_high;     /* of what is mapped executable; virtual addresses too */
	char build_id[BUILD_ID_TEXT_MAX]; /* hex; "": none */
};

/* -ENOEXEC: not a 64-bit little-endian ELF library. -ENOENT: without vmStructs. -errno of open. */
int libjvm_read(const char *path, struct libjvm *ret);
