/* analyze/park/parks.h: threads that park and what they park on; park_numbered.c and its parts
 * share it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/park/park_came.h"
#include "analyze/park/park_family.h"
#include "analyze/park/park_lock.h"
#include "analyze/park/park_wait.h"
#include "log/format/event.h"

struct log_names;

/* Whose release it was that has set off a chain of wake-ups. */
struct cause {
	uint64_t lock, thread, stack, ns;
};

struct parker {
	uint64_t thread;
	uint32_t gaps;    /* what is said here was seen after so many gaps */
	uint32_t blocker; /* parked on this one; INDEX_NONE: on none */
	bool parked;
	bool again;   /* on the same lock, as it did not get it when it came back */
	bool in_lock; /* in the queue of a lock, by its class */
	uint64_t since_ns, stack;
	uint64_t owner; /* who was seen to have it then */
	enum park_mode mode;
	struct unpark by; /* parked: what ends it; else: the permit that it has */

	/* Between a park end and the next event of the thread. */
	uint32_t next_lock; /* lock that it is about to take; INDEX_NONE: none */
	bool woken;         /* by an unpark, whatever else there was */
	uint64_t back_ns;
	bool back_known; /* its time until then in which it could not run */
	uint64_t back_runnable_ns, back_stolen_ns;
	struct cause cause;
	struct came came;
	/* After an unpark: the lock that await() released by it, or INDEX_NONE. */
	uint32_t await_released;
};

struct park_target {
	enum park_family family;
	struct park_lock lock;
	uint32_t condition_of; /* of a condition: its lock's index; INDEX_NONE: not known */
	bool lined;            /* it is among the lines, too */
};

/* An event that waits for the names of its call chain, or after such a one. */
struct late {
	struct event event;
	uint64_t missing;
};

struct park_numbered {
	struct cells *cells;
	struct timelines *lines;
	const struct log_names *names;
	struct park_chains chains;
	struct hold_slices slices; /* of a wait; empty */
	struct keymap blocker_map;
	struct park_target *blockers;
	uint32_t blockers_capacity;
	struct keymap parker_map;
	struct segments parkers; /* struct parker */
	uint64_t now_ns;
	uint32_t gaps;
	struct late *late;
	uint32_t late_count, late_capacity;
	struct hand_over hand_overs[HAND_OVERS_MAX]; /* a ring: index by hand_over_count */
	uint64_t hand_over_count;
};

static inline bool blocker_is_lock(const struct park_target *b)
{
	return b->family == PARK_FAMILY_EXCLUSIVE || b->family == PARK_FAMILY_READ_WRITE ||
	       b->family == PARK_FAMILY_OWNED;
}

static inline struct parker *parks_at(const struct park_numbered *p, uint32_t index)
{
	return segments_at(&p->parkers, index, sizeof(struct parker));
}

/* Places among the blockers, and threads; new ones if need be. 0 or -ENOMEM, as all of these. A
 * thread is lent until parks_free. */
int parks_blocker(struct park_numbered *p, uint64_t lock, uint32_t *ret);
int parks_thread(struct park_numbered *p, uint64_t thread, struct parker **ret);
void parks_free(struct park_numbered *p);

/* How park begin has seen the lock. */
struct held park_held_seen(const struct event *e);
/* An unpark of a thread that is parked, as far as it is about a lock. e is its event. */
int park_unpark_notify(struct park_numbered *p, const struct parker *target, const struct unpark *u,
		       const struct event *e, struct parker *by);
/* A thread that came back from a condition cannot have had this lock but by what woke it, as far as
 * that is known to have come from the lock's owner: releases of the past, which count now. ret: it
 * is so. */
int park_release_late(struct park_numbered *p, const struct parker *t, uint32_t lock, bool *ret);
/* The thread begins to park on this lock with a permit: that may have come from a release of it. */
int park_permit_use(struct park_numbered *p, const struct parker *t, uint32_t index,
		    const struct held *seen);
/* The permit with which its park has ended, of which the begin is not known. */
int park_permit_used(struct park_numbered *p, const struct parker *t, uint32_t index);
