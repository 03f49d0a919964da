/*
 * A thread's counters say for how long it has been blocked; its own events say why: it goes into a
 * monitor, a wait or a park at one event, and comes out of it at another. Other long breaks come as
 * off_cpu events at their ends. So at each of these moments the blocked time up to then can be told
 * apart by reason, cumulative, as if the kernel had counted it. Between two moments a thread that
 * is in something is blocked for that; one that is in nothing is blocked for a reason that its next
 * off_cpu event will report, or in breaks too short to be reported. Who looks at such a thread from
 * outside says with its event for what it is blocked, and for how long it has been.
 *
 * The moments of the last while are kept, MOMENTS of each thread: events of locks are replayed
 * late, in the order of their numbers, and ask for what was then.
 */
#include "analyze/lines/reason_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "base/tables/keymap.h"

#define MOMENTS 512 /* of one thread; a power of two */
#define MOMENTS_FIRST 8
#define DEPTH_MAX 2 /* a monitor is entered again inside a wait */

struct task {
	struct reason_moment *moments; /* a ring of capacity elements */
	uint32_t capacity;             /* a power of two, at most MOMENTS, or 0 */
	uint64_t count;                /* told so far; the last ones are kept */
	struct {
		uint64_t reason, lock, stack;
	} in[DEPTH_MAX];
	unsigned depth;
};

struct reason_history {
	struct keymap map;
	struct task *tasks;
	uint32_t capacity;
};

struct reason_history *reasons_new(void)
{
	return calloc(1, sizeof(struct reason_history));
}

void reasons_free(struct reason_history *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->map.count; i++)
		free(d->tasks[i].moments);
	free(d->tasks);
	keymap_free(&d->map);
	free(d);
}

/* Up to a constant: for how long the thread has been blocked. */
static uint64_t blocked_at(uint64_t ns, const struct counters *c)
{
	return ns - c->cpu_ns - c->stolen_ns - c->runnable_ns;
}

static struct reason_moment *moment_at(const struct task *t, uint64_t number)
{
	return &t->moments[number & (t->capacity - 1)];
}

static struct reason_moment *moment_last(const struct task *t)
{
	return t->count ? moment_at(t, t->count - 1) : NULL;
}

static uint64_t oldest(const struct task *t)
{
	return t->count > t->capacity ? t->count - t->capacity : 0;
}

/* The blocked time between a moment and another belongs to what the thread was in at the first. */
static inline void reasons_since(const struct reason_moment *from, uint64_t ns,
				 struct counters *its)
{
	uint64_t blocked;

	its->has_reasons = true;
	memcpy(its->reason_ns, from->its.reason_ns, sizeof(its->reason_ns));
	if (!from->reason)
		return;
	blocked = blocked_at(ns, its) - blocked_at(from->ns, &from->its);
	/* Counters are read a little after the clock: the difference may be just below zero. */
	if ((int64_t)blocked > 0)
		its->reason_ns[from->reason] += blocked;
}

static int grow(struct task *t)
{
	uint32_t capacity = t->capacity ? t->capacity * 2 : MOMENTS_FIRST;
	size_t bytes = t->capacity * sizeof(*t->moments);

	/* Nothing has been overwritten yet: the ring begins at the first element. */
	if (bytes_reserve(&t->moments, &bytes, capacity * sizeof(*t->moments)))
		return -ENOMEM;
	t->capacity = capacity;
	return 0;
}

/* It goes on with what it was in before, if there is any. */
static void stay(const struct task *t, struct reason_moment *now)
{
	if (!t->depth)
		return;
	now->reason = t->in[t->depth - 1].reason;
	now->lock = t->in[t->depth - 1].lock;
	now->stack = t->in[t->depth - 1].stack;
}

static void enter(struct task *t, uint64_t reason, uint64_t lock, uint64_t stack,
		  struct reason_moment *now)
{
	/* A lost end: a park or a wait is in nothing, a lock is in a wait at most. */
	if (reason != BLOCKED_REASON_LOCK || (t->depth && t->in[0].reason != BLOCKED_REASON_WAIT))
		t->depth = 0;
	if (t->depth == DEPTH_MAX)
		t->depth--;
	t->in[t->depth].reason = reason;
	t->in[t->depth].lock = lock;
	t->in[t->depth++].stack = stack;
	now->reason = reason;
	now->lock = lock;
	now->stack = stack;
}

/* After a wait a thread may have its monitor back without having been blocked on it. Whatever else
 * it was in, the end of that is lost. */
static void leave(struct task *t, uint64_t reason, struct reason_moment *now)
{
	unsigned depth = t->depth;

	while (depth && t->in[depth - 1].reason != reason)
		depth--;
	if (depth)
		t->depth = depth - 1;
	else if (reason != BLOCKED_REASON_LOCK || t->in[0].reason != BLOCKED_REASON_WAIT)
		t->depth = 0;
	stay(t, now);
}

/* A break is over, of which the event says why it was. */
static void off_cpu(const struct task *t, const struct event *e, struct reason_moment *now)
{
	uint64_t off_ns = e->v[OFF_CPU_OFF_NS].u, wait_ns = e->v[OFF_CPU_CPU_WAIT_NS].u;
	uint64_t reason = e->v[OFF_CPU_REASON].u;

	if (!t->depth && reason && reason < BLOCKED_REASON_COUNT && wait_ns <= off_ns)
		now->its.reason_ns[reason] += off_ns - wait_ns;
	stay(t, now);
}

/* What the thread says of itself with this event. */
static void apply(struct task *t, const struct event *e, struct reason_moment *now)
{
	switch (e->id) {
	case EVENT_MONITOR_CONTENDED_ENTER:
		enter(t, BLOCKED_REASON_LOCK, e->v[MONITOR_CONTENDED_ENTER_LOCK].u,
		      e->v[MONITOR_CONTENDED_ENTER_STACK].u, now);
		break;
	case EVENT_MONITOR_CONTENDED_ENTERED:
		leave(t, BLOCKED_REASON_LOCK, now);
		break;
	case EVENT_MONITOR_WAIT_BEGIN:
		enter(t, BLOCKED_REASON_WAIT, e->v[MONITOR_WAIT_BEGIN_LOCK].u,
		      e->v[MONITOR_WAIT_BEGIN_STACK].u, now);
		break;
	case EVENT_MONITOR_WAIT_END:
		leave(t, BLOCKED_REASON_WAIT, now);
		break;
	case EVENT_PARK_BEGIN:
		enter(t, BLOCKED_REASON_PARK, e->v[PARK_BEGIN_LOCK].u, e->v[PARK_BEGIN_STACK].u,
		      now);
		break;
	case EVENT_PARK_END:
		leave(t, BLOCKED_REASON_PARK, now);
		break;
	default:
		off_cpu(t, e, now);
		break;
	}
}

/* Those that apply() knows. */
static bool has_reasons(const struct event *e)
{
	static const bool known[SCHEMA_ID_MAX + 1] = {
		[EVENT_MONITOR_CONTENDED_ENTER] = true,
		[EVENT_MONITOR_CONTENDED_ENTERED] = true,
		[EVENT_MONITOR_WAIT_BEGIN] = true,
		[EVENT_MONITOR_WAIT_END] = true,
		[EVENT_PARK_BEGIN] = true,
		[EVENT_PARK_END] = true,
		[EVENT_OFF_CPU] = true,
	};

	return e->id <= SCHEMA_ID_MAX && known[e->id];
}

/* Where it is kept: a copy would be read back in larger pieces than it was written in, and wait. */
static void note_reasons(struct task *t, const struct event *e, const uint8_t *map, uint64_t now_ns)
{
	const struct reason_moment *last = moment_last(t);
	struct reason_moment *now = moment_at(t, t->count);

	now->ns = now_ns;
	counters_set(&now->its, e, map);
	now->its.has_reasons = true;
	if (last)
		reasons_since(last, now_ns, &now->its);
	now->reason = BLOCKED_REASON_OTHER;
	now->lock = now->stack = 0;
	apply(t, e, now);
	t->count++;
}

int reasons_add(struct reason_history *d, const struct event *e, uint64_t now_ns)
{
	const uint8_t *map = event_counter_fields(e, COUNTERS_OF_THREAD);
	struct task *t;
	uint32_t index;
	int err;

	if (!has_reasons(e) || !e->thread || !counters_are_known(e, map))
		return 0;
	err = keymap_add_row(&d->map, (struct keymap_key){.a = e->thread}, &d->tasks, &d->capacity,
			     sizeof(*d->tasks), &index);
	if (err)
		return err;
	t = &d->tasks[index];
	if (t->count >= t->capacity && t->capacity != MOMENTS)
		err = grow(t);
	if (!err)
		note_reasons(t, e, map, now_ns);
	return err;
}

struct blocked_on reason_blocked_on(const struct reason_moment *d, uint64_t held)
{
	bool on = d && (d->reason == BLOCKED_REASON_LOCK || d->reason == BLOCKED_REASON_PARK);

	if (!on || !d->lock || d->lock == held)
		return (struct blocked_on){0};
	return (struct blocked_on){.lock = d->lock, .stack = d->stack};
}

static inline const struct task *task_of(const struct reason_history *d, uint64_t thread)
{
	uint32_t index = keymap_find_number(&d->map, thread);

	return index == INDEX_NONE ? NULL : &d->tasks[index];
}

/* The number of the first moment later than ns; the count: there is none. Mostly it is near. */
static uint64_t search_after(const struct task *t, uint64_t ns)
{
	uint64_t low = oldest(t), high = t->count, step = 1;

	while (high - low > step && moment_at(t, high - step)->ns > ns) {
		high -= step;
		step *= 2;
	}
	if (high - low > step)
		low = high - step;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (moment_at(t, middle)->ns > ns)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

static inline uint64_t number_after(const struct task *t, uint64_t ns)
{
	return t->count && moment_last(t)->ns > ns ? search_after(t, ns) : t->count;
}

void reasons_around(const struct reason_history *d, uint64_t thread, uint64_t ns,
		    const struct reason_moment **ret_before, const struct reason_moment **ret_after)
{
	const struct task *t = task_of(d, thread);
	uint64_t number = t ? number_after(t, ns) : 0;

	*ret_before = t && number > oldest(t) ? moment_at(t, number - 1) : NULL;
	*ret_after = t && number < t->count ? moment_at(t, number) : NULL;
}

const struct reason_moment *reasons_next(const struct reason_history *d, uint64_t thread,
					 const struct reason_moment *from)
{
	const struct task *t = task_of(d, thread);
	uint32_t at;

	if (!t)
		return NULL;
	at = (uint32_t)(from - t->moments);
	if (moment_last(t) == from)
		return NULL;
	return &t->moments[(at + 1) & (t->capacity - 1)];
}

void reasons_complete(const struct reason_history *d, uint64_t thread, uint64_t ns,
		      struct counters *its)
{
	const struct task *t = its->known ? task_of(d, thread) : NULL;
	uint64_t number = t ? number_after(t, ns) : 0;
	const struct reason_moment *before =
		t && number > oldest(t) ? moment_at(t, number - 1) : NULL;

	/* Before its first moment all sums are 0; before the oldest one that is kept they are lost.
	 */
	if (before)
		reasons_since(before, ns, its);
	else
		its->has_reasons = its->known && (!t || !oldest(t));
	if (its->doing && its->has_reasons && !(before && before->reason))
		its->reason_ns[its->doing] += its->doing_ns;
}
