/*
 * Who held the lock between two facts?
 *
 * AbstractQueuedSynchronizer (JDK 17; StampedLock is its like) keeps its waiters in a queue. A
 * release wakes the first of them, by an unpark, if that one has announced that it is going to
 * park: it takes the announcement back for it, so that further releases do not wake it again. The
 * woken thread tries to take the lock; where it fails it announces itself anew, tries once more and
 * parks again. So while the first in the queue is parked and nobody has woken it, no release goes
 * unnoticed: the lock has one and the same holder all the time (or the same company of readers).
 * Only while the first one is awake the lock may change hands without an event, any number of
 * times.
 *
 * The facts: who is seen as the owner when somebody parks; who has released it by an unpark (the
 * caller has looked that it is a release, see park_chain.c); who has passed on a share; and when a
 * thread has come back from park. Between two facts:
 *
 * - after a release nobody holds it, until the woken thread comes back from park or somebody is
 * seen as the owner. That is Hofer's rule (4.2.3): that time cannot be distinguished. From then on
 * it is the next known holder's: if the woken thread is not that one, it has tried and failed,
 * because that one had got in before it. But nobody holds it before it came back from park itself.
 * - where both facts name the same holder, it is that one.
 * - where the facts before are not known, it is the next holder's, as it cannot have changed hands;
 * but not before that one came back from park itself.
 * - where they name different ones, it has changed hands while somebody was awake. The new holder
 * has it since it came back from park itself, if it did, else since the first in the queue came
 * back, and found it taken; if that one was awake all along, then from the beginning. If nobody was
 * awake, then the second has slipped in between a release and the unpark that tells of it: it had
 * the lock for a moment at the end.
 * - where a reader follows another, each is one of several. If it ends with a release, then by the
 * last of them, which has held its share at least since it came back from park, or, if it did not
 * park, as far as is known all the time: they are charged to that one, who kept the waiters waiting
 * to the end.
 */
#include "analyze/park/park_runs.h"

#include <stdlib.h>

struct walk {
	const struct lock_fact *facts;
	uint32_t next; /* the first fact after the last one that is settled */
	struct park_left left;
	uint64_t at_ns; /* up to where there are runs */
	struct park_runs *runs;
};

static int run_add(struct walk *w, uint64_t to_ns, const struct held *held)
{
	struct park_runs *r = w->runs;
	int err;

	if (to_ns <= w->at_ns)
		return 0;
	err = array_grow(&r->rows, &r->capacity, r->count, sizeof(*r->rows));
	if (err)
		return err;
	r->rows[r->count++] = (struct park_run){.to_ns = to_ns, .held = *held};
	w->at_ns = to_ns;
	return 0;
}

static bool is_same(const struct held *a, const struct held *b)
{
	return a->mode == b->mode && a->thread == b->thread;
}

/* What the threads that came back from park since the last fact tell about the time since then. */
struct returns {
	const struct lock_fact *own;    /* of the next holder, its last */
	const struct lock_fact *target; /* of the one that was woken by the release */
	const struct lock_fact *any;    /* of one that was woken, the last */
};

static struct returns returns_find(const struct walk *w, uint32_t end, uint64_t thread)
{
	struct returns r = {0};

	for (uint32_t i = w->next; i < end; i++) {
		const struct lock_fact *m = &w->facts[i];

		if (m->kind != LOCK_FACT_WOKEN)
			continue;
		if (m->held.thread == thread && m->outcome < OUTCOME_NOT_TAKEN)
			r.own = m;
		if (m->held.thread == w->left.target && !r.target)
			r.target = m;
		if (m->unparked)
			r.any = m;
	}
	return r;
}

/* Since when it was held as the next fact says. */
static uint64_t change_ns(const struct walk *w, uint32_t end, const struct held *next, uint64_t ns)
{
	const struct park_left *left = &w->left;
	struct returns r = returns_find(w, end, next->thread);

	if (is_same(&left->held, next))
		return left->ns;
	switch (left->held.mode) {
	case HELD_BY_NOBODY:
		if (left->target)
			ns = r.target ? r.target->ns : ns;
		else
			ns = left->ns;
		return r.own && r.own->ns > ns ? r.own->ns : ns;
	case HELD_NOT_KNOWN:
		return r.own ? r.own->ns : left->ns;
	case HELD_SHARED:
		if (next->mode == HELD_SHARED)
			return ns;
		break;
	default:
		break;
	}
	if (r.own)
		return r.own->ns;
	if (left->awake && left->awake == next->thread)
		return left->ns;
	return r.any ? r.any->ns : left->awake ? left->ns : ns;
}

static void pass_by(struct walk *w, uint32_t end)
{
	for (; w->next < end; w->next++) {
		const struct lock_fact *m = &w->facts[w->next];

		if (m->kind == LOCK_FACT_PASSED_ON)
			w->left.passed_to = m->target;
		if (m->kind != LOCK_FACT_WOKEN)
			continue;
		if (m->unparked && m->outcome == OUTCOME_OPEN)
			w->left.awake = m->held.thread;
		if (m->held.thread == w->left.passed_to)
			w->left.passed_to = 0;
	}
}

/*
 * The thread that the release woke has come back and not parked again, and the next holder came
 * back later still, or somebody else did: so that one had it in between.
 */
static int target_take(struct walk *w, uint32_t index, const struct lock_fact *next)
{
	struct returns r = returns_find(w, index, next->held.thread);
	const struct lock_fact *later = next->kind == LOCK_FACT_WOKEN ? next
					: r.own                       ? r.own
								      : r.any;
	const struct lock_fact *m = w->left.held.mode == HELD_BY_NOBODY ? r.target : NULL;
	int err;

	if (!m || !later || m->outcome != OUTCOME_OPEN || m->held.thread == next->held.thread ||
	    later <= m)
		return 0;
	err = run_add(w, m->ns, &w->left.held);
	w->left.held = m->held;
	w->left.ns = m->ns;
	w->left.target = 0;
	return err;
}

/* The fact at an index among the facts; it is so from since_ns on at the latest. */
static int fact_take(struct walk *w, uint32_t index, const struct held *held, uint64_t since_ns,
		     uint64_t ns, uint64_t last_ns)
{
	struct held run = *held;
	int err = run_add(w, since_ns < ns ? since_ns : ns, &w->left.held);

	if (is_same(&w->left.held, held) && held->readers != w->left.held.readers)
		run.readers = held->readers ? 0 : w->left.held.readers;
	if (!err)
		err = run_add(w, ns, &run);
	if (!err)
		err = run_add(w, last_ns, held);
	pass_by(w, index);
	w->left.held = *held;
	w->left.ns = last_ns;
	w->left.target = 0;
	if (w->left.awake == held->thread)
		w->left.awake = 0;
	return err;
}

/* A reader that does not park again has got its share. */
static bool is_fact(const struct lock_fact *m)
{
	return m->kind != LOCK_FACT_WOKEN || m->outcome == OUTCOME_TAKEN ||
	       (m->held.mode == HELD_SHARED && m->unparked && m->outcome == OUTCOME_OPEN);
}

/* No release: as it was last; who was woken and does not park again has got it. */
static int end_take(struct walk *w, uint32_t end, uint64_t end_ns)
{
	struct returns r = returns_find(w, end, 0);
	struct held held = w->left.held;
	const struct lock_fact *m = r.any;
	int err = 0;

	if (held.mode == HELD_BY_NOBODY && r.target && r.target->outcome == OUTCOME_OPEN)
		m = r.target;
	if (m && m->outcome == OUTCOME_OPEN) {
		err = run_add(w, m->ns, &held);
		held = m->held;
	}
	if (r.target) {
		w->left.target = 0;
		w->left.ns = r.target->ns;
	}
	pass_by(w, end);
	return err ? err : run_add(w, end_ns, &held);
}

/* The last holder's chain is where it released the lock; the last reader's share is charged with
 * all from its beginning. */
static void last_holder(struct walk *w, uint32_t end, const struct held *last)
{
	struct park_runs *r = w->runs;
	uint64_t since_ns = 0;
	uint32_t i;

	for (i = 0; i < end; i++) {
		if (w->facts[i].kind == LOCK_FACT_WOKEN &&
		    w->facts[i].held.thread == last->thread &&
		    w->facts[i].outcome < OUTCOME_NOT_TAKEN)
			since_ns = w->facts[i].ns;
	}
	for (i = r->count; i > 0 && last->mode == HELD_SHARED; i--) {
		struct held *held = &r->rows[i - 1].held;

		if (held->mode != HELD_SHARED || r->rows[i - 1].to_ns <= since_ns)
			break;
		if (held->thread == last->thread)
			continue;
		held->thread = last->thread;
		held->readers = 0;
	}
	for (i = 0; i < r->count; i++) {
		struct held *held = &r->rows[i].held;

		if (held->mode < HELD_EXCLUSIVE || held->thread != last->thread)
			continue;
		held->stack = last->stack;
		held->from = last->from;
	}
}

/* A reader was alone if it was seen to be alone at the beginning and did the last release. */
static void find_alone(struct park_runs *r, const struct lock_fact *release)
{
	bool alone = release && release->held.mode == HELD_SHARED;

	for (uint32_t i = r->count; i > 0 && alone; i--) {
		struct park_run *run = &r->rows[i - 1];

		alone = run->held.mode == HELD_SHARED && run->held.thread == release->held.thread &&
			run->held.readers == 1;
		run->alone = alone;
	}
}

int park_runs_make(const struct park_lock *l, uint32_t fact_count, const struct lock_fact *release,
		   uint64_t end_ns, struct park_runs *ret)
{
	struct walk w = {.facts = l->facts, .left = l->left, .at_ns = l->charged_ns, .runs = ret};
	uint64_t since_ns;
	int err = 0;

	ret->count = 0;
	for (uint32_t i = 0; i < fact_count && !err; i++) {
		const struct lock_fact *m = &l->facts[i];

		if (!is_fact(m))
			continue;
		err = target_take(&w, i, m);
		since_ns = m->kind == LOCK_FACT_WOKEN ? m->ns : change_ns(&w, i, &m->held, m->ns);
		if (!err)
			err = fact_take(&w, i, &m->held, since_ns, m->ns, m->last_ns);
	}
	if (!err && release)
		err = target_take(&w, fact_count, release);
	if (!err && release) {
		since_ns = change_ns(&w, fact_count, &release->held, release->ns);
		err = fact_take(&w, fact_count, &release->held, since_ns, release->ns, release->ns);
	}
	if (!err && !release)
		err = end_take(&w, fact_count, end_ns);
	if (err)
		return err;
	if (release)
		last_holder(&w, fact_count, &release->held);
	find_alone(ret, release);
	ret->left = w.left;
	return 0;
}
