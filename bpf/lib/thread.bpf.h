/* bpf/lib/thread.bpf.h: a thread's state: made, found, and read as a snapshot of its counters. */
#pragma once

#include "bpf/lib/clock.bpf.h"
#include "bpf/lib/spoor.bpf.h"
#include "bpf/lib/steal.bpf.h"
#include "bpf/lib/throttle.bpf.h"

/* What waiting for a CPU since `at` was throttling; the interval goes on. */
static __always_inline __u64 throttled_yet(const struct thread_state *t, __u64 at, __u64 now)
{
	__u64 all = since(now, at), throttled;

	if (!t->throttle.rq)
		return 0;
	throttled = since(throttle_clock(t->throttle.rq), t->throttle.base);
	/* The clock moves when the quota is there again: until then it is all of the interval. */
	return throttled > all || throttle_is_on(t->throttle.rq) ? all : throttled;
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
	__u32 seq = v->time.seq;

	BARRIER();
	m->run = v->time.run;
	m->since = v->time.since;
	m->steal_base = v->time.steal_base;
	m->cpu = v->time.cpu;
	ret->cpu_ns = v->time.cpu_ns;
	ret->stolen_ns = v->time.stolen_ns;
	ret->runnable_ns = v->time.runnable_ns;
	ret->throttled_ns = v->time.throttled_ns;
	BARRIER();
	return !(seq & 1) && v->time.seq == seq;
}

/*
 * The counters of a thread at `now`, the running interval included. The writer may be at work on
 * another CPU: a few tries, then what is there (off by the one interval that is just being added).
 */
SUBPROGRAM int thread_snapshot(const struct thread_state *t, __u64 now, struct wire_counters *ret)
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
	__u32 *first = t->reason.first ? bpf_map_lookup_elem(&first_reasons, &tid) : 0;

	return (first ? *first & WIRE_FIRST_REASON : t->reason.now) & (REASON_SLOTS - 1);
}

/*
 * Until when a thread that seemed to be stopped by a safepoint when it left its CPU was: up to the
 * end of the first one that has ended since. What is beyond that was something of the VM's own.
 */
static __always_inline __u64 paused_until(const struct thread_state *t, __u64 now)
{
	__u32 first = t->pause.first, ended = safepoints_ended;
	__u64 end;

	if (ended == first)
		return safepoint_on ? now : t->time.since;
	if (ended - first > SAFEPOINT_ENDS)
		return t->time.since;
	end = safepoint_ends_ns[first & (SAFEPOINT_ENDS - 1)];
	return end < t->time.since ? t->time.since : end < now ? end : now;
}

static __always_inline void write_begin(struct thread_state *t)
{
	t->time.seq++;
	BARRIER();
}

static __always_inline void write_end(struct thread_state *t)
{
	BARRIER();
	t->time.seq++;
}

/* From now on it waits for a CPU. To be called between write_begin and write_end. */
static __always_inline void runnable_from(struct thread_state *t, struct task_struct *task,
					  __u64 now)
{
	t->time.run = RUN_RUNNABLE;
	t->time.since = now;
	t->throttle.rq = quota_on ? throttle_queue(task) : 0;
	t->throttle.base = throttle_clock(t->throttle.rq);
}

static __always_inline void runnable_to(struct thread_state *t, __u64 now)
{
	__u64 waited = since(now, t->time.since), throttled;

	t->time.runnable_ns += waited;
	if (!t->throttle.rq)
		return;
	throttled = since(throttle_clock(t->throttle.rq), t->throttle.base);
	t->time.throttled_ns += throttled < waited ? throttled : waited;
	t->throttle.rq = 0;
}

static __always_inline void blocked_to(struct thread_state *t, __u32 tid, __u64 now)
{
	__u64 blocked = since(now, t->time.since), counted = blocked;
	__u32 reason = thread_reason(t, tid), *first;

	if (reason == WIRE_BLOCKED_PAUSE) {
		counted = since(paused_until(t, now), t->time.since);
		if (counted < blocked - counted) /* it was in it by the way */
			reason = WIRE_BLOCKED_OTHER;
		t->reason_ns[WIRE_BLOCKED_PAUSE] += counted;
	} else {
		t->reason_ns[reason & (REASON_SLOTS - 1)] += blocked;
	}
	t->time.blocked_ns += blocked;
	t->reason.now = reason;
	if (!t->reason.first)
		return;
	t->reason.first = 0;
	/* It may wake up for nothing and go on with what it was in. */
	first = bpf_map_lookup_elem(&first_reasons, &tid);
	if (first && *first & WIRE_FIRST_HAS_END && !t->reason.probe)
		t->reason.probe = reason;
}

/*
 * The switch to this thread was not seen: on some machines those away from certain tasks of the
 * host's agents never reach BPF (seen: two in a hundred on a micro-VM, always from the same tasks;
 * recursion_misses is 0). It is found out at the thread's next probe, or when it leaves its CPU;
 * ran: for how long it has been on it by the kernel's own count. What was stolen meanwhile cannot
 * be distinguished from what was stolen of the task before: it goes to "other".
 */
static __always_inline void switch_in_late(struct thread_state *t, __u32 tid, __u64 now, __u64 ran,
					   __u64 clock, __u32 cpu)
{
	__u64 off = since(now, t->time.since);

	if (ran > off)
		ran = off;
	write_begin(t);
	if (t->time.run == RUN_RUNNABLE)
		runnable_to(t, now - ran);
	else
		blocked_to(t, tid, now - ran);
	t->time.run = RUN_RUNNING;
	t->time.since = now - ran;
	t->time.steal_base = clock;
	t->time.cpu = cpu;
	write_end(t);
}

/* What time it is for a thread that is on a CPU: not before it got it. The clock of switches may be
 * ahead by some microseconds, see clock.bpf.h. */
static __always_inline __u64 thread_now(const struct thread_state *t)
{
	__u64 now = bpf_ktime_get_ns();

	return now < t->time.since ? t->time.since : now;
}

/* The running thread, known as one that is off the CPUs. */
SUBPROGRAM int thread_is_on(struct thread_state *t, __u64 now)
{
	struct task_struct *task = bpf_get_current_task_btf();
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);

	if (t && c && t->time.run != RUN_RUNNING)
		switch_in_late(t, t->tid, now,
			       clock_turn(task, c->rq, c->ahead_ns, c->set_at_ns, now),
			       steal_read(c->rq), cpu);
	return 0;
}

/* All of them, likewise. */
SUBPROGRAM int thread_states(const struct thread_state *t, __u32 tid, __u64 now,
			     struct wire_states *ret)
{
	__u64 open, counted;
	__u32 reason;

	if (!t || !ret)
		return 0;
	reason = thread_reason(t, tid);
	open = counted = t->time.run == RUN_BLOCKED ? since(now, t->time.since) : 0;
	if (open && reason == WIRE_BLOCKED_PAUSE)
		counted = since(paused_until(t, now), t->time.since);

	thread_snapshot(t, now, &ret->counters);
	ret->blocked_ns = t->time.blocked_ns + open;
	for (int i = 0; i < WIRE_REASON_COUNT; i++)
		ret->reason_ns[i] = t->reason_ns[i];
	/* In assembly: of what clang makes of it Linux 6.1 does not know the bounds. */
	asm volatile("if %0 < %1 goto +1; %0 = 0" : "+r"(reason) : "i"(WIRE_REASON_COUNT));
	ret->reason_ns[reason] += counted;
	return 0;
}

const volatile __u32 thread_slots __weak = THREAD_SLOTS; /* a power of two, no more than that */

/*
 * A thread's element is the first one with its number among THREAD_LOOKS, before the first that was
 * never used: at tid % thread_slots, else at indexes that are scattered. Threads of a process have
 * numbers near to each other, so the first look nearly always finds; and a row of threads does not
 * stand in the way of another (simulated: with 10,000 threads in rows of up to 1,000 all have one).
 * One that is being filled has THREAD_FILLING beside the number, so that it is not found
 * yet; the search goes on after one that is free again. The verifier goes through all looks once.
 */
#define THREAD_LOOKS 10
#define THREAD_FILLING (1u << 31)
#define THREAD_FREE (1u << 30)

static __always_inline __u32 thread_index_at(__u32 tid, __u32 look)
{
	return (look ? (tid + look * 0x85ebca6bu) * 0x9e3779b1u >> 17 : tid) & (thread_slots - 1);
}

static __always_inline struct thread_state *thread_at(__u32 tid, __u32 look)
{
	__u32 index = thread_index_at(tid, look);

	return bpf_map_lookup_elem(&threads, &index);
}

/* 1 + its index; 0: it has none. */
SUBPROGRAM int thread_index(__u32 tid)
{
	struct thread_state *t;

	for (__u32 i = 0; i < THREAD_LOOKS; i++) {
		t = thread_at(tid, i);
		if (!t || !t->tid)
			return 0;
		if (t->tid == tid)
			return 1 + thread_index_at(tid, i);
	}
	return 0;
}

/* NULL for a virtual thread, too. */
static __noinline struct thread_state *thread_find(__u32 tid)
{
	__u32 index = tid & WIRE_VIRTUAL ? THREAD_SLOTS : thread_index(tid) - 1;

	return index < THREAD_SLOTS ? bpf_map_lookup_elem(&threads, &index) : 0;
}

/* For what runs at every switch; the others have thread_find(), which costs them less stack. */
static __always_inline struct thread_state *thread_find_fast(__u32 tid)
{
	struct thread_state *t = thread_at(tid, 0);

	if (!t || t->tid == tid)
		return t;
	return t->tid ? thread_find(tid) : 0;
}

/* All indexes that have ever been used, each plus 1, so that a round of samples need not go through
 * the whole map: 15 MB of memory. */
__u32 thread_indexes[THREAD_SLOTS] __weak;
__u32 thread_index_count __weak;

static __always_inline void thread_index_used(__u32 index)
{
	__u32 n = __sync_fetch_and_add(&thread_index_count, 1);

	if (n < THREAD_SLOTS)
		thread_indexes[n] = index + 1;
}

/* The element at the n-th of these indexes, if a thread has it. */
static __always_inline struct thread_state *thread_nth(__u32 n)
{
	__u32 index = thread_indexes[n & (THREAD_SLOTS - 1)] - 1;
	struct thread_state *t = index < THREAD_SLOTS ? bpf_map_lookup_elem(&threads, &index) : 0;

	return t && t->tid && !(t->tid & (THREAD_FILLING | THREAD_FREE)) ? t : 0;
}

struct thread_claim {
	__u32 tid;
	__u32 over;
	int ret;
};

static long claim_own(__u32 look, struct thread_claim *c)
{
	struct thread_state *t = thread_at(c->tid, look);

	if (!t || !t->tid)
		return 1;
	if (t->tid == c->tid)
		c->ret = -(int)(1 + thread_index_at(c->tid, look));
	c->over = (t->tid & ~THREAD_FILLING) == c->tid;
	return c->over;
}

static long claim_free(__u32 look, struct thread_claim *c)
{
	struct thread_state *t = thread_at(c->tid, look);
	__u32 was;

	if (!t)
		return 1;
	was = t->tid;
	if ((was && was != THREAD_FREE) ||
	    __sync_val_compare_and_swap(&t->tid, was, c->tid | THREAD_FILLING) != was)
		return 0;
	if (!was)
		thread_index_used(thread_index_at(c->tid, look));
	c->ret = 1 + (int)thread_index_at(c->tid, look);
	return 1;
}

/*
 * 1 + the index of an element to be filled for tid; negative: of the one it has; 0: that is being
 * filled now, or there is no room.
 */
SUBPROGRAM int thread_claim(__u32 tid)
{
	struct thread_claim c = {.tid = tid};

	bpf_loop(THREAD_LOOKS, claim_own, &c, 0);
	if (!c.over)
		bpf_loop(THREAD_LOOKS, claim_free, &c, 0);
	return c.ret;
}

/* Whether, and for how long yet, an owner is blocked. */
static __always_inline __u32 thread_blocked(__u32 tid, __u64 now, __u64 *ret_ns)
{
	struct thread_state *t = tid ? thread_find(tid) : 0;

	*ret_ns = 0;
	if (!t || t->time.run != RUN_BLOCKED)
		return 0;
	*ret_ns = since(now, t->time.since);
	return thread_reason(t, tid);
}

/* The thread's own probes: it goes into something that it will block in, and comes out of it. */
static __always_inline void set_probe_reason(struct thread_state *t, __u32 reason)
{
	if (t->reason.probe != reason)
		t->reason.probe_before = t->reason.probe;
	t->reason.probe = reason;
}

/* After Object.wait() a thread may have its monitor back without having been blocked on it. */
static __always_inline void thread_done(struct thread_state *t, __u32 reason)
{
	if (t->reason.probe != reason)
		return;
	t->reason.probe = t->reason.probe_before;
	t->reason.probe_before = WIRE_BLOCKED_OTHER;
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
	__u64 pid = KERNEL_POINTER(struct task_struct, task, thread_pid);
	unsigned int level = pid_level(task, pid);

	if (!level)
		return task->pid;
	asm volatile("%0 &= 31" : "+r"(level)); /* MAX_PID_NS_LEVEL */
	return KERNEL_LOAD(struct upid, upid_at(pid, level), nr);
}

static __always_inline __u32 task_cpu(struct task_struct *task)
{
	struct task_struct___spoor *old = (void *)task;

	if (bpf_core_field_exists(task->thread_info.cpu))
		return task->thread_info.cpu;
	return old->cpu;
}

/* Reports a thread of which only the address of its task is known. */
static __always_inline void emit_thread_late(struct thread_state *t, __u64 task, __u32 tid,
					     __u64 now)
{
	struct task_struct *known = (void *)task;
	struct wire_thread *r;

	if (kernel_reads == WIRE_READS_NONE)
		return;
	r = emit_reserve(WIRE_THREAD, sizeof(*r));
	if (!r)
		return;
	head_fill(&r->head, WIRE_THREAD, 0, tid, now);
	if (kernel_reads == WIRE_READS_CAST) {
		known = KERNEL_AT(struct task_struct, task);
		r->start_ns = known->start_boottime;
		task_comm(r->comm, known);
	} else {
		r->start_ns = BPF_CORE_READ(known, start_boottime);
		bpf_core_read(&r->comm, sizeof(r->comm), &known->comm);
	}
	r->ns_tid = t->ns_tid;
	r->pad = 0;
	t->emitted = 1;
	emit_submit(r);
}

/* If there is no room for it, it is reported with the next sample. */
static __always_inline void emit_thread(struct thread_state *t, struct task_struct *task, __u32 tid,
					__u32 flags, __u64 now)
{
	struct wire_thread *r = emit_reserve(WIRE_THREAD, sizeof(*r));

	if (!r)
		return;
	head_fill(&r->head, WIRE_THREAD, flags, tid, now);
	r->start_ns = task->start_boottime;
	r->ns_tid = t->ns_tid;
	r->pad = 0;
	task_comm(r->comm, task);
	t->emitted = 1;
	emit_submit(r);
}

#define NOWHERE ((const void *)~0ull) /* no address of a process */

/* Makes a thread known: called for a task of the target when it is forked, first run, or found. */
static __noinline struct thread_state *thread_add(struct task_struct *task, __u32 run, __u64 now,
						  __u32 flags)
{
	__u32 tid = task->pid, ns_tid, index;
	int claim = thread_claim(tid);
	struct thread_state *t;

	index = (__u32)(claim < 0 ? -claim : claim) - 1;
	t = index < THREAD_SLOTS ? bpf_map_lookup_elem(&threads, &index) : 0;
	if (!t)
		count_drop(WIRE_THREAD, WIRE_LOST_MAP);
	if (!t || claim < 0)
		return t;
	/* All after its number is zeroed: the helper does that where it cannot read. A store for
	 * each word would be half of what the verifier has to do for this function. */
	bpf_probe_read_user((char *)t + sizeof(t->tid), sizeof(*t) - sizeof(t->tid), NOWHERE);
	t->index = index;
	t->time.run = run;
	t->time.since = now;
	t->reason.first = run == RUN_BLOCKED;
	if (run != RUN_RUNNING)
		t->off.since = now;
	ns_tid = task_ns_tid(task);
	t->ns_tid = ns_tid;
	if (run == RUN_RUNNING) {
		t->time.cpu = task_cpu(task);
		t->time.steal_base = steal_read(steal_rq(task));
	}
	BARRIER();
	t->tid = tid;
	if (ns_tid != tid)
		bpf_map_update_elem(&ns_tids, &ns_tid, &tid, BPF_ANY);
	emit_thread(t, task, tid, flags, now);
	return t;
}

/* A task older than the recording; 1 + its index. */
SUBPROGRAM int thread_add_current(__u64 now)
{
	struct thread_state *t = thread_add(bpf_get_current_task_btf(), RUN_RUNNING, now, 0);

	return t ? 1 + t->index : 0;
}

/* The running thread's state; made when it was not known. */
static __always_inline struct thread_state *thread_current(__u64 now)
{
	__u32 tid = current_tid(), index;
	struct thread_state *t = thread_find(tid);

	if (!t) {
		index = thread_add_current(now) - 1;
		t = index < THREAD_SLOTS ? bpf_map_lookup_elem(&threads, &index) : 0;
	} else if (t->time.run != RUN_RUNNING) {
		thread_is_on(t, now);
	}
	return t;
}

/* A thread id of the target's own namespace, as the kernel's. */
static __always_inline __u32 tid_from_ns(__u32 ns_tid)
{
	__u32 *tid = bpf_map_lookup_elem(&ns_tids, &ns_tid);

	return tid ? *tid : in_pid_namespace ? 0 : ns_tid;
}

/* The thread that a patched JVM's probe names: a virtual one by its id (SPOOR_VIRTUAL). */
static __always_inline __u32 tid_of_hook(__u64 tid)
{
	return tid & WIRE_VIRTUAL ? (__u32)tid : tid_from_ns((__u32)tid);
}
