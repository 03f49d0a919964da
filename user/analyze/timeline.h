/* analyze/timeline.h: who held one lock at every moment, and what of that each thread was blocked
 * for: exact attribution, for monitors and for park alike. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells.h"

/*
 * One line for each lock: it begins when it is opened, and is extended piece by piece, each with its
 * holder. Intervals (a thread blocked on this lock from one time to another) may begin and end
 * before, at and behind the end of the line; what is behind is settled when the line gets there. So
 * every nanosecond of an interval goes to the holder of that moment, and the parts add up to it
 * exactly; nothing is charged before an interval has ended.
 *
 * Blocked threads cost nothing while the line grows: it keeps a cumulative sum for each holder and
 * place, and an interval is the differences at its two ends. History is kept up to the oldest open
 * interval; when it gets long, all open intervals take in what they have, and it begins anew.
 */
struct timelines; /* what all lines have in common */
struct timeline;

struct counters {
	bool known;
	uint64_t cpu_ns, stolen_ns, runnable_ns;
};

/* Who held it, and from which call chain. */
struct hold {
	uint64_t holder; /* a thread, HOLDER_UNKNOWN or HOLDER_HAND_OVER */
	uint64_t stack;  /* 0: not known, or no thread */
	enum holder_stack_from from;
	bool first_reader;
	/* Not 0: the chain is what timeline_name says of this number of this lock, later; stack and
	 * from count if it never does. */
	uint64_t forward;
};

/* A thread that is blocked. */
struct blocked {
	uint64_t thread;
	uint64_t stack; /* 0: not known */
	bool monitor;
	bool after_wait; /* it goes for the monitor again after Object.wait() */
};

/* NULL: no memory. cells is lent until timelines_free. All below with int: 0 or -ENOMEM. */
struct timelines *timelines_new(struct cells *cells);
void timelines_free(struct timelines *all);

/* The line of a lock; it begins at from_ns. Lent until timelines_free. */
int timeline_open(struct timelines *all, uint64_t lock, uint64_t from_ns, struct timeline **ret);

/* Where it ends by now. */
uint64_t timeline_end(const struct timeline *line);
/* From its end up to to_ns it was held like this; nothing if to_ns is not later. */
int timeline_extend(struct timeline *line, uint64_t to_ns, const struct hold *hold);
/*
 * A thread's counters at a moment behind the end of the line, in the order of time. Where it turns
 * out to be the holder then, its time is split there. Of time between two such moments of the same
 * holder it is known what it did, of other time it is not.
 */
int timeline_see(struct timeline *line, uint64_t ns, uint64_t thread, const struct counters *its);
/* The call chain that holds with this forward number stand for. */
int timeline_name(struct timeline *line, uint64_t forward, uint64_t stack,
		  enum holder_stack_from from);

/* Number of intervals that have begun and not ended. */
uint32_t timeline_blocked(const struct timeline *line);
/* The thread is blocked from since_ns on. It must not be already. */
int timeline_block(struct timeline *line, uint64_t since_ns, const struct blocked *who);
/* Its open interval; NULL: it has none. since_ns may be NULL. */
const struct blocked *timeline_find(const struct timeline *line, uint64_t thread,
				    uint64_t *since_ns);
/* It is not blocked any more, since ns. false: the interval is to be forgotten. */
int timeline_unblock(struct timeline *line, uint64_t thread, uint64_t ns, bool count);

/* No more events: intervals that end behind the end of the line get HOLDER_UNKNOWN for that; chains
 * that never came are those of the hold itself. What is still blocked is forgotten. */
int timelines_finish(struct timelines *all);
