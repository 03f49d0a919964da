/* Each blocked interval with its parts; and how many others were blocked when it began. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/cells/blocked_list.h"
#include "analyze/cells/cell_windows.h"
#include "tests/unit/alloc_fail.h"

static void add(struct blocked_list *l, uint64_t lock, uint64_t waiter, uint64_t since_ns,
		uint64_t until_ns)
{
	const struct cell_interval interval = {.key = {.lock = lock, .waiter = waiter},
					       .since_ns = since_ns,
					       .until_ns = until_ns,
					       .last = 9};

	blocked_list_interval(l, &interval);
}

static void part(struct blocked_list *l, uint64_t holder, uint64_t stack, uint64_t ns)
{
	const struct cell_key key = {
		.lock = 1, .waiter = 2, .holder = holder, .holder_stack = stack};

	blocked_list_part(l, &(struct cell_part){.key = key, .from_ns = 100, .to_ns = 100 + ns});
}

static void parts_are_their_intervals(void **state)
{
	struct blocked_list l = {0};

	(void)state;
	part(&l, HOLDER_UNKNOWN, 0, 50);
	part(&l, 3, 7, 10);
	part(&l, 3, 8, 11);
	part(&l, 4, 7, 20);
	part(&l, 5, 7, 0);
	add(&l, 1, 2, 100, 191);
	add(&l, 1, 2, 200, 200);
	part(&l, HOLDER_HAND_OVER, 0, 5);
	add(&l, 1, 2, 300, 305);
	assert_int_equal(l.err, 0);
	assert_int_equal(l.count, 3);
	assert_int_equal(l.keys.count, 5);
	assert_int_equal(l.rows[0].part, 0);
	assert_int_equal(l.rows[0].part_count, 4);
	/* Thread 3, of both call chains together; and the one with more of it. */
	assert_int_equal(l.rows[0].most, 2);
	assert_int_equal(l.rows[0].last, 9);
	assert_int_equal(l.rows[1].part_count, 0);
	assert_int_equal(l.rows[1].most, INDEX_NONE);
	assert_int_equal(l.rows[2].part, 4);
	assert_int_equal(l.rows[2].most, INDEX_NONE);
	assert_int_equal(cell_windows_cell(&l.keys.keys[l.parts[2].cell]).holder_stack, 8);
	blocked_list_free(&l);
}

#define ROWS 300

/* Straight from what the header says. */
static uint32_t others_of(const struct blocked_list *l, uint32_t at)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < l->count; i++) {
		const struct blocked_interval *a = &l->rows[i], *b = &l->rows[at];

		count += i != at && a->key.lock == b->key.lock && a->until_ns > b->since_ns &&
			 (a->since_ns < b->since_ns || (a->since_ns == b->since_ns && i < at));
	}
	return count;
}

static void others_are_counted(void **state)
{
	uint32_t counts[ROWS];
	uint64_t some = 0;

	(void)state;
	srand(3);
	for (int round = 0; round < 100; round++) {
		struct blocked_list l = {0};
		uint32_t count = (uint32_t)(rand() % ROWS);

		for (uint32_t i = 0; i < count; i++) {
			uint64_t since_ns = (uint64_t)(rand() % 100);

			add(&l, (uint64_t)(rand() % 4), i, since_ns,
			    since_ns + (uint64_t)(rand() % 10));
		}
		assert_int_equal(blocked_list_others(&l, counts), 0);
		for (uint32_t i = 0; i < count; i++) {
			assert_int_equal(counts[i], others_of(&l, i));
			some += counts[i];
		}
		blocked_list_free(&l);
	}
	assert_true(some > 1000);
}

static void nth_allocation_fails(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n++) {
		struct blocked_list l = {0};
		uint32_t counts[64];
		int err = 0;

		alloc_fail_at(n);
		for (uint32_t i = 0; i < 64; i++) {
			part(&l, 3 + i, i, 5);
			add(&l, 1, 2, 100, 105);
		}
		if (!l.err)
			err = blocked_list_others(&l, counts);
		failed = alloc_fail_off();
		assert_int_equal(l.err || err, failed);
		assert_true(l.err == 0 || l.err == -ENOMEM);
		blocked_list_free(&l);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts_are_their_intervals),
		cmocka_unit_test(others_are_counted),
		cmocka_unit_test(nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
