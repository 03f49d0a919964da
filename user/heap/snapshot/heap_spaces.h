/* heap/snapshot/heap_spaces.h: which part of the heap an address is in, by its layout. */
#pragma once

#include <stdint.h>

struct object_found;

enum heap_collector {
	HEAP_SERIAL,   /* eden and survivors, then old objects */
	HEAP_PARALLEL, /* old objects, then eden and survivors */
	HEAP_G1,       /* regions */
	HEAP_OTHER,    /* its layout is not known */
};

struct heap_spaces {
	enum heap_collector collector;
	uint64_t heap_bytes, young_bytes; /* at most */
	uint64_t region_bytes;            /* of G1 */
	uint64_t threads;                 /* that collect at once, of Parallel and G1 */
};

enum heap_space {
	SPACE_EDEN, /* no collection has seen the object */
	SPACE_SURVIVOR,
	SPACE_OLD,
	SPACE_SURVIVED, /* with G1: a survivor, or old */
	SPACE_HUMONGOUS,
	SPACE_UNKNOWN,
	SPACE_COUNT,
};

/* Static. */
const char *heap_space_name(enum heap_space space);
/* base: where the heap begins. collections: that have ended. */
enum heap_space heap_space_of(const struct heap_spaces *s, uint64_t base, uint32_t collections,
			      const struct object_found *f);
