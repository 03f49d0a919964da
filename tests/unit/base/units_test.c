#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/text/units.h"
#include "tests/unit/alloc_fail.h"

static void test_duration_parse(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t ns;
	} rows[] = {
		{"10", 0, 10 * NS_PER_S},
		{"10s", 0, 10 * NS_PER_S},
		{"250ms", 0, 250 * NS_PER_MS},
		{"1.5h", 0, 5400 * NS_PER_S},
		{"0", 0, 0},
		{".5s", 0, NS_PER_S / 2},
		{"7us", 0, 7000},
		{"3ns", 0, 3},
		{"2m", 0, 120 * NS_PER_S},
		{"2min", 0, 120 * NS_PER_S},
		{"1MS", 0, NS_PER_MS},
		{"", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"-1s", -EINVAL, 0},
		{"+1s", -EINVAL, 0},
		{" 1", -EINVAL, 0},
		{"1 s", -EINVAL, 0},
		{"1x", -EINVAL, 0},
		{"1ss", -EINVAL, 0},
		{"nan", -EINVAL, 0},
		{"inf", -EINVAL, 0},
		{".", -EINVAL, 0},
		{"1e999", -EINVAL, 0},
		{"1e12h", -ERANGE, 0},
		{"10000000000", -ERANGE, 0},
	};
	uint64_t ns;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		ns = 12345;
		assert_int_equal(duration_parse(rows[i].text, &ns), rows[i].err);
		assert_int_equal(ns, rows[i].err ? 12345 : rows[i].ns);
	}
}

static void test_size_parse(void **state)
{
	static const struct {
		const char *text;
		int err;
		uint64_t bytes;
	} rows[] = {
		{"4096", 0, 4096},     {"64k", 0, 65536},
		{"16M", 0, 16u << 20}, {"1G", 0, 1u << 30},
		{"1GiB", 0, 1u << 30}, {"2kb", 0, 2048},
		{"1b", 0, 1},          {"0.5k", 0, 512},
		{"", -EINVAL, 0},      {"k", -EINVAL, 0},
		{"1T", -EINVAL, 0},    {"-5", -EINVAL, 0},
		{"1e30", -ERANGE, 0},  {"9000000000G", -ERANGE, 0},
	};
	uint64_t bytes;
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		bytes = 12345;
		assert_int_equal(size_parse(rows[i].text, &bytes), rows[i].err);
		assert_int_equal(bytes, rows[i].err ? 12345 : rows[i].bytes);
	}
}

static void test_duration_format(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} rows[] = {
		{0, "0 ns"},
		{1, "1 ns"},
		{999, "999 ns"},
		{1000, "1.00 us"},
		{12345, "12.3 us"},
		{999499, "999 us"},
		{999500, "1.00 ms"},
		{4560 * NS_PER_MS, "4.56 s"},
		{59 * NS_PER_S, "59.0 s"},
		{75 * NS_PER_S, "75.0 s"},
		{599 * NS_PER_S, "599 s"},
		{600 * NS_PER_S, "10.0 min"},
		{4992 * NS_PER_S, "83.2 min"},
		{UINT64_MAX, "307445735 min"},
	};
	char buf[UNITS_TEXT_MAX];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		assert_ptr_equal(duration_format(rows[i].ns, buf), buf);
		assert_string_equal(buf, rows[i].text);
	}
}

static void test_size_format(void **state)
{
	static const struct {
		uint64_t bytes;
		const char *text;
	} rows[] = {
		{0, "0 B"},
		{1000, "1000 B"},
		{1024, "1.00 KiB"},
		{1536, "1.50 KiB"},
		{20 * 1024 + 512, "20.5 KiB"},
		{300 << 20, "300 MiB"},
		{5ull << 30, "5.00 GiB"},
		{UINT64_MAX, "17179869184 GiB"},
	};
	char buf[UNITS_TEXT_MAX];
	unsigned i;

	(void)state;
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_string_equal(size_format(rows[i].bytes, buf), rows[i].text);
}

static void test_clocks_run(void **state)
{
	uint64_t before = clock_mono_ns();

	(void)state;
	assert_true(clock_mono_ns() >= before);
	/* Later than 2020-01-01. */
	assert_true(clock_wall_ns() > 1577836800ull * NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_duration_parse),  cmocka_unit_test(test_size_parse),
		cmocka_unit_test(test_duration_format), cmocka_unit_test(test_size_format),
		cmocka_unit_test(test_clocks_run),
	};

	return cmocka_run_group_tests_name("units", tests, NULL, NULL);
}
