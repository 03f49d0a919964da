/* report/export_tree.h: blocked time of one side as a tree of frames: equal chains become one. */
#pragma once

#include "report/export_frames.h"

struct export_node {
	uint32_t parent; /* a smaller place than its own */
	uint32_t frame;  /* place in export_frames; of the root no meaning */
	uint32_t depth;  /* frames up to this one; of the root 0 */
	uint64_t self_ns;
	uint64_t total_ns; /* with all below it */
};

struct export_tree {
	struct export_frames *frames; /* lent */
	struct places places;
	struct export_node *nodes; /* places.count of them, the root first */
	uint32_t capacity;
	struct places chain_places; /* where a chain begins and its number */
	uint32_t *chain_nodes;      /* to the node of its innermost frame */
	uint32_t chain_capacity;
	uint32_t *leaves; /* the nodes with self_ns, the heaviest branch first */
	uint32_t leaf_count;
	uint32_t depth_max;
};

/* frames is lent until export_tree_free. 0 or -ENOMEM; free it in any case. */
int export_tree_init(struct export_tree *t, struct export_frames *frames, enum export_side side);
void export_tree_free(struct export_tree *t);

/* The frames of a node's chain, outermost first; ret has room for depth_max. Returns how many. */
uint32_t export_tree_chain(const struct export_tree *t, uint32_t node, uint32_t *ret);
