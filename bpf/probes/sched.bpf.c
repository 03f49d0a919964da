/*
 * Where the threads of the target are: on a CPU, stolen from, waiting for a CPU, blocked.
 *
 * At each switch the growth of this CPU's steal clock since its last switch is what was stolen
 * while `prev` was on it: charged to prev if it is a thread of the target, else to "other" or
 * "idle", so that per CPU jvm + other + idle == growth of the clock, always.
 */
#include "bpf/lib/cpu_timer.bpf.h"
#include "bpf/lib/pidns.bpf.h"
#include "bpf/lib/waits.bpf.h"
#include "bpf/wire/wire_relay.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 find_pid = 0; /* the target as user space calls it */
const volatile __u32 switch_has_state =
	0; /* sched_switch has prev_state as 4th argument (5.18, be 8) */
/* bpf/relay calls these programs, for the target's own events only. */
const volatile __u32 relayed = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* if relayed, user space has the relay's in its place */
	__type(key, __u32);
	__type(value, struct wire_relay_cpu);
} relay_cpus SEC(".maps");

#define PF_EXITING 0x00000004
#define TASK_RUNNING 0
#define TASK_UNINTERRUPTIBLE 2

static __always_inline __u64 task_state(struct task_struct *task)
{
	struct task_struct___spoor *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return task->__state;
	return old->state;
}

static __always_inline void switch_out(struct thread_state *t, struct task_struct *task, __u64 now,
				       __u64 stolen, __u32 run, __u32 reason)
{
	__u64 on = since(now, t->time.since);

	write_begin(t);
	t->time.stolen_ns += stolen;
	t->time.cpu_ns += since(on, stolen);
	t->off.since = now;
	t->pause.first = safepoints_ended;
	t->off.runnable_ns = t->time.runnable_ns;
	t->off.throttled_ns = t->time.throttled_ns;
	t->reason.now = reason;
	if (run == RUN_RUNNABLE) {
		runnable_from(t, task, now);
	} else {
		t->time.run = run;
		t->time.since = now;
	}
	write_end(t);
}

static __noinline int emit_off_cpu(struct thread_state *t, __u32 tid, __u64 now)
{
	__u64 off = since(now, t->off.since), wait = t->time.runnable_ns - t->off.runnable_ns;
	__u32 reason = t->reason.now;
	struct wire_off_cpu *r;

	/* Locks, waits, parks have events of their own; without probes, if their begin was seen. */
	if (reason_has_events(reason) && (!waits_by_switches(reason) || wait_is_open(t))) {
		if (wait < off_cpu_ns)
			return 0;
	}
	r = emit_reserve(WIRE_OFF_CPU, sizeof(*r));
	if (!r)
		return 0;
	head_fill(&r->head, WIRE_OFF_CPU, 0, tid, now);
	r->self.cpu_ns = t->time.cpu_ns;
	r->self.stolen_ns = t->time.stolen_ns;
	r->self.runnable_ns = t->time.runnable_ns;
	r->self.throttled_ns = t->time.throttled_ns;
	r->off_ns = off;
	r->cpu_wait_ns = wait;
	r->throttled_ns = t->time.throttled_ns - t->off.throttled_ns;
	r->reason = reason;
	r->stack = t->off.stack;
	emit_submit(r);
	return 0;
}

/* The switch to it was not seen, see switch_in_late(): the off-CPU interval is reported when the
 * thread leaves its CPU again. A wait has been reported by then, see wait_check(). With entry, the
 * next interval's chain is there already, and is left alone, as is off_short. */
static __noinline int off_cpu_late(struct thread_state *t, __u32 tid, int entry)
{
	__u32 stack = t->off.stack;
	__u64 on = t->time.since;

	if (since(on, t->off.since) >= off_cpu_ns &&
	    (!reason_has_events(t->reason.now) ||
	     t->time.runnable_ns - t->off.runnable_ns >= off_cpu_ns)) {
		if (entry)
			t->off.stack = t->off.stack_before;
		emit_off_cpu(t, tid, on);
		t->off.stack = stack;
	}
	t->off.since = 0;
	return 0;
}

static __always_inline void switch_in(struct thread_state *t, __u32 tid, __u64 now, __u64 clock,
				      __u32 cpu)
{
	if (now < t->time.since)
		now = t->time.since;
	write_begin(t);
	if (t->time.run == RUN_RUNNING) /* the switch away was not seen: its time is in one state */
		t->reason.now = WIRE_BLOCKED_OTHER;
	if (t->time.run == RUN_RUNNABLE)
		runnable_to(t, now);
	else
		blocked_to(t, tid, now);
	t->time.run = RUN_RUNNING;
	t->time.since = now;
	t->time.steal_base = clock;
	t->time.cpu = cpu;
	write_end(t);
	if (t->off.since && since(now, t->off.since) >= off_cpu_ns) {
		if (off_cpu_chains)
			t->walk.off_short &= t->walk.off_short & OFF_OPEN ? 0 : OFF_SHORT;
		emit_off_cpu(t, tid, now);
	} else if (off_cpu_chains && t->walk.off_short & OFF_OPEN) {
		t->walk.off_short = OFF_SHORT;
	}
	t->off.since = 0; /* reported, or too short for that */
	if (by_switches)
		wait_over(t, now);
}

/*
 * Whether a thread waits in a system call for something outside: in any but those in which the VM
 * waits for itself. None: the thread was not in a call, as in a page fault. Cheap, and most that
 * wait do so.
 */
static __always_inline int in_io_call(struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);
	long call = SYSCALL_NUMBER(regs);

	return call >= 0 && call != CALL_FUTEX && call != CALL_NANOSLEEP &&
	       call != CALL_CLOCK_NANOSLEEP && call != CALL_PAUSE && call != CALL_RT_SIGSUSPEND;
}

/*
 * Why a thread that leaves its CPU is blocked. Its probes have reported locks, waits, parks
 * and sleeps, or the VM's own data do (waits.bpf.h). Else one in native code waits for something
 * outside. One that is not, while a safepoint begins or is on, has been stopped by it, and one that
 * has asked for a VM operation waits for it, as far as there is a safepoint meanwhile (blocked_to).
 * All else is the VM's own affair.
 */
static __always_inline __u32 reason_of(struct thread_state *t, struct task_struct *task, __u32 tid,
				       __u64 state, const int entry)
{
	__u64 java_thread = t->java.thread, *known;
	__u32 at;

	if (t->reason.probe)
		return t->reason.probe;
	if (state & TASK_UNINTERRUPTIBLE)
		return WIRE_BLOCKED_IO;
	if (by_switches) {
		at = entry ? wait_next(t, task) : wait_reason(t);
		if (at != WIRE_BLOCKED_OTHER)
			return at;
		java_thread = t->java.thread;
	}
	if (!java_thread) {
		if (!t->java.known) {
			known = bpf_map_lookup_elem(&java_thread_of, &tid);
			t->java.known = known ? *known : 0;
		}
		java_thread = t->java.known;
	}
	if (!java_thread || layout.jt_state < 0)
		return WIRE_BLOCKED_OTHER;
	if (in_io_call(task))
		return WIRE_BLOCKED_IO;
	at = read_u32(java_thread + layout.jt_state);
	if (at == layout.thread_in_native)
		return WIRE_BLOCKED_IO;
	return safepoint_on || t->pause.requested == safepoints_ended + 1 ? WIRE_BLOCKED_PAUSE
									  : WIRE_BLOCKED_OTHER;
}

static __noinline int emit_theft(__u32 tid, __u32 cpu, __u64 taken, __u64 on_cpu, __u64 now)
{
	struct wire_theft *r = emit_reserve(WIRE_THEFT, sizeof(*r));

	if (!r)
		return 0;
	head_fill(&r->head, WIRE_THEFT, 0, tid, now);
	r->taken_ns = taken;
	r->turn_ns = on_cpu;
	r->cpu = cpu;
	r->pad = 0;
	emit_submit(r);
	return 0;
}

/*
 * A thread of the target leaves its CPU, on which `stolen` was taken since the last switch;
 * `clock` is the steal clock now. What was taken before it was known to be there is not its own.
 */
static __always_inline void leave(struct thread_state *t, struct task_struct *task, __u32 tid,
				  struct wire_cpu *c, __u64 now, __u64 clock, __u64 stolen,
				  __u32 run, __u32 reason, const int entry)
{
	__u64 own;

	if (t->time.run != RUN_RUNNING)
		switch_in_late(t, tid, now, clock_turn_over(task), clock, t->time.cpu);
	if (t->off.since)
		off_cpu_late(t, tid, entry);
	if (by_switches)
		wait_check(t, t->time.since);
	if (now < t->time.since)
		now = t->time.since;
	own = since(clock, t->time.steal_base);
	if (own > stolen)
		own = stolen;
	/* The clock moves late at times: what is more than the on-CPU interval was taken before it.
	 */
	if (own > now - t->time.since)
		own = now - t->time.since;
	c->jvm_stolen_ns += own;
	c->other_stolen_ns += stolen - own;
	if (own && own >= off_cpu_ns)
		emit_theft(tid, t->time.cpu, own, now - t->time.since, now);
	switch_out(t, task, now, own, run, reason);
}

/* Of a thread that leaves its CPU: its chain, if another thread wants it, and who has the monitor
 * that it is blocked on or had last. */
static __always_inline void look_around(struct thread_state *t, __u32 tid, __u64 now)
{
	if (t->chain.want)
		emit_owner_stack(t, WIRE_STACK_SWITCH, now);
	if (t->monitor.address && !numbered)
		monitor_look(t, tid, now);
}

/* Of what the relay has seen as idle time's since the last switch that was seen here. */
static __always_inline __u64 idle_since(struct wire_cpu *c, __u32 cpu, int upto, __u64 clock)
{
	struct wire_relay_cpu *r = bpf_map_lookup_elem(&relay_cpus, &cpu);
	__u64 idle;

	if (!r)
		return 0;
	idle = since(r->idle_ns, c->idle_seen_ns);
	if (upto && r->idle)
		idle += since(clock, r->idle_clock_ns);
	if (!upto)
		c->idle_seen_ns = r->idle_ns;
	return idle;
}

/* Charges what was stolen while no thread of the target was on the CPU. */
static __noinline int charge_others(struct wire_cpu *c, __u32 cpu, int idle, __u64 stolen)
{
	__u64 part = idle ? stolen : 0;

	if (relayed) {
		part = idle_since(c, cpu, 0, 0);
		if (part > stolen)
			part = stolen;
	}
	c->idle_stolen_ns += part;
	c->other_stolen_ns += stolen - part;
	return 0;
}

/* entry: sched_entry() has been called for the thread that leaves its CPU. A constant, by which the
 * one program has nothing of what the other does. */
static __always_inline int on_switch(__u64 *ctx, const int entry)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 target = target_tgid, cpu, tid;
	struct thread_state *t = 0;
	__u64 now, clock, state = 0, stolen = 0;
	struct wire_cpu *c;
	int own, runnable = 0;

	/* Neither task is the target's or idle, as in most switches of a machine: what is stolen
	 * from them is accounted in bulk at the next switch that involves one. */
	if (!target || ((__u32)prev->tgid != target && (__u32)next->tgid != target &&
			(relayed || (prev->pid && next->pid))))
		return 0;
	cpu = bpf_get_smp_processor_id();
	c = bpf_map_lookup_elem(&cpus, &cpu);
	if (!c)
		return 0;
	if (!c->rq)
		c->rq = steal_rq(prev);
	clock = steal_at_switch(prev, c->rq);
	/* A hypervisor's own record may be ahead of the run queue's clock, by all of a theft. */
	now = clock != c->clock_ns ? bpf_ktime_get_ns()
				   : clock_now(prev, c->rq, &c->ahead_ns, &c->set_at_ns);
	if (c->seen) {
		stolen = since(clock, c->clock_ns);
	} else { /* the first switch seen here: nothing is known of before */
		c->base_ns = clock;
		charge_others(c, cpu, 0, 0);
	}
	c->seen = 1;
	c->clock_ns = clock;

	own = (__u32)prev->tgid == target;
	if (own) {
		tid = prev->pid;
		t = thread_find_fast(tid);
		state = switch_has_state ? ctx[3] & 0xffffffff : task_state(prev);
		runnable = (ctx[0] & 0xff) || state == TASK_RUNNING;
	}
	timer_switch(cpu, now, own, runnable, (__u32)next->tgid == target);
	if (t) {
		if (runnable)
			leave(t, prev, tid, c, now, clock, stolen, RUN_RUNNABLE,
			      WIRE_BLOCKED_OTHER, entry);
		else
			leave(t, prev, tid, c, now, clock, stolen, RUN_BLOCKED,
			      reason_of(t, prev, tid, state, entry), entry);
		if (!t->chain.regs) {
			t->chain.regs = (__u64)bpf_task_pt_regs(prev);
			t->chain.task = (__u64)prev;
		}
		if (by_switches && virtual_parks_too && t->java.leaving)
			virtual_left(t, !runnable && t->reason.now == WIRE_BLOCKED_PARK);
		if (by_switches)
			wait_left(t, t->reason.now, runnable, t->off.since, entry);
		if (!entry) {
			look_around(t, tid, now);
			if (off_cpu_chains) {
				t->off.stack = 0;
				if ((!off_cpu_ns || (t->time.run == RUN_BLOCKED &&
						     !reason_has_events(t->reason.now))) &&
				    off_cpu_due(t))
					t->off.stack = stack_interrupted(t);
			}
		}
	} else {
		charge_others(c, cpu, prev->pid == 0, stolen);
	}

	c->current = next->pid ? WIRE_CPU_OTHER : WIRE_CPU_IDLE;
	if ((__u32)next->tgid != target)
		return 0;
	tid = next->pid;
	t = thread_find_fast(tid);
	if (!t && !(next->flags & PF_EXITING))
		t = thread_add(next, RUN_RUNNABLE, now, 0);
	if (t) {
		c->current = WIRE_CPU_JVM;
		switch_in(t, tid, now, clock, cpu);
	}
	return 0;
}

SEC("tp_btf/sched_switch")
int sched_switch(__u64 *ctx)
{
	return on_switch(ctx, 0);
}

/* With sched_entry(). */
SEC("tp_btf/sched_switch")
int sched_switch_entry(__u64 *ctx)
{
	return on_switch(ctx, 1);
}

/* The queue that the task has been put into: its clock has been brought up to date for that. */
static __always_inline __u64 wake_now(struct task_struct *task)
{
	__u32 cpu = task_cpu(task);
	struct wire_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);

	return c ? clock_now(task, c->rq, &c->ahead_ns, &c->set_at_ns) : bpf_ktime_get_ns();
}

static __always_inline int wake(struct task_struct *task)
{
	struct thread_state *t;
	__u64 now;
	__u32 tid;

	if (!target_tgid || (__u32)task->tgid != target_tgid)
		return 0;
	tid = task->pid;
	t = thread_find_fast(tid);
	if (!t || t->time.run != RUN_BLOCKED)
		return 0;
	now = wake_now(task);
	if (now < t->time.since)
		now = t->time.since;
	write_begin(t);
	blocked_to(t, tid, now);
	runnable_from(t, task, now);
	write_end(t);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	return wake(task);
}

/* In whoever wakes the task: sched_wakeup may come on the CPU that the task goes to. Attached only
 * if by_switches. */
SEC("tp_btf/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	struct task_struct *by = bpf_get_current_task_btf();
	struct thread_state *t, *own;
	struct thread_wait *w;
	__u64 now;

	if (!target_tgid || (__u32)task->tgid != target_tgid || (__u32)by->tgid != target_tgid)
		return 0;
	t = thread_find_fast(task->pid);
	if (!t || t->time.run != RUN_BLOCKED)
		return 0;
	now = bpf_ktime_get_ns();
	w = wait_worth(t, now);
	if (!w || !woken_by_futex(by, task))
		return 0;
	own = thread_find_fast(by->pid);
	if (!own)
		return 0;
	if (own->time.run != RUN_RUNNING)
		thread_is_on(own, now);
	if (now < own->time.since)
		now = own->time.since;
	if (!own->chain.regs) {
		own->chain.regs = (__u64)bpf_task_pt_regs(by);
		own->chain.task = (__u64)by;
	}
	wait_woken(t, w, own, now);
	return 0;
}

/* A function of its own saves the verifier's time; sched_switch() has no room for its frame. */
SUBPROGRAM int look_around_here(struct thread_state *t)
{
	if (t)
		look_around(t, current_tid(), thread_now(t));
	return 0;
}

/* A thread is about to leave its CPU; its run queue is not locked yet. With
 * sched_switch_entry(). */
SEC("tp_btf/sched_entry_tp")
int sched_entry(__u64 *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct thread_state *t;
	int leaves, has_events = 0;
	__u64 state;

	if (!target_tgid || (__u32)task->tgid != target_tgid)
		return 0;
	t = thread_find_fast(task->pid);
	if (!t)
		return 0;
	state = task_state(task);
	if (!t->chain.regs) {
		t->chain.regs = (__u64)bpf_task_pt_regs(task);
		t->chain.task = (__u64)task;
	}
	/* If it is preempted, it does not wait, whatever its state is. */
	leaves = !(ctx[0] & 0xff) && state != TASK_RUNNING;
	if (leaves && !(state & TASK_UNINTERRUPTIBLE) && in_futex_call(task)) {
		wait_ahead(t);
		has_events = reason_has_events(wait_next(t, task));
	}
	if (off_cpu_chains) {
		t->off.stack_before = t->off.since ? t->off.stack : 0;
		t->off.stack = 0;
		if ((!off_cpu_ns || (leaves && !has_events)) && off_cpu_due(t))
			t->off.stack = stack_interrupted(t);
	}
	if (t->chain.want || t->monitor.address)
		look_around_here(t);
	return 0;
}

SEC("tp_btf/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	if (target_tgid && (__u32)task->tgid == target_tgid)
		thread_add(task, RUN_RUNNABLE, bpf_ktime_get_ns(), 0);
	return 0;
}

static __always_inline void emit_sample(__u32 kind, __u32 tid, const struct thread_state *t,
					__u64 now)
{
	struct wire_sample *r = emit_reserve(kind, sizeof(*r));

	if (!r)
		return;
	head_fill(&r->head, kind, 0, tid, now);
	thread_states(t, tid, now, &r->self);
	emit_submit(r);
}

/* What the steal clock has grown by since the last switch belongs to the thread that ends now. */
static __always_inline void close_account(struct thread_state *t, struct task_struct *task,
					  __u32 tid, __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);
	__u64 clock;

	if (!c || !c->seen)
		return;
	clock = steal_read(c->rq);
	/* Not at a switch: the kernel's count of its turn is to be brought up to date first. */
	if (t->time.run != RUN_RUNNING)
		thread_is_on(t, now);
	leave(t, task, tid, c, now, clock, since(clock, c->clock_ns), RUN_RUNNABLE,
	      WIRE_BLOCKED_OTHER, 0);
	c->clock_ns = clock;
	c->current = WIRE_CPU_OTHER;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(sched_process_exit, struct task_struct *task)
{
	struct thread_state *t;
	__u64 java_thread, parker, now;
	__u32 tid, ns_tid;

	if (!target_tgid || (__u32)task->tgid != target_tgid)
		return 0;
	tid = task->pid;
	t = thread_find(tid);
	if (!t)
		return 0;
	__sync_fetch_and_add(&threads_ended, 1);
	now = bpf_ktime_get_ns();
	close_account(t, task, tid, now);
	if (by_switches)
		wait_end(t, now);
	emit_sample(WIRE_THREAD_END, tid, t, now);
	java_thread = t->java.thread;
	parker = t->park.parker;
	ns_tid = t->ns_tid;
	if (java_thread)
		java_thread_forget(java_thread);
	if (parker)
		bpf_map_delete_elem(&parkers, &parker);
	if (ns_tid != tid)
		bpf_map_delete_elem(&ns_tids, &ns_tid);
	bpf_map_delete_elem(&java_thread_of, &tid);
	bpf_map_delete_elem(&first_reasons, &tid);
	t->tid = THREAD_FREE;
	return 0;
}

/*
 * A thread that was on a CPU when find_threads() looked may have left it before sched_switch()
 * could find it here: it would be taken to run until its next switch. A task's on_cpu is 0 only
 * after the tracepoint of the switch away from it, and time.seq is 0 until a switch is counted.
 * on_cpu must not be read before the thread's number can be seen elsewhere: a compare-and-swap
 * orders the two on x86, too, as BARRIER() does not.
 */
static __always_inline void left_unseen(struct thread_state *t, struct task_struct *task)
{
	__sync_val_compare_and_swap(&t->tid, 0, 0);
	if (t->time.run != RUN_RUNNING || *(volatile int *)&task->on_cpu || t->time.seq)
		return;
	write_begin(t);
	t->time.run = task->on_rq ? RUN_RUNNABLE : RUN_BLOCKED;
	t->off.since = t->time.since;
	t->reason.first = t->time.run == RUN_BLOCKED;
	write_end(t);
}

/* First pass: finds the target in the initial namespace. Second pass: makes its threads known. */
SEC("iter/task")
int find_threads(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct thread_state *t;
	__u64 now;
	__u32 run;

	if (!task)
		return 0;
	if (!target_tgid) {
		if (own_tid(task) == find_pid) {
			in_pid_namespace = task_ns_tid(task) != (__u32)task->pid;
			target_tgid = task->tgid;
		}
		return 0;
	}
	if ((__u32)task->tgid != target_tgid || (task->flags & PF_EXITING))
		return 0;
	now = bpf_ktime_get_ns();
	run = task->on_cpu ? RUN_RUNNING : task->on_rq ? RUN_RUNNABLE : RUN_BLOCKED;
	t = thread_add(task, run, now, WIRE_EXISTED);
	if (t) {
		left_unseen(t, task);
		t->chain.regs = (__u64)bpf_task_pt_regs(task);
		t->chain.task = (__u64)task;
	}
	if (!quota_on && throttle_may_be((__u64)task))
		quota_on = 1;
	return 0;
}

static long sample_thread(__u32 n, __u64 *now)
{
	struct thread_state *t = thread_nth(n);
	__u32 tid = t ? t->tid : 0;

	if (!tid)
		return 0;
	if (!quota_on && t->chain.task && throttle_may_be(t->chain.task))
		quota_on = 1;
	if (!t->emitted && t->chain.task)
		emit_thread_late(t, t->chain.task, tid, *now);
	emit_sample(WIRE_THREAD_SAMPLE, tid, t, *now);
	if (by_switches)
		wait_flush(t, *now);
	return 0;
}

/* One record per thread; run by user space at the end of each window. */
SEC("syscall")
int sample_threads(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	bpf_loop(thread_index_count, sample_thread, &now, 0);
	return 0;
}

static long flush_thread(__u32 n, __u64 *now)
{
	struct thread_state *t = thread_nth(n);

	if (t)
		wait_flush(t, *now);
	return 0;
}

/* Waits that are not over, and sums; run by user space between the samples, as what comes late is
 * out of order. */
SEC("syscall")
int flush_waits(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	bpf_loop(thread_index_count, flush_thread, &now, 0);
	return 0;
}

static long sample_cpu(__u32 i, void *ctx)
{
	struct wire_cpu *c = bpf_map_lookup_elem(&cpus, &i);

	if (!c)
		return 0;
	c->sample_ns = steal_read(c->rq);
	c->sample_idle_ns = relayed                       ? idle_since(c, i, 1, c->sample_ns)
			    : c->current == WIRE_CPU_IDLE ? since(c->sample_ns, c->clock_ns)
							  : 0;
	return 0;
}

/* Reads the steal clock of all CPUs into their entries, before user space reads them. */
SEC("syscall")
int sample_cpus(void *ctx)
{
	bpf_loop(WIRE_CPUS_MAX, sample_cpu, 0, 0);
	return 0;
}
