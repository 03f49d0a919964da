/* Arrays and bytes that grow: what was there stays, what is new in an array is zero. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tables/array.h"
#include "tests/unit/alloc_fail.h"

struct row {
	uint64_t n;
	char rest[40];
};

static void check_rows(const struct row *rows, uint32_t count, uint32_t capacity)
{
	static const struct row zero;

	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(rows[i].n, i + 1);
	for (uint32_t i = count; i < capacity; i++)
		assert_memory_equal(&rows[i], &zero, sizeof(zero));
}

static void one_by_one(void **state)
{
	struct row *rows = NULL;
	uint32_t capacity = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(array_grow(&rows, &capacity, i, sizeof(*rows)), 0);
		assert_true(capacity > i);
		rows[i].n = i + 1;
		if (i % 37 == 0)
			check_rows(rows, i + 1, capacity);
	}
	check_rows(rows, 1000, capacity);
	free(rows);
}

/* Elements between are left out. */
static void far_on(void **state)
{
	static const uint32_t at[] = {0,        15,      16, 17, 1000, 1u << 17, (1u << 20) - 1,
				      1u << 20, 3u << 20};
	uint32_t *all = NULL, capacity = 0;

	(void)state;
	for (unsigned i = 0; i < sizeof(at) / sizeof(*at); i++) {
		assert_int_equal(array_grow(&all, &capacity, at[i], sizeof(*all)), 0);
		assert_in_range(capacity, at[i] + 1, at[i] < 16 ? 16 : 2 * at[i]);
		assert_int_equal(all[at[i]], 0);
		all[at[i]] = i + 1;
	}
	for (uint32_t i = 0, next = 0; i < capacity; i++) {
		bool is_set = next < sizeof(at) / sizeof(*at) && i == at[next];

		assert_int_equal(all[i], is_set ? ++next : 0);
	}
	free(all);
}

/* A large array has at most a quarter of room that it does not need. */
static void large(void **state)
{
	uint64_t *all = NULL;
	uint32_t capacity = 0;

	(void)state;
	for (uint32_t i = 0; i < 1u << 20; i++)
		assert_int_equal(array_grow(&all, &capacity, i, sizeof(*all)), 0);
	assert_in_range(capacity, 1u << 20, (1u << 20) + (1u << 18));
	free(all);
}

static void too_many(void **state)
{
	uint32_t *all = NULL, capacity = 0;

	(void)state;
	assert_int_equal(array_grow(&all, &capacity, UINT32_MAX / 4, sizeof(*all)), -ENOMEM);
	assert_int_equal(array_grow(&all, &capacity, UINT32_MAX, sizeof(*all)), -ENOMEM);
	assert_null(all);
	assert_int_equal(capacity, 0);
}

static void bytes(void **state)
{
	size_t capacity = 0;
	char *all = NULL;

	(void)state;
	assert_int_equal(bytes_reserve(&all, &capacity, 0), 0);
	assert_null(all);
	for (size_t n = 1; n < 300; n++) {
		assert_int_equal(bytes_reserve(&all, &capacity, n), 0);
		assert_int_equal(capacity, n);
		all[n - 1] = (char)n;
	}
	assert_int_equal(bytes_reserve(&all, &capacity, 7), 0);
	assert_int_equal(capacity, 299);
	for (size_t n = 1; n < 300; n++)
		assert_int_equal(all[n - 1], (char)n);
	free(all);
}

static void nth_allocation_fails(void **state)
{
	struct row *rows = NULL, *rows_before;
	uint32_t capacity = 0;
	char *all = NULL;
	size_t room = 0;

	(void)state;
	for (uint32_t i = 0; i < 300; i++) {
		uint32_t before = capacity;

		rows_before = rows;
		alloc_fail_at(0);
		if (array_grow(&rows, &capacity, i, sizeof(*rows))) {
			assert_int_equal(capacity, before);
			assert_ptr_equal(rows, rows_before);
			check_rows(rows, i, capacity);
		}
		alloc_fail_off();
		assert_int_equal(array_grow(&rows, &capacity, i, sizeof(*rows)), 0);
		rows[i].n = i + 1;
	}
	free(rows);
	alloc_fail_at(0);
	assert_int_equal(bytes_reserve(&all, &room, 10), -ENOMEM);
	assert_true(alloc_fail_off());
	assert_null(all);
	assert_int_equal(room, 0);
}

/* Under AddressSanitizer a pointer into an array is void after each element that is added,
 * whatever the size of one. */
static void small_arrays_move(void **state)
{
	static const size_t sizes[] = {1, 8, sizeof(struct row), 600};

	(void)state;
	if (!ARRAYS_MOVE)
		skip();
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint32_t capacity = 0;
		char *all = NULL;

		for (uint32_t n = 0; n < 64; n++) {
			uintptr_t before = (uintptr_t)all;

			assert_int_equal(array_grow(&all, &capacity, n, sizes[i]), 0);
			assert_int_not_equal((uintptr_t)all, before);
		}
		free(all);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_by_one), cmocka_unit_test(far_on),
		cmocka_unit_test(large),      cmocka_unit_test(too_many),
		cmocka_unit_test(bytes),      cmocka_unit_test(nth_allocation_fails),
		cmocka_unit_test(small_arrays_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
