/*
 * Between two events that carry a thread's counters the thread was blocked for the time that is in
 * none of them. If the thread was in a lock, a wait or a park then, that time has the chain with
 * which it began, and so has what was stolen meanwhile, and the waiting for a CPU afterwards. Else
 * off_cpu reports blocked time; and what was stolen, and waiting for a CPU, has the chain of the
 * thread's next sample: that is at most a period of CPU time away.
 */
#include "analyze/profile/waiting.h"

#include "analyze/profile/profile.h"
#include "analyze/profile/profile_cells.h"
#include "log/format/event.h"

static uint64_t less(uint64_t from, uint64_t part)
{
	return from > part ? from - part : 0;
}

static struct waiting read_counters(const struct event *e)
{
	struct waiting w = {
		.known = true,
		.at_ns = e->time_ns,
		.stolen_ns = event_counter(e, COUNTERS_OF_THREAD, COUNTER_STOLEN_NS),
		.runnable_ns = event_counter(e, COUNTERS_OF_THREAD, COUNTER_RUNNABLE_NS),
		.throttled_ns = event_counter(e, COUNTERS_OF_THREAD, COUNTER_THROTTLED_NS),
	};

	w.on_ns =
		w.stolen_ns + w.runnable_ns + event_counter(e, COUNTERS_OF_THREAD, COUNTER_CPU_NS);
	return w;
}

/* All states but running, between the two. */
static struct states growth(const struct waiting *from, const struct waiting *to,
			    enum state blocked)
{
	struct states s = {0};

	s.ns[STATE_STOLEN] = less(to->stolen_ns, from->stolen_ns);
	s.ns[STATE_THROTTLED] = less(to->throttled_ns, from->throttled_ns);
	s.ns[STATE_RUNNABLE] =
		less(less(to->runnable_ns, from->runnable_ns), s.ns[STATE_THROTTLED]);
	s.ns[blocked] = less(less(to->at_ns, from->at_ns), less(to->on_ns, from->on_ns));
	return s;
}

static int charge(struct profile *p, uint64_t thread, uint64_t stack, const struct states *s)
{
	int err = 0;

	for (int i = STATE_RUNNING + 1; i < STATE_COUNT && stack && !err; i++)
		if (s->ns[i])
			err = profile_charge(p, thread, (enum state)i, stack, s->ns[i]);
	return err;
}

/* It was off its CPU for long: what was blocked of it, and the waiting for a CPU after that. */
static int charge_off_cpu(struct profile *p, struct profile_thread *t, const struct event *e,
			  struct states *uncharged)
{
	enum state state = state_of_reason(e->v[OFF_CPU_REASON].u);
	uint64_t wait = e->v[OFF_CPU_CPU_WAIT_NS].u, throttled = e->v[OFF_CPU_THROTTLED_PART_NS].u;
	const uint64_t target[STATE_COUNT] = {
		[STATE_RUNNABLE] = less(wait, throttled),
		[STATE_THROTTLED] = throttled,
		[STATE_OTHER] = less(e->v[OFF_CPU_OFF_NS].u, wait),
	};
	uint64_t stack = e->v[OFF_CPU_STACK].u;
	struct states part = {0};

	if (!stack)
		return 0;
	for (int i = 0; i < STATE_COUNT; i++) {
		uint64_t ns = target[i] < uncharged->ns[i] ? target[i] : uncharged->ns[i];

		part.ns[i == STATE_OTHER ? (int)state : i] += ns;
		uncharged->ns[i] -= ns;
	}
	return charge(p, t->thread, stack, &part);
}

static void move_on(struct profile_thread *t, const struct waiting *now)
{
	struct waiting *w = &t->waiting;

	w->known = true;
	w->at_ns = now->at_ns;
	w->stolen_ns = now->stolen_ns;
	w->runnable_ns = now->runnable_ns;
	w->throttled_ns = now->throttled_ns;
	w->on_ns = now->on_ns;
}

/* Up to an event of the thread's. */
static int advance(struct profile *p, struct profile_thread *t, const struct event *e)
{
	struct waiting now = read_counters(e), *w = &t->waiting;
	struct states grown;

	if (w->known && now.at_ns < w->at_ns)
		return 0;
	if (!w->known || e->time_ns < p->options.from_ns) {
		move_on(t, &now);
		return 0;
	}
	grown = growth(w, &now, w->depth ? w->levels[w->depth - 1].state : STATE_OTHER);
	move_on(t, &now);
	if (w->depth)
		return charge(p, t->thread, w->levels[w->depth - 1].stack, &grown);
	states_add(&w->uncharged, &grown);
	if (e->id == EVENT_OFF_CPU)
		return charge_off_cpu(p, t, e, &w->uncharged);
	if (e->id != EVENT_RUN_SAMPLE || !e->v[RUN_SAMPLE_STACK].u)
		return 0;
	w->uncharged.ns[STATE_OTHER] = 0; /* off_cpu would have said where */
	grown = w->uncharged;
	w->uncharged = (struct states){0};
	return charge(p, t->thread, e->v[RUN_SAMPLE_STACK].u, &grown);
}

static void push(struct waiting *w, enum state state, uint64_t stack)
{
	if (w->depth < WAITING_LEVELS)
		w->levels[w->depth++] = (struct waiting_level){state, stack};
}

static void enter(struct waiting *w, const struct event *e)
{
	struct waiting_level *top = w->depth ? &w->levels[w->depth - 1] : NULL;
	uint64_t stack = e->v[MONITOR_CONTENDED_ENTER_STACK].u;

	if (!e->v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u || !top || top->state == STATE_PARK) {
		w->depth = 0;
		push(w, STATE_LOCK, stack);
	} else if (top->state == STATE_LOCK) {
		top->stack = stack ? stack : top->stack;
	} else {
		push(w, STATE_LOCK, stack ? stack : top->stack);
	}
}

/* What it waits for from now on. */
static void note(struct waiting *w, const struct event *e)
{
	switch (e->id) {
	case EVENT_MONITOR_CONTENDED_ENTER:
		enter(w, e);
		break;
	case EVENT_MONITOR_WAIT_BEGIN:
		w->depth = 0;
		push(w, STATE_WAIT, e->v[MONITOR_WAIT_BEGIN_STACK].u);
		break;
	case EVENT_PARK_BEGIN:
		w->depth = 0;
		push(w, STATE_PARK, e->v[PARK_BEGIN_STACK].u);
		break;
	case EVENT_MONITOR_CONTENDED_ENTERED:
		w->depth -= w->depth && w->levels[w->depth - 1].state == STATE_LOCK;
		break;
	case EVENT_MONITOR_WAIT_END:
	case EVENT_PARK_END:
		w->depth = 0;
		break;
	default:
		break;
	}
}

/* The kernel thread that waits with the event's virtual thread; 0: the virtual thread leaves it. */
static uint64_t carrier_of(const struct event *e, bool *ret_begin)
{
	*ret_begin = true;
	switch (e->id) {
	case EVENT_MONITOR_CONTENDED_ENTER:
		return !e->v[MONITOR_CONTENDED_ENTER_CARRIER].u ? e->thread
		       : e->v[MONITOR_CONTENDED_ENTER_PINNED].u
			       ? e->v[MONITOR_CONTENDED_ENTER_CARRIER].u
			       : 0;
	case EVENT_MONITOR_WAIT_BEGIN:
		return !e->v[MONITOR_WAIT_BEGIN_CARRIER].u ? e->thread
		       : e->v[MONITOR_WAIT_BEGIN_PINNED].u ? e->v[MONITOR_WAIT_BEGIN_CARRIER].u
							   : 0;
	case EVENT_PARK_BEGIN:
		return e->v[PARK_BEGIN_CARRIER].u ? e->v[PARK_BEGIN_CARRIER].u : e->thread;
	default:
		*ret_begin = false;
		return e->thread;
	}
}

static int add_sum(struct profile *p, const struct event *e)
{
	uint64_t stack = e->v[WAIT_SUM_STACK].u;

	if (!stack || e->time_ns < p->options.from_ns)
		return 0;
	return profile_charge(p, e->thread, state_of_reason(e->v[WAIT_SUM_REASON].u), stack,
			      less(e->v[WAIT_SUM_OFF_NS].u, e->v[WAIT_SUM_CPU_WAIT_NS].u));
}

int waiting_add(struct profile *p, const struct event *e)
{
	struct profile_thread *t;
	uint64_t carrier;
	bool begin;
	int err;

	if (e->id == EVENT_WAIT_SUM)
		return add_sum(p, e);
	if (!event_counter_fields(e, COUNTERS_OF_THREAD)[COUNTER_CPU_NS])
		return 0;
	carrier = carrier_of(e, &begin);
	if (!carrier)
		return 0;
	err = profile_thread_get(p, e->thread, &t);
	if (err)
		return err;
	if (begin)
		t->waiting.carrier = carrier == e->thread ? 0 : carrier;
	if (t->waiting.carrier)
		err = profile_thread_get(p, t->waiting.carrier, &t);
	if (!err)
		err = advance(p, t, e);
	if (err)
		return err;
	/* The table of threads does not grow meanwhile. */
	note(&t->waiting, e);
	return 0;
}
