/*
 * A thread's counters add up to the time since the recorder first saw it. When that was, its first
 * thread event says, and when it was sampled or ended, those events do: so the sum can be held
 * against the clock. A thread that was known before that event, because events were lost or the
 * log is a part of a longer one, is counted from its first sample on.
 */
#include "analyze/threads/wall.h"

#include <stdlib.h>

#include "analyze/row.h"
#include "log/format/event.h"

#define SLACK_NS 200000ull
#define SLACK_PARTS 1000 /* one of them: 0.1 % */

static bool is_more(uint64_t error, uint64_t whole)
{
	return error > SLACK_NS && error > whole / SLACK_PARTS;
}

static int thread_get(struct wall *w, uint64_t thread, struct wall_thread **ret)
{
	struct keymap_key key = {.a = thread};
	uint32_t index;
	int err = keymap_add_row(&w->map, key, &w->threads, &w->threads_capacity,
				 sizeof(*w->threads), &index);

	if (err)
		return err;
	*ret = &w->threads[index];
	(*ret)->thread = thread;
	return 0;
}

static int on_thread(struct wall *w, const struct event *e)
{
	struct wall_thread *t;
	int err = thread_get(w, e->thread, &t);

	if (err || (t->seen && t->seen_ns <= e->time_ns))
		return err;
	t->seen = true;
	t->seen_ns = e->time_ns;
	return 0;
}

/* Since when its counters are of this recording. */
static void first_sample(struct wall *w, struct wall_thread *t, const struct event *e,
			 const struct states *now)
{
	uint64_t since = t->seen ? t->seen_ns : w->first_ns, age = states_sum(now);
	uint64_t most = e->time_ns > since ? e->time_ns - since : 0;

	t->sampled = true;
	t->checked = true;
	t->holes = w->holes;
	if (w->holes && since < w->hole_ns) {
		t->missing_ns = t->seen ? most : 0;
		t->from_ns = e->time_ns - t->missing_ns;
		t->to_ns = e->time_ns;
		t->base = t->last = *now;
		return;
	}
	/*
	 * A round of samples has one time, and is stopped on a busy machine: what the thread went
	 * on doing until its counters were read is too much here, and too little in the next.
	 * Counters of before the thread event are more than that.
	 */
	if (age > most && (!t->seen || (age - most > most && is_more(age - most, age))) &&
	    e->id == EVENT_THREAD_SAMPLE) {
		t->from_ns = e->time_ns;
		t->base = *now;
	} else if (t->seen) {
		t->from_ns = since < e->time_ns ? since : e->time_ns;
	} else {
		t->from_ns = e->time_ns > age ? e->time_ns - age : 0;
		t->checked = false;
	}
	t->to_ns = t->from_ns;
	t->last = t->base;
}

/* The first sample after a hole: what has been counted since the last one before it is not known
 * to have been in what is there of the recording. */
static bool is_after_hole(struct wall *w, struct wall_thread *t, const struct event *e,
			  const struct states *now)
{
	struct states more;

	if (t->holes == w->holes || e->time_ns <= t->to_ns)
		return false;
	more = states_since(&t->last, now);
	states_add(&t->base, &more);
	t->holes = w->holes;
	t->missing_ns += e->time_ns - t->to_ns;
	t->to_ns = e->time_ns;
	t->last = *now;
	t->ended |= e->id == EVENT_THREAD_END;
	return true;
}

static int on_sample(struct wall *w, const struct event *e)
{
	struct state_step step;
	struct wall_thread *t;
	struct states now;
	uint64_t from_ns;
	int err = thread_get(w, e->thread, &t);

	if (err)
		return err;
	states_of(e, &now);
	w->has_reasons |= e->field_count > THREAD_SAMPLE_BLOCKED_NS + 1;
	if (!t->sampled)
		first_sample(w, t, e, &now);
	if (e->time_ns < t->to_ns) {
		w->late++;
		return 0;
	}
	if (is_after_hole(w, t, e, &now))
		return e->id == EVENT_THREAD_SAMPLE ? state_windows_moment(&w->windows, e->time_ns)
						    : 0;
	from_ns = t->to_ns;
	step = states_step(&t->last, &now);
	t->last = now;
	t->to_ns = e->time_ns;
	t->ended |= e->id == EVENT_THREAD_END;
	if (e->id == EVENT_THREAD_SAMPLE)
		err = state_windows_moment(&w->windows, e->time_ns);
	return err ? err
		   : state_windows_add(&w->windows, (uint32_t)(t - w->threads), from_ns, e->time_ns,
				       &step);
}

int wall_add(struct wall *w, const struct event *e)
{
	if (!w->started) {
		w->started = true;
		w->first_ns = e->time_ns;
		if (w->windows.options.from_begin && !w->windows.options.from_ns)
			w->windows.options.from_ns = e->time_ns;
	}
	switch (e->id) {
	case EVENT_THREAD:
		return on_thread(w, e);
	case EVENT_THREAD_SAMPLE:
	case EVENT_THREAD_END:
		return on_sample(w, e);
	default:
		return 0;
	}
}

int wall_finish(struct wall *w)
{
	return state_windows_finish(&w->windows);
}

void wall_free(struct wall *w)
{
	keymap_free(&w->map);
	free(w->threads);
	state_windows_free(&w->windows);
	*w = (struct wall){0};
}

struct states wall_thread_states(const struct wall_thread *t)
{
	return states_since(&t->base, &t->last);
}

uint64_t wall_thread_ns(const struct wall_thread *t)
{
	return t->to_ns - t->from_ns - t->missing_ns;
}

int64_t wall_thread_error(const struct wall_thread *t)
{
	struct states s = wall_thread_states(t);

	return (int64_t)(states_sum(&s) - wall_thread_ns(t));
}

bool wall_thread_is_off(const struct wall_thread *t)
{
	int64_t error = wall_thread_error(t);

	return is_more(error < 0 ? -(uint64_t)error : (uint64_t)error, wall_thread_ns(t));
}

ROW_ZEROED(wall)

static int wall_row_add(void *self, const struct analysis_input *in)
{
	return wall_add(self, in->event);
}

/* What is between samples around the hole is missing, too. */
static int wall_row_hole(void *self, uint64_t from_ns, uint64_t to_ns)
{
	struct wall *w = self;

	(void)from_ns;
	w->holes++;
	w->hole_ns = to_ns;
	return 0;
}

static int wall_row_finish(void *self, uint64_t end_ns)
{
	(void)end_ns;
	return wall_finish(self);
}

const struct analysis_row wall_analysis = {
	.events = ROW_EVENTS(EVENT_THREAD, EVENT_THREAD_END, EVENT_THREAD_SAMPLE),
	.first = true,
	.new = wall_row_new,
	.add = wall_row_add,
	.hole = wall_row_hole,
	.finish = wall_row_finish,
	.free = wall_row_free,
};
