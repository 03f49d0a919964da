/*
 * Monitors of a patched JVM, by the probes of jvm-hooks/probes.h. Everything that an event says
 * comes from the probe, except the owner at enter, and the object where no probe has had it yet.
 * Chains are walked where the thread does not own the monitor: whoever waits for it would wait for
 * the walk.
 *
 * A virtual thread that blocks or waits leaves its carrier (JDK 24 and later). Its begin is
 * reported before that, and its end after it is mounted again: on the same thread or on another
 * one. The release in its wait(), and the enter that ends its wait, are reported while its frames
 * are in the heap.
 */
#include "bpf/lib/monitor.bpf.h"
#include "bpf/lib/probe.bpf.h"

#include "jvm-hooks/probes.h"

_Static_assert(SPOOR_VIRTUAL == WIRE_VIRTUAL, "probes and records name virtual threads alike");

static __always_inline __u32 wait_flags(__u64 flags)
{
	return (flags & SPOOR_AFTER_WAIT ? WIRE_AFTER_WAIT : 0) |
	       (flags & SPOOR_IN_WAIT ? WIRE_IN_WAIT : 0) |
	       (flags & SPOOR_RESOLVES ? WIRE_RESOLVES : 0);
}

/* A record without an owner, of a probe that has no number; NULL: it is lost, and counted. */
static __always_inline struct wire_lock *unnumbered_short(__u32 kind, __u32 tid,
							  const struct thread_state *t, __u64 now)
{
	struct wire_lock *r = lock_short(kind, 0, tid, t, now);

	if (r)
		r->sequence = WIRE_UNNUMBERED;
	return r;
}

static __always_inline struct monitor_state *monitor_get(__u64 monitor)
{
	struct monitor_state *m = bpf_map_lookup_elem(&monitors, &monitor), fresh = {};

	if (m)
		return m;
	bpf_map_update_elem(&monitors, &monitor, &fresh, BPF_ANY);
	return bpf_map_lookup_elem(&monitors, &monitor);
}

/* A record that has the monitor's object. */
static __always_inline void monitor_learn(struct monitor_state *m, struct wire_lock *r, __u64 klass,
					  __u64 hash)
{
	if (m)
		m->klass = klass;
	r->klass = klass;
	r->hash = (__u32)hash;
}

/*
 * Some probes do not have the object, and those that do may have fired before anybody was attached
 * (a thread has been waiting since then, and is notified). Then it is read; the thread is where no
 * collector moves it. 0: it is known, or cannot be read.
 */
static __noinline __u64 monitor_klass(__u64 monitor)
{
	struct monitor_state *m = monitor_get(monitor);
	__u64 handle, oop, klass;

	if (!m || m->klass)
		return 0;
	handle = read_u64(monitor + layout.mon_object);
	oop = handle ? read_u64(handle) : 0;
	klass = oop ? oop_klass(oop) : 0;
	class_flags(klass);
	m->klass = klass;
	return klass;
}

/* The object of a monitor that does not say whose it is: it is on its owner's lock stack. */
static __always_inline __u64 monitor_object(__u64 monitor, __u64 word)
{
	__u64 handle = 0;

	if (word == WIRE_OWNER_ANONYMOUS)
		handle = read_u64(monitor + layout.mon_object);
	return handle ? read_handle(handle) : 0;
}

static __always_inline void record_monitor(struct wire_lock *r, __u64 monitor, __u64 klass)
{
	r->object = monitor;
	r->klass = klass;
	if (klass)
		r->hash = monitor_hash(read_u64(monitor + layout.mon_header));
}

/* Whoever was seen to own it last. Programs may run in another order than that of the numbers. */
static __always_inline void monitor_owned(struct monitor_state *m, __u64 sequence, __u32 tid,
					  __u32 on)
{
	if (!m || m->sequence > sequence)
		return;
	m->sequence = sequence;
	monitor_owned_by(m, tid, on);
}

/* The chain of the thread that has hit a probe; 0: its frames are in the heap. */
static __always_inline __u32 stack_mounted(struct pt_regs *ctx, struct thread_state *t, __u32 tid,
					   int moved, __u32 unlock)
{
	t->chain.want = 0;
	return moved && may_unmount(tid) ? 0 : stack_here(ctx, t, unlock);
}

PROBE(num_monitor_inflate, __u64 monitor, __u64 cause, __u64 klass, __u64 hash)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct wire_lock *r;

	if (!t) {
		count_drop(WIRE_MONITOR_INFLATE, WIRE_LOST_MAP);
		return 0;
	}
	class_flags(klass);
	r = unnumbered_short(WIRE_MONITOR_INFLATE, thread_subject(t, 0), t, now);
	if (!r)
		return 0;
	r->object = monitor;
	monitor_learn(monitor_get(monitor), r, klass, hash);
	r->how = (__u32)cause;
	emit_submit(r);
	return 0;
}

PROBE(num_monitor_deflate, __u64 monitor, __u64 klass, __u64 hash)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct wire_lock *r;

	bpf_map_delete_elem(&monitors, &monitor);
	if (!t) {
		count_drop(WIRE_MONITOR_DEFLATE, WIRE_LOST_MAP);
		return 0;
	}
	class_flags(klass);
	r = unnumbered_short(WIRE_MONITOR_DEFLATE, current_tid(), t, now);
	if (!r)
		return 0;
	r->object = monitor;
	monitor_learn(0, r, klass, hash);
	emit_submit(r);
	return 0;
}

/* (monitor, sequence, class, hash, flags) */
PROBE(num_monitor_enter, __u64 monitor)
{
	__u64 now = bpf_ktime_get_ns(), word;
	struct thread_state *t = thread_current(now);
	struct monitor_state *m = monitor_get(monitor);
	struct wire_lock *r;
	__u32 tid, owner, on, source, stack, owner_stack;

	if (!t) {
		count_drop(WIRE_MONITOR_ENTER, WIRE_LOST_MAP);
		return 0;
	}
	tid = thread_subject(t, 0);
	if (!may_unmount(tid)) {
		set_probe_reason(t, WIRE_BLOCKED_LOCK);
		t->monitor.address = monitor;
		t->monitor.blocked = 1;
	}
	word = read_u64(monitor + layout.mon_owner);
	owner = owner_tid(monitor, monitor_object(monitor, word), word, &source, &on);
	if (owner && m && monitor_same_owner(m, owner) != owner) {
		owner = m->owner;
		source = WIRE_OWNER_VIRTUAL;
	}
	if (owner)
		monitor_owned(m, probe_arg(spec, 1), owner, on);
	class_flags(probe_arg(spec, 2));
	stack = stack_mounted(ctx, t, tid, probe_arg(spec, 4) & SPOOR_AFTER_WAIT,
			      0);
	owner_stack = monitor_owner_stack(monitor, word, on, t->tid);
	r = emit_reserve(WIRE_MONITOR_ENTER, sizeof(*r));
	if (!r)
		return 0;
	lock_fill(r, WIRE_MONITOR_ENTER, wait_flags(probe_arg(spec, 4)), tid, t, now);
	r->object = monitor;
	/* Looked up once more: the stack is short (Linux 6.1), and the walks need much of it. */
	monitor_learn(monitor_get(monitor), r, probe_arg(spec, 2), probe_arg(spec, 3));
	r->sequence = probe_arg(spec, 1);
	r->stack = stack;
	lock_owner(r, owner, on, source, owner_stack, now);
	emit_submit(r);
	return 0;
}

PROBE(num_monitor_entered, __u64 monitor, __u64 sequence, __u64 acquired, __u64 flags)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	__u64 klass = monitor_klass(monitor);
	struct monitor_state *m = bpf_map_lookup_elem(&monitors, &monitor);
	__u32 owner = 0, on = 0, tid;
	struct wire_lock *r;

	if (!t) {
		count_drop(WIRE_MONITOR_ENTERED, WIRE_LOST_MAP);
		return 0;
	}
	tid = thread_subject(t, 0);
	if (!may_unmount(tid)) {
		thread_done(t, WIRE_BLOCKED_LOCK);
		t->monitor.blocked = 0;
		t->monitor.address = 0;
	}
	if (m) {
		owner = m->owner != tid ? m->owner : m->previous;
		on = m->owner != tid ? m->owner_on : m->previous_on;
	}
	monitor_owned(m, sequence, tid, t->tid);
	r = emit_reserve(WIRE_MONITOR_ENTERED, sizeof(*r));
	if (!r)
		return 0;
	lock_fill(r, WIRE_MONITOR_ENTERED, wait_flags(flags), tid, t, now);
	if (acquired && acquired < now)
		r->head.time_ns = acquired;
	record_monitor(r, monitor, klass);
	r->sequence = sequence;
	lock_owner_was(r, owner, on, owner_was_source(owner), now);
	emit_submit(r);
	return 0;
}

PROBE(num_monitor_exit, __u64 monitor, __u64 sequence, __u64 acquired, __u64 released,
	     __u64 flags, __u64 forward)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	__u64 klass = monitor_klass(monitor);
	struct wire_lock *r;
	__u32 stack, tid;

	if (!t) {
		count_drop(WIRE_MONITOR_EXIT, WIRE_LOST_MAP);
		return 0;
	}
	tid = thread_subject(t, 0);
	monitor_owned(bpf_map_lookup_elem(&monitors, &monitor), sequence, tid, t->tid);
	stack = stack_mounted(ctx, t, tid, flags & SPOOR_IN_WAIT, 1);
	r = lock_short(WIRE_MONITOR_EXIT, wait_flags(flags), tid, t, now);
	if (!r)
		return 0;
	r->head.time_ns = released;
	record_monitor(r, monitor, klass);
	r->sequence = sequence;
	r->time = acquired ? since(released, acquired) : 0;
	r->forward = forward;
	r->stack = stack;
	emit_submit(r);
	return 0;
}

PROBE(num_monitor_fold, __u64 monitor, __u64 first, __u64 last, __u64 ns_tid, __u64 like,
	     __u64 count, __u64 held, __u64 ended, __u64 parts)
{
	struct wire_fold *r = emit_reserve(WIRE_MONITOR_FOLD, sizeof(*r));

	if (!r)
		return 0;
	head_fill(&r->head, WIRE_MONITOR_FOLD, 0, current_tid(), ended);
	r->object = monitor;
	r->first = first;
	r->last = last;
	r->like = like;
	r->count = count;
	r->held_ns = held;
	r->owner_tid = ns_tid ? tid_of_hook(ns_tid) : 0;
	r->parts = (__u32)parts;
	emit_submit(r);
	return 0;
}

PROBE(num_monitor_wait, __u64 monitor, __u64 klass, __u64 hash, __u64 millis)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct wire_lock *r;
	__u32 stack, tid;

	if (!t) {
		count_drop(WIRE_MONITOR_WAIT_BEGIN, WIRE_LOST_MAP);
		return 0;
	}
	tid = thread_subject(t, 0);
	if (!may_unmount(tid))
		set_probe_reason(t, WIRE_BLOCKED_WAIT);
	class_flags(klass);
	t->chain.want = 0;
	stack = stack_here(ctx, t, 0);
	r = unnumbered_short(WIRE_MONITOR_WAIT_BEGIN, tid, t, now);
	if (!r)
		return 0;
	r->object = monitor;
	monitor_learn(monitor_get(monitor), r, klass, hash);
	r->time = millis;
	r->stack = stack;
	emit_submit(r);
	return 0;
}

PROBE(num_monitor_waited, __u64 monitor, __u64 how)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct wire_lock *r;
	__u32 tid;

	if (!t) {
		count_drop(WIRE_MONITOR_WAIT_END, WIRE_LOST_MAP);
		return 0;
	}
	tid = thread_subject(t, 0);
	if (!may_unmount(tid))
		thread_done(t, WIRE_BLOCKED_WAIT);
	r = unnumbered_short(WIRE_MONITOR_WAIT_END, tid, t, now);
	if (!r)
		return 0;
	r->object = monitor;
	r->how = (__u32)how;
	emit_submit(r);
	return 0;
}

PROBE(num_monitor_notify, __u64 monitor, __u64 sequence, __u64 ns_tid, __u64 all)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	__u64 klass = monitor_klass(monitor);
	struct wire_lock *r;

	if (!t) {
		count_drop(WIRE_MONITOR_NOTIFY, WIRE_LOST_MAP);
		return 0;
	}
	r = lock_short(WIRE_MONITOR_NOTIFY, all ? WIRE_NOTIFY_ALL : 0, thread_subject(t, 0), t,
		       now);
	if (!r)
		return 0;
	record_monitor(r, monitor, klass);
	r->sequence = sequence;
	r->target = tid_of_hook(ns_tid);
	emit_submit(r);
	return 0;
}
