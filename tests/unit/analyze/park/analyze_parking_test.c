/* How parks and waits end, as a patched JVM tells it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/park/parking.h"
#include "tests/unit/analyze/analyze_events.h"
#include "tests/unit/alloc_fail.h"

#define QUEUE 7
#define MONITOR 8

static const struct times none;

static void add(struct parking *p, struct event e)
{
	assert_int_equal(parking_add(p, &e), 0);
}

static void add_unpark(struct parking *p, uint64_t ns, uint64_t sequence)
{
	struct event e = unpark(ns, 1, 2, none);

	e.v[UNPARK_SEQUENCE].u = sequence;
	add(p, e);
}

static void add_park(struct parking *p, uint64_t from_ns, uint64_t to_ns, uint64_t how, uint64_t by)
{
	struct event e = parked(to_ns, 2, QUEUE, none, 0, none);

	e.v[PARK_END_HOW].u = how;
	e.v[PARK_END_BY].u = by;
	add(p, park(from_ns, 2, QUEUE, 0, 0, none));
	if (by && by == to_ns - 10)
		add_unpark(p, to_ns - 10, by);
	add(p, e);
}

static const struct parking_row *row(const struct parking *p, enum parking_kind kind, uint64_t lock)
{
	uint32_t index = keymap_find(&p->row_map, parking_key(kind, lock));

	assert_int_not_equal(index, INDEX_NONE);
	return &p->rows[index];
}

static void ends_of_parks(void **state)
{
	struct parking p = {0};
	const struct parking_row *r;

	(void)state;
	add_park(&p, 100, 200, PARK_END_UNPARKED, 190); /* the unpark's number is its time */
	add_park(&p, 300, 400, PARK_END_TIMEOUT, 0);
	add_park(&p, 500, 600, PARK_END_INTERRUPTED, 0);
	add_park(&p, 700, 800, PARK_END_SPURIOUS, 0);
	add_park(&p, 900, 1000, PARK_END_UNKNOWN, 0);
	add_unpark(&p, 1050, 1050); /* a permit; further ones change nothing */
	add_unpark(&p, 1060, 1060);
	add_park(&p, 1100, 1103, PARK_END_UNPARKED, 1050);
	add_park(&p, 1200, 1300, PARK_END_UNPARKED, 1250); /* that unpark is lost */
	assert_int_equal(parking_finish(&p, 2000), 0);
	r = row(&p, PARKING_PARK, QUEUE);
	assert_int_equal(r->count, 7);
	assert_int_equal(r->how[PARKING_WOKEN], 3);
	assert_int_equal(r->how[PARKING_TIMEOUT], 1);
	assert_int_equal(r->how[PARKING_INTERRUPTED], 1);
	assert_int_equal(r->how[PARKING_SPURIOUS], 1);
	assert_int_equal(r->how[PARKING_HOW_NOT_KNOWN], 1);
	assert_int_equal(r->back_ns, 10 + 3);
	parking_free(&p);
}

static void ends_of_waits(void **state)
{
	static const uint64_t how[] = {WAIT_END_NOTIFIED, WAIT_END_TIMEOUT, WAIT_END_INTERRUPTED,
				       WAIT_END_UNKNOWN, 99};
	struct parking p = {0};
	const struct parking_row *r;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		struct event e = own(EVENT_MONITOR_WAIT_END, 100 * i + 50, 2, MONITOR, none);

		e.v[MONITOR_WAIT_END_HOW].u = how[i];
		add(&p, own(EVENT_MONITOR_WAIT_BEGIN, 100 * i, 2, MONITOR, none));
		add(&p, e);
	}
	assert_int_equal(parking_finish(&p, 2000), 0);
	r = row(&p, PARKING_WAIT, MONITOR);
	assert_int_equal(r->how[PARKING_WOKEN], 1);
	assert_int_equal(r->how[PARKING_TIMEOUT], 1);
	assert_int_equal(r->how[PARKING_INTERRUPTED], 1);
	assert_int_equal(r->how[PARKING_HOW_NOT_KNOWN], 2); /* one is a newer spoor's */
	assert_int_equal(r->back_ns, 0);
	parking_free(&p);
}

static struct event sum(uint64_t ns, uint64_t lock, uint64_t reason, uint64_t count)
{
	struct event e = {.id = EVENT_WAIT_SUM, .time_ns = ns, .thread = 2};

	e.v[WAIT_SUM_LOCK].u = lock;
	e.v[WAIT_SUM_REASON].u = reason;
	e.v[WAIT_SUM_COUNT].u = count;
	e.v[WAIT_SUM_OFF_NS].u = count * 10;
	e.v[WAIT_SUM_LONGEST_NS].u = 30;
	return e;
}

/* They are added to those that were told one by one, while another one goes on. */
static void sums_of_short_waits(void **state)
{
	struct parking p = {0};
	const struct parking_row *r;

	(void)state;
	add_park(&p, 100, 200, PARK_END_UNPARKED, 0);
	add(&p, park(300, 2, QUEUE, 0, 0, none));
	add(&p, sum(350, QUEUE, BLOCKED_REASON_PARK, 7));
	add(&p, sum(360, MONITOR, BLOCKED_REASON_WAIT, 4));
	add(&p, sum(370, MONITOR, BLOCKED_REASON_IO, 4)); /* a newer spoor's */
	add(&p, parked(400, 2, QUEUE, none, 0, none));
	assert_int_equal(parking_finish(&p, 2000), 0);
	r = row(&p, PARKING_PARK, QUEUE);
	assert_int_equal(r->count, 2 + 7);
	assert_int_equal(r->total_ns, 100 + 100 + 70);
	assert_int_equal(r->max_ns, 100);
	assert_int_equal(r->how[PARKING_HOW_NOT_KNOWN], 1 + 7);
	assert_int_equal(r->open, 0);
	r = row(&p, PARKING_WAIT, MONITOR);
	assert_int_equal(r->count, 4);
	assert_int_equal(r->total_ns, 40);
	assert_int_equal(r->max_ns, 30);
	parking_free(&p);
}

/* A log may say anything: no total is less than one of its parts. */
static void sums_of_any_counts(void **state)
{
	struct event any = sum(350, QUEUE, BLOCKED_REASON_PARK, UINT64_MAX);
	struct parking p = {0};
	const struct parking_row *r;

	(void)state;
	any.v[WAIT_SUM_OFF_NS].u = any.v[WAIT_SUM_LONGEST_NS].u = UINT64_MAX - 10;
	add(&p, any);
	add(&p, any);
	add_park(&p, 400, 500, PARK_END_UNPARKED, 0);
	assert_int_equal(parking_finish(&p, 2000), 0);
	r = row(&p, PARKING_PARK, QUEUE);
	assert_true(r->count == UINT64_MAX && r->total_ns == UINT64_MAX);
	assert_true(r->max_ns == UINT64_MAX - 10);
	assert_true(r->how[PARKING_HOW_NOT_KNOWN] == UINT64_MAX);
	parking_free(&p);
}

static bool survives(unsigned long fail_at)
{
	struct parking p = {0};
	int err = 0;

	alloc_fail_at(fail_at);
	for (uint32_t i = 1; i < 40 && !err; i++) {
		struct event e = unpark(i, 1, i, none);

		e.v[UNPARK_SEQUENCE].u = i;
		err = parking_add(&p, &e);
		e = park(i, i, i % 8, 0, 0, none);
		if (!err)
			err = parking_add(&p, &e);
		e = sum(i, 100 + i % 8, BLOCKED_REASON_PARK, i);
		if (!err)
			err = parking_add(&p, &e);
	}
	if (!err)
		err = parking_finish(&p, 100);
	parking_free(&p);
	if (!alloc_fail_off()) {
		assert_int_equal(err, 0);
		return false;
	}
	assert_int_equal(err, -ENOMEM);
	return true;
}

static void no_memory(void **state)
{
	(void)state;
	for (unsigned long n = 0; survives(n); n++)
		;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_of_parks),       cmocka_unit_test(ends_of_waits),
		cmocka_unit_test(sums_of_short_waits), cmocka_unit_test(sums_of_any_counts),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
