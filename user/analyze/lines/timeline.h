/* analyze/lines/timeline.h: who held one lock at every moment, and what of that each thread was
 * blocked for: exact attribution, for monitors and for park alike. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/cells.h"
#include "analyze/lines/reason_history.h"

/* What all lines have in common; and the line of one lock. */
struct timelines;
struct timeline;

/* Who held it, and from which call chain. */
struct hold {
	uint64_t holder; /* a thread, HOLDER_UNKNOWN or HOLDER_HAND_OVER */
	uint64_t stack;  /* 0: not known, or no thread */
	enum holder_stack_from from;
	bool first_reader;
	/* Not 0: the chain is what timeline_name says of this number of this lock, later; stack and
	 * from count if it never does. */
	uint64_t forward;
	/* The lock that the holder was itself blocked on; 0: none. Found by timeline_extend. */
	uint64_t blocked_on;
};

/* Where it blocked itself is where it was meanwhile, better than any look at other moments. */
static inline void hold_blocked_on(struct hold *hold, const struct blocked_on *on)
{
	hold->blocked_on = on->lock;
	if (!on->stack)
		return;
	hold->stack = on->stack;
	hold->from = HOLDER_STACK_BLOCKED;
	hold->forward = 0;
}

/* A thread that is blocked. */
struct blocked {
	uint64_t thread;
	uint64_t stack; /* 0: not known */
	uint64_t owner; /* who was seen to hold it when it blocked: for what is open at the end */
	bool monitor;
	bool after_wait; /* it goes for the monitor again after Object.wait() */
};

struct timeline_counts {
	uint64_t begin_missing, end_missing; /* as in struct contention_lock; the caller counts */
	uint64_t unnamed; /* intervals with a chain that did not come, or not soon enough */
};

/* NULL: no memory. cells is lent until timelines_free. All below with int: 0 or -ENOMEM. */
struct timelines *timelines_new(struct cells *cells);
void timelines_free(struct timelines *all);

/* The line of a lock; a new one begins at from_ns. Lent until timelines_free. */
int timeline_of(struct timelines *all, uint64_t lock, uint64_t from_ns, struct timeline **ret);
/* A further line of the same lock, for waiters whom others keep waiting than the rest; part is any
 * number but 0, which is the line above. */
int timeline_part(struct timelines *all, uint64_t lock, uint64_t part, uint64_t from_ns,
		  struct timeline **ret);
struct timeline_counts *timeline_counts(struct timeline *line);

/* Where it ends by now. */
uint64_t timeline_end(const struct timeline *line);
/* From its end up to to_ns it was held like this; nothing if to_ns is not later. */
int timeline_extend(struct timeline *line, uint64_t to_ns, const struct hold *hold);
/*
 * A thread's counters at a moment, in the order of time, before the line gets there. If it turns
 * out to be the holder then, its time is split there: of the time between two such moments in one
 * hold it is known what it did. Ignored while nobody is blocked.
 */
int timeline_see(struct timeline *line, uint64_t ns, uint64_t thread, const struct counters *its);
/* The call chain that holds with this forward number stand for. */
int timeline_name(struct timeline *line, uint64_t forward, uint64_t stack,
		  enum holder_stack_from from);

/* The thread is blocked from since_ns on; it has no open interval here. since_ns may be after the
 * end of the line, or before it: history goes back to the oldest open interval at least. */
int timeline_block(struct timeline *line, uint64_t since_ns, const struct blocked *who);
/* Its open interval; NULL: it has none. */
const struct blocked *timeline_blocked(const struct timeline *line, uint64_t thread);
/* It is not blocked any more, since ns, which may be after the end of the line, too. count: else
 * the interval is forgotten. */
int timeline_unblock(struct timeline *line, uint64_t thread, uint64_t ns, bool count);

/* All open intervals. */
int timelines_each_open(const struct timelines *all,
			int (*on)(void *context, uint64_t lock, uint64_t since_ns,
				  const struct blocked *who),
			void *context);
/* No more events: of intervals that end after the end of the line, the rest is HOLDER_UNKNOWN's;
 * chains that have not come are those of the holds themselves. */
int timelines_finish(struct timelines *all);
/* By index, in the order of their first timeline_of; NULL: after the last. */
struct timeline *timelines_get(const struct timelines *all, uint32_t index, uint64_t *ret_lock);
