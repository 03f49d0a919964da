/* Steps of threads by slot: every step is in its window and slot, and nothing of it gets lost. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/profile/profile.h"
#include "analyze/profile/profile_course.h"
#include "analyze/profile/profile_step.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull
#define BEGIN_NS (5000 * MS)

static const struct course_grid grid = {BEGIN_NS, 64 * MS, 20 * MS};

static int run(struct profile_course *c, uint64_t thread, uint64_t at_ns, uint64_t run_ns)
{
	return profile_course_add(c, &(struct profile_step){.thread = thread,
							    .time_ns = BEGIN_NS + at_ns,
							    .run_ns = run_ns});
}

static int sample(struct profile_course *c, uint64_t thread, uint64_t at_ns, uint64_t run_ns,
		  uint64_t weight)
{
	return profile_course_add(c, &(struct profile_step){.thread = thread,
							    .time_ns = BEGIN_NS + at_ns,
							    .run_ns = run_ns,
							    .sample = true,
							    .weight = weight,
							    .mode = SAMPLE_MODE_JAVA,
							    .result = WALK_RESULT_COMPLETE,
							    .cell = (uint32_t)thread % 3});
}

static void slots_end_with_windows(void **state)
{
	struct profile_course c = {0};
	struct course_table t;

	(void)state;
	assert_int_equal(run(&c, 7, 61 * MS, 10), 0);
	assert_int_equal(sample(&c, 7, 62 * MS, 5, 15), 0);
	assert_int_equal(sample(&c, 7, 65 * MS, 3, 3), 0);
	assert_int_equal(sample(&c, 7, 66 * MS, 4, 4), 0);
	assert_int_equal(run(&c, 7, 67 * MS, 0), 0);
	assert_int_equal(course_table_make(&c, &grid, 10, &t), 0);
	assert_int_equal(t.row_map.count, 2);
	assert_int_equal(t.rows[0].slot, 3);
	assert_int_equal(t.rows[0].window, 0);
	assert_int_equal(t.rows[0].run_ns, 15);
	assert_int_equal(t.rows[0].first_run_ns, 15);
	assert_int_equal(t.rows[1].slot, 3);
	assert_int_equal(t.rows[1].window, 1);
	assert_int_equal(t.rows[1].first_run_ns, 3);
	assert_int_equal(t.rows[1].first_weight, 3);
	assert_int_equal(t.entry_map.count, 2);
	assert_int_equal(t.entries[1].samples, 2);
	assert_int_equal(t.entries[1].ns, 7);
	course_table_free(&t);
	profile_course_free(&c);
}

static void nothing_gets_lost(void **state)
{
	struct profile_course c = {0};
	struct course_table t;
	uint64_t ran = 0, weight = 0, samples = 0, modes = 0;

	(void)state;
	for (uint64_t i = 0; i < 5000; i++) {
		assert_int_equal(run(&c, 1 + i % 7, i * 3 * MS, i), 0);
		assert_int_equal(sample(&c, 1 + i % 7, i * 3 * MS + 1, 2 * i, 3 * i), 0);
	}
	assert_int_equal(course_table_make(&c, &grid, 100, &t), -E2BIG);
	assert_int_equal(t.row_map.count, 0);
	assert_int_equal(course_table_make(&c, &grid, 10000, &t), 0);
	for (uint32_t i = 0; i < t.row_map.count; i++)
		ran += t.rows[i].run_ns;
	for (uint32_t i = 0; i < t.entry_map.count; i++) {
		weight += t.entries[i].ns;
		samples += t.entries[i].samples;
	}
	for (uint32_t i = 0; i < t.sum_map.count; i++)
		modes += t.sums[i].kind == COURSE_MODE_NS ? t.sums[i].n : 0;
	assert_int_equal(ran, 3ull * 4999 * 5000 / 2);
	assert_int_equal(weight, ran);
	assert_int_equal(modes, ran);
	assert_int_equal(samples, 5000);
	course_table_free(&t);
	profile_course_free(&c);
}

static void too_many_are_given_up(void **state)
{
	struct profile_course c = {.steps_max = 10};

	(void)state;
	for (uint64_t i = 0; i < 20; i++)
		assert_int_equal(run(&c, 1, i, 1), 0);
	assert_true(c.full);
	assert_int_equal(c.count, 0);
	profile_course_free(&c);
}

static void no_memory(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n++) {
		struct profile_course c = {0};
		struct course_table t = {0};
		int err = 0;

		alloc_fail_at(n);
		for (uint64_t i = 0; i < 100 && !err; i++)
			err = sample(&c, i % 4, i * 2 * MS, 1000 + i, i);
		err = err ? err : course_table_make(&c, &grid, 1000, &t);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		course_table_free(&t);
		profile_course_free(&c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slots_end_with_windows),
		cmocka_unit_test(nothing_gets_lost),
		cmocka_unit_test(too_many_are_given_up),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
