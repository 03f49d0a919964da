/* Spans by name and window: nothing of them gets lost, whatever the windows' length. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/spans/quantiles.h"
#include "analyze/spans/span_bins.h"
#include "analyze/spans/spans.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull
#define BEGIN_NS (5000 * MS)

static struct span_name names[4];

static int add(struct span_bins *b, unsigned name, uint64_t begin_ns, uint64_t ns)
{
	const struct states self = {.ns[STATE_RUNNING] = ns / 2};
	const struct span span = {
		.begin_ns = BEGIN_NS + begin_ns,
		.ns = ns,
		.states.ns = {[STATE_RUNNING] = ns / 2, [STATE_LOCK] = ns - ns / 2}};

	return span_bins_add(
		b, &(struct span_ended){
			   .name = &names[name], .span = &span, .self_ns = ns / 2, .self = &self});
}

static struct span_bin sum_of(const struct span_bins *b, const struct span_name *name)
{
	struct span_bin sum = {0};

	for (uint32_t i = 0; i < b->bin_map.count; i++) {
		assert_true(b->bins[i].from <= b->bins[i].to);
		assert_true(b->bins[i].to < SPAN_BINS_WINDOWS_MAX);
		if (name && b->bins[i].name != name)
			continue;
		sum.count += b->bins[i].count;
		sum.total_ns += b->bins[i].total_ns;
		sum.self_ns += b->bins[i].self_ns;
		sum.max_ns = b->bins[i].max_ns > sum.max_ns ? b->bins[i].max_ns : sum.max_ns;
		states_add(&sum.states, &b->bins[i].states);
	}
	return sum;
}

static uint64_t lengths_of(const struct span_bins *b, unsigned step)
{
	uint64_t count = 0;

	for (uint32_t i = 0; i < b->length_map.count; i++) {
		assert_true(b->lengths[i].bin < b->bin_map.count);
		if (b->lengths[i].step == step)
			count += b->lengths[i].count;
	}
	return count;
}

static void spans_are_in_their_windows(void **state)
{
	struct span_bins b = {.begin_ns = BEGIN_NS, .length_ns = MS};

	(void)state;
	assert_int_equal(add(&b, 1, MS / 2, 10), 0);
	assert_int_equal(add(&b, 1, MS / 2 + 20, 30), 0);
	assert_int_equal(add(&b, 1, MS / 2, 3 * MS), 0);
	assert_int_equal(add(&b, 2, MS / 2, 10), 0);
	assert_int_equal(b.bin_map.count, 3);
	assert_int_equal(b.bins[0].count, 2);
	assert_int_equal(b.bins[0].total_ns, 40);
	assert_int_equal(b.bins[0].self_ns, 20);
	assert_int_equal(b.bins[0].max_ns, 30);
	assert_int_equal(b.bins[1].from, 0);
	assert_int_equal(b.bins[1].to, 3);
	assert_int_equal(lengths_of(&b, quantiles_step(10)), 2);
	assert_int_equal(lengths_of(&b, quantiles_step(3 * MS)), 1);
	span_bins_free(&b);
}

static void windows_get_longer(void **state)
{
	struct span_bins b = {.begin_ns = BEGIN_NS, .length_ns = MS};
	uint64_t sum = 0, of_one = 0;

	(void)state;
	for (uint64_t i = 0; i < 20000; i++) {
		assert_int_equal(add(&b, i % 4, i * 2 * MS, 1000 + i * 50), 0);
		sum += 1000 + i * 50;
		of_one += i % 4 == 3 ? 1000 + i * 50 : 0;
	}
	assert_int_equal(b.length_ns, 128 * MS);
	assert_int_equal(sum_of(&b, NULL).count, 20000);
	assert_int_equal(sum_of(&b, NULL).total_ns, sum);
	assert_int_equal(sum_of(&b, &names[3]).total_ns, of_one);
	span_bins_free(&b);
}

static void too_many_rows_are_given_up(void **state)
{
	struct span_bins b = {.begin_ns = BEGIN_NS, .length_ns = MS, .rows_max = 100};

	(void)state;
	for (uint64_t i = 0; i < 200; i++)
		assert_int_equal(add(&b, i % 4, i * MS, 10), 0);
	assert_false(b.full);
	assert_int_equal(sum_of(&b, NULL).count, 200);
	assert_true(b.bin_map.count <= 100);
	span_bins_free(&b);
	b = (struct span_bins){.begin_ns = BEGIN_NS, .length_ns = MS, .rows_max = 3};
	for (uint64_t i = 0; i < 20; i++)
		assert_int_equal(add(&b, i % 4, 0, 10), 0);
	assert_true(b.full);
	assert_int_equal(b.bin_map.count, 0);
	span_bins_free(&b);
}

static void no_memory(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n++) {
		struct span_bins b = {.begin_ns = BEGIN_NS, .length_ns = MS};
		int err = 0;

		alloc_fail_at(n);
		for (uint64_t i = 0; i < 600 && !err; i++)
			err = add(&b, i % 4, i * 2 * MS, 1000 + i);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		span_bins_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spans_are_in_their_windows),
		cmocka_unit_test(windows_get_longer),
		cmocka_unit_test(too_many_rows_are_given_up),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
