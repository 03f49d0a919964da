#include <errno.h>
#include <stdlib.h>

#include "base/tables/keymap.h"
#include "heap/graph/heap_dominators.h"
#include "heap/state/heap_state.h"

struct finder {
	const struct heap_dominators *d;
	const struct heap_state *s;
	uint64_t *largest; /* by object: retained by one that it dominates */
	uint32_t *owner;   /* by object: the holder that it belongs to; HEAP_NONE */
	uint32_t *all;     /* candidates */
	uint32_t count;
};

static bool is_below(const struct finder *f, uint32_t at)
{
	for (at = f->d->above[at]; at < f->d->count; at = f->d->above[at])
		if (f->owner[at] != HEAP_NONE)
			return true;
	return false;
}

static int by_retained(const void *a, const void *b, void *context)
{
	const struct finder *f = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	uint64_t x = f->d->retained[i], y = f->d->retained[k];

	return x != y ? (x < y ? 1 : -1) : (i > k) - (i < k);
}

static void find_candidates(struct finder *f)
{
	const struct heap_dominators *d = f->d;

	for (uint32_t i = 0; i < d->reachable; i++) {
		uint32_t at = d->order[i], above = d->above[at];

		f->owner[at] = HEAP_NONE;
		if (above < d->count && d->retained[at] > f->largest[above])
			f->largest[above] = d->retained[at];
	}
	/* Those that retain next to nothing are most objects, and are never wanted. */
	for (uint32_t i = 0; i < d->reachable; i++) {
		uint32_t at = d->order[i];
		uint64_t retained = d->retained[at];

		/* A class holds what its static fields do, each of which is an answer. */
		if (f->s->descs[f->s->objects.desc[at]].of_class != HEAP_NONE)
			continue;
		if (f->largest[at] && f->largest[at] < retained / 2 &&
		    retained > d->retained[d->count] / 10000)
			f->all[f->count++] = at;
	}
	qsort_r(f->all, f->count, sizeof(*f->all), by_retained, f);
}

/* What holders keep, by class; the largest class of each. */
static int sum_up(struct finder *f, struct heap_holder *holders)
{
	struct sum {
		uint64_t bytes, objects;
	} *sums = NULL;
	uint64_t *best = calloc(f->d->count + 1ul, sizeof(*best)); /* by holder */
	uint32_t capacity = 0, at;
	struct keymap keys = {0};
	int err = best ? 0 : -ENOMEM;

	for (uint32_t i = 0; !err && i < f->d->reachable; i++) {
		uint32_t object = f->d->order[i], above = f->d->above[object];
		const struct heap_desc *desc = &f->s->descs[f->s->objects.desc[object]];

		if (f->owner[object] == HEAP_NONE && above < f->d->count)
			f->owner[object] = f->owner[above];
		if (f->owner[object] == HEAP_NONE)
			continue;
		holders[f->owner[object]].objects++;
		if (holders[f->owner[object]].object == object)
			continue;
		err = keymap_add_row(
			&keys, (struct keymap_key){.a = desc->type, .b = f->owner[object] + 1ul},
			&sums, &capacity, sizeof(*sums), &at);
		if (err)
			break;
		sums[at].bytes += desc->bytes;
		sums[at].objects++;
	}
	for (uint32_t i = 0; !err && i < keys.count; i++) {
		struct heap_holder *h = &holders[keys.keys[i].b - 1];

		if (sums[i].bytes <= best[keys.keys[i].b - 1])
			continue;
		best[keys.keys[i].b - 1] = sums[i].bytes;
		h->type = (uint32_t)keys.keys[i].a;
		h->of_type = sums[i].objects;
	}
	free(best);
	free(sums);
	keymap_free(&keys);
	return err;
}

int heap_dominators_holders(const struct heap_dominators *d, const struct heap_state *s,
			    uint32_t count, struct heap_holder **ret, uint32_t *ret_count)
{
	struct finder f = {.d = d, .s = s};
	struct heap_holder *holders = calloc(count + 1ul, sizeof(*holders));
	uint32_t found = 0;
	int err = -ENOMEM;

	f.largest = calloc(d->count + 1ul, sizeof(*f.largest));
	f.owner = malloc((d->count + 1ul) * sizeof(*f.owner));
	f.all = malloc((d->reachable + 1ul) * sizeof(*f.all));
	if (holders && f.largest && f.owner && f.all) {
		find_candidates(&f);
		for (uint32_t i = 0; i < f.count && found < count; i++) {
			if (is_below(&f, f.all[i]))
				continue;
			f.owner[f.all[i]] = found;
			holders[found++] = (struct heap_holder){.object = f.all[i],
								.type = HEAP_NONE,
								.retained = d->retained[f.all[i]]};
		}
		err = sum_up(&f, holders);
	}
	free(f.largest);
	free(f.owner);
	free(f.all);
	if (err) {
		free(holders);
		return err;
	}
	*ret = holders;
	*ret_count = found;
	return 0;
}
