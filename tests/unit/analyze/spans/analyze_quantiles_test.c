/* Quantiles against a sorted array of the same values. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/spans/quantiles.h"
#include "tests/unit/alloc_fail.h"

#define VALUES 3000

static uint64_t seed = 1;

static uint64_t random_value(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 1) >> (seed >> 32) % 63; /* of any magnitude */
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void nothing_has_no_quantile(void **state)
{
	struct quantiles q = {0};

	(void)state;
	assert_int_equal(quantiles_at(&q, 500), 0);
	quantiles_free(&q);
}

static void small_values_are_exact(void **state)
{
	struct quantiles q = {0};

	(void)state;
	for (uint64_t i = 0; i < 64; i++)
		assert_int_equal(quantiles_add(&q, i), 0);
	assert_int_equal(quantiles_at(&q, 500), 31);
	assert_int_equal(quantiles_at(&q, 1000), 63);
	assert_int_equal(quantiles_at(&q, 1), 0);
	assert_int_equal(q.max, 63);
	quantiles_free(&q);
}

/* The longest is known exactly, and no quantile is above it. */
static void nothing_is_above_the_maximum(void **state)
{
	static const uint64_t values[] = {64, 127, 128, 1000000007, UINT64_MAX / 2, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct quantiles q = {0};

		assert_int_equal(quantiles_add(&q, values[i]), 0);
		assert_true(quantiles_at(&q, 999) <= values[i]);
		assert_true(values[i] - quantiles_at(&q, 999) <= values[i] / 128);
		assert_true(q.max == values[i]);
		quantiles_free(&q);
	}
}

static void all_are_within_the_error(void **state)
{
	static const unsigned asked[] = {1, 10, 250, 500, 900, 990, 999, 1000};
	static uint64_t values[VALUES];

	(void)state;
	for (unsigned count = 1; count <= VALUES; count += count < 50 ? 1 : 295) {
		struct quantiles q = {0};

		for (unsigned i = 0; i < count; i++) {
			values[i] = random_value();
			assert_int_equal(quantiles_add(&q, values[i]), 0);
		}
		qsort(values, count, sizeof(*values), compare);
		for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
			size_t rank = (count * (size_t)asked[i] + 999) / 1000;
			uint64_t wanted = values[rank - 1], got = quantiles_at(&q, asked[i]);
			uint64_t off = got > wanted ? got - wanted : wanted - got;

			assert_true(off <= wanted / 128);
		}
		quantiles_free(&q);
	}
}

static void memory_may_be_short(void **state)
{
	struct quantiles q = {0};

	(void)state;
	assert_int_equal(quantiles_add(&q, 5), 0);
	alloc_fail_at(0);
	assert_int_equal(quantiles_add(&q, 5000), -ENOMEM);
	assert_true(alloc_fail_off());
	assert_int_equal(q.count, 1);
	assert_int_equal(q.max, 5);
	quantiles_free(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_has_no_quantile),
		cmocka_unit_test(small_values_are_exact),
		cmocka_unit_test(nothing_is_above_the_maximum),
		cmocka_unit_test(all_are_within_the_error),
		cmocka_unit_test(memory_may_be_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
