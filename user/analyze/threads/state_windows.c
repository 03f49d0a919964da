/*
 * From counters at moments to windows.
 *
 * A thread's counters are known when it is sampled, and when it ends; all threads are sampled at
 * the same moments. So a window is exact if it begins and ends at such moments, and its ends are
 * put there: of the moments next to where a window ought to end, the nearest is where it does end.
 * Recorders are late by some microseconds, or by more on a busy machine, and the windows with them.
 *
 * Where there is no moment near (windows shorter than the samples' distance, or samples missing),
 * the window ends where it ought to, and what was added up over that end is shared out by the
 * time on either side. Such windows are marked, such intervals counted.
 *
 * What ends between two moments, with its thread, is kept until the second one is there: only then
 * are the windows up to there known.
 */
#include "analyze/threads/state_windows.h"

#include <errno.h>
#include <stdlib.h>

#include "base/tables/keymap.h"
#include "base/tables/saturate.h"

/* So many windows are corrected at most. */
#define MOVE_MAX 1024

/* Times of a damaged log may be anything. */
static uint64_t plus(uint64_t ns, uint64_t more)
{
	return ns <= UINT64_MAX - more ? ns + more : UINT64_MAX;
}

/* A moment that is not further away than this is at a window's end. */
static uint64_t half(const struct state_options *o)
{
	return (o->sample_ns && o->sample_ns < o->window_ns ? o->sample_ns : o->window_ns) / 2;
}

static uint64_t planned_end(const struct state_windows *c)
{
	return c->next_ns < c->options.to_ns ? c->next_ns : c->options.to_ns;
}

static int window_open(struct state_windows *c, uint64_t ns, bool rough)
{
	int err =
		array_grow(&c->windows, &c->windows_capacity, c->window_count, sizeof(*c->windows));

	if (err)
		return err;
	c->windows[c->window_count++] =
		(struct state_window){.from_ns = ns, .to_ns = ns, .rough_from = rough};
	return 0;
}

static int begin(struct state_windows *c, uint64_t ns, bool rough)
{
	c->begun = true;
	c->next_ns = plus(c->options.from_ns, c->options.window_ns);
	return window_open(c, ns, rough);
}

/* A thread's rows, each two of them in one. */
static void halve_rows(struct state_windows *c, struct state_thread *t)
{
	uint32_t first = t->first / 2, count = 0;

	for (uint32_t i = 0; i < t->count; i++) {
		uint32_t to = (t->first + i) / 2 - first;

		if (to < count) {
			states_add(&t->rows[to], &t->rows[i]);
			continue;
		}
		t->rows[to] = t->rows[i];
		count = to + 1;
	}
	/* array_grow() counts on what is after the last one to be zero. */
	for (uint32_t i = count; i < t->count; i++)
		t->rows[i] = (struct states){0};
	c->row_count -= t->count - count;
	t->first = first;
	t->count = count;
}

static void halve(struct state_windows *c)
{
	c->window_count /= 2;
	for (uint32_t i = 0; i < c->window_count; i++) {
		struct state_window w = c->windows[2 * i];

		w.to_ns = c->windows[2 * i + 1].to_ns;
		w.rough_to = c->windows[2 * i + 1].rough_to;
		c->windows[i] = w;
	}
	for (uint32_t i = 0; i < c->thread_count; i++)
		halve_rows(c, &c->threads[i]);
	c->options.window_ns = plus(c->options.window_ns, c->options.window_ns);
}

/* Of windows that may become longer. Each thread gets another row by the next time. */
static bool is_too_much(const struct state_windows *c)
{
	if (!c->options.most)
		return false;
	return c->window_count >= c->options.most ||
	       (c->row_count > COURSE_ROWS_MAX / 2 && c->window_count % 2 == 0);
}

/* The last window ends here, and the next one begins. */
static int turn(struct state_windows *c, uint64_t ns, bool rough)
{
	struct state_window *w = &c->windows[c->window_count - 1];

	w->to_ns = ns;
	w->rough_to = rough;
	c->full = c->window_count == COURSE_WINDOWS_MAX;
	if (planned_end(c) == c->options.to_ns || ns >= c->options.to_ns || c->full) {
		c->done = true;
		return 0;
	}
	if (is_too_much(c))
		halve(c);
	c->next_ns = plus(c->next_ns, c->options.window_ns);
	return window_open(c, ns, rough);
}

/* Ends the windows that end before ns; at a sample, also the one that ends next to it. */
static int turn_until(struct state_windows *c, uint64_t ns, bool sample)
{
	uint64_t near = half(&c->options);
	int err = 0;

	while (!err && !c->done && plus(ns, near) > planned_end(c)) {
		uint64_t end = planned_end(c);

		if (ns <= c->windows[c->window_count - 1].from_ns)
			return 0;
		if (ns <= plus(end, near))
			return sample ? turn(c, ns, false) : 0;
		err = turn(c, end, true);
	}
	return err;
}

static struct states *row_get(struct state_windows *c, uint32_t thread, uint32_t window)
{
	struct state_thread *t = &c->threads[thread];

	if (!t->count)
		t->first = window;
	while (t->first + t->count <= window) {
		if (c->row_count == COURSE_ROWS_MAX) {
			c->crowded = true;
			return NULL;
		}
		if (array_grow(&t->rows, &t->capacity, t->count, sizeof(*t->rows)))
			return NULL;
		c->row_count++;
		t->count++;
	}
	return &t->rows[window - t->first];
}

/* What has been added by the time at, if ns are added from one time to another. */
static uint64_t share_until(uint64_t ns, const struct state_interval *i, uint64_t at)
{
	if (at >= i->to_ns)
		return ns;
	if (at <= i->from_ns)
		return 0;
	return (uint64_t)((unsigned __int128)ns * (at - i->from_ns) / (i->to_ns - i->from_ns));
}

static int add_part(struct state_windows *c, const struct state_interval *i, uint32_t window,
		    uint64_t from_ns, uint64_t to_ns)
{
	struct states *row = row_get(c, i->thread, window);

	if (!row)
		return c->crowded ? 0 : -ENOMEM;
	for (int s = 0; s < STATE_COUNT; s++)
		row->ns[s] += share_until(i->states.ns[s], i, to_ns) -
			      share_until(i->states.ns[s], i, from_ns);
	return 0;
}

static uint64_t begin_of(const struct state_windows *c, uint32_t window)
{
	return !window && c->options.from_begin ? 0 : c->windows[window].from_ns;
}

static uint64_t end_of(const struct state_windows *c, uint32_t window)
{
	return window + 1 == c->window_count && !c->done ? UINT64_MAX : c->windows[window].to_ns;
}

/* A thread's intervals come in order, so that its windows do, too. */
static int share_out(struct state_windows *c, const struct state_interval *i)
{
	uint32_t w = c->window_count;
	bool any = false, whole = false;
	int err = 0;

	while (w && end_of(c, w - 1) > i->from_ns)
		w--;
	for (; w < c->window_count && begin_of(c, w) < i->to_ns && !err && !c->crowded; w++) {
		uint64_t from = begin_of(c, w) > i->from_ns ? begin_of(c, w) : i->from_ns;
		uint64_t to = end_of(c, w) < i->to_ns ? end_of(c, w) : i->to_ns;

		err = add_part(c, i, w, from, to);
		any = true;
		whole = from == i->from_ns && to == i->to_ns;
	}
	c->intervals += any;
	c->spread += any && !whole;
	return err;
}

static int share_out_pending(struct state_windows *c)
{
	int err = 0;

	for (uint32_t i = 0; i < c->pending_count && !err; i++)
		err = share_out(c, &c->pending[i]);
	c->pending_count = 0;
	return err;
}

int state_windows_moment(struct state_windows *c, uint64_t ns)
{
	const struct state_options *o = &c->options;
	int err = 0;

	if (!o->window_ns || c->done || c->crowded ||
	    (c->last_moment_ns && ns <= c->last_moment_ns))
		return 0;
	c->last_moment_ns = ns;
	if (!c->begun) {
		if (o->from_begin)
			err = begin(c, o->from_ns, false);
		else if (plus(ns, half(o)) < o->from_ns)
			c->pending_count = 0; /* all of it was before */
		else if (ns <= plus(o->from_ns, half(o)) && ns < o->to_ns)
			err = begin(c, ns, false);
		else
			err = begin(c, o->from_ns, true);
	}
	if (!err && c->begun)
		err = turn_until(c, ns, true);
	return err || !c->begun ? err : share_out_pending(c);
}

/* What is left of the move when the states have given what they have. */
static uint64_t move_in(struct states *s, const struct state_move *move, uint64_t ns)
{
	uint64_t part = ns < s->ns[move->from] ? ns : s->ns[move->from];

	s->ns[move->from] -= part;
	s->ns[move->to] = sum_saturated(s->ns[move->to], part);
	return ns - part;
}

/* From the last interval back, as far as it takes. */
static void move_back(struct state_windows *c, uint32_t thread, const struct state_move *move)
{
	struct state_thread *t = &c->threads[thread];
	uint32_t pending = t->pending - 1, stop = t->count > MOVE_MAX ? t->count - MOVE_MAX : 0;
	uint64_t ns = move->ns;

	if (pending < c->pending_count && c->pending[pending].thread == thread)
		ns = move_in(&c->pending[pending].states, move, ns);
	for (uint32_t i = t->count; ns && i > stop; i--)
		ns = move_in(&t->rows[i - 1], move, ns);
}

int state_windows_add(struct state_windows *c, uint32_t thread, uint64_t from_ns, uint64_t to_ns,
		      const struct state_step *step)
{
	struct state_interval i = {thread, from_ns, to_ns, step->states};
	int err;

	if (!c->options.window_ns || c->crowded || from_ns >= c->options.to_ns)
		return 0;
	for (uint32_t n = 0; n < step->move_count && thread < c->thread_count; n++)
		move_back(c, thread, &step->moves[n]);
	if (!states_sum(&step->states))
		return 0;
	if (to_ns <= from_ns) /* counters are read a little after the clock */
		i.from_ns = to_ns - !!to_ns;
	while (c->thread_count <= thread) {
		err = array_grow(&c->threads, &c->threads_capacity, c->thread_count,
				 sizeof(*c->threads));
		if (err)
			return err;
		c->thread_count++;
	}
	if (to_ns > c->end_ns)
		c->end_ns = to_ns;
	if (c->begun && to_ns <= c->last_moment_ns)
		return share_out(c, &i);
	err = array_grow(&c->pending, &c->pending_capacity, c->pending_count, sizeof(*c->pending));
	if (err)
		return err;
	c->pending[c->pending_count++] = i;
	c->threads[thread].pending = c->pending_count;
	return 0;
}

/* A last window that is hardly one, as the recorder was a little late: what is in it belongs to the
 * one before. */
static void drop_last(struct state_windows *c)
{
	uint32_t last = --c->window_count;

	c->windows[last - 1].to_ns = c->windows[last].to_ns;
	c->windows[last - 1].rough_to = c->windows[last].rough_to;
	for (uint32_t i = 0; i < c->thread_count; i++) {
		struct state_thread *t = &c->threads[i];
		struct states *row;

		if (!t->count || t->first + t->count - 1 != last)
			continue;
		if (t->first == last) {
			t->first--;
			continue;
		}
		c->row_count--;
		row = &t->rows[--t->count];
		states_add(row - 1, row);
	}
}

int state_windows_finish(struct state_windows *c)
{
	uint64_t end = c->end_ns > c->last_moment_ns ? c->end_ns : c->last_moment_ns;
	struct state_window *last;
	int err = 0;

	if (!c->options.window_ns || c->crowded)
		return 0;
	if (!c->begun && end > c->options.from_ns)
		err = begin(c, c->options.from_ns, !c->options.from_begin);
	if (err || !c->begun)
		return err;
	err = turn_until(c, end, false);
	if (!err)
		err = share_out_pending(c);
	if (err || c->done)
		return err;
	c->done = true;
	last = &c->windows[c->window_count - 1];
	last->to_ns = end;
	if (end <= last->from_ns)
		c->window_count--;
	else if (end - last->from_ns < half(&c->options) && c->window_count > 1)
		drop_last(c);
	return 0;
}

void state_windows_free(struct state_windows *c)
{
	for (uint32_t i = 0; i < c->thread_count; i++)
		free(c->threads[i].rows);
	free(c->threads);
	free(c->windows);
	free(c->pending);
	*c = (struct state_windows){0};
}

struct states state_windows_states(const struct state_windows *c, uint32_t thread, uint32_t window)
{
	const struct state_thread *t = thread < c->thread_count ? &c->threads[thread] : NULL;

	if (!t || window < t->first || window - t->first >= t->count)
		return (struct states){0};
	return t->rows[window - t->first];
}
