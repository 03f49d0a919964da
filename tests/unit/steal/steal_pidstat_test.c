/* steal/sources/pidstat.c, procstat.c: lines of /proc about processes, threads and CPUs. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steal/sources/pidstat.h"
#include "steal/sources/procstat.h"
#include "tests/unit/alloc_fail.h"

static void a_process(void **state)
{
	struct pidstat s;

	(void)state;
	assert_int_equal(
		pidstat_parse("29439 (java) S 1 2 2 0 -1 4194304 104 0 0 0 120 34 5 6 20 0 7 0 2362452 31 39\n", &s),
		0);
	assert_int_equal(s.pid, 29439);
	assert_string_equal(s.comm, "java");
	assert_int_equal(s.state, 'S');
	assert_int_equal(s.cpu_ticks, 154);
	assert_int_equal(s.threads, 7);
	assert_int_equal(s.start_ticks, 2362452);
}

static void names_hold_anything(void **state)
{
	struct pidstat s;

	(void)state;
	assert_int_equal(pidstat_parse("7 (a) S 1 (b\n)) R 1 2 2 0 -1 4 1 0 0 0 1 2 5 6 20 0 1 0 99 31 39", &s), 0);
	assert_string_equal(s.comm, "a) S 1 (b\n)");
	assert_int_equal(s.start_ticks, 99);
	assert_int_equal(pidstat_parse("7 () R 1 2 2 0 -1 4 1 0 0 0 1 2 5 6 20 0 1 0 99 31 39", &s), 0);
	assert_string_equal(s.comm, "");
	assert_int_equal(
		pidstat_parse("7 (kworker/u4:1-events_unbound) I 1 2 2 0 -1 4 1 0 0 0 1 2 5 6 20 0 1 0 99 3", &s), 0);
	assert_string_equal(s.comm, "kworker/u4:1-ev");
}

static void what_is_no_stat(void **state)
{
	static const char *const bad[] = {
		"",
		"7",
		"7 (",
		"7 )",
		"7 )(",
		"(a) S 1",
		"7 (a)",
		"7 (a) S 1 2 2",
		"x (a) R 1 2 2 0 -1 4 1 0 0 0 1 2",
		"0 (a) R 1 2 2 0 -1 4 1 0 0 0 1 2 5 6 20 0 1 0 99 31 39",
		"7 (a) R 1 2 2 0 -1 4 1 0 0 0 1 x 5 6 20 0 1 0 99 31 39",
	};
	struct pidstat s = {.pid = 5};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(pidstat_parse(bad[i], &s), -EPROTO);
	assert_int_equal(s.pid, 5);
}

static void schedstats(void **state)
{
	uint64_t ns = 7;

	(void)state;
	assert_int_equal(schedstat_parse("123456789 43 2\n", &ns), 0);
	assert_int_equal(ns, 123456789);
	assert_int_equal(schedstat_parse("", &ns), -EPROTO);
	assert_int_equal(schedstat_parse("1 2\n", &ns), -EPROTO);
	assert_int_equal(ns, 123456789);
}

static void cpus_one_after_the_other(void **state)
{
	const char *text = "cpu  1 2 3 4\ncpu0 5 0 0 1 0 0 0 2 0 0\ncpu4000 6 0 0 2\nintr 5\n";
	struct procstat_cpu c;
	unsigned cpu;

	(void)state;
	assert_int_equal(procstat_next(&text, &cpu, &c), 1);
	assert_int_equal(cpu, 0);
	assert_int_equal(c.steal, 2);
	assert_int_equal(procstat_next(&text, &cpu, &c), 1);
	assert_int_equal(cpu, 4000);
	assert_int_equal(procstat_next(&text, &cpu, &c), 0);
	assert_int_equal(procstat_next(&text, &cpu, &c), 0);
	text = "cpu0 1 2 3";
	assert_int_equal(procstat_next(&text, &cpu, &c), -EPROTO);
	text = "cpu ";
	assert_int_equal(procstat_next(&text, &cpu, &c), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_process),
		cmocka_unit_test(names_hold_anything),
		cmocka_unit_test(what_is_no_stat),
		cmocka_unit_test(schedstats),
		cmocka_unit_test(cpus_one_after_the_other),
	};

	return cmocka_run_group_tests_name("steal_pidstat", tests, NULL, NULL);
}
