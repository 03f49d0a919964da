/*
 * tests/unit/analyze/park_model.h: threads that use locks of java.util.concurrent, as
 * AbstractQueuedSynchronizer of JDK 17 lets them: in random order, step by step, with barging,
 * timeouts, interrupts and conditions. It writes what a patched JVM would tell, and knows the truth.
 */
#pragma once

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/event.h"
#include "park_names.h"

#define MODEL_THREADS 6    /* numbers from 1 */
#define MODEL_LOCKS 3      /* numbers from 1 */
#define MODEL_CONDITION 10 /* number of the condition of lock 1 */
#define MODEL_EVENTS 40000
#define MODEL_FOREVER UINT64_MAX
#define MODEL_NS 1000 /* so that hardly any two things happen at once */

struct model_options {
	uint64_t seed;
	unsigned actions; /* of each thread */
	unsigned wake_ns; /* up to which it takes to come back from park */
	unsigned step_ns; /* up to which a step takes; 0: exact */
	unsigned fair;    /* one bit for each lock */
	bool share;       /* locks 2 and 3 are read-write locks */
	bool give_up;     /* timeouts and interrupts */
	bool conditions;
	bool no_chains;
	unsigned attach; /* the truth is about what comes behind so many events */
};

enum model_state {
	MODEL_IDLE,
	MODEL_TRY,
	MODEL_ENQUEUE,
	MODEL_LOOP,
	MODEL_PARK,
	MODEL_PARKED,
	MODEL_CANCEL,
	MODEL_HELD,
	MODEL_RELEASED,
	MODEL_AWAIT,
	MODEL_AWAIT_LOOP,
	MODEL_AWAIT_PARKED,
	MODEL_DONE,
};

struct model_thread {
	enum model_state state;
	uint64_t next_ns; /* of its next step */
	unsigned left, lock, method, spins, spun;
	bool shared, timed, interruptible, interrupted, back; /* back: from await */
	uint64_t deadline_ns, hold_ns;
	bool waiting; /* has announced that it parks */
	bool queued, on_condition;
	bool parked;     /* between park begin and end */
	bool unseen;     /* it parked before the events that count */
	uint64_t permit; /* number of the unpark, or one of these */
	bool awaiting_release;
	uint64_t cpu_ns;
};
#define MODEL_NO_PERMIT 0
#define MODEL_INTERRUPT UINT64_MAX

struct model_lock {
	unsigned queue[MODEL_THREADS + 1], queued;
	unsigned writer;
	unsigned readers[MODEL_THREADS + 1], reader_count, first_reader;
	unsigned waiters[MODEL_THREADS + 1], waiter_count; /* of the condition */
	unsigned handed; /* who has to come back from park to get it; 0: nobody */
};

/* Blocked time of one waiter of one lock. */
struct model_truth {
	uint64_t parked, open; /* open: the lock could change hands without an event */
	uint64_t handed;       /* of open: released, and nobody came back or was seen with it */
	uint64_t by[MODEL_THREADS + 1][CHAIN_METHODS]; /* not open, exclusively */
	uint64_t shared;                              /* not open, by readers */
	uint64_t by_reader[MODEL_THREADS + 1];
	unsigned count;
};

struct model {
	struct model_options o;
	uint64_t random, now, sequence;
	struct model_thread threads[MODEL_THREADS + 1];
	struct model_lock locks[MODEL_LOCKS + 1];
	struct model_truth truth[MODEL_LOCKS + 1][MODEL_THREADS + 1];
	uint64_t waited[MODEL_THREADS + 1]; /* on the condition */
	struct event *events;
	unsigned count;
};

static inline unsigned model_below(struct model *m, unsigned n)
{
	m->random = m->random * 6364136223846793005ull + 1442695040888963407ull;
	return n ? (unsigned)(m->random >> 33) % n : 0;
}

static inline bool model_stamped(const struct model *m, unsigned lock)
{
	return m->o.share && lock == 3;
}

/* Chains, events */

static inline uint64_t model_chain(const struct model *m, unsigned lock, enum chain_kind kind,
				   unsigned method)
{
	static const enum chain_kind stamped[CHAIN_KIND_COUNT] = {
		[CHAIN_READ] = CHAIN_STAMPED_READ,
		[CHAIN_WRITE] = CHAIN_STAMPED_WRITE,
		[CHAIN_UNLOCK] = CHAIN_STAMPED_UNLOCK,
		[CHAIN_READ_UNLOCK] = CHAIN_STAMPED_READ_UNLOCK,
		[CHAIN_PASS_ON] = CHAIN_STAMPED_PASS_ON,
		[CHAIN_CANCEL] = CHAIN_STAMPED_CANCEL,
	};

	if (m->o.no_chains)
		return 0;
	return chain_number(model_stamped(m, lock) && stamped[kind] ? stamped[kind] : kind, method);
}

static inline struct event *model_event(struct model *m, uint16_t id, unsigned thread)
{
	struct event *e = &m->events[m->count++];

	assert(m->count <= MODEL_EVENTS);
	*e = (struct event){.id = id, .time_ns = m->now, .thread = thread};
	m->sequence++;
	if (m->count == m->o.attach) {
		memset(m->truth, 0, sizeof(m->truth));
		for (unsigned i = 1; i <= MODEL_THREADS; i++)
			m->threads[i].unseen = m->threads[i].parked;
	}
	return e;
}

static inline void model_park_begin(struct model *m, unsigned thread, unsigned blocker)
{
	struct model_thread *t = &m->threads[thread];
	struct model_lock *l = &m->locks[t->lock];
	struct event *e = model_event(m, EVENT_PARK_BEGIN, thread);
	enum chain_kind kind = blocker == MODEL_CONDITION    ? CHAIN_AWAIT
			       : t->back                     ? CHAIN_AWAIT_BACK
			       : !m->o.share || t->lock == 1 ? CHAIN_LOCK
			       : t->shared                   ? CHAIN_READ
							     : CHAIN_WRITE;

	e->v[PARK_BEGIN_LOCK].u = blocker;
	e->v[PARK_BEGIN_SEQUENCE].u = m->sequence;
	e->v[PARK_BEGIN_CPU_NS].u = t->cpu_ns;
	e->v[PARK_BEGIN_STACK].u = model_chain(m, t->lock, kind, t->method);
	t->parked = true;
	t->unseen = m->count <= m->o.attach;
	if (blocker == MODEL_CONDITION || model_stamped(m, t->lock))
		return;
	e->v[PARK_BEGIN_OWNER_SOURCE].u = OWNER_SOURCE_NONE;
	if (l->writer || l->reader_count)
		l->handed = 0;
	if (l->writer) {
		e->v[PARK_BEGIN_OWNER].u = l->writer;
		e->v[PARK_BEGIN_OWNER_CPU_NS].u = m->threads[l->writer].cpu_ns;
		e->v[PARK_BEGIN_OWNER_SOURCE].u = OWNER_SOURCE_EXCLUSIVE_OWNER;
	} else if (l->reader_count) {
		e->v[PARK_BEGIN_READERS].u = l->reader_count;
		e->v[PARK_BEGIN_OWNER].u = l->first_reader;
		e->v[PARK_BEGIN_OWNER_SOURCE].u =
			l->first_reader ? OWNER_SOURCE_FIRST_READER : OWNER_SOURCE_UNKNOWN;
	}
}

static inline void model_park_end(struct model *m, unsigned thread, unsigned blocker)
{
	struct model_thread *t = &m->threads[thread];
	struct event *e = model_event(m, EVENT_PARK_END, thread);
	bool given = t->permit != MODEL_NO_PERMIT && t->permit != MODEL_INTERRUPT;

	e->v[PARK_END_LOCK].u = blocker;
	e->v[PARK_END_SEQUENCE].u = m->sequence;
	e->v[PARK_END_CPU_NS].u = t->cpu_ns;
	e->v[PARK_END_HOW].u = given                          ? PARK_END_UNPARKED
			       : t->permit == MODEL_INTERRUPT ? PARK_END_INTERRUPTED
							      : PARK_END_TIMEOUT;
	e->v[PARK_END_BY].u = given ? t->permit : 0;
	t->permit = MODEL_NO_PERMIT;
	t->parked = false;
	if (m->locks[t->lock].handed == thread)
		m->locks[t->lock].handed = 0;
	if (blocker != MODEL_CONDITION && !t->unseen)
		m->truth[t->lock][thread].count++;
	t->unseen = false;
}

/* A parked thread comes back a little later. */
static inline void model_wake(struct model *m, unsigned thread)
{
	struct model_thread *t = &m->threads[thread];
	uint64_t ns = m->now + (m->o.wake_ns ? 1 + model_below(m, m->o.wake_ns) : 0);

	if ((t->state == MODEL_PARKED || t->state == MODEL_AWAIT_PARKED) && ns < t->next_ns)
		t->next_ns = ns;
}

static inline void model_unpark(struct model *m, unsigned thread, unsigned target, unsigned lock,
				enum chain_kind kind)
{
	struct event *e = model_event(m, EVENT_UNPARK, thread);

	e->v[UNPARK_TARGET].u = target;
	e->v[UNPARK_SEQUENCE].u = m->sequence;
	e->v[UNPARK_CPU_NS].u = m->threads[thread].cpu_ns;
	e->v[UNPARK_STACK].u = model_chain(m, lock, kind, m->threads[thread].method);
	if (m->threads[target].permit == MODEL_NO_PERMIT)
		m->threads[target].permit = m->sequence;
	model_wake(m, target);
}

/* The lock */

static inline bool model_first(const struct model_lock *l, unsigned thread)
{
	return l->queued && l->queue[0] == thread;
}

static inline bool model_reading(const struct model_lock *l, unsigned thread)
{
	for (unsigned i = 0; i < l->reader_count; i++) {
		if (l->readers[i] == thread)
			return true;
	}
	return false;
}

static inline bool model_try(struct model *m, unsigned thread)
{
	struct model_thread *t = &m->threads[thread];
	struct model_lock *l = &m->locks[t->lock];
	bool fair = m->o.fair & 1u << t->lock, others = l->queued && !model_first(l, thread);

	if (l->writer || (!t->shared && l->reader_count) || (fair && others))
		return false;
	if (!t->shared) {
		l->writer = thread;
		return true;
	}
	if (!model_stamped(m, t->lock) && others && !m->threads[l->queue[0]].shared)
		return false; /* apparentlyFirstQueuedIsExclusive */
	if (!l->reader_count)
		l->first_reader = thread;
	l->readers[l->reader_count++] = thread;
	return true;
}

static inline void model_remove(unsigned *list, unsigned *count, unsigned thread)
{
	unsigned n = 0;

	for (unsigned i = 0; i < *count; i++) {
		if (list[i] != thread)
			list[n++] = list[i];
	}
	*count = n;
}

/* AQS.signalNext */
static inline void model_signal(struct model *m, unsigned thread, unsigned lock,
				enum chain_kind kind)
{
	struct model_lock *l = &m->locks[lock];

	if (!l->queued || !m->threads[l->queue[0]].waiting)
		return;
	m->threads[l->queue[0]].waiting = false;
	if (kind != CHAIN_PASS_ON && (kind != CHAIN_CANCEL || (!l->writer && !l->reader_count)))
		l->handed = m->threads[l->queue[0]].parked ? l->queue[0] : 0;
	model_unpark(m, thread, l->queue[0], lock, kind);
}

static inline void model_unlock(struct model *m, unsigned thread)
{
	struct model_lock *l = &m->locks[m->threads[thread].lock];

	if (l->writer == thread) {
		l->writer = 0;
		return;
	}
	model_remove(l->readers, &l->reader_count, thread);
	if (l->first_reader == thread || !l->reader_count)
		l->first_reader = 0;
}

/* What a thread does next: each step sets the state and the time of the one after it. */

static inline void model_go(struct model *m, struct model_thread *t, enum model_state state)
{
	t->state = state;
	t->next_ns = m->now + model_below(m, m->o.step_ns + 1);
}

static inline void model_begin(struct model *m, struct model_thread *t)
{
	if (!t->left) {
		t->state = MODEL_DONE;
		t->next_ns = MODEL_FOREVER;
		return;
	}
	t->left--;
	t->lock = 1 + model_below(m, m->o.share || !m->o.conditions ? MODEL_LOCKS : 1);
	t->method = model_below(m, CHAIN_METHODS);
	t->shared = m->o.share && t->lock > 1 && model_below(m, 2);
	t->timed = m->o.give_up && !model_below(m, 3);
	t->interruptible = m->o.give_up && !model_below(m, 3);
	t->deadline_ns = m->now + 1 + model_below(m, 600 * MODEL_NS);
	t->hold_ns = model_below(m, 4) ? 1 + model_below(m, 300 * MODEL_NS) : 0;
	t->spun = 0;
	t->spins = 0;
	t->back = false;
	t->interrupted = false;
	model_go(m, t, MODEL_TRY);
}

static inline void model_got(struct model *m, struct model_thread *t)
{
	t->state = MODEL_HELD;
	t->next_ns = m->now + t->hold_ns;
}

static inline void model_loop(struct model *m, unsigned thread)
{
	struct model_thread *t = &m->threads[thread];
	struct model_lock *l = &m->locks[t->lock];

	if (model_first(l, thread) && model_try(m, thread)) {
		model_remove(l->queue, &l->queued, thread);
		t->queued = false;
		t->waiting = false;
		if (t->shared && l->queued && m->threads[l->queue[0]].shared)
			model_signal(m, thread, t->lock, CHAIN_PASS_ON);
		model_got(m, t);
	} else if (model_first(l, thread) && t->spins) {
		t->spins--;
		model_go(m, t, MODEL_LOOP);
	} else if (!t->waiting) {
		t->waiting = true;
		model_go(m, t, MODEL_LOOP);
	} else if (t->timed && !t->back && m->now >= t->deadline_ns) {
		model_go(m, t, MODEL_CANCEL);
	} else {
		t->spins = t->spun = m->o.step_ns ? (t->spun << 1 | 1) & 15 : 0;
		model_go(m, t, MODEL_PARK);
	}
}

static inline void model_cancel(struct model *m, unsigned thread)
{
	struct model_thread *t = &m->threads[thread];
	struct model_lock *l = &m->locks[t->lock];
	bool first = model_first(l, thread);

	model_remove(l->queue, &l->queued, thread);
	t->queued = false;
	t->waiting = false;
	if (first)
		model_signal(m, thread, t->lock, CHAIN_CANCEL);
	t->state = MODEL_IDLE;
	t->next_ns = m->now + 120 * MODEL_NS + model_below(m, 200 * MODEL_NS);
}

static inline void model_park(struct model *m, unsigned thread, unsigned blocker,
			      enum model_state state, bool timed)
{
	struct model_thread *t = &m->threads[thread];

	model_park_begin(m, thread, blocker);
	t->state = state;
	t->next_ns = !timed ? MODEL_FOREVER : t->deadline_ns > m->now ? t->deadline_ns : m->now;
	if (t->interrupted && t->permit == MODEL_NO_PERMIT)
		t->permit = MODEL_INTERRUPT;
	if (t->permit != MODEL_NO_PERMIT)
		model_go(m, t, state);
}

static inline void model_parked(struct model *m, unsigned thread)
{
	struct model_thread *t = &m->threads[thread];
	bool interrupted = t->interrupted;

	model_park_end(m, thread, t->lock);
	t->waiting = false;
	t->interrupted = false;
	model_go(m, t, interrupted && t->interruptible && !t->back ? MODEL_CANCEL : MODEL_LOOP);
}

static inline void model_released(struct model *m, unsigned thread)
{
	struct model_thread *t = &m->threads[thread];
	const struct model_lock *l = &m->locks[t->lock];

	if (!t->shared)
		model_signal(m, thread, t->lock,
			     t->awaiting_release ? CHAIN_AWAIT_UNLOCK : CHAIN_UNLOCK);
	else if (!l->reader_count && !l->writer)
		model_signal(m, thread, t->lock, CHAIN_READ_UNLOCK);
	if (t->awaiting_release) {
		t->awaiting_release = false;
		t->deadline_ns = m->now + 1 + model_below(m, 600 * MODEL_NS);
		model_go(m, t, MODEL_AWAIT_LOOP);
		return;
	}
	t->state = MODEL_IDLE;
	t->next_ns = m->now + 120 * MODEL_NS + model_below(m, 200 * MODEL_NS);
}

static inline void model_held(struct model *m, unsigned thread)
{
	struct model_thread *t = &m->threads[thread];
	struct model_lock *l = &m->locks[t->lock];

	if (m->o.conditions && t->lock == 1 && l->waiter_count && model_below(m, 2)) {
		unsigned woken = l->waiters[0];

		model_remove(l->waiters, &l->waiter_count, woken);
		m->threads[woken].on_condition = false;
		m->threads[woken].queued = true;
		l->queue[l->queued++] = woken;
	} else if (m->o.conditions && t->lock == 1 && !t->back && l->waiter_count < 2 &&
		   model_below(m, 2)) {
		l->waiters[l->waiter_count++] = thread;
		t->on_condition = true;
		t->waiting = true;
		t->awaiting_release = true;
	}
	model_unlock(m, thread);
	if (!m->o.step_ns)
		return model_released(m, thread); /* nobody slips in between */
	model_go(m, t, MODEL_RELEASED);
}

static inline void model_await_loop(struct model *m, unsigned thread)
{
	struct model_thread *t = &m->threads[thread];
	struct model_lock *l = &m->locks[t->lock];

	if (t->queued) {
		t->waiting = false;
		t->back = true;
		model_go(m, t, MODEL_LOOP);
	} else if (m->now >= t->deadline_ns || t->interrupted) {
		t->interrupted = false;
		model_remove(l->waiters, &l->waiter_count, thread);
		t->on_condition = false;
		t->waiting = false;
		t->back = true;
		model_go(m, t, MODEL_TRY);
	} else {
		model_park(m, thread, MODEL_CONDITION, MODEL_AWAIT_PARKED, true);
	}
}

static inline void model_step(struct model *m, unsigned thread)
{
	struct model_thread *t = &m->threads[thread];
	struct model_lock *l = &m->locks[t->lock];

	switch (t->state) {
	case MODEL_IDLE:
		return model_begin(m, t);
	case MODEL_TRY:
		if (model_try(m, thread))
			return model_got(m, t);
		return model_go(m, t, MODEL_ENQUEUE);
	case MODEL_ENQUEUE:
		l->queue[l->queued++] = thread;
		t->queued = true;
		return model_go(m, t, MODEL_LOOP);
	case MODEL_LOOP:
		return model_loop(m, thread);
	case MODEL_PARK:
		return model_park(m, thread, t->lock, MODEL_PARKED, t->timed && !t->back);
	case MODEL_PARKED:
		return model_parked(m, thread);
	case MODEL_CANCEL:
		return model_cancel(m, thread);
	case MODEL_HELD:
		return model_held(m, thread);
	case MODEL_RELEASED:
		return model_released(m, thread);
	case MODEL_AWAIT_LOOP:
		return model_await_loop(m, thread);
	case MODEL_AWAIT_PARKED:
		model_park_end(m, thread, MODEL_CONDITION);
		return model_go(m, t, MODEL_AWAIT_LOOP);
	default:
		assert(!"a state");
	}
}

/* The truth */

/* The first in the queue is awake, or the lock is free: it may change hands in silence. */
static inline bool model_open(const struct model *m, unsigned lock)
{
	const struct model_lock *l = &m->locks[lock];

	return (l->queued && !m->threads[l->queue[0]].waiting) || (!l->writer && !l->reader_count);
}

static inline void model_pass(struct model *m, uint64_t to)
{
	uint64_t ns = to - m->now;

	for (unsigned i = 1; i <= MODEL_THREADS; i++) {
		struct model_thread *t = &m->threads[i];
		struct model_truth *truth = &m->truth[t->lock][i];
		const struct model_lock *l = &m->locks[t->lock];

		t->cpu_ns += t->parked ? 0 : ns;
		if (t->parked && t->state == MODEL_AWAIT_PARKED)
			m->waited[i] += ns;
		if (!t->parked || t->unseen || t->state == MODEL_AWAIT_PARKED)
			continue;
		truth->parked += ns;
		truth->handed += l->handed ? ns : 0;
		if (model_open(m, t->lock))
			truth->open += ns;
		else if (l->writer)
			truth->by[l->writer][m->threads[l->writer].method] += ns;
		else
			truth->shared += ns;
		for (unsigned k = 0; k < l->reader_count && !model_open(m, t->lock); k++)
			truth->by_reader[l->readers[k]] += ns;
	}
	m->now = to;
}

static inline void model_interrupt(struct model *m)
{
	unsigned thread = 1 + model_below(m, MODEL_THREADS);
	struct model_thread *t = &m->threads[thread];

	if (t->state != MODEL_PARKED && t->state != MODEL_AWAIT_PARKED)
		return;
	t->interrupted = true;
	if (t->permit == MODEL_NO_PERMIT)
		t->permit = MODEL_INTERRUPT;
	model_wake(m, thread);
}

static inline void model_free(struct model *m)
{
	if (m)
		free(m->events);
	free(m);
}

/* All threads have run to their ends. */
static inline struct model *model_run(const struct model_options *o)
{
	struct model *m = calloc(1, sizeof(*m));

	assert(m);
	m->o = *o;
	m->random = o->seed;
	m->now = 1000;
	m->events = calloc(MODEL_EVENTS, sizeof(*m->events));
	assert(m->events);
	for (unsigned i = 1; i <= MODEL_THREADS; i++) {
		m->threads[i].left = o->actions;
		m->threads[i].lock = 1;
		m->threads[i].next_ns = m->now + model_below(m, 100 * MODEL_NS);
	}
	for (;;) {
		unsigned first = 1 + model_below(m, MODEL_THREADS);

		for (unsigned k = 0, i = first; k < MODEL_THREADS; k++, i = i % MODEL_THREADS + 1) {
			if (m->threads[i].next_ns < m->threads[first].next_ns)
				first = i;
		}
		if (m->threads[first].next_ns == MODEL_FOREVER)
			break;
		model_pass(m, m->threads[first].next_ns);
		model_step(m, first);
		if (o->give_up && !model_below(m, 60))
			model_interrupt(m);
	}
	for (unsigned i = 1; i <= MODEL_THREADS; i++)
		assert(m->threads[i].state == MODEL_DONE);
	return m;
}
