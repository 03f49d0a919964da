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

/* Since when a thread is what. */
struct thread_moment {
	__u64 since, steal_base;
	__u32 run, cpu;
};

/* 0: it was being written meanwhile. */
static __always_inline int snapshot_try(const struct thread_state *t, struct thread_moment *m,
					struct wire_counters *ret)
{
	const volatile struct thread_state *v = t;
	__u32 seq = v->seq;

	BARRIER();
	m->run = v->run;
	m->since = v->since;
	m->steal_base = v->steal_base;
	m->cpu = v->cpu;
	ret->cpu_ns = v->cpu_ns;
	ret->stolen_ns = v->stolen_ns;
	ret->runnable_ns = v->runnable_ns;
	ret->throttled_ns = v->throttled_ns;
	BARRIER();
	return !(seq & 1) && v->seq == seq;
}

/*
 * The counters of a thread at `now`, the running interval included. The writer may be at work on
 * another CPU: a few tries, then what is there (off by the one interval that is just being added).
 */
PART int thread_snapshot(const struct thread_state *t, __u64 now, struct wire_counters *ret)
{
	struct thread_moment m;

	if (!t || !ret)
		return 0;
	/* No loop: Linux 6.1 rejects one whose end falls through to its begin. */
	if (!snapshot_try(t, &m, ret) && !snapshot_try(t, &m, ret) && !snapshot_try(t, &m, ret))
		snapshot_try(t, &m, ret);
	if (m.run == RUN_RUNNABLE) {
		ret->runnable_ns += since(now, m.since);
		ret->throttled_ns += throttled_yet(t, m.since, now);
	} else if (m.run == RUN_RUNNING) {
		struct wire_cpu *c = bpf_map_lookup_elem(&cpus, &m.cpu);
		__u64 on = since(now, m.since);
		__u64 clock = !c ? 0 : frozen ? c->sample_ns : steal_read(c->rq);
		__u64 stolen = since(clock, m.steal_base);

		/* The clock is read a little after `at`: never more than the interval itself. */
		if (stolen > on)
			stolen = on;
		ret->stolen_ns += stolen;
		ret->cpu_ns += on - stolen;
	}
	return 1;
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

/* After Object.wait() a thread may have its monitor back without having been blocked on it. */
static __always_inline void thread_done(struct thread_state *t, __u32 doing)
{
	if (t->doing != doing)
		return;
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
	return thread_snapshot(t, now, ret);
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

/*
 * A thread's first state is made here: on the stack it would be more than half of what all
 * functions of a program may have together. A program may be interrupted by another, so each CPU
 * has some.
 */
#define FRESH_PER_CPU 4
#define FRESH_SLOTS 64

struct fresh_slot {
	__u32 busy;
	__u32 pad;
	struct thread_state state;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, FRESH_SLOTS);
	__type(key, __u32);
	__type(value, struct fresh_slot);
} fresh_slots __weak SEC(".maps");

static __noinline struct fresh_slot *fresh_take(void)
{
	__u32 first = bpf_get_smp_processor_id() * FRESH_PER_CPU;

	for (__u32 i = 0; i < FRESH_PER_CPU; i++) {
		__u32 key = (first + i) % FRESH_SLOTS;
		struct fresh_slot *s = bpf_map_lookup_elem(&fresh_slots, &key);

		if (s && !__sync_val_compare_and_swap(&s->busy, 0, 1))
			return s;
	}
	return 0;
}

/* Makes a thread known: called for a task of the target when it is forked, first run, or found. */
static __noinline struct thread_state *thread_add(struct task_struct *task, __u32 run, __u64 now,
						  __u32 flags)
{
	struct fresh_slot *slot = fresh_take();
	struct thread_state *fresh, *t;
	__u32 tid = BPF_CORE_READ(task, pid), ns_tid;
	long failed;

	if (!slot) {
		count_drop(WIRE_THREAD, WIRE_LOST_MAP);
		return 0;
	}
	fresh = &slot->state;
	__builtin_memset(fresh, 0, sizeof(*fresh));

	fresh->run = run;
	fresh->since = now;
	fresh->first = run == RUN_BLOCKED;
	if (run != RUN_RUNNING)
		fresh->off_since = now;
	ns_tid = task_ns_tid(task);
	fresh->ns_tid = ns_tid;
	if (run == RUN_RUNNING) {
		fresh->cpu = task_cpu(task);
		fresh->steal_base = steal_read(steal_rq(task));
	}
	failed = bpf_map_update_elem(&threads, &tid, fresh, BPF_NOEXIST);
	__sync_val_compare_and_swap(&slot->busy, 1, 0);
	if (failed) {
		t = thread_find(tid);
		if (!t)
			count_drop(WIRE_THREAD, WIRE_LOST_MAP);
		return t;
	}
	if (ns_tid != tid)
		bpf_map_update_elem(&ns_tids, &ns_tid, &tid, BPF_ANY);
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
