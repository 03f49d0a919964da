/* A thread's slices: what they are for known events, and what must hold for any. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "analyze/tracks/lanes.h"
#include "analyze/tracks/track.h"
#include "tests/unit/alloc_fail.h"

enum { ALICE = 1, BOB, CAROL, THREADS };
enum { TABLE = 7, QUEUE };

#define SLICES_MAX 20000
#define OPEN_MAX 8

struct seen {
	struct track_slice slice;
	struct event begin, end;
	bool has_begin, has_end, ended;
	int depth;
};

/* What comes out, and whether it comes in order: an end is that of the innermost begin. */
struct sink {
	struct seen rows[SLICES_MAX];
	int count;
	int open[THREADS][OPEN_MAX], depth[THREADS];
	uint64_t at_ns[THREADS];
	bool fail;
};

static int on_begin(void *context, const struct track_slice *s)
{
	struct sink *k = context;
	struct seen *row = &k->rows[k->count];

	if (k->fail)
		return -EIO;
	assert_true(k->count < SLICES_MAX);
	assert_true(s->thread && s->thread < THREADS);
	assert_true(k->depth[s->thread] < OPEN_MAX);
	assert_true(s->shown_begin_ns >= k->at_ns[s->thread]);
	assert_true(s->shown_begin_ns >= s->begin_ns);
	k->at_ns[s->thread] = s->shown_begin_ns;
	row->slice = *s;
	row->has_begin = s->begin != NULL;
	if (s->begin)
		row->begin = *s->begin;
	row->depth = k->depth[s->thread];
	k->open[s->thread][k->depth[s->thread]++] = k->count++;
	return 0;
}

static int on_end(void *context, const struct track_slice *s)
{
	struct sink *k = context;
	struct seen *row;

	assert_true(k->depth[s->thread] > 0);
	row = &k->rows[k->open[s->thread][--k->depth[s->thread]]];
	assert_int_equal(row->slice.state, s->state);
	assert_int_equal(row->slice.begin_ns, s->begin_ns);
	assert_int_equal(row->slice.shown_begin_ns, s->shown_begin_ns);
	assert_int_equal(row->has_begin, s->begin != NULL);
	assert_true(s->shown_end_ns > s->shown_begin_ns);
	assert_true(s->shown_end_ns >= k->at_ns[s->thread]);
	assert_true(s->end_ns >= s->shown_end_ns);
	k->at_ns[s->thread] = s->shown_end_ns;
	row->slice = *s;
	row->has_end = s->end != NULL;
	if (s->end)
		row->end = *s->end;
	row->ended = true;
	return 0;
}

static struct tracks *tracks_of(struct sink *k, uint64_t from, uint64_t until, uint64_t min)
{
	const struct track_options options = {from, until, min, true};
	const struct track_sink sink = {k, on_begin, on_end};

	return tracks_new(&options, &sink);
}

static struct event at(uint16_t id, uint64_t ns, uint32_t thread, uint64_t first)
{
	struct event e = {.id = id, .time_ns = ns, .thread = thread};

	e.v[0].u = first;
	return e;
}

static struct event off(uint64_t ns, uint32_t thread, uint64_t reason, uint64_t off_ns,
			uint64_t wait_ns, uint64_t throttled_ns)
{
	struct event e = at(EVENT_OFF_CPU, ns, thread, reason);

	e.v[OFF_CPU_OFF_NS].u = off_ns;
	e.v[OFF_CPU_CPU_WAIT_NS].u = wait_ns;
	e.v[OFF_CPU_THROTTLED_PART_NS].u = throttled_ns;
	return e;
}

static struct event sample(uint64_t ns, uint32_t thread, uint64_t cpu, uint64_t park)
{
	struct event e = at(EVENT_THREAD_SAMPLE, ns, thread, cpu);

	e.v[THREAD_SAMPLE_BLOCKED_NS].u = park;
	e.v[THREAD_SAMPLE_PARK_NS].u = park;
	return e;
}

/* Feeds the events, and checks a thread's slices: "running 0-5, lock 5-9, ..."; nested in (). */
static void check_range(const struct event *events, int count, uint64_t end_ns, uint32_t thread,
			uint64_t from, uint64_t until, uint64_t min, const char *expected)
{
	struct sink *k = calloc(1, sizeof(*k));
	struct tracks *all = tracks_of(k, from, until, min);
	char text[2000] = "";
	int depth = 0;

	for (int i = 0; i < count; i++)
		assert_int_equal(tracks_add(all, &events[i]), 0);
	assert_int_equal(tracks_finish(all, end_ns), 0);
	for (int i = 0; i < k->count; i++) {
		const struct seen *r = &k->rows[i];
		size_t n = strlen(text);

		if (r->slice.thread != thread)
			continue;
		assert_true(r->ended);
		for (; depth < r->depth; depth++)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " (");
		for (; depth > r->depth; depth--)
			n += (size_t)snprintf(text + n, sizeof(text) - n, ")");
		snprintf(text + n, sizeof(text) - n, "%s%s%s %d-%d",
			 n && text[n - 1] != '(' ? ", " : "", state_name(r->slice.state),
			 r->slice.sampled ? "?" : "", (int)r->slice.shown_begin_ns,
			 (int)r->slice.shown_end_ns);
	}
	for (; depth; depth--)
		strcat(text, ")");
	assert_string_equal(text, expected);
	tracks_free(all);
	free(k);
}

static void check(const struct event *events, int count, uint64_t end_ns, uint32_t thread,
		  const char *expected)
{
	check_range(events, count, end_ns, thread, 0, UINT64_MAX, 0, expected);
}

#define COUNT(a) ((int)(sizeof(a) / sizeof(*(a))))

static void test_a_lock(void **state)
{
	const struct event events[] = {
		at(EVENT_THREAD_START, 10, ALICE, 0),
		at(EVENT_MONITOR_CONTENDED_ENTER, 20, ALICE, TABLE),
		off(28, ALICE, BLOCKED_REASON_LOCK, 6, 3, 1),
		at(EVENT_MONITOR_CONTENDED_ENTERED, 30, ALICE, TABLE),
		at(EVENT_PARK_BEGIN, 40, ALICE, QUEUE),
		at(EVENT_PARK_END, 45, ALICE, 0),
		at(EVENT_THREAD_END, 50, ALICE, 0),
		at(EVENT_PARK_BEGIN, 55, ALICE, QUEUE),
	};

	(void)state;
	check(events, COUNT(events), 60, ALICE,
	      "running 10-20, lock 20-30 (throttled 25-26, runnable 26-28), running 30-40, "
	      "park 40-45, running 45-50");
	/* What is shorter belongs to what is around it; what is too short with all in it is not
	 * there. */
	check_range(events, COUNT(events), 60, ALICE, 0, UINT64_MAX, 2,
		    "running 10-20, lock 20-30 (runnable 26-28), running 30-40, park 40-45, "
		    "running 45-50");
	check_range(events, COUNT(events), 60, ALICE, 0, UINT64_MAX, 6,
		    "running 10-20, lock 20-30, running 30-50");
	/* Ranges cut slices, and show a level only with something of it. */
	check_range(events, COUNT(events), 60, ALICE, 27, 42, 0,
		    "lock 27-30 (runnable 27-28), running 30-40, park 40-42");
	check_range(events, COUNT(events), 60, ALICE, 29, 35, 0, "lock 29-30, running 30-35");
	check_range(events, COUNT(events), 60, ALICE, 0, 25, 0, "running 10-20, lock 20-25");
	check_range(events, COUNT(events), 60, ALICE, 51, 60, 0, "");
}

static void test_off_its_cpu(void **state)
{
	const struct event events[] = {
		at(EVENT_THREAD_START, 0, ALICE, 0),
		off(30, ALICE, BLOCKED_REASON_SLEEP, 20, 5, 0),
		off(40, ALICE, BLOCKED_REASON_OTHER, 4, 4, 3),
		off(50, ALICE, BLOCKED_REASON_IO, 30, 0, 0), /* overlaps: cut */
		off(60, ALICE, BLOCKED_REASON_PAUSE, 2, 900, 900),
		off(70, ALICE, BLOCKED_REASON_OTHER, 2, 0, 0),
	};

	(void)state;
	check(events, COUNT(events), 80, ALICE,
	      "running 0-10, sleep 10-25, runnable 25-30, running 30-36, throttled 36-39, "
	      "runnable 39-40, io 40-50, running 50-58, throttled 58-60, running 60-68, "
	      "other 68-70, running 70-80");
}

/* A thread whose first event is that it is back: it was away since then, but not before the log. */
static void test_first_event(void **state)
{
	const struct event events[] = {
		at(EVENT_THREAD_START, 100, BOB, 0),
		off(150, ALICE, BLOCKED_REASON_IO, 1000, 10, 0),
		off(180, CAROL, BLOCKED_REASON_IO, 20, 0, 0),
		at(EVENT_MONITOR_CONTENDED_ENTERED, 190, CAROL, TABLE),
	};

	(void)state;
	check(events, COUNT(events), 200, ALICE, "io 100-140, runnable 140-150, running 150-200");
	check(events, COUNT(events), 200, BOB, "running 100-200");
	check(events, COUNT(events), 200, CAROL, "io 160-180, running 180-200");
}

static void test_wait_and_what_follows(void **state)
{
	struct event notify = at(EVENT_MONITOR_NOTIFY, 20, BOB, TABLE),
		     again = at(EVENT_MONITOR_CONTENDED_ENTER, 28, ALICE, TABLE);
	struct event events[] = {
		at(EVENT_THREAD_START, 0, BOB, 0),
		at(EVENT_MONITOR_WAIT_BEGIN, 10, ALICE, TABLE),
		{0},
		off(27, ALICE, BLOCKED_REASON_WAIT, 16, 4, 0),
		{0},
		at(EVENT_MONITOR_CONTENDED_ENTERED, 30, ALICE, TABLE),
		at(EVENT_MONITOR_WAIT_END, 31, ALICE, TABLE),
	};

	(void)state;
	notify.v[MONITOR_NOTIFY_TARGET].u = ALICE;
	notify.v[MONITOR_NOTIFY_SEQUENCE].u = 5;
	again.v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u = true;
	events[2] = notify;
	events[4] = again;
	check(events, COUNT(events), 40, ALICE,
	      "wait 10-31 (lock 20-30 (runnable 23-27)), running 31-40");
	/* A stock JVM's notify names nobody, and its wait has a plain contention in it. */
	events[2].v[MONITOR_NOTIFY_SEQUENCE].u = 0;
	events[4].v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u = false;
	check(events, COUNT(events), 40, ALICE,
	      "wait 10-31 (runnable 23-27, lock 28-30), running 31-40");
}

/* A wait from before the recording: whom a notify names is in it, also who goes for it again. */
static void test_wait_from_before(void **state)
{
	struct event notify = at(EVENT_MONITOR_NOTIFY, 20, BOB, TABLE),
		     again = at(EVENT_MONITOR_CONTENDED_ENTER, 28, ALICE, TABLE);
	struct event events[] = {
		sample(0, ALICE, 5, 100),
		{0},
		at(EVENT_MONITOR_CONTENDED_ENTERED, 30, ALICE, TABLE),
		at(EVENT_MONITOR_WAIT_END, 31, ALICE, TABLE),
	};

	(void)state;
	notify.v[MONITOR_NOTIFY_TARGET].u = ALICE;
	notify.v[MONITOR_NOTIFY_SEQUENCE].u = 5;
	again.v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u = true;
	events[1] = notify;
	check(events, COUNT(events), 40, ALICE, "wait 0-31 (lock 20-30), running 31-40");
	events[1] = again;
	check(events, COUNT(events), 40, ALICE, "wait 0-31 (lock 28-30), running 31-40");
	/* Here the begin is lost. */
	events[0] = off(10, ALICE, BLOCKED_REASON_IO, 5, 0, 0);
	check(events, COUNT(events), 40, ALICE,
	      "running 10-28, wait 28-31 (lock 28-30), running 31-40");
}

static void test_lost_events(void **state)
{
	const struct event events[] = {
		at(EVENT_THREAD_START, 0, ALICE, 0),
		at(EVENT_MONITOR_CONTENDED_ENTER, 10, ALICE, TABLE),
		at(EVENT_PARK_BEGIN, 20, ALICE, QUEUE), /* no entered */
		at(EVENT_MONITOR_CONTENDED_ENTERED, 30, ALICE, TABLE),
		at(EVENT_MONITOR_WAIT_END, 40, ALICE, TABLE), /* nor a begin */
		at(EVENT_MONITOR_CONTENDED_ENTER, 50, ALICE, TABLE),
	};

	(void)state;
	check(events, COUNT(events), 60, ALICE,
	      "running 0-10, lock 10-20, park 20-30, running 30-50, lock 50-60");
}

static void test_ends(void **state)
{
	const struct event events[] = {
		at(EVENT_MONITOR_CONTENDED_ENTER, 10, ALICE, TABLE),
		at(EVENT_MONITOR_CONTENDED_ENTER, 11, BOB, TABLE),
		at(EVENT_MONITOR_CONTENDED_ENTER, 12, CAROL, TABLE),
		at(EVENT_PARK_BEGIN, 15, CAROL, QUEUE),
		at(EVENT_PARK_END, 17, CAROL, QUEUE),
		at(EVENT_THREAD_END, 20, BOB, 0),
	};
	const enum track_end how[THREADS] = {
		[ALICE] = TRACK_LOG_ENDED, [BOB] = TRACK_THREAD_ENDED, [CAROL] = TRACK_LOST};
	struct sink *k = calloc(1, sizeof(*k));
	struct tracks *all = tracks_of(k, 0, UINT64_MAX, 0);
	int locks = 0;

	(void)state;
	for (int i = 0; i < COUNT(events); i++)
		assert_int_equal(tracks_add(all, &events[i]), 0);
	assert_true(tracks_cover(all, ALICE, 10));
	assert_false(tracks_cover(all, ALICE, 9));
	assert_false(tracks_cover(all, 99, 20));
	assert_true(tracks_cover(all, BOB, 20));
	assert_false(tracks_cover(all, BOB, 21));
	assert_int_equal(tracks_finish(all, 30), 0);
	for (int i = 0; i < k->count; i++) {
		const struct seen *r = &k->rows[i];

		if (r->slice.state != STATE_LOCK)
			continue;
		locks++;
		assert_int_equal(r->slice.how, how[r->slice.thread]);
		assert_true(r->has_begin);
		assert_false(r->has_end);
	}
	assert_int_equal(locks, 3);
	tracks_free(all);
	free(k);
}

/* No event tells of a thread that is parked all the time; its samples do. */
static void test_samples(void **state)
{
	struct event buf[3], *events;
	const struct event idle[] = {
		sample(10, ALICE, 5, 100),
		sample(20, ALICE, 5, 110),
		sample(30, ALICE, 5, 120),
	};
	const struct event parked_before[] = {
		sample(10, ALICE, 5, 100),
		sample(20, ALICE, 5, 110),
		at(EVENT_PARK_END, 26, ALICE, QUEUE),
		sample(30, ALICE, 9, 116),
	};
	const struct event ran_first[] = {
		sample(10, ALICE, 5, 100),
		sample(20, ALICE, 8, 107),
		sample(30, ALICE, 8, 117),
		sample(40, ALICE, 8, 127),
		off(48, ALICE, BLOCKED_REASON_IO, 33, 0, 0),
	};
	const struct event never_back[] = {
		sample(10, ALICE, 5, 100),
		sample(20, ALICE, 8, 107),
		sample(30, ALICE, 8, 117),
	};
	const struct event away_at_end[] = {
		sample(0, ALICE, 5, 100),
		off(20, ALICE, BLOCKED_REASON_IO, 10, 0, 0),
		sample(60, ALICE, 18, 147),
	};
	const struct event woken_before_the_probes[] = {
		sample(0, ALICE, 0, 20),
		sample(60, ALICE, 3, 77),
	};
	const struct event untold[] = {
		sample(10, ALICE, 5, 100),
		sample(20, ALICE, 5, 110),
		sample(30, ALICE, 15, 110),
		sample(40, ALICE, 15, 120),
	};

	(void)state;
	check(idle, COUNT(idle), 31, ALICE, "park? 10-31");
	check(parked_before, COUNT(parked_before), 30, ALICE, "park 10-26, running 26-30");
	check(ran_first, COUNT(ran_first), 50, ALICE, "running 10-15, io 15-48, running 48-50");
	check(never_back, COUNT(never_back), 30, ALICE, "running 10-13, park? 13-30");
	check(away_at_end, COUNT(away_at_end), 61, ALICE,
	      "running 0-10, io 10-20, running 20-60, running 60-61");
	events = memcpy(buf, away_at_end, sizeof(away_at_end));
	events[1].v[OFF_CPU_CPU_NS].u = 15; /* 3 from then on */
	check(events, COUNT(away_at_end), 61, ALICE,
	      "running 0-10, io 10-20, running 20-23, park? 23-61");
	check(woken_before_the_probes, COUNT(woken_before_the_probes), 61, ALICE,
	      "running 0-3, park? 3-61");
	check(untold, COUNT(untold), 40, ALICE, "park? 10-20, running 20-30, park? 30-40");
}

static void test_theft(void **state)
{
	struct event theft = at(EVENT_THEFT, 30, ALICE, 1);
	struct event events[] = {
		at(EVENT_THREAD_START, 0, ALICE, 0),
		{0},
		off(40, ALICE, BLOCKED_REASON_OTHER, 10, 10, 0),
	};
	struct event in_lock[] = {
		at(EVENT_THREAD_START, 0, ALICE, 0),
		at(EVENT_MONITOR_CONTENDED_ENTER, 26, ALICE, TABLE),
		{0},
		at(EVENT_MONITOR_CONTENDED_ENTERED, 50, ALICE, TABLE),
	};

	(void)state;
	theft.v[THEFT_TAKEN_NS].u = 8;
	theft.v[THEFT_TURN_NS].u = 20;
	events[1] = in_lock[2] = theft;
	check(events, COUNT(events), 50, ALICE,
	      "running 0-22, stolen 22-30, runnable 30-40, running 40-50");
	check(in_lock, COUNT(in_lock), 50, ALICE, "running 0-18, stolen 18-26, lock 26-50");
	in_lock[1].time_ns = 22;
	check(in_lock, COUNT(in_lock), 50, ALICE, "running 0-22, lock 22-50 (stolen 22-30)");
}

static struct event with_counters(struct event e, unsigned first, unsigned throttled, uint64_t cpu,
				  uint64_t stolen, uint64_t runnable, uint64_t throttled_ns)
{
	e.v[first].u = cpu;
	e.v[first + 1].u = stolen;
	e.v[first + 2].u = runnable;
	e.v[throttled].u = throttled_ns;
	return e;
}

/* A running slice has the counters of its ends, also where an off_cpu event tells of them later. */
static void test_counters(void **state)
{
	const struct event events[] = {
		with_counters(at(EVENT_MONITOR_CONTENDED_ENTER, 10, ALICE, TABLE),
			      MONITOR_CONTENDED_ENTER_CPU_NS, MONITOR_CONTENDED_ENTER_THROTTLED_NS,
			      100, 10, 20, 5),
		with_counters(at(EVENT_MONITOR_CONTENDED_ENTERED, 20, ALICE, TABLE),
			      MONITOR_CONTENDED_ENTERED_CPU_NS,
			      MONITOR_CONTENDED_ENTERED_THROTTLED_NS, 101, 10, 20, 5),
		with_counters(off(40, ALICE, BLOCKED_REASON_IO, 12, 6, 2), OFF_CPU_CPU_NS,
			      OFF_CPU_THROTTLED_NS, 107, 11, 27, 7),
		with_counters(at(EVENT_PARK_BEGIN, 45, ALICE, QUEUE), PARK_BEGIN_CPU_NS,
			      PARK_BEGIN_THROTTLED_NS, 111, 12, 27, 7),
	};
	const struct track_counters expected[][2] = {
		{{101, 10, 20, 5, true}, {107, 11, 21, 5, true}}, /* 20-28 */
		{{107, 11, 27, 7, true}, {111, 12, 27, 7, true}}, /* 40-45 */
	};
	struct sink *k = calloc(1, sizeof(*k));
	struct tracks *all = tracks_of(k, 0, UINT64_MAX, 0);
	int n = 0;

	(void)state;
	for (int i = 0; i < COUNT(events); i++)
		assert_int_equal(tracks_add(all, &events[i]), 0);
	assert_int_equal(tracks_finish(all, 50), 0);
	for (int i = 0; i < k->count; i++) {
		const struct track_slice *s = &k->rows[i].slice;

		if (s->state != STATE_RUNNING)
			continue;
		assert_true(n < COUNT(expected));
		assert_memory_equal(&s->from, &expected[n][0],
				    offsetof(struct track_counters, known));
		assert_memory_equal(&s->to, &expected[n][1],
				    offsetof(struct track_counters, known));
		assert_true(s->from.known && s->to.known);
		n++;
	}
	assert_int_equal(n, 2);
	tracks_free(all);
	free(k);
}

static uint64_t some(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
	return (*seed >> 33) % below;
}

static struct event some_event(uint64_t *seed, uint64_t ns)
{
	static const uint16_t ids[] = {
		EVENT_MONITOR_CONTENDED_ENTER,
		EVENT_MONITOR_CONTENDED_ENTERED,
		EVENT_MONITOR_WAIT_BEGIN,
		EVENT_MONITOR_WAIT_END,
		EVENT_MONITOR_NOTIFY,
		EVENT_PARK_BEGIN,
		EVENT_PARK_END,
		EVENT_OFF_CPU,
		EVENT_OFF_CPU,
		EVENT_THEFT,
		EVENT_THREAD_SAMPLE,
		EVENT_THREAD_START,
		EVENT_GC_BEGIN,
	};
	struct event e =
		at(ids[some(seed, COUNT(ids))], ns, (uint32_t)some(seed, THREADS), some(seed, 3));
	unsigned fields = schema_event(e.id)->field_count;

	for (unsigned i = 1; i < fields; i++)
		e.v[i].u = some(seed, i < 4 ? 3 : 60);
	if (e.id == EVENT_OFF_CPU)
		e.v[OFF_CPU_OFF_NS].u = some(seed, 100);
	if (e.id == EVENT_MONITOR_NOTIFY)
		e.v[MONITOR_NOTIFY_TARGET].u = some(seed, THREADS);
	if (e.id == EVENT_THEFT)
		e.v[THEFT_TAKEN_NS].u = some(seed, 100);
	return e;
}

/* Whatever comes, also out of order: slices nest, and the outermost cover all of the time. */
static void random_run(uint64_t seed, uint64_t from, uint64_t until, uint64_t min)
{
	struct sink *k = calloc(1, sizeof(*k));
	struct tracks *all = tracks_of(k, from, until, min);
	uint64_t ns = 1000, next[THREADS] = {0}, starts[THREADS] = {0}, end_ns;

	for (int i = 0; i < 400; i++) {
		struct event e = some_event(&seed, ns - some(&seed, 10));

		ns += some(&seed, 30);
		assert_int_equal(tracks_add(all, &e), 0);
	}
	end_ns = ns + 10;
	assert_int_equal(tracks_finish(all, end_ns), 0);
	for (int i = 0; i < k->count; i++) {
		const struct seen *r = &k->rows[i];
		uint32_t t = r->slice.thread;

		assert_true(r->ended);
		if (r->slice.state != STATE_RUNNING && min)
			assert_true(r->slice.end_ns - r->slice.begin_ns >= min);
		if (r->depth)
			continue;
		if (next[t])
			assert_int_equal(r->slice.shown_begin_ns, next[t]);
		else
			starts[t] = r->slice.shown_begin_ns;
		next[t] = r->slice.shown_end_ns;
	}
	for (uint32_t t = 1; t < THREADS; t++) {
		assert_int_equal(k->depth[t], 0);
		assert_true(!starts[t] || starts[t] >= from);
		if (starts[t])
			assert_int_equal(next[t], until < end_ns ? until : end_ns);
	}
	tracks_free(all);
	free(k);
}

static void test_random(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 300; seed++) {
		random_run(seed, 0, UINT64_MAX, 0);
		random_run(seed, 0, UINT64_MAX, seed % 40);
		random_run(seed, 2000 + seed, 4000, seed % 20);
	}
}

static void test_sink_fails(void **state)
{
	const struct event enter = at(EVENT_MONITOR_CONTENDED_ENTER, 10, ALICE, TABLE),
			   entered = at(EVENT_MONITOR_CONTENDED_ENTERED, 20, ALICE, TABLE);
	struct sink *k = calloc(1, sizeof(*k));
	struct tracks *all = tracks_of(k, 0, UINT64_MAX, 0);

	(void)state;
	k->fail = true;
	assert_int_equal(tracks_add(all, &enter), 0);
	assert_int_equal(tracks_add(all, &entered), -EIO);
	tracks_free(all);
	free(k);
}

static void test_lanes(void **state)
{
	/* 0 encloses 1 and 2; 3 begins in 2 and ends behind 0; 4 is in 3; 5 begins where 0 ends. */
	struct lane_slice s[] = {{.begin_ns = 10, .end_ns = 100, .item = 0},
				 {.begin_ns = 10, .end_ns = 30, .item = 1},
				 {.begin_ns = 30, .end_ns = 90, .item = 2},
				 {.begin_ns = 80, .end_ns = 120, .item = 3},
				 {.begin_ns = 95, .end_ns = 110, .item = 4},
				 {.begin_ns = 100, .end_ns = 130, .item = 5}};
	const uint32_t lanes[] = {0, 0, 0, 1, 1, 0};
	const uint32_t parents[] = {LANES_NONE, 0, 0, LANES_NONE, 3, LANES_NONE};

	(void)state;
	for (int swap = 0; swap < 2; swap++) {
		lanes_pack(s, COUNT(s));
		for (uint32_t i = 0; i < COUNT(s); i++) {
			assert_int_equal(s[i].item, i);
			assert_int_equal(s[i].lane, lanes[i]);
			assert_int_equal(s[i].parent, parents[i]);
		}
		for (uint32_t i = 0; i < COUNT(s) / 2; i++) {
			struct lane_slice held = s[i];

			s[i] = s[COUNT(s) - 1 - i];
			s[COUNT(s) - 1 - i] = held;
		}
	}
}

/* Whatever they are: in each lane, two slices are apart or one is in the other. */
static void test_lanes_random(void **state)
{
	enum { SLICES = 60 };
	struct lane_slice s[SLICES];

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		uint64_t random = seed;

		for (uint32_t i = 0; i < SLICES; i++) {
			s[i].begin_ns = some(&random, 100);
			s[i].end_ns = s[i].begin_ns + 1 + some(&random, seed < 100 ? 10 : 100);
			s[i].item = i;
		}
		lanes_pack(s, SLICES);
		for (int i = 0; i < SLICES; i++) {
			for (int j = 0; j < i; j++) {
				if (s[i].lane != s[j].lane || s[i].lane == LANES_NONE)
					continue;
				assert_true(s[j].end_ns <= s[i].begin_ns ||
					    (s[j].begin_ns <= s[i].begin_ns &&
					     s[j].end_ns >= s[i].end_ns));
			}
			if (s[i].parent != LANES_NONE) {
				const struct lane_slice *p = &s[s[i].parent];

				assert_true(p < &s[i] && p->lane == s[i].lane);
				assert_true(p->begin_ns <= s[i].begin_ns &&
					    p->end_ns >= s[i].end_ns);
			}
		}
	}
}

static void test_nth_allocation_fails(void **state)
{
	bool failed = true;

	(void)state;
	for (unsigned nth = 0; failed; nth++) {
		struct sink *k = calloc(1, sizeof(*k));
		uint64_t seed = 5, ns = 1000;
		struct tracks *all;
		int err = 0;

		alloc_fail_at(nth);
		all = tracks_of(k, 0, UINT64_MAX, 0);
		for (int i = 0; all && !err && i < 200; i++) {
			struct event e = some_event(&seed, ns += 10);

			err = tracks_add(all, &e);
		}
		failed = alloc_fail_off();
		assert_int_equal(failed, !all || err);
		assert_true(!all || err == (failed ? -ENOMEM : 0));
		tracks_free(all);
		free(k);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_lock),
		cmocka_unit_test(test_off_its_cpu),
		cmocka_unit_test(test_first_event),
		cmocka_unit_test(test_wait_and_what_follows),
		cmocka_unit_test(test_wait_from_before),
		cmocka_unit_test(test_lost_events),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_theft),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_sink_fails),
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_lanes_random),
		cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests_name("track", tests, NULL, NULL);
}
