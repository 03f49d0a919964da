/* Blocked time of a log, by name, with its course. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/contention/contention.h"
#include "analyze/diff/generated_name.h"
#include "analyze/groups/contended.h"
#include "analyze/groups/idle.h"
#include "analyze/registry/analysis.h"
#include "analyze/stacks/stacks.h"
#include "base/text/strbuf.h"
#include "log/read/names.h"
#include "report/model/aspect_text.h"
#include "report/model/diff/diff_collect.h"
#include "report/model/diff/diff_name.h"
#include "report/model/diff/diff_paths.h"
#include "report/model/label.h"
#include "report/model/where.h"

#define WINDOWS_LEAST 0.5 /* of a measure's time its course is known, else it has none */
#define CHAIN_FRAMES 64   /* of a chain's name; the others are left out */

/* Cells of a part, by the aspects that name them. */
struct grouping {
	enum measure_part part;
	const enum aspect_id *by;
	unsigned depth;
	struct keymap map; /* by the group around, and the aspect's key */
	uint32_t *rows;    /* by index in map, of the last aspect: 1 + the index of its measure */
	uint32_t rows_capacity;
};

/* A lock's rank among those of its class. */
struct lock_rank {
	uint64_t lock, ns;
	const char *class;
	unsigned rank;
};

struct locks {
	struct keymap map;
	struct lock_rank *ranks;
	uint32_t capacity;
};

struct blocked_part {
	const struct diff_collect *c;
	const struct log_names *names;
	const struct stacks *stacks;
	const struct cell *cells;
	uint32_t count;
	struct locks locks;
	struct diff_paths *paths;
};

static uint64_t work_ns(const struct blocked_part *b, const struct cell *cell)
{
	return cell->blocked_ns - idle_turn_ns(b->stacks, cell);
}

/* --- ranks of locks ------------------------------------------------------------------------ */

static int by_class(const void *a, const void *b)
{
	const struct lock_rank *x = a, *y = b;
	int order = strcmp(x->class, y->class);

	if (order)
		return order;
	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return (x->lock > y->lock) - (x->lock < y->lock);
}

static int locks_rank(struct blocked_part *b)
{
	struct locks *l = &b->locks;
	uint32_t index;
	int err = 0;

	for (uint32_t i = 0; i < b->count && !err; i++) {
		err = keymap_add_row(&l->map, (struct keymap_key){.a = b->cells[i].lock}, &l->ranks,
				     &l->capacity, sizeof(*l->ranks), &index);
		if (err)
			break;
		l->ranks[index].lock = b->cells[i].lock;
		l->ranks[index].class = name_class(b->names, b->cells[i].lock);
		l->ranks[index].ns += work_ns(b, &b->cells[i]);
	}
	if (err || !l->map.count)
		return err;
	qsort(l->ranks, l->map.count, sizeof(*l->ranks), by_class);
	keymap_clear(&l->map);
	for (uint32_t i = 0, n = 0; l->ranks && i < l->capacity && l->ranks[i].class && !err; i++) {
		n = i && !strcmp(l->ranks[i].class, l->ranks[i - 1].class) ? n + 1 : 1;
		l->ranks[i].rank = n;
		err = keymap_add(&l->map, (struct keymap_key){.a = l->ranks[i].lock}, &index);
	}
	return err;
}

static unsigned rank_of(const struct blocked_part *b, uint64_t lock)
{
	uint32_t index = keymap_find_number(&b->locks.map, lock);

	return index == INDEX_NONE ? 0 : b->locks.ranks[index].rank;
}

/* --- names --------------------------------------------------------------------------------- */

static void add_chain(const struct blocked_part *b, uint64_t stack, struct strbuf *s)
{
	struct stacks_frame f;

	for (unsigned n = 0; n < CHAIN_FRAMES && stacks_next(b->stacks, &stack, &f);) {
		if (!f.method || f.internal)
			continue;
		strbuf_put(s, " < ", n ? 3 : 0);
		diff_name_method(s, f.method);
		n++;
	}
}

static void add_text(const struct blocked_part *b, const struct group *g, struct strbuf *s)
{
	const struct cell *cell = g->cell;
	const struct log_method *m;
	char buf[LABEL_MAX];
	size_t used = s->used;

	switch (g->aspect) {
	case ASPECT_LOCK:
		diff_name_lock(s, name_class(b->names, cell->lock), rank_of(b, cell->lock));
		return;
	case ASPECT_LOCK_CLASS:
		generated_name_add(s, name_class(b->names, cell->lock));
		return;
	case ASPECT_WAITER_THREAD:
	case ASPECT_OWNER_THREAD:
		strbuf_add(
			s, "%s",
			name_thread(b->names,
				    g->aspect == ASPECT_OWNER_THREAD ? cell->holder : cell->waiter,
				    "(unknown)"));
		return;
	case ASPECT_GROUP:
		strbuf_add(s, "%s", name_group(b->names, cell->lock, cell->monitor));
		return;
	case ASPECT_BEHIND:
		if (cell->blocked_on)
			generated_name_add(s, name_class(b->names, cell->blocked_on));
		else
			strbuf_add(s, "(none)");
		return;
	case ASPECT_OWNER_METHOD:
	case ASPECT_OWNER_STACK:
		if (cell->holder == HOLDER_HAND_OVER) {
			strbuf_add(s, "(hand-over)");
			return;
		}
		/* fall through */
	case ASPECT_WAITER_METHOD:
	case ASPECT_WAITER_STACK:
		if (g->aspect == ASPECT_OWNER_STACK || g->aspect == ASPECT_WAITER_STACK) {
			add_chain(b, group_stack(b->stacks, g), s);
			if (s->used == used)
				strbuf_add(s, "(unknown)");
			return;
		}
		m = stacks_method(b->stacks, group_method(b->stacks, g));
		if (m)
			diff_name_method(s, m);
		else
			strbuf_add(s, "%s",
				   label_method(b->stacks, group_method(b->stacks, g), buf));
		return;
	default:
		aspect_text(b->stacks, b->c->watch->facets.cells, g, s);
		return;
	}
}

static bool is_owner(enum aspect_id aspect)
{
	return !strncmp(aspect_get(aspect)->name, "owner_", 6);
}

static struct measure *row_new(const struct blocked_part *b, const struct grouping *g,
			       const struct cell *cell)
{
	struct strbuf name = {.most = 0};
	struct measure *m = NULL;

	for (unsigned i = 0; i < g->depth; i++) {
		const struct group group = {.aspect = g->by[i], .cell = cell};

		if (i)
			strbuf_add(&name, is_owner(g->by[i]) ? " <- " : " > ");
		add_text(b, &group, &name);
	}
	if (!name.err)
		m = measures_row(b->c->measures, g->part, strbuf_text(&name));
	strbuf_free(&name);
	return m;
}

/* --- sums ---------------------------------------------------------------------------------- */

static struct measure *row_of(const struct blocked_part *b, struct grouping *g,
			      const struct cell *cell)
{
	struct measures *all = b->c->measures;
	struct measure *m;
	uint32_t index = 0;

	for (unsigned i = 0; i < g->depth; i++) {
		struct keymap_key key = {.a = aspect_get(g->by[i])->key(b->stacks, cell),
					 .b = i + 1,
					 .c = i ? index + 1 : 0};

		if (keymap_add_row(&g->map, key, &g->rows, &g->rows_capacity, sizeof(*g->rows),
				   &index))
			return NULL;
	}
	if (g->rows[index])
		return &all->rows[g->rows[index] - 1];
	m = row_new(b, g, cell);
	if (m)
		g->rows[index] = (uint32_t)(m - all->rows) + 1;
	return m;
}

static void add_cell(struct measure *m, const struct cell *cell, uint64_t ns,
		     const double windows[DIFF_WINDOWS])
{
	m->ns += ns;
	m->count += cell->count;
	for (unsigned i = 0; i < DIFF_WINDOWS; i++)
		m->windows[i] += windows[i];
}

/* The course of a cell's time that is lost to work: the part that it is of all is the same in every
 * window, as far as is known. */
static void windows_of(const struct blocked_part *b, const struct cell *cell, uint64_t ns,
		       double windows[DIFF_WINDOWS])
{
	const struct diff_watch *w = b->c->watch;
	struct cell_key key = cell_key_of(cell);
	uint32_t cut = keymap_find(&w->cells, diff_cell_key(&key));

	if (cut != INDEX_NONE)
		cut = keymap_find(&w->cuts, diff_cut_key(cut, key.facets));
	for (unsigned i = 0; i < DIFF_WINDOWS; i++)
		windows[i] = 0;
	if (cut == INDEX_NONE || !cell->blocked_ns)
		return;
	time_bins_windows(&w->bins, cut + 2, b->c->from_ns, b->c->to_ns, windows);
	for (unsigned i = 0; i < DIFF_WINDOWS; i++)
		windows[i] *= (double)ns / (double)cell->blocked_ns;
}

static int add_to(const struct blocked_part *b, const char *total, const struct cell *cell,
		  uint64_t ns, const double windows[DIFF_WINDOWS])
{
	struct measure *m = measures_row(b->c->measures, MEASURE_TOTALS, total);

	if (m)
		add_cell(m, cell, ns, windows);
	return m ? 0 : -ENOMEM;
}

static int add_everywhere(const struct blocked_part *b, struct grouping *groupings, unsigned count,
			  const struct cell *cell)
{
	static const double none[DIFF_WINDOWS];
	uint64_t ns = work_ns(b, cell);
	double windows[DIFF_WINDOWS];
	int err;

	windows_of(b, cell, ns, windows);
	err = add_to(b, "blocked", cell, ns, windows);
	if (!err)
		err = add_to(b, "idle_turns", &(struct cell){.count = 0}, cell->blocked_ns - ns,
			     none);
	for (unsigned i = 0; i < count && !err; i++) {
		struct measure *m = row_of(b, &groupings[i], cell);

		if (m)
			add_cell(m, cell, ns, windows);
		err = m ? 0 : -ENOMEM;
	}
	if (!err)
		diff_paths_add(b->paths, cell, ns);
	return err;
}

/* What found no room of its own has a course together. */
static int add_rest(const struct blocked_part *b)
{
	struct measure *m = measures_row(b->c->measures, MEASURE_TOTALS, "blocked");

	if (m && !b->c->selection->where)
		time_bins_windows(&b->c->watch->bins, 0, b->c->from_ns, b->c->to_ns, m->windows);
	return m ? 0 : -ENOMEM;
}

/* The course of most of a measure's time stands for all of it. */
static void settle(const struct blocked_part *b)
{
	struct measures *all = b->c->measures;

	for (uint32_t i = 0; i < all->count; i++) {
		struct measure *m = &all->rows[i];
		double known = 0;

		for (unsigned w = 0; w < DIFF_WINDOWS; w++)
			known += m->windows[w];
		m->has_windows = known >= WINDOWS_LEAST * (double)m->ns;
		for (unsigned w = 0; w < DIFF_WINDOWS && known > 0; w++)
			m->windows[w] *= (double)m->ns / known;
	}
}

static int collect(struct blocked_part *b)
{
	static const enum aspect_id class[] = {ASPECT_LOCK_CLASS};
	static const enum aspect_id methods[] = {ASPECT_WAITER_METHOD, ASPECT_OWNER_METHOD};
	const struct diff_selection *selection = b->c->selection;
	struct grouping groupings[] = {
		{.part = MEASURE_LOCKS, .by = class, .depth = 1},
		{.part = MEASURE_METHODS, .by = methods, .depth = 2},
		{.part = MEASURE_BY, .by = selection->by, .depth = selection->depth},
	};
	const unsigned count = selection->depth ? 3 : 2;
	int err = locks_rank(b);

	for (uint32_t i = 0; i < b->count && !err; i++) {
		const struct cell *cell = &b->cells[i];

		if ((cell->count || cell->blocked_ns) &&
		    lock_is_contended(b->names, cell->lock, cell->monitor))
			err = add_everywhere(b, groupings, count, cell);
	}
	for (unsigned i = 0; i < count; i++) {
		keymap_free(&groupings[i].map);
		free(groupings[i].rows);
	}
	err = err ? err : add_rest(b);
	settle(b);
	return err;
}

int diff_collect_blocked(const struct diff_collect *c)
{
	struct blocked_part b = {.c = c,
				 .names = analysis_names(c->analysis),
				 .stacks = analysis_stacks(c->analysis)};
	const struct facet_cells *facets = c->watch->facets.cells;
	struct cell *chosen = NULL;
	int err = 0;

	b.cells = contention_cells(analysis_contention(c->analysis), &b.count);
	if (facets) {
		b.cells = facet_cells(facets)->rows;
		b.count = facet_cells(facets)->count;
	}
	err = aspects_prepare(b.stacks, c->selection->by, c->selection->depth);
	if (!err && c->selection->where) {
		const struct where_input in = {
			.stacks = b.stacks, .facets = facets, .cells = b.cells, .count = b.count};

		err = where_cells(c->selection->where, &in, &chosen, &b.count);
		b.cells = chosen;
	}
	b.paths = err ? NULL : diff_paths_new(b.names);
	if (!err)
		err = b.paths ? collect(&b) : -ENOMEM;
	if (!err)
		err = diff_paths_finish(b.paths, c->waiters, c->owners);
	diff_paths_free(b.paths);
	keymap_free(&b.locks.map);
	free(b.locks.ranks);
	free(chosen);
	return err;
}
