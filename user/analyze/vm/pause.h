/* analyze/vm/pause.h: collections, safepoints and VM operations: how often, how long. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/time_buckets.h"
#include "base/tables/keymap.h"
#include "log/format/event.h"

struct pause_times {
	uint64_t count;
	uint64_t total_ns;
	uint64_t max_ns;
	struct time_buckets buckets;
};

void pause_times_add(struct pause_times *t, uint64_t ns);

/* Collections by one collector, of one kind, run by one VM operation. Numbers are those of strings.
 */
struct pause_gc {
	uint64_t collector;
	uint64_t kind; /* enum gc_kind */
	uint64_t operation;
	struct pause_times times;
};

/* What the collections of one collector and kind left in one memory pool. */
struct pause_pool {
	uint64_t collector;
	uint64_t kind;
	uint64_t pool;
	uint64_t count;        /* collections for which both are known */
	uint64_t before_bytes; /* sums over these */
	uint64_t after_bytes;
	uint32_t next; /* index of another one of the same collector and kind; INDEX_NONE: none */
};

/* Safepoints by the VM operations in them; 0: none. */
struct pause_safepoint {
	uint64_t operation[2]; /* the first two that differ */
	bool more;             /* there were further ones */
	struct pause_times times;
};

/* VM operations by name and mode. */
struct pause_operation {
	uint64_t operation;
	uint64_t mode; /* 0: at a safepoint */
	struct pause_times times;
};

struct pause_pool_now {
	uint64_t pool;
	uint64_t before_bytes, after_bytes;
	bool before, after;
};

#define PAUSE_DEPTH_MAX 8  /* VM operations nest */
#define PAUSE_POOLS_MAX 64 /* of one collection: HotSpot has ten at most */

/* All zero at the start. */
struct pauses {
	struct keymap gc_map, pool_map, safepoint_map, operation_map;
	struct keymap heap_map; /* by collector and kind */
	uint32_t *heaps;        /* the index of a pool of these */
	struct pause_gc *gcs;
	struct pause_pool *pools;
	struct pause_safepoint *safepoints;
	struct pause_operation *operations;
	uint32_t gcs_capacity, pools_capacity, safepoints_capacity, operations_capacity;
	uint32_t heaps_capacity;
	struct pause_times gc_times, safepoint_times; /* over all */
	/* Of safepoints: until the first VM operation in it begins, and from then on. The first has
	 * all of one without an operation. */
	struct pause_times reach_times, operation_times;
	uint64_t incomplete; /* begins without an end, ends without a begin, open ones at the end */

	/* what is going on */
	uint64_t now_ns, begin_ns;
	uint64_t gc_since_ns, gc_operation, safepoint_since_ns;
	uint64_t reached_ns; /* 0: no VM operation has begun in the safepoint */
	bool in_gc, in_safepoint, safepoint_more;
	uint64_t safepoint_operation[2];
	struct {
		uint64_t operation, mode, since_ns;
	} running[PAUSE_DEPTH_MAX];
	unsigned depth;
	struct pause_pool_now pools_now[PAUSE_POOLS_MAX];
	uint32_t pools_now_count;
};

/* Events in time order; those of other kinds are ignored. 0 or -ENOMEM. */
int pauses_add(struct pauses *p, const struct event *e);
void pauses_finish(struct pauses *p);
void pauses_free(struct pauses *p);
