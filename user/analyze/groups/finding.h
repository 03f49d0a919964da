/* analyze/groups/finding.h: in which methods threads wait, because of which methods, in a few
 * numbers. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/cells.h"
#include "analyze/groups/groups.h"

struct stacks;

#define FINDING_PAIRS_MAX 3

struct finding_pair {
	uint32_t waiter_method, owner_method; /* numbers in stacks, both with a name */
	uint64_t blocked_ns;
};

struct finding {
	uint64_t blocked_ns;      /* all blocked time */
	uint64_t idle_ns;         /* of it, idle turn-taking; GROUP_BY_TIME: 0 */
	uint64_t total_ns;        /* of it, the rest: what the sentence is about */
	uint64_t waiter_known_ns; /* of blocked_ns, with the waiter's call chain */
	uint64_t held_ns;         /* of blocked_ns, while a thread is known to have held the lock */
	uint64_t from_ns[HOLDER_STACK_FROM_COUNT]; /* of that, by the holder's call chain */

	/* What follows is of total_ns. The method with a name in which most of it was spent. 0:
	 * there is none. */
	uint32_t waiter_method;
	uint64_t waiter_ns;
	/* Of that: the method with a name in which holders were for most of the time. 0: none. */
	uint32_t owner_method;
	uint64_t owner_ns;
	uint64_t hand_over_ns;
	uint64_t owner_unknown_ns; /* it is not known who held it, or where that one was */

	/* Of all of total_ns, by both methods, descending. */
	struct finding_pair pairs[FINDING_PAIRS_MAX];
	unsigned pair_count;
	uint64_t nameless_ns; /* the waiter's method has no name; in no pair, as are the next two */
	uint64_t all_hand_over_ns; /* it has one, but the lock was handed over */
	uint64_t all_unknown_ns;   /* it has one, but the holder's has not */
};

/* 0 or -ENOMEM. */
int finding_make(const struct stacks *stacks, const struct cell *cells, uint32_t cell_count,
		 enum group_order order, struct finding *ret);
