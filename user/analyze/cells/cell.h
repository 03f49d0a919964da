/* analyze/cells/cell.h: blocked time of one lock, waiter and holder. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/split.h"
#include "analyze/stacks/stacks.h"

/* A holder that is no thread. */
#define HOLDER_UNKNOWN 0            /* it was held, or may have been, and nothing says by whom */
#define HOLDER_HAND_OVER UINT64_MAX /* nobody is known to have held it: released, not yet taken */
/* Waiters and holders, each of whom has little; see below. */
#define THREAD_OTHERS (UINT64_MAX - 1)

static inline bool holder_is_thread(uint64_t holder)
{
	return holder != HOLDER_UNKNOWN && holder < THREAD_OTHERS;
}

/* When the holder's call chain was seen that a time is charged to. */
enum holder_stack_from {
	HOLDER_STACK_UNKNOWN,
	HOLDER_STACK_BLOCK,   /* at the moment when the waiter blocked */
	HOLDER_STACK_SWITCH,  /* later, when it left its CPU */
	HOLDER_STACK_SAMPLE,  /* later, while it ran */
	HOLDER_STACK_RELEASE, /* when it released the lock: exit, wait, unpark */
	HOLDER_STACK_BLOCKED, /* when it blocked itself: enter, wait, park */
	HOLDER_STACK_WAIT, /* when it released it in Object.wait(): not where it had entered it */
	HOLDER_STACK_FROM_COUNT,
};

struct cell {
	uint64_t lock;
	uint64_t waiter;
	uint64_t holder;
	uint64_t waiter_stack; /* 0: not known */
	uint64_t holder_stack; /* 0: not known, or the holder is no thread */
	uint64_t blocked_on;   /* what the holder was itself blocked or parked on; 0: nothing */
	/* It went for the monitor again after Object.wait(). Often only one of several that were
	 * woken can go on, which need not be a problem: counted apart (Hofer 4.2.2). */
	bool after_wait;
	bool monitor;     /* it was blocked by monitor events, whatever the lock's group says */
	bool numbered;    /* numbered events say who held the lock: see monitors.c */
	uint32_t pending; /* 1 + index of what the contention that is going on has; 0: nothing */
	uint32_t facets;  /* packed as facets.h has them; 0: cells are not cut by any */
	uint32_t number;  /* 1 + its index in the cells of which it is one: for their lengths */
	/* Up to here what is needed to find it: together, as memory is slower than all else. */

	uint64_t count;       /* contentions that began with this holder */
	uint64_t blocked_ns;  /* of all contentions, while this was the holder */
	uint64_t max_ns;      /* the longest of those that began with this holder, whole */
	uint64_t max_held_ns; /* the most that one contention was charged to this holder, in all its
				  cells */
	uint64_t max_part_ns; /* the most that one was charged to this very cell */
	uint64_t
		first_reader_ns; /* of blocked_ns: the holder was one of possibly several readers */
	struct split split;      /* of blocked_ns */
	uint64_t stack_from_ns
		[HOLDER_STACK_FROM_COUNT]; /* of blocked_ns, if the holder is a thread */
};

/* What identifies a cell. */
struct cell_key {
	uint64_t lock, waiter, holder, waiter_stack, holder_stack, blocked_on;
	bool after_wait;
	uint32_t facets;
};

/* Put together, as there were too many. */
static inline bool cell_is_of_others(const struct cell *cell)
{
	return cell->waiter_stack == STACK_OTHERS;
}

/* Of several waiters: of THREAD_OTHERS. */
static inline bool cell_is_shared(const struct cell *cell)
{
	return cell->waiter == THREAD_OTHERS;
}

struct cell_key cell_key_of(const struct cell *cell);
