/* analyze/contention/holds.h: the state of every lock and of the threads blocked on it, and the
 * charging of their time: the inner half of contention.c, whose essay says by which rules. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/cells.h"
#include "analyze/cells/pending_slice.h"
#include "analyze/cells/recent_cell.h"
#include "analyze/contention/contention.h"

/* What an observation says. Counters are lent, and completed; NULL: they are not known. */
struct observation {
	uint64_t holder;      /* from now on */
	uint64_t carrier;     /* of a virtual thread; 0: not known */
	struct counters *its; /* counters of that holder */
	struct chain_seen at;
	uint64_t ended; /* a thread whose counters are known too, perhaps the last holder */
	struct counters *ended_its;
	uint64_t ended_stack; /* where it released the lock; 0: not known */
	bool claimed;
	bool first_reader;
};

struct lock_state {
	struct contention_lock seen;
	uint64_t holder;
	uint32_t holder_index; /* among the threads; INDEX_NONE: it is no thread */
	uint64_t since_ns, held_ns; /* of this state; of this hold */
	struct counters since;      /* the holder's */
	bool claimed;      /* the holder is one that came back from park, not yet seen as owner */
	bool first_reader; /* the holder is one of possibly several */
	bool open;         /* a blocked thread has a slice of this hold */
	bool open_before;  /* a blocked thread has a slice of the hold before */
	struct chain_seen at;     /* the holder's chain for the state that goes on */
	struct chain_seen latest; /* its chain for the next one, by then: */
	uint64_t latest_number;   /* holds.shows; later ones of the holder count, too */
	uint64_t holder_before;   /* the last other thread that held it; 0: none */
	uint32_t holder_before_index;
	uint32_t blocked;       /* first blocked thread, INDEX_NONE: none */
	uint32_t blocked_count; /* without those among the others */
	bool numbered;          /* its events have numbers: it is not dealt with here */
	/* In the list of a holder whose chain is wanted, INDEX_NONE: in none; its neighbours. */
	uint32_t listed_by, listed_previous, listed_next;
};

struct waiter_state {
	uint64_t thread;
	uint32_t listed; /* first lock that it holds whose waiters want its chain; INDEX_NONE */
	uint32_t lock;   /* index of the lock it is blocked on; INDEX_NONE: not blocked */
	bool parked;
	bool among_others; /* it is none of those that are blocked on its lock one by one */
	uint64_t stack; /* where it is blocked; 0: not known */
	uint64_t since_ns;
	uint32_t first_cell; /* of the holder seen at the begin; INDEX_NONE: it is in a slice */
	uint32_t pending;    /* first one, INDEX_NONE: none */
	struct recent_cell recent[1 << RECENT_BITS]; /* by a hash */
	uint32_t previous, next;                     /* blocked on the same lock */
	struct pending_slice open, open_before;
	uint64_t wait_lock, wait_stack; /* where it is in Object.wait(), or was last */
	uint64_t ended_ns;              /* 0: it has not */
	struct shown shown[2];          /* last, and last of another lock than that */
	uint64_t held_ns;               /* zero, but while a contention's time is counted */
};

/*
 * Each observation of a lock charges all that are blocked on it, one by one. So there is a bound:
 * who comes when so many are blocked is among the others. Its time is charged to THREAD_OTHERS,
 * whole, when it ends: nothing says who held the lock meanwhile.
 */
#define OTHERS_MIN 512
/*
 * And each is charged once more for each moment at which the holder has emitted an event of its own
 * since the observation before, of which reason_history.c keeps hundreds. So there is a bound on
 * their product, too: up to seven blocked threads are charged for all moments, OTHERS_MIN of them
 * for seven.
 */
#define CUTS_MAX 4096

/* All zero at the start. */
struct holds {
	struct cells cells;
	struct keymap lock_map;
	struct lock_state *locks;
	uint32_t locks_capacity;
	struct keymap thread_map;
	struct waiter_state *threads;
	uint32_t threads_capacity;
	struct pending *pending; /* pending_count of them */
	uint32_t pending_count, pending_capacity;
	uint32_t pending_free; /* 1 + the first one that is free; 0: none */
	uint64_t shows;        /* chains of threads that blocked or waited, so far */
	uint64_t now_ns;
};

void holds_free(struct holds *h);

/* Places in locks and threads, new ones if need be. 0 or -ENOMEM, as all of these. */
int holds_lock(struct holds *h, uint64_t lock, uint32_t *ret);
int holds_thread(struct holds *h, uint64_t thread, uint32_t *ret);

/* Charges the time up to now, and begins the lock's next state; completes the counters of s with
 * the reasons for which the threads were blocked. It may move the threads, but not the locks. */
int holds_observe(struct holds *h, struct lock_state *l, const struct observation *s);
/* The holder's call chain is seen; the state goes on. */
int holds_show(struct holds *h, struct lock_state *l, struct chain_seen at);
/* The thread blocks on a lock, or waits: so much for the other locks that it holds. */
int holds_show_blocked(struct holds *h, uint32_t thread, uint64_t lock, uint64_t stack);
/* The exit of a thread that is not the holder any more. */
int holds_show_late(struct holds *h, struct lock_state *l, uint64_t thread, uint64_t stack);

/* The thread is blocked from now on; the lock has just been observed. */
int holds_block(struct holds *h, uint32_t thread, struct lock_state *l, uint64_t stack,
		bool parked);
/* It is not blocked any more. The lock's time must have been charged before, if it counts. */
int holds_unblock(struct holds *h, uint32_t thread, bool count);
