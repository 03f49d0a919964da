/* Sums over intervals: labels have a bound and stay, contentions over the ends of intervals are counted once. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/cells/blocked_list.h"
#include "analyze/profile/profile.h"
#include "analyze/registry/analysis.h"
#include "analyze/spans/spans.h"
#include "base/text/print.h"
#include "report/live/live_view.h"
#include "report/live/metrics.h"
#include "report/live/metrics_internal.h"
#include "report/live/metrics_table.h"
#include "session/session_log.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/analyze/analyze_events.h"

static void rows(void **state)
{
	struct metrics_table t;
	uint64_t *a, *b;

	(void)state;
	assert_int_equal(metrics_table_init(&t, 2, 3), 0);
	a = metrics_table_row(&t, "a", NULL);
	assert_ptr_equal(metrics_table_row(&t, "a", NULL), a);
	b = metrics_table_row(&t, "a", "b");
	assert_ptr_not_equal(a, b);
	assert_ptr_equal(metrics_table_row(&t, "c", NULL), metrics_table_values(&t, 2));
	assert_ptr_equal(metrics_table_row(&t, "d", "e"), metrics_table_values(&t, 2));
	assert_ptr_equal(metrics_table_row(&t, "a", "b"), b);
	assert_int_equal(t.count, 2);
	metrics_table_free(&t);
}

static void check_label(const char *text, const char *wanted)
{
	char *got = NULL;
	size_t size;
	FILE *out = open_memstream(&got, &size);

	metrics_put_label("x", text, out);
	assert_int_equal(fclose(out), 0);
	assert_string_equal(got, wanted);
	free(got);
}

static void labels(void **state)
{
	(void)state;
	check_label("a.B$C", "x=\"a.B$C\"");
	check_label("", "x=\"\"");
	check_label("\"} 1\n", "x=\"\\\"} 1\\\\n\"");
	check_label("\\", "x=\"\\\\\"");
	check_label("\x1b[2J\xff", "x=\"\\\\x1b[2J\\\\xff\"");
	check_label("\xc3\xa4", "x=\"\xc3\xa4\"");
}

/* --- intervals --- */

#define LOCKS 6

static struct event defined(uint16_t id, uint64_t number, unsigned name_field, const char *name)
{
	struct event e = {.id = id, .time_ns = 1, .thread = (uint32_t)number};

	if (id != EVENT_THREAD)
		e.v[0].u = number;
	e.v[name_field].s = name;
	return e;
}

static int add_names(struct analysis *a)
{
	struct event lock = {.id = EVENT_LOCK, .time_ns = 1};
	char name[] = "a.Lock0";
	struct event e;
	int err = 0;

	for (uint64_t i = 1; i <= LOCKS && !err; i++) {
		name[6] = (char)('0' + i);
		e = defined(EVENT_CLASS, i, CLASS_NAME, name);
		err = analysis_add(a, &e);
		lock.v[LOCK_LOCK].u = lock.v[LOCK_CLASS].u = i;
		lock.v[LOCK_GROUP].u = LOCK_GROUP_MONITOR;
		err = err ? err : analysis_add(a, &lock);
	}
	return err;
}

static const json_t *header;          /* of the logs; NULL: they have none */
static const uint64_t *late_events;    /* of the intervals; NULL: none */
static bool sampled;

/* What spans there are is known from the same events, and what was sampled. */
static int add_interval(struct metrics *m, const struct event *events, size_t count, uint64_t from_ns,
			uint64_t to_ns)
{
	struct blocked_list list = {.count = 0};
	struct profile p = {.options = {.from_ns = from_ns, .to_ns = to_ns, .from_begin = true}};
	struct analysis *a = analysis_new();
	const struct spans_options all = {.names = a ? analysis_names(a) : NULL};
	struct spans *spans = a ? spans_new(&all) : NULL;
	struct session_log log = {.analysis = a, .header = header};
	const struct live_view v = {.log = &log, .from_ns = from_ns, .to_ns = to_ns, .note = ""};
	const struct metrics_interval interval = {.view = &v,
						  .blocked = &list,
						  .spans = spans,
						  .profile = sampled ? &p : NULL,
						  .late = late_events};
	int err = spans ? add_names(a) : -ENOMEM;

	if (!err) {
		analysis_set_begin(a, from_ns);
		analysis_observe(a, blocked_list_part, &list);
		analysis_observe_intervals(a, blocked_list_interval);
	}
	for (size_t i = 0; i < count && !err; i++) {
		err = analysis_add(a, &events[i]);
		err = err ? err : spans_add(spans, &events[i]);
		err = err ? err : profile_add(&p, &events[i]);
	}
	err = err ? err : analysis_finish(a);
	err = err ? err : spans_finish(spans, to_ns);
	err = err ? err : metrics_add(m, &interval);
	spans_free(spans);
	profile_free(&p);
	blocked_list_free(&list);
	analysis_free(a);
	return err;
}

static char *text_of(const struct metrics *m, bool open)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	metrics_put(m, open, out);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void check_line(const struct metrics *m, const char *line)
{
	char *text = text_of(m, false), with_ends[256];

	snprintf(with_ends, sizeof(with_ends), "\n%s\n", line);
	if (!strstr(text, with_ends))
		fail_msg("there is no %s in\n%s", line, text);
	free(text);
}

static const struct times some = {1000, 10, 10};

#define MS 1000000ull
#define S 1000000000ull

/* A contention from 1.5 to 4.2 s, seen in four intervals of a second, of which three begin with it: each analysis is
 * told of it from some time before the interval on. */
static void over_ends_of_intervals(void **state)
{
	struct metrics *m = metrics_new(50);
	const struct event begins = enter(1500 * MS, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, some);
	const struct event late = enter(3700 * MS, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, some);
	const struct event ends[] = {late, entered(4200 * MS, 2, 1, some, 1, some)};

	(void)state;
	assert_non_null(m);
	assert_int_equal(add_interval(m, &begins, 1, 1 * S, 2 * S), 0);
	check_line(m, "spoor_lock_blocked_seconds_total{lock_class=\"a.Lock1\",group=\"monitor\"} 0.500000000");
	check_line(m, "spoor_lock_waiters{lock_class=\"a.Lock1\",group=\"monitor\"} 1");
	check_line(m, "spoor_lock_contentions_total{lock_class=\"a.Lock1\",group=\"monitor\"} 0");
	assert_int_equal(add_interval(m, &begins, 1, 2 * S, 3 * S), 0);
	check_line(m, "spoor_lock_blocked_seconds_total{lock_class=\"a.Lock1\",group=\"monitor\"} 1.500000000");
	assert_int_equal(add_interval(m, &begins, 1, 3 * S, 4 * S), 0);
	assert_int_equal(add_interval(m, ends, 2, 4 * S, 5 * S), 0);
	check_line(m, "spoor_lock_blocked_seconds_total{lock_class=\"a.Lock1\",group=\"monitor\"} 2.700000000");
	check_line(m, "spoor_lock_waiters{lock_class=\"a.Lock1\",group=\"monitor\"} 0");
	check_line(m, "spoor_lock_contentions_total{lock_class=\"a.Lock1\",group=\"monitor\"} 1");
	check_line(m, "spoor_lock_contention_seconds_sum{lock_class=\"a.Lock1\",group=\"monitor\"} 2.700000000");
	check_line(m, "spoor_lock_contention_seconds_bucket{lock_class=\"a.Lock1\",group=\"monitor\",le=\"1\"} 0");
	check_line(m, "spoor_lock_contention_seconds_bucket{lock_class=\"a.Lock1\",group=\"monitor\",le=\"3\"} 1");
	check_line(m, "spoor_seen_seconds_total 4.000000000");
	metrics_free(m);
}

/* Each pause in the interval in which it ends, as a whole; the buckets are those up to their limits, and of all. */
static void pauses_in_histograms(void **state)
{
	struct metrics *m = metrics_new(50);
	const struct event events[] = {
		{.id = EVENT_SAFEPOINT_BEGIN, .time_ns = 1100 * MS}, {.id = EVENT_GC_BEGIN, .time_ns = 1101 * MS},
		{.id = EVENT_GC_END, .time_ns = 1106 * MS},          {.id = EVENT_SAFEPOINT_END, .time_ns = 1110 * MS},
		{.id = EVENT_SAFEPOINT_BEGIN, .time_ns = 1200 * MS}, {.id = EVENT_SAFEPOINT_END, .time_ns = 1211 * MS},
		{.id = EVENT_SAFEPOINT_BEGIN, .time_ns = 1300 * MS}};

	(void)state;
	assert_int_equal(add_interval(m, events, 7, 1 * S, 2 * S), 0);
	check_line(m, "spoor_safepoint_duration_seconds_bucket{le=\"0.001\"} 0");
	check_line(m, "spoor_safepoint_duration_seconds_bucket{le=\"0.01\"} 1");
	check_line(m, "spoor_safepoint_duration_seconds_bucket{le=\"0.1\"} 2");
	check_line(m, "spoor_safepoint_duration_seconds_bucket{le=\"+Inf\"} 2");
	check_line(m, "spoor_safepoint_duration_seconds_sum 0.021000000");
	check_line(m, "spoor_safepoint_duration_seconds_count 2");
	check_line(m, "spoor_gc_pause_duration_seconds_bucket{collector=\"unknown\",kind=\"unknown\",le=\"0.001\"} 0");
	check_line(m, "spoor_gc_pause_duration_seconds_bucket{collector=\"unknown\",kind=\"unknown\",le=\"0.01\"} 1");
	check_line(m, "spoor_gc_pause_duration_seconds_sum{collector=\"unknown\",kind=\"unknown\"} 0.005000000");
	metrics_free(m);
}

static struct event lost(uint64_t ns, uint64_t event, uint64_t stage, uint64_t count)
{
	struct event e = {.id = EVENT_LOST, .time_ns = ns};

	e.v[LOST_EVENT_ID].u = event;
	e.v[LOST_PLACE].u = stage;
	e.v[LOST_COUNT].u = count;
	return e;
}

static struct event operation_begin(uint64_t ns)
{
	return (struct event){.id = EVENT_VM_OPERATION_BEGIN, .time_ns = ns};
}

/* A stock JVM's safepoint is reached when its first VM operation begins; one without is all on the way. */
static void phases_of_safepoints(void **state)
{
	struct metrics *m = metrics_new(50);
	const struct event events[] = {
		{.id = EVENT_SAFEPOINT_BEGIN, .time_ns = 1100 * MS}, operation_begin(1102 * MS),
		operation_begin(1104 * MS),
		{.id = EVENT_SAFEPOINT_END, .time_ns = 1130 * MS},   operation_begin(1140 * MS),
		{.id = EVENT_SAFEPOINT_BEGIN, .time_ns = 1200 * MS}, {.id = EVENT_SAFEPOINT_END, .time_ns = 1211 * MS},
		{.id = EVENT_SAFEPOINT_BEGIN, .time_ns = 1300 * MS}, operation_begin(1301 * MS)};
	/* What was open when an interval begins comes in any order. */
	const struct event over[] = {lost(1900 * MS, EVENT_UNPARK, LOST_PLACE_RING_BUFFER, 1),
				     {.id = EVENT_SAFEPOINT_BEGIN, .time_ns = 1300 * MS},
				     {.id = EVENT_SAFEPOINT_END, .time_ns = 2010 * MS}};

	(void)state;
	assert_int_equal(add_interval(m, events, 9, 1 * S, 2 * S), 0);
	check_line(m, "spoor_safepoint_seconds_sum{phase=\"reach\"} 0.013000000");
	check_line(m, "spoor_safepoint_seconds_count{phase=\"reach\"} 2");
	check_line(m, "spoor_safepoint_seconds_bucket{phase=\"reach\",le=\"0.01\"} 1");
	check_line(m, "spoor_safepoint_seconds_sum{phase=\"operation\"} 0.028000000");
	check_line(m, "spoor_safepoint_seconds_count{phase=\"operation\"} 1");
	check_line(m, "spoor_safepoint_duration_seconds_sum 0.041000000");
	check_line(m, "spoor_safepoints_total 2");
	/* Its operation ended before the second interval began. */
	assert_int_equal(add_interval(m, over, 3, 2 * S, 3 * S), 0);
	check_line(m, "spoor_safepoint_seconds_sum{phase=\"reach\"} 0.013000000");
	check_line(m, "spoor_safepoint_seconds_sum{phase=\"operation\"} 0.738000000");
	check_line(m, "spoor_safepoint_seconds_count{phase=\"operation\"} 2");
	metrics_free(m);
}

static void phases_as_a_patched_jvm_measures_them(void **state)
{
	struct metrics *m = metrics_new(50);
	struct event measured = {.id = EVENT_SAFEPOINT, .time_ns = 1130 * MS};
	json_t *patched = json_pack("{s:{s:s}}", "jvm", "kind", "patched");
	struct event events[] = {{.id = EVENT_SAFEPOINT_BEGIN, .time_ns = 1100 * MS},
				 operation_begin(1102 * MS),
				 {.id = EVENT_SAFEPOINT_END, .time_ns = 1130 * MS},
				 measured};

	(void)state;
	events[3].v[SAFEPOINT_REACH_NS].u = 1 * MS;
	events[3].v[SAFEPOINT_CLEANUP_NS].u = 2 * MS;
	events[3].v[SAFEPOINT_OPERATION_NS].u = 27 * MS;
	header = patched;
	assert_int_equal(add_interval(m, events, 4, 1 * S, 2 * S), 0);
	header = NULL;
	json_decref(patched);
	check_line(m, "spoor_safepoint_seconds_sum{phase=\"reach\"} 0.001000000");
	check_line(m, "spoor_safepoint_seconds_sum{phase=\"operation\"} 0.029000000");
	check_line(m, "spoor_safepoint_seconds_count{phase=\"operation\"} 1");
	check_line(m, "spoor_safepoint_duration_seconds_sum 0.030000000");
	metrics_free(m);
}

/* A log's counts are since the recording's begin: what comes again counts once, and what was lost between two intervals
 * counts, too. */
static void losses_by_event_and_stage(void **state)
{
	struct metrics *m = metrics_new(50);
	const struct event first[] = {lost(1100 * MS, EVENT_PARK_END, LOST_PLACE_RING_BUFFER, 3),
				      lost(1200 * MS, EVENT_PARK_END, LOST_PLACE_RING_BUFFER, 5),
				      lost(1200 * MS, 0, LOST_PLACE_MAP_FULL, 2)};
	const struct event second[] = {lost(1200 * MS, EVENT_PARK_END, LOST_PLACE_RING_BUFFER, 5),
				       lost(2500 * MS, EVENT_PARK_END, LOST_PLACE_MEMORY, 7),
				       lost(3100 * MS, EVENT_PARK_END, LOST_PLACE_RING_BUFFER, 9),
				       lost(3100 * MS, SCHEMA_ID_MAX + 1, LOST_PLACE_RING_BUFFER, 1),
				       lost(3200 * MS, EVENT_UNPARK, LOST_PLACE_COUNT, 1)};
	uint64_t late[SCHEMA_ID_MAX + 1] = {[EVENT_UNPARK] = 4};

	(void)state;
	assert_int_equal(add_interval(m, first, 3, 1 * S, 2 * S), 0);
	check_line(m, "spoor_events_lost_total{event=\"park_end\",place=\"ring_buffer\"} 5");
	check_line(m, "spoor_events_lost_total{event=\"other\",place=\"map_full\"} 2");
	check_line(m, "spoor_events_lost_total{event=\"other\",place=\"reorder\"} 0");
	late_events = late;
	assert_int_equal(add_interval(m, second, 5, 3 * S, 4 * S), 0);
	assert_int_equal(add_interval(m, NULL, 0, 4 * S, 5 * S), 0);
	late_events = NULL;
	check_line(m, "spoor_events_lost_total{event=\"park_end\",place=\"ring_buffer\"} 9");
	check_line(m, "spoor_events_lost_total{event=\"park_end\",place=\"memory\"} 7");
	check_line(m, "spoor_events_lost_total{event=\"other\",place=\"ring_buffer\"} 1");
	check_line(m, "spoor_events_lost_total{event=\"unpark\",place=\"reorder\"} 8");
	metrics_free(m);
}

/* Of five methods: the two heaviest of the first interval, as there is room for two. */
static int add_samples(struct metrics *m, uint64_t from_ns, const uint64_t ns[5])
{
	static const char *const names[] = {"a", "b", "c", "d", "lambda$1"};
	struct event events[15];
	uint64_t cpu_ns = 0;

	for (unsigned i = 0; i < 5; i++) {
		struct event *e = &events[10 + i];

		events[i] = defined(EVENT_METHOD, i + 1, METHOD_NAME, names[i]);
		events[i].v[METHOD_CLASS_NAME].s = "a.Lock1";
		events[i].v[METHOD_SIGNATURE].s = events[i].v[METHOD_SOURCE].s = "";
		events[5 + i] = (struct event){.id = EVENT_STACK, .time_ns = 1};
		events[5 + i].v[STACK_STACK].u = events[5 + i].v[STACK_METHOD].u = i + 1;
		events[5 + i].v[STACK_FRAME].u = FRAME_TYPE_C2;
		*e = (struct event){.id = EVENT_RUN_SAMPLE, .time_ns = from_ns + i, .thread = 1};
		e->v[RUN_SAMPLE_STACK].u = i + 1;
		e->v[RUN_SAMPLE_CPU_NS].u = cpu_ns += ns[i];
	}
	return add_interval(m, events, 15, from_ns, from_ns + S);
}

static void names_of_generated_classes(void **state)
{
	char text[512] = "a.B$$Lambda$14/0x00007f00";

	(void)state;
	assert_int_equal(metrics_name(text), 0);
	assert_string_equal(text, "a.B$$Lambda$*");
}

static int add_all_locks(struct metrics *m, uint64_t from_ns)
{
	struct event events[2 * LOCKS];

	for (uint64_t i = 0; i < LOCKS; i++) {
		events[2 * i] = enter(from_ns + 100 * i, 2, i + 1, 1, OWNER_SOURCE_JAVA_THREAD, some);
		events[2 * i + 1] =
			entered(from_ns + 100 * i + 10 * (i + 1), 2, i + 1, some, 1, some);
	}
	return add_interval(m, events, 2 * LOCKS, from_ns, from_ns + S);
}

/* A method that has less than a hundredth of an interval, or of what ran, has no series, be there room or not. */
static void methods_have_a_bound(void **state)
{
	static const uint64_t light[] = {S, 5 * MS, 5 * MS, 0, 0}, heavy[] = {0, 10 * MS, 30 * MS, 50 * MS, 40 * MS},
			      idle[] = {0, 0, 9 * MS, 0, 0};
	struct metrics *m = metrics_new(2);
	char *text;

	(void)state;
	assert_int_equal(add_all_locks(m, S), 0);
	text = text_of(m, false);
	assert_null(strstr(text, "spoor_cpu_seconds"));
	free(text);
	sampled = true;
	assert_int_equal(add_samples(m, 2 * S, light), 0);
	check_line(m, "spoor_cpu_seconds_total{method=\"a.Lock1.a\"} 1.000000000");
	check_line(m, "spoor_cpu_seconds_total{method=\"other\"} 0.010000000");
	/* It has all of an interval in which nearly nothing ran. */
	assert_int_equal(add_samples(m, 3 * S, idle), 0);
	assert_int_equal(add_samples(m, 4 * S, heavy), 0);
	sampled = false;
	check_line(m, "spoor_cpu_seconds_total{method=\"a.Lock1.a\"} 1.000000000");
	check_line(m, "spoor_cpu_seconds_total{method=\"a.Lock1.d\"} 0.050000000");
	check_line(m, "spoor_cpu_seconds_total{method=\"other\"} 0.099000000");
	metrics_free(m);
}

/* Those with the most time are told apart, and stay so. */
static void labels_have_a_bound(void **state)
{
	struct metrics *m = metrics_new(2);

	(void)state;
	for (uint64_t i = 1; i <= 3; i++)
		assert_int_equal(add_all_locks(m, i * S), 0);
	check_line(m, "spoor_lock_blocked_seconds_total{lock_class=\"a.Lock6\",group=\"monitor\"} 0.000000180");
	check_line(m, "spoor_lock_blocked_seconds_total{lock_class=\"a.Lock5\",group=\"monitor\"} 0.000000150");
	check_line(m, "spoor_lock_blocked_seconds_total{lock_class=\"other\",group=\"other\"} 0.000000300");
	check_line(m, "spoor_lock_contentions_total{lock_class=\"other\",group=\"other\"} 12");
	metrics_free(m);
}

static void formats(void **state)
{
	struct metrics *m = metrics_new(2);
	char *open;

	(void)state;
	assert_int_equal(add_all_locks(m, S), 0);
	open = text_of(m, true);
	assert_non_null(strstr(open, "\n# TYPE spoor_lock_blocked_seconds counter\n# UNIT spoor_lock_blocked_seconds "
				     "seconds\nspoor_lock_blocked_seconds_total{"));
	assert_string_equal(open + strlen(open) - 6, "# EOF\n");
	check_line(m, "# TYPE spoor_lock_blocked_seconds_total counter");
	check_line(m, "spoor_recording 1");
	metrics_end(m);
	check_line(m, "spoor_recording 0");
	free(open);
	metrics_free(m);
}

static void nth_allocation_fails(void **state)
{
	static const uint64_t some_ns[] = {S, S, S, S, S};
	bool failed = true;

	(void)state;
	sampled = true;
	for (unsigned long i = 0; failed; i++) {
		struct metrics *m;
		int err = 0;

		alloc_fail_at(i);
		m = metrics_new(3);
		if (m)
			err = add_all_locks(m, S);
		if (m && !err)
			err = add_samples(m, 2 * S, some_ns);
		failed = alloc_fail_off();
		assert_int_equal(!m || err, failed);
		metrics_free(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows),
		cmocka_unit_test(labels),
		cmocka_unit_test(over_ends_of_intervals),
		cmocka_unit_test(pauses_in_histograms),
		cmocka_unit_test(phases_of_safepoints),
		cmocka_unit_test(phases_as_a_patched_jvm_measures_them),
		cmocka_unit_test(losses_by_event_and_stage),
		cmocka_unit_test(methods_have_a_bound),
		cmocka_unit_test(names_of_generated_classes),
		cmocka_unit_test(labels_have_a_bound),
		cmocka_unit_test(formats),
		cmocka_unit_test(nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
