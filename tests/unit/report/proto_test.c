#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "log/read/names.h"
#include "report/flame/contention_messages.h"
#include "report/protobuf/proto.h"
#include "report/protobuf/string_table.h"
#include "tests/unit/alloc_fail.h"

static void check(struct strbuf *m, const char *bytes, size_t count)
{
	assert_int_equal(m->err, 0);
	assert_int_equal(m->used, count);
	assert_memory_equal(m->text, bytes, count);
	strbuf_clear(m);
}

static void test_fields(void **state)
{
	struct strbuf m = {0}, part = {0};

	(void)state;
	proto_number(&m, 1, 150);
	check(&m, "\x08\x96\x01", 3);
	proto_number(&m, 16, 0);
	check(&m, "\x80\x01\x00", 3);
	proto_number(&m, 1, UINT64_MAX);
	check(&m, "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11);
	proto_fixed64(&m, 2, 0x0102030405060708);
	check(&m, "\x11\x08\x07\x06\x05\x04\x03\x02\x01", 9);
	proto_double(&m, 2, 1);
	check(&m, "\x11\x00\x00\x00\x00\x00\x00\xf0\x3f", 9);
	proto_text(&m, 2, "testing");
	check(&m, "\x12\x07testing", 9);
	proto_text(&m, 2, "");
	check(&m, "\x12\x00", 2);
	proto_text(&m, 2, "a\xff\n");
	check(&m,
	      "\x12\x05"
	      "a\xef\xbf\xbd\n",
	      7);
	proto_number(&part, 1, 150);
	proto_part(&m, 3, &part);
	check(&m, "\x1a\x03\x08\x96\x01", 5);
	assert_int_equal(part.used, 0);
	strbuf_free(&m);
	strbuf_free(&part);
}

static void test_strings(void **state)
{
	struct string_table t = {0};
	uint32_t index;

	(void)state;
	assert_int_equal(string_table_add(&t, "", &index), 0);
	assert_int_equal(index, 0);
	assert_int_equal(string_table_add(&t, "a\xff", &index), 0);
	assert_int_equal(index, 1);
	assert_string_equal(t.rows[1], "a\xef\xbf\xbd");
	assert_int_equal(string_table_add(&t, "", &index), 0);
	assert_int_equal(index, 0);
	string_table_free(&t);
}

static struct log_names *names_new(void)
{
	struct log_names *n = log_names_new();
	struct event method = {.id = EVENT_METHOD}, stack = {.id = EVENT_STACK};

	method.v[METHOD_METHOD].u = 1;
	method.v[METHOD_CLASS_NAME].s = "demo.Table";
	method.v[METHOD_NAME].s = "lookUp";
	method.v[METHOD_SIGNATURE].s = "()V";
	method.v[METHOD_SOURCE].s = "Table.java";
	stack.v[STACK_STACK].u = 1;
	stack.v[STACK_FRAME].u = FRAME_TYPE_C2;
	stack.v[STACK_METHOD].u = 1;
	assert_non_null(n);
	assert_int_equal(log_names_add(n, &method), 0);
	assert_int_equal(log_names_add(n, &stack), 0);
	return n;
}

/* What is written, to be freed; NULL if there was no memory. */
static char *messages(const struct log_names *n, enum export_side side,
		      const struct profile_format *format, size_t *ret_size)
{
	static const struct cell cells[] = {
		{.lock = 1,
		 .waiter = 1,
		 .waiter_stack = 1,
		 .monitor = true,
		 .count = 2,
		 .blocked_ns = 10,
		 .holder = HOLDER_HAND_OVER},
		{.lock = 1,
		 .waiter = 1,
		 .monitor = true,
		 .count = 1,
		 .blocked_ns = 7,
		 .holder = 2,
		 .holder_stack = 1},
	};
	struct export_input in = {.names = n, .cells = cells, .cell_count = 2};
	struct contention_options o = {
		.side = side, .format = format, .head = {.process = "java", .spoor = "1"}};
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);
	int err;

	assert_non_null(out);
	err = contention_messages(&in, &o, out);
	assert_int_equal(fclose(out), 0);
	if (!err)
		return text;
	assert_int_equal(err, -ENOMEM);
	free(text);
	return NULL;
}

static void check_nth_fails(const struct profile_format *format)
{
	struct log_names *n = names_new();

	for (int side = 0; side < EXPORT_SIDE_COUNT; side++) {
		size_t size = 0, other;
		char *text, *all = messages(n, (enum export_side)side, format, &size);
		bool failed = true;

		assert_non_null(all);
		assert_non_null(memmem(all, size, "demo.Table.lookUp", 17));
		assert_non_null(memmem(all, size, "hand-over", 9));
		for (unsigned long i = 0; failed; i++) {
			alloc_fail_at(i);
			text = messages(n, (enum export_side)side, format, &other);
			failed = alloc_fail_off();
			if (text) {
				assert_int_equal(other, size);
				assert_memory_equal(text, all, size);
			}
			free(text);
		}
		free(all);
	}
	log_names_free(n);
}

static void test_nth_allocation_fails(void **state)
{
	(void)state;
	check_nth_fails(&profile_format_pprof);
	check_nth_fails(&profile_format_otlp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
