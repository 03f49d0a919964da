/* steal/guard.c, share.c: counters that go wrong, and sums that are shared out. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steal/guard.h"
#include "steal/share.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull
#define S 1000000000ull
#define TICK (10 * MS)

static const struct guard_limits ticks = {.wrap_ns = (1ull << 32) * TICK, .slack_ns = 2 * TICK};
static const struct guard_limits exact = {.slack_ns = 2};
static const struct guard_limits late = {.slack_ns = 2, .late = true};

static void growth_is_the_difference(void **state)
{
	struct guard g;
	uint64_t ns = 7;

	(void)state;
	guard_set(&g, 5 * S, 100 * S);
	assert_int_equal(guard_step(&g, 5 * S + 300 * MS, 101 * S, 101 * S, &ticks, &ns), GUARD_OK);
	assert_int_equal(ns, 300 * MS);
	assert_int_equal(guard_step(&g, 5 * S + 300 * MS, 102 * S, 102 * S, &ticks, &ns), GUARD_OK);
	assert_int_equal(ns, 0);
	assert_int_equal(guard_step(&g, 6 * S + 300 * MS, 103 * S, 103 * S, &ticks, &ns), GUARD_OK);
	assert_int_equal(ns, S);
}

static void what_goes_back_is_counted_once_and_starts_anew(void **state)
{
	struct guard g;
	uint64_t ns = 7;

	(void)state;
	guard_set(&g, 50 * S, 100 * S);
	assert_int_equal(guard_step(&g, 3 * S, 101 * S, 101 * S, &ticks, &ns), GUARD_BACKWARDS);
	assert_int_equal(ns, 0);
	assert_int_equal(guard_step(&g, 3 * S + 40 * MS, 102 * S, 102 * S, &ticks, &ns), GUARD_OK);
	assert_int_equal(ns, 40 * MS);
}

/* Idle time does that: it is given to another class of time, and comes again. */
static void a_tick_back_is_made_up_for(void **state)
{
	struct guard g;
	uint64_t ns = 7;

	(void)state;
	guard_set(&g, 5 * S, 100 * S);
	assert_int_equal(guard_step(&g, 5 * S - TICK, 101 * S, 101 * S, &ticks, &ns), GUARD_OK);
	assert_int_equal(ns, 0);
	assert_int_equal(guard_step(&g, 5 * S + TICK, 102 * S, 102 * S, &ticks, &ns), GUARD_OK);
	assert_int_equal(ns, TICK);
}

static void counters_end_at_their_width(void **state)
{
	uint64_t end = (1ull << 32) * TICK, ns = 7;
	struct guard g;

	(void)state;
	guard_set(&g, end - 3 * TICK, 100 * S);
	assert_int_equal(guard_step(&g, 2 * TICK, 101 * S, 101 * S, &ticks, &ns), GUARD_WRAPPED);
	assert_int_equal(ns, 5 * TICK);
	guard_set(&g, UINT64_MAX - 9, 100 * S);
	assert_int_equal(guard_step(&g, 10, 101 * S, 101 * S, &exact, &ns), GUARD_WRAPPED);
	assert_int_equal(ns, 20);
	/* That far from the end it has not gone round, but begun anew. */
	guard_set(&g, end / 2, 100 * S);
	assert_int_equal(guard_step(&g, 2 * TICK, 101 * S, 101 * S, &ticks, &ns), GUARD_BACKWARDS);
}

static void nothing_grows_faster_than_time(void **state)
{
	struct guard g;
	uint64_t ns = 7;

	(void)state;
	guard_set(&g, 0, 100 * S);
	assert_int_equal(guard_step(&g, 300 * S, 101 * S, 101 * S, &ticks, &ns), GUARD_JUMPED);
	assert_int_equal(ns, 0);
	assert_int_equal(guard_step(&g, 301 * S, 102 * S, 102 * S, &ticks, &ns), GUARD_OK);
	assert_int_equal(ns, S);
	/* As it is in /proc/stat after an underflow in the kernel; the conversion saturates. */
	assert_int_equal(guard_step(&g, UINT64_MAX, 103 * S, 103 * S, &ticks, &ns), GUARD_JUMPED);
	assert_int_equal(guard_step(&g, UINT64_MAX, 104 * S, 104 * S, &ticks, &ns), GUARD_OK);
	assert_int_equal(ns, 0);
	/* A long rest does not let it. */
	guard_set(&g, 0, 100 * S);
	assert_int_equal(guard_step(&g, 0, 1000 * S, 1000 * S, &ticks, &ns), GUARD_OK);
	assert_int_equal(guard_step(&g, 300 * S, 1001 * S, 1001 * S, &ticks, &ns), GUARD_JUMPED);
}

/* Whoever reads may be kept from it between looking at the clock and reading. */
static void a_sample_takes_its_time(void **state)
{
	struct guard g;
	uint64_t ns = 7;

	(void)state;
	guard_set(&g, 0, 100 * S);
	assert_int_equal(guard_step(&g, 1500 * MS, 101 * S, 101 * S + 500 * MS, &exact, &ns), GUARD_OK);
	assert_int_equal(ns, 1500 * MS);
	assert_int_equal(guard_step(&g, 4 * S, 102 * S, 102 * S, &exact, &ns), GUARD_JUMPED);
}

static void a_late_counter_makes_up_for_its_rest(void **state)
{
	struct guard g;
	uint64_t ns = 7;

	(void)state;
	guard_set(&g, 0, 100 * S);
	assert_int_equal(guard_step(&g, 0, 110 * S, 110 * S, &late, &ns), GUARD_OK);
	assert_int_equal(guard_step(&g, 11 * S, 111 * S, 111 * S, &late, &ns), GUARD_OK);
	assert_int_equal(ns, 11 * S);
	assert_int_equal(guard_step(&g, 22 * S, 112 * S, 112 * S, &late, &ns), GUARD_JUMPED);
}

/* --- shares ---------------------------------------------------------------------------------- */

static uint64_t sum(const struct share *v, size_t count)
{
	uint64_t all = 0;

	for (size_t i = 0; i < count; i++)
		all += v[i].part;
	return all;
}

static uint64_t part_of(const struct share *v, size_t count, uint64_t key)
{
	for (size_t i = 0; i < count; i++)
		if (v[i].key == key)
			return v[i].part;
	fail_msg("no share has the key %llu", (unsigned long long)key);
	return 0;
}

static void shares_are_proportional(void **state)
{
	struct share v[] = {{.weight = 10, .key = 1}, {.weight = 9, .key = 2}, {.weight = 1, .key = 3}};

	(void)state;
	assert_int_equal(share_out(10 * S, 20, v, 3), 0);
	assert_int_equal(part_of(v, 3, 1), 5 * S);
	assert_int_equal(part_of(v, 3, 2), 4500 * MS);
	assert_int_equal(part_of(v, 3, 3), 500 * MS);
}

static void nothing_is_lost_by_rounding(void **state)
{
	struct share v[] = {{.weight = 1, .key = 1}, {.weight = 1, .key = 2}, {.weight = 1, .key = 3}};

	(void)state;
	assert_int_equal(share_out(100, 3, v, 3), 0);
	assert_int_equal(sum(v, 3), 100);
	assert_int_equal(part_of(v, 3, 1), 34);
	assert_int_equal(part_of(v, 3, 2), 33);
}

static void others_have_the_rest_of_the_whole(void **state)
{
	struct share v[] = {{.weight = 30, .key = 1}, {.weight = 20, .key = 2}};

	(void)state;
	assert_int_equal(share_out(1000, 100, v, 2), 500);
	assert_int_equal(part_of(v, 2, 1), 300);
	assert_int_equal(share_out(1000, 0, v, 2), 0); /* the weights are more than the whole */
	assert_int_equal(part_of(v, 2, 1), 600);
	assert_int_equal(share_out(1000, 0, v, 0), 1000);
	assert_int_equal(share_out(1000, 5, v, 0), 1000);
	v[0].weight = v[1].weight = 0;
	assert_int_equal(share_out(1000, 0, v, 2), 1000);
	assert_int_equal(sum(v, 2), 0);
}

static uint64_t next_random(uint64_t *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

/* Any total, any weights, in any order: conserved, at most one off, and always the same. */
static void shares_of_anything(void **state)
{
	uint64_t seed = 4711;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		size_t count = next_random(&seed) % 20;
		struct share v[20], w[20];
		uint64_t total = next_random(&seed) >> next_random(&seed) % 64;
		uint64_t whole = next_random(&seed) >> (1 + next_random(&seed) % 63), others;
		unsigned __int128 weights = 0;

		for (size_t i = 0; i < count; i++) {
			v[i] = (struct share){.weight = next_random(&seed) >> (5 + next_random(&seed) % 59), .key = i};
			weights += v[i].weight;
			w[count - 1 - i] = v[i];
		}
		others = share_out(total, whole, v, count);
		assert_true(others == share_out(total, whole, w, count));
		assert_true(others + sum(v, count) == total);
		for (size_t i = 0; i < count; i++) {
			unsigned __int128 all = weights > whole ? weights : whole;
			uint64_t quotient = all ? (uint64_t)((unsigned __int128)total * v[i].weight / all) : 0;

			assert_true(v[i].part == quotient || v[i].part == quotient + 1);
			assert_true(v[i].part == part_of(w, count, v[i].key));
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(growth_is_the_difference),
		cmocka_unit_test(what_goes_back_is_counted_once_and_starts_anew),
		cmocka_unit_test(a_tick_back_is_made_up_for),
		cmocka_unit_test(counters_end_at_their_width),
		cmocka_unit_test(nothing_grows_faster_than_time),
		cmocka_unit_test(a_sample_takes_its_time),
		cmocka_unit_test(a_late_counter_makes_up_for_its_rest),
		cmocka_unit_test(shares_are_proportional),
		cmocka_unit_test(nothing_is_lost_by_rounding),
		cmocka_unit_test(others_have_the_rest_of_the_whole),
		cmocka_unit_test(shares_of_anything),
	};

	return cmocka_run_group_tests_name("steal_guard", tests, NULL, NULL);
}
