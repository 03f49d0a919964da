/*
 * Attribution of blocked time to holders: random streams of events, against an oracle that keeps
 * all observations of a lock and cuts each blocked interval at the end, one by one.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "analyze/contention/contention.h"
#include "tests/unit/analyze/analyze_events.h"
#include "tests/unit/alloc_fail.h"

static const struct times none;

#define THREADS 6
#define LOCKS 3
#define EVENTS 160
#define SCHEDULES 2000

#define STACKS 3

/* One observation of a lock, as the oracle keeps it. */
struct seen {
	uint64_t ns, holder, ended;
	struct times its, ended_its;
	bool claimed, first_reader;
	unsigned event;
	bool lonely; /* nobody was blocked on the lock */
};

/* A thread's call chain, as it counts for one lock. */
struct shown {
	unsigned event;
	uint64_t thread, stack;
	enum holder_stack_from from;
};

struct oracle {
	struct seen seen[LOCKS + 1][EVENTS + 2];
	unsigned seen_count[LOCKS + 1];
	struct shown shown[LOCKS + 1][EVENTS];
	unsigned shown_count[LOCKS + 1];
	struct shown late[LOCKS + 1][EVENTS]; /* exits of others than the holder */
	unsigned late_count[LOCKS + 1];
	struct {
		bool active, parked;
		uint64_t lock, since, stack;
		unsigned event;
	} thread[THREADS + 1];
	struct {
		uint64_t lock, waiter, stack, from, to;
		unsigned first_event, last_event;
	} done[EVENTS];
	unsigned event;
	/* Moments at which a thread told its own counters, going into something or coming out. */
	struct {
		uint64_t ns;
		struct times its;
	} moments[THREADS + 1][EVENTS];
	unsigned moment_count[THREADS + 1];
	unsigned done_count;
	uint64_t begin_missing[LOCKS + 1], end_missing[LOCKS + 1], open_ns[LOCKS + 1];
	uint64_t now;
};

static uint64_t known(struct times t)
{
	return t.cpu | t.stolen | t.runnable;
}

static struct seen *last_seen(struct oracle *o, uint64_t lock)
{
	static struct seen unknown;

	return o->seen_count[lock] ? &o->seen[lock][o->seen_count[lock] - 1] : &unknown;
}

static bool anybody_blocked(const struct oracle *o, uint64_t lock)
{
	for (unsigned i = 1; i <= THREADS; i++) {
		if (o->thread[i].active && o->thread[i].lock == lock)
			return true;
	}
	return false;
}

static void show(struct oracle *o, uint64_t lock, uint64_t thread, uint64_t stack,
		 enum holder_stack_from from)
{
	if (stack)
		o->shown[lock][o->shown_count[lock]++] =
			(struct shown){o->event, thread, stack, from};
}

/* The thread blocks, or waits, in a call chain: so it is there with all locks that it holds. */
static void show_blocked(struct oracle *o, const struct event *e)
{
	for (uint64_t lock = 1; lock <= LOCKS; lock++) {
		if (lock != e->v[0].u && last_seen(o, lock)->holder == e->thread &&
		    anybody_blocked(o, lock))
			show(o, lock, e->thread, e->v[stack_field(e->id)].u, HOLDER_STACK_BLOCKED);
	}
}

static void show_release(struct oracle *o, const struct event *e, uint64_t lock)
{
	if (last_seen(o, lock)->holder == e->thread)
		show(o, lock, e->thread, e->v[stack_field(e->id)].u, HOLDER_STACK_RELEASE);
}

static void see(struct oracle *o, uint64_t lock, struct seen s)
{
	s.ns = o->now;
	s.event = o->event;
	s.lonely = !anybody_blocked(o, lock);
	o->seen[lock][o->seen_count[lock]++] = s;
}

static struct times times_of(const struct event *e, unsigned first)
{
	return (struct times){e->v[first].u, e->v[first + 1].u, e->v[first + 2].u};
}

static void oracle_drop(struct oracle *o, uint32_t thread)
{
	if (o->thread[thread].active)
		o->end_missing[o->thread[thread].lock]++;
	o->thread[thread].active = false;
}

static void oracle_begin(struct oracle *o, const struct event *e, uint64_t owner, uint64_t source,
			 struct times its)
{
	uint64_t lock = e->v[0].u,
		 holder = !owner && source == OWNER_SOURCE_NONE ? HOLDER_HAND_OVER : owner;

	oracle_drop(o, e->thread);
	show_blocked(o, e);
	if (!lock)
		return;
	show(o, lock, holder, e->v[owner_stack_field(e->id)].u, HOLDER_STACK_BLOCK);
	see(o, lock,
	    (struct seen){.holder = holder,
			  .its = its,
			  .first_reader = source == OWNER_SOURCE_FIRST_READER});
	o->thread[e->thread].active = true;
	o->thread[e->thread].parked = e->id == EVENT_PARK_BEGIN;
	o->thread[e->thread].lock = lock;
	o->thread[e->thread].since = o->now;
	o->thread[e->thread].stack = e->v[stack_field(e->id)].u;
	o->thread[e->thread].event = o->event;
}

static void oracle_done(struct oracle *o, uint32_t thread)
{
	o->thread[thread].active = false;
	o->done[o->done_count].lock = o->thread[thread].lock;
	o->done[o->done_count].waiter = thread;
	o->done[o->done_count].stack = o->thread[thread].stack;
	o->done[o->done_count].first_event = o->thread[thread].event;
	o->done[o->done_count].last_event = o->event;
	o->done[o->done_count].from = o->thread[thread].since;
	o->done[o->done_count++].to = o->now;
}

static void oracle_park_end(struct oracle *o, const struct event *e)
{
	uint64_t lock = e->v[0].u, owner = e->v[PARK_END_OWNER].u;
	struct times own = times_of(e, PARK_END_CPU_NS),
		     owners = times_of(e, PARK_END_OWNER_CPU_NS);
	struct seen s, *last;

	if (!o->thread[e->thread].active || !o->thread[e->thread].parked ||
	    (lock && lock != o->thread[e->thread].lock)) {
		oracle_drop(o, e->thread);
		o->begin_missing[lock]++;
		return;
	}
	lock = o->thread[e->thread].lock;
	last = last_seen(o, lock);
	s = (struct seen){.holder = last->holder,
			  .ended = owner,
			  .ended_its = owners,
			  .first_reader = last->first_reader};
	if (last->holder == HOLDER_HAND_OVER || last->claimed) {
		s.holder = e->thread;
		s.its = own;
		s.claimed = true;
		s.first_reader = false;
	} else if (last->holder == e->thread) {
		s.its = own;
	} else if (last->holder == owner) {
		s.its = owners;
	}
	see(o, lock, s);
	oracle_done(o, e->thread);
}

static void oracle_owner_stack(struct oracle *o, const struct event *e)
{
	uint64_t waiter = e->v[OWNER_STACK_WAITER].u, lock = o->thread[waiter].lock;

	if (!waiter || !o->thread[waiter].active || last_seen(o, lock)->holder != e->thread)
		return;
	switch (e->v[OWNER_STACK_SOURCE].u) {
	case STACK_SOURCE_BLOCK:
		return show(o, lock, e->thread, e->v[OWNER_STACK_STACK].u, HOLDER_STACK_BLOCK);
	case STACK_SOURCE_SWITCH:
		return show(o, lock, e->thread, e->v[OWNER_STACK_STACK].u, HOLDER_STACK_SWITCH);
	case STACK_SOURCE_SAMPLE:
		return show(o, lock, e->thread, e->v[OWNER_STACK_STACK].u, HOLDER_STACK_SAMPLE);
	}
}

/* Of those that say what the thread does from then on; begins have no counters of its own here. */
static void tell(struct oracle *o, const struct event *e)
{
	static const unsigned first[] = {
		[EVENT_MONITOR_CONTENDED_ENTERED] = MONITOR_CONTENDED_ENTERED_CPU_NS,
		[EVENT_MONITOR_WAIT_BEGIN] = MONITOR_WAIT_BEGIN_CPU_NS,
		[EVENT_MONITOR_WAIT_END] = MONITOR_WAIT_END_CPU_NS,
		[EVENT_PARK_END] = PARK_END_CPU_NS,
	};
	unsigned at = e->id < sizeof(first) / sizeof(*first) ? first[e->id] : 0;
	struct times its = at ? times_of(e, at) : (struct times){0};

	if (!known(its))
		return;
	o->moments[e->thread][o->moment_count[e->thread]].ns = o->now;
	o->moments[e->thread][o->moment_count[e->thread]++].its = its;
}

static void oracle_add(struct oracle *o, const struct event *e)
{
	uint64_t lock = e->v[0].u, target;

	o->now = e->time_ns > o->now ? e->time_ns : o->now;
	o->event++;
	tell(o, e);
	switch (e->id) {
	case EVENT_MONITOR_CONTENDED_ENTER:
		oracle_begin(o, e, e->v[MONITOR_CONTENDED_ENTER_OWNER].u,
			     e->v[MONITOR_CONTENDED_ENTER_OWNER_SOURCE].u,
			     times_of(e, MONITOR_CONTENDED_ENTER_OWNER_CPU_NS));
		break;
	case EVENT_PARK_BEGIN:
		oracle_begin(o, e, e->v[PARK_BEGIN_OWNER].u, e->v[PARK_BEGIN_OWNER_SOURCE].u,
			     times_of(e, PARK_BEGIN_OWNER_CPU_NS));
		break;
	case EVENT_MONITOR_CONTENDED_ENTERED:
		see(o, lock,
		    (struct seen){.holder = e->thread,
				  .its = times_of(e, MONITOR_CONTENDED_ENTERED_CPU_NS),
				  .ended = e->v[MONITOR_CONTENDED_ENTERED_OWNER].u,
				  .ended_its =
					  times_of(e, MONITOR_CONTENDED_ENTERED_OWNER_CPU_NS)});
		if (o->thread[e->thread].active && !o->thread[e->thread].parked &&
		    o->thread[e->thread].lock == lock) {
			oracle_done(o, e->thread);
		} else {
			oracle_drop(o, e->thread);
			o->begin_missing[lock]++;
		}
		break;
	case EVENT_MONITOR_CONTENDED_EXIT:
		show_release(o, e, lock);
		if (last_seen(o, lock)->holder != e->thread)
			o->late[lock][o->late_count[lock]++] = (struct shown){
				o->event, e->thread, e->v[MONITOR_CONTENDED_EXIT_STACK].u,
				HOLDER_STACK_RELEASE};
		else
			see(o, lock,
			    (struct seen){.holder = HOLDER_HAND_OVER,
					  .ended = e->thread,
					  .ended_its = times_of(e, MONITOR_CONTENDED_EXIT_CPU_NS)});
		break;
	case EVENT_MONITOR_WAIT_BEGIN:
		show_blocked(o, e);
		show_release(o, e, lock);
		see(o, lock,
		    (struct seen){.holder = HOLDER_HAND_OVER,
				  .ended = e->thread,
				  .ended_its = times_of(e, MONITOR_WAIT_BEGIN_CPU_NS)});
		break;
	case EVENT_MONITOR_WAIT_END:
		see(o, lock,
		    (struct seen){.holder = e->thread,
				  .its = times_of(e, MONITOR_WAIT_END_CPU_NS)});
		break;
	case EVENT_MONITOR_NOTIFY:
		see(o, lock,
		    (struct seen){.holder = e->thread, .its = times_of(e, MONITOR_NOTIFY_CPU_NS)});
		break;
	case EVENT_MONITOR_OWNER_SEEN:
		target = e->v[MONITOR_OWNER_SEEN_OWNER].u;
		if (!target && e->v[MONITOR_OWNER_SEEN_OWNER_SOURCE].u == OWNER_SOURCE_NONE)
			target = HOLDER_HAND_OVER;
		show(o, lock, target, e->v[MONITOR_OWNER_SEEN_OWNER_STACK].u, HOLDER_STACK_SWITCH);
		see(o, lock,
		    (struct seen){.holder = target,
				  .its = times_of(e, MONITOR_OWNER_SEEN_OWNER_CPU_NS),
				  .first_reader = e->v[MONITOR_OWNER_SEEN_OWNER_SOURCE].u ==
						  OWNER_SOURCE_FIRST_READER});
		break;
	case EVENT_PARK_END:
		oracle_park_end(o, e);
		break;
	case EVENT_UNPARK:
		target = e->v[UNPARK_TARGET].u;
		if (target && o->thread[target].active && o->thread[target].parked) {
			show_release(o, e, o->thread[target].lock);
			see(o, o->thread[target].lock,
			    (struct seen){.holder = HOLDER_HAND_OVER,
					  .ended = e->thread,
					  .ended_its = times_of(e, UNPARK_CPU_NS)});
		}
		break;
	case EVENT_OWNER_STACK:
		oracle_owner_stack(o, e);
		break;
	}
}

struct sum {
	uint64_t count, blocked, max, max_held, max_part, first_reader,
		from[HOLDER_STACK_FROM_COUNT];
	struct split split;
};

/* By lock, waiter, its chain, holder, its chain; the holders that are no thread have the first and
 * the last index. */
static struct sum sums[LOCKS + 1][THREADS + 1][STACKS + 1][THREADS + 2][STACKS + 1];

static unsigned holder_index(uint64_t holder)
{
	return holder == HOLDER_HAND_OVER ? THREADS + 1 : (unsigned)holder;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void oracle_between(struct sum *s, uint64_t ns, const struct times *from,
			   const struct times *to)
{
	uint64_t running, stolen, runnable;

	if (!to || !known(*to) || !known(*from)) {
		s->split.unknown_ns += ns;
		return;
	}
	running = lesser(to->cpu > from->cpu ? to->cpu - from->cpu : 0, ns);
	stolen = lesser(to->stolen > from->stolen ? to->stolen - from->stolen : 0, ns - running);
	runnable = lesser(to->runnable > from->runnable ? to->runnable - from->runnable : 0,
			  ns - running - stolen);
	s->split.running_ns += running;
	s->split.stolen_ns += stolen;
	s->split.runnable_ns += runnable;
	s->split.blocked_ns += ns - running - stolen - runnable;
}

/* From one observation of the lock to the next, cut where the holder told of itself. */
static void oracle_piece(const struct oracle *o, struct sum *s, const struct seen *from,
			 uint64_t to_ns, const struct times *to)
{
	const struct times *since = &from->its;
	uint64_t at = from->ns, holder = from->holder;

	for (unsigned i = 0; i < o->moment_count[holder]; i++) {
		if (o->moments[holder][i].ns <= from->ns ||
		    o->moments[holder][i].ns >= to_ns)
			continue;
		oracle_between(s, o->moments[holder][i].ns - at, since,
			       &o->moments[holder][i].its);
		at = o->moments[holder][i].ns;
		since = &o->moments[holder][i].its;
	}
	oracle_between(s, to_ns - at, since, to);
}

/* An exit that came after the hold, before the next one was over and the waiter had gone. */
static struct shown late_chain(const struct oracle *o, uint64_t lock, unsigned hold_end,
			       unsigned last_event)
{
	uint64_t holder = o->seen[lock][hold_end - 1].holder;
	unsigned next = hold_end, end;

	while (next < o->seen_count[lock] && !holder_is_thread(o->seen[lock][next].holder))
		next++;
	end = next;
	while (end < o->seen_count[lock] && o->seen[lock][end].holder == o->seen[lock][next].holder)
		end++;
	for (unsigned i = 0; i < o->late_count[lock]; i++) {
		const struct shown *late = &o->late[lock][i];

		if (late->thread == holder && late->stack &&
		    late->event > o->seen[lock][hold_end].event && late->event < last_event &&
		    (end >= o->seen_count[lock] || late->event < o->seen[lock][end].event))
			return *late;
	}
	return (struct shown){0};
}

/* Where the holder of a state was, for a contention that ended with last_event. */
static struct shown chain_of(const struct oracle *o, uint64_t lock, unsigned state,
			     unsigned last_event)
{
	const struct seen *seen = o->seen[lock];
	unsigned start = state, end = state + 1;
	struct shown best = {0};

	while (start && seen[start - 1].holder == seen[state].holder && !seen[start].lonely)
		start--;
	while (end < o->seen_count[lock] && seen[end].holder == seen[state].holder)
		end++;
	for (unsigned i = 0; i < o->shown_count[lock]; i++) {
		const struct shown *s = &o->shown[lock][i];

		if (s->thread != seen[state].holder || s->event < seen[start].event)
			continue;
		if (s->event <= seen[state].event)
			best = *s;
		else if (!best.stack && s->event <= last_event &&
			 (end >= o->seen_count[lock] || s->event <= seen[end].event))
			return *s;
	}
	if (!best.stack && end < o->seen_count[lock])
		return late_chain(o, lock, end, last_event);
	return best;
}

static void count_first(const struct oracle *o, unsigned n)
{
	uint64_t lock = o->done[n].lock, waiter = o->done[n].waiter, holder;
	struct shown chain = {0};
	struct sum *first;
	unsigned state = 0;

	while (o->seen[lock][state].event != o->done[n].first_event)
		state++;
	holder = o->seen[lock][state].holder;
	if (holder == waiter)
		holder = HOLDER_HAND_OVER;
	if (holder_is_thread(holder))
		chain = chain_of(o, lock, state, o->done[n].last_event);
	first = &sums[lock][waiter][o->done[n].stack][holder_index(holder)][chain.stack];
	first->count++;
	if (o->done[n].to - o->done[n].from > first->max)
		first->max = o->done[n].to - o->done[n].from;
}

static void oracle_cut(const struct oracle *o, unsigned n)
{
	uint64_t lock = o->done[n].lock, waiter = o->done[n].waiter;
	uint64_t held[THREADS + 2] = {0}, part[THREADS + 2][STACKS + 1] = {{0}};
	struct sum(*of)[STACKS + 1] = sums[lock][waiter][o->done[n].stack];

	count_first(o, n);
	for (unsigned i = 0; i + 1 < o->seen_count[lock]; i++) {
		const struct seen *a = &o->seen[lock][i], *b = a + 1;
		bool same = holder_is_thread(a->holder) && a->holder == b->holder;
		bool ended = holder_is_thread(a->holder) && a->holder == b->ended;
		uint64_t holder = a->holder, ns = b->ns - a->ns;
		struct shown chain = {0};
		struct sum *s;

		if (a->ns < o->done[n].from || b->ns > o->done[n].to || !ns)
			continue;
		if ((a->claimed && !same && !ended) || holder == waiter)
			holder = HOLDER_HAND_OVER;
		if (holder_is_thread(holder))
			chain = chain_of(o, lock, i, o->done[n].last_event);
		s = &of[holder_index(holder)][chain.stack];
		s->blocked += ns;
		held[holder_index(holder)] += ns;
		part[holder_index(holder)][chain.stack] += ns;
		if (!holder_is_thread(holder)) {
			s->split.unknown_ns += ns;
			continue;
		}
		s->from[chain.from] += ns;
		oracle_piece(o, s, a, b->ns, same ? &b->its : ended ? &b->ended_its : NULL);
		s->first_reader += a->first_reader ? ns : 0;
	}
	for (unsigned h = 0; h < THREADS + 2; h++) {
		for (unsigned k = 0; k <= STACKS; k++) {
			if (part[h][k] && held[h] > of[h][k].max_held)
				of[h][k].max_held = held[h];
			if (part[h][k] > of[h][k].max_part)
				of[h][k].max_part = part[h][k];
		}
	}
}

static uint64_t seed;

static unsigned below(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

/* Time passes for all threads, mostly as it should; now and then a snapshot is stale or missing. */
static void pass(struct times *threads, uint64_t *now)
{
	uint64_t step = below(4) ? below(1000) : 0;

	for (unsigned i = 1; i <= THREADS; i++) {
		uint64_t running = step ? below((unsigned)step + 1) : 0;

		threads[i].cpu += running;
		threads[i].stolen += below(8) ? 0 : (step - running) / 2;
		threads[i].runnable += below(5) ? 0 : step - running;
	}
	*now += step;
}

static uint64_t random_stack(void)
{
	return below(2) ? 0 : 1 + below(STACKS);
}

static struct event random_event(struct times *threads, uint64_t *now)
{
	static const uint16_t kinds[] = {
		EVENT_MONITOR_CONTENDED_ENTER,
		EVENT_MONITOR_CONTENDED_ENTER,
		EVENT_MONITOR_CONTENDED_ENTERED,
		EVENT_MONITOR_CONTENDED_ENTERED,
		EVENT_MONITOR_CONTENDED_EXIT,
		EVENT_MONITOR_WAIT_BEGIN,
		EVENT_MONITOR_WAIT_END,
		EVENT_MONITOR_NOTIFY,
		EVENT_PARK_BEGIN,
		EVENT_PARK_BEGIN,
		EVENT_PARK_END,
		EVENT_PARK_END,
		EVENT_UNPARK,
		EVENT_MONITOR_OWNER_SEEN,
		EVENT_OWNER_STACK,
		EVENT_OWNER_STACK,
	};
	uint16_t kind = kinds[below(sizeof(kinds) / sizeof(*kinds))];
	uint32_t thread = 1 + below(THREADS), owner = below(THREADS + 1);
	uint64_t lock = 1 + below(LOCKS), source = below(OWNER_SOURCE_COUNT), time;
	struct times own_times, owners;

	pass(threads, now);
	own_times = below(30) ? threads[thread] : none;
	owners = owner && below(30) ? threads[owner] : none;
	time = below(40) ? *now : *now - lesser(*now, below(500));
	switch (kind) {
	case EVENT_MONITOR_CONTENDED_ENTER:
		return at_stacks(enter(time, thread, lock, owner, source, owners), random_stack(),
				 random_stack());
	case EVENT_MONITOR_CONTENDED_ENTERED:
		return entered(time, thread, lock, own_times, owner, owners);
	case EVENT_PARK_BEGIN:
		return at_stacks(park(time, thread, below(8) ? lock : 0, owner, source, owners),
				 random_stack(), random_stack());
	case EVENT_PARK_END:
		return parked(time, thread, below(4) ? lock : 0, own_times, owner, owners);
	case EVENT_MONITOR_OWNER_SEEN:
		return at_stacks(owner_seen(time, thread, lock, owner, source, owners), 0,
				 random_stack());
	case EVENT_OWNER_STACK:
		return owner_at(time, thread, owner, random_stack(), below(STACK_SOURCE_COUNT + 1));
	case EVENT_UNPARK:
		return at_stacks(unpark(time, thread, owner, own_times), random_stack(), 0);
	default:
		return at_stacks(own(kind, time, thread, lock, own_times), random_stack(), 0);
	}
}

/* Mostly what a real thread would do next, so that contentions complete. */
static struct event next_event(const struct oracle *o, struct times *threads, uint64_t *now)
{
	struct event e = random_event(threads, now);
	bool blocked = o->thread[e.thread].active, begins;

	begins = e.id == EVENT_MONITOR_CONTENDED_ENTER || e.id == EVENT_PARK_BEGIN;
	if (!blocked || !below(10) ||
	    (!begins && e.id != EVENT_MONITOR_CONTENDED_ENTERED && e.id != EVENT_PARK_END))
		return e;
	e.v[MONITOR_CONTENDED_ENTER_LOCK].u = o->thread[e.thread].lock;
	if (o->thread[e.thread].parked)
		return parked(e.time_ns, e.thread, o->thread[e.thread].lock, threads[e.thread], 0,
			      none);
	return entered(e.time_ns, e.thread, o->thread[e.thread].lock, threads[e.thread], 0, none);
}

static void compare_cell(const struct cell *cell)
{
	const struct sum *s = &sums[cell->lock][cell->waiter][cell->waiter_stack]
				   [holder_index(cell->holder)][cell->holder_stack];
	struct split split;

	assert_int_equal(cell->count, s->count);
	assert_int_equal(cell->blocked_ns, s->blocked);
	assert_int_equal(cell->max_ns, s->max);
	assert_int_equal(cell->max_held_ns, s->max_held);
	assert_int_equal(cell->first_reader_ns, s->first_reader);
	assert_int_equal(cell->max_part_ns, s->max_part);
	assert_memory_equal(cell->stack_from_ns, s->from, sizeof(s->from));
	assert_int_equal(cell->blocked_on, 0); /* no thread tells when it blocks */
	split = cell->split;
	memset(split.reason_ns, 0, sizeof(split.reason_ns)); /* analyze_doing_test has these */
	assert_memory_equal(&split, &s->split, sizeof(split));
	assert_true(holder_is_thread(cell->holder) || !cell->holder_stack);
	assert_int_equal(cell->stack_from_ns[HOLDER_STACK_UNKNOWN],
			 holder_is_thread(cell->holder) && !cell->holder_stack ? cell->blocked_ns
									       : 0);
	assert_true(cell->waiter != cell->holder);
	assert_int_equal(cell->split.running_ns + cell->split.stolen_ns + cell->split.runnable_ns +
				 cell->split.throttled_ns + cell->split.blocked_ns +
				 cell->split.unknown_ns,
			 cell->blocked_ns);
}

static uint64_t compare(const struct contention *c, const struct oracle *o)
{
	uint64_t blocked = 0, count = 0, expected = 0, open_ns[LOCKS + 1] = {0};
	const struct cell *cells;
	uint32_t cell_count;

	memset(sums, 0, sizeof(sums));
	for (unsigned i = 0; i < o->done_count; i++) {
		oracle_cut(o, i);
		expected += o->done[i].to - o->done[i].from;
	}
	cells = contention_cells(c, &cell_count);
	for (uint32_t i = 0; i < cell_count; i++) {
		compare_cell(&cells[i]);
		blocked += cells[i].blocked_ns;
		count += cells[i].count;
	}
	assert_int_equal(blocked, expected);
	assert_int_equal(count, o->done_count);
	for (unsigned i = 1; i <= THREADS; i++) {
		if (o->thread[i].active)
			open_ns[o->thread[i].lock] += o->now - o->thread[i].since;
	}
	for (uint32_t i = 0; i < contention_lock_count(c); i++) {
		const struct contention_lock *l = contention_lock(c, i);

		assert_int_equal(l->begin_missing, o->begin_missing[l->lock]);
		assert_int_equal(l->end_missing, o->end_missing[l->lock]);
		assert_int_equal(l->open_ns, open_ns[l->lock]);
	}
	return count;
}

static void agrees_with_the_oracle(void **state)
{
	static struct oracle o;
	uint64_t contentions = 0;

	(void)state;
	for (unsigned n = 0; n < SCHEDULES; n++) {
		struct times threads[THREADS + 1] = {{0}};
		struct contention *c = contention_new(NULL);
		uint64_t now = 1;

		assert_non_null(c);
		memset(&o, 0, sizeof(o));
		seed = n;
		for (unsigned i = 0; i < EVENTS; i++) {
			struct event e = next_event(&o, threads, &now);

			assert_int_equal(contention_add(c, &e), 0);
			oracle_add(&o, &e);
		}
		assert_int_equal(contention_finish(c, o.now), 0);
		contentions += compare(c, &o);
		contention_free(c);
	}
	assert_true(contentions > SCHEDULES * 10); /* else the schedules test nothing */
}

static bool survives(unsigned long fail_at)
{
	struct times threads[THREADS + 1] = {{0}};
	static struct oracle o;
	struct contention *c;
	uint64_t now = 1;
	int err = 0;

	memset(&o, 0, sizeof(o));
	seed = 7;
	alloc_fail_at(fail_at);
	c = contention_new(NULL);
	for (unsigned i = 0; i < EVENTS && c && !err; i++) {
		struct event e = next_event(&o, threads, &now);

		err = contention_add(c, &e);
		oracle_add(&o, &e);
	}
	if (c && !err)
		err = contention_finish(c, now);
	if (!alloc_fail_off()) {
		assert_non_null(c);
		assert_int_equal(err, 0);
		compare(c, &o);
		contention_free(c);
		return true;
	}
	if (c)
		assert_int_equal(err, -ENOMEM);
	contention_free(c);
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
		cmocka_unit_test(agrees_with_the_oracle),
		cmocka_unit_test(survives_without_memory),
	};

	return cmocka_run_group_tests_name("analyze_oracle", tests, NULL, NULL);
}
