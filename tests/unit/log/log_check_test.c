/* log_check and log_repair of logs with a changed bit, or cut, anywhere; and without memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "log/check/check.h"
#include "log/check/log_repair.h"
#include "log/format/block.h"
#include "log/read/reader.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

struct bytes {
	uint8_t *data;
	size_t size;
};

static struct bytes contents(int fd)
{
	struct bytes b = {.size = (size_t)lseek(fd, 0, SEEK_END)};

	b.data = malloc(b.size + 1);
	assert_non_null(b.data);
	assert_int_equal(pread(fd, b.data, b.size, 0), b.size);
	return b;
}

/* The numbers of this log are at random: only what is damage counts. */
static struct bytes whole_log(void)
{
	struct bytes b;
	char path[64];
	int fd;

	fixture_file(NULL, 0, path, &fd);
	assert_int_equal(fixture_write(path, true), 0);
	b = contents(fd);
	close(fd);
	return b;
}

static uint64_t damage_of(const char *path)
{
	struct log_check check;
	uint64_t damage;

	assert_int_equal(log_check(path, NULL, NULL, &check), 0);
	damage = check.damage;
	log_check_free(&check);
	return damage;
}

/* Events that can be read of a log, without what a repair adds; UINT64_MAX: it has no header. */
static uint64_t events_of(const char *path)
{
	struct log_reader *r;
	const struct event *e;
	uint64_t events = 0;
	int err;

	if (log_reader_open(path, &r))
		return UINT64_MAX;
	while ((err = log_reader_next(r, &e)) == 1)
		events += e->id != EVENT_NOTE && e->id != EVENT_LOST;
	assert_true(!err || err == -EBADMSG);
	log_reader_close(r);
	return events;
}

static int repair_log(const char *path, const char *output, struct log_repair *ret)
{
	struct log_repair_options o = {
		.path = path, .output = output, .overwrite = true, .spoor = "test"};
	struct log_check check;
	int err = log_check(path, NULL, NULL, &check);

	if (err)
		return err;
	err = log_repair(&o, &check, ret);
	log_check_free(&check);
	return err;
}

static void assert_repaired(const char *path, uint64_t whole)
{
	uint64_t events = events_of(path);
	struct log_repair done;
	char clean[64];
	int fd;

	fixture_file(NULL, 0, clean, &fd);
	assert_int_equal(repair_log(path, clean, &done), 0);
	assert_int_equal(damage_of(clean), 0);
	assert_int_equal(events_of(clean), events == UINT64_MAX ? whole : events);
	close(fd);
}

static void test_one_bit_anywhere(void **state)
{
	struct bytes log = whole_log();
	uint64_t whole;
	char path[64];
	int fd;

	(void)state;
	fixture_file(log.data, log.size, path, &fd);
	assert_int_equal(damage_of(path), 0);
	whole = events_of(path);
	for (size_t i = 0; i < log.size; i++) {
		uint8_t byte = log.data[i] ^ (uint8_t)(1 << i % 8);

		assert_int_equal(pwrite(fd, &byte, 1, (off_t)i), 1);
		assert_true(damage_of(path) > 0);
		if (i % 5 == 0 || i < LOG_MAGIC_BYTES + BLOCK_HEADER_BYTES)
			assert_repaired(path, whole);
		assert_int_equal(pwrite(fd, &log.data[i], 1, (off_t)i), 1);
	}
	free(log.data);
	close(fd);
}

static void test_cut_anywhere(void **state)
{
	struct bytes log = whole_log();
	struct log_check check;
	char path[64];
	int fd, err;

	(void)state;
	for (size_t size = 0; size < log.size; size++) {
		fixture_file(log.data, size, path, &fd);
		err = log_check(path, NULL, NULL, &check);
		assert_int_equal(err, size < LOG_MAGIC_BYTES ? -EPROTO : 0);
		if (!err) {
			/* Between two blocks it is as if the recorder had been killed. */
			assert_true(check.damage || !check.closed);
			assert_int_equal(check.bytes, size);
			log_check_free(&check);
		}
		if (!err && size % 5 == 0 && events_of(path) != UINT64_MAX)
			assert_repaired(path, 0);
		close(fd);
	}
	free(log.data);
}

static void test_nth_allocation_fails(void **state)
{
	struct bytes log = whole_log();
	struct log_repair done;
	char path[64], clean[64];
	int fd, clean_fd, err = -ENOMEM;

	(void)state;
	log.data[log.size / 2] ^= 1;
	fixture_file(log.data, log.size, path, &fd);
	for (unsigned long n = 0; err; n++) {
		bool failed;

		fixture_file(NULL, 0, clean, &clean_fd);
		alloc_fail_at(n);
		err = repair_log(path, clean, &done);
		failed = alloc_fail_off();
		assert_true(err ? err == -ENOMEM : !failed || !damage_of(clean));
		err = failed ? -ENOMEM : err;
		close(clean_fd);
	}
	free(log.data);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_bit_anywhere),
		cmocka_unit_test(test_cut_anywhere),
		cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
