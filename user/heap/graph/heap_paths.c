#include "heap/graph/heap_paths.h"

#include <errno.h>
#include <stdlib.h>

#include "base/tables/saturate.h"
#include "base/text/strbuf.h"
#include "heap/graph/heap_graph.h"

#define DEPTH_MAX 60 /* steps beyond that count for the last one */
#define WAY_MAX 64

static void set_root(struct heap_paths *p, uint32_t object, uint32_t *queue, uint32_t *end)
{
	p->parent[object] = object;
	queue[(*end)++] = object;
}

/* Breadth first, by references of this strength at most; what is reached already stays so. queue
 * has room for all objects. */
static void spread(struct heap_paths *p, uint8_t weakest, uint32_t *queue)
{
	const struct heap_graph *g = p->graph;
	uint32_t begin = 0, end = 0;
	struct heap_edge edge;

	for (uint32_t i = 0; i < g->state->objects.count; i++) {
		if (weakest == HEAP_STRONG && g->is_root[i])
			set_root(p, i, queue, &end);
		else if (weakest != HEAP_STRONG && p->parent[i] != HEAP_NONE &&
			 g->strength[heap_graph_desc(g, i)->type] == weakest)
			queue[end++] = i;
	}
	while (begin < end) {
		uint32_t at = queue[begin++];
		struct heap_edges e = heap_edges_of(g, at);

		while (heap_edges_next(&e, &edge))
			if (p->parent[edge.to] == HEAP_NONE && edge.strength <= weakest) {
				p->parent[edge.to] = at;
				queue[end++] = edge.to;
			}
	}
}

int heap_paths_new(const struct heap_graph *g, struct heap_paths **ret)
{
	size_t count = g->state->objects.count + 1ul, bytes = count * sizeof(uint32_t);
	struct heap_paths *p = calloc(1, sizeof(*p));
	uint32_t *queue = malloc(bytes), root;
	int err = 0;

	if (p) {
		p->graph = g;
		p->parent = malloc(bytes);
		p->node = malloc(bytes);
	}
	if (!p || !queue || !p->parent || !p->node)
		err = -ENOMEM;
	if (!err)
		err = keymap_add_row(&p->keys, (struct keymap_key){.f = 1}, &p->nodes, &p->capacity,
				     sizeof(*p->nodes), &root);
	if (err) {
		heap_paths_free(p);
		free(queue);
		return err;
	}
	p->count = 1;
	p->nodes[0] =
		(struct heap_path){.parent = HEAP_NONE, .child = HEAP_NONE, .next = HEAP_NONE};
	for (size_t i = 0; i < count; i++)
		p->parent[i] = p->node[i] = HEAP_NONE;
	for (uint8_t weakest = HEAP_STRONG; weakest < HEAP_STRENGTH_COUNT; weakest++)
		spread(p, weakest, queue);
	free(queue);
	*ret = p;
	return 0;
}

void heap_paths_free(struct heap_paths *p)
{
	if (!p)
		return;
	free(p->parent);
	free(p->node);
	free(p->nodes);
	keymap_free(&p->keys);
	free(p);
}

static int node_get(struct heap_paths *p, struct keymap_key key, struct heap_path node,
		    uint32_t *ret)
{
	uint32_t known = p->count;
	int err = keymap_add_row(&p->keys, key, &p->nodes, &p->capacity, sizeof(*p->nodes), ret);

	if (err)
		return err;
	p->count = p->keys.count;
	if (*ret == known) {
		node.depth = (uint16_t)(p->nodes[node.parent].depth + 1);
		node.child = node.next = HEAP_NONE;
		p->nodes[*ret] = node;
	}
	return 0;
}

static uint32_t ref_index(const struct heap_graph *g, uint32_t from, uint32_t to)
{
	struct heap_edges e = heap_edges_of(g, from);
	struct heap_edge edge;

	while (heap_edges_next(&e, &edge))
		if (edge.to == to)
			return edge.index;
	return HEAP_NONE;
}

/* The elements of an array are one reference. */
static struct keymap_key key_of(const struct heap_graph *g, uint32_t object, uint32_t index)
{
	const struct heap_desc *d = heap_graph_desc(g, object);
	bool array = g->state->types.all[d->type].kind != HEAP_INSTANCE;

	return (struct keymap_key){.b = d->of_class == HEAP_NONE ? d->type : d->of_class,
				   .c = array && index != HEAP_NONE ? 0 : index + 1ul,
				   .d = d->of_class == HEAP_NONE ? 1 : 2};
}

/* The node of an object whose parent has its own already. */
static int step(struct heap_paths *p, uint32_t object, uint32_t *ret)
{
	const struct heap_graph *g = p->graph;
	uint32_t from = p->parent[object], above;
	struct keymap_key key;
	struct heap_path node;

	/* Static fields begin a way, whoever keeps their class. */
	if (heap_graph_desc(g, object)->of_class != HEAP_NONE) {
		*ret = 0;
		return 0;
	}
	if (from == object) {
		node = (struct heap_path){.object = object, .root = g->is_root[object]};
		key = key_of(g, object, HEAP_NONE);
		key.e = node.root;
		return node_get(p, key, node, ret);
	}
	above = p->node[from];
	node = (struct heap_path){
		.parent = above, .object = from, .index = ref_index(g, from, object)};
	key = key_of(g, from, node.index);
	if (above) {
		const struct heap_path *n = &p->nodes[above];
		struct keymap_key last = key_of(g, n->object, n->index);

		if (n->depth >= DEPTH_MAX ||
		    (!n->root && last.b == key.b && last.c == key.c && last.d == key.d)) {
			p->nodes[above].repeated = 1;
			*ret = above;
			return 0;
		}
	}
	key.a = above + 1ul;
	return node_get(p, key, node, ret);
}

/* Up to the first object that has a node; then down again, by turning the way's links around. */
static int node_of(struct heap_paths *p, uint32_t object)
{
	uint32_t at = object, down = HEAP_NONE;
	int err = 0;

	while (p->node[at] == HEAP_NONE && p->parent[at] != at) {
		uint32_t up = p->parent[at];

		p->parent[at] = down;
		down = at;
		at = up;
	}
	if (p->node[at] == HEAP_NONE)
		err = step(p, at, &p->node[at]);
	while (down != HEAP_NONE) {
		uint32_t next = p->parent[down];

		p->parent[down] = at;
		if (!err)
			err = step(p, down, &p->node[down]);
		at = down;
		down = next;
	}
	return err;
}

int heap_paths_add(struct heap_paths *p, uint32_t object)
{
	uint64_t bytes = heap_graph_desc(p->graph, object)->bytes;
	struct heap_path *n;
	int err;

	if (p->parent[object] == HEAP_NONE) {
		p->unreachable_objects++;
		p->unreachable_bytes += bytes;
		return 0;
	}
	err = node_of(p, object);
	if (err)
		return err;
	n = &p->nodes[p->node[object]];
	n->objects++;
	n->bytes = sum_saturated(n->bytes, bytes);
	return 0;
}

static int by_bytes(const void *a, const void *b, void *context)
{
	const struct heap_paths *p = context;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;

	if (p->nodes[i].bytes != p->nodes[k].bytes)
		return p->nodes[i].bytes < p->nodes[k].bytes ? 1 : -1;
	return (i > k) - (i < k);
}

int heap_paths_finish(struct heap_paths *p)
{
	uint32_t *all = malloc(p->count * sizeof(*all));

	if (!all)
		return -ENOMEM;
	/* A step is newer than the one before it. */
	for (uint32_t i = p->count; --i;) {
		struct heap_path *n = &p->nodes[i], *above = &p->nodes[n->parent];

		above->objects += n->objects;
		above->bytes = sum_saturated(above->bytes, n->bytes);
	}
	for (uint32_t i = 0; i < p->count; i++)
		all[i] = i;
	qsort_r(all, p->count, sizeof(*all), by_bytes, p);
	for (uint32_t i = p->count; i--;) {
		struct heap_path *n = &p->nodes[all[i]];

		if (n->parent == HEAP_NONE)
			continue;
		n->next = p->nodes[n->parent].child;
		p->nodes[n->parent].child = all[i];
	}
	free(all);
	return 0;
}

void heap_paths_label(const struct heap_paths *p, uint32_t node, struct strbuf *ret)
{
	const struct heap_path *n = &p->nodes[node];
	const struct heap_graph *g = p->graph;

	if (n->root) {
		strbuf_add(ret, "%s: %s", heap_root_kind_name(n->root - 1u),
			   heap_type_name(&g->state->types, heap_graph_desc(g, n->object)->type));
		return;
	}
	heap_edge_label(g, n->object, n->index, ret);
	if (n->repeated)
		strbuf_put(ret, " ...", 4);
	if (g->referent[heap_graph_desc(g, n->object)->type] == n->index && n->index != HEAP_NONE)
		strbuf_add(ret, " (%s)",
			   heap_strength_name(g->strength[heap_graph_desc(g, n->object)->type]));
}

int heap_paths_way(struct heap_paths *p, uint32_t object, unsigned steps, struct strbuf *ret)
{
	uint32_t way[WAY_MAX], at;
	unsigned count = 0;
	int err = p->parent[object] == HEAP_NONE ? 0 : node_of(p, object);

	if (err)
		return err;
	if (p->parent[object] == HEAP_NONE) {
		strbuf_add(ret, "(nothing)");
		return ret->err;
	}
	if (!p->node[object])
		strbuf_add(ret, "(a class)");
	for (at = p->node[object]; at && count < WAY_MAX; at = p->nodes[at].parent)
		way[count++] = at;
	if (count > steps) {
		heap_paths_label(p, way[count - 1], ret);
		strbuf_add(ret, count - 1 > steps ? " > ... > " : " > ");
		count = steps;
	}
	while (count--) {
		heap_paths_label(p, way[count], ret);
		if (count)
			strbuf_add(ret, " > ");
	}
	return ret->err;
}
