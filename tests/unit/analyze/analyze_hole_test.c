/* A hole in a log: what is open ends with it as at the end of a log, and begins with what is behind. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/contention/contention.h"
#include "analyze/park/parking.h"
#include "analyze/registry/analysis.h"
#include "analyze/threads/wall.h"
#include "analyze/vm/pause.h"
#include "analyze_events.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull
#define FROM (20 * MS)
#define TO (40 * MS)

static const struct times none;

static struct event sample(uint64_t ns, uint32_t thread, uint64_t cpu)
{
	struct event e = {.id = EVENT_THREAD_SAMPLE, .field_count = 5, .time_ns = ns};

	e.thread = thread;
	e.v[THREAD_SAMPLE_CPU_NS].u = cpu;
	e.v[THREAD_SAMPLE_BLOCKED_NS].u = ns - cpu;
	return e;
}

static struct event pause_of(uint16_t id, uint64_t ns)
{
	return (struct event){.id = id, .time_ns = ns, .thread = 9};
}

static struct event note(uint64_t ns)
{
	struct event e = {.id = EVENT_NOTE, .time_ns = ns};

	e.v[NOTE_TEXT].s = "a note";
	return e;
}

static int add_all(struct analysis *a, const struct event *events, size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = analysis_add(a, &events[i]);
	return err;
}

/* Thread 2 is blocked by 3 all the time; 4 only before the hole, and 5 only behind it. */
static int run(struct analysis *a)
{
	const struct event before[] = {
		sample(1 * MS, 2, 0),
		note(2 * MS),
		enter(10 * MS, 2, 1, 3, OWNER_SOURCE_JAVA_THREAD, none),
		park(12 * MS, 6, 8, 0, OWNER_SOURCE_UNKNOWN, none),
		enter(14 * MS, 4, 1, 3, OWNER_SOURCE_JAVA_THREAD, none),
		pause_of(EVENT_GC_BEGIN, 15 * MS),
		sample(16 * MS, 2, 1 * MS),
	};
	const struct event blocked_on[] = {
		/* What was open at the end of the hole. */
		note(2 * MS),
		enter(10 * MS, 2, 1, 3, OWNER_SOURCE_JAVA_THREAD, none),
		park(12 * MS, 6, 8, 0, OWNER_SOURCE_UNKNOWN, none),
		enter(30 * MS, 5, 1, 3, OWNER_SOURCE_JAVA_THREAD, none),
		sample(36 * MS, 2, 1 * MS),
		/* And what came then. */
		entered(45 * MS, 5, 1, none, 0, none),
		entered(50 * MS, 2, 1, none, 0, none),
		parked(52 * MS, 6, 8, none, 0, none),
		pause_of(EVENT_GC_END, 54 * MS),
		sample(56 * MS, 2, 11 * MS),
	};
	int err = add_all(a, before, sizeof(before) / sizeof(*before));

	if (!err)
		err = analysis_hole(a, FROM, TO);
	if (!err)
		err = add_all(a, blocked_on, sizeof(blocked_on) / sizeof(*blocked_on));
	return err ? err : analysis_finish(a);
}

static uint64_t blocked_of(const struct contention *c, uint64_t waiter)
{
	uint64_t sum_ns = 0;
	uint32_t count;
	const struct cell *cells = contention_cells(c, &count);

	for (uint32_t i = 0; i < count; i++)
		sum_ns += cells[i].waiter == waiter ? cells[i].blocked_ns : 0;
	return sum_ns;
}

/* Up to 1 ns: what was open at the end of a hole counts from just before it. */
static void assert_about(uint64_t got, uint64_t want)
{
	assert_in_range(got, want, want + 1);
}

static void test_locks(void **state)
{
	struct analysis *a = analysis_new();
	const struct contention_lock *lock;
	const struct contention *c;

	(void)state;
	assert_int_equal(run(a), 0);
	c = analysis_contention(a);
	lock = contention_lock_find(c, 1);
	assert_about(blocked_of(c, 2), 50 * MS - TO);
	assert_about(blocked_of(c, 5), 45 * MS - TO);
	assert_int_equal(blocked_of(c, 4), 0);
	assert_int_equal(lock->open, 2);
	assert_int_equal(lock->open_ns, (FROM - 10 * MS) + (FROM - 14 * MS));
	assert_int_equal(lock->begin_missing + lock->end_missing, 0);
	analysis_free(a);
}

static void test_others(void **state)
{
	struct analysis *a = analysis_new();
	const struct parking *p;
	struct analysis_facts f;

	(void)state;
	assert_int_equal(run(a), 0);
	p = analysis_parking(a);
	assert_int_equal(p->row_map.count, 1);
	assert_int_equal(p->rows[0].count, 1);
	assert_about(p->rows[0].total_ns, 52 * MS - TO);
	assert_int_equal(p->rows[0].open, 1);
	assert_int_equal(p->rows[0].open_ns, FROM - 12 * MS);
	assert_int_equal(analysis_pauses(a)->gc_times.count, 0);
	assert_int_equal(analysis_pauses(a)->incomplete, 2);
	analysis_facts(a, &f);
	assert_int_equal(f.hole_count, 1);
	assert_int_equal(f.holes[0].from_ns, FROM);
	assert_int_equal(f.holes[0].to_ns, TO);
	assert_int_equal(f.missing_ns, TO - FROM);
	assert_int_equal(f.note_count, 1);
	analysis_free(a);
}

/* From the last sample before the hole to the first one that tells of a time behind its begin. */
static void test_threads(void **state)
{
	struct analysis *a = analysis_new();
	const struct wall_thread *t;
	struct states s;

	(void)state;
	assert_int_equal(run(a), 0);
	t = analysis_wall(a)->threads;
	assert_int_equal(t->thread, 2);
	assert_int_equal(t->missing_ns, 20 * MS);
	s = wall_thread_states(t);
	assert_int_equal(s.ns[STATE_RUNNING], 11 * MS);
	assert_int_equal(states_sum(&s), wall_thread_ns(t));
	assert_int_equal(wall_thread_ns(t), 55 * MS - 20 * MS);
	analysis_free(a);
}

static int without_memory(void)
{
	struct analysis *a = analysis_new();
	int err = a ? run(a) : -ENOMEM;

	analysis_free(a);
	return err;
}

static void test_no_memory(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n++) {
		int err;

		alloc_fail_at(n);
		err = without_memory();
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_locks),
		cmocka_unit_test(test_others),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
