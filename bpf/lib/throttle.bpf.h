/* bpf/lib/throttle.bpf.h: when a task could not run because its cgroup had used up its CPU
 * quota. */
#pragma once

#include "bpf/lib/spoor.bpf.h"
#include "bpf/lib/steal.bpf.h"

/*
 * A throttled task is runnable to all tracepoints: no wake-up ends its throttling, the next switch
 * to it does. But the kernel keeps, for each run queue of a cgroup on a CPU, for how long it has
 * been throttled, by its own quota or by that of a cgroup around it; what that has grown by while a
 * task was waiting in this queue is the time it was throttled. In the order of preference:
 * throttled_clock_self_time, ns of the run queue's clock (6.6 and later);
 * throttled_clock_pelt_time, which is scaled by the CPU's speed where the kernel knows that;
 * throttled_clock_task_time (before 6.0). Each is added to when the quota is there again. (6.18
 * throttles the tasks themselves on their way back to user space: what a task still does in the
 * kernel is running time, and is treated so.)
 *
 * All this is read only while there is a quota: looked for at each sample (quota_on), so that one
 * that is set during a recording is known at the next.
 */
static __always_inline int throttle_available(void)
{
	struct cfs_rq___spoor *rq = 0;
	struct task_struct___spoor *t = 0;

	return kernel_reads != WIRE_READS_NONE && bpf_core_field_exists(t->se.cfs_rq) &&
	       bpf_core_field_exists(rq->throttle_count);
}

#define QUOTA_NONE (~0ULL)
#define QUOTA_DEPTH_MAX 16

/* Whether the task's cgroup, or one around it, has a quota. */
static __always_inline int throttle_may_be(__u64 task)
{
	struct task_struct___spoor *t = 0;
	struct task_group___spoor *known = 0;
	__u64 group;

	if (!throttle_available() || !bpf_core_field_exists(t->sched_task_group) ||
	    !bpf_core_field_exists(known->cfs_bandwidth))
		return 0;
	group = (__u64)KERNEL_LOAD(struct task_struct___spoor, task, sched_task_group);
	for (int i = 0; group && i < QUOTA_DEPTH_MAX; i++) {
		if (KERNEL_LOAD(struct task_group___spoor, group, cfs_bandwidth.quota) !=
		    QUOTA_NONE)
			return 1;
		group = (__u64)KERNEL_LOAD(struct task_group___spoor, group, parent);
	}
	return 0;
}

/* The queue that the task runs in, or waits in; 0: this kernel has no quotas. */
static __always_inline __u64 throttle_queue(struct task_struct *task)
{
	struct task_struct___spoor *t = (void *)task;

	if (!throttle_available())
		return 0;
	if (kernel_reads == WIRE_READS_CAST)
		return (__u64)KERNEL_LOAD(struct task_struct___spoor, task, se.cfs_rq);
	return (__u64)t->se.cfs_rq;
}

static __always_inline __u64 throttle_clock(__u64 queue)
{
	struct cfs_rq___spoor *rq = 0;

	if (!queue)
		return 0;
	if (bpf_core_field_exists(rq->throttled_clock_self_time))
		return KERNEL_LOAD(struct cfs_rq___spoor, queue,
				   throttled_clock_self_time);
	if (bpf_core_field_exists(rq->throttled_clock_pelt_time))
		return KERNEL_LOAD(struct cfs_rq___spoor, queue,
				   throttled_clock_pelt_time);
	if (bpf_core_field_exists(rq->throttled_clock_task_time))
		return KERNEL_LOAD(struct cfs_rq___spoor, queue,
				   throttled_clock_task_time);
	return 0;
}

static __always_inline int throttle_is_on(__u64 queue)
{
	return queue && throttle_available() &&
	       KERNEL_LOAD(struct cfs_rq___spoor, queue, throttle_count) > 0;
}
