/*
 * Park and unpark, with the blocker (Thread.parkBlocker), its class, and, where the class says so,
 * its owner. The thread is in the VM at these probes, so that no collector moves the objects while
 * they are read.
 */
#include "bpf/lib/blocker.bpf.h"
#include "bpf/lib/probe.bpf.h"

/* tid: whose parker it is now, as of thread_subject(). */
static __always_inline void parker_learn(struct thread_state *t, __u64 parker, __u32 tid)
{
	if (t->park.parker == parker && t->park.subject == tid)
		return;
	t->park.parker = parker;
	t->park.subject = tid;
	bpf_map_update_elem(&parkers, &parker, &tid, BPF_ANY);
}

/* (parker, absolute, time) */
PROBE(park_begin, __u64 parker)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct blocker b = {};
	struct wire_lock *r;
	__u32 stack, owner_stack;

	if (!t) {
		count_drop(WIRE_PARK_BEGIN, WIRE_LOST_MAP);
		return 0;
	}
	set_probe_reason(t, WIRE_BLOCKED_PARK);
	parker_learn(t, parker, thread_subject(t, 0));
	virtual_stays(t->park.subject);
	b.object = blocker_read(t, t->park.subject);
	blocker_look(&b);
	park_keep(t, &b);
	t->chain.want = 0;
	stack = stack_here(ctx, t, 0);
	owner_stack = blocker_owner_stack(b.object, b.flags, b.owner);
	now = bpf_ktime_get_ns(); /* the walks are no part of the time that it is parked */
	r = park_begin_fill(t, t->park.subject, &b, stack, owner_stack, now);
	if (!r)
		return 0;
	if (probe_arg(spec, 1) & 0xff)
		r->head.flags |= WIRE_ABSOLUTE;
	r->time = probe_arg(spec, 2);
	emit_submit(r);
	return 0;
}

PROBE(park_end, __u64 parker)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	const struct blocker none = {};
	struct wire_lock *r;
	__u32 tid;

	if (!t) {
		count_drop(WIRE_PARK_END, WIRE_LOST_MAP);
		return 0;
	}
	thread_done(t, WIRE_BLOCKED_PARK);
	tid = thread_subject(t, 0);
	parker_learn(t, parker, tid);
	r = emit_reserve(WIRE_PARK_END, sizeof(*r));
	if (!r)
		return 0;
	lock_fill(r, WIRE_PARK_END, 0, tid, t, now);
	r->object = t->park.object;
	/* A collection during the park may have moved it: its new address keeps the lock's
	 * identity. */
	r->handle = t->park.object ? blocker_read(t, tid) : 0;
	r->klass = t->park.klass;
	r->hash = t->park.hash;
	lock_owner_was(r, t->park.owner, t->park.owner & WIRE_VIRTUAL ? 0 : t->park.owner,
		       t->park.owner_source, now);
	park_keep(t, &none);
	emit_submit(r);
	return 0;
}

PROBE(unpark, __u64 parker)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct wire_lock *r;
	__u32 *target, stack;

	if (!t) {
		count_drop(WIRE_UNPARK, WIRE_LOST_MAP);
		return 0;
	}
	t->chain.want = 0;
	stack = stack_here(ctx, t, 0);
	r = lock_short(WIRE_UNPARK, 0, thread_subject(t, 0), t, now);
	if (!r)
		return 0;
	target = bpf_map_lookup_elem(&parkers, &parker);
	r->target = target ? *target : 0;
	r->stack = stack;
	emit_submit(r);
	return 0;
}
