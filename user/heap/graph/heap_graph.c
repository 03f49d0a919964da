#include "heap/graph/heap_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/saturate.h"
#include "base/text/strbuf.h"

#define CLASS_REFS 4 /* superclass, loader, signers, protection domain; then static fields */

const char *heap_strength_name(enum heap_strength s)
{
	static const char *const names[HEAP_STRENGTH_COUNT] = {"strong", "soft", "final", "weak",
							       "phantom"};

	return names[s];
}

const char *heap_root_kind_name(unsigned kind)
{
	static const char *const names[HEAP_ROOT_KIND_COUNT] = {
		"unknown root", "JNI global",        "JNI local",      "local variable",
		"native stack", "system class",      "blocked thread", "locked monitor",
		"thread",       "handle of the JVM", "compiled code",  "class loader"};

	return names[kind];
}

static uint8_t type_strength(const struct heap_types *t, uint32_t type)
{
	static const char *const names[HEAP_STRENGTH_COUNT] = {
		NULL, "java.lang.ref.SoftReference", "java.lang.ref.FinalReference",
		"java.lang.ref.WeakReference", "java.lang.ref.PhantomReference"};

	for (unsigned i = HEAP_SOFT; i < HEAP_STRENGTH_COUNT; i++)
		if (heap_type_is(t, type, names[i]))
			return (uint8_t)i;
	return HEAP_STRONG;
}

static void find_referent(struct heap_graph *g, uint32_t type)
{
	const struct heap_types *t = &g->state->types;
	const struct heap_type *own = &t->all[type];

	g->referent[type] = HEAP_NONE;
	for (uint32_t i = 0; i < own->ref_count; i++) {
		const struct heap_ref *r = &t->refs[own->refs + i];

		if (strcmp(heap_types_text(t, t->fields[r->field].name), "referent") != 0 ||
		    strcmp(heap_type_name(t, r->owner), "java.lang.ref.Reference") != 0)
			continue;
		g->strength[type] = type_strength(t, type);
		if (g->strength[type] != HEAP_STRONG)
			g->referent[type] = i;
	}
}

struct heap_edges heap_edges_of(const struct heap_graph *g, uint32_t object)
{
	const struct heap_objects *o = &g->state->objects;
	const struct heap_desc *d = &g->state->descs[o->desc[object]];
	const struct heap_type *t = &g->state->types.all[d->type];

	return (struct heap_edges){
		.graph = g,
		.next = o->ref_at[object],
		.first = o->ref_at[object],
		.end = o->ref_at[object + 1],
		.referent = d->of_class == HEAP_NONE ? g->referent[d->type] : HEAP_NONE,
		.strength = g->strength[d->type],
		.of_class = d->of_class == HEAP_NONE ? t->class_object : HEAP_NONE,
	};
}

bool heap_edges_next(struct heap_edges *e, struct heap_edge *ret)
{
	while (e->next < e->end) {
		uint32_t index = e->next - e->first, to = e->graph->state->objects.refs[e->next++];

		if (to == HEAP_NONE)
			continue;
		*ret = (struct heap_edge){to, index,
					  index == e->referent ? e->strength : HEAP_STRONG};
		return true;
	}
	if (e->of_class == HEAP_NONE)
		return false;
	*ret = (struct heap_edge){e->of_class, HEAP_NONE, HEAP_STRONG};
	e->of_class = HEAP_NONE;
	return true;
}

static void static_label(const struct heap_types *t, uint32_t type, uint32_t index,
			 struct strbuf *ret)
{
	static const char *const names[CLASS_REFS] = {"<superclass>", "<class loader>", "<signers>",
						      "<protection domain>"};
	const struct heap_type *own = &t->all[type];
	uint32_t at = CLASS_REFS;

	if (index < CLASS_REFS) {
		strbuf_add(ret, "%s of %s", names[index], heap_type_name(t, type));
		return;
	}
	for (uint32_t i = own->statics; i < own->statics + own->static_count; i++)
		if (t->fields[i].value == HEAP_REFERENCE && at++ == index)
			strbuf_add(ret, "static %s.%s", heap_type_name(t, type),
				   heap_types_text(t, t->fields[i].name));
}

void heap_edge_label(const struct heap_graph *g, uint32_t object, uint32_t index,
		     struct strbuf *ret)
{
	const struct heap_types *t = &g->state->types;
	const struct heap_desc *d = heap_graph_desc(g, object);
	const struct heap_type *own = &t->all[d->type];

	if (d->of_class != HEAP_NONE)
		static_label(t, d->of_class, index, ret);
	else if (index == HEAP_NONE)
		strbuf_add(ret, "%s.<class>", heap_type_name(t, d->type));
	else if (own->kind == HEAP_INSTANCE && index < own->ref_count)
		strbuf_add(ret, "%s.%s", heap_type_name(t, d->type),
			   heap_types_text(t, t->fields[t->refs[own->refs + index].field].name));
	else
		strbuf_add(ret, "%s", heap_type_name(t, d->type));
}

/* Objects that are reached by references at least as strong as this, and that no stronger ones
 * reach. stack has room for all objects. */
static void reach(struct heap_graph *g, uint8_t weakest, uint32_t *stack)
{
	uint32_t count = 0, all = g->state->objects.count;
	struct heap_edge edge;

	for (uint32_t i = 0; i < all; i++) {
		if (weakest == HEAP_STRONG && g->is_root[i] && !g->reached[i]) {
			g->reached[i] = 1 + HEAP_STRONG;
			stack[count++] = i;
		}
		/* Weaker references begin at objects that stronger ones reach. */
		if (weakest != HEAP_STRONG && g->reached[i] && g->reached[i] <= weakest &&
		    g->referent[heap_graph_desc(g, i)->type] != HEAP_NONE)
			stack[count++] = i;
	}
	while (count) {
		struct heap_edges e = heap_edges_of(g, stack[--count]);

		while (heap_edges_next(&e, &edge))
			if (!g->reached[edge.to] && edge.strength <= weakest) {
				g->reached[edge.to] = 1 + weakest;
				stack[count++] = edge.to;
			}
	}
}

static void set_roots(struct heap_graph *g)
{
	const struct heap_state *s = g->state;

	for (uint32_t i = 0; i < s->root_count; i++)
		if (s->roots[i].object != HEAP_NONE && !g->is_root[s->roots[i].object])
			g->is_root[s->roots[i].object] = 1 + s->roots[i].kind;
}

static void sum_up(struct heap_graph *g)
{
	for (uint32_t i = 0; i < g->state->objects.count; i++) {
		unsigned at = g->reached[i] ? g->reached[i] - 1u : HEAP_STRENGTH_COUNT;

		g->reached_objects[at]++;
		g->reached_bytes[at] =
			sum_saturated(g->reached_bytes[at], heap_graph_desc(g, i)->bytes);
	}
}

int heap_graph_new(const struct heap_state *state, struct heap_graph **ret)
{
	struct heap_graph *g = calloc(1, sizeof(*g));
	size_t count = state->objects.count + 1ul;
	uint32_t *stack = malloc(count * sizeof(*stack));

	if (g) {
		g->state = state;
		g->referent = malloc((state->types.count + 1ul) * sizeof(*g->referent));
		g->strength = calloc(state->types.count + 1ul, 1);
		g->is_root = calloc(count, 1);
		g->reached = calloc(count, 1);
	}
	if (!g || !stack || !g->referent || !g->strength || !g->is_root || !g->reached) {
		heap_graph_free(g);
		free(stack);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < state->types.count; i++)
		find_referent(g, i);
	set_roots(g);
	for (uint8_t weakest = HEAP_STRONG; weakest < HEAP_STRENGTH_COUNT; weakest++)
		reach(g, weakest, stack);
	sum_up(g);
	free(stack);
	*ret = g;
	return 0;
}

void heap_graph_free(struct heap_graph *g)
{
	if (!g)
		return;
	free(g->referent);
	free(g->strength);
	free(g->is_root);
	free(g->reached);
	free(g);
}
