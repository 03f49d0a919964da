#include "analyze/cells/thread_counters.h"

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
	const uint8_t *fields = event_counter_fields(e, COUNTERS_OF_OWNER);
	struct counters k;

	if (!fields[COUNTER_CPU_NS])
		return (struct counters){.known = false};
	counters_set(&k, e, fields);
	if (e->id < sizeof(doing) / sizeof(*doing) && doing[e->id].ns &&
	    e->v[doing[e->id].doing].u < BLOCKED_REASON_COUNT) {
		k.doing = (uint32_t)e->v[doing[e->id].doing].u;
		k.doing_ns = e->v[doing[e->id].ns].u;
	}
	return k;
}
