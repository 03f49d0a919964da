#include "heap/classify/heap_by_graph.h"

#include "heap/graph/heap_dominators.h"
#include "heap/graph/heap_graph.h"
#include "heap/graph/heap_reach.h"

/* Each group once: an object counts once in it, however often it refers there. */
static void add_once(struct heap_view *v, struct heap_keys *k, uint32_t key)
{
	if (heap_view_first(v, key))
		heap_keys_add(k, key);
}

void heap_by_points_to(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	struct heap_edges e = heap_edges_of(v->graph, item->object);
	struct heap_edge edge;

	heap_view_round(v);
	while (heap_edges_next(&e, &edge))
		if (edge.index != HEAP_NONE)
			add_once(v, ret,
				 heap_view_type(v, heap_graph_desc(v->graph, edge.to)->type));
}

static void add_field(struct heap_view *v, uint32_t from, uint32_t index, struct heap_keys *ret)
{
	struct strbuf *label = &v->label;

	strbuf_clear(label);
	heap_edge_label(v->graph, from, index, label);
	if (label->err)
		v->err = label->err;
	add_once(v, ret, heap_view_text(v, strbuf_text(label), label->used));
}

/*
 * All elements of an array are one group: which of them it is need not be looked for, which would
 * take the square of the array's length for all that it refers to.
 */
static bool is_array(const struct heap_view *v, uint32_t object)
{
	return v->state->types.all[heap_graph_desc(v->graph, object)->type].kind ==
	       HEAP_OBJECT_ARRAY;
}

void heap_by_pointed_from(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	const struct heap_referrers *r = v->referrers;

	heap_view_round(v);
	for (uint32_t i = r->at[item->object]; i < r->at[item->object + 1]; i++) {
		struct heap_edges e = heap_edges_of(v->graph, r->from[i]);
		struct heap_edge edge;

		if (i > r->at[item->object] && r->from[i] == r->from[i - 1])
			continue;
		if (is_array(v, r->from[i])) {
			add_field(v, r->from[i], 0, ret);
			continue;
		}
		while (heap_edges_next(&e, &edge))
			if (edge.to == item->object && edge.index != HEAP_NONE)
				add_field(v, r->from[i], edge.index, ret);
	}
}

void heap_by_reach(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	heap_keys_add(ret, v->graph->reached[item->object]);
}

void heap_reach_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	(void)v;
	strbuf_add(ret, "%s", key ? heap_strength_name((enum heap_strength)(key - 1)) : "none");
}

void heap_by_root(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	if (v->graph->is_root[item->object])
		heap_keys_add(ret, v->graph->is_root[item->object] - 1u);
}

void heap_root_label(struct heap_view *v, uint64_t key, struct strbuf *ret)
{
	(void)v;
	strbuf_add(ret, "%s", heap_root_kind_name((unsigned)key));
}

void heap_by_retained(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	uint64_t bytes = v->dominators->retained[item->object];

	heap_keys_add(ret, bytes ? 64u - (unsigned)__builtin_clzll(bytes) : 0);
}

void heap_by_dominator(struct heap_view *v, const struct heap_item *item, struct heap_keys *ret)
{
	uint32_t above = v->dominators->above[item->object];

	if (above < v->dominators->count)
		heap_keys_add(ret, heap_view_type(v, heap_graph_desc(v->graph, above)->type));
}
