/* Blocked time by cell and window: nothing of it gets lost, whatever the windows' length. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/cells/cell_windows.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull
#define BEGIN_NS (5000 * MS)

static uint64_t sum_of(const struct cell_windows *w, uint64_t lock)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < w->entries.count; i++) {
		struct cell_window e = cell_windows_entry(w, i);

		assert_true(e.window < w->count);
		if (!lock || cell_windows_cut(w, e.cut).lock == lock)
			sum += e.ns;
	}
	return sum;
}

static void observe_key(struct cell_windows *w, struct cell_key key, uint64_t from_ns,
			uint64_t to_ns)
{
	const struct cell_part part = {.key = key, .from_ns = from_ns, .to_ns = to_ns};

	cell_windows_observe(w, &part);
}

static void observe(struct cell_windows *w, uint64_t lock, uint64_t from_ns, uint64_t to_ns)
{
	const struct cell_key key = {.lock = lock, .waiter = 1 + lock % 3};

	observe_key(w, key, BEGIN_NS + from_ns, BEGIN_NS + to_ns);
}

static void time_is_in_its_windows(void **state)
{
	struct cell_windows w;

	(void)state;
	cell_windows_init(&w, BEGIN_NS);
	observe(&w, 7, MS / 2, 3 * MS + 1);
	observe(&w, 7, 3 * MS + 1, 3 * MS + 2);
	observe(&w, 8, 9 * MS, 9 * MS);
	assert_int_equal(w.keys.count, 1);
	assert_int_equal(w.count, 4);
	assert_int_equal(w.entries.count, 4);
	assert_int_equal(cell_windows_entry(&w, 0).ns, MS / 2);
	assert_int_equal(cell_windows_entry(&w, 1).ns, MS);
	assert_int_equal(cell_windows_entry(&w, 3).ns, 2);
	/* What was before the begin is nobody's. */
	observe_key(&w, (struct cell_key){.lock = 9}, BEGIN_NS - 5, BEGIN_NS - 1);
	observe_key(&w, (struct cell_key){.lock = 9}, BEGIN_NS - 5, BEGIN_NS + 2);
	assert_int_equal(sum_of(&w, 9), 2);
	cell_windows_free(&w);
}

static void windows_get_longer(void **state)
{
	struct cell_windows w;
	uint64_t sum = 0;

	(void)state;
	cell_windows_init(&w, BEGIN_NS);
	for (uint64_t i = 0; i < 10000; i++) {
		observe(&w, 1 + i % 5, i * 3 * MS, i * 3 * MS + 1000 + i);
		sum += 1000 + i;
	}
	assert_int_equal(w.length_ns, 64 * MS);
	assert_true(w.count <= CELL_WINDOWS_MAX && w.count > CELL_WINDOWS_MAX / 2);
	assert_int_equal(sum_of(&w, 0), sum);
	assert_false(w.full || w.err);
	cell_windows_free(&w);
}

static void too_many_cells_are_given_up(void **state)
{
	struct cell_windows w;

	(void)state;
	cell_windows_init(&w, BEGIN_NS);
	w.entries_max = 100;
	for (uint64_t i = 0; i < 99; i++)
		observe(&w, 1 + i, i * MS, i * MS + 1);
	assert_false(w.full);
	for (uint64_t i = 99; i < 300; i++)
		observe(&w, 1 + i, i * MS, i * MS + 1);
	assert_true(w.full);
	assert_int_equal(w.err, 0);
	assert_int_equal(w.entries.count, 0);
	cell_windows_free(&w);
}

static void keys_keep_all_that_they_are_made_of(void **state)
{
	static const struct cell_key keys[] = {
		{.lock = 1, .waiter = 2, .holder = 3, .waiter_stack = 4, .holder_stack = 5},
		{.lock = 1, .waiter = 2, .blocked_on = 6, .after_wait = true},
		{.lock = 1, .waiter = THREAD_OTHERS, .holder = THREAD_OTHERS},
		{.lock = 1,
		 .waiter = THREAD_OTHERS,
		 .holder = HOLDER_HAND_OVER,
		 .after_wait = true},
	};
	struct cell_windows w;

	(void)state;
	cell_windows_init(&w, 0);
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); i++)
		observe_key(&w, keys[i], 10 * MS, 11 * MS);
	assert_int_equal(w.begin_ns, 10 * MS);
	assert_int_equal(w.keys.count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		struct cell_key key = cell_windows_cell(&w.keys.keys[i]);

		assert_memory_equal(&key, &keys[i], offsetof(struct cell_key, after_wait));
		assert_int_equal(key.after_wait, keys[i].after_wait);
	}
	cell_windows_free(&w);
}

static void no_memory(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n++) {
		struct cell_windows w;

		cell_windows_init(&w, BEGIN_NS);
		alloc_fail_at(n);
		for (uint64_t i = 0; i < 700; i++)
			observe(&w, 1 + i % 50, i * MS, i * MS + 5);
		failed = alloc_fail_off();
		assert_int_equal(w.err, failed ? -ENOMEM : 0);
		assert_true(w.full == failed);
		cell_windows_free(&w);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_is_in_its_windows),
		cmocka_unit_test(windows_get_longer),
		cmocka_unit_test(too_many_cells_are_given_up),
		cmocka_unit_test(keys_keep_all_that_they_are_made_of),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
