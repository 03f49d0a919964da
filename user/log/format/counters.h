/* log/format/counters.h: the last values of the threads' counters within one block of a log. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/tables/keymap.h"
#include "log/format/schema.h"

struct counters_row {
	uint64_t v[COUNTER_COUNT];
	uint64_t time_ns; /* of the thread's last event with its own counters; */
	bool timed;       /* there was one */
};

/* All zero at first. */
struct delta_table {
	struct keymap threads;
	struct counters_row *rows;
	uint32_t capacity;
};

void counters_free(struct delta_table *c);
/* A new block: all values are 0. */
void counters_reset(struct delta_table *c);
/* Of a thread that the block has not had before. */
struct counters_row *counters_new(struct delta_table *c, uint64_t thread);

/* The row of a thread, lent until the next call. NULL: no memory. */
static inline struct counters_row *counters_row(struct delta_table *c, uint64_t thread)
{
	uint32_t index = keymap_find_number(&c->threads, thread);

	return index == INDEX_NONE ? counters_new(c, thread) : &c->rows[index];
}

/* Its values, likewise. */
static inline uint64_t *counters_of(struct delta_table *c, uint64_t thread)
{
	struct counters_row *row = counters_row(c, thread);

	return row ? row->v : NULL;
}
