/* analyze/groups/idle.h: idle turn-taking, as opposed to waiting that delays work. */
#pragma once

#include <stdint.h>

struct cell;
struct stacks;

/*
 * Threads of a server often take turns in waiting for new work: one holds the lock and is blocked
 * in accept(), the others queue for the lock. They lose nothing: without the lock they would be
 * blocked in accept() themselves. Blocked time is idle turn-taking if all of this holds:
 *
 *	- the holder's call chain is in a method that waits for new work (idle_method());
 *	- from there outwards it comes to the method in which the waiter is blocked: the waiter
 *	  wants to do the same;
 *	- the holder is not itself blocked on a lock;
 *	- the holder was off its CPU by its own will meanwhile. What it ran, waited for a CPU or was
 *	  stopped by a pause delays the waiter, and is not idle.
 *
 * All of it is inferred from call chains: without them nothing is idle.
 */

/* Of a cell's blocked time, what is idle turn-taking. */
uint64_t idle_turn_ns(const struct stacks *stacks, const struct cell *cell);
