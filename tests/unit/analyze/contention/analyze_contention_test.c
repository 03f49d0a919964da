/* Attribution of blocked time to holders: small schedules with known answers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/contention/contention.h"
#include "tests/unit/analyze/analyze_events.h"
#include "tests/unit/alloc_fail.h" /* for the --wrap of the link */

static struct contention *feed(const struct event *events, size_t count, uint64_t end_ns)
{
	struct contention *c = contention_new(NULL);

	assert_non_null(c);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(contention_add(c, &events[i]), 0);
	assert_int_equal(contention_finish(c, end_ns), 0);
	return c;
}

#define FEED(events, end_ns) feed(events, sizeof(events) / sizeof(*(events)), end_ns)

static const struct cell *find(const struct contention *c, uint64_t lock, uint64_t waiter,
			       uint64_t holder)
{
	static const struct cell none;
	const struct cell *cells;
	uint32_t count;

	cells = contention_cells(c, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (cells[i].lock == lock && cells[i].waiter == waiter && cells[i].holder == holder)
			return &cells[i];
	}
	return &none;
}

static void expect(const struct contention *c, uint64_t waiter, uint64_t holder, uint64_t count,
		   uint64_t blocked_ns)
{
	const struct cell *cell = find(c, 1, waiter, holder);

	assert_int_equal(cell->count, count);
	assert_int_equal(cell->blocked_ns, blocked_ns);
}

static const struct times none;

static void splits_exactly(void **state)
{
	const struct event events[] = {
		enter(1000, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, (struct times){500, 10, 20}),
		entered(2000, 2, 1, (struct times){9, 0, 0}, 1, (struct times){1100, 60, 70}),
	};
	struct contention *c = FEED(events, 2000);
	const struct cell *cell = find(c, 1, 2, 1);

	(void)state;
	expect(c, 2, 1, 1, 1000);
	assert_int_equal(cell->max_ns, 1000);
	assert_int_equal(cell->max_held_ns, 1000);
	assert_int_equal(cell->split.running_ns, 600);
	assert_int_equal(cell->split.stolen_ns, 50);
	assert_int_equal(cell->split.runnable_ns, 50);
	assert_int_equal(cell->split.blocked_ns, 300);
	assert_int_equal(cell->split.unknown_ns, 0);
	assert_true(cell->monitor);
	contention_free(c);
}

/* 1 holds; 2 and 3 block; 1 releases (late exit), 2 enters, then 3. */
static void hands_over(void **state)
{
	const struct event events[] = {
		enter(100, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, (struct times){100, 0, 0}),
		enter(200, 3, 1, 1, OWNER_SOURCE_JAVA_THREAD, (struct times){150, 0, 0}),
		own(EVENT_MONITOR_CONTENDED_EXIT, 300, 1, 1, (struct times){200, 0, 0}),
		entered(330, 2, 1, (struct times){10, 0, 0}, 1, (struct times){210, 0, 0}),
		own(EVENT_MONITOR_CONTENDED_EXIT, 340, 1, 1,
		    (struct times){220, 0, 0}), /* not the holder: ignored */
		entered(400, 3, 1, (struct times){10, 0, 0}, 2, (struct times){70, 0, 0}),
	};
	struct contention *c = FEED(events, 400);

	(void)state;
	expect(c, 2, 1, 1, 200);
	expect(c, 2, HOLDER_HAND_OVER, 0, 30);
	expect(c, 3, 1, 1, 100);
	expect(c, 3, HOLDER_HAND_OVER, 0, 30);
	expect(c, 3, 2, 0, 70);
	assert_int_equal(find(c, 1, 2, 1)->max_ns, 230);
	assert_int_equal(find(c, 1, 2, 1)->max_held_ns, 200);
	assert_int_equal(find(c, 1, 2, 1)->split.running_ns, 100);
	assert_int_equal(find(c, 1, 2, 1)->split.blocked_ns, 100);
	assert_int_equal(find(c, 1, 3, 2)->split.running_ns, 60);
	assert_int_equal(find(c, 1, 3, 2)->split.blocked_ns, 10);
	assert_int_equal(find(c, 1, 3, HOLDER_HAND_OVER)->split.unknown_ns, 30);
	contention_free(c);
}

/* Somebody else turns out to hold it: the last holder's time has no end counters. */
static void never_interpolates(void **state)
{
	const struct event events[] = {
		enter(100, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, (struct times){100, 0, 0}),
		enter(200, 3, 1, 9, OWNER_SOURCE_STACK_LOCK, (struct times){5, 0, 0}),
		entered(300, 2, 1, (struct times){10, 0, 0}, 9, (struct times){105, 0, 0}),
		entered(400, 3, 1, (struct times){10, 0, 0}, 0, none),
	};
	struct contention *c = FEED(events, 400);

	(void)state;
	assert_int_equal(find(c, 1, 2, 1)->split.unknown_ns, 100);
	assert_int_equal(find(c, 1, 2, 9)->split.running_ns, 100);
	assert_int_equal(find(c, 1, 3, 2)->split.unknown_ns, 100);
	contention_free(c);
}

static void knows_nobody(void **state)
{
	const struct event events[] = {
		enter(100, 2, 1, 0, OWNER_SOURCE_UNRESOLVED, none),
		entered(200, 2, 1, (struct times){10, 0, 0}, 0, none),
		enter(300, 3, 1, 0, OWNER_SOURCE_NONE, none),
		enter(350, 4, 1, 3, OWNER_SOURCE_JAVA_THREAD,
		      (struct times){7, 0, 0}), /* 3 has it, and no event yet */
		entered(400, 3, 1, (struct times){10, 0, 0}, 2, (struct times){10, 0, 0}),
	};
	struct contention *c = FEED(events, 500);
	uint32_t open;

	(void)state;
	expect(c, 2, HOLDER_UNKNOWN, 1, 100);
	expect(c, 3, HOLDER_HAND_OVER, 1, 100);
	expect(c, 3, 3, 0, 0);
	expect(c, 4, 3, 0, 0);
	assert_int_equal(contention_open(c, &open)->blocked_ns, 150);
	assert_int_equal(contention_open(c, &open)->holder, 3);
	assert_int_equal(open, 1);
	assert_int_equal(contention_lock_find(c, 1)->open_ns, 150);
	contention_free(c);
}

static void follows_wait(void **state)
{
	const struct event events[] = {
		own(EVENT_MONITOR_WAIT_END, 50, 1, 1, (struct times){10, 0, 0}),
		enter(100, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, (struct times){60, 0, 0}),
		own(EVENT_MONITOR_NOTIFY, 150, 1, 1, (struct times){110, 0, 0}),
		own(EVENT_MONITOR_WAIT_BEGIN, 200, 1, 1, (struct times){160, 0, 0}),
		entered(230, 2, 1, (struct times){10, 0, 0}, 1, (struct times){170, 0, 0}),
	};
	struct contention *c = FEED(events, 400);

	(void)state;
	expect(c, 2, 1, 1, 100);
	assert_int_equal(find(c, 1, 2, 1)->split.running_ns, 100);
	expect(c, 2, HOLDER_HAND_OVER, 0, 30);
	contention_free(c);
}

/* 1 releases, wakes 2, and gets the lock back before 2 is there; 2 sees that and sleeps again. */
static void follows_silent_owners(void **state)
{
	const struct event events[] = {
		enter(100, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, (struct times){100, 0, 0}),
		own(EVENT_MONITOR_CONTENDED_EXIT, 200, 1, 1, (struct times){200, 0, 0}),
		owner_seen(230, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, (struct times){225, 0, 0}),
		owner_seen(250, 2, 1, 2, OWNER_SOURCE_JAVA_THREAD, (struct times){9, 0, 0}),
		entered(260, 2, 1, (struct times){10, 0, 0}, 1, (struct times){245, 0, 0}),
	};
	struct contention *c = FEED(events, 400);

	(void)state;
	expect(c, 2, 1, 1, 120);
	assert_int_equal(find(c, 1, 2, 1)->split.running_ns, 100);
	assert_int_equal(find(c, 1, 2, 1)->split.unknown_ns, 20);
	expect(c, 2, HOLDER_HAND_OVER, 0, 40);
	expect(c, 2, 2, 0, 0);
	contention_free(c);
}

static void drops_incomplete(void **state)
{
	const struct event events[] = {
		entered(100, 2, 1, (struct times){10, 0, 0}, 0, none), /* begin missing */
		enter(200, 3, 1, 2, OWNER_SOURCE_JAVA_THREAD,
		      (struct times){20, 0, 0}), /* end missing */
		enter(300, 3, 1, 2, OWNER_SOURCE_JAVA_THREAD, (struct times){30, 0, 0}),
		entered(400, 3, 1, (struct times){10, 0, 0}, 2, (struct times){130, 0, 0}),
		parked(500, 5, 7, (struct times){10, 0, 0}, 0, none), /* begin missing */
	};
	struct contention *c = FEED(events, 400);

	(void)state;
	expect(c, 3, 2, 1, 100);
	assert_int_equal(find(c, 1, 3, 2)->split.running_ns, 100);
	assert_int_equal(contention_lock_find(c, 1)->begin_missing, 1);
	assert_int_equal(contention_lock_find(c, 1)->end_missing, 1);
	assert_int_equal(contention_lock_find(c, 7)->begin_missing, 1);
	contention_free(c);
}

/* A fair ReentrantLock: 1 holds, 2 and 3 queue; 2 takes it, and shows that by waking 3. */
static void believes_claims_that_are_shown(void **state)
{
	const struct event events[] = {
		park(100, 2, 1, 1, OWNER_SOURCE_EXCLUSIVE_OWNER, (struct times){100, 0, 0}),
		park(200, 3, 1, 1, OWNER_SOURCE_EXCLUSIVE_OWNER, (struct times){200, 0, 0}),
		unpark(300, 1, 2, (struct times){300, 0, 0}),
		parked(320, 2, 1, (struct times){50, 0, 0}, 1, (struct times){310, 0, 0}),
		unpark(400, 2, 3, (struct times){130, 0, 0}),
		parked(410, 3, 1, (struct times){50, 0, 0}, 1, (struct times){390, 0, 0}),
	};
	struct contention *c = FEED(events, 500);

	(void)state;
	expect(c, 2, 1, 1, 200);
	expect(c, 2, HOLDER_HAND_OVER, 0, 20);
	expect(c, 3, 1, 1, 100);
	expect(c, 3, 2, 0, 80);
	expect(c, 3, HOLDER_HAND_OVER, 0, 30);
	assert_int_equal(find(c, 1, 3, 2)->split.running_ns, 80);
	assert_false(find(c, 1, 3, 2)->monitor);
	contention_free(c);
}

/* 2 is woken, but 9 has barged in before: what 2 claimed is nobody's. */
static void refutes_claims(void **state)
{
	const struct event events[] = {
		park(100, 2, 1, 1, OWNER_SOURCE_EXCLUSIVE_OWNER, (struct times){100, 0, 0}),
		park(200, 3, 1, 1, OWNER_SOURCE_EXCLUSIVE_OWNER, (struct times){200, 0, 0}),
		unpark(300, 1, 2, (struct times){300, 0, 0}),
		parked(320, 2, 1, (struct times){50, 0, 0}, 1, (struct times){310, 0, 0}),
		park(330, 2, 1, 9, OWNER_SOURCE_EXCLUSIVE_OWNER, (struct times){7, 0, 0}),
		parked(400, 3, 1, (struct times){50, 0, 0}, 1,
		       (struct times){390, 0, 0}), /* a timeout: 9 goes on */
		parked(500, 2, 1, (struct times){60, 0, 0}, 9, (struct times){177, 0, 0}),
	};
	struct contention *c = FEED(events, 500);

	(void)state;
	expect(c, 3, HOLDER_HAND_OVER, 0, 30);
	expect(c, 3, 9, 0, 70);
	expect(c, 3, 2, 0, 0);
	expect(c, 2, 9, 1, 170);
	assert_int_equal(find(c, 1, 2, 9)->split.unknown_ns,
			 170); /* cut at 400, without counters of 9 */
	contention_free(c);
}

static void marks_first_readers(void **state)
{
	const struct event events[] = {
		park(100, 2, 1, 1, OWNER_SOURCE_FIRST_READER, (struct times){100, 0, 0}),
		parked(200, 2, 1, (struct times){50, 0, 0}, 1, (struct times){190, 0, 0}),
	};
	struct contention *c = FEED(events, 200);

	(void)state;
	assert_int_equal(find(c, 1, 2, 1)->first_reader_ns, 100);
	assert_int_equal(find(c, 1, 2, 1)->split.running_ns, 90);
	contention_free(c);
}

static void keeps_the_end_of_a_thread(void **state)
{
	const struct event events[] = {
		enter(100, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, (struct times){100, 0, 0}),
		{.id = EVENT_THREAD_END, .time_ns = 150, .thread = 2},
	};
	struct contention *c = FEED(events, 900);
	uint32_t open;

	(void)state;
	assert_int_equal(contention_open(c, &open)->blocked_ns, 50);
	assert_int_equal(open, 1);
	expect(c, 2, 1, 0, 0);
	contention_free(c);
}

#define CHAINS 40
#define LOCKS 9
#define HOLDERS 7
#define FIRST_HOLDER 100

static struct {
	uint64_t count, blocked_ns;
} expected[LOCKS][CHAINS][HOLDERS][CHAINS];

static unsigned below(uint64_t *seed, unsigned n)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(*seed >> 33) % n;
}

/* A thread that blocks anywhere, on any lock: more pairs of chains than anybody remembers. */
static void keeps_chains_apart(void **state)
{
	struct contention *c = contention_new(NULL);
	uint64_t seed = 1, now = 1000;
	const struct cell *cells;
	uint32_t count, sum = 0;

	(void)state;
	assert_non_null(c);
	for (unsigned i = 0; i < 20000; i++) {
		unsigned lock = below(&seed, LOCKS), chain = below(&seed, CHAINS);
		unsigned holder = below(&seed, HOLDERS), at = below(&seed, CHAINS);
		uint64_t ns = 1 + below(&seed, 50);
		struct event e = at_stacks(enter(now, 2, 1 + lock, FIRST_HOLDER + holder,
						 OWNER_SOURCE_JAVA_THREAD, none),
					   1 + chain, 1 + at);

		assert_int_equal(contention_add(c, &e), 0);
		e = entered(now + ns, 2, 1 + lock, none, FIRST_HOLDER + holder, none);
		assert_int_equal(contention_add(c, &e), 0);
		expected[lock][chain][holder][at].count++;
		expected[lock][chain][holder][at].blocked_ns += ns;
		now += ns;
	}
	assert_int_equal(contention_finish(c, now), 0);
	cells = contention_cells(c, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct cell *cell = &cells[i];
		uint64_t lock = cell->lock - 1, holder = cell->holder - FIRST_HOLDER;

		assert_true(lock < LOCKS && holder < HOLDERS);
		assert_int_equal(
			cell->count,
			expected[lock][cell->waiter_stack - 1][holder][cell->holder_stack - 1]
				.count);
		assert_int_equal(
			cell->blocked_ns,
			expected[lock][cell->waiter_stack - 1][holder][cell->holder_stack - 1]
				.blocked_ns);
		sum += (uint32_t)cell->count;
	}
	assert_int_equal(sum, 20000);
	contention_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(splits_exactly),
		cmocka_unit_test(hands_over),
		cmocka_unit_test(never_interpolates),
		cmocka_unit_test(knows_nobody),
		cmocka_unit_test(follows_wait),
		cmocka_unit_test(follows_silent_owners),
		cmocka_unit_test(drops_incomplete),
		cmocka_unit_test(believes_claims_that_are_shown),
		cmocka_unit_test(refutes_claims),
		cmocka_unit_test(marks_first_readers),
		cmocka_unit_test(keeps_the_end_of_a_thread),
		cmocka_unit_test(keeps_chains_apart),
	};

	return cmocka_run_group_tests_name("analyze_contention", tests, NULL, NULL);
}
