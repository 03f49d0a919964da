/* heap/graph/heap_reach.h: who refers to an object, and what would go with a group of objects. */
#pragma once

#include <stdint.h>

struct heap_graph;

/* References the other way around: those to i are from[at[i]] to from[at[i + 1]] - 1. */
struct heap_referrers {
	uint32_t *at, *from;
};

/* -ENOMEM. */
int heap_referrers_new(const struct heap_graph *g, struct heap_referrers **ret);
void heap_referrers_free(struct heap_referrers *r); /* accepts NULL */

/*
 * Bytes and objects, the group's own among them, that strong and soft references reach now, and
 * would not reach without the objects that have the bit of group in in_groups. -ENOMEM.
 */
int heap_reach_without(const struct heap_graph *g, const uint8_t *in_groups, uint8_t group,
		       uint64_t *ret_objects, uint64_t *ret_bytes);
