/* analyze/contention.h: who was blocked on which lock, for how long, and who held it meanwhile. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells.h"
#include "log/event.h"

struct contention;

struct contention_lock {
	uint64_t lock;
	bool monitor;           /* it was used by monitor events */
	uint64_t begin_missing; /* ends whose begin was before the recording or is lost */
	uint64_t end_missing;   /* begins whose end is lost */
	uint64_t open;          /* still blocked when the log ended */
	uint64_t open_ns;       /* their time up to then, in no sum */
};

/* A thread that was still blocked when the log ended, or when the thread did. */
struct contention_open {
	uint64_t lock;
	uint64_t waiter;
	uint64_t waiter_stack; /* 0: not known */
	uint64_t holder;       /* last seen */
	uint64_t blocked_ns;
};

/* NULL: no memory. */
struct contention *contention_new(void);
void contention_free(struct contention *c);

/* Events in time order; those of other kinds are ignored. 0 or -ENOMEM. */
int contention_add(struct contention *c, const struct event *e);
/* No more events; end_ns is the time of the log's last one. 0 or -ENOMEM. */
int contention_finish(struct contention *c, uint64_t end_ns);

/*
 * All cells, also those of locks on which threads only park (group "other"): the lock's group may
 * become known late. A cell with neither count nor time may be among them.
 */
const struct cell *contention_cells(const struct contention *c, uint32_t *ret_count);
const struct contention_lock *contention_lock(const struct contention *c, uint32_t place);
/* NULL: no event was of this lock. */
const struct contention_lock *contention_lock_find(const struct contention *c, uint64_t lock);
uint32_t contention_lock_count(const struct contention *c);
const struct contention_open *contention_open(const struct contention *c, uint32_t *ret_count);
