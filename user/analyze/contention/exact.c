#include "analyze/contention/exact.h"

#include <stdlib.h>

#include "analyze/contention/monitors.h"
#include "analyze/park/park_exact.h"

struct exact {
	struct timelines *lines;
	struct monitors *monitors;
	struct park_exact *park;
	struct replay *replay;
};

static int on_event(void *context, uint64_t key, const struct replay_item *item, uint64_t missing)
{
	struct exact *x = context;

	return key == REPLAY_PARK ? park_exact_add(x->park, item->event, missing)
				  : monitors_event(x->monitors, key, item, missing);
}

static int on_window(void *context, uint64_t key, const struct replay_window *w)
{
	const struct exact *x = context;

	return monitors_window(x->monitors, key, w);
}

struct exact *exact_new(struct cells *cells, const struct log_names *names)
{
	struct exact *x = calloc(1, sizeof(*x));
	const struct replay_sink sink = {x, on_event, on_window};

	if (!x)
		return NULL;
	x->lines = timelines_new(cells);
	x->monitors = x->lines ? monitors_new(x->lines) : NULL;
	x->park = x->monitors ? park_exact_new(cells, x->lines, names) : NULL;
	x->replay = x->park ? replay_new(&sink) : NULL;
	if (x->replay)
		return x;
	exact_free(x);
	return NULL;
}

void exact_set_begin(struct exact *x, uint64_t begin_ns)
{
	replay_set_begin(x->replay, begin_ns);
}

void exact_free(struct exact *x)
{
	if (!x)
		return;
	replay_free(x->replay);
	park_exact_free(x->park);
	monitors_free(x->monitors);
	timelines_free(x->lines);
	free(x);
}

int exact_pass(struct exact *x, uint64_t now_ns)
{
	return replay_pass(x->replay, now_ns);
}

int exact_add(struct exact *x, const struct event *e, uint64_t note)
{
	_Static_assert(!MONITOR_CONTENDED_ENTER_LOCK && !MONITOR_CONTENDED_ENTERED_LOCK &&
			       !MONITOR_CONTENDED_EXIT_LOCK && !MONITOR_NOTIFY_LOCK &&
			       !MONITOR_FOLD_LOCK,
		       "the lock is the first field");
	return replay_add(x->replay, replay_is_park(e) ? REPLAY_PARK : e->v[0].u, e, note);
}

/* A monitor's exit has its chain: nothing is missing there. */
void exact_show(struct exact *x, const struct event *e)
{
	park_exact_show(x->park, e);
}

int exact_deflate(struct exact *x, uint64_t lock)
{
	return replay_restart(x->replay, lock);
}

int exact_finish(struct exact *x, uint64_t end_ns)
{
	int err = replay_pass(x->replay, end_ns);

	if (!err)
		err = replay_finish(x->replay);
	if (!err)
		err = park_exact_finish(x->park, end_ns);
	return err ? err : timelines_finish(x->lines);
}

struct timeline *exact_line(const struct exact *x, uint32_t place, uint64_t *ret_lock)
{
	return timelines_get(x->lines, place, ret_lock);
}

int exact_each_open(const struct exact *x,
		    int (*on)(void *context, uint64_t lock, uint64_t since_ns,
			      const struct blocked *who),
		    void *context)
{
	int err = timelines_each_open(x->lines, on, context);

	return err ? err : park_exact_each_open(x->park, on, context);
}

uint64_t exact_holder(const struct exact *x, uint64_t lock, const struct blocked *who)
{
	uint64_t holder = who->monitor ? monitors_holder(x->monitors, lock) : who->owner;

	return holder == who->thread ? HOLDER_HAND_OVER : holder;
}

struct replay_counts exact_counts(const struct exact *x, uint64_t key)
{
	return replay_counts(x->replay, key);
}

struct monitors_folds exact_folds(const struct exact *x)
{
	return monitors_folds(x->monitors);
}
