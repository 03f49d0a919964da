/* Waits for what is no lock, random ones: charged as a line of holders of their own would have it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "analyze/lines/reason_history.h"
#include "analyze/park/park_wait.h"
#include "tests/unit/analyze/analyze_events.h"
#include "tests/unit/alloc_fail.h"

#define THREADS 3 /* that end waits, and park themselves meanwhile; the one behind them waits */
#define WAITER (THREADS + 1)
#define LOCKS 20 /* on which they park */
#define THING 7  /* what is waited for: one of these */
#define RUNS 200
#define WAITS 20

static const struct hold nobody = {.holder = HOLDER_HAND_OVER};

struct run {
	uint64_t random, now_ns;
	struct reason_history *reasons;
	struct timelines *lines;
	struct timeline *line;
	struct cells expected, found;
	struct hold_slices parts;
	uint64_t parked_on[THREADS + 1];
	struct times times[THREADS + 1];
};

static uint64_t below(struct run *r, uint64_t n)
{
	r->random = r->random * 6364136223846793005ull + 1442695040888963407ull;
	return (r->random >> 33) % n;
}

static int run_begin(struct run *r, uint64_t seed)
{
	*r = (struct run){.random = seed, .now_ns = 1000};
	r->reasons = reasons_new();
	r->expected.reasons = r->reasons;
	r->found.reasons = r->reasons;
	r->lines = r->reasons ? timelines_new(&r->expected) : NULL;
	return r->lines ? timeline_part(r->lines, THING, 1, 0, &r->line) : -ENOMEM;
}

static void run_end(struct run *r)
{
	timelines_free(r->lines);
	reasons_free(r->reasons);
	cells_free(&r->expected);
	cells_free(&r->found);
	free(r->parts.rows);
}

/* One of them parks, or comes back from that. */
static int tell(struct run *r)
{
	uint32_t thread = 1 + (uint32_t)below(r, THREADS);
	struct times *t = &r->times[thread];
	struct event e;

	r->now_ns += below(r, 50);
	t->cpu += 1 + below(r, 20);
	t->runnable += below(r, 5);
	t->stolen += below(r, 3);
	if (r->parked_on[thread]) {
		e = parked(r->now_ns, thread, r->parked_on[thread], *t, 0, (struct times){0});
		r->parked_on[thread] = 0;
	} else {
		r->parked_on[thread] = 1 + below(r, LOCKS);
		e = park(r->now_ns, thread, r->parked_on[thread], 0, OWNER_SOURCE_NONE,
			 (struct times){0});
		set_times(&e, PARK_BEGIN_CPU_NS, *t);
	}
	return reasons_add(r->reasons, &e, r->now_ns);
}

static int expect(struct run *r, const struct park_wait *w)
{
	int err = timeline_extend(r->line, w->done_ns < w->until_ns ? w->done_ns : w->until_ns,
				  &w->by);

	if (!err)
		err = timeline_extend(r->line, w->until_ns, &nobody);
	return err ? err : timeline_unblock(r->line, WAITER, w->until_ns, true);
}

static int wait_once(struct run *r)
{
	struct park_wait w = {.lock = THING,
			      .who = {.thread = WAITER, .stack = below(r, 2)},
			      .since_ns = r->now_ns + below(r, 10)};
	int err = timeline_extend(r->line, w.since_ns, &nobody);

	if (!err)
		err = timeline_block(r->line, w.since_ns, &w.who);
	r->now_ns = w.since_ns;
	for (uint64_t i = below(r, 60); i > 0 && !err; i--)
		err = tell(r);
	w.until_ns = r->now_ns;
	w.by = (struct hold){.holder = below(r, WAITER + 1)};
	if (holder_is_thread(w.by.holder) && below(r, 2))
		w.by = (struct hold){
			.holder = w.by.holder, .stack = 5, .from = HOLDER_STACK_RELEASE};
	w.done_ns = w.since_ns + below(r, w.until_ns - w.since_ns + 20) - 5;
	if (!err)
		err = expect(r, &w);
	return err ? err : park_wait_charge(&r->found, &r->parts, &w);
}

static int run(struct run *r, uint64_t seed, unsigned waits)
{
	int err = run_begin(r, seed);

	while (!err && waits-- > 0) {
		err = tell(r);
		if (!err)
			err = wait_once(r);
	}
	return err ? err : timelines_finish(r->lines);
}

/* In the same order, too. */
static void compare(const struct run *r)
{
	assert_int_equal(r->parts.count, 0);
	assert_int_equal(r->found.count, r->expected.count);
	for (uint32_t i = 0; i < r->found.count; i++) {
		const struct cell *x = &r->expected.rows[i], *y = &r->found.rows[i];

		assert_int_equal(y->lock, x->lock);
		assert_int_equal(y->waiter, x->waiter);
		assert_int_equal(y->holder, x->holder);
		assert_int_equal(y->waiter_stack, x->waiter_stack);
		assert_int_equal(y->holder_stack, x->holder_stack);
		assert_int_equal(y->blocked_on, x->blocked_on);
		assert_int_equal(y->count, x->count);
		assert_int_equal(y->blocked_ns, x->blocked_ns);
		assert_int_equal(y->max_ns, x->max_ns);
		assert_int_equal(y->max_held_ns, x->max_held_ns);
		assert_int_equal(y->max_part_ns, x->max_part_ns);
		assert_memory_equal(&y->split, &x->split, sizeof(x->split));
		assert_memory_equal(y->stack_from_ns, x->stack_from_ns, sizeof(x->stack_from_ns));
	}
}

static void random_waits(void **state)
{
	uint64_t split_ns = 0, blocked_on = 0;
	struct run r;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		assert_int_equal(run(&r, seed, WAITS), 0);
		compare(&r);
		for (uint32_t i = 0; i < r.found.count; i++) {
			split_ns += r.found.rows[i].split.running_ns;
			blocked_on += r.found.rows[i].blocked_on != 0;
		}
		run_end(&r);
	}
	assert_true(split_ns > 0 && blocked_on > RUNS);
}

static bool survives(unsigned long fail_at)
{
	struct run r;
	bool failed;
	int err;

	alloc_fail_at(fail_at);
	err = run(&r, 1, 3);
	failed = alloc_fail_off();
	assert_int_equal(err, failed ? -ENOMEM : 0);
	run_end(&r);
	return failed;
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
		cmocka_unit_test(random_waits),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
