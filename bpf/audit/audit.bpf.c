/*
 * What the hypervisor steals, from whom: for every thread of the machine, without any JVM.
 *
 * At each switch, what the CPU's steal clock has grown by since the switch before was stolen while
 * `prev` was on, and the time between the two was prev's, be it the kernel's own count of CPU time
 * with or without steal. So on each CPU, always: threads + idle + unseen + late == growth of the
 * clock, and without late the same of time. ("Unseen" has what no task can be charged with: see
 * missed(). "Late" is what a clock shows after the on-CPU interval is over: one of ticks does, and
 * any, should the thief come between the readings of two clocks.)
 *
 * User space wants a state of all that at one moment, in which the sums agree to the nanosecond,
 * while the machine goes on. For that, charges of even and odd epochs are kept apart. To end an
 * epoch user space runs audit_cut() on each CPU, by an interrupt that comes between two switches:
 * it charges the current task up to now, and from then on that CPU charges the next epoch. Once all
 * CPUs have been cut, nobody adds to the old epoch any more: it can be read at leisure, until the
 * next cut.
 *
 * A single theft is what the clock has grown by between two looks at it: at switches, and at timer
 * ticks. A thief that comes twice between two looks is counted as one.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/clock.bpf.h"
#include "bpf/lib/pidns.bpf.h"

KERNEL_CAST()

char LICENSE[] SEC("license") = "GPL";

#define TASK_DEAD 0x80

const volatile __u64 theft_ns = 0; /* thefts of at least this are reported one by one */

__u64 newest_epoch = 0; /* of any CPU's */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_AUDIT_CPUS_MAX); /* user space: as many as there can be */
	__type(key, __u32);
	__type(value, struct wire_audit_cpu);
} audit_cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384); /* user space: what it wants */
	__type(key, struct wire_audit_key);
	__type(value, struct wire_audit_thread);
} audit_threads SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1024 * 1024);
} thefts SEC(".maps");

static __always_inline struct wire_audit_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&audit_cpus, &cpu);
}

static __always_inline struct wire_audit_thread *account_of(struct task_struct *task)
{
	struct wire_audit_key key = {.begin_ns = task->start_boottime, .tid = task->pid};
	struct wire_audit_thread *t = bpf_map_lookup_elem(&audit_threads, &key);
	struct wire_audit_thread fresh = {};

	if (t)
		return t;
	fresh.tgid = task->tgid;
	fresh.ns_tid = own_tid(task);
	fresh.ns_tgid = own_tgid(task);
	task_comm(fresh.comm, task);
	bpf_map_update_elem(&audit_threads, &key, &fresh, BPF_NOEXIST);
	return bpf_map_lookup_elem(&audit_threads, &key);
}

static __always_inline __u32 log2_of(__u64 v)
{
	__u32 n = 0;

	for (__u32 bits = 32; bits; bits >>= 1)
		if (v >> bits) {
			v >>= bits;
			n += bits;
		}
	return n;
}

static __always_inline void emit_theft(struct wire_audit_cpu *c, struct task_struct *task,
				       __u64 taken)
{
	struct wire_audit_theft *r = bpf_ringbuf_reserve(&thefts, sizeof(*r), 0);

	if (!r) {
		c->sums.thefts_lost++;
		return;
	}
	__builtin_memset(r, 0, sizeof(*r));
	r->time_ns = bpf_ktime_get_ns();
	r->taken_ns = taken;
	r->cpu = bpf_get_smp_processor_id();
	r->tid = task->pid;
	if (r->tid) {
		r->tgid = task->tgid;
		r->ns_tid = own_tid(task);
		r->ns_tgid = own_tgid(task);
	}
	task_comm(r->comm, task);
	bpf_ringbuf_submit(r, BPF_RB_NO_WAKEUP);
}

/* What has been taken since the last look, while `task` was on this CPU. */
static __always_inline void look(struct wire_audit_cpu *c, struct task_struct *task, __u64 clock)
{
	__u64 taken = since(clock, c->looked_ns);

	c->looked_ns = clock;
	if (!taken)
		return;
	c->histogram[log2_of(taken) & (WIRE_AUDIT_SLOTS - 1)]++;
	if (taken >= theft_ns)
		emit_theft(c, task, taken);
}

static __always_inline void charge(struct wire_audit_cpu *c, struct task_struct *task, __u64 time,
				   __u64 stolen, int ends)
{
	struct wire_audit_thread *t = account_of(task);
	__u32 slot = c->epoch & 1;

	if (!t) {
		c->sums.threads_lost++;
		c->sums.time_ns[WIRE_AUDIT_UNSEEN] += time;
		c->sums.stolen_ns[WIRE_AUDIT_UNSEEN] += stolen;
		return;
	}
	t->time_ns[slot] += time;
	t->stolen_ns[slot] += stolen;
	c->sums.time_ns[WIRE_AUDIT_THREADS] += time;
	c->sums.stolen_ns[WIRE_AUDIT_THREADS] += stolen;
	if (ends)
		t->ended = c->epoch + 1;
}

/*
 * The switch to `task` was not seen: on some machines those away from certain tasks of the host's
 * agents never reach BPF (seen: two in a hundred on a micro-VM, always from the same tasks;
 * recursion_misses is 0). The kernel's own count of this turn says how long it has run; whose the
 * rest of the time was, and whose all that was stolen, is unknown.
 */
static __always_inline void missed(struct wire_audit_cpu *c, struct task_struct *task, __u64 time,
				   __u64 stolen, int ends)
{
	__u64 ran = since(task->se.sum_exec_runtime, task->se.prev_sum_exec_runtime);

	if (!task->pid)
		ran = 0;
	if (ran > time - stolen)
		ran = time - stolen;
	c->sums.unseen_switches++;
	c->sums.time_ns[WIRE_AUDIT_UNSEEN] += time - ran;
	c->sums.stolen_ns[WIRE_AUDIT_UNSEEN] += stolen;
	if (task->pid)
		charge(c, task, ran, 0, ends);
}

/* Charges the task that was on this CPU until now. */
static __always_inline void settle(struct wire_audit_cpu *c, struct task_struct *task, __u64 now,
				   __u64 clock, int ends)
{
	__u64 time = since(now, c->since_ns), stolen = since(clock, c->clock_ns);

	if (clock < c->clock_ns)
		c->sums.backwards++;
	c->since_ns = now;
	c->clock_ns = clock;
	c->sums.now_ns += time;
	c->sums.clock_ns += stolen;
	if (stolen > time) {
		c->sums.late_ns += stolen - time;
		stolen = time;
	}
	if ((__u32)task->pid != c->tid || (c->tid && task->start_boottime != c->begin_ns)) {
		missed(c, task, time, stolen, ends);
	} else if (task->pid) {
		charge(c, task, time, stolen, ends);
	} else {
		c->sums.time_ns[WIRE_AUDIT_IDLE] += time;
		c->sums.stolen_ns[WIRE_AUDIT_IDLE] += stolen;
	}
}

static __always_inline void begin(struct wire_audit_cpu *c, struct task_struct *task, __u64 now)
{
	c->rq = steal_rq(task);
	c->since_ns = now;
	c->clock_ns = c->looked_ns = steal_read(c->rq);
	c->epoch = newest_epoch;
	c->seen = 1;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(audit_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	struct wire_audit_cpu *c = this_cpu();
	int ends = prev->__state & TASK_DEAD;
	__u64 now, clock;

	if (!c)
		return 0;
	if (c->seen) {
		clock = steal_at_switch(prev, c->rq);
		/* A hypervisor's own record may be ahead of the run queue's clock, by all of a
		 * theft. */
		now = clock != c->clock_ns ? bpf_ktime_get_ns()
					   : clock_now(prev, c->rq, &c->ahead_ns, &c->set_at_ns);
		if (now < c->since_ns)
			now = c->since_ns;
		look(c, prev, clock);
		settle(c, prev, now, clock, ends);
	} else {
		begin(c, prev, bpf_ktime_get_ns());
	}
	c->tid = next->pid;
	c->begin_ns = next->start_boottime;
	return 0;
}

/* A tick, as any other timer's end, is an occasion to look: one that costs no interrupt. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(audit_timer)
{
	struct wire_audit_cpu *c = this_cpu();

	if (c && c->seen)
		look(c, bpf_get_current_task_btf(), steal_read(c->rq));
	return 0;
}

/* A new name; so is one by exec. */
SEC("tp_btf/task_rename")
int BPF_PROG(audit_rename, struct task_struct *task, const char *comm)
{
	struct wire_audit_key key = {.begin_ns = task->start_boottime, .tid = task->pid};
	struct wire_audit_thread *t = bpf_map_lookup_elem(&audit_threads, &key);

	if (t)
		kernel_comm(t->comm, (__u64)comm);
	return 0;
}

/* The last of a thread, should its last switch have been missed. */
SEC("tp_btf/sched_process_free")
int BPF_PROG(audit_free, struct task_struct *task)
{
	struct wire_audit_key key = {.begin_ns = task->start_boottime, .tid = task->pid};
	struct wire_audit_thread *t = bpf_map_lookup_elem(&audit_threads, &key);

	if (t && !t->ended)
		t->ended = newest_epoch + 1;
	return 0;
}

/* Run by user space, on each CPU: ends its epoch, and begins the one that is given. */
SEC("raw_tp")
int audit_cut(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct wire_audit_cpu *c = this_cpu();
	__u64 now = bpf_ktime_get_ns();

	if (!c)
		return 0;
	if (c->seen)
		settle(c, task, now, steal_read(c->rq), 0);
	else
		begin(c, task, now);
	c->tid = task->pid;
	c->begin_ns = task->start_boottime;
	c->epoch = ctx->args[0];
	c->cut = c->sums;
	return 0;
}
