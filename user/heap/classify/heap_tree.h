/* heap/classify/heap_tree.h: objects in groups, groups in groups. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heap/classify/heap_classifier.h"

struct heap_filter;

#define HEAP_LEVELS_MAX 8
#define HEAP_NODES_MAX (1u << 20)
/* Of objects that a classifier has no group for. */
#define HEAP_KEY_NONE UINT64_MAX

struct heap_node {
	/* objects: of a level beyond the objects, references; bytes of their other ends */
	uint64_t key, objects, bytes;
	uint32_t parent, child, next; /* the largest child; the next one below parent; HEAP_NONE */
	uint32_t last;                /* 1 + the object that was counted last; 0: not needed */
	uint16_t level;               /* of the classifier that has made it; of the root: 0 */
	uint16_t depth;
};

/*
 * Whom a level is about. HEAP_TO_ALL, HEAP_FROM_ALL: a single group of all references from the
 * objects, or to them. HEAP_VIA, after one of these: the objects that are there. A level of
 * HEAP_SELF after that is about the objects again, each of which counts once in a group, though
 * several references lead there.
 */
enum heap_via { HEAP_SELF, HEAP_TO_ALL, HEAP_FROM_ALL, HEAP_VIA };

/* The root, which all objects are in, is the first node. */
struct heap_tree {
	const struct heap_classifier *levels[HEAP_LEVELS_MAX];
	uint8_t via[HEAP_LEVELS_MAX]; /* enum heap_via */
	unsigned level_count;
	bool by_objects; /* the largest has the most objects, not bytes */
	struct heap_node *nodes;
	struct keymap keys;
	uint32_t count, capacity;
	uint64_t left_out;             /* objects for which there was no room for a group */
	uint64_t of_objects, of_bytes; /* in the whole heap */
};

/* levels, via, level_count, by_objects: of *ret, which is all zero otherwise. Objects that the
 * filter chooses. 0; -ENOMEM; -ECANCELED, as the err of heap_keys. */
int heap_tree_build(struct heap_view *v, struct heap_filter *filter, struct heap_tree *ret);
void heap_tree_free(struct heap_tree *t);
/* Does a group count references? */
static inline bool heap_tree_counts_references(const struct heap_tree *t, uint32_t node)
{
	return node && t->via[t->nodes[node].level] != HEAP_SELF;
}
/* A group's name. */
void heap_tree_label(struct heap_view *v, const struct heap_tree *t, uint32_t node,
		     struct strbuf *ret);
/*
 * Bytes that would be freed if all objects of a group went, by node, of the count largest nodes but
 * the root; of others HEAP_KEY_NONE. Levels are all HEAP_SELF. v has a graph; filter: that of
 * heap_tree_build. *ret is to be freed. -ENOMEM.
 */
int heap_tree_retained(struct heap_view *v, struct heap_filter *filter, struct heap_tree *t,
		       uint32_t count, uint64_t **ret);
/* Sets shown[i] of the root and of the count largest other nodes; a group, also of references, is
 * taken to be no larger than the one that it is in. -ENOMEM. */
int heap_tree_largest(const struct heap_tree *t, uint32_t count, bool *shown);
/* The same of the selected ones, with all groups that these are in. */
int heap_tree_largest_of(const struct heap_tree *t, uint32_t count, const bool *selected,
			 bool *shown);
