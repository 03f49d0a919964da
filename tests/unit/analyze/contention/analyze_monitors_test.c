/*
 * Monitors of a patched JVM: random programs on a simulated monitor that draws numbers and folds
 * releases as jvm-hooks/probes.h says. What the analysis makes of the events is compared with what
 * the simulation knows of every nanosecond.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/contention/contention.h"
#include "tests/unit/analyze/analyze_events.h"
#include "tests/unit/alloc_fail.h"

#define THREADS 6
#define CHAINS 3
#define WAIT_CHAINS 10 /* of a wait() in the method with chain c: 10 + c */
#define STACKS 16
#define END 5000
#define EVENTS 8000
#define LOCK 1
#define FOLD_MAX 5 /* SPOOR_FOLD_MAX, less, so that there are too many now and then */
#define FOLD_NS 400

enum doing { RUNS, OWNS, BLOCKED, WAITS };

struct sim_thread {
	enum doing doing;
	uint64_t chain;    /* of the method that has entered, or will */
	uint64_t since_ns; /* OWNS: when it got it; BLOCKED: from when on it can get it */
	uint64_t forward;  /* WAITS, or BLOCKED from there: the open reference */
	bool after_wait;
};

struct sim_part {
	uint64_t thread, chain, count, like, held;
};

/* How the program and its recording are. */
struct style {
	bool folds;     /* some releases have a known call site */
	unsigned late;  /* events of enter and notify happen up to so many ns after their number */
	unsigned loss;  /* one of so many events is lost; 0: none */
	bool lose_all;  /* of all kinds, not only exits and begins */
	unsigned mixed; /* events come up to so many ns too late */
	unsigned waits; /* one of so many holders waits, or notifies; 0: none */
};

static struct {
	struct style style;
	struct sim_thread threads[THREADS + 1];
	uint64_t now, owner, number, since, last, forward, told_ns;
	unsigned blocked;
	struct {
		bool there, open;
		unsigned parts;
		uint64_t first, last, began, ended;
		struct sim_part part[FOLD_MAX];
	} window;
	/* The truth of each moment. */
	struct {
		uint64_t holder, chain, forward;
	} at[END];
	uint64_t resolved[EVENTS]; /* chain, by forward number */
	struct sim_event {
		struct event event;
		uint64_t comes, index, stack;
	} events[EVENTS];
	unsigned event_count;
} sim;

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static void tell(struct event e)
{
	struct sim_event *s = &sim.events[sim.event_count];

	assert_true(sim.event_count < EVENTS);
	s->event = e;
	s->index = sim.event_count++;
	s->comes = e.time_ns;
	/* A log is read in the order of its times: a notify comes before the next wait() of its
	 * target. */
	if (e.id != EVENT_MONITOR_WAIT_BEGIN && e.id != EVENT_MONITOR_NOTIFY)
		s->comes += below(sim.style.mixed + 1);
}

static struct event event(uint16_t id, uint64_t ns, uint64_t thread)
{
	struct event e = {.id = id, .time_ns = ns, .thread = (uint32_t)thread};

	e.v[0].u = LOCK;
	return e;
}

static uint64_t draw(void)
{
	return ++sim.number;
}

/* From when it got the monitor up to now, who had it is known to all. */
static void hold_is(uint64_t from, uint64_t holder, uint64_t chain, uint64_t forward)
{
	for (uint64_t t = from; t < sim.now; t++) {
		sim.at[t].holder = holder;
		sim.at[t].chain = chain;
		sim.at[t].forward = forward;
	}
}

static bool watched(void)
{
	return sim.blocked || sim.forward || (sim.window.open && sim.window.parts);
}

static void got_it(uint64_t thread)
{
	sim.owner = thread;
	sim.threads[thread].doing = OWNS;
	sim.threads[thread].since_ns = sim.now;
	if (watched())
		sim.since = sim.now;
	/* Back from wait(): the reference is open again. */
	if (sim.threads[thread].forward)
		sim.forward = sim.threads[thread].forward;
	sim.threads[thread].forward = 0;
}

static void do_enter(uint64_t thread, bool after_wait)
{
	struct sim_thread *t = &sim.threads[thread];
	struct event e =
		event(EVENT_MONITOR_CONTENDED_ENTER, sim.now + below(sim.style.late + 1), thread);

	t->doing = BLOCKED;
	t->since_ns = e.time_ns;
	t->after_wait = after_wait;
	sim.blocked++;
	sim.told_ns = sim.now;
	e.v[MONITOR_CONTENDED_ENTER_SEQUENCE].u = draw();
	e.v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u = after_wait;
	e.v[MONITOR_CONTENDED_ENTER_OWNER].u = sim.owner;
	e.v[MONITOR_CONTENDED_ENTER_OWNER_SOURCE].u = OWNER_SOURCE_JAVA_THREAD;
	e.v[MONITOR_CONTENDED_ENTER_STACK].u = t->chain + (after_wait ? WAIT_CHAINS : 0);
	tell(e);
}

static void do_entered(uint64_t thread)
{
	struct sim_thread *t = &sim.threads[thread];
	struct event e = event(EVENT_MONITOR_CONTENDED_ENTERED, sim.now, thread);

	got_it(thread);
	e.v[MONITOR_CONTENDED_ENTERED_SEQUENCE].u = draw();
	e.v[MONITOR_CONTENDED_ENTERED_AFTER_WAIT].u = t->after_wait;
	sim.blocked--;
	tell(e);
}

static void close_window(void)
{
	unsigned told = 0;

	sim.window.open = false;
	for (unsigned i = 0; i < sim.window.parts; i++)
		told += sim.window.part[i].count > 0;
	for (unsigned i = 0; i < sim.window.parts; i++) {
		const struct sim_part *p = &sim.window.part[i];
		struct event e = event(EVENT_MONITOR_FOLD, sim.window.ended, 1);

		e.v[MONITOR_FOLD_FIRST].u = sim.window.first;
		e.v[MONITOR_FOLD_LAST].u = sim.window.last;
		e.v[MONITOR_FOLD_PARTS].u = told;
		e.v[MONITOR_FOLD_OWNER].u = p->thread;
		e.v[MONITOR_FOLD_LIKE].u = p->like;
		e.v[MONITOR_FOLD_COUNT].u = p->count;
		e.v[MONITOR_FOLD_HELD_NS].u = p->held;
		if (p->count)
			tell(e);
	}
	sim.window.parts = 0;
}

/* Whether the release is one more of a kind; *ret_known: it is told whose. */
static bool fold(uint64_t number, uint64_t thread, uint64_t chain, bool *ret_known)
{
	uint64_t since = sim.since;
	unsigned i = 0;

	if (!sim.window.open) {
		sim.window.open = true;
		sim.window.parts = 0;
		sim.window.first = number;
		sim.window.began = sim.now;
	} else if (sim.window.ended > since) {
		since = sim.window.ended;
	}
	sim.window.last = number;
	sim.window.ended = sim.now;
	while (i < sim.window.parts &&
	       (sim.window.part[i].thread != thread || sim.window.part[i].chain != chain))
		i++;
	if (i == sim.window.parts) {
		if (i < FOLD_MAX - 1) {
			sim.window.part[sim.window.parts++] =
				(struct sim_part){thread, chain, 0, number, 0};
			return false;
		}
		if (i == FOLD_MAX - 1)
			sim.window.part[sim.window.parts++] = (struct sim_part){0};
		i = FOLD_MAX - 1;
	}
	*ret_known = i < FOLD_MAX - 1;
	sim.window.part[i].held += sim.now - since;
	sim.window.part[i].count++;
	return true;
}

/* The truth of a hold that ends now, and its exit if it is told of. */
static void do_release(bool in_wait)
{
	uint64_t thread = sim.owner, forward = sim.forward, number = 0;
	struct sim_thread *t = &sim.threads[thread];
	struct event e = event(EVENT_MONITOR_CONTENDED_EXIT, sim.now, thread);
	bool fire = sim.blocked || (forward && !in_wait), resolves = forward && !in_wait;
	bool plain = fire && !in_wait && !resolves && sim.style.folds && below(8), known = true;

	if (fire)
		number = draw();
	if (in_wait && !forward)
		forward = number;
	sim.forward = 0;
	t->forward = in_wait ? forward : 0;
	if (sim.window.there && sim.window.open &&
	    !(plain && number == sim.window.last + 1 && sim.now - sim.window.began < FOLD_NS))
		close_window();
	if (sim.window.there && plain)
		fire = !fold(number, thread, t->chain, &known);
	else if (plain)
		sim.window.there = number == sim.last + 1;
	if (plain)
		sim.last = number;
	if (resolves)
		sim.resolved[forward] = t->chain;
	if (known)
		hold_is(t->since_ns, thread, t->chain + (in_wait ? WAIT_CHAINS : 0),
			in_wait ? forward : 0);
	else
		hold_is(t->since_ns, HOLDER_UNKNOWN, 0, 0);
	sim.owner = 0;
	t->doing = in_wait ? WAITS : RUNS;
	if (!fire)
		return;
	e.v[MONITOR_CONTENDED_EXIT_SEQUENCE].u = number;
	e.v[MONITOR_CONTENDED_EXIT_HELD_NS].u =
		sim.since && sim.since < sim.now ? sim.now - sim.since : 0;
	e.v[MONITOR_CONTENDED_EXIT_IN_WAIT].u = in_wait;
	e.v[MONITOR_CONTENDED_EXIT_FORWARD].u = in_wait ? forward : 0;
	e.v[MONITOR_CONTENDED_EXIT_RESOLVES].u = resolves ? forward : 0;
	e.v[MONITOR_CONTENDED_EXIT_STACK].u = t->chain + (in_wait ? WAIT_CHAINS : 0);
	tell(e);
}

static void do_wait(void)
{
	struct sim_thread *t = &sim.threads[sim.owner];
	struct event e = event(EVENT_MONITOR_WAIT_BEGIN, sim.now, sim.owner);

	e.v[MONITOR_WAIT_BEGIN_STACK].u = t->chain + WAIT_CHAINS;
	tell(e);
	do_release(true);
}

static void do_notify(uint64_t thread)
{
	struct sim_thread *t = &sim.threads[thread];
	struct event e =
		event(EVENT_MONITOR_NOTIFY, sim.now + below(sim.style.late + 1), sim.owner);

	t->doing = BLOCKED;
	t->after_wait = true;
	t->since_ns = e.time_ns;
	sim.blocked++;
	sim.told_ns = sim.now;
	e.v[MONITOR_NOTIFY_SEQUENCE].u = draw();
	e.v[MONITOR_NOTIFY_TARGET].u = thread;
	tell(e);
	sim.events[sim.event_count - 1].stack = t->chain + WAIT_CHAINS;
}

/* What a thread does next, if anything. */
static void step(uint64_t thread)
{
	struct sim_thread *t = &sim.threads[thread];

	switch (t->doing) {
	case RUNS:
		t->chain = 1 + below(CHAINS);
		t->after_wait = false;
		if (!sim.owner)
			got_it(thread);
		else if (!below(4))
			do_enter(thread, false);
		break;
	case BLOCKED:
		if (!sim.owner && sim.now >= t->since_ns && !below(5))
			do_entered(thread);
		break;
	case WAITS: /* its time is up */
		if (below(30))
			break;
		if (sim.owner)
			do_enter(thread, true);
		else
			got_it(thread);
		break;
	case OWNS:
		if (sim.now == t->since_ns || sim.now == sim.told_ns)
			break; /* each at a time of its own: folds do not tell of order */
		if (sim.style.waits && !below(sim.style.waits)) {
			do_wait();
			break;
		}
		for (uint64_t i = 1; sim.style.waits && i <= THREADS; i++) {
			if (sim.threads[i].doing == WAITS && !below(5))
				do_notify(i);
		}
		if (sim.now != sim.told_ns)
			do_release(false);
		break;
	}
}

static bool is_lost(const struct event *e)
{
	if (!sim.style.loss || e->id == EVENT_MONITOR_WAIT_BEGIN ||
	    (!sim.style.lose_all && (e->id == EVENT_MONITOR_CONTENDED_ENTERED)))
		return false;
	return !below(sim.style.loss);
}

static void simulate(struct style style)
{
	unsigned kept = 0;

	memset(&sim, 0, sizeof(sim));
	sim.style = style;
	sim.number = below(100);
	for (uint64_t t = 0; t < END; t++)
		sim.at[t].holder = HOLDER_HAND_OVER;
	for (sim.now = 1; sim.now < END - 100; sim.now += below(4)) {
		for (unsigned i = 0; i < 3; i++)
			step(1 + below(THREADS));
	}
	/* All leave, so that what is known is told. */
	for (; sim.owner || watched(); sim.now += 1) {
		if (!sim.owner && !sim.blocked)
			got_it(1 + below(THREADS));
		else if (sim.owner)
			do_release(false);
		for (uint64_t i = 1; i <= THREADS && !sim.owner; i++) {
			if (sim.threads[i].doing == BLOCKED && sim.now >= sim.threads[i].since_ns)
				do_entered(i);
		}
		assert_true(sim.now < END - 1);
	}
	for (uint64_t t = 0; t < END; t++) {
		if (sim.at[t].forward && sim.resolved[sim.at[t].forward])
			sim.at[t].chain = sim.resolved[sim.at[t].forward];
	}
	for (unsigned i = 0; i < sim.event_count; i++) {
		if (!is_lost(&sim.events[i].event))
			sim.events[kept++] = sim.events[i];
	}
	sim.event_count = kept;
}

/* By whether it is after wait(), waiter, its chain, holder, its chain. */
struct sum {
	uint64_t count, blocked, max, max_held, max_part;
};

static struct sum sums[2][THREADS + 1][STACKS][THREADS + 2][STACKS];

static unsigned holder_index(uint64_t holder)
{
	return holder == HOLDER_HAND_OVER ? THREADS + 1 : (unsigned)holder;
}

struct open {
	bool active, after_wait;
	uint64_t from, stack;
};

static uint64_t add_contention(uint64_t waiter, const struct open *o, uint64_t to)
{
	uint64_t held[THREADS + 2] = {0}, part[THREADS + 2][STACKS] = {{0}};
	struct sum(*of)[STACKS] = sums[o->after_wait][waiter][o->stack];
	unsigned first = THREADS + 1, first_chain = 0;
	struct sum *s;

	assert_true(to >= o->from);
	for (uint64_t t = o->from; t < to; t++) {
		unsigned holder = holder_index(sim.at[t].holder);
		uint64_t chain = sim.at[t].chain;

		if (holder == waiter) {
			holder = THREADS + 1;
			chain = 0;
		}
		if (t == o->from) {
			first = holder;
			first_chain = (unsigned)chain;
		}
		held[holder]++;
		part[holder][chain]++;
	}
	s = &of[first][first_chain];
	s->count++;
	s->max = to - o->from > s->max ? to - o->from : s->max;
	for (unsigned h = 0; h < THREADS + 2; h++) {
		for (unsigned k = 0; k < STACKS; k++) {
			s = &of[h][k];
			s->blocked += part[h][k];
			s->max_part = part[h][k] > s->max_part ? part[h][k] : s->max_part;
			if (part[h][k] && held[h] > s->max_held)
				s->max_held = held[h];
		}
	}
	return to - o->from;
}

/* The contentions of which begin and end are told, in the order of the numbers. */
static uint64_t sum_up(uint64_t *ret_missing)
{
	static struct open open[THREADS + 1];
	uint64_t whole = 0;

	memset(sums, 0, sizeof(sums));
	memset(open, 0, sizeof(open));
	*ret_missing = 0;
	for (unsigned i = 0; i < sim.event_count; i++) {
		const struct event *e = &sim.events[i].event;
		struct open *o = &open[e->thread];

		switch (e->id) {
		case EVENT_MONITOR_CONTENDED_ENTER:
			if (o->active && o->after_wait &&
			    e->v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u)
				break; /* it seems to have been notified, and its entered is lost */
			*o = (struct open){true, e->v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u,
					   e->time_ns, e->v[MONITOR_CONTENDED_ENTER_STACK].u};
			break;
		case EVENT_MONITOR_NOTIFY:
			o->active = false;
			o = &open[e->v[MONITOR_NOTIFY_TARGET].u];
			*o = (struct open){true, true, e->time_ns, sim.events[i].stack};
			break;
		case EVENT_MONITOR_CONTENDED_ENTERED:
			if (o->active)
				whole += add_contention(e->thread, o, e->time_ns);
			else
				++*ret_missing;
			o->active = false;
			break;
		case EVENT_MONITOR_CONTENDED_EXIT:
			o->active = false;
			break;
		}
	}
	return whole;
}

static int by_coming(const void *a, const void *b)
{
	const struct sim_event *x = a, *y = b;

	return x->comes != y->comes ? (x->comes > y->comes) - (x->comes < y->comes)
				    : (x->index > y->index) - (x->index < y->index);
}

static int feed(struct contention *c)
{
	int err = 0;

	qsort(sim.events, sim.event_count, sizeof(*sim.events), by_coming);
	for (unsigned i = 0; i < sim.event_count && !err; i++)
		err = contention_add(c, &sim.events[i].event);
	return err ? err : contention_finish(c, END);
}

static struct sum *sum_of(const struct cell *c)
{
	return &sums[c->after_wait][c->waiter][c->waiter_stack][holder_index(c->holder)]
		    [c->holder_stack];
}

static void all_cells_are_right(const struct contention *c, uint64_t whole)
{
	const struct contention_facts f = contention_facts(c);
	const struct cell *cells;
	uint64_t blocked = 0;
	uint32_t count;

	cells = contention_cells(c, &count);
	for (uint32_t i = 0; i < count; i++) {
		const struct sum *s = sum_of(&cells[i]);

		assert_int_equal(cells[i].blocked_ns, s->blocked);
		assert_int_equal(cells[i].count, s->count);
		assert_int_equal(cells[i].max_ns, s->max);
		assert_int_equal(cells[i].max_part_ns, s->max_part);
		assert_true(!s->blocked || cells[i].max_held_ns == s->max_held);
		assert_true(cells[i].monitor);
		blocked += cells[i].blocked_ns;
	}
	assert_int_equal(blocked, whole);
	assert_int_equal(f.monitors.gaps + f.monitors.missing + f.monitors.late, 0);
	assert_int_equal(f.monitors.cut, 0);
	assert_int_equal(f.folds.excess_ns, 0);
	assert_int_equal(contention_lock_find(c, LOCK)->begin_missing, 0);
	assert_int_equal(contention_lock_find(c, LOCK)->end_missing, 0);
}

/* What is said of a holder is true; only less is known. */
static void no_cell_is_wrong(const struct contention *c, uint64_t whole, bool folds)
{
	uint64_t blocked = 0, said[2][THREADS + 1][THREADS + 2] = {{{0}}}, truth;
	const struct cell *cells;
	uint32_t count;

	cells = contention_cells(c, &count);
	for (uint32_t i = 0; i < count; i++) {
		said[cells[i].after_wait][cells[i].waiter][holder_index(cells[i].holder)] +=
			cells[i].blocked_ns;
		blocked += cells[i].blocked_ns;
	}
	assert_int_equal(blocked, whole);
	for (unsigned i = 0; i < 2 * (THREADS + 1) * (THREADS + 2) && !folds; i++) {
		unsigned after = i % 2, waiter = i / 2 % (THREADS + 1),
			 holder = i / 2 / (THREADS + 1);

		truth = 0;
		for (unsigned k = 0; k < STACKS * STACKS; k++)
			truth += sums[after][waiter][k % STACKS][holder][k / STACKS].blocked;
		assert_true(holder == HOLDER_UNKNOWN || said[after][waiter][holder] <= truth);
	}
}

static uint64_t run(struct style style, unsigned schedules)
{
	uint64_t all = 0, whole, missing;

	for (unsigned n = 0; n < schedules; n++) {
		struct contention *c = contention_new(NULL);

		seed = n;
		simulate(style);
		whole = sum_up(&missing);
		all += whole;
		assert_int_equal(feed(c), 0);
		if (!style.loss)
			all_cells_are_right(c, whole);
		else
			no_cell_is_wrong(c, whole, style.folds || style.lose_all);
		if (!style.lose_all)
			assert_int_equal(contention_lock_find(c, LOCK)->begin_missing, missing);
		contention_free(c);
	}
	return all;
}

#define SCHEDULES 150

static void holders_in_turn(void **state)
{
	(void)state;
	assert_true(run((struct style){0}, SCHEDULES) > 100000);
	assert_true(run((struct style){.late = 60}, SCHEDULES) > 100000);
	assert_true(run((struct style){.late = 60, .mixed = 300}, SCHEDULES) > 100000);
}

static void waits_and_forward_references(void **state)
{
	(void)state;
	assert_true(run((struct style){.waits = 6}, SCHEDULES) > 100000);
	assert_true(run((struct style){.waits = 3, .late = 40, .mixed = 300}, SCHEDULES) > 100000);
}

static void storms_are_folded(void **state)
{
	(void)state;
	assert_true(run((struct style){.folds = true}, SCHEDULES) > 100000);
	assert_true(run((struct style){.folds = true, .waits = 20, .mixed = 300}, SCHEDULES) >
		    100000);
}

static void lost_events_make_no_wrong_ones(void **state)
{
	(void)state;
	assert_true(run((struct style){.loss = 20, .mixed = 300}, SCHEDULES) > 100000);
	assert_true(run((struct style){.loss = 5, .waits = 8, .late = 20}, SCHEDULES) > 100000);
	assert_true(run((struct style){.loss = 20, .lose_all = true, .waits = 8, .mixed = 300},
			SCHEDULES) > 100000);
	assert_true(run((struct style){.loss = 20, .lose_all = true, .waits = 8, .folds = true},
			SCHEDULES) > 100000);
}

static uint64_t any_number(void)
{
	switch (below(6)) {
	case 0:
		return (uint64_t)below(UINT32_MAX) << below(64);
	case 1:
		return UINT64_MAX - below(3);
	default:
		return below(40);
	}
}

/* What no JVM tells, but a log may say. */
static void nonsense_does_no_harm(void **state)
{
	static const uint16_t kinds[] = {
		EVENT_MONITOR_CONTENDED_ENTER,
		EVENT_MONITOR_CONTENDED_ENTERED,
		EVENT_MONITOR_CONTENDED_EXIT,
		EVENT_MONITOR_NOTIFY,
		EVENT_MONITOR_FOLD,
		EVENT_MONITOR_FOLD,
		EVENT_MONITOR_DEFLATE,
		EVENT_MONITOR_WAIT_BEGIN,
		EVENT_THREAD_END,
	};

	(void)state;
	for (unsigned n = 0; n < SCHEDULES; n++) {
		struct contention *c = contention_new(NULL);
		const struct cell *cells;
		uint32_t count;

		seed = n;
		for (unsigned i = 0; i < 300; i++) {
			struct event e = {.id = kinds[below(sizeof(kinds) / sizeof(*kinds))],
					  .time_ns = below(3) ? i : any_number(),
					  .thread = 1 + below(THREADS)};

			for (unsigned k = 1; k < EVENT_FIELDS_MAX; k++)
				e.v[k].u = any_number();
			e.v[0].u = below(4) ? LOCK : any_number();
			assert_int_equal(contention_add(c, &e), 0);
		}
		assert_int_equal(contention_finish(c, any_number()), 0);
		cells = contention_cells(c, &count);
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(split_sum(&cells[i].split), cells[i].blocked_ns);
		contention_free(c);
	}
}

static bool survives(unsigned long fail_at)
{
	struct contention *c;
	int err = 0;

	seed = 5;
	simulate((struct style){.folds = true, .waits = 10, .mixed = 300});
	alloc_fail_at(fail_at);
	c = contention_new(NULL);
	if (c)
		err = feed(c);
	if (!alloc_fail_off()) {
		assert_int_equal(err, 0);
		contention_free(c);
		return true;
	}
	assert_true(!c || err == -ENOMEM);
	contention_free(c);
	return false;
}

static void survives_without_memory(void **state)
{
	unsigned long n = 0;

	(void)state;
	while (!survives(n))
		n++;
	assert_true(n > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holders_in_turn),
		cmocka_unit_test(waits_and_forward_references),
		cmocka_unit_test(storms_are_folded),
		cmocka_unit_test(lost_events_make_no_wrong_ones),
		cmocka_unit_test(nonsense_does_no_harm),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests_name("analyze_monitors", tests, NULL, NULL);
}
