/* analyze/lines/reason_history.h: why threads were blocked, and on which lock, at any moment of the
 * last while. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/split.h"
#include "log/format/event.h"

struct reason_history;

/* A moment at which a thread emitted an event of its own: what it does from then on. */
struct reason_moment {
	uint64_t ns;
	struct counters its; /* complete */
	uint64_t reason;     /* enum blocked_reason: what it is in; BLOCKED_REASON_OTHER: nothing */
	uint64_t lock;       /* which, if it is in a lock, wait or park; else 0 */
	uint64_t stack;      /* where, likewise; 0: not known */
};

/* NULL: no memory. */
struct reason_history *reasons_new(void);
void reasons_free(struct reason_history *d);

/* Events in time order; those of other kinds are ignored. now_ns: the event's time, or that of an
 * earlier one which was later. 0 or -ENOMEM. */
int reasons_add(struct reason_history *d, const struct event *e, uint64_t now_ns);

/* Adds the reasons to a thread's counters at ns, which may be some time ago: not too long, or they
 * are not told. */
void reasons_complete(const struct reason_history *d, uint64_t thread, uint64_t ns,
		      struct counters *its);
/* What a holder of a lock is itself blocked or parked on from this moment on, and where; all 0:
 * nothing, or that lock. d may be NULL. */
struct blocked_on {
	uint64_t lock, stack;
};
struct blocked_on reason_blocked_on(const struct reason_moment *d, uint64_t held);

static inline bool blocked_on_same(const struct blocked_on *a, const struct blocked_on *b)
{
	return a->lock == b->lock && a->stack == b->stack;
}

/* The last moment of a thread at ns or before, and the first one that is later; NULL: none is kept.
 * Lent until the next reasons_add. */
void reasons_around(const struct reason_history *d, uint64_t thread, uint64_t ns,
		    const struct reason_moment **ret_before,
		    const struct reason_moment **ret_after);

static inline const struct reason_moment *reasons_before(const struct reason_history *d,
							 uint64_t thread, uint64_t ns)
{
	const struct reason_moment *before, *after;

	reasons_around(d, thread, ns, &before, &after);
	return before;
}

static inline const struct reason_moment *reasons_after(const struct reason_history *d,
							uint64_t thread, uint64_t ns)
{
	const struct reason_moment *before, *after;

	reasons_around(d, thread, ns, &before, &after);
	return after;
}

/* The one after; NULL: there is none yet. */
const struct reason_moment *reasons_next(const struct reason_history *d, uint64_t thread,
					 const struct reason_moment *from);
