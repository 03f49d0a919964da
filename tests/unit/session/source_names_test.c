/* The names of a log, in a pass of their own: of a whole log, of a damaged one, of none. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "log/read/names.h"
#include "session/log_source.h"
#include "session/source_names.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/log/log_fixture.h"
#include "tests/unit/temp_folder.h"

static struct temp folder;

static int setup(void **state)
{
	(void)state;
	return temp_begin(&folder);
}

static int teardown(void **state)
{
	(void)state;
	temp_files(folder.dir, true, NULL);
	return rmdir(folder.dir);
}

/* A class is used in the first block and defined in the last. */
static void write_log(void)
{
	const struct log_writer_options options = {.path = folder.path};
	const struct event_desc *desc = schema_event(EVENT_CLASS);
	struct event use = {.id = EVENT_LOCK, .field_count = 0};
	struct event define = {.id = EVENT_CLASS, .field_count = (uint16_t)desc->field_count};
	json_t *header = fixture_header();
	struct log_writer *w;

	use.field_count = (uint16_t)schema_event(EVENT_LOCK)->field_count;
	use.v[LOCK_LOCK].u = 5;
	use.v[LOCK_CLASS].u = 7;
	define.v[CLASS_CLASS].u = 7;
	define.v[CLASS_NAME].s = "Table";
	assert_int_equal(log_writer_open(&options, header, &w), 0);
	log_write(w, &use);
	log_writer_flush(w);
	log_write(w, &define);
	assert_int_equal(log_writer_close(w), 0);
	json_decref(header);
}

static int read_names(struct log_names **ret)
{
	struct log_source source = {0};
	int err = log_source_add(&source, folder.path);

	if (!err)
		err = source_names_read(&source, ret);
	log_source_free(&source);
	return err;
}

static void test_whole(void **state)
{
	struct log_names *names;

	(void)state;
	write_log();
	assert_int_equal(read_names(&names), 0);
	assert_string_equal(log_names_class(names, 7), "Table");
	assert_int_equal(log_names_lock(names, 5)->class, 7);
	log_names_free(names);
}

/* Byte by byte from the end, until the block that defines the class is cut: what is before it is
 * known. */
static void test_cut_short(void **state)
{
	struct log_names *names = NULL;
	struct stat st;
	bool known = true;

	(void)state;
	write_log();
	assert_int_equal(stat(folder.path, &st), 0);
	while (known) {
		assert_int_equal(truncate(folder.path, --st.st_size), 0);
		assert_int_equal(read_names(&names), 0);
		known = log_names_class(names, 7);
		assert_int_equal(log_names_lock(names, 5)->class, 7);
		log_names_free(names);
	}
}

static void test_no_log(void **state)
{
	struct log_names *names = NULL;

	(void)state;
	assert_int_equal(read_names(&names), -ENOENT);
	assert_null(names);
}

static void test_no_memory(void **state)
{
	struct log_names *names;
	int err = -ENOMEM;

	(void)state;
	write_log();
	for (unsigned long n = 0; err; n++) {
		names = NULL;
		alloc_fail_at(n);
		err = read_names(&names);
		alloc_fail_off();
		assert_true(!err || (err == -ENOMEM && !names));
	}
	assert_string_equal(log_names_class(names, 7), "Table");
	log_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_whole, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cut_short, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_log, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_memory, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
