/*
 * Who held the lock while somebody was blocked in it?
 *
 * A contention is the time from monitor_contended_enter to monitor_contended_entered of one thread,
 * or from park_begin to park_end on one blocker. HotSpot's stock probes do not tell who held the
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
 * Charging costs one table access per blocked thread and observation. It goes to the cell's pending
 * part, which counts only when the contention ends; so one that turns out to be incomplete leaves
 * no trace in the sums.
 */
#include "analyze/contention.h"

#include <errno.h>
#include <stdlib.h>

struct counters {
	bool known;
	uint64_t cpu_ns, stolen_ns, runnable_ns;
};

struct lock_state {
	struct contention_lock seen;
	uint64_t holder;
	uint64_t since_ns;
	struct counters since; /* the holder's */
	bool claimed;      /* the holder is one that came back from park, not yet seen as owner */
	bool first_reader; /* the holder is one of possibly several */
	uint32_t blocked;  /* first blocked thread, PLACE_NONE: none */
};

struct thread_state {
	uint64_t thread;
	uint32_t lock; /* place of the lock it is blocked on; PLACE_NONE: not blocked */
	bool parked;
	uint64_t stack; /* where it is blocked; 0: not known */
	uint64_t since_ns;
	uint32_t first_cell;     /* of the holder seen at the begin */
	uint32_t pending;        /* cells with pending time */
	uint32_t previous, next; /* blocked on the same lock */
};

struct contention {
	struct cells cells;
	struct places lock_places;
	struct lock_state *locks;
	uint32_t locks_capacity;
	struct places thread_places;
	struct thread_state *threads;
	uint32_t threads_capacity;
	struct contention_open *open;
	uint32_t open_count, open_capacity;
	uint64_t now_ns;
};

/* What an observation says. */
struct sight {
	uint64_t holder;     /* from now on */
	struct counters its; /* counters of that holder */
	uint64_t ended;      /* a thread whose counters are known too, perhaps the last holder */
	struct counters ended_its;
	bool claimed;
	bool first_reader;
};

struct contention *contention_new(void)
{
	return calloc(1, sizeof(struct contention));
}

void contention_free(struct contention *c)
{
	if (!c)
		return;
	cells_free(&c->cells);
	places_free(&c->lock_places);
	places_free(&c->thread_places);
	free(c->locks);
	free(c->threads);
	free(c->open);
	free(c);
}

static int lock_find(struct contention *c, uint64_t lock, struct lock_state **ret)
{
	struct place_key key = {.a = lock};
	uint32_t place, known = c->lock_places.count;
	int err = places_add_row(&c->lock_places, key, &c->locks, &c->locks_capacity,
				 sizeof(*c->locks), &place);

	if (err)
		return err;
	*ret = &c->locks[place];
	if (place == known)
		**ret = (struct lock_state){
			.seen.lock = lock, .blocked = PLACE_NONE, .since_ns = c->now_ns};
	return 0;
}

static int thread_find(struct contention *c, uint64_t thread, struct thread_state **ret)
{
	struct place_key key = {.a = thread};
	uint32_t place, known = c->thread_places.count;
	int err = places_add_row(&c->thread_places, key, &c->threads, &c->threads_capacity,
				 sizeof(*c->threads), &place);

	if (err)
		return err;
	*ret = &c->threads[place];
	if (place == known)
		**ret = (struct thread_state){.thread = thread, .lock = PLACE_NONE};
	return 0;
}

static uint64_t at_most(uint64_t from, uint64_t to, uint64_t limit)
{
	uint64_t delta = to > from ? to - from : 0;

	return delta < limit ? delta : limit;
}

/* A snapshot may be one scheduling interval behind, so that the parts can exceed the whole by a
 * little. */
static struct split split_of(uint64_t ns, const struct counters *from, const struct counters *to)
{
	struct split s = {0};

	if (!from->known || !to || !to->known) {
		s.unknown_ns = ns;
		return s;
	}
	s.running_ns = at_most(from->cpu_ns, to->cpu_ns, ns);
	s.stolen_ns = at_most(from->stolen_ns, to->stolen_ns, ns - s.running_ns);
	s.runnable_ns =
		at_most(from->runnable_ns, to->runnable_ns, ns - s.running_ns - s.stolen_ns);
	s.blocked_ns = ns - s.running_ns - s.stolen_ns - s.runnable_ns;
	return s;
}

static int cell_pend(struct contention *c, struct thread_state *t, const struct lock_state *l,
		     uint64_t holder, uint64_t ns, const struct split *split)
{
	struct cell_key key = {.lock = l->seen.lock, .waiter = t->thread, .waiter_stack = t->stack};
	struct cell *cell;
	uint32_t place;
	int err;

	if (holder == t->thread)
		holder = HOLDER_HAND_OVER;
	key.holder = holder;
	err = cells_add(&c->cells, &key, &place);
	if (err)
		return err;
	cell = &c->cells.rows[place];
	if (!cell->pending_ns) {
		cell->pending_next = t->pending;
		t->pending = place;
	}
	cell->pending_ns += ns;
	if (holder_is_thread(holder)) {
		split_add(&cell->pending, split);
		cell->pending_first_reader_ns += l->first_reader ? ns : 0;
	} else {
		cell->pending.unknown_ns += ns;
	}
	return 0;
}

/* Ends the lock's current state: its time goes to all who are blocked. to: the holder's counters,
 * or NULL. */
static int charge(struct contention *c, struct lock_state *l, const struct counters *to,
		  bool claim_holds)
{
	uint64_t holder = l->claimed && !claim_holds ? HOLDER_HAND_OVER : l->holder;
	uint64_t ns = c->now_ns - l->since_ns;
	struct split split;
	int err;

	if (!ns || l->blocked == PLACE_NONE)
		return 0;
	split = split_of(ns, &l->since, to);
	for (uint32_t i = l->blocked; i != PLACE_NONE; i = c->threads[i].next) {
		err = cell_pend(c, &c->threads[i], l, holder, ns, &split);
		if (err)
			return err;
	}
	return 0;
}

static int observe(struct contention *c, struct lock_state *l, const struct sight *s)
{
	bool same = holder_is_thread(l->holder) && l->holder == s->holder;
	bool ended = holder_is_thread(l->holder) && l->holder == s->ended;
	int err = charge(c, l, same ? &s->its : ended ? &s->ended_its : NULL, same || ended);

	if (err)
		return err;
	l->claimed = s->claimed;
	l->holder = s->holder;
	l->since = s->its;
	l->since_ns = c->now_ns;
	l->first_reader = s->first_reader;
	return 0;
}

/* cpu, stolen and runnable follow each other in every event. All zero: there was nothing to read.
 */
static struct counters counters_at(const struct event *e, unsigned first)
{
	struct counters k = {.cpu_ns = e->v[first].u,
			     .stolen_ns = e->v[first + 1].u,
			     .runnable_ns = e->v[first + 2].u};

	k.known = k.cpu_ns || k.stolen_ns || k.runnable_ns;
	return k;
}

static void pending_clear(struct contention *c, struct thread_state *t, bool count)
{
	uint32_t next;

	for (uint32_t i = t->pending; i != PLACE_NONE; i = next) {
		struct cell *cell = &c->cells.rows[i];

		if (count) {
			cell->blocked_ns += cell->pending_ns;
			cell->first_reader_ns += cell->pending_first_reader_ns;
			if (cell->pending_ns > cell->max_held_ns)
				cell->max_held_ns = cell->pending_ns;
			split_add(&cell->split, &cell->pending);
		}
		next = cell->pending_next;
		cell->pending_ns = 0;
		cell->pending_first_reader_ns = 0;
		cell->pending = (struct split){0};
	}
	t->pending = PLACE_NONE;
}

/* The thread is not blocked any more. The lock's time must have been charged before. */
static void unblock(struct contention *c, struct thread_state *t, bool count)
{
	struct lock_state *l = &c->locks[t->lock];
	struct cell *first = &c->cells.rows[t->first_cell];
	uint64_t ns = c->now_ns - t->since_ns;

	if (count) {
		first->count++;
		if (ns > first->max_ns)
			first->max_ns = ns;
	}
	pending_clear(c, t, count);
	if (t->previous == PLACE_NONE)
		l->blocked = t->next;
	else
		c->threads[t->previous].next = t->next;
	if (t->next != PLACE_NONE)
		c->threads[t->next].previous = t->previous;
	t->lock = PLACE_NONE;
}

static int block(struct contention *c, struct thread_state *t, struct lock_state *l, uint64_t stack,
		 bool parked)
{
	struct cell_key key = {.lock = l->seen.lock,
			       .waiter = t->thread,
			       .holder = l->holder == t->thread ? HOLDER_HAND_OVER : l->holder,
			       .waiter_stack = stack};
	uint32_t self = (uint32_t)(t - c->threads), first;
	int err = cells_add(&c->cells, &key, &first);

	if (err)
		return err;
	c->cells.rows[first].monitor |= l->seen.monitor;
	t->lock = (uint32_t)(l - c->locks);
	t->parked = parked;
	t->stack = stack;
	t->since_ns = c->now_ns;
	t->first_cell = first;
	t->pending = PLACE_NONE;
	t->previous = PLACE_NONE;
	t->next = l->blocked;
	if (l->blocked != PLACE_NONE)
		c->threads[l->blocked].previous = self;
	l->blocked = self;
	return 0;
}

/* The thread does something that a blocked thread cannot do: an event in between is lost. */
static void drop_blocked(struct contention *c, struct thread_state *t)
{
	if (t->lock == PLACE_NONE)
		return;
	c->locks[t->lock].seen.end_missing++;
	unblock(c, t, false);
}

static struct sight sight_of_owner(uint64_t owner, uint64_t source, struct counters its)
{
	struct sight s = {
		.holder = owner, .its = its, .first_reader = source == OWNER_SOURCE_FIRST_READER};

	if (!owner && source == OWNER_SOURCE_NONE)
		s.holder = HOLDER_HAND_OVER;
	return s;
}

static int begin(struct contention *c, const struct event *e, uint64_t lock, const struct sight *s,
		 uint64_t stack, bool monitor)
{
	struct thread_state *t;
	struct lock_state *l;
	int err = thread_find(c, e->thread, &t);

	if (err)
		return err;
	drop_blocked(c, t);
	if (!lock)
		return 0;
	err = lock_find(c, lock, &l);
	if (err)
		return err;
	l->seen.monitor |= monitor;
	err = observe(c, l, s);
	return err ? err : block(c, t, l, stack, !monitor);
}

static int on_enter(struct contention *c, const struct event *e)
{
	struct sight s = sight_of_owner(e->v[MONITOR_CONTENDED_ENTER_OWNER].u,
					e->v[MONITOR_CONTENDED_ENTER_OWNER_SOURCE].u,
					counters_at(e, MONITOR_CONTENDED_ENTER_OWNER_CPU_NS));

	return begin(c, e, e->v[MONITOR_CONTENDED_ENTER_LOCK].u, &s,
		     e->v[MONITOR_CONTENDED_ENTER_STACK].u, true);
}

static int on_park_begin(struct contention *c, const struct event *e)
{
	struct sight s = sight_of_owner(e->v[PARK_BEGIN_OWNER].u, e->v[PARK_BEGIN_OWNER_SOURCE].u,
					counters_at(e, PARK_BEGIN_OWNER_CPU_NS));

	return begin(c, e, e->v[PARK_BEGIN_LOCK].u, &s, e->v[PARK_BEGIN_STACK].u, false);
}

static int on_entered(struct contention *c, const struct event *e)
{
	struct sight s = {.holder = e->thread,
			  .its = counters_at(e, MONITOR_CONTENDED_ENTERED_CPU_NS),
			  .ended = e->v[MONITOR_CONTENDED_ENTERED_OWNER].u,
			  .ended_its = counters_at(e, MONITOR_CONTENDED_ENTERED_OWNER_CPU_NS)};
	struct thread_state *t;
	struct lock_state *l;
	int err = thread_find(c, e->thread, &t);

	if (!err)
		err = lock_find(c, e->v[MONITOR_CONTENDED_ENTERED_LOCK].u, &l);
	if (!err)
		err = observe(c, l, &s);
	if (err)
		return err;
	l->seen.monitor = true;
	if (t->lock != PLACE_NONE && !t->parked && &c->locks[t->lock] == l) {
		unblock(c, t, true);
		return 0;
	}
	drop_blocked(c, t);
	l->seen.begin_missing++;
	return 0;
}

static int on_park_end(struct contention *c, const struct event *e)
{
	struct counters own = counters_at(e, PARK_END_CPU_NS),
			owners = counters_at(e, PARK_END_OWNER_CPU_NS);
	uint64_t lock = e->v[PARK_END_LOCK].u;
	struct sight s = {.ended = e->v[PARK_END_OWNER].u, .ended_its = owners};
	struct thread_state *t;
	struct lock_state *l;
	int err = thread_find(c, e->thread, &t);

	if (err)
		return err;
	if (t->lock == PLACE_NONE || !t->parked || (lock && c->locks[t->lock].seen.lock != lock)) {
		drop_blocked(c, t);
		err = lock ? lock_find(c, lock, &l) : 0;
		if (lock && !err)
			l->seen.begin_missing++;
		return err;
	}
	l = &c->locks[t->lock];
	if (l->holder == HOLDER_HAND_OVER || l->claimed) {
		s.holder = e->thread;
		s.its = own;
		s.claimed = true;
	} else {
		s.holder = l->holder;
		s.its = l->holder == e->thread ? own
			: l->holder == s.ended ? owners
					       : (struct counters){0};
		s.first_reader = l->first_reader;
	}
	err = observe(c, l, &s);
	if (!err)
		unblock(c, t, true);
	return err;
}

static int on_unpark(struct contention *c, const struct event *e)
{
	struct place_key key = {.a = e->v[UNPARK_TARGET].u};
	uint32_t target = key.a ? places_find(&c->thread_places, key) : PLACE_NONE;
	struct sight s = {.holder = HOLDER_HAND_OVER,
			  .ended = e->thread,
			  .ended_its = counters_at(e, UNPARK_CPU_NS)};

	if (target == PLACE_NONE || c->threads[target].lock == PLACE_NONE ||
	    !c->threads[target].parked)
		return 0;
	return observe(c, &c->locks[c->threads[target].lock], &s);
}

/* The thread releases the lock: by exit, which may be late, or by wait, which never is. */
static int release(struct contention *c, const struct event *e, uint64_t lock, struct counters own,
		   bool late)
{
	struct sight s = {.holder = HOLDER_HAND_OVER, .ended = e->thread, .ended_its = own};
	struct lock_state *l;
	int err = lock_find(c, lock, &l);

	if (err || (late && l->holder != e->thread))
		return err;
	l->seen.monitor = true;
	return observe(c, l, &s);
}

static int hold(struct contention *c, const struct event *e, uint64_t lock, struct counters own)
{
	struct sight s = {.holder = e->thread, .its = own};
	struct lock_state *l;
	int err = lock_find(c, lock, &l);

	if (err)
		return err;
	l->seen.monitor = true;
	return observe(c, l, &s);
}

static int on_owner_seen(struct contention *c, const struct event *e)
{
	struct sight s = sight_of_owner(e->v[MONITOR_OWNER_SEEN_OWNER].u,
					e->v[MONITOR_OWNER_SEEN_OWNER_SOURCE].u,
					counters_at(e, MONITOR_OWNER_SEEN_OWNER_CPU_NS));
	struct lock_state *l;
	int err = lock_find(c, e->v[MONITOR_OWNER_SEEN_LOCK].u, &l);

	if (err)
		return err;
	l->seen.monitor = true;
	return observe(c, l, &s);
}

static int open_add(struct contention *c, struct thread_state *t)
{
	struct lock_state *l = &c->locks[t->lock];
	struct contention_open o = {
		.lock = l->seen.lock,
		.waiter = t->thread,
		.holder = l->claimed || l->holder == t->thread ? HOLDER_HAND_OVER : l->holder,
		.blocked_ns = c->now_ns - t->since_ns};
	int err = array_grow(&c->open, &c->open_capacity, c->open_count, sizeof(*c->open));

	if (err)
		return err;
	c->open[c->open_count++] = o;
	l->seen.open++;
	l->seen.open_ns += o.blocked_ns;
	unblock(c, t, false);
	return 0;
}

static int on_thread_end(struct contention *c, const struct event *e)
{
	struct place_key key = {.a = e->thread};
	uint32_t place = places_find(&c->thread_places, key);

	if (place == PLACE_NONE || c->threads[place].lock == PLACE_NONE)
		return 0;
	return open_add(c, &c->threads[place]);
}

int contention_add(struct contention *c, const struct event *e)
{
	/* An event that the log brings too late may not turn time back: the sums must add up. */
	if (e->time_ns > c->now_ns)
		c->now_ns = e->time_ns;
	switch (e->id) {
	case EVENT_MONITOR_CONTENDED_ENTER:
		return on_enter(c, e);
	case EVENT_MONITOR_CONTENDED_ENTERED:
		return on_entered(c, e);
	case EVENT_MONITOR_CONTENDED_EXIT:
		return release(c, e, e->v[MONITOR_CONTENDED_EXIT_LOCK].u,
			       counters_at(e, MONITOR_CONTENDED_EXIT_CPU_NS), true);
	case EVENT_MONITOR_WAIT_BEGIN:
		return release(c, e, e->v[MONITOR_WAIT_BEGIN_LOCK].u,
			       counters_at(e, MONITOR_WAIT_BEGIN_CPU_NS), false);
	case EVENT_MONITOR_WAIT_END:
		return hold(c, e, e->v[MONITOR_WAIT_END_LOCK].u,
			    counters_at(e, MONITOR_WAIT_END_CPU_NS));
	case EVENT_MONITOR_NOTIFY:
		return hold(c, e, e->v[MONITOR_NOTIFY_LOCK].u,
			    counters_at(e, MONITOR_NOTIFY_CPU_NS));
	case EVENT_MONITOR_OWNER_SEEN:
		return on_owner_seen(c, e);
	case EVENT_PARK_BEGIN:
		return on_park_begin(c, e);
	case EVENT_PARK_END:
		return on_park_end(c, e);
	case EVENT_UNPARK:
		return on_unpark(c, e);
	case EVENT_THREAD_END:
		return on_thread_end(c, e);
	default:
		return 0;
	}
}

int contention_finish(struct contention *c, uint64_t end_ns)
{
	int err = 0;

	if (end_ns > c->now_ns)
		c->now_ns = end_ns;
	for (uint32_t i = 0; i < c->thread_places.count && !err; i++) {
		if (c->threads[i].lock != PLACE_NONE)
			err = open_add(c, &c->threads[i]);
	}
	return err;
}

const struct cell *contention_cells(const struct contention *c, uint32_t *ret_count)
{
	*ret_count = c->cells.places.count;
	return c->cells.rows;
}

const struct contention_lock *contention_lock(const struct contention *c, uint32_t place)
{
	return &c->locks[place].seen;
}

const struct contention_lock *contention_lock_find(const struct contention *c, uint64_t lock)
{
	uint32_t place = places_find(&c->lock_places, (struct place_key){.a = lock});

	return place == PLACE_NONE ? NULL : &c->locks[place].seen;
}

uint32_t contention_lock_count(const struct contention *c)
{
	return c->lock_places.count;
}

const struct contention_open *contention_open(const struct contention *c, uint32_t *ret_count)
{
	*ret_count = c->open_count;
	return c->open;
}
