/* analyze/contention/contention.h: who was blocked on which lock, for how long, and who held it
 * meanwhile. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/cells.h"
#include "analyze/contention/monitors.h"
#include "analyze/lines/replay.h"
#include "log/format/event.h"

struct contention;
struct log_names;

struct contention_lock {
	uint64_t lock;
	bool monitor;           /* it was used by monitor events */
	uint64_t begin_missing; /* ends whose begin was before the recording or is lost */
	uint64_t end_missing;   /* begins whose end is lost */
	uint64_t open;          /* still blocked when the log ended */
	uint64_t open_ns;       /* their time up to then, in no sum */
	uint64_t inferred; /* ends of contentions before which no event reported a release */
	/* Of a patched JVM: numbers of its events. */
	struct replay_counts numbers;
};

/* How it is known who held a lock. */
struct contention_facts {
	struct replay_counts monitors, park; /* numbers of events, in sum; all zero: a stock JVM */
	uint64_t unnamed; /* contentions with a call chain that has not come, but stands for
			       another in Object.wait() */
	struct monitors_folds folds;
};

/* A thread that was still blocked when the log ended, or when the thread did. */
struct contention_open {
	uint64_t lock;
	uint64_t waiter;
	uint64_t waiter_stack; /* 0: not known */
	uint64_t holder;       /* last seen */
	uint64_t since_ns;
	uint64_t blocked_ns;
};

/* names, lent until contention_free, may be NULL; locks are named by class with them. NULL: no
 * memory. */
struct contention *contention_new(const struct log_names *names);
void contention_free(struct contention *c);
void contention_set_begin(struct contention *c, uint64_t begin_ns); /* as replay_set_begin() */

/* From now on, observe and ended are notified of the parts of each blocked interval that has ended,
 * when it is known who held the lock then, and of the interval after its parts. */
void contention_observe(struct contention *c, cell_part_observer *observe, void *context);
void contention_observe_intervals(struct contention *c, cell_interval_observer *ended);

/* Events in time order; those of other kinds are ignored. 0 or -ENOMEM. */
int contention_add(struct contention *c, const struct event *e);
/* No more events; end_ns is the time of the log's last one. 0 or -ENOMEM. */
int contention_finish(struct contention *c, uint64_t end_ns);
/* Both are finished: to has the findings of both. 0 or -ENOMEM. */
int contention_merge(struct contention *to, const struct contention *from);

/*
 * All cells, also those of locks on which threads only park (group "other"): the lock's group may
 * become known late. A cell with neither count nor time may be among them.
 */
const struct cell *contention_cells(const struct contention *c, uint32_t *ret_count);
/* How long the contentions of each cell were, by the cell's number. */
const struct lengths *contention_lengths(const struct contention *c);
const struct contention_lock *contention_lock(const struct contention *c, uint32_t index);
/* NULL: no event was of this lock. */
const struct contention_lock *contention_lock_find(const struct contention *c, uint64_t lock);
uint32_t contention_lock_count(const struct contention *c);
const struct contention_open *contention_open(const struct contention *c, uint32_t *ret_count);
struct contention_facts contention_facts(const struct contention *c);
