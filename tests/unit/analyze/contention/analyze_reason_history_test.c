/* What threads were blocked for at each moment, and what that makes of a lock's holders: known
 * schedules, and random ones against the truth of every nanosecond. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/contention/contention.h"
#include "analyze/lines/reason_history.h"
#include "tests/unit/analyze/analyze_events.h"
#include "tests/unit/alloc_fail.h"

#define FIRST_NS 1000 /* counters are 0 before */

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

/* The counters at ns of a thread that has been blocked for so long since FIRST_NS. */
static struct times blocked_for(uint64_t ns, uint64_t blocked)
{
	return (struct times){.cpu = ns - FIRST_NS - blocked};
}

static struct event enter_own(uint64_t ns, uint32_t thread, uint64_t lock, struct times own,
			      uint64_t owner, struct times owners)
{
	struct event e = enter(ns, thread, lock, owner, OWNER_SOURCE_JAVA_THREAD, owners);

	set_times(&e, MONITOR_CONTENDED_ENTER_CPU_NS, own);
	return e;
}

static struct event off(uint64_t ns, uint32_t thread, uint64_t reason, uint64_t off_ns,
			uint64_t cpu_wait_ns, struct times own)
{
	struct event e = {.id = EVENT_OFF_CPU, .time_ns = ns, .thread = thread};

	e.v[OFF_CPU_REASON].u = reason;
	e.v[OFF_CPU_OFF_NS].u = off_ns;
	e.v[OFF_CPU_CPU_WAIT_NS].u = cpu_wait_ns;
	set_times(&e, OFF_CPU_CPU_NS, own);
	return e;
}

/* What a lock lost to a holder while that was behind another lock. */
static struct split lost(const struct contention *c, uint64_t lock, uint64_t holder,
			 uint64_t blocked_on)
{
	const struct cell *cells;
	struct split sum = {0};
	uint32_t count;

	cells = contention_cells(c, &count);
	for (uint32_t i = 0; i < count; i++) {
		if (cells[i].lock == lock && cells[i].holder == holder &&
		    cells[i].blocked_on == blocked_on)
			split_add(&sum, &cells[i].split);
	}
	return sum;
}

static struct contention *feed(struct event *events, size_t count, bool numbers)
{
	struct contention *c = contention_new(NULL);
	uint64_t number[16] = {0};
	int err = c ? 0 : -ENOMEM;

	for (size_t i = 0; i < count && !err; i++) {
		struct event *e = &events[i];

		if (numbers && e->id == EVENT_MONITOR_CONTENDED_ENTER)
			e->v[MONITOR_CONTENDED_ENTER_SEQUENCE].u = ++number[e->v[0].u];
		else if (numbers && e->id == EVENT_MONITOR_CONTENDED_ENTERED)
			e->v[MONITOR_CONTENDED_ENTERED_SEQUENCE].u = ++number[e->v[0].u];
		else if (numbers && e->id == EVENT_MONITOR_CONTENDED_EXIT)
			e->v[MONITOR_CONTENDED_EXIT_SEQUENCE].u = ++number[e->v[0].u];
		err = contention_add(c, e);
	}
	if (!err)
		err = contention_finish(c, events[count - 1].time_ns);
	if (!err)
		return c;
	contention_free(c);
	return NULL;
}

/* Thread 2 waits for lock 1, that thread 1 holds, which itself waits for lock 2 of thread 3. */
static size_t chain_of_locks(struct event *e)
{
	const struct times nothing = {0};
	size_t n = 0;

	e[n++] = enter_own(2000, 2, 1, blocked_for(2000, 0), 1, blocked_for(2000, 0));
	e[n++] = enter_own(2100, 1, 2, blocked_for(2100, 0), 3, blocked_for(2100, 0));
	e[n++] = own(EVENT_MONITOR_CONTENDED_EXIT, 2395, 3, 2, blocked_for(2395, 0));
	e[n++] = entered(2400, 1, 2, blocked_for(2400, 300), 3, blocked_for(2400, 0));
	e[n++] = off(2600, 1, BLOCKED_REASON_IO, 90, 20, blocked_for(2600, 370 + 20));
	e[n++] = own(EVENT_MONITOR_CONTENDED_EXIT, 2900, 1, 1, blocked_for(2900, 370 + 20));
	e[n++] = entered(2910, 2, 1, blocked_for(2910, 900), 1, nothing);
	return n;
}

static void check_chain(bool numbers)
{
	struct event events[16];
	size_t count = chain_of_locks(events);
	struct contention *c = feed(events, count, numbers);
	struct split direct, blocked_on;

	assert_non_null(c);
	direct = lost(c, 1, 1, 0);
	blocked_on = lost(c, 1, 1, 2);
	assert_int_equal(split_sum(&blocked_on), 300);
	assert_int_equal(blocked_on.blocked_ns, 300);
	assert_int_equal(blocked_on.reason_ns[BLOCKED_REASON_LOCK], 300);
	assert_int_equal(split_sum(&direct), 600);
	assert_int_equal(direct.running_ns, 510);
	/* 20 ns of its 90 it waited for a CPU: here they are not among its runnable time. */
	assert_int_equal(direct.blocked_ns, 90);
	assert_int_equal(direct.reason_ns[BLOCKED_REASON_IO], 70);
	assert_int_equal(split_other(&direct), 20);
	contention_free(c);
}

static void behind_another_lock(void **state)
{
	(void)state;
	check_chain(false);
	check_chain(true);
}

/* An owner that is in I/O when it is looked at: what is over then is told by the event itself. */
static void seen_from_outside(void **state)
{
	struct event events[8];
	struct contention *c;
	struct split first, second;
	size_t n = 0;

	(void)state;
	events[n++] = enter_own(2000, 2, 1, blocked_for(2000, 0), 1, blocked_for(2000, 0));
	events[n] = enter_own(2300, 3, 1, blocked_for(2300, 0), 1, blocked_for(2300, 200));
	events[n].v[MONITOR_CONTENDED_ENTER_OWNER_DOING].u = BLOCKED_REASON_IO;
	events[n++].v[MONITOR_CONTENDED_ENTER_OWNER_DOING_NS].u = 200;
	events[n++] = off(2700, 1, BLOCKED_REASON_IO, 600, 0, blocked_for(2700, 600));
	events[n++] = own(EVENT_MONITOR_CONTENDED_EXIT, 2800, 1, 1, blocked_for(2800, 600));
	events[n++] = entered(2800, 2, 1, blocked_for(2800, 800), 1, blocked_for(2800, 600));
	c = feed(events, n, true);
	assert_non_null(c);
	first = lost(c, 1, 1, 0);
	assert_int_equal(split_sum(&first), 800);
	assert_int_equal(first.reason_ns[BLOCKED_REASON_IO], 600);
	assert_int_equal(first.running_ns, 200);
	contention_free(c);
	/* Without what the second waiter saw, all of it is known at the end only, and as much. */
	events[1].v[MONITOR_CONTENDED_ENTER_OWNER_DOING].u = 0;
	events[1].v[MONITOR_CONTENDED_ENTER_OWNER_DOING_NS].u = 0;
	c = feed(events, n, true);
	second = lost(c, 1, 1, 0);
	assert_int_equal(split_sum(&second), 800);
	assert_in_range(second.reason_ns[BLOCKED_REASON_IO], 400, 600);
	contention_free(c);
}

/* --- random threads -------------------------------------------------------------------------- */

#define END 20000
#define EVENTS 4000
#define SCHEDULES 200

/* One thread's truth: what has been added to each count up to each moment. */
static struct {
	uint64_t cpu[END + 1], blocked[END + 1];
	uint64_t reason_ns[END + 1][BLOCKED_REASON_COUNT];
	uint64_t in[END + 1], lock[END + 1]; /* from this moment on, as its events tell */
	struct event events[EVENTS];
	unsigned count;
} sim;

static struct times times_at(uint64_t ns)
{
	return (struct times){.cpu = sim.cpu[ns] + 1};
}

/* From `from` on it does this for a while: it runs, or is blocked for a reason. Returns until when. */
static unsigned pass(unsigned from, unsigned reason, bool blocked)
{
	unsigned until = from + 1 + below(200);

	if (until > END)
		until = END;
	for (unsigned t = from; t < until; t++) {
		sim.cpu[t + 1] = sim.cpu[t] + !blocked;
		sim.blocked[t + 1] = sim.blocked[t] + blocked;
		for (unsigned r = 0; r < BLOCKED_REASON_COUNT; r++)
			sim.reason_ns[t + 1][r] = sim.reason_ns[t][r] + (blocked && r == reason);
	}
	return until;
}

static void tell(struct event e)
{
	if (sim.count < EVENTS)
		sim.events[sim.count++] = e;
}

static void mark(unsigned from, unsigned until, uint64_t in, uint64_t lock)
{
	for (unsigned t = from; t < until; t++) {
		sim.in[t] = in;
		sim.lock[t] = lock;
	}
}

/* A lock, wait or park: blocked, with a little running at both ends; its events tell both. */
static unsigned in_something(unsigned now, unsigned reason, uint64_t lock)
{
	unsigned begin = now, slept;
	struct event e;

	if (reason == BLOCKED_REASON_LOCK)
		tell(enter_own(now, 1, lock, times_at(now), 9, (struct times){0}));
	else if (reason == BLOCKED_REASON_WAIT)
		tell(own(EVENT_MONITOR_WAIT_BEGIN, now, 1, lock, times_at(now)));
	else {
		e = park(now, 1, lock, 0, OWNER_SOURCE_UNKNOWN, (struct times){0});
		set_times(&e, PARK_BEGIN_CPU_NS, times_at(now));
		tell(e);
	}
	slept = pass(now, reason, true);
	now = pass(slept, 0, false);
	mark(begin, now, reason, lock);
	if (reason == BLOCKED_REASON_LOCK)
		tell(entered(now, 1, lock, times_at(now), 0, (struct times){0}));
	else if (reason == BLOCKED_REASON_WAIT)
		tell(own(EVENT_MONITOR_WAIT_END, now, 1, lock, times_at(now)));
	else
		tell(parked(now, 1, lock, times_at(now), 0, (struct times){0}));
	return now;
}

static void simulate(void)
{
	unsigned now = 0, from;

	sim.count = 0;
	mark(0, END + 1, 0, 0);
	while (now < END) {
		unsigned reason = below(BLOCKED_REASON_COUNT);

		now = pass(now, 0, false);
		from = now;
		if (now == END)
			break;
		if (reason >= BLOCKED_REASON_LOCK && reason <= BLOCKED_REASON_PARK) {
			now = in_something(now, reason, 1 + below(4));
		} else if (reason != BLOCKED_REASON_OTHER) {
			now = pass(now, reason, true);
			tell(off(now, 1, reason, now - from, 0, times_at(now)));
		}
	}
}

/* Later, as events of locks are replayed, and as seen from outside. */
static void check_moment(const struct reason_history *d, unsigned ns, unsigned last_told)
{
	struct counters c = {.known = true, .cpu_ns = sim.cpu[ns] + 1};
	const struct reason_moment *before = reasons_before(d, 1, ns);

	reasons_complete(d, 1, ns, &c);
	if (!c.has_reasons)
		return;
	for (unsigned r = 1; r < BLOCKED_REASON_COUNT; r++) {
		/* Sleep, I/O and pauses are told at their ends: up to then they are not. */
		if (r >= BLOCKED_REASON_LOCK && r <= BLOCKED_REASON_PARK)
			assert_int_equal(c.reason_ns[r], sim.reason_ns[ns][r]);
		else
			assert_true(c.reason_ns[r] <= sim.reason_ns[ns][r]);
	}
	if (before && before->reason && ns <= last_told)
		assert_int_equal(before->lock, sim.lock[before->ns]);
}

static void random_threads(void **state)
{
	(void)state;
	seed = 1;
	for (unsigned n = 0; n < SCHEDULES; n++) {
		struct reason_history *d = reasons_new();
		unsigned told = 0;

		assert_non_null(d);
		simulate();
		for (unsigned i = 0; i < sim.count; i++) {
			assert_int_equal(reasons_add(d, &sim.events[i], sim.events[i].time_ns), 0);
			told = (unsigned)sim.events[i].time_ns;
			for (unsigned k = 0; k < 3; k++)
				check_moment(d, told - below(told + 1) / 2, told);
		}
		/* At its own moments all is known, to the last one that is kept. */
		for (const struct reason_moment *m = reasons_after(d, 1, 0); m;
		     m = reasons_next(d, 1, m)) {
			for (unsigned r = 1; r < BLOCKED_REASON_COUNT; r++)
				assert_int_equal(m->its.reason_ns[r], sim.reason_ns[m->ns][r]);
			assert_int_equal(m->reason, sim.in[m->ns]);
		}
		reasons_free(d);
	}
}

/* A thread that tells more than is kept: what is too long ago is not made up. */
static void long_ago(void **state)
{
	struct reason_history *d = reasons_new();
	struct counters c = {.known = true, .cpu_ns = 1};

	(void)state;
	assert_non_null(d);
	for (uint64_t i = 1; i <= 3000; i++) {
		struct event e =
			off(i * 100, 1, BLOCKED_REASON_IO, 40, 0, (struct times){.cpu = i * 60});

		assert_int_equal(reasons_add(d, &e, e.time_ns), 0);
	}
	reasons_complete(d, 1, 150, &c);
	assert_false(c.has_reasons);
	c = (struct counters){.known = true, .cpu_ns = 2999 * 60 + 30};
	reasons_complete(d, 1, 2999 * 100 + 30, &c);
	assert_true(c.has_reasons);
	assert_int_equal(c.reason_ns[BLOCKED_REASON_IO], 2999 * 40);
	assert_null(reasons_before(d, 1, 50));
	assert_null(reasons_after(d, 1, 3000 * 100));
	assert_null(reasons_after(d, 2, 0));
	reasons_free(d);
}

/* A holder that is itself blocked, each time on any of many locks: its time is told of each. */
static void behind_many_locks(void **state)
{
	enum { LOCKS = 300, TIMES = 20000 };
	uint64_t expected[2 + LOCKS] = {0}, now = 2 * FIRST_NS, blocked = 0;
	struct contention *c = contention_new(NULL);
	uint64_t sum = 0;

	(void)state;
	assert_non_null(c);
	for (unsigned i = 0; i < TIMES; i++) {
		uint64_t lock = 2 + below(LOCKS), at = now + 1 + below(50), waited = 1 + below(50);
		uint64_t end = at + waited + 1 + below(50);
		struct event events[] = {
			enter_own(now, 2, 1, blocked_for(now, 0), 1, blocked_for(now, blocked)),
			enter_own(at, 1, lock, blocked_for(at, blocked), 3, (struct times){0}),
			entered(at + waited, 1, lock, blocked_for(at + waited, blocked + waited), 3,
				(struct times){0}),
			entered(end, 2, 1, blocked_for(end, 0), 1,
				blocked_for(end, blocked + waited)),
		};

		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(contention_add(c, &events[k]), 0);
		expected[0] += end - now - waited;
		expected[lock] += waited;
		blocked += waited;
		now = end + 1;
	}
	assert_int_equal(contention_finish(c, now), 0);
	for (unsigned i = 0; i < 2 + LOCKS; i++) {
		struct split split = lost(c, 1, 1, i);

		assert_int_equal(split_sum(&split), expected[i]);
		sum += expected[i];
	}
	assert_true(sum > TIMES);
	contention_free(c);
}

static void out_of_memory(void **state)
{
	struct event events[16];
	size_t count = chain_of_locks(events);
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n++) {
		struct contention *c;

		alloc_fail_at(n);
		c = feed(events, count, n & 1);
		failed = alloc_fail_off();
		assert_int_equal(!c, failed);
		contention_free(c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(behind_another_lock),
		cmocka_unit_test(behind_many_locks),
		cmocka_unit_test(seen_from_outside),
		cmocka_unit_test(random_threads),
		cmocka_unit_test(long_ago),
		cmocka_unit_test(out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
