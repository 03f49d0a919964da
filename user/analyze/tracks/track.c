/*
 * From a thread's first event to its end, slices cover all of its time. What the log reports are
 * breaks: blocked in a lock, waiting, parked (each with a begin and an end of its own), or off its
 * CPU for another reason (told at the end, with its length). What lies between them is "running":
 * breaks shorter than the recorder's threshold are within it.
 *
 * A wait can have the contention for its monitor within it, and each of them what happened on the
 * way back to a CPU: so breaks are a stack, the thread's levels. A level is put out when something
 * within it is, or when it ends: only then it is known to be long enough. And the running slice
 * before it is put out when it is, so that what a thread puts out is in the order of time.
 *
 * Of a time off its CPU, what is blocked comes first, then the waiting for a CPU, of that the
 * throttled part: a thread that is woken in a cgroup without quota waits for the quota, then for
 * the CPU. A theft is put at the end of the turn in which it happened: after a theft the kernel
 * finds the thread's time slice used up.
 *
 * A thread that is off its CPU when the recording begins, or stays so to its end, has no event that
 * tells of it. Its samples do: its CPU time does not grow. The slice that follows from that is
 * marked as inferred, and waits, as an event may still come that says more.
 */
#include "analyze/tracks/track.h"

#include <stdlib.h>

#include "analyze/tracks/track_internal.h"

struct tracks *tracks_new(const struct track_options *options, const struct track_sink *sink)
{
	struct tracks *all = calloc(1, sizeof(*all));

	if (!all)
		return NULL;
	all->options = *options;
	all->sink = *sink;
	return all;
}

void tracks_free(struct tracks *all)
{
	if (!all)
		return;
	keymap_free(&all->map);
	free(all->rows);
	free(all);
}

static struct track_level *top(struct track *t, enum state state)
{
	struct track_level *l = t->depth ? &t->levels[t->depth - 1] : NULL;

	return l && l->state == state ? l : NULL;
}

/*
 * An end without a begin. If it is the first that is heard of the thread, or its samples say that
 * it has not run, it was so since then.
 */
static int begin_missing(struct tracks *all, struct track *t, enum state state,
			 const struct event *e)
{
	struct track_slice s = {.state = state,
				.lock = e->v[0].u, /* of all three */
				.begin_ns = t->at_ns,
				.end_ns = all->now_ns,
				.end = e,
				.to = track_counters_of(e, COUNTERS_OF_THREAD),
				.from = t->at};
	uint64_t ran_ns;

	if (t->idle.known) {
		s.begin_ns = t->idle.since_ns;
		s.from = t->idle.at;
	} else if (t->own) {
		return 0;
	}
	ran_ns = track_less(s.to.cpu_ns, s.from.cpu_ns) +
		 track_less(s.to.stolen_ns, s.from.stolen_ns);
	if (s.from.known && s.to.known && ran_ns > track_less(s.end_ns, s.begin_ns) / 8)
		return 0;
	t->idle.known = false;
	return track_put_leaf(all, t, &s);
}

_Static_assert(!MONITOR_CONTENDED_ENTERED_LOCK && !MONITOR_WAIT_END_LOCK && !PARK_END_LOCK,
	       "the first field");

/*
 * The thread is in Object.wait() on this monitor. If that is news, it was so since the last that is
 * known of it: the begin of a wait that begins in the recording is an event.
 */
static int in_wait(struct tracks *all, struct track *t, uint64_t lock)
{
	struct track_level *l;
	int err = track_drop(all, t, true);

	l = top(t, STATE_WAIT);
	if (err || (l && l->lock == lock))
		return err;
	err = track_drop(all, t, false);
	if (err)
		return err;
	track_push(t, STATE_WAIT, lock, all->now_ns, NULL);
	l = top(t, STATE_WAIT);
	if (!t->own)
		l->begin_ns = t->at_ns;
	else if (t->idle.known)
		l->begin_ns = t->idle.since_ns;
	t->idle.known = false;
	return 0;
}

static int on_enter(struct tracks *all, struct track *t, const struct event *e)
{
	uint64_t lock = e->v[MONITOR_CONTENDED_ENTER_LOCK].u;
	bool after_wait = e->v[MONITOR_CONTENDED_ENTER_AFTER_WAIT].u;
	struct track_level *l = top(t, STATE_LOCK);
	int err;

	if (l && l->lock == lock && l->after_wait && after_wait) { /* it has been notified */
		l->begin = *e;
		return 0;
	}
	err = after_wait ? in_wait(all, t, lock) : track_drop(all, t, true);
	if (err)
		return err;
	track_push(t, STATE_LOCK, lock, all->now_ns, e);
	t->levels[t->depth - 1].after_wait = after_wait;
	return 0;
}

static int on_entered(struct tracks *all, struct track *t, const struct event *e)
{
	const struct track_level *l = top(t, STATE_LOCK);
	int err;

	if (l && l->lock == e->v[MONITOR_CONTENDED_ENTERED_LOCK].u)
		return track_pop(all, t, e, TRACK_ENDED);
	err = track_drop(all, t, true);
	return err ? err : begin_missing(all, t, STATE_LOCK, e);
}

static int on_wait_begin(struct tracks *all, struct track *t, const struct event *e)
{
	int err = track_drop(all, t, false);

	if (!err)
		track_push(t, STATE_WAIT, e->v[MONITOR_WAIT_BEGIN_LOCK].u, all->now_ns, e);
	return err;
}

static int on_wait_end(struct tracks *all, struct track *t, const struct event *e)
{
	int err = track_drop(all, t, true);
	const struct track_level *l = top(t, STATE_WAIT);

	if (err)
		return err;
	if (l && l->lock == e->v[MONITOR_WAIT_END_LOCK].u)
		return track_pop(all, t, e, TRACK_ENDED);
	err = track_drop(all, t, false);
	return err ? err : begin_missing(all, t, STATE_WAIT, e);
}

static int on_park_begin(struct tracks *all, struct track *t, const struct event *e)
{
	int err = track_drop(all, t, false);

	if (!err)
		track_push(t, STATE_PARK, e->v[PARK_BEGIN_LOCK].u, all->now_ns, e);
	return err;
}

static int on_park_end(struct tracks *all, struct track *t, const struct event *e)
{
	const struct track_level *l = top(t, STATE_PARK);
	uint64_t lock = e->v[PARK_END_LOCK].u;
	int err;

	if (l && (!lock || lock == l->lock))
		return track_pop(all, t, e, TRACK_ENDED);
	err = track_drop(all, t, false);
	return err ? err : begin_missing(all, t, STATE_PARK, e);
}

static bool is_in(const struct track *t, enum state state)
{
	for (unsigned i = 0; i < t->depth; i++) {
		if (t->levels[i].state == state)
			return true;
	}
	return false;
}

struct off_slice {
	enum state state; /* STATE_COUNT: it is said already, by the level that it is in */
	uint64_t begin_ns, end_ns;
};

/* What it did off its CPU up to now, in order. */
static void parts_of(const struct track *t, const struct event *e, uint64_t now_ns,
		     struct off_slice ret[3])
{
	uint64_t off_ns = e->v[OFF_CPU_OFF_NS].u, wait_ns = e->v[OFF_CPU_CPU_WAIT_NS].u;
	uint64_t throttled_ns = e->v[OFF_CPU_THROTTLED_PART_NS].u;
	enum state blocked = state_of_reason(e->v[OFF_CPU_REASON].u);

	wait_ns = wait_ns < off_ns ? wait_ns : off_ns;
	throttled_ns = throttled_ns < wait_ns ? throttled_ns : wait_ns;
	ret[2] = (struct off_slice){STATE_RUNNABLE, track_less(now_ns, wait_ns - throttled_ns),
				    now_ns};
	ret[1] = (struct off_slice){STATE_THROTTLED, track_less(now_ns, wait_ns), ret[2].begin_ns};
	ret[0] = (struct off_slice){blocked, track_less(now_ns, off_ns), ret[1].begin_ns};
	if (is_in(t, blocked) || (t->depth && blocked == STATE_OTHER))
		ret[0].state = STATE_COUNT;
}

static int on_off_cpu(struct tracks *all, struct track *t, const struct event *e)
{
	struct track_counters k = track_counters_of(e, COUNTERS_OF_THREAD);
	struct off_slice parts[3];
	int err = 0;

	parts_of(t, e, all->now_ns, parts);
	k.runnable_ns = track_less(k.runnable_ns, parts[2].end_ns - parts[1].begin_ns);
	k.throttled_ns = track_less(k.throttled_ns, parts[1].end_ns - parts[1].begin_ns);
	/* What samples say of this time is said better now. */
	if (t->idle.known && !t->depth && t->idle.until_ns <= parts[0].begin_ns)
		err = track_put_idle(all, t, parts[0].begin_ns);
	t->idle.known = false;
	for (int i = 0; i < 3 && !err; i++) {
		struct track_slice s = {.state = parts[i].state,
					.begin_ns = parts[i].begin_ns,
					.end_ns = parts[i].end_ns,
					.from = k,
					.end = e};

		if (i > 0)
			k.runnable_ns += s.end_ns - s.begin_ns;
		if (i == 1)
			k.throttled_ns += s.end_ns - s.begin_ns;
		s.to = k;
		if (s.state != STATE_COUNT)
			err = track_put_leaf(all, t, &s);
	}
	return err;
}

static int on_theft(struct tracks *all, struct track *t, const struct event *e)
{
	struct track_slice s = {.state = STATE_STOLEN,
				.begin_ns = track_less(all->now_ns, e->v[THEFT_TAKEN_NS].u),
				.end_ns = all->now_ns,
				.begin = e};
	struct track_level held;
	int err;

	/* It must have been before the thread came into the level that it is in now. */
	if (t->depth == 1 && !t->levels[0].placed && s.begin_ns < t->levels[0].begin_ns) {
		held = t->levels[0];
		s.end_ns = held.begin_ns;
		s.begin_ns = track_less(s.end_ns, e->v[THEFT_TAKEN_NS].u);
		t->depth = 0;
		err = track_put_leaf(all, t, &s);
		t->levels[0] = held;
		t->depth = 1;
		return err;
	}
	return track_put_leaf(all, t, &s);
}

/* Off its CPU since the sample before, or longer: it has run for as long as it can have. */
static uint64_t idle_since(const struct tracks *all, const struct track *t)
{
	struct track_counters k = track_counters_of_states(&t->sample);
	uint64_t ran_ns;

	if (!all->options.off_cpu || !t->at.known || t->sample_ns <= t->at_ns)
		return track_later(t->sample_ns, t->at_ns);
	ran_ns = track_less(k.cpu_ns, t->at.cpu_ns) + track_less(k.stolen_ns, t->at.stolen_ns) +
		 track_less(k.runnable_ns, t->at.runnable_ns);
	return t->at_ns + ran_ns < t->sample_ns ? t->at_ns + ran_ns : t->sample_ns;
}

static int on_sample(struct tracks *all, struct track *t, const struct event *e)
{
	struct states now;
	bool same;
	int err = 0;

	if (!states_of(e, &now))
		return 0;
	same = t->sampled && !t->depth && now.ns[STATE_RUNNING] == t->sample.ns[STATE_RUNNING] &&
	       now.ns[STATE_STOLEN] == t->sample.ns[STATE_STOLEN] && t->at_ns <= t->sample_ns;
	if (same && t->idle.known && t->idle.until_ns < t->sample_ns)
		err = track_put_idle(all, t, t->idle.until_ns);
	if (same && !t->idle.known)
		t->idle = (struct track_idle){.known = true,
					      .since_ns = idle_since(all, t),
					      .from = t->sample,
					      .at = track_counters_of_states(&t->sample)};
	if (same) {
		t->idle.until_ns = all->now_ns;
		t->idle.to = now;
	}
	t->sampled = true;
	t->before = t->sample;
	t->sample = now;
	t->sample_ns = all->now_ns;
	return err;
}

static int close_all(struct tracks *all, struct track *t, enum track_end how,
		     const struct track_counters *at)
{
	int err = 0;

	while (!err && t->depth)
		err = track_pop(all, t, NULL, how);
	return err ? err : track_run_to(all, t, all->now_ns, at);
}

static int on_thread_end(struct tracks *all, struct track *t, const struct event *e)
{
	struct track_counters at = track_counters_of(e, COUNTERS_OF_THREAD);

	t->ended = true;
	return close_all(all, t, TRACK_THREAD_ENDED, &at);
}

static int on_other(struct tracks *all, struct track *t, const struct event *e)
{
	(void)all;
	(void)t;
	(void)e;
	return 0;
}

/* By the notifier's event: the waiter goes for the monitor from now on. */
static int on_notify(struct tracks *all, struct track *t, const struct event *e)
{
	int err = in_wait(all, t, e->v[MONITOR_NOTIFY_LOCK].u);
	struct track_level *l;

	if (err)
		return err;
	track_push(t, STATE_LOCK, e->v[MONITOR_NOTIFY_LOCK].u, all->now_ns, e);
	l = &t->levels[t->depth - 1];
	l->after_wait = true;
	l->notifier = e->thread;
	return 0;
}

static int track_of(struct tracks *all, uint32_t thread, const struct event *e, struct track **ret)
{
	uint32_t index, known = all->map.count;
	struct states first;
	struct track *t;
	int err = keymap_add_row(&all->map, (struct keymap_key){.a = thread}, &all->rows,
				 &all->capacity, sizeof(*all->rows), &index);

	if (err)
		return err;
	t = &all->rows[index];
	*ret = t;
	if (index < known)
		return 0;
	t->thread = thread;
	t->start_ns = all->now_ns;
	if (e->id == EVENT_OFF_CPU)
		t->start_ns =
			track_later(all->first_ns, track_less(all->now_ns, e->v[OFF_CPU_OFF_NS].u));
	t->at_ns = t->start_ns;
	if (e->id == EVENT_THREAD_SAMPLE && states_of(e, &first)) /* all 0: it has not run yet */
		t->at = track_counters_of_states(&first);
	return 0;
}

int tracks_add(struct tracks *all, const struct event *e)
{
	static int (*const on[SCHEMA_ID_MAX + 1])(struct tracks *, struct track *,
						  const struct event *) = {
		[EVENT_MONITOR_CONTENDED_ENTER] = on_enter,
		[EVENT_MONITOR_CONTENDED_ENTERED] = on_entered,
		[EVENT_MONITOR_WAIT_BEGIN] = on_wait_begin,
		[EVENT_MONITOR_WAIT_END] = on_wait_end,
		[EVENT_MONITOR_NOTIFY] = on_notify,
		[EVENT_PARK_BEGIN] = on_park_begin,
		[EVENT_PARK_END] = on_park_end,
		[EVENT_OFF_CPU] = on_off_cpu,
		[EVENT_THEFT] = on_theft,
		[EVENT_THREAD_SAMPLE] = on_sample,
		[EVENT_THREAD_END] = on_thread_end,
		[EVENT_THREAD_START] = on_other,
		[EVENT_SPAN_BEGIN] = on_other,
		[EVENT_SPAN_END] = on_other,
		[EVENT_THREAD_RENAME] = on_other,
	};
	uint32_t thread = e->thread;
	struct track *t;
	int err;

	if (!all->begun)
		all->first_ns = all->now_ns = e->time_ns;
	all->begun = true;
	all->now_ns = track_later(all->now_ns, e->time_ns); /* a late one may not turn time back */
	if (e->id > SCHEMA_ID_MAX || !on[e->id])
		return 0;
	if (e->id == EVENT_MONITOR_NOTIFY) {
		thread = (uint32_t)e->v[MONITOR_NOTIFY_TARGET].u;
		if (!e->v[MONITOR_NOTIFY_SEQUENCE].u || thread == e->thread ||
		    thread != e->v[MONITOR_NOTIFY_TARGET].u)
			return 0;
	}
	if (!thread)
		return 0;
	err = track_of(all, thread, e, &t);
	if (err || t->ended)
		return err;
	err = on[e->id](all, t, e);
	t->own |= e->id != EVENT_THREAD_SAMPLE && e->id != EVENT_MONITOR_NOTIFY;
	return err;
}

/*
 * Since the last event it has been blocked for most of the time: at the end it still is, as of a
 * long break that has ended there would be an event.
 */
static void idle_at_end(const struct tracks *all, struct track *t)
{
	struct track_counters k = track_counters_of_states(&t->sample);
	uint64_t whole_ns = track_less(t->sample_ns, t->at_ns), ran_ns;

	ran_ns = track_less(k.cpu_ns, t->at.cpu_ns) + track_less(k.stolen_ns, t->at.stolen_ns) +
		 track_less(k.runnable_ns, t->at.runnable_ns);
	if (!all->options.off_cpu || t->depth || t->idle.known || !t->sampled || !t->at.known ||
	    ran_ns >= whole_ns / 8)
		return;
	t->idle = (struct track_idle){.known = true,
				      .since_ns = t->at_ns + ran_ns,
				      .until_ns = all->now_ns,
				      .from = t->before,
				      .to = t->sample,
				      .at = k};
}

int tracks_finish(struct tracks *all, uint64_t end_ns)
{
	const struct track_counters none = {0};
	struct track_counters at;
	int err = 0;

	all->now_ns = track_later(all->now_ns, end_ns);
	for (uint32_t i = 0; i < all->map.count && !err; i++) {
		struct track *t = &all->rows[i];

		if (t->ended)
			continue;
		/* Nothing has been heard of it since. */
		if (t->idle.known && t->idle.until_ns == t->sample_ns)
			t->idle.until_ns = all->now_ns;
		idle_at_end(all, t);
		t->ended = true;
		at = track_counters_of_states(&t->sample);
		if (!t->depth && !t->idle.known && t->sampled)
			err = track_run_to(all, t, t->sample_ns, &at);
		if (!err)
			err = close_all(all, t, TRACK_LOG_ENDED, &none);
	}
	return err;
}

bool tracks_cover(const struct tracks *all, uint64_t thread, uint64_t ns)
{
	uint32_t index = keymap_find(&all->map, (struct keymap_key){.a = thread});
	const struct track *t = index == INDEX_NONE ? NULL : &all->rows[index];

	return t && t->start_ns <= ns && t->start_ns < all->options.until_ns &&
	       (!t->ended || (ns <= t->at_ns && t->start_ns < t->at_ns));
}
