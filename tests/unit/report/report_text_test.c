/* Reports on a small analysis with something for every section; then again with the nth allocation
 * failing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyze/registry/analysis.h"
#include "base/text/format.h"
#include "report/model/report.h"
#include "report/text/table.h"
#include "report/text/text_report.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/analyze/analyze_events.h"

static struct event named(uint16_t id, uint32_t thread, unsigned name_field, const char *name)
{
	struct event e = {.id = id, .time_ns = 1, .thread = thread};

	if (id != EVENT_THREAD)
		e.v[0].u = thread; /* the number that is defined */
	e.v[name_field].s = name;
	return e;
}

static struct event lock_of(uint64_t lock, uint64_t group, uint64_t class)
{
	struct event e = {.id = EVENT_LOCK, .time_ns = 1};

	e.v[LOCK_LOCK].u = lock;
	e.v[LOCK_GROUP].u = group;
	e.v[LOCK_CLASS].u = class;
	return e;
}

static struct event values(uint16_t id, uint64_t ns, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	return (struct event){.id = id, .time_ns = ns, .thread = 1, .v = {{a}, {b}, {c}, {d}}};
}

static struct event frame(uint64_t stack, uint64_t caller, uint64_t type, uint64_t method)
{
	struct event e = {.id = EVENT_STACK, .time_ns = 1};

	e.v[STACK_STACK].u = stack;
	e.v[STACK_CALLER].u = caller;
	e.v[STACK_FRAME].u = type;
	e.v[STACK_METHOD].u = method;
	e.v[STACK_LINE].u = stack;
	return e;
}

static struct event method_of(uint64_t method, const char *class, const char *name)
{
	struct event e = {.id = EVENT_METHOD, .time_ns = 1};

	e.v[METHOD_METHOD].u = method;
	e.v[METHOD_CLASS_NAME].s = class;
	e.v[METHOD_NAME].s = name;
	e.v[METHOD_SIGNATURE].s = "()V";
	e.v[METHOD_SOURCE].s = "Table.java";
	return e;
}

/* 0 or what analysis_add said. */
static int feed(struct analysis *a)
{
	const struct times some = {1000, 10, 10}, more = {1900, 20, 20};
	struct event note = {.id = EVENT_NOTE, .time_ns = 1};
	const struct event events[] = {
		named(EVENT_THREAD, 1, THREAD_NAME, "holder"),
		named(EVENT_THREAD, 2, THREAD_NAME, "waiter"),
		named(EVENT_THREAD, 3, THREAD_NAME, "waiter"),
		named(EVENT_CLASS, 1, CLASS_NAME, "java.util.Table"),
		named(EVENT_STRING, 1, STRING_TEXT, "G1CollectForAllocation"),
		named(EVENT_STRING, 2, STRING_TEXT, "G1 Old Gen"),
		lock_of(1, LOCK_GROUP_MONITOR, 1),
		lock_of(2, LOCK_GROUP_OTHER, 1),
		method_of(1, "Table", "get"),
		method_of(2, "java.util.concurrent.Lock", "lock"),
		frame(1, 0, FRAME_TYPE_BROKEN, 0),
		frame(2, 1, FRAME_TYPE_C1, 1),
		frame(3, 2, FRAME_TYPE_C2, 2),
		values(EVENT_CPU_SAMPLE, 10, 0, 0, 0, 0),
		at_stacks(enter(1000, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, some), 3, 2),
		enter(1100, 3, 1, 1, OWNER_SOURCE_JAVA_THREAD, some),
		entered(2000, 2, 1, some, 1, more),
		park(2100, 1, 2, 0, OWNER_SOURCE_UNKNOWN, some),
		parked(2200, 1, 2, some, 0, some),
		own(EVENT_MONITOR_WAIT_BEGIN, 2300, 1, 1, some),
		own(EVENT_MONITOR_WAIT_END, 2400, 1, 1, some),
		values(EVENT_SAFEPOINT_BEGIN, 3000, 0, 0, 0, 0),
		values(EVENT_VM_OPERATION_BEGIN, 3001, 1, 0, 0, 0),
		values(EVENT_GC_BEGIN, 3002, 1, 0, 0, 0),
		values(EVENT_GC_POOL, 3003, GC_MOMENT_BEFORE, 2, 2, 4096),
		values(EVENT_GC_POOL, 3004, GC_MOMENT_AFTER, 2, 2, 1024),
		values(EVENT_GC_END, 3005, 1, GC_KIND_YOUNG, 2, 0),
		values(EVENT_VM_OPERATION_END, 3006, 1, 0, 0, 0),
		values(EVENT_SAFEPOINT_END, 3007, 0, 0, 0, 0),
		values(EVENT_THREAD_SAMPLE, 4000, 900, 50, 50, 3000),
		values(EVENT_CPU_SAMPLE, 4000, 0, 60, 50, 10),
		values(EVENT_STACK_WALK, 4000, WALK_RESULT_COMPLETE, 5, 0, 0),
		values(EVENT_STACK_WALK, 4000, WALK_RESULT_READ_FAILED, 5, 0, 0),
		values(EVENT_LOST, 4000, EVENT_PARK_BEGIN, LOST_PLACE_RING_BUFFER, 3, 0),
		values(EVENT_END, 5000, END_REASON_DONE, 0, 0, 0),
	};
	int err = 0;

	note.v[NOTE_TEXT].s = "something to know";
	err = analysis_add(a, &note);
	for (size_t i = 0; i < sizeof(events) / sizeof(*events) && !err; i++)
		err = analysis_add(a, &events[i]);
	return err ? err : analysis_finish(a);
}

enum output {
	TEXT,
	JSON,
	BY_TEXT,
	BY_JSON,
	BY_CHAIN_TEXT,
	BY_CHAIN_JSON,
	CSV_THREADS,
	CSV_GC,
	CSV_CONTENTION,
	CSV_BY_CHAIN,
	OUTPUT_COUNT
};

static int print(const struct report_input *in, enum output output, FILE *out)
{
	static const enum aspect_id by[] = {ASPECT_GROUP, ASPECT_LOCK, ASPECT_OWNER_THREAD};
	static const enum aspect_id by_chain[] = {ASPECT_WAITER_STACK, ASPECT_OWNER_METHOD,
						  ASPECT_OWNER_THREAD};

	switch (output) {
	case TEXT:
		return report_text(in, out);
	case JSON:
		return report_json(in, out);
	case BY_TEXT:
		return report_by_text(in, by, 3, out);
	case BY_JSON:
		return report_by_json(in, by, 3, out);
	case CSV_THREADS:
		return report_csv(in, "threads", NULL, 0, out);
	case CSV_GC:
		return report_csv(in, "gc", NULL, 0, out);
	case CSV_CONTENTION:
		return report_csv(in, "contention", NULL, 0, out);
	case CSV_BY_CHAIN:
		return report_csv(in, "contention", by_chain, 3, out);
	case BY_CHAIN_TEXT:
		return report_by_text(in, by_chain, 3, out);
	default:
		return report_by_json(in, by_chain, 3, out);
	}
}

/* The whole way, with the nth allocation failing; true when there was no nth. *ret: what was
 * printed; NULL: it has failed. */
static bool report(enum output output, unsigned long fail_at, json_t *header, char **ret)
{
	struct session_log log = {.header = header};
	const struct report_input in = {.log = &log, .top = 10};
	struct analysis *a;
	size_t size;
	FILE *out = open_memstream(ret, &size);
	bool failed;
	int err;

	assert_non_null(out);
	alloc_fail_at(fail_at);
	a = analysis_new();
	err = a ? feed(a) : -ENOMEM;
	log.analysis = a;
	if (!err)
		err = print(&in, output, out);
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

static void reports_survive_without_memory(void **state)
{
	json_t *header = json_pack("{s{ss}s{si}}", "sources", "monitor", "on", "jvm", "pid", 1);

	(void)state;
	assert_non_null(header);
	for (int output = 0; output < OUTPUT_COUNT; output++) {
		unsigned long n = 0;
		char *text, *whole;

		assert_true(report(output, UINT32_MAX, header, &whole));
		for (; !report(output, n, header, &text); n++) {
			assert_true(!text || !strcmp(text, whole)); /* nothing is left out */
			free(text);
		}
		assert_true(n > 20);
		assert_string_equal(text, whole);
		assert_non_null(strstr(text, output == CSV_GC ? "G1CollectForAllocation" : "holder"));
		free(text);
		free(whole);
	}
	json_decref(header);
}

/* A log without any of the header's objects, and without an event. */
static void reports_on_nothing(void **state)
{
	json_t *header = json_object();
	struct session_log log = {.header = header};
	const struct report_input in = {.log = &log, .top = 10};
	struct analysis *a = analysis_new();
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_int_equal(analysis_finish(a), 0);
	log.analysis = a;
	for (int output = 0; output < OUTPUT_COUNT; output++)
		assert_int_equal(print(&in, output, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "CONTENDED LOCKS: none"));
	free(text);
	analysis_free(a);
	json_decref(header);
}

static void json_says_what_text_says(void **state)
{
	json_t *header = json_object(), *o, *group;
	char *text;

	(void)state;
	assert_true(report(JSON, UINT32_MAX, header, &text));
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	group = json_array_get(json_object_get(json_object_get(o, "contention"), "groups"), 0);
	assert_int_equal(json_integer_value(json_object_get(group, "count")), 1);
	assert_int_equal(json_integer_value(json_object_get(group, "blocked_ns")), 1000);
	assert_string_equal(json_string_value(json_array_get(json_object_get(group, "key"), 0)),
			    "java.util.Table");
	assert_int_equal(json_integer_value(json_object_get(json_object_get(o, "lost"), "total")),
			 3);
	json_decref(o);
	free(text);
	json_decref(header);
}

static void formats(void **state)
{
	char buf[FORMAT_MAX];

	(void)state;
	assert_string_equal(count_format(0, buf), "0");
	assert_string_equal(count_format(999, buf), "999");
	assert_string_equal(count_format(1234567, buf), "1,234,567");
	assert_string_equal(count_format(UINT64_MAX, buf), "18,446,744,073,709,551,615");
	assert_string_equal(share_format(0, 0, buf), "-");
	assert_string_equal(share_format(0, 5, buf), "0 %");
	assert_string_equal(share_format(5, 5, buf), "100 %");
	assert_string_equal(share_format(1, 100000, buf), "<0.1 %");
	assert_string_equal(share_format(99999, 100000, buf), ">99.9 %");
	assert_string_equal(share_format(1, 8, buf), "12.5 %");
	assert_string_equal(share_round(934, 1000, buf), "93 %");
	assert_string_equal(share_round(1, 1000, buf), "<1 %");
	assert_string_equal(mean_format(10, 0, buf), "-");
	assert_string_equal(time_format(0, buf), "0");
}

static void tables_line_up(void **state)
{
	static const struct table_column columns[] = {{"name", true, 0, 8, false},
						      {"class", true, 0, 8, true},
						      {"n", false, 3, 0, false}};
	struct table *t = table_new(columns, 3);
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	table_add(t, "%s", "\xc3\xa4\xc3\xb6");
	table_add(t, "%s", "java.lang.Object");
	table_add(t, "%d", 5);
	table_add(t, "%s", "a long name");
	table_add(t, "%s", "x");
	table_add(t, "%s", "");
	assert_int_equal(table_print(t, 1, out), 0);
	fclose(out);
	assert_string_equal(text, " name      class       n\n"
				  " \xc3\xa4\xc3\xb6        ...bject    5\n"
				  " a lon...  x\n");
	free(text);
	table_free(t);
}

/* "name" and 400 words, which take more than LABEL_MAX. */
static void a_line_is_whole(void **state)
{
	char words[400 * 5 + 1] = "", *text, *at;
	unsigned count = 0;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	struct text t = {.out = out};

	(void)state;
	for (int i = 0; i < 400; i++)
		snprintf(words + strlen(words), sizeof(words) - strlen(words), " w%03d", i);
	text_line_whole(&t, "nothing", "");
	text_line_whole(&t, "name", words);
	fclose(out);
	assert_ptr_equal(strstr(text, "  name       w000 w001"), text);
	for (at = strtok(text + 7, " \n"); at; at = strtok(NULL, " \n"), count++)
		assert_int_equal(atoi(at + 1), count);
	assert_int_equal(count, 400);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reports_survive_without_memory),
		cmocka_unit_test(reports_on_nothing),
		cmocka_unit_test(json_says_what_text_says),
		cmocka_unit_test(formats),
		cmocka_unit_test(tables_line_up),
		cmocka_unit_test(a_line_is_whole),
	};

	json_set_alloc_funcs(malloc, free); /* those that can fail */
	return cmocka_run_group_tests_name("report_text", tests, NULL, NULL);
}
