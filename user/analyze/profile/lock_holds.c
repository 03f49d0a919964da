/*
 * Who held a lock is known when its waiters have been charged, which is after the samples: so the
 * holds are collected, and looked up at the end. They come in parts, and each waiter has the
 * holder's time anew: what touches or overlaps is one. A thread can hold several locks: of holds
 * that overlap the one that began last is on top, until it ends, and what is below it shows again.
 */
#include "analyze/profile/lock_holds.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/cells/cells.h"
#include "base/tables/array.h"

static int thread_row(struct lock_holds *h, uint64_t thread, uint32_t *ret)
{
	return keymap_add_row(&h->thread_map, (struct keymap_key){.a = thread}, &h->sampled_ns,
			      &h->threads_capacity, sizeof(*h->sampled_ns), ret);
}

int lock_holds_sample(struct lock_holds *h, uint64_t thread, uint64_t ns)
{
	uint32_t index;
	int err = thread_row(h, thread, &index);

	if (!err && h->sampled_ns[index] < ns)
		h->sampled_ns[index] = ns;
	return err;
}

static int row_add(struct lock_hold **rows, uint32_t *count, uint32_t *capacity,
		   const struct lock_hold *hold)
{
	struct lock_hold *last = *count ? &(*rows)[*count - 1] : NULL;
	int err;

	if (hold->from_ns >= hold->to_ns)
		return 0;
	if (last && last->thread == hold->thread && last->lock == hold->lock &&
	    last->to_ns == hold->from_ns) {
		last->to_ns = hold->to_ns;
		return 0;
	}
	err = array_grow(rows, capacity, *count, sizeof(**rows));
	if (!err)
		(*rows)[(*count)++] = *hold;
	return err;
}

void lock_holds_observe(void *ctx, const struct cell_part *part)
{
	const struct cell_key *key = &part->key;
	const struct lock_hold hold = {key->holder, key->lock, part->from_ns, part->to_ns};
	struct lock_holds *h = ctx;
	uint32_t thread;

	if (h->err || !holder_is_thread(key->holder))
		return;
	thread = keymap_find(&h->thread_map, (struct keymap_key){.a = key->holder});
	if (thread == INDEX_NONE || h->sampled_ns[thread] < part->from_ns)
		return;
	h->err = row_add(&h->rows, &h->count, &h->capacity, &hold);
}

static int by_lock(const void *a, const void *b)
{
	const struct lock_hold *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->lock != y->lock)
		return x->lock < y->lock ? -1 : 1;
	return (x->from_ns > y->from_ns) - (x->from_ns < y->from_ns);
}

/* Of each thread and lock no hold touches another. */
static void unite(struct lock_holds *h)
{
	uint32_t last = 0;

	qsort(h->rows, h->count, sizeof(*h->rows), by_lock);
	for (uint32_t i = 1; i < h->count; i++) {
		struct lock_hold *to = &h->rows[last];

		if (h->rows[i].thread != to->thread || h->rows[i].lock != to->lock ||
		    h->rows[i].from_ns > to->to_ns)
			h->rows[++last] = h->rows[i];
		else if (h->rows[i].to_ns > to->to_ns)
			to->to_ns = h->rows[i].to_ns;
	}
	h->count = last + 1;
}

static int by_begin(const void *a, const void *b)
{
	const struct lock_hold *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return (x->lock > y->lock) - (x->lock < y->lock);
}

struct flat {
	struct lock_hold *rows;
	uint32_t count, capacity;
	uint32_t *stack; /* holds that go on, the one that began last on top */
	uint32_t depth;
	uint64_t at_ns; /* up to here the thread is done */
};

/* What is on top goes on to until_ns, or ends before, and so on. */
static int flat_advance(struct flat *f, const struct lock_hold *holds, uint64_t until_ns)
{
	int err = 0;

	while (f->depth && !err && f->at_ns < until_ns) {
		struct lock_hold part = holds[f->stack[f->depth - 1]];
		uint64_t to_ns = part.to_ns < until_ns ? part.to_ns : until_ns;

		part.from_ns = f->at_ns;
		part.to_ns = to_ns;
		err = row_add(&f->rows, &f->count, &f->capacity, &part);
		if (to_ns > f->at_ns)
			f->at_ns = to_ns;
		if (holds[f->stack[f->depth - 1]].to_ns <= f->at_ns)
			f->depth--;
	}
	return err;
}

static int flatten(struct flat *f, const struct lock_holds *h)
{
	int err = 0;

	for (uint32_t i = 0; i < h->count && !err; i++) {
		bool same = i && h->rows[i].thread == h->rows[i - 1].thread;

		err = flat_advance(f, h->rows, same ? h->rows[i].from_ns : UINT64_MAX);
		f->at_ns = h->rows[i].from_ns;
		f->stack[f->depth++] = i;
	}
	return err ? err : flat_advance(f, h->rows, UINT64_MAX);
}

int lock_holds_finish(struct lock_holds *h)
{
	struct flat f = {.rows = NULL};
	int err = h->err;

	if (err || !h->count)
		return err;
	f.stack = calloc(h->count, sizeof(*f.stack));
	if (!f.stack)
		return -ENOMEM;
	unite(h);
	qsort(h->rows, h->count, sizeof(*h->rows), by_begin);
	err = flatten(&f, h);
	free(f.stack);
	if (err) {
		free(f.rows);
		return err;
	}
	free(h->rows);
	h->rows = f.rows;
	h->count = f.count;
	h->capacity = f.capacity;
	return 0;
}

uint64_t lock_holds_at(const struct lock_holds *h, uint64_t thread, uint64_t ns)
{
	const struct lock_hold key = {thread, UINT64_MAX, ns, 0};
	uint32_t from = 0, to = h->count;

	/* The first one that begins after it. */
	while (from < to) {
		uint32_t middle = from + (to - from) / 2;

		if (by_begin(&h->rows[middle], &key) <= 0)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from || h->rows[from - 1].thread != thread || h->rows[from - 1].to_ns <= ns)
		return 0;
	return h->rows[from - 1].lock;
}

void lock_holds_free(struct lock_holds *h)
{
	free(h->rows);
	free(h->sampled_ns);
	keymap_free(&h->thread_map);
	*h = (struct lock_holds){.rows = NULL};
}
