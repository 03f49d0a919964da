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

/* The begin of a wait that is no contention. turn: that of the wait; if it is not the same any
 * more, nothing is emitted. 0: nothing was. */
SUBPROGRAM int wait_emit_begin(struct thread_state *t, struct thread_wait *w, __u32 turn)
{
	int park = w && w->what == WIRE_BLOCKED_PARK;
	struct wire_lock *r;

	if (!t || !w)
		return 0;
	r = emit_reserve(park ? WIRE_PARK_BEGIN : WIRE_MONITOR_WAIT_BEGIN, sizeof(*r));
	if (!r)
		return 0;
	lock_fill(r, park ? WIRE_PARK_BEGIN : WIRE_MONITOR_WAIT_BEGIN, 0, t->tid, t, w->begin_ns);
	r->self = w->at_begin;
	wait_identify(r, w);
	r->stack = w->stack;
	lock_owner(r, 0, 0, park ? t->park.owner_source : WIRE_OWNER_UNKNOWN, 0, w->begin_ns);
	if (__sync_val_compare_and_swap(&w->turn, turn, turn | WAIT_BEGUN) != turn) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		return 0;
	}
	emit_submit(r);
	return 1;
}

static __always_inline int wait_emit_end(struct thread_state *t, const struct thread_wait *w,
					 __u64 now)
{
	int park = w->what == WIRE_BLOCKED_PARK;
	struct wire_lock *r =
		emit_reserve(park ? WIRE_PARK_END : WIRE_MONITOR_WAIT_END, sizeof(*r));

	if (!r)
		return 0;
	lock_fill(r, park ? WIRE_PARK_END : WIRE_MONITOR_WAIT_END, 0, t->tid, t, now);
	wait_identify(r, w);
	lock_owner_was(r, park ? t->park.owner : 0,
		       park && !(t->park.owner & WIRE_VIRTUAL) ? t->park.owner : 0,
		       park ? t->park.owner_source : 0, now);
	emit_submit(r);
	return 0;
}

/* The thread seems to have had its monitor since w->end.ns: it has. 0: another was faster to say
 * so. */
SUBPROGRAM int lock_emit_end(struct thread_state *t, struct thread_wait *w, __u32 turn)
{
	struct wire_lock *r;

	if (!t || !w)
		return 0;
	r = emit_reserve(WIRE_MONITOR_ENTERED, sizeof(*r));
	if (!r)
		return 0;
	lock_fill(r, WIRE_MONITOR_ENTERED, 0, t->tid, t, w->end.ns);
	r->self = w->end.self;
	wait_identify(r, w);
	r->owner = w->end.owner;
	r->owner_tid = w->owner.tid;
	r->owner_source = w->owner.tid ? WIRE_OWNER_JAVA_THREAD : WIRE_OWNER_UNKNOWN;
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

static __always_inline int wait_sum_fits(const struct wait_sum *s, const struct thread_wait *w)
{
	return s->object == w->on.object && s->stack == w->stack && s->what == w->what &&
	       s->klass == w->on.klass;
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
