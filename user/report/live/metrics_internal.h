/* report/live/metrics_internal.h: the sums, of which metrics_put.c makes text. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads/states.h"
#include "report/live/metrics_table.h"

#define METRICS_BUCKETS 7 /* and that of all others */

enum metrics_held {
	HELD_RUNNING,
	HELD_STOLEN,
	HELD_RUNNABLE,
	HELD_THROTTLED,
	HELD_BLOCKED,
	HELD_UNKNOWN,
	HELD_COUNT
};

/* Values of a lock class. */
enum lock_value {
	LOCK_BLOCKED_NS,
	LOCK_IDLE_NS,
	LOCK_CONTENTIONS,
	LOCK_WAITERS,
	LOCK_LENGTHS_NS,
	LOCK_BUCKETS,
	LOCK_HELD_NS = LOCK_BUCKETS + METRICS_BUCKETS + 1,
	/* Of one interval, while it is added: all, and what of it was before its begin. */
	LOCK_NOW_NS = LOCK_HELD_NS + HELD_COUNT,
	LOCK_EARLY_NS,
	LOCK_VALUE_COUNT,
};

enum gc_value { GC_PAUSES, GC_NS, GC_VALUE_COUNT };
enum pool_value { POOL_THREADS = STATE_COUNT, POOL_VALUE_COUNT };

/* Blocked when the last interval ended. */
struct metrics_carried {
	uint64_t lock, waiter, ns;
};

struct metrics {
	struct metrics_table locks, pools, gcs, cpus;
	struct metrics_carried *carried;
	uint32_t carried_count;
	uint64_t carried_at_ns; /* when that was */
	uint64_t safepoints, safepoint_ns;
	uint64_t lost, unseen_ns, record_cpu_ns, view_cpu_ns, intervals, seen_ns;
	bool ended;
	char kind[32], version[128];
};

struct metrics_bucket {
	uint64_t ns;
	const char *le;
};
extern const struct metrics_bucket metrics_buckets[METRICS_BUCKETS];
