#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/units.h"
#include "log/format/event.h"
#include "record/flight/trigger.h"
#include "tests/unit/alloc_fail.h"

static void test_parse(void **state)
{
	static const char *const wrong[] = {"",           "blocked",   "blocked:",   "blocked:0",
					    "pause:x",    "steal:0%",  "steal:101%", "steal:-1%",
					    "steal:",     "steal:5%%", "held:1s",    "steal:nan",
					    "blocked:1s "};
	struct trigger t;

	(void)state;
	for (unsigned i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(trigger_parse(wrong[i], &t), -EINVAL);
	}
	assert_int_equal(trigger_parse("blocked:100ms", &t), 0);
	assert_int_equal(t.kind, TRIGGER_BLOCKED);
	assert_int_equal(t.limit, 100 * NS_PER_MS);
	assert_int_equal(trigger_parse("pause:1", &t), 0);
	assert_int_equal(t.kind, TRIGGER_PAUSE);
	assert_int_equal(t.limit, NS_PER_S);
	assert_int_equal(trigger_parse("steal:2.5%", &t), 0);
	assert_int_equal(t.kind, TRIGGER_STEAL);
	assert_int_equal(t.limit, 25000);
	assert_int_equal(trigger_parse("steal:5", &t), 0);
}

static struct triggers *triggers_of(const char *text)
{
	struct trigger t;
	struct triggers *all;

	assert_int_equal(trigger_parse(text, &t), 0);
	all = triggers_new(&t, 1);
	assert_non_null(all);
	return all;
}

static void add(struct triggers *t, uint16_t id, uint32_t thread, uint64_t time_ms)
{
	struct event e = {.id = id, .thread = thread, .time_ns = time_ms * NS_PER_MS};

	if (id == EVENT_PARK_BEGIN)
		e.v[PARK_BEGIN_OWNER].u = thread == 9 ? 0 : 1;
	if (id == EVENT_MONITOR_CONTENDED_ENTER)
		e.v[MONITOR_CONTENDED_ENTER_LOCK].u = thread == 2 ? 7 : 6;
	assert_int_equal(triggers_add(t, &e), 0);
}

/* Thread 2, and lock 7 of class 8, are known; nothing else is. */
static bool find_name(void *ctx, uint16_t event, uint64_t number, struct event *ret)
{
	(void)ctx;
	*ret = (struct event){.id = event};
	if (event == EVENT_THREAD)
		ret->v[THREAD_NAME].s = "worker";
	else if (event == EVENT_LOCK)
		ret->v[LOCK_CLASS].u = 8;
	else
		ret->v[CLASS_NAME].s = "demo.Lock";
	return number == (event == EVENT_THREAD ? 2 : event == EVENT_LOCK ? 7 : 8);
}

static bool fired(struct triggers *t, uint64_t now_ms, const char *want)
{
	const struct trigger_names names = {find_name, NULL};
	char text[TRIGGER_TEXT_MAX] = "";

	if (!triggers_fired(t, &names, now_ms * NS_PER_MS, text))
		return false;
	if (!strstr(text, want))
		fail_msg("'%s' is not in '%s'", want, text);
	return true;
}

static void test_blocked(void **state)
{
	struct triggers *t = triggers_of("blocked:100ms");

	(void)state;
	/* Told while it lasts, and once. */
	add(t, EVENT_MONITOR_CONTENDED_ENTER, 2, 1000);
	assert_false(fired(t, 1099, ""));
	assert_true(fired(t, 1100, "worker, on demo.Lock"));
	assert_false(fired(t, 1500, ""));
	add(t, EVENT_MONITOR_CONTENDED_ENTERED, 2, 1600);
	assert_false(fired(t, 1700, ""));
	/* Told when it ends, if nobody has looked before. */
	add(t, EVENT_MONITOR_CONTENDED_ENTER, 3, 2000);
	add(t, EVENT_MONITOR_CONTENDED_ENTERED, 3, 2250);
	assert_true(fired(t, 2250, "250 ms (limit 100 ms): ?, on a lock"));
	assert_false(fired(t, 2251, ""));
	/* Not long enough. */
	add(t, EVENT_MONITOR_CONTENDED_ENTER, 3, 3000);
	add(t, EVENT_MONITOR_CONTENDED_ENTERED, 3, 3099);
	assert_false(fired(t, 9000, ""));
	/* The oldest first; of those that park, with an owner only. */
	add(t, EVENT_PARK_BEGIN, 9, 9000);
	add(t, EVENT_PARK_BEGIN, 4, 9050);
	add(t, EVENT_MONITOR_CONTENDED_ENTER, 5, 9060);
	assert_false(fired(t, 9149, ""));
	assert_true(fired(t, 9150, "blocked"));
	assert_false(fired(t, 9155, ""));
	assert_true(fired(t, 9160, "blocked"));
	/* Pauses are not asked for. */
	add(t, EVENT_SAFEPOINT_BEGIN, 1, 10000);
	assert_false(fired(t, 20000, ""));
	triggers_free(t);
}

static void test_pause(void **state)
{
	struct triggers *t = triggers_of("pause:50ms");

	(void)state;
	add(t, EVENT_SAFEPOINT_BEGIN, 1, 100);
	add(t, EVENT_GC_BEGIN, 1, 110);
	add(t, EVENT_GC_END, 1, 140);
	add(t, EVENT_SAFEPOINT_END, 1, 145);
	assert_false(fired(t, 150, ""));
	add(t, EVENT_SAFEPOINT_BEGIN, 1, 200);
	add(t, EVENT_GC_BEGIN, 1, 201);
	add(t, EVENT_GC_END, 1, 252);
	add(t, EVENT_SAFEPOINT_END, 1, 253);
	assert_true(fired(t, 260, "collection's pause lasted 51.0 ms"));
	add(t, EVENT_MONITOR_CONTENDED_ENTER, 2, 300);
	assert_false(fired(t, 9000, ""));
	triggers_free(t);
}

static void cpu(struct triggers *t, unsigned cpu, uint64_t time_ms, uint64_t stolen_ms)
{
	struct event e = {.id = EVENT_CPU_SAMPLE, .time_ns = time_ms * NS_PER_MS};

	e.v[CPU_SAMPLE_CPU].u = cpu;
	e.v[CPU_SAMPLE_CLOCK_NS].u = stolen_ms * NS_PER_MS;
	assert_int_equal(triggers_add(t, &e), 0);
}

static void test_steal(void **state)
{
	struct triggers *t = triggers_of("steal:5%");

	(void)state;
	cpu(t, 0, 1000, 700); /* since before the recording */
	cpu(t, 1, 1000, 0);
	assert_false(fired(t, 1001, ""));
	cpu(t, 0, 2000, 798); /* 9.8 % of one CPU is 4.9 % of two */
	cpu(t, 1, 2000, 0);
	assert_false(fired(t, 2001, ""));
	cpu(t, 0, 3000, 898);
	cpu(t, 1, 3000, 0);
	assert_true(fired(t, 3001, "5.00 %"));
	assert_false(fired(t, 3500, ""));
	triggers_free(t);
}

/* The target makes as many as it wants: nothing is kept of them, so no allocation can fail. */
static void test_names_are_not_kept(void **state)
{
	static const uint16_t kinds[] = {EVENT_THREAD, EVENT_CLASS, EVENT_LOCK};
	struct triggers *t = triggers_of("blocked:100ms");

	(void)state;
	alloc_fail_at(0);
	for (unsigned i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		struct event e = {.id = kinds[i], .thread = 2, .time_ns = 1};

		e.v[0].u = 1;
		if (kinds[i] == EVENT_THREAD)
			e.v[THREAD_NAME].s = "worker";
		if (kinds[i] == EVENT_CLASS)
			e.v[CLASS_NAME].s = "demo.Lock";
		assert_int_equal(triggers_add(t, &e), 0);
	}
	assert_false(alloc_fail_off());
	triggers_free(t);
}

static int run(void)
{
	struct trigger list[] = {{TRIGGER_BLOCKED, NS_PER_S}, {TRIGGER_STEAL, 1}};
	struct triggers *t = triggers_new(list, 2);
	struct event e = {.id = EVENT_MONITOR_CONTENDED_ENTER, .thread = 1, .time_ns = 1};
	int err = t ? triggers_add(t, &e) : -ENOMEM;

	e.id = EVENT_CPU_SAMPLE;
	if (!err)
		err = triggers_add(t, &e);
	triggers_free(t);
	return err;
}

static void test_no_memory(void **state)
{
	unsigned long n = 0;
	bool failed;
	int err;

	(void)state;
	do {
		alloc_fail_at(n++);
		err = run();
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	} while (failed);
	assert_true(n > 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_pause),
		cmocka_unit_test(test_steal),
		cmocka_unit_test(test_names_are_not_kept),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
