/* What is looked at many times a second: does the thread that runs own a monitor that others are
 * blocked on, or does one that it blocks want its call chain? */
#include "bpf/lib/monitor.bpf.h"

/* Set by user space while there is contention. */
int looks_on = 0;

/*
 * monitor_look() in sched_switch finds a silent owner when somebody leaves a CPU. One that gets its
 * monitor back on the fast path and keeps its CPU would be found by nobody; its hold shows here, if
 * it is longer than a period.
 */
static __always_inline int look(void)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct thread_state *t;

	if (!target_tgid || id >> 32 != target_tgid)
		return 0;
	t = thread_find((__u32)id);
	if (!t)
		return 0;
	if (t->chain.want)
		emit_owner_stack(t, WIRE_STACK_SAMPLE, thread_now(t));
	if (!numbered && t->monitor.address && !t->monitor.blocked)
		monitor_look(t, (__u32)id, thread_now(t));
	return 0;
}

/* Where the kernel's ticks are too rare, or cannot be attached to. */
SEC("perf_event")
int look_by_clock(void *ctx)
{
	return look();
}

/* The tick of a CPU that has something to run is a timer among others, each of which will do: none
 * of them takes an interrupt of its own. */
SEC("later/hrtimer_expire_entry")
int look_by_tick(void *ctx)
{
	return looks_on ? look() : 0;
}
