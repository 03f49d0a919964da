/* The course over time and the wall clock table on a small analysis; then again with the nth
 * allocation failing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/registry/analysis.h"
#include "report/model/report.h"
#include "report/model/sections/commands/time_report.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull

static struct event named(uint32_t thread, uint64_t java_id, const char *name)
{
	struct event e = {.id = EVENT_THREAD, .time_ns = 1000 * MS, .thread = thread};

	e.v[THREAD_TID].u = 100 + thread;
	e.v[THREAD_JAVA_ID].u = java_id;
	e.v[THREAD_NAME].s = name;
	return e;
}

static struct event sample(uint64_t ms, uint32_t thread, uint64_t running, uint64_t lock,
			   uint64_t other)
{
	struct event e = {.id = EVENT_THREAD_SAMPLE,
			  .time_ns = ms * MS,
			  .thread = thread,
			  .field_count = THREAD_SAMPLE_FIELD_COUNT};

	e.v[THREAD_SAMPLE_CPU_NS].u = running * MS;
	e.v[THREAD_SAMPLE_BLOCKED_NS].u = (lock + other) * MS;
	e.v[THREAD_SAMPLE_LOCK_NS].u = lock * MS;
	return e;
}

static int feed(struct analysis *a)
{
	const struct event events[] = {
		named(1, 1, "main"),
		named(2, 12, "pool-1-thread-1"),
		named(3, 13, "pool-1-thread-2"),
		named(4, 0, "GC Thread#0"),
		sample(2000, 1, 0, 0, 1000),
		sample(2000, 2, 600, 400, 0),
		sample(2000, 3, 400, 600, 0),
		sample(2000, 4, 100, 0, 900),
		sample(3000, 1, 0, 0, 2000),
		sample(3000, 2, 600, 1400, 0),
		sample(3000, 3, 1400, 600, 0),
		sample(3000, 4, 100, 0, 1900),
		{.id = EVENT_END, .time_ns = 3000 * MS},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events) && !err; i++)
		err = analysis_add(a, &events[i]);
	return err ? err : analysis_finish(a);
}

enum output { TEXT, JSON, CSV, REPORT, OUTPUT_COUNT };

static int print(const struct report_input *in, enum wall_by by, enum output output, FILE *out)
{
	const struct time_input time = {.in = in, .by = by, .start_ns = 1000 * MS};

	switch (output) {
	case TEXT:
		return report_time_text(&time, out);
	case JSON:
		return report_time_json(&time, out);
	case CSV:
		return report_time_csv(&time, out);
	default:
		return report_text(in, out);
	}
}

/* The whole way; true when no allocation failed. *ret: what was printed, to be freed; NULL: it
 * has failed. */
static bool run(enum wall_by by, enum output output, unsigned top, unsigned long fail_at,
		const json_t *header, char **ret)
{
	const struct state_options course = {.from_ns = 1000 * MS,
					     .to_ns = UINT64_MAX,
					     .window_ns = 1000 * MS,
					     .from_begin = true};
	struct session_log log = {.header = header};
	const struct report_input in = {.log = &log, .top = top};
	struct analysis *a;
	size_t size;
	FILE *out = open_memstream(ret, &size);
	bool failed;
	int err;

	assert_non_null(out);
	alloc_fail_at(fail_at);
	a = analysis_new();
	if (a)
		analysis_set_state_windows(a, &course);
	err = a ? feed(a) : -ENOMEM;
	log.analysis = a;
	if (!err)
		err = print(&in, by, output, out);
	failed = alloc_fail_off();
	fclose(out);
	analysis_free(a);
	assert_true(!err || (failed && err == -ENOMEM));
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return !failed;
}

static void survives_without_memory(void **state)
{
	json_t *header = json_object();

	(void)state;
	for (int output = 0; output < OUTPUT_COUNT; output++) {
		for (int by = 0; by < WALL_BY_COUNT; by++) {
			unsigned long n = 0;
			char *text, *whole;

			assert_true(run(by, output, 2, UINT32_MAX, header, &whole));
			/* What it prints is whole, or it says that it is not. */
			for (; !run(by, output, 2, n, header, &text); n++) {
				assert_true(!text || !strcmp(text, whole));
				free(text);
			}
			assert_string_equal(text, whole);
			assert_true(n > 20);
			free(text);
			free(whole);
		}
	}
	json_decref(header);
}

static json_t *json_of(enum wall_by by, unsigned top, const json_t *header)
{
	json_t *o;
	char *text;

	assert_true(run(by, JSON, top, UINT32_MAX, header, &text));
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	free(text);
	return o;
}

static void assert_row(const json_t *o, size_t i, const char *name, int threads, int64_t running_ms,
		       int64_t second_lock_ms)
{
	const json_t *row = json_array_get(json_object_get(o, "rows"), i);
	const json_t *second = json_array_get(json_object_get(row, "windows"), 1);

	assert_non_null(row);
	assert_string_equal(json_string_value(json_object_get(row, "name")), name);
	assert_int_equal(json_integer_value(json_object_get(row, "threads")), threads);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(row, "states"), "running_ns")),
		running_ms * (int64_t)MS);
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(second, "states"), "lock_ns")),
		second_lock_ms * (int64_t)MS);
}

static void rows_by_thread_pool_and_group(void **state)
{
	json_t *header = json_object(), *o;

	(void)state;
	o = json_of(WALL_BY_POOL, 0, header);
	assert_int_equal(json_array_size(json_object_get(o, "rows")), 3);
	assert_row(o, 0, "pool-1-thread-*", 2, 2000, 1000);
	assert_row(o, 1, "main", 1, 0, 0);
	assert_row(o, 2, "GC Thread#0", 1, 100, 0);
	json_decref(o);
	o = json_of(WALL_BY_GROUP, 0, header);
	assert_int_equal(json_array_size(json_object_get(o, "rows")), 2);
	assert_row(o, 0, "java", 3, 2000, 1000);
	assert_row(o, 1, "gc", 1, 100, 0);
	json_decref(o);
	o = json_of(WALL_BY_THREAD, 1, header);
	assert_int_equal(json_array_size(json_object_get(o, "rows")), 2);
	assert_row(o, 0, "pool-1-thread-1", 1, 600, 1000);
	assert_int_equal(json_integer_value(json_object_get(
				 json_array_get(json_object_get(o, "rows"), 1), "more")),
			 3);
	json_decref(o);
	json_decref(header);
}

static void bars_and_shares(void **state)
{
	json_t *header = json_object();
	char *text;

	(void)state;
	assert_true(run(WALL_BY_POOL, TEXT, 1, UINT32_MAX, header, &text));
	assert_non_null(strstr(text, "RRRRRRRRRRRRRRRRRRRRLLLLLLLLLLLLLLLLLLLL"));
	assert_non_null(strstr(text, "pool-1-thread-*"));
	assert_non_null(strstr(text, "(2 more)"));
	assert_null(strchr(text, '~'));
	free(text);
	json_decref(header);
}

/* The most letters of states in a row, which are a bar wherever one is. */
static size_t longest_bar(const char *text)
{
	size_t longest = 0;

	while (*(text += strcspn(text, "RSQTLWPZIX."))) {
		size_t letters = strspn(text, "RSQTLWPZIX.");

		longest = letters > longest ? letters : longest;
		text += letters;
	}
	return longest;
}

/* Counters may be anything up to 2^64 - 1: their sum is more than that, and each bar has 40 letters.
 */
static void shares_of_any_counters(void **state)
{
	static const uint64_t values[] = {0,         1, 3000, INT64_MAX, (uint64_t)INT64_MAX + 1,
					  UINT64_MAX};
	enum { VALUES = sizeof(values) / sizeof(*values) };
	json_t *header = json_object();

	(void)state;
	for (unsigned n = 0; n < VALUES * VALUES * VALUES; n++) {
		struct event samples[] = {sample(1000, 1, 0, 0, 0), sample(2000, 1, 0, 0, 0)};
		struct analysis *a = analysis_new();
		const struct session_log log = {.header = header, .analysis = a};
		const struct report_input in = {.log = &log, .top = 5};
		const struct state_options course = {
			.from_ns = 1000 * MS, .to_ns = UINT64_MAX, .window_ns = 1000 * MS};
		struct event thread = named(1, 1, "t1");

		samples[1].v[THREAD_SAMPLE_CPU_NS].u = values[n % VALUES];
		samples[1].v[THREAD_SAMPLE_RUNNABLE_NS].u = values[n / VALUES % VALUES];
		samples[1].v[THREAD_SAMPLE_BLOCKED_NS].u = values[n / VALUES / VALUES];
		samples[1].v[THREAD_SAMPLE_LOCK_NS].u = values[n % 5];
		samples[1].v[THREAD_SAMPLE_IO_NS].u = values[n % 4];
		analysis_set_state_windows(a, &course);
		assert_int_equal(analysis_add(a, &thread), 0);
		assert_int_equal(analysis_add(a, &samples[0]), 0);
		assert_int_equal(analysis_add(a, &samples[1]), 0);
		assert_int_equal(analysis_finish(a), 0);
		for (int by = 0; by < WALL_BY_COUNT; by++) {
			size_t size;
			char *text;
			FILE *out = open_memstream(&text, &size);

			assert_int_equal(print(&in, by, TEXT, out), 0);
			fclose(out);
			if (samples[1].v[THREAD_SAMPLE_CPU_NS].u)
				assert_int_equal(longest_bar(text), 40);
			else
				assert_in_range(longest_bar(text), 0, 40);
			free(text);
		}
		analysis_free(a);
	}
	json_decref(header);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(survives_without_memory),
		cmocka_unit_test(rows_by_thread_pool_and_group),
		cmocka_unit_test(bars_and_shares),
		cmocka_unit_test(shares_of_any_counters),
	};

	json_set_alloc_funcs(malloc, free); /* those that can fail */
	return cmocka_run_group_tests_name("report_time", tests, NULL, NULL);
}
