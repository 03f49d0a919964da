/* What a thread is believed to hold costs nothing, as long as nobody waits for its chain. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/contention/holds.h"
#include "analyze/lines/reason_history.h"
#include "tests/unit/analyze/analyze_events.h"
#include "tests/unit/alloc_fail.h" /* for the --wrap of the link */

#define LOCKS 100000u

static struct lock_state *see(struct holds *h, uint64_t lock, uint64_t holder)
{
	struct observation s = {.holder = holder};
	uint32_t index;

	h->now_ns += 10;
	assert_int_equal(holds_lock(h, lock, &index), 0);
	assert_int_equal(holds_observe(h, &h->locks[index], &s), 0);
	return &h->locks[index];
}

static uint32_t index_of(struct holds *h, uint64_t thread)
{
	uint32_t index;

	assert_int_equal(holds_thread(h, thread, &index), 0);
	return index;
}

static void block(struct holds *h, uint64_t thread, struct lock_state *l)
{
	assert_int_equal(holds_block(h, index_of(h, thread), l, 0, false), 0);
}

/* A stock JVM: a thread that comes back from wait() holds the monitor, and no exit is reported. */
static void holds_that_nobody_waits_for_are_in_no_list(void **state)
{
	struct holds h = {0};

	(void)state;
	for (uint64_t lock = 1; lock <= LOCKS; lock++) {
		see(&h, lock, 1);
		assert_int_equal(h.threads[index_of(&h, 1)].listed, INDEX_NONE);
		assert_int_equal(holds_show_blocked(&h, index_of(&h, 1), lock, 7), 0);
	}
	holds_free(&h);
}

/* A hold whose chain is known is in no list, and knows later ones all the same. */
static void chains_that_are_shown_later(void **state)
{
	struct holds h = {0};
	struct lock_state *l = see(&h, 5, 1);
	uint32_t holder;

	(void)state;
	block(&h, 2, l);
	holder = index_of(&h, 1);
	l = &h.locks[0];
	assert_int_equal(h.threads[holder].listed, 0);
	/* It waits on that lock itself: so it does not hold it. */
	assert_int_equal(holds_show_blocked(&h, holder, 5, 70), 0);
	assert_int_equal(l->at.stack, 0);
	assert_int_equal(holds_show_blocked(&h, holder, 8, 71), 0);
	assert_int_equal(l->at.stack, 71);
	assert_int_equal(h.threads[holder].listed, INDEX_NONE);
	assert_int_equal(holds_show_blocked(&h, holder, 9, 72), 0);
	assert_int_equal(l->at.stack, 71);
	see(&h, 5, 1); /* the next state of the same hold */
	assert_int_equal(l->at.stack, 72);
	assert_int_equal(holds_show_blocked(&h, holder, 9, 73), 0);
	assert_int_equal(holds_show_blocked(&h, holder, 5, 74), 0);
	see(&h, 5, 1);
	assert_int_equal(l->at.stack, 73);
	/* Of what was shown before it blocked, or of another holder, nothing counts. */
	assert_int_equal(holds_unblock(&h, index_of(&h, 2), true), 0);
	assert_int_equal(holds_show_blocked(&h, holder, 9, 75), 0);
	l = see(&h, 5, 1);
	assert_int_equal(l->at.stack, 0);
	block(&h, 2, l);
	assert_int_equal(h.threads[holder].listed, 0);
	see(&h, 5, 3);
	assert_int_equal(h.threads[holder].listed, INDEX_NONE);
	assert_int_equal(h.threads[index_of(&h, 3)].listed, 0);
	assert_int_equal(l->at.stack, 0);
	holds_free(&h);
}

/* Beyond a bound, threads that are blocked on one lock are not charged one by one: their time is whole
 * and known all the same. */
static void a_crowd_is_charged_whole(void **state)
{
	enum { COUNT = OTHERS_MIN + 1000 };
	struct holds h = {0};
	uint64_t blocked_ns = 0, others_ns = 0, want_ns = 0, count = 0;
	struct lock_state *l = see(&h, 5, 1);

	(void)state;
	for (uint64_t i = 0; i < COUNT; i++) {
		see(&h, 5, 1);
		block(&h, 10 + i, l);
		want_ns -= h.now_ns;
	}
	assert_int_equal(l->blocked_count, OTHERS_MIN);
	for (uint64_t i = COUNT; i-- > 0;) {
		see(&h, 5, i % 3 ? 1 : 2);
		assert_int_equal(holds_unblock(&h, index_of(&h, 10 + i), i % 7 != 0), 0);
		want_ns += i % 7 ? h.now_ns : 0;
		want_ns += i % 7 ? 0 : 10 * (i + 2); /* when it blocked: it does not count */
	}
	assert_int_equal(l->blocked_count, 0);
	assert_int_equal(l->blocked, INDEX_NONE);
	for (uint32_t i = 0; i < h.cells.count; i++) {
		blocked_ns += h.cells.rows[i].blocked_ns;
		count += h.cells.rows[i].count;
		if (h.cells.rows[i].holder == THREAD_OTHERS)
			others_ns += h.cells.rows[i].blocked_ns;
	}
	assert_int_equal(blocked_ns, want_ns);
	assert_int_equal(count, COUNT - (COUNT + 6) / 7);
	assert_in_range(others_ns, 1, blocked_ns - 1);
	holds_free(&h);
}

enum { MOMENTS = 500, STEP_NS = 10, HOLDER = 1, LOCK = 5, OTHER_LOCKS = 1000 };

/* Each time the thread is seen it is blocked on another lock. */
static void add_moments(struct reason_history *d, uint64_t from_ns)
{
	for (uint64_t i = 1; i < MOMENTS; i++) {
		uint64_t ns = from_ns + i * STEP_NS;
		struct event e = enter(ns, HOLDER, OTHER_LOCKS + i, 0, 0, (struct times){0});

		set_times(&e, MONITOR_CONTENDED_ENTER_CPU_NS, (struct times){.cpu = ns / 2});
		assert_int_equal(reasons_add(d, &e, ns), 0);
	}
}

/* Cells that a lock's state is charged to, for so many blocked threads, while its holder tells of
 * MOMENTS. Their sums are whole. */
static uint32_t cells_of(uint64_t blocked)
{
	struct reason_history *reasons = reasons_new();
	struct holds h = {.cells.reasons = reasons, .now_ns = 1000};
	struct lock_state *l = see(&h, LOCK, HOLDER);
	uint64_t from_ns = h.now_ns, blocked_ns = 0;
	struct counters its = {.cpu_ns = from_ns / 2, .known = true};
	struct observation s = {.holder = HOLDER, .its = &its};
	struct split split = {0};
	uint32_t count;

	assert_non_null(reasons);
	assert_int_equal(holds_observe(&h, l, &s), 0);
	for (uint64_t i = 0; i < blocked; i++)
		block(&h, 10 + i, l);
	l = &h.locks[0];
	add_moments(reasons, from_ns);
	h.now_ns = from_ns + MOMENTS * STEP_NS;
	its = (struct counters){.cpu_ns = h.now_ns / 2, .known = true};
	assert_int_equal(holds_observe(&h, l, &s), 0);
	for (uint64_t i = 0; i < blocked; i++)
		assert_int_equal(holds_unblock(&h, index_of(&h, 10 + i), true), 0);
	count = h.cells.count;
	for (uint32_t i = 0; i < count; i++) {
		blocked_ns += h.cells.rows[i].blocked_ns;
		split_add(&split, &h.cells.rows[i].split);
	}
	assert_int_equal(blocked_ns, blocked * MOMENTS * STEP_NS);
	assert_int_equal(split.running_ns, blocked_ns / 2);
	assert_int_equal(split.unknown_ns, 0);
	holds_free(&h);
	reasons_free(reasons);
	return count;
}

/* A state of a lock was charged to each blocked thread for each moment of its holder: 512 x 512 of
 * them for one observation, and a log can have many. */
static void moments_of_a_holder_are_told_apart_up_to_a_bound(void **state)
{
	(void)state;
	assert_int_equal(cells_of(1), MOMENTS);
	assert_int_equal(cells_of(7), 7 * MOMENTS);
	assert_in_range(cells_of(OTHERS_MIN), OTHERS_MIN, CUTS_MAX + OTHERS_MIN);
}

static uint64_t charged(const struct holds *h, uint64_t waiter, uint64_t holder, uint64_t *count)
{
	uint64_t ns = 0;

	*count = 0;
	for (uint32_t i = 0; i < h->cells.count; i++) {
		if (h->cells.rows[i].waiter != waiter || h->cells.rows[i].holder != holder)
			continue;
		ns += h->cells.rows[i].blocked_ns;
		*count += h->cells.rows[i].count;
	}
	return ns;
}

/* The carrier 1 is seen as the holder, and then the virtual thread 9 that is on it; before, the carrier
 * had the lock with 7 on it, which nobody has seen. */
static void a_carrier_is_the_virtual_thread_that_is_seen_on_it(void **state)
{
	struct holds h = {0};
	struct observation s = {.holder = 9, .carrier = 1, .at = {77, HOLDER_STACK_SWITCH}};
	struct lock_state *l = see(&h, 5, 1);
	uint64_t count;

	(void)state;
	block(&h, 2, l);
	see(&h, 5, 1);
	see(&h, 5, 3);
	see(&h, 5, 1);
	block(&h, 4, l);
	assert_int_equal(holds_show(&h, l, (struct chain_seen){66, HOLDER_STACK_BLOCK}), 0);
	see(&h, 5, 1);
	block(&h, 6, l);
	h.now_ns += 10;
	assert_int_equal(holds_observe(&h, l, &s), 0);
	assert_int_equal(l->holder, 9);
	see(&h, 5, 9);
	assert_int_equal(holds_unblock(&h, index_of(&h, 2), true), 0);
	assert_int_equal(holds_unblock(&h, index_of(&h, 4), true), 0);
	assert_int_equal(holds_unblock(&h, index_of(&h, 6), true), 0);
	/* Of a contention that began in another hold, the carrier keeps what it had in that one. */
	assert_int_equal(charged(&h, 2, 1, &count), 30);
	assert_int_equal(count, 1);
	assert_int_equal(charged(&h, 2, 3, &count), 10);
	assert_int_equal(charged(&h, 2, 9, &count), 20);
	assert_int_equal(charged(&h, 4, 9, &count), 30);
	assert_int_equal(count, 1);
	assert_int_equal(charged(&h, 4, 1, &count), 0);
	assert_int_equal(count, 0);
	assert_int_equal(charged(&h, 6, 9, &count), 20);
	assert_int_equal(count, 1);
	holds_free(&h);
}

struct parts {
	struct cell_part rows[8];
	unsigned count;
};

static void on_part(void *context, const struct cell_part *part)
{
	struct parts *p = context;

	p->rows[p->count++] = *part;
}

/* 9 has the lock first, then 3 before and after 7, then the waiter. The chain of 7 becomes
 * known when its hold is over. */
static void parts_are_in_the_order_of_their_holders(void **state)
{
	static const struct {
		uint64_t holder, from_ns, to_ns;
	} want[] = {{9, 10, 30}, {3, 30, 50}, {7, 50, 60}, {HOLDER_HAND_OVER, 60, 70}};
	struct holds h = {0};
	struct parts parts = {.count = 0};
	struct lock_state *l = see(&h, 5, 9);

	(void)state;
	h.cells.observe = on_part;
	h.cells.observer = &parts;
	block(&h, 2, l);
	see(&h, 5, 9);
	see(&h, 5, 3);
	assert_int_equal(holds_show(&h, l, (struct chain_seen){66, HOLDER_STACK_BLOCK}), 0);
	see(&h, 5, 7);
	see(&h, 5, 3);
	assert_int_equal(holds_show(&h, l, (struct chain_seen){66, HOLDER_STACK_BLOCK}), 0);
	assert_int_equal(holds_show_late(&h, l, 7, 77), 0);
	see(&h, 5, 2);
	see(&h, 5, 2);
	assert_int_equal(holds_unblock(&h, index_of(&h, 2), true), 0);
	assert_int_equal(parts.count, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(parts.rows[i].key.holder, want[i].holder);
		assert_int_equal(parts.rows[i].from_ns, want[i].from_ns);
		assert_int_equal(parts.rows[i].to_ns, want[i].to_ns);
	}
	holds_free(&h);
}

static void on_row(void *context, const struct cell_part *part)
{
	struct cell_part *rows = context;

	rows[part->from_ns / 10 - 1] = *part;
}

/* Holders of one interval, each of them another one. */
static void parts_of_many_holders(void **state)
{
	enum { COUNT = 1000 };
	static struct cell_part rows[COUNT];
	struct holds h = {0};
	struct lock_state *l = see(&h, 5, COUNT);

	(void)state;
	h.cells.observe = on_row;
	h.cells.observer = rows;
	block(&h, COUNT + 1, l);
	for (uint64_t i = COUNT; i-- > 1;)
		see(&h, 5, i);
	see(&h, 5, COUNT + 1);
	assert_int_equal(holds_unblock(&h, index_of(&h, COUNT + 1), true), 0);
	for (uint64_t i = 0; i < COUNT; i++) {
		assert_int_equal(rows[i].key.holder, COUNT - i);
		assert_int_equal(rows[i].from_ns, 10 + 10 * i);
		assert_int_equal(rows[i].to_ns, 20 + 10 * i);
	}
	holds_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_that_nobody_waits_for_are_in_no_list),
		cmocka_unit_test(chains_that_are_shown_later),
		cmocka_unit_test(a_crowd_is_charged_whole),
		cmocka_unit_test(a_carrier_is_the_virtual_thread_that_is_seen_on_it),
		cmocka_unit_test(parts_are_in_the_order_of_their_holders),
		cmocka_unit_test(parts_of_many_holders),
		cmocka_unit_test(moments_of_a_holder_are_told_apart_up_to_a_bound),
	};

	return cmocka_run_group_tests_name("analyze_holds", tests, NULL, NULL);
}
