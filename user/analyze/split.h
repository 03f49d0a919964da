/* analyze/split.h: a thread's counters at a moment, and what it did between two moments. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log/event.h"

/* What a thread did in a time: running, stolen, runnable, throttled, blocked and unknown add up to
 * it. */
struct split {
	uint64_t running_ns;
	uint64_t stolen_ns;
	uint64_t runnable_ns; /* without throttled_ns */
	uint64_t throttled_ns;
	uint64_t blocked_ns;
	uint64_t unknown_ns; /* not split: no thread, or its counters are not known at both ends */
	/* Of blocked_ns, by enum blocked_reason; [0] is not used: what is left is of other reasons,
	 * or in breaks too short to be told. All 0 if blocked_ns is, which is usual. */
	uint64_t reason_ns[BLOCKED_REASON_COUNT];
};

/* All of it unknown. */
static inline void split_set_unknown(struct split *s, uint64_t ns)
{
	s->running_ns = s->stolen_ns = s->runnable_ns = s->throttled_ns = s->blocked_ns = 0;
	s->unknown_ns = ns;
	for (int i = 0; i < BLOCKED_REASON_COUNT; i++)
		s->reason_ns[i] = 0;
}

static inline void split_add(struct split *s, const struct split *more)
{
	s->running_ns += more->running_ns;
	s->stolen_ns += more->stolen_ns;
	s->runnable_ns += more->runnable_ns;
	s->throttled_ns += more->throttled_ns;
	s->unknown_ns += more->unknown_ns;
	if (!more->blocked_ns)
		return;
	s->blocked_ns += more->blocked_ns;
	for (int i = 1; i < BLOCKED_REASON_COUNT; i++)
		s->reason_ns[i] += more->reason_ns[i];
}

static inline void split_sub(struct split *s, const struct split *less)
{
	s->running_ns -= less->running_ns;
	s->stolen_ns -= less->stolen_ns;
	s->runnable_ns -= less->runnable_ns;
	s->throttled_ns -= less->throttled_ns;
	s->unknown_ns -= less->unknown_ns;
	if (!less->blocked_ns)
		return;
	s->blocked_ns -= less->blocked_ns;
	for (int i = 1; i < BLOCKED_REASON_COUNT; i++)
		s->reason_ns[i] -= less->reason_ns[i];
}

static inline uint64_t split_sum(const struct split *s)
{
	return s->running_ns + s->stolen_ns + s->runnable_ns + s->throttled_ns + s->blocked_ns +
	       s->unknown_ns;
}

/* Blocked for no reason that is told. */
uint64_t split_other(const struct split *s);

/* A thread's cumulative counts at a moment. */
struct counters {
	uint64_t cpu_ns, stolen_ns, runnable_ns;
	uint64_t throttled_ns;                    /* of runnable_ns */
	uint64_t reason_ns[BLOCKED_REASON_COUNT]; /* as in struct split: doing.h tells them */
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
extern const struct counter_fields counters_of_owner[SCHEMA_ID_MAX + 1];

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

/* What it did in ns between two moments; to may be NULL: not known. */
void split_set(struct split *s, uint64_t ns, const struct counters *from,
	       const struct counters *to);

static inline struct split split_of(uint64_t ns, const struct counters *from,
				    const struct counters *to)
{
	struct split s;

	split_set(&s, ns, from, to);
	return s;
}
