/* report/flame/export_tree.h: blocked time of one side as a tree of frames: equal chains become
 * one. */
#pragma once

#include "report/flame/export_frames.h"

struct export_node {
	uint32_t parent; /* a smaller index than its own */
	uint32_t frame;  /* index in export_frames; of the root no meaning */
	uint64_t self_ns;
	uint64_t total_ns; /* with all below it */
};

struct export_tree {
	struct export_frames *frames; /* lent */
	struct export_node *nodes;    /* the root first */
	uint32_t count, capacity;
	struct slots slots;         /* to the nodes but the root, by parent and frame */
	struct keymap chain_map;    /* where a chain begins, and its number */
	uint32_t *chain_nodes;      /* to the node of its innermost frame */
	uint32_t chain_capacity;
	uint32_t *path; /* a chain, innermost first */
	uint32_t path_capacity;
	uint32_t *leaves; /* the nodes with self_ns, the heaviest branch first */
	uint32_t leaf_count;
};

/* frames is lent until export_tree_free. 0 or -ENOMEM; free it in any case. */
int export_tree_init(struct export_tree *t, struct export_frames *frames, enum export_side side);
void export_tree_free(struct export_tree *t);

/* The frames of a node's chain, innermost first, lent until the next call. 0 or -ENOMEM. */
int export_tree_chain(struct export_tree *t, uint32_t node, const uint32_t **ret,
		      uint32_t *ret_count);
