/* Park and unpark of a patched JVM, by the probes of jvm-hooks/probes.h. The blocker's class and
 * hash come from the probe; its owner is read, as in park.bpf.c. */
#include "bpf/lib/blocker.bpf.h"
#include "bpf/lib/probe.bpf.h"

/* (sequence, parker, class, hash, absolute, time) */
PROBE(num_park_begin)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	__u64 klass = probe_arg(spec, 2);
	struct blocker b = {.klass = klass, .hash = (__u32)probe_arg(spec, 3)};
	__u32 stack, owner_stack, tid;
	struct wire_lock *r;

	if (!t) {
		count_drop(WIRE_PARK_BEGIN, WIRE_LOST_MAP);
		return 0;
	}
	set_probe_reason(t, WIRE_BLOCKED_PARK);
	b.flags = class_flags(klass);
	tid = thread_subject(t, 0); /* a virtual one that parks here is pinned */
	b.object = klass ? blocker_read(t, tid) : 0;
	b.owner_source = WIRE_OWNER_UNKNOWN;
	if (b.object)
		b.owner = blocker_owner(b.object, b.flags, &b.owner_source, &b.readers);
	park_keep(t, &b);
	t->chain.want = 0;
	stack = stack_here(ctx, t, 0);
	owner_stack = blocker_owner_stack(b.object, b.flags, b.owner);
	now = bpf_ktime_get_ns(); /* the walks are no part of the time that it is parked */
	r = park_begin_fill(t, tid, &b, stack, owner_stack, now);
	if (!r)
		return 0;
	if (probe_arg(spec, 4))
		r->head.flags |= WIRE_ABSOLUTE;
	r->object = 0;
	r->sequence = probe_arg(spec, 0);
	r->time = probe_arg(spec, 5);
	emit_submit(r);
	return 0;
}

PROBE(num_park_end, __u64 sequence, __u64 parker, __u64 how, __u64 by)
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
	r = emit_reserve(WIRE_PARK_END, sizeof(*r));
	if (!r)
		return 0;
	lock_fill(r, WIRE_PARK_END, 0, tid, t, now);
	r->klass = t->park.klass;
	r->hash = t->park.hash;
	r->sequence = sequence;
	r->how = (__u32)how;
	r->forward = by;
	lock_owner_was(r, t->park.owner, t->park.owner & WIRE_VIRTUAL ? 0 : t->park.owner,
		       t->park.owner_source, now);
	park_keep(t, &none);
	emit_submit(r);
	return 0;
}

PROBE(num_unpark, __u64 sequence, __u64 parker, __u64 ns_tid)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct wire_lock *r;
	__u32 stack;

	if (!t) {
		count_drop(WIRE_UNPARK, WIRE_LOST_MAP);
		return 0;
	}
	t->chain.want = 0;
	stack = stack_here(ctx, t, 0);
	r = lock_short(WIRE_UNPARK, 0, thread_subject(t, 0), t, now);
	if (!r)
		return 0;
	r->sequence = sequence;
	r->target = tid_of_hook(ns_tid);
	r->stack = stack;
	emit_submit(r);
	return 0;
}
