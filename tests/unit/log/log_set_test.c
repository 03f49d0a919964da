#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "log/read/set.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

/* Each test works in a folder of its own. */
static int enter(void **state)
{
	char template[] = "/tmp/spoor-set-XXXXXX";

	*state = strdup(mkdtemp(template));
	return *state && !chdir(*state) ? 0 : -1;
}

static int leave(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf '%s'", (char *)*state);
	if (chdir("/") || system(command))
		return -1;
	free(*state);
	return 0;
}

/* part 0: a log that is not in parts. Part n is from n to n + 0.5 s. */
static void make(const char *name, const char *recording, unsigned part)
{
	json_t *header = part ? json_pack("{s:i, s:{s:s, s:i, s:I}}", "start_mono_ns", 500, "part",
					  "recording", recording, "number", part, "begin_ns",
					  (json_int_t)part * 1000000000)
			      : json_object();
	struct event e = {.id = EVENT_SAFEPOINT_BEGIN, .time_ns = part * 1000000000ull};
	struct log_writer *w;

	assert_int_equal(log_writer_open(&(struct log_writer_options){.path = name}, header, &w),
			 0);
	json_decref(header);
	log_write(w, &e);
	e.time_ns += 500000000;
	log_write(w, &e);
	assert_int_equal(log_writer_close(w), 0);
}

static struct log_set *open_set(const char *const *args, unsigned count)
{
	struct log_set_error error;
	struct log_set *s;

	assert_int_equal(log_set_open(args, count, &s, &error), 0);
	return s;
}

static void assert_parts(const struct log_set *s, const char *const *names, unsigned count)
{
	assert_int_equal(log_set_count(s), count);
	for (unsigned i = 0; i < count; i++) {
		assert_string_equal(log_set_paths(s)[i], names[i]);
		assert_string_equal(log_set_file(s, i)->path, names[i]);
	}
}

static void refused(const char *const *args, unsigned count, int want, const char *path,
		    const char *why)
{
	struct log_set_error error = {0};
	struct log_set *s;

	assert_int_equal(log_set_open(args, count, &s, &error), want);
	assert_string_equal(error.path, path);
	if (!why)
		assert_string_equal(error.why, "");
	else if (!strstr(error.why, why))
		fail_msg("'%s' is not in '%s'", why, error.why);
}

static void test_any_order(void **state)
{
	static const char *const names[] = {"b.spoor", "c.spoor", "a.spoor"};
	static const char *const orders[][3] = {{"a.spoor", "b.spoor", "c.spoor"},
						{"c.spoor", "a.spoor", "b.spoor"},
						{"b.spoor", "c.spoor", "./a.spoor"}};
	const struct log_set_hole *holes;
	struct log_set *s;

	(void)state;
	make("b.spoor", "r", 1);
	make("c.spoor", "r", 2);
	make("a.spoor", "r", 3);
	for (unsigned i = 0; i < 2; i++) {
		s = open_set(orders[i], 3);
		assert_parts(s, names, 3);
		assert_int_equal(log_set_file(s, 2)->part, 3);
		assert_int_equal(log_set_file(s, 2)->begin_ns, 3000000000);
		assert_int_equal(log_set_holes(s, &holes), 0);
		log_set_free(s);
	}
	s = open_set((const char *const[]){"a.spoor", "./a.spoor", "a.spoor"}, 3);
	assert_int_equal(log_set_count(s), 1);
	log_set_free(s);
	s = open_set((const char *const[]){"."}, 1);
	assert_int_equal(log_set_count(s), 3);
	assert_string_equal(log_set_paths(s)[0], "./b.spoor");
	log_set_free(s);
	s = open_set((const char *const[]){"[ab].spoor"}, 1);
	assert_parts(s, (const char *const[]){"b.spoor", "a.spoor"}, 2);
	log_set_free(s);
}

static void test_holes(void **state)
{
	static const char *const args[] = {"9.spoor", "3.spoor", "4.spoor", "6.spoor"};
	const struct log_set_hole *holes;
	struct log_set *s;

	(void)state;
	make("3.spoor", "r", 3);
	make("4.spoor", "r", 4);
	make("6.spoor", "r", 6);
	make("9.spoor", "r", 9);
	s = open_set(args, 4);
	assert_parts(s, (const char *const[]){"3.spoor", "4.spoor", "6.spoor", "9.spoor"}, 4);
	assert_int_equal(log_set_holes(s, &holes), 3);
	assert_int_equal(holes[0].first, 1);
	assert_int_equal(holes[0].last, 2);
	assert_int_equal(holes[0].from_ns, 500);
	assert_int_equal(holes[0].to_ns, 3000000000);
	assert_int_equal(holes[1].first, 5);
	assert_int_equal(holes[1].last, 5);
	assert_true(holes[1].from_ns >= 4000000000 && holes[1].from_ns <= 4500000000);
	assert_int_equal(holes[1].to_ns, 6000000000);
	assert_int_equal(holes[2].first, 7);
	assert_int_equal(holes[2].last, 8);
	log_set_free(s);
}

static void test_whole_log(void **state)
{
	const struct log_set_hole *holes;
	struct log_set *s;

	(void)state;
	make("whole", "", 0);
	s = open_set((const char *const[]){"whole"}, 1);
	assert_parts(s, (const char *const[]){"whole"}, 1);
	assert_int_equal(log_set_file(s, 0)->part, 0);
	assert_int_equal(log_set_holes(s, &holes), 0);
	assert_false(log_set_goes_on(s));
	log_set_free(s);
	s = open_set((const char *const[]){"-"}, 1);
	assert_parts(s, (const char *const[]){"-"}, 1);
	log_set_free(s);
}

static void test_refuses(void **state)
{
	FILE *f = fopen("no-log.spoor", "we");

	(void)state;
	assert_non_null(f);
	assert_true(fputs("something else", f) >= 0);
	assert_int_equal(fclose(f), 0);
	make("a1", "a", 1);
	make("a1-copy", "a", 1);
	make("b1", "b", 1);
	make("w1", "", 0);
	make("w2", "", 0);
	refused((const char *const[]){"a1", "b1"}, 2, -EXDEV, "b1", "recording than a1");
	refused((const char *const[]){"a1", "a1-copy"}, 2, -EINVAL, "a1-copy", "same part as a1");
	refused((const char *const[]){"w1", "w2"}, 2, -EINVAL, "w2", "w1");
	refused((const char *const[]){"w1", "-"}, 2, -EINVAL, "-", "w1");
	refused((const char *const[]){"a1", "w2"}, 2, -EINVAL, "a1", "w2");
	refused((const char *const[]){"none"}, 1, -ENOENT, "none", NULL);
	refused((const char *const[]){"none*"}, 1, -ENOENT, "none*", "no file");
	refused((const char *const[]){"."}, 1, -EPROTO, "./no-log.spoor", NULL);
	assert_int_equal(unlink("no-log.spoor"), 0);
	refused((const char *const[]){"."}, 1, -ENOENT, ".", "no log");
	/* A file that is gone when its folder has been read. */
	assert_int_equal(symlink("nowhere", "gone.spoor"), 0);
	refused((const char *const[]){"."}, 1, -ENOENT, ".", "no log");
	assert_int_equal(unlink("gone.spoor"), 0);
}

static void test_no_memory(void **state)
{
	static const char *const args[] = {"."};
	struct log_set_error error;
	struct log_set *s = NULL;
	unsigned long n = 0;
	bool failed;
	int err;

	(void)state;
	make("2.spoor", "r", 2);
	make("4.spoor", "r", 4);
	do {
		alloc_fail_at(n++);
		err = log_set_open(args, 1, &s, &error);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	} while (failed);
	assert_true(n > 10);
	log_set_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_any_order, enter, leave),
		cmocka_unit_test_setup_teardown(test_holes, enter, leave),
		cmocka_unit_test_setup_teardown(test_whole_log, enter, leave),
		cmocka_unit_test_setup_teardown(test_refuses, enter, leave),
		cmocka_unit_test_setup_teardown(test_no_memory, enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
