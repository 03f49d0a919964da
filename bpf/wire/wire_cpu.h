/* bpf/wire/wire_cpu.h: what each CPU writes of itself; shared memory, no ring record. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#include "bpf/wire/wire.h"

#define WIRE_CPUS_MAX 1024

/* One per CPU, written by that CPU at every switch. */
struct wire_cpu {
	__u64 rq;       /* address of its run queue; 0: no switch seen yet */
	__u64 clock_ns; /* the steal clock at the last switch */
	__u64 base_ns;  /* ... at the first one */
	__u64 jvm_stolen_ns;
	__u64 other_stolen_ns;
	__u64 idle_stolen_ns;
	__u32 current;   /* enum wire_cpu_current: whose time runs now */
	__u32 seen;      /* there has been a switch: the rest is valid */
	__u64 sample_ns; /* the steal clock as the sampler froze it */
	__u64 ahead_ns;  /* CLOCK_MONOTONIC is ahead of the run queue's clock; see clock.bpf.h */
	__u64 set_at_ns; /* in the run queue's clock; 0: not known yet */
	__u64 idle_seen_ns;   /* if relayed: the relay's idle_ns at the last switch seen here */
	__u64 sample_idle_ns; /* of sample_ns - clock_ns: while the CPU was idle */
	__u64 pad[4];         /* two cache lines, so that no CPU writes into another's */
};

enum wire_cpu_current { WIRE_CPU_OTHER, WIRE_CPU_JVM, WIRE_CPU_IDLE };
