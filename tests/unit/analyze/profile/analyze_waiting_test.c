/* All states of a profile: they add up to the wall clock's rows, whatever has a chain. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/profile/profile.h"
#include "analyze/threads/wall.h"
#include "tests/unit/alloc_fail.h"

struct both {
	struct profile profile;
	struct wall wall;
};

static const struct both whole = {
	.profile.options = {.to_ns = UINT64_MAX, .from_begin = true, .waiting = true}};

static void both_free(struct both *b)
{
	profile_free(&b->profile);
	wall_free(&b->wall);
}

/* With the counters of its thread; reasons are those of a thread_sample only. */
static struct event event_of(unsigned id, uint64_t ns, uint64_t cpu_ns, uint64_t runnable_ns)
{
	struct event e = {.id = id, .time_ns = ns, .thread = 1, .field_count = 20};
	const uint8_t *fields = event_counter_fields(&e, COUNTERS_OF_THREAD);

	e.v[fields[COUNTER_CPU_NS] - 1].u = cpu_ns;
	e.v[fields[COUNTER_RUNNABLE_NS] - 1].u = runnable_ns;
	return e;
}

static int try_add(struct both *b, struct event e)
{
	int err = wall_add(&b->wall, &e);

	return err ? err : profile_add(&b->profile, &e);
}

static void add(struct both *b, struct event e)
{
	assert_int_equal(try_add(b, e), 0);
}

static struct event with_stack(struct event e, unsigned field, uint64_t stack)
{
	e.v[field].u = stack;
	return e;
}

static struct event counted(uint64_t ns, uint64_t cpu_ns, uint64_t runnable_ns, uint64_t lock_ns,
			    uint64_t wait_ns, uint64_t io_ns)
{
	struct event e = event_of(EVENT_THREAD_SAMPLE, ns, cpu_ns, runnable_ns);

	e.v[THREAD_SAMPLE_BLOCKED_NS].u = lock_ns + wait_ns + io_ns;
	e.v[THREAD_SAMPLE_LOCK_NS].u = lock_ns;
	e.v[THREAD_SAMPLE_WAIT_NS].u = wait_ns;
	e.v[THREAD_SAMPLE_IO_NS].u = io_ns;
	return e;
}

static uint64_t ns_of(const struct profile *p, enum state state, uint64_t stack)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < p->cell_map.count; i++)
		if (p->cells[i].state == state && p->cells[i].stack == stack)
			ns += p->cells[i].ns;
	return ns;
}

static struct states sums(const struct profile *p)
{
	struct states s = {0};

	for (uint32_t i = 0; i < p->cell_map.count; i++)
		s.ns[p->cells[i].state] += p->cells[i].ns;
	return s;
}

static void finish(struct both *b)
{
	struct states wanted, got;

	assert_int_equal(profile_finish(&b->profile, &b->wall), 0);
	wanted = wall_thread_states(&b->wall.threads[0]);
	got = sums(&b->profile);
	assert_memory_equal(&wanted, &got, sizeof(got));
}

static void a_lock_has_the_chain_of_its_begin(void **state)
{
	struct both b = whole;

	(void)state;
	add(&b, counted(1000, 0, 0, 0, 0, 0));
	add(&b, with_stack(event_of(EVENT_MONITOR_CONTENDED_ENTER, 1100, 100, 0),
			   MONITOR_CONTENDED_ENTER_STACK, 7));
	add(&b, event_of(EVENT_MONITOR_CONTENDED_ENTERED, 1400, 120, 30)); /* 250 blocked */
	add(&b, counted(1500, 220, 30, 250, 0, 0));
	finish(&b);
	assert_int_equal(ns_of(&b.profile, STATE_LOCK, 7), 250);
	assert_int_equal(ns_of(&b.profile, STATE_RUNNABLE, 7), 30);
	assert_int_equal(ns_of(&b.profile, STATE_RUNNING, 0), 220);
	assert_int_equal(b.profile.trimmed_ns, 0);
	both_free(&b);
}

/* On the way back the monitor may be taken. */
static void a_lock_may_be_within_a_wait(void **state)
{
	struct both b = whole;
	struct event e;

	(void)state;
	add(&b, counted(1000, 0, 0, 0, 0, 0));
	add(&b, with_stack(event_of(EVENT_MONITOR_WAIT_BEGIN, 1000, 0, 0), MONITOR_WAIT_BEGIN_STACK,
			   7));
	e = event_of(EVENT_MONITOR_CONTENDED_ENTER, 1200, 0, 0);
	e.v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u = 1;
	add(&b, e);
	add(&b, event_of(EVENT_MONITOR_CONTENDED_ENTERED, 1300, 0, 0));
	add(&b, event_of(EVENT_MONITOR_WAIT_END, 1310, 0, 0));
	add(&b, counted(1310, 0, 0, 100, 210, 0));
	finish(&b);
	assert_int_equal(ns_of(&b.profile, STATE_WAIT, 7), 210);
	assert_int_equal(ns_of(&b.profile, STATE_LOCK, 7), 100);
	both_free(&b);
}

/* What is open at the end has its chain, too; what was open at the begin has none. */
static void what_is_open_counts_up_to_the_last_counters(void **state)
{
	struct both b = whole;

	(void)state;
	add(&b, counted(1000, 0, 0, 0, 0, 0));
	add(&b, event_of(EVENT_MONITOR_WAIT_END, 1300, 0, 0));
	add(&b, with_stack(event_of(EVENT_MONITOR_WAIT_BEGIN, 1400, 100, 0),
			   MONITOR_WAIT_BEGIN_STACK, 8));
	add(&b, counted(1900, 100, 0, 0, 800, 0));
	finish(&b);
	assert_int_equal(ns_of(&b.profile, STATE_WAIT, 8), 500);
	assert_int_equal(ns_of(&b.profile, STATE_WAIT, 0), 300);
	both_free(&b);
}

static void off_cpu_tells_of_other_reasons(void **state)
{
	struct both b = whole;
	struct event e;

	(void)state;
	add(&b, counted(1000, 0, 0, 0, 0, 0));
	add(&b, counted(1200, 0, 0, 0, 0, 200)); /* in the middle of it */
	e = event_of(EVENT_OFF_CPU, 1500, 0, 100);
	e.v[OFF_CPU_REASON].u = BLOCKED_REASON_IO;
	e.v[OFF_CPU_OFF_NS].u = 450;
	e.v[OFF_CPU_CPU_WAIT_NS].u = 90;
	e.v[OFF_CPU_STACK].u = 9;
	add(&b, e);
	add(&b, with_stack(event_of(EVENT_RUN_SAMPLE, 1600, 100, 100), RUN_SAMPLE_STACK, 5));
	add(&b, counted(1600, 100, 100, 0, 0, 400));
	finish(&b);
	assert_int_equal(ns_of(&b.profile, STATE_IO, 9), 360);
	assert_int_equal(ns_of(&b.profile, STATE_IO, 0), 40); /* shorter breaks */
	assert_int_equal(ns_of(&b.profile, STATE_RUNNABLE, 9), 90);
	assert_int_equal(ns_of(&b.profile, STATE_RUNNABLE, 5), 10); /* the next sample's */
	assert_int_equal(ns_of(&b.profile, STATE_RUNNING, 5), 100);
	both_free(&b);
}

/* The counters have the last word. */
static void chains_have_no_more_than_the_counters(void **state)
{
	struct both b = whole;

	(void)state;
	add(&b, counted(1000, 0, 0, 0, 0, 0));
	add(&b, with_stack(event_of(EVENT_PARK_BEGIN, 1000, 0, 0), PARK_BEGIN_STACK, 7));
	add(&b, event_of(EVENT_PARK_END, 1300, 0, 0));
	add(&b, with_stack(event_of(EVENT_PARK_BEGIN, 1300, 0, 0), PARK_BEGIN_STACK, 8));
	add(&b, event_of(EVENT_PARK_END, 1400, 0, 0));
	add(&b, counted(1400, 200, 0, 0, 0, 0));
	b.wall.threads[0].last.ns[STATE_PARK] = 200;
	finish(&b);
	assert_int_equal(ns_of(&b.profile, STATE_PARK, 7), 150);
	assert_int_equal(ns_of(&b.profile, STATE_PARK, 8), 50);
	assert_int_equal(b.profile.trimmed_ns, 200);
	both_free(&b);
}

/* One that leaves its carrier when it blocks is none of the carrier's time; one that stays is. */
static void virtual_threads_wait_on_their_carriers(void **state)
{
	struct both b = whole;
	struct event e;

	(void)state;
	add(&b, counted(1000, 0, 0, 0, 0, 0));
	e = with_stack(event_of(EVENT_MONITOR_WAIT_BEGIN, 1000, 0, 0), MONITOR_WAIT_BEGIN_STACK, 7);
	e.thread = 50;
	e.v[MONITOR_WAIT_BEGIN_CARRIER].u = 1;
	add(&b, e);
	e = with_stack(event_of(EVENT_PARK_BEGIN, 1100, 100, 0), PARK_BEGIN_STACK, 8);
	e.thread = 51;
	e.v[PARK_BEGIN_CARRIER].u = 1;
	add(&b, e);
	e = event_of(EVENT_PARK_END, 1300, 100, 0);
	e.thread = 51;
	add(&b, e);
	add(&b, counted(1300, 100, 0, 0, 0, 0));
	b.wall.threads[0].last.ns[STATE_PARK] = 200;
	finish(&b);
	assert_int_equal(ns_of(&b.profile, STATE_PARK, 8), 200);
	assert_int_equal(ns_of(&b.profile, STATE_WAIT, 7), 0);
	both_free(&b);
}

static int add_some(struct both *b)
{
	struct event e = {.id = EVENT_WAIT_SUM, .time_ns = 1050, .thread = 2, .field_count = 20};
	int err = try_add(b, counted(1000, 0, 0, 0, 0, 0));

	e.v[WAIT_SUM_STACK].u = 3;
	e.v[WAIT_SUM_OFF_NS].u = 10;
	if (!err)
		err = try_add(b, e);
	if (!err)
		err = try_add(
			b, with_stack(event_of(EVENT_PARK_BEGIN, 1100, 0, 0), PARK_BEGIN_STACK, 7));
	if (!err)
		err = try_add(b, event_of(EVENT_PARK_END, 1300, 0, 0));
	if (!err)
		err = try_add(b, counted(1300, 100, 0, 0, 0, 200));
	return err ? err : profile_finish(&b->profile, &b->wall);
}

static void memory_may_be_short(void **state)
{
	(void)state;
	for (int n = 0;; n++) {
		struct both b = whole;
		int err;

		alloc_fail_at(n);
		err = add_some(&b);
		if (!alloc_fail_off()) {
			assert_int_equal(err, 0);
			both_free(&b);
			return;
		}
		assert_int_equal(err, -ENOMEM);
		both_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lock_has_the_chain_of_its_begin),
		cmocka_unit_test(a_lock_may_be_within_a_wait),
		cmocka_unit_test(what_is_open_counts_up_to_the_last_counters),
		cmocka_unit_test(off_cpu_tells_of_other_reasons),
		cmocka_unit_test(chains_have_no_more_than_the_counters),
		cmocka_unit_test(virtual_threads_wait_on_their_carriers),
		cmocka_unit_test(memory_may_be_short),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
