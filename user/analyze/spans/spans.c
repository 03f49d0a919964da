/*
 * Spans of a thread nest: an end ends the innermost. A span's time is that between its two events,
 * and its states are the differences of the thread's counts at them; so they add up to it, and
 * what they fall short is counted. Its own ("self") are these without those of the spans within.
 *
 * A begin that was before the recording, or was lost, leaves an end alone, which is counted and
 * dropped. An end that was lost cannot be distinguished from that of the span around it: a log that
 * has lost such events says so, and its nesting is not to be relied on.
 *
 * Who held a thread up comes from the analysis of locks, in pieces, and perhaps late: when a chain
 * or a number was waited for. A piece belongs to all spans of its thread that it overlaps: those
 * that are open, and those that have ended and are still kept. What comes later than that is
 * counted.
 *
 * Names, like "GET /cart", are few. If the application puts a number into each they are not: then
 * all those beyond the first 10,000 are counted only.
 */
#include "analyze/spans/spans.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/spans/span_kept.h"
#include "analyze/spans/span_name.h"
#include "base/tables/keymap.h"
#include "base/tables/touched.h"
#include "log/format/event.h"
#include "log/read/names.h"

#define DEPTH_MAX 64

struct spans {
	struct spans_options o;
	struct keymap thread_map;
	struct segments threads; /* struct span_thread */
	struct touched touched;  /* threads, since the last hole */
	struct span_names names;
	struct kept_spans kept;
	struct span **open; /* copies, of those still open at the end */
	uint32_t open_count, open_capacity;
	uint64_t hole_ns; /* the end of the last hole; 0: there was none */
	struct spans_facts facts;
};

struct spans *spans_new(const struct spans_options *o)
{
	struct spans *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->o = *o;
	s->kept.top = o->top;
	return s;
}

static struct span_thread *thread_at(const struct spans *s, uint32_t index)
{
	return segments_at(&s->threads, index, sizeof(struct span_thread));
}

static void thread_free(struct span_thread *t)
{
	for (uint32_t i = 0; i < t->depth && i < DEPTH_MAX; i++)
		free(t->open[i]);
	free(t->open);
}

void spans_free(struct spans *s)
{
	if (!s)
		return;
	kept_free_all(&s->kept);
	for (uint32_t i = 0; i < s->thread_map.count; i++)
		thread_free(thread_at(s, i));
	for (uint32_t i = 0; i < s->open_count; i++)
		free(s->open[i]);
	segments_free(&s->threads);
	free(s->open);
	keymap_free(&s->thread_map);
	touched_free(&s->touched);
	span_names_free(&s->names);
	free(s);
}

/* --- names --------------------------------------------------------------------------------- */

static const char *raw_text(const struct spans *s, uint64_t raw)
{
	const char *text = raw ? log_names_string(s->o.names, raw) : "";

	return !text ? "(unknown)" : *text ? text : "(no name)";
}

/* What a span with this name is called. false: it is not asked for. */
static bool is_selected(const struct spans *s, const struct kept *k, char name[SPAN_NAME_BYTES])
{
	const regex_t *cut = s->o.by_thread_name ? s->o.thread_name : NULL;

	return span_name_cut(cut, raw_text(s, k->raw_name), name) &&
	       (!s->o.pattern || !fnmatch(s->o.pattern, name, 0));
}

/* INDEX_NONE: it is not wanted, or there is no room for more names; both have been counted. */
static int name_add(struct spans *s, const struct kept *k, uint32_t *ret)
{
	char name[SPAN_NAME_BYTES];
	int err;

	*ret = INDEX_NONE;
	if (!is_selected(s, k, name)) {
		s->facts.other_names++;
		return 0;
	}
	err = span_names_add(&s->names, name, ret);
	s->facts.no_room += !err && *ret == INDEX_NONE;
	return err;
}

/* --- begin and end ------------------------------------------------------------------------- */

static int thread_of(struct spans *s, uint64_t thread, struct span_thread **ret)
{
	uint32_t index;
	int err = keymap_add_segment_row(&s->thread_map, (struct keymap_key){.a = thread},
					 &s->threads, sizeof(struct span_thread), &index);

	if (err)
		return err;
	*ret = thread_at(s, index);
	(*ret)->thread = thread;
	return touched_add(&s->touched, &(*ret)->touched, index);
}

/* It was open before a hole, and still is: it is not reported as open. */
static void reopen(struct spans *s, const struct event *e)
{
	for (uint32_t i = 0; i < s->open_count; i++) {
		if (s->open[i]->thread != e->thread || s->open[i]->begin_ns != e->time_ns)
			continue;
		free(s->open[i]);
		s->open[i] = s->open[--s->open_count];
		s->facts.open--;
		return;
	}
}

static int begin(struct spans *s, struct span_thread *t, const struct event *e, uint64_t name)
{
	struct kept *k;
	int err;

	if (t->depth >= DEPTH_MAX) {
		t->depth++;
		s->facts.too_deep++;
		return 0;
	}
	err = array_grow(&t->open, &t->capacity, t->depth, sizeof(k));
	if (err)
		return err;
	k = calloc(1, sizeof(*k));
	if (!k)
		return -ENOMEM;
	if (e->time_ns < s->hole_ns)
		reopen(s, e);
	k->thread = t;
	k->raw_name = name;
	k->name = INDEX_NONE;
	k->span.thread = e->thread;
	k->span.begin_ns = e->time_ns;
	states_of(e, &k->span.states);
	t->open[t->depth++] = k;
	return 0;
}

static uint64_t difference(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* It has ended, and what it is called is known. */
static int count(struct spans *s, struct kept *k)
{
	struct span_name *n = s->names.all[k->name];
	struct states self = states_since(&k->inner, &k->span.states);
	const struct span_ended ended = {
		.name = n,
		.span = &k->span,
		.self_ns = k->span.ns > k->inner_ns ? k->span.ns - k->inner_ns : 0,
		.self = &self};
	int err = quantiles_add(&n->times, k->span.ns);

	if (!err && s->o.ended)
		err = s->o.ended(s->o.context, &ended);
	if (err)
		return err;
	time_buckets_add(&n->buckets, k->span.ns);
	n->total_ns += k->span.ns;
	n->self_ns += ended.self_ns;
	states_add(&n->states, &k->span.states);
	states_add(&n->self, &self);
	for (uint32_t i = 0; i < k->span.blockers.count; i++)
		blockers_add(&n->blockers, &k->span.blockers.by[i]);
	n->blockers.rest_ns += k->span.blockers.rest_ns;
	k->span.name = n->text;
	return 0;
}

static int end(struct spans *s, struct span_thread *t, const struct event *e)
{
	struct states now = {0};
	struct kept *k, *outer;
	int err;

	if (!t->depth) {
		s->facts.begin_missing++;
		return 0;
	}
	if (t->depth-- > DEPTH_MAX)
		return 0;
	k = t->open[t->depth];
	outer = t->depth ? t->open[t->depth - 1] : NULL;
	states_of(e, &now);
	k->span.states = states_since(&k->span.states, &now);
	k->span.ns = e->time_ns > k->span.begin_ns ? e->time_ns - k->span.begin_ns : 0;
	k->was_blocked = k->span.states.ns[STATE_LOCK] || k->span.states.ns[STATE_PARK] ||
			 k->span.blockers.count;
	s->facts.count++;
	s->facts.error_ns += difference(states_sum(&k->span.states), k->span.ns);
	if (outer) {
		outer->inner_ns += k->span.ns;
		states_add(&outer->inner, &k->span.states);
		k->span.within = raw_text(s, outer->raw_name);
	}
	err = name_add(s, k, &k->name);
	if (!err && k->name != INDEX_NONE)
		err = count(s, k);
	if (!err && k->name != INDEX_NONE)
		return kept_add(&s->kept, k);
	free(k);
	return err;
}

/* Its thread has ended, or the log: it is reported as open, if it is asked for. */
static int open_add(struct spans *s, const struct kept *k, const struct kept *outer,
		    uint64_t end_ns)
{
	char text[SPAN_NAME_BYTES];
	struct span *copy;
	int err;

	if (!is_selected(s, k, text))
		return 0;
	s->facts.open++;
	err = array_grow(&s->open, &s->open_capacity, s->open_count, sizeof(copy));
	if (err)
		return err;
	/* Its name goes with it: it is in no table. */
	copy = malloc(sizeof(*copy) + strlen(text) + 1);
	if (!copy)
		return -ENOMEM;
	*copy = k->span;
	copy->name = strcpy((char *)(copy + 1), text);
	copy->within = outer ? raw_text(s, outer->raw_name) : NULL;
	copy->ns = end_ns > copy->begin_ns ? end_ns - copy->begin_ns : 0;
	copy->states = (struct states){0};
	s->open[s->open_count++] = copy;
	return 0;
}

static int abandon(struct spans *s, struct span_thread *t, uint64_t end_ns)
{
	uint32_t count = t->depth < DEPTH_MAX ? t->depth : DEPTH_MAX;
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++)
		err = open_add(s, t->open[i], i ? t->open[i - 1] : NULL, end_ns);
	for (uint32_t i = 0; i < count; i++)
		free(t->open[i]);
	t->depth = 0;
	return err;
}

static int on_mark(struct spans *s, struct span_thread *t, const struct event *e)
{
	if (e->id == EVENT_THREAD_END)
		return abandon(s, t, e->time_ns);
	if (e->id == EVENT_SPAN_BEGIN)
		return begin(s, t, e, e->v[SPAN_BEGIN_NAME].u);
	return e->id == EVENT_SPAN_END ? end(s, t, e) : 0;
}

static int on_name(struct spans *s, struct span_thread *t, const struct event *e)
{
	int err = t->depth ? end(s, t, e) : 0;

	return err || e->id == EVENT_THREAD_END ? err : begin(s, t, e, e->v[THREAD_RENAME_NAME].u);
}

int spans_add(struct spans *s, const struct event *e)
{
	bool marked = e->id == EVENT_SPAN_BEGIN || e->id == EVENT_SPAN_END;
	bool named = e->id == EVENT_THREAD_RENAME;
	struct span_thread *t;
	int err;

	if (e->id != EVENT_THREAD_END && (s->o.by_thread_name ? !named : !marked))
		return 0;
	err = thread_of(s, e->thread, &t);
	if (err)
		return err;
	return s->o.by_thread_name ? on_name(s, t, e) : on_mark(s, t, e);
}

/* --- blockers ------------------------------------------------------------------------------ */

static uint64_t overlap(const struct kept *k, uint64_t from_ns, uint64_t to_ns, bool open)
{
	uint64_t end_ns = k->span.begin_ns + k->span.ns;

	if (from_ns < k->span.begin_ns)
		from_ns = k->span.begin_ns;
	if (!open && to_ns > end_ns)
		to_ns = end_ns;
	return to_ns > from_ns ? to_ns - from_ns : 0;
}

void spans_charge(struct spans *s, uint64_t waiter, uint64_t lock, uint64_t from_ns, uint64_t to_ns,
		  uint64_t holder, uint64_t holder_stack)
{
	uint32_t index = keymap_find(&s->thread_map, (struct keymap_key){.a = waiter});
	struct span_blocker piece = {.lock = lock, .holder = holder, .holder_stack = holder_stack};
	struct span_thread *t = index != INDEX_NONE ? thread_at(s, index) : NULL;
	bool found = false;

	for (uint32_t i = 0; t && i < t->depth && i < DEPTH_MAX; i++) {
		piece.ns = overlap(t->open[i], from_ns, to_ns, true);
		if (!piece.ns)
			continue;
		blockers_add(&t->open[i]->span.blockers, &piece);
		found = true;
	}
	for (struct kept *k = t ? t->latest : NULL; k && k->span.begin_ns + k->span.ns > from_ns;
	     k = k->older) {
		piece.ns = overlap(k, from_ns, to_ns, false);
		if (!piece.ns)
			continue;
		blockers_add(&k->span.blockers, &piece);
		blockers_add(&s->names.all[k->name]->blockers, &piece);
		found = true;
	}
	if (t && !found && from_ns < t->forgotten_ns)
		s->facts.late_ns += (to_ns < t->forgotten_ns ? to_ns : t->forgotten_ns) - from_ns;
}

/* --- the end ------------------------------------------------------------------------------- */

static int by_total(const void *a, const void *b)
{
	const struct span_name *x = *(struct span_name *const *)a,
			       *y = *(struct span_name *const *)b;

	return x->total_ns != y->total_ns ? (x->total_ns < y->total_ns ? 1 : -1)
					  : strcmp(x->text, y->text);
}

static int by_ns(const void *a, const void *b)
{
	const struct span *x = *(struct span *const *)a, *y = *(struct span *const *)b;

	return span_is_slower(x, y) ? -1 : span_is_slower(y, x);
}

int spans_hole(struct spans *s, uint64_t from_ns, uint64_t to_ns)
{
	int err = 0;

	s->hole_ns = to_ns;
	for (uint32_t i = 0; i < s->touched.count && !err; i++)
		err = abandon(s, thread_at(s, s->touched.rows[i]), from_ns);
	touched_next_round(&s->touched);
	return err;
}

int spans_finish(struct spans *s, uint64_t end_ns)
{
	for (uint32_t i = 0; i < s->thread_map.count; i++) {
		int err = abandon(s, thread_at(s, i), end_ns);

		if (err)
			return err;
	}
	if (s->open_count)
		qsort(s->open, s->open_count, sizeof(*s->open), by_ns);
	if (s->kept.slowest_count)
		qsort(s->kept.slowest, s->kept.slowest_count, sizeof(*s->kept.slowest), by_ns);
	if (s->names.map.count)
		qsort(s->names.all, s->names.map.count, sizeof(*s->names.all), by_total);
	for (uint32_t i = 0; i < s->names.map.count; i++)
		s->names.all[i]->row = i;
	return 0;
}

const struct span_name *const *spans_by_name(const struct spans *s, uint32_t *ret_count)
{
	*ret_count = s->names.map.count;
	return (const struct span_name *const *)s->names.all;
}

const struct span *const *spans_slowest(const struct spans *s, uint32_t *ret_count)
{
	*ret_count = s->kept.slowest_count;
	return (const struct span *const *)s->kept.slowest;
}

const struct span *const *spans_open(const struct spans *s, uint32_t *ret_count)
{
	*ret_count = s->open_count < s->o.top ? s->open_count : s->o.top;
	return (const struct span *const *)s->open;
}

struct spans_facts spans_facts(const struct spans *s)
{
	return s->facts;
}
