#include "analyze/cells/thread_counters.h"

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

static const struct counter_fields counters_of_owner[SCHEMA_ID_MAX + 1] = {
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
