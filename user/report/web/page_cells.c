/*
 * The page sums cells by any aspects itself, as analyze/groups/groups.c does, so it has the cells
 * and no sums. Cells that differ in nothing that an aspect shows (bytecode indices, hidden frames)
 * become one: their sums are the sums of groups.c still, and their maxima the maxima. What the page
 * keeps of a cell's time window by window goes the same way, by the same key.
 */
#include "report/web/page_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/cell_windows.h"
#include "analyze/contention/contention.h"
#include "analyze/groups/idle.h"
#include "analyze/registry/analysis.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "report/model/label.h"
#include "report/model/report.h"
#include "report/model/sections/sections.h"
#include "report/web/page.h"

#define GROUP_SHIFT 32
#define WAIT_SHIFT 48
#define FACETS_SHIFT 32
#define METHOD_HAND_OVER UINT32_MAX

struct maker {
	const struct section_input *s;
	struct page_cells *p;
};

static int chain_add(struct maker *m, uint64_t number, uint64_t stack, uint32_t *ret)
{
	const struct stacks *stacks = m->s->stacks;
	struct page_chain chain = {.number = number,
				   .stack = stacks_chain(stacks, stack) ? stack : 0};
	int err;

	chain.waiter_method = stacks_waiter_method(stacks, stack);
	chain.holder_method = stacks_holder_method(stacks, stack);
	if (number == HOLDER_HAND_OVER)
		chain.waiter_method = chain.holder_method = METHOD_HAND_OVER;
	err = keymap_add_row(
		&m->p->chain_keys,
		(struct keymap_key){number, chain.waiter_method, chain.holder_method, 0, 0, 0},
		&m->p->chains, &m->p->chains_capacity, sizeof(*m->p->chains), ret);
	if (!err && !m->p->chains[*ret].stack)
		m->p->chains[*ret] = chain;
	return err;
}

static uint64_t group_of(const struct maker *m, const struct cell *cell)
{
	const struct log_lock *lock = log_names_lock(m->s->names, cell->lock);

	return cell->monitor ? LOCK_GROUP_MONITOR : lock ? lock->group : LOCK_GROUP_OTHER;
}

/* Its indexes; sums are empty. */
static int cell_name(struct maker *m, const struct cell *cell, struct page_cell *ret)
{
	const struct stacks *stacks = m->s->stacks;
	struct page_cells *p = m->p;
	uint64_t owner_stack = cell->holder == HOLDER_HAND_OVER
				       ? HOLDER_HAND_OVER
				       : stacks_chain(stacks, cell->holder_stack);
	int err = keymap_add_number(&p->locks, cell->lock, &ret->lock);

	ret->group = group_of(m, cell);
	ret->facets = cell->facets;
	ret->blocked_on = PAGE_NONE;
	err = err ?: keymap_add_number(&p->threads, cell->waiter, &ret->waiter);
	err = err ?: keymap_add_number(&p->threads, cell->holder, &ret->holder);
	err = err
		      ?: chain_add(m, stacks_chain(stacks, cell->waiter_stack), cell->waiter_stack,
				   &ret->waiter_chain);
	err = err
		      ?: chain_add(m, owner_stack,
				   cell->holder == HOLDER_HAND_OVER ? 0 : cell->holder_stack,
				   &ret->holder_chain);
	if (!err && cell->blocked_on)
		err = keymap_add_number(&p->locks, cell->blocked_on, &ret->blocked_on);
	return err;
}

static struct keymap_key key_of(const struct page_cell *c, bool after_wait)
{
	return (struct keymap_key){c->lock | c->group << GROUP_SHIFT |
					   (uint64_t)after_wait << WAIT_SHIFT,
				   c->waiter | (uint64_t)c->facets << FACETS_SHIFT,
				   c->holder,
				   c->waiter_chain,
				   c->holder_chain,
				   c->blocked_on};
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void cell_sum(struct page_cell *to, const struct cell *more, uint64_t idle_ns)
{
	struct cell *sum = &to->sum;

	sum->after_wait = more->after_wait;
	sum->monitor = more->monitor;
	sum->numbered |= more->numbered;
	sum->count += more->count;
	sum->blocked_ns += more->blocked_ns;
	sum->max_ns = larger(sum->max_ns, more->max_ns);
	sum->max_held_ns = larger(sum->max_held_ns, more->max_held_ns);
	sum->max_part_ns = larger(sum->max_part_ns, more->max_part_ns);
	sum->first_reader_ns += more->first_reader_ns;
	split_add(&sum->split, &more->split);
	for (int i = 0; i < HOLDER_STACK_FROM_COUNT; i++)
		sum->stack_from_ns[i] += more->stack_from_ns[i];
	to->idle_ns += idle_ns;
}

/* The cell of that key, a new one without time if need be. */
static int cell_index(struct page_cells *p, const struct page_cell *like, bool after_wait,
		      uint32_t *ret)
{
	uint32_t before = p->keys.count;
	int err = keymap_add_row(&p->keys, key_of(like, after_wait), &p->cells, &p->cells_capacity,
				 sizeof(*p->cells), ret);

	if (!err && p->keys.count > before)
		p->cells[*ret] = *like;
	p->cell_count = p->keys.count;
	return err;
}

/* indices: where each cell goes, INDEX_NONE: nowhere. */
static int cells_collect(struct maker *m, const struct cell *cells, uint32_t count,
			 uint32_t *indices)
{
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++) {
		struct page_cell named = {0};
		uint32_t at;

		indices[i] = INDEX_NONE;
		if ((!cells[i].count && !cells[i].blocked_ns) ||
		    !lock_is_contended(m->s->names, cells[i].lock, cells[i].monitor))
			continue;
		err = cell_name(m, &cells[i], &named);
		err = err ?: cell_index(m->p, &named, cells[i].after_wait, &at);
		if (err)
			break;
		indices[i] = at;
		cell_sum(&m->p->cells[at], &cells[i], idle_turn_ns(m->s->stacks, &cells[i]));
	}
	return err;
}

static int lengths_collect(struct maker *m, const struct cell *cells, uint32_t count,
			   const uint32_t *indices, const uint32_t *moved)
{
	const struct lengths *from = m->s->in->log ? report_lengths(m->s->in) : NULL;
	uint32_t *numbers, most = 0;
	int err;

	for (uint32_t i = 0; i < count; i++)
		most = cells[i].number > most ? cells[i].number : most;
	numbers = from ? calloc(most + 1ul, sizeof(*numbers)) : NULL;
	if (!numbers)
		return from ? -ENOMEM : 0;
	for (uint32_t i = 0; i < count; i++)
		if (indices[i] != INDEX_NONE)
			numbers[cells[i].number] = moved[indices[i]] + 1;
	m->p->lengths.max = PAGE_LENGTHS_MAX;
	err = lengths_merge(&m->p->lengths, from, numbers, most + 1);
	free(numbers);
	return err;
}

static int compare_cells(const void *a, const void *b)
{
	const struct page_cell *x = *(const struct page_cell *const *)a;
	const struct page_cell *y = *(const struct page_cell *const *)b;

	if (x->sum.blocked_ns != y->sum.blocked_ns)
		return x->sum.blocked_ns < y->sum.blocked_ns ? 1 : -1;
	if (x->sum.count != y->sum.count)
		return x->sum.count < y->sum.count ? 1 : -1;
	return (x > y) - (x < y);
}

/* What stands for cells that are too many: of a class the other locks, and nobody by name. */
static int rest_name(struct maker *m, const struct page_cell *one, struct page_cell *ret)
{
	uint64_t lock = m->p->locks.keys[one->lock].a;
	const struct log_lock *known = log_names_lock(m->s->names, lock);
	const struct cell others = {.lock = lock,
				    .waiter = THREAD_OTHERS,
				    .holder = THREAD_OTHERS,
				    .waiter_stack = STACK_OTHERS,
				    .holder_stack = STACK_OTHERS,
				    .monitor = one->sum.monitor};
	int err = cell_name(m, &others, ret);

	ret->group = one->group;
	ret->facets = one->facets;
	return err
		       ?: keymap_add(&m->p->locks,
				     (struct keymap_key){.a = known ? known->class : 0,
							 .b = PAGE_LOCK_REST},
				     &ret->lock);
}

/* Heaviest first; the rest by class. moved: where each cell goes. */
static int cells_order(struct maker *m, uint32_t most, uint32_t *moved)
{
	struct page_cells *p = m->p;
	struct page_cell **order = malloc((p->cell_count + 1) * sizeof(*order));
	struct page_cell *old = p->cells;
	uint32_t count = p->cell_count, at;
	int err = order ? 0 : -ENOMEM;

	if (err)
		return err;
	for (uint32_t i = 0; i < count; i++)
		order[i] = &old[i];
	qsort(order, count, sizeof(*order), compare_cells);
	keymap_free(&p->keys);
	p->keys = (struct keymap){0};
	p->cells = NULL;
	p->cell_count = p->cells_capacity = 0;
	for (uint32_t i = 0; i < count && !err; i++) {
		struct page_cell like = *order[i];

		like.sum = (struct cell){0};
		like.idle_ns = 0;
		if (i >= most)
			err = rest_name(m, order[i], &like);
		err = err ?: cell_index(p, &like, order[i]->sum.after_wait, &at);
		if (err)
			break;
		cell_sum(&p->cells[at], &order[i]->sum, order[i]->idle_ns);
		moved[order[i] - old] = at;
		p->merged += i >= most;
		p->merged_ns += i >= most ? order[i]->sum.blocked_ns : 0;
	}
	free(order);
	free(old);
	return err;
}

/* The cell of the page, INDEX_NONE where --where has not chosen it. */
static int window_cell(struct maker *m, const struct cell_key *key, uint32_t *ret)
{
	const struct contention *c = analysis_contention(m->s->analysis);
	const struct contention_lock *lock = contention_lock_find(c, key->lock);
	struct cell cell = {.lock = key->lock,
			    .waiter = key->waiter,
			    .holder = key->holder,
			    .waiter_stack = key->waiter_stack,
			    .holder_stack = key->holder_stack,
			    .blocked_on = key->blocked_on,
			    .after_wait = key->after_wait,
			    .facets = m->s->in->facets ? key->facets : 0,
			    .monitor = lock && lock->monitor};
	struct page_cell named = {0};
	int err = cell_name(m, &cell, &named);

	if (!err)
		*ret = keymap_find(&m->p->keys, key_of(&named, key->after_wait));
	return err;
}

/* By the index of a cut of w: the cell, before the cells are put in order. */
static int windows_collect(struct maker *m, const struct cell_windows *w, uint32_t **ret)
{
	uint32_t *cells = malloc((w->cuts.count + 1ul) * sizeof(*cells));
	int err = cells ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < w->cuts.count && !err; i++) {
		struct cell_key key = cell_windows_cut(w, i);

		err = window_cell(m, &key, &cells[i]);
	}
	if (err)
		free(cells);
	else
		*ret = cells;
	return err;
}

static int compare_windows(const void *a, const void *b)
{
	const struct page_window *x = a, *y = b;

	if (x->cell != y->cell)
		return x->cell < y->cell ? -1 : 1;
	return (x->window > y->window) - (x->window < y->window);
}

/* Neighbours of one cell and window become one; how many are left. */
static uint32_t windows_join(struct page_window *windows, uint32_t count)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (left && !compare_windows(&windows[left - 1], &windows[i]))
			windows[left - 1].ns += windows[i].ns;
		else
			windows[left++] = windows[i];
	}
	return left;
}

static int windows_make(struct page_cells *p, const struct cell_windows *w, const uint32_t *cells,
			const uint32_t *moved)
{
	uint32_t count = 0;

	p->windows = malloc((w->entries.count + 1) * sizeof(*p->windows));
	if (!p->windows)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->entries.count; i++) {
		struct cell_window e = cell_windows_entry(w, i);

		if (cells[e.cut] != INDEX_NONE)
			p->windows[count++] =
				(struct page_window){moved[cells[e.cut]], e.window, e.ns};
	}
	qsort(p->windows, count, sizeof(*p->windows), compare_windows);
	p->window_count = windows_join(p->windows, count);
	while (w->length_ns << p->window_shift < p->window_ns ||
	       (p->window_count > PAGE_WINDOWS_MAX &&
		w->count >> p->window_shift >= 2 * CELL_WINDOWS_LEAST)) {
		for (uint32_t i = 0; i < p->window_count; i++)
			p->windows[i].window /= 2;
		p->window_count = windows_join(p->windows, p->window_count);
		p->window_shift++;
	}
	return 0;
}

/* An index into kept of what has one in all. */
static int keep(struct keymap *kept, const struct keymap *all, uint32_t *index)
{
	return keymap_add(kept, all->keys[*index], index);
}

/* When cells are put together, most of what those were about may be in none that is left: a million
 * names of locks are megabytes of a page. */
static int names_trim(struct page_cells *p)
{
	struct keymap locks = {0}, threads = {0};
	int err = 0;

	for (uint32_t i = 0; i < p->cell_count && !err; i++) {
		struct page_cell *c = &p->cells[i];

		err = keep(&locks, &p->locks, &c->lock);
		if (!err && c->blocked_on != PAGE_NONE)
			err = keep(&locks, &p->locks, &c->blocked_on);
		err = err ? err : keep(&threads, &p->threads, &c->waiter);
		err = err ? err : keep(&threads, &p->threads, &c->holder);
	}
	keymap_free(&p->locks);
	keymap_free(&p->threads);
	p->locks = locks;
	p->threads = threads;
	return err;
}

struct named {
	const char *name;
	uint64_t number;
	uint32_t index;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->number > y->number) - (x->number < y->number);
}

const char *page_cells_class(const struct log_names *names, const struct keymap_key *key)
{
	const struct log_lock *lock = key->b ? NULL : log_names_lock(names, key->a);
	uint64_t class = key->b ? key->a : lock ? lock->class : 0;
	const char *name = class ? log_names_class(names, class) : NULL;

	return name ? name : "";
}

static const char *thread_name(const struct log_names *names, const struct keymap_key *key)
{
	const struct log_thread *t =
		holder_is_thread(key->a) ? log_names_thread(names, key->a) : NULL;

	return t ? t->name : "";
}

static uint32_t *rank_make(const struct log_names *names, const struct keymap *map,
			   const char *name_of(const struct log_names *, const struct keymap_key *))
{
	struct named *rows = malloc((map->count + 1) * sizeof(*rows));
	uint32_t *rank = malloc((map->count + 1) * sizeof(*rank));

	if (rows && rank) {
		for (uint32_t i = 0; i < map->count; i++)
			rows[i] = (struct named){name_of(names, &map->keys[i]), map->keys[i].a, i};
		qsort(rows, map->count, sizeof(*rows), compare_named);
		for (uint32_t i = 0; i < map->count; i++)
			rank[rows[i].index] = i;
	} else {
		free(rank);
		rank = NULL;
	}
	free(rows);
	return rank;
}

int page_cells_make(const struct section_input *s, const struct cell_windows *windows,
		    uint32_t most, struct page_cells *ret)
{
	struct maker m = {s, ret};
	uint32_t count, *of_keys = NULL, *moved = NULL, *indices;
	const struct cell *cells = report_cells(s->in, &count);
	int err;

	indices = malloc((count + 1ul) * sizeof(*indices));
	err = indices ? cells_collect(&m, cells, count, indices) : -ENOMEM;
	if (!err && windows && !windows->full)
		err = windows_collect(&m, windows, &of_keys);
	moved = err ? NULL : calloc(ret->cell_count + 1, sizeof(*moved));
	if (!err)
		err = moved ? cells_order(&m, most ? most : PAGE_CELLS_MAX, moved) : -ENOMEM;
	if (!err && of_keys)
		err = windows_make(ret, windows, of_keys, moved);
	if (!err)
		err = lengths_collect(&m, cells, count, indices, moved);
	if (!err && ret->merged)
		err = names_trim(ret);
	free(indices);
	free(of_keys);
	free(moved);
	if (err)
		return err;
	ret->thread_rank = rank_make(s->names, &ret->threads, thread_name);
	ret->lock_rank = rank_make(s->names, &ret->locks, page_cells_class);
	return ret->thread_rank && ret->lock_rank ? 0 : -ENOMEM;
}

void page_cells_free(struct page_cells *p)
{
	free(p->cells);
	keymap_free(&p->keys);
	keymap_free(&p->threads);
	keymap_free(&p->locks);
	free(p->thread_rank);
	free(p->lock_rank);
	keymap_free(&p->chain_keys);
	free(p->chains);
	free(p->windows);
	lengths_free(&p->lengths);
	*p = (struct page_cells){0};
}
