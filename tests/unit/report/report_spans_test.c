/* The two reports on spans: what they say of a small log, and that they survive without memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyze/cells/cells.h"
#include "analyze/registry/analysis.h"
#include "analyze/stacks/stacks.h"
#include "log/read/names.h"
#include "report/model/report.h"
#include "report/model/sections/commands/spans_report.h"
#include "tests/unit/alloc_fail.h"

struct made {
	struct analysis *analysis;
	struct spans *spans;
	struct session_log log;
	struct report_input in;
};

static struct event text(uint16_t id, uint64_t number, unsigned field, const char *name)
{
	struct event e = {.id = id, .time_ns = 1, .thread = (uint32_t)number};

	e.v[0].u = number;
	e.v[field].s = name;
	return e;
}

static struct event mark(uint16_t id, uint64_t ns, uint32_t thread, uint64_t name, uint64_t cpu_ns)
{
	struct event e = {.id = id, .time_ns = ns, .thread = thread};

	if (id == EVENT_SPAN_BEGIN)
		e.v[SPAN_BEGIN_NAME].u = name;
	e.v[id == EVENT_SPAN_BEGIN ? SPAN_BEGIN_CPU_NS : SPAN_END_CPU_NS].u = cpu_ns;
	return e;
}

/* Of thread 1: an outer one with an inner one, for which it waits for thread 2; one is open. */
static int feed(struct made *m)
{
	const struct event events[] = {
		{.id = EVENT_THREAD, .time_ns = 1, .thread = 1, .v = {[THREAD_NAME].s = "waiter"}},
		{.id = EVENT_THREAD, .time_ns = 1, .thread = 2, .v = {[THREAD_NAME].s = "hol\x1b"}},
		text(EVENT_CLASS, 1, CLASS_NAME, "a.Table"),
		{.id = EVENT_LOCK,
		 .time_ns = 1,
		 .v = {[LOCK_LOCK].u = 1, [LOCK_CLASS].u = 1, [LOCK_GROUP].u = LOCK_GROUP_MONITOR}},
		text(EVENT_STRING, 1, STRING_TEXT, "outer"),
		text(EVENT_STRING, 2, STRING_TEXT, "in\nner"),
		mark(EVENT_SPAN_BEGIN, 1000, 1, 1, 0),
		mark(EVENT_SPAN_BEGIN, 2000, 1, 2, 1000),
		mark(EVENT_SPAN_END, 5000, 1, 0, 4000),
		mark(EVENT_SPAN_END, 9000, 1, 0, 8000),
		mark(EVENT_SPAN_BEGIN, 9500, 1, 1, 8500),
		{.id = EVENT_END, .time_ns = 10000},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events) && !err; i++) {
		err = analysis_add(m->analysis, &events[i]);
		if (!err)
			err = spans_add(m->spans, &events[i]);
		if (!err && events[i].id == EVENT_SPAN_END)
			spans_charge(m->spans, 1, 1, 2500, 4500, i % 2 ? 2 : HOLDER_HAND_OVER, 0);
	}
	if (!err)
		err = analysis_finish(m->analysis);
	return err ? err : spans_finish(m->spans, 10000);
}

static int make(struct made *m, const json_t *header)
{
	struct spans_options o = {.top = 5};

	*m = (struct made){.analysis = analysis_new()};
	if (!m->analysis)
		return -ENOMEM;
	o.names = analysis_names(m->analysis);
	m->spans = spans_new(&o);
	m->log = (struct session_log){.analysis = m->analysis, .header = header};
	m->in = (struct report_input){.log = &m->log, .top = 5};
	return m->spans ? feed(m) : -ENOMEM;
}

/* false: no allocation has failed. *ret: what was printed; NULL: it has failed. */
static bool report(unsigned long fail_at, bool as_json, const json_t *header, char **ret)
{
	struct made m;
	size_t size;
	FILE *out = open_memstream(ret, &size);
	bool failed;
	int err;

	assert_non_null(out);
	alloc_fail_at(fail_at);
	err = make(&m, header);
	if (!err)
		err = (as_json ? report_spans_json : report_spans_text)(&m.in, m.spans, out);
	failed = alloc_fail_off();
	fclose(out);
	spans_free(m.spans);
	analysis_free(m.analysis);
	assert_true(!err || (failed && err == -ENOMEM));
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return failed;
}

static char *whole(bool as_json, const json_t *header)
{
	unsigned long n = 0;
	char *wanted, *text;

	assert_false(report(UINT32_MAX, as_json, header, &wanted));
	for (; report(n, as_json, header, &text); n++) {
		assert_true(!text || !strcmp(text, wanted)); /* nothing is left out */
		free(text);
	}
	assert_true(n > 30);
	free(wanted);
	return text;
}

static json_t *header_new(void)
{
	json_t *header = json_pack("{sIsI}", "start_mono_ns", (json_int_t)1000, "start_wall_ns",
				   (json_int_t)86399999999999);

	assert_non_null(header);
	return header;
}

static void text_says_it(void **state)
{
	json_t *header = header_new();
	char *text = whole(false, header);

	(void)state;
	assert_non_null(strstr(text, "SPANS by name: 2\n"));
	assert_non_null(strstr(text, "within outer"));
	assert_non_null(strstr(text, "in\\nner"));
	assert_non_null(strstr(text, "a.Table #1, held by hol\\x1b in (unknown)"));
	assert_non_null(strstr(text, "NOT ENDED"));
	/* One microsecond after the last one of a day. */
	assert_non_null(strstr(text, "(23:59:59.999 UTC)"));
	assert_non_null(strstr(text, "(00:00:00.000 UTC)"));
	free(text);
	json_decref(header);
}

static void json_says_it(void **state)
{
	json_t *header = header_new(), *o, *names, *inner, *by;
	char *text = whole(true, header);

	(void)state;
	o = json_loads(text, 0, NULL);
	assert_non_null(o);
	names = json_object_get(o, "names");
	assert_int_equal(json_array_size(names), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(names, 0), "self_ns")),
			 5000);
	inner = json_array_get(json_object_get(o, "slowest"), 1);
	assert_string_equal(json_string_value(json_object_get(inner, "within")), "outer");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(inner, "states"), "running")),
		3000);
	by = json_object_get(inner, "blocked_by");
	assert_int_equal(json_array_size(by), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(by, 0), "holder")),
			    "hol\x1b");
	assert_true(json_is_null(
		json_object_get(json_array_get(json_object_get(o, "open"), 0), "states")));
	json_decref(o);
	free(text);
	json_decref(header);
}

/* Those in the same method are one; parks without a holder are none. */
static void blockers_are_put_together(void **state)
{
	const struct span_blockers b = {.by = {{1, 2, 0, 10},
					       {1, 3, 0, 20},
					       {1, 2, 99, 15},
					       {7, HOLDER_HAND_OVER, 0, 50},
					       {7, 2, 0, 5}},
					.count = 5};
	struct log_names *names = log_names_new();
	struct event park = {.id = EVENT_LOCK, .time_ns = 1};
	struct spans_row rows[SPAN_BLOCKERS_MAX];
	struct stacks *stacks;

	(void)state;
	park.v[LOCK_LOCK].u = 7;
	park.v[LOCK_GROUP].u = LOCK_GROUP_OTHER;
	assert_int_equal(log_names_add(names, &park), 0);
	stacks = stacks_new(names);
	assert_non_null(stacks);
	assert_int_equal(spans_rows(&b, stacks, rows), 3);
	assert_true(rows[0].holder == 2 && rows[0].ns == 25);
	assert_true(rows[1].holder == 3 && rows[1].ns == 20);
	assert_true(rows[2].lock == 7 && rows[2].ns == 5);
	stacks_free(stacks);
	log_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_says_it),
		cmocka_unit_test(json_says_it),
		cmocka_unit_test(blockers_are_put_together),
	};

	json_set_alloc_funcs(malloc, free); /* those that can fail */
	return cmocka_run_group_tests_name("report_spans", tests, NULL, NULL);
}
