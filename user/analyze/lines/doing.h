/* analyze/lines/doing.h: why threads were blocked, and on which lock, at any moment of the last
 * while. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/split.h"
#include "log/format/event.h"

struct doings;

/* A moment at which a thread itself told something: what it does from then on. */
struct doing {
	uint64_t ns;
	struct counters its; /* complete */
	uint64_t reason;     /* enum blocked_reason: what it is in; BLOCKED_REASON_OTHER: nothing */
	uint64_t lock;       /* which, if it is in a lock, wait or park; else 0 */
};

/* NULL: no memory. */
struct doings *doings_new(void);
void doings_free(struct doings *d);

/* Events in time order; those of other kinds are ignored. now_ns: the event's time, or that of an
 * earlier one which was later. 0 or -ENOMEM. */
int doings_add(struct doings *d, const struct event *e, uint64_t now_ns);

/* Adds the reasons to a thread's counters at ns, which may be some time ago: not too long, or they
 * are not told. */
void doings_complete(const struct doings *d, uint64_t thread, uint64_t ns, struct counters *its);
/* What the thread is blocked or parked on from this moment on; 0: nothing. */
uint64_t doing_behind(const struct doing *d);

/* The last moment of a thread at ns or before, and the first one that is later; NULL: none is kept.
 * Lent until the next doings_add. */
void doings_around(const struct doings *d, uint64_t thread, uint64_t ns,
		   const struct doing **ret_before, const struct doing **ret_after);

static inline const struct doing *doings_before(const struct doings *d, uint64_t thread,
						uint64_t ns)
{
	const struct doing *before, *after;

	doings_around(d, thread, ns, &before, &after);
	return before;
}

static inline const struct doing *doings_after(const struct doings *d, uint64_t thread, uint64_t ns)
{
	const struct doing *before, *after;

	doings_around(d, thread, ns, &before, &after);
	return after;
}

/* The one behind; NULL: there is none yet. */
const struct doing *doings_next(const struct doings *d, uint64_t thread, const struct doing *from);
