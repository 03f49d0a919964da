/* The page's parts about states, stolen time and objects: what CPUs lost between samples, what is
 * written of it, also without memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <jansson.h>

#include "analyze/registry/analysis.h"
#include "log/format/event.h"
#include "report/model/report.h"
#include "report/model/sections/sections.h"
#include "report/web/page.h"
#include "report/web/parts/page_objects.h"
#include "report/web/parts/page_states.h"
#include "session/time_range.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull
#define BEGIN_NS (1000 * MS)

static struct event cpu(uint64_t ns, uint64_t number, uint64_t clock_ns, uint64_t jvm_ns,
			uint64_t ticks)
{
	return (struct event){.id = EVENT_CPU_SAMPLE,
			      .time_ns = ns,
			      .v = {[CPU_SAMPLE_CPU].u = number,
				    [CPU_SAMPLE_CLOCK_NS].u = clock_ns,
				    [CPU_SAMPLE_JVM_STOLEN_NS].u = jvm_ns,
				    [CPU_SAMPLE_OTHER_STOLEN_NS].u = 2 * jvm_ns,
				    [CPU_SAMPLE_IDLE_STOLEN_NS].u = 3 * jvm_ns,
				    [CPU_SAMPLE_STAT_STEAL].u = ticks}};
}

static void feed(struct page_states *p, const struct event *e)
{
	assert_int_equal(page_states_event(p, e), 0);
}

static void assert_step(const struct page_cpu_step *s, uint64_t ns, uint64_t stolen_ns,
			uint64_t jvm_ns, uint64_t ticks)
{
	assert_int_equal(s->time_ns, ns);
	assert_int_equal(s->stolen_ns, stolen_ns);
	assert_int_equal(s->jvm_ns, jvm_ns);
	assert_int_equal(s->other_ns, 2 * jvm_ns);
	assert_int_equal(s->idle_ns, 3 * jvm_ns);
	assert_int_equal(s->ticks, ticks);
}

static void each_cpu_has_its_own_counters(void **state)
{
	const struct event events[] = {cpu(1, 0, 100, 10, 5), cpu(2, 7, 900, 90, 50),
				       cpu(3, 0, 130, 14, 6), cpu(4, 7, 901, 91, 50)};
	struct page_states p = {0};

	(void)state;
	for (size_t i = 0; i < 4; i++)
		feed(&p, &events[i]);
	feed(&p, &(struct event){.id = EVENT_THREAD_SAMPLE, .time_ns = 5});
	assert_int_equal(p.count, 2);
	assert_step(&p.steps[0], 3, 30, 4, 1);
	assert_step(&p.steps[1], 4, 1, 1, 0);
	page_states_free(&p);
}

/* What a CPU lost within a hole is not known, and a counter that falls has not grown. */
static void a_hole_breaks_the_steps(void **state)
{
	const struct event before = cpu(1, 0, 100, 10, 5), after = cpu(9, 0, 500, 50, 9),
			   next = cpu(10, 0, 507, 53, 9), fallen = cpu(11, 0, 3, 54, 2);
	struct page_states p = {0};

	(void)state;
	feed(&p, &before);
	page_states_hole(&p);
	feed(&p, &after);
	assert_int_equal(p.count, 0);
	feed(&p, &next);
	feed(&p, &fallen);
	assert_int_equal(p.count, 2);
	assert_step(&p.steps[0], 10, 7, 3, 0);
	assert_step(&p.steps[1], 11, 0, 1, 0);
	page_states_free(&p);
}

static void steps_are_bounded(void **state)
{
	struct page_states p = {0};

	(void)state;
	for (uint64_t i = 0; i <= PAGE_CPU_STEPS_MAX; i++) {
		const struct event e = cpu(i, 0, i, i, i);

		feed(&p, &e);
	}
	assert_int_equal(p.count, PAGE_CPU_STEPS_MAX);
	assert_false(p.full);
	feed(&p, &(struct event){.id = EVENT_CPU_SAMPLE, .time_ns = PAGE_CPU_STEPS_MAX + 1});
	assert_int_equal(p.count, PAGE_CPU_STEPS_MAX);
	assert_true(p.full);
	page_states_free(&p);
}

static struct event thread_at(uint64_t ns, uint64_t cpu_ns, uint64_t runnable_ns)
{
	return (struct event){.id = EVENT_THREAD_SAMPLE,
			      .time_ns = ns,
			      .thread = 1,
			      .v = {[THREAD_SAMPLE_CPU_NS].u = cpu_ns,
				    [THREAD_SAMPLE_RUNNABLE_NS].u = runnable_ns}};
}

/* A thread that runs half of the time, and a CPU that loses 5 ms. */
static int run(struct analysis *a, struct page_states *p)
{
	const struct event events[] = {
		{.id = EVENT_THREAD,
		 .time_ns = BEGIN_NS,
		 .thread = 1,
		 .v = {[THREAD_NAME].s = "a\"\x1b"}},
		thread_at(BEGIN_NS, 0, 0),
		cpu(BEGIN_NS, 0, 0, 0, 0),
		thread_at(BEGIN_NS + 100 * MS, 50 * MS, 10 * MS),
		cpu(BEGIN_NS + 100 * MS, 0, 5 * MS, 5 * MS, 1),
		thread_at(BEGIN_NS + 200 * MS, 100 * MS, 20 * MS),
		{.id = EVENT_END, .time_ns = BEGIN_NS + 200 * MS},
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events) && !err; i++) {
		err = analysis_add(a, &events[i]);
		err = err ? err : page_states_event(p, &events[i]);
	}
	return err ? err : analysis_finish(a);
}

static int write_parts(const json_t *header, bool windows, FILE *out)
{
	const struct page_axis axis = {
		.start_ns = BEGIN_NS, .begin_ns = BEGIN_NS, .length_ns = 100 * MS};
	struct analysis *a = analysis_new();
	const struct session_log log = {.analysis = a, .header = header};
	const struct report_input in = {.log = &log, .top = 5};
	struct page_states p = {0};
	struct section_input section;
	const struct range range = {.from_ns = 0};
	int err = a ? 0 : -ENOMEM;

	if (!err && windows)
		page_states_begin(a, header, &range);
	err = err ? err : run(a, &p);
	err = err ? err : section_open(&in, &section);
	if (!err) {
		fputs("{\"is\":1", out);
		err = page_states_write(&p, &section, &axis, out);
		err = err ? err : page_objects_write(&section, out);
		putc('}', out);
		section_close(&section);
	}
	page_states_free(&p);
	analysis_free(a);
	return err;
}

static json_t *header_new(void)
{
	return json_pack("{sI s{sI} s{ss}}", "start_mono_ns", (json_int_t)BEGIN_NS, "record",
			 "window_ns", (json_int_t)(100 * MS), "sources", "steal", "rq_clock");
}

/* false: no allocation has failed. *ret: what was written; NULL: it has failed. */
static bool written(unsigned long fail_at, bool windows, json_t **ret)
{
	json_t *header = header_new();
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	bool failed;
	int err;

	assert_non_null(out);
	alloc_fail_at(fail_at);
	err = write_parts(header, windows, out);
	failed = alloc_fail_off();
	fclose(out);
	assert_true(!err || (failed && err == -ENOMEM));
	*ret = err ? NULL : json_loads(text, 0, NULL);
	assert_true(err || *ret);
	free(text);
	json_decref(header);
	return failed;
}

static uint64_t at(const json_t *list, size_t i)
{
	return (uint64_t)json_integer_value(json_array_get(list, i));
}

static void states_are_written(void **state)
{
	const json_t *states, *rows, *windows;
	json_t *page;
	uint64_t running = 0, runnable = 0;

	(void)state;
	assert_false(written(UINT32_MAX, true, &page));
	states = json_object_get(page, "states");
	windows = json_object_get(states, "windows");
	assert_int_equal(json_array_size(windows), 2);
	assert_int_equal(at(json_array_get(windows, 0), 0), 0);
	assert_int_equal(at(json_array_get(windows, 1), 1), 200 * MS);
	rows = json_object_get(json_array_get(json_object_get(states, "threads"), 0), "states");
	for (size_t i = 0; i < 2; i++) {
		running += at(json_array_get(rows, i), 0);
		runnable += at(json_array_get(rows, i), 2);
	}
	assert_int_equal(running, 100 * MS);
	assert_int_equal(runnable, 20 * MS);
	assert_string_equal(json_string_value(json_object_get(json_array_get(json_object_get(
				    states, "threads"), 0), "name")), "a\"\\x1b");
	assert_int_equal(at(json_object_get(states, "cpu_stolen_ns"), 0), 5 * MS);
	assert_int_equal(at(json_object_get(states, "cpu_ticks"), 0), 1);
	assert_string_equal(json_string_value(json_object_get(states, "source")), "rq_clock");
	/* The log is in no file: it has no object events. */
	assert_true(json_is_null(json_object_get(page, "objects")));
	json_decref(page);
}

static void without_windows_there_are_no_states(void **state)
{
	json_t *page;

	(void)state;
	assert_false(written(UINT32_MAX, false, &page));
	assert_true(json_is_null(json_object_get(page, "states")));
	json_decref(page);
}

static void all_or_nothing_without_memory(void **state)
{
	json_t *wanted, *page;
	unsigned long n = 0;

	(void)state;
	assert_false(written(UINT32_MAX, true, &wanted));
	for (; written(n, true, &page); n++) {
		assert_true(!page || json_equal(page, wanted));
		json_decref(page);
	}
	assert_true(n > 20);
	json_decref(page);
	json_decref(wanted);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_cpu_has_its_own_counters),
		cmocka_unit_test(a_hole_breaks_the_steps),
		cmocka_unit_test(steps_are_bounded),
		cmocka_unit_test(states_are_written),
		cmocka_unit_test(without_windows_there_are_no_states),
		cmocka_unit_test(all_or_nothing_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
