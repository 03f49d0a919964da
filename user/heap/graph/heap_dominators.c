/*
 * SEMI-NCA (Georgiadis: Linear-Time Algorithms for Dominators and Related Problems, 2005): semi-
 * dominators as Lengauer and Tarjan have them, with path compression; then the immediate dominator
 * is the nearest common ancestor of parent and semidominator in the tree of dominators so far. All
 * is in numbers of the depth-first search, so arrays are walked in order; the roots have one number
 * of their own, 0. No recursion: lists of a heap are as long as they like.
 */
#include "heap/graph/heap_dominators.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/saturate.h"
#include "heap/graph/heap_graph.h"

/* An object whose references are being followed: the next one; UINT32_MAX: the class is done, too.
 */
struct open {
	uint32_t number, next;
};

struct work {
	const struct heap_graph *g;
	uint32_t objects, count;                                     /* numbers in use */
	uint32_t *number;                                            /* by object; 0: not reached */
	uint32_t *object, *parent, *semi, *label, *above, *ancestor; /* by number */
	uint32_t *into_at, *into; /* references into each, by number */
	uint32_t *stack;
	struct open *open; /* of the search; grows as it goes deeper */
	uint32_t open_capacity;
};

static void work_free(struct work *w)
{
	free(w->number);
	free(w->object);
	free(w->parent);
	free(w->semi);
	free(w->label);
	free(w->above);
	free(w->ancestor);
	free(w->into_at);
	free(w->into);
	free(w->stack);
	free(w->open);
}

static int work_init(struct work *w, const struct heap_graph *g)
{
	size_t count = g->state->objects.count + 2ul;

	w->g = g;
	w->objects = g->state->objects.count;
	w->number = calloc(count, sizeof(uint32_t));
	w->object = malloc(count * sizeof(uint32_t));
	w->parent = malloc(count * sizeof(uint32_t));
	return w->number && w->object && w->parent ? 0 : -ENOMEM;
}

static bool keeps(const struct heap_edge *e)
{
	return e->strength <= HEAP_SOFT;
}

static void number(struct work *w, uint32_t object, uint32_t parent)
{
	w->number[object] = w->count;
	w->object[w->count] = object;
	w->parent[w->count++] = parent;
}

static int open_push(struct work *w, uint32_t depth)
{
	int err = array_grow(&w->open, &w->open_capacity, depth, sizeof(*w->open));

	if (!err)
		w->open[depth] = (struct open){w->count - 1, 0};
	return err;
}

static bool open_next(struct work *w, struct open *o, struct heap_edge *ret)
{
	struct heap_edges e = heap_edges_of(w->g, w->object[o->number]);
	bool any;

	if (o->next == UINT32_MAX)
		return false;
	e.next = e.first + o->next;
	any = heap_edges_next(&e, ret);
	o->next = any && ret->index != HEAP_NONE ? e.next - e.first : UINT32_MAX;
	return any;
}

static int search_from(struct work *w, uint32_t object)
{
	struct heap_edge edge;
	uint32_t depth = 1;
	int err;

	number(w, object, 0);
	err = open_push(w, 0);
	while (!err && depth) {
		if (!open_next(w, &w->open[depth - 1], &edge)) {
			depth--;
			continue;
		}
		if (!keeps(&edge) || w->number[edge.to])
			continue;
		number(w, edge.to, w->open[depth - 1].number);
		err = open_push(w, depth++);
	}
	return err;
}

/* From each root in turn. */
static int search(struct work *w)
{
	int err = 0;

	w->count = 1;
	for (uint32_t i = 0; !err && i < w->objects; i++)
		if (w->g->is_root[i] && !w->number[i])
			err = search_from(w, i);
	free(w->open);
	w->open = NULL;
	return err;
}

/* What a root is referred to by does not matter: its dominator is known. */
static bool counts(const struct work *w, const struct heap_edge *e)
{
	return keeps(e) && !w->g->is_root[e->to];
}

static int find_references_into(struct work *w)
{
	struct heap_edge edge;
	uint64_t sum = 0;

	w->into_at = calloc(w->count + 2ul, sizeof(uint32_t));
	if (!w->into_at)
		return -ENOMEM;
	for (uint32_t v = 1; v < w->count; v++) {
		struct heap_edges e = heap_edges_of(w->g, w->object[v]);

		while (heap_edges_next(&e, &edge))
			if (counts(w, &edge)) {
				w->into_at[w->number[edge.to] + 1]++;
				sum++;
			}
	}
	if (sum > UINT32_MAX)
		return -EOVERFLOW;
	for (uint32_t v = 1; v <= w->count; v++)
		w->into_at[v] += w->into_at[v - 1];
	w->into_at[w->count + 1] = w->into_at[w->count];
	w->into = malloc((sum + 1) * sizeof(uint32_t));
	if (!w->into)
		return -ENOMEM;
	/* Filled from the end: then into_at[v + 1] is the begin of v's, and that of v is one
	 * before. */
	for (uint32_t v = 1; v < w->count; v++) {
		struct heap_edges e = heap_edges_of(w->g, w->object[v]);

		while (heap_edges_next(&e, &edge))
			if (counts(w, &edge))
				w->into[--w->into_at[w->number[edge.to] + 1]] = v;
	}
	return 0;
}

/* The number with the least semidominator on the way from v up to the last one that is linked; the
 * way is shortened. */
static uint32_t evaluate(struct work *w, uint32_t v, uint32_t linked)
{
	uint32_t depth = 0;

	if (v < linked)
		return v;
	for (uint32_t u = v; w->ancestor[u] >= linked; u = w->ancestor[u])
		w->stack[depth++] = u;
	while (depth--) {
		uint32_t u = w->stack[depth], a = w->ancestor[u];

		if (w->semi[w->label[a]] < w->semi[w->label[u]])
			w->label[u] = w->label[a];
		w->ancestor[u] = w->ancestor[a];
	}
	return w->label[v];
}

static int init_semi(struct work *w)
{
	size_t bytes = (w->count + 1ul) * sizeof(uint32_t);

	w->semi = malloc(bytes);
	w->label = malloc(bytes);
	w->ancestor = malloc(bytes);
	w->above = malloc(bytes);
	w->stack = malloc(bytes);
	if (!w->semi || !w->label || !w->ancestor || !w->above || !w->stack)
		return -ENOMEM;
	w->parent[0] = 0;
	for (uint32_t v = 0; v < w->count; v++) {
		w->semi[v] = w->label[v] = v;
		w->ancestor[v] = w->parent[v];
	}
	return 0;
}

static void find_dominators(struct work *w)
{
	for (uint32_t v = w->count - 1; v; v--) {
		uint32_t semi = w->parent[v];

		if (w->g->is_root[w->object[v]])
			semi = 0;
		for (uint32_t i = w->into_at[v + 1]; i < w->into_at[v + 2]; i++) {
			uint32_t u = evaluate(w, w->into[i], v + 1);

			if (w->semi[u] < semi)
				semi = w->semi[u];
		}
		w->semi[v] = semi;
	}
	w->above[0] = 0;
	for (uint32_t v = 1; v < w->count; v++) {
		uint32_t above = w->parent[v];

		while (above > w->semi[v])
			above = w->above[above];
		w->above[v] = above;
	}
}

static int take_over(struct work *w, struct heap_dominators *d)
{
	d->count = w->objects;
	d->reachable = w->count - 1;
	d->above = malloc((w->objects + 1ul) * sizeof(*d->above));
	d->retained = calloc(w->objects + 1ul, sizeof(*d->retained));
	if (!d->above || !d->retained)
		return -ENOMEM;
	memset(d->above, 0xff, (w->objects + 1ul) * sizeof(*d->above));
	for (uint32_t v = w->count - 1; v; v--) {
		uint32_t at = w->object[v];
		uint32_t above = w->above[v] ? w->object[w->above[v]] : w->objects;

		d->retained[at] = sum_saturated(d->retained[at], heap_graph_desc(w->g, at)->bytes);
		d->above[at] = above;
		d->retained[above] = sum_saturated(d->retained[above], d->retained[at]);
	}
	memmove(w->object, w->object + 1, (w->count - 1ul) * sizeof(uint32_t));
	d->order = w->object;
	w->object = NULL;
	return 0;
}

int heap_dominators_new(const struct heap_graph *g, struct heap_dominators **ret)
{
	struct heap_dominators *d = calloc(1, sizeof(*d));
	struct work w = {0};
	int err = d ? work_init(&w, g) : -ENOMEM;

	if (!err)
		err = search(&w);
	if (!err)
		err = find_references_into(&w);
	if (!err)
		err = init_semi(&w);
	if (!err) {
		find_dominators(&w);
		err = take_over(&w, d);
	}
	work_free(&w);
	if (err)
		heap_dominators_free(d);
	else
		*ret = d;
	return err;
}

void heap_dominators_free(struct heap_dominators *d)
{
	if (!d)
		return;
	free(d->above);
	free(d->retained);
	free(d->order);
	free(d);
}
