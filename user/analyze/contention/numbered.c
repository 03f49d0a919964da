#include "analyze/contention/numbered.h"

#include <stdlib.h>

#include "analyze/contention/monitors.h"
#include "analyze/park/park_numbered.h"

struct numbered {
	struct timelines *lines;
	struct monitors *monitors;
	struct park_numbered *park;
	struct replay *replay;
};

static int on_event(void *context, uint64_t key, const struct replay_item *item, uint64_t missing)
{
	struct numbered *x = context;

	return key == REPLAY_PARK ? park_numbered_add(x->park, item->event, missing)
				  : monitors_event(x->monitors, key, item, missing);
}

static int on_window(void *context, uint64_t key, const struct replay_window *w)
{
	const struct numbered *x = context;

	return monitors_window(x->monitors, key, w);
}

struct numbered *numbered_new(struct cells *cells, const struct log_names *names)
{
	struct numbered *x = calloc(1, sizeof(*x));
	const struct replay_sink sink = {x, on_event, on_window};

	if (!x)
		return NULL;
	x->lines = timelines_new(cells);
	x->monitors = x->lines ? monitors_new(x->lines) : NULL;
	x->park = x->monitors ? park_numbered_new(cells, x->lines, names) : NULL;
	x->replay = x->park ? replay_new(&sink) : NULL;
	if (x->replay)
		return x;
	numbered_free(x);
	return NULL;
}

void numbered_set_begin(struct numbered *x, uint64_t begin_ns)
{
	replay_set_begin(x->replay, begin_ns);
}

void numbered_free(struct numbered *x)
{
	if (!x)
		return;
	replay_free(x->replay);
	park_numbered_free(x->park);
	monitors_free(x->monitors);
	timelines_free(x->lines);
	free(x);
}

int numbered_pass(struct numbered *x, uint64_t now_ns)
{
	return replay_pass(x->replay, now_ns);
}

int numbered_add(struct numbered *x, const struct event *e, uint64_t note)
{
	_Static_assert(!MONITOR_CONTENDED_ENTER_LOCK && !MONITOR_CONTENDED_ENTERED_LOCK &&
			       !MONITOR_CONTENDED_EXIT_LOCK && !MONITOR_NOTIFY_LOCK &&
			       !MONITOR_FOLD_LOCK,
		       "the lock is the first field");
	return replay_add(x->replay, replay_is_park(e) ? REPLAY_PARK : e->v[0].u, e, note);
}

/* A monitor's exit has its chain: nothing is missing there. */
void numbered_show(struct numbered *x, const struct event *e)
{
	park_numbered_show(x->park, e);
}

int numbered_deflate(struct numbered *x, uint64_t lock)
{
	return replay_restart(x->replay, lock);
}

int numbered_finish(struct numbered *x, uint64_t end_ns)
{
	int err = replay_pass(x->replay, end_ns);

	if (!err)
		err = replay_finish(x->replay);
	if (!err)
		err = park_numbered_finish(x->park, end_ns);
	return err ? err : timelines_finish(x->lines);
}

struct timeline *numbered_line(const struct numbered *x, uint32_t index, uint64_t *ret_lock)
{
	return timelines_get(x->lines, index, ret_lock);
}

int numbered_each_open(const struct numbered *x,
		       int (*on)(void *context, uint64_t lock, uint64_t since_ns,
				 const struct blocked *who),
		       void *context)
{
	int err = timelines_each_open(x->lines, on, context);

	return err ? err : park_numbered_each_open(x->park, on, context);
}

uint64_t numbered_holder(const struct numbered *x, uint64_t lock, const struct blocked *who)
{
	uint64_t holder = who->monitor ? monitors_holder(x->monitors, lock) : who->owner;

	return holder == who->thread ? HOLDER_HAND_OVER : holder;
}

struct replay_counts numbered_counts(const struct numbered *x, uint64_t key)
{
	return replay_counts(x->replay, key);
}

struct monitors_folds numbered_folds(const struct numbered *x)
{
	return monitors_folds(x->monitors);
}
