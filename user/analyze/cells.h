/* analyze/cells.h: blocked time by lock, waiter and holder: the finest pieces of which all sums are
 * made. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/places.h"

/* A holder that is no thread. */
#define HOLDER_UNKNOWN 0            /* it was held, or may have been, and nothing says by whom */
#define HOLDER_HAND_OVER UINT64_MAX /* nobody is known to have held it: released, not yet taken */

static inline bool holder_is_thread(uint64_t holder)
{
	return holder != HOLDER_UNKNOWN && holder != HOLDER_HAND_OVER;
}

/* What the holder did in the time that it is charged with; the five add up to that time. */
struct split {
	uint64_t running_ns;
	uint64_t stolen_ns;
	uint64_t runnable_ns;
	uint64_t blocked_ns;
	uint64_t unknown_ns; /* not split: no holder, or its counters are not known at both ends */
};

void split_add(struct split *s, const struct split *more);

struct cell {
	uint64_t lock;
	uint64_t waiter;
	uint64_t holder;
	uint64_t count;       /* contentions that began with this holder */
	uint64_t blocked_ns;  /* of all contentions, while this was the holder */
	uint64_t max_ns;      /* the longest of those that began with this holder, whole */
	uint64_t max_held_ns; /* the most that one contention was charged to this holder */
	uint64_t
		first_reader_ns; /* of blocked_ns: the holder was one of possibly several readers */
	struct split split;      /* of blocked_ns */
	bool monitor; /* it was blocked by monitor events, whatever the lock's group says */

	/* The contention that is going on: not in the sums above before it ends. */
	uint64_t pending_ns;
	uint64_t pending_first_reader_ns;
	struct split pending;
	uint32_t pending_next; /* next cell of this contention; PLACE_NONE: the last */
};

struct cells {
	struct places places;
	struct cell *rows; /* places.count of them */
	uint32_t capacity;
};

/* The place of a cell, a new one if need be. 0 or -ENOMEM. */
int cells_add(struct cells *c, uint64_t lock, uint64_t waiter, uint64_t holder, uint32_t *ret);
void cells_free(struct cells *c);
