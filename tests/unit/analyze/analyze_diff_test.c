/* Comparisons of recordings: chance against its published tables, names, windows, rows. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyze/diff/comparison.h"
#include "analyze/diff/generated_name.h"
#include "analyze/diff/rank_sum.h"
#include "analyze/diff/time_bins.h"
#include "base/text/strbuf.h"
#include "report/model/diff/diff_fail.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull
#define S 1000000000ull

static bool is_near(double got, double wanted)
{
	return fabs(got - wanted) <= 1e-9 * fmax(1, fabs(wanted));
}

/* Of n and m figures without ties there are as many orders as ways to choose n of n + m. */
static void test_rank_sums_are_exact(void **state)
{
	static const double low[] = {1, 2, 3, 4}, high[] = {5, 6, 7, 8},
			    mixed[] = {2.5, 5.5, 6.5, 7.5};
	static const double same[] = {7, 7, 7, 7}, ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	double more[10];

	(void)state;
	assert_true(is_near(rank_sum_chance(low, 4, high, 4), 2.0 / 70));
	assert_true(is_near(rank_sum_chance(high, 4, low, 4), 2.0 / 70));
	/* U = 2: 1 + 1 + 2 orders of 70 are as far on one side. */
	assert_true(is_near(rank_sum_chance(low, 4, mixed, 4), 2.0 * 4 / 70));
	assert_true(is_near(rank_sum_chance(low, 4, low, 4), 1));
	assert_true(is_near(rank_sum_chance(same, 4, same, 4), 1));
	assert_true(is_near(rank_sum_chance(low, 0, high, 4), 1));
	assert_true(is_near(rank_sum_chance(ten, 1, high, 1), 1));
	for (int i = 0; i < 10; i++)
		more[i] = ten[i] + 100;
	assert_true(is_near(rank_sum_chance(ten, 10, more, 10), 2.0 / 184756));
	/* Ties: of {1, 1, 1} and {1, 2, 2}, 4 of 20 choices have the three ones that are lowest. */
	assert_true(is_near(rank_sum_chance((double[]){1, 1, 1}, 3, (double[]){1, 2, 2}, 3),
			    2.0 * 4 / 20));
}

/* Figures drawn from one distribution are told to differ as often as the limit says, and no more. */
static void test_chance_is_as_rare_as_it_says(void **state)
{
	uint64_t seed = 42;
	unsigned found = 0;

	(void)state;
	for (int n = 0; n < 1000; n++) {
		double a[10], b[10];

		for (int i = 0; i < 20; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			(i < 10 ? a : b)[i % 10] = (double)(seed >> 33);
		}
		found += rank_sum_chance(a, 10, b, 10) <= 0.05;
	}
	assert_in_range(found, 20, 70); /* the largest level below 0.05 is 0.0433 */
}

static void check_name(const char *name, const char *wanted)
{
	struct strbuf b = {.most = 0};

	generated_name_add(&b, name);
	assert_string_equal(strbuf_text(&b), wanted);
	strbuf_free(&b);
}

static void test_names_of_generated_classes(void **state)
{
	(void)state;
	check_name("shop.Catalogue$$Lambda$7+0x0000000800c03000", "shop.Catalogue$$Lambda$*");
	check_name("shop.Catalogue$$Lambda$14/0x00007f0012345678", "shop.Catalogue$$Lambda$*");
	check_name("shop.Catalogue$$Lambda/0x00007f0012345678.run", "shop.Catalogue$$Lambda*.run");
	check_name("jdk.proxy2.$Proxy17", "jdk.proxy*.$Proxy*");
	check_name("jdk.internal.reflect.GeneratedMethodAccessor3",
		   "jdk.internal.reflect.GeneratedMethodAccessor*");
	check_name("java.lang.invoke.LambdaForm$MH/0x0000000800c0",
		   "java.lang.invoke.LambdaForm$MH*");
	check_name("a.Bean$$SpringCGLIB$$0", "a.Bean$$SpringCGLIB$$*");
	check_name("a.Bean$$EnhancerBySpringCGLIB$$a1b2c3d4", "a.Bean$$EnhancerBySpringCGLIB$$*");
	/* What people have named. */
	check_name("shop.Order2", "shop.Order2");
	check_name("shop.$Proxyfactory", "shop.$Proxyfactory");
	check_name("shop.Table$1", "shop.Table$1");
	check_name("", "");
}

static void test_bins_grow(void **state)
{
	struct time_bins b = {.from_ns = 5 * S};
	double windows[DIFF_WINDOWS] = {0}, sum = 0;
	uint32_t row;

	(void)state;
	assert_int_equal(time_bins_row(&b, &row), 0);
	time_bins_add(&b, row, 4 * S, 5 * S - 1); /* before */
	time_bins_add(&b, row, 4 * S, 5 * S + 10 * MS);
	for (uint64_t i = 0; i < 1000; i++)
		time_bins_add(&b, row, 5 * S + i * S, 5 * S + i * S + 500 * MS);
	time_bins_windows(&b, row, 5 * S, 1005 * S, windows);
	for (int i = 0; i < DIFF_WINDOWS; i++) {
		assert_true(fabs(windows[i] - 50e9) < 1e9);
		sum += windows[i];
	}
	assert_true(fabs(sum - 500e9) < 2e7);
	time_bins_free(&b);
}

static void test_moments_count(void **state)
{
	struct time_bins b = {.from_ns = 0};
	double windows[DIFF_WINDOWS] = {0};
	uint32_t row;

	(void)state;
	assert_int_equal(time_bins_row(&b, &row), 0);
	for (uint64_t i = 0; i < 100; i++)
		time_bins_add(&b, row, i * MS, i * MS);
	time_bins_windows(&b, row, 0, 100 * MS, windows);
	for (int i = 0; i < DIFF_WINDOWS; i++)
		assert_true(is_near(windows[i], 10));
	time_bins_free(&b);
}

static void test_rows_of_bins_are_bounded(void **state)
{
	struct time_bins b = {.from_ns = 0};
	uint32_t row;

	(void)state;
	b.count = TIME_BINS_ROWS_MAX;
	assert_int_equal(time_bins_row(&b, &row), -E2BIG);
	b.count = 0;
	alloc_fail_at(0);
	assert_int_equal(time_bins_row(&b, &row), -ENOMEM);
	alloc_fail_off();
	time_bins_free(&b);
}

/* --- rows ---------------------------------------------------------------------------------- */

/* A recording of 100 s: each tenth of it has the wait that shape says. */
static int add_log(struct comparison_side *s, const char *name, double wait, double wobble)
{
	struct measures *m = &s->logs[s->count++];
	struct measure *row;

	m->recorded_ns = 100 * S;
	for (int i = 0; i < DIFF_WINDOWS; i++)
		m->window_ns[i] = 10e9;
	row = measures_row(m, MEASURE_TOTALS, name);
	if (!row)
		return -ENOMEM;
	row->has_windows = true;
	row->count = 7;
	for (int i = 0; i < DIFF_WINDOWS; i++) {
		row->windows[i] = wait * 10e9 * (1 + wobble * ((i * 7 % 10) - 4.5) / 4.5);
		row->ns += (uint64_t)row->windows[i];
	}
	return 0;
}

static void sides_free(struct comparison_side *s, int count)
{
	for (int k = 0; k < count; k++)
		for (unsigned i = 0; i < s[k].count; i++)
			measures_free(&s[k].logs[i]);
}

static void compare_once(double before, double after, double wobble, struct comparison_row *ret)
{
	struct comparison_side s[2] = {{.count = 0}, {.count = 0}};
	struct comparison c;

	assert_int_equal(add_log(&s[0], "blocked", before, wobble), 0);
	assert_int_equal(add_log(&s[1], "blocked", after, wobble), 0);
	assert_int_equal(comparison_make(&s[0], &s[1], MEASURE_PER_SECOND, &c), 0);
	assert_int_equal(c.count, 1);
	*ret = c.rows[0];
	comparison_free(&c);
	sides_free(s, 2);
}

static void test_windows_tell_chance(void **state)
{
	struct comparison_row r;

	(void)state;
	compare_once(0.5, 0.525, 0.01, &r);
	assert_int_equal(r.basis, COMPARISON_WINDOWS);
	assert_true(r.stands_out && r.chance < 0.001);
	assert_true(fabs(r.before.rate - 0.5e9) < 10 && fabs(r.after.rate - 0.525e9) < 10);
	assert_true(r.noise > 0.003 && r.noise < 0.01);
	compare_once(0.525, 0.5, 0.01, &r); /* the other way round */
	assert_true(r.stands_out && comparison_change(&r) < 0);
	compare_once(0.5, 0.525, 0.5, &r); /* lost in the noise */
	assert_false(r.stands_out);
	compare_once(0.5, 0.507, 0.01, &r); /* rare by chance, but no more than a drift */
	assert_true(r.chance < 0.01 && !r.stands_out);
	compare_once(0.5, 0.5, 0.1, &r);
	assert_false(r.stands_out);
	assert_true(is_near(r.chance, 1));
	compare_once(0.0, 0.5, 0.1, &r);
	assert_true(r.stands_out);
}

/* Roughly normal, with the mean 0 and the deviation 1. */
static double drawn(uint64_t *seed)
{
	double sum = -6;

	for (int i = 0; i < 12; i++) {
		*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
		sum += (double)(*seed >> 40) / (double)(1u << 24);
	}
	return sum;
}

/* Two recordings, one after the other, whose tenths differ by the part apart of their mean; kept: what a
 * tenth has of its neighbour. The second waits so many times as long. */
static bool is_found(double times, double apart, double kept, uint64_t *seed)
{
	struct comparison_side s[2] = {{.count = 0}, {.count = 0}};
	double now = drawn(seed);
	struct comparison c;
	bool found;

	for (int side = 0; side < 2; side++) {
		struct measure *row;

		assert_int_equal(add_log(&s[side], "blocked", 0.5, 0), 0);
		row = measures_row(&s[side].logs[0], MEASURE_TOTALS, "blocked");
		row->ns = 0;
		for (int i = 0; i < DIFF_WINDOWS; i++) {
			row->windows[i] *= (1 + apart * now) * (side ? times : 1);
			row->ns += (uint64_t)row->windows[i];
			now = kept * now + sqrt(1 - kept * kept) * drawn(seed);
		}
	}
	assert_int_equal(comparison_make(&s[0], &s[1], MEASURE_PER_SECOND, &c), 0);
	found = c.rows[0].stands_out;
	comparison_free(&c);
	sides_free(s, 2);
	return found;
}

/* As docs/diff.md says: of tenths that differ by 1 % among themselves, also if each follows the one before. */
static void test_five_percent_are_found(void **state)
{
	(void)state;
	for (int k = 0; k < 2; k++) {
		unsigned found = 0, false_alarms = 0;
		uint64_t seed = 1;

		for (int n = 0; n < 1000; n++) {
			found += is_found(1.05, 0.015, 0.3 * k, &seed);
			false_alarms += is_found(1, 0.015, 0.3 * k, &seed);
		}
		assert_in_range(found, 950, 1000);
		assert_in_range(false_alarms, 0, 50);
	}
}

static void test_several_logs_tell_chance(void **state)
{
	struct comparison_side s[2] = {{.count = 0}, {.count = 0}};
	const struct comparison_row *r;
	struct comparison c;

	(void)state;
	for (int i = 0; i < COMPARISON_LOGS_ENOUGH; i++) {
		assert_int_equal(add_log(&s[0], "blocked", 0.1 + 0.01 * i, 0.9), 0);
		assert_int_equal(add_log(&s[1], "blocked", 0.2 + 0.01 * i, 0.9), 0);
	}
	assert_int_equal(comparison_make(&s[0], &s[1], MEASURE_PER_SECOND, &c), 0);
	r = comparison_find(&c, MEASURE_TOTALS, "blocked");
	assert_non_null(r);
	assert_int_equal(r->basis, COMPARISON_LOGS);
	assert_true(r->stands_out && is_near(r->chance, 2.0 / 70));
	assert_true(fabs(r->before.rate - 0.115e9) < 10); /* the median */
	assert_true(fabs(r->before.lowest - 0.1e9) < 10 && fabs(r->before.highest - 0.13e9) < 10);
	assert_int_equal(r->before.count, 7 * COMPARISON_LOGS_ENOUGH);
	assert_null(comparison_find(&c, MEASURE_LOCKS, "blocked"));
	comparison_free(&c);
	sides_free(s, 2);
}

static void test_what_one_side_has(void **state)
{
	struct comparison_side s[2] = {{.count = 0}, {.count = 0}};
	const struct comparison_row *r;
	struct comparison c;

	(void)state;
	assert_int_equal(add_log(&s[0], "old", 0.3, 0), 0);
	assert_int_equal(add_log(&s[1], "new", 0.4, 0), 0);
	assert_int_equal(comparison_make(&s[0], &s[1], MEASURE_PER_SECOND, &c), 0);
	assert_int_equal(c.count, 2);
	assert_string_equal(c.rows[0].name, "new"); /* the larger change first */
	r = comparison_find(&c, MEASURE_TOTALS, "old");
	assert_true(r->before.known && !r->after.known && r->stands_out);
	assert_true(is_near(r->after.rate, 0));
	comparison_free(&c);
	sides_free(s, 2);
}

/* Of a hundred rows of one part, those with differences at the level of one row in a hundred are expected. */
static void test_many_rows_are_judged_together(void **state)
{
	struct comparison_side s[2] = {{.count = 1}, {.count = 1}};
	uint64_t seed = 7;
	struct comparison c;
	unsigned found = 0;

	(void)state;
	for (int side = 0; side < 2; side++) {
		struct measures *m = &s[side].logs[0];

		m->recorded_ns = 100 * S;
		for (int i = 0; i < DIFF_WINDOWS; i++)
			m->window_ns[i] = 10e9;
		for (int n = 0; n < 500; n++) {
			char name[16];
			struct measure *row;

			snprintf(name, sizeof(name), "row %d", n);
			row = measures_row(m, MEASURE_METHODS, name);
			assert_non_null(row);
			row->has_windows = true;
			for (int i = 0; i < DIFF_WINDOWS; i++) {
				seed = seed * 6364136223846793005ull + 1442695040888963407ull;
				row->windows[i] = (double)(seed >> 40) + (n < 5 && side ? 1e9 : 0);
				row->ns += (uint64_t)row->windows[i];
			}
		}
	}
	assert_int_equal(comparison_make(&s[0], &s[1], MEASURE_PER_SECOND, &c), 0);
	for (uint32_t i = 0; i < c.count; i++)
		found += c.rows[i].stands_out;
	assert_int_equal(found, 5);
	for (int i = 0; i < 5; i++)
		assert_true(c.rows[i].stands_out); /* and these are the largest changes */
	comparison_free(&c);
	sides_free(s, 2);
}

static void test_no_memory(void **state)
{
	struct comparison_side s[2] = {{.count = 0}, {.count = 0}};
	struct comparison c;
	int err = -ENOMEM;

	(void)state;
	for (unsigned long n = 0; err; n++) {
		alloc_fail_at(n);
		err = add_log(&s[0], "blocked", 0.5, 0.1);
		err = err ? err : add_log(&s[1], "blocked", 0.5, 0.1);
		err = err ? err : comparison_make(&s[0], &s[1], MEASURE_PER_SECOND, &c);
		/* Without memory for its table, a chance is 1. */
		if (!err)
			comparison_free(&c);
		err = alloc_fail_off() ? -ENOMEM : err;
		sides_free(s, 2);
		s[0].count = s[1].count = 0;
	}
}

/* --- --fail-if ------------------------------------------------------------------------------- */

static void test_limits(void **state)
{
	static const char *const bad[] = {
		"",           "blocked",     "blocked>",    "blocked>x%", "blocked>10",
		"nothing>1%", "blocked>-1%", "blocked<5%",  ">5%",        "p42:a>1%",
		"p99:>1%",    "cpu<-200%",   "blocked>1%%", "blocked=5%"};
	struct diff_fail f;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(diff_fail_parse(bad[i], &f), -EINVAL);
	assert_int_equal(diff_fail_parse("blocked > +10%", &f), 0);
	assert_true(f.part == MEASURE_TOTALS && !f.is_less && is_near(f.limit, 0.1));
	assert_int_equal(diff_fail_parse("cpu<-5%", &f), 0);
	assert_true(f.is_less && is_near(f.limit, -0.05));
	assert_int_equal(diff_fail_parse("p99:a > b>0%", &f), 0);
	assert_int_equal(f.part, MEASURE_SPAN_TIMES);
	assert_string_equal(f.name, "a > b: p99");
}

static enum diff_failed judged(const char *limit, double before, double after)
{
	struct comparison_side s[2] = {{.count = 0}, {.count = 0}};
	const struct comparison_row *r;
	enum diff_failed failed;
	struct diff_fail f;
	struct comparison c;

	assert_int_equal(diff_fail_parse(limit, &f), 0);
	assert_int_equal(add_log(&s[0], "blocked", before, 0), 0);
	assert_int_equal(add_log(&s[1], "blocked", after, 0), 0);
	assert_int_equal(comparison_make(&s[0], &s[1], MEASURE_PER_SECOND, &c), 0);
	failed = diff_fail_is(&f, &c, &r);
	comparison_free(&c);
	sides_free(s, 2);
	return failed;
}

static void test_what_fails(void **state)
{
	(void)state;
	assert_int_equal(judged("blocked>10%", 0.5, 0.56), DIFF_FAIL_YES);
	assert_int_equal(judged("blocked>10%", 0.5, 0.54), DIFF_FAIL_NOT);
	assert_int_equal(judged("blocked>10%", 0.5, 0.1), DIFF_FAIL_NOT);
	assert_int_equal(judged("blocked<-10%", 0.5, 0.1), DIFF_FAIL_YES);
	assert_int_equal(judged("blocked>10%", 0, 0.1), DIFF_FAIL_YES);
	assert_int_equal(judged("blocked>10%", 0, 0), DIFF_FAIL_NOT);
	assert_int_equal(judged("cpu>10%", 0, 0.1), DIFF_FAIL_UNKNOWN);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rank_sums_are_exact),
		cmocka_unit_test(test_chance_is_as_rare_as_it_says),
		cmocka_unit_test(test_names_of_generated_classes),
		cmocka_unit_test(test_bins_grow),
		cmocka_unit_test(test_moments_count),
		cmocka_unit_test(test_rows_of_bins_are_bounded),
		cmocka_unit_test(test_windows_tell_chance),
		cmocka_unit_test(test_five_percent_are_found),
		cmocka_unit_test(test_several_logs_tell_chance),
		cmocka_unit_test(test_what_one_side_has),
		cmocka_unit_test(test_many_rows_are_judged_together),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_what_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
