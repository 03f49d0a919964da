/* report/model/blockers.h: parking and Object.wait, summed by the class of what was parked or
 * waited on */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/park/parking.h"

struct log_names;

struct blocker {
	const char *class; /* lent by names */
	uint64_t count, total_ns, max_ns, open, open_ns, begin_missing, end_missing;
	uint64_t how[PARKING_HOW_COUNT];
	uint64_t back_ns;
};

/* A patched JVM tells how they ended. */
static inline bool blocker_how_known(const struct blocker *b)
{
	return b->how[PARKING_HOW_NOT_KNOWN] < b->count;
}

/*
 * Sorted by total_ns + open_ns, descending, then by class. Parks on java.util.concurrent locks are
 * left out: they are contention. *ret is freed with free(). 0 or -ENOMEM.
 */
int blockers_make(const struct parking *p, const struct log_names *names, enum parking_kind kind,
		  struct blocker **ret, uint32_t *ret_count);
