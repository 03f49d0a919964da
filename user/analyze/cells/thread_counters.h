/* analyze/cells/thread_counters.h: a thread's counters at a moment, as an event has them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log/format/event.h"

/* A thread's cumulative counts at a moment. */
struct counters {
	uint64_t cpu_ns, stolen_ns, runnable_ns;
	uint64_t throttled_ns;                    /* of runnable_ns */
	uint64_t reason_ns[BLOCKED_REASON_COUNT]; /* from reason_history.h */
	/* Of an owner, as seen from outside: why (enum blocked_reason) and for how long it had been
	 * blocked; 0: it was not, or was in something that its own events report. */
	uint64_t doing_ns;
	uint32_t doing;
	bool known;
	bool has_reasons; /* reason_ns is known, too */
};

/* The row of schema_counter_field for the event. All zero: there was nothing to read. */
static inline bool counters_are_known(const struct event *e, const uint8_t *fields)
{
	return fields[COUNTER_CPU_NS] &&
	       (e->v[fields[COUNTER_CPU_NS] - 1].u | e->v[fields[COUNTER_STOLEN_NS] - 1].u |
		e->v[fields[COUNTER_RUNNABLE_NS] - 1].u) != 0;
}

/* The event has these counters. */
static inline void counters_set(struct counters *k, const struct event *e, const uint8_t *fields)
{
	k->cpu_ns = e->v[fields[COUNTER_CPU_NS] - 1].u;
	k->stolen_ns = e->v[fields[COUNTER_STOLEN_NS] - 1].u;
	k->runnable_ns = e->v[fields[COUNTER_RUNNABLE_NS] - 1].u;
	k->throttled_ns = e->v[fields[COUNTER_THROTTLED_NS] - 1].u;
	for (int i = 0; i < BLOCKED_REASON_COUNT; i++)
		k->reason_ns[i] = 0;
	k->doing_ns = 0;
	k->doing = 0;
	k->known = (k->cpu_ns | k->stolen_ns | k->runnable_ns) != 0;
	k->has_reasons = false;
}

/* Those of the event's own thread, or of the owner that it names, without reasons. known is false
 * if it carries none, or if all are zero. */
static inline struct counters counters_own(const struct event *e)
{
	const uint8_t *fields = event_counter_fields(e, COUNTERS_OF_THREAD);
	struct counters k;

	if (!fields[COUNTER_CPU_NS])
		return (struct counters){.known = false};
	counters_set(&k, e, fields);
	return k;
}
struct counters counters_owner(const struct event *e);
