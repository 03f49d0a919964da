#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "log/format/event.h"
#include "session/anonymize.h"
#include "tests/unit/alloc_fail.h"

static const uint8_t key[SIPHASH_KEY_BYTES] = {0, 1, 2,  3,  4,  5,  6,  7,
					       8, 9, 10, 11, 12, 13, 14, 15};

/* Of the paper's reference code: the bytes 0, 1, 2, ... with the key above. */
static void test_siphash(void **state)
{
	uint8_t bytes[15];

	(void)state;
	for (uint8_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = i;
	assert_true(siphash(key, bytes, 0) == 0x726fdb47dd0e0e31);
	assert_true(siphash(key, bytes, 1) == 0x74f839c593dc67fd);
	assert_true(siphash(key, bytes, 8) == 0x93f5f5799a932462);
	assert_true(siphash(key, bytes, 15) == 0xa129ca6149be45e5);
}

static int all(const struct anonymize *a, char ret[512])
{
	static const struct rewrite_text texts[] = {
		{EVENT_THREAD, 1, THREAD_NAME, 1, "exec-1", 6, "exec-1", 6},
		{EVENT_THREAD, 2, THREAD_NAME, 2, "G1 secret", 9, "G1 secret", 9},
		{EVENT_THREAD, 3, THREAD_NAME, 3, "G1 Refine#3", 11, "G1 Refine#3", 11},
		{EVENT_CLASS, 1, CLASS_NAME, 1, "[[La.B;", 7, "[[La.B;", 7},
		{EVENT_METHOD, 1, METHOD_SIGNATURE, 1, "(La/B;[IQ)V", 11, "a.B", 3},
		{EVENT_METHOD, 1, METHOD_SIGNATURE, 1, "(La/B", 5, "a.B", 3},
		{EVENT_METHOD, 1, METHOD_SOURCE, 1, "", 0, "a.B", 3},
		{EVENT_STRING, 1, STRING_TEXT, 7, "kept", 4, "kept", 4},
		{EVENT_STRING, 1, STRING_TEXT, 8, "not kept", 8, "not kept", 8},
		{9999, 1, 0, 0, "unknown event", 13, "unknown event", 13},
	};
	const struct log_rewrite *r = anonymize_rewrite(a);
	const char *text;
	size_t length;
	int err = 0;

	*ret = '\0';
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts) && !err; i++) {
		err = r->text(r->ctx, &texts[i], &text, &length);
		if (!err) {
			strncat(ret, text, length);
			strcat(ret, "|");
		}
	}
	return err;
}

static int run(char ret[512])
{
	struct event e = {.id = EVENT_VM_OPERATION_BEGIN};
	struct event thread = {.id = EVENT_THREAD, .v[THREAD_JAVA_ID].u = 4};
	struct anonymize *a = NULL;
	int err = anonymize_new(key, &a);

	e.v[VM_OPERATION_BEGIN_OPERATION].u = 7;
	for (int i = 0; i < 200 && !err; i++) {
		err = anonymize_look(a, &e);
		thread.thread = 2 + 1000 * (unsigned)i;
		err = err ? err : anonymize_look(a, &thread);
		e.v[VM_OPERATION_BEGIN_OPERATION].u = i % 3 ? 7 : 1000 + (unsigned)i;
	}
	err = err ? err : all(a, ret);
	anonymize_free(a);
	return err;
}

static void test_each_allocation_fails_once(void **state)
{
	char wanted[512], got[512];
	unsigned long n = 0;
	int err;

	(void)state;
	assert_int_equal(run(wanted), 0);
	assert_non_null(strstr(wanted, "|kept|"));
	assert_null(strstr(wanted, "not"));
	assert_null(strstr(wanted, "exec"));
	assert_null(strstr(wanted, "secret"));
	assert_non_null(strstr(wanted, "|G1 Refine#3|"));
	assert_null(strstr(wanted, "unknown"));
	do {
		alloc_fail_at(n++);
		err = run(got);
	} while (alloc_fail_off() && (assert_int_equal(err, -ENOMEM), true));
	assert_int_equal(err, 0);
	assert_string_equal(got, wanted);
	assert_true(n > 3);
}

static void test_header(void **state)
{
	json_t *h = json_pack("{s:s, s:s, s:{s:s, s:s}, s:{s:s, s:s, s:i, s:{s:b}}, s:{s:[s], "
			      "s:i}, s:{s:s, s:s}, s:s}",
			      "format", "spoor", "boot_id", "abc", "host", "name", "secrethost",
			      "kernel", "6.1", "jvm", "command", "java secret", "libjvm",
			      "/home/secret/libjvm.so", "pid", 7, "flags", "UseG1GC", 1, "record",
			      "command", "secret", "window_ns", 5, "sources", "steal", "rq_clock",
			      "monitor_why", "secret", "later", "secret");
	struct anonymize *a = NULL;
	char *text;

	(void)state;
	assert_non_null(h);
	assert_int_equal(anonymize_new(key, &a), 0);
	assert_int_equal(anonymize_rewrite(a)->header(a, h), 0);
	text = json_dumps(h, JSON_COMPACT | JSON_SORT_KEYS);
	assert_null(strstr(text, "secret"));
	assert_null(strstr(text, "home"));
	assert_non_null(strstr(text, "\"kernel\":\"6.1\""));
	assert_non_null(strstr(text, "\"UseG1GC\":true"));
	assert_non_null(strstr(text, "\"steal\":\"rq_clock\""));
	assert_non_null(strstr(text, "\"pid\":7"));
	assert_non_null(strstr(text, "\"anonymized\":true"));
	free(text);
	json_decref(h);
	anonymize_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_siphash),
		cmocka_unit_test(test_each_allocation_fails_once),
		cmocka_unit_test(test_header),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
