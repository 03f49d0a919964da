/* heap/graph/heap_dominators.h: what each object alone keeps. */
#pragma once

#include <stdint.h>

struct heap_graph;

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
void heap_dominators_free(struct heap_dominators *d); /* accepts NULL */
