/* Cells: one for each combination, and the bound behind which they are put together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "analyze/contention/holds.h"
#include "tests/unit/alloc_fail.h"

#define MAX 100
#define LOCKS 4
#define ADDED 20000

static uint64_t seed;

static uint64_t below(uint64_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % n;
}

static struct cell_key random_key(void)
{
	static const uint64_t holders[] = {HOLDER_UNKNOWN, HOLDER_HAND_OVER, 1, 2, 3, 4, 5, 6};
	struct cell_key key = {.lock = 1 + below(LOCKS),
			       .waiter = 1 + below(10),
			       .holder = holders[below(8)],
			       .waiter_stack = below(5),
			       .after_wait = below(20) == 0};

	if (holder_is_thread(key.holder)) {
		key.holder_stack = below(5);
		key.blocked_on = below(10) ? 0 : 1 + below(LOCKS);
	}
	return key;
}

static void is_cell_of(const struct cell *cell, const struct cell_key *key)
{
	bool others = cell_is_of_others(cell), thread = holder_is_thread(key->holder);

	assert_int_equal(cell->lock, key->lock);
	assert_int_equal(cell->after_wait, key->after_wait);
	if (cell->waiter == THREAD_OTHERS) {
		assert_true(others);
		assert_int_equal(cell->holder, thread ? THREAD_OTHERS : key->holder);
		return;
	}
	assert_int_equal(cell->waiter, key->waiter);
	assert_int_equal(cell->holder, key->holder);
	assert_int_equal(cell->blocked_on, key->blocked_on);
	if (!others)
		assert_int_equal(cell->waiter_stack, key->waiter_stack);
	assert_int_equal(cell->holder_stack, others && thread ? STACK_OTHERS : key->holder_stack);
}

/* max: of different combinations; those of others come on top. */
static void add_many(uint32_t max, struct cells *ret)
{
	struct cells c = {.max = max};
	uint64_t sums[LOCKS + 1] = {0};

	seed = 1;
	for (unsigned i = 0; i < ADDED; i++) {
		struct cell_key key = random_key();
		uint32_t index, again;

		assert_int_equal(cells_add(&c, &key, &index), 0);
		assert_int_equal(cells_add(&c, &key, &again), 0);
		assert_int_equal(again, index);
		is_cell_of(&c.rows[index], &key);
		c.rows[index].count++;
		sums[key.lock]++;
	}
	for (uint32_t i = 0; i < c.count; i++)
		sums[c.rows[i].lock] -= c.rows[i].count;
	for (unsigned i = 0; i <= LOCKS; i++)
		assert_int_equal(sums[i], 0);
	*ret = c;
}

static unsigned count_if_threads(const struct cells *c)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < c->count; i++)
		n += c->rows[i].waiter == THREAD_OTHERS;
	return n;
}

static void bound(void **state)
{
	struct cells c;

	(void)state;
	add_many(ADDED, &c);
	assert_true(c.count > MAX * 10);
	for (uint32_t i = 0; i < c.count; i++)
		assert_false(cell_is_of_others(&c.rows[i]));
	cells_free(&c);
	add_many(MAX, &c);
	for (uint32_t i = 0; i < c.count; i++)
		assert_int_equal(cell_is_of_others(&c.rows[i]), i >= MAX);
	/* Of each lock: by threads, by nobody, by nobody knows whom; and the same after wait. */
	assert_in_range(count_if_threads(&c), 3 * LOCKS, 6 * LOCKS);
	assert_true(c.count <= MAX + MAX / 4 + 6 * LOCKS);
	cells_free(&c);
}

/* Two that are blocked at the same time share a cell: one that does not count leaves no trace. */
static void shared(void **state)
{
	struct holds h = {.cells.max = 1};
	struct cell_key first = {.lock = 9};
	struct observation s = {.holder = 3, .at = {.stack = 7, .from = HOLDER_STACK_BLOCK}};
	uint32_t lock, waiters[2], index;

	(void)state;
	assert_int_equal(cells_add(&h.cells, &first, &index), 0);
	assert_int_equal(holds_lock(&h, 1, &lock), 0);
	for (unsigned i = 0; i < 2; i++) {
		h.now_ns = 100 * (i + 1);
		assert_int_equal(holds_thread(&h, 1 + i, &waiters[i]), 0);
		assert_int_equal(holds_observe(&h, &h.locks[lock], &s), 0);
		assert_int_equal(holds_block(&h, waiters[i], &h.locks[lock], 5, false), 0);
	}
	h.now_ns = 1000;
	s.holder = HOLDER_HAND_OVER;
	assert_int_equal(holds_observe(&h, &h.locks[lock], &s), 0);
	assert_int_equal(h.pending_count, 2);
	assert_int_equal(holds_unblock(&h, waiters[0], false), 0);
	assert_int_equal(holds_unblock(&h, waiters[1], true), 0);
	for (uint32_t i = 0; i < h.cells.count; i++) {
		const struct cell *cell = &h.cells.rows[i];
		bool held = cell->holder == THREAD_OTHERS;

		assert_int_equal(cell->pending, 0);
		assert_int_equal(cell->blocked_ns, held ? 800 : 0);
		assert_int_equal(cell->count, held ? 1 : 0);
	}
	holds_free(&h);
}

static bool survives(unsigned long fail_at)
{
	struct cells c = {.max = 200};
	bool failed;
	int err = 0;

	seed = 1;
	alloc_fail_at(fail_at);
	for (unsigned i = 0; i < 1000 && !err; i++) {
		struct cell_key key = random_key();
		uint32_t index;

		err = cells_add(&c, &key, &index);
	}
	failed = alloc_fail_off();
	assert_int_equal(err, failed ? -ENOMEM : 0);
	cells_free(&c);
	return failed;
}

static void no_memory(void **state)
{
	(void)state;
	for (unsigned long n = 0; survives(n); n++)
		;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bound),
		cmocka_unit_test(shared),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
