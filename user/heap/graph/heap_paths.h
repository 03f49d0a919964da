/* heap/graph/heap_paths.h: by which ways objects are kept: shortest ways from roots, merged. */
#pragma once

#include <stdint.h>

#include "base/tables/keymap.h"

struct heap_graph;
struct strbuf;

/*
 * A step of a way: a reference's class and field. Ways begin at a root or, as that is where a
 * programmer looks, at a static field. The first node is all ways.
 */
struct heap_path {
	uint32_t parent, child, next; /* the child with the most bytes; HEAP_NONE */
	uint32_t object, index;       /* one of the references: of object, at index */
	uint8_t root;     /* 1 + kind of the root that object is; 0: the step is a reference */
	uint8_t repeated; /* the step is taken several times in a row */
	uint16_t depth;
	uint64_t objects, bytes; /* of the targets that are kept in this way */
};

struct heap_paths {
	const struct heap_graph *graph;
	uint32_t *parent; /* by object: from where it is reached; itself: a root; HEAP_NONE */
	uint32_t *node;   /* by object: the node of its way; HEAP_NONE: not asked for yet */
	struct heap_path *nodes;
	struct keymap keys;
	uint32_t count, capacity;
	uint64_t unreachable_objects, unreachable_bytes; /* targets that nothing keeps */
};

/* Ways by the strongest references there are; g is lent until heap_paths_free. -ENOMEM. */
int heap_paths_new(const struct heap_graph *g, struct heap_paths **ret);
void heap_paths_free(struct heap_paths *p); /* accepts NULL */
/* A target: its way counts. -ENOMEM. */
int heap_paths_add(struct heap_paths *p, uint32_t object);
/* Sums, and the order of children; once, after the last target. -ENOMEM. */
int heap_paths_finish(struct heap_paths *p);
/* "static com.acme.Cache.all", "java.util.HashMap$Node.next ..." */
void heap_paths_label(const struct heap_paths *p, uint32_t node, struct strbuf *ret);
/* The way to an object in one line, at most so many steps of its end. */
int heap_paths_way(struct heap_paths *p, uint32_t object, unsigned steps, struct strbuf *ret);
