/* Cells cut by facets: sums are those of the cells that are not cut, whatever the cuts; and what is
 * known of the past when a part comes late. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/contention/contention.h"
#include "analyze/groups/facet_cells.h"
#include "tests/unit/analyze/analyze_events.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull
#define THREADS 5
#define LOCKS 2
#define EVENTS 400
#define ALL (FACET_WINDOW | FACET_DURATION | FACET_GC | FACET_SPAN | FACET_STATE)

static uint64_t seed;

static uint64_t below(uint64_t n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % n;
}

static struct event mark(uint16_t id, uint64_t ns, uint32_t thread, uint64_t name)
{
	struct event e = {.id = id, .time_ns = ns, .thread = thread};

	e.v[0].u = name;
	return e;
}

/* Some event of some thread. blocked: the lock that each thread is blocked on; 0: none. */
static struct event random_event(uint64_t ns, uint64_t blocked[THREADS + 1])
{
	uint32_t thread = 1 + (uint32_t)below(THREADS);
	uint64_t owner = 1 + below(THREADS), lock = blocked[thread];
	struct times t = {ns / 3, ns / 50, ns / 20};

	switch (below(6)) {
	case 0:
		return mark(below(2) ? EVENT_GC_BEGIN : EVENT_GC_END, ns, 99, 0);
	case 1:
		return below(2) ? mark(EVENT_SPAN_BEGIN, ns, thread, 1 + below(1200))
				: mark(EVENT_SPAN_END, ns, thread, 0);
	case 2:
		return own(EVENT_MONITOR_CONTENDED_EXIT, ns, thread, 1 + below(LOCKS), t);
	default:
		blocked[thread] = lock ? 0 : 1 + below(LOCKS);
		if (lock)
			return entered(ns, thread, lock, t, owner, t);
		return enter(ns, thread, blocked[thread], owner == thread ? 0 : owner,
			     OWNER_SOURCE_JAVA_THREAD, t);
	}
}

static int run(struct contention *c, struct facet_cells *f, unsigned seeded)
{
	uint64_t ns = 1000 * MS, blocked[THREADS + 1] = {0};
	int err = 0;

	seed = seeded;
	contention_observe(c, facet_cells_part, f);
	contention_observe_intervals(c, facet_cells_interval);
	for (unsigned i = 0; i < EVENTS && !err; i++) {
		struct event e = random_event(ns, blocked);

		ns += below(10) ? below(2 * MS) : below(90 * MS);
		err = contention_add(c, &e);
		err = err ? err : facet_cells_add(f, &e);
	}
	err = err ? err : contention_finish(c, ns);
	return err ? err : facet_cells_error(f);
}

struct sums {
	uint64_t count, blocked_ns, max_ns, max_held_ns, max_part_ns;
	struct split split;
	uint64_t stack_from_ns;
};

static struct sums sum(const struct cell *cells, uint32_t count)
{
	struct sums s = {0};

	for (uint32_t i = 0; i < count; i++) {
		s.count += cells[i].count;
		s.blocked_ns += cells[i].blocked_ns;
		s.max_ns = cells[i].max_ns > s.max_ns ? cells[i].max_ns : s.max_ns;
		s.max_held_ns =
			cells[i].max_held_ns > s.max_held_ns ? cells[i].max_held_ns : s.max_held_ns;
		s.max_part_ns =
			cells[i].max_part_ns > s.max_part_ns ? cells[i].max_part_ns : s.max_part_ns;
		split_add(&s.split, &cells[i].split);
		for (unsigned k = 0; k < HOLDER_STACK_FROM_COUNT; k++)
			s.stack_from_ns += cells[i].stack_from_ns[k];
		assert_int_equal(split_sum(&cells[i].split), cells[i].blocked_ns);
		assert_int_equal(cells[i].pending, 0);
	}
	return s;
}

static void same_sums(const struct contention *c, const struct facet_cells *f)
{
	uint32_t count;
	const struct cell *cells = contention_cells(c, &count);
	struct sums whole = sum(cells, count);
	struct sums cut = sum(facet_cells(f)->rows, facet_cells(f)->count);

	assert_true(whole.count > 20);
	assert_int_equal(cut.count, whole.count);
	assert_int_equal(cut.blocked_ns, whole.blocked_ns);
	assert_int_equal(cut.max_ns, whole.max_ns);
	assert_int_equal(cut.max_held_ns, whole.max_held_ns);
	assert_int_equal(cut.stack_from_ns, whole.stack_from_ns);
	assert_memory_equal(&cut.split, &whole.split, sizeof(cut.split));
	assert_int_equal(cut.max_part_ns, whole.max_part_ns);
}

static void no_sum_changes(void **state)
{
	(void)state;
	for (unsigned facets = 1; facets <= ALL; facets++) {
		const struct facet_options o = {.facets = facets,
						.window_ns = facets % 3 ? 7 * MS : 0};
		struct contention *c = contention_new(NULL);
		struct facet_cells *f = facet_cells_new(&o);

		assert_int_equal(run(c, f, facets), 0);
		same_sums(c, f);
		if (facets == ALL)
			assert_true(facet_cells(f)->count > 200);
		contention_free(c);
		facet_cells_free(f);
	}
}

static void part(struct facet_cells *f, uint64_t from_ns, uint64_t to_ns, uint64_t holder)
{
	const struct cell_part p = {.key = {.lock = 1, .waiter = 1, .holder = holder},
				    .from_ns = from_ns,
				    .to_ns = to_ns,
				    .split.unknown_ns = to_ns - from_ns};

	facet_cells_part(f, &p);
}

static void interval(struct facet_cells *f, uint64_t from_ns, uint64_t to_ns, uint64_t holder)
{
	const struct cell_interval i = {.key = {.lock = 1, .waiter = 1, .holder = holder},
					.since_ns = from_ns,
					.until_ns = to_ns};

	facet_cells_interval(f, &i);
}

static uint64_t blocked_in(const struct facet_cells *f, enum facet_gc gc, unsigned span)
{
	uint64_t ns = 0;

	for (uint32_t i = 0; i < facet_cells(f)->count; i++) {
		const struct cell *cell = &facet_cells(f)->rows[i];
		struct facets at = facets_unpack(cell->facets);

		ns += at.gc == gc && at.span == span ? cell->blocked_ns : 0;
	}
	return ns;
}

/* Parts that come when the collection and the span that they were in are over, and others have
 * begun. */
static void a_part_may_come_late(void **state)
{
	const struct event events[] = {
		mark(EVENT_SPAN_BEGIN, 5 * MS, 1, 70),  mark(EVENT_GC_BEGIN, 12 * MS, 9, 0),
		mark(EVENT_GC_END, 15 * MS, 9, 0),      mark(EVENT_SPAN_END, 40 * MS, 1, 0),
		mark(EVENT_SPAN_BEGIN, 41 * MS, 1, 71), mark(EVENT_GC_BEGIN, 50 * MS, 9, 0),
	};
	struct facet_cells *f =
		facet_cells_new(&(struct facet_options){.facets = FACET_GC | FACET_SPAN});

	(void)state;
	for (size_t i = 0; i < sizeof(events) / sizeof(*events); i++)
		assert_int_equal(facet_cells_add(f, &events[i]), 0);
	part(f, 10 * MS, 20 * MS, 2);
	interval(f, 10 * MS, 20 * MS, 2);
	assert_int_equal(blocked_in(f, GC_WITHIN, 1), 3 * MS);
	assert_int_equal(blocked_in(f, GC_OUTSIDE, 1), 7 * MS);
	assert_int_equal(facet_cells_span(f, 1), 70);
	/* This one ends in a collection that goes on, within the second span. */
	part(f, 45 * MS, 55 * MS, 2);
	interval(f, 45 * MS, 55 * MS, 2);
	assert_int_equal(blocked_in(f, GC_WITHIN, 2), 5 * MS);
	assert_int_equal(blocked_in(f, GC_OUTSIDE, 2), 5 * MS);
	/* Behind a hole neither is known. */
	assert_int_equal(facet_cells_hole(f, 60 * MS), 0);
	part(f, 70 * MS, 71 * MS, 2);
	interval(f, 70 * MS, 71 * MS, 2);
	assert_int_equal(blocked_in(f, GC_OUTSIDE, FACET_SPAN_NONE), MS);
	facet_cells_free(f);
}

/* 1 ms, 2, 10, 20, 100: what is in the shorter windows goes into the longer ones. */
static void windows_become_longer(void **state)
{
	static const uint64_t lengths_ms[] = {1, 2, 10, 20, 100};
	struct facet_cells *f =
		facet_cells_new(&(struct facet_options){.facets = FACET_WINDOW, .begin_ns = 1});
	uint64_t from_ns, to_ns, sum_ns = 0, at_ns = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths_ms) / sizeof(*lengths_ms); i++) {
		uint64_t until_ns = 60 * lengths_ms[i] * MS + 1;

		part(f, at_ns, until_ns, 2);
		interval(f, at_ns, until_ns, 2);
		at_ns = until_ns;
		assert_int_equal(facet_cells(f)->count, 60);
		facet_cells_window(f, 60, &from_ns, &to_ns);
		assert_int_equal(to_ns - from_ns, lengths_ms[i] * MS);
	}
	for (uint32_t i = 0; i < facet_cells(f)->count; i++) {
		assert_int_equal(facet_cells(f)->rows[i].blocked_ns, 100 * MS);
		sum_ns += facet_cells(f)->rows[i].count;
	}
	assert_int_equal(sum_ns, 5);
	assert_false(facet_cells_full(f));
	facet_cells_free(f);
}

static void survives_without_memory(void **state)
{
	const struct facet_options o = {.facets = ALL, .window_ns = 50 * MS};
	unsigned long n = 0, failures = 0;
	bool failed = true;

	(void)state;
	for (; failed; n += 1 + n / 20) {
		struct contention *c = contention_new(NULL);
		struct facet_cells *f;
		int err;

		alloc_fail_at(n);
		f = facet_cells_new(&o);
		err = f ? run(c, f, 1) : -ENOMEM;
		failed = alloc_fail_off();
		failures += failed;
		assert_int_equal(err, failed ? -ENOMEM : 0);
		contention_free(c);
		facet_cells_free(f);
	}
	assert_true(failures > 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_sum_changes),
		cmocka_unit_test(a_part_may_come_late),
		cmocka_unit_test(windows_become_longer),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests_name("analyze_facets", tests, NULL, NULL);
}
