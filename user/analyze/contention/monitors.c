/*
 * What the numbered events of a monitor say, each at its own time:
 *
 * - exit: the thread has released it, and had it for so long: but not for longer than since the
 * release before. What lies between the two is nobody's. If it is not known for how long, then
 * since the release before: it had it already when the first thread blocked.
 * - entered: the thread owns it. What lies between the last release and this is nobody's.
 * - enter: the thread is blocked. Who owned it then was read from outside, and is not needed.
 * - notify: the thread that is named is blocked; it goes for the monitor as soon as it can be had.
 * - a window of folded releases: it is not known when each of them was, only how long the monitor
 * was held before them in sum, and the same threads were blocked all the time. Its exits are at
 * their times; where numbers are missing between two of them, the folded holds are laid one after
 * the other. What is left there is nobody's.
 *
 * So the line of a monitor grows at its releases and when somebody enters. The call site of a hold
 * is the call chain of its exit; of one in Object.wait(), that of the exit that resolves it, later.
 *
 * Where numbers are missing there may have been releases that are not known: time without a holder
 * is then not known to be nobody's.
 */
#include "analyze/contention/monitors.h"

#include <errno.h>
#include <stdlib.h>

#include "base/tables/keymap.h"

/* At most so many exits are alike the folds of a window (SPOOR_FOLD_MAX of probes.h). */
#define RECENT_MAX 32

/* The index of an exit, for folds that are like it. */
struct recent {
	uint64_t number, stack;
};

struct monitor {
	struct timeline *line;
	uint64_t holder;
	bool doubt; /* numbers are missing since the end of the line */
	struct recent recent[RECENT_MAX];
	/* Where a thread was seen with the monitor, if its exit does not say. */
	uint64_t seen_thread, seen_stack, seen_ns;
};

struct monitors {
	struct timelines *lines;
	struct keymap map;
	struct monitor *rows;
	uint32_t capacity;
	struct monitors_folds folds;
};

struct monitors *monitors_new(struct timelines *lines)
{
	struct monitors *m = calloc(1, sizeof(*m));

	if (m)
		m->lines = lines;
	return m;
}

void monitors_free(struct monitors *m)
{
	if (!m)
		return;
	keymap_free(&m->map);
	free(m->rows);
	free(m);
}

/* Its line begins before everything: times need not be in the order of the numbers. */
static int monitor_add(struct monitors *m, uint64_t lock, struct monitor **ret)
{
	struct keymap_key key = {.a = lock};
	struct timeline *line;
	uint32_t index;
	int err = timeline_of(m->lines, lock, 0, &line);

	if (!err)
		err = keymap_add_row(&m->map, key, &m->rows, &m->capacity, sizeof(*m->rows),
				     &index);
	if (err)
		return err;
	*ret = &m->rows[index];
	(*ret)->line = line;
	return 0;
}

static int monitor_of(struct monitors *m, uint64_t lock, struct monitor **ret)
{
	uint32_t index = keymap_find_number(&m->map, lock);

	if (index == INDEX_NONE)
		return monitor_add(m, lock, ret);
	*ret = &m->rows[index];
	return 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Nobody held it up to ns, as far as is known. */
static int extend_free(struct monitor *m, uint64_t ns)
{
	const struct hold free = {.holder = m->doubt ? HOLDER_UNKNOWN : HOLDER_HAND_OVER};
	int err = timeline_extend(m->line, ns, &free);

	m->doubt = false;
	return err;
}

/* The thread does what a blocked thread cannot do: an event in between is missing. */
static int drop_blocked(struct monitor *m, uint64_t thread)
{
	if (!timeline_blocked(m->line, thread))
		return 0;
	timeline_counts(m->line)->end_missing++;
	return timeline_unblock(m->line, thread, 0, false);
}

static int begin(struct monitor *m, uint64_t ns, const struct blocked *who)
{
	int err = drop_blocked(m, who->thread);

	return err ? err : timeline_block(m->line, ns, who);
}

static int on_enter(struct monitor *m, const struct replay_item *item)
{
	const struct event *e = item->event;
	const struct counters owners = counters_owner(e);
	const struct blocked who = {.thread = e->thread,
				    .stack = e->v[MONITOR_CONTENDED_ENTER_STACK].u,
				    .monitor = true,
				    .after_wait = e->v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u};
	const struct blocked *already = timeline_blocked(m->line, who.thread);
	uint64_t owner = e->v[MONITOR_CONTENDED_ENTER_OWNER].u;
	int err = 0;

	/* It has been notified: this is the same contention. */
	if (!already || !already->after_wait || !who.after_wait)
		err = begin(m, e->time_ns, &who);
	if (err || !owner)
		return err;
	if (e->time_ns >= timeline_end(m->line))
		m->holder = owner;
	if (e->v[MONITOR_CONTENDED_ENTER_OWNER_STACK].u) {
		m->seen_thread = owner;
		m->seen_stack = e->v[MONITOR_CONTENDED_ENTER_OWNER_STACK].u;
		m->seen_ns = e->time_ns;
	}
	return timeline_see(m->line, e->time_ns, owner, &owners);
}

static int on_entered(struct monitor *m, const struct replay_item *item)
{
	const struct event *e = item->event;
	const struct counters its = counters_own(e);
	int err = timeline_see(m->line, e->time_ns, e->thread, &its);

	if (!err)
		err = extend_free(m, e->time_ns);
	if (err)
		return err;
	m->holder = e->thread;
	if (timeline_blocked(m->line, e->thread))
		return timeline_unblock(m->line, e->thread, e->time_ns, true);
	timeline_counts(m->line)->begin_missing++;
	return 0;
}

static struct hold hold_of_exit(const struct monitor *m, const struct event *e, uint64_t since_ns)
{
	struct hold h = {.holder = e->thread,
			 .stack = e->v[MONITOR_CONTENDED_EXIT_STACK].u,
			 .from = HOLDER_STACK_RELEASE,
			 .forward = e->v[MONITOR_CONTENDED_EXIT_FORWARD].u};

	if (h.forward)
		h.from = HOLDER_STACK_WAIT;
	if (!h.stack && m->seen_thread == e->thread && m->seen_ns >= since_ns) {
		h.stack = m->seen_stack;
		h.from = HOLDER_STACK_BLOCK;
	}
	return h;
}

/* It is released; since_ns: when the thread got it, not before the end of the line. */
static int release(struct monitor *m, const struct replay_item *item, uint64_t since_ns)
{
	const struct event *e = item->event;
	const struct hold held = hold_of_exit(m, e, since_ns);
	const struct counters its = counters_own(e);
	int err = drop_blocked(m, e->thread);

	if (!err)
		err = timeline_see(m->line, e->time_ns, e->thread, &its);
	if (!err)
		err = timeline_extend(m->line, e->time_ns, &held);
	if (!err && e->v[MONITOR_CONTENDED_EXIT_RESOLVES].u)
		err = timeline_name(m->line, e->v[MONITOR_CONTENDED_EXIT_RESOLVES].u,
				    e->v[MONITOR_CONTENDED_EXIT_STACK].u, HOLDER_STACK_RELEASE);
	m->holder = HOLDER_HAND_OVER;
	m->recent[item->number % RECENT_MAX] =
		(struct recent){item->number, e->v[MONITOR_CONTENDED_EXIT_STACK].u};
	return err;
}

/* When the thread of an exit got the monitor. otherwise: if that is unknown. */
static uint64_t held_since(const struct monitor *m, const struct event *e, uint64_t otherwise_ns)
{
	uint64_t held_ns = e->v[MONITOR_CONTENDED_EXIT_HELD_NS].u, end_ns = timeline_end(m->line);

	if (!held_ns)
		return otherwise_ns;
	return later(e->time_ns > held_ns ? e->time_ns - held_ns : 0, end_ns);
}

static int on_release(struct monitor *m, const struct replay_item *item)
{
	/* After a gap, it may have been taken by others meanwhile. */
	uint64_t otherwise_ns = m->doubt ? item->event->time_ns : timeline_end(m->line);
	uint64_t since_ns = held_since(m, item->event, otherwise_ns);
	int err = extend_free(m, since_ns);

	return err ? err : release(m, item, since_ns);
}

static int on_notify(struct monitor *m, const struct replay_item *item)
{
	const struct event *e = item->event;
	const struct counters its = counters_own(e);
	const struct blocked who = {.thread = e->v[MONITOR_NOTIFY_TARGET].u,
				    .stack = item->note,
				    .monitor = true,
				    .after_wait = true};
	int err = drop_blocked(m, e->thread);

	m->holder = e->thread;
	if (!err && who.thread && who.thread <= UINT32_MAX && who.thread != e->thread)
		err = begin(m, e->time_ns, &who);
	return err ? err : timeline_see(m->line, e->time_ns, e->thread, &its);
}

int monitors_event(struct monitors *all, uint64_t lock, const struct replay_item *item,
		   uint64_t missing)
{
	static int (*const on[])(struct monitor *, const struct replay_item *) = {
		[EVENT_MONITOR_CONTENDED_ENTER] = on_enter,
		[EVENT_MONITOR_CONTENDED_ENTERED] = on_entered,
		[EVENT_MONITOR_CONTENDED_EXIT] = on_release,
		[EVENT_MONITOR_NOTIFY] = on_notify,
	};
	uint16_t id = item->event->id;
	struct monitor *m;
	int err = monitor_of(all, lock, &m);

	if (err || id >= sizeof(on) / sizeof(*on) || !on[id])
		return err;
	m->doubt |= missing > 0;
	return on[id](m, item);
}

/* Folded holds that still have to be laid somewhere. */
struct folds {
	const struct replay_window *window;
	uint32_t at;      /* fold */
	uint64_t used_ns; /* of its held time */
};

static struct hold hold_of_fold(const struct monitor *m, const struct event *e)
{
	uint64_t like = e->v[MONITOR_FOLD_LIKE].u;
	const struct recent *exit = &m->recent[like % RECENT_MAX];
	struct hold h = {.holder = e->v[MONITOR_FOLD_OWNER].u, .from = HOLDER_STACK_RELEASE};

	if (like && exit->number == like)
		h.stack = exit->stack;
	return h;
}

/* Up to ns, as long as there are any. */
static int lay(struct monitor *m, struct folds *f, uint64_t ns)
{
	int err = 0;

	while (!err && f->at < f->window->fold_count && timeline_end(m->line) < ns) {
		const struct event *e = f->window->folds[f->at]->event;
		uint64_t left_ns = e->v[MONITOR_FOLD_HELD_NS].u - f->used_ns;
		uint64_t room_ns = ns - timeline_end(m->line);
		struct hold held = hold_of_fold(m, e);

		if (left_ns > room_ns)
			left_ns = room_ns;
		err = timeline_extend(m->line, timeline_end(m->line) + left_ns, &held);
		f->used_ns += left_ns;
		if (f->used_ns < e->v[MONITOR_FOLD_HELD_NS].u)
			continue;
		f->at++;
		f->used_ns = 0;
	}
	return err;
}

static uint64_t folds_left(const struct folds *f)
{
	uint64_t left_ns = 0;

	for (uint32_t i = f->at; i < f->window->fold_count; i++)
		left_ns += f->window->folds[i]->event->v[MONITOR_FOLD_HELD_NS].u;
	return left_ns - f->used_ns;
}

/* The line up to ns. between: there were other releases, folded ones. */
static int fill(struct monitor *m, struct folds *f, uint64_t ns, bool between)
{
	int err = 0;

	m->doubt |= between && f->window->holes;
	if (between)
		err = lay(m, f, ns);
	return err ? err : extend_free(m, ns);
}

/* The folds may be like exits that come after the room where they are laid. */
static void remember_exits(struct monitor *m, const struct replay_window *w)
{
	for (uint32_t i = 0; i < w->exit_count; i++) {
		const struct replay_item *exit = w->exits[i];

		if (exit->event->id == EVENT_MONITOR_CONTENDED_EXIT)
			m->recent[exit->number % RECENT_MAX] = (struct recent){
				exit->number, exit->event->v[MONITOR_CONTENDED_EXIT_STACK].u};
	}
}

int monitors_window(struct monitors *all, uint64_t lock, const struct replay_window *w)
{
	uint64_t next = w->next, ended_ns = w->folds[0]->event->time_ns;
	struct folds f = {.window = w};
	struct monitor *m;
	int err = monitor_of(all, lock, &m);

	if (err)
		return err;
	m->doubt |= w->missing > 0;
	remember_exits(m, w);
	for (uint32_t i = 0; i < w->exit_count && !err; i++) {
		const struct replay_item *exit = w->exits[i];
		bool between = exit->number > next;
		uint64_t since_ns;

		if (exit->event->id != EVENT_MONITOR_CONTENDED_EXIT || exit->number < next)
			continue; /* no JVM reports such a thing */
		since_ns = held_since(m, exit->event,
				      between || m->doubt ? exit->event->time_ns
							  : timeline_end(m->line));
		err = fill(m, &f, since_ns, between);
		if (!err)
			err = release(m, exit, since_ns);
		next = exit->number + 1;
	}
	if (!err && next <= w->last)
		err = fill(m, &f, ended_ns, true);
	all->folds.excess_ns += folds_left(&f);
	for (uint32_t i = 0; i < w->fold_count; i++) {
		if (!w->folds[i]->event->v[MONITOR_FOLD_OWNER].u)
			all->folds.undistinguished += w->folds[i]->event->v[MONITOR_FOLD_COUNT].u;
	}
	m->holder = HOLDER_HAND_OVER;
	return err;
}

uint64_t monitors_holder(const struct monitors *m, uint64_t lock)
{
	uint32_t index = keymap_find(&m->map, (struct keymap_key){.a = lock});

	return index == INDEX_NONE ? HOLDER_UNKNOWN : m->rows[index].holder;
}

struct monitors_folds monitors_folds(const struct monitors *m)
{
	return m->folds;
}
