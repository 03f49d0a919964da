#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "log/read/order.h"
#include "log/read/reader.h"
#include "log_fixture.h"
#include "tests/unit/alloc_fail.h"

/* A log of notes at these times; the thread is the position in the file. */
static struct log_reader *reader_of(const uint64_t *times, unsigned count, int *ret_fd)
{
	json_t *header = json_object();
	struct event e = {.id = EVENT_SAFEPOINT_BEGIN};
	struct log_writer *w;
	struct log_reader *r;
	char path[64];
	unsigned i;

	fixture_file("", 0, path, ret_fd);
	assert_int_equal(
		log_writer_open(&(struct log_writer_options){.path = path, .overwrite = true},
				header, &w),
		0);
	json_decref(header);
	for (i = 0; i < count; i++) {
		e.time_ns = times[i];
		e.thread = i;
		log_write(w, &e);
	}
	assert_int_equal(log_writer_close(w), 0);
	assert_int_equal(log_reader_open(path, &r), 0);
	return r;
}

static void test_sorts(void **state)
{
	enum { COUNT = 5000 };
	uint64_t *times = malloc(COUNT * sizeof(*times));
	uint64_t seed = 1, last = 0;
	uint32_t last_thread = 0;
	struct log_order *o;
	struct log_reader *r;
	const struct event *e;
	unsigned i;
	int fd;

	(void)state;
	/* Out of order by up to 999, with many equal times. */
	for (i = 0; i < COUNT; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		times[i] = 1000 + i * 10 - (seed >> 40) % 100 * 10;
	}
	r = reader_of(times, COUNT, &fd);
	assert_int_equal(log_order_new(r, 1000, &o), 0);
	for (i = 0; i < COUNT; i++) {
		assert_int_equal(log_order_next(o, &e), 1);
		assert_int_equal(e->time_ns, times[e->thread]);
		assert_true(e->time_ns > last || (e->time_ns == last && e->thread >= last_thread));
		last = e->time_ns;
		last_thread = e->thread;
	}
	assert_int_equal(log_order_next(o, &e), 0);
	assert_int_equal(log_order_next(o, &e), 0);
	assert_int_equal(log_order_late(o), 0);
	log_order_free(o);
	log_reader_close(r);
	close(fd);
	free(times);
}

/* 10 arrives when 20 is already out: at once, in its place in the file, and counted. */
static void test_late_events(void **state)
{
	static const uint64_t times[] = {20, 120, 10, 125, 119, 300};
	static const uint64_t want[] = {20, 10, 119, 120, 125, 300};
	struct log_order *o;
	struct log_reader *r;
	const struct event *e;
	unsigned i;
	int fd;

	(void)state;
	r = reader_of(times, 6, &fd);
	assert_int_equal(log_order_new(r, 100, &o), 0);
	for (i = 0; i < 6; i++) {
		assert_int_equal(log_order_next(o, &e), 1);
		assert_int_equal(e->time_ns, want[i]);
	}
	assert_int_equal(log_order_next(o, &e), 0);
	assert_int_equal(log_order_late(o), 1);
	log_order_free(o);
	log_reader_close(r);
	close(fd);
}

/* A part of a log has the definitions that it needs once more, with the times of when they were made. */
static void test_old_definitions(void **state)
{
	static const uint64_t want[] = {500, 10, 700, 800};
	static const struct {
		uint16_t id;
		uint64_t time_ns;
	} written[] = {{EVENT_SAFEPOINT_END, 500},
		       {EVENT_SAFEPOINT_END, 700},
		       {EVENT_CLASS, 10},
		       {EVENT_SAFEPOINT_END, 800}};
	json_t *header = fixture_header();
	const struct event *e;
	struct log_writer *w;
	struct log_reader *r;
	struct log_order *o;
	char path[64];
	int fd;

	(void)state;
	fixture_file("", 0, path, &fd);
	assert_int_equal(
		log_writer_open(&(struct log_writer_options){.path = path, .overwrite = true},
				header, &w),
		0);
	json_decref(header);
	for (unsigned i = 0; i < 4; i++) {
		struct event new = {.id = written[i].id, .time_ns = written[i].time_ns};

		new.field_count = (uint16_t)schema_event(new.id)->field_count;
		if (new.id == EVENT_CLASS) {
			log_writer_flush(w);
			new.v[CLASS_CLASS].u = 1;
			new.v[CLASS_NAME].s = "Table";
		}
		log_write(w, &new);
	}
	assert_int_equal(log_writer_close(w), 0);
	assert_int_equal(log_reader_open(path, &r), 0);
	assert_int_equal(log_order_new(r, 100, &o), 0);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(log_order_next(o, &e), 1);
		assert_int_equal(e->time_ns, want[i]);
	}
	assert_int_equal(log_order_next(o, &e), 0);
	assert_int_equal(log_order_late(o), 0);
	log_order_free(o);
	log_reader_close(r);
	close(fd);
}

/* With a window of 0 everything comes out in the order of the file. */
static void test_no_window(void **state)
{
	static const uint64_t times[] = {5, 3, 9, 1};
	struct log_order *o;
	struct log_reader *r;
	const struct event *e;
	unsigned i;
	int fd;

	(void)state;
	r = reader_of(times, 4, &fd);
	assert_int_equal(log_order_new(r, 0, &o), 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(log_order_next(o, &e), 1);
		assert_int_equal(e->time_ns, times[i]);
	}
	assert_int_equal(log_order_late(o), 2);
	log_order_free(o);
	log_reader_close(r);
	close(fd);
}

/* What log/read/order.h promises, done plainly: one event at a time, the earliest found by looking at all. */
struct plain {
	const uint64_t *times;
	uint64_t window_ns, newest_ns, last_ns, late;
	unsigned *queue, count; /* positions in the file, in their order */
	unsigned *out, out_count;
};

static void plain_drain(struct plain *p, bool all)
{
	unsigned i, first;

	while (p->count) {
		for (i = 1, first = 0; i < p->count; i++)
			if (p->times[p->queue[i]] < p->times[p->queue[first]])
				first = i;
		if (!all && p->newest_ns - p->times[p->queue[first]] < p->window_ns)
			return;
		i = p->queue[first];
		memmove(&p->queue[first], &p->queue[first + 1],
			(--p->count - first) * sizeof(*p->queue));
		p->late += p->times[i] < p->last_ns;
		p->last_ns = p->times[i] < p->last_ns ? p->last_ns : p->times[i];
		p->out[p->out_count++] = i;
	}
}

static void plain_sort(struct plain *p, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		p->queue[p->count++] = i;
		if (p->times[i] > p->newest_ns)
			p->newest_ns = p->times[i];
		plain_drain(p, false);
	}
	plain_drain(p, true);
}

/* Over several blocks, with steps back of all sizes and equal times: as it would be done plainly. */
static void test_as_promised(void **state)
{
	enum { COUNT = 50000 };
	static const uint64_t windows[] = {0, 1, 40, 1000, 4000};
	uint64_t *times = malloc(COUNT * sizeof(*times)), seed = 7;
	struct plain p = {.times = times};
	struct log_order *o;
	struct log_reader *r;
	const struct event *e;
	unsigned i, w;
	int fd;

	(void)state;
	p.queue = malloc(COUNT * sizeof(*p.queue));
	p.out = malloc(COUNT * sizeof(*p.out));
	for (i = 0; i < COUNT; i++) {
		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		times[i] = 10000 + i * 10 - (seed >> 40) % 4 * 10;
		if (!(seed >> 60))
			times[i] -= (seed >> 30) % 500 * 10;
	}
	for (w = 0; w < sizeof(windows) / sizeof(*windows); w++) {
		p.window_ns = windows[w];
		p.newest_ns = p.last_ns = p.late = p.out_count = 0;
		plain_sort(&p, COUNT);
		r = reader_of(times, COUNT, &fd);
		assert_int_equal(log_order_new(r, windows[w], &o), 0);
		for (i = 0; i < COUNT; i++) {
			assert_int_equal(log_order_next(o, &e), 1);
			assert_int_equal(e->thread, p.out[i]);
			assert_int_equal(e->time_ns, times[p.out[i]]);
		}
		assert_int_equal(log_order_next(o, &e), 0);
		assert_int_equal(log_order_late(o), p.late);
		assert_true(p.late > 0);
		log_order_free(o);
		log_reader_close(r);
		close(fd);
	}
	free(times);
	free(p.queue);
	free(p.out);
}

/* What is intact comes out first, then the damage is told. */
static void test_damage_comes_last(void **state)
{
	static const uint64_t times[] = {2, 1};
	struct log_order *o;
	struct log_reader *r;
	const struct event *e;
	char path[64];
	int fd;

	(void)state;
	r = reader_of(times, 2, &fd);
	log_reader_close(r);
	assert_int_equal(pwrite(fd, "x", 1, lseek(fd, 0, SEEK_END)), 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	assert_int_equal(log_reader_open(path, &r), 0);
	assert_int_equal(log_order_new(r, 1000, &o), 0);
	assert_int_equal(log_order_next(o, &e), 1);
	assert_int_equal(e->time_ns, 1);
	assert_int_equal(log_order_next(o, &e), 1);
	assert_int_equal(log_order_next(o, &e), -EBADMSG);
	assert_int_equal(log_order_next(o, &e), -EBADMSG);
	log_order_free(o);
	log_reader_close(r);
	close(fd);
}

/* Events that are all within the window: no more than the bound is held, and in order all the same. */
static void test_holds_no_more_than_its_bound(void **state)
{
	enum { COUNT = 300000 };
	uint64_t *times = malloc(COUNT * sizeof(*times));
	unsigned long late[2];
	struct log_order *o;
	struct log_reader *r;
	const struct event *e;
	int fd;

	(void)state;
	for (unsigned i = 0; i < COUNT; i++)
		times[i] = 1000;
	times[COUNT - 1] = 999; /* one that is late only if the others are out */
	r = reader_of(times, COUNT, &fd);
	log_reader_close(r);
	for (int bounded = 0; bounded < 2; bounded++) {
		unsigned i = 0, before = 0; /* the one of 999 has been */
		char path[64];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		assert_int_equal(log_reader_open(path, &r), 0);
		assert_int_equal(log_order_new(r, 1000, &o), 0);
		log_order_set_max(o, bounded ? 1 << 20 : SIZE_MAX);
		for (; log_order_next(o, &e) == 1; i++) {
			before |= e->time_ns == 999;
			assert_true(e->time_ns == 999 || e->thread == i - before);
		}
		assert_int_equal(i, COUNT);
		late[bounded] = log_order_late(o);
		log_order_free(o);
		log_reader_close(r);
	}
	assert_int_equal(late[0], 0);
	assert_int_equal(late[1], 1);
	close(fd);
	free(times);
}

static void test_nth_allocation_fails(void **state)
{
	uint64_t times[200];
	struct log_order *o;
	struct log_reader *r;
	const struct event *e;
	bool failed = true;
	char path[64];
	unsigned n, i;
	int fd, err;

	(void)state;
	for (i = 0; i < 200; i++)
		times[i] = 200 - i;
	r = reader_of(times, 200, &fd);
	log_reader_close(r);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (n = 0; failed; n++) {
		r = NULL;
		o = NULL;
		alloc_fail_at(n);
		err = log_reader_open(path, &r);
		if (!err)
			err = log_order_new(r, 1000, &o);
		if (!err)
			while ((err = log_order_next(o, &e)) == 1)
				;
		failed = alloc_fail_off();
		log_order_free(o);
		log_reader_close(r);
		assert_int_equal(err, failed ? -ENOMEM : 0);
	}
	assert_true(n > 10);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sorts),
		cmocka_unit_test(test_late_events),
		cmocka_unit_test(test_old_definitions),
		cmocka_unit_test(test_no_window),
		cmocka_unit_test(test_as_promised),
		cmocka_unit_test(test_damage_comes_last),
		cmocka_unit_test(test_holds_no_more_than_its_bound),
		cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests_name("log_order", tests, NULL, NULL);
}
