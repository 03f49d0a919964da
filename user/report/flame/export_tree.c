#include "report/flame/export_tree.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "analyze/groups/groups.h"
#include "base/tables/hash.h"
#include "log/read/names.h"
#include "report/model/label.h"

#define ROOT 0

/* The node's slot, or the free one where it belongs. A tree can have millions of nodes: so there is
 * no copy of their keys, as in cells. */
static struct slot *slot_of(const struct export_tree *t, uint32_t parent, uint32_t frame,
			    uint32_t hash)
{
	struct slot *slot = slots_first(&t->slots, hash);

	while (slot->index && (t->nodes[slot->index - 1].parent != parent ||
			       t->nodes[slot->index - 1].frame != frame))
		slot = slots_next(&t->slots, slot);
	return slot;
}

static int child(struct export_tree *t, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	uint32_t hash = hash_number((uint64_t)parent << 32 | frame);
	struct slot *slot;
	int err = array_grow(&t->nodes, &t->capacity, t->count, sizeof(*t->nodes));

	if (!err)
		err = slots_reserve(&t->slots, t->count);
	if (err)
		return err;
	slot = slot_of(t, parent, frame, hash);
	if (!slot->index) {
		t->nodes[t->count].parent = parent;
		t->nodes[t->count].frame = frame;
		*slot = (struct slot){hash, ++t->count};
	}
	*ret = slot->index - 1;
	return 0;
}

static int child_mark(struct export_tree *t, uint32_t parent, enum export_mark mark, uint32_t *ret)
{
	uint32_t frame;
	int err = export_frames_mark(t->frames, mark, &frame);

	return err ? err : child(t, parent, frame, ret);
}

static int path_push(struct export_tree *t, uint32_t *count, uint32_t frame)
{
	int err = array_grow(&t->path, &t->path_capacity, *count, sizeof(*t->path));

	if (!err)
		t->path[(*count)++] = frame;
	return err;
}

/* The node of a chain's innermost frame, its first frame being a child of start. */
static int follow_chain(struct export_tree *t, uint32_t start, uint64_t stack, uint32_t *ret)
{
	uint32_t step, node = start, count = 0;
	int err = export_frames_chain(t->frames, stack, &step);

	if (err)
		return err;
	for (; step != INDEX_NONE && !err; step = t->frames->steps[step].caller)
		if (t->frames->steps[step].frame != INDEX_NONE)
			err = path_push(t, &count, t->frames->steps[step].frame);
	if (!count && !err)
		return child_mark(t, start, EXPORT_ALL_HIDDEN, ret);
	while (count && !err)
		err = child(t, node, t->path[--count], &node);
	if (!err)
		*ret = node;
	return err;
}

/* Cells have the same few chains: each is followed once per cell that it starts in. */
static int add_chain(struct export_tree *t, uint32_t start, uint64_t stack, uint32_t *ret)
{
	struct keymap_key key = {.a = start, .b = stack};
	uint32_t index, node;
	int err;

	if (!stack)
		return child_mark(t, start, EXPORT_UNKNOWN, ret);
	index = keymap_find(&t->chain_map, key);
	if (index != INDEX_NONE) {
		*ret = t->chain_nodes[index];
		return 0;
	}
	err = follow_chain(t, start, stack, &node);
	if (!err)
		err = keymap_add_row(&t->chain_map, key, &t->chain_nodes, &t->chain_capacity,
				     sizeof(*t->chain_nodes), &index);
	if (err)
		return err;
	t->chain_nodes[index] = node;
	*ret = node;
	return 0;
}

static int add_thread_chain(struct export_tree *t, uint32_t start, uint64_t thread, uint64_t stack,
			    uint32_t *ret)
{
	uint32_t frame;
	int err = 0;

	if (t->frames->in->threads) {
		err = export_frames_thread(t->frames, thread, &frame);
		if (!err)
			err = child(t, start, frame, &start);
	}
	return err ? err : add_chain(t, start, stack, ret);
}

static int add_holder(struct export_tree *t, uint32_t start, const struct cell *cell, uint32_t *ret)
{
	if (cell->holder == HOLDER_HAND_OVER)
		return child_mark(t, start, EXPORT_HAND_OVER, ret);
	if (cell->holder == HOLDER_UNKNOWN)
		return child_mark(t, start, EXPORT_UNKNOWN_HOLDER, ret);
	return add_thread_chain(t, start, cell->holder, cell->holder_stack, ret);
}

static int add_cell(struct export_tree *t, enum export_side side, const struct cell *cell)
{
	uint32_t node = ROOT, frame;
	int err;

	if (side == EXPORT_OWNER)
		err = add_holder(t, node, cell, &node);
	else
		err = add_thread_chain(t, node, cell->waiter, cell->waiter_stack, &node);
	if (!err && t->frames->in->locks) {
		err = export_frames_lock(t->frames, cell->lock, &frame);
		if (!err)
			err = child(t, node, frame, &node);
	}
	if (!err && side == EXPORT_BOTH) {
		err = child_mark(t, node, EXPORT_BLOCKED_BY, &node);
		if (!err)
			err = add_holder(t, node, cell, &node);
	}
	if (!err)
		t->nodes[node].self_ns += cell->blocked_ns;
	return err;
}

/* The same cells as in a report: see groups_make(). */
bool export_selects(const struct export_input *in, const struct cell *cell)
{
	return lock_is_contended(in->names, cell->lock, cell->monitor) &&
	       (!in->lock_class || !fnmatch(in->lock_class, name_class(in->names, cell->lock), 0));
}

uint64_t export_total(const struct export_input *in)
{
	uint64_t total_ns = 0;

	for (uint32_t i = 0; i < in->cell_count; i++)
		total_ns += export_selects(in, &in->cells[i]) ? in->cells[i].blocked_ns : 0;
	return total_ns;
}

static int compare_siblings(const void *a, const void *b, void *context)
{
	const struct export_node *nodes = context, *x = &nodes[*(const uint32_t *)a],
				 *y = &nodes[*(const uint32_t *)b];

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x < y ? -1 : 1;
}

/* Parents come before their children: backwards, a node's sum is complete when it is reached. */
static void sum_totals(struct export_tree *t)
{
	for (uint32_t i = t->count; i-- > 0;) {
		t->nodes[i].total_ns += t->nodes[i].self_ns;
		if (i != ROOT)
			t->nodes[t->nodes[i].parent].total_ns += t->nodes[i].total_ns;
	}
}

/*
 * The children of all nodes, those of one side by side, the heaviest first; those of node i are
 * children[i ? end[i - 1] : 0] to children[end[i] - 1].
 */
static void sort_children(const struct export_tree *t, uint32_t *children, uint32_t *end)
{
	uint32_t first = 0;

	for (uint32_t i = ROOT + 1; i < t->count; i++)
		end[t->nodes[i].parent]++;
	for (uint32_t i = 1; i < t->count; i++)
		end[i] += end[i - 1];
	for (uint32_t i = t->count; --i > ROOT;)
		children[--end[t->nodes[i].parent]] = i;
	/* Each end is now its begin: that of the next node is its end. */
	for (uint32_t i = 0; i < t->count; i++) {
		end[i] = i + 1 < t->count ? end[i + 1] : t->count - 1;
		if (end[i] - first > 1)
			qsort_r(children + first, end[i] - first, sizeof(*children),
				compare_siblings, t->nodes);
		first = end[i];
	}
}

/* The leaves in the order of a walk through the tree, the heavier child first. */
static int order_leaves(struct export_tree *t)
{
	uint32_t *children = calloc(3 * (size_t)t->count, sizeof(*children)), *end, *stack, top = 0;

	t->leaves = calloc(t->count, sizeof(*t->leaves));
	if (!children || !t->leaves) {
		free(children);
		return -ENOMEM;
	}
	end = children + t->count;
	stack = end + t->count; /* nodes that are to come, the next one at the top */
	sort_children(t, children, end);
	stack[top++] = ROOT;
	while (top) {
		uint32_t node = stack[--top], begin = node ? end[node - 1] : 0;

		if (t->nodes[node].self_ns)
			t->leaves[t->leaf_count++] = node;
		for (uint32_t i = end[node]; i-- > begin;)
			stack[top++] = children[i];
	}
	free(children);
	return 0;
}

int export_tree_init(struct export_tree *t, struct export_frames *frames, enum export_side side)
{
	const struct export_input *in = frames->in;
	int err;

	*t = (struct export_tree){.frames = frames};
	err = array_grow(&t->nodes, &t->capacity, 0, sizeof(*t->nodes));
	t->count = 1;
	for (uint32_t i = 0; i < in->cell_count && !err; i++)
		if (in->cells[i].blocked_ns && export_selects(in, &in->cells[i]))
			err = add_cell(t, side, &in->cells[i]);
	if (err)
		return err;
	sum_totals(t);
	return order_leaves(t);
}

void export_tree_free(struct export_tree *t)
{
	keymap_free(&t->chain_map);
	free(t->nodes);
	slots_free(&t->slots);
	free(t->chain_nodes);
	free(t->path);
	free(t->leaves);
	*t = (struct export_tree){0};
}

int export_tree_chain(struct export_tree *t, uint32_t node, const uint32_t **ret,
		      uint32_t *ret_count)
{
	uint32_t count = 0;

	for (; node != ROOT; node = t->nodes[node].parent) {
		int err = path_push(t, &count, t->nodes[node].frame);

		if (err)
			return err;
	}
	*ret = t->path;
	*ret_count = count;
	return 0;
}
