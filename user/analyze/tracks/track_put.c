/* What a thread does, as slices in the order of time: see track.c. */
#include "analyze/tracks/track_internal.h"

/* --- counters ---------------------------------------------------------------------------- */

struct track_counters track_counters_of(const struct event *e, enum counters_of of)
{
	struct track_counters c = {event_counter(e, of, COUNTER_CPU_NS),
				   event_counter(e, of, COUNTER_STOLEN_NS),
				   event_counter(e, of, COUNTER_RUNNABLE_NS),
				   event_counter(e, of, COUNTER_THROTTLED_NS), false};

	c.known = c.cpu_ns || c.stolen_ns || c.runnable_ns; /* else there was nothing to read */
	return c;
}

struct track_counters track_counters_of_states(const struct states *s)
{
	return (struct track_counters){.cpu_ns = s->ns[STATE_RUNNING],
				       .stolen_ns = s->ns[STATE_STOLEN],
				       .runnable_ns =
					       s->ns[STATE_RUNNABLE] + s->ns[STATE_THROTTLED],
				       .throttled_ns = s->ns[STATE_THROTTLED],
				       .known = true};
}

/* --- putting out -------------------------------------------------------------------------- */

static bool clip(const struct tracks *all, struct track_slice *s)
{
	s->shown_begin_ns = track_later(s->begin_ns, all->options.from_ns);
	s->shown_end_ns = s->end_ns < all->options.until_ns ? s->end_ns : all->options.until_ns;
	return s->shown_begin_ns < s->shown_end_ns;
}

static int put(struct tracks *all, struct track_slice *s)
{
	int err;

	if (!clip(all, s))
		return 0;
	err = all->sink.begin(all->sink.context, s);
	return err ? err : all->sink.end(all->sink.context, s);
}

static int put_running(struct tracks *all, struct track *t, uint64_t to_ns,
		       const struct track_counters *to)
{
	struct track_slice s = {.thread = t->thread,
				.state = STATE_RUNNING,
				.begin_ns = t->at_ns,
				.end_ns = to_ns,
				.from = t->at,
				.to = *to,
				.breaks = t->breaks,
				.breaks_ns = t->breaks_ns};

	if (to_ns <= t->at_ns)
		return 0;
	t->at_ns = to_ns;
	t->at = *to;
	t->breaks = t->breaks_ns = 0;
	return put(all, &s);
}

/* What the samples say of the time up to to_ns at the latest. */
int track_put_idle(struct tracks *all, struct track *t, uint64_t to_ns)
{
	struct states spent = states_since(&t->idle.from, &t->idle.to);
	struct track_counters from = t->idle.at;
	struct track_slice s = {
		.thread = t->thread, .state = STATE_OTHER, .from = from, .sampled = true};
	int err = put_running(all, t, t->idle.since_ns, &from);

	for (int i = STATE_RUNNABLE; i < STATE_COUNT; i++) {
		if (spent.ns[i] > spent.ns[s.state])
			s.state = (enum state)i;
	}
	t->idle.known = false;
	s.begin_ns = t->at_ns;
	s.end_ns = t->idle.until_ns < to_ns ? t->idle.until_ns : to_ns;
	s.to = track_counters_of_states(&t->idle.to);
	if (err || s.end_ns <= s.begin_ns)
		return err;
	if (s.end_ns - s.begin_ns < all->options.min_ns) {
		t->breaks++;
		t->breaks_ns += s.end_ns - s.begin_ns;
		return 0;
	}
	t->at_ns = s.end_ns;
	t->at = s.to;
	return put(all, &s);
}

/* Not within a level: from where it was up to to_ns it ran, but for what samples say. */
int track_run_to(struct tracks *all, struct track *t, uint64_t to_ns,
		 const struct track_counters *to)
{
	int err = 0;

	if (t->idle.known && t->idle.since_ns < to_ns)
		err = track_put_idle(all, t, to_ns);
	return err ? err : put_running(all, t, to_ns, to);
}

static struct track_slice slice_of_level(const struct track *t, const struct track_level *l)
{
	struct track_slice s = {.thread = t->thread,
				.state = l->state,
				.begin_ns = l->begin_ns,
				.end_ns = UINT64_MAX,
				.lock = l->lock,
				.begin = l->known ? &l->begin : NULL,
				.notifier = l->notifier};

	if (s.begin && l->begin.thread == t->thread)
		s.from = track_counters_of(&l->begin, COUNTERS_OF_THREAD);
	return s;
}

/* There is something up to to_ns, in its levels or at their end, that is to be put out. */
static int show(struct tracks *all, struct track *t, uint64_t to_ns)
{
	for (unsigned i = 0; i < t->depth; i++) {
		struct track_level *l = &t->levels[i];
		struct track_slice s = slice_of_level(t, l);
		int err = 0;

		if (!l->placed && !i)
			err = track_run_to(all, t, l->begin_ns, &s.from);
		if (err)
			return err;
		if (!l->placed) {
			l->begin_ns = track_later(l->begin_ns, t->at_ns);
			t->at_ns = l->begin_ns;
			l->placed = true;
		}
		s.begin_ns = l->begin_ns;
		if (l->shown || to_ns <= all->options.from_ns || !clip(all, &s))
			continue;
		l->shown = true;
		err = all->sink.begin(all->sink.context, &s);
		if (err)
			return err;
	}
	return 0;
}

/* A slice with nothing in it, at the end of what has been put out or after. */
int track_put_leaf(struct tracks *all, struct track *t, struct track_slice *s)
{
	uint64_t min_ns = track_later(all->options.min_ns, 1), floor_ns = t->at_ns;
	int err;

	if (t->depth)
		floor_ns = track_later(floor_ns, t->levels[t->depth - 1].begin_ns);
	s->thread = t->thread;
	s->begin_ns = track_later(s->begin_ns, floor_ns);
	if (s->end_ns <= s->begin_ns)
		return 0;
	if (s->end_ns - s->begin_ns < min_ns) {
		t->breaks += !t->depth;
		t->breaks_ns += t->depth ? 0 : s->end_ns - s->begin_ns;
		return 0;
	}
	err = t->depth ? show(all, t, s->end_ns) : track_run_to(all, t, s->begin_ns, &s->from);
	if (err)
		return err;
	t->at_ns = s->end_ns;
	t->at = s->to;
	return put(all, s);
}

/* --- levels ------------------------------------------------------------------------------- */

int track_pop(struct tracks *all, struct track *t, const struct event *end, enum track_end how)
{
	struct track_level *l = &t->levels[t->depth - 1];
	uint64_t min_ns = track_later(all->options.min_ns, 1), ns = all->now_ns;
	struct track_slice s;
	int err;

	if (!l->placed && track_less(ns, l->begin_ns) < min_ns) {
		if (!--t->depth) {
			t->breaks++;
			t->breaks_ns += track_less(ns, l->begin_ns);
		}
		return 0;
	}
	err = show(all, t, ns);
	if (err)
		return err;
	t->depth--;
	s = slice_of_level(t, l);
	s.end_ns = ns;
	s.end = end;
	s.how = how;
	if (end)
		s.to = track_counters_of(end, COUNTERS_OF_THREAD);
	t->at_ns = track_later(t->at_ns, ns);
	t->at = s.to;
	clip(all, &s);
	return l->shown ? all->sink.end(all->sink.context, &s) : 0;
}

/* The thread does what it cannot do while it is blocked: events in between are lost. */
int track_drop(struct tracks *all, struct track *t, bool but_wait)
{
	int err = 0;

	while (!err && t->depth && !(but_wait && t->levels[t->depth - 1].state == STATE_WAIT))
		err = track_pop(all, t, NULL, TRACK_LOST);
	return err;
}

void track_push(struct track *t, enum state state, uint64_t lock, uint64_t begin_ns,
		const struct event *e)
{
	struct track_level *l = &t->levels[t->depth++];

	*l = (struct track_level){
		.state = state, .begin_ns = begin_ns, .lock = lock, .known = e != NULL};
	if (e)
		l->begin = *e;
}
