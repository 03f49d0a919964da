/* heap/graph/heap_dominators.h: what each object alone keeps. */
#pragma once

#include <stdint.h>

struct heap_graph;
struct heap_state;

/*
 * An object dominates another one if all ways from roots to the other lead over it: when it goes,
 * the other goes. Ways are of strong and soft references. Objects without such a way are dominated
 * by none, and retain nothing.
 */
struct heap_dominators {
	uint32_t count;     /* objects */
	uint32_t *above;    /* by object: its immediate dominator; count: the roots; HEAP_NONE */
	uint64_t *retained; /* by object: bytes of itself and of all that it dominates */
	uint32_t *order;    /* reachable objects, each after its dominator */
	uint32_t reachable;
};

/* 0; -ENOMEM. */
int heap_dominators_new(const struct heap_graph *g, struct heap_dominators **ret);
/* An object that keeps many others which do not keep each other: a table, a list, a cache. */
struct heap_holder {
	uint32_t object;
	uint32_t type; /* of which it keeps the most bytes, itself left out; HEAP_NONE */
	uint64_t objects, retained, of_type; /* of_type: objects of that type */
};

/*
 * Those with the most, at most count: objects of whose retained bytes no object that they dominate
 * has half, and that none of the others dominates. *ret is to be freed. -ENOMEM.
 */
int heap_dominators_holders(const struct heap_dominators *d, const struct heap_state *s,
			    uint32_t count, struct heap_holder **ret, uint32_t *ret_count);
void heap_dominators_free(struct heap_dominators *d); /* accepts NULL */
