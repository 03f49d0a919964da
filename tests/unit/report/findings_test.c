/* Findings as tables, and what text, JSON and CSV make of them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/print.h"
#include "report/csv/findings_csv.h"
#include "report/json/findings_json.h"
#include "report/model/findings.h"
#include "report/model/sections/section_internal.h"
#include "report/text/findings_text.h"
#include "tests/unit/alloc_fail.h"

enum kind { KIND_TEXT, KIND_JSON, KIND_CSV, KIND_COUNT };

static int write_kind(const struct findings *f, enum kind kind, const struct findings_view *view, FILE *out)
{
	json_t *array;
	int err;

	if (kind == KIND_TEXT)
		return findings_to_text(f, view, out);
	if (kind == KIND_CSV)
		return findings_to_csv(f, true, out);
	array = findings_to_json(f);
	err = array ? print_json_value(out, array, JSON_COMPACT) : -ENOMEM;
	json_decref(array);
	return err ? -ENOMEM : 0;
}

/* Takes over f. */
static void check(struct findings *f, enum kind kind, const struct findings_view *view, const char *expected)
{
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(write_kind(f, kind, view, out), 0);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
	findings_free(f);
}

static const struct findings_view as_is = {.indent = 2};

/* One row takes turns, and rows within rows have the columns of the table. */
static void rows_are_cleared_and_skipped(void **state)
{
	static const struct findings_column columns[] = {
		{.key = "rows", .unit = FINDINGS_ROWS},
		{.key = "n", .title = "n", .unit = FINDINGS_COUNT},
		{.title = "share", .unit = FINDINGS_COUNT, .show = FINDINGS_SHARE, .of = -1},
		{.key = "name", .title = "name"},
	};
	struct findings *f = FINDINGS_NEW(columns), *within;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		findings_clear(f);
		within = findings_within(f, i);
		findings_row(within, FINDINGS_ALL);
		findings_skip(within, 2);
		findings_text(within, "in", NULL);
		findings_row(f, FINDINGS_ALL);
		findings_rows(f, within);
		findings_number(f, i);
		findings_text(f, "out", NULL);
		assert_int_equal(f->row_count, 1);
	}
	findings_clear(NULL);
	findings_skip(NULL, 1);
	assert_null(findings_within(NULL, 1));
	check(f, KIND_JSON, NULL, "[{\"rows\":[{\"name\":\"in\"}],\"n\":2,\"name\":\"out\"}]");
}

static void an_integer_may_be_negative(void **state)
{
	static const struct findings_column columns[] = {
		{.key = "tid", .title = "tid", .unit = FINDINGS_INTEGER}};
	static const char *const expected[KIND_COUNT] = {
		[KIND_TEXT] = "  tid\n  -7\n", [KIND_JSON] = "[{\"tid\":-7}]", [KIND_CSV] = "tid\n-7\n"};

	(void)state;
	for (int kind = 0; kind < KIND_COUNT; kind++) {
		struct findings *f = FINDINGS_NEW(columns);

		findings_row(f, FINDINGS_ALL);
		findings_number(f, (uint64_t)-7);
		check(f, kind, &as_is, expected[kind]);
	}
}

/* --- a table with everything --- */

static struct findings *list_new(const char *first, const char *second)
{
	static const struct findings_column columns[] = {{.unit = FINDINGS_TEXT}};
	struct findings *f = FINDINGS_NEW(columns);

	findings_row(f, FINDINGS_ALL);
	findings_text(f, first, NULL);
	findings_row(f, FINDINGS_ALL);
	findings_text(f, second, NULL);
	return f;
}

static struct findings *tree_new(unsigned level)
{
	static const struct findings_column columns[] = {
		{.key = "name", .title = "name"},
		{.key = "names", .unit = FINDINGS_ROWS, .flags = FINDINGS_LIST},
		FINDINGS_TIMES,
		{.title = "share", .unit = FINDINGS_NS, .show = FINDINGS_SHARE, .of = -3},
		{.key = "bytes", .unit = FINDINGS_BYTES},
		{.key = "left", .unit = FINDINGS_BYTES},
		{.title = "heap", .unit = FINDINGS_BYTES, .show = FINDINGS_FROM_TO, .of = -2, .per = -1},
		{.key = "more_ns", .title = "more", .unit = FINDINGS_MORE_NS, .flags = FINDINGS_NULL},
		{.key = "yes", .title = "yes", .unit = FINDINGS_BOOL, .group = "a.b"},
		{.key = "tid", .title = "tid", .unit = FINDINGS_NUMBER, .group = "a"},
		{.key = "within", .unit = FINDINGS_ROWS, .flags = FINDINGS_TREE},
	};
	struct findings *f = FINDINGS_NEW(columns);

	for (unsigned i = 1; i <= 3; i++) {
		findings_row(f, FINDINGS_ALL);
		findings_text(f, i == 2 ? "two" : "one", i == 3 ? "three\nits caller" : NULL);
		findings_rows(f, list_new("x", "y"));
		FINDINGS_NUMBERS(f, i, i * 1000, i * 500);
		FINDINGS_NUMBERS(f, 4096, 1024);
		findings_maybe(f, i == 1, (uint64_t)-1500);
		FINDINGS_NUMBERS(f, i == 1, 10000 + i);
		if (!level && i == 1)
			findings_rows(f, tree_new(level + 1));
	}
	return f;
}

static void text_shows_titles_and_derived_columns(void **state)
{
	const struct findings_view view = {.indent = 1, .top = 2, .sort = "total_ns", .rest = FINDINGS_REST_SUM,
					   .noun = "names"};

	(void)state;
	check(tree_new(1), KIND_TEXT, &view,
	      " name             count     total      mean       max    share                  heap  more  yes    tid\n"
	      " three                3   3.00 us   1.00 us   1.50 us   50.0 %  4.00 KiB -> 1.00 KiB         no  10003\n"
	      "     its caller\n"
	      " two                  2   2.00 us   1.00 us   1.00 us   33.3 %  4.00 KiB -> 1.00 KiB         no  10002\n"
	      " (1 more names)       1   1.00 us   1.00 us             16.7 %  4.00 KiB -> 1.00 KiB\n");
}

static void text_of_a_tree_is_indented(void **state)
{
	const struct findings_view view = {.top = 1, .sort = "total_ns", .ascending = true,
					   .rest = FINDINGS_REST_ROW, .all = "all"};

	(void)state;
	check(tree_new(0), KIND_TEXT, &view,
	      "name    count     total      mean       max    share                  heap      more  yes    tid\n"
	      "one         1   1.00 us   1.00 us    500 ns   16.7 %  4.00 KiB -> 1.00 KiB  -1.50 us  yes  10001\n"
	      "  one       1   1.00 us   1.00 us    500 ns   16.7 %  4.00 KiB -> 1.00 KiB  -1.50 us  yes  10001\n"
	      "  and 2 more\n"
	      "and 2 more\n"
	      "all         6   6.00 us   1.00 us              100 %  12.0 KiB -> 3.00 KiB\n");
}

static void json_has_keys_groups_and_nested_tables(void **state)
{
	char expected[2048], rows[1024];
	const char *row = "{\"name\":\"%s\",\"names\":[\"x\",\"y\"],\"count\":%d,\"total_ns\":%d000,\"max_ns\":%d,"
			  "\"bytes\":4096,\"left\":1024,\"more_ns\":%s,\"a\":{\"b\":{\"yes\":%s},\"tid\":1000%d}";
	size_t length = 0;

	(void)state;
	for (int i = 1; i <= 3; i++) {
		length += (size_t)snprintf(rows + length, sizeof(rows) - length, row, i == 2 ? "two" : "one", i, i,
					   i * 500, i == 1 ? "-1500" : "null", i == 1 ? "true" : "false", i);
		length += (size_t)snprintf(rows + length, sizeof(rows) - length, i < 3 ? "}," : "}");
	}
	snprintf(expected, sizeof(expected), "[%s]", rows);
	check(tree_new(1), KIND_JSON, NULL, expected);
}

static void csv_has_levels_and_lists(void **state)
{
	(void)state;
	check(tree_new(0), KIND_CSV, NULL,
	      "level,name,names,count,total_ns,max_ns,bytes,left,more_ns,a.b.yes,a.tid\n"
	      "0,one,\"x; y\",1,1000,500,4096,1024,-1500,1,10001\n"
	      "1,one,\"x; y\",1,1000,500,4096,1024,-1500,1,10001\n"
	      "1,two,\"x; y\",2,2000,1000,4096,1024,,0,10002\n"
	      "1,one,\"x; y\",3,3000,1500,4096,1024,,0,10003\n"
	      "0,two,\"x; y\",2,2000,1000,4096,1024,,0,10002\n"
	      "0,one,\"x; y\",3,3000,1500,4096,1024,,0,10003\n");
}

/* --- what is special --- */

static const struct findings_column plain[] = {
	{.key = "name", .title = "name", .flags = FINDINGS_NULL},
	{.key = "ns", .title = "time", .unit = FINDINGS_NS, .flags = FINDINGS_IF_ANY | FINDINGS_NO_ZERO},
	{.key = "count", .unit = FINDINGS_COUNT, .show = FINDINGS_SHARE, .group = "g",
	 .flags = FINDINGS_PLAIN | FINDINGS_NULL},
};

static void a_table_without_rows_is_nothing_to_people(void **state)
{
	struct findings *f = FINDINGS_NEW(plain);

	(void)state;
	findings_row(f, FINDINGS_PROGRAMS);
	findings_text(f, "x", NULL);
	check(FINDINGS_NEW(plain), KIND_TEXT, &as_is, "");
	check(FINDINGS_NEW(plain), KIND_JSON, NULL, "[]");
	check(FINDINGS_NEW(plain), KIND_CSV, NULL, "name,ns,count\n");
	check(f, KIND_TEXT, &as_is, "");
}

static struct findings *named_new(const char *name, uint64_t ns)
{
	struct findings *f = FINDINGS_NEW(plain);

	findings_row(f, FINDINGS_ALL);
	findings_text(f, name, NULL);
	findings_number(f, ns);
	findings_row(f, FINDINGS_PEOPLE);
	findings_text(f, "for people", NULL);
	return f;
}

static void a_column_without_a_value_is_hidden(void **state)
{
	(void)state;
	check(named_new("a", 0), KIND_TEXT, &as_is, "  name\n  a\n  for people\n");
	check(named_new("a", 5), KIND_TEXT, &as_is, "  name      time\n  a         5 ns\n  for people\n");
	check(named_new(NULL, 0), KIND_JSON, NULL, "[{\"name\":null,\"ns\":0,\"g\":null}]");
	check(named_new(NULL, 0), KIND_CSV, NULL, "name,ns,count\n,0,\n");
}

static void foreign_text_is_encoded_by_each(void **state)
{
	const char *foreign = "a\x1b[2J\nb,\"c\"";

	(void)state;
	check(named_new(foreign, 0), KIND_TEXT, &as_is, "  name\n  a\\x1b[2J\\nb,\"c\"\n  for people\n");
	check(named_new(foreign, 0), KIND_JSON, NULL,
	      "[{\"name\":\"a\\u001B[2J\\nb,\\\"c\\\"\",\"ns\":0,\"g\":null}]");
	check(named_new(foreign, 0), KIND_CSV, NULL, "name,ns,count\n\"a\x1b[2J\nb,\"\"c\"\"\",0,\n");
	check(named_new("=1+2", 0), KIND_CSV, NULL, "name,ns,count\n\"'=1+2\",0,\n");
}

static void huge_numbers_neither_wrap_nor_turn_negative(void **state)
{
	struct findings *f = FINDINGS_NEW(plain);

	(void)state;
	for (int i = 0; i < 2; i++) {
		findings_row(f, FINDINGS_ALL);
		findings_text(f, "a", NULL);
		FINDINGS_NUMBERS(f, UINT64_MAX, UINT64_MAX);
	}
	assert_true(findings_sum(f, 1) == UINT64_MAX);
	check(f, KIND_JSON, NULL,
	      "[{\"name\":\"a\",\"ns\":9223372036854775807,\"g\":{\"count\":9223372036854775807}},"
	      "{\"name\":\"a\",\"ns\":9223372036854775807,\"g\":{\"count\":9223372036854775807}}]");
	check(named_new("a", UINT64_MAX), KIND_CSV, NULL, "name,ns,count\na,18446744073709551615,\n");
}

static void lines_below_say_how_many_are_left(void **state)
{
	const struct findings_view view = {.top = 1, .noun = "names", .gap = true};

	(void)state;
	check(named_new("a", 0), KIND_TEXT, &view, "\nname\na\nand 1 more names\n");
}

static void a_value_of_the_wrong_kind_is_an_error(void **state)
{
	struct findings *f = FINDINGS_NEW(plain);

	(void)state;
	findings_row(f, FINDINGS_ALL);
	findings_number(f, 1);
	assert_int_equal(f->err, -EINVAL);
	assert_int_equal(findings_to_text(f, &as_is, stderr), -EINVAL);
	assert_int_equal(findings_to_csv(f, true, stderr), -EINVAL);
	assert_null(findings_to_json(f));
	findings_free(f);
	f = FINDINGS_NEW(plain);
	findings_row(f, FINDINGS_ALL);
	findings_rows(f, FINDINGS_NEW(plain));
	assert_int_equal(f->err, -EINVAL);
	findings_free(f);
}

static bool fails_at(unsigned long n, enum kind kind)
{
	const struct findings_view view = {.top = 2, .sort = "total_ns", .rest = FINDINGS_REST_SUM, .all = "all"};
	size_t size;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);
	struct findings *f;
	bool failed;
	int err;

	assert_non_null(out);
	alloc_fail_at(n);
	f = tree_new(0);
	err = write_kind(f, kind, &view, out);
	findings_free(f);
	failed = alloc_fail_off();
	fclose(out);
	free(text);
	assert_true(!err || (failed && err == -ENOMEM));
	return failed;
}

static void without_memory_all_say_so(void **state)
{
	(void)state;
	json_set_alloc_funcs(malloc, free);
	for (enum kind kind = 0; kind < KIND_COUNT; kind++) {
		for (unsigned long n = 0; fails_at(n, kind); n++)
			;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_cleared_and_skipped),
		cmocka_unit_test(an_integer_may_be_negative),
		cmocka_unit_test(text_shows_titles_and_derived_columns),
		cmocka_unit_test(text_of_a_tree_is_indented),
		cmocka_unit_test(json_has_keys_groups_and_nested_tables),
		cmocka_unit_test(csv_has_levels_and_lists),
		cmocka_unit_test(a_table_without_rows_is_nothing_to_people),
		cmocka_unit_test(a_column_without_a_value_is_hidden),
		cmocka_unit_test(foreign_text_is_encoded_by_each),
		cmocka_unit_test(huge_numbers_neither_wrap_nor_turn_negative),
		cmocka_unit_test(lines_below_say_how_many_are_left),
		cmocka_unit_test(a_value_of_the_wrong_kind_is_an_error),
		cmocka_unit_test(without_memory_all_say_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
