/* An audit of stolen time as text, JSON and CSV; then again with the nth allocation failing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "report/steal/steal_report.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull

static struct steal_cpu_use cpus[] = {{0, 40 * MS, 900 * MS, 60 * MS}, {1, 3 * MS, 520 * MS, 477 * MS}};

/* Of another pid namespace; of one that ended; of many that did. */
static struct steal_use threads[] = {
	{.tid = -8, .pid = -7, .start_ticks = 9, .cpu_ns = 200 * MS, .stolen_ns = {40 * MS, 6 * MS}, .comm = "worker"},
	{.tid = 0, .pid = 4711, .cpu_ns = 20 * MS, .stolen_ns = {3 * MS, MS}, .comm = "java"},
	{.tid = STEAL_TID_FOLDED, .cpu_ns = 10 * MS, .comm = ""},
};

static const struct steal_theft longest[] = {
	{.time_ns = 500 * MS, .ns = 30 * MS, .cpu = 1, .tid = -8, .pid = -7, .comm = "worker"},
	{.time_ns = 700 * MS, .ns = 10 * MS, .cpu = 0},
};

static int write_all(enum steal_format format, size_t top, FILE *out)
{
	static const struct steal_source source = {
		.name = "sched", .clock = "rq_clock", .resolution_ns = 1, .cpu_resolution_ns = 1, .exact = true};
	const struct steal_report r = {.out = out,
				       .format = format,
				       .source = &source,
				       .other = &source,
				       .method = STEAL_EXACT,
				       .both = true,
				       .replayed = "samples",
				       .interval_ns = 1000 * MS,
				       .threshold_ppm = UINT64_MAX,
				       .top = top};
	const struct steal_span s = {.from_ns = 0,
				     .to_ns = 1000 * MS,
				     .cpus = cpus,
				     .cpu_count = 2,
				     .threads = threads,
				     .thread_count = 3,
				     .stolen_ns = 43 * MS,
				     .busy_ns = 1420 * MS,
				     .idle_ns = 537 * MS,
				     .threads_ns = {43 * MS, 7 * MS},
				     .exact = true};
	const struct steal_top top_rows[] = {
		{.to_ns = 500 * MS,
		 .stolen_ns = 40 * MS,
		 .wanted_ns = 400 * MS,
		 .victim = threads[0]},
		{.from_ns = 500 * MS, .to_ns = 1000 * MS, .stolen_ns = MS, .wanted_ns = 100 * MS}};
	struct steal_thefts thefts = {.longest = longest, .longest_count = 2};
	const struct steal_error error = {
		.exact_ns = 43 * MS, .proportional_ns = 7 * MS, .threads = 1, .top = threads[0]};
	const struct steal_report_total t = {.span = &s,
					     .intervals = 1,
					     .top = top_rows,
					     .top_count = 2,
					     .thefts = &thefts,
					     .error = &error};
	int err;

	thefts.counts[24] = 2;
	thefts.counts[STEAL_SLOTS - 1] = 1;
	err = steal_report_begin(&r);
	if (!err)
		err = steal_report_interval(&r, &s, false);
	return err ? err : steal_report_end(&r, &t);
}

/* true when there was no nth allocation. *ret: what was written; NULL: that has failed. */
static bool report(enum steal_format format, size_t top, unsigned long fail_at, char **ret)
{
	size_t size;
	FILE *out = open_memstream(ret, &size);
	bool failed;
	int err;

	assert_non_null(out);
	alloc_fail_at(fail_at);
	err = write_all(format, top, out);
	failed = alloc_fail_off();
	fclose(out);
	assert_true(!err || (failed && err == -ENOMEM));
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return !failed;
}

static void all_survive_without_memory(void **state)
{
	(void)state;
	for (int format = 0; format < STEAL_FORMAT_COUNT; format++) {
		unsigned long n = 0;
		char *text, *whole;

		assert_true(report(format, 15, UINT32_MAX, &whole));
		for (; !report(format, 15, n, &text); n++) {
			assert_true(!text || !strcmp(text, whole)); /* nothing is left out */
			free(text);
		}
		assert_true(n > 5);
		assert_string_equal(text, whole);
		free(text);
		free(whole);
	}
}

static void numbers_of_another_namespace_are_negative(void **state)
{
	json_t *o, *one;
	char *text, *total;

	(void)state;
	assert_true(report(STEAL_JSON, 15, UINT32_MAX, &text));
	total = strstr(text, "{\"what\":\"total\"");
	assert_non_null(total);
	o = json_loads(total, 0, NULL);
	assert_non_null(o);
	one = json_array_get(json_object_get(o, "threads"), 0);
	assert_int_equal(json_integer_value(json_object_get(one, "tid")), -8);
	assert_int_equal(json_integer_value(json_object_get(one, "pid")), -7);
	one = json_array_get(json_object_get(o, "threads"), 2);
	assert_string_equal(json_string_value(json_object_get(one, "kind")), "folded");
	assert_null(json_object_get(one, "tid"));
	one = json_array_get(json_object_get(o, "worst_intervals"), 1);
	assert_null(json_object_get(one, "most_from")); /* nobody */
	json_decref(o);
	free(text);
	assert_true(report(STEAL_CSV, 15, UINT32_MAX, &text));
	assert_non_null(strstr(text, "\ntotal,0,1000000000,thread,,"
				     "-7,-8,9,worker,240000000,40000000,200000000,6000000,,\n"));
	assert_non_null(strstr(text, "\ntotal,0,1000000000,folded,,,,,,10000000,0,10000000,0,,\n"));
	free(text);
}

static void text_says_what_top_leaves_out(void **state)
{
	char *text;

	(void)state;
	assert_true(report(STEAL_TEXT, 1, UINT32_MAX, &text));
	assert_non_null(strstr(text, "  and 2 more threads (--top shows more)\n"));
	assert_non_null(strstr(text, "  and 1 more intervals (--top shows more)\n"));
	assert_non_null(strstr(text, "  and 1 more thefts (--top shows more)\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_survive_without_memory),
		cmocka_unit_test(numbers_of_another_namespace_are_negative),
		cmocka_unit_test(text_says_what_top_leaves_out),
	};

	json_set_alloc_funcs(malloc, free); /* those that can fail */
	return cmocka_run_group_tests_name("steal_tables", tests, NULL, NULL);
}
