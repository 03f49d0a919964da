#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/text/print.h"
#include "tests/unit/alloc_fail.h"

/* What a print into a file gives: the caller's. */
#define PRINTED(ret, call)                                                                         \
	do {                                                                                       \
		size_t size;                                                                       \
		FILE *out = open_memstream(&(ret), &size);                                         \
                                                                                                   \
		assert_non_null(out);                                                              \
		call;                                                                              \
		assert_int_equal(fclose(out), 0);                                                  \
	} while (0)

static size_t utf8_put(uint32_t code, char buf[8])
{
	size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

	memset(buf, 0, 8);
	if (n == 1) {
		buf[0] = (char)code;
		return 1;
	}
	for (size_t i = n - 1; i; i--, code >>= 6)
		buf[i] = (char)(0x80 | (code & 0x3f));
	buf[0] = (char)((0xf00 >> n) | code);
	return n;
}

/* By the standard's words, not by the table under test. */
static bool must_be_hidden(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code <= 0x9f) || code == 0x061c || code == 0x200e ||
	       code == 0x200f || code == 0x2028 || code == 0x2029 ||
	       (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

static bool all_is_visible(const char *text)
{
	size_t length = strlen(text), n;
	uint32_t code;

	for (; length; text += n, length -= n) {
		n = utf8_character(text, length, &code);
		if (!n || must_be_hidden(code))
			return false;
	}
	return true;
}

static void test_each_code_point(void **state)
{
	char text[8], name[16], shown[64], again[64], *json;
	json_t *value;
	uint32_t code, hidden = 0;

	(void)state;
	for (uint32_t c = 1; c <= 0x10ffff; c++) {
		size_t n = utf8_put(c, text);

		if (c >= 0xd800 && c < 0xe000) {
			assert_int_equal(utf8_character(text, n, &code), 0);
			continue;
		}
		assert_int_equal(utf8_character(text, n, &code), n);
		assert_int_equal(code, c);
		assert_int_equal(utf8_character(text, n - 1, &code), 0);
		hidden += print_is_hidden(c);
		if (must_be_hidden(c))
			assert_true(print_is_hidden(c));
		snprintf(name, sizeof(name), "a%sb", text);
		print_buffer(shown, sizeof(shown), "%s", name);
		assert_true(all_is_visible(shown));
		assert_int_equal(!strcmp(shown, name), !print_is_hidden(c));
		print_buffer(again, sizeof(again), "%s", shown);
		assert_string_equal(again, shown);
		/* Half of them would take minutes under the sanitizers. */
		if (!print_is_hidden(c) && c > 0x3000 && c % 257)
			continue;
		PRINTED(json, print_json(out, "[%s]", name));
		assert_true(all_is_visible(json));
		value = json_loads(json, 0, NULL);
		assert_string_equal(json_string_value(json_array_get(value, 0)), name);
		free(json);
		PRINTED(json, assert_int_equal(print_json_value(out, value, JSON_COMPACT), 0));
		assert_true(all_is_visible(json));
		json_decref(value);
		value = json_loads(json, 0, NULL);
		assert_string_equal(json_string_value(json_array_get(value, 0)), name);
		json_decref(value);
		free(json);
	}
	assert_in_range(hidden, 85, 400);
}

static void test_what_is_shown(void **state)
{
	static const struct {
		const char *text, *shown, *json;
	} rows[] = {
		{"", "", "\"\""},
		{"plain \\ \"text\"", "plain \\ \"text\"", "\"plain \\\\ \\\"text\\\"\""},
		{"\x1b]0;evil\a", "\\x1b]0;evil\\x07", "\"\\u001b]0;evil\\u0007\""},
		{"a\nb\tc\rd", "a\\nb\\tc\\rd", "\"a\\nb\\tc\\rd\""},
		{"\xc2\x9b"
		 "31m\x7f",
		 "\\u009b31m\\x7f", "\"\\u009b31m\\u007f\""},
		{"\xe2\x80\xae"
		 "evil",
		 "\\u202eevil", "\"\\u202eevil\""},
		{"\xe2\x80\xa8", "\\u2028", "\"\\u2028\""},
		{"\xf3\xa0\x81\x81", "\\U000e0041", "\"\\udb40\\udc41\""},
		{"\x9b\xff", "\\x9b\\xff", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xed\xa0\x80", "\\xed\\xa0\\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xc0\xaf", "\\xc0\\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xe2\x82", "\\xe2\\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e\xe2\x80\x8d",
		 "\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e\xe2\x80\x8d",
		 "\"\xc3\xa4\xe2\x82\xac\xf0\x9d\x84\x9e\xe2\x80\x8d\""},
	};
	char shown[64], *json, *text;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_int_equal(print_buffer(shown, sizeof(shown), "%s", rows[i].text),
				 strlen(rows[i].shown));
		assert_string_equal(shown, rows[i].shown);
		PRINTED(text, print_text(out, "%s", rows[i].text));
		assert_string_equal(text, rows[i].shown);
		free(text);
		PRINTED(json, print_json_string(out, rows[i].text));
		assert_string_equal(json, rows[i].json);
		free(json);
	}
}

/* Numbers, widths and flags are as printf has them. */
static void test_formats(void **state)
{
	const char *volatile null = NULL;
	char got[256], expected[256];

	(void)state;
#define SAME(...)                                                                                  \
	do {                                                                                       \
		assert_int_equal(print_buffer(got, sizeof(got), __VA_ARGS__),                      \
				 snprintf(expected, sizeof(expected), __VA_ARGS__));               \
		assert_string_equal(got, expected);                                                \
	} while (0)
	SAME("no directive");
	SAME("100 %% of %d, %5d, %-5d|, %05d, %+d, % d", 1, -2, 3, 4, 5, 6);
	SAME("%u %lu %llu %zu %" PRIu64 " %" PRIx64, 1u, 2ul, 3ull, (size_t)4, UINT64_MAX,
	     UINT64_MAX);
	SAME("%ld %lld %zd %jd", -1l, (long long)INT64_MIN, (ssize_t)-3, INTMAX_MAX);
	SAME("%x %X %#x %o %08llx", 255, 255, 255, 8, 0xabcdefull);
	SAME("%.1f %5.1f %.*f %g %e", 1.25, 2.5, 3, 3.14159, 1e-9, 12345.678);
	SAME("%*d|%-*d|%*s|%-*s|", 6, 1, 6, 2, 6, "a", 6, "b");
	SAME("%10s|%-10s|%.2s|%.*s|%s", "right", "left", "cut", 1, "cut", "");
	SAME("%*s|%*s", -5, "a", 0, "b");
	SAME("%c%c", 'x', 'y');
	SAME("%.0s|%s", "nothing", "all");
	SAME("\x1b[K in a format is spoor's own: %s", "x");
#undef SAME
	print_buffer(got, sizeof(got), "%s|%6s|%-6s|%c", null, "\n", "\n", '\x1b');
	assert_string_equal(got, "(null)|    \\n|\\n    |\\x1b");
	/* No half character is left, neither in the middle nor at the end. */
	print_buffer(got, sizeof(got), "%.2s|%.3s|%.1s|", "\xc3\xa4\xc3\xa4", "\xc3\xa4\xc3\xa4",
		     "\xc3\xa4");
	assert_string_equal(got, "\xc3\xa4|\xc3\xa4||");
}

static void test_buffers_are_cut_between_characters(void **state)
{
	char got[32];

	(void)state;
	for (size_t size = 1; size < 8; size++) {
		memset(got, '#', sizeof(got));
		assert_int_equal(print_buffer(got, size, "%s", "a\xc3\xa4\x1b"), 7);
		assert_string_equal(got, size == 1 ? "" : size < 4 ? "a" : "a\xc3\xa4");
		assert_int_equal(got[size], '#');
	}
	assert_int_equal(print_buffer(got, sizeof(got), "%s", "a\xc3\xa4\x1b"), 7);
	assert_string_equal(got, "a\xc3\xa4\\x1b");
	assert_int_equal(print_buffer(NULL, 0, "%s", "abc"), 3);
}

static void test_csv(void **state)
{
	static const struct {
		const char *text;
		unsigned how;
		const char *field;
	} rows[] = {
		{"plain", 0, "plain"},
		{"", 0, ""},
		{"a,b", 0, "\"a,b\""},
		{"say \"no\"", 0, "\"say \"\"no\"\"\""},
		{"two\nlines", 0, "\"two\nlines\""},
		{"=1+1", 0, "\"'=1+1\""},
		{"=1+1", PRINT_CSV_RAW, "=1+1"},
		{"'a", 0, "\"''a\""},
		{"\xef\xbc\x9d"
		 "1",
		 0,
		 "\"'\xef\xbc\x9d"
		 "1\""},
		{"\x1b[31m", 0, "\x1b[31m"},
		{"\x1b[31m", PRINT_CSV_TERMINAL, "\\x1b[31m"},
		{"two\nlines", PRINT_CSV_TERMINAL, "\"two\\nlines\""},
		{"\xff", PRINT_CSV_TERMINAL, "\\xff"},
		{"\xff", 0, "\xff"},
	};
	char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		PRINTED(text, print_csv_field(out, rows[i].text, rows[i].how));
		assert_string_equal(text, rows[i].field);
		free(text);
	}
	PRINTED(text, print_csv(out, "%s,%d,%s\n", "a,b", 3, "-x"));
	assert_string_equal(text, "\"a,b\",3,\"'-x\"\n");
	free(text);
	PRINTED(text, (print_csv_open(out, "+", 0), print_csv_piece(out, "+\"", 0),
		       print_own(out, "\"")));
	assert_string_equal(text, "\"'+\"\"\"");
	free(text);
}

static void test_json_keys_and_indents(void **state)
{
	json_t *value = json_pack("{s:[s,i]}", "k\xc2\x9b", "\xe2\x80\xae", 3);
	char *text;

	(void)state;
	PRINTED(text, assert_int_equal(print_json_value(out, value, JSON_INDENT(1)), 0));
	assert_string_equal(text, "{\n \"k\\u009b\": [\n  \"\\u202e\",\n  3\n ]\n}");
	free(text);
	json_decref(value);
	assert_int_equal(print_json_value(stderr, NULL, 0), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_code_point),
		cmocka_unit_test(test_what_is_shown),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_buffers_are_cut_between_characters),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_json_keys_and_indents),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
