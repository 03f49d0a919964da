/* bpf/lib/steal.bpf.h: the steal clock of a CPU, read through steal_rq() and steal_read(). */
#pragma once

#include "vmlinux.h"

#include "bpf/lib/kernel.bpf.h"
#include "bpf/wire/wire_steal.h"

/*
 * Several clocks count what the hypervisor has taken from a virtual CPU; user space chooses, see
 * record/kernel/features/steal_clock.c.
 *
 * rq::prev_steal_time_rq is the steal, in ns, that the kernel has taken out of the run queue's task
 * clock (update_rq_clock_task, CONFIG_PARAVIRT_TIME_ACCOUNTING). __schedule() updates the clock
 * before the switch, so that it is fresh in sched_switch; in between it is at most a tick old.
 *
 * Where the kernel keeps no such clock (Debian 12's 6.1), the hypervisor's own record for the CPU
 * is the next best: written by it whenever the virtual CPU gets back its physical one, so always
 * fresh.
 * It is a per-CPU variable, and so is the run queue. All of them lie in one area for each CPU: from
 * the address of the run queue, which every task leads to, the other variable is as far away as the
 * kernel's BTF says (its DATASEC .data..percpu). So no address of a symbol is needed, which only
 * kernels with CONFIG_KALLSYMS_ALL could give.
 *
 * The last two move at timer ticks only: what was stolen between two ticks is found in the turn on
 * the CPU that is on at the second one.
 */
const volatile __u32 steal_clock __weak = WIRE_STEAL_RQ_CLOCK;
const volatile __s64 steal_offset __weak = 0; /* of the per-CPU record, from the run queue */

struct rq___spoor {
	__u64 prev_steal_time;
	__u64 prev_steal_time_rq;
	__u64 clock, clock_task;
	int cpu;
} __attribute__((preserve_access_index));

struct cfs_rq___spoor {
	struct rq___spoor *rq;
	int throttle_count;
	__u64 throttled_clock_self_time;
	__u64 throttled_clock_pelt_time;
	__u64 throttled_clock_task_time;
} __attribute__((preserve_access_index));

struct task_group___spoor {
	struct task_group___spoor *parent;
	struct {
		__u64 quota;
	} cfs_bandwidth;
} __attribute__((preserve_access_index));

/* All that kernels have otherwise, in one struct: libbpf goes through all of the kernel's types for
 * each struct that it has to find there. */
struct task_struct___spoor {
	struct {
		struct cfs_rq___spoor *cfs_rq;
	} se;
	struct task_group___spoor *sched_task_group;
	unsigned int cpu; /* until 5.16 (bcf9033e5449) */
	long state;       /* until 5.14 (2f064a59a11f) */
} __attribute__((preserve_access_index));

/* The run queue of a task that is on a CPU now; 0: this kernel does not say. */
static __always_inline __u64 steal_rq(struct task_struct *task)
{
	struct task_struct___spoor *t = (void *)task;
	__u64 queue;

	if (!bpf_core_field_exists(t->se.cfs_rq))
		return 0;
	if (kernel_reads == WIRE_READS_CAST) {
		queue = (__u64)KERNEL_LOAD(struct task_struct___spoor, task, se.cfs_rq);
		return (__u64)KERNEL_LOAD(struct cfs_rq___spoor, queue, rq);
	}
	return (__u64)t->se.cfs_rq->rq;
}

/* Xen counts the time in each state; stolen is the time in "runnable" (1) and "offline" (3). */
static __always_inline __u64 steal_read_xen(__u64 times)
{
	return kernel_word(times + 8) + kernel_word(times + 24);
}

static __always_inline __u64 steal_read(__u64 rq)
{
	struct rq___spoor *r = 0;
	__u64 v = 0;

	if (!rq)
		return 0;
	switch (steal_clock) {
	case WIRE_STEAL_RQ_CLOCK:
		if (bpf_core_field_exists(r->prev_steal_time_rq))
			v = KERNEL_LOAD(struct rq___spoor, rq, prev_steal_time_rq);
		return v;
	case WIRE_STEAL_RQ_TICKS:
		if (bpf_core_field_exists(r->prev_steal_time))
			v = KERNEL_LOAD(struct rq___spoor, rq, prev_steal_time);
		return v;
	case WIRE_STEAL_KVM:
	case WIRE_STEAL_CPUSTAT:
		return kernel_word(rq + steal_offset);
	case WIRE_STEAL_XEN:
		return steal_read_xen(rq + steal_offset);
	}
	return 0;
}

/*
 * The steal clock of the CPU on which a switch from task happens. task is an argument of a tp_btf
 * program, so that what it leads to can be loaded without a helper.
 */
static __always_inline __u64 steal_at_switch(struct task_struct *task, __u64 rq)
{
	struct task_struct___spoor *t = (void *)task;
	struct rq___spoor *r = 0;

	if (kernel_reads != WIRE_READS_CAST && steal_clock == WIRE_STEAL_RQ_CLOCK &&
	    bpf_core_field_exists(t->se.cfs_rq) &&
	    bpf_core_field_exists(r->prev_steal_time_rq))
		return t->se.cfs_rq->rq->prev_steal_time_rq;
	return steal_read(rq);
}
