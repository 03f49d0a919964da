/* analyze/park/park_wait.h: parking on what is not a lock: each thread is kept waiting by whoever
 * ends its wait, if by anybody. */
#pragma once

#include "analyze/lines/hold_slices.h"

/* A thread was parked on something, which it and nobody else waited for in this way. */
struct park_wait {
	uint64_t lock;
	struct blocked who;
	uint64_t since_ns, until_ns;
	struct hold by;   /* who has done what ended it; blocked_on is not used */
	uint64_t done_ns; /* when */
};

/*
 * Charges it: up to done_ns to whom it waited for, the rest to nobody. No thread ever waits for the
 * same, so there is no line of holders to be kept: what the one that ended it did meanwhile is what
 * that one has emitted an event of its own. slices has room for that, and is empty before and
 * after. 0 or -ENOMEM.
 */
int park_wait_charge(struct cells *cells, struct hold_slices *slices, const struct park_wait *w);
