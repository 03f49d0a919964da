/* Contentions one by one, in the formats that have them so: the same bytes each time, or no memory. */
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
#include "analyze/registry/analysis.h"
#include "report/jfr/jfr.h"
#include "report/jfr/jfr_bytes.h"
#include "report/model/contention_events.h"
#include "report/protobuf/perfetto.h"
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

static struct event lock_of(uint64_t lock)
{
	struct event e = {.id = EVENT_LOCK, .time_ns = 1};

	e.v[LOCK_LOCK].u = lock;
	e.v[LOCK_GROUP].u = LOCK_GROUP_MONITOR;
	e.v[LOCK_CLASS].u = 1;
	return e;
}

static struct event method_of(uint64_t method, const char *name)
{
	struct event e = defined(EVENT_METHOD, method, METHOD_CLASS_NAME, "a.Table");

	e.v[METHOD_NAME].s = name;
	e.v[METHOD_SIGNATURE].s = "(I)V";
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

/* Two contentions of two threads, one inside of the other; and a third one without an owner. */
static int feed(struct analysis *a)
{
	const struct times some = {1000, 10, 10};
	const struct event events[] = {
		defined(EVENT_THREAD, 1, THREAD_NAME, "holder"),
		defined(EVENT_THREAD, 2, THREAD_NAME, "waiter"),
		defined(EVENT_THREAD, 3, THREAD_NAME, "another"),
		defined(EVENT_CLASS, 1, CLASS_NAME, "a.Table"),
		lock_of(1),
		method_of(1, "hold"),
		method_of(2, "want"),
		frame(1, 1),
		frame(2, 2),
		at_stacks(enter(1000, 2, 1, 1, OWNER_SOURCE_JAVA_THREAD, some), 2, 1),
		at_stacks(enter(1200, 3, 1, 1, OWNER_SOURCE_JAVA_THREAD, some), 2, 1),
		entered(1900, 3, 1, some, 1, some),
		entered(2400, 2, 1, some, 3, some),
		at_stacks(enter(3000, 2, 1, 0, OWNER_SOURCE_NONE, some), 2, 0),
		entered(3100, 2, 1, some, 0, some),
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events) && !err; i++)
		err = analysis_add(a, &events[i]);
	return err ? err : analysis_finish(a);
}

typedef int writer(const struct contention_events *in, FILE *out);

/* To be freed; NULL: there was no memory. */
static char *written(const struct contention_events *in, writer *write, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);
	int err;

	assert_non_null(out);
	err = write(in, out);
	assert_int_equal(fclose(out), 0);
	if (!err)
		return text;
	assert_int_equal(err, -ENOMEM);
	free(text);
	return NULL;
}

static void check_nth_fails(const struct contention_events *in, writer *write)
{
	size_t size, other;
	char *all = written(in, write, &size), *text;
	bool failed = true;

	assert_non_null(all);
	assert_non_null(memmem(all, size, "holder", 6));
	for (unsigned long n = 0; failed; n++) {
		alloc_fail_at(n);
		text = written(in, write, &other);
		failed = alloc_fail_off();
		if (text) {
			assert_int_equal(other, size);
			assert_memory_equal(text, all, size);
		}
		free(text);
	}
	free(all);
}

static void nth_allocation_fails(void **state)
{
	struct blocked_list list = {.count = 0};
	struct analysis *a = analysis_new();
	struct session_log log = {.analysis = a};
	struct contention_events in = {.list = &list, .log = &log};

	(void)state;
	assert_non_null(a);
	analysis_observe(a, blocked_list_part, &list);
	analysis_observe_intervals(a, blocked_list_interval);
	assert_int_equal(feed(a), 0);
	assert_int_equal(list.err, 0);
	assert_int_equal(list.count, 3);
	/* Who had it last: one that waited, too; nobody is known of the third. */
	assert_int_equal(list.rows[0].last, 1);
	assert_int_equal(list.rows[1].last, 3);
	in.names = analysis_names(a);
	in.stacks = analysis_stacks(a);
	check_nth_fails(&in, perfetto_contentions);
	check_nth_fails(&in, jfr_contentions);
	blocked_list_free(&list);
	analysis_free(a);
}

static void check(struct strbuf *b, const char *bytes, size_t count)
{
	assert_int_equal(b->err, 0);
	assert_int_equal(b->used, count);
	assert_memory_equal(b->text, bytes, count);
	strbuf_clear(b);
}

static void bytes_of_a_chunk(void **state)
{
	struct strbuf b = {0}, event = {0};
	char *text;

	(void)state;
	jfr_number(&b, 0);
	check(&b, "\x00", 1);
	jfr_number(&b, 300);
	check(&b, "\xac\x02", 2);
	jfr_number(&b, UINT64_MAX);
	check(&b, "\xff\xff\xff\xff\xff\xff\xff\xff\xff", 9);
	jfr_number(&b, 1ull << 63);
	check(&b, "\x80\x80\x80\x80\x80\x80\x80\x80\x80", 9);
	jfr_text(&b, "");
	check(&b, "\x01", 1);
	jfr_text(&b, "ab");
	check(&b,
	      "\x03\x02"
	      "ab",
	      4);
	jfr_raw(&b, 0x0102, 4);
	check(&b, "\x00\x00\x01\x02", 4);
	jfr_number(&event, 7);
	jfr_event(&b, &event);
	check(&b, "\x02\x07", 2);
	/* The length counts its own bytes: 126 and one more are 127, 127 and two are 129. */
	for (size_t n = 120; n < 140; n++) {
		text = calloc(1, n);
		strbuf_put(&event, text, n);
		jfr_event(&b, &event);
		assert_int_equal(b.used, n + (n < 127 ? 1 : 2));
		assert_int_equal((unsigned char)b.text[0] & 0x7f, b.used & 0x7f);
		strbuf_clear(&b);
		free(text);
	}
	strbuf_free(&b);
	strbuf_free(&event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_a_chunk),
		cmocka_unit_test(nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
