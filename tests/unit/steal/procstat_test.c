/* steal/sources/procstat.c: lines of /proc/stat, whole, short, damaged. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steal/sources/procstat.h"
#include "tests/unit/alloc_fail.h"

static const char two[] = "cpu  30 3 20 400 5 1 2 7 0 0\n"
			  "cpu0 10 1 5 100 2 1 1 3 9 9\n"
			  "cpu1 20 2 15 300 3 0 1 4 0 0\n"
			  "intr 12345 0 0\nctxt 99\n";

static void takes_each_cpu(void **state)
{
	struct procstat_cpu cpus[2] = {{0}};

	(void)state;
	assert_int_equal(procstat_parse(two, cpus, 2), 2);
	assert_int_equal(cpus[0].user, 11);
	assert_int_equal(cpus[0].system, 7);
	assert_int_equal(cpus[0].idle, 102);
	assert_int_equal(cpus[0].steal, 3);
	assert_int_equal(cpus[1].user, 22);
	assert_int_equal(cpus[1].steal, 4);
}

static void ignores_more_cpus_than_wanted(void **state)
{
	struct procstat_cpu cpus[2] = {{0}, {.user = 77}};

	(void)state;
	assert_int_equal(procstat_parse(two, cpus, 1), 1);
	assert_int_equal(cpus[0].user, 11);
	assert_int_equal(cpus[1].user, 77);
}

static void an_offline_cpu_keeps_its_values(void **state)
{
	struct procstat_cpu cpus[3] = {{.user = 1}, {.user = 2}, {.user = 3}};

	(void)state;
	assert_int_equal(procstat_parse("cpu 1 2 3 4\ncpu0 5 0 0 0\ncpu2 9 0 0 0\n", cpus, 3), 2);
	assert_int_equal(cpus[1].user, 2);
	assert_int_equal(cpus[2].user, 9);
}

static void old_kernels_have_fewer_columns(void **state)
{
	struct procstat_cpu cpus[1] = {{0}};

	(void)state;
	assert_int_equal(procstat_parse("cpu 1 2 3 4\ncpu0 1 2 3 4\n", cpus, 1), 1);
	assert_int_equal(cpus[0].steal, 0);
	assert_int_equal(cpus[0].idle, 4);
}

static void refuses_what_is_not_proc_stat(void **state)
{
	struct procstat_cpu cpus[1] = {{0}};

	(void)state;
	assert_true(procstat_parse("", cpus, 1) < 0);
	assert_true(procstat_parse("hello\n", cpus, 1) < 0);
	assert_true(procstat_parse("cpu0 1 2 x\n", cpus, 1) < 0);
	assert_true(procstat_parse("cpux 1 2 3 4\n", cpus, 1) < 0);
}

static void reads_the_running_system(void **state)
{
	struct procstat_cpu *cpus = calloc(4096, sizeof(*cpus));
	int count = procstat_read(cpus, 4096);

	(void)state;
	assert_true(count > 0);
	assert_true(cpus[0].idle + cpus[0].user + cpus[0].system > 0);
	alloc_fail_at(0);
	assert_int_equal(procstat_read(cpus, 4096), -ENOMEM);
	assert_true(alloc_fail_off());
	free(cpus);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes_each_cpu),
		cmocka_unit_test(ignores_more_cpus_than_wanted),
		cmocka_unit_test(an_offline_cpu_keeps_its_values),
		cmocka_unit_test(old_kernels_have_fewer_columns),
		cmocka_unit_test(refuses_what_is_not_proc_stat),
		cmocka_unit_test(reads_the_running_system),
	};

	return cmocka_run_group_tests_name("procstat", tests, NULL, NULL);
}
