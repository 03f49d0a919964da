/* jvm/target/mark_files.c: each file is known once, few comparisons find it, and there is a limit. */
#include "jvm/target/mark_files.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "jvm/target/process.h"
#include "tests/unit/alloc_fail.h"

static struct process_lib lib_of(uint64_t n)
{
	/* Numbers in no order, three to an inode. */
	return (struct process_lib){.inode = n / 3 * 2654435761u % 65536,
				    .dev_major = 8,
				    .dev_minor = (uint32_t)(n % 3)};
}

static void each_is_known_once(void **state)
{
	struct mark_files m = {0};
	struct mark_file *f;

	(void)state;
	for (uint64_t i = 0; i < MARK_FILES_MAX; i++) {
		struct process_lib lib = lib_of(i);

		assert_int_equal(mark_files_find(&m, &lib, &f), -ENOENT);
		assert_int_equal(mark_files_add(&m, &lib, &f), 0);
		assert_true(f->mapped);
		assert_int_equal(f->inode, lib.inode);
		assert_int_equal(mark_files_find(&m, &lib, &f), 0);
	}
	for (uint64_t i = 0; i < MARK_FILES_MAX; i++) {
		struct process_lib lib = lib_of(i);

		assert_int_equal(mark_files_find(&m, &lib, &f), 0);
		assert_int_equal(f->dev_minor, lib.dev_minor);
	}
	free(m.list);
}

static void there_is_a_limit(void **state)
{
	struct mark_files m = {0};
	struct mark_file *f;

	(void)state;
	for (uint64_t i = 0; i < 30000; i++) {
		struct process_lib lib = lib_of(i);

		assert_int_equal(mark_files_add(&m, &lib, &f), i < MARK_FILES_MAX ? 0 : -E2BIG);
	}
	assert_int_equal(m.count, MARK_FILES_MAX);
	free(m.list);
}

static void on_gone(void *ctx, struct mark_file *f)
{
	unsigned *count = ctx;

	assert_false(f->mapped);
	++*count;
}

static void what_is_gone_is_forgotten(void **state)
{
	struct mark_files m = {0};
	unsigned gone = 0;
	struct mark_file *f;

	(void)state;
	for (uint64_t i = 0; i < 100; i++) {
		struct process_lib lib = lib_of(i);

		assert_int_equal(mark_files_add(&m, &lib, &f), 0);
		f->mapped = i % 4;
	}
	mark_files_forget(&m, on_gone, &gone);
	assert_int_equal(gone, 25);
	assert_int_equal(m.count, 75);
	for (uint64_t i = 0; i < 100; i++) {
		struct process_lib lib = lib_of(i);

		assert_int_equal(mark_files_find(&m, &lib, &f), i % 4 ? 0 : -ENOENT);
	}
	free(m.list);
}

static void allocations_may_fail(void **state)
{
	struct process_lib lib = lib_of(1);
	struct mark_files m = {0};
	struct mark_file *f;

	(void)state;
	alloc_fail_at(0);
	assert_int_equal(mark_files_add(&m, &lib, &f), -ENOMEM);
	assert_true(alloc_fail_off());
	assert_int_equal(m.count, 0);
	assert_int_equal(mark_files_add(&m, &lib, &f), 0);
	free(m.list);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_is_known_once),
		cmocka_unit_test(there_is_a_limit),
		cmocka_unit_test(what_is_gone_is_forgotten),
		cmocka_unit_test(allocations_may_fail),
	};

	return cmocka_run_group_tests_name("mark_files", tests, NULL, NULL);
}
