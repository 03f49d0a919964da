/*
 * Park and unpark, with the blocker (Thread.parkBlocker), its class, and, where the class says so,
 * its owner. The thread is in the VM at these probes, so that no collector moves the objects while
 * they are read.
 */
#include "bpf/stack.bpf.h"

#include <bpf/usdt.bpf.h>

#define RRWL_SHARED_SHIFT                                                                          \
	16 /* ReentrantReadWriteLock.Sync: read holds in the upper half of state */

static __always_inline __u64 blocker_read(struct thread_state *t)
{
	__u64 java_thread, oop;

	if (!layout.ready || layout.thread_park_blocker < 0)
		return 0;
	if (!t->thread_handle) {
		java_thread = java_thread_current(t);
		if (!java_thread)
			return 0;
		t->thread_handle = read_u64(java_thread + layout.jt_thread_obj);
	}
	oop = t->thread_handle ? read_u64(t->thread_handle) : 0;
	return oop ? read_oop(oop + layout.thread_park_blocker) : 0;
}

/* The thread behind a java.lang.Thread object. */
static __always_inline __u32 thread_object_tid(__u64 oop)
{
	if (!oop || layout.thread_eetop < 0)
		return 0;
	return java_thread_tid(read_u64(oop + layout.thread_eetop));
}

/* Who holds it, as far as java.util.concurrent's own fields tell. Never a guess: 0 when they do
 * not. */
static __always_inline __u32 blocker_owner(__u64 object, __u32 flags, __u32 *ret_source,
					   __u32 *ret_readers)
{
	__u64 thread;
	__u32 tid;

	*ret_source = WIRE_OWNER_UNKNOWN;
	*ret_readers = 0;
	if (!(flags & WIRE_CLASS_AOS) || layout.aos_owner < 0)
		return 0;
	thread = read_oop(object + layout.aos_owner);
	if (thread) {
		tid = thread_object_tid(thread);
		*ret_source = tid ? WIRE_OWNER_EXCLUSIVE : WIRE_OWNER_UNRESOLVED;
		return tid;
	}
	*ret_source = WIRE_OWNER_NONE;
	if (!(flags & WIRE_CLASS_RRWL) || layout.aqs_state < 0 || layout.rrwl_first_reader < 0)
		return 0;
	*ret_readers = read_u32(object + layout.aqs_state) >> RRWL_SHARED_SHIFT;
	if (!*ret_readers)
		return 0;
	/* Not null: a thread that has held a read lock since the count was last zero. */
	tid = thread_object_tid(read_oop(object + layout.rrwl_first_reader));
	*ret_source = tid ? WIRE_OWNER_FIRST_READER : WIRE_OWNER_UNKNOWN;
	return tid;
}

static __always_inline void parker_learn(struct thread_state *t, __u64 parker)
{
	__u32 tid = current_tid();

	if (t->parker == parker)
		return;
	t->parker = parker;
	bpf_map_update_elem(&parkers, &parker, &tid, BPF_ANY);
}

SEC("usdt")
int BPF_USDT(park_begin, __u64 parker, __u32 absolute, __u64 time)
{
	__u64 now = bpf_ktime_get_ns(), object, klass = 0, turns;
	struct thread_state *t = thread_current(now);
	struct wire_lock *r;
	__u32 flags = 0, owner = 0, source = WIRE_OWNER_UNKNOWN, readers = 0, hash = 0;
	__u32 tid = current_tid(), stack, owner_stack, again;

	if (!t) {
		count_drop(WIRE_PARK_BEGIN, WIRE_LOST_MAP);
		return 0;
	}
	parker_learn(t, parker);
	object = blocker_read(t);
	if (object) {
		klass = oop_klass(object);
		flags = class_flags(klass);
		hash = mark_hash(read_u64(object + layout.oop_mark));
		owner = blocker_owner(object, flags, &source, &readers);
	}
	t->park_object = object;
	t->park_klass = klass;
	t->park_owner = owner;
	t->park_owner_source = source;
	t->park_hash = hash;
	t->want = 0;
	stack = stack_here(ctx, t, 0);
	owner_stack = stack_of_owner(owner, tid, &turns);
	if (owner_stack && (blocker_owner(object, flags, &again, &again) != owner ||
			    !owner_still(owner, turns)))
		owner_stack = 0;
	now = bpf_ktime_get_ns(); /* the walks are no part of the time that it is parked */
	r = emit_reserve(WIRE_PARK_BEGIN, sizeof(*r));
	if (!r)
		return 0;
	head_fill(&r->head, WIRE_PARK_BEGIN, absolute & 0xff ? WIRE_ABSOLUTE : 0, tid, now);
	thread_snapshot(t, now, &r->self);
	r->object = object;
	r->handle = 0;
	r->klass = klass;
	r->time = time;
	r->hash = hash;
	r->readers = readers;
	r->stack = stack;
	r->pad = 0;
	r->owner_stack = owner_stack;
	r->owner_pad = 0;
	r->owner_tid = owner;
	r->owner_source = source;
	thread_snapshot_of(owner, now, &r->owner);
	emit_submit(r);
	return 0;
}

SEC("usdt")
int BPF_USDT(park_end, __u64 parker)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct wire_lock *r;

	if (!t) {
		count_drop(WIRE_PARK_END, WIRE_LOST_MAP);
		return 0;
	}
	parker_learn(t, parker);
	r = emit_reserve(WIRE_PARK_END, sizeof(*r));
	if (!r)
		return 0;
	head_fill(&r->head, WIRE_PARK_END, 0, current_tid(), now);
	thread_snapshot(t, now, &r->self);
	r->object = t->park_object;
	/* A collection during the park may have moved it: its new address keeps the lock's
	 * identity. */
	r->handle = t->park_object ? blocker_read(t) : 0;
	r->klass = t->park_klass;
	r->time = 0;
	r->hash = t->park_hash;
	r->readers = 0;
	r->stack = 0;
	r->pad = 0;
	r->owner_stack = 0;
	r->owner_pad = 0;
	r->owner_tid = t->park_owner;
	r->owner_source = t->park_owner_source;
	thread_snapshot_of(t->park_owner, now, &r->owner);
	t->park_object = 0;
	t->park_klass = 0;
	t->park_owner = 0;
	t->park_owner_source = 0;
	t->park_hash = 0;
	emit_submit(r);
	return 0;
}

SEC("usdt")
int BPF_USDT(unpark, __u64 parker)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct wire_unpark *r;
	__u32 *target, stack;

	if (!t) {
		count_drop(WIRE_UNPARK, WIRE_LOST_MAP);
		return 0;
	}
	t->want = 0;
	stack = stack_here(ctx, t, 0);
	r = emit_reserve(WIRE_UNPARK, sizeof(*r));
	if (!r)
		return 0;
	head_fill(&r->head, WIRE_UNPARK, 0, current_tid(), now);
	thread_snapshot(t, now, &r->self);
	target = bpf_map_lookup_elem(&parkers, &parker);
	r->target_tid = target ? *target : 0;
	r->stack = stack;
	emit_submit(r);
	return 0;
}
