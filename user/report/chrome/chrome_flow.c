/*
 * Arrows: from who waits to who has what it waits for, and from who has let it go to who waited.
 * Both ends of an arrow lie in slices, as viewers want it. Of a stock JVM only a part of the
 * releases is reported, and late: one of a thread that is not the last known holder is not
 * believed.
 */
#include "report/chrome/chrome_internal.h"

static int lock_of(struct chrome *c, uint64_t lock, struct chrome_lock **ret)
{
	uint32_t index;
	int err = keymap_add_row(&c->lock_map, (struct keymap_key){.a = lock}, &c->locks,
				 &c->locks_capacity, sizeof(*c->locks), &index);

	if (err)
		return err;
	*ret = &c->locks[index];
	if ((*ret)->holes != c->holes)
		**ret = (struct chrome_lock){.holes = c->holes};
	return 0;
}

static int hold(struct chrome *c, uint64_t lock, uint64_t holder)
{
	struct chrome_lock *l;
	int err = lock_of(c, lock, &l);

	if (!err && holder)
		l->holder = holder;
	return err;
}

static int release(struct chrome *c, uint64_t lock, uint32_t thread)
{
	struct chrome_lock *l;
	int err = lock_of(c, lock, &l);

	if (err || (l->holder && l->holder != thread))
		return err;
	l->holder = 0;
	l->release = (struct chrome_wake){.by = thread, .time_ns = c->now_ns};
	return 0;
}

static int unpark(struct chrome *c, const struct event *e)
{
	uint64_t target = e->v[UNPARK_TARGET].u;
	struct chrome_thread *t;
	int err = target ? chrome_thread(c, target, &t) : 0;

	if (err || !target || t->unpark.by)
		return err;
	t->unpark = (struct chrome_wake){e->thread, c->now_ns, e->v[UNPARK_SEQUENCE].u};
	return 0;
}

int chrome_flow_add(struct chrome *c, const struct event *e)
{
	switch (e->id) {
	case EVENT_MONITOR_CONTENDED_ENTER:
		return hold(c, e->v[MONITOR_CONTENDED_ENTER_LOCK].u,
			    e->v[MONITOR_CONTENDED_ENTER_OWNER].u);
	case EVENT_MONITOR_OWNER_SEEN:
		return hold(c, e->v[MONITOR_OWNER_SEEN_LOCK].u, e->v[MONITOR_OWNER_SEEN_OWNER].u);
	case EVENT_MONITOR_WAIT_END:
		return hold(c, e->v[MONITOR_WAIT_END_LOCK].u, e->thread);
	case EVENT_MONITOR_CONTENDED_EXIT:
		return release(c, e->v[MONITOR_CONTENDED_EXIT_LOCK].u, e->thread);
	case EVENT_MONITOR_WAIT_BEGIN:
		return release(c, e->v[MONITOR_WAIT_BEGIN_LOCK].u, e->thread);
	case EVENT_UNPARK:
		return unpark(c, e);
	default:
		return 0;
	}
}

/* After the slice's end, which takes what has been added before. */
int chrome_flow_settle(struct chrome *c, const struct event *e)
{
	struct chrome_thread *t;
	struct chrome_lock *l;
	int err = 0;

	if (e->id == EVENT_PARK_END && e->thread) {
		err = chrome_thread(c, e->thread, &t);
		if (!err)
			t->unpark = (struct chrome_wake){0};
	} else if (e->id == EVENT_MONITOR_CONTENDED_ENTERED) {
		err = lock_of(c, e->v[MONITOR_CONTENDED_ENTERED_LOCK].u, &l);
		if (!err)
			*l = (struct chrome_lock){.holes = c->holes, .holder = e->thread};
	}
	return err;
}

static void put(struct chrome *c, char phase, const char *name, uint64_t track, uint64_t ns)
{
	struct chrome_out *o = &c->out;

	chrome_event(o, phase, track, ns);
	chrome_text(o, "name", name);
	chrome_text(o, "cat", "flow");
	chrome_number(o, "id", c->next_flow);
	if (phase == 'f')
		chrome_text(o, "bp", "e");
	chrome_done(o);
}

static bool has_slice(const struct chrome *c, const struct chrome_thread *t, uint64_t ns)
{
	return !t->hidden && chrome_in_range(c, ns) && tracks_cover(c->tracks, t->thread, ns);
}

static int flow(struct chrome *c, const char *name, uint64_t from, uint64_t from_ns, uint64_t to,
		uint64_t to_ns)
{
	struct chrome_thread *f, *t;
	uint64_t track;
	int err = from && to && from != to ? chrome_thread(c, from, &f) : 1;

	if (err || !has_slice(c, f, from_ns))
		return err < 0 ? err : 0;
	track = f->track;
	err = chrome_thread(c, to, &t);
	if (err || !has_slice(c, t, to_ns))
		return err;
	c->next_flow++;
	put(c, 's', name, track, from_ns);
	put(c, 'f', name, t->track, to_ns);
	return 0;
}

int chrome_flow_begin(struct chrome *c, const struct track_slice *s)
{
	const struct event *e = s->begin;
	uint64_t owner = 0, ns = s->begin_ns;
	int err = 0;

	if (s->notifier)
		err = flow(c, "notify", s->notifier, ns, s->thread, ns);
	if (err || !e)
		return err;
	if (e->id == EVENT_MONITOR_CONTENDED_ENTER)
		owner = e->v[MONITOR_CONTENDED_ENTER_OWNER].u;
	else if (e->id == EVENT_PARK_BEGIN)
		owner = e->v[PARK_BEGIN_OWNER].u;
	ns = e->time_ns > ns ? e->time_ns : ns;
	return flow(c, "owner", s->thread, ns, owner, ns);
}

static const struct chrome_wake *unparked_by(const struct event *end, const struct chrome_thread *t)
{
	uint64_t how = end->v[PARK_END_HOW].u, by = end->v[PARK_END_BY].u;

	if (how != PARK_END_UNPARKED && how != PARK_END_UNKNOWN)
		return NULL;
	return !by || by == t->unpark.sequence ? &t->unpark : NULL;
}

int chrome_flow_end(struct chrome *c, const struct track_slice *s)
{
	const struct event *e = s->end;
	struct chrome_wake wake = {0};
	struct chrome_thread *t;
	struct chrome_lock *l;
	int err = 0;

	if (!e || s->how != TRACK_ENDED || s->shown_end_ns != s->end_ns)
		return 0;
	if (e->id == EVENT_MONITOR_CONTENDED_ENTERED) {
		err = lock_of(c, e->v[MONITOR_CONTENDED_ENTERED_LOCK].u, &l);
		if (!err && l->release.time_ns >= s->begin_ns)
			wake = l->release;
	} else if (e->id == EVENT_PARK_END) {
		err = chrome_thread(c, s->thread, &t);
		if (!err && unparked_by(e, t))
			wake = t->unpark;
	}
	if (err || !wake.by)
		return err;
	return flow(c, e->id == EVENT_PARK_END ? "unpark" : "release", wake.by, wake.time_ns,
		    s->thread, s->end_ns);
}
