/* The events of a log as tables: which kinds have one, where it is written, and what fails. */
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "log/read/names.h"
#include "report/csv/event_tables.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/log/log_fixture.h"

struct files {
	int err; /* what opening one returns */
	unsigned opened;
	FILE *outs[SCHEMA_ID_MAX + 1];
	char *texts[SCHEMA_ID_MAX + 1];
	size_t sizes[SCHEMA_ID_MAX + 1];
};

static int open_file(const struct event_desc *desc, FILE **ret, void *arg)
{
	struct files *f = arg;

	assert_null(f->outs[desc->id]);
	if (f->err)
		return f->err;
	f->outs[desc->id] = open_memstream(&f->texts[desc->id], &f->sizes[desc->id]);
	if (!f->outs[desc->id])
		return -ENOMEM;
	f->opened++;
	*ret = f->outs[desc->id];
	return 0;
}

static void files_close(struct files *f)
{
	for (unsigned i = 0; i <= SCHEMA_ID_MAX; i++)
		if (f->outs[i])
			fclose(f->outs[i]);
}

static void files_free(struct files *f)
{
	for (unsigned i = 0; i <= SCHEMA_ID_MAX; i++)
		free(f->texts[i]);
	memset(f, 0, sizeof(*f));
}

static unsigned lines(const char *text)
{
	unsigned n = 0;

	for (; (text = strchr(text, '\n')); text++)
		n++;
	return n;
}

static void test_a_table_of_each_kind(void **state)
{
	struct log_names *names = log_names_new();
	struct files files = {0};
	const struct event_tables_options options = {
		.table = {.frames = 12}, .open = open_file, .arg = &files};
	struct event_tables *t;
	struct event e;
	unsigned count, n;

	(void)state;
	schema_events(&count);
	assert_int_equal(event_tables_kinds(&options), UINT_MAX);
	assert_int_equal(event_tables_new(&options, names, NULL, &t), 0);
	assert_int_equal(files.opened, 0);
	for (n = 0; fixture_nth(n, &e); n++)
		assert_int_equal(event_tables_add(t, &e), 0);
	assert_int_equal(event_tables_rows(t), n);
	assert_int_equal(files.opened, count);
	event_tables_free(t);
	files_close(&files);
	for (unsigned id = 0; id <= SCHEMA_ID_MAX; id++)
		if (files.texts[id])
			assert_int_equal(lines(files.texts[id]), FIXTURE_STYLE_COUNT);
	files_free(&files);
	log_names_free(names);
}

/* The log has events of one of the two kinds only. */
static void test_selected_kinds(void **state)
{
	struct log_names *names = log_names_new();
	struct files files = {0};
	struct event_tables_options options = {
		.table = {.csv = true}, .filter = true, .open = open_file, .arg = &files};
	const struct event other = {.id = EVENT_THREAD_END, .field_count = 1};
	const struct event e = {.id = EVENT_SAFEPOINT_BEGIN};
	struct event_tables *t;

	(void)state;
	options.selected[EVENT_SAFEPOINT_BEGIN] = options.selected[EVENT_SAFEPOINT_END] = true;
	assert_int_equal(event_tables_kinds(&options), 2);
	assert_int_equal(event_tables_new(&options, names, NULL, &t), 0);
	assert_int_equal(event_tables_add(t, &other), 0);
	assert_int_equal(event_tables_add(t, &e), 0);
	assert_int_equal(event_tables_rows(t), 1);
	event_tables_free(t);
	assert_int_equal(files.opened, 2);
	files_close(&files);
	assert_int_equal(lines(files.texts[EVENT_SAFEPOINT_BEGIN]), 2);
	assert_int_equal(lines(files.texts[EVENT_SAFEPOINT_END]), 1);
	files_free(&files);
	log_names_free(names);
}

static int open_full(const struct event_desc *desc, FILE **ret, void *arg)
{
	(void)desc;
	*ret = arg;
	return 0;
}

static void test_what_cannot_be_written(void **state)
{
	struct log_names *names = log_names_new();
	FILE *full = fopen("/dev/full", "w");
	struct files files = {.err = -EIO};
	struct event_tables_options options = {.open = open_full, .arg = full};
	const struct event e = {.id = EVENT_SAFEPOINT_BEGIN};
	struct event_tables *t;

	(void)state;
	assert_non_null(full);
	setvbuf(full, NULL, _IONBF, 0);
	assert_int_equal(event_tables_new(&options, names, NULL, &t), 0);
	assert_int_equal(event_tables_add(t, &e), 1);
	event_tables_free(t);
	fclose(full);
	options.open = open_file;
	options.arg = &files;
	assert_int_equal(event_tables_new(&options, names, NULL, &t), 0);
	assert_int_equal(event_tables_add(t, &e), -EIO);
	event_tables_free(t);
	options.filter = options.selected[EVENT_SAFEPOINT_BEGIN] = true;
	assert_int_equal(event_tables_new(&options, names, NULL, &t), -EIO);
	log_names_free(names);
}

/* The table of a kind that is selected, and of one that is met. */
static int some_tables(const struct log_names *names, bool filter, struct files *files)
{
	struct event_tables_options options = {.filter = filter, .open = open_file, .arg = files};
	const struct event e = {.id = EVENT_SAFEPOINT_BEGIN};
	struct event_tables *t = NULL;
	int err;

	options.selected[EVENT_SAFEPOINT_BEGIN] = true;
	err = event_tables_new(&options, names, NULL, &t);
	assert_true(!err == !!t);
	if (!err)
		err = event_tables_add(t, &e);
	event_tables_free(t);
	return err;
}

static void test_no_memory(void **state)
{
	struct log_names *names = log_names_new();
	struct files files = {0};
	int err;

	(void)state;
	for (unsigned filter = 0; filter < 2; filter++) {
		err = -ENOMEM;
		for (unsigned long n = 0; err; n++) {
			alloc_fail_at(n);
			err = some_tables(names, filter, &files);
			alloc_fail_off();
			assert_true(!err || err == -ENOMEM);
			files_close(&files);
			files_free(&files);
		}
	}
	log_names_free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_table_of_each_kind),
		cmocka_unit_test(test_selected_kinds),
		cmocka_unit_test(test_what_cannot_be_written),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
