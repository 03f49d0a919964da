/* analyze/lines/hold_slices.h: one blocked interval cut into parts by holder, and its way into
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

struct part {
	struct hold hold;
	struct forward *forward; /* NULL: the chain is in hold */
	struct split split;
	bool first;  /* the interval began with it */
	uint64_t ns; /* the sum of the split, while it is charged */
};

struct parts {
	struct part *rows;
	uint32_t count, capacity;
};

/* Room for more rows behind the first count. Parts of the same hold are put together when it gets
 * short. 0 or -ENOMEM. */
int parts_reserve(struct parts *p, uint32_t more);
int parts_add(struct parts *p, const struct part *part);
/* The interval is over, its parts are all of it, and count one contention. 0 or -ENOMEM. */
int parts_charge(struct parts *p, struct cells *cells, uint64_t lock, const struct blocked *who,
		 uint64_t since_ns, uint64_t until_ns);
