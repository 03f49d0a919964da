/* bpf/lib/clock.bpf.h: what time it is at a switch, and since when a thread has been running. */
#pragma once

#include "bpf/lib/steal.bpf.h"

/*
 * On a virtual machine bpf_ktime_get_ns() takes 50 ns, a third of all that a switch costs. But the
 * kernel has just read the clock itself, into rq::clock, which differs from CLOCK_MONOTONIC by
 * what NTP slews: the difference is measured anew every CLOCK_FRESH_NS, in which 500 ppm are 5 us.
 *
 * rq::clock may be late, for the kernel leaves the update out when a wake-up has just made one
 * (rq_clock_skip_update()); its own account of a task's CPU time is late then, too. A difference
 * that was measured at such a moment is too great: it may grow by a thousandth of the time at
 * most, and is measured again at the next switch, until it is what it was before.
 */
#define CLOCK_FRESH_NS 10000000ull
#define CLOCK_SAME_NS 500
#define CLOCK_STEP_NS 1000000000ll /* such a leap is none of lateness: a resumed machine */

static __always_inline __u64 since(__u64 now, __u64 then)
{
	return now > then ? now - then : 0;
}

/* rq::clock of the run queue at rq, which is that of the task. */
static __always_inline __u64 rq_clock(struct task_struct *task, __u64 rq)
{
	struct task_struct___spoor *t = (void *)task;

	if (kernel_reads == WIRE_READS_CAST)
		return KERNEL_LOAD(struct rq___spoor, rq, clock);
	return t->se.cfs_rq->rq->clock;
}

/* Measures by how much CLOCK_MONOTONIC is ahead of a run queue's clock; returns the former. */
static __noinline __u64 clock_measure(__u64 clock, __u64 *ahead_ns, __u64 *set_at_ns)
{
	__u64 now = bpf_ktime_get_ns(), past = clock - *set_at_ns, ahead = *ahead_ns;
	__s64 more;

	more = (__s64)(now - clock - ahead);
	if (*set_at_ns && more > (__s64)(past >> 10) && more < CLOCK_STEP_NS)
		more = (__s64)(past >> 10);
	*ahead_ns = ahead + more;
	*set_at_ns = more > CLOCK_SAME_NS || more < -CLOCK_SAME_NS ? clock - CLOCK_FRESH_NS : clock;
	return clock + ahead + more;
}

/*
 * task: an argument of a tp_btf program, on the run queue of a CPU, which is locked, and is at rq
 * (0: not known); ahead_ns and set_at_ns are that CPU's: by how much CLOCK_MONOTONIC is ahead of
 * the run queue's clock, and when that was measured (0: not yet).
 */
static __always_inline __u64 clock_now(struct task_struct *task, __u64 rq, __u64 *ahead_ns,
				       __u64 *set_at_ns)
{
	struct task_struct___spoor *t = 0;
	__u64 clock;

	if (!rq || !bpf_core_field_exists(t->se.cfs_rq))
		return bpf_ktime_get_ns();
	clock = rq_clock(task, rq);
	if (clock - *set_at_ns < CLOCK_FRESH_NS)
		return clock + *ahead_ns;
	return clock_measure(clock, ahead_ns, set_at_ns);
}

/* How long a task that leaves its CPU has been on it, by the kernel's own count. */
static __always_inline __u64 clock_turn_over(struct task_struct *task)
{
	return since(task->se.sum_exec_runtime, task->se.prev_sum_exec_runtime);
}

/*
 * How long the running task has been on its CPU, likewise. The count was brought up to date when
 * its exec_start was set, in the run queue's clock without steal and interrupts.
 */
static __always_inline __u64 clock_turn(struct task_struct *task, __u64 rq, __u64 ahead_ns,
					__u64 set_at_ns, __u64 now)
{
	struct task_struct___spoor *t = (void *)task;
	__u64 ran, task_clock, left_out, start;

	ran = clock_turn_over(task);
	if (!rq || !bpf_core_field_exists(t->se.cfs_rq) || !set_at_ns)
		return ran;
	if (kernel_reads == WIRE_READS_CAST)
		task_clock = KERNEL_LOAD(struct rq___spoor, rq, clock_task);
	else
		task_clock = t->se.cfs_rq->rq->clock_task;
	left_out = rq_clock(task, rq) - task_clock;
	start = task->se.exec_start + left_out + ahead_ns;
	return ran + since(now, start);
}
