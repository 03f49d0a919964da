/*
 * Who held the lock while somebody was blocked in it?
 *
 * A contention is the time from monitor_contended_enter to monitor_contended_entered of one thread,
 * or from park_begin to park_end on one blocker. HotSpot's stock probes do not say who held the
 * lock in between: an exit fires for 20 to 100 % of the releases, after the lock is free, and a
 * lock that is acquired by spinning or on a fast path is acquired silently. What can be had are
 * observations, each true at its own moment:
 *
 * - contended enter: the owner word, read at that moment: O holds it; or nobody does; or it cannot
 * be told who.
 * - contended entered: the thread itself holds it from now on. The event also has the counters of
 * the other thread that was last known to hold it, so that its time ends with exact counters.
 * - contended exit: the thread does not hold it any more. The next owner's entered may be earlier
 * than this: an exit of a thread that is not the last known holder is ignored.
 * - wait begin: the thread held it until now, and gives it up.
 * - wait end, notify: the thread holds it now.
 * - owner seen: the owner word, read when a thread of this lock left its CPU: O has got it
 * silently.
 * - park begin: the owner by java.util.concurrent's own fields, read at that moment.
 * - unpark of a thread that is parked on the lock: it has been released. Exact, with counters, when
 * the caller is the last known holder.
 * - park end: after such an unpark, the thread goes for the lock. It may fail (barging), or only
 * pass on a signal; so it is a claim, which is believed when the claimant is seen as owner or
 * unparks a waiter itself before anybody else is seen. Else the time is nobody's. Without an unpark
 * (timeout, interrupt) park end says nothing about the lock.
 *
 * So every lock has one current state: the holder last seen, since when, and its counters then.
 * Each observation ends that state and charges its time to all threads that are blocked on the lock
 * at the time: to the holder, to "hand-over" (free, as far as is known: released and not yet seen
 * taken), or to "unknown". A thread never is its own holder; if it is seen as owner while it is
 * still blocked, it has the lock and does not know yet: hand-over. Because the begin and the end of
 * every contention are observations, a state's time lies either within a thread's blocked time or
 * outside, never across, and the pieces add up to the blocked time exactly.
 *
 * The holder's running, stolen and runnable time within a piece are the differences of its counters
 * at the piece's two ends, the rest is blocked. Where one end has no counters (the next observation
 * names another thread and brings none of this one's) the piece is not split. Nothing is
 * interpolated.
 *
 * Where was the holder meanwhile? Its call chain is seen at moments, too: read at the block where
 * the holder was not running; when it leaves its CPU, or by a sample, after somebody has blocked on
 * it; when it releases the lock; when it blocks itself on something else. A hold is a run of states
 * with the same holder. A state's time goes to the chain that was seen last in its hold when the
 * state began; where there was none yet, to the first that is seen later in the hold: its pieces
 * stay open until then, one sum per blocked thread. They are charged to "not known" when the
 * contention ends before that, or when the hold has ended and no late exit of its holder has come
 * up to the end of the next one. A chain that is seen amid a state does not cut it, as it brings no
 * counters to split it with. And a chain is believed only while somebody is blocked: a lock that
 * nobody waits for can be released and taken again without an event.
 *
 * All this is for events without numbers. A patched JVM numbers them, and reports every release
 * that somebody waits for; such events go to numbered.c, which infers nothing: see replay.c and
 * monitors.c.
 *
 * Charging costs one table access per blocked thread and observation, or none while the holder and
 * its chain stay the same; and the same for each moment at which the holder has emitted an event of
 * its own meanwhile, within the bounds of holds.h. It goes to the cell's pending part, which counts
 * only when the contention ends; so one that turns out to be incomplete leaves no trace in the
 * sums.
 */
#include "analyze/contention/contention.h"

#include <errno.h>
#include <stdlib.h>

#include "analyze/contention/holds.h"
#include "analyze/contention/numbered.h"
#include "analyze/lines/reason_history.h"

struct contention {
	struct holds holds;
	struct numbered *numbered;
	struct reason_history *reasons;
	bool has_numbers;               /* events have numbers */
	struct contention_facts merged; /* of others; without what the locks have of it */
	struct contention_open *open;
	uint32_t open_count, open_capacity;
};

struct contention *contention_new(const struct log_names *names)
{
	struct contention *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->reasons = reasons_new();
	c->holds.cells.reasons = c->reasons;
	c->numbered = c->reasons ? numbered_new(&c->holds.cells, names) : NULL;
	if (c->numbered)
		return c;
	contention_free(c);
	return NULL;
}

void contention_set_begin(struct contention *c, uint64_t begin_ns)
{
	numbered_set_begin(c->numbered, begin_ns);
}

void contention_free(struct contention *c)
{
	if (!c)
		return;
	numbered_free(c->numbered);
	reasons_free(c->reasons);
	holds_free(&c->holds);
	free(c->open);
	free(c);
}

static struct lock_state *lock_at(struct contention *c, uint32_t index)
{
	return &c->holds.locks[index];
}

static struct waiter_state *thread_at(struct contention *c, uint32_t index)
{
	return &c->holds.threads[index];
}

static bool is_blocked(const struct contention *c, uint32_t thread)
{
	return c->holds.threads[thread].lock != INDEX_NONE;
}

/* The thread does something that a blocked thread cannot do: an event in between is lost. */
static int drop_blocked(struct contention *c, uint32_t thread)
{
	if (!is_blocked(c, thread))
		return 0;
	lock_at(c, thread_at(c, thread)->lock)->seen.end_missing++;
	return holds_unblock(&c->holds, thread, false);
}

static struct observation observation_of_owner(uint64_t owner, uint64_t source,
					       struct counters *its, struct chain_seen at)
{
	struct observation s = {.holder = owner,
				.its = its,
				.at = at,
				.first_reader = source == OWNER_SOURCE_FIRST_READER};

	if (!owner && source == OWNER_SOURCE_NONE)
		s.holder = HOLDER_HAND_OVER;
	return s;
}

static int begin(struct contention *c, const struct event *e, uint64_t lock, struct observation *s,
		 uint64_t stack, bool monitor)
{
	uint32_t thread, index;
	int err = holds_thread(&c->holds, e->thread, &thread);

	if (!err)
		err = drop_blocked(c, thread);
	if (!err)
		err = holds_show_blocked(&c->holds, thread, lock, stack);
	if (err || !lock)
		return err;
	err = holds_lock(&c->holds, lock, &index);
	if (err)
		return err;
	lock_at(c, index)->seen.monitor |= monitor;
	err = holds_observe(&c->holds, lock_at(c, index), s);
	return err ? err : holds_block(&c->holds, thread, lock_at(c, index), stack, !monitor);
}

static int on_enter(struct contention *c, const struct event *e)
{
	struct counters its = counters_owner(e);
	struct observation s = observation_of_owner(
		e->v[MONITOR_CONTENDED_ENTER_OWNER].u, e->v[MONITOR_CONTENDED_ENTER_OWNER_SOURCE].u,
		&its,
		(struct chain_seen){e->v[MONITOR_CONTENDED_ENTER_OWNER_STACK].u,
				    HOLDER_STACK_BLOCK});

	s.carrier = e->v[MONITOR_CONTENDED_ENTER_OWNER_CARRIER].u;
	return begin(c, e, e->v[MONITOR_CONTENDED_ENTER_LOCK].u, &s,
		     e->v[MONITOR_CONTENDED_ENTER_STACK].u, true);
}

static int on_park_begin(struct contention *c, const struct event *e)
{
	struct counters its = counters_owner(e);
	struct observation s = observation_of_owner(
		e->v[PARK_BEGIN_OWNER].u, e->v[PARK_BEGIN_OWNER_SOURCE].u, &its,
		(struct chain_seen){e->v[PARK_BEGIN_OWNER_STACK].u, HOLDER_STACK_BLOCK});

	return begin(c, e, e->v[PARK_BEGIN_LOCK].u, &s, e->v[PARK_BEGIN_STACK].u, false);
}

static int on_entered(struct contention *c, const struct event *e)
{
	struct counters own = counters_own(e), owners = counters_owner(e);
	struct observation s = {.holder = e->thread,
				.its = &own,
				.ended = e->v[MONITOR_CONTENDED_ENTERED_OWNER].u,
				.ended_its = &owners};
	uint32_t thread, lock;
	bool released;
	int err = holds_thread(&c->holds, e->thread, &thread);

	if (!err)
		err = holds_lock(&c->holds, e->v[MONITOR_CONTENDED_ENTERED_LOCK].u, &lock);
	if (err)
		return err;
	released = lock_at(c, lock)->holder == HOLDER_HAND_OVER;
	err = holds_observe(&c->holds, lock_at(c, lock), &s);
	if (err)
		return err;
	lock_at(c, lock)->seen.monitor = true;
	if (thread_at(c, thread)->lock == lock && !thread_at(c, thread)->parked) {
		lock_at(c, lock)->seen.inferred += !released;
		return holds_unblock(&c->holds, thread, true);
	}
	lock_at(c, lock)->seen.begin_missing++;
	return drop_blocked(c, thread);
}

/* A park end without its begin in the log. */
static int park_end_alone(struct contention *c, uint32_t thread, uint64_t lock)
{
	uint32_t index;
	int err = drop_blocked(c, thread);

	if (err || !lock)
		return err;
	err = holds_lock(&c->holds, lock, &index);
	if (!err)
		lock_at(c, index)->seen.begin_missing++;
	return err;
}

static int on_park_end(struct contention *c, const struct event *e)
{
	struct counters own = counters_own(e), owners = counters_owner(e);
	uint64_t lock = e->v[PARK_END_LOCK].u;
	struct observation s = {.ended = e->v[PARK_END_OWNER].u, .ended_its = &owners};
	struct lock_state *l;
	uint32_t thread;
	int err = holds_thread(&c->holds, e->thread, &thread);

	if (err)
		return err;
	if (!is_blocked(c, thread) || !thread_at(c, thread)->parked ||
	    (lock && lock_at(c, thread_at(c, thread)->lock)->seen.lock != lock))
		return park_end_alone(c, thread, lock);
	l = lock_at(c, thread_at(c, thread)->lock);
	if (l->holder == HOLDER_HAND_OVER || l->claimed) {
		s.holder = e->thread;
		s.its = &own;
		s.claimed = true;
	} else {
		s.holder = l->holder;
		s.its = l->holder == e->thread ? &own : l->holder == s.ended ? &owners : NULL;
		s.first_reader = l->first_reader;
		l->seen.inferred++;
	}
	err = holds_observe(&c->holds, l, &s);
	return err ? err : holds_unblock(&c->holds, thread, true);
}

/* The lock on which a thread is blocked; NULL: none. */
static struct lock_state *lock_of(struct contention *c, uint64_t thread, bool parked_only)
{
	uint32_t index =
		thread ? keymap_find(&c->holds.thread_map, (struct keymap_key){.a = thread})
		       : INDEX_NONE;

	if (index == INDEX_NONE || !is_blocked(c, index) ||
	    (parked_only && !thread_at(c, index)->parked))
		return NULL;
	return lock_at(c, thread_at(c, index)->lock);
}

static int on_unpark(struct contention *c, const struct event *e)
{
	struct lock_state *l = lock_of(c, e->v[UNPARK_TARGET].u, true);
	struct counters its = counters_own(e);
	struct observation s = {.holder = HOLDER_HAND_OVER,
				.ended = e->thread,
				.ended_its = &its,
				.ended_stack = e->v[UNPARK_STACK].u};

	return l ? holds_observe(&c->holds, l, &s) : 0;
}

/* Late: the next holder may have been seen before. */
static int on_monitor_exit(struct contention *c, const struct event *e)
{
	struct counters its = counters_own(e);
	struct observation s = {.holder = HOLDER_HAND_OVER,
				.ended = e->thread,
				.ended_its = &its,
				.ended_stack = e->v[MONITOR_CONTENDED_EXIT_STACK].u};
	uint32_t lock;
	int err = holds_lock(&c->holds, e->v[MONITOR_CONTENDED_EXIT_LOCK].u, &lock);

	if (err)
		return err;
	if (lock_at(c, lock)->holder != e->thread)
		return holds_show_late(&c->holds, lock_at(c, lock), e->thread, s.ended_stack);
	lock_at(c, lock)->seen.monitor = true;
	return holds_observe(&c->holds, lock_at(c, lock), &s);
}

static int on_wait_begin(struct contention *c, const struct event *e)
{
	uint64_t monitor = e->v[MONITOR_WAIT_BEGIN_LOCK].u,
		 stack = e->v[MONITOR_WAIT_BEGIN_STACK].u;
	struct counters its = counters_own(e);
	struct observation s = {.holder = HOLDER_HAND_OVER,
				.ended = e->thread,
				.ended_its = &its,
				.ended_stack = stack};
	uint32_t thread, lock;
	int err = holds_thread(&c->holds, e->thread, &thread);

	if (!err)
		err = holds_show_blocked(&c->holds, thread, monitor, stack);
	if (!err)
		err = holds_lock(&c->holds, monitor, &lock);
	if (err)
		return err;
	thread_at(c, thread)->wait_lock = monitor;
	thread_at(c, thread)->wait_stack = stack;
	lock_at(c, lock)->seen.monitor = true;
	return lock_at(c, lock)->numbered ? 0 : holds_observe(&c->holds, lock_at(c, lock), &s);
}

/* A monitor is seen with this holder; nobody's blocking begins or ends. */
static int see_holder(struct contention *c, uint64_t monitor, struct observation *s)
{
	uint32_t lock;
	int err = holds_lock(&c->holds, monitor, &lock);

	if (err)
		return err;
	lock_at(c, lock)->seen.monitor = true;
	return lock_at(c, lock)->numbered ? 0 : holds_observe(&c->holds, lock_at(c, lock), s);
}

static int on_wait_end(struct contention *c, const struct event *e)
{
	struct counters its = counters_own(e);
	struct observation s = {.holder = e->thread, .its = &its};

	return see_holder(c, e->v[MONITOR_WAIT_END_LOCK].u, &s);
}

static int on_notify(struct contention *c, const struct event *e)
{
	struct counters its = counters_own(e);
	struct observation s = {.holder = e->thread, .its = &its};

	return see_holder(c, e->v[MONITOR_NOTIFY_LOCK].u, &s);
}

static int on_owner_seen(struct contention *c, const struct event *e)
{
	struct counters its = counters_owner(e);
	struct observation s = observation_of_owner(
		e->v[MONITOR_OWNER_SEEN_OWNER].u, e->v[MONITOR_OWNER_SEEN_OWNER_SOURCE].u, &its,
		(struct chain_seen){e->v[MONITOR_OWNER_SEEN_OWNER_STACK].u, HOLDER_STACK_SWITCH});

	s.carrier = e->v[MONITOR_OWNER_SEEN_OWNER_CARRIER].u;
	return see_holder(c, e->v[MONITOR_OWNER_SEEN_LOCK].u, &s);
}

/* Nobody's time: it is not known when the virtual thread went on. */
static int on_virtual_block(struct contention *c, const struct event *e)
{
	struct counters its = {.known = false};
	struct observation s = {.holder = HOLDER_HAND_OVER, .ended = e->thread};
	uint64_t monitor = e->v[VIRTUAL_BLOCK_LOCK].u;
	uint32_t lock;
	int err;

	if (e->v[VIRTUAL_BLOCK_REASON].u != BLOCKED_REASON_LOCK)
		return see_holder(c, monitor, &s);
	s = observation_of_owner(
		e->v[VIRTUAL_BLOCK_OWNER].u, e->v[VIRTUAL_BLOCK_OWNER_SOURCE].u, &its,
		(struct chain_seen){e->v[VIRTUAL_BLOCK_OWNER_STACK].u, HOLDER_STACK_BLOCK});
	s.carrier = e->v[VIRTUAL_BLOCK_OWNER_CARRIER].u;
	err = see_holder(c, monitor, &s);
	if (!err)
		err = holds_lock(&c->holds, monitor, &lock);
	if (!err)
		lock_at(c, lock)->seen.end_missing++;
	return err;
}

static int on_owner_stack(struct contention *c, const struct event *e)
{
	static const enum holder_stack_from from[STACK_SOURCE_COUNT] = {
		[STACK_SOURCE_BLOCK] = HOLDER_STACK_BLOCK,
		[STACK_SOURCE_SWITCH] = HOLDER_STACK_SWITCH,
		[STACK_SOURCE_SAMPLE] = HOLDER_STACK_SAMPLE,
	};
	uint64_t source = e->v[OWNER_STACK_SOURCE].u;
	struct chain_seen at = {.stack = e->v[OWNER_STACK_STACK].u};
	struct lock_state *l = lock_of(c, e->v[OWNER_STACK_WAITER].u, false);

	if (c->has_numbers)
		numbered_show(c->numbered, e);
	if (!l || l->holder != e->thread || source >= STACK_SOURCE_COUNT || !from[source])
		return 0;
	at.from = from[source];
	return holds_show(&c->holds, l, at);
}

static int open_add(struct contention *c, uint32_t thread)
{
	const struct waiter_state *t = thread_at(c, thread);
	struct lock_state *l = lock_at(c, t->lock);
	struct contention_open o = {
		.lock = l->seen.lock,
		.waiter = t->thread,
		.waiter_stack = t->stack,
		.holder = l->claimed || l->holder == t->thread ? HOLDER_HAND_OVER : l->holder,
		.since_ns = t->since_ns,
		.blocked_ns = c->holds.now_ns - t->since_ns};
	int err = array_grow(&c->open, &c->open_capacity, c->open_count, sizeof(*c->open));

	if (err)
		return err;
	c->open[c->open_count++] = o;
	l->seen.open++;
	l->seen.open_ns += o.blocked_ns;
	return holds_unblock(&c->holds, thread, false);
}

static int on_thread_end(struct contention *c, const struct event *e)
{
	uint32_t index = keymap_find(&c->holds.thread_map, (struct keymap_key){.a = e->thread});

	if (index == INDEX_NONE)
		return 0;
	thread_at(c, index)->ended_ns = c->holds.now_ns;
	return is_blocked(c, index) ? open_add(c, index) : 0;
}

/* The call chain of its wait() on this monitor; 0: it is not known. */
static uint64_t wait_stack(const struct contention *c, uint64_t thread, uint64_t lock)
{
	uint32_t index = keymap_find(&c->holds.thread_map, (struct keymap_key){.a = thread});
	const struct waiter_state *t = index == INDEX_NONE ? NULL : &c->holds.threads[index];

	return t && t->wait_lock == lock ? t->wait_stack : 0;
}

static int add_numbered(struct contention *c, const struct event *e)
{
	uint64_t note = 0;
	uint32_t lock;
	int err;

	c->has_numbers = true;
	if (replay_is_park(e))
		return numbered_add(c->numbered, e, 0);
	err = holds_lock(&c->holds, e->v[0].u, &lock);
	if (err)
		return err;
	lock_at(c, lock)->seen.monitor = true;
	lock_at(c, lock)->numbered = true;
	if (e->id == EVENT_MONITOR_NOTIFY)
		note = wait_stack(c, e->v[MONITOR_NOTIFY_TARGET].u, e->v[MONITOR_NOTIFY_LOCK].u);
	return numbered_add(c->numbered, e, note);
}

static int on_deflate(struct contention *c, const struct event *e)
{
	return numbered_deflate(c->numbered, e->v[MONITOR_DEFLATE_LOCK].u);
}

int contention_add(struct contention *c, const struct event *e)
{
	static int (*const on[])(struct contention *, const struct event *) = {
		[EVENT_MONITOR_CONTENDED_ENTER] = on_enter,
		[EVENT_MONITOR_CONTENDED_ENTERED] = on_entered,
		[EVENT_MONITOR_CONTENDED_EXIT] = on_monitor_exit,
		[EVENT_MONITOR_WAIT_BEGIN] = on_wait_begin,
		[EVENT_MONITOR_WAIT_END] = on_wait_end,
		[EVENT_MONITOR_NOTIFY] = on_notify,
		[EVENT_MONITOR_OWNER_SEEN] = on_owner_seen,
		[EVENT_VIRTUAL_BLOCK] = on_virtual_block,
		[EVENT_OWNER_STACK] = on_owner_stack,
		[EVENT_PARK_BEGIN] = on_park_begin,
		[EVENT_PARK_END] = on_park_end,
		[EVENT_UNPARK] = on_unpark,
		[EVENT_THREAD_END] = on_thread_end,
		[EVENT_MONITOR_DEFLATE] = on_deflate,
	};
	int err = 0;

	/* An event that the log brings too late may not turn time back: the sums must add up. */
	if (e->time_ns > c->holds.now_ns)
		c->holds.now_ns = e->time_ns;
	err = reasons_add(c->reasons, e, c->holds.now_ns);
	if (!err && c->has_numbers)
		err = numbered_pass(c->numbered, c->holds.now_ns);
	if (err)
		return err;
	if (exact_takes(e))
		return add_numbered(c, e);
	return e->id < sizeof(on) / sizeof(*on) && on[e->id] ? on[e->id](c, e) : 0;
}

void contention_observe(struct contention *c, cell_part_observer *observe, void *context)
{
	c->holds.cells.observe = observe;
	c->holds.cells.observer = context;
}

void contention_observe_intervals(struct contention *c, cell_interval_observer *ended)
{
	c->holds.cells.ended = ended;
}

/* Of a thread that was still blocked when the log ended, or when the thread did. */
static int numbered_open_add(void *context, uint64_t lock, uint64_t since_ns,
			     const struct blocked *who)
{
	struct contention *c = context;
	struct contention_open o = {.lock = lock,
				    .waiter = who->thread,
				    .waiter_stack = who->stack,
				    .holder = numbered_holder(c->numbered, lock, who)};
	uint64_t end_ns = c->holds.now_ns;
	uint32_t thread, index;
	int err = array_grow(&c->open, &c->open_capacity, c->open_count, sizeof(*c->open));

	if (!err)
		err = holds_lock(&c->holds, lock, &index);
	if (err)
		return err;
	thread = keymap_find(&c->holds.thread_map, (struct keymap_key){.a = who->thread});
	if (thread != INDEX_NONE && thread_at(c, thread)->ended_ns > since_ns)
		end_ns = thread_at(c, thread)->ended_ns;
	o.since_ns = since_ns;
	o.blocked_ns = end_ns > since_ns ? end_ns - since_ns : 0;
	c->open[c->open_count++] = o;
	lock_at(c, index)->seen.open++;
	lock_at(c, index)->seen.open_ns += o.blocked_ns;
	return 0;
}

static int numbered_locks_add(struct contention *c)
{
	struct timeline *line;
	uint64_t lock;
	int err = 0;

	for (uint32_t i = 0; !err && (line = numbered_line(c->numbered, i, &lock)); i++) {
		const struct timeline_counts *counts = timeline_counts(line);
		uint32_t index;

		err = holds_lock(&c->holds, lock, &index);
		if (err)
			break;
		lock_at(c, index)->seen.begin_missing += counts->begin_missing;
		lock_at(c, index)->seen.end_missing += counts->end_missing;
		if (lock_at(c, index)->numbered)
			lock_at(c, index)->seen.numbers = numbered_counts(c->numbered, lock);
	}
	return err;
}

int contention_finish(struct contention *c, uint64_t end_ns)
{
	int err = 0;

	if (end_ns > c->holds.now_ns)
		c->holds.now_ns = end_ns;
	for (uint32_t i = 0; i < c->holds.thread_map.count && !err; i++) {
		if (is_blocked(c, i))
			err = open_add(c, i);
	}
	if (err || !c->has_numbers)
		return err;
	err = numbered_finish(c->numbered, c->holds.now_ns);
	if (!err)
		err = numbered_locks_add(c);
	return err ? err : numbered_each_open(c->numbered, numbered_open_add, c);
}

const struct cell *contention_cells(const struct contention *c, uint32_t *ret_count)
{
	*ret_count = c->holds.cells.count;
	return c->holds.cells.rows;
}

const struct lengths *contention_lengths(const struct contention *c)
{
	return &c->holds.cells.lengths;
}

const struct contention_lock *contention_lock(const struct contention *c, uint32_t index)
{
	return &c->holds.locks[index].seen;
}

const struct contention_lock *contention_lock_find(const struct contention *c, uint64_t lock)
{
	uint32_t index = keymap_find(&c->holds.lock_map, (struct keymap_key){.a = lock});

	return index == INDEX_NONE ? NULL : &c->holds.locks[index].seen;
}

uint32_t contention_lock_count(const struct contention *c)
{
	return c->holds.lock_map.count;
}

const struct contention_open *contention_open(const struct contention *c, uint32_t *ret_count)
{
	*ret_count = c->open_count;
	return c->open;
}

static void counts_add(struct replay_counts *sum, const struct replay_counts *more)
{
	sum->numbers += more->numbers;
	sum->gaps += more->gaps;
	sum->missing += more->missing;
	sum->cut += more->cut;
	sum->late += more->late;
}

struct contention_facts contention_facts(const struct contention *c)
{
	struct replay_counts park = numbered_counts(c->numbered, REPLAY_PARK);
	struct monitors_folds folds = numbered_folds(c->numbered);
	struct contention_facts f = c->merged;
	struct timeline *line;
	uint64_t lock;

	counts_add(&f.park, &park);
	f.folds.excess_ns += folds.excess_ns;
	f.folds.undistinguished += folds.undistinguished;

	for (uint32_t i = 0; i < c->holds.lock_map.count; i++)
		counts_add(&f.monitors, &c->holds.locks[i].seen.numbers);
	for (uint32_t i = 0; (line = numbered_line(c->numbered, i, &lock)); i++)
		f.unnamed += timeline_counts(line)->unnamed;
	return f;
}

/* --- several parts of a recording -------------------------------------------------------- */

static int lock_merge(struct contention *to, const struct lock_state *from)
{
	struct contention_lock *seen;
	uint32_t index;
	int err = holds_lock(&to->holds, from->seen.lock, &index);

	if (err)
		return err;
	lock_at(to, index)->numbered |= from->numbered;
	seen = &lock_at(to, index)->seen;
	seen->monitor |= from->seen.monitor;
	seen->begin_missing += from->seen.begin_missing;
	seen->end_missing += from->seen.end_missing;
	seen->open += from->seen.open;
	seen->open_ns += from->seen.open_ns;
	seen->inferred += from->seen.inferred;
	counts_add(&seen->numbers, &from->seen.numbers);
	return 0;
}

int contention_merge(struct contention *to, const struct contention *from)
{
	struct contention_facts f = contention_facts(from);
	int err = cells_merge(&to->holds.cells, &from->holds.cells, NULL);

	for (uint32_t i = 0; i < from->holds.lock_map.count && !err; i++)
		err = lock_merge(to, &from->holds.locks[i]);
	for (uint32_t i = 0; i < from->open_count && !err; i++) {
		err = array_grow(&to->open, &to->open_capacity, to->open_count, sizeof(*to->open));
		if (!err)
			to->open[to->open_count++] = from->open[i];
	}
	counts_add(&to->merged.park, &f.park);
	to->merged.unnamed += f.unnamed;
	to->merged.folds.excess_ns += f.folds.excess_ns;
	to->merged.folds.undistinguished += f.folds.undistinguished;
	return err;
}
