#include "analyze/split.h"

#include <stddef.h>

#define WORDS (sizeof(struct split) / sizeof(uint64_t))

_Static_assert(sizeof(struct split) == WORDS * sizeof(uint64_t), "nothing but sums");

void split_add(struct split *s, const struct split *more)
{
	uint64_t *to = (uint64_t *)s;
	const uint64_t *from = (const uint64_t *)more;

	for (size_t i = 0; i < WORDS; i++)
		to[i] += from[i];
}

void split_sub(struct split *s, const struct split *less)
{
	uint64_t *to = (uint64_t *)s;
	const uint64_t *from = (const uint64_t *)less;

	for (size_t i = 0; i < WORDS; i++)
		to[i] -= from[i];
}

uint64_t split_sum(const struct split *s)
{
	return s->running_ns + s->stolen_ns + s->runnable_ns + s->throttled_ns + s->blocked_ns +
	       s->unknown_ns;
}

uint64_t split_other(const struct split *s)
{
	uint64_t other = s->blocked_ns;

	for (int i = 1; i < BLOCKED_REASON_COUNT; i++)
		other -= s->reason_ns[i];
	return other;
}

/* Fields of an event, by its id; first 0: it has none. cpu, stolen and runnable follow each other.
 */
struct fields {
	uint8_t first, throttled;
};

#define OWN(event) [EVENT_##event] = {event##_CPU_NS, event##_THROTTLED_NS}
#define OWNER(event) [EVENT_##event] = {event##_OWNER_CPU_NS, event##_OWNER_THROTTLED_NS}

static struct counters counters_at(const struct event *e, const struct fields *f)
{
	struct counters k = {0};

	if (!f->first)
		return k;
	k.cpu_ns = e->v[f->first].u;
	k.stolen_ns = e->v[f->first + 1].u;
	k.runnable_ns = e->v[f->first + 2].u;
	k.throttled_ns = e->v[f->throttled].u;
	k.known = k.cpu_ns || k.stolen_ns || k.runnable_ns;
	return k;
}

struct counters counters_own(const struct event *e)
{
	static const struct fields fields[SCHEMA_ID_MAX + 1] = {
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
	static const struct fields none = {0};

	return counters_at(e, e->id <= SCHEMA_ID_MAX ? &fields[e->id] : &none);
}

struct counters counters_owner(const struct event *e)
{
	static const struct fields fields[SCHEMA_ID_MAX + 1] = {
		OWNER(MONITOR_CONTENDED_ENTER),
		OWNER(MONITOR_CONTENDED_ENTERED),
		OWNER(MONITOR_OWNER_SEEN),
		OWNER(PARK_BEGIN),
		OWNER(PARK_END),
	};
	static const struct {
		uint8_t doing, ns;
	} doing[] = {
		[EVENT_MONITOR_CONTENDED_ENTER] = {MONITOR_CONTENDED_ENTER_OWNER_DOING,
						   MONITOR_CONTENDED_ENTER_OWNER_DOING_NS},
		[EVENT_MONITOR_OWNER_SEEN] = {MONITOR_OWNER_SEEN_OWNER_DOING,
					      MONITOR_OWNER_SEEN_OWNER_DOING_NS},
		[EVENT_PARK_BEGIN] = {PARK_BEGIN_OWNER_DOING, PARK_BEGIN_OWNER_DOING_NS},
	};
	static const struct fields none = {0};
	struct counters k = counters_at(e, e->id <= SCHEMA_ID_MAX ? &fields[e->id] : &none);

	if (e->id < sizeof(doing) / sizeof(*doing) && doing[e->id].ns) {
		k.doing = e->v[doing[e->id].doing].u;
		k.doing_ns = e->v[doing[e->id].ns].u;
	}
	return k;
}

static uint64_t at_most(uint64_t from, uint64_t to, uint64_t limit)
{
	uint64_t delta = to > from ? to - from : 0;

	return delta < limit ? delta : limit;
}

/* A snapshot may be one scheduling interval behind, so that the parts can exceed the whole by a
 * little. */
struct split split_of(uint64_t ns, const struct counters *from, const struct counters *to)
{
	struct split s = {0};
	uint64_t left = ns;

	if (!from->known || !to || !to->known) {
		s.unknown_ns = ns;
		return s;
	}
	s.running_ns = at_most(from->cpu_ns, to->cpu_ns, left);
	left -= s.running_ns;
	s.stolen_ns = at_most(from->stolen_ns, to->stolen_ns, left);
	left -= s.stolen_ns;
	s.runnable_ns = at_most(from->runnable_ns, to->runnable_ns, left);
	left -= s.runnable_ns;
	s.throttled_ns = at_most(from->throttled_ns, to->throttled_ns, s.runnable_ns);
	s.runnable_ns -= s.throttled_ns;
	s.blocked_ns = left;
	for (int i = 1; from->told && to->told && i < BLOCKED_REASON_COUNT; i++) {
		s.reason_ns[i] = at_most(from->reason_ns[i], to->reason_ns[i], left);
		left -= s.reason_ns[i];
	}
	return s;
}
