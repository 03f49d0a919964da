/* bpf/lib/lock.bpf.h: records of monitors and parks, filled. */
#pragma once

#include "bpf/lib/stack.bpf.h"

/* tid: of the running thread, or of the virtual one that it carries. All but the owner, and what
 * only some events have. */
static __always_inline void lock_fill(struct wire_lock *r, __u32 kind, __u32 flags, __u32 tid,
				      const struct thread_state *t, __u64 now)
{
	head_fill(&r->head, kind, flags, tid, now);
	if (may_unmount(tid)) {
		r->self = (struct wire_counters){};
	} else {
		thread_snapshot(t, now, &r->self);
		r->head.flags |= tid & WIRE_VIRTUAL ? WIRE_PINNED : 0;
	}
	r->object = 0;
	r->handle = 0;
	r->klass = 0;
	r->sequence = 0;
	r->time = 0;
	r->forward = 0;
	r->hash = 0;
	r->how = 0;
	r->target = 0;
	r->readers = 0;
	r->stack = 0;
	r->carrier = tid & WIRE_VIRTUAL ? t->tid : 0;
}

/* on: the kernel thread that the owner is on. */
static __always_inline void lock_owner(struct wire_lock *r, __u32 owner, __u32 on, __u32 source,
				       __u32 stack, __u64 now)
{
	thread_snapshot_of(may_unmount(owner) ? 0 : on, now, &r->owner);
	r->owner_tid = owner;
	r->owner_source = source;
	r->owner_stack = stack;
	r->owner_doing = thread_blocked(on, now, &r->owner_doing_ns);
	r->owner_carrier = owner & WIRE_VIRTUAL ? on : 0;
	r->pad = 0;
}

/* The owner of a lock that is free again: what it does now is nothing to its waiter. */
static __always_inline void lock_owner_was(struct wire_lock *r, __u32 owner, __u32 on, __u32 source,
					   __u64 now)
{
	thread_snapshot_of(may_unmount(owner) ? 0 : on, now, &r->owner);
	r->owner_tid = owner;
	r->owner_source = source;
	r->owner_stack = 0;
	r->owner_doing = 0;
	r->owner_doing_ns = 0;
	r->owner_carrier = r->pad = 0;
}

/* A record without an owner; NULL: it is lost, and counted. */
static __always_inline struct wire_lock *lock_short(__u32 kind, __u32 flags, __u32 tid,
						    const struct thread_state *t, __u64 now)
{
	struct wire_lock *r = emit_reserve(kind, WIRE_LOCK_SHORT);

	if (r)
		lock_fill(r, kind, flags, tid, t, now);
	return r;
}
