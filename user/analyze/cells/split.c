#include "analyze/cells/split.h"

uint64_t split_other(const struct split *s)
{
	uint64_t other = s->blocked_ns;

	for (int i = 1; i < BLOCKED_REASON_COUNT; i++)
		other -= s->reason_ns[i];
	return other;
}

static inline uint64_t at_most(uint64_t from, uint64_t to, uint64_t limit)
{
	uint64_t delta = to > from ? to - from : 0;

	return delta < limit ? delta : limit;
}

/* A snapshot may be one scheduling interval late, so that the parts can exceed the whole by a
 * little. */
void split_set(struct split *s, uint64_t ns, const struct counters *from, const struct counters *to)
{
	uint64_t left = ns;

	if (!from->known || !to || !to->known) {
		split_set_unknown(s, ns);
		return;
	}
	split_set_unknown(s, 0);
	s->running_ns = at_most(from->cpu_ns, to->cpu_ns, left);
	left -= s->running_ns;
	s->stolen_ns = at_most(from->stolen_ns, to->stolen_ns, left);
	left -= s->stolen_ns;
	s->runnable_ns = at_most(from->runnable_ns, to->runnable_ns, left);
	left -= s->runnable_ns;
	s->throttled_ns = at_most(from->throttled_ns, to->throttled_ns, s->runnable_ns);
	s->runnable_ns -= s->throttled_ns;
	s->blocked_ns = left;
	for (int i = 1; left && from->has_reasons && to->has_reasons && i < BLOCKED_REASON_COUNT;
	     i++) {
		s->reason_ns[i] = at_most(from->reason_ns[i], to->reason_ns[i], left);
		left -= s->reason_ns[i];
	}
}
