/*
 * What an application needs is what is left when the garbage is gone. So the trend is made of the
 * collections that free old objects: full ones, cycles of ZGC and Shenandoah, and young ones after
 * which the old generation is smaller than before, as G1's mixed ones are (of several in a row the
 * last one). Where there are less than three of them, the old generation after young collections
 * stands for it, with the garbage in it: its line says when an old collection is due, and no more.
 *
 * The line is that of Theil and Sen: the median of the slopes of all pairs, so that a few outliers
 * (a peak of load, a collection in the middle of a request) do not turn it. The heap grows or falls
 * if three quarters of the slopes have that sign, and the line moves by 1 % of its level at least;
 * else it is steady, or, if the line moves by more than 10 %, of no clear course.
 */
#include "analyze/gc/gc_trend.h"

#include <errno.h>
#include <stdlib.h>

#include "log/format/event.h"

#define SAMPLES_MAX 256 /* the number of pairs is half their square */
#define NS_PER_MIN 60000000000ll
#define MOVES_PARTS 100 /* a line that moves by one of these parts of its level may grow or fall */
#define STEADY_PARTS 10 /* one that moves by less than one of these is steady, if it does not */
#define FULL_MOST_SPANS                                                                            \
	100 /* a line says nothing of what is further off than so often its length */

struct sample {
	uint64_t ns, bytes;
};

struct samples {
	struct sample *of;
	uint32_t count;
};

static int64_t clamp(__int128 value)
{
	return value > INT64_MAX ? INT64_MAX : value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static bool frees_old(const struct gc_row *r)
{
	if (!r->has_heap)
		return false;
	if (r->is_cycle)
		return !r->is_minor;
	return r->kind == GC_KIND_FULL || (r->has_old && r->after.old_bytes < r->before.old_bytes);
}

static bool is_mixed(const struct gc_row *r)
{
	return frees_old(r) && !r->is_cycle && r->kind != GC_KIND_FULL;
}

/* The next row with figures of the heap, from i on; count: there is none. */
static uint32_t next_row(const struct gc_row *rows, uint32_t count, uint32_t i)
{
	while (i < count && !rows[i].has_heap)
		i++;
	return i;
}

static void samples_old(struct samples *s, const struct gc_row *rows, uint32_t count)
{
	for (uint32_t i = next_row(rows, count, 0), next; i < count; i = next) {
		next = next_row(rows, count, i + 1);
		if (!frees_old(&rows[i]) ||
		    (next < count && is_mixed(&rows[i]) && is_mixed(&rows[next])))
			continue;
		s->of[s->count++] =
			(struct sample){.ns = rows[i].end_ns, .bytes = rows[i].after.used_bytes};
	}
}

static void samples_young(struct samples *s, const struct gc_row *rows, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct gc_row *r = &rows[i];

		if (!r->has_heap)
			continue;
		s->of[s->count++] = (struct sample){.ns = r->end_ns,
						    .bytes = r->has_old ? r->after.old_bytes
									: r->after.used_bytes};
	}
}

/* Leaves some of many, first and last among them. */
static void samples_thin_out(struct samples *s)
{
	if (s->count <= SAMPLES_MAX)
		return;
	for (uint64_t i = 0; i < SAMPLES_MAX; i++)
		s->of[i] = s->of[i * (s->count - 1) / (SAMPLES_MAX - 1)];
	s->count = SAMPLES_MAX;
}

static int by_value(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Of all pairs of which the times differ, sorted; their number. */
static uint32_t slopes_make(const struct samples *s, int64_t *slopes)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->count; i++) {
		for (uint32_t k = i + 1; k < s->count; k++) {
			__int128 bytes = (__int128)s->of[k].bytes - s->of[i].bytes;

			if (s->of[k].ns > s->of[i].ns)
				slopes[n++] = clamp(bytes * NS_PER_MIN /
						    (__int128)(s->of[k].ns - s->of[i].ns));
		}
	}
	qsort(slopes, n, sizeof(*slopes), by_value);
	return n;
}

/* The median of where the line is at this time, through each of the samples. */
static uint64_t level_at(const struct samples *s, int64_t slope, uint64_t ns, int64_t *room)
{
	for (uint32_t i = 0; i < s->count; i++) {
		__int128 after = (__int128)ns - s->of[i].ns;

		room[i] = clamp((__int128)s->of[i].bytes + slope * after / NS_PER_MIN);
	}
	qsort(room, s->count, sizeof(*room), by_value);
	return room[s->count / 2] > 0 ? (uint64_t)room[s->count / 2] : 0;
}

static enum gc_trend_course course_of(const struct gc_trend *t, const int64_t *slopes, uint32_t n)
{
	uint64_t more = t->last_bytes > t->first_bytes ? t->last_bytes - t->first_bytes : 0;
	uint64_t less = t->first_bytes > t->last_bytes ? t->first_bytes - t->last_bytes : 0;

	if (slopes[n / 4] > 0 && more && more >= t->first_bytes / MOVES_PARTS)
		return GC_COURSE_GROWS;
	if (slopes[n - 1 - n / 4] < 0 && less && less >= t->first_bytes / MOVES_PARTS)
		return GC_COURSE_FALLS;
	return more + less <= t->first_bytes / STEADY_PARTS ? GC_COURSE_STEADY : GC_COURSE_UNCLEAR;
}

static void find_full(struct gc_trend *t)
{
	__int128 ns;

	if (t->course != GC_COURSE_GROWS || t->bytes_per_min <= 0 ||
	    t->limit_bytes <= t->last_bytes)
		return;
	ns = (__int128)(t->limit_bytes - t->last_bytes) * NS_PER_MIN / t->bytes_per_min;
	t->fills = ns <= (__int128)(t->to_ns - t->from_ns) * FULL_MOST_SPANS && ns <= INT64_MAX;
	t->full_ns = t->fills ? (uint64_t)ns : 0;
}

/* slopes has room for all pairs. */
static void line_find(struct gc_trend *t, const struct samples *s, int64_t *slopes)
{
	uint32_t n = slopes_make(s, slopes);
	int64_t room[SAMPLES_MAX];

	if (!n) { /* all at one moment */
		t->basis = GC_TREND_NONE;
		return;
	}
	t->from_ns = s->of[0].ns;
	t->to_ns = s->of[s->count - 1].ns;
	t->bytes_per_min = slopes[n / 2];
	t->first_bytes = level_at(s, t->bytes_per_min, t->from_ns, room);
	t->last_bytes = level_at(s, t->bytes_per_min, t->to_ns, room);
	t->course = course_of(t, slopes, n);
	find_full(t);
}

static void samples_choose(struct gc_trend *t, struct samples *s, const struct gc_row *rows,
			   uint32_t count, const struct gc_limits *limits)
{
	samples_old(s, rows, count);
	t->old_count = s->count;
	t->basis = GC_TREND_OLD;
	t->limit_bytes = limits->heap_bytes;
	if (s->count < GC_TREND_LEAST) {
		s->count = 0;
		samples_young(s, rows, count);
		t->basis = GC_TREND_YOUNG;
		t->limit_bytes = limits->old_bytes ? limits->old_bytes : limits->heap_bytes;
	}
	t->count = s->count;
	if (s->count < GC_TREND_LEAST)
		t->basis = GC_TREND_NONE;
}

int gc_trend_find(const struct gc_row *rows, uint32_t count, const struct gc_limits *limits,
		  struct gc_trend *ret)
{
	struct samples s = {.of = malloc(((size_t)count + 1) * sizeof(*s.of))};
	int64_t *slopes = malloc(sizeof(*slopes) * SAMPLES_MAX * SAMPLES_MAX / 2);
	struct gc_trend t = {.basis = GC_TREND_NONE};

	if (!s.of || !slopes) {
		free(s.of);
		free(slopes);
		return -ENOMEM;
	}
	samples_choose(&t, &s, rows, count, limits);
	samples_thin_out(&s);
	if (t.basis != GC_TREND_NONE)
		line_find(&t, &s, slopes);
	free(s.of);
	free(slopes);
	*ret = t;
	return 0;
}
