#include "analyze/split.h"

uint64_t split_other(const struct split *s)
{
	uint64_t other = s->blocked_ns;

	for (int i = 1; i < BLOCKED_REASON_COUNT; i++)
		other -= s->reason_ns[i];
	return other;
}

#define OWN(event) [EVENT_##event] = {event##_CPU_NS, event##_THROTTLED_NS}
#define OWNER(event) [EVENT_##event] = {event##_OWNER_CPU_NS, event##_OWNER_THROTTLED_NS}

const struct counter_fields counters_of_own[SCHEMA_ID_MAX + 1] = {
	OWN(MONITOR_CONTENDED_ENTER),
	OWN(MONITOR_CONTENDED_ENTERED),
	OWN(MONITOR_CONTENDED_EXIT),
	OWN(MONITOR_WAIT_BEGIN),
	OWN(MONITOR_WAIT_END),
	OWN(MONITOR_NOTIFY),
	OWN(MONITOR_OWNER_SEEN),
	OWN(PARK_BEGIN),
	OWN(PARK_END),
	OWN(UNPARK),
	OWN(OFF_CPU),
};

const struct counter_fields counters_of_owner[SCHEMA_ID_MAX + 1] = {
	OWNER(MONITOR_CONTENDED_ENTER),
	OWNER(MONITOR_CONTENDED_ENTERED),
	OWNER(MONITOR_OWNER_SEEN),
	OWNER(PARK_BEGIN),
	OWNER(PARK_END),
};

struct counters counters_owner(const struct event *e)
{
	static const struct {
		uint8_t doing, ns;
	} doing[] = {
		[EVENT_MONITOR_CONTENDED_ENTER] = {MONITOR_CONTENDED_ENTER_OWNER_DOING,
						   MONITOR_CONTENDED_ENTER_OWNER_DOING_NS},
		[EVENT_MONITOR_OWNER_SEEN] = {MONITOR_OWNER_SEEN_OWNER_DOING,
					      MONITOR_OWNER_SEEN_OWNER_DOING_NS},
		[EVENT_PARK_BEGIN] = {PARK_BEGIN_OWNER_DOING, PARK_BEGIN_OWNER_DOING_NS},
	};
	const struct counter_fields *f = counter_fields_of(counters_of_owner, e);
	struct counters k;

	if (!f->first)
		return (struct counters){.known = false};
	counters_set(&k, e, f);
	if (e->id < sizeof(doing) / sizeof(*doing) && doing[e->id].ns &&
	    e->v[doing[e->id].doing].u < BLOCKED_REASON_COUNT) {
		k.doing = (uint32_t)e->v[doing[e->id].doing].u;
		k.doing_ns = e->v[doing[e->id].ns].u;
	}
	return k;
}

static inline uint64_t at_most(uint64_t from, uint64_t to, uint64_t limit)
{
	uint64_t delta = to > from ? to - from : 0;

	return delta < limit ? delta : limit;
}

/* A snapshot may be one scheduling interval behind, so that the parts can exceed the whole by a
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
	for (int i = 1; left && from->told && to->told && i < BLOCKED_REASON_COUNT; i++) {
		s->reason_ns[i] = at_most(from->reason_ns[i], to->reason_ns[i], left);
		left -= s->reason_ns[i];
	}
}
