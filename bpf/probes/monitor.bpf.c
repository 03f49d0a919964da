/* Monitors: contended enter, entered, exit, wait, notify. Only the monitor's address is taken from
 * the probe. */
#include "bpf/lib/monitor.bpf.h"
#include "bpf/lib/probe.bpf.h"

PROBE(monitor_contended_enter, __u64 java_id, __u64 monitor)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	__u32 tid, owner, on, source, stack, owner_stack;
	struct monitor_state *m;
	struct wire_lock *r;
	__u64 word;

	if (!t || !(m = monitor_read(monitor, 0))) {
		count_drop(WIRE_MONITOR_ENTER, WIRE_LOST_MAP);
		return 0;
	}
	tid = thread_subject(t, java_id);
	if (may_unmount(tid)) {
		virtual_waits_for(tid, monitor, WIRE_MONITOR_ENTERED);
		word = read_u64(monitor + layout.mon_owner);
	} else {
		set_probe_reason(t, WIRE_BLOCKED_LOCK);
		word = monitor_block(t, monitor);
	}
	owner = monitor_owner(m, monitor, word, &source, &on);
	class_flags(m->klass);
	t->chain.want = 0;
	stack = stack_here(ctx, t, 0);
	owner_stack = monitor_owner_stack(monitor, word, on, t->tid);
	r = monitor_enter_fill(t, tid, monitor, m, virtual_flags(tid), now);
	if (!r)
		return 0;
	r->stack = stack;
	lock_owner(r, owner, on, source, owner_stack, now);
	emit_submit(r);
	return 0;
}

/* The running thread, or what it carries, has got a monitor. */
static __always_inline int emit_entered(struct thread_state *t, __u32 tid, __u64 monitor,
					struct monitor_state *m, __u64 now)
{
	__u32 owner = m->owner != tid ? m->owner : m->previous;
	__u32 on = m->owner != tid ? m->owner_on : m->previous_on;
	struct wire_lock *r;

	monitor_owned_by(m, tid, t->tid);
	r = emit_reserve(WIRE_MONITOR_ENTERED, sizeof(*r));
	if (!r)
		return 0;
	lock_fill(r, WIRE_MONITOR_ENTERED, 0, tid, t, now);
	lock_is_monitor(r, monitor, m);
	lock_owner_was(r, owner, on, owner_was_source(owner), now);
	emit_submit(r);
	return 0;
}

PROBE(monitor_contended_entered, __u64 java_id, __u64 monitor)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct monitor_state *m;
	__u32 tid;

	if (!t || !(m = monitor_find(monitor))) {
		count_drop(WIRE_MONITOR_ENTERED, WIRE_LOST_MAP);
		return 0;
	}
	thread_done(t, WIRE_BLOCKED_LOCK);
	t->monitor.blocked = 0;
	tid = thread_subject(t, java_id);
	virtual_waits_no_more(tid); /* it was pinned */
	return emit_entered(t, tid, monitor, m, now);
}

/* The events that carry the thread's own counters only. */
static __always_inline int emit_short(struct pt_regs *ctx, __u32 kind, __u32 flags, __u64 java_id,
				      __u64 monitor, __u64 time, int reread)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct monitor_state *m = 0;
	struct wire_lock *r;
	__u32 stack = 0, tid = 0;

	if (t) {
		tid = thread_subject(t, java_id);
		m = reread ? monitor_read(monitor, 0) : monitor_find(monitor);
		if (kind == WIRE_MONITOR_WAIT_BEGIN && may_unmount(tid))
			virtual_waits_for(tid, monitor, WIRE_MONITOR_WAIT_END);
		else if (kind == WIRE_MONITOR_WAIT_BEGIN)
			set_probe_reason(t, WIRE_BLOCKED_WAIT);
		else if (kind == WIRE_MONITOR_WAIT_END)
			thread_done(t, WIRE_BLOCKED_WAIT);
	}
	if (kind == WIRE_MONITOR_WAIT_END && may_unmount(tid)) {
		/* It has not got the monitor back, but is about to unmount. */
		if (read_u64(monitor + layout.mon_owner) != (tid & ~WIRE_VIRTUAL))
			return 0;
		virtual_waits_no_more(tid);
	}
	if (!m) {
		count_drop(kind, WIRE_LOST_MAP);
		return 0;
	}
	class_flags(m->klass);
	if (kind == WIRE_MONITOR_WAIT_END) {
		monitor_owned_by(m, tid, t->tid);
	} else if (kind == WIRE_MONITOR_EXIT || kind == WIRE_MONITOR_WAIT_BEGIN) {
		if (m->owner == tid)
			m->released = 1;
		if (!may_unmount(tid)) {
			t->monitor.address = monitor;
			t->monitor.misses = 0;
		}
		t->chain.want = 0;
		stack = stack_here(ctx, t, kind == WIRE_MONITOR_EXIT);
	}
	if (kind == WIRE_MONITOR_WAIT_BEGIN)
		flags = virtual_flags(tid);
	r = lock_short(kind, flags, tid, t, now);
	if (!r)
		return 0;
	lock_is_monitor(r, monitor, m);
	r->time = time;
	r->stack = stack;
	emit_submit(r);
	return 0;
}

PROBE(monitor_contended_exit, __u64 java_id, __u64 monitor)
{
	return emit_short(ctx, WIRE_MONITOR_EXIT, 0, java_id, monitor, 0, 0);
}

PROBE(monitor_wait, __u64 java_id, __u64 monitor, __u64 name, __u32 length, __u64 millis)
{
	return emit_short(ctx, WIRE_MONITOR_WAIT_BEGIN, 0, java_id, monitor, millis, 1);
}

PROBE(monitor_waited, __u64 java_id, __u64 monitor)
{
	return emit_short(ctx, WIRE_MONITOR_WAIT_END, 0, java_id, monitor, 0, 0);
}

PROBE(monitor_notify, __u64 java_id, __u64 monitor)
{
	return emit_short(ctx, WIRE_MONITOR_NOTIFY, 0, java_id, monitor, 0, 1);
}

PROBE(monitor_notify_all, __u64 java_id, __u64 monitor)
{
	return emit_short(ctx, WIRE_MONITOR_NOTIFY, WIRE_NOTIFY_ALL, java_id, monitor, 0, 1);
}

/* --- virtual threads that had unmounted (JEP 491): functions, as there is no probe ------- */

/* What the virtual thread that the running thread carries was in is over: it has its monitor. */
static __always_inline int virtual_over(__u64 id)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct virtual_wait *w = bpf_map_lookup_elem(&virtual_waits, &id), was;
	struct monitor_state *m;
	struct wire_lock *r;

	if (!w || !virtual_tid(id))
		return 0;
	was = *w;
	bpf_map_delete_elem(&virtual_waits, &id);
	m = t ? monitor_find(was.monitor) : 0;
	if (!m) {
		count_drop(was.kind, WIRE_LOST_MAP);
		return 0;
	}
	if (was.kind == WIRE_MONITOR_ENTERED)
		return emit_entered(t, virtual_tid(id), was.monitor, m, now);
	monitor_owned_by(m, virtual_tid(id), t->tid);
	r = lock_short(WIRE_MONITOR_WAIT_END, 0, virtual_tid(id), t, now);
	if (!r)
		return 0;
	lock_is_monitor(r, was.monitor, m);
	emit_submit(r);
	return 0;
}

/* ObjectMonitor::vthread_epilog(JavaThread *, ObjectWaiter *): it is mounted again and has it. */
PROBE(virtual_epilog, __u64 monitor, __u64 java_thread)
{
	return virtual_over(read_u64(java_thread + layout.jt_owner_id));
}

/* The end of ObjectMonitor::vthread_monitor_enter(): it has it after all, and does not unmount. */
PROBE(virtual_tried, __u32 acquired)
{
	struct thread_state *t = thread_current(bpf_ktime_get_ns());

	return t && acquired & 0xff ? virtual_over(virtual_id(t, 0)) : 0;
}
