#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "log/read/order.h"
#include "log/read/range.h"
#include "log/read/reader.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

#define EVENTS 20000
#define STEP_NS 1000
#define AT(n) ((uint64_t)(n)*STEP_NS) /* the time of event n, from 1 on */

/* Contentions one after the other, event by event, and one more that is open from the first event on;
 * in small blocks, with synchronization every hundredth. */
static void make(char path[64], int *ret_fd)
{
	struct log_writer_options o = {.overwrite = true,
				       .compression.codec = BLOCK_CODEC_LZ4,
				       .sync_ns = AT(EVENTS / 100),
				       .block_bytes = 4096};
	json_t *header = json_object();
	struct log_writer *w;
	unsigned n;

	fixture_file("", 0, path, ret_fd);
	o.path = path;
	assert_int_equal(log_writer_open(&o, header, &w), 0);
	json_decref(header);
	for (n = 1; n <= EVENTS; n++) {
		struct event e = {.id = n == 1 || n % 2 ? EVENT_MONITOR_CONTENDED_ENTER
							: EVENT_MONITOR_CONTENDED_ENTERED,
				  .thread = n == 1 ? 7 : 3,
				  .time_ns = AT(n)};

		e.field_count = (uint16_t)schema_event(e.id)->field_count;
		e.v[MONITOR_CONTENDED_ENTER_LOCK].u = n == 1 ? 9 : 5;
		e.v[MONITOR_CONTENDED_ENTER_CPU_NS].u = n;
		log_write(w, &e);
	}
	assert_int_equal(log_writer_close(w), 0);
}

static struct log_reader *open_with(const char *path, unsigned jobs)
{
	struct log_reader *r;

	assert_int_equal(
		log_reader_open_with(&path, 1, &(struct log_reader_options){.jobs = jobs}, &r), 0);
	return r;
}

/* Each event once, in the order of the file: what repeats them is passed over. */
static void assert_all(struct log_reader *r)
{
	const struct event *e;
	unsigned n;

	for (n = 1; n <= EVENTS; n++) {
		assert_int_equal(log_reader_next(r, &e), 1);
		assert_int_equal(e->time_ns, AT(n));
		assert_int_equal(e->thread, n == 1 ? 7 : 3);
		assert_int_equal(e->v[MONITOR_CONTENDED_ENTER_CPU_NS].u, n);
	}
	assert_int_equal(log_reader_next(r, &e), 0);
	assert_int_equal(log_reader_next(r, &e), 0);
}

static void test_jobs(void **state)
{
	const unsigned jobs[] = {1, 2, 3, 16, 1000};
	struct log_reader *r;
	char path[64];
	int fd;

	(void)state;
	make(path, &fd);
	for (unsigned i = 0; i < sizeof(jobs) / sizeof(*jobs); i++) {
		r = open_with(path, jobs[i]);
		assert_all(r);
		log_reader_close(r);
	}
	close(fd);
}

static void test_closed_half_way(void **state)
{
	struct log_reader *r;
	const struct event *e;
	char path[64];
	int fd;

	(void)state;
	make(path, &fd);
	for (unsigned left = 0; left < EVENTS; left += 1 + EVENTS / 7) {
		r = open_with(path, 3);
		for (unsigned i = 0; i < left; i++)
			assert_int_equal(log_reader_next(r, &e), 1);
		log_reader_close(r);
	}
	close(fd);
}

static void test_pipe(void **state)
{
	int fd, ends[2], saved = dup(STDIN_FILENO);
	struct log_reader *r;
	struct stat st;
	uint8_t *bytes;
	char path[64];

	(void)state;
	make(path, &fd);
	assert_int_equal(fstat(fd, &st), 0);
	bytes = malloc((size_t)st.st_size);
	assert_int_equal(pread(fd, bytes, (size_t)st.st_size, 0), st.st_size);
	assert_int_equal(pipe(ends), 0);
	assert_true(fcntl(ends[1], F_SETPIPE_SZ, (int)st.st_size) >= st.st_size);
	assert_int_equal(write(ends[1], bytes, (size_t)st.st_size), st.st_size);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	close(ends[0]);
	r = open_with("-", 0);
	assert_all(r);
	log_reader_close(r);
	dup2(saved, STDIN_FILENO);
	close(saved);
	free(bytes);
	close(fd);
}

/* All of the range comes, and what is far from it does not. */
static void assert_limited(const char *path, unsigned from, unsigned to)
{
	struct log_reader *r = open_with(path, 2);
	struct log_reader_stats stats;
	const struct event *e;
	unsigned wanted = from, seen = 0;

	assert_int_equal(log_reader_limit(r, AT(from), AT(to)), 0);
	while (log_reader_next(r, &e) == 1) {
		if (e->time_ns == AT(wanted) && wanted <= to)
			wanted++;
		seen++;
	}
	assert_int_equal(wanted, to + 1);
	log_reader_stats(r, &stats);
	assert_int_equal(stats.blocks_damaged, 0);
	assert_int_equal(stats.blocks_missing, 0);
	assert_true(seen < to - from + EVENTS / 10);
	log_reader_close(r);
}

static void test_limits(void **state)
{
	struct log_reader *r;
	struct stat st;
	char path[64];
	int fd;

	(void)state;
	make(path, &fd);
	assert_limited(path, EVENTS / 2, EVENTS / 2 + 100);
	assert_limited(path, 1, 10);
	assert_limited(path, EVENTS - 10, EVENTS);
	r = open_with(path, 1);
	assert_int_equal(log_reader_limit(r, 2, 1), -EINVAL);
	log_reader_close(r);
	/* Without the end that leads to the index. */
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(ftruncate(fd, st.st_size - 32), 0);
	assert_limited(path, EVENTS / 2, EVENTS / 2 + 100);
	close(fd);
}

static int read_range(const char *path, unsigned from, unsigned to, unsigned *ret_open)
{
	struct log_reader *r = NULL;
	struct log_range *range = NULL;
	struct log_order *o = NULL;
	const struct event *e;
	unsigned n = from;
	int err = log_reader_open(path, &r);

	*ret_open = 0;
	if (!err)
		err = log_reader_limit(r, AT(from), AT(to));
	if (!err)
		err = log_order_new(r, 10 * STEP_NS, &o);
	if (!err)
		err = log_range_new(o, AT(from), AT(to), &range);
	while (!err && (err = log_range_next(range, &e)) == 1) {
		err = 0;
		if (e->time_ns < AT(from))
			++*ret_open;
		else
			assert_int_equal(e->time_ns, AT(n++));
	}
	log_range_free(range);
	log_order_free(o);
	log_reader_close(r);
	if (!err)
		assert_int_equal(n, to + 1);
	return err;
}

/* What is open at the begin comes first: the contention of thread 7, and that of thread 3. */
static void test_range(void **state)
{
	char path[64];
	unsigned open;
	int fd;

	(void)state;
	make(path, &fd);
	assert_int_equal(read_range(path, EVENTS / 2, EVENTS / 2 + 9, &open), 0);
	assert_int_equal(open, 2);
	assert_int_equal(read_range(path, EVENTS / 2 + 1, EVENTS / 2 + 9, &open), 0);
	assert_int_equal(open, 1);
	close(fd);
}

static void test_nth_allocation_fails(void **state)
{
	bool failed = true;
	char path[64];
	unsigned n, open;
	int fd, err;

	(void)state;
	make(path, &fd);
	for (n = 0; failed; n++) {
		alloc_fail_at(n);
		err = read_range(path, EVENTS / 2, EVENTS / 2 + 9, &open);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	}
	assert_true(n > 10);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jobs),  cmocka_unit_test(test_closed_half_way),
		cmocka_unit_test(test_pipe),  cmocka_unit_test(test_limits),
		cmocka_unit_test(test_range), cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests_name("log_range", tests, NULL, NULL);
}
