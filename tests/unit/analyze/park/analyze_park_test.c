/* Who kept parked threads waiting, case by case: what each class of blocker means. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/cells/cells.h"
#include "analyze/lines/timeline.h"
#include "analyze/park/park_numbered.h"
#include "tests/unit/analyze/analyze_events.h"
#include "park_names.h"
#include "tests/unit/alloc_fail.h"

enum { LOCK = 1, RW, STAMPED, SEMAPHORE, LATCH, CONDITION, FUTURE, OWN_LOCK, OTHER_LOCK, BLOCKERS };

static const struct times none;

struct park_case {
	struct cells cells;
	struct timelines *lines;
	struct log_names *names;
	struct park_numbered *park;
	uint64_t sequence;
};

static int set_up_unnamed(void **state)
{
	static const char *const classes[BLOCKERS] = {
		[LOCK] = PARK_LOCKS "ReentrantLock$NonfairSync",
		[RW] = PARK_LOCKS "ReentrantReadWriteLock$NonfairSync",
		[STAMPED] = PARK_LOCKS "StampedLock",
		[SEMAPHORE] = "java.util.concurrent.Semaphore$NonfairSync",
		[LATCH] = "java.util.concurrent.CountDownLatch$Sync",
		[CONDITION] = AQS "$ConditionObject",
		[FUTURE] = "java.util.concurrent.FutureTask",
		[OWN_LOCK] = "demo.Mutex$Sync",
		[OTHER_LOCK] = PARK_LOCKS "ReentrantLock$FairSync",
	};
	struct park_case *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	c->lines = timelines_new(&c->cells);
	c->names = log_names_new();
	assert_non_null(c->lines);
	assert_non_null(c->names);
	for (unsigned lock = 1; lock < BLOCKERS; lock++)
		assert_int_equal(names_lock(c->names, lock, classes[lock]), 0);
	c->park = park_numbered_new(&c->cells, c->lines, c->names);
	assert_non_null(c->park);
	*state = c;
	return 0;
}

static int set_up(void **state)
{
	struct park_case *c;

	set_up_unnamed(state);
	c = *state;
	assert_int_equal(names_chains(c->names), 0);
	return 0;
}

static int tear_down(void **state)
{
	struct park_case *c = *state;

	park_numbered_free(c->park);
	timelines_free(c->lines);
	log_names_free(c->names);
	cells_free(&c->cells);
	free(c);
	return 0;
}

static uint64_t add(struct park_case *c, struct event e)
{
	static const unsigned sequence[] = {
		[EVENT_PARK_BEGIN] = PARK_BEGIN_SEQUENCE,
		[EVENT_PARK_END] = PARK_END_SEQUENCE,
		[EVENT_UNPARK] = UNPARK_SEQUENCE,
	};

	e.v[sequence[e.id]].u = ++c->sequence;
	assert_int_equal(park_numbered_add(c->park, &e, 0), 0);
	return c->sequence;
}

static void begins(struct park_case *c, uint64_t ns, uint32_t thread, uint64_t lock, uint64_t owner,
		   enum chain_kind chain)
{
	struct event e = park(ns, thread, lock, owner,
			      owner ? OWNER_SOURCE_EXCLUSIVE_OWNER : OWNER_SOURCE_NONE, none);

	add(c, at_stacks(e, chain_number(chain, 0), 0));
}

static void begins_behind_readers(struct park_case *c, uint64_t ns, uint32_t thread, uint64_t first,
				  uint64_t readers, enum chain_kind chain)
{
	struct event e = park(ns, thread, RW, first,
			      first ? OWNER_SOURCE_FIRST_READER : OWNER_SOURCE_UNKNOWN, none);

	e.v[PARK_BEGIN_READERS].u = readers;
	add(c, at_stacks(e, chain_number(chain, 0), 0));
}

static uint64_t unparks(struct park_case *c, uint64_t ns, uint32_t thread, uint64_t target,
			enum chain_kind chain)
{
	return add(c, at_stacks(unpark(ns, thread, target, none), chain_number(chain, 1), 0));
}

static void ends(struct park_case *c, uint64_t ns, uint32_t thread, uint64_t lock, uint64_t by)
{
	struct event e = parked(ns, thread, lock, none, 0, none);

	e.v[PARK_END_BY].u = by;
	e.v[PARK_END_HOW].u = by ? PARK_END_UNPARKED : PARK_END_TIMEOUT;
	add(c, e);
}

static void finish(struct park_case *c, uint64_t ns)
{
	assert_int_equal(park_numbered_finish(c->park, ns), 0);
	assert_int_equal(timelines_finish(c->lines), 0);
}

/* All that a waiter is blocked on a lock, by one holder; of that, in one chain. */
static uint64_t held(const struct park_case *c, uint64_t lock, uint64_t waiter, uint64_t holder)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < c->cells.count; i++) {
		const struct cell *cell = &c->cells.rows[i];

		if (cell->lock == lock && cell->waiter == waiter && cell->holder == holder)
			ns += cell->blocked_ns;
	}
	return ns;
}

static const struct cell *cell_of(const struct park_case *c, uint64_t lock, uint64_t waiter,
				  uint64_t holder)
{
	const struct cell *found = NULL;

	for (uint32_t i = 0; i < c->cells.count; i++) {
		const struct cell *cell = &c->cells.rows[i];

		if (cell->lock != lock || cell->waiter != waiter || cell->holder != holder)
			continue;
		assert_null(found);
		found = cell;
	}
	assert_non_null(found);
	return found;
}

/* Hofer's figure 4.6: T2 and T4 wait, T1 releases, T3 is quicker than T2, T2 parks again. */
static void barging(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 2, LOCK, 1, CHAIN_LOCK);
	begins(c, 200, 4, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 300, 1, 2, CHAIN_UNLOCK);
	ends(c, 350, 2, LOCK, u);
	begins(c, 360, 2, LOCK, 3, CHAIN_LOCK);
	u = unparks(c, 500, 3, 2, CHAIN_UNLOCK);
	ends(c, 520, 2, LOCK, u);
	u = unparks(c, 700, 2, 4, CHAIN_UNLOCK);
	ends(c, 730, 4, LOCK, u);
	finish(c, 1000);

	assert_int_equal(held(c, LOCK, 2, 1), 200);
	assert_int_equal(held(c, LOCK, 2, 3), 140);
	assert_int_equal(held(c, LOCK, 2, HOLDER_HAND_OVER), 50 + 20);
	assert_int_equal(held(c, LOCK, 4, 1), 100);
	assert_int_equal(held(c, LOCK, 4, 3), 150); /* since T2 came back and found it taken */
	assert_int_equal(held(c, LOCK, 4, 2), 180);
	assert_int_equal(held(c, LOCK, 4, HOLDER_HAND_OVER), 50 + 20 + 30);
	assert_int_equal(cell_of(c, LOCK, 4, 3)->holder_stack, chain_number(CHAIN_UNLOCK, 1));
	assert_int_equal(cell_of(c, LOCK, 4, 3)->stack_from_ns[HOLDER_STACK_RELEASE], 150);
	assert_int_equal(cell_of(c, LOCK, 4, 3)->waiter_stack, chain_number(CHAIN_LOCK, 0));
}

/* What the holder did is known between two of its counters' readings. */
static void split(void **state)
{
	struct park_case *c = *state;
	struct event e =
		park(100, 2, LOCK, 1, OWNER_SOURCE_EXCLUSIVE_OWNER, (struct times){1000, 10, 5});
	uint64_t u;

	add(c, at_stacks(e, chain_number(CHAIN_LOCK, 0), 0));
	e = unpark(300, 1, 2, (struct times){1120, 40, 25});
	u = add(c, at_stacks(e, chain_number(CHAIN_UNLOCK, 1), 0));
	ends(c, 350, 2, LOCK, u);
	finish(c, 1000);
	assert_int_equal(cell_of(c, LOCK, 2, 1)->split.running_ns, 120);
	assert_int_equal(cell_of(c, LOCK, 2, 1)->split.stolen_ns, 30);
	assert_int_equal(cell_of(c, LOCK, 2, 1)->split.runnable_ns, 20);
	assert_int_equal(cell_of(c, LOCK, 2, 1)->split.blocked_ns, 30);
	assert_int_equal(cell_of(c, LOCK, 2, 1)->split.unknown_ns, 0);
}

/* Not every unpark of a thread that waits for a lock is a release. */
static void no_release(void **state)
{
	static const enum chain_kind chains[] = {CHAIN_CANCEL, CHAIN_SIGNAL, CHAIN_FUTURE};
	struct park_case *c = *state;
	uint64_t ns = 0, u;

	for (unsigned i = 0; i < 3; i++, ns += 1000) {
		begins(c, ns + 100, 2, LOCK, 1, CHAIN_LOCK);
		u = unparks(c, ns + 200, 3, 2, chains[i]);
		ends(c, ns + 210, 2, LOCK, u);
		begins(c, ns + 220, 2, LOCK, 1, CHAIN_LOCK);
		u = unparks(c, ns + 300, 1, 2, CHAIN_UNLOCK);
		ends(c, ns + 320, 2, LOCK, u);
		unparks(c, ns + 330, 2, 4, CHAIN_FUTURE);
	}
	finish(c, ns);
	assert_int_equal(held(c, LOCK, 2, 1), 3 * (110 + 80));
	assert_int_equal(held(c, LOCK, 2, HOLDER_HAND_OVER), 3 * 20);
	assert_int_equal(held(c, LOCK, 2, 3), 0);
}

/* Where a holder was that nobody sees release the lock, as the only waiter has given up before. */
static void chain_of_owner(void **state)
{
	const uint64_t seen = chain_number(CHAIN_FUTURE, 0);
	struct park_case *c = *state;
	struct event e;

	begins(c, 100, 2, LOCK, 1, CHAIN_LOCK);
	e = owner_at(150, 3, 2, 77, STACK_SOURCE_SAMPLE); /* not the owner */
	park_numbered_show(c->park, &e);
	e = owner_at(160, 1, 2, seen, STACK_SOURCE_SWITCH);
	park_numbered_show(c->park, &e);
	e = owner_at(170, 1, 2, 78, STACK_SOURCE_SAMPLE); /* it has one */
	park_numbered_show(c->park, &e);
	ends(c, 300, 2, LOCK, 0);
	e = owner_at(310, 1, 2, 79, STACK_SOURCE_SAMPLE); /* nobody waits */
	park_numbered_show(c->park, &e);
	unparks(c, 400, 2, 5, CHAIN_FUTURE);
	finish(c, 1000);
	assert_int_equal(cell_of(c, LOCK, 2, 1)->blocked_ns, 200);
	assert_int_equal(cell_of(c, LOCK, 2, 1)->holder_stack, seen);
	assert_int_equal(cell_of(c, LOCK, 2, 1)->stack_from_ns[HOLDER_STACK_SWITCH], 200);
}

/* The names of a new chain come a little later than the unpark that it belongs to. */
static void names_come_later(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 2, LOCK, 1, CHAIN_LOCK);
	begins(c, 110, 4, LOCK, 1, CHAIN_LOCK);
	ends(c, 150, 2, LOCK, 0);
	u = unparks(c, 200, 2, 4, CHAIN_CANCEL);
	assert_int_equal(names_chains(c->names), 0);
	ends(c, 210, 4, LOCK, u);
	begins(c, 220, 4, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 300, 1, 4, CHAIN_UNLOCK);
	ends(c, 320, 4, LOCK, u);
	finish(c, 1000);
	assert_int_equal(held(c, LOCK, 4, 1), 100 + 80);
	assert_int_equal(held(c, LOCK, 4, 2), 0);
	assert_int_equal(held(c, LOCK, 4, HOLDER_HAND_OVER), 20);
}

/* Or not at all. */
static void names_never_come(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 2, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 200, 1, 2, CHAIN_UNLOCK);
	ends(c, 220, 2, LOCK, u);
	begins(c, 1000000300, 2, LOCK, 1, CHAIN_LOCK);
	assert_int_equal(held(c, LOCK, 2, 1), 100);
	u = unparks(c, 1000000400, 1, 2, CHAIN_UNLOCK);
	ends(c, 1000000420, 2, LOCK, u);
	finish(c, 2000000000);
	assert_int_equal(held(c, LOCK, 2, 1), 200);
	assert_int_equal(held(c, LOCK, 2, HOLDER_HAND_OVER), 40);
}

/* Without a call chain the owner that was seen decides. */
static void broken_chain(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 2, LOCK, 1, CHAIN_NONE);
	u = unparks(c, 200, 3, 2, CHAIN_BROKEN); /* who is that? */
	ends(c, 210, 2, LOCK, u);
	begins(c, 220, 2, LOCK, 1, CHAIN_NONE);
	u = unparks(c, 300, 1, 2, CHAIN_NONE);
	ends(c, 320, 2, LOCK, u);
	finish(c, 1000);
	assert_int_equal(held(c, LOCK, 2, 1), 100 + 80);
	assert_int_equal(held(c, LOCK, 2, 3), 0);
	assert_int_equal(held(c, LOCK, 2, HOLDER_HAND_OVER), 10 + 20);
}

/* A permit from another lock does not make its giver this one's owner. */
static void old_permit(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 4, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 150, 3, 2, CHAIN_UNLOCK);
	begins(c, 200, 2, LOCK, 1, CHAIN_LOCK);
	ends(c, 201, 2, LOCK, u);
	begins(c, 202, 2, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 300, 1, 4, CHAIN_UNLOCK);
	ends(c, 310, 4, LOCK, u);
	u = unparks(c, 400, 4, 2, CHAIN_UNLOCK);
	ends(c, 430, 2, LOCK, u);
	finish(c, 1000);
	assert_int_equal(held(c, LOCK, 4, 1), 200);
	assert_int_equal(held(c, LOCK, 4, 3), 0);
	assert_int_equal(held(c, LOCK, 2, 1), 1 + 98);
	assert_int_equal(held(c, LOCK, 2, 4), 90);
}

/* A release between the moment when a thread announces that it will park, and its park. */
static void own_permit(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 4, LOCK, 1, CHAIN_LOCK);
	ends(c, 110, 4, LOCK, 0);
	begins(c, 120, 4, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 200, 1, 2, CHAIN_UNLOCK);
	begins(c, 210, 2, LOCK, 0, CHAIN_LOCK);
	ends(c, 230, 2, LOCK, u);
	u = unparks(c, 300, 2, 4, CHAIN_UNLOCK);
	ends(c, 310, 4, LOCK, u);
	finish(c, 1000);
	assert_int_equal(held(c, LOCK, 4, 1), 10 + 80);
	assert_int_equal(held(c, LOCK, 4, 2), 70);
	assert_int_equal(held(c, LOCK, 4, HOLDER_HAND_OVER), 30 + 10);
	assert_int_equal(held(c, LOCK, 2, HOLDER_HAND_OVER), 20);
}

static void readers(void **state)
{
	struct park_case *c = *state;
	const struct cell *cell;
	uint64_t u, v;

	begins_behind_readers(c, 100, 2, 1, 2, CHAIN_WRITE); /* 1 and one that nobody sees */
	u = unparks(c, 300, 5, 2, CHAIN_READ_UNLOCK);        /* this one was it */
	ends(c, 310, 2, RW, u);
	begins(c, 320, 3, RW, 2, CHAIN_READ);
	begins(c, 330, 4, RW, 2, CHAIN_READ);
	begins(c, 340, 6, RW, 2, CHAIN_WRITE);
	u = unparks(c, 400, 2, 3, CHAIN_UNLOCK);
	ends(c, 410, 3, RW, u);
	v = unparks(c, 411, 3, 4, CHAIN_PASS_ON);
	ends(c, 431, 4, RW, v);
	u = unparks(c, 500, 4, 6, CHAIN_READ_UNLOCK);
	ends(c, 510, 6, RW, u);
	finish(c, 1000);

	cell = cell_of(c, RW, 2, 5);
	assert_int_equal(cell->blocked_ns, 200);
	assert_int_equal(cell->first_reader_ns, 200); /* one of several */
	assert_int_equal(held(c, RW, 2, 1), 0);
	assert_int_equal(held(c, RW, 3, 2), 80);
	assert_int_equal(cell_of(c, RW, 3, 2)->first_reader_ns, 0);
	assert_int_equal(held(c, RW, 4, 2), 70);
	assert_int_equal(held(c, RW, 4, HOLDER_HAND_OVER), 10 + 20);
	assert_int_equal(held(c, RW, 4, 3), 1); /* no reader keeps another waiting */
	assert_int_equal(held(c, RW, 6, 2), 60);
	assert_int_equal(held(c, RW, 6, 3), 21);
	assert_int_equal(held(c, RW, 6, 4), 69);
	assert_int_equal(cell_of(c, RW, 6, 4)->first_reader_ns, 69);
	assert_int_equal(held(c, RW, 6, HOLDER_HAND_OVER), 10 + 10);
}

static void one_reader(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins_behind_readers(c, 100, 2, 1, 1, CHAIN_WRITE);
	u = unparks(c, 300, 1, 2, CHAIN_READ_UNLOCK);
	ends(c, 310, 2, RW, u);
	begins_behind_readers(c, 400, 2, 0, 3, CHAIN_WRITE); /* the first of them has left */
	ends(c, 450, 2, RW, 0);
	finish(c, 1000);
	assert_int_equal(cell_of(c, RW, 2, 1)->blocked_ns, 200);
	assert_int_equal(cell_of(c, RW, 2, 1)->first_reader_ns, 0);
	assert_int_equal(held(c, RW, 2, HOLDER_UNKNOWN), 50);
}

/* It does not tell its owner: who releases it has had it. */
static void stamped(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 2, STAMPED, 0, CHAIN_STAMPED_WRITE);
	begins(c, 150, 3, STAMPED, 0, CHAIN_STAMPED_READ);
	u = unparks(c, 200, 1, 2, CHAIN_STAMPED_UNLOCK);
	ends(c, 220, 2, STAMPED, u);
	u = unparks(c, 300, 2, 3, CHAIN_STAMPED_UNLOCK);
	ends(c, 330, 3, STAMPED, u);
	begins(c, 400, 2, STAMPED, 0, CHAIN_STAMPED_WRITE);
	u = unparks(c, 500, 3, 2, CHAIN_STAMPED_READ_UNLOCK);
	ends(c, 510, 2, STAMPED, u);
	finish(c, 1000);
	assert_int_equal(held(c, STAMPED, 2, 1), 100);
	assert_int_equal(held(c, STAMPED, 3, 1), 50);
	assert_int_equal(held(c, STAMPED, 3, 2), 80);
	assert_int_equal(cell_of(c, STAMPED, 3, 2)->first_reader_ns, 0);
	assert_int_equal(cell_of(c, STAMPED, 2, 3)->first_reader_ns, 100);
}

/* Nobody holds a semaphore: each waiter is told who let it go, or set off that it was. */
static void semaphore(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 2, SEMAPHORE, 0, CHAIN_ACQUIRE_SHARED);
	begins(c, 150, 3, SEMAPHORE, 0, CHAIN_ACQUIRE_SHARED);
	u = unparks(c, 200, 1, 2, CHAIN_READ_UNLOCK);
	ends(c, 210, 2, SEMAPHORE, u);
	u = unparks(c, 215, 2, 3, CHAIN_PASS_ON);
	ends(c, 225, 3, SEMAPHORE, u);
	begins(c, 300300, 3, SEMAPHORE, 0, CHAIN_ACQUIRE_SHARED);
	ends(c, 300400, 3, SEMAPHORE, 0);
	finish(c, 400000);
	assert_int_equal(held(c, SEMAPHORE, 2, 1), 100);
	assert_int_equal(held(c, SEMAPHORE, 2, HOLDER_HAND_OVER), 10);
	assert_int_equal(held(c, SEMAPHORE, 3, 1), 50);
	assert_int_equal(held(c, SEMAPHORE, 3, 2), 0);
	assert_int_equal(held(c, SEMAPHORE, 3, HOLDER_HAND_OVER), 25);
	assert_int_equal(held(c, SEMAPHORE, 3, HOLDER_UNKNOWN), 100);
	assert_int_equal(cell_of(c, SEMAPHORE, 3, 1)->holder_stack,
			 chain_number(CHAIN_READ_UNLOCK, 1));
}

/* Woken, but too late: each park is charged to who has ended it. */
static void semaphore_in_vain(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 2, SEMAPHORE, 0, CHAIN_ACQUIRE_SHARED);
	begins(c, 110, 4, SEMAPHORE, 0, CHAIN_ACQUIRE_SHARED);
	u = unparks(c, 200, 1, 2, CHAIN_READ_UNLOCK);
	ends(c, 210, 2, SEMAPHORE, u);
	u = unparks(c, 215, 2, 4, CHAIN_PASS_ON);
	ends(c, 225, 4, SEMAPHORE, u);
	begins(c, 230, 4, SEMAPHORE, 0, CHAIN_ACQUIRE_SHARED);
	u = unparks(c, 300, 2, 4, CHAIN_READ_UNLOCK);
	ends(c, 330, 4, SEMAPHORE, u);
	finish(c, 1000);
	assert_int_equal(held(c, SEMAPHORE, 4, 1), 90);
	assert_int_equal(held(c, SEMAPHORE, 4, 2), 70);
	assert_int_equal(held(c, SEMAPHORE, 4, HOLDER_HAND_OVER), 25 + 30);
}

static void latch(void **state)
{
	struct park_case *c = *state;
	uint64_t u = 0;

	begins(c, 100, 2, LATCH, 0, CHAIN_ACQUIRE_SHARED);
	begins(c, 110, 3, LATCH, 0, CHAIN_ACQUIRE_SHARED);
	begins(c, 120, 4, LATCH, 0, CHAIN_ACQUIRE_SHARED);
	for (uint32_t thread = 2; thread <= 4; thread++) {
		u = unparks(c, 500, thread == 2 ? 1 : thread - 1, thread,
			    thread == 2 ? CHAIN_READ_UNLOCK : CHAIN_PASS_ON);
		ends(c, 500, thread, LATCH, u);
	}
	finish(c, 1000);
	for (uint32_t thread = 2; thread <= 4; thread++)
		assert_int_equal(held(c, LATCH, thread, 1), 500 - 80 - 10 * thread);
}

/* The thread that was awaited has done it; of a class that nobody knows not even that is said. */
static void others(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 2, FUTURE, 0, CHAIN_FUTURE);
	u = unparks(c, 200, 1, 2, CHAIN_FUTURE);
	ends(c, 210, 2, FUTURE, u);
	begins(c, 300, 2, OWN_LOCK, 0, CHAIN_FUTURE);
	u = unparks(c, 400, 1, 2, CHAIN_FUTURE);
	ends(c, 410, 2, OWN_LOCK, u);
	begins(c, 500, 2, 0, 0, CHAIN_FUTURE); /* no blocker at all */
	u = unparks(c, 600, 1, 2, CHAIN_FUTURE);
	ends(c, 610, 2, 0, u);
	finish(c, 1000);
	assert_int_equal(held(c, FUTURE, 2, 1), 100);
	assert_int_equal(held(c, FUTURE, 2, HOLDER_HAND_OVER), 10);
	assert_int_equal(held(c, OWN_LOCK, 2, HOLDER_UNKNOWN), 100);
	assert_int_equal(held(c, OWN_LOCK, 2, HOLDER_HAND_OVER), 10);
	assert_int_equal(held(c, 0, 2, 1) + held(c, 0, 2, HOLDER_UNKNOWN), 0);
}

/* A lock of a class of its own that tells its owner, and wakes by code of its own. */
static void own_lock(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 2, OWN_LOCK, 1, CHAIN_FUTURE);
	u = unparks(c, 200, 3, 2, CHAIN_FUTURE); /* not by its owner: no release */
	ends(c, 210, 2, OWN_LOCK, u);
	begins(c, 220, 2, OWN_LOCK, 1, CHAIN_FUTURE);
	u = unparks(c, 300, 1, 2, CHAIN_FUTURE);
	ends(c, 330, 2, OWN_LOCK, u);
	finish(c, 1000);
	assert_int_equal(held(c, OWN_LOCK, 2, 1), 110 + 80);
	assert_int_equal(held(c, OWN_LOCK, 2, HOLDER_HAND_OVER), 30);
	assert_int_equal(held(c, OWN_LOCK, 2, 3), 0);
}

/* Thread 2 awaits, 1 wakes it by its release, 2 holds the lock until 500; 4 waits for that lock. */
static void await_and_hold(struct park_case *c, bool known)
{
	uint64_t u;

	if (known) {
		/* It had released the lock to 9 when it began to wait. */
		begins(c, 10, 9, LOCK, 2, CHAIN_LOCK);
		u = unparks(c, 20, 2, 9, CHAIN_AWAIT_UNLOCK);
		begins(c, 30, 2, CONDITION, 0, CHAIN_AWAIT);
		ends(c, 40, 9, LOCK, u);
	} else {
		begins(c, 30, 2, CONDITION, 0, CHAIN_AWAIT);
	}
	begins(c, 100, 4, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 300, 1, 2, CHAIN_UNLOCK);
	ends(c, 350, 2, CONDITION, u);
	u = unparks(c, 500, 2, 4, CHAIN_UNLOCK);
	ends(c, 510, 4, LOCK, u);
}

static void condition(void **state, bool known)
{
	struct park_case *c = *state;

	await_and_hold(c, known);
	finish(c, 1000);
	assert_int_equal(held(c, LOCK, 4, 1), 200);
	assert_int_equal(held(c, LOCK, 4, 2), 150);
	assert_int_equal(held(c, LOCK, 4, HOLDER_HAND_OVER), 50 + 10);
	assert_int_equal(held(c, CONDITION, 2, 1), 270); /* who has ended the wait */
	assert_int_equal(held(c, CONDITION, 2, HOLDER_HAND_OVER), 50);
}

static void condition_by_await(void **state)
{
	condition(state, true);
}

static void condition_by_release(void **state)
{
	condition(state, false);
}

/* It comes back from await() and does not get the lock: that tells which lock it is. */
static void condition_by_return(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 30, 2, CONDITION, 0, CHAIN_AWAIT);
	u = unparks(c, 40, 1, 2, CHAIN_UNLOCK);
	ends(c, 50, 2, CONDITION, u);
	begins(c, 60, 2, LOCK, 3, CHAIN_AWAIT_BACK);
	u = unparks(c, 70, 3, 2, CHAIN_UNLOCK);
	ends(c, 80, 2, LOCK, u);
	unparks(c, 90, 2, 5, CHAIN_FUTURE);
	await_and_hold(c, false);
	finish(c, 1000);
	assert_int_equal(held(c, LOCK, 2, 3), 10);
	assert_int_equal(held(c, LOCK, 4, 1), 200);
	assert_int_equal(held(c, LOCK, 4, 2), 150);
}

/*
 * signalAll() has moved 2 and 3 to the lock's queue, and 4 came behind them: they hand the lock to
 * each other, and only the last one's release tells which lock that was. 2 may have begun to wait
 * before the log does, and then nobody can say on what it was parked.
 */
static void hand_overs(struct park_case *c, bool attached)
{
	uint64_t u;

	if (!attached)
		begins(c, 10, 2, CONDITION, 0, CHAIN_AWAIT);
	begins(c, 20, 3, CONDITION, 0, CHAIN_AWAIT);
	begins(c, 100, 4, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 300, 1, 2, CHAIN_UNLOCK);
	ends(c, 350, 2, attached ? 0 : CONDITION, u);
	u = unparks(c, 500, 2, 3, CHAIN_UNLOCK);
	ends(c, 520, 3, CONDITION, u);
	u = unparks(c, 700, 3, 4, CHAIN_UNLOCK);
	ends(c, 710, 4, LOCK, u);
	finish(c, 1000);
	assert_int_equal(held(c, LOCK, 4, 1), 200);
	assert_int_equal(held(c, LOCK, 4, 2), 150);
	assert_int_equal(held(c, LOCK, 4, 3), 180);
	assert_int_equal(held(c, LOCK, 4, HOLDER_HAND_OVER), 50 + 20 + 10);
}

static void condition_by_hand_overs(void **state)
{
	hand_overs(*state, false);
}

static void condition_by_hand_overs_attached(void **state)
{
	hand_overs(*state, true);
}

/* The first of a chain of releases was somebody's who was not known to have the lock. */
static void hand_overs_of_another(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 10, 2, CONDITION, 0, CHAIN_AWAIT);
	begins(c, 20, 3, CONDITION, 0, CHAIN_AWAIT);
	begins(c, 100, 4, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 300, 9, 2, CHAIN_UNLOCK);
	ends(c, 350, 2, CONDITION, u);
	u = unparks(c, 500, 2, 3, CHAIN_UNLOCK);
	ends(c, 520, 3, CONDITION, u);
	u = unparks(c, 700, 3, 4, CHAIN_UNLOCK);
	ends(c, 710, 4, LOCK, u);
	finish(c, 1000);
	assert_int_equal(held(c, LOCK, 4, 2), 0);
	assert_int_equal(held(c, LOCK, 4, 1) + held(c, LOCK, 4, 3), 600);
}

/* Another lock's condition does not release this one. */
static void other_condition(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 10, 9, OTHER_LOCK, 2, CHAIN_LOCK);
	u = unparks(c, 20, 2, 9, CHAIN_AWAIT_UNLOCK);
	begins(c, 30, 2, CONDITION, 0, CHAIN_AWAIT);
	ends(c, 40, 9, OTHER_LOCK, u);
	begins(c, 100, 4, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 300, 1, 2, CHAIN_UNLOCK); /* of the other lock */
	ends(c, 350, 2, CONDITION, u);
	u = unparks(c, 500, 1, 4, CHAIN_UNLOCK);
	ends(c, 510, 4, LOCK, u);
	finish(c, 1000);
	assert_int_equal(held(c, LOCK, 4, 1), 400);
	assert_int_equal(held(c, LOCK, 4, HOLDER_HAND_OVER), 10);
}

/* A park that began before the log: the unpark that ends it tells of its lock all the same. */
static void attached(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 4, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 200, 1, 2, CHAIN_UNLOCK);
	ends(c, 230, 2, 0, u);
	u = unparks(c, 400, 2, 4, CHAIN_UNLOCK);
	ends(c, 410, 4, LOCK, u);
	finish(c, 1000);
	assert_int_equal(held(c, LOCK, 4, 1), 100);
	assert_int_equal(held(c, LOCK, 4, 2), 170);
	assert_int_equal(held(c, LOCK, 4, HOLDER_HAND_OVER), 30 + 10);
}

/* Times of events from several CPUs may be a little out of order; their numbers are not. */
static void clocks_differ(void **state)
{
	struct park_case *c = *state;
	uint64_t u;

	begins(c, 100, 2, LOCK, 1, CHAIN_LOCK);
	begins(c, 95, 4, LOCK, 1, CHAIN_LOCK);
	u = unparks(c, 300, 1, 2, CHAIN_UNLOCK);
	ends(c, 290, 2, LOCK, u);
	u = unparks(c, 400, 2, 4, CHAIN_UNLOCK);
	ends(c, 410, 4, LOCK, u);
	finish(c, 1000);
	assert_int_equal(held(c, LOCK, 2, 1), 190);
	assert_int_equal(held(c, LOCK, 4, 1), 205);
	assert_int_equal(held(c, LOCK, 4, 2), 100);
	assert_int_equal(held(c, LOCK, 4, HOLDER_HAND_OVER), 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(barging, set_up, tear_down),
		cmocka_unit_test_setup_teardown(split, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_release, set_up, tear_down),
		cmocka_unit_test_setup_teardown(chain_of_owner, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_come_later, set_up_unnamed, tear_down),
		cmocka_unit_test_setup_teardown(names_never_come, set_up_unnamed, tear_down),
		cmocka_unit_test_setup_teardown(broken_chain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(old_permit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(own_permit, set_up, tear_down),
		cmocka_unit_test_setup_teardown(readers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(one_reader, set_up, tear_down),
		cmocka_unit_test_setup_teardown(stamped, set_up, tear_down),
		cmocka_unit_test_setup_teardown(semaphore, set_up, tear_down),
		cmocka_unit_test_setup_teardown(semaphore_in_vain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(latch, set_up, tear_down),
		cmocka_unit_test_setup_teardown(others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(own_lock, set_up, tear_down),
		cmocka_unit_test_setup_teardown(condition_by_await, set_up, tear_down),
		cmocka_unit_test_setup_teardown(condition_by_release, set_up, tear_down),
		cmocka_unit_test_setup_teardown(condition_by_return, set_up, tear_down),
		cmocka_unit_test_setup_teardown(condition_by_hand_overs, set_up, tear_down),
		cmocka_unit_test_setup_teardown(condition_by_hand_overs_attached, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(hand_overs_of_another, set_up, tear_down),
		cmocka_unit_test_setup_teardown(other_condition, set_up, tear_down),
		cmocka_unit_test_setup_teardown(attached, set_up, tear_down),
		cmocka_unit_test_setup_teardown(clocks_differ, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
