/* analyze/groups/aspects.h: properties by which contentions can be distinguished: those of --by. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/cells/cell.h"

struct log_names;
struct stacks;

enum aspect_id {
	ASPECT_LOCK_CLASS,
	ASPECT_LOCK,
	ASPECT_WAITER_THREAD,
	ASPECT_OWNER_THREAD,
	ASPECT_GROUP,
	ASPECT_WAITER_STACK,
	ASPECT_WAITER_METHOD,
	ASPECT_OWNER_STACK,
	ASPECT_OWNER_METHOD,
	ASPECT_BEHIND,
	ASPECT_WAITER_POOL,
	ASPECT_OWNER_POOL,
	ASPECT_WAITER_CLASS,
	ASPECT_OWNER_CLASS,
	ASPECT_WAITER_PACKAGE,
	ASPECT_OWNER_PACKAGE,
	ASPECT_OWNER_STATE,
	ASPECT_OWNER_SOURCE,
	ASPECT_AFTER_WAIT,
	ASPECT_DURATION,
	ASPECT_WINDOW,
	ASPECT_IN_GC,
	ASPECT_SPAN,
	ASPECT_COUNT,
};

enum group_max {
	GROUP_MAX_WHOLE, /* the longest single contention */
	GROUP_MAX_HELD,  /* the most of one that one holder is charged with */
	GROUP_MAX_PART,  /* the most of one that one holder is charged with in one call chain */
};

/* A property by which contentions can be distinguished; the table is in aspects.c. */
struct aspect {
	const char *name;
	const char *doc;
	enum group_max max; /* which longest part is meant below it */
	/* The number of a cell's group; and which of two groups comes first, NULL: by number. */
	uint64_t (*key)(const struct stacks *stacks, const struct cell *cell);
	int (*compare)(const struct log_names *names, const struct cell *a, const struct cell *b);
	bool kinds;      /* stacks_fill_kinds() must have been called */
	unsigned facets; /* bits of enum facet: cells must have been cut by these */
	bool method;     /* it is a method or a chain of them */
};

const struct aspect *aspect_get(enum aspect_id id);
/* -1: there is no such aspect. */
int aspect_by_name(const char *name, size_t length);

/* The facets that these aspects need. */
unsigned aspects_facets(const enum aspect_id *by, unsigned depth);
/* Before the keys of any of these are asked for. 0 or -ENOMEM. */
int aspects_prepare(const struct stacks *stacks, const enum aspect_id *by, unsigned depth);

enum owner_sure { OWNER_FACT, OWNER_INFERRED, OWNER_NOT_KNOWN };

/* How it is known who held the lock in the time of a cell. */
enum owner_sure cell_owner_sure(const struct cell *cell);
