/* heap/graph/heap_graph.h: who refers to whom in a heap, and how strongly. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heap/state/heap_state.h"

/* How much a reference does for what it refers to; the first is the strongest. */
enum heap_strength {
	HEAP_STRONG,
	HEAP_SOFT,    /* until memory is short */
	HEAP_FINAL,   /* until the object's finalizer has run */
	HEAP_WEAK,    /* nothing */
	HEAP_PHANTOM, /* nothing */
	HEAP_STRENGTH_COUNT,
};

struct strbuf;

struct heap_graph {
	const struct heap_state *state;
	/* By type: which of an instance's references is a Reference's referent (HEAP_NONE: none),
	 * and its strength. */
	uint32_t *referent;
	uint8_t *strength;
	uint8_t *is_root; /* by object: 1 + the kind of its first root; 0: none */
	uint8_t *reached; /* by object: 1 + enum heap_strength of the best way to it; 0: no way */
	uint64_t reached_objects[HEAP_STRENGTH_COUNT + 1], reached_bytes[HEAP_STRENGTH_COUNT + 1];
};

/* One reference: the object that it goes to, which is never HEAP_NONE. */
struct heap_edge {
	uint32_t to;
	uint32_t index; /* among the references of its object; HEAP_NONE: to its class */
	uint8_t strength;
};

struct heap_edges {
	const struct heap_graph *graph;
	uint32_t next, end, first, referent;
	uint32_t of_class; /* the object of the class, comes last; HEAP_NONE */
	uint8_t strength;
};

/* state has objects, is finished, and is lent until heap_graph_free. -ENOMEM. */
int heap_graph_new(const struct heap_state *state, struct heap_graph **ret);
void heap_graph_free(struct heap_graph *g); /* accepts NULL */

/*
 * References of an object, in order. An instance refers to its class, too, though no field says so:
 * the JVM keeps the class as long as the object.
 */
struct heap_edges heap_edges_of(const struct heap_graph *g, uint32_t object);
bool heap_edges_next(struct heap_edges *e, struct heap_edge *ret);
/* "com.acme.Order.next", "[]", "<class>", "static com.acme.Order.all". */
void heap_edge_label(const struct heap_graph *g, uint32_t object, uint32_t index,
		     struct strbuf *ret);

const char *heap_strength_name(enum heap_strength s);
const char *heap_root_kind_name(unsigned kind);

static inline const struct heap_desc *heap_graph_desc(const struct heap_graph *g, uint32_t object)
{
	return &g->state->descs[g->state->objects.desc[object]];
}
