/* report/live/metrics_internal.h: the sums, of which metrics_put.c makes text. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads/states.h"
#include "analyze/time_buckets.h"
#include "report/live/metrics_table.h"

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
	LOCK_LENGTHS_NS, /* of a histogram: the sum, and then its buckets */
	LOCK_BUCKETS,
	LOCK_HELD_NS = LOCK_BUCKETS + TIME_BUCKETS + 1,
	/* Of one interval, while it is added: all, and what of it was before its begin. */
	LOCK_NOW_NS = LOCK_HELD_NS + HELD_COUNT,
	LOCK_EARLY_NS,
	LOCK_VALUE_COUNT,
};

enum gc_value { GC_PAUSES, GC_NS, GC_BUCKETS, GC_VALUE_COUNT = GC_BUCKETS + TIME_BUCKETS + 1 };
enum span_value { SPAN_NS, SPAN_BUCKETS, SPAN_VALUE_COUNT = SPAN_BUCKETS + TIME_BUCKETS + 1 };
enum pool_value { POOL_THREADS = STATE_COUNT, POOL_VALUE_COUNT };

/* Blocked when the last interval ended. */
struct metrics_carried {
	uint64_t lock, waiter, ns;
};

struct metrics {
	struct metrics_table locks, pools, gcs, cpus, spans;
	struct metrics_carried *carried;
	uint32_t carried_count;
	uint64_t carried_at_ns; /* when that was */
	uint64_t safepoints, safepoint_ns;
	struct time_buckets safepoint_buckets;
	uint64_t lost, unseen_ns, record_cpu_ns, view_cpu_ns, intervals, seen_ns;
	bool ended;
	char kind[32], version[128];
};

