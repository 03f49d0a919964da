/* Events in the order of their numbers: whatever the order in which they come. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/lines/replay.h"
#include "base/text/units.h"
#include "tests/unit/alloc_fail.h"

/* What a queue has given on: every number that went by has been told of, or said to be missing. */
struct seen {
	uint64_t next; /* 0: nothing yet */
	uint64_t first;
	uint64_t events, windows, missing, notes;
	uint64_t last_holes;
};

struct fixture {
	struct replay *replay;
	struct seen seen[8];
};

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static struct event exit_of(uint64_t lock, uint64_t number)
{
	struct event e = {.id = EVENT_MONITOR_CONTENDED_EXIT, .thread = 1};

	e.v[MONITOR_CONTENDED_EXIT_LOCK].u = lock;
	e.v[MONITOR_CONTENDED_EXIT_SEQUENCE].u = number;
	return e;
}

static struct event fold_of(uint64_t lock, uint64_t first, uint64_t last, uint64_t parts,
			    uint64_t count)
{
	struct event e = {.id = EVENT_MONITOR_FOLD, .thread = 1};

	e.v[MONITOR_FOLD_LOCK].u = lock;
	e.v[MONITOR_FOLD_FIRST].u = first;
	e.v[MONITOR_FOLD_LAST].u = last;
	e.v[MONITOR_FOLD_PARTS].u = parts;
	e.v[MONITOR_FOLD_COUNT].u = count;
	return e;
}

static int on_event(void *context, uint64_t key, const struct replay_item *item, uint64_t missing)
{
	struct seen *s = &((struct fixture *)context)->seen[key];

	if (!s->next)
		s->first = item->number;
	else
		assert_int_equal(item->number, s->next + missing);
	assert_int_equal(replay_number(item->event), item->number);
	s->next = item->number + 1;
	s->missing += missing;
	s->events++;
	s->notes += item->note;
	return 0;
}

static int on_window(void *context, uint64_t key, const struct replay_window *w)
{
	struct seen *s = &((struct fixture *)context)->seen[key];
	uint64_t counted = w->exit_count + w->holes, last = w->next - 1;

	if (!s->next)
		s->first = w->first;
	else
		assert_int_equal(w->next, s->next + w->missing);
	assert_true(w->first <= w->next && w->next <= w->last && w->fold_count);
	for (uint32_t i = 0; i < w->exit_count; i++) {
		assert_in_range(w->exits[i]->number, last + 1, w->last);
		last = w->exits[i]->number;
	}
	for (uint32_t i = 0; i < w->fold_count; i++) {
		assert_int_equal(w->folds[i]->number, w->first);
		counted += w->folds[i]->event->v[MONITOR_FOLD_COUNT].u;
	}
	assert_int_equal(counted, w->last - w->next + 1);
	s->next = w->last + 1;
	s->missing += w->missing + w->holes;
	s->last_holes = w->holes;
	s->events += w->exit_count + w->fold_count;
	s->windows++;
	return 0;
}

static void begin(struct fixture *f)
{
	const struct replay_sink sink = {f, on_event, on_window};

	*f = (struct fixture){0};
	f->replay = replay_new(&sink);
	assert_non_null(f->replay);
}

static void add(struct fixture *f, struct event e)
{
	assert_int_equal(replay_add(f->replay, e.v[0].u, &e, 0), 0);
}

static void numbers_come_in_order(void **state)
{
	static const uint64_t order[] = {7, 5, 6, 9, 8, 11, 13, 12, 10};
	struct fixture f;

	(void)state;
	begin(&f);
	for (unsigned i = 0; i < sizeof(order) / sizeof(*order); i++) {
		struct event e = exit_of(1, order[i]);

		assert_int_equal(replay_add(f.replay, 1, &e, order[i]), 0);
		assert_int_equal(f.seen[1].events, i < 4 ? 0 : i < 8 ? 5 : 9);
		if (i == 3) {
			assert_int_equal(replay_pass(f.replay, 100 * NS_PER_MS), 0);
			assert_int_equal(f.seen[1].events, 0);
			assert_int_equal(replay_pass(f.replay, 101 * NS_PER_MS), 0);
			assert_int_equal(f.seen[1].events, 3);
		}
	}
	assert_int_equal(f.seen[1].first, 5);
	assert_int_equal(f.seen[1].next, 14);
	assert_int_equal(f.seen[1].notes, 81);
	assert_int_equal(replay_finish(f.replay), 0);
	assert_int_equal(f.seen[1].missing, 0);
	assert_int_equal(replay_counts(f.replay, 1).numbers, 9);
	assert_int_equal(replay_counts(f.replay, 1).gaps, 0);
	assert_int_equal(replay_counts(f.replay, 2).numbers, 0);
	replay_free(f.replay);
}

/* 20 and 22 are told, 21 and 23 to 29 are in two folds. */
static void windows_wait_for_all_their_parts(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, exit_of(1, 19));
	assert_int_equal(replay_pass(f.replay, NS_PER_S), 0);
	assert_int_equal(f.seen[1].events, 1);
	add(&f, exit_of(1, 30));
	add(&f, fold_of(1, 20, 29, 2, 5));
	add(&f, exit_of(1, 22));
	add(&f, fold_of(1, 20, 29, 2, 3));
	assert_int_equal(f.seen[1].events, 1);
	assert_int_equal(f.seen[1].windows, 0);
	add(&f, exit_of(1, 20));
	assert_int_equal(f.seen[1].windows, 1);
	assert_int_equal(f.seen[1].last_holes, 0);
	assert_int_equal(f.seen[1].next, 31);
	assert_int_equal(f.seen[1].events, 6);
	assert_int_equal(replay_counts(f.replay, 1).numbers, 12);
	replay_free(f.replay);
}

static void windows_may_have_holes(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, exit_of(1, 19));
	assert_int_equal(replay_pass(f.replay, NS_PER_S), 0);
	add(&f, fold_of(1, 21, 29, 2, 5));
	add(&f, exit_of(1, 23));
	add(&f, exit_of(1, 31));
	assert_int_equal(f.seen[1].events, 1);
	assert_int_equal(replay_pass(f.replay, 62 * NS_PER_S), 0);
	assert_int_equal(f.seen[1].next, 32);
	assert_int_equal(f.seen[1].missing, 1 + 3 + 1);
	assert_int_equal(f.seen[1].windows, 1);
	assert_int_equal(f.seen[1].last_holes, 3);
	assert_int_equal(replay_counts(f.replay, 1).gaps, 3);
	assert_int_equal(replay_counts(f.replay, 1).missing, 5);
	assert_int_equal(replay_counts(f.replay, 1).late, 0);
	add(&f, exit_of(1, 30));
	add(&f, exit_of(1, 24));
	add(&f, fold_of(1, 21, 29, 2, 3));
	assert_int_equal(f.seen[1].next, 32);
	assert_int_equal(replay_counts(f.replay, 1).late, 3);
	replay_free(f.replay);
}

/* What is missing at the end of the log is told apart. */
static void the_end_is_no_gap(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	add(&f, exit_of(REPLAY_PARK, 4));
	add(&f, exit_of(REPLAY_PARK, 6));
	assert_int_equal(replay_finish(f.replay), 0);
	assert_int_equal(f.seen[0].next, 7);
	assert_int_equal(replay_counts(f.replay, REPLAY_PARK).gaps, 0);
	assert_int_equal(replay_counts(f.replay, REPLAY_PARK).missing, 0);
	assert_int_equal(replay_counts(f.replay, REPLAY_PARK).cut, 1);
	replay_free(f.replay);
}

/* Nor is what is missing where a log begins within a recording: the part before it may have it. */
static void the_begin_of_a_part_is_no_gap(void **state)
{
	static const struct {
		uint64_t number, ms;
	} events[] = {{1, 1010}, {2, 1200}, {4, 1500}, {5, 1600}, {7, 2600}, {8, 70000}};
	struct fixture f;

	(void)state;
	begin(&f);
	replay_set_begin(f.replay, NS_PER_S);
	for (unsigned i = 0; i < sizeof(events) / sizeof(*events); i++) {
		struct event e = exit_of(1, events[i].number);

		e.time_ns = events[i].ms * NS_PER_MS;
		assert_int_equal(replay_pass(f.replay, e.time_ns), 0);
		assert_int_equal(replay_add(f.replay, 1, &e, 0), 0);
	}
	assert_int_equal(replay_finish(f.replay), 0);
	assert_int_equal(replay_counts(f.replay, 1).cut, 1);  /* 3 */
	assert_int_equal(replay_counts(f.replay, 1).gaps, 1); /* 6 */
	replay_free(f.replay);
}

static void a_new_monitor_counts_anew(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	for (uint64_t n = 50; n < 60; n++)
		add(&f, exit_of(1, n));
	assert_int_equal(replay_restart(f.replay, 1), 0);
	assert_int_equal(replay_restart(f.replay, 2), 0);
	assert_int_equal(f.seen[1].next, 60);
	f.seen[1].next = 0;
	add(&f, exit_of(1, 2));
	add(&f, exit_of(1, 1));
	assert_int_equal(replay_pass(f.replay, NS_PER_S), 0);
	assert_int_equal(f.seen[1].first, 1);
	assert_int_equal(f.seen[1].next, 3);
	/* Its deflation is lost: but 1 has been there before, and was not given up. */
	f.seen[1].next = 0;
	add(&f, exit_of(1, 1));
	add(&f, exit_of(1, 2));
	add(&f, exit_of(1, 3));
	assert_int_equal(replay_finish(f.replay), 0);
	assert_int_equal(f.seen[1].next, 4);
	assert_int_equal(replay_counts(f.replay, 1).numbers, 15);
	assert_int_equal(replay_counts(f.replay, 1).gaps, 0);
	assert_int_equal(replay_counts(f.replay, 1).late, 0);
	replay_free(f.replay);
}

/* Number 2 never comes, and time stands still. */
static void memory_is_bounded(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	for (uint64_t n = 1; n < 150000; n++) {
		if (n != 9000)
			add(&f, exit_of(1, n));
		if (n == 60000)
			assert_int_equal(f.seen[1].next, 9000);
	}
	assert_int_equal(f.seen[1].next, 150000);
	assert_int_equal(replay_counts(f.replay, 1).gaps, 1);
	for (uint64_t n = 1; n < 60000; n++) {
		for (uint64_t lock = 2; lock < 7; lock++)
			add(&f, exit_of(lock, n < 9000 ? n : n + 1));
	}
	assert_true(replay_counts(f.replay, 2).gaps + replay_counts(f.replay, 3).gaps +
			    replay_counts(f.replay, 4).gaps + replay_counts(f.replay, 5).gaps +
			    replay_counts(f.replay, 6).gaps >=
		    2);
	for (uint64_t n = 0; n < 10000; n++)
		add(&f, fold_of(7, 10 * n + 5, 10 * n + 8, 2, 1));
	assert_true(replay_counts(f.replay, 7).gaps > 2000);
	replay_free(f.replay);
}

/* One event on its way: it comes at the time at which it is recorded. */
struct coming {
	uint64_t at;
	struct event event;
};

static int by_time(const void *a, const void *b)
{
	const struct coming *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

#define NUMBERS 3000
#define LOCKS 3

/* Numbers of a lock, singly or in windows; some of them are lost. Returns how many events come;
 * ret_missing: how many numbers do not, between the first and the last that do. */
static unsigned random_lock(uint64_t lock, struct coming *ret, unsigned loss, uint64_t *ret_missing)
{
	uint64_t number = 1 + below(50), end = number + NUMBERS, lost = 0, time = 0;
	unsigned count = 0;
	bool any = false;

	*ret_missing = 0;
	while (number < end) {
		uint64_t first = number, size = below(4) ? 1 : 2 + below(40), folded = 0;
		unsigned parts = 0;

		time += below(100);
		for (; number < first + size; number++) {
			if (size > 1 && number > first && below(3)) {
				folded++;
				continue;
			}
			if (any && loss && !below(loss)) {
				lost++;
				continue;
			}
			ret[count].event = exit_of(lock, number);
			ret[count++].at = time + below(4000);
			*ret_missing += lost;
			lost = 0;
			any = true;
		}
		parts = folded ? 1 + below(3 < folded ? 3 : (unsigned)folded) : 0;
		for (unsigned i = 0; i < parts; i++) {
			uint64_t part = i + 1 < parts
						? 1 + below((unsigned)(folded - (parts - i - 1)))
						: folded;

			folded -= part;
			ret[count].event = fold_of(lock, first, first + size - 1, parts, part);
			ret[count++].at = time + below(4000);
			*ret_missing += lost;
			lost = 0;
			any = true;
		}
	}
	return count;
}

static void random_orders(unsigned loss)
{
	static struct coming coming[LOCKS * (NUMBERS + 50) * 2];
	uint64_t missing[LOCKS + 1], at = 0;
	struct fixture f;
	unsigned count = 0;

	begin(&f);
	for (uint64_t lock = 1; lock <= LOCKS; lock++)
		count += random_lock(lock, coming + count, loss, &missing[lock]);
	for (unsigned i = 0; i < count; i++)
		coming[i].at *= 10 * NS_PER_US;
	qsort(coming, count, sizeof(*coming), by_time);
	for (unsigned i = 0; i < count; i++) {
		at = coming[i].at > at ? coming[i].at : at;
		assert_int_equal(replay_pass(f.replay, at), 0);
		add(&f, coming[i].event);
	}
	assert_int_equal(replay_pass(f.replay, at + 100 * NS_PER_S), 0);
	assert_int_equal(replay_pass(f.replay, at + 200 * NS_PER_S), 0);
	for (uint64_t lock = 1; lock <= LOCKS; lock++) {
		struct replay_counts c = replay_counts(f.replay, lock);

		assert_int_equal(c.missing, missing[lock]);
		assert_int_equal(f.seen[lock].missing, missing[lock]);
		assert_int_equal(c.late, 0);
		assert_int_equal(c.cut, 0);
		assert_int_equal(c.numbers + c.missing, f.seen[lock].next - f.seen[lock].first);
		assert_true(loss || !c.gaps);
	}
	replay_free(f.replay);
}

/* A later part alone: what was open is given on, what the parts before have is no gap, and a gap
 * of its own is one. */
static void a_log_may_begin_amid_a_recording(void **state)
{
	static const struct {
		uint64_t number, ms;
	} events[] = {{5, 100},    {90, 900}, /* were open at 1 s */
		      {500, 5000}, {502, 5000},  {503, 5010},
		      {504, 5020}, {506, 70000}, {507, 140000}};
	struct replay_counts counts;
	struct fixture f;

	(void)state;
	begin(&f);
	replay_set_begin(f.replay, NS_PER_S);
	for (unsigned i = 0; i < sizeof(events) / sizeof(*events); i++) {
		struct event e = exit_of(1, events[i].number);

		e.time_ns = events[i].ms * NS_PER_MS;
		assert_int_equal(replay_pass(f.replay, e.time_ns), 0);
		assert_int_equal(replay_add(f.replay, 1, &e, 0), 0);
	}
	assert_int_equal(replay_finish(f.replay), 0);
	counts = replay_counts(f.replay, 1);
	assert_int_equal(f.seen[1].first, 5);
	assert_int_equal(f.seen[1].events, 8);
	assert_int_equal(counts.numbers, 8);
	assert_int_equal(counts.gaps, 2); /* 501, 505 */
	assert_int_equal(counts.missing, 2);
	assert_int_equal(counts.late + counts.cut, 0);
	replay_free(f.replay);
}

static void any_order_is_put_right(void **state)
{
	(void)state;
	for (unsigned n = 0; n < 20; n++) {
		seed = n;
		random_orders(0);
		random_orders(200);
		random_orders(5);
	}
}

static bool survives(unsigned long fail_at)
{
	struct fixture f = {0};
	const struct replay_sink sink = {&f, on_event, on_window};
	int err = 0;

	alloc_fail_at(fail_at);
	f.replay = replay_new(&sink);
	for (uint64_t n = 1; f.replay && n < 100 && !err; n++) {
		struct event e = n % 10 ? exit_of(n % 3 + 1, n / 3 ^ 3)
					: fold_of(n % 3 + 1, n / 3 + 5, n / 3 + 6, 1, 2);

		err = replay_pass(f.replay, n * NS_PER_S / 20);
		if (!err)
			err = replay_add(f.replay, n % 3 + 1, &e, 0);
		memset(f.seen, 0, sizeof(f.seen));
	}
	if (!alloc_fail_off()) {
		assert_int_equal(err, 0);
		replay_free(f.replay);
		return true;
	}
	assert_true(!f.replay || err == -ENOMEM);
	replay_free(f.replay);
	return false;
}

static void survives_without_memory(void **state)
{
	unsigned long n = 0;

	(void)state;
	while (!survives(n))
		n++;
	assert_true(n > 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_come_in_order),
		cmocka_unit_test(windows_wait_for_all_their_parts),
		cmocka_unit_test(windows_may_have_holes),
		cmocka_unit_test(the_end_is_no_gap),
		cmocka_unit_test(the_begin_of_a_part_is_no_gap),
		cmocka_unit_test(a_new_monitor_counts_anew),
		cmocka_unit_test(memory_is_bounded),
		cmocka_unit_test(a_log_may_begin_amid_a_recording),
		cmocka_unit_test(any_order_is_put_right),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests_name("analyze_replay", tests, NULL, NULL);
}
