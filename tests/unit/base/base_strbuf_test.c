#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/strbuf.h"
#include "tests/unit/alloc_fail.h"

static void test_pieces(void **state)
{
	struct strbuf b = {.most = 0};
	char wanted[4001] = "";

	(void)state;
	assert_string_equal(strbuf_text(&b), "");
	for (int i = 0; i < 1000; i++) {
		strbuf_add(&b, "%d%s", i % 10, i % 2 ? "a%s" : "b");
		assert_int_equal(b.used, strlen(b.text));
		snprintf(wanted + strlen(wanted), sizeof(wanted) - strlen(wanted), "%d%s", i % 10,
			 i % 2 ? "a%s" : "b");
	}
	assert_string_equal(strbuf_text(&b), wanted);
	assert_false(b.is_cut || b.err);
	strbuf_free(&b);
	assert_string_equal(strbuf_text(&b), "");
	strbuf_add(&b, "again");
	assert_string_equal(strbuf_text(&b), "again");
	strbuf_free(&b);
}

/* At each length; the ä has two bytes. */
static void test_cut(void **state)
{
	static const char *const wanted[] = {"", ".", "..", "...", "a...", "a...", "aäbä"};
	struct strbuf b;

	(void)state;
	for (size_t most = 1; most < 11; most++) {
		b = (struct strbuf){.most = most};
		strbuf_add(&b, "aä");
		strbuf_add(&b, "bä");
		assert_int_equal(b.is_cut, most < 6);
		assert_true(b.used <= most);
		assert_string_equal(strbuf_text(&b), wanted[most < 6 ? most : 6]);
		strbuf_add(&b, "%s", "");
		assert_int_equal(b.is_cut, most < 6);
		strbuf_free(&b);
	}
}

/* A piece that would fit again is not added where one is missing. */
static void test_nothing_follows_what_is_missing(void **state)
{
	struct strbuf b = {.most = 8};

	(void)state;
	strbuf_add(&b, "12345678");
	assert_false(b.is_cut);
	strbuf_add(&b, "9");
	strbuf_add(&b, "0");
	assert_string_equal(strbuf_text(&b), "12345...");
	strbuf_free(&b);
}

/* Bytes go in as they are, a NUL, too. */
static void test_bytes(void **state)
{
	struct strbuf b = {.most = 0}, most = {.most = 4};

	(void)state;
	strbuf_put(&b, NULL, 0);
	assert_string_equal(strbuf_text(&b), "");
	strbuf_put(&b, "a\0b%s", 5);
	strbuf_add(&b, "%d", 1);
	assert_int_equal(b.used, 6);
	assert_memory_equal(strbuf_text(&b), "a\0b%s1", 7);
	strbuf_clear(&b);
	assert_string_equal(strbuf_text(&b), "");
	strbuf_put(&b, "again", 5);
	assert_string_equal(strbuf_text(&b), "again");
	strbuf_free(&b);
	strbuf_clear(&b);
	assert_string_equal(strbuf_text(&b), "");
	strbuf_put(&most, "12345", 5);
	assert_true(most.is_cut);
	strbuf_put(&most, "6", 1);
	assert_string_equal(strbuf_text(&most), "1...");
	strbuf_clear(&most);
	strbuf_put(&most, "1234", 4);
	assert_string_equal(strbuf_text(&most), "1234");
	assert_false(most.is_cut);
	strbuf_free(&most);
}

static void make(struct strbuf *b)
{
	for (int i = 0; i < 100; i++) {
		strbuf_add(b, "%d, some words that make it grow, ", i);
		strbuf_put(b, "and more, ", 10);
	}
}

static void test_each_allocation_fails_once(void **state)
{
	struct strbuf whole = {.most = 0}, b = {.most = 0};
	unsigned long n = 0;

	(void)state;
	make(&whole);
	assert_int_equal(whole.err, 0);
	for (alloc_fail_at(n); make(&b), alloc_fail_off(); alloc_fail_at(++n)) {
		assert_int_equal(b.err, -ENOMEM);
		assert_true(strlen(strbuf_text(&b)) < whole.used);
		assert_memory_equal(strbuf_text(&b), whole.text, strlen(strbuf_text(&b)));
		strbuf_free(&b);
	}
	assert_int_equal(b.err, 0);
	assert_string_equal(strbuf_text(&b), whole.text);
	assert_true(n > 3);
	strbuf_free(&b);
	strbuf_free(&whole);
}

/* All that there is room for, and nothing beyond. */
static void test_of_an_array(void **state)
{
	char buf[16] = "", after[4] = "abc";

	(void)state;
	for (int i = 0; i < 100; i++)
		buffer_add(buf, 8, "%s%d", i ? ", " : "", 10 + i);
	assert_string_equal(buf, "10, 11,");
	assert_memory_equal(buf + 8, (char[8]){0}, 8);
	memset(buf, 'x', sizeof(buf));
	buffer_add(buf, 8, "%s", "no end, no room");
	assert_memory_equal(buf, "xxxxxxxxxxxxxxxx", 16);
	buffer_add(after, sizeof(after), "d");
	assert_string_equal(after, "abc");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_nothing_follows_what_is_missing),
		cmocka_unit_test(test_each_allocation_fails_once),
		cmocka_unit_test(test_of_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
