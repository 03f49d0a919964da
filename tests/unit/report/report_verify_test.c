/* What is said of logs that were checked, with and without memory. */
#include <errno.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "log/format/event.h"
#include "report/text/commands/verify_text.h"
#include "tests/unit/alloc_fail.h"

static void test_json_is_whole_or_none(void **state)
{
	struct check_finding finding = {CHECK_DOUBT, 12, true, 3, "a doubt"};
	struct log_check check = {.blocks = 4, .events = 2, .last_ns = 5, .doubts = 1};
	struct verify_input in = {
		.path = "x.spoor", .check = &check, .findings = &finding, .finding_count = 1};
	json_t *wanted, *got;
	unsigned long n = 0;

	(void)state;
	check.events_of[EVENT_THREAD] = check.events_of[EVENT_CLASS] = 1;
	check.header = json_pack("{s:s}", "format", "spoor");
	wanted = verify_json(&in);
	assert_non_null(wanted);
	for (alloc_fail_at(n); got = verify_json(&in), alloc_fail_off(); alloc_fail_at(++n)) {
		assert_true(!got || json_equal(got, wanted));
		json_decref(got);
	}
	assert_true(n > 100 && json_equal(got, wanted));
	json_decref(got);
	json_decref(wanted);
	json_decref(check.header);
}

static void keep(void *ctx, const char *text)
{
	strcat(ctx, text);
	strcat(ctx, "|");
}

static void test_parts_without_memory(void **state)
{
	static const int numbers[] = {1, 1, 3};
	char a[] = "a", b[] = "b", c[] = "c", *paths[] = {a, b, c}, said[512];
	const struct verify_say say = {keep, said};
	struct log_check checks[3] = {0};
	unsigned long n = 0;
	int err;

	(void)state;
	for (int i = 0; i < 3; i++)
		checks[i].header =
			json_pack("{s:{s:s, s:i}}", "part", "recording", "r", "number", numbers[i]);
	do {
		*said = '\0';
		alloc_fail_at(n++);
		err = verify_parts(checks, paths, 3, &say);
	} while (alloc_fail_off() && (assert_int_equal(err, -ENOMEM), true));
	assert_int_equal(err, 0);
	assert_true(n > 3);
	assert_string_equal(said, "b: this is part 1 of recording r, as is a|"
				  "of recording r these parts are missing: 2|");
	for (int i = 0; i < 3; i++)
		json_decref(checks[i].header);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_is_whole_or_none),
		cmocka_unit_test(test_parts_without_memory),
	};

	json_set_alloc_funcs(malloc, free); /* those that can fail */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
