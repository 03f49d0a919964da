/* Weights of samples: by the thread's counters, and nothing else. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/cells/cells.h"
#include "analyze/profile/profile.h"
#include "tests/unit/alloc_fail.h"

static struct event run_sample(uint64_t ns, uint32_t thread, uint64_t stack, uint64_t cpu_ns)
{
	struct event e = {.id = EVENT_RUN_SAMPLE, .time_ns = ns, .thread = thread};

	e.v[RUN_SAMPLE_STACK].u = stack;
	e.v[RUN_SAMPLE_MODE].u = SAMPLE_MODE_JAVA;
	e.v[RUN_SAMPLE_CPU_NS].u = cpu_ns;
	return e;
}

static struct event thread_sample(uint64_t ns, uint32_t thread, uint64_t cpu_ns)
{
	struct event e = {.id = EVENT_THREAD_SAMPLE, .time_ns = ns, .thread = thread};

	e.v[THREAD_SAMPLE_CPU_NS].u = cpu_ns;
	return e;
}

static void add(struct profile *p, struct event e)
{
	assert_int_equal(profile_add(p, &e), 0);
}

static const struct profile whole = {.options = {.to_ns = UINT64_MAX, .from_begin = true}};

static void weights_and_the_rest_add_up(void **state)
{
	struct profile p = whole;

	(void)state;
	add(&p, run_sample(10, 1, 7, 4000));
	add(&p, run_sample(11, 2, 7, 500));
	add(&p, thread_sample(12, 1, 5000)); /* says what it ran, and is no sample */
	add(&p, run_sample(20, 1, 8, 9000));
	add(&p, run_sample(21, 1, 7, 9100));
	add(&p, thread_sample(30, 1, 10000));
	assert_int_equal(p.cell_map.count, 3);
	assert_int_equal(p.cells[0].ns, 4100);
	assert_int_equal(p.cells[0].samples, 2);
	assert_int_equal(p.cells[1].ns, 500);
	assert_int_equal(p.cells[2].ns, 5000);
	assert_int_equal(p.threads[0].ns, 9100);
	assert_int_equal(p.threads[0].run_ns, 10000);
	assert_int_equal(p.threads[0].mode_ns[SAMPLE_MODE_JAVA], 9100);
	assert_int_equal(p.samples, 4);
	profile_free(&p);
}

/* The counter goes back when it turns out that a part of it was stolen. */
static void what_was_stolen_is_no_weight(void **state)
{
	struct profile p = whole;

	(void)state;
	add(&p, run_sample(10, 1, 7, 4000));
	add(&p, run_sample(20, 1, 8, 3900));
	add(&p, run_sample(30, 1, 8, 5000));
	assert_int_equal(p.threads[0].run_ns, 5000);
	assert_int_equal(p.threads[0].ns, 5000);
	assert_int_equal(p.cells[1].ns, 1000);
	assert_int_equal(p.cells[1].samples, 2);
	profile_free(&p);
}

static void a_range_begins_at_the_last_counters_before(void **state)
{
	struct profile p = {.options = {.from_ns = 100, .to_ns = 200}};

	(void)state;
	add(&p, thread_sample(50, 1, 1000));
	add(&p, run_sample(90, 1, 7, 2000));
	add(&p, run_sample(120, 1, 7, 2500));
	add(&p, run_sample(121, 2, 7, 9000)); /* of which nothing is known before */
	add(&p, run_sample(130, 2, 7, 9001));
	add(&p, run_sample(201, 1, 7, 5000));
	assert_int_equal(p.threads[0].ns, 500);
	assert_int_equal(p.threads[0].run_ns, 500);
	assert_int_equal(p.threads[1].ns, 1);
	assert_int_equal(p.unweighted, 1);
	assert_int_equal(p.samples, 2);
	profile_free(&p);
}

static void time_of_a_hole_is_nobodys(void **state)
{
	struct profile p = whole;

	(void)state;
	add(&p, run_sample(10, 1, 7, 1000));
	profile_hole(&p);
	add(&p, run_sample(90, 1, 7, 8000));
	add(&p, run_sample(95, 1, 7, 8100));
	add(&p, run_sample(96, 2, 7, 700));
	assert_int_equal(p.threads[0].ns, 1100);
	assert_int_equal(p.threads[1].ns, 0);
	assert_int_equal(p.unweighted, 2);
	profile_free(&p);
}

static uint64_t weights_of(const struct profile *p)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < p->cell_map.count; i++)
		ns += p->cells[i].ns;
	return ns;
}

/* Thread 1 runs over the end of the first, 2 ends in it, 3 is new in the second, which is told of events from before
 * its begin, too. */
static void two_intervals_add_up_to_the_whole(void **state)
{
	const struct event events[] = {run_sample(10, 1, 7, 1000),  run_sample(20, 2, 7, 500),
				       thread_sample(90, 1, 1600),  run_sample(120, 1, 8, 4000),
				       thread_sample(130, 3, 100),  run_sample(140, 3, 8, 900),
				       thread_sample(190, 1, 5000)};
	const struct event ended = {.id = EVENT_THREAD_END, .time_ns = 30, .thread = 2};
	struct profile p = whole, first = whole, second = whole;

	(void)state;
	first.options.to_ns = second.options.from_ns = 100;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++) {
		add(&p, events[i]);
		add(&first, events[i]);
	}
	add(&first, ended);
	assert_int_equal(profile_go_on(&second, &first), 0);
	assert_null(profile_thread_find(&second, 2));
	for (size_t i = 2; i < sizeof(events) / sizeof(*events); i++)
		add(&second, events[i]);
	assert_int_equal(weights_of(&p), 5400);
	assert_int_equal(weights_of(&first), 1500);
	assert_int_equal(weights_of(&second), 3900);
	profile_hole(&second);
	add(&second, run_sample(200, 1, 8, 9000));
	assert_int_equal(weights_of(&second), 3900);
	profile_free(&p);
	profile_free(&first);
	profile_free(&second);
}

static void modes_and_failures_are_told_apart_without_a_chain(void **state)
{
	struct profile p = whole;
	struct event e = run_sample(10, 1, 0, 1000);

	(void)state;
	e.v[RUN_SAMPLE_RESULT].u = WALK_RESULT_NO_JAVA_THREAD;
	add(&p, e);
	e.v[RUN_SAMPLE_MODE].u = SAMPLE_MODE_KERNEL;
	add(&p, e);
	e.v[RUN_SAMPLE_RESULT].u = WALK_RESULT_BAD_STUB_FRAME;
	add(&p, e);
	/* What a newer spoor may write. */
	e.v[RUN_SAMPLE_MODE].u = 99;
	e.v[RUN_SAMPLE_RESULT].u = 99;
	e.v[RUN_SAMPLE_VIA].u = 99;
	add(&p, e);
	assert_int_equal(p.cell_map.count, 4);
	assert_false(p.cells[1].failed);
	assert_true(p.cells[2].failed);
	assert_int_equal(p.cells[3].mode, SAMPLE_MODE_UNKNOWN);
	profile_free(&p);
}

static void memory_may_be_short(void **state)
{
	(void)state;
	for (int n = 0;; n++) {
		struct profile p = whole;
		struct event e = run_sample(10, 1, 7, 1000);
		int err;

		alloc_fail_at(n);
		err = profile_add(&p, &e);
		if (!alloc_fail_off()) {
			assert_int_equal(err, 0);
			profile_free(&p);
			return;
		}
		assert_int_equal(err, -ENOMEM);
		profile_free(&p);
	}
}

static struct event span(unsigned id, uint64_t ns, uint64_t cpu_ns)
{
	struct event e = {.id = id, .time_ns = ns, .thread = 1};

	e.v[event_counter_fields(&e, COUNTERS_OF_THREAD)[COUNTER_CPU_NS] - 1].u = cpu_ns;
	return e;
}

static int add_spans(struct profile *p)
{
	const struct event events[] = {
		span(EVENT_SPAN_BEGIN, 10, 1000), run_sample(11, 1, 7, 1400),
		span(EVENT_SPAN_END, 20, 1500),   run_sample(30, 1, 8, 2000),
		span(EVENT_SPAN_BEGIN, 40, 2500), run_sample(50, 1, 8, 2600),
		span(EVENT_SPAN_BEGIN, 51, 2600), span(EVENT_SPAN_END, 60, 2700),
		run_sample(65, 1, 7, 2900),       span(EVENT_SPAN_END, 90, 3000),
		span(EVENT_SPAN_BEGIN, 91, 3000), run_sample(92, 1, 7, 3100),
	};
	int err = 0;

	for (size_t i = 0; i < sizeof(events) / sizeof(*events) && !err; i++)
		err = profile_add(p, &events[i]);
	return err ? err : profile_finish(p, NULL);
}

/* Of the slow one alone, from its begin to its end. */
static void samples_of_slow_spans(void **state)
{
	struct profile p = whole;

	(void)state;
	p.spans.options = (struct in_spans_options){.pattern = "*", .least_per_mille = 500};
	assert_int_equal(add_spans(&p), 0);
	assert_int_equal(p.spans.ended, 2);
	assert_int_equal(p.spans.chosen, 1);
	assert_int_equal(p.spans.least_ns, 50);
	assert_int_equal(p.samples, 2);
	assert_int_equal(p.threads[0].ns, 400);
	assert_int_equal(p.threads[0].run_ns, 500);
	profile_free(&p);
	for (int n = 0;; n++) {
		int err;

		p = whole;
		p.spans.options.pattern = "*";
		alloc_fail_at(n);
		err = add_spans(&p);
		profile_free(&p);
		if (!alloc_fail_off()) {
			assert_int_equal(err, 0);
			return;
		}
		assert_int_equal(err, -ENOMEM);
	}
}

#define HOLDS 40
#define HOLDS_END 100

static uint64_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 33;
}

static bool is_held(const struct lock_hold *holds, uint64_t thread, uint64_t lock, uint64_t ns)
{
	for (int i = 0; i < HOLDS; i++)
		if (holds[i].thread == thread && holds[i].lock == lock && holds[i].from_ns <= ns &&
		    holds[i].to_ns > ns)
			return true;
	return false;
}

/* Of those that are held at this moment the one that has been held for the shortest time; of two,
 * the greater number. */
static uint64_t lock_by_hand(const struct lock_hold *holds, uint64_t thread, uint64_t ns)
{
	uint64_t found = 0, since = 0;

	for (uint64_t lock = 1; lock <= 4; lock++) {
		uint64_t from = ns;

		if (!is_held(holds, thread, lock, ns))
			continue;
		while (from && is_held(holds, thread, lock, from - 1))
			from--;
		if (!found || from >= since) {
			found = lock;
			since = from;
		}
	}
	return found;
}

static int observe_all(struct lock_holds *h, const struct lock_hold *holds)
{
	int err = 0;

	for (uint64_t thread = 1; thread <= 3 && !err; thread++)
		err = lock_holds_sample(h, thread, HOLDS_END);
	for (int i = 0; i < HOLDS && !err; i++) {
		const struct cell_key key = {.holder = holds[i].thread, .lock = holds[i].lock};

		lock_holds_observe(h, &(struct cell_part){.key = key,
							  .from_ns = holds[i].from_ns,
							  .to_ns = holds[i].to_ns});
	}
	return err ? err : lock_holds_finish(h);
}

static void holds_make(struct lock_hold *ret, uint64_t *chance)
{
	for (int i = 0; i < HOLDS; i++) {
		ret[i].thread = 1 + random_next(chance) % 3;
		ret[i].lock = 1 + random_next(chance) % 4;
		ret[i].from_ns = random_next(chance) % HOLDS_END;
		ret[i].to_ns = ret[i].from_ns + random_next(chance) % 30;
	}
}

static void the_hold_that_began_last_is_found(void **state)
{
	struct lock_hold holds[HOLDS];
	uint64_t chance = 19;

	(void)state;
	for (int round = 0; round < 200; round++) {
		struct lock_holds h = {.rows = NULL};

		holds_make(holds, &chance);
		assert_int_equal(observe_all(&h, holds), 0);
		for (uint64_t thread = 0; thread <= 4; thread++)
			for (uint64_t ns = 0; ns < HOLDS_END + 40; ns++)
				assert_int_equal(lock_holds_at(&h, thread, ns),
						 lock_by_hand(holds, thread, ns));
		lock_holds_free(&h);
	}
	holds_make(holds, &chance);
	for (int n = 0;; n++) {
		struct lock_holds h = {.rows = NULL};
		int err;

		alloc_fail_at(n);
		err = observe_all(&h, holds);
		lock_holds_free(&h);
		if (!alloc_fail_off()) {
			assert_int_equal(err, 0);
			return;
		}
		assert_int_equal(err, -ENOMEM);
	}
}

static void who_is_no_thread_holds_nothing(void **state)
{
	static const uint64_t holders[] = {HOLDER_UNKNOWN, HOLDER_HAND_OVER, THREAD_OTHERS, 2};
	struct lock_holds h = {.rows = NULL};

	(void)state;
	assert_int_equal(lock_holds_sample(&h, 1, 50), 0);
	for (size_t i = 0; i < sizeof(holders) / sizeof(*holders); i++) {
		const struct cell_key key = {.holder = holders[i], .lock = 7};

		lock_holds_observe(&h, &(struct cell_part){.key = key, .from_ns = 10, .to_ns = 90});
	}
	assert_int_equal(h.count, 0);
	/* The thread has no sample since then. */
	lock_holds_observe(&h, &(struct cell_part){.key = (struct cell_key){.holder = 1, .lock = 7},
						   .from_ns = 51,
						   .to_ns = 90});
	assert_int_equal(h.count, 0);
	assert_int_equal(lock_holds_finish(&h), 0);
	assert_int_equal(lock_holds_at(&h, 1, 50), 0);
	lock_holds_free(&h);
}

/* By hand: of 9 us CPU the samples at 20 and 30 have 5 with lock 7; the rest is in none. */
static int add_with_locks(struct profile *p)
{
	const struct event events[] = {
		run_sample(10, 1, 7, 1000), run_sample(20, 1, 7, 3000), run_sample(30, 1, 8, 6000),
		run_sample(40, 1, 8, 8000), run_sample(41, 2, 8, 1000),
	};
	const struct cell_key key = {.holder = 1, .lock = 7, .waiter = 2};
	int err = 0;

	p->options.locks = true;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events) && !err; i++)
		err = profile_add(p, &events[i]);
	lock_holds_observe(&p->holds, &(struct cell_part){.key = key, .from_ns = 15, .to_ns = 40});
	return err ? err : profile_finish(p, NULL);
}

static void samples_within_a_hold(void **state)
{
	struct profile p = whole;
	uint64_t with = 0, without = 0;

	(void)state;
	assert_int_equal(add_with_locks(&p), 0);
	for (uint32_t i = 0; i < p.cell_map.count; i++) {
		uint64_t lock = profile_aspect_of(&p, &p.cells[i]).lock;

		assert_true(!lock || lock == 7);
		*(lock ? &with : &without) += p.cells[i].ns;
	}
	assert_int_equal(with, 5000);
	assert_int_equal(without, 4000);
	assert_int_equal(p.threads[0].ns, 8000);
	assert_int_equal(p.samples, 5);
	profile_free(&p);
	for (int n = 0;; n++) {
		int err;

		p = whole;
		alloc_fail_at(n);
		err = add_with_locks(&p);
		profile_free(&p);
		if (!alloc_fail_off()) {
			assert_int_equal(err, 0);
			return;
		}
		assert_int_equal(err, -ENOMEM);
	}
}

static struct event left(uint64_t ns, uint64_t stack, uint64_t off_ns, uint64_t reason)
{
	struct event e = {.id = EVENT_OFF_CPU, .time_ns = ns, .thread = 1};

	e.v[OFF_CPU_STACK].u = stack;
	e.v[OFF_CPU_OFF_NS].u = off_ns;
	e.v[OFF_CPU_REASON].u = reason;
	return e;
}

/* An interval off the CPU is of the chain with which it began; the last sample is the end's. */
static void gaps(void **state)
{
	struct profile p = whole;

	(void)state;
	p.options.waiting = p.options.gaps = true;
	add(&p, run_sample(1000, 1, 7, 10));
	add(&p, run_sample(1500, 1, 8, 11));
	add(&p, left(9000, 9, 7000, BLOCKED_REASON_OTHER)); /* from 2000 on */
	add(&p, run_sample(9100, 1, 7, 12));
	add(&p, left(9310, 0, 10, BLOCKED_REASON_PARK)); /* it has no chain */
	add(&p, run_sample(9900, 2, 7, 12));
	add(&p, left(9950, 6, 650, BLOCKED_REASON_PARK));
	add(&p, thread_sample(10000, 1, 13));
	assert_int_equal(profile_finish(&p, NULL), 0);
	assert_int_equal(p.cell_map.count, 5);
	assert_int_equal(p.cells[0].ns, 500 + 200);
	assert_int_equal(p.cells[0].samples, 2);
	assert_int_equal(p.cells[1].ns, 500);
	assert_int_equal(p.cells[2].ns, 7100);
	assert_int_equal(p.cells[2].state, STATE_OTHER);
	assert_int_equal(p.cells[3].ns, 100); /* of the other thread */
	assert_int_equal(p.cells[4].ns, 700);
	assert_int_equal(p.cells[4].state, STATE_PARK);
	assert_int_equal(p.threads[0].ns, 1200);
	assert_int_equal(p.threads[0].run_ns, 13);
	profile_free(&p);
}

/* A thread that ends has no gap after that; what is missing is nobody's. */
static void gaps_end(void **state)
{
	struct profile p = whole;
	struct event end = {.id = EVENT_THREAD_END, .time_ns = 2500, .thread = 1};

	(void)state;
	p.options.waiting = p.options.gaps = true;
	add(&p, run_sample(1000, 1, 7, 10));
	profile_hole(&p);
	add(&p, thread_sample(1900, 1, 11));
	add(&p, run_sample(2000, 1, 8, 12));
	add(&p, end);
	add(&p, run_sample(2510, 1, 7, 13)); /* on its way out of the kernel */
	add(&p, thread_sample(9000, 3, 1));
	assert_int_equal(profile_finish(&p, NULL), 0);
	assert_int_equal(p.cells[0].ns, 0);
	assert_int_equal(p.cells[1].ns, 500);
	profile_free(&p);
}

/* An interval off the CPU that began before the range counts from the range's begin. */
static void gaps_of_a_range(void **state)
{
	struct profile p = whole;

	(void)state;
	p.options.waiting = p.options.gaps = true;
	p.options.from_ns = 5000;
	add(&p, run_sample(1000, 1, 7, 10));
	add(&p, left(9000, 9, 7000, BLOCKED_REASON_IO));
	add(&p, left(9500, 8, UINT64_MAX, BLOCKED_REASON_IO)); /* no such interval is possible */
	add(&p, thread_sample(10000, 1, 11));
	assert_int_equal(profile_finish(&p, NULL), 0);
	assert_int_equal(p.cell_map.count, 2);
	assert_int_equal(p.cells[0].ns, 0); /* the other one says that it began at the same time */
	assert_int_equal(p.cells[1].ns, 5000);
	profile_free(&p);
}

/* Threads without a sample have no cell. */
static void gaps_of_nothing(void **state)
{
	struct profile p = whole;

	(void)state;
	p.options.waiting = p.options.gaps = true;
	add(&p, thread_sample(1000, 1, 10));
	assert_int_equal(profile_finish(&p, NULL), 0);
	assert_int_equal(p.cell_map.count, 0);
	profile_free(&p);
}

static void gaps_without_memory(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned long n = 0; failed; n++) {
		struct profile p = whole;
		const struct event events[] = {run_sample(1000, 1, 7, 10),
					       left(9000, 9, 7000, BLOCKED_REASON_IO),
					       run_sample(9100, 2, 8, 10)};
		int err = 0;

		p.options.waiting = p.options.gaps = true;
		alloc_fail_at(n);
		for (size_t i = 0; i < sizeof(events) / sizeof(*events) && !err; i++)
			err = profile_add(&p, &events[i]);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		profile_free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_and_the_rest_add_up),
		cmocka_unit_test(what_was_stolen_is_no_weight),
		cmocka_unit_test(a_range_begins_at_the_last_counters_before),
		cmocka_unit_test(time_of_a_hole_is_nobodys),
		cmocka_unit_test(two_intervals_add_up_to_the_whole),
		cmocka_unit_test(modes_and_failures_are_told_apart_without_a_chain),
		cmocka_unit_test(memory_may_be_short),
		cmocka_unit_test(samples_of_slow_spans),
		cmocka_unit_test(the_hold_that_began_last_is_found),
		cmocka_unit_test(who_is_no_thread_holds_nothing),
		cmocka_unit_test(samples_within_a_hold),
		cmocka_unit_test(gaps),
		cmocka_unit_test(gaps_end),
		cmocka_unit_test(gaps_of_a_range),
		cmocka_unit_test(gaps_of_nothing),
		cmocka_unit_test(gaps_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
