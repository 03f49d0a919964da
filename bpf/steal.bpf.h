/* bpf/steal.bpf.h: the steal clock of a CPU; one source today, read through steal_rq() and
 * steal_read(). */
#pragma once

#include "bpf/spoor.bpf.h"

/*
 * rq::prev_steal_time_rq is the steal, in ns, that the kernel has taken out of the run queue's task
 * clock (update_rq_clock_task, CONFIG_PARAVIRT_TIME_ACCOUNTING). __schedule() updates the clock
 * before the switch, so that it is fresh in sched_switch; in between it is at most a tick old.
 */
struct rq___spoor {
	__u64 prev_steal_time_rq;
} __attribute__((preserve_access_index));

struct cfs_rq___spoor {
	struct rq___spoor *rq;
} __attribute__((preserve_access_index));

struct sched_entity___spoor {
	struct cfs_rq___spoor *cfs_rq;
} __attribute__((preserve_access_index));

struct task_struct___spoor {
	struct sched_entity___spoor se;
} __attribute__((preserve_access_index));

static __always_inline int steal_available(void)
{
	struct rq___spoor *rq = 0;
	struct sched_entity___spoor *se = 0;

	return bpf_core_field_exists(rq->prev_steal_time_rq) && bpf_core_field_exists(se->cfs_rq);
}

/* The run queue of a task that is on a CPU now; 0: this kernel does not tell. */
static __always_inline __u64 steal_rq(struct task_struct *task)
{
	struct task_struct___spoor *t = (void *)task;

	if (!steal_available())
		return 0;
	return (__u64)BPF_CORE_READ(t, se.cfs_rq, rq);
}

static __always_inline __u64 steal_read(__u64 rq)
{
	struct rq___spoor *r = (void *)rq;

	if (!rq || !steal_available())
		return 0;
	return BPF_CORE_READ(r, prev_steal_time_rq);
}
