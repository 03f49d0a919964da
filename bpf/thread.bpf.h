/* bpf/thread.bpf.h: a thread's state: made, found, and read as a snapshot of its counters. */
#pragma once

#include "bpf/spoor.bpf.h"
#include "bpf/steal.bpf.h"

static __always_inline __u64 since(__u64 now, __u64 then)
{
	return now > then ? now - then : 0;
}

/*
 * The counters of a thread at `now`, the running interval included. The writer may be at work on
 * another CPU: a few tries, then what is there (off by the one interval that is just being added).
 */
static __always_inline void thread_snapshot(const struct thread_state *t, __u64 now,
					    struct wire_counters *ret)
{
	const volatile struct thread_state *v = t;
	__u64 at, base;
	__u32 seq, run, cpu;

	for (int i = 0; i < 4; i++) {
		seq = v->seq;
		BARRIER();
		run = v->run;
		at = v->since;
		base = v->steal_base;
		cpu = v->cpu;
		ret->cpu_ns = v->cpu_ns;
		ret->stolen_ns = v->stolen_ns;
		ret->runnable_ns = v->runnable_ns;
		BARRIER();
		if (!(seq & 1) && v->seq == seq)
			break;
	}
	if (run == RUN_RUNNABLE) {
		ret->runnable_ns += since(now, at);
	} else if (run == RUN_RUNNING) {
		struct wire_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);
		__u64 on = since(now, at);
		__u64 clock = !c ? 0 : frozen ? c->sample_ns : steal_read(c->rq);
		__u64 stolen = since(clock, base);

		/* The clock is read a little after `at`: never more than the interval itself. */
		if (stolen > on)
			stolen = on;
		ret->stolen_ns += stolen;
		ret->cpu_ns += on - stolen;
	}
}

static __always_inline struct thread_state *thread_find(__u32 tid)
{
	return bpf_map_lookup_elem(&threads, &tid);
}

/* A snapshot of another thread, or zeros when it is not (or no longer) known: then 0 is returned.
 */
static __always_inline int thread_snapshot_of(__u32 tid, __u64 now, struct wire_counters *ret)
{
	struct thread_state *t = tid ? thread_find(tid) : 0;

	if (!t) {
		__builtin_memset(ret, 0, sizeof(*ret));
		return 0;
	}
	thread_snapshot(t, now, ret);
	return 1;
}

/* The thread's id in the innermost pid namespace it is in. */
static __always_inline __u32 task_ns_tid(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);
	struct upid upid = {};

	if (!pid || level > 31)
		return 0;
	bpf_core_read(&upid, sizeof(upid), &pid->numbers[level]);
	return upid.nr;
}

struct task_struct___cpu {
	unsigned int cpu; /* until 5.16 (bcf9033e5449) */
} __attribute__((preserve_access_index));

static __always_inline __u32 task_cpu(struct task_struct *task)
{
	struct task_struct___cpu *old = (void *)task;

	if (bpf_core_field_exists(task->thread_info.cpu))
		return BPF_CORE_READ(task, thread_info.cpu);
	return BPF_CORE_READ(old, cpu);
}

/* Makes a thread known: called for a task of the target when it is forked, first run, or found. */
static __always_inline struct thread_state *thread_add(struct task_struct *task, __u32 run,
						       __u64 now, __u32 flags)
{
	struct thread_state fresh = {};
	struct wire_thread *r;
	__u32 tid = BPF_CORE_READ(task, pid);

	fresh.run = run;
	fresh.since = now;
	fresh.ns_tid = task_ns_tid(task);
	if (run == RUN_RUNNING) {
		fresh.cpu = task_cpu(task);
		fresh.steal_base = steal_read(steal_rq(task));
	}
	if (bpf_map_update_elem(&threads, &tid, &fresh, BPF_NOEXIST)) {
		struct thread_state *t = thread_find(tid);

		if (!t)
			count_drop(WIRE_THREAD, WIRE_LOST_MAP);
		return t;
	}
	if (fresh.ns_tid != tid)
		bpf_map_update_elem(&ns_tids, &fresh.ns_tid, &tid, BPF_ANY);
	r = emit_reserve(WIRE_THREAD, sizeof(*r));
	if (r) {
		head_fill(&r->head, WIRE_THREAD, flags, tid, now);
		r->start_ns = BPF_CORE_READ(task, start_boottime);
		r->ns_tid = fresh.ns_tid;
		r->pad = 0;
		bpf_core_read(&r->comm, sizeof(r->comm), &task->comm);
		emit_submit(r);
	}
	return thread_find(tid);
}

/* The running thread's state; made when it was not known (a task older than the recording). */
static __always_inline struct thread_state *thread_current(__u64 now)
{
	__u32 tid = current_tid();
	struct thread_state *t = thread_find(tid);

	if (!t)
		t = thread_add((void *)bpf_get_current_task(), RUN_RUNNING, now, 0);
	return t;
}

/* A thread id of the target's own namespace, as the kernel's. */
static __always_inline __u32 tid_from_ns(__u32 ns_tid)
{
	__u32 *tid = bpf_map_lookup_elem(&ns_tids, &ns_tid);

	return tid ? *tid : in_pid_namespace ? 0 : ns_tid;
}
