/* What is looked at a thousand times a second: does the thread that runs own a monitor that others
 * are blocked on? */
#include "bpf/lib/monitor.bpf.h"

/*
 * monitor_look() in sched_switch finds a silent owner when somebody leaves a CPU. One that gets its
 * monitor back on the fast path and keeps its CPU would be found by nobody; its hold shows here, if
 * it is longer than a period.
 */
SEC("perf_event")
int sample_owner(void *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct thread_state *t;

	if (!target_tgid || id >> 32 != target_tgid)
		return 0;
	t = thread_find((__u32)id);
	if (!t)
		return 0;
	if (t->chain.want)
		emit_owner_stack(t, WIRE_STACK_SAMPLE, bpf_ktime_get_ns());
	if (!numbered && t->monitor.address && !t->monitor.blocked)
		monitor_look(t, (__u32)id, bpf_ktime_get_ns());
	return 0;
}
