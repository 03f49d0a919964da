#include "report/export_tree.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "analyze/groups.h"
#include "log/names.h"
#include "report/label.h"

#define ROOT 0

/* A chain on its way from the log, innermost first. */
struct chain {
	uint64_t *stacks;
	uint32_t count, capacity;
};

static int child(struct export_tree *t, uint32_t parent, uint32_t frame, uint32_t *ret)
{
	struct place_key key = {.a = parent, .b = frame};
	uint32_t known = t->places.count;
	int err = places_add_row(&t->places, key, &t->nodes, &t->capacity, sizeof(*t->nodes), ret);
	struct export_node *node;

	if (err || *ret != known)
		return err;
	node = &t->nodes[*ret];
	node->parent = parent;
	node->frame = frame;
	node->depth = t->nodes[parent].depth + 1;
	if (node->depth > t->depth_max)
		t->depth_max = node->depth;
	return 0;
}

static int child_mark(struct export_tree *t, uint32_t parent, enum export_mark mark, uint32_t *ret)
{
	uint32_t frame;
	int err = export_frames_mark(t->frames, mark, &frame);

	return err ? err : child(t, parent, frame, ret);
}

static int chain_push(struct chain *c, uint64_t stack)
{
	int err = array_grow(&c->stacks, &c->capacity, c->count, sizeof(*c->stacks));

	if (!err)
		c->stacks[c->count++] = stack;
	return err;
}

/* Below start, the frame of one number under that of its callers. */
static int chain_frame(struct export_tree *t, uint32_t start, uint32_t caller, uint64_t stack,
		       uint32_t *ret)
{
	uint32_t frame, place, node = caller;
	int err = export_frames_stack(t->frames, stack, &frame);

	if (!err)
		err = child(t, caller, frame, &node);
	if (err < 0)
		return err;
	err = places_add_row(&t->chain_places, (struct place_key){.a = start, .b = stack},
			     &t->chain_nodes, &t->chain_capacity, sizeof(*t->chain_nodes), &place);
	if (err)
		return err;
	t->chain_nodes[place] = node;
	*ret = node;
	return 0;
}

/*
 * Puts a chain below start. Chains of the log share their outer frames by number, so each number is
 * followed once per place where chains start, however deep and frequent they are.
 */
static int add_chain(struct export_tree *t, uint32_t start, uint64_t stack, uint32_t *ret)
{
	const struct log_names *names = t->frames->in->names;
	uint32_t node = start, place;
	struct chain chain = {0};
	int err = 0;

	if (!stack)
		return child_mark(t, start, EXPORT_UNKNOWN, ret);
	while (stack && !err) {
		const struct log_stack *s = log_names_stack(names, stack);

		place = places_find(&t->chain_places, (struct place_key){.a = start, .b = stack});
		if (place != PLACE_NONE) {
			node = t->chain_nodes[place];
			break;
		}
		err = chain_push(&chain, stack);
		stack = s ? s->caller : 0;
	}
	while (chain.count && !err)
		err = chain_frame(t, start, node, chain.stacks[--chain.count], &node);
	free(chain.stacks);
	if (!err && node == start)
		return child_mark(t, start, EXPORT_ALL_HIDDEN, ret);
	if (!err)
		*ret = node;
	return err;
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
static bool is_wanted(const struct export_input *in, const struct cell *cell)
{
	return cell->blocked_ns && lock_is_contended(in->names, cell->lock, cell->monitor) &&
	       (!in->lock_class || !fnmatch(in->lock_class, name_class(in->names, cell->lock), 0));
}

uint64_t export_total(const struct export_input *in)
{
	uint64_t total_ns = 0;

	for (uint32_t i = 0; i < in->cell_count; i++)
		total_ns += is_wanted(in, &in->cells[i]) ? in->cells[i].blocked_ns : 0;
	return total_ns;
}

static int compare_siblings(const void *a, const void *b, void *context)
{
	const struct export_node *nodes = context, *x = &nodes[*(const uint32_t *)a],
				 *y = &nodes[*(const uint32_t *)b];

	if (x->parent != y->parent)
		return x->parent < y->parent ? -1 : 1;
	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return x < y ? -1 : 1;
}

/*
 * The leaves in the order of a walk through the tree, the heavier child first. A node's place in
 * that walk is behind its parent's by the sizes of the siblings before it; parents come before
 * their children in nodes, and in the order of siblings.
 */
static int order_leaves(struct export_tree *t)
{
	uint32_t count = t->places.count, *size, *order, *next;

	size = calloc(3 * (size_t)count, sizeof(*size));
	t->leaves = calloc(count, sizeof(*t->leaves));
	if (!size || !t->leaves) {
		free(size);
		return -ENOMEM;
	}
	order = size + count;
	next = order + count; /* of a node: where its next child comes in the walk */
	for (uint32_t i = count; i-- > 0;) {
		struct export_node *node = &t->nodes[i];

		order[i] = i;
		size[i]++;
		node->total_ns += node->self_ns;
		if (i == ROOT)
			break;
		size[node->parent] += size[i];
		t->nodes[node->parent].total_ns += node->total_ns;
	}
	qsort_r(order + 1, count - 1, sizeof(*order), compare_siblings, t->nodes);
	next[ROOT] = 1;
	for (uint32_t i = 1; i < count; i++) {
		uint32_t place = next[t->nodes[order[i]].parent];

		next[t->nodes[order[i]].parent] += size[order[i]];
		next[order[i]] = place + 1;
		t->leaves[place] = order[i];
	}
	for (uint32_t i = 1; i < count; i++)
		if (t->nodes[t->leaves[i]].self_ns)
			t->leaves[t->leaf_count++] = t->leaves[i];
	free(size);
	return 0;
}

int export_tree_init(struct export_tree *t, struct export_frames *frames, enum export_side side)
{
	const struct export_input *in = frames->in;
	uint32_t root;
	int err;

	*t = (struct export_tree){.frames = frames};
	err = places_add_row(&t->places, (struct place_key){.a = UINT32_MAX}, &t->nodes,
			     &t->capacity, sizeof(*t->nodes), &root);
	for (uint32_t i = 0; i < in->cell_count && !err; i++)
		if (is_wanted(in, &in->cells[i]))
			err = add_cell(t, side, &in->cells[i]);
	return err ? err : order_leaves(t);
}

void export_tree_free(struct export_tree *t)
{
	places_free(&t->places);
	places_free(&t->chain_places);
	free(t->nodes);
	free(t->chain_nodes);
	free(t->leaves);
	*t = (struct export_tree){0};
}

uint32_t export_tree_chain(const struct export_tree *t, uint32_t node, uint32_t *ret)
{
	uint32_t count = t->nodes[node].depth;

	for (uint32_t i = count; i-- > 0; node = t->nodes[node].parent)
		ret[i] = t->nodes[node].frame;
	return count;
}
