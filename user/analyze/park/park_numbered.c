/*
 * Who kept a parked thread waiting?
 *
 * HotSpot knows of park and unpark only; what they mean depends on the blocker's class (Hofer 4.2.3
 * and 4.3.1). Here each thread's park begin, the unpark that ends it and the park end are put
 * together, and given to what knows about the blocker:
 *
 * - locks (ReentrantLock, ReentrantReadWriteLock, StampedLock, and others that have an owner
 * field): all that are parked on one of them are kept waiting by whoever holds it, so there is one
 * timeline of holders for all of them: park_lock.c, park_runs.c.
 * - a Condition: the thread is waiting for a signal, then for the lock, and no event says when the
 * one became the other: signal() unparks nobody. All of it is waiting. But the unpark is the
 * release of the lock, for those that wait for the lock itself: it counts for them once it is known
 * which lock the condition belongs to. That is seen when await() fails to get the lock back at once
 * and parks on it, when await() releases the lock to somebody, and when a thread back from await()
 * releases a lock that the one that unparked it was known to hold, or got from such a one.
 * - everything else of java.util.concurrent (semaphores, latches, queues, futures): nobody holds
 * it. The one that ended the wait is named, as that: with a semaphore or a latch the one whose
 * release set off the wake-ups that led to this one.
 * - of other classes nothing is known: no holder is named.
 *
 * A permit that was there before the park ends it at once. It came from a lock's release only if
 * that release fits what was known of the lock; else it is left over from some other lock.
 */
#include "analyze/park/park_numbered.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/park/parks.h"

/*
 * An unpark is older than its call chain, which is walked after it, and so are the names of a
 * chain that is new. Its event waits for them, but not for ever: they may be lost.
 */
#define LATE_NS 100000000
#define LATE_MAX 4096

/* A thread that has come back from park, and has not got the lock, tries again for much less. */
#define TRY_NS 100000

struct park_numbered *park_numbered_new(struct cells *cells, struct timelines *lines,
					const struct log_names *names)
{
	struct park_numbered *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->cells = cells;
	p->lines = lines;
	p->names = names;
	p->chains.names = names;
	return p;
}

void park_numbered_free(struct park_numbered *p)
{
	if (!p)
		return;
	parks_free(p);
	free(p->late);
	free(p);
}

/* For how long a thread has done something since it came back from park: also to sleep is that, but
 * not to wait for a CPU. */
static uint64_t awake_ns(const struct parker *t, uint64_t now_ns, const struct counters *now)
{
	uint64_t ns = now_ns > t->back_ns ? now_ns - t->back_ns : 0, waited_ns = 0;

	if (t->back_known && now->known)
		waited_ns =
			now->runnable_ns - t->back_runnable_ns + now->stolen_ns - t->back_stolen_ns;
	return ns > waited_ns ? ns - waited_ns : 0;
}

/* The thread does something else: if somebody has woken it, it has got what it wanted. */
static int wish_end(struct park_numbered *p, struct parker *t, bool taken)
{
	uint32_t lock = t->next_lock;

	t->next_lock = INDEX_NONE;
	return lock == INDEX_NONE ? 0
				  : park_lock_outcome(&p->blockers[lock].lock, t->thread,
						      taken ? OUTCOME_TAKEN : OUTCOME_NOT_TAKEN);
}

/* It unparks another. */
static int wish_unpark(struct park_numbered *p, struct parker *t, const struct unpark *u,
		       const struct parker *target)
{
	bool same = target->parked && target->blocker == t->next_lock;

	if (u->chain.unpark == UNPARK_REPAIR)
		return 0;
	return wish_end(p, t, same ? u->chain.unpark != UNPARK_GIVE_UP : t->woken);
}

/*
 * The thread parks, perhaps on the same lock again. That it has had the lock in the meantime and
 * released it can be told by a release if anybody else waited for it, and else only by what it did
 * before it came again.
 */
static int wish_park(struct park_numbered *p, struct parker *t, uint32_t blocker,
		     const struct event *e, bool *ret_again)
{
	struct counters now;
	struct park_lock *l;

	*ret_again = false;
	if (t->next_lock == INDEX_NONE || t->next_lock != blocker)
		return wish_end(p, t, t->woken);
	now = counters_own(e);
	l = &p->blockers[blocker].lock;
	if (awake_ns(t, e->time_ns, &now) > TRY_NS)
		return wish_end(p, t, t->woken);
	*ret_again = true;
	t->next_lock = INDEX_NONE;
	return park_lock_outcome(l, t->thread, OUTCOME_TRIED);
}

/* Its end is lost. */
static int drop_parked(struct park_numbered *p, struct parker *t)
{
	struct park_target *b = t->blocker == INDEX_NONE ? NULL : &p->blockers[t->blocker];
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
	return t->in_lock ? park_lock_unblock(&b->lock, t->thread, t->mode, t->since_ns, false) : 0;
}

static int on_unpark(struct park_numbered *p, const struct event *e)
{
	struct unpark u = {.sequence = e->v[UNPARK_SEQUENCE].u,
			   .ns = e->time_ns,
			   .thread = e->thread,
			   .stack = e->v[UNPARK_STACK].u};
	struct parker *by, *target;
	int err = park_chains_get(&p->chains, u.stack, &u.chain);

	if (!err)
		err = parks_thread(p, e->v[UNPARK_TARGET].u, &target);
	if (!err)
		err = parks_thread(p, e->thread, &by);
	if (!err)
		err = wish_unpark(p, by, &u, target);
	if (err)
		return err;
	by->await_released = INDEX_NONE;
	if (by->came.known && u.chain.unpark <= UNPARK_RELEASE)
		p->hand_overs[p->hand_over_count++ % HAND_OVERS_MAX] =
			(struct hand_over){by->thread, by->came};
	if (target->parked &&
	    (!target->by.sequence || target->by.chain.unpark > UNPARK_RELEASE_SHARED))
		err = park_unpark_notify(p, target, &u, e, by);
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
static int condition_learn(struct park_numbered *p, struct parker *t, bool awaits)
{
	struct park_target *b = &p->blockers[t->blocker];
	bool handed_over;
	int err = 0;

	if (b->family == PARK_FAMILY_CONDITION && t->await_released != INDEX_NONE)
		b->condition_of = t->await_released;
	if (blocker_is_lock(b) && awaits && t->came.known && t->came.condition != INDEX_NONE) {
		p->blockers[t->came.condition].condition_of = t->blocker;
		err = park_release_late(p, t, t->blocker, &handed_over);
		if (!err && handed_over)
			err = park_lock_outcome(&b->lock, t->thread, OUTCOME_TRIED);
	}
	t->await_released = INDEX_NONE;
	t->came.known = false;
	return err;
}

static int begin_lock(struct park_numbered *p, struct parker *t, const struct event *e,
		      const struct blocked *who)
{
	struct park_lock *l = &p->blockers[t->blocker].lock;
	struct held held = park_held_seen(e);
	struct counters owners = counters_owner(e);
	int err = park_permit_use(p, t, t->blocker, &held);

	if (!err)
		err = park_lock_block(l, e->time_ns, who, t->mode, t->again);
	if (!err && held.mode && held.thread && owners.known)
		err = park_lock_see(l, e->time_ns, held.thread, &owners);
	if (!err && held.mode)
		err = park_lock_held(l, e->v[PARK_BEGIN_SEQUENCE].u, e->time_ns, &held);
	return err;
}

static struct blocked blocked_of(const struct parker *t)
{
	return (struct blocked){.thread = t->thread, .stack = t->stack, .owner = t->owner};
}

/* The lines are also what says which locks there are. */
static int begin_wait(struct park_numbered *p, struct park_target *b)
{
	struct timeline *line;
	int err = b->lined ? 0 : timeline_of(p->lines, b->lock.lock, 0, &line);

	b->lined = !err;
	return err;
}

static int begin(struct park_numbered *p, struct parker *t, const struct event *e, bool awaits,
		 enum park_mode mode)
{
	struct park_target *b = &p->blockers[t->blocker];
	struct held held = park_held_seen(e);
	struct blocked who;
	int err;

	t->owner = held.thread;
	if (!blocker_is_lock(b) && b->family != PARK_FAMILY_CONDITION &&
	    held.mode == HELD_EXCLUSIVE)
		b->family = PARK_FAMILY_OWNED;
	t->in_lock = blocker_is_lock(b);
	t->mode = b->family == PARK_FAMILY_READ_WRITE ? mode : PARK_EXCLUSIVE;
	err = condition_learn(p, t, awaits);
	if (err)
		return err;
	if (!t->in_lock)
		return begin_wait(p, b);
	who = blocked_of(t);
	return begin_lock(p, t, e, &who);
}

static int on_begin(struct park_numbered *p, const struct event *e)
{
	uint64_t lock = e->v[PARK_BEGIN_LOCK].u;
	uint32_t index = INDEX_NONE;
	struct park_chain chain;
	struct parker *t;
	bool again;
	int err = parks_thread(p, e->thread, &t);

	if (!err && lock)
		err = parks_blocker(p, lock, &index);
	if (!err)
		err = park_chains_get(&p->chains, e->v[PARK_BEGIN_STACK].u, &chain);
	if (!err)
		err = drop_parked(p, t);
	if (!err)
		err = wish_park(p, t, index, e, &again);
	if (err)
		return err;
	t->parked = true;
	t->blocker = index;
	t->since_ns = e->time_ns;
	t->stack = e->v[PARK_BEGIN_STACK].u;
	t->cause = (struct cause){0};
	t->again = again;
	return lock ? begin(p, t, e, chain.awaits, chain.mode) : 0;
}

static int end_lock(struct park_numbered *p, struct parker *t, const struct event *e)
{
	struct park_lock *l = &p->blockers[t->blocker].lock;
	uint64_t owner = e->v[PARK_END_OWNER].u;
	struct counters own = counters_own(e), owners = counters_owner(e);
	int err = park_lock_see(l, e->time_ns, t->thread, &own);

	if (!err && owner && owners.known)
		err = park_lock_see(l, e->time_ns, owner, &owners);
	return err ? err : park_lock_unblock(l, t->thread, t->mode, e->time_ns, true);
}

/* Who has ended it: the one that has unparked the thread, or the one that has set that off. */
static struct cause cause_find(const struct park_numbered *p, const struct parker *t)
{
	uint64_t lock = p->blockers[t->blocker].lock.lock;
	uint32_t index = keymap_find(&p->parker_map, (struct keymap_key){.a = t->by.thread});
	const struct parker *by = index == INDEX_NONE ? NULL : parks_at(p, index);

	if (t->by.chain.unpark == UNPARK_PASS_ON && by && by->cause.lock == lock)
		return by->cause;
	return (struct cause){lock, t->by.thread, t->by.stack, t->by.ns};
}

static int end_wait(struct park_numbered *p, struct parker *t, const struct event *e)
{
	const struct park_target *b = &p->blockers[t->blocker];
	struct park_wait w = {.lock = b->lock.lock,
			      .who = blocked_of(t),
			      .since_ns = t->since_ns,
			      .until_ns = e->time_ns > t->since_ns ? e->time_ns : t->since_ns,
			      .by.holder = HOLDER_UNKNOWN,
			      .done_ns = e->time_ns};

	if (t->by.sequence) {
		t->cause = cause_find(p, t);
		w.done_ns = t->cause.ns;
	}
	if (t->by.sequence && b->family != PARK_FAMILY_OTHER)
		w.by = (struct hold){.holder = t->cause.thread,
				     .stack = t->cause.stack,
				     .from = t->cause.stack ? HOLDER_STACK_RELEASE
							    : HOLDER_STACK_UNKNOWN};
	return park_wait_charge(p->cells, &p->slices, &w);
}

/* It goes for the lock now, as those do that were parked on that. */
static int want(struct park_numbered *p, struct parker *t, const struct event *e, uint32_t lock,
		bool unparked)
{
	struct counters its;

	t->next_lock = lock;
	its = counters_own(e);
	t->back_ns = e->time_ns;
	t->back_known = its.known;
	t->back_runnable_ns = its.runnable_ns;
	t->back_stolen_ns = its.stolen_ns;
	return park_lock_woken(&p->blockers[lock].lock, e->v[PARK_END_SEQUENCE].u, e->time_ns,
			       t->thread, t->mode, unparked);
}

static void came_back(struct parker *t, const struct event *e, uint32_t condition)
{
	t->came = (struct came){true, condition, t->by, e->v[PARK_END_SEQUENCE].u, e->time_ns};
}

/* Unparked on a condition: it goes for the condition's lock. */
static int end_condition(struct park_numbered *p, struct parker *t, const struct event *e,
			 uint32_t condition)
{
	uint32_t lock = p->blockers[condition].condition_of;

	if (lock != INDEX_NONE)
		return want(p, t, e, lock, true);
	came_back(t, e, condition);
	return 0;
}

/* Its begin is not in the log. */
static int end_alone(struct park_numbered *p, struct parker *t, const struct event *e,
		     bool unparked)
{
	uint64_t lock = e->v[PARK_END_LOCK].u;
	struct timeline *line;
	uint32_t index;
	int err = lock ? parks_blocker(p, lock, &index) : 0;

	if (err)
		return err;
	if (!lock) {
		came_back(t, e, INDEX_NONE);
		return 0;
	}
	err = timeline_of(p->lines, lock, 0, &line);
	if (err)
		return err;
	timeline_counts(line)->begin_missing++;
	t->mode = PARK_EXCLUSIVE;
	if (p->blockers[index].family == PARK_FAMILY_CONDITION && unparked)
		return end_condition(p, t, e, index);
	if (!blocker_is_lock(&p->blockers[index]))
		return 0;
	err = park_permit_used(p, t, index);
	return err ? err : want(p, t, e, index, unparked);
}

static int end_known(struct park_numbered *p, struct parker *t, const struct event *e,
		     bool unparked)
{
	const struct park_target *b = &p->blockers[t->blocker];
	int err = t->in_lock ? end_lock(p, t, e) : end_wait(p, t, e);

	b = &p->blockers[t->blocker];
	if (!err && t->in_lock)
		return want(p, t, e, t->blocker, unparked);
	if (err || b->family != PARK_FAMILY_CONDITION || !unparked)
		return err;
	return end_condition(p, t, e, t->blocker);
}

static int on_end(struct park_numbered *p, const struct event *e)
{
	struct parker *t;
	bool unparked;
	int err = parks_thread(p, e->thread, &t);

	if (!err)
		err = wish_end(p, t, t->woken);
	if (err)
		return err;
	unparked =
		t->by.sequence || e->v[PARK_END_BY].u || e->v[PARK_END_HOW].u == PARK_END_UNPARKED;
	t->woken = unparked;
	if (!t->parked)
		err = end_alone(p, t, e, unparked);
	else if (t->blocker != INDEX_NONE)
		err = end_known(p, t, e, unparked);
	t->parked = false;
	t->by = (struct unpark){0};
	return err;
}

static int gap(struct park_numbered *p, uint64_t to_ns)
{
	int err = 0;

	p->gaps++;
	p->hand_over_count = 0;
	for (uint32_t i = 0; i < p->blocker_map.count && !err; i++) {
		if (blocker_is_lock(&p->blockers[i]))
			err = park_lock_gap(&p->blockers[i].lock, p->now_ns, to_ns);
	}
	return err;
}

static int replay(struct park_numbered *p, const struct event *e, uint64_t missing)
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

static bool is_ready(const struct park_numbered *p, const struct event *e)
{
	return e->id == EVENT_PARK_BEGIN ? park_chains_ready(&p->chains, e->v[PARK_BEGIN_STACK].u)
	       : e->id == EVENT_UNPARK   ? park_chains_ready(&p->chains, e->v[UNPARK_STACK].u)
					 : true;
}

/* Those that have waited, as far as they need not wait any longer. */
static int late_replay(struct park_numbered *p, uint64_t now_ns)
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

int park_numbered_add(struct park_numbered *p, const struct event *e, uint64_t missing)
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

void park_numbered_show(struct park_numbered *p, const struct event *e)
{
	static const enum holder_stack_from from[STACK_SOURCE_COUNT] = {
		[STACK_SOURCE_BLOCK] = HOLDER_STACK_BLOCK,
		[STACK_SOURCE_SWITCH] = HOLDER_STACK_SWITCH,
		[STACK_SOURCE_SAMPLE] = HOLDER_STACK_SAMPLE,
	};
	uint64_t source = e->v[OWNER_STACK_SOURCE].u, stack = e->v[OWNER_STACK_STACK].u;
	uint32_t index =
		keymap_find(&p->parker_map, (struct keymap_key){.a = e->v[OWNER_STACK_WAITER].u});
	const struct parker *t = index == INDEX_NONE ? NULL : parks_at(p, index);

	if (t && t->parked && t->in_lock && t->blocker != INDEX_NONE && stack &&
	    source < STACK_SOURCE_COUNT && from[source])
		park_lock_show(&p->blockers[t->blocker].lock, e->thread, stack, from[source]);
}

int park_numbered_finish(struct park_numbered *p, uint64_t end_ns)
{
	int err = late_replay(p, UINT64_MAX);

	for (uint32_t i = 0; i < p->blocker_map.count && !err; i++) {
		if (blocker_is_lock(&p->blockers[i]))
			err = park_lock_finish(&p->blockers[i].lock, end_ns);
	}
	return err;
}

int park_numbered_each_open(const struct park_numbered *p,
			    int (*on)(void *context, uint64_t lock, uint64_t since_ns,
				      const struct blocked *who),
			    void *context)
{
	int err = 0;

	for (uint32_t i = 0; i < p->parker_map.count && !err; i++) {
		const struct parker *t = parks_at(p, i);
		const struct blocked who = blocked_of(t);

		if (t->parked && !t->in_lock && t->blocker != INDEX_NONE)
			err = on(context, p->blockers[t->blocker].lock.lock, t->since_ns, &who);
	}
	return err;
}
