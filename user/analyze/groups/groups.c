#include "analyze/groups/groups.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cells/lengths.h"
#include "analyze/groups/idle.h"
#include "analyze/stacks/stacks.h"
#include "base/tables/keymap.h"
#include "log/format/event.h"
#include "log/read/names.h"

struct sort_context {
	const struct stacks *stacks;
	const struct log_names *names;
	const struct aspect *aspect;
	enum group_order order;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* A cell on its way into groups. */
struct entry {
	const struct cell *cell;
	uint64_t idle_ns;
	uint32_t group; /* its index */
};

uint64_t group_rank(const struct group *g, enum group_order order)
{
	switch (order) {
	case GROUP_BY_P50:
	case GROUP_BY_P90:
	case GROUP_BY_P99:
	case GROUP_BY_P999:
		return g->quantile_ns[order - GROUP_BY_P50];
	case GROUP_BY_COUNT:
		return g->count;
	case GROUP_BY_MAX:
		return g->max_ns;
	case GROUP_BY_TIME:
		return g->blocked_ns;
	default:
		return group_work_ns(g);
	}
}

static int compare_groups(const void *a, const void *b, void *context)
{
	const struct sort_context *s = context;
	const struct group *x = a, *y = b;

	if (s->order != GROUP_BY_VALUE && group_rank(x, s->order) != group_rank(y, s->order))
		return -compare_u64(group_rank(x, s->order), group_rank(y, s->order));
	if (s->order != GROUP_BY_VALUE && x->blocked_ns != y->blocked_ns)
		return -compare_u64(x->blocked_ns, y->blocked_ns);
	if (s->aspect->compare)
		return s->aspect->compare(s->names, x->cell, y->cell);
	return compare_u64(s->aspect->key(s->stacks, x->cell), s->aspect->key(s->stacks, y->cell));
}

static void sum(struct group *g, const struct entry *entries, uint32_t count, enum group_max which)
{
	for (uint32_t i = 0; i < count; i++) {
		const struct cell *cell = entries[i].cell;
		uint64_t max = which == GROUP_MAX_PART   ? cell->max_part_ns
			       : which == GROUP_MAX_HELD ? cell->max_held_ns
							 : cell->max_ns;

		if (!g->cell || cell->blocked_ns > g->cell->blocked_ns)
			g->cell = cell;
		g->count += cell->count;
		g->blocked_ns += cell->blocked_ns;
		g->idle_ns += entries[i].idle_ns;
		g->first_reader_ns += cell->first_reader_ns;
		g->after_wait_count += cell->after_wait ? cell->count : 0;
		g->after_wait_ns += cell->after_wait ? cell->blocked_ns : 0;
		g->max_ns = max > g->max_ns ? max : g->max_ns;
		split_add(&g->split, &cell->split);
		for (int k = 0; k < HOLDER_STACK_FROM_COUNT; k++)
			g->stack_from_ns[k] += cell->stack_from_ns[k];
	}
}

/* What all levels work with. */
struct nest {
	const struct stacks *stacks;
	struct entry *spare; /* as many as there are entries */
	struct keymap keys;  /* of the groups of one parent; empty in between */
	enum group_order order;
	const struct length_index *index; /* NULL: no quantiles */
	struct length_sums *lengths;
};

/* Gives each entry its group's index, in the order of the first ones. 0 or -ENOMEM. */
static int groups_number(struct nest *n, const struct aspect *aspect, struct entry *entries,
			 uint32_t count, uint32_t *ret)
{
	int err = 0;

	for (uint32_t i = 0; i < count && !err; i++)
		err = keymap_add_number(&n->keys, aspect->key(n->stacks, entries[i].cell),
					&entries[i].group);
	*ret = n->keys.count;
	keymap_clear(&n->keys);
	return err;
}

/* Entries of one group side by side, in the order that they had; ends by group, all zero. */
static void entries_part(struct nest *n, struct entry *entries, uint32_t count, uint32_t *ends,
			 uint32_t groups)
{
	uint32_t begin = 0, size;

	memcpy(n->spare, entries, count * sizeof(*entries));
	for (uint32_t i = 0; i < count; i++)
		ends[entries[i].group]++;
	for (uint32_t i = 0; i < groups; i++) {
		size = ends[i];
		ends[i] = begin;
		begin += size;
	}
	for (uint32_t i = 0; i < count; i++)
		entries[ends[n->spare[i].group]++] = n->spare[i];
}

static void sum_lengths(const struct nest *n, struct group *g, const struct entry *entries,
			uint32_t count)
{
	uint64_t longest_ns = 0;

	for (uint32_t i = 0; i < count; i++) {
		const struct cell *cell = entries[i].cell;

		if (!cell->count)
			continue;
		length_sums_add(n->lengths, n->index, cell->number);
		longest_ns = cell->max_ns > longest_ns ? cell->max_ns : longest_ns;
	}
	length_sums_take(n->lengths, n->index->shift, longest_ns, g->quantile_ns);
}

static int nest(struct nest *n, struct entry *entries, uint32_t count, const enum aspect_id *by,
		unsigned depth, enum group_max max, struct group *parent)
{
	struct sort_context s = {n->stacks, stacks_names(n->stacks), depth ? aspect_get(*by) : NULL,
				 n->order};
	uint32_t groups, *ends;
	int err;

	sum(parent, entries, count, max);
	if (n->index)
		sum_lengths(n, parent, entries, count);
	if (!depth || !count)
		return 0;
	err = groups_number(n, s.aspect, entries, count, &groups);
	if (err)
		return err;
	parent->groups = calloc(groups, sizeof(*parent->groups));
	ends = calloc(groups, sizeof(*ends));
	if (parent->groups && ends)
		entries_part(n, entries, count, ends, groups);
	else
		err = -ENOMEM;
	for (uint32_t first = 0; !err && parent->group_count < groups;) {
		struct group *g = &parent->groups[parent->group_count];
		uint32_t end = ends[parent->group_count++];

		g->aspect = *by;
		g->parent_ns = parent->blocked_ns;
		err = nest(n, entries + first, end - first, by + 1, depth - 1,
			   max > s.aspect->max ? max : s.aspect->max, g);
		first = end;
	}
	free(ends);
	if (!err)
		qsort_r(parent->groups, parent->group_count, sizeof(*parent->groups),
			compare_groups, &s);
	return err;
}

/* The cells that count. Contentions: with their idle time. */
static uint32_t choose(const struct groups_input *in, struct entry *used)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < in->cell_count; i++) {
		const struct cell *cell = &in->cells[i];

		if ((!cell->count && !cell->blocked_ns) ||
		    lock_is_contended(stacks_names(in->stacks), cell->lock, cell->monitor) ==
			    in->parked)
			continue;
		used[count++] = (struct entry){
			.cell = cell, .idle_ns = in->parked ? 0 : idle_turn_ns(in->stacks, cell)};
	}
	return count;
}

/* The root of all, with the groups of some. */
static int nest_some(struct nest *n, struct entry *entries, uint32_t count,
		     const struct groups_input *in, struct group *root)
{
	struct group some = {0};
	uint32_t left = 0;
	int err = nest(n, entries, count, NULL, 0, GROUP_MAX_WHOLE, root);

	for (uint32_t i = 0; i < count && !err; i++)
		if (keymap_find_number(in->locks, entries[i].cell->lock) != INDEX_NONE)
			entries[left++] = entries[i];
	if (!err)
		err = nest(n, entries, left, in->by, in->depth, GROUP_MAX_WHOLE, &some);
	root->groups = some.groups;
	root->group_count = some.group_count;
	for (uint32_t i = 0; i < root->group_count; i++)
		root->groups[i].parent_ns = root->blocked_ns;
	return err;
}

static int prepare_lengths(const struct groups_input *in, struct nest *n,
			   struct length_index *index)
{
	uint32_t numbers = 0;
	int err;

	for (uint32_t i = 0; i < in->cell_count; i++)
		if (in->cells[i].number > numbers)
			numbers = in->cells[i].number;
	n->lengths = calloc(1, sizeof(*n->lengths));
	err = n->lengths ? length_index_make(in->lengths, numbers, index) : -ENOMEM;
	n->index = err ? NULL : index;
	return err;
}

int groups_sum(const struct groups_input *in, struct group *ret)
{
	struct entry *used = malloc((in->cell_count + 1ul) * sizeof(*used));
	struct nest n = {.stacks = in->stacks, .order = in->order};
	struct length_index index = {0};
	struct group root = {0};
	uint32_t count = 0;
	int err = used ? aspects_prepare(in->stacks, in->by, in->depth) : -ENOMEM;

	if (!err && in->lengths)
		err = prepare_lengths(in, &n, &index);
	if (!err)
		count = choose(in, used);
	n.spare = in->depth ? malloc((count + 1ul) * sizeof(*n.spare)) : NULL;
	if (in->depth && !n.spare)
		err = -ENOMEM;
	if (!err)
		err = in->locks ? nest_some(&n, used, count, in, &root)
				: nest(&n, used, count, in->by, in->depth, GROUP_MAX_WHOLE, &root);
	root.parent_ns = root.blocked_ns;
	free(used);
	free(n.spare);
	free(n.lengths);
	length_index_free(&index);
	keymap_free(&n.keys);
	if (err)
		groups_free(&root);
	else
		*ret = root;
	return err;
}

int groups_make(const struct stacks *stacks, const struct cell *cells, uint32_t cell_count,
		const enum aspect_id *by, unsigned depth, enum group_order order, struct group *ret)
{
	const struct groups_input in = {.stacks = stacks,
					.cells = cells,
					.cell_count = cell_count,
					.by = by,
					.depth = depth,
					.order = order};

	return groups_sum(&in, ret);
}

void groups_free(struct group *root)
{
	for (uint32_t i = 0; i < root->group_count; i++)
		groups_free(&root->groups[i]);
	free(root->groups);
	*root = (struct group){0};
}

uint32_t group_method(const struct stacks *stacks, const struct group *g)
{
	if (g->aspect == ASPECT_WAITER_METHOD)
		return stacks_waiter_method(stacks, g->cell->waiter_stack);
	return stacks_holder_method(stacks, g->cell->holder_stack);
}
