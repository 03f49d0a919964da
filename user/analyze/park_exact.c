/*
 * Who kept a parked thread waiting?
 *
 * HotSpot knows of park and unpark only; what they mean depends on the blocker's class (Hofer 4.2.3
 * and 4.3.1). Here each thread's park begin, the unpark that ends it and the park end are put
 * together, and given to what knows about the blocker:
 *
 * - locks (ReentrantLock, ReentrantReadWriteLock, StampedLock, and others that tell an owner): all
 * that are parked on one of them are kept waiting by whoever holds it, so there is one timeline of
 * holders for all of them: park_lock.c, park_runs.c.
 * - a Condition: the thread is waiting for a signal, then for the lock, and no event tells when the
 * one became the other: signal() unparks nobody. All of it is waiting. But the unpark is the
 * release of the lock, for those that wait for the lock itself: it counts for them once it is known
 * which lock the condition belongs to. That is seen when await() fails to get the lock back at once
 * and parks on it, when await() releases the lock to somebody, and when a thread back from await()
 * releases a lock that the one that unparked it was known to hold.
 * - everything else of java.util.concurrent (semaphores, latches, queues, futures): nobody holds
 * it. The one that ended the wait is named, as that: with a semaphore or a latch the one whose
 * release set off the wake-ups that led to this one.
 * - of other classes nothing is known: no holder is named.
 *
 * A permit that was there before the park ends it at once. It came from a lock's release only if
 * that release fits what was known of the lock; else it is left over from some other lock.
 */
#include "analyze/park_exact.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/park_family.h"
#include "analyze/park_lock.h"
#include "analyze/park_wait.h"
#include "log/names.h"

/*
 * An unpark is older than its call chain, which is walked behind it, and so are the names of a chain
 * that is new. Its event waits for them, but not for ever: they may be lost.
 */
#define LATE_NS 100000000
#define LATE_MAX 4096

/* A thread that has come back from park, and has not got the lock, tries again for much less. */
#define TRY_NS 100000

/* An unpark; sequence 0: none. */
struct unpark {
	uint64_t sequence, ns, thread, stack;
	struct park_chain chain;
	struct counters its;
};

/* Whose release it was that has set off a chain of wake-ups. */
struct cause {
	uint64_t lock, thread, stack;
};

/* A thread has come back from park, and it is not known from which lock it may have got then. */
struct came {
	bool known;
	uint32_t condition; /* on which it was parked; PLACE_NONE: not known either */
	struct unpark by;
	uint64_t sequence, ns;
};

struct parker {
	uint64_t thread;
	uint32_t gaps;    /* what is said here was seen behind so many gaps */
	uint32_t blocker; /* parked on this one; PLACE_NONE: on none */
	bool parked;
	bool again;   /* on the same lock, as it did not get it when it came back */
	bool in_lock; /* in the queue of a lock, as far as its class tells */
	uint64_t since_ns, stack;
	enum park_mode mode;
	struct unpark by; /* parked: what ends it; else: the permit that it has */

	/* Between a park end and the next event of the thread. */
	uint32_t wants; /* lock that it is about to take; PLACE_NONE: none */
	bool woken;     /* by an unpark, whatever else there was */
	uint64_t back_ns;
	struct counters back;
	struct cause cause;
	struct came came;
	/* Behind an unpark: the lock that await() released by it, or PLACE_NONE. */
	uint32_t await_released;
};

struct blocker {
	enum park_family family;
	struct park_lock lock;
	uint32_t condition_of; /* of a condition: its lock's place; PLACE_NONE: not known */
};

/* An event that waits for the names of its call chain, or behind such a one. */
struct late {
	struct event event;
	uint64_t missing;
};

struct park_exact {
	struct timelines *lines;
	const struct log_names *names;
	struct park_chains chains;
	struct park_waits waits;
	struct places blocker_places;
	struct blocker *blockers;
	uint32_t blockers_capacity;
	struct places parker_places;
	struct parker *parkers;
	uint32_t parkers_capacity;
	uint64_t now_ns;
	uint32_t gaps;
	struct late *late;
	uint32_t late_count, late_capacity;
};

struct park_exact *park_exact_new(struct timelines *lines, const struct log_names *names)
{
	struct park_exact *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->lines = lines;
	p->names = names;
	p->chains.names = names;
	p->waits.all = lines;
	return p;
}

void park_exact_free(struct park_exact *p)
{
	if (!p)
		return;
	for (uint32_t i = 0; i < p->blocker_places.count; i++)
		park_lock_free(&p->blockers[i].lock);
	park_chains_free(&p->chains);
	park_waits_free(&p->waits);
	places_free(&p->blocker_places);
	places_free(&p->parker_places);
	free(p->blockers);
	free(p->parkers);
	free(p->late);
	free(p);
}

static bool is_lock(const struct blocker *b)
{
	return b->family == PARK_FAMILY_EXCLUSIVE || b->family == PARK_FAMILY_READ_WRITE ||
	       b->family == PARK_FAMILY_OWNED;
}

static int blocker_find(struct park_exact *p, uint64_t lock, uint32_t *ret)
{
	uint32_t known = p->blocker_places.count;
	const struct log_lock *l = p->names ? log_names_lock(p->names, lock) : NULL;
	int err = places_add_row(&p->blocker_places, (struct place_key){.a = lock}, &p->blockers,
				 &p->blockers_capacity, sizeof(*p->blockers), ret);

	if (err || *ret < known)
		return err;
	p->blockers[*ret] = (struct blocker){
		.family = park_family_of(l ? log_names_class(p->names, l->class) : NULL),
		.lock = {.lock = lock, .all = p->lines},
		.condition_of = PLACE_NONE};
	return 0;
}

static int parker_find(struct park_exact *p, uint64_t thread, struct parker **ret)
{
	uint32_t known = p->parker_places.count, place;
	struct parker *t;
	int err = places_add_row(&p->parker_places, (struct place_key){.a = thread}, &p->parkers,
				 &p->parkers_capacity, sizeof(*p->parkers), &place);

	if (err)
		return err;
	t = &p->parkers[place];
	if (place == known)
		*t = (struct parker){.thread = thread,
				     .blocker = PLACE_NONE,
				     .wants = PLACE_NONE,
				     .await_released = PLACE_NONE};
	if (t->gaps != p->gaps) {
		t->wants = t->await_released = PLACE_NONE;
		t->cause = (struct cause){0};
		t->came.known = false;
		if (!t->parked)
			t->by = (struct unpark){0};
		t->gaps = p->gaps;
	}
	*ret = t;
	return 0;
}

static struct counters counters_at(const struct event *e, unsigned first)
{
	struct counters k = {.cpu_ns = e->v[first].u,
			     .stolen_ns = e->v[first + 1].u,
			     .runnable_ns = e->v[first + 2].u};

	k.known = k.cpu_ns || k.stolen_ns || k.runnable_ns;
	return k;
}

/* What a thread did since it came back from park. */
static uint64_t awake_ns(const struct parker *t, uint64_t now_ns, const struct counters *now)
{
	if (t->back.known && now->known)
		return now->cpu_ns - t->back.cpu_ns;
	return now_ns > t->back_ns ? now_ns - t->back_ns : 0;
}

/* The thread does something else: if somebody has woken it, it has got what it wanted. */
static int wish_end(struct park_exact *p, struct parker *t, bool taken)
{
	uint32_t lock = t->wants;

	t->wants = PLACE_NONE;
	return lock == PLACE_NONE ? 0
				  : park_lock_outcome(&p->blockers[lock].lock, t->thread,
						      taken ? OUTCOME_TAKEN : OUTCOME_NOT_TAKEN);
}

/* It unparks another. */
static int wish_unpark(struct park_exact *p, struct parker *t, const struct unpark *u,
		       const struct parker *target)
{
	bool same = target->parked && target->blocker == t->wants;

	if (u->chain.unpark == UNPARK_REPAIR)
		return 0;
	return wish_end(p, t, same ? u->chain.unpark != UNPARK_GIVE_UP : t->woken);
}

/*
 * The thread parks, perhaps on the same lock again. That it has had the lock in the meantime and
 * released it can be told by a release if anybody else waited for it, and else only by what it did
 * before it came again.
 */
static int wish_park(struct park_exact *p, struct parker *t, uint32_t blocker,
		     const struct event *e, bool *ret_again)
{
	struct counters now = counters_at(e, PARK_BEGIN_CPU_NS);
	struct park_lock *l;

	*ret_again = false;
	if (t->wants == PLACE_NONE || t->wants != blocker)
		return wish_end(p, t, t->woken);
	l = &p->blockers[blocker].lock;
	if (awake_ns(t, e->time_ns, &now) > TRY_NS)
		return wish_end(p, t, t->woken);
	*ret_again = true;
	t->wants = PLACE_NONE;
	return park_lock_outcome(l, t->thread, OUTCOME_TRIED);
}

/* Its end is lost. */
static int drop_parked(struct park_exact *p, struct parker *t)
{
	struct blocker *b = t->blocker == PLACE_NONE ? NULL : &p->blockers[t->blocker];
	struct timeline *line;
	int err;

	if (!t->parked)
		return 0;
	t->parked = false;
	t->by = (struct unpark){0};
	if (!b)
		return 0;
	err = timeline_of(p->lines, b->lock.lock, 0, &line);
	if (err)
		return err;
	timeline_counts(line)->end_missing++;
	return t->in_lock ? park_lock_unblock(&b->lock, t->thread, t->mode, t->since_ns, false)
			  : park_wait_drop(&p->waits, b->lock.lock, t->thread);
}

/* Readers without a first one: the first has left, the others are still in. */
static struct held held_seen(const struct event *e)
{
	struct held held = {.thread = e->v[PARK_BEGIN_OWNER].u,
			    .readers = e->v[PARK_BEGIN_READERS].u,
			    .stack = e->v[PARK_BEGIN_OWNER_STACK].u,
			    .from = HOLDER_STACK_BLOCK};

	if (held.readers)
		held.mode = HELD_SHARED;
	else if (held.thread && e->v[PARK_BEGIN_OWNER_SOURCE].u == OWNER_SOURCE_EXCLUSIVE_OWNER)
		held.mode = HELD_EXCLUSIVE;
	return held;
}

/* As what the caller of this unpark has held the lock until now. */
static struct held held_released(const struct blocker *b, const struct unpark *u)
{
	struct held held = {.mode = HELD_EXCLUSIVE,
			    .thread = u->thread,
			    .stack = u->stack,
			    .from = HOLDER_STACK_RELEASE};
	const struct held *last;
	uint64_t ns;

	if (b->family != PARK_FAMILY_READ_WRITE || u->chain.unpark == UNPARK_RELEASE)
		return held;
	last = park_lock_last(&b->lock, &ns);
	if (u->chain.unpark == UNPARK_RELEASE_SHARED || last->mode != HELD_EXCLUSIVE ||
	    last->thread != u->thread)
		held.mode = HELD_SHARED;
	return held;
}

static bool is_last_owner(const struct blocker *b, const struct unpark *u)
{
	uint64_t ns;
	const struct held *last = park_lock_last(&b->lock, &ns);

	return last->mode >= HELD_EXCLUSIVE && last->thread == u->thread && ns <= u->ns;
}

/* Whether an unpark of a thread that waits for the lock is a release. */
static bool is_release(const struct blocker *b, const struct unpark *u)
{
	switch (u->chain.unpark) {
	case UNPARK_RELEASE:
	case UNPARK_RELEASE_SHARED:
		return true;
	case UNPARK_NOT_KNOWN:
		return b->family != PARK_FAMILY_OWNED || is_last_owner(b, u);
	case UNPARK_OTHER:
		return b->family == PARK_FAMILY_OWNED && is_last_owner(b, u);
	default:
		return false;
	}
}

static int release(struct park_exact *p, uint32_t place, const struct unpark *u, uint64_t target)
{
	struct blocker *b = &p->blockers[place];
	struct held held = held_released(b, u);

	return park_lock_release(&b->lock, u->sequence, u->ns, &held, target, true);
}

/*
 * A thread that came back from park, nobody knows on which lock, has released this one. If its last
 * known owner is the one that had unparked the thread, then that was a release of this lock.
 */
static int release_late(struct park_exact *p, const struct parker *t, uint32_t lock)
{
	const struct came *c = &t->came;
	int err;

	if (!c->known || !c->by.sequence || c->by.thread == t->thread ||
	    !is_last_owner(&p->blockers[lock], &c->by))
		return 0;
	if (c->condition != PLACE_NONE)
		p->blockers[c->condition].condition_of = lock;
	err = release(p, lock, &c->by, t->thread);
	return err ? err
		   : park_lock_woken(&p->blockers[lock].lock, c->sequence, c->ns, t->thread,
				     PARK_EXCLUSIVE, true);
}

/* An unpark of a thread that is parked on a lock. */
static int unpark_lock(struct park_exact *p, uint32_t place, const struct unpark *u,
		       const struct parker *by, uint64_t target)
{
	struct blocker *b = &p->blockers[place];
	struct held held;
	int err = 0;

	if (u->chain.unpark == UNPARK_PASS_ON && b->family == PARK_FAMILY_READ_WRITE) {
		held = held_released(b, u);
		held.mode = HELD_SHARED;
		held.stack = 0;
		return park_lock_pass_on(&b->lock, u->sequence, u->ns, &held, target);
	}
	if (!is_release(b, u))
		return 0;
	err = release_late(p, by, place);
	if (!err)
		err = park_lock_see(&p->blockers[place].lock, u->ns, u->thread, &u->its);
	return err ? err : release(p, place, u, target);
}

static int unpark_tell(struct park_exact *p, const struct parker *target, const struct unpark *u,
		       struct parker *by)
{
	uint32_t place = target->blocker;
	struct blocker *b;
	int err;

	if (place == PLACE_NONE)
		return 0;
	b = &p->blockers[place];
	if (b->family == PARK_FAMILY_CONDITION && b->condition_of != PLACE_NONE &&
	    u->chain.unpark <= UNPARK_RELEASE) {
		place = b->condition_of;
		b = &p->blockers[place];
	}
	if (!is_lock(b))
		return 0;
	err = unpark_lock(p, place, u, by, target->thread);
	if (u->chain.awaits && u->chain.unpark == UNPARK_RELEASE)
		by->await_released = place;
	return err;
}

static int on_unpark(struct park_exact *p, const struct event *e)
{
	struct unpark u = {.sequence = e->v[UNPARK_SEQUENCE].u,
			   .ns = e->time_ns,
			   .thread = e->thread,
			   .stack = e->v[UNPARK_STACK].u,
			   .its = counters_at(e, UNPARK_CPU_NS)};
	struct parker *by, *target;
	int err = park_chains_get(&p->chains, u.stack, &u.chain);

	/* Twice: the table may move. */
	if (!err)
		err = parker_find(p, e->thread, &by);
	if (!err)
		err = parker_find(p, e->v[UNPARK_TARGET].u, &target);
	if (!err)
		err = parker_find(p, e->thread, &by);
	if (!err)
		err = wish_unpark(p, by, &u, target);
	by->await_released = PLACE_NONE;
	if (!err && target->parked &&
	    (!target->by.sequence || target->by.chain.unpark > UNPARK_RELEASE_SHARED))
		err = unpark_tell(p, target, &u, by);
	if (err)
		return err;
	if (u.chain.unpark != UNPARK_REPAIR)
		by->came.known = false;
	/* There is one permit: it is the first one's. */
	if (!target->by.sequence)
		target->by = u;
	return 0;
}

/* What park begin tells about conditions. */
static void condition_learn(struct park_exact *p, struct parker *t, bool awaits)
{
	struct blocker *b = &p->blockers[t->blocker];

	if (b->family == PARK_FAMILY_CONDITION && t->await_released != PLACE_NONE)
		b->condition_of = t->await_released;
	if (is_lock(b) && awaits && t->came.known && t->came.condition != PLACE_NONE)
		p->blockers[t->came.condition].condition_of = t->blocker;
	t->await_released = PLACE_NONE;
	t->came.known = false;
}

/* A permit was there before: it may have come from a release of this very lock. */
static int permit_use(struct park_exact *p, struct parker *t, uint32_t place,
		      const struct held *seen)
{
	struct blocker *b = &p->blockers[place];

	if (!t->by.sequence || !is_release(b, &t->by) || !is_last_owner(b, &t->by) ||
	    (seen->mode && seen->thread == t->by.thread))
		return 0;
	return release(p, place, &t->by, t->thread);
}

static int begin_lock(struct park_exact *p, struct parker *t, const struct event *e,
		      const struct blocked *who)
{
	struct park_lock *l = &p->blockers[t->blocker].lock;
	struct held held = held_seen(e);
	struct counters owners = counters_at(e, PARK_BEGIN_OWNER_CPU_NS);
	int err = permit_use(p, t, t->blocker, &held);

	if (!err)
		err = park_lock_block(l, e->time_ns, who, t->mode, t->again);
	if (!err && held.mode && held.thread && owners.known)
		err = park_lock_see(l, e->time_ns, held.thread, &owners);
	if (!err && held.mode)
		err = park_lock_held(l, e->v[PARK_BEGIN_SEQUENCE].u, e->time_ns, &held);
	return err;
}

static int begin(struct park_exact *p, struct parker *t, const struct event *e, bool awaits,
		 enum park_mode mode)
{
	struct blocker *b = &p->blockers[t->blocker];
	struct held held = held_seen(e);
	struct blocked who = {.thread = t->thread, .stack = t->stack, .owner = held.thread};

	if (!is_lock(b) && b->family != PARK_FAMILY_CONDITION && held.mode == HELD_EXCLUSIVE)
		b->family = PARK_FAMILY_OWNED;
	t->in_lock = is_lock(b);
	t->mode = b->family == PARK_FAMILY_READ_WRITE ? mode : PARK_EXCLUSIVE;
	condition_learn(p, t, awaits);
	return t->in_lock ? begin_lock(p, t, e, &who)
			  : park_wait_begin(&p->waits, b->lock.lock, t->since_ns, &who);
}

static int on_begin(struct park_exact *p, const struct event *e)
{
	uint64_t lock = e->v[PARK_BEGIN_LOCK].u;
	uint32_t place = PLACE_NONE;
	struct park_chain chain;
	struct parker *t;
	bool again;
	int err = parker_find(p, e->thread, &t);

	if (!err && lock)
		err = blocker_find(p, lock, &place);
	if (!err)
		err = park_chains_get(&p->chains, e->v[PARK_BEGIN_STACK].u, &chain);
	if (!err)
		err = drop_parked(p, t);
	if (!err)
		err = wish_park(p, t, place, e, &again);
	if (err)
		return err;
	t->parked = true;
	t->blocker = place;
	t->since_ns = e->time_ns;
	t->stack = e->v[PARK_BEGIN_STACK].u;
	t->cause = (struct cause){0};
	t->again = again;
	return lock ? begin(p, t, e, chain.awaits, chain.mode) : 0;
}

static int end_lock(struct park_exact *p, struct parker *t, const struct event *e)
{
	struct park_lock *l = &p->blockers[t->blocker].lock;
	uint64_t owner = e->v[PARK_END_OWNER].u;
	struct counters own = counters_at(e, PARK_END_CPU_NS),
			owners = counters_at(e, PARK_END_OWNER_CPU_NS);
	int err = park_lock_see(l, e->time_ns, t->thread, &own);

	if (!err && owner && owners.known)
		err = park_lock_see(l, e->time_ns, owner, &owners);
	return err ? err : park_lock_unblock(l, t->thread, t->mode, e->time_ns, true);
}

/* Who has ended it: the one that has unparked the thread, or the one that has set that off. */
static struct cause cause_find(const struct park_exact *p, const struct parker *t)
{
	uint64_t lock = p->blockers[t->blocker].lock.lock;
	uint32_t place = places_find(&p->parker_places, (struct place_key){.a = t->by.thread});
	const struct parker *by = place == PLACE_NONE ? NULL : &p->parkers[place];

	if (t->by.chain.unpark == UNPARK_PASS_ON && by && by->cause.lock == lock)
		return by->cause;
	return (struct cause){lock, t->by.thread, t->by.stack};
}

static int end_wait(struct park_exact *p, struct parker *t, const struct event *e)
{
	const struct blocker *b = &p->blockers[t->blocker];
	struct hold by = {.holder = HOLDER_UNKNOWN};
	uint64_t done_ns = t->by.sequence ? t->by.ns : e->time_ns;

	if (t->by.sequence)
		t->cause = cause_find(p, t);
	if (t->by.sequence && b->family != PARK_FAMILY_OTHER)
		by = (struct hold){.holder = t->cause.thread,
				   .stack = t->cause.stack,
				   .from = t->cause.stack ? HOLDER_STACK_RELEASE
							  : HOLDER_STACK_UNKNOWN};
	return park_wait_end(&p->waits, b->lock.lock, t->thread, e->time_ns, &by, done_ns);
}

/* It goes for the lock now, as those do that were parked on that. */
static int want(struct park_exact *p, struct parker *t, const struct event *e, uint32_t lock,
		bool unparked)
{
	t->wants = lock;
	t->back_ns = e->time_ns;
	t->back = counters_at(e, PARK_END_CPU_NS);
	return park_lock_woken(&p->blockers[lock].lock, e->v[PARK_END_SEQUENCE].u, e->time_ns,
			       t->thread, t->mode, unparked);
}

static void came_back(struct parker *t, const struct event *e, uint32_t condition)
{
	t->came = (struct came){true, condition, t->by, e->v[PARK_END_SEQUENCE].u, e->time_ns};
}

/* Its begin is not in the log. */
static int end_alone(struct park_exact *p, struct parker *t, const struct event *e, bool unparked)
{
	uint64_t lock = e->v[PARK_END_LOCK].u;
	struct timeline *line;
	uint32_t place;
	int err = lock ? blocker_find(p, lock, &place) : 0;

	if (err)
		return err;
	if (!lock) {
		came_back(t, e, PLACE_NONE);
		return 0;
	}
	err = timeline_of(p->lines, lock, 0, &line);
	if (err)
		return err;
	timeline_counts(line)->begin_missing++;
	if (!is_lock(&p->blockers[place]))
		return 0;
	t->mode = PARK_EXCLUSIVE;
	if (t->by.sequence && is_release(&p->blockers[place], &t->by) &&
	    is_last_owner(&p->blockers[place], &t->by))
		err = release(p, place, &t->by, t->thread);
	return err ? err : want(p, t, e, place, unparked);
}

static int end_known(struct park_exact *p, struct parker *t, const struct event *e, bool unparked)
{
	const struct blocker *b = &p->blockers[t->blocker];
	int err = t->in_lock ? end_lock(p, t, e) : end_wait(p, t, e);

	b = &p->blockers[t->blocker];
	if (!err && t->in_lock)
		return want(p, t, e, t->blocker, unparked);
	if (err || b->family != PARK_FAMILY_CONDITION || !unparked)
		return err;
	if (b->condition_of != PLACE_NONE)
		return want(p, t, e, b->condition_of, true);
	came_back(t, e, t->blocker);
	return 0;
}

static int on_end(struct park_exact *p, const struct event *e)
{
	struct parker *t;
	bool unparked;
	int err = parker_find(p, e->thread, &t);

	if (!err)
		err = wish_end(p, t, t->woken);
	if (err)
		return err;
	unparked =
		t->by.sequence || e->v[PARK_END_BY].u || e->v[PARK_END_HOW].u == PARK_END_UNPARKED;
	t->woken = unparked;
	if (!t->parked)
		err = end_alone(p, t, e, unparked);
	else if (t->blocker != PLACE_NONE)
		err = end_known(p, t, e, unparked);
	t->parked = false;
	t->by = (struct unpark){0};
	return err;
}

static int gap(struct park_exact *p, uint64_t to_ns)
{
	int err = 0;

	p->gaps++;
	for (uint32_t i = 0; i < p->blocker_places.count && !err; i++) {
		if (is_lock(&p->blockers[i]))
			err = park_lock_gap(&p->blockers[i].lock, p->now_ns, to_ns);
	}
	return err;
}

static int replay(struct park_exact *p, const struct event *e, uint64_t missing)
{
	int err = missing ? gap(p, e->time_ns) : 0;

	if (e->time_ns > p->now_ns)
		p->now_ns = e->time_ns;
	if (err)
		return err;
	switch (e->id) {
	case EVENT_PARK_BEGIN:
		return on_begin(p, e);
	case EVENT_PARK_END:
		return on_end(p, e);
	case EVENT_UNPARK:
		return on_unpark(p, e);
	default:
		return 0;
	}
}

static bool is_ready(const struct park_exact *p, const struct event *e)
{
	return e->id == EVENT_PARK_BEGIN ? park_chains_ready(&p->chains, e->v[PARK_BEGIN_STACK].u)
	       : e->id == EVENT_UNPARK   ? park_chains_ready(&p->chains, e->v[UNPARK_STACK].u)
					 : true;
}

/* Those that have waited, as far as they need not wait any longer. */
static int late_replay(struct park_exact *p, uint64_t now_ns)
{
	uint32_t n = 0;
	int err = 0;

	for (; n < p->late_count && !err; n++) {
		const struct late *l = &p->late[n];

		if (!is_ready(p, &l->event) && l->event.time_ns + LATE_NS > now_ns &&
		    p->late_count - n < LATE_MAX)
			break;
		err = replay(p, &l->event, l->missing);
	}
	p->late_count -= n;
	if (n && p->late_count)
		memmove(p->late, p->late + n, p->late_count * sizeof(*p->late));
	return err;
}

int park_exact_add(struct park_exact *p, const struct event *e, uint64_t missing)
{
	int err;

	if (!p->late_count && is_ready(p, e))
		return replay(p, e, missing);
	err = array_grow(&p->late, &p->late_capacity, p->late_count, sizeof(*p->late));
	if (err)
		return err;
	p->late[p->late_count++] = (struct late){*e, missing};
	return late_replay(p, e->time_ns);
}

void park_exact_show(struct park_exact *p, const struct event *e)
{
	static const enum holder_stack_from from[STACK_SOURCE_COUNT] = {
		[STACK_SOURCE_BLOCK] = HOLDER_STACK_BLOCK,
		[STACK_SOURCE_SWITCH] = HOLDER_STACK_SWITCH,
		[STACK_SOURCE_SAMPLE] = HOLDER_STACK_SAMPLE,
	};
	uint64_t source = e->v[OWNER_STACK_SOURCE].u, stack = e->v[OWNER_STACK_STACK].u;
	uint32_t place =
		places_find(&p->parker_places, (struct place_key){.a = e->v[OWNER_STACK_WAITER].u});
	const struct parker *t = place == PLACE_NONE ? NULL : &p->parkers[place];

	if (t && t->parked && t->in_lock && t->blocker != PLACE_NONE && stack &&
	    source < STACK_SOURCE_COUNT && from[source])
		park_lock_show(&p->blockers[t->blocker].lock, e->thread, stack, from[source]);
}

int park_exact_finish(struct park_exact *p, uint64_t end_ns)
{
	int err = late_replay(p, UINT64_MAX);

	for (uint32_t i = 0; i < p->blocker_places.count && !err; i++) {
		if (is_lock(&p->blockers[i]))
			err = park_lock_finish(&p->blockers[i].lock, end_ns);
	}
	return err;
}
