/* report/live/metrics_internal.h: the sums, of which metrics_put.c makes text. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads/states.h"
#include "analyze/time_buckets.h"
#include "log/format/event.h"
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
enum method_value { METHOD_CPU_NS, METHOD_VALUE_COUNT };
enum pool_value { POOL_THREADS = STATE_COUNT, POOL_VALUE_COUNT };

/* Where events are lost: those stages that a log names, and that of events that came too late. */
enum { LOST_PLACE_REORDER = LOST_PLACE_COUNT, METRICS_LOST_STAGES };
/* Events of a kind that is not known. */
#define METRICS_LOST_OTHER 0

/* A safepoint: until all threads stand, and from then on. */
enum safepoint_phase { PHASE_REACH, PHASE_OPERATION, PHASE_COUNT };

struct metrics_times {
	uint64_t ns;
	struct time_buckets buckets;
};

/* Blocked when the last interval ended. */
struct metrics_carried {
	uint64_t lock, waiter, ns;
};

struct metrics {
	struct metrics_table locks, pools, gcs, cpus, spans, methods;
	bool samples; /* there is a profile */
	struct metrics_carried *carried;
	uint32_t carried_count;
	uint64_t carried_at_ns; /* when that was */
	uint64_t safepoints;
	struct metrics_times safepoint, safepoint_phases[PHASE_COUNT];
	uint64_t lost[SCHEMA_ID_MAX + 1][METRICS_LOST_STAGES]; /* by the event's id */
	uint64_t unseen_ns, record_cpu_ns, view_cpu_ns, intervals, seen_ns;
	bool ended;
	char kind[32], version[128];
};

struct analysis;
struct metrics_interval;

/* Parts of metrics_add(). 0 or -ENOMEM. */
int metrics_add_methods(struct metrics *m, const struct metrics_interval *in);
void metrics_add_lost(struct metrics *m, const struct metrics_interval *in);
void metrics_add_safepoints(struct metrics *m, const struct analysis *a);
/* The text without the numbers of generated classes; it has LABEL_MAX bytes. 0 or -ENOMEM. */
int metrics_name(char *text);

