#include "heap/classify/heap_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/saturate.h"
#include "heap/classify/heap_filter.h"
#include "heap/graph/heap_graph.h"
#include "heap/graph/heap_reach.h"
#include "heap/state/heap_state.h"

struct builder {
	struct heap_view *view;
	struct heap_filter *filter;
	struct heap_tree *tree;
	struct heap_keys keys[HEAP_LEVELS_MAX];
	struct heap_item item;   /* what the level at hand looks at */
	uint64_t objects, bytes; /* of the item */
	struct heap_item self;   /* the object that it began with */
	bool beyond;             /* the level at hand is after one of references */
	/* If groups are not counted, but looked at again: bits by node, and by object those of the
	 * nodes that it is in. */
	const uint8_t *marks;
	uint8_t *in_groups;
};

static int node_get(struct heap_tree *t, uint32_t parent, unsigned level, uint64_t key,
		    uint32_t *ret)
{
	struct keymap_key k = {.a = key, .b = parent + 1ul, .c = level};
	uint32_t known = t->keys.count, at = keymap_find(&t->keys, k);
	int err;

	if (at != INDEX_NONE) {
		*ret = at;
		return 0;
	}
	if (known >= HEAP_NODES_MAX)
		return -ENOSPC;
	err = keymap_add_row(&t->keys, k, &t->nodes, &t->capacity, sizeof(*t->nodes), ret);
	if (err)
		return err;
	t->nodes[*ret] = (struct heap_node){
		.key = key,
		.parent = parent,
		.child = HEAP_NONE,
		.next = HEAP_NONE,
		.level = (uint16_t)level,
		.depth = parent == HEAP_NONE ? 0 : (uint16_t)(t->nodes[parent].depth + 1),
	};
	t->count = t->keys.count;
	return 0;
}

static int count(struct builder *b, uint32_t parent, unsigned level, uint64_t key, uint32_t *ret)
{
	struct keymap_key k = {.a = key, .b = parent + 1ul, .c = level};
	int err;

	if (b->marks) {
		*ret = keymap_find(&b->tree->keys, k);
		if (*ret == INDEX_NONE)
			return -ENOSPC;
		b->in_groups[b->item.object] |= b->marks[*ret];
		return 0;
	}
	err = node_get(b->tree, parent, level, key, ret);
	if (err == -ENOSPC)
		b->tree->left_out += b->objects;
	if (err)
		return err;
	if (b->beyond && b->tree->via[level] == HEAP_SELF) {
		if (b->tree->nodes[*ret].last == b->self.object + 1)
			return -EALREADY;
		b->tree->nodes[*ret].last = b->self.object + 1;
	}
	b->tree->nodes[*ret].objects += b->objects;
	b->tree->nodes[*ret].bytes = sum_saturated(b->tree->nodes[*ret].bytes, b->bytes);
	return 0;
}

static void look_at(struct builder *b, struct heap_item item)
{
	const struct heap_desc *d = &b->view->state->descs[item.desc];

	b->item = item;
	b->objects = item.object == HEAP_NONE ? d->count : 1;
	if (__builtin_mul_overflow(d->bytes, b->objects, &b->bytes))
		b->bytes = UINT64_MAX;
}

static int add(struct builder *b, uint32_t parent, unsigned level);

/* The object at the other end of a reference. */
static int add_end(struct builder *b, uint32_t object, uint32_t parent, unsigned level)
{
	uint32_t node;
	int err;

	look_at(b, (struct heap_item){b->view->state->objects.desc[object], object});
	err = count(b, parent, level, 0, &node);
	return err ? err : add(b, node, level + 1);
}

static int add_ends(struct builder *b, uint32_t parent, unsigned level)
{
	const struct heap_referrers *r = b->view->referrers;
	uint32_t self = b->self.object;
	struct heap_edge edge;
	int err = 0;

	b->beyond = true;
	if (b->tree->via[level] == HEAP_FROM_ALL) {
		for (uint32_t i = r->at[self]; !err && i < r->at[self + 1]; i++)
			err = add_end(b, r->from[i], parent, level);
	} else {
		struct heap_edges e = heap_edges_of(b->view->graph, self);

		while (!err && heap_edges_next(&e, &edge))
			if (edge.index != HEAP_NONE)
				err = add_end(b, edge.to, parent, level);
	}
	return err;
}

/* As deep as there are levels. */
static int add(struct builder *b, uint32_t parent, unsigned level)
{
	const struct heap_classifier *c = b->tree->levels[level];
	struct heap_keys *keys = &b->keys[level];
	struct heap_item item;
	uint32_t node = parent;
	int err = 0;

	if (level == b->tree->level_count)
		return 0;
	if (b->beyond && b->tree->via[level] != HEAP_VIA)
		look_at(b, b->self);
	if (b->tree->via[level] == HEAP_TO_ALL || b->tree->via[level] == HEAP_FROM_ALL)
		return add_ends(b, parent, level);
	item = b->item;
	keys->count = 0;
	heap_classify(c, b->view, &item, keys);
	if (!keys->count)
		heap_keys_add(keys, HEAP_KEY_NONE);
	if (keys->err || b->view->err)
		return keys->err ? keys->err : b->view->err;
	for (uint32_t i = 0; !err && i < keys->count; i++) {
		err = count(b, c->shape == HEAP_HIERARCHY ? node : parent, level, keys->all[i],
			    &node);
		if (!err && (c->shape != HEAP_HIERARCHY || i + 1 == keys->count))
			err = add(b, node, level + 1);
		if (b->item.object != item.object)
			look_at(b, item);
		if (err == -EALREADY)
			err = c->shape == HEAP_HIERARCHY && i + 1 < keys->count ? 0 : err;
		if ((err == -ENOSPC || err == -EALREADY) && c->shape == HEAP_MANY)
			err = 0;
	}
	return err == -ENOSPC || err == -EALREADY ? 0 : err;
}

static int add_item(struct builder *b)
{
	int chosen = heap_filter_holds(b->filter, &b->item);
	uint32_t root;

	if (chosen <= 0)
		return chosen;
	b->self = b->item;
	b->beyond = false;
	look_at(b, b->item);
	count(b, HEAP_NONE, 0, 0, &root);
	return add(b, root, 0);
}

static int add_all(struct builder *b, unsigned needs)
{
	const struct heap_state *s = b->view->state;
	int err = 0;

	if (needs == HEAP_NEEDS_DESC)
		for (uint32_t i = 0; !err && i < s->desc_count; i++) {
			b->item = (struct heap_item){i, HEAP_NONE};
			err = add_item(b);
		}
	else
		for (uint32_t i = 0; !err && i < s->objects.count; i++) {
			b->item = (struct heap_item){s->objects.desc[i], i};
			err = add_item(b);
		}
	return err;
}

static void builder_free(struct builder *b)
{
	for (unsigned i = 0; i < HEAP_LEVELS_MAX; i++)
		free(b->keys[i].all);
}

/* What a node is sorted by, no more than its parent's. */
struct size {
	uint64_t first, second;
};

static int by_size(const void *a, const void *b, void *context)
{
	const struct size *sizes = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct size *x = &sizes[i], *y = &sizes[k];

	if (x->first != y->first)
		return x->first < y->first ? 1 : -1;
	if (x->second != y->second)
		return x->second < y->second ? 1 : -1;
	return (i > k) - (i < k); /* a parent is older than its children */
}

static struct size size_of(const struct heap_tree *t, const struct size *sizes, uint32_t node)
{
	const struct heap_node *n = &t->nodes[node];
	struct size s = {n->bytes, n->objects};

	if (t->by_objects)
		s = (struct size){n->objects, n->bytes};
	if (n->parent == HEAP_NONE)
		return s;
	if (s.first > sizes[n->parent].first)
		s.first = sizes[n->parent].first;
	if (s.second > sizes[n->parent].second)
		s.second = sizes[n->parent].second;
	return s;
}

static uint32_t *sorted(const struct heap_tree *t)
{
	uint32_t *all = malloc((t->count + 1ul) * sizeof(*all));
	struct size *sizes = malloc((t->count + 1ul) * sizeof(*sizes));

	if (!all || !sizes) {
		free(all);
		free(sizes);
		return NULL;
	}
	for (uint32_t i = 0; i < t->count; i++) {
		all[i] = i;
		sizes[i] = size_of(t, sizes, i);
	}
	qsort_r(all, t->count, sizeof(*all), by_size, sizes);
	free(sizes);
	return all;
}

/* The smallest first, so that each is put in front of its larger sisters. */
static int link_children(struct heap_tree *t)
{
	uint32_t *all = sorted(t);

	if (!all)
		return -ENOMEM;
	for (uint32_t i = t->count; i--;) {
		struct heap_node *n = &t->nodes[all[i]];

		if (n->parent == HEAP_NONE)
			continue;
		n->next = t->nodes[n->parent].child;
		t->nodes[n->parent].child = all[i];
	}
	free(all);
	return 0;
}

/* Bits of enum heap_needs. */
static unsigned levels_need(const struct heap_tree *t)
{
	unsigned needs = HEAP_NEEDS_DESC;

	for (unsigned i = 0; i < t->level_count; i++)
		needs |= t->levels[i]->needs;
	return needs;
}

int heap_tree_build(struct heap_view *v, struct heap_filter *filter, struct heap_tree *ret)
{
	struct builder b = {.view = v, .filter = filter, .tree = ret};
	unsigned needs = levels_need(ret) | heap_filter_needs(filter);
	uint32_t root;
	int err = node_get(ret, HEAP_NONE, 0, 0, &root);

	ret->of_objects = v->state->object_count;
	ret->of_bytes = v->state->bytes;
	if (!err)
		err = add_all(&b, needs);
	builder_free(&b);
	return err ? err : link_children(ret);
}

/* A pass over all objects for as many groups as a byte has bits; then a flood for each. */
static int retained_by(struct builder *b, const uint32_t *groups, uint32_t count, uint8_t *marks,
		       uint64_t *ret)
{
	uint64_t objects;
	int err;

	memset(marks, 0, b->tree->count);
	memset(b->in_groups, 0, b->view->state->objects.count);
	for (uint32_t i = 0; i < count; i++)
		marks[groups[i]] = (uint8_t)(1u << i);
	err = add_all(b, HEAP_NEEDS_OBJECTS);
	for (uint32_t i = 0; !err && i < count; i++)
		err = heap_reach_without(b->view->graph, b->in_groups, (uint8_t)(1u << i), &objects,
					 &ret[groups[i]]);
	return err;
}

int heap_tree_retained(struct heap_view *v, struct heap_filter *filter, struct heap_tree *t,
		       uint32_t count, uint64_t **ret)
{
	uint32_t *all = sorted(t), end = count < t->count - 1 ? count + 1 : t->count;
	uint8_t *marks = malloc(t->count), *in_groups = malloc(v->state->objects.count + 1ul);
	struct builder b = {
		.view = v, .filter = filter, .tree = t, .marks = marks, .in_groups = in_groups};
	int err;

	*ret = malloc(t->count * sizeof(**ret));
	err = all && marks && in_groups && *ret ? 0 : -ENOMEM;
	if (!err)
		memset(*ret, 0xff, t->count * sizeof(**ret));
	/* The root is the first, as no group is larger, or older. */
	for (uint32_t i = 1; !err && i < end; i += 8)
		err = retained_by(&b, all + i, end - i < 8 ? end - i : 8, marks, *ret);
	builder_free(&b);
	free(all);
	free(marks);
	free(in_groups);
	return err;
}

void heap_tree_free(struct heap_tree *t)
{
	free(t->nodes);
	keymap_free(&t->keys);
	*t = (struct heap_tree){0};
}

void heap_tree_label(struct heap_view *v, const struct heap_tree *t, uint32_t node,
		     struct strbuf *ret)
{
	const struct heap_node *n = &t->nodes[node];

	if (n->parent == HEAP_NONE)
		strbuf_add(ret, "all");
	else if (n->key == HEAP_KEY_NONE)
		strbuf_add(ret, "(none)");
	else
		t->levels[n->level]->label(v, n->key, ret);
}

int heap_tree_largest(const struct heap_tree *t, uint32_t count, bool *shown)
{
	uint32_t *all = sorted(t);

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count; i++)
		shown[all[i]] = i <= count;
	free(all);
	return 0;
}

int heap_tree_largest_of(const struct heap_tree *t, uint32_t count, const bool *selected,
			 bool *shown)
{
	uint32_t *all = sorted(t), n = 0;

	if (!all)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->count && n < count; i++) {
		if (!selected[all[i]])
			continue;
		n++;
		for (uint32_t up = all[i]; up != HEAP_NONE && !shown[up]; up = t->nodes[up].parent)
			shown[up] = true;
	}
	free(all);
	return 0;
}
