/* analyze/cells/split.h: what a thread did between two moments. */
#pragma once

#include <stdint.h>

#include "analyze/cells/thread_counters.h"
#include "log/format/event.h"

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
	 * or in breaks too short to be reported. All 0 if blocked_ns is, which is usual. */
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

/* Blocked for an unknown reason. */
uint64_t split_other(const struct split *s);

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
