/* bpf/thread.bpf.h: a thread's state: made, found, and read as a snapshot of its counters. */
#pragma once

#include "bpf/spoor.bpf.h"
#include "bpf/steal.bpf.h"
#include "bpf/throttle.bpf.h"

static __always_inline __u64 since(__u64 now, __u64 then)
{
	return now > then ? now - then : 0;
}

/* What waiting for a CPU since `at` was throttling; the stretch goes on. */
static __always_inline __u64 throttled_yet(const struct thread_state *t, __u64 at, __u64 now)
{
	__u64 all = since(now, at), throttled;

	if (!t->throttle_rq)
		return 0;
	throttled = since(throttle_clock(t->throttle_rq), t->throttle_base);
	/* The clock moves when the quota is there again: until then it is all of the stretch. */
	return throttled > all || throttle_is_on(t->throttle_rq) ? all : throttled;
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
		ret->throttled_ns = v->throttled_ns;
		BARRIER();
		if (!(seq & 1) && v->seq == seq)
			break;
	}
	if (run == RUN_RUNNABLE) {
		ret->runnable_ns += since(now, at);
		ret->throttled_ns += throttled_yet(t, at, now);
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

/* Of a thread that has been blocked since before it was first seen, user space may know the reason.
 */
static __always_inline __u32 thread_reason(const struct thread_state *t, __u32 tid)
{
	__u32 *first = t->first ? bpf_map_lookup_elem(&first_reasons, &tid) : 0;

	return (first ? *first & WIRE_FIRST_REASON : t->reason) & (REASON_SLOTS - 1);
}

/*
 * Until when a thread that seemed to be stopped by a safepoint when it left its CPU was: up to the
 * end of the first one that has ended since. What is beyond that was something of the VM's own.
 */
static __always_inline __u64 paused_until(const struct thread_state *t, __u64 now)
{
	__u32 first = t->pause_first, ended = safepoints_ended;
	__u64 end;

	if (ended == first)
		return safepoint_on ? now : t->since;
	if (ended - first > SAFEPOINT_ENDS)
		return t->since;
	end = safepoint_ends_ns[first & (SAFEPOINT_ENDS - 1)];
	return end < t->since ? t->since : end < now ? end : now;
}

/* All of them, likewise. */
static __always_inline void thread_states(const struct thread_state *t, __u32 tid, __u64 now,
					  struct wire_states *ret)
{
	__u32 reason = thread_reason(t, tid);
	__u64 open = t->run == RUN_BLOCKED ? since(now, t->since) : 0, counted = open;

	if (open && reason == WIRE_BLOCKED_PAUSE)
		counted = since(paused_until(t, now), t->since);

	thread_snapshot(t, now, &ret->counters);
	ret->blocked_ns = t->blocked_ns + open;
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		ret->reason_ns[i] = t->reason_ns[i] + (i == reason ? counted : 0);
}

/* Whether, and for how long yet, an owner is blocked. */
static __always_inline __u32 thread_doing(__u32 tid, __u64 now, __u64 *ret_ns)
{
	struct thread_state *t = tid ? bpf_map_lookup_elem(&threads, &tid) : 0;

	*ret_ns = 0;
	if (!t || t->run != RUN_BLOCKED)
		return 0;
	*ret_ns = since(now, t->since);
	return thread_reason(t, tid);
}

/* The thread's own probes: it goes into something that it will block in, and comes out of it. */
static __always_inline void thread_does(struct thread_state *t, __u32 doing)
{
	if (t->doing != doing)
		t->doing_before = t->doing;
	t->doing = doing;
}

static __always_inline void thread_done(struct thread_state *t)
{
	t->doing = t->doing_before;
	t->doing_before = WIRE_BLOCKED_OTHER;
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

/* If there is no room for it, it is told with the next sample. */
static __always_inline void thread_tell(struct thread_state *t, struct task_struct *task, __u32 tid,
					__u32 flags, __u64 now)
{
	struct wire_thread *r = emit_reserve(WIRE_THREAD, sizeof(*r));

	if (!r)
		return;
	head_fill(&r->head, WIRE_THREAD, flags, tid, now);
	r->start_ns = BPF_CORE_READ(task, start_boottime);
	r->ns_tid = t->ns_tid;
	r->pad = 0;
	bpf_core_read(&r->comm, sizeof(r->comm), &task->comm);
	t->told = 1;
	emit_submit(r);
}

/* Makes a thread known: called for a task of the target when it is forked, first run, or found. */
static __always_inline struct thread_state *thread_add(struct task_struct *task, __u32 run,
						       __u64 now, __u32 flags)
{
	struct thread_state fresh = {}, *t;
	__u32 tid = BPF_CORE_READ(task, pid);

	fresh.run = run;
	fresh.since = now;
	fresh.first = run == RUN_BLOCKED;
	if (run != RUN_RUNNING)
		fresh.off_since = now;
	fresh.ns_tid = task_ns_tid(task);
	if (run == RUN_RUNNING) {
		fresh.cpu = task_cpu(task);
		fresh.steal_base = steal_read(steal_rq(task));
	}
	if (bpf_map_update_elem(&threads, &tid, &fresh, BPF_NOEXIST)) {
		t = thread_find(tid);
		if (!t)
			count_drop(WIRE_THREAD, WIRE_LOST_MAP);
		return t;
	}
	if (fresh.ns_tid != tid)
		bpf_map_update_elem(&ns_tids, &fresh.ns_tid, &tid, BPF_ANY);
	t = thread_find(tid);
	if (t)
		thread_tell(t, task, tid, flags, now);
	return t;
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
