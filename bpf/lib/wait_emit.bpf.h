/* bpf/lib/wait_emit.bpf.h: the records of waits that the scheduler sees, and their sums. */
#pragma once

#include "bpf/lib/wait_reason.bpf.h"

/* What the wait is on. */
static __always_inline void wait_identify(struct wire_lock *r, const struct thread_wait *w)
{
	if (layout.raw_oops)
		r->head.flags |= WIRE_HANDLE_MOVES;
	r->object = w->on.object;
	r->handle = w->on.handle; /* 0: of a park */
	r->klass = w->on.klass;
	r->hash = w->on.hash;
}

static __always_inline __u32 wait_begin_kind(const struct thread_wait *w)
{
	return w->what == WIRE_BLOCKED_LOCK   ? WIRE_MONITOR_ENTER
	       : w->what == WIRE_BLOCKED_PARK ? WIRE_PARK_BEGIN
					      : WIRE_MONITOR_WAIT_BEGIN;
}

static __always_inline __u32 wait_end_kind(const struct thread_wait *w)
{
	return w->what == WIRE_BLOCKED_LOCK   ? WIRE_MONITOR_ENTERED
	       : w->what == WIRE_BLOCKED_PARK ? WIRE_PARK_END
					      : WIRE_MONITOR_WAIT_END;
}

/* A wait's begin, as it was then. */
static __always_inline void wait_begin_fill(struct wire_lock *r, __u32 kind, __u32 tid,
					    const struct thread_wait *w)
{
	head_fill(&r->head, kind, w->what == WIRE_BLOCKED_LOCK ? w->on.flags : 0, tid, w->begin_ns);
	r->self = w->at_begin;
	wait_identify(r, w);
	r->sequence = 0;
	r->time = 0;
	r->forward = 0;
	r->how = 0;
	r->target = 0;
	r->readers = w->what == WIRE_BLOCKED_PARK ? w->owner.readers : 0;
	r->stack = w->stack;
	r->carrier = 0;
	r->owner = w->begin.owner;
	r->owner_doing_ns = w->begin.doing_ns;
	r->owner_tid = w->begin.tid;
	r->owner_source = w->begin.source;
	r->owner_stack = w->begin.stack;
	r->owner_doing = w->begin.doing;
	r->owner_carrier = w->begin.carrier;
	r->pad = 0;
}

/* The begin of a wait that is not over. turn: that of the wait; if it is not the same any more,
 * nothing is emitted. 0: nothing was. */
SUBPROGRAM int wait_emit_begin(struct thread_state *t, struct thread_wait *w, __u32 turn)
{
	struct wire_lock *r;
	__u32 kind;

	if (!t || !w)
		return 0;
	kind = wait_begin_kind(w);
	r = emit_reserve(kind, sizeof(*r));
	if (!r)
		return 0;
	wait_begin_fill(r, kind, t->tid, w);
	if (__sync_val_compare_and_swap(&w->turn, turn, turn | WAIT_BEGUN) != turn) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return 0;
	}
	emit_submit(r);
	return 1;
}

/* The owner that a wait's end has, and the threads' counters then. */
struct wait_over {
	struct wire_counters *self, *owner;
	__u32 *tid, *source;
};

static __always_inline void wait_over_fill(struct thread_state *t, const struct thread_wait *w,
					   struct wait_over to, __u64 now)
{
	int park = w->what == WIRE_BLOCKED_PARK;
	__u32 owner = park ? t->park.owner : 0;

	if (w->what == WIRE_BLOCKED_LOCK) {
		*to.self = w->end.self;
		*to.owner = w->end.owner;
		*to.tid = w->owner.tid;
		*to.source = w->owner.tid ? WIRE_OWNER_JAVA_THREAD : WIRE_OWNER_UNKNOWN;
		return;
	}
	thread_snapshot(t, now, to.self);
	thread_snapshot_of(owner & WIRE_VIRTUAL ? 0 : owner, now, to.owner);
	*to.tid = owner;
	*to.source = park ? t->park.owner_source : WIRE_OWNER_UNKNOWN;
}

/* A wait that is over, and of which nothing has been emitted; as one record. turn: as above. 0: the
 * flush was faster, and has emitted its begin; or it is another wait. */
static __always_inline int wait_emit(struct thread_state *t, struct thread_wait *w, __u32 turn,
				     __u64 now)
{
	struct wire_wait *r = bpf_ringbuf_reserve(&events, sizeof(*r), 0);

	if (r) {
		wait_begin_fill(&r->begin, WIRE_WAIT, t->tid, w);
		r->end_ns = now;
		wait_over_fill(t, w,
			       (struct wait_over){&r->end_self, &r->end_owner, &r->end_owner_tid,
						  &r->end_owner_source},
			       now);
		r->what = w->what;
		r->pad = 0;
	}
	if (__sync_val_compare_and_swap(&w->turn, turn, (turn & ~3u) + WAIT_TURN) != turn) {
		if (r)
			bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return 0;
	}
	if (r) {
		emit_submit(r);
	} else {
		count_drop(wait_begin_kind(w), WIRE_LOST_RING);
		count_drop(wait_end_kind(w), WIRE_LOST_RING);
	}
	return 1;
}

/* The thread has waited until now. turn: of the wait. 0: another was faster to emit that. */
SUBPROGRAM int wait_emit_end(struct thread_state *t, struct thread_wait *w, __u32 turn, __u64 now)
{
	struct wire_lock *r;
	__u32 kind;

	if (!t || !w)
		return 0;
	if (!(turn & WAIT_BEGUN)) {
		if (wait_emit(t, w, turn, now))
			return 1;
		turn |= WAIT_BEGUN;
		if (w->turn != turn)
			return 0;
	}
	kind = wait_end_kind(w);
	r = emit_reserve(kind, sizeof(*r));
	if (!r)
		return 0;
	lock_fill(r, kind, 0, t->tid, t, now);
	wait_identify(r, w);
	wait_over_fill(t, w,
		       (struct wait_over){&r->self, &r->owner, &r->owner_tid, &r->owner_source},
		       now);
	r->owner_stack = 0;
	r->owner_doing = 0;
	r->owner_doing_ns = 0;
	r->owner_carrier = r->pad = 0;
	if (__sync_val_compare_and_swap(&w->turn, turn, (turn & ~3u) + WAIT_TURN) != turn) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return 0;
	}
	emit_submit(r);
	return 1;
}

/* --- sums -------------------------------------------------------------------------------- */

/* Reports what a sum has, and empties it. Whoever calls has the sums. */
static __always_inline void wait_sum_emit(struct wait_sum *s, __u32 tid, __u64 now)
{
	struct wire_wait_sum *r = emit_reserve(WIRE_WAIT_SUM, sizeof(*r));

	if (!r)
		return; /* it is kept, and reported with what is added to it */
	head_fill(&r->head, WIRE_WAIT_SUM, layout.raw_oops ? WIRE_HANDLE_MOVES : 0, tid, now);
	r->object = s->object;
	r->handle = s->handle;
	r->klass = s->klass;
	r->hash = s->hash;
	r->stack = s->stack;
	r->what = s->what;
	r->first_ns = s->first_ns;
	r->longest_ns = s->longest_ns;
	r->count = s->count;
	r->off_ns = s->off_ns;
	r->runnable_ns = s->runnable_ns;
	r->pad = 0;
	emit_submit(r);
	s->count = 0;
	s->off_ns = s->runnable_ns = s->longest_ns = 0;
}

static __always_inline int wait_sums_take(struct thread_wait *w)
{
	return !__sync_val_compare_and_swap(&w->sums.taken, 0, 1);
}

static __always_inline void wait_sums_give(struct thread_wait *w)
{
	__sync_val_compare_and_swap(&w->sums.taken, 1, 0);
}

/*
 * Whether a blocker has no number of its own in the log: what is no lock and has no identity hash
 * is known by its class there (ids_lock.c). It may be a new object for each wait, as a task is.
 */
static __always_inline int wait_by_class(const struct thread_wait *w)
{
	return w->what == WIRE_BLOCKED_PARK && !w->on.hash && w->on.klass &&
	       !(w->on.flags & (WIRE_CLASS_AOS | WIRE_CLASS_LOCK));
}

static __always_inline int wait_sum_fits(const struct wait_sum *s, const struct thread_wait *w)
{
	return s->stack == w->stack && s->what == w->what && s->klass == w->on.klass &&
	       (s->object == w->on.object || (!s->hash && wait_by_class(w)));
}

/* 0: the flush is at the sums. */
SUBPROGRAM int wait_sum_add(struct thread_state *t, struct thread_wait *w, __u64 now)
{
	struct wait_sum *s;
	__u64 off;

	if (!t || !w || !wait_sums_take(w))
		return 0;
	s = &w->sums.of[0];
	if (s->count && !wait_sum_fits(s, w))
		s = &w->sums.of[1];
	if (s->count && !wait_sum_fits(s, w)) {
		if (w->sums.of[0].first_ns < s->first_ns)
			s = &w->sums.of[0];
		wait_sum_emit(s, t->tid, now);
	}
	if (!s->count || !wait_sum_fits(s, w)) {
		s->object = w->on.object;
		s->handle = w->on.handle;
		s->klass = w->on.klass;
		s->hash = w->on.hash;
		s->stack = w->stack;
		s->what = w->what;
		s->first_ns = w->begin_ns;
	}
	off = since(now, w->begin_ns);
	s->off_ns += off;
	s->runnable_ns += since(t->time.runnable_ns, w->at_begin.runnable_ns);
	if (off > s->longest_ns)
		s->longest_ns = off;
	s->count++;
	wait_sums_give(w);
	return 1;
}
