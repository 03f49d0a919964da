/*
 * One set of the scheduler's programs for many recorders.
 *
 * Each recorder of `spoor watch` has programs and maps of its own, but does not attach those of the
 * scheduler: it puts them into the program arrays here. At each event, the process that it is of is
 * looked up, and only the program of its recorder is called, by a tail call. So what the machine
 * pays for a switch between others does not grow with the number of JVMs that are recorded.
 *
 * A switch from one recorded JVM to another one is of two recorders. A tail call does not return:
 * sched_switch has two programs here, and the second calls the recorder of `next`.
 *
 * What is stolen while a CPU is idle is nobody's event. It is summed up here, once for all.
 */
#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/clock.bpf.h"
#include "bpf/lib/pidns.bpf.h"
#include "bpf/wire/wire_cpu.h"
#include "bpf/wire/wire_relay.h"

KERNEL_CAST()

char LICENSE[] SEC("license") = "GPL";

struct wire_relay_target targets[WIRE_RELAY_TARGETS] = {};
__u32 target_count = 0; /* entries with a slot */
__u64 starts_lost = 0;  /* for want of room in the ring */

#define PROGRAMS(name)                                                                             \
	struct {                                                                                   \
		__uint(type, BPF_MAP_TYPE_PROG_ARRAY);                                             \
		__uint(max_entries, WIRE_RELAY_SLOTS);                                             \
		__uint(key_size, sizeof(__u32));                                                   \
		__uint(value_size, sizeof(__u32));                                                 \
	} name SEC(".maps")

PROGRAMS(on_switch);
PROGRAMS(on_wakeup);
PROGRAMS(on_wakeup_new);
PROGRAMS(on_waking);
PROGRAMS(on_entry);
PROGRAMS(on_exit);
PROGRAMS(on_rename);

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_CPUS_MAX);
	__type(key, __u32);
	__type(value, struct wire_relay_cpu);
} relay_cpus SEC(".maps");

/* The slot of `next`, from the first program of a switch to the second. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} second SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} starts SEC(".maps");

/* 0: the process is not recorded. */
static __always_inline __u32 slot_of(__u32 tgid)
{
	for (__u32 i = 0; i < WIRE_RELAY_LOOKS; i++) {
		struct wire_relay_target *t = &targets[(tgid + i) & (WIRE_RELAY_TARGETS - 1)];

		if (t->tgid == tgid)
			return t->slot;
		if (!t->tgid)
			return 0;
	}
	return 0;
}

static __always_inline void idle_account(struct task_struct *prev, struct task_struct *next)
{
	__u32 cpu = bpf_get_smp_processor_id();
	struct wire_relay_cpu *c;
	__u64 clock;

	if (prev->pid && next->pid)
		return;
	c = bpf_map_lookup_elem(&relay_cpus, &cpu);
	if (!c)
		return;
	if (!c->rq)
		c->rq = steal_rq(prev);
	clock = steal_at_switch(prev, c->rq);
	if (c->idle && clock > c->idle_clock_ns)
		c->idle_ns += clock - c->idle_clock_ns;
	c->idle_clock_ns = clock;
	c->idle = !next->pid;
}

SEC("tp_btf/sched_switch")
int relay_switch(__u64 *ctx)
{
	struct task_struct *prev = (void *)ctx[1], *next = (void *)ctx[2];
	__u32 from, to, zero = 0, *later;

	if (!target_count)
		return 0;
	idle_account(prev, next);
	from = prev->pid ? slot_of(prev->tgid) : 0;
	to = next->pid && next->tgid != prev->tgid ? slot_of(next->tgid) : 0;
	if (!from) {
		if (to)
			bpf_tail_call(ctx, &on_switch, to);
		return 0;
	}
	if (to) {
		later = bpf_map_lookup_elem(&second, &zero);
		if (later)
			*later = to;
	}
	bpf_tail_call(ctx, &on_switch, from);
	return 0;
}

/* Attached after the first: tracepoints call in this order. */
SEC("tp_btf/sched_switch")
int relay_switch_second(__u64 *ctx)
{
	__u32 zero = 0, *later = bpf_map_lookup_elem(&second, &zero), to;

	if (!later || !*later)
		return 0;
	to = *later;
	*later = 0;
	bpf_tail_call(ctx, &on_switch, to);
	return 0;
}

#define RELAY(hook, array, task)                                                                   \
	SEC("tp_btf/" #hook)                                                                       \
	int relay_##hook(__u64 *ctx)                                                               \
	{                                                                                          \
		__u32 slot = target_count ? slot_of((task)->tgid) : 0;                             \
                                                                                                   \
		if (slot)                                                                          \
			bpf_tail_call(ctx, &array, slot);                                          \
		return 0;                                                                          \
	}

RELAY(sched_wakeup, on_wakeup, (struct task_struct *)ctx[0])
RELAY(sched_wakeup_new, on_wakeup_new, (struct task_struct *)ctx[0])
RELAY(sched_waking, on_waking, (struct task_struct *)ctx[0])
RELAY(sched_process_exit, on_exit, (struct task_struct *)ctx[0])
RELAY(sched_entry_tp, on_entry, bpf_get_current_task_btf())

/* As HotSpot calls the thread that does its VM operations, from JDK 9 on; one of the first. */
static __always_inline int is_vm_thread(const char *comm)
{
	const char name[] = "VM Thread";

	for (int i = 0; i < sizeof(name); i++)
		if (comm[i] != name[i])
			return 0;
	return 1;
}

static __always_inline void report_start(struct task_struct *task)
{
	__u32 pid = own_tgid(task);
	struct wire_relay_start *r;

	if (!pid)
		return;
	r = bpf_ringbuf_reserve(&starts, sizeof(*r), 0);
	if (!r) {
		__sync_fetch_and_add(&starts_lost, 1);
		return;
	}
	r->pid = pid;
	r->pad = 0;
	bpf_ringbuf_submit(r, 0);
}

SEC("tp_btf/task_rename")
int relay_task_rename(__u64 *ctx)
{
	struct task_struct *task = (void *)ctx[0];
	char comm[16] = {};
	__u32 slot;

	/* The program of a recorder comes after this one, if at all. */
	if (kernel_comm(comm, ctx[1]) && is_vm_thread(comm))
		report_start(task);
	slot = target_count ? slot_of(task->tgid) : 0;
	if (slot)
		bpf_tail_call(ctx, &on_rename, slot);
	return 0;
}
