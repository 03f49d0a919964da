/* log/format/counters.h: the last values of the threads' counters within one block of a log. */
#pragma once

#include <stdint.h>

#include "log/format/schema.h"

struct counters_slot {
	uint64_t thread;
	uint32_t generation; /* in use if it is that of the table */
	uint64_t v[COUNTER_COUNT];
};

/* Small numbers, which nearly all threads have, are places in a table; others are hashed. */
struct delta_table {
	struct counters_slot *small;
	uint32_t small_count; /* a power of two, or 0 */
	struct counters_slot *slots;
	unsigned bits; /* log2 of the number of slots */
	unsigned used; /* of the slots */
	uint32_t generation;
};

/* The table is all zero at first, then reset; it owns its slots. */
void counters_free(struct delta_table *c);
/* A new block, also the first: all values are 0. */
void counters_reset(struct delta_table *c);
/* The values of a thread, lent until the next call. NULL: no memory. */
uint64_t *counters_of(struct delta_table *c, uint64_t thread);

/* The same, without a call for a thread that was there before. */
static inline uint64_t *counters_again(struct delta_table *c, uint64_t thread)
{
	if (thread < c->small_count && c->small[thread].generation == c->generation)
		return c->small[thread].v;
	return counters_of(c, thread);
}
