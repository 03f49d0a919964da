/* What spoor top shows of an interval: all panes of a small analysis, and rows that are found again; then with the nth
 * allocation failing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyze/registry/analysis.h"
#include "report/live/live_cells.h"
#include "report/live/live_view.h"
#include "report/live/top_keys.h"
#include "report/live/top_panes.h"
#include "report/model/where.h"
#include "session/session_log.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/analyze/analyze_events.h"

static struct event defined(uint16_t id, uint64_t number, unsigned name_field, const char *name)
{
	struct event e = {.id = id, .time_ns = 1, .thread = (uint32_t)number};

	if (id != EVENT_THREAD)
		e.v[0].u = number;
	e.v[name_field].s = name;
	return e;
}

static struct event lock_of(uint64_t lock, uint64_t class)
{
	struct event e = {.id = EVENT_LOCK, .time_ns = 1};

	e.v[LOCK_LOCK].u = lock;
	e.v[LOCK_GROUP].u = LOCK_GROUP_MONITOR;
	e.v[LOCK_CLASS].u = class;
	return e;
}

static struct event method_of(uint64_t method, const char *class, const char *name)
{
	struct event e = defined(EVENT_METHOD, method, METHOD_CLASS_NAME, class);

	e.v[METHOD_NAME].s = name;
	e.v[METHOD_SIGNATURE].s = "()V";
	e.v[METHOD_SOURCE].s = "Table.java";
	return e;
}

static struct event frame(uint64_t stack, uint64_t method)
{
	struct event e = {.id = EVENT_STACK, .time_ns = 1};

	e.v[STACK_STACK].u = stack;
	e.v[STACK_FRAME].u = FRAME_TYPE_C1;
	e.v[STACK_METHOD].u = method;
	return e;
}

/* Two contentions, 900 ns on the lock of a class that a terminal would obey, 400 ns on another one; three events
 * were lost. Another thread goes for the second lock at 9,900 ns, and is still blocked at the end. */
static int feed(struct analysis *a)
{
	const struct times some = {1000, 10, 10};
	struct event lost = {.id = EVENT_LOST, .time_ns = 4000};
	const struct event events[] = {
		defined(EVENT_THREAD, 1, THREAD_NAME, "holder"),
		defined(EVENT_THREAD, 2, THREAD_NAME, "waiter"),
		defined(EVENT_CLASS, 1, CLASS_NAME, "a.\x1b[2J"),
		defined(EVENT_CLASS, 2, CLASS_NAME, "b.Shelf"),
		lock_of(1, 1),
		lock_of(2, 2),
		method_of(1, "Table", "hold"),
		method_of(2, "Table", "want"),
		frame(1, 1),
		frame(2, 2),
		at_stacks(enter(1000, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, some), 2, 1),
		entered(1900, 2, 1, some, 1, some),
		at_stacks(enter(2000, 2, 2, 1, OWNER_SOURCE_JAVA_THREAD, some), 2, 1),
		entered(2400, 2, 2, some, 1, some),
		at_stacks(enter(9900, 3, 2, 1, OWNER_SOURCE_JAVA_THREAD, some), 2, 1),
	};
	int err = 0;

	lost.v[LOST_EVENT_ID].u = EVENT_PARK_BEGIN;
	lost.v[LOST_COUNT].u = 3;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events) && !err; i++)
		err = analysis_add(a, &events[i]);
	if (!err)
		err = analysis_add(a, &lost);
	return err ? err : analysis_finish(a);
}

static int text_all(const struct live_view *v, FILE *out)
{
	return live_text(v, out);
}

static int chains_of_first(const struct live_view *v, FILE *out)
{
	return live_chains(v, LIVE_HOLDERS, "Table.want <- Table.hold", out);
}

static int header(const struct live_view *v, FILE *out)
{
	return live_header(v, out);
}

static int narrow_locks(const struct live_view *v, FILE *out)
{
	struct live_view narrow = *v;

	narrow.width = 80;
	return live_pane_text(&narrow, LIVE_LOCKS, out);
}

static int chosen(const struct live_view *v, FILE *out)
{
	char error[WHERE_ERROR_MAX];
	struct live_view some = *v;
	struct condition *where;
	int err = where_parse("lock=*Shelf*", &where, error);

	if (err)
		return err;
	some.where = where;
	some.where_text = "lock=*Shelf*";
	err = live_pane_text(&some, LIVE_LOCKS, out);
	where_free(where);
	return err;
}

/* The interval from 1,500 ns on: 500 ns of the first contention have been counted before. */
static int second_part(const struct live_view *v, FILE *out)
{
	const struct cell_key key = {
		.lock = 1, .waiter = 2, .holder = 1, .waiter_stack = 2, .holder_stack = 1};
	struct live_early early = {0};
	struct live_view later = *v;
	int err;

	later.from_ns = 1500;
	later.early = &early;
	live_early_reset(&early, later.from_ns);
	live_early_observe(&early, &(struct cell_part){.key = key, .from_ns = 1000, .to_ns = 1400});
	live_early_observe(&early, &(struct cell_part){.key = key, .from_ns = 1400, .to_ns = 1900});
	live_early_observe(&early, &(struct cell_part){.key = key, .from_ns = 1500, .to_ns = 1900});
	err = live_json(&later, out);
	live_early_reset(&early, 0);
	return err;
}

static const enum aspect_id classes_and_holders[] = {ASPECT_LOCK_CLASS, ASPECT_OWNER_THREAD};

static int by_text(const struct live_view *v, FILE *out)
{
	struct live_view nested = *v;

	nested.by = classes_and_holders;
	nested.depth = 2;
	nested.order = GROUP_BY_VALUE;
	return live_text(&nested, out);
}

static int by_json(const struct live_view *v, FILE *out)
{
	struct live_view nested = *v;

	nested.by = classes_and_holders;
	nested.depth = 2;
	return live_json(&nested, out);
}

/* Each frame but the last one goes nowhere: keys act on what is shown. */
static int screen_after(const struct live_view *v, const char *keys, FILE *out)
{
	struct top_panes *panes = top_panes_new();
	FILE *nowhere = panes ? fopen("/dev/null", "w") : NULL;
	int err = panes && nowhere ? 0 : -ENOMEM;

	if (!err)
		top_panes_show(panes, v, "");
	for (; !err && *keys; keys++) {
		err = top_panes_draw(panes, 80, 24, nowhere);
		assert_true(err || top_panes_key(panes, *keys));
	}
	if (!err)
		err = top_panes_draw(panes, 80, 24, out);
	if (nowhere)
		fclose(nowhere);
	top_panes_free(panes);
	return err;
}

static const char *keys_now;

static int screen(const struct live_view *v, FILE *out)
{
	return screen_after(v, keys_now, out);
}

typedef int make(const struct live_view *v, FILE *out);

/* The whole way, with the nth allocation failing; true when there was no nth. */
static bool shown(make *what, unsigned long fail_at, const json_t *head, char **ret)
{
	struct session_log log = {.header = head};
	struct live_view v = {
		.log = &log, .to_ns = 10000, .begin_ns = 1, .lost = 5, .note = "", .top = 10};
	FILE *out;
	size_t size;
	bool failed;
	int err;

	out = open_memstream(ret, &size);
	assert_non_null(out);
	alloc_fail_at(fail_at);
	v.log = &log;
	log.analysis = analysis_new();
	err = log.analysis ? feed((struct analysis *)log.analysis) : -ENOMEM;
	if (!err)
		err = what(&v, out);
	failed = alloc_fail_off();
	fclose(out);
	analysis_free((struct analysis *)log.analysis);
	assert_true(!err || (failed && (err == -ENOMEM || err == -EIO)));
	if (err) {
		free(*ret);
		*ret = NULL;
	}
	return !failed;
}

static const struct {
	make *what;
	const char *has, *has_not;
} cases[] = {
	{text_all, "!! events lost: 3 in this interval, 5 since the beginning", "\x1b"},
	{text_all, "900 ns   64.3 %", "\x1b"},
	{text_all, "a.\\x1b[2J", "\x1b"},
	{live_json, "\"lost\":{\"interval\":3,\"total\":5}", "\x1b"},
	{live_json,
	 "\"blocked_ns\":900,\"count\":1,"
	 "\"p50_ns\":900,\"p90_ns\":900,\"p99_ns\":900,\"p999_ns\":900,\"max_ns\":900,\"idle_ns\":0,\"waiting\":0",
	 "\x1b"},
	{live_json,
	 "\"blocked_ns\":500,\"count\":1,"
	 "\"p50_ns\":400,\"p90_ns\":400,\"p99_ns\":400,\"p999_ns\":400,\"max_ns\":400,\"idle_ns\":0,\"waiting\":1",
	 "\x1b"},
	{second_part,
	 "\"blocked_ns\":400,\"count\":1,"
	 "\"p50_ns\":900,\"p90_ns\":900,\"p99_ns\":900,\"p999_ns\":900,\"max_ns\":900,\"idle_ns\":0,\"waiting\":0",
	 "\"blocked_ns\":900"},
	{by_text, "\nBY\nlock_class > owner_thread ", "\x1b"},
	{by_text, "\n    holder ", "\x1b"},
	{text_all, "\nLOCKS\n", "\nBY\n"},
	{by_json, "\"by\":{\"by\":[\"lock_class\",\"owner_thread\"]", "\x1b"},
	{by_json, "\"key\":[\"b.Shelf\"],", "\x1b"},
	{live_json, "\"cpus\":", "\"by\":"},
	{header, "blocked in locks: 1.40 us", "LOCKS"},
	{chains_of_first, "Table.hold", "\x1b"},
	{narrow_locks, "900 ns", "share"},
	{chosen, "b.Shelf", "a."},
};

static void all_is_shown(void **state)
{
	json_t *head = json_pack("{s{si}}", "jvm", "pid", 1);

	(void)state;
	assert_non_null(head);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		unsigned long n = 0;
		char *whole, *text;

		assert_true(shown(cases[i].what, UINT32_MAX, head, &whole));
		if (!strstr(whole, cases[i].has) || strstr(whole, cases[i].has_not))
			fail_msg("%s", whole);
		for (; !shown(cases[i].what, n, head, &text); n++) {
			assert_true(!text || !strcmp(text, whole));
			free(text);
		}
		assert_true(n > 20);
		free(text);
		free(whole);
	}
	json_decref(head);
}

static const struct {
	const char *keys, *has, *has_not;
} screens[] = {
	{"", "by lost work", "\x1b[2J"},
	{"", "\x1b[7m  900 ns       1    0  a.\\x1b[2J", "HELD"},
	{"j\r", "b.Shelf", "nobody was blocked"},
	{"h\r", "Table.want <- Table.hold", "nobody was blocked"},
	{"h\r\b?", "q  F10      quit", "Backspace back  Up Down"},
	{"ts ", "by blocked  HELD: Space goes on", "by lost work"},
	{"/lock=*Shelf*\r", "b.Shelf", "a.\\x1b"},
	{"/lok=x\r", "where: lok=x_", "by blocked"},
	{"b", "b.Shelf", "\x1b[2J"},
	{"a", "by: lock_class,waiter_pool,owner_pool_", "where: "},
};

/* A key for which there is no memory does nothing. */
static void screens_after_keys(void **state)
{
	json_t *head = json_pack("{s{si}}", "jvm", "pid", 1);

	(void)state;
	assert_non_null(head);
	for (size_t i = 0; i < sizeof(screens) / sizeof(*screens); i++) {
		char *text;

		keys_now = screens[i].keys;
		assert_true(shown(screen, UINT32_MAX, head, &text));
		if (!strstr(text, screens[i].has) || strstr(text, screens[i].has_not))
			fail_msg("%s", text);
		free(text);
		for (unsigned long n = 0; !shown(screen, n, head, &text); n++)
			free(text);
		free(text);
	}
	json_decref(head);
}

/* A row is found by its key; others are not there. */
static void rows_have_keys(void **state)
{
	json_t *head = json_object();
	struct analysis *a = analysis_new();
	struct session_log log = {.header = head, .analysis = a};
	const struct live_view v = {.log = &log, .to_ns = 10000, .note = ""};
	char key[LIVE_KEY_MAX];
	FILE *out = fopen("/dev/null", "w");

	(void)state;
	assert_non_null(out);
	assert_int_equal(feed(a), 0);
	assert_true(live_row_key(&v, LIVE_LOCKS, 1, key));
	assert_non_null(strstr(key, "b.Shelf"));
	assert_int_equal(live_chains(&v, LIVE_LOCKS, key, out), 0);
	assert_false(live_row_key(&v, LIVE_LOCKS, 2, key));
	assert_true(live_row_key(&v, LIVE_HOLDERS, 0, key));
	assert_string_equal(key, "Table.want <- Table.hold");
	assert_false(live_row_key(&v, LIVE_THREADS, 0, key));
	assert_int_equal(live_chains(&v, LIVE_LOCKS, "another one", out), -ENOENT);
	fclose(out);
	analysis_free(a);
	json_decref(head);
}

static unsigned lines_of(const char *text)
{
	unsigned n = 0;

	for (; (text = strstr(text, "\r\n")); text += 2)
		n++;
	return n;
}

/* However small a terminal is, a frame has its lines and no more. */
static void a_frame_has_the_terminals_lines(void **state)
{
	static const unsigned sizes[][2] = {{1, 1}, {3, 2}, {20, 5}, {80, 24}, {300, 100}};
	json_t *head = json_object();
	struct analysis *a = analysis_new();
	struct session_log log = {.header = head, .analysis = a};
	const struct live_view v = {.log = &log, .to_ns = 10000, .note = ""};
	struct top_panes *panes = top_panes_new();

	(void)state;
	assert_int_equal(feed(a), 0);
	for (unsigned i = 0; i < 2 * LIVE_PANE_COUNT * sizeof(sizes) / sizeof(*sizes); i++) {
		const unsigned *size = sizes[i / (2 * LIVE_PANE_COUNT)];
		char *text;
		size_t bytes;
		FILE *out = open_memstream(&text, &bytes);

		top_panes_show(panes, i % 2 ? &v : NULL, "attaching");
		assert_int_equal(top_panes_draw(panes, size[0], size[1], out), 0);
		fclose(out);
		assert_int_equal(lines_of(text), size[1] - 1);
		free(text);
		if (i % 2)
			assert_true(top_panes_key(panes, '\t'));
	}
	top_panes_free(panes);
	analysis_free(a);
	json_decref(head);
}

static void keys_end_and_hold(void **state)
{
	struct top_panes *panes = top_panes_new();

	(void)state;
	assert_false(top_panes_is_paused(panes));
	assert_true(top_panes_key(panes, ' '));
	assert_true(top_panes_is_paused(panes));
	assert_true(top_panes_key(panes, '/'));
	assert_true(top_panes_key(panes, 'q')); /* a letter of the condition */
	assert_true(top_panes_key(panes, TOP_KEY_BACK));
	assert_false(top_panes_key(panes, 'q'));
	assert_false(top_panes_key(panes, TOP_KEY_QUIT));
	assert_int_equal(top_panes_where(panes, "lock="), -EINVAL);
	assert_int_equal(top_panes_where(panes, "lock=a"), 0);
	assert_int_equal(top_panes_where(panes, ""), 0);
	top_panes_free(panes);
}

/* What a terminal sends, one key after the other; of what it does not know, nothing is left over. */
static void keys_of_a_terminal(void **state)
{
	static const struct {
		const char *bytes;
		int keys[4];
	} some[] = {
		{"q\x1b[A", {'q', TOP_KEY_UP}},
		{"\x1b", {TOP_KEY_BACK}},
		{"\x1b[6~\x1bOH", {TOP_KEY_PAGE_DOWN, TOP_KEY_HOME}},
		{"\x1b[[Aj", {TOP_KEY_HELP, 'j'}},
		{"\x1b[1;5Aj", {TOP_KEY_NONE, 'j'}},
		{"\x1b[12", {TOP_KEY_NONE}},
		{"\x1b[15~", {TOP_KEY_ASPECTS}},
		{"\xc3\xa4", {0xc3, 0xa4}},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(some) / sizeof(*some); i++) {
		const uint8_t *bytes = (const uint8_t *)some[i].bytes;
		size_t count = strlen(some[i].bytes), at = 0, used;

		for (unsigned n = 0; at < count; n++, at += used) {
			assert_int_equal(top_key(bytes + at, count - at, &used), some[i].keys[n]);
			assert_true(used && used <= count - at);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_is_shown),
		cmocka_unit_test(screens_after_keys),
		cmocka_unit_test(rows_have_keys),
		cmocka_unit_test(a_frame_has_the_terminals_lines),
		cmocka_unit_test(keys_end_and_hold),
		cmocka_unit_test(keys_of_a_terminal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
