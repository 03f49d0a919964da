/*
 * A pause is from gc_begin to gc_end; there is one at a time. The memory managers report all pools
 * before and after: within the pause, by its thread, if they stop the application; else around a
 * concurrent cycle, by the thread that drives it (ZGC, Shenandoah), with pauses in between. A full
 * collection may have several managers report in one pause, one within the other or one after the
 * other: of each pool the first "before" and the last "after" count.
 */
#include "analyze/gc/gc_series.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/vm/heap_pool.h"
#include "base/tables/array.h"
#include "base/tables/saturate.h"
#include "log/format/event.h"
#include "log/read/names.h"

#define POOLS_MAX 8  /* of the heap: HotSpot has three at most */
#define CYCLES_MAX 4 /* side by side: ZGC has two, of young and of old objects */

struct pool_now {
	uint64_t pool;
	enum heap_pool what;
	bool before, after;
	uint64_t used_before, used_after, committed_before, committed_after;
};

/* A pause or a cycle that goes on. */
struct open_row {
	bool is_open;
	uint64_t thread; /* of a cycle, its manager says which it is */
	struct gc_row row;
	struct pool_now pools[POOLS_MAX];
	uint8_t pool_count;
};

struct cause_now {
	uint64_t thread, gc, cause; /* cause 0: there is none */
};

struct pool_limit {
	uint64_t pool, max;
	enum heap_pool what;
};

struct gc_series {
	const struct log_names *names;
	uint64_t heap_max_bytes;
	struct gc_row *rows;
	uint32_t count, capacity;
	uint64_t now_ns;
	struct open_row pause, cycles[CYCLES_MAX];
	struct cause_now cause;
	struct pool_limit limits[POOLS_MAX];
	uint8_t limit_count;
	bool gap; /* since the last row something is missing */
	struct gc_facts facts;
};

struct gc_series *gc_series_new(const struct log_names *names, uint64_t heap_max_bytes)
{
	struct gc_series *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->names = names;
	s->heap_max_bytes = heap_max_bytes;
	return s;
}

void gc_series_free(struct gc_series *s)
{
	if (s)
		free(s->rows);
	free(s);
}

static void heap_add(struct gc_heap *h, enum heap_pool what, uint64_t used, uint64_t committed)
{
	h->used_bytes = sum_saturated(h->used_bytes, used);
	h->committed_bytes = sum_saturated(h->committed_bytes, committed);
	if (what == HEAP_POOL_OLD)
		h->old_bytes = sum_saturated(h->old_bytes, used);
	else if (what == HEAP_POOL_SURVIVOR)
		h->survivor_bytes = sum_saturated(h->survivor_bytes, used);
}

/* A pool of which only one side is known makes the sums of both sides incomparable. */
static void row_sum_up(struct open_row *o)
{
	struct gc_row *r = &o->row;
	bool whole = o->pool_count > 0;

	for (unsigned i = 0; i < o->pool_count; i++) {
		const struct pool_now *p = &o->pools[i];

		whole &= p->before && p->after;
		r->has_old |= p->what == HEAP_POOL_OLD;
		r->has_survivor |= p->what == HEAP_POOL_SURVIVOR;
		heap_add(&r->before, p->what, p->used_before, p->committed_before);
		heap_add(&r->after, p->what, p->used_after, p->committed_after);
	}
	r->has_heap = whole;
	r->pools = o->pool_count;
}

static int row_close(struct gc_series *s, struct open_row *o)
{
	int err;

	o->is_open = false;
	o->row.end_ns = s->now_ns;
	o->row.after_gap = s->gap;
	s->gap = false;
	row_sum_up(o);
	if (s->count == GC_ROWS_MAX) {
		s->facts.left_out++;
		return 0;
	}
	err = array_grow(&s->rows, &s->capacity, s->count, sizeof(*s->rows));
	if (!err)
		s->rows[s->count++] = o->row;
	return err;
}

static void lost_note(struct gc_series *s, bool lost)
{
	s->facts.incomplete += lost;
	s->gap |= lost;
}

static void row_open(struct gc_series *s, struct open_row *o, const struct event *e)
{
	*o = (struct open_row){.is_open = true, .thread = e->thread, .row.begin_ns = s->now_ns};
	if (s->cause.thread == e->thread)
		o->row.cause = s->cause.cause;
}

static void on_begin(struct gc_series *s, const struct event *e)
{
	lost_note(s, s->pause.is_open);
	row_open(s, &s->pause, e);
	s->pause.row.operation = e->v[GC_BEGIN_OPERATION].u;
}

static int on_end(struct gc_series *s, const struct event *e)
{
	struct gc_row *r = &s->pause.row;

	if (!s->pause.is_open) {
		lost_note(s, true);
		return 0;
	}
	if (e->v[GC_END_OPERATION].u)
		r->operation = e->v[GC_END_OPERATION].u;
	r->kind = e->v[GC_END_KIND].u;
	r->collector = e->v[GC_END_COLLECTOR].u;
	return row_close(s, &s->pause);
}

static void limit_note(struct gc_series *s, enum heap_pool what, const struct event *e)
{
	uint64_t pool = e->v[GC_POOL_POOL].u;
	unsigned i = 0;

	while (i < s->limit_count && s->limits[i].pool != pool)
		i++;
	if (i == POOLS_MAX)
		return;
	s->limit_count = i == s->limit_count ? i + 1 : s->limit_count;
	s->limits[i] =
		(struct pool_limit){.pool = pool, .max = e->v[GC_POOL_MAX_BYTES].u, .what = what};
}

static void pool_note(struct open_row *o, enum heap_pool what, const struct event *e)
{
	uint64_t pool = e->v[GC_POOL_POOL].u;
	struct pool_now *p;
	unsigned i = 0;

	while (i < o->pool_count && o->pools[i].pool != pool)
		i++;
	if (i == POOLS_MAX)
		return;
	p = &o->pools[i];
	if (i == o->pool_count) {
		o->pool_count++;
		*p = (struct pool_now){.pool = pool, .what = what};
	}
	if (e->v[GC_POOL_MOMENT].u == GC_MOMENT_AFTER) {
		p->after = true;
		p->used_after = e->v[GC_POOL_USED_BYTES].u;
		p->committed_after = e->v[GC_POOL_COMMITTED_BYTES].u;
	} else if (!p->before) {
		p->before = true;
		p->used_before = e->v[GC_POOL_USED_BYTES].u;
		p->committed_before = e->v[GC_POOL_COMMITTED_BYTES].u;
	}
}

/* The cycle of a manager, or room for one; the oldest makes room for it. */
static struct open_row *cycle_find(struct gc_series *s, uint64_t manager)
{
	struct open_row *best = &s->cycles[0];

	for (unsigned i = 0; i < CYCLES_MAX; i++) {
		struct open_row *c = &s->cycles[i];

		if (c->is_open && c->row.collector == manager)
			return c;
		if (best->is_open && (!c->is_open || c->row.begin_ns < best->row.begin_ns))
			best = c;
	}
	lost_note(s, best->is_open);
	best->is_open = false;
	return best;
}

static bool is_whole(const struct open_row *o)
{
	bool whole = true;

	for (unsigned i = 0; i < o->pool_count; i++)
		whole &= o->pools[i].before && o->pools[i].after;
	return whole;
}

static bool has_begun(const struct open_row *o)
{
	return o->is_open && o->pool_count > 0 && o->pools[0].before;
}

static bool has_ended_partly(const struct open_row *o)
{
	bool after = false;

	for (unsigned i = 0; i < o->pool_count; i++)
		after |= o->pools[i].after;
	return after;
}

/* "ZGC Minor Cycles", "Shenandoah Young ...". */
static bool is_minor(const struct gc_series *s, uint64_t manager)
{
	const char *name = log_names_string(s->names, manager);

	return name && (strstr(name, "Minor") || strstr(name, "Young"));
}

static int on_cycle_pool(struct gc_series *s, enum heap_pool what, const struct event *e)
{
	bool before = e->v[GC_POOL_MOMENT].u != GC_MOMENT_AFTER;
	struct open_row *c = cycle_find(s, e->v[GC_POOL_MANAGER].u);

	if (c->is_open && before && has_ended_partly(c)) { /* the rest of the last one's is lost */
		lost_note(s, true);
		c->is_open = false;
	}
	if (!c->is_open) {
		row_open(s, c, e);
		c->row.is_cycle = true;
		c->row.collector = e->v[GC_POOL_MANAGER].u;
		c->row.is_minor = is_minor(s, c->row.collector);
	}
	pool_note(c, what, e);
	if (before || !has_begun(c) || !is_whole(c))
		return 0;
	if (s->cause.thread == c->thread && s->cause.cause)
		c->row.cause = s->cause.cause;
	return row_close(s, c);
}

static int on_pool(struct gc_series *s, const struct event *e)
{
	enum heap_pool what = heap_pool_of(log_names_string(s->names, e->v[GC_POOL_POOL].u));

	if (what == HEAP_POOL_NONE)
		return 0;
	limit_note(s, what, e);
	if (!s->pause.is_open || s->pause.thread != e->thread)
		return on_cycle_pool(s, what, e);
	pool_note(&s->pause, what, e);
	return 0;
}

/* Of a patched JVM. A collection begins in its pause, or before that, in the same thread; one that
 * goes on as a full one has that one's cause. */
static void on_collection_begin(struct gc_series *s, const struct event *e)
{
	s->cause = (struct cause_now){.thread = e->thread,
				      .gc = e->v[COLLECTION_BEGIN_GC].u,
				      .cause = e->v[COLLECTION_BEGIN_CAUSE].u};
	if (s->pause.is_open && s->pause.thread == e->thread)
		s->pause.row.cause = s->cause.cause;
}

static void on_collection_end(struct gc_series *s, const struct event *e)
{
	if (s->cause.gc == e->v[COLLECTION_END_GC].u && s->cause.thread == e->thread)
		s->cause = (struct cause_now){0};
}

int gc_series_add(struct gc_series *s, const struct event *e)
{
	if (e->time_ns > s->now_ns)
		s->now_ns = e->time_ns;
	switch (e->id) {
	case EVENT_GC_BEGIN:
		on_begin(s, e);
		return 0;
	case EVENT_GC_END:
		return on_end(s, e);
	case EVENT_GC_POOL:
		return on_pool(s, e);
	case EVENT_COLLECTION_BEGIN:
		on_collection_begin(s, e);
		return 0;
	case EVENT_COLLECTION_END:
		on_collection_end(s, e);
		return 0;
	default:
		return 0;
	}
}

void gc_series_hole(struct gc_series *s)
{
	lost_note(s, s->pause.is_open);
	s->pause.is_open = false;
	for (unsigned i = 0; i < CYCLES_MAX; i++) {
		lost_note(s, s->cycles[i].is_open);
		s->cycles[i].is_open = false;
	}
	s->cause = (struct cause_now){0};
	s->gap = true;
}

static uint64_t least_known(uint64_t a, uint64_t b)
{
	return !a || (b && b < a) ? b : a;
}

/* Each generation of ZGC may have the whole heap: the sum of their limits is twice as much. */
static void limits_sum_up(struct gc_series *s)
{
	struct gc_limits *l = &s->facts.limits;

	for (unsigned i = 0; i < s->limit_count; i++) {
		if (s->limits[i].max == UINT64_MAX)
			continue;
		l->heap_bytes = sum_saturated(l->heap_bytes, s->limits[i].max);
		if (s->limits[i].what == HEAP_POOL_OLD)
			l->old_bytes = sum_saturated(l->old_bytes, s->limits[i].max);
	}
	l->heap_bytes = least_known(l->heap_bytes, s->heap_max_bytes);
	if (l->old_bytes)
		l->old_bytes = least_known(l->old_bytes, l->heap_bytes);
}

/* All collections report the same pools, so a row with fewer of them lacks some. */
void gc_series_finish(struct gc_series *s)
{
	uint8_t most = 0;

	gc_series_hole(s);
	limits_sum_up(s);
	for (uint32_t i = 0; i < s->count; i++)
		most = s->rows[i].pools > most ? s->rows[i].pools : most;
	for (uint32_t i = 0; i < s->count; i++)
		s->rows[i].has_heap &= s->rows[i].pools == most;
}

const struct gc_row *gc_series_rows(const struct gc_series *s, uint32_t *ret_count)
{
	*ret_count = s->count;
	return s->rows;
}

struct gc_facts gc_series_facts(const struct gc_series *s)
{
	return s->facts;
}
