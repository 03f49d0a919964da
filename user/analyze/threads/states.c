#include "analyze/threads/states.h"

#include <stddef.h>

#include "base/saturate.h"
#include "log/format/event.h"

static const char *const names[STATE_COUNT] = {
	[STATE_RUNNING] = "running",     [STATE_STOLEN] = "stolen", [STATE_RUNNABLE] = "runnable",
	[STATE_THROTTLED] = "throttled", [STATE_LOCK] = "lock",     [STATE_WAIT] = "wait",
	[STATE_PARK] = "park",           [STATE_SLEEP] = "sleep",   [STATE_IO] = "io",
	[STATE_PAUSE] = "pause",         [STATE_OTHER] = "other",
};

/* The fields of the five events are the same, in the same order, from this one on. */
enum {
	CPU,
	STOLEN,
	RUNNABLE,
	BLOCKED,
	THROTTLED,
	LOCK,
	WAIT,
	PARK,
	SLEEP,
	IO,
	PAUSE,
	FIELDS,
};

#define ALIKE(event)                                                                               \
	_Static_assert((int)event##_FIELD_COUNT - (int)event##_CPU_NS == FIELDS &&                 \
			       (int)event##_BLOCKED_NS - (int)event##_CPU_NS == BLOCKED &&         \
			       (int)event##_THROTTLED_NS - (int)event##_CPU_NS == THROTTLED &&     \
			       (int)event##_LOCK_NS - (int)event##_CPU_NS == LOCK &&               \
			       (int)event##_PAUSE_NS - (int)event##_CPU_NS == PAUSE,               \
		       "in the order of a sample")

ALIKE(THREAD_SAMPLE);
ALIKE(THREAD_END);
ALIKE(SPAN_BEGIN);
ALIKE(SPAN_END);
ALIKE(THREAD_RENAME);

const char *state_name(enum state state)
{
	return names[state];
}

static const union field_value *counters_of(const struct event *e)
{
	switch (e->id) {
	case EVENT_THREAD_SAMPLE:
		return e->v + THREAD_SAMPLE_CPU_NS;
	case EVENT_THREAD_END:
		return e->v + THREAD_END_CPU_NS;
	case EVENT_SPAN_BEGIN:
		return e->v + SPAN_BEGIN_CPU_NS;
	case EVENT_SPAN_END:
		return e->v + SPAN_END_CPU_NS;
	case EVENT_THREAD_RENAME:
		return e->v + THREAD_RENAME_CPU_NS;
	default:
		return NULL;
	}
}

static uint64_t less(uint64_t from, uint64_t part)
{
	return from > part ? from - part : 0;
}

bool states_of(const struct event *e, struct states *ret)
{
	const union field_value *v = counters_of(e);
	uint64_t told = 0;

	if (!v)
		return false;
	for (int i = LOCK; i < FIELDS; i++) {
		ret->ns[STATE_LOCK + i - LOCK] = v[i].u;
		told = sum_saturated(told, v[i].u);
	}
	ret->ns[STATE_RUNNING] = v[CPU].u;
	ret->ns[STATE_STOLEN] = v[STOLEN].u;
	ret->ns[STATE_RUNNABLE] = less(v[RUNNABLE].u, v[THROTTLED].u);
	ret->ns[STATE_THROTTLED] = v[THROTTLED].u;
	ret->ns[STATE_OTHER] = less(v[BLOCKED].u, told);
	return true;
}

_Static_assert(STATE_PAUSE - STATE_LOCK == PAUSE - LOCK && STATE_SLEEP - STATE_LOCK == SLEEP - LOCK,
	       "blocked states are in the order of a sample's fields");

struct states states_since(const struct states *from, const struct states *to)
{
	struct states s;

	for (int i = 0; i < STATE_COUNT; i++)
		s.ns[i] = less(to->ns[i], from->ns[i]);
	return s;
}

void states_add(struct states *to, const struct states *more)
{
	for (int i = 0; i < STATE_COUNT; i++)
		to->ns[i] = sum_saturated(to->ns[i], more->ns[i]);
}

uint64_t states_sum(const struct states *s)
{
	uint64_t sum = 0;

	for (int i = 0; i < STATE_COUNT; i++)
		sum = sum_saturated(sum, s->ns[i]);
	return sum;
}

enum state state_of_reason(uint64_t reason)
{
	static const uint8_t state[BLOCKED_REASON_COUNT] = {
		[BLOCKED_REASON_OTHER] = STATE_OTHER, [BLOCKED_REASON_LOCK] = STATE_LOCK,
		[BLOCKED_REASON_WAIT] = STATE_WAIT,   [BLOCKED_REASON_PARK] = STATE_PARK,
		[BLOCKED_REASON_SLEEP] = STATE_SLEEP, [BLOCKED_REASON_IO] = STATE_IO,
		[BLOCKED_REASON_PAUSE] = STATE_PAUSE,
	};

	return reason < BLOCKED_REASON_COUNT ? (enum state)state[reason] : STATE_OTHER;
}
