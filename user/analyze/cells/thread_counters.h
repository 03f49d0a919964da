/* analyze/cells/thread_counters.h: a thread's counters at a moment, as an event tells them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log/format/event.h"

/* A thread's cumulative counts at a moment. */
struct counters {
	uint64_t cpu_ns, stolen_ns, runnable_ns;
	uint64_t throttled_ns;                    /* of runnable_ns */
	uint64_t reason_ns[BLOCKED_REASON_COUNT]; /* doing.h tells them */
	/* Of an owner, as seen from outside: why (enum blocked_reason) and for how long it had been
	 * blocked; 0: it was not, or was in something that its own events tell. */
	uint64_t doing_ns;
	uint32_t doing;
	bool known;
	bool told; /* reason_ns is known, too */
};

/* Where an event has counters: fields by its id; first 0: it has none. cpu, stolen and runnable
 * follow each other. Of its own thread, and of the owner that it names. */
struct counter_fields {
	uint8_t first, throttled;
};
extern const struct counter_fields counters_of_own[SCHEMA_ID_MAX + 1];

static inline const struct counter_fields *counter_fields_of(const struct counter_fields *fields,
							     const struct event *e)
{
	return &fields[e->id <= SCHEMA_ID_MAX ? e->id : 0];
}

/* None if all are zero: there was nothing to read. */
static inline bool counters_are_known(const struct event *e, const struct counter_fields *f)
{
	const union field_value *v = &e->v[f->first];

	return f->first && (v[0].u | v[1].u | v[2].u) != 0;
}

/* The event has these fields. */
static inline void counters_set(struct counters *k, const struct event *e,
				const struct counter_fields *f)
{
	k->cpu_ns = e->v[f->first].u;
	k->stolen_ns = e->v[f->first + 1].u;
	k->runnable_ns = e->v[f->first + 2].u;
	k->throttled_ns = e->v[f->throttled].u;
	for (int i = 0; i < BLOCKED_REASON_COUNT; i++)
		k->reason_ns[i] = 0;
	k->doing_ns = 0;
	k->doing = 0;
	k->known = (k->cpu_ns | k->stolen_ns | k->runnable_ns) != 0;
	k->told = false;
}

/* Those of the event's own thread, or of the owner that it names, without reasons. known is false
 * if it carries none, or if all are zero. */
static inline struct counters counters_own(const struct event *e)
{
	const struct counter_fields *f = counter_fields_of(counters_of_own, e);
	struct counters k;

	if (!f->first)
		return (struct counters){.known = false};
	counters_set(&k, e, f);
	return k;
}
struct counters counters_owner(const struct event *e);
