/* Threads' states over a recording and over windows: known answers, and schedules made at random. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/threads/wall.h"
#include "log/format/event.h"
#include "tests/unit/alloc_fail.h"

#define MS 1000000ull
#define S 1000000000ull

/* What a recorder would count for these states. */
static struct event counted(uint16_t id, uint64_t ns, uint32_t thread, const struct states *s)
{
	struct event e = {.id = id,
			  .time_ns = ns,
			  .thread = thread,
			  .field_count = THREAD_SAMPLE_FIELD_COUNT};

	e.v[THREAD_SAMPLE_CPU_NS].u = s->ns[STATE_RUNNING];
	e.v[THREAD_SAMPLE_STOLEN_NS].u = s->ns[STATE_STOLEN];
	e.v[THREAD_SAMPLE_RUNNABLE_NS].u = s->ns[STATE_RUNNABLE] + s->ns[STATE_THROTTLED];
	e.v[THREAD_SAMPLE_THROTTLED_NS].u = s->ns[STATE_THROTTLED];
	e.v[THREAD_SAMPLE_LOCK_NS].u = s->ns[STATE_LOCK];
	e.v[THREAD_SAMPLE_WAIT_NS].u = s->ns[STATE_WAIT];
	e.v[THREAD_SAMPLE_PARK_NS].u = s->ns[STATE_PARK];
	e.v[THREAD_SAMPLE_SLEEP_NS].u = s->ns[STATE_SLEEP];
	e.v[THREAD_SAMPLE_IO_NS].u = s->ns[STATE_IO];
	e.v[THREAD_SAMPLE_PAUSE_NS].u = s->ns[STATE_PAUSE];
	for (int i = STATE_LOCK; i < STATE_COUNT; i++)
		e.v[THREAD_SAMPLE_BLOCKED_NS].u += s->ns[i];
	return e;
}

static struct event seen(uint64_t ns, uint32_t thread)
{
	struct event e = {.id = EVENT_THREAD, .time_ns = ns, .thread = thread};

	e.v[THREAD_NAME].s = "x";
	return e;
}

static struct event sample(uint64_t ns, uint32_t thread, uint64_t running, uint64_t sleep)
{
	struct states s = {{[STATE_RUNNING] = running, [STATE_SLEEP] = sleep}};

	return counted(EVENT_THREAD_SAMPLE, ns, thread, &s);
}

static struct event end(uint64_t ns, uint32_t thread, uint64_t running, uint64_t sleep)
{
	struct states s = {{[STATE_RUNNING] = running, [STATE_SLEEP] = sleep}};

	return counted(EVENT_THREAD_END, ns, thread, &s);
}

static void feed(struct wall *w, const struct event *events, size_t count)
{
	for (size_t i = 0; i < count; i++)
		assert_int_equal(wall_add(w, &events[i]), 0);
	assert_int_equal(wall_finish(w), 0);
}

#define FEED(w, events) feed(w, events, sizeof(events) / sizeof(*(events)))

static const struct wall_thread *thread_of(const struct wall *w, uint32_t thread)
{
	uint32_t index = keymap_find(&w->map, (struct keymap_key){.a = thread});

	assert_int_not_equal(index, INDEX_NONE);
	return &w->threads[index];
}

static uint64_t sum_of(const struct wall_thread *t)
{
	struct states s = wall_thread_states(t);

	return states_sum(&s);
}

/* --- over the recording ------------------------------------------------------------------ */

static void states_of_a_recording(void **state)
{
	const struct event events[] = {
		seen(1000 * MS, 1), seen(1200 * MS, 2),
		/* It is older than the log: what it did before does not count. */
		sample(1500 * MS, 1, 4000 * MS, 500 * MS),
		sample(2000 * MS, 1, 4300 * MS, 700 * MS), seen(1000 * MS, 3),
		/* It began later: all of it is of the recording. */
		sample(2000 * MS, 2, 700 * MS, 100 * MS), end(2300 * MS, 2, 1000 * MS, 100 * MS),
		sample(2500 * MS, 1, 4300 * MS, 1200 * MS)};
	struct wall w = {0};
	struct states s;

	(void)state;
	FEED(&w, events);
	s = wall_thread_states(thread_of(&w, 1));
	assert_int_equal(s.ns[STATE_RUNNING], 300 * MS);
	assert_int_equal(s.ns[STATE_SLEEP], 700 * MS);
	assert_int_equal(wall_thread_ns(thread_of(&w, 1)), 1000 * MS);
	assert_int_equal(wall_thread_error(thread_of(&w, 1)), 0);
	s = wall_thread_states(thread_of(&w, 2));
	assert_int_equal(s.ns[STATE_RUNNING], 1000 * MS);
	assert_int_equal(s.ns[STATE_SLEEP], 100 * MS);
	assert_int_equal(wall_thread_error(thread_of(&w, 2)), 0);
	assert_true(thread_of(&w, 2)->ended && thread_of(&w, 2)->checked);
	assert_false(thread_of(&w, 3)->sampled);
	assert_true(w.has_reasons);
	wall_free(&w);
}

/* A round of samples was stopped for 5 ms, so that the first counters are of later than its time. */
static void a_first_sample_that_was_read_late(void **state)
{
	const struct event events[] = {seen(1000 * MS, 1), sample(1200 * MS, 1, 205 * MS, 0),
				       sample(1400 * MS, 1, 400 * MS, 0)};
	struct wall w = {0};

	(void)state;
	FEED(&w, events);
	assert_int_equal(sum_of(thread_of(&w, 1)), 400 * MS);
	assert_int_equal(wall_thread_ns(thread_of(&w, 1)), 400 * MS);
	wall_free(&w);
}

/* Its event was lost, and is told again with the sample: what was before it is not of the log. */
static void a_thread_event_that_comes_with_the_sample(void **state)
{
	const struct event events[] = {seen(1200 * MS, 1), sample(1200 * MS, 1, 205 * MS, 0),
				       sample(1400 * MS, 1, 405 * MS, 0)};
	struct wall w = {0};

	(void)state;
	FEED(&w, events);
	assert_int_equal(sum_of(thread_of(&w, 1)), 200 * MS);
	assert_int_equal(wall_thread_ns(thread_of(&w, 1)), 200 * MS);
	wall_free(&w);
}

/* No thread event: what it is charged with cannot be checked, and is counted. */
static void a_thread_that_is_not_introduced(void **state)
{
	const struct event events[] = {sample(1000, 1, 100, 50), sample(2000, 1, 600, 550),
				       sample(2000, 2, 300, 200), end(2100, 2, 350, 250)};
	struct wall w = {0};

	(void)state;
	FEED(&w, events);
	assert_int_equal(sum_of(thread_of(&w, 1)), 1000); /* older than the first event */
	assert_true(thread_of(&w, 1)->checked);
	assert_int_equal(sum_of(thread_of(&w, 2)), 600);
	assert_int_equal(wall_thread_ns(thread_of(&w, 2)), 600);
	assert_false(thread_of(&w, 2)->checked);
	wall_free(&w);
}

static void what_does_not_add_up_is_marked(void **state)
{
	const struct event events[] = {
		seen(0, 1), seen(0, 2), seen(0, 3), seen(0, 4),
		sample(10 * S, 1, 5 * S, 4980 * MS), /* 0.2 % are missing */
		sample(10 * S, 2, 5 * S, 4995 * MS), /* 0.05 % */
		sample(10 * S, 3, 0, 10 * S), sample(20 * S, 3, 0, 20 * S + 30 * MS),
		/* It jumps back: the counts are those of the last, the clock goes on. */
		sample(10 * S, 4, 10 * S, 0), sample(20 * S, 4, 9 * S, 0)};
	struct wall w = {0};

	(void)state;
	FEED(&w, events);
	assert_int_equal(wall_thread_error(thread_of(&w, 1)), -20 * (int64_t)MS);
	assert_true(wall_thread_is_off(thread_of(&w, 1)));
	assert_false(wall_thread_is_off(thread_of(&w, 2)));
	assert_int_equal(wall_thread_error(thread_of(&w, 3)), 30 * (int64_t)MS);
	assert_true(wall_thread_is_off(thread_of(&w, 3)));
	assert_int_equal(wall_thread_error(thread_of(&w, 4)), -11 * (int64_t)S);
	assert_true(wall_thread_is_off(thread_of(&w, 4)));
	wall_free(&w);
}

/* Counters are read a little after the clock; a name comes later than the thread; one that is over
 * before it was sampled is counted, even if it is older than it ought to be. */
static void since_when_a_thread_counts(void **state)
{
	const struct event events[] = {seen(0, 1),
				       seen(0, 2),
				       seen(500 * MS, 2),
				       seen(1000 * MS, 3),
				       seen(1000 * MS, 4),
				       sample(1000 * MS, 1, 1000 * MS, 150),
				       sample(1000 * MS, 2, 1000 * MS, 0),
				       end(2000 * MS, 3, 1500 * MS, 0),
				       end(1001 * MS, 4, MS, MS / 10)};
	struct wall w = {0};

	(void)state;
	FEED(&w, events);
	assert_int_equal(wall_thread_error(thread_of(&w, 1)), 150);
	assert_int_equal(wall_thread_ns(thread_of(&w, 2)), 1000 * MS);
	assert_int_equal(wall_thread_error(thread_of(&w, 3)), 500 * MS);
	assert_true(wall_thread_is_off(thread_of(&w, 3)));
	assert_int_equal(wall_thread_error(thread_of(&w, 4)), MS / 10);
	assert_false(wall_thread_is_off(thread_of(&w, 4)));
	wall_free(&w);
}

static void a_late_sample_is_left_out(void **state)
{
	const struct event events[] = {seen(0, 1), sample(2000, 1, 1500, 500),
				       sample(1000, 1, 700, 300), sample(3000, 1, 2000, 1000),
				       sample(2500, 1, 1800, 700)};
	struct wall w = {0};

	(void)state;
	FEED(&w, events);
	assert_int_equal(w.late, 2);
	assert_int_equal(sum_of(thread_of(&w, 1)), 3000);
	assert_int_equal(wall_thread_error(thread_of(&w, 1)), 0);
	wall_free(&w);
}

/* A log of an older spoor has the first four fields only. */
static void blocked_that_is_not_told_apart(void **state)
{
	struct event e = {.id = EVENT_THREAD_SAMPLE,
			  .time_ns = 100,
			  .thread = 1,
			  .field_count = 4,
			  .v = {{10}, {20}, {30}, {40}}};
	struct wall w = {0};
	struct states s;

	(void)state;
	feed(&w, &e, 1);
	s = wall_thread_states(thread_of(&w, 1));
	assert_false(w.has_reasons);
	assert_int_equal(s.ns[STATE_OTHER], 0); /* the first sample of an older thread */
	wall_free(&w);
	w = (struct wall){0};
	assert_int_equal(wall_add(&w, &(struct event){.id = EVENT_NOTE, .time_ns = 0}), 0);
	feed(&w, &e, 1);
	s = wall_thread_states(thread_of(&w, 1));
	assert_int_equal(s.ns[STATE_OTHER], 40);
	assert_int_equal(s.ns[STATE_RUNNABLE], 30);
	wall_free(&w);
}

/* --- over windows ------------------------------------------------------------------------ */

static struct wall windows_of(uint64_t window_ns, uint64_t sample_ns, uint64_t from_ns,
			      uint64_t to_ns)
{
	struct state_options o = {.from_ns = from_ns,
				  .to_ns = to_ns ? to_ns : UINT64_MAX,
				  .window_ns = window_ns,
				  .sample_ns = sample_ns,
				  .from_begin = !from_ns};

	return (struct wall){.windows.options = o};
}

static void assert_window(const struct wall *w, uint32_t i, uint64_t from_ns, uint64_t to_ns,
			  bool rough_from, bool rough_to)
{
	assert_true(i < w->windows.window_count);
	assert_int_equal(w->windows.windows[i].from_ns, from_ns);
	assert_int_equal(w->windows.windows[i].to_ns, to_ns);
	assert_int_equal(w->windows.windows[i].rough_from, rough_from);
	assert_int_equal(w->windows.windows[i].rough_to, rough_to);
}

static void assert_cell(const struct wall *w, uint32_t thread, uint32_t window, uint64_t running,
			uint64_t sleep)
{
	uint32_t index = keymap_find(&w->map, (struct keymap_key){.a = thread});
	struct states s = state_windows_states(&w->windows, index, window);

	assert_int_equal(s.ns[STATE_RUNNING], running);
	assert_int_equal(s.ns[STATE_SLEEP], sleep);
	assert_int_equal(states_sum(&s), running + sleep);
}

/* The recorder is a little late each time, and the windows end when it samples. */
static void windows_end_at_samples(void **state)
{
	const struct event events[] = {seen(1000, 1),
				       seen(1000, 2),
				       sample(1010, 1, 0, 10),
				       sample(1010, 2, 10, 0),
				       sample(2005, 1, 500, 505),
				       sample(2005, 2, 1005, 0),
				       end(2400, 2, 1300, 100),
				       seen(2500, 3),
				       sample(3020, 1, 1500, 520),
				       sample(3020, 3, 0, 520),
				       sample(3990, 1, 1500, 1490),
				       sample(3990, 3, 970, 520)};
	struct wall w = windows_of(1000, 1000, 0, 0);

	(void)state;
	w.windows.options.from_ns = 1000;
	FEED(&w, events);
	assert_int_equal(w.windows.window_count, 3);
	assert_window(&w, 0, 1000, 2005, false, false);
	assert_window(&w, 1, 2005, 3020, false, false);
	assert_window(&w, 2, 3020, 3990, false, false);
	assert_cell(&w, 1, 0, 500, 505);
	assert_cell(&w, 1, 1, 1000, 15);
	assert_cell(&w, 1, 2, 0, 970);
	assert_cell(&w, 2, 0, 1005, 0);
	assert_cell(&w, 2, 1, 295, 100);
	assert_cell(&w, 2, 2, 0, 0);
	assert_cell(&w, 3, 0, 0, 0);
	assert_cell(&w, 3, 1, 0, 520);
	assert_cell(&w, 3, 2, 970, 0);
	assert_int_equal(w.windows.spread, 0);
	wall_free(&w);
}

/* Shorter than the samples' distance: shared out, and said. */
static void windows_between_samples(void **state)
{
	const struct event events[] = {seen(1000, 1), sample(2004, 1, 1004, 0), seen(2004, 2),
				       end(2300, 2, 148, 148), sample(3000, 1, 1004, 996)};
	struct wall w = windows_of(250, 1000, 0, 0);

	(void)state;
	w.windows.options.from_ns = 1000;
	FEED(&w, events);
	assert_int_equal(w.windows.window_count, 8);
	assert_window(&w, 0, 1000, 1250, false, true);
	assert_window(&w, 3, 1750, 2004, true, false);
	assert_window(&w, 4, 2004, 2250, false, true);
	assert_window(&w, 7, 2750, 3000, true, false);
	assert_cell(&w, 1, 0, 250, 0);
	assert_cell(&w, 1, 3, 254, 0);
	assert_cell(&w, 1, 4, 0, 246);
	assert_cell(&w, 1, 7, 0, 250);
	assert_cell(&w, 2, 4, 123, 123);
	assert_cell(&w, 2, 5, 25, 25);
	assert_int_equal(w.windows.intervals, 3);
	assert_int_equal(w.windows.spread, 3);
	wall_free(&w);
}

/* A sample of one thread is missing, a whole round of samples is missing. */
static void windows_with_samples_missing(void **state)
{
	const struct event events[] = {seen(0, 1),
				       seen(0, 2),
				       sample(1000, 1, 1000, 0),
				       sample(2000, 1, 2000, 0),
				       sample(2000, 2, 1000, 1000),
				       sample(4000, 1, 2000, 2000),
				       sample(4000, 2, 1000, 3000)};
	struct wall w = windows_of(1000, 1000, 0, 0);

	(void)state;
	FEED(&w, events);
	assert_int_equal(w.windows.window_count, 4);
	assert_cell(&w, 2, 0, 500, 500);
	assert_cell(&w, 2, 1, 500, 500);
	assert_window(&w, 1, 1000, 2000, false, false);
	assert_window(&w, 2, 2000, 3000, false, true);
	assert_window(&w, 3, 3000, 4000, true, false);
	assert_cell(&w, 1, 2, 0, 1000);
	assert_cell(&w, 1, 3, 0, 1000);
	assert_int_equal(w.windows.spread, 3);
	wall_free(&w);
}

static void windows_of_a_part(void **state)
{
	const struct event events[] = {seen(0, 1),
				       sample(1003, 1, 1003, 0),
				       sample(2003, 1, 1003, 1000),
				       seen(2003, 2),
				       end(2500, 2, 0, 497),
				       sample(2997, 1, 1003, 1994),
				       sample(4003, 1, 2009, 1994),
				       sample(5003, 1, 3009, 1994)};
	struct wall w = windows_of(1000, 1000, 1000, 3000);

	(void)state;
	FEED(&w, events);
	assert_int_equal(w.windows.window_count, 2);
	assert_window(&w, 0, 1003, 2003, false, false);
	assert_window(&w, 1, 2003, 2997, false, false);
	assert_cell(&w, 1, 0, 0, 1000);
	assert_cell(&w, 1, 1, 0, 994);
	assert_cell(&w, 2, 1, 0, 497);
	assert_int_equal(w.windows.spread, 0);
	wall_free(&w);
}

/* The last round comes right behind the one before: no window of its own. */
static void a_last_window_that_is_hardly_one(void **state)
{
	const struct event events[] = {seen(0, 1), sample(1000, 1, 1000, 0), seen(1003, 2),
				       sample(1010, 1, 1004, 6), sample(1010, 2, 7, 0)};
	struct wall w = windows_of(1000, 1000, 0, 0);

	(void)state;
	FEED(&w, events);
	assert_int_equal(w.windows.window_count, 1);
	assert_window(&w, 0, 0, 1010, false, false);
	assert_cell(&w, 1, 0, 1004, 6);
	assert_cell(&w, 2, 0, 7, 0);
	wall_free(&w);
}

/* Threads are found before the log's header says that it begins; one ends when it is sampled. */
static void windows_at_the_edges(void **state)
{
	const struct event events[] = {seen(900, 1), seen(900, 2), sample(2000, 1, 1100, 0),
				       sample(2000, 2, 0, 1100), end(2000, 2, 0, 1110)};
	const struct event one[] = {seen(0, 1), end(400, 1, 300, 100)};
	struct wall w = windows_of(1000, 1000, 0, 0);

	(void)state;
	w.windows.options.from_ns = 1000;
	FEED(&w, events);
	assert_int_equal(w.windows.window_count, 1);
	assert_cell(&w, 1, 0, 1100, 0);
	assert_cell(&w, 2, 0, 0, 1110);
	assert_int_equal(w.windows.spread, 0);
	wall_free(&w);
	w = windows_of(1000, 1000, 0, 0);
	FEED(&w, one); /* nobody was ever sampled */
	assert_int_equal(w.windows.window_count, 1);
	assert_window(&w, 0, 0, 400, false, false);
	assert_cell(&w, 1, 0, 300, 100);
	wall_free(&w);
}

/* What is asked for is shorter than the samples' distance, and lies between two of them. */
static void parts_between_samples(void **state)
{
	const struct event later[] = {seen(0, 1), sample(400, 1, 400, 0),
				      sample(1400, 1, 400, 1000)};
	const struct event earlier[] = {seen(0, 1), sample(1100, 1, 1100, 0),
					sample(2100, 1, 1100, 1000)};
	struct wall w = windows_of(1000, 1000, 1000, 1300);

	(void)state;
	FEED(&w, later);
	assert_int_equal(w.windows.window_count, 1);
	assert_window(&w, 0, 1000, 1400, true, false);
	assert_cell(&w, 1, 0, 0, 400);
	wall_free(&w);
	w = windows_of(1000, 1000, 1000, 1300);
	FEED(&w, earlier);
	assert_int_equal(w.windows.window_count, 1);
	assert_window(&w, 0, 1100, 1300, false, true);
	assert_cell(&w, 1, 0, 0, 200);
	wall_free(&w);
}

/* Two in one, again and again, and nothing gets lost. */
static void windows_become_longer(void **state)
{
	struct wall w = windows_of(1000, 1000, 0, 0);
	struct event e = seen(0, 1), late = seen(20500, 2);

	(void)state;
	w.windows.options.most = 4;
	assert_int_equal(wall_add(&w, &e), 0);
	for (uint64_t i = 1; i <= 27; i++) {
		e = sample(1000 * i, 1, 500 * i, 500 * i);
		assert_int_equal(wall_add(&w, &e), 0);
		if (i == 20)
			assert_int_equal(wall_add(&w, &late), 0);
		e = sample(1000 * i, 2, 0, 1000 * i - 20500);
		if (i > 20)
			assert_int_equal(wall_add(&w, &e), 0);
	}
	assert_int_equal(wall_finish(&w), 0);
	assert_int_equal(w.windows.window_count, 4);
	for (uint32_t i = 0; i < 4; i++) {
		uint64_t length = i < 3 ? 8000 : 3000;

		assert_window(&w, i, 8000 * i, 8000 * i + length, false, false);
		assert_cell(&w, 1, i, length / 2, length / 2);
		assert_cell(&w, 2, i, 0, i < 2 ? 0 : i < 3 ? 3500 : 3000);
	}
	wall_free(&w);
}

/* A time far in the future, from a log that is not sane, or a window that is much too short. */
static void more_windows_than_anybody_reads(void **state)
{
	const struct event events[] = {seen(0, 1), sample(1000, 1, 1000, 0),
				       sample(UINT64_MAX / 2, 1, 2000, 0),
				       sample(UINT64_MAX, 1, 3000, 0)};
	struct wall w = windows_of(1000, 1000, 0, 0);
	uint64_t sum = 0;

	(void)state;
	FEED(&w, events);
	assert_int_equal(w.windows.window_count, COURSE_WINDOWS_MAX);
	assert_true(w.windows.full);
	wall_free(&w);
	w = windows_of(1000, 1000, 0, 0);
	w.windows.options.most = 4;
	FEED(&w, events);
	assert_true(w.windows.window_count <= 4);
	for (uint32_t i = 0; i < w.windows.window_count; i++)
		sum += state_windows_states(&w.windows, 0, i).ns[STATE_RUNNING];
	assert_int_equal(sum, 3000);
	wall_free(&w);
}

static void windows_of_nothing(void **state)
{
	const struct event events[] = {seen(0, 1), sample(1000, 1, 1000, 0)};
	struct wall w = windows_of(1000, 1000, 0, 0);

	(void)state;
	assert_int_equal(wall_finish(&w), 0);
	assert_int_equal(w.windows.window_count, 0);
	wall_free(&w);
	w = windows_of(1000, 1000, 5000, 6000);
	FEED(&w, events);
	assert_int_equal(w.windows.window_count, 0);
	wall_free(&w);
}

/* --- schedules made at random ------------------------------------------------------------ */

enum { THREADS = 6, PIECES = 40, ROUNDS = 30 };

/* A thread's life: what it does, piece by piece. */
struct life {
	uint64_t begin, end;
	uint64_t until[PIECES];
	enum state state[PIECES];
	bool ends; /* before the recording does */
};

static uint64_t next_random(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return *seed >> 33;
}

static uint64_t below(uint64_t *seed, uint64_t limit)
{
	return next_random(seed) % limit;
}

static void life_make(struct life *l, uint64_t last_ns, uint64_t *seed)
{
	uint64_t at;

	l->begin = below(seed, 3) ? 0 : below(seed, last_ns);
	l->ends = !below(seed, 3);
	l->end = l->ends ? l->begin + below(seed, last_ns - l->begin) : last_ns;
	at = l->begin;
	for (int i = 0; i < PIECES; i++) {
		at += below(seed, 4 * (l->end - l->begin) / PIECES + 1);
		l->until[i] = i + 1 < PIECES && at < l->end ? at : l->end;
		l->state[i] = (enum state)below(seed, STATE_COUNT);
	}
}

/* The oracle: what it did between two times. */
static struct states life_states(const struct life *l, uint64_t from, uint64_t to)
{
	struct states s = {0};
	uint64_t begin = l->begin;

	for (int i = 0; i < PIECES; i++) {
		uint64_t a = begin > from ? begin : from, b = l->until[i] < to ? l->until[i] : to;

		if (a < b)
			s.ns[l->state[i]] += b - a;
		begin = l->until[i];
	}
	return s;
}

/* What is known of it at a time: it seems to run while it is stolen from. */
static struct states life_told(const struct life *l, uint64_t at)
{
	struct states s = life_states(l, 0, at);
	uint64_t begin = at;
	int i = 0;

	while (i < PIECES - 1 && l->until[i] < at)
		i++;
	/* Pieces of the same state, one after the other, are one. */
	for (; i >= 0 && l->state[i] == STATE_STOLEN; i--)
		begin = i ? l->until[i - 1] : l->begin;
	s.ns[STATE_RUNNING] += at - begin;
	s.ns[STATE_STOLEN] -= at - begin;
	return s;
}

struct schedule {
	struct life lives[THREADS];
	uint64_t moments[ROUNDS];
	int rounds;
	bool lossy; /* samples get lost */
	bool late;  /* a theft is told when it is over */
	uint64_t seed;
};

static void schedule_make(struct schedule *s, uint64_t seed)
{
	uint64_t at = 0;

	memset(s, 0, sizeof(*s));
	s->seed = seed;
	s->rounds = 2 + (int)below(&s->seed, ROUNDS - 2);
	s->lossy = !below(&s->seed, 3);
	s->late = !below(&s->seed, 2);
	for (int i = 0; i < s->rounds; i++) {
		at += i ? S - 200 * MS + below(&s->seed, 400 * MS) : 1 + below(&s->seed, 20 * MS);
		s->moments[i] = at;
	}
	for (int i = 0; i < THREADS; i++)
		life_make(&s->lives[i], at, &s->seed);
}

/* The event that says when a thread was first seen; its id is 0 if that was not in this round. */
static struct event first_of(const struct life *l, uint32_t thread, uint64_t from, uint64_t to)
{
	struct event e = seen(l->begin, thread);

	if ((from || l->begin) && (l->begin <= from || l->begin > to))
		e.id = 0;
	return e;
}

static int thread_round(struct schedule *s, struct wall *w, uint32_t i, bool ends, uint64_t from,
			uint64_t to)
{
	const struct life *l = &s->lives[i];
	struct states now = life_states(l, 0, to);
	struct event first = first_of(l, i + 1, from, to), e;
	int err = ends && first.id ? wall_add(w, &first) : 0;

	if (err || l->begin >= to || (l->ends && l->end <= from))
		return err;
	if (l->ends && l->end <= to) {
		e = counted(EVENT_THREAD_END, l->end, i + 1, &now);
		return ends ? wall_add(w, &e) : 0;
	}
	if (ends || (s->lossy && to != s->moments[s->rounds - 1] && !below(&s->seed, 8)))
		return 0;
	if (s->late && to != s->moments[s->rounds - 1])
		now = life_told(l, to);
	e = counted(EVENT_THREAD_SAMPLE, to, i + 1, &now);
	return wall_add(w, &e);
}

/* Threads begin and end before those that are left are sampled. */
static int schedule_run(struct schedule *s, struct wall *w)
{
	uint64_t from = 0;
	int err = wall_add(w, &(struct event){.id = EVENT_NOTE, .time_ns = 0});

	for (int i = 0; i < s->rounds; i++) {
		for (uint32_t k = 0; k < 2 * THREADS && !err; k++)
			err = thread_round(s, w, k % THREADS, k < THREADS, from, s->moments[i]);
		from = s->moments[i];
	}
	return err ? err : wall_finish(w);
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* Each window of a thread: exact where its ends are, and nothing was lost; else at least its sum.
 */
static void check_windows(const struct schedule *s, const struct wall *w, uint32_t thread)
{
	const struct state_windows *c = &w->windows;
	uint32_t index = keymap_find(&w->map, (struct keymap_key){.a = thread + 1});
	struct states all = {0};

	for (uint32_t i = 0; i < c->window_count; i++) {
		const struct state_window *at = &c->windows[i];
		struct states got = state_windows_states(c, index, i);
		struct states wanted = life_states(&s->lives[thread], at->from_ns, at->to_ns);

		assert_true(at->to_ns > at->from_ns);
		assert_true(!i || c->windows[i - 1].to_ns == at->from_ns);
		states_add(&all, &got);
		if (!at->rough_from && !at->rough_to && !s->lossy && !s->late)
			assert_memory_equal(&got, &wanted, sizeof(got));
		/* Shared out by time, the parts still are as long as the window; each state may be
		 * off by one. */
		assert_true(apart(states_sum(&got), states_sum(&wanted)) <= 2 * STATE_COUNT);
	}
	if (c->options.from_begin && c->options.to_ns == UINT64_MAX) {
		struct states wanted = life_states(&s->lives[thread], 0, UINT64_MAX);

		assert_memory_equal(&all, &wanted, sizeof(all));
	}
}

static void random_schedules(void **state)
{
	static const uint64_t windows[] = {100 * MS, 333 * MS, S, 2 * S, 7 * S, 3600 * S};
	uint64_t exact = 0, rough = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 3000; seed++) {
		struct schedule s;
		struct wall w;

		schedule_make(&s, seed);
		w = windows_of(windows[seed % 6], S, seed % 4 ? 0 : below(&s.seed, 5 * S),
			       seed % 5 ? 0 : 5 * S + below(&s.seed, 20 * S));
		w.windows.options.most = seed % 7 ? 0 : 2 + 2 * (uint32_t)below(&s.seed, 4);
		assert_int_equal(schedule_run(&s, &w), 0);
		for (uint32_t i = 0; i < THREADS; i++) {
			struct states wanted = life_states(&s.lives[i], 0, UINT64_MAX), got;

			if (!states_sum(&wanted))
				continue;
			got = wall_thread_states(thread_of(&w, i + 1));
			assert_memory_equal(&got, &wanted, sizeof(got));
			assert_int_equal(wall_thread_error(thread_of(&w, i + 1)), 0);
			check_windows(&s, &w, i);
		}
		for (uint32_t i = 0; i < w.windows.window_count; i++)
			*(w.windows.windows[i].rough_to ? &rough : &exact) += 1;
		wall_free(&w);
	}
	assert_true(exact > 1000 && rough > 1000);
}

static void without_memory(void **state)
{
	unsigned long n = 0;
	bool failed = true;

	(void)state;
	for (; failed; n++) {
		struct wall w = windows_of(500 * MS, S, 0, 0);
		struct schedule s;
		int err;

		schedule_make(&s, 11);
		alloc_fail_at(n);
		err = schedule_run(&s, &w);
		failed = alloc_fail_off();
		assert_int_equal(err, failed ? -ENOMEM : 0);
		wall_free(&w);
	}
	assert_true(n > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(states_of_a_recording),
		cmocka_unit_test(a_first_sample_that_was_read_late),
		cmocka_unit_test(a_thread_event_that_comes_with_the_sample),
		cmocka_unit_test(a_thread_that_is_not_introduced),
		cmocka_unit_test(what_does_not_add_up_is_marked),
		cmocka_unit_test(since_when_a_thread_counts),
		cmocka_unit_test(a_late_sample_is_left_out),
		cmocka_unit_test(blocked_that_is_not_told_apart),
		cmocka_unit_test(windows_end_at_samples),
		cmocka_unit_test(windows_between_samples),
		cmocka_unit_test(windows_with_samples_missing),
		cmocka_unit_test(windows_of_a_part),
		cmocka_unit_test(a_last_window_that_is_hardly_one),
		cmocka_unit_test(windows_at_the_edges),
		cmocka_unit_test(parts_between_samples),
		cmocka_unit_test(windows_become_longer),
		cmocka_unit_test(more_windows_than_anybody_reads),
		cmocka_unit_test(windows_of_nothing),
		cmocka_unit_test(random_schedules),
		cmocka_unit_test(without_memory),
	};

	return cmocka_run_group_tests_name("analyze_wall", tests, NULL, NULL);
}
