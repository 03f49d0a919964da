/* bpf/wire/wire_steal.h: the steal clocks that BPF can read, and what the audit of steal reports.
 */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

/* In the order of preference. */
enum wire_steal_clock {
	WIRE_STEAL_NONE,
	WIRE_STEAL_RQ_CLOCK, /* rq::prev_steal_time_rq */
	WIRE_STEAL_KVM,      /* kvm_steal_time::steal of the per-CPU steal_time */
	WIRE_STEAL_XEN,      /* vcpu_runstate_info::time of the per-CPU xen_runstate */
	WIRE_STEAL_RQ_TICKS, /* rq::prev_steal_time: moves at ticks */
	WIRE_STEAL_CPUSTAT,  /* the per-CPU kernel_cpustat: moves at ticks */
	WIRE_STEAL_COUNT,
};

#define WIRE_AUDIT_CPUS_MAX 1024
#define WIRE_AUDIT_SLOTS 64 /* thefts of 2^n ns to less than 2^(n+1) */

enum wire_audit_whose { WIRE_AUDIT_THREADS, WIRE_AUDIT_IDLE, WIRE_AUDIT_UNSEEN, WIRE_AUDIT_WHOSE };

struct wire_audit_sums {
	__u64 now_ns;
	__u64 clock_ns; /* what the steal clock has grown by: the sum of stolen_ns, and late_ns */
	__u64 time_ns[WIRE_AUDIT_WHOSE];   /* stolen time included: since the beginning, together */
	__u64 stolen_ns[WIRE_AUDIT_WHOSE]; /* of time_ns */
	__u64 late_ns; /* stolen, but counted when there was no time left that it could be of */
	__u64 unseen_switches;
	__u64 backwards; /* times that the steal clock was less than before */
	__u64 threads_lost, thefts_lost;
};

/* One per CPU; only that CPU writes to it, with interrupts off. */
struct wire_audit_cpu {
	__u64 rq;
	__u64 since_ns;  /* the last switch, or cut */
	__u64 clock_ns;  /* the steal clock then */
	__u64 looked_ns; /* ... when it was last looked at for thefts */
	__u64 begin_ns;  /* of the current thread: its task_struct::start_boottime */
	__u32 tid;       /* the current thread; 0: idle */
	__u32 seen;      /* all before this is valid */
	__u64 epoch;     /* of the charges that are being made */
	struct wire_audit_sums sums;
	struct wire_audit_sums cut; /* as of the last cut */
	__u64 histogram[WIRE_AUDIT_SLOTS];
	__u64 ahead_ns;  /* CLOCK_MONOTONIC is ahead of the run queue's clock; see clock.bpf.h */
	__u64 set_at_ns; /* in the run queue's clock; 0: not known yet */
};

struct wire_audit_key {
	__u64 begin_ns; /* task_struct::start_boottime */
	__u32 tid;      /* in the initial pid namespace */
	__u32 pad;
};

/* Charges of even epochs are kept apart from those of odd ones: see audit.bpf.c. */
struct wire_audit_thread {
	__u64 time_ns[2]; /* on a CPU, stolen time included */
	__u64 stolen_ns[2];
	__u64 ended; /* 1 + the epoch in which it left its CPU for good; 0: it lives */
	__u32 tgid;
	__u32 ns_tid, ns_tgid; /* in the pid namespace of user space; 0: not in it */
	char comm[16];
	__u32 pad;
};

struct wire_audit_theft {
	__u64 time_ns;
	__u64 taken_ns;
	__u32 cpu;
	__u32 tid, tgid; /* 0: the CPU was idle */
	__u32 ns_tid, ns_tgid;
	char comm[16];
	__u32 pad;
};
