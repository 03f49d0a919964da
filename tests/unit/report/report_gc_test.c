/* spoor gc's outputs: what they say of a small log, and that nothing is left out without memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyze/registry/analysis.h"
#include "log/read/names.h"
#include "report/model/report.h"
#include "report/model/sections/commands/gc_report.h"
#include "tests/unit/alloc_fail.h"

#define SECOND 1000000000ull
#define MEGABYTE 1048576ull

enum { OPERATION = 1, MANAGER, EDEN, OLD, STRINGS };

struct made {
	struct analysis *analysis;
	struct gc_series *series;
	struct session_log log;
	struct report_input report;
	struct gc_input in;
};

static int add(struct made *m, const struct event *e)
{
	int err = analysis_add(m->analysis, e);

	return err ? err : gc_series_add(m->series, e);
}

static int pool(struct made *m, uint64_t ns, uint64_t moment, uint64_t pool, uint64_t megabytes)
{
	struct event e = {.id = EVENT_GC_POOL, .time_ns = ns, .thread = 1};

	e.v[GC_POOL_MOMENT].u = moment;
	e.v[GC_POOL_MANAGER].u = MANAGER;
	e.v[GC_POOL_POOL].u = pool;
	e.v[GC_POOL_USED_BYTES].u = megabytes * MEGABYTE;
	e.v[GC_POOL_MAX_BYTES].u = 100 * MEGABYTE;
	return add(m, &e);
}

static int pause_add(struct made *m, uint64_t ns, uint64_t before, uint64_t after)
{
	struct event e = {.id = EVENT_GC_BEGIN, .time_ns = ns, .thread = 1};
	int err;

	e.v[GC_BEGIN_OPERATION].u = OPERATION;
	err = add(m, &e);
	if (!err)
		err = pool(m, ns + 1, GC_MOMENT_BEFORE, EDEN, 20);
	if (!err)
		err = pool(m, ns + 2, GC_MOMENT_BEFORE, OLD, before);
	if (!err)
		err = pool(m, ns + 3, GC_MOMENT_AFTER, EDEN, 0);
	if (!err)
		err = pool(m, ns + 4, GC_MOMENT_AFTER, OLD, after);
	e = (struct event){.id = EVENT_GC_END, .time_ns = ns + 5000000, .thread = 1};
	e.v[GC_END_KIND].u = GC_KIND_FULL;
	e.v[GC_END_COLLECTOR].u = MANAGER;
	return err ? err : add(m, &e);
}

/* Four full collections, a second between them; each leaves 10 MB more. */
static int feed(struct made *m)
{
	static const char *const texts[STRINGS] = {"", "GenCollectFull", "Mark\x1bSweep",
						   "Eden Space", "Tenured Gen"};
	struct event e = {.id = EVENT_END, .time_ns = 6 * SECOND};
	int err = 0;

	for (uint64_t i = 1; i < STRINGS && !err; i++) {
		struct event s = {.id = EVENT_STRING, .time_ns = SECOND};

		s.v[STRING_STRING].u = i;
		s.v[STRING_TEXT].s = texts[i];
		err = add(m, &s);
	}
	for (uint64_t i = 0; i < 4 && !err; i++)
		err = pause_add(m, (i + 2) * SECOND, 30 + 10 * i, 20 + 10 * i);
	if (!err)
		err = add(m, &e);
	return err ? err : analysis_finish(m->analysis);
}

static int make(struct made *m, const json_t *header, bool ascii)
{
	int err;

	*m = (struct made){.analysis = analysis_new()};
	m->series = m->analysis ? gc_series_new(analysis_names(m->analysis), 0) : NULL;
	if (!m->series)
		return -ENOMEM;
	m->log = (struct session_log){.analysis = m->analysis, .header = header};
	m->report = (struct report_input){.log = &m->log, .top = 2};
	m->in = (struct gc_input){.in = &m->report,
				  .series = m->series,
				  .start_ns = SECOND,
				  .pauses = true,
				  .ascii = ascii,
				  .width = 40};
	err = feed(m);
	if (!err)
		gc_series_finish(m->series);
	return err;
}

typedef int print_report(const struct gc_input *in, FILE *out);

/* false: no allocation has failed. *ret: what was printed; NULL: it has failed. */
static bool report(unsigned long fail_at, print_report *print, bool ascii, char **ret)
{
	json_t *header = json_pack("{sI}", "start_mono_ns", (json_int_t)SECOND);
	struct made m;
	size_t size;
	FILE *out = open_memstream(ret, &size);
	bool failed;
	int err;

	assert_non_null(out);
	assert_non_null(header);
	alloc_fail_at(fail_at);
	err = make(&m, header, ascii);
	if (!err)
		err = print(&m.in, out);
	failed = alloc_fail_off();
	fclose(out);
	gc_series_free(m.series);
	analysis_free(m.analysis);
	json_decref(header);
	assert_true(!err || (failed && err == -ENOMEM));
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return failed;
}

static char *whole(print_report *print)
{
	unsigned long n = 0;
	char *wanted, *text;

	assert_false(report(UINT32_MAX, print, true, &wanted));
	for (; report(n, print, true, &text); n++) {
		assert_true(!text || !strcmp(text, wanted)); /* nothing is left out */
		free(text);
	}
	assert_true(n > 20);
	free(wanted);
	return text;
}

static void text_says_it(void **state)
{
	char *text = whole(report_gc_text);

	(void)state;
	assert_non_null(strstr(text, "=> 4 pauses of collections took 20.0 ms, 0.4 % of the time"));
	assert_non_null(strstr(
		text, "in the heap grows: 20.0 MiB -> 50.0 MiB in 3.00 s (+600 MiB/min, limit"));
	assert_non_null(strstr(text, "Full about 14.0 s after the end")); /* 15 s after the last */
	assert_non_null(strstr(text, "PAUSES, the longest: p50 5.00 ms"));
	assert_non_null(strstr(text, "50.0 MiB -> 20.0 MiB  30.0 MiB"));
	assert_non_null(strstr(text, "causes: a stock JVM's probes do not have them"));
	assert_null(strstr(text, "Mark"));
	free(text);
}

static void a_chart_is_as_wide_as_the_terminal(void **state)
{
	char *text, *line;

	(void)state;
	assert_false(report(UINT32_MAX, report_gc_text, true, &text));
	line = strstr(text, "         0 +----");
	assert_non_null(line);
	assert_int_equal(strcspn(line, "\n"), 40);
	for (const char *c = strstr(text, "HEAP"); c < line; c++)
		assert_true(*c > 0); /* ASCII */
	free(text);
	assert_false(report(UINT32_MAX, report_gc_text, false, &text));
	assert_non_null(strstr(text, "\u2588 after"));
	assert_non_null(strstr(text, "\u2502"));
	free(text);
}

static void json_says_it(void **state)
{
	char *text = whole(report_gc_json);
	json_t *o = json_loads(text, 0, NULL), *trend, *row;

	(void)state;
	assert_non_null(o);
	trend = json_object_get(o, "trend");
	assert_string_equal(json_string_value(json_object_get(trend, "basis")), "after_old");
	assert_int_equal(json_integer_value(json_object_get(trend, "bytes_per_min")),
			 600 * MEGABYTE);
	assert_int_equal(json_integer_value(json_object_get(trend, "full_after_ns")), 15 * SECOND);
	assert_int_equal(json_array_size(json_object_get(o, "collections")), 4);
	assert_int_equal(json_array_size(json_object_get(o, "each_pause")), 4);
	row = json_array_get(json_object_get(o, "each_pause"), 3);
	assert_int_equal(json_integer_value(json_object_get(row, "at_ns")), 4 * SECOND);
	assert_int_equal(json_integer_value(json_object_get(row, "freed_bytes")), 30 * MEGABYTE);
	assert_string_equal(json_string_value(json_object_get(row, "cause")), "asked for");
	assert_true(json_is_null(json_object_get(row, "survivor_bytes")));
	json_decref(o);
	free(text);
}

static void csv_says_it(void **state)
{
	char *text = whole(report_gc_csv);
	unsigned lines = 0;

	(void)state;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	assert_int_equal(lines, 5);
	assert_int_equal(strncmp(text, "at_ns,", 6), 0);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_says_it),
		cmocka_unit_test(a_chart_is_as_wide_as_the_terminal),
		cmocka_unit_test(json_says_it),
		cmocka_unit_test(csv_says_it),
	};

	json_set_alloc_funcs(malloc, free); /* those that can fail */
	return cmocka_run_group_tests_name("report_gc", tests, NULL, NULL);
}
