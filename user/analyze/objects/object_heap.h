/* analyze/objects/object_heap.h: which object is where, by the address in units of the heap. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* kind 0: no object begins here. */
struct object_place {
	uint32_t kind : 24;
	uint32_t slack : 8; /* of an array: bytes after its elements, which tell its length */
	uint32_t units : 31;
	uint32_t old : 1; /* a collection has found it alive */
};

/* Memory is taken for what is used, by pages of 4 KB: 8 bytes for a unit of memory that has had an
 * object since it was last forgotten. */
struct object_heap {
	struct object_place **pages;
	uint64_t units, page_count;
	uint64_t bytes, bytes_max; /* of pages */
	unsigned area_bits;
	uint8_t *ever; /* bits, by area: an object has begun or ended there once */
};

#define OBJECT_HEAP_PAGE 512 /* units */
/* An area has 1 << so many units, which are 1 MB: the least region of G1. */
#define OBJECT_HEAP_AREA_BITS(shift) (20 - (shift))
#define OBJECT_HEAP_UNITS_MAX (1ull << 33)

/* 0, -ENOMEM, or -EFBIG: more units than that. */
/* shift: a unit has 1 << shift bytes, 3 to 8. */
int object_heap_init(struct object_heap *h, uint64_t units, unsigned shift, uint64_t bytes_max);
void object_heap_free(struct object_heap *h);

/* NULL: there is no object, or no such place. */
struct object_place *object_heap_find(const struct object_heap *h, uint64_t at);
/* 0, -EINVAL: it does not fit in; -ENOMEM: also beyond bytes_max. *ret_over: there was another. */
int object_heap_put(struct object_heap *h, uint64_t at, struct object_place place, bool *ret_over);
/* Was there ever an object in the area of this unit? */
bool object_heap_ever(const struct object_heap *h, uint64_t at);
/* All that begins in these units is gone. */
void object_heap_forget(struct object_heap *h, uint64_t at, uint64_t units);
