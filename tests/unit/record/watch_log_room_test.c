#include "record/watch/log_room.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/alloc_fail.h"
#include "tests/unit/temp_folder.h"

struct room_test {
	struct temp temp;
	struct log_room room;
	const char *live; /* the stem of a log that is being written */
};

static bool is_live(void *ctx, const char *stem)
{
	const struct room_test *t = ctx;

	return t->live && !strcmp(t->live, stem);
}

/* Written at so many seconds. */
static void put(struct room_test *t, const char *name, off_t bytes, time_t at)
{
	const struct timespec times[2] = {{.tv_sec = at}, {.tv_sec = at}};
	int fd = openat(t->room.folder, name, O_WRONLY | O_CREAT | O_EXCL, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, bytes), 0);
	assert_int_equal(futimens(fd, times), 0);
	close(fd);
}

static bool there(const struct room_test *t, const char *name)
{
	return !faccessat(t->room.folder, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

static int set_up(void **state)
{
	struct room_test *t = calloc(1, sizeof(*t));

	if (!t || temp_begin(&t->temp))
		return -1;
	t->room.folder = open(t->temp.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	t->room.max_bytes = 1000;
	*state = t;
	return t->room.folder < 0;
}

static int tear_down(void **state)
{
	struct room_test *t = *state;

	close(t->room.folder);
	temp_files(t->temp.dir, true, NULL);
	rmdir(t->temp.dir);
	free(t);
	return 0;
}

#define OLD "orders-12-20260101-000000-000001.spoor"
#define NEW "a-b-13-20260102-000000-000003.spoor"
#define LIVE "users-14-20260101-000000"

static void the_oldest_go_first(void **state)
{
	struct room_test *t = *state;
	struct log_room_freed freed;

	put(t, NEW, 300, 2000);
	put(t, OLD, 400, 1000);
	assert_int_equal(log_room_reserve(&t->room, 300, is_live, t, &freed), 0);
	assert_int_equal(freed.files, 0);
	assert_int_equal(log_room_reserve(&t->room, 300, is_live, t, &freed), 0);
	assert_true(freed.files == 1 && freed.bytes == 400);
	assert_true(there(t, NEW) && !there(t, OLD));
	log_room_release(&t->room, 300);
	assert_int_equal(log_room_reserve(&t->room, 700, is_live, t, &freed), 0);
	assert_int_equal(freed.files, 1);
	assert_int_equal(log_room_reserve(&t->room, 1, is_live, t, &freed), -ENOSPC);
}

static void what_is_written_stays(void **state)
{
	struct room_test *t = *state;
	struct log_room_freed freed;

	t->live = LIVE;
	put(t, LIVE "-000001.spoor", 900, 1);
	put(t, LIVE "-000002.spoor", 900, 2);
	assert_int_equal(log_room_reserve(&t->room, 1000, is_live, t, &freed), 0);
	assert_true(there(t, LIVE "-000001.spoor") && there(t, LIVE "-000002.spoor"));
}

static void what_is_not_ours_stays(void **state)
{
	static const char *const names[] = {"orders.spoor",
					    "orders-000001.spoor",
					    "-12-20260101-000000-000001.spoor",
					    "orders-12-2026-000000-000001.spoor",
					    "orders-12-20260101-000000.spoor",
					    "orders-12-20260101-000000-.spoor",
					    "orders-20260101-000000-000001.spoor",
					    "orders-12-20260101-000000-000001.spoor.gz",
					    ".spoor"};
	struct room_test *t = *state;
	struct log_room_freed freed;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		put(t, names[i], 5000, 1);
	assert_int_equal(symlinkat("x", t->room.folder, OLD), 0);
	assert_int_equal(log_room_reserve(&t->room, 1000, is_live, t, &freed), 0);
	assert_int_equal(freed.files, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_true(there(t, names[i]));
	assert_true(there(t, OLD));
}

static void names_are_found_again(void **state)
{
	struct room_test *t = *state;
	char stem[LOG_ROOM_STEM_MAX], name[LOG_ROOM_STEM_MAX + 32];
	struct log_room_freed freed;

	log_room_stem("an-app-1.2", 4194304, 1790000000, stem);
	snprintf(name, sizeof(name), "%s-000042.spoor", stem);
	put(t, name, 1, 1);
	t->live = stem;
	assert_int_equal(log_room_reserve(&t->room, 1000, is_live, t, &freed), 0);
	log_room_release(&t->room, 1000);
	assert_true(there(t, name));
	t->live = NULL;
	assert_int_equal(log_room_reserve(&t->room, 1000, is_live, t, &freed), 0);
	assert_false(there(t, name));
}

static void no_memory(void **state)
{
	struct room_test *t = *state;
	struct log_room_freed freed;
	int err = -1;

	put(t, NEW, 300, 2000);
	put(t, OLD, 400, 1000);
	for (unsigned long n = 0; err; n++) {
		alloc_fail_at(n);
		err = log_room_reserve(&t->room, 1000, is_live, t, &freed);
		alloc_fail_off();
		assert_true(!err || t->room.reserved == 0);
	}
	assert_int_equal(freed.files, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_oldest_go_first, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_written_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_ours_stays, set_up, tear_down),
		cmocka_unit_test_setup_teardown(names_are_found_again, set_up, tear_down),
		cmocka_unit_test_setup_teardown(no_memory, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
