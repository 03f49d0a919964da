/* log/counters.h: the last values of the threads' counters within one block of a log. */
#pragma once

#include <stdint.h>

#include "log/schema.h"

struct counters_slot {
	uint64_t thread;
	uint32_t generation; /* in use if it is that of the table */
	uint64_t v[SCHEMA_COUNTER_COUNT];
};

struct counters {
	struct counters_slot *slots;
	unsigned bits; /* log2 of the number of slots */
	unsigned used;
	uint32_t generation;
};

/* The table is all zero at first, then reset; it owns its slots. */
void counters_free(struct counters *c);
/* A new block, also the first: all values are 0. */
void counters_reset(struct counters *c);
/* The values of a thread, lent until the next call. NULL: no memory. */
uint64_t *counters_of(struct counters *c, uint64_t thread);
