/* jvm/elf/libjvm.h: what libjvm.so's file says: where the vmStructs symbols are, its build
 * id. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define BUILD_ID_TEXT_MAX 80

struct elf_file;

/* The exported symbols that lead to the tables of a HotSpot VM. */
enum vmsym {
	VMSYM_STRUCTS,
	VMSYM_STRUCT_STRIDE,
	VMSYM_STRUCT_TYPE,
	VMSYM_STRUCT_FIELD,
	VMSYM_STRUCT_TYPE_STRING,
	VMSYM_STRUCT_IS_STATIC,
	VMSYM_STRUCT_OFFSET,
	VMSYM_STRUCT_ADDRESS,
	VMSYM_TYPES,
	VMSYM_TYPE_STRIDE,
	VMSYM_TYPE_NAME,
	VMSYM_TYPE_SIZE,
	VMSYM_INTS,
	VMSYM_INT_STRIDE,
	VMSYM_INT_NAME,
	VMSYM_INT_VALUE,
	VMSYM_LONGS,
	VMSYM_LONG_STRIDE,
	VMSYM_LONG_NAME,
	VMSYM_LONG_VALUE,
	VMSYM_COUNT,
};

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
