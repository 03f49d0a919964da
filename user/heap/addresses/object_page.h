/* heap/addresses/object_page.h: objects of a page of the heap, in three columns of one block. */
#pragma once

#include "heap/addresses/object_heap.h"

#define OBJECT_AGE_BITS 4
#define OBJECT_ENTRY_BYTES 10
#define OBJECT_PAGE_UNITS_MAX (1u << (OBJECT_PAGE_BYTES_BITS - 3))
/* Of object_page_sort: keys, and a copy of the columns. */
#define OBJECT_SCRATCH_BYTES ((4 + OBJECT_ENTRY_BYTES) * (OBJECT_PAGE_UNITS_MAX + 1))

static inline uint32_t *object_page_births(const struct object_page *p)
{
	return p->block + p->capacity;
}

static inline uint16_t *object_page_offsets(const struct object_page *p)
{
	return (uint16_t *)(p->block + 2 * p->capacity);
}

static inline struct object_entry object_page_get(const struct object_page *p, uint32_t i)
{
	return (struct object_entry){
		.desc = p->block[i] >> OBJECT_AGE_BITS,
		.birth = object_page_births(p)[i],
		.age = p->block[i] & OBJECT_AGE_MAX,
	};
}

/* One more, at an offset in the page, whatever there is. 0 or -ENOMEM. */
int object_page_push(struct object_heap *h, struct object_page *p, uint32_t at,
		     struct object_entry entry);
/* By address; of several at one offset the last one stays, and the others are h->over. */
void object_page_sort(struct object_heap *h, struct object_page *p);
/* The index of the first object at this offset or after it; the page is sorted. */
uint32_t object_page_from(const struct object_page *p, uint32_t at);
/* Objects from kept on are no longer there, and if there are none, neither is the block. 0 or
 * -ENOMEM. */
int object_page_cut(struct object_heap *h, struct object_page *p, uint32_t kept);
/* Gives back the room that no object has. 0 or -ENOMEM. */
int object_page_trim(struct object_heap *h, struct object_page *p);
/* An object is gone. */
void object_page_drop(struct object_heap *h, uint32_t desc);
/* There is an object in these units of the heap. */
void object_heap_touch(struct object_heap *h, uint64_t at, uint32_t units);
