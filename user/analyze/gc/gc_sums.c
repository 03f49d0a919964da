#include "analyze/gc/gc_sums.h"

#include <errno.h>
#include <stdlib.h>

#include "base/tables/keymap.h"
#include "base/tables/saturate.h"
#include "log/format/event.h"

static uint64_t difference(uint64_t from, uint64_t less)
{
	return from > less ? from - less : 0;
}

uint64_t gc_row_freed(const struct gc_row *r)
{
	return r->has_heap ? difference(r->before.used_bytes, r->after.used_bytes) : 0;
}

static void add(uint64_t *to, uint64_t bytes)
{
	*to = sum_saturated(*to, bytes);
}

static void group_add(struct gc_group *g, const struct gc_row *r)
{
	if (!g->times.count)
		g->like = *r;
	pause_times_add(&g->times, gc_row_ns(r));
	if (!r->has_heap)
		return;
	g->heaps++;
	add(&g->freed_bytes, gc_row_freed(r));
	add(&g->before_bytes, r->before.used_bytes);
	add(&g->after_bytes, r->after.used_bytes);
	add(&g->survivor_bytes, r->after.survivor_bytes);
	add(&g->promoted_bytes, difference(r->after.old_bytes, r->before.old_bytes));
}

struct grouping {
	struct keymap map;
	uint32_t capacity;
};

static int groups_add(struct gc_sums *s, struct grouping *g, const struct gc_row *r)
{
	struct keymap_key key = {.a = r->collector,
				 .b = r->kind,
				 .c = r->operation,
				 .d = r->cause,
				 .e = r->is_cycle};
	uint32_t index;
	int err =
		keymap_add_row(&g->map, key, &s->groups, &g->capacity, sizeof(*s->groups), &index);

	if (!err)
		group_add(&s->groups[index], r);
	s->group_count = g->map.count;
	return err;
}

/* What a collection found more than the last one had left was allocated in between. Cycles that
 * overlap leave that open, and so does a collection in between of which nothing is known. */
static void allocated_add(struct gc_sums *s, const struct gc_row *last, const struct gc_row *r)
{
	if (r->begin_ns <= last->end_ns)
		return;
	add(&s->allocated_bytes, difference(r->before.used_bytes, last->after.used_bytes));
	add(&s->allocated_ns, r->begin_ns - last->end_ns);
}

/* Nobody knows what. The pauses of concurrent cycles have no figures, and free next to nothing. */
static bool may_have_freed(const struct gc_row *r)
{
	return !r->has_heap && r->kind != GC_KIND_CONCURRENT_PAUSE;
}

static int by_length(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The nearest rank, rounded up: of 10 values, 999 of 1,000 are 10. count is 1 at least. */
static uint64_t quantile(const uint64_t *sorted, uint64_t count, unsigned per_mille)
{
	uint64_t rank = (count * per_mille + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

static int quantiles_find(struct gc_sums *s, const struct gc_row *rows, uint32_t count)
{
	uint64_t *lengths = malloc(((size_t)count + 1) * sizeof(*lengths)), n = 0;

	if (!lengths)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++) {
		if (!rows[i].is_cycle)
			lengths[n++] = gc_row_ns(&rows[i]);
	}
	qsort(lengths, n, sizeof(*lengths), by_length);
	if (n)
		s->quantiles = (struct gc_quantiles){.p50_ns = quantile(lengths, n, 500),
						     .p90_ns = quantile(lengths, n, 900),
						     .p99_ns = quantile(lengths, n, 990),
						     .p999_ns = quantile(lengths, n, 999)};
	free(lengths);
	return 0;
}

int gc_sums_make(const struct gc_row *rows, uint32_t count, struct gc_sums *ret)
{
	const struct gc_row *last = NULL;
	struct gc_sums s = {0};
	struct grouping g = {0};
	int err = quantiles_find(&s, rows, count);

	for (uint32_t i = 0; i < count && !err; i++) {
		const struct gc_row *r = &rows[i];

		err = groups_add(&s, &g, r);
		s.cycles += r->is_cycle;
		if (!r->is_cycle)
			pause_times_add(&s.pauses, gc_row_ns(r));
		if (r->after_gap || may_have_freed(r))
			last = NULL;
		if (!r->has_heap)
			continue;
		add(&s.freed_bytes, gc_row_freed(r));
		if (last)
			allocated_add(&s, last, r);
		last = r;
	}
	keymap_free(&g.map);
	if (err) {
		gc_sums_free(&s);
		return err;
	}
	*ret = s;
	return 0;
}

void gc_sums_free(struct gc_sums *s)
{
	free(s->groups);
	*s = (struct gc_sums){0};
}
