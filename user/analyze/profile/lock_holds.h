/* analyze/profile/lock_holds.h: when a thread held a lock on which another was blocked. */
#pragma once

#include <stdint.h>

#include "base/tables/keymap.h"

struct cell_part;

/* A thread held a lock while another one was blocked on it. */
struct lock_hold {
	uint64_t thread, lock, from_ns, to_ns;
};

/* All zero at first. */
struct lock_holds {
	struct lock_hold *rows; /* after lock_holds_finish: of a thread none overlaps another */
	uint32_t count, capacity;
	struct keymap thread_map;
	uint64_t *sampled_ns; /* by thread: its last sample */
	uint32_t threads_capacity;
	int err; /* of lock_holds_observe: the first one */
};

/* A sample of the thread: only what may have one in it is kept. 0 or -ENOMEM. */
int lock_holds_sample(struct lock_holds *h, uint64_t thread, uint64_t ns);
/* For contention_observe(), with h as its context; an error is kept in h. */
void lock_holds_observe(void *ctx, const struct cell_part *part);
/* No more of either. 0 or -ENOMEM. */
int lock_holds_finish(struct lock_holds *h);
/* After that: the lock that the thread held then, for which another waited; of several the one for
 * which another began to wait last. 0: there is none. */
uint64_t lock_holds_at(const struct lock_holds *h, uint64_t thread, uint64_t ns);
void lock_holds_free(struct lock_holds *h);
