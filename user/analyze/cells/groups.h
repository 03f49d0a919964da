/* analyze/cells/groups.h: sums of cells, nested by any order of aspects: the tree of --by. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/cells/cells.h"
#include "analyze/cells/contended.h"

struct log_names;
struct stacks;

enum aspect_id {
	ASPECT_LOCK_CLASS,
	ASPECT_LOCK,
	ASPECT_WAITER_THREAD,
	ASPECT_OWNER_THREAD,
	ASPECT_GROUP,
	ASPECT_WAITER_STACK,
	ASPECT_WAITER_METHOD,
	ASPECT_OWNER_STACK,
	ASPECT_OWNER_METHOD,
	ASPECT_BEHIND,
	ASPECT_COUNT,
};

enum group_max {
	GROUP_MAX_WHOLE, /* the longest single contention */
	GROUP_MAX_HELD,  /* the most of one that one holder is charged with */
	GROUP_MAX_PART,  /* the most of one that one holder is charged with at one place */
};

/* A property by which contentions can be told apart; the table is in groups.c. */
struct aspect {
	const char *name;
	const char *doc;
	enum group_max max; /* which longest part is meant below it */
	/* The number of a cell's group; and which of two groups comes first, NULL: by number. */
	uint64_t (*key)(const struct stacks *stacks, const struct cell *cell);
	int (*compare)(const struct log_names *names, const struct cell *a, const struct cell *b);
};

const struct aspect *aspect_get(enum aspect_id id);
/* -1: there is no such aspect. */
int aspect_by_name(const char *name, size_t length);

enum group_order {
	GROUP_BY_WORK, /* by the time that work lost: blocked_ns without idle_ns */
	GROUP_BY_TIME, /* by blocked_ns */
	GROUP_BY_COUNT,
	GROUP_BY_MAX, /* by max_ns */
	GROUP_ORDER_COUNT,
};

struct group {
	enum aspect_id aspect;   /* of the root: no meaning */
	const struct cell *cell; /* the one with the most time; all share its value of the aspect */
	uint64_t count;
	uint64_t blocked_ns;
	uint64_t idle_ns; /* of blocked_ns: idle turn-taking, as idle.h says */
	uint64_t max_ns; /* of the aspect and those above it, the last enum group_max */
	uint64_t first_reader_ns;
	uint64_t after_wait_count, after_wait_ns; /* of count and blocked_ns: after Object.wait() */
	struct split split;
	uint64_t stack_from_ns[HOLDER_STACK_FROM_COUNT];
	struct group *groups; /* as enum group_order says, descending, then by key */
	uint32_t group_count;
};

/*
 * Sums the contentions (monitors and java.util.concurrent locks, not mere parking) of cells, which
 * are lent until groups_free. depth may be 0: then only the root has anything. 0 or -ENOMEM.
 */
int groups_make(const struct stacks *stacks, const struct cell *cells, uint32_t cell_count,
		const enum aspect_id *by, unsigned depth, enum group_order order,
		struct group *ret);
/* The same for mere parking. In a log of a patched JVM the holder is who has ended it; of others it
 * has no meaning. Nothing of it is idle turn-taking, and the order is by time. */
int groups_make_parked(const struct stacks *stacks, const struct cell *cells, uint32_t cell_count,
		       const enum aspect_id *by, unsigned depth, struct group *ret);
static inline uint64_t group_work_ns(const struct group *g)
{
	return g->blocked_ns - g->idle_ns;
}
void groups_free(struct group *root);

/* The methods of a group by waiter_method or owner_method, as in stacks.h; of a holder that is no
 * thread it is STACKS_METHOD_UNKNOWN. */
uint32_t group_method(const struct stacks *stacks, const struct group *g);
