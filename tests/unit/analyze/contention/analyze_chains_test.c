/* Charging of blocked time to call chains of the holder: small schedules with known answers. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/contention/contention.h"
#include "tests/unit/analyze/analyze_events.h"
#include "tests/unit/alloc_fail.h" /* for the --wrap of the link */

#define JAVA OWNER_SOURCE_JAVA_THREAD

static const struct times none;

static struct contention *feed(const struct event *events, size_t count)
{
	struct contention *c = contention_new(NULL);

	assert_non_null(c);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(contention_add(c, &events[i]), 0);
	assert_int_equal(contention_finish(c, events[count - 1].time_ns), 0);
	return c;
}

#define FEED(events) feed(events, sizeof(events) / sizeof(*(events)))

static const struct cell *find(const struct contention *c, uint64_t lock, uint64_t waiter,
			       uint64_t holder, uint64_t waiter_stack, uint64_t holder_stack)
{
	static const struct cell nothing;
	const struct cell *cells;
	uint32_t count;

	cells = contention_cells(c, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (cells[i].lock == lock && cells[i].waiter == waiter &&
		    cells[i].holder == holder && cells[i].waiter_stack == waiter_stack &&
		    cells[i].holder_stack == holder_stack)
			return &cells[i];
	}
	return &nothing;
}

/* Lock 1, held by 1; all of the cell's time has its chain from one source. */
static void expect(const struct contention *c, uint64_t waiter, uint64_t waiter_stack,
		   uint64_t holder_stack, uint64_t count, uint64_t blocked_ns,
		   enum holder_stack_from from)
{
	const struct cell *cell = find(c, 1, waiter, 1, waiter_stack, holder_stack);

	assert_int_equal(cell->count, count);
	assert_int_equal(cell->blocked_ns, blocked_ns);
	for (int i = 0; i < HOLDER_STACK_FROM_COUNT; i++)
		assert_int_equal(cell->stack_from_ns[i], i == (int)from ? blocked_ns : 0);
}

static void the_chain_at_the_block_comes_first(void **state)
{
	const struct event events[] = {
		at_stacks(enter(100, 2, 1, 1, JAVA, none), 20, 10),
		at_stacks(enter(150, 3, 1, 1, JAVA, none), 30, 0), /* the last seen holds on */
		at_stacks(enter(200, 4, 1, 1, JAVA, none), 40, 11),
		at_stacks(own(EVENT_MONITOR_CONTENDED_EXIT, 300, 1, 1, none), 12, 0),
		entered(310, 2, 1, none, 1, none),
		entered(320, 3, 1, none, 2, none),
		entered(330, 4, 1, none, 3, none),
	};
	struct contention *c = FEED(events);

	(void)state;
	expect(c, 2, 20, 10, 1, 100, HOLDER_STACK_BLOCK);
	expect(c, 2, 20, 11, 0, 100, HOLDER_STACK_BLOCK);
	expect(c, 2, 20, 12, 0, 0, HOLDER_STACK_RELEASE);
	expect(c, 3, 30, 10, 1, 50, HOLDER_STACK_BLOCK);
	expect(c, 3, 30, 11, 0, 100, HOLDER_STACK_BLOCK);
	expect(c, 4, 40, 11, 1, 100, HOLDER_STACK_BLOCK);
	assert_int_equal(find(c, 1, 2, HOLDER_HAND_OVER, 20, 0)->blocked_ns, 10);
	assert_int_equal(find(c, 1, 2, HOLDER_HAND_OVER, 20, 0)->stack_from_ns[0], 0);
	/* All that 2 was charged to 1 is one sum, and its longest part another. */
	assert_int_equal(find(c, 1, 2, 1, 20, 10)->max_held_ns, 200);
	assert_int_equal(find(c, 1, 2, 1, 20, 11)->max_held_ns, 200);
	assert_int_equal(find(c, 1, 2, 1, 20, 10)->max_part_ns, 100);
	assert_int_equal(find(c, 1, 2, 1, 20, 10)->max_ns, 210);
	contention_free(c);
}

static void pieces_wait_for_the_first_chain(void **state)
{
	const struct event events[] = {
		at_stacks(enter(100, 2, 1, 1, JAVA, none), 20, 0),
		enter(150, 3, 1, 1, JAVA, none),
		at_stacks(own(EVENT_MONITOR_CONTENDED_EXIT, 300, 1, 1, none), 12, 0),
		entered(300, 2, 1, none, 1, none),
		entered(400, 3, 1, none, 2, none),
	};
	struct contention *c = FEED(events);

	(void)state;
	expect(c, 2, 20, 12, 1, 200, HOLDER_STACK_RELEASE);
	expect(c, 3, 0, 12, 1, 150, HOLDER_STACK_RELEASE);
	assert_int_equal(find(c, 1, 3, 2, 0, 0)->blocked_ns, 100);
	assert_int_equal(find(c, 1, 3, 2, 0, 0)->stack_from_ns[HOLDER_STACK_UNKNOWN], 100);
	assert_int_equal(find(c, 1, 2, 1, 20, 0)->blocked_ns, 0);
	contention_free(c);
}

/* A chain amid a state serves the state if it has none, else only the next one. */
static void a_state_is_not_cut(void **state)
{
	const struct event events[] = {
		enter(100, 2, 1, 1, JAVA, none),
		owner_at(120, 1, 2, 10, STACK_SOURCE_SWITCH),
		owner_at(150, 1, 2, 11, STACK_SOURCE_SAMPLE),
		owner_at(160, 3, 2, 13, STACK_SOURCE_SAMPLE), /* does not hold it */
		owner_at(170, 1, 2, 14, STACK_SOURCE_NONE),
		own(EVENT_MONITOR_NOTIFY, 200, 1, 1, none),
		at_stacks(own(EVENT_MONITOR_WAIT_BEGIN, 300, 1, 1, none), 12, 0),
		entered(300, 2, 1, none, 1, none),
	};
	struct contention *c = FEED(events);

	(void)state;
	expect(c, 2, 0, 10, 1, 100, HOLDER_STACK_SWITCH);
	expect(c, 2, 0, 11, 0, 100, HOLDER_STACK_SAMPLE);
	contention_free(c);
}

static void every_blocking_shows_the_holder(void **state)
{
	const struct event events[] = {
		enter(100, 2, 1, 1, JAVA, none),
		enter(100, 3, 5, 1, JAVA, none),
		enter(100, 4, 6, 1, JAVA, none),
		enter(100, 5, 7, 9, JAVA, none),
		/* 1 parks on nothing: 1, 5 and 6 are held by it. */
		at_stacks(park(200, 1, 0, 0, OWNER_SOURCE_UNKNOWN, none), 10, 0),
		parked(210, 1, 0, none, 0, none),
		entered(300, 2, 1, none, 1, none),
		entered(300, 3, 5, none, 1, none),
		/* 1 waits in 6, so that 6 is released and the others are shown. */
		enter(400, 2, 1, 1, JAVA, none),
		at_stacks(own(EVENT_MONITOR_WAIT_BEGIN, 500, 1, 6, none), 11, 0),
		entered(500, 4, 6, none, 1, none),
		entered(500, 5, 7, none, 9, none),
		entered(600, 2, 1, none, 1, none),
		/* 1 blocks in 5, with 1 in its hands. */
		enter(700, 2, 1, 1, JAVA, none),
		at_stacks(enter(750, 1, 5, 3, JAVA, none), 12, 0),
		entered(800, 2, 1, none, 1, none),
		entered(800, 1, 5, none, 3, none),
	};
	struct contention *c = FEED(events);

	(void)state;
	expect(c, 2, 0, 10, 1, 200, HOLDER_STACK_BLOCKED);
	expect(c, 2, 0, 11, 1, 200, HOLDER_STACK_BLOCKED);
	expect(c, 2, 0, 12, 1, 100, HOLDER_STACK_BLOCKED);
	assert_int_equal(find(c, 5, 3, 1, 0, 10)->blocked_ns, 200);
	assert_int_equal(find(c, 6, 4, 1, 0, 10)->blocked_ns, 400);
	assert_int_equal(find(c, 7, 5, 9, 0, 0)->blocked_ns, 400);
	assert_int_equal(find(c, 5, 1, 3, 12, 0)->blocked_ns, 50);
	contention_free(c);
}

/* The holder before may still show where it was, up to the end of the hold after. */
static void an_exit_may_be_late(void **state)
{
	const struct event events[] = {
		enter(100, 2, 1, 1, JAVA, none),
		enter(100, 3, 1, 1, JAVA, none),
		enter(100, 4, 1, 1, JAVA, none),
		entered(200, 2, 1, none, 1, none), /* 2 cannot wait for a chain any more */
		at_stacks(own(EVENT_MONITOR_CONTENDED_EXIT, 210, 1, 1, none), 12, 0),
		entered(300, 3, 1, none, 2, none),
		entered(400, 4, 1, none, 3, none), /* too late for the hold of 2 now */
		at_stacks(own(EVENT_MONITOR_CONTENDED_EXIT, 410, 2, 1, none), 22, 0),
		enter(500, 2, 1, 1, JAVA, none),
		enter(500, 3, 1, 1, JAVA, none),
		enter(600, 4, 1, 0, OWNER_SOURCE_NONE, none), /* 1 has left */
		at_stacks(own(EVENT_MONITOR_CONTENDED_EXIT, 610, 1, 1, none), 13, 0),
		entered(700, 2, 1, none, 1, none),
		entered(700, 3, 1, none, 2, none),
	};
	struct contention *c = FEED(events);

	(void)state;
	expect(c, 2, 0, 0, 1, 100, HOLDER_STACK_UNKNOWN);
	expect(c, 3, 0, 12, 1, 100, HOLDER_STACK_RELEASE);
	expect(c, 4, 0, 12, 1, 100, HOLDER_STACK_RELEASE);
	assert_int_equal(find(c, 1, 4, 2, 0, 0)->blocked_ns, 100);
	assert_int_equal(find(c, 1, 4, 2, 0, 22)->blocked_ns, 0);
	expect(c, 2, 0, 13, 1, 100, HOLDER_STACK_RELEASE);
	expect(c, 3, 0, 13, 1, 100, HOLDER_STACK_RELEASE);
	assert_int_equal(find(c, 1, 2, HOLDER_HAND_OVER, 0, 0)->blocked_ns, 100);
	contention_free(c);
}

/* While nobody is blocked the holder can come and go unseen: its old chain says nothing. */
static void a_chain_lapses_with_the_last_waiter(void **state)
{
	const struct event events[] = {
		at_stacks(park(100, 2, 1, 1, OWNER_SOURCE_EXCLUSIVE_OWNER, none), 0, 10),
		parked(200, 2, 1, none, 1, none), /* a timeout: 1 goes on */
		park(300, 2, 1, 1, OWNER_SOURCE_EXCLUSIVE_OWNER, none),
		owner_at(310, 1, 3, 14, STACK_SOURCE_SWITCH), /* 3 is not blocked */
		at_stacks(unpark(400, 1, 2, none), 12, 0),
		parked(410, 2, 1, none, 1, none),
		/* 2 is taken for the holder by its claim. Nobody sees it, so that 7's is nobody's. */
		park(500, 3, 1, 2, OWNER_SOURCE_EXCLUSIVE_OWNER, none),
		at_stacks(unpark(600, 7, 3, none), 17, 0),
		parked(610, 3, 1, none, 2, none),
	};
	struct contention *c = FEED(events);

	(void)state;
	expect(c, 2, 0, 10, 1, 100, HOLDER_STACK_BLOCK);
	expect(c, 2, 0, 12, 1, 100, HOLDER_STACK_RELEASE);
	assert_int_equal(find(c, 1, 3, 2, 0, 0)->blocked_ns, 100);
	assert_int_equal(find(c, 1, 3, 7, 0, 17)->blocked_ns, 0);
	contention_free(c);
}

static void owners_seen_show_their_chain(void **state)
{
	const struct event events[] = {
		at_stacks(enter(100, 2, 1, 0, OWNER_SOURCE_UNRESOLVED, none), 20, 19),
		at_stacks(owner_seen(150, 2, 1, 1, JAVA, none), 0, 0),
		at_stacks(owner_seen(200, 2, 1, 1, JAVA, none), 0, 10),
		at_stacks(owner_seen(250, 2, 1, 2, JAVA, none), 0, 21),
		entered(300, 2, 1, none, 1, none),
	};
	struct contention *c = FEED(events);

	(void)state;
	expect(c, 2, 20, 10, 0, 100, HOLDER_STACK_SWITCH);
	/* Nobody, and the thread itself, have no chain. */
	assert_int_equal(find(c, 1, 2, HOLDER_UNKNOWN, 20, 0)->blocked_ns, 50);
	assert_int_equal(find(c, 1, 2, HOLDER_UNKNOWN, 20, 0)->count, 1);
	assert_int_equal(find(c, 1, 2, HOLDER_HAND_OVER, 20, 0)->blocked_ns, 50);
	contention_free(c);
}

/* What is incomplete leaves no trace, whether its pieces have a chain or wait for one. */
static void drops_pieces_of_the_incomplete(void **state)
{
	const struct event events[] = {
		enter(100, 2, 1, 1, JAVA, none),
		enter(200, 3, 1, 1, JAVA, none),
		enter(300, 2, 1, 1, JAVA, none), /* the end of the first is lost */
		owner_at(350, 1, 3, 10, STACK_SOURCE_SWITCH),
		enter(380, 3, 1, 1, JAVA, none),
		entered(400, 2, 1, none, 1, none),
		entered(500, 3, 1, none, 2, none),
	};
	struct contention *c = FEED(events);

	(void)state;
	expect(c, 2, 0, 10, 1, 100, HOLDER_STACK_SWITCH);
	expect(c, 3, 0, 10, 1, 20, HOLDER_STACK_SWITCH);
	expect(c, 2, 0, 0, 0, 0, HOLDER_STACK_UNKNOWN);
	assert_int_equal(contention_lock_find(c, 1)->end_missing, 2);
	contention_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_chain_at_the_block_comes_first),
		cmocka_unit_test(pieces_wait_for_the_first_chain),
		cmocka_unit_test(a_state_is_not_cut),
		cmocka_unit_test(every_blocking_shows_the_holder),
		cmocka_unit_test(an_exit_may_be_late),
		cmocka_unit_test(a_chain_lapses_with_the_last_waiter),
		cmocka_unit_test(owners_seen_show_their_chain),
		cmocka_unit_test(drops_pieces_of_the_incomplete),
	};

	return cmocka_run_group_tests_name("analyze_chains", tests, NULL, NULL);
}
