/*
 * Where the threads of the target are: on a CPU, stolen from, waiting for a CPU, blocked.
 *
 * At each switch the growth of this CPU's steal clock since its last switch is what was stolen
 * while `prev` was on it: charged to prev if it is a thread of the target, else to "other" or
 * "idle", so that per CPU jvm + other + idle == growth of the clock, always.
 */
#include "bpf/monitor.bpf.h"

char LICENSE[] SEC("license") = "GPL";

const volatile __u32 find_pid = 0;   /* the target as user space calls it ... */
const volatile __u32 find_pidns = 0; /* ... in this pid namespace (inode number) */
const volatile __u32 switch_has_state =
	0; /* sched_switch has prev_state as 4th argument (5.18, be 8) */

#define PF_EXITING 0x00000004
#define TASK_RUNNING 0

struct task_struct___old {
	long state; /* until 5.14 (2f064a59a11f) */
} __attribute__((preserve_access_index));

static __always_inline __u64 task_state(struct task_struct *task)
{
	struct task_struct___old *old = (void *)task;

	if (bpf_core_field_exists(task->__state))
		return BPF_CORE_READ(task, __state);
	return BPF_CORE_READ(old, state);
}

static __always_inline void write_begin(struct thread_state *t)
{
	t->seq++;
	BARRIER();
}

static __always_inline void write_end(struct thread_state *t)
{
	BARRIER();
	t->seq++;
}

static __always_inline void switch_out(struct thread_state *t, __u64 now, __u64 stolen, __u32 run)
{
	__u64 on = since(now, t->since);

	write_begin(t);
	t->stolen_ns += stolen;
	t->cpu_ns += since(on, stolen);
	t->run = run;
	t->since = now;
	write_end(t);
}

/*
 * The switch to this thread was not seen: on some machines those away from certain tasks of the
 * host's agents never reach BPF (seen: one in some hundred on a micro-VM, always from the same
 * tasks; recursion_misses is 0). The kernel's own count of this turn says how long it has run. What
 * was stolen meanwhile cannot be told from what was stolen of the task before: it goes to "other".
 */
static __always_inline void switch_in_late(struct thread_state *t, struct task_struct *task,
					   __u64 now)
{
	__u64 off = since(now, t->since);
	__u64 ran = since(BPF_CORE_READ(task, se.sum_exec_runtime),
			  BPF_CORE_READ(task, se.prev_sum_exec_runtime));

	if (ran > off)
		ran = off;
	write_begin(t);
	if (t->run == RUN_RUNNABLE)
		t->runnable_ns += off - ran;
	else
		t->blocked_ns += off - ran;
	t->run = RUN_RUNNING;
	t->since = now - ran;
	write_end(t);
}

static __always_inline void switch_in(struct thread_state *t, __u64 now, __u64 clock, __u32 cpu)
{
	__u64 off = since(now, t->since);

	write_begin(t);
	if (t->run == RUN_RUNNABLE)
		t->runnable_ns += off;
	else if (t->run == RUN_BLOCKED)
		t->blocked_ns += off;
	t->run = RUN_RUNNING;
	t->since = now;
	t->steal_base = clock;
	t->cpu = cpu;
	write_end(t);
}

/* A thread of the target leaves its CPU, on which `stolen` was taken since the last switch. */
static __always_inline void leave(struct thread_state *t, struct task_struct *task,
				  struct wire_cpu *c, __u64 now, __u64 stolen, __u32 run)
{
	if (t->run == RUN_RUNNING) {
		c->jvm_stolen_ns += stolen;
	} else {
		switch_in_late(t, task, now);
		c->other_stolen_ns += stolen;
		stolen = 0;
	}
	switch_out(t, now, stolen, run);
}

SEC("tp_btf/sched_switch")
int sched_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);
	struct thread_state *t = 0;
	__u64 now = bpf_ktime_get_ns(), clock, stolen = 0;
	__u32 tid;

	if (!c || !target_tgid)
		return 0;
	if (!c->rq)
		c->rq = steal_rq(prev);
	clock = steal_read(c->rq);
	if (c->seen)
		stolen = since(clock, c->clock_ns);
	else
		c->base_ns = clock; /* the first switch seen here: nothing is known of before */
	c->seen = 1;
	c->clock_ns = clock;

	if ((__u32)prev->tgid == target_tgid) {
		tid = prev->pid;
		t = thread_find(tid);
	}
	if (t) {
		__u64 state = switch_has_state ? ctx[3] & 0xffffffff : task_state(prev);
		int runnable = (ctx[0] & 0xff) || state == TASK_RUNNING;

		leave(t, prev, c, now, stolen, runnable ? RUN_RUNNABLE : RUN_BLOCKED);
		if (!t->regs) {
			t->regs = (__u64)bpf_task_pt_regs(prev);
			t->task = (__u64)prev;
		}
		if (t->want)
			stack_tell(t, tid, WIRE_STACK_SWITCH, now);
		if (t->monitor && !exact)
			monitor_look(t, tid, now);
	} else if (prev->pid == 0) {
		c->idle_stolen_ns += stolen;
	} else {
		c->other_stolen_ns += stolen;
	}

	c->current = next->pid ? WIRE_CPU_OTHER : WIRE_CPU_IDLE;
	if ((__u32)next->tgid != target_tgid)
		return 0;
	tid = next->pid;
	t = thread_find(tid);
	if (!t && !(next->flags & PF_EXITING))
		t = thread_add(next, RUN_RUNNABLE, now, 0);
	if (t) {
		c->current = WIRE_CPU_JVM;
		switch_in(t, now, clock, cpu);
	}
	return 0;
}

static __always_inline int wake(struct task_struct *task)
{
	struct thread_state *t;
	__u64 now;
	__u32 tid;

	if (!target_tgid || (__u32)task->tgid != target_tgid)
		return 0;
	tid = task->pid;
	t = thread_find(tid);
	if (!t || t->run != RUN_BLOCKED)
		return 0;
	now = bpf_ktime_get_ns();
	write_begin(t);
	t->blocked_ns += since(now, t->since);
	t->run = RUN_RUNNABLE;
	t->since = now;
	write_end(t);
	return 0;
}

SEC("tp_btf/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	return wake(task);
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
	thread_snapshot(t, now, &r->self);
	r->blocked_ns = t->blocked_ns + (t->run == RUN_BLOCKED ? since(now, t->since) : 0);
	emit_submit(r);
}

/* What the steal clock has grown by since the last switch belongs to the thread that ends now. */
static __always_inline void close_account(struct thread_state *t, struct task_struct *task,
					  __u64 now)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_cpu *c = bpf_map_lookup_elem(&cpus, &cpu);
	__u64 clock;

	if (!c || !c->seen)
		return;
	clock = steal_read(c->rq);
	leave(t, task, c, now, since(clock, c->clock_ns), RUN_RUNNABLE);
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
	now = bpf_ktime_get_ns();
	close_account(t, task, now);
	emit_sample(WIRE_THREAD_END, tid, t, now);
	java_thread = t->java_thread;
	parker = t->parker;
	ns_tid = t->ns_tid;
	if (java_thread)
		bpf_map_delete_elem(&java_threads, &java_thread);
	if (parker)
		bpf_map_delete_elem(&parkers, &parker);
	if (ns_tid != tid)
		bpf_map_delete_elem(&ns_tids, &ns_tid);
	bpf_map_delete_elem(&java_thread_of, &tid);
	bpf_map_delete_elem(&threads, &tid);
	return 0;
}

/* The pid by which user space knows the target, in user space's namespace. */
static __always_inline int is_target(struct task_struct *task)
{
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	unsigned int level = BPF_CORE_READ(pid, level);

	for (unsigned int i = 0; i < 32 && i <= level; i++) {
		struct upid upid = {};

		bpf_core_read(&upid, sizeof(upid), &pid->numbers[i]);
		if ((__u32)upid.nr == find_pid && BPF_CORE_READ(upid.ns, ns.inum) == find_pidns)
			return 1;
	}
	return 0;
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
		if (is_target(task)) {
			in_pid_namespace = task_ns_tid(task) != (__u32)task->pid;
			target_tgid = task->tgid;
		}
		return 0;
	}
	if ((__u32)task->tgid != target_tgid || (task->flags & PF_EXITING))
		return 0;
	now = bpf_ktime_get_ns();
	run = BPF_CORE_READ(task, on_cpu)  ? RUN_RUNNING
	      : BPF_CORE_READ(task, on_rq) ? RUN_RUNNABLE
					   : RUN_BLOCKED;
	t = thread_add(task, run, now, WIRE_EXISTED);
	if (t) {
		t->regs = (__u64)bpf_task_pt_regs(task);
		t->task = (__u64)task;
	}
	return 0;
}

static long sample_thread(void *map, const __u32 *tid, struct thread_state *t, __u64 *now)
{
	emit_sample(WIRE_THREAD_SAMPLE, *tid, t, *now);
	return 0;
}

/* One record per thread; run by user space at the end of each window. */
SEC("syscall")
int sample_threads(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	bpf_for_each_map_elem(&threads, sample_thread, &now, 0);
	return 0;
}

static long sample_cpu(__u32 i, void *ctx)
{
	struct wire_cpu *c = bpf_map_lookup_elem(&cpus, &i);

	if (c)
		c->sample_ns = steal_read(c->rq);
	return 0;
}

/* Reads the steal clock of all CPUs into their entries, before user space reads them. */
SEC("syscall")
int sample_cpus(void *ctx)
{
	bpf_loop(WIRE_CPUS_MAX, sample_cpu, 0, 0);
	return 0;
}
