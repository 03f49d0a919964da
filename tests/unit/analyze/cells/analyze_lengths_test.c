/* Lengths of contentions by cell: quantiles of any sum of cells against a sorted array. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/cells/cells.h"
#include "tests/unit/alloc_fail.h"

#define CELLS 7
#define ADDED 4000

static uint64_t seed = 1;

static uint64_t below(uint64_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % n;
}

static uint64_t random_length(void)
{
	return (below(1u << 30) << 20 | below(1u << 20)) >> below(50);
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static uint64_t exact(const uint64_t *sorted, uint64_t count, unsigned per_mille)
{
	uint64_t rank = (count * per_mille + 999) / 1000;

	return sorted[(rank ? rank : 1) - 1];
}

struct added {
	uint64_t ns[ADDED];
	uint32_t number[ADDED]; /* from 1 */
};

static void fill(struct added *a, struct lengths *l)
{
	for (unsigned i = 0; i < ADDED; i++) {
		a->ns[i] = random_length();
		a->number[i] = 1 + (uint32_t)below(CELLS);
		assert_int_equal(lengths_add(l, a->number[i], a->ns[i]), 0);
	}
}

/* cells: a bit for each number. */
static void check(const struct added *a, const struct lengths *l, unsigned cells, double off)
{
	static uint64_t sorted[ADDED];
	static struct length_sums sums;
	uint64_t count = 0, longest = 0, got[LENGTH_QUANTILES];
	struct length_index x;

	assert_int_equal(length_index_make(l, CELLS, &x), 0);
	for (unsigned i = 0; i < ADDED; i++) {
		if (!(cells >> a->number[i] & 1))
			continue;
		sorted[count++] = a->ns[i];
		longest = a->ns[i] > longest ? a->ns[i] : longest;
	}
	qsort(sorted, count, sizeof(*sorted), compare);
	for (uint32_t n = 1; n <= CELLS; n++)
		if (cells >> n & 1)
			length_sums_add(&sums, &x, n);
	assert_int_equal(sums.total, count);
	length_sums_take(&sums, x.shift, longest, got);
	for (unsigned i = 0; i < LENGTH_QUANTILES; i++) {
		double right = count ? (double)exact(sorted, count, length_per_mille[i]) : 0;

		assert_true((double)got[i] >= right * (1 - off) - 1);
		assert_true((double)got[i] <= right * (1 + off) + 1);
		assert_true(got[i] <= longest);
	}
	/* All zero again. */
	assert_int_equal(sums.total, 0);
	for (unsigned i = 0; i < LENGTH_STEPS; i++)
		assert_int_equal(sums.counts[i], 0);
	length_index_free(&x);
}

static void any_sum_of_cells_has_quantiles(void **state)
{
	static struct added a;
	struct lengths l = {0};

	(void)state;
	fill(&a, &l);
	for (unsigned cells = 0; cells < 2u << CELLS; cells += 2)
		check(&a, &l, cells, 1.0 / 128);
	lengths_free(&l);
}

/* Steps become twice as wide, and the bound holds, as long as there are fewer cells than it. */
static void memory_is_bounded(void **state)
{
	static struct added a;
	unsigned before = 0;

	(void)state;
	for (uint32_t max = 4096; max >= 512; max /= 2) {
		struct lengths l = {.max = max};

		fill(&a, &l);
		assert_true(l.count <= max);
		assert_true(l.shift >= before);
		before = l.shift;
		check(&a, &l, 2, (double)(1u << l.shift) / 128);
		check(&a, &l, 254, (double)(1u << l.shift) / 128);
		lengths_free(&l);
	}
	assert_true(before > 0);
}

static void extremes(void **state)
{
	static const uint64_t values[] = {0, 1, 63, 64, 127, 128, UINT64_MAX / 2, UINT64_MAX};
	static struct length_sums sums;
	uint64_t got[LENGTH_QUANTILES];

	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		struct lengths l = {0};
		struct length_index x;

		assert_int_equal(lengths_add(&l, UINT32_MAX, values[i]), 0);
		assert_int_equal(lengths_add(&l, 1, values[i]), 0);
		assert_int_equal(length_index_make(&l, 1, &x), 0);
		length_sums_add(&sums, &x, 1);
		length_sums_add(&sums, &x, 5); /* beyond it */
		length_sums_take(&sums, 0, values[i], got);
		assert_int_equal(got[0], values[i]);
		assert_int_equal(got[3], values[i]);
		length_index_free(&x);
		lengths_free(&l);
	}
}

/* Of cells of two halves of a log, merged: as of all of it. */
static void cells_are_merged_with_their_lengths(void **state)
{
	struct cells half[2] = {{0}}, all = {0};
	uint64_t of_all[LENGTH_QUANTILES], of_merged[LENGTH_QUANTILES];
	static struct length_sums sums;
	struct length_index x;
	uint32_t index;

	(void)state;
	half[1].lengths.max = 64;
	for (unsigned i = 0; i < ADDED; i++) {
		const struct cell_key key = {.lock = 1 + below(3), .waiter = 1 + below(CELLS)};
		uint64_t ns = random_length();

		assert_int_equal(cells_add(&half[i % 2], &key, &index), 0);
		assert_int_equal(cells_count(&half[i % 2], index, ns), 0);
		assert_int_equal(cells_add(&all, &key, &index), 0);
		assert_int_equal(cells_count(&all, index, ns), 0);
	}
	assert_int_equal(cells_merge(&half[0], &half[1], NULL), 0);
	assert_int_equal(half[0].count, all.count);
	assert_int_equal(half[0].lengths.shift, LENGTH_BITS);
	for (uint32_t i = 0; i < all.count; i++) {
		const struct cell_key key = cell_key_of(&all.rows[i]);
		const struct cell *merged;

		assert_int_equal(cells_add(&half[0], &key, &index), 0);
		merged = &half[0].rows[index];
		assert_int_equal(merged->count, all.rows[i].count);
		assert_int_equal(merged->max_ns, all.rows[i].max_ns);
		assert_int_equal(length_index_make(&half[0].lengths, half[0].count, &x), 0);
		length_sums_add(&sums, &x, merged->number);
		length_sums_take(&sums, x.shift, merged->max_ns, of_merged);
		length_index_free(&x);
		assert_int_equal(length_index_make(&all.lengths, all.count, &x), 0);
		length_sums_add(&sums, &x, all.rows[i].number);
		length_sums_take(&sums, x.shift, all.rows[i].max_ns, of_all);
		length_index_free(&x);
		for (unsigned k = 0; k < LENGTH_QUANTILES; k++)
			assert_true(of_merged[k] >= of_all[k] / 2 && of_merged[k] / 2 <= of_all[k]);
	}
	cells_free(&half[0]);
	cells_free(&half[1]);
	cells_free(&all);
}

static int all_of_it(struct lengths *l, struct length_index *x)
{
	int err = 0;

	for (unsigned i = 0; i < 200 && !err; i++)
		err = lengths_add(l, 1 + i % 9, (uint64_t)i * i * i);
	return err ? err : length_index_make(l, 9, x);
}

static void survives_without_memory(void **state)
{
	unsigned long n = 0;
	bool failed = true;

	(void)state;
	for (; failed; n++) {
		struct lengths l = {.max = 100};
		struct length_index x = {0};
		int err;

		alloc_fail_at(n);
		err = all_of_it(&l, &x);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		length_index_free(&x);
		lengths_free(&l);
	}
	assert_true(n > 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_sum_of_cells_has_quantiles),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(extremes),
		cmocka_unit_test(cells_are_merged_with_their_lengths),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests_name("analyze_lengths", tests, NULL, NULL);
}
