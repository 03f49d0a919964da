/* heap/addresses/object_collect.h: what a collection makes of the heap. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct object_heap;
struct object_entry;

/* Objects that have moved, or stayed, by the same distance: 33 bits each for from and to. */
struct object_run {
	uint32_t from_low, to_low, units;
	uint8_t from_high, to_high;
};

static inline struct object_run object_run(uint64_t from, uint64_t to, uint32_t units)
{
	return (struct object_run){(uint32_t)from, (uint32_t)to, units, (uint8_t)(from >> 32),
				   (uint8_t)(to >> 32)};
}

static inline uint64_t object_run_from(const struct object_run *r)
{
	return (uint64_t)r->from_high << 32 | r->from_low;
}

static inline uint64_t object_run_to(const struct object_run *r)
{
	return (uint64_t)r->to_high << 32 | r->to_low;
}

struct object_space {
	uint64_t at, units;
};

struct object_collect {
	struct object_run *runs;     /* are sorted */
	struct object_space *spaces; /* of which the rest dies; are sorted, and put together */
	uint32_t run_count, space_count;
	bool all; /* the whole heap is such a space */
	/* entry: as it was before; its desc is lent. */
	void (*lives)(void *ctx, const struct object_entry *entry);
	void (*dies)(void *ctx, const struct object_entry *entry);
	void *ctx;
	uint64_t unknown; /* ret: runs of which not all units were objects */
	uint64_t outside; /* ret: objects that have moved out of the heap */
	uint64_t pages;   /* ret: that were looked at */
};

/* 0; -ENOMEM: what the heap has then makes no sense. */
int object_heap_collect(struct object_heap *h, struct object_collect *c);
