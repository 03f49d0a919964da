/* analyze/groups/groups.h: sums of cells, nested by any order of aspects: the tree of --by. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/cells/cell.h"
#include "analyze/cells/lengths.h"
#include "analyze/groups/aspects.h"
#include "analyze/groups/contended.h"

struct keymap;
struct log_names;
struct stacks;

enum group_order {
	GROUP_BY_WORK, /* by the time that work lost: blocked_ns without idle_ns */
	GROUP_BY_TIME, /* by blocked_ns */
	GROUP_BY_COUNT,
	GROUP_BY_MAX, /* by max_ns */
	GROUP_BY_P50, /* by quantile: p50, p90, p99, p99.9 */
	GROUP_BY_P90,
	GROUP_BY_P99,
	GROUP_BY_P999,
	GROUP_BY_VALUE, /* by the aspect's value: windows in the order of time */
	GROUP_ORDER_COUNT,
};

struct group {
	enum aspect_id aspect;   /* of the root: no meaning */
	const struct cell *cell; /* the one with the most time; all share its value of the aspect */
	uint64_t count;
	uint64_t blocked_ns;
	uint64_t idle_ns;   /* of blocked_ns: idle turn-taking, as idle.h says */
	uint64_t max_ns;    /* of the aspect and those above it, the last enum group_max */
	uint64_t parent_ns; /* blocked_ns of the group that it is within; of the root its own */
	/* Of the count contentions, by length_per_mille; 0: not known, or there are none. */
	uint64_t quantile_ns[LENGTH_QUANTILES];
	uint64_t first_reader_ns;
	uint64_t after_wait_count, after_wait_ns; /* of count and blocked_ns: after Object.wait() */
	struct split split;
	uint64_t stack_from_ns[HOLDER_STACK_FROM_COUNT];
	struct group *groups; /* as enum group_order says, descending, then by key, ascending */
	uint32_t group_count;
};

/* All is lent until groups_free. */
struct groups_input {
	const struct stacks *stacks;
	const struct cell *cells;
	uint32_t cell_count;
	const struct lengths *lengths; /* of these cells; NULL: quantiles are not wanted */
	const enum aspect_id *by;      /* depth of them */
	unsigned depth;
	enum group_order order;
	bool parked; /* mere parking, and no contention */
	/* Numbers of locks, which alone are nested; the root has the sums of all. NULL: all. A
	 * group takes 300 bytes, and of locks there may be a million. */
	const struct keymap *locks;
};

/*
 * Sums the contentions (monitors and java.util.concurrent locks, not mere parking) of cells. depth
 * may be 0: then only the root has anything. Of mere parking, the holder is who has ended it in a
 * log of a patched JVM; in others the holder has no meaning. Nothing of it is idle turn-taking.
 * 0 or -ENOMEM.
 */
int groups_sum(const struct groups_input *in, struct group *ret);
/* What groups are ordered by. */
uint64_t group_rank(const struct group *g, enum group_order order);

/* Contentions without quantiles. */
int groups_make(const struct stacks *stacks, const struct cell *cells, uint32_t cell_count,
		const enum aspect_id *by, unsigned depth, enum group_order order,
		struct group *ret);
static inline uint64_t group_work_ns(const struct group *g)
{
	return g->blocked_ns - g->idle_ns;
}
void groups_free(struct group *root);

/* The methods of a group by waiter_method or owner_method, as in stacks.h; of a holder that is no
 * thread it is STACKS_METHOD_UNKNOWN. */
uint32_t group_method(const struct stacks *stacks, const struct group *g);
