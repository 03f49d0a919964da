/* heap/state/heap_objects.h: objects one by one, and what each refers to. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * Columns by ordinal, in the order in which objects came. 16 bytes an object and 4 a reference; 8
 * bytes an object fewer once addresses are dropped. Reference fields of an instance keep their
 * index, whether they are null (HEAP_NONE) or not; of arrays nulls are left out.
 */
struct heap_objects {
	uint32_t count, ref_count;
	uint32_t *desc;
	uint64_t *address;
	uint32_t *ref_at; /* count + 1 of them, when it is finished */
	uint32_t *refs;   /* ordinals, when they are resolved */
	uint64_t *far;    /* addresses that are too far from their object for a number in refs */
	uint32_t *order;  /* ordinals by address; NULL: the order is that of the ordinals */
	uint32_t *bucket; /* by address: the first in order */
	unsigned bucket_bits;
	uint64_t least;
	uint64_t unresolved; /* references to what is not in the dump; they are HEAP_NONE */
	size_t far_count, desc_room, address_room, ref_at_room, refs_room, far_room;
};

void heap_objects_free(struct heap_objects *o);
/* -ENOMEM; -EOVERFLOW: there are 2^32 - 16 objects or references already, and no room for more. */
int heap_objects_add(struct heap_objects *o, uint64_t address, uint32_t desc);
/* Of the object that was added last; 0 is null. The same. */
int heap_objects_ref(struct heap_objects *o, uint64_t to);
/* Orders addresses, and turns references into ordinals; nothing is added after it. -ENOMEM. */
int heap_objects_resolve(struct heap_objects *o);
/* HEAP_NONE: there is no object there. */
uint32_t heap_objects_find(const struct heap_objects *o, uint64_t address);
