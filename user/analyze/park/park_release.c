/* Which unparks are releases of which lock, and who held it until then. */
#include "analyze/park/parks.h"

/* Readers without a first one: the first has left, the others are still in. */
struct held park_held_seen(const struct event *e)
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
static struct held held_released(const struct park_target *b, const struct unpark *u)
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

static bool is_last_owner(const struct park_target *b, const struct unpark *u)
{
	uint64_t ns;
	const struct held *last = park_lock_last(&b->lock, &ns);

	return last->mode >= HELD_EXCLUSIVE && last->thread == u->thread && ns <= u->ns;
}

/* Whether an unpark of a thread that waits for the lock is a release. */
static bool is_release(const struct park_target *b, const struct unpark *u)
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

static int release(struct park_numbered *p, uint32_t index, const struct unpark *u, uint64_t target)
{
	struct park_target *b = &p->blockers[index];
	struct held held = held_released(b, u);

	return park_lock_release(&b->lock, u->sequence, u->ns, &held, target, true);
}

/* How the one came back that has woken a thread that came back like this; NULL: not known. */
static const struct hand_over *hand_over_before(const struct park_numbered *p, const struct came *c)
{
	uint64_t n = p->hand_over_count, oldest = n > HAND_OVERS_MAX ? n - HAND_OVERS_MAX : 0;

	while (n-- > oldest) {
		const struct hand_over *h = &p->hand_overs[n % HAND_OVERS_MAX];

		if (h->thread == c->by.thread && h->came.sequence < c->by.sequence)
			return h;
	}
	return NULL;
}

/* What woke the thread was a release of the lock. */
static int hand_over(struct park_numbered *p, uint64_t thread, const struct came *c, uint32_t lock)
{
	int err;

	if (c->condition != INDEX_NONE)
		p->blockers[c->condition].condition_of = lock;
	err = release(p, lock, &c->by, thread);
	return err ? err
		   : park_lock_woken(&p->blockers[lock].lock, c->sequence, c->ns, thread,
				     PARK_EXCLUSIVE, true);
}

/*
 * If the lock's last known owner is the one that had unparked the thread, then that was a release
 * of this lock; or if it is the one that had unparked that one, and so on: threads that signalAll()
 * has moved to the lock's queue hand it to each other.
 */
int park_release_late(struct park_numbered *p, const struct parker *t, uint32_t lock, bool *ret)
{
	const struct hand_over *others[HAND_OVERS_MAX];
	const struct came *c = &t->came;
	uint32_t count = 0;
	int err = 0;

	*ret = false;
	if (!c->known || !c->by.sequence || c->by.thread == t->thread)
		return 0;
	while (!is_last_owner(&p->blockers[lock], &c->by)) {
		const struct hand_over *h = hand_over_before(p, c);

		if (!h || !h->came.by.sequence || count == HAND_OVERS_MAX)
			return 0;
		others[count++] = h;
		c = &h->came;
	}
	*ret = true;
	while (count-- && !err)
		err = hand_over(p, others[count]->thread, &others[count]->came, lock);
	return err ? err : hand_over(p, t->thread, &t->came, lock);
}

/* An unpark of a thread that is parked on a lock. */
static int unpark_lock(struct park_numbered *p, uint32_t index, const struct unpark *u,
		       const struct event *e, const struct parker *by, uint64_t target)
{
	struct park_target *b = &p->blockers[index];
	struct counters its;
	struct held held;
	bool handed_over;
	int err = 0;

	if (u->chain.unpark == UNPARK_PASS_ON && b->family == PARK_FAMILY_READ_WRITE) {
		held = held_released(b, u);
		held.mode = HELD_SHARED;
		held.stack = 0;
		return park_lock_pass_on(&b->lock, u->sequence, u->ns, &held, target);
	}
	if (!is_release(b, u))
		return 0;
	its = counters_own(e);
	err = park_release_late(p, by, index, &handed_over);
	if (!err)
		err = park_lock_see(&p->blockers[index].lock, u->ns, u->thread, &its);
	return err ? err : release(p, index, u, target);
}

int park_unpark_notify(struct park_numbered *p, const struct parker *target, const struct unpark *u,
		       const struct event *e, struct parker *by)
{
	uint32_t index = target->blocker;
	struct park_target *b;
	int err;

	if (index == INDEX_NONE)
		return 0;
	b = &p->blockers[index];
	if (b->family == PARK_FAMILY_CONDITION && b->condition_of != INDEX_NONE &&
	    u->chain.unpark <= UNPARK_RELEASE) {
		index = b->condition_of;
		b = &p->blockers[index];
	}
	if (!blocker_is_lock(b))
		return 0;
	err = unpark_lock(p, index, u, e, by, target->thread);
	if (u->chain.awaits && u->chain.unpark == UNPARK_RELEASE)
		by->await_released = index;
	return err;
}

/* A permit was there before: it may have come from a release of this very lock. */
int park_permit_use(struct park_numbered *p, const struct parker *t, uint32_t index,
		    const struct held *seen)
{
	struct park_target *b = &p->blockers[index];

	if (!t->by.sequence || !is_release(b, &t->by) || !is_last_owner(b, &t->by) ||
	    (seen->mode && seen->thread == t->by.thread))
		return 0;
	return release(p, index, &t->by, t->thread);
}

int park_permit_used(struct park_numbered *p, const struct parker *t, uint32_t index)
{
	const struct park_target *b = &p->blockers[index];

	return t->by.sequence && is_release(b, &t->by) && is_last_owner(b, &t->by)
		       ? release(p, index, &t->by, t->thread)
		       : 0;
}
