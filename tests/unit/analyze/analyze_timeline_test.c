/* Lines of holders and intervals beside them: small cases, and random ones against an array that
 * has every nanosecond of a line. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/lines/timeline.h"
#include "tests/unit/alloc_fail.h"

#define THREADS 5
#define HOLDERS 4
#define STACKS 3
#define END 6000
#define INTERVALS 4000
#define SCHEDULES 300

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static struct hold hold(uint64_t holder, uint64_t stack)
{
	return (struct hold){.holder = holder, .stack = stack, .from = HOLDER_STACK_RELEASE};
}

static struct blocked waiter(uint64_t thread)
{
	return (struct blocked){.thread = thread, .stack = 100 + thread, .monitor = true};
}

struct fixture {
	struct cells cells;
	struct timelines *all;
	struct timeline *line;
};

static int begin(struct fixture *f)
{
	*f = (struct fixture){0};
	f->all = timelines_new(&f->cells);
	return f->all ? timeline_of(f->all, 1, 0, &f->line) : -ENOMEM;
}

static void end(struct fixture *f)
{
	timelines_free(f->all);
	cells_free(&f->cells);
}

static const struct cell *find(const struct fixture *f, uint64_t thread, uint64_t holder,
			       uint64_t stack)
{
	static const struct cell none;

	for (uint32_t i = 0; i < f->cells.count; i++) {
		const struct cell *c = &f->cells.rows[i];

		if (c->waiter == thread && c->holder == holder && c->holder_stack == stack)
			return c;
	}
	return &none;
}

static int extend(struct fixture *f, uint64_t to_ns, struct hold h)
{
	return timeline_extend(f->line, to_ns, &h);
}

static int block(struct fixture *f, uint64_t since_ns, uint64_t thread)
{
	struct blocked who = waiter(thread);

	return timeline_block(f->line, since_ns, &who);
}

/* 2 blocks in the middle of a hold, 3 before the line has got there, 4 after it has passed. */
static void intervals_lie_anywhere(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(begin(&f), 0);
	assert_int_equal(extend(&f, 100, hold(1, 7)), 0);
	assert_int_equal(block(&f, 40, 4), 0);
	assert_int_equal(block(&f, 100, 2), 0);
	assert_int_equal(block(&f, 230, 3), 0);
	assert_int_equal(extend(&f, 150, hold(HOLDER_HAND_OVER, 0)), 0);
	assert_int_equal(extend(&f, 250, hold(1, 8)), 0);
	assert_int_equal(timeline_unblock(f.line, 2, 240, true), 0);
	assert_int_equal(timeline_unblock(f.line, 4, 300, true), 0);
	assert_int_equal(timeline_unblock(f.line, 3, 270, true), 0);
	assert_null(timeline_blocked(f.line, 3));
	assert_int_equal(find(&f, 3, 5, 9)->count, 0);
	assert_int_equal(extend(&f, 400, hold(5, 9)), 0);
	assert_int_equal(find(&f, 2, HOLDER_HAND_OVER, 0)->blocked_ns, 50);
	assert_int_equal(find(&f, 2, HOLDER_HAND_OVER, 0)->count, 1);
	assert_int_equal(find(&f, 2, HOLDER_HAND_OVER, 0)->max_ns, 140);
	assert_int_equal(find(&f, 2, 1, 8)->blocked_ns, 90);
	assert_int_equal(find(&f, 3, 1, 8)->blocked_ns, 20);
	assert_int_equal(find(&f, 3, 1, 8)->count, 1);
	assert_int_equal(find(&f, 3, 5, 9)->blocked_ns, 20);
	assert_int_equal(find(&f, 4, 1, 7)->blocked_ns, 60);
	assert_int_equal(find(&f, 4, 1, 7)->count, 1);
	assert_int_equal(find(&f, 4, 1, 7)->max_held_ns, 160);
	assert_int_equal(find(&f, 4, 1, 8)->max_held_ns, 160);
	assert_int_equal(find(&f, 4, 1, 8)->max_part_ns, 100);
	assert_int_equal(find(&f, 4, 5, 9)->blocked_ns, 50);
	end(&f);
}

static int see(struct fixture *f, uint64_t ns, uint64_t thread, uint64_t cpu_ns,
	       uint64_t runnable_ns)
{
	const struct counters its = {.known = true, .cpu_ns = cpu_ns, .runnable_ns = runnable_ns};

	return timeline_see(f->line, ns, thread, &its);
}

/* Seen when 2 blocks and when 1 releases: that time is known. 3 comes unseen in between. */
static void time_is_split_where_the_holder_was_seen(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(begin(&f), 0);
	assert_int_equal(block(&f, 100, 2), 0);
	assert_int_equal(see(&f, 100, 1, 1000, 0), 0);
	assert_int_equal(block(&f, 150, 3), 0);
	assert_int_equal(see(&f, 150, 9, 5, 0), 0);
	assert_int_equal(block(&f, 160, 4), 0);
	assert_int_equal(see(&f, 160, 1, 1050, 10), 0);
	assert_int_equal(see(&f, 200, 1, 1070, 30), 0);
	assert_int_equal(extend(&f, 200, hold(1, 7)), 0);
	assert_int_equal(timeline_unblock(f.line, 2, 200, true), 0);
	assert_int_equal(timeline_unblock(f.line, 3, 200, true), 0);
	assert_int_equal(timeline_unblock(f.line, 4, 200, true), 0);
	assert_int_equal(find(&f, 2, 1, 7)->split.running_ns, 70);
	assert_int_equal(find(&f, 2, 1, 7)->split.runnable_ns, 30);
	assert_int_equal(find(&f, 2, 1, 7)->split.blocked_ns, 0);
	assert_int_equal(find(&f, 3, 1, 7)->split.unknown_ns, 10);
	assert_int_equal(find(&f, 3, 1, 7)->split.running_ns, 20);
	assert_int_equal(find(&f, 3, 1, 7)->split.runnable_ns, 20);
	assert_int_equal(find(&f, 4, 1, 7)->split.running_ns, 20);
	end(&f);
}

/* 1 holds it for 80 ns of every 100, and is seen now and then; 3 comes in between. */
static void most_of_many_holds_is_split(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(begin(&f), 0);
	assert_int_equal(block(&f, 10, 2), 0);
	for (uint64_t n = 1; n <= 40; n++) {
		assert_int_equal(extend(&f, 100 * n - 80, hold(HOLDER_HAND_OVER, 0)), 0);
		if (n % 10 == 1)
			assert_int_equal(see(&f, 100 * n, 1, 90 * n, 5 * n), 0);
		if (n == 25)
			assert_int_equal(block(&f, 2450, 3), 0);
		assert_int_equal(extend(&f, 100 * n, hold(1, 7)), 0);
	}
	assert_int_equal(timeline_unblock(f.line, 2, 4000, true), 0);
	assert_int_equal(timeline_unblock(f.line, 3, 4000, true), 0);
	/* Of 1000 ns it ran for 900, and held it for 800: it held and ran for 700 at least. */
	assert_int_equal(find(&f, 2, 1, 7)->blocked_ns, 3200);
	assert_int_equal(find(&f, 2, 1, 7)->split.running_ns, 1400);
	assert_int_equal(find(&f, 2, 1, 7)->split.runnable_ns, 0);
	assert_int_equal(find(&f, 2, 1, 7)->split.unknown_ns, 1800);
	assert_int_equal(find(&f, 3, 1, 7)->split.unknown_ns, find(&f, 3, 1, 7)->blocked_ns);
	end(&f);
}

static int hold_forward(struct fixture *f, uint64_t to_ns, uint64_t holder, uint64_t forward)
{
	const struct hold h = {
		.holder = holder, .stack = 50, .from = HOLDER_STACK_WAIT, .forward = forward};

	return timeline_extend(f->line, to_ns, &h);
}

/* The chain comes while 2 is blocked, when 3 is through already; for 4 it never comes. */
static void chains_come_late(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(begin(&f), 0);
	assert_int_equal(block(&f, 0, 2), 0);
	assert_int_equal(block(&f, 0, 3), 0);
	assert_int_equal(hold_forward(&f, 100, 1, 11), 0);
	assert_int_equal(extend(&f, 110, hold(HOLDER_HAND_OVER, 0)), 0);
	assert_int_equal(timeline_unblock(f.line, 3, 110, true), 0);
	assert_int_equal(find(&f, 3, HOLDER_HAND_OVER, 0)->count, 0);
	assert_int_equal(extend(&f, 130, hold(3, 6)), 0);
	assert_int_equal(hold_forward(&f, 150, 1, 11), 0);
	assert_int_equal(timeline_name(f.line, 11, 8, HOLDER_STACK_RELEASE), 0);
	assert_int_equal(timeline_name(f.line, 12, 9, HOLDER_STACK_RELEASE), 0);
	assert_int_equal(find(&f, 3, 1, 8)->blocked_ns, 100);
	assert_int_equal(find(&f, 3, 1, 8)->stack_from_ns[HOLDER_STACK_RELEASE], 100);
	assert_int_equal(block(&f, 150, 4), 0);
	assert_int_equal(hold_forward(&f, 170, 1, 13), 0);
	assert_int_equal(timeline_unblock(f.line, 2, 150, true), 0);
	assert_int_equal(timeline_unblock(f.line, 4, 170, true), 0);
	assert_int_equal(find(&f, 2, 1, 8)->blocked_ns, 120);
	assert_int_equal(find(&f, 2, 1, 8)->max_part_ns, 120);
	assert_int_equal(timeline_counts(f.line)->unnamed, 0);
	assert_int_equal(timelines_finish(f.all), 0);
	assert_int_equal(find(&f, 4, 1, 50)->blocked_ns, 20);
	assert_int_equal(find(&f, 4, 1, 50)->stack_from_ns[HOLDER_STACK_WAIT], 20);
	assert_int_equal(timeline_counts(f.line)->unnamed, 1);
	end(&f);
}

/* More intervals wait for a chain than are kept. */
static void not_all_wait_for_a_chain(void **state)
{
	struct fixture f;

	(void)state;
	assert_int_equal(begin(&f), 0);
	for (uint64_t n = 0; n < 5000; n++) {
		assert_int_equal(block(&f, 10 * n, 2), 0);
		assert_int_equal(hold_forward(&f, 10 * n + 5, 1, 11), 0);
		assert_int_equal(extend(&f, 10 * n + 10, hold(HOLDER_HAND_OVER, 0)), 0);
		assert_int_equal(timeline_unblock(f.line, 2, 10 * n + 10, true), 0);
	}
	assert_in_range(find(&f, 2, 1, 50)->blocked_ns, 5, 5 * 4999);
	assert_int_equal(timeline_name(f.line, 11, 8, HOLDER_STACK_RELEASE), 0);
	assert_int_equal(find(&f, 2, 1, 50)->blocked_ns + find(&f, 2, 1, 8)->blocked_ns, 25000);
	assert_int_equal(timeline_counts(f.line)->unnamed, find(&f, 2, 1, 50)->count);
	end(&f);
}

/* 2 is blocked for so long that the history does not hold all of it. */
static void long_waits(void **state)
{
	struct fixture f;
	uint64_t held[4] = {0};

	(void)state;
	assert_int_equal(begin(&f), 0);
	assert_int_equal(block(&f, 7, 2), 0);
	for (uint64_t n = 0; n < 20000; n++) {
		uint64_t holder = 3 + n % 4;

		held[n % 4] += n ? 5 : 0;
		assert_int_equal(extend(&f, 5 * n + 7, hold(holder, 1)), 0);
		if (n == 15000)
			assert_int_equal(block(&f, 5 * n + 7, 9), 0);
	}
	assert_int_equal(timeline_unblock(f.line, 9, timeline_end(f.line), true), 0);
	assert_int_equal(timeline_unblock(f.line, 2, timeline_end(f.line), true), 0);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(find(&f, 2, 3 + i, 1)->blocked_ns, held[i]);
	assert_int_equal(find(&f, 9, 3, 1)->blocked_ns, 5 * 1249);
	end(&f);
}

struct oracle {
	struct hold at[END];
	struct {
		uint64_t from; /* 0: it is not blocked */
		bool after_wait;
	} open[THREADS + 1];
	struct {
		uint64_t thread, from, to;
		bool after_wait;
	} done[INTERVALS];
	unsigned done_count;
	uint64_t last_ns; /* where the last hold began: so far back there is a history always */
};

static struct hold random_hold(void)
{
	uint64_t holder = below(HOLDERS + 2);

	if (holder > HOLDERS)
		return hold(HOLDER_HAND_OVER, 0);
	return holder ? hold(holder, below(STACKS)) : hold(HOLDER_UNKNOWN, 0);
}

static int random_block(struct fixture *f, struct oracle *o, uint64_t thread)
{
	uint64_t now = timeline_end(f->line), since = now + below(60) - below(40);
	struct blocked who = waiter(thread);

	if (since < o->last_ns)
		since = o->last_ns;
	who.after_wait = !below(4);
	o->open[thread].from = since;
	o->open[thread].after_wait = who.after_wait;
	return timeline_block(f->line, since, &who);
}

static int random_unblock(struct fixture *f, struct oracle *o, uint64_t thread)
{
	uint64_t now = timeline_end(f->line), from = o->open[thread].from;
	uint64_t to = now + below(60) - below(20);
	bool count = below(10);

	to = to > from ? to : from;
	o->open[thread].from = 0;
	if (count) {
		o->done[o->done_count].thread = thread;
		o->done[o->done_count].from = from;
		o->done[o->done_count].after_wait = o->open[thread].after_wait;
		o->done[o->done_count++].to = to;
	}
	return timeline_unblock(f->line, thread, to, count);
}

static int random_schedule(struct fixture *f, struct oracle *o)
{
	int err = extend(f, 100, hold(HOLDER_HAND_OVER, 0));

	for (uint64_t i = 0; i < 100; i++)
		o->at[i] = hold(HOLDER_HAND_OVER, 0);
	while (!err && timeline_end(f->line) < END - 100) {
		uint64_t thread = 1 + below(THREADS), now = timeline_end(f->line);
		uint64_t to = now + below(20);
		struct hold h = random_hold();

		switch (below(4)) {
		case 3: /* it is seen what a thread does: some of it is known then, and adds up */
			err = see(f, now + below(30), 1 + below(HOLDERS), now / 2, now / 3);
			break;
		case 0:
			o->last_ns = to > now ? now : o->last_ns;
			for (; now < to; now++)
				o->at[now] = h;
			err = extend(f, to, h);
			break;
		case 1:
			err = o->open[thread].from ? random_unblock(f, o, thread)
						   : random_block(f, o, thread);
			break;
		}
	}
	for (uint64_t i = timeline_end(f->line); i < END; i++)
		o->at[i] = hold(HOLDER_UNKNOWN, 0);
	return err ? err : timelines_finish(f->all);
}

struct sum {
	uint64_t count, blocked, max, max_held, max_part;
};

static struct sum sums[2][THREADS + 1][HOLDERS + 2][STACKS];

static unsigned holder_index(uint64_t holder)
{
	return holder == HOLDER_HAND_OVER ? HOLDERS + 1 : (unsigned)holder;
}

static void oracle_sum(const struct oracle *o, unsigned n)
{
	uint64_t held[HOLDERS + 2] = {0}, part[HOLDERS + 2][STACKS] = {{0}}, thread;
	struct sum(*of)[STACKS];
	struct hold first = hold(HOLDER_HAND_OVER, 0);

	thread = o->done[n].thread;
	of = sums[o->done[n].after_wait][thread];
	for (uint64_t t = o->done[n].from; t < o->done[n].to; t++) {
		struct hold h = o->at[t].holder == thread ? hold(HOLDER_HAND_OVER, 0) : o->at[t];

		if (t == o->done[n].from)
			first = h;
		held[holder_index(h.holder)]++;
		part[holder_index(h.holder)][h.stack]++;
	}
	of[holder_index(first.holder)][first.stack].count++;
	if (of[holder_index(first.holder)][first.stack].max < o->done[n].to - o->done[n].from)
		of[holder_index(first.holder)][first.stack].max = o->done[n].to - o->done[n].from;
	for (unsigned h = 0; h < HOLDERS + 2; h++) {
		for (unsigned k = 0; k < STACKS; k++) {
			struct sum *s = &of[h][k];

			s->blocked += part[h][k];
			s->max_part = part[h][k] > s->max_part ? part[h][k] : s->max_part;
			if (part[h][k] && held[h] > s->max_held)
				s->max_held = held[h];
		}
	}
}

static uint64_t compare(const struct fixture *f, const struct oracle *o)
{
	uint64_t blocked = 0, expected = 0;

	memset(sums, 0, sizeof(sums));
	for (unsigned i = 0; i < o->done_count; i++) {
		oracle_sum(o, i);
		expected += o->done[i].to - o->done[i].from;
	}
	for (uint32_t i = 0; i < f->cells.count; i++) {
		const struct cell *c = &f->cells.rows[i];
		const struct sum *s =
			&sums[c->after_wait][c->waiter][holder_index(c->holder)][c->holder_stack];

		assert_int_equal(c->count, s->count);
		assert_int_equal(c->blocked_ns, s->blocked);
		assert_int_equal(c->max_ns, s->max);
		assert_int_equal(c->max_part_ns, s->max_part);
		assert_true(!s->blocked || c->max_held_ns == s->max_held);
		assert_int_equal(c->waiter_stack, 100 + c->waiter);
		assert_int_equal(split_sum(&c->split), c->blocked_ns);
		assert_in_range(c->split.unknown_ns, 0, c->blocked_ns);
		assert_in_range(c->split.running_ns, 0, c->blocked_ns);
		blocked += c->blocked_ns;
	}
	assert_int_equal(blocked, expected);
	return o->done_count;
}

struct part {
	uint64_t holder, stack, from_ns, to_ns;
};

/* What an observer is told of a schedule. */
static struct told {
	struct part parts[INTERVALS * (HOLDERS + 2) * STACKS];
	struct {
		uint64_t waiter, since_ns, until_ns;
		unsigned end; /* of its parts */
	} intervals[INTERVALS];
	unsigned part_count, interval_count;
} told;

static void on_part(void *context, const struct cell_part *part)
{
	struct told *t = context;

	t->parts[t->part_count++] = (struct part){part->key.holder, part->key.holder_stack,
						  part->from_ns, part->to_ns};
}

static void on_interval(void *context, const struct cell_interval *interval)
{
	struct told *t = context;
	unsigned i = t->interval_count++;

	t->intervals[i].waiter = interval->key.waiter;
	t->intervals[i].since_ns = interval->since_ns;
	t->intervals[i].until_ns = interval->until_ns;
	t->intervals[i].end = t->part_count;
}

/* When a waiter was first charged with what a part is of. */
static uint64_t first_of(const struct oracle *o, uint64_t waiter, uint64_t since_ns,
			 const struct part *part)
{
	for (uint64_t t = since_ns; t < END; t++) {
		struct hold h = o->at[t].holder == waiter ? hold(HOLDER_HAND_OVER, 0) : o->at[t];

		if (h.holder == part->holder && h.stack == part->stack)
			return t;
	}
	return END;
}

/* Parts lie one after the other, in the order in which their holders came. */
static void compare_order(const struct oracle *o)
{
	unsigned k = 0;

	assert_int_equal(told.interval_count, o->done_count);
	for (unsigned i = 0; i < told.interval_count; i++) {
		uint64_t at_ns = told.intervals[i].since_ns, first, before = 0;

		for (; k < told.intervals[i].end; k++) {
			assert_int_equal(told.parts[k].from_ns, at_ns);
			at_ns = told.parts[k].to_ns;
			first = first_of(o, told.intervals[i].waiter, told.intervals[i].since_ns,
					 &told.parts[k]);
			assert_in_range(first, before, told.intervals[i].until_ns - 1);
			before = first;
		}
		assert_int_equal(at_ns, told.intervals[i].until_ns);
	}
}

static void agrees_with_the_oracle(void **state)
{
	static struct oracle o;
	struct fixture f;
	uint64_t done = 0;

	(void)state;
	for (unsigned n = 0; n < SCHEDULES; n++) {
		seed = n;
		memset(&o, 0, sizeof(o));
		told.part_count = told.interval_count = 0;
		assert_int_equal(begin(&f), 0);
		f.cells.observe = on_part;
		f.cells.ended = on_interval;
		f.cells.observer = &told;
		assert_int_equal(random_schedule(&f, &o), 0);
		done += compare(&f, &o);
		compare_order(&o);
		end(&f);
	}
	assert_true(done > SCHEDULES * 50);
}

static bool survives(unsigned long fail_at)
{
	static struct oracle o;
	struct fixture f;
	bool failed;
	int err;

	seed = 3;
	memset(&o, 0, sizeof(o));
	alloc_fail_at(fail_at);
	err = begin(&f);
	if (!err)
		err = random_schedule(&f, &o);
	if (!err)
		err = block(&f, timeline_end(f.line), 99);
	if (!err)
		err = hold_forward(&f, END + 1, 98, 5);
	if (!err)
		err = timeline_unblock(f.line, 99, END, true);
	failed = alloc_fail_off();
	assert_int_equal(err, failed ? -ENOMEM : 0);
	end(&f);
	return !failed;
}

static void survives_without_memory(void **state)
{
	unsigned long n = 0;

	(void)state;
	while (!survives(n))
		n++;
	assert_true(n > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_lie_anywhere),
		cmocka_unit_test(time_is_split_where_the_holder_was_seen),
		cmocka_unit_test(most_of_many_holds_is_split),
		cmocka_unit_test(chains_come_late),
		cmocka_unit_test(not_all_wait_for_a_chain),
		cmocka_unit_test(long_waits),
		cmocka_unit_test(agrees_with_the_oracle),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests_name("analyze_timeline", tests, NULL, NULL);
}
