/*
 * A collection is applied when all of its moves are known, as collectors' threads move in no order:
 * the heap as it was before is gone through once, by address, beside the moves by their origin, and
 * what lives is put into pages of a second heap, the front. A page of the heap is freed as soon as
 * it has been gone through: a full collection of which all objects live needs little more memory
 * than the heap itself.
 *
 * A move of an object outside of the spaces that are collected is a move all the same. An object
 * that two moves claim goes with the one that begins first.
 */
#include "heap/addresses/object_collect.h"

#include <errno.h>
#include <stdlib.h>

#include "base/tables/array.h"
#include "heap/addresses/object_page.h"

struct walk {
	struct object_heap *heap;
	struct object_collect *c;
	uint32_t run, space; /* the first that does not end before the object */
	uint64_t covered;    /* units of the run that are objects */
};

static int compare_runs(const void *a, const void *b)
{
	const struct object_run *x = a, *y = b;
	uint64_t from_x = object_run_from(x), from_y = object_run_from(y);

	if (from_x != from_y)
		return from_x < from_y ? -1 : 1;
	return (x->units > y->units) - (x->units < y->units);
}

static int compare_spaces(const void *a, const void *b)
{
	const struct object_space *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

static uint64_t space_end(const struct object_space *s)
{
	return s->units > UINT64_MAX - s->at ? UINT64_MAX : s->at + s->units;
}

static void sort_spaces(struct object_collect *c)
{
	uint32_t n = 0;

	if (!c->space_count)
		return;
	qsort(c->spaces, c->space_count, sizeof(*c->spaces), compare_spaces);
	for (uint32_t i = 1; i < c->space_count; i++) {
		struct object_space *last = &c->spaces[n];

		if (c->spaces[i].at > space_end(last))
			c->spaces[++n] = c->spaces[i];
		else if (space_end(&c->spaces[i]) > space_end(last))
			last->units = space_end(&c->spaces[i]) - last->at;
	}
	c->space_count = n + 1;
}

static void sort_runs(struct object_collect *c)
{
	for (uint32_t i = 1; i < c->run_count; i++)
		if (compare_runs(&c->runs[i - 1], &c->runs[i]) > 0) {
			qsort(c->runs, c->run_count, sizeof(*c->runs), compare_runs);
			return;
		}
}

static uint64_t run_end(const struct object_run *r)
{
	return object_run_from(r) + r->units;
}

/* To the first run that ends after at. */
static void pass_runs(struct walk *w, uint64_t at)
{
	struct object_collect *c = w->c;

	for (; w->run < c->run_count && run_end(&c->runs[w->run]) <= at; w->run++) {
		c->unknown += w->covered < c->runs[w->run].units;
		w->covered = 0;
	}
}

static bool is_collected(struct walk *w, uint64_t at)
{
	const struct object_collect *c = w->c;

	while (w->space < c->space_count && space_end(&c->spaces[w->space]) <= at)
		w->space++;
	return c->all || (w->space < c->space_count && c->spaces[w->space].at <= at);
}

static int put_front(struct walk *w, uint64_t to, struct object_entry entry)
{
	struct object_heap *h = w->heap;
	uint64_t page = to >> h->page_bits;
	uint32_t units = h->descs.rows[entry.desc].units;

	if (to >= h->units || units > h->units - to) {
		w->c->outside++;
		object_page_drop(h, entry.desc);
		return 0;
	}
	if (!h->front[page].block) {
		if (array_grow(&h->dirty, &h->dirty_capacity, h->dirty_count, sizeof(*h->dirty)))
			return -ENOMEM;
		h->dirty[h->dirty_count++] = (uint32_t)page;
	}
	object_heap_touch(h, to, units);
	return object_page_push(h, &h->front[page], (uint32_t)(to & ((1u << h->page_bits) - 1)),
				entry);
}

/* 1: the object stays as if nothing had been; 0: it has left the page; -ENOMEM. */
static int apply(struct walk *w, uint64_t at, struct object_entry entry)
{
	const struct object_run *r;
	uint32_t units = w->heap->descs.rows[entry.desc].units;

	pass_runs(w, at);
	r = w->run < w->c->run_count ? &w->c->runs[w->run] : NULL;
	if (r && object_run_from(r) <= at) {
		w->covered += units ? units : 1;
		w->c->lives(w->c->ctx, &entry);
		entry.age += entry.age < OBJECT_AGE_MAX;
		return put_front(w, object_run_to(r) + (at - object_run_from(r)), entry);
	}
	if (!is_collected(w, at))
		return 1;
	w->c->dies(w->c->ctx, &entry);
	object_page_drop(w->heap, entry.desc);
	return 0;
}

static int apply_page(struct walk *w, uint64_t page)
{
	struct object_page *p = &w->heap->pages[page];
	uint64_t first = page << w->heap->page_bits;
	uint32_t kept = 0;
	int err = 0;

	object_page_sort(w->heap, p);
	for (uint32_t i = 0; i < p->count && err >= 0; i++) {
		err = apply(w, first + object_page_offsets(p)[i], object_page_get(p, i));
		if (err != 1)
			continue;
		p->block[kept] = p->block[i];
		object_page_births(p)[kept] = object_page_births(p)[i];
		object_page_offsets(p)[kept++] = object_page_offsets(p)[i];
	}
	return err < 0 ? err : object_page_cut(w->heap, p, kept);
}

/* The first page from this one on that a run or a space has a part of. */
static uint64_t next_page(struct walk *w, uint64_t page)
{
	uint64_t at = page << w->heap->page_bits, next = UINT64_MAX;

	if (w->c->all)
		return page;
	pass_runs(w, at);
	is_collected(w, at);
	if (w->run < w->c->run_count)
		next = object_run_from(&w->c->runs[w->run]);
	if (w->space < w->c->space_count && w->c->spaces[w->space].at < next)
		next = w->c->spaces[w->space].at;
	return next <= at ? page : next >> w->heap->page_bits;
}

static int merge_page(struct object_heap *h, uint32_t page)
{
	struct object_page *from = &h->front[page], *to = &h->pages[page];
	int err = 0;

	if (!to->block) {
		*to = *from;
		*from = (struct object_page){0};
		return object_page_trim(h, to);
	}
	object_page_sort(h, from);
	for (uint32_t i = 0; i < from->count && !err; i++)
		err = object_page_push(h, to, object_page_offsets(from)[i],
				       object_page_get(from, i));
	object_page_cut(h, from, 0);
	return err;
}

int object_heap_collect(struct object_heap *h, struct object_collect *c)
{
	struct walk w = {.heap = h, .c = c};
	int err = 0;

	sort_runs(c);
	sort_spaces(c);
	c->unknown = c->outside = c->pages = 0;
	for (uint64_t page = next_page(&w, 0); page < h->page_count && !err;
	     page = next_page(&w, page + 1)) {
		c->pages++;
		err = apply_page(&w, page);
	}
	pass_runs(&w, UINT64_MAX);
	for (uint32_t i = 0; i < h->dirty_count && !err; i++)
		err = merge_page(h, h->dirty[i]);
	h->dirty_count = 0;
	return err;
}
