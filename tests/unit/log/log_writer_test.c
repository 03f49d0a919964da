#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "log/format/block.h"
#include "log/read/reader.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"
#include "tests/unit/temp_folder.h"

static struct log_writer *open_ok(const char *path, bool overwrite)
{
	json_t *header = fixture_header();
	struct log_writer *w = NULL;

	assert_int_equal(
		log_writer_open(&(struct log_writer_options){.path = path, .overwrite = overwrite},
				header, &w),
		0);
	json_decref(header);
	return w;
}

static void test_every_event_comes_back(void **state)
{
	struct temp *t = *state;
	struct log_reader *r;
	const struct event *e;
	struct event want;
	unsigned n;

	assert_int_equal(fixture_write(t->path, false), 0);
	assert_int_equal(log_reader_open(t->path, &r), 0);
	for (n = 0; fixture_nth(n, &want); n++) {
		assert_int_equal(log_reader_next(r, &e), 1);
		fixture_assert_same(e, &want);
	}
	assert_true(n > 100);
	assert_int_equal(log_reader_next(r, &e), 0);
	assert_int_equal(log_reader_next(r, &e), 0);
	log_reader_close(r);
}

static void test_header_comes_back(void **state)
{
	struct temp *t = *state;
	json_t *want = fixture_header();
	struct log_reader *r;

	json_object_set_new(want, "format", json_string("spoor"));
	json_object_set_new(want, "version", json_integer(SCHEMA_VERSION));
	json_object_set_new(want, "features", json_pack("[s, s]", "packed", "relative"));
	assert_int_equal(fixture_write(t->path, false), 0);
	assert_int_equal(log_reader_open(t->path, &r), 0);
	assert_true(json_equal(log_reader_header(r), want));
	json_decref(want);
	log_reader_close(r);
}

static void test_header_is_refused(void **state)
{
	static const char *const bad[] = {"[]", "{\"a\":\"x\\u0000y\"}",
					  "{\"a\":[[[[[[[[[[[[[[[[[[[[["
					  "[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]"
					  "]]]]]]]]]]]]}"};
	struct temp *t = *state;
	struct log_writer *w = NULL;
	json_t *header;
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		header = json_loads(bad[i], JSON_ALLOW_NUL, NULL);
		assert_non_null(header);
		assert_int_equal(log_writer_open(&(struct log_writer_options){.path = t->path,
									      .overwrite = false},
						 header, &w),
				 -EINVAL);
		assert_null(w);
		assert_int_equal(access(t->path, F_OK), -1);
		json_decref(header);
	}
}

/* Many blocks closed by size, counters that run, threads that repeat. */
static void test_large_log(void **state)
{
	enum { COUNT = 60000 };
	struct temp *t = *state;
	struct log_writer *w = open_ok(t->path, false);
	struct log_writer_stats stats;
	struct event want = {.id = EVENT_MONITOR_CONTENDED_ENTER};
	const struct event *e;
	struct log_reader *r;
	struct stat st;
	unsigned n, i, pass;

	r = NULL;
	for (pass = 0; pass < 2; pass++) {
		for (n = 0; n < COUNT; n++) {
			want.time_ns = 1000000 + n * 137 - n % 7 * 500;
			want.thread = 1 + n % 300;
			want.v[MONITOR_CONTENDED_ENTER_OWNER].u = n % 5;
			for (i = MONITOR_CONTENDED_ENTER_CPU_NS;
			     i <= MONITOR_CONTENDED_ENTER_SEQUENCE; i++)
				want.v[i].u = n * i * 1000 - n % 11;
			if (!want.v[MONITOR_CONTENDED_ENTER_OWNER].u)
				for (i = MONITOR_CONTENDED_ENTER_OWNER_CPU_NS;
				     i <= MONITOR_CONTENDED_ENTER_SEQUENCE; i++)
					want.v[i].u = 0;
			if (!pass) {
				log_write(w, &want);
				continue;
			}
			assert_int_equal(log_reader_next(r, &e), 1);
			fixture_assert_same(e, &want);
		}
		if (pass)
			break;
		assert_int_equal(log_writer_finish(w), 0);
		log_writer_stats(w, &stats);
		assert_int_equal(stats.events, COUNT);
		assert_true(stats.blocks > 10);
		assert_int_equal(log_writer_close(w), 0);
		assert_int_equal(stat(t->path, &st), 0);
		assert_int_equal(st.st_size, stats.bytes);
		assert_int_equal(st.st_mode & 0777, 0600);
		assert_int_equal(log_reader_open(t->path, &r), 0);
	}
	assert_int_equal(log_reader_next(r, &e), 0);
	log_reader_close(r);
}

/* Thread 0 has no counters: what a caller says of them is not written. */
static void test_no_counters_of_nobody(void **state)
{
	struct temp *t = *state;
	struct log_writer *w = open_ok(t->path, false);
	struct event e = {.id = EVENT_PARK_END, .thread = 1};
	const struct event *got;
	struct log_reader *r;
	unsigned i, owner;

	for (owner = 0; owner < 2; owner++) {
		e.v[PARK_END_OWNER].u = owner;
		for (i = PARK_END_OWNER + 1; i < PARK_END_FIELD_COUNT; i++)
			e.v[i].u = 100 + i;
		log_write(w, &e);
	}
	e.thread = 0;
	log_write(w, &e);
	assert_int_equal(log_writer_close(w), 0);
	assert_int_equal(log_reader_open(t->path, &r), 0);
	assert_int_equal(log_reader_next(r, &got), 1);
	assert_int_equal(got->v[PARK_END_CPU_NS].u, 100 + PARK_END_CPU_NS);
	assert_int_equal(got->v[PARK_END_OWNER_CPU_NS].u, 0);
	assert_int_equal(got->v[PARK_END_OWNER_RUNNABLE_NS].u, 0);
	assert_int_equal(log_reader_next(r, &got), 1);
	assert_int_equal(got->v[PARK_END_OWNER_CPU_NS].u, 100 + PARK_END_OWNER_CPU_NS);
	assert_int_equal(log_reader_next(r, &got), 1);
	assert_int_equal(got->v[PARK_END_CPU_NS].u, 0);
	assert_int_equal(got->v[PARK_END_OWNER_CPU_NS].u, 100 + PARK_END_OWNER_CPU_NS);
	log_reader_close(r);
}

/* What is 0, false or "" at an event's end is not written, and does not count as a last value. */
static void test_no_empty_fields_at_the_end(void **state)
{
	struct temp *t = *state;
	struct log_writer *w = open_ok(t->path, false);
	struct event exit = {.id = EVENT_MONITOR_CONTENDED_EXIT, .thread = 1};
	struct event note = {.id = EVENT_NOTE, .v[NOTE_TEXT].s = ""};
	static const struct {
		uint64_t cpu_ns, forward;
		unsigned stored;
	} exits[] = {{500, 0, 2}, {0, 0, 1}, {600, 0, 2}, {0, 9, 9}, {700, 0, 2}};
	const struct event *got;
	struct log_reader *r;
	unsigned i;

	exit.v[MONITOR_CONTENDED_EXIT_LOCK].u = 3;
	for (i = 0; i < sizeof(exits) / sizeof(*exits); i++) {
		exit.v[MONITOR_CONTENDED_EXIT_CPU_NS].u = exits[i].cpu_ns;
		exit.v[MONITOR_CONTENDED_EXIT_FORWARD].u = exits[i].forward;
		log_write(w, &exit);
	}
	log_write(w, &note);
	assert_int_equal(log_writer_close(w), 0);
	assert_int_equal(log_reader_open(t->path, &r), 0);
	for (i = 0; i < sizeof(exits) / sizeof(*exits); i++) {
		assert_int_equal(log_reader_next(r, &got), 1);
		assert_int_equal(got->field_count, exits[i].stored);
		assert_int_equal(got->v[MONITOR_CONTENDED_EXIT_LOCK].u, 3);
		assert_int_equal(got->v[MONITOR_CONTENDED_EXIT_CPU_NS].u, exits[i].cpu_ns);
		assert_int_equal(got->v[MONITOR_CONTENDED_EXIT_STACK].u, 0);
		assert_int_equal(got->v[MONITOR_CONTENDED_EXIT_FORWARD].u, exits[i].forward);
	}
	assert_int_equal(log_reader_next(r, &got), 1);
	assert_int_equal(got->field_count, 0);
	assert_string_equal(got->v[NOTE_TEXT].s, "");
	log_reader_close(r);
}

static void test_text_is_cleaned(void **state)
{
	struct temp *t = *state;
	struct log_writer *w = open_ok(t->path, false);
	char *text = malloc(LOG_TEXT_MAX + 10);
	struct event e = {.id = EVENT_NOTE};
	const struct event *got;
	struct log_reader *r;

	e.v[NOTE_TEXT].s = "a\xff\xed\xa0\x80\xc0\x80z";
	log_write(w, &e);
	/* One byte of the last character would be past the limit. */
	memset(text, 'y', LOG_TEXT_MAX - 1);
	strcpy(text + LOG_TEXT_MAX - 1, "\xc3\xa4");
	e.v[NOTE_TEXT].s = text;
	log_write(w, &e);
	e.v[NOTE_TEXT].s = NULL;
	log_write(w, &e);
	assert_int_equal(log_writer_close(w), 0);
	assert_int_equal(log_reader_open(t->path, &r), 0);
	assert_int_equal(log_reader_next(r, &got), 1);
#define R "\xef\xbf\xbd"
	assert_string_equal(got->v[NOTE_TEXT].s, "a" R R R R R R "z");
	assert_int_equal(log_reader_next(r, &got), 1);
	text[LOG_TEXT_MAX - 1] = '\0';
	assert_string_equal(got->v[NOTE_TEXT].s, text);
	assert_int_equal(log_reader_next(r, &got), 1);
	assert_string_equal(got->v[NOTE_TEXT].s, "");
	log_reader_close(r);
	free(text);
}

static void test_existing_file(void **state)
{
	struct temp *t = *state;
	json_t *header = fixture_header();
	struct log_writer *w = NULL;
	struct log_reader *r;
	struct stat st;
	const struct event *e;

	assert_int_equal(fixture_write(t->path, false), 0);
	assert_int_equal(chmod(t->path, 0644), 0);
	assert_int_equal(
		log_writer_open(&(struct log_writer_options){.path = t->path, .overwrite = false},
				header, &w),
		-EEXIST);
	assert_null(w);
	/* It has not been touched; and overwriting leaves nothing of it. */
	assert_int_equal(log_reader_open(t->path, &r), 0);
	assert_int_equal(log_reader_next(r, &e), 1);
	log_reader_close(r);
	assert_int_equal(log_writer_close(open_ok(t->path, true)), 0);
	assert_int_equal(log_reader_open(t->path, &r), 0);
	assert_int_equal(log_reader_next(r, &e), 0);
	log_reader_close(r);
	assert_int_equal(stat(t->path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(
		log_writer_open(&(struct log_writer_options){.path = "/nonexistent/x.spoor",
							     .overwrite = false},
				header, &w),
		-ENOENT);
	json_decref(header);
}

static void test_unknown_event_is_refused(void **state)
{
	struct temp *t = *state;
	struct log_writer *w = open_ok(t->path, false);
	struct event e = {.id = SCHEMA_ID_MAX + 1};

	log_write(w, &e);
	assert_int_equal(log_writer_error(w), -EINVAL);
	assert_int_equal(log_writer_close(w), -EINVAL);
}

static void test_full_device(void **state)
{
	json_t *header = fixture_header();
	struct log_writer *w = NULL;

	(void)state;
	assert_int_equal(log_writer_open(&(struct log_writer_options){.path = "/dev/full",
								      .overwrite = true},
					 header, &w),
			 -ENOSPC);
	assert_null(w);
	json_decref(header);
}

/* Writes until the writer has an error; what is in the file then must be whole blocks. */
static void fill(const char *path, int want_err)
{
	struct log_writer *w = open_ok(path, false);
	struct event e = {.id = EVENT_SAFEPOINT_BEGIN, .thread = 1};
	struct log_writer_stats stats;
	const struct event *got;
	struct log_reader *r;
	struct stat st;
	uint64_t n;

	for (n = 0; n < 1000000 && !log_writer_error(w); n++)
		log_write(w, &e);
	assert_int_equal(log_writer_error(w), want_err);
	log_writer_stats(w, &stats);
	log_write(w, &e);
	log_writer_flush(w);
	assert_int_equal(log_writer_sync(w), want_err);
	assert_int_equal(log_writer_close(w), want_err);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_size, stats.bytes);
	assert_true(stats.blocks > 1);
	assert_int_equal(log_reader_open(path, &r), 0);
	for (n = 0; log_reader_next(r, &got) == 1; n++)
		assert_int_equal(got->id, EVENT_SAFEPOINT_BEGIN);
	assert_int_equal(log_reader_next(r, &got), 0);
	assert_true(n > 1000 && n < stats.events);
	log_reader_close(r);
}

static void test_full_file_system(void **state)
{
	struct temp *t = *state;

	if (mount("spoor-test", t->dir, "tmpfs", 0, "size=300k")) {
		print_message("skipped: cannot mount a small tmpfs: %s\n", strerror(errno));
		skip();
	}
	fill(t->path, -ENOSPC);
	assert_int_equal(umount(t->dir), 0);
}

/* The kernel writes up to the limit first: a short write, then an error. */
static void test_file_size_limit(void **state)
{
	struct temp *t = *state;
	struct rlimit old, limit;

	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = 200001;
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	fill(t->path, -EFBIG);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
	signal(SIGXFSZ, SIG_DFL);
}

/* At each n: the error is told, once and for all, and what is in the file can be read. */
static void test_nth_allocation_fails(void **state)
{
	struct temp *t = *state;
	json_t *header = fixture_header();
	struct log_writer *w;
	struct log_reader *r;
	const struct event *e;
	struct event event;
	bool failed = true;
	unsigned n, i;
	int err;

	for (n = 0; failed; n++) {
		w = NULL;
		unlink(t->path);
		alloc_fail_at(n);
		err = log_writer_open(
			&(struct log_writer_options){.path = t->path, .overwrite = false}, header,
			&w);
		if (!err) {
			/* Many threads, so that the table of counters grows. */
			memset(&event, 0, sizeof(event));
			event.id = EVENT_THREAD_END;
			for (event.thread = 1; event.thread < 200; event.thread++)
				log_write(w, &event);
			for (i = 0; fixture_nth(i, &event); i++)
				log_write(w, &event);
			event.id = EVENT_NOTE;
			event.v[NOTE_TEXT].s = "\xff";
			log_write(w, &event);
			err = log_writer_close(w);
		}
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		if (!w) {
			assert_int_equal(access(t->path, F_OK), -1);
			continue;
		}
		assert_int_equal(log_reader_open(t->path, &r), 0);
		while ((err = log_reader_next(r, &e)) == 1)
			;
		assert_int_equal(err, 0);
		log_reader_close(r);
	}
	assert_true(n > 4);
	json_decref(header);
}

static void test_close_accepts_null(void **state)
{
	(void)state;
	assert_int_equal(log_writer_close(NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_every_event_comes_back, temp_setup,
						temp_teardown),
		cmocka_unit_test_setup_teardown(test_header_comes_back, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_header_is_refused, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_large_log, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_no_counters_of_nobody, temp_setup,
						temp_teardown),
		cmocka_unit_test_setup_teardown(test_no_empty_fields_at_the_end, temp_setup,
						temp_teardown),
		cmocka_unit_test_setup_teardown(test_text_is_cleaned, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_existing_file, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_unknown_event_is_refused, temp_setup,
						temp_teardown),
		cmocka_unit_test(test_full_device),
		cmocka_unit_test_setup_teardown(test_full_file_system, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_file_size_limit, temp_setup, temp_teardown),
		cmocka_unit_test_setup_teardown(test_nth_allocation_fails, temp_setup,
						temp_teardown),
		cmocka_unit_test(test_close_accepts_null),
	};

	return cmocka_run_group_tests_name("log_writer", tests, NULL, NULL);
}
