/*
 * An interval's range ends before the events that end the contentions which cross its end, so
 * these have no cell in it; the next interval's analysis has them from its begin on, or from
 * somewhere before that. So their time up to an interval's end is added from what is open there,
 * and what an ended contention had before an interval's begin is taken off.
 */
#include "report/live/live_cells.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/cell_windows.h"
#include "analyze/contention/contention.h"
#include "analyze/groups/facet_cells.h"
#include "analyze/registry/analysis.h"
#include "report/live/live_view.h"
#include "session/session_log.h"

void live_early_reset(struct live_early *e, uint64_t begin_ns)
{
	keymap_free(&e->keys);
	keymap_free(&e->cuts);
	free(e->ns);
	*e = (struct live_early){.begin_ns = begin_ns};
}

static struct keymap_key cut_key(uint32_t key, uint32_t facets)
{
	return (struct keymap_key){.a = key, .b = facets};
}

void live_early_observe(void *early, const struct cell_part *part)
{
	struct live_early *e = early;
	uint64_t from_ns = part->from_ns;
	uint64_t to_ns = part->to_ns < e->begin_ns ? part->to_ns : e->begin_ns;
	uint32_t key, index, count = e->cuts.count;

	if (e->err || to_ns <= from_ns)
		return;
	e->err = keymap_add(&e->keys, cell_windows_key(&part->key), &key);
	if (!e->err)
		e->err = keymap_add_row(&e->cuts, cut_key(key, part->key.facets), &e->ns,
					&e->capacity, sizeof(*e->ns), &index);
	if (e->err)
		return;
	if (index == count)
		e->ns[index] = 0;
	e->ns[index] += to_ns - from_ns;
}

/* Names that come after the interval's end are read, and move the analysis's clock. */
uint64_t live_open_ns(const struct live_view *v, const struct contention_open *o)
{
	uint64_t since_ns = o->since_ns > v->from_ns ? o->since_ns : v->from_ns;

	return v->to_ns > since_ns ? v->to_ns - since_ns : 0;
}

static uint64_t part_of(uint64_t ns, uint64_t left_ns, uint64_t all_ns)
{
	return (uint64_t)((unsigned __int128)ns * left_ns / all_ns);
}

/* What is left of the time was split as all of it. */
static void take_off(struct cell *c, uint64_t early_ns)
{
	uint64_t all_ns = c->blocked_ns, left_ns = all_ns > early_ns ? all_ns - early_ns : 0;
	uint64_t *const sums[] = {&c->split.running_ns,  &c->split.stolen_ns,
				  &c->split.runnable_ns, &c->split.throttled_ns,
				  &c->split.blocked_ns,  &c->first_reader_ns};

	if (!all_ns)
		return;
	c->blocked_ns = left_ns;
	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		*sums[i] = part_of(*sums[i], left_ns, all_ns);
	for (int i = 0; i < BLOCKED_REASON_COUNT; i++)
		c->split.reason_ns[i] = part_of(c->split.reason_ns[i], left_ns, all_ns);
	for (int i = 0; i < HOLDER_STACK_FROM_COUNT; i++)
		c->stack_from_ns[i] = part_of(c->stack_from_ns[i], left_ns, all_ns);
	c->split.unknown_ns = 0; /* takes what rounding leaves */
	c->split.unknown_ns = left_ns - split_sum(&c->split);
}

static void cell_make(const struct live_early *e, const struct cell *from, struct cell *ret)
{
	struct cell_key key = cell_key_of(from);
	uint32_t index = INDEX_NONE;

	*ret = *from;
	ret->pending = 0;
	if (e && e->keys.count)
		index = keymap_find(&e->keys, cell_windows_key(&key));
	if (index != INDEX_NONE)
		index = keymap_find(&e->cuts, cut_key(index, key.facets));
	if (index != INDEX_NONE)
		take_off(ret, e->ns[index]);
}

static void open_make(const struct live_view *v, const struct contention *c,
		      const struct contention_open *o, struct cell *ret)
{
	const struct contention_lock *l = contention_lock_find(c, o->lock);
	uint64_t ns = live_open_ns(v, o);

	*ret = (struct cell){.lock = o->lock,
			     .waiter = o->waiter,
			     .holder = o->holder,
			     .waiter_stack = o->waiter_stack,
			     .monitor = l && l->monitor,
			     .pending = 1,
			     .blocked_ns = ns,
			     .max_ns = ns,
			     .max_held_ns = ns,
			     .max_part_ns = ns};
	split_set_unknown(&ret->split, ns);
	if (holder_is_thread(o->holder))
		ret->stack_from_ns[HOLDER_STACK_UNKNOWN] = ns;
}

int live_cells_make(const struct live_view *v, struct cell **ret, uint32_t *ret_count)
{
	const struct contention *c = analysis_contention(v->log->analysis);
	uint32_t ended, open;
	const struct cell *cells = contention_cells(c, &ended);
	const struct contention_open *rows = contention_open(c, &open);
	struct cell *made = NULL;

	if (v->facets) {
		cells = facet_cells(v->facets)->rows;
		ended = facet_cells(v->facets)->count;
	}
	if (!v->early || !v->early->err)
		made = calloc((size_t)ended + open + 1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	for (uint32_t i = 0; i < ended; i++)
		cell_make(v->early, &cells[i], &made[i]);
	for (uint32_t i = 0; i < open; i++)
		open_make(v, c, &rows[i], &made[ended + i]);
	*ret = made;
	*ret_count = ended + open;
	return 0;
}
