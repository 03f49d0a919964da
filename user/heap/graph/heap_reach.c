#include "heap/graph/heap_reach.h"

#include <errno.h>
#include <stdlib.h>

#include "base/tables/saturate.h"
#include "heap/graph/heap_graph.h"

void heap_referrers_free(struct heap_referrers *r)
{
	if (!r)
		return;
	free(r->at);
	free(r->from);
	free(r);
}

/* Counts first; then each reference is put before the ones of its object that are there. */
int heap_referrers_new(const struct heap_graph *g, struct heap_referrers **ret)
{
	const struct heap_objects *o = &g->state->objects;
	struct heap_referrers *r = calloc(1, sizeof(*r));

	if (r) {
		r->at = calloc(o->count + 2ul, sizeof(*r->at));
		r->from = malloc((o->ref_count + 1ul) * sizeof(*r->from));
	}
	if (!r || !r->at || !r->from) {
		heap_referrers_free(r);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < o->ref_count; i++)
		if (o->refs[i] != HEAP_NONE)
			r->at[o->refs[i]]++;
	for (uint32_t i = 0; i < o->count; i++)
		r->at[i + 1] += r->at[i];
	for (uint32_t i = o->count; i--;)
		for (uint32_t k = o->ref_at[i + 1]; k-- > o->ref_at[i];)
			if (o->refs[k] != HEAP_NONE)
				r->from[--r->at[o->refs[k]]] = i;
	*ret = r;
	return 0;
}

int heap_reach_without(const struct heap_graph *g, const uint8_t *in_groups, uint8_t group,
		       uint64_t *ret_objects, uint64_t *ret_bytes)
{
	uint32_t all = g->state->objects.count, count = 0;
	uint32_t *stack = malloc((all + 1ul) * sizeof(*stack));
	uint8_t *seen = calloc(all + 1ul, 1);
	struct heap_edge edge;

	if (!stack || !seen) {
		free(stack);
		free(seen);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < all; i++)
		if (g->is_root[i] && !(in_groups[i] & group)) {
			seen[i] = 1;
			stack[count++] = i;
		}
	while (count) {
		struct heap_edges e = heap_edges_of(g, stack[--count]);

		while (heap_edges_next(&e, &edge))
			if (edge.strength <= HEAP_SOFT && !seen[edge.to] &&
			    !(in_groups[edge.to] & group)) {
				seen[edge.to] = 1;
				stack[count++] = edge.to;
			}
	}
	*ret_objects = *ret_bytes = 0;
	for (uint32_t i = 0; i < all; i++)
		if (!seen[i] && g->reached[i] && g->reached[i] <= 1 + HEAP_SOFT) {
			++*ret_objects;
			*ret_bytes = sum_saturated(*ret_bytes, heap_graph_desc(g, i)->bytes);
		}
	free(stack);
	free(seen);
	return 0;
}
