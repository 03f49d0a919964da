#include "analyze/threads/states.h"

#include <stddef.h>

#include "base/tables/saturate.h"
#include "log/format/event.h"

static const char *const names[STATE_COUNT] = {
	[STATE_RUNNING] = "running",     [STATE_STOLEN] = "stolen", [STATE_RUNNABLE] = "runnable",
	[STATE_THROTTLED] = "throttled", [STATE_LOCK] = "lock",     [STATE_WAIT] = "wait",
	[STATE_PARK] = "park",           [STATE_SLEEP] = "sleep",   [STATE_IO] = "io",
	[STATE_PAUSE] = "pause",         [STATE_OTHER] = "other",
};

const char *state_name(enum state state)
{
	return names[state];
}

static uint64_t less(uint64_t from, uint64_t part)
{
	return from > part ? from - part : 0;
}

bool states_of(const struct event *e, struct states *ret)
{
	const uint8_t *fields = event_counter_fields(e, COUNTERS_OF_THREAD);
	uint64_t reasons_ns = 0;

	if (!fields[COUNTER_BLOCKED_NS])
		return false;
	for (int i = COUNTER_LOCK_NS; i <= COUNTER_PAUSE_NS; i++) {
		ret->ns[STATE_LOCK + i - COUNTER_LOCK_NS] = e->v[fields[i] - 1].u;
		reasons_ns = sum_saturated(reasons_ns, e->v[fields[i] - 1].u);
	}
	ret->ns[STATE_RUNNING] = e->v[fields[COUNTER_CPU_NS] - 1].u;
	ret->ns[STATE_STOLEN] = e->v[fields[COUNTER_STOLEN_NS] - 1].u;
	ret->ns[STATE_THROTTLED] = e->v[fields[COUNTER_THROTTLED_NS] - 1].u;
	ret->ns[STATE_RUNNABLE] =
		less(e->v[fields[COUNTER_RUNNABLE_NS] - 1].u, ret->ns[STATE_THROTTLED]);
	ret->ns[STATE_OTHER] = less(e->v[fields[COUNTER_BLOCKED_NS] - 1].u, reasons_ns);
	return true;
}

_Static_assert((int)STATE_PAUSE - (int)STATE_LOCK == (int)COUNTER_PAUSE_NS - (int)COUNTER_LOCK_NS &&
		       (int)STATE_SLEEP - (int)STATE_LOCK ==
			       (int)COUNTER_SLEEP_NS - (int)COUNTER_LOCK_NS,
	       "blocked states are in the order of the counters");

/* What a state's time is first found to have been, when it steps back. */
static const uint8_t mostly[STATE_COUNT] = {
	[STATE_RUNNING] = STATE_STOLEN,     [STATE_STOLEN] = STATE_RUNNING,
	[STATE_RUNNABLE] = STATE_THROTTLED, [STATE_THROTTLED] = STATE_RUNNABLE,
	[STATE_LOCK] = STATE_OTHER,         [STATE_WAIT] = STATE_OTHER,
	[STATE_PARK] = STATE_OTHER,         [STATE_SLEEP] = STATE_OTHER,
	[STATE_IO] = STATE_OTHER,           [STATE_PAUSE] = STATE_OTHER,
	[STATE_OTHER] = STATE_PAUSE,
};

/* So much of what a state lacks as another has grown by. */
static void move(struct state_step *step, struct states *lack, int from, int to)
{
	uint64_t ns = lack->ns[from] < step->states.ns[to] ? lack->ns[from] : step->states.ns[to];

	if (!ns)
		return;
	lack->ns[from] -= ns;
	step->states.ns[to] -= ns;
	/* Each move is the last of one of the two, so there are no more than states. */
	step->moves[step->move_count++] = (struct state_move){(enum state)from, (enum state)to, ns};
}

struct state_step states_step(const struct states *from, const struct states *to)
{
	struct state_step step = {0};
	struct states lack;
	uint64_t any = 0;

	for (int i = 0; i < STATE_COUNT; i++) {
		step.states.ns[i] = less(to->ns[i], from->ns[i]);
		lack.ns[i] = less(from->ns[i], to->ns[i]);
		any |= lack.ns[i];
	}
	if (!any)
		return step;
	for (int i = 0; i < STATE_COUNT; i++)
		move(&step, &lack, i, mostly[i]);
	for (int i = 0; i < STATE_COUNT; i++)
		for (int j = 0; j < STATE_COUNT && lack.ns[i]; j++)
			move(&step, &lack, i, j);
	return step;
}

struct states states_since(const struct states *from, const struct states *to)
{
	return states_step(from, to).states;
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
