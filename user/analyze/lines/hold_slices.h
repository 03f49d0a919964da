/* analyze/lines/hold_slices.h: one blocked interval cut into slices by holder, and its way into
 * the cells. */
#pragma once

#include <stdint.h>

#include "analyze/cells/cells.h"
#include "analyze/lines/timeline.h"

/* A call chain that comes later. */
struct forward {
	uint64_t number;
	uint64_t stack;
	enum holder_stack_from from;
	bool named;
	uint32_t users; /* whoever has the last one frees it */
	struct forward *next, *previous;
};

struct hold_slice {
	struct hold hold;
	struct forward *forward; /* NULL: the chain is in hold */
	struct split split;
	uint64_t begin_ns; /* of the first one of those that were put together */
	bool first;  /* the interval began with it */
	uint64_t ns; /* the sum of the split, while it is charged */
};

struct hold_slices {
	struct hold_slice *rows;
	uint32_t count, capacity;
	uint64_t last[2]; /* threads that held it last, two different ones; 0: none */
};

/* From then on this thread held it; others are ignored. */
void hold_slices_hold(struct hold_slices *p, uint64_t holder);

/* Room for more rows after the first count. Parts of the same hold are put together when it gets
 * short. 0 or -ENOMEM. */
int hold_slices_reserve(struct hold_slices *p, uint32_t more);
int hold_slices_add(struct hold_slices *p, const struct hold_slice *slice);
/* The interval is over, its slices are all of it, and count one contention. 0 or -ENOMEM. */
int hold_slices_charge(struct hold_slices *p, struct cells *cells, uint64_t lock,
		       const struct blocked *who, uint64_t since_ns, uint64_t until_ns);
