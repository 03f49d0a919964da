/* analyze/park/park_lock.h: who held one lock of java.util.concurrent at every moment, as far as
 * park and unpark tell: the facts of one lock, in the order of their numbers, made into its
 * timeline. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/lines/timeline.h"
#include "analyze/park/park_chain.h"

enum held_mode {
	HELD_NOT_KNOWN,
	HELD_BY_NOBODY, /* released, and somebody was woken to have it next */
	HELD_EXCLUSIVE,
	HELD_SHARED,
};

/* How the lock was at one moment. */
struct held {
	enum held_mode mode;
	uint64_t thread;  /* who had it; HELD_SHARED: one of those, 0: none is known */
	uint64_t readers; /* HELD_SHARED: how many holds there were; 0: not known */
	uint64_t stack;   /* where that thread was; 0: not known */
	enum holder_stack_from from;
};

enum lock_fact_kind {
	LOCK_FACT_HELD,      /* it was held like this */
	LOCK_FACT_PASSED_ON, /* the same, by a thread that woke another to have its share, too */
	LOCK_FACT_WOKEN,     /* a thread came back from park: it may take the lock now */
};

enum lock_fact_outcome {
	OUTCOME_OPEN,
	OUTCOME_TAKEN,
	OUTCOME_NOT_TAKEN,
	OUTCOME_TRIED, /* not taken: it parks again */
};

/* A fact about time that is not charged yet. */
struct lock_fact {
	enum lock_fact_kind kind;
	uint64_t sequence, ns;
	uint64_t last_ns;          /* LOCK_FACT_HELD: it was seen to be the same up to here */
	struct held held;          /* LOCK_FACT_WOKEN: as it will be if the thread gets the lock */
	uint64_t target;           /* LOCK_FACT_PASSED_ON: who was woken */
	bool unparked;             /* LOCK_FACT_WOKEN: not by timeout or interrupt */
	enum lock_fact_outcome outcome; /* LOCK_FACT_WOKEN */
};

/* What is known where the charged time ends. */
struct park_left {
	struct held held;
	uint64_t sequence, ns; /* when it was seen to be so, last */
	uint64_t target;       /* HELD_BY_NOBODY: who has to come back from park first; 0: nobody */
	uint64_t awake;     /* was woken, and has not parked again or shown that it got the lock */
	uint64_t passed_to; /* was woken to have its share, and has not come back; 0: nobody */
};

/* All zero at the start but lock and all. */
struct park_lock {
	uint64_t lock;
	struct timelines *all; /* lent */
	/* For those who want it alone, and for those who would share it; NULL: none yet. */
	struct timeline *lines[2];
	uint32_t blocked;    /* threads that are parked on it */
	uint64_t charged_ns; /* the end of the lines */
	bool uncharged;      /* somebody was blocked behind that */
	uint32_t behind;     /* how much the timelines keep there */
	struct park_left left;
	struct lock_fact *facts; /* since then, in the order of their numbers */
	uint32_t fact_count, fact_capacity;
	uint64_t now_ns;
};

void park_lock_free(struct park_lock *l);

/* All with int: 0 or -ENOMEM. Facts come in the order of their numbers unless they say otherwise;
 * their times may run backwards a little, and are corrected. */

/* again: it has just come back, and has not got it. */
int park_lock_block(struct park_lock *l, uint64_t ns, const struct blocked *who,
		    enum park_mode mode, bool again);
int park_lock_unblock(struct park_lock *l, uint64_t thread, enum park_mode mode, uint64_t ns,
		      bool count);

/* The lock is seen to be held like this. */
int park_lock_held(struct park_lock *l, uint64_t sequence, uint64_t ns, const struct held *held);
/* The call chain of a thread, if it is the one that is known to hold it, and that one's is not. */
void park_lock_show(struct park_lock *l, uint64_t thread, uint64_t stack,
		    enum holder_stack_from from);
/* A thread's counters at this moment. */
int park_lock_see(struct park_lock *l, uint64_t ns, uint64_t thread, const struct counters *its);
/* A thread has come back from park, and wants the lock. */
int park_lock_woken(struct park_lock *l, uint64_t sequence, uint64_t ns, uint64_t thread,
		    enum park_mode mode, bool unparked);
/* What has become of that. */
int park_lock_outcome(struct park_lock *l, uint64_t thread, enum lock_fact_outcome outcome);
/*
 * It was held like this until now, and is free. target was woken; parked: and has to come back from
 * park before it can have it. The number may be one of the past.
 */
int park_lock_release(struct park_lock *l, uint64_t sequence, uint64_t ns, const struct held *held,
		      uint64_t target, bool parked);
/* It is held like this by one who wakes target to have its share, too. */
int park_lock_pass_on(struct park_lock *l, uint64_t sequence, uint64_t ns, const struct held *held,
		      uint64_t target);
/* How it was held last, and when that was. */
const struct held *park_lock_last(const struct park_lock *l, uint64_t *ret_ns);
/* Events are missing between two times. */
int park_lock_gap(struct park_lock *l, uint64_t from_ns, uint64_t to_ns);
/* No more events. */
int park_lock_finish(struct park_lock *l, uint64_t end_ns);
