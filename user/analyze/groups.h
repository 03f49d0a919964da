/* analyze/groups.h: sums of cells, nested by any order of aspects: the tree behind --by. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/cells.h"

struct log_names;

enum aspect_id {
	ASPECT_LOCK_CLASS,
	ASPECT_LOCK,
	ASPECT_WAITER_THREAD,
	ASPECT_OWNER_THREAD,
	ASPECT_GROUP,
	ASPECT_COUNT,
};

/* A property by which contentions can be told apart; the table is in groups.c. */
struct aspect {
	const char *name;
	const char *doc;
	bool of_holder; /* one contention has several of it: its time is divided among them */
	int (*compare)(const struct log_names *names, const struct cell *a, const struct cell *b);
};

const struct aspect *aspect_get(enum aspect_id id);
/* -1: there is no such aspect. */
int aspect_by_name(const char *name, size_t length);

struct group {
	enum aspect_id aspect;   /* of the root: no meaning */
	const struct cell *cell; /* one of those in the group: they share its value of the aspect */
	uint64_t count;
	uint64_t blocked_ns;
	uint64_t max_ns; /* the longest single contention; below an aspect of_holder: the longest
			    part of one */
	uint64_t first_reader_ns;
	struct split split;
	struct group *groups; /* by blocked_ns, descending, then by key */
	uint32_t group_count;
};

/*
 * Sums the contentions (monitors and java.util.concurrent locks, not mere parking) of cells, which
 * are lent until groups_free. depth may be 0: then only the root has anything. 0 or -ENOMEM.
 */
int groups_make(const struct log_names *names, const struct cell *cells, uint32_t cell_count,
		const enum aspect_id *by, unsigned depth, struct group *ret);
void groups_free(struct group *root);

/* Whether a lock's blocked time is contention: by the events that used it, else by the lock's
 * group. */
bool lock_is_contended(const struct log_names *names, uint64_t lock, bool monitor);
