/* heap/addresses/object_heap.h: which object is where, by the address in units of the heap. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heap/addresses/object_descs.h"

#define OBJECT_AGE_MAX 15 /* and more */

struct object_entry {
	uint32_t desc;  /* of descs */
	uint32_t birth; /* collections that had ended before */
	uint32_t age;   /* collections that have found the object alive, OBJECT_AGE_MAX at most */
};

/*
 * The objects that begin in 64 KB of the heap. An object takes 10 bytes: desc and age, birth, and
 * where in the page, in three columns of one block, as they were put in: sorted by address when
 * somebody looks for one.
 */
struct object_page {
	uint32_t *block;
	uint16_t count, capacity;
	bool unsorted;
};

struct object_heap {
	struct object_page *pages, *front; /* front: while a collection is applied */
	uint32_t *dirty;                   /* pages of front that are used */
	struct object_descs descs;
	uint64_t units, page_count;
	unsigned page_bits; /* a page has 1 << so many units */
	unsigned area_bits;
	uint32_t dirty_count, dirty_capacity;
	uint64_t bytes, bytes_most, bytes_max; /* of blocks */
	uint64_t count, live_units;            /* objects, and what they take */
	uint64_t over;                         /* objects that another one was put upon */
	uint64_t sorted;                       /* objects, each time that a page was sorted */
	uint8_t *ever;    /* bits, by area: an object has begun or ended there once */
	uint8_t *scratch; /* of sorting a page */
};

#define OBJECT_PAGE_BYTES_BITS 16
/* An area has 1 << so many units, which are 1 MB: the least region of G1. */
#define OBJECT_HEAP_AREA_BITS(shift) (20 - (shift))
#define OBJECT_HEAP_UNITS_MAX (1ull << 33)

/* shift: a unit has 1 << shift bytes, 3 to 8. 0, -ENOMEM, or -EFBIG: more units than that. */
int object_heap_init(struct object_heap *h, uint64_t units, unsigned shift, uint64_t bytes_max);
void object_heap_free(struct object_heap *h);

/* false: no object begins there. */
bool object_heap_find(struct object_heap *h, uint64_t at, struct object_entry *ret);
/* The object's reference to desc is the heap's now, unless it fails. 0; -EINVAL: it does not fit
 * in; -ENOMEM: also beyond bytes_max. One that began there is gone. */
int object_heap_put(struct object_heap *h, uint64_t at, struct object_entry entry);
/* Was there ever an object in the area of this unit? */
bool object_heap_ever(const struct object_heap *h, uint64_t at);
/* Sorts all pages: after that, until the next change, object_heap_next may be called. */
void object_heap_sort(struct object_heap *h);
/* The first object at *at or after it; *at is where it begins. false: there is none. */
bool object_heap_next(const struct object_heap *h, uint64_t *at, struct object_entry *ret);
/* All that is in the heap is gone. */
void object_heap_forget(struct object_heap *h);
