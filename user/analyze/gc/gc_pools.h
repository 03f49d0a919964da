/* analyze/gc/gc_pools.h: what the pools of the heap held after each collection by one memory
 * manager. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/vm/heap_pool.h"

struct event;
struct log_names;

#define GC_POOLS_ROWS_MAX (1u << 20) /* later ones are left out */
#define GC_POOLS_MAX 8               /* of the heap: HotSpot has three at most */

struct gc_pools_row {
	uint64_t time_ns; /* when the first of its pools was reported */
	uint64_t used_bytes[HEAP_POOL_COUNT];
	unsigned pools; /* that were reported: if others of the log have more, some are lost */
};

/* Zeroed at first. */
struct gc_pools {
	struct gc_pools_row *rows; /* in the order of the log */
	uint32_t count, capacity;
	unsigned pools_most; /* of a row */
	uint64_t thread, manager;
	uint64_t seen[GC_POOLS_MAX]; /* pools of the last row, while it is open */
	bool open;
};

/* Events in time order; those of other kinds are ignored. 0 or -ENOMEM. */
int gc_pools_add(struct gc_pools *p, const struct log_names *names, const struct event *e);
void gc_pools_free(struct gc_pools *p);
uint64_t gc_pools_used(const struct gc_pools_row *r);
