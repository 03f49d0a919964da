/* analyze/park_wait.h: parking on what is not a lock: each thread is kept waiting by whoever
 * ends its wait, if by anybody. */
#pragma once

#include "analyze/places.h"
#include "analyze/timeline.h"

/* A timeline for each thread and blocker. All zero but all at the start. */
struct park_waits {
	struct timelines *all; /* lent */
	struct places places;
	struct timeline **lines;
	uint32_t capacity;
};

/* All with int: 0 or -ENOMEM. */
int park_wait_begin(struct park_waits *w, uint64_t lock, uint64_t ns, const struct blocked *who);
/* by has done at done_ns what ended it. */
int park_wait_end(struct park_waits *w, uint64_t lock, uint64_t thread, uint64_t ns,
		  const struct hold *by, uint64_t done_ns);
/* It is not known when it has ended. */
int park_wait_drop(struct park_waits *w, uint64_t lock, uint64_t thread);
void park_waits_free(struct park_waits *w);
