/* Monitors: contended enter, entered, exit, wait, notify. Only the monitor's address is taken from
 * the probe. */
#include "bpf/lib/monitor.bpf.h"

#include <bpf/usdt.bpf.h>

SEC("usdt")
int BPF_USDT(monitor_contended_enter, __u64 java_id, __u64 monitor)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	__u32 owner, source, stack, owner_stack;
	struct monitor_state *m;
	struct wire_lock *r;
	__u64 word;

	if (!t || !(m = monitor_read(monitor, 0))) {
		count_drop(WIRE_MONITOR_ENTER, WIRE_LOST_MAP);
		return 0;
	}
	set_probe_reason(t, WIRE_BLOCKED_LOCK);
	word = monitor_block(t, monitor);
	owner = monitor_owner(m, monitor, word, &source);
	class_flags(m->klass);
	t->chain.want = 0;
	stack = stack_here(ctx, t, 0);
	owner_stack = monitor_owner_stack(monitor, word, owner, t->tid);
	r = monitor_enter_fill(t, monitor, m, 0, now);
	if (!r)
		return 0;
	r->stack = stack;
	lock_owner(r, owner, source, owner_stack, now);
	emit_submit(r);
	return 0;
}

SEC("usdt")
int BPF_USDT(monitor_contended_entered, __u64 java_id, __u64 monitor)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct monitor_state *m;
	struct wire_lock *r;
	__u32 owner, tid = current_tid();

	if (!t || !(m = monitor_find(monitor))) {
		count_drop(WIRE_MONITOR_ENTERED, WIRE_LOST_MAP);
		return 0;
	}
	thread_done(t, WIRE_BLOCKED_LOCK);
	t->monitor.blocked = 0;
	owner = m->owner != tid ? m->owner : m->previous;
	monitor_owned_by(m, tid);
	r = emit_reserve(WIRE_MONITOR_ENTERED, sizeof(*r));
	if (!r)
		return 0;
	lock_fill(r, WIRE_MONITOR_ENTERED, 0, tid, t, now);
	lock_is_monitor(r, monitor, m);
	lock_owner_was(r, owner, owner ? WIRE_OWNER_JAVA_THREAD : WIRE_OWNER_UNKNOWN, now);
	emit_submit(r);
	return 0;
}

/* The events that carry the thread's own counters only. */
static __always_inline int emit_short(struct pt_regs *ctx, __u32 kind, __u32 flags, __u64 monitor,
				      __u64 time, int reread)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	struct monitor_state *m = 0;
	struct wire_lock *r;
	__u32 stack = 0;

	if (t) {
		m = reread ? monitor_read(monitor, 0) : monitor_find(monitor);
		if (kind == WIRE_MONITOR_WAIT_BEGIN)
			set_probe_reason(t, WIRE_BLOCKED_WAIT);
		else if (kind == WIRE_MONITOR_WAIT_END)
			thread_done(t, WIRE_BLOCKED_WAIT);
	}
	if (!m) {
		count_drop(kind, WIRE_LOST_MAP);
		return 0;
	}
	class_flags(m->klass);
	if (kind == WIRE_MONITOR_WAIT_END) {
		monitor_owned_by(m, current_tid());
	} else if (kind == WIRE_MONITOR_EXIT || kind == WIRE_MONITOR_WAIT_BEGIN) {
		if (m->owner == current_tid())
			m->released = 1;
		t->monitor.address = monitor;
		t->monitor.misses = 0;
		t->chain.want = 0;
		stack = stack_here(ctx, t, kind == WIRE_MONITOR_EXIT);
	}
	r = lock_short(kind, flags, t, now);
	if (!r)
		return 0;
	lock_is_monitor(r, monitor, m);
	r->time = time;
	r->stack = stack;
	emit_submit(r);
	return 0;
}

SEC("usdt")
int BPF_USDT(monitor_contended_exit, __u64 java_id, __u64 monitor)
{
	return emit_short(ctx, WIRE_MONITOR_EXIT, 0, monitor, 0, 0);
}

SEC("usdt")
int BPF_USDT(monitor_wait, __u64 java_id, __u64 monitor, __u64 name, __u32 length, __u64 millis)
{
	return emit_short(ctx, WIRE_MONITOR_WAIT_BEGIN, 0, monitor, millis, 1);
}

SEC("usdt")
int BPF_USDT(monitor_waited, __u64 java_id, __u64 monitor)
{
	return emit_short(ctx, WIRE_MONITOR_WAIT_END, 0, monitor, 0, 0);
}

SEC("usdt")
int BPF_USDT(monitor_notify, __u64 java_id, __u64 monitor)
{
	return emit_short(ctx, WIRE_MONITOR_NOTIFY, 0, monitor, 0, 1);
}

SEC("usdt")
int BPF_USDT(monitor_notify_all, __u64 java_id, __u64 monitor)
{
	return emit_short(ctx, WIRE_MONITOR_NOTIFY, WIRE_NOTIFY_ALL, monitor, 0, 1);
}
