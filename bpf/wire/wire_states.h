/* bpf/wire/wire_states.h: ring records of what threads do: their states, and the long breaks. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#include "bpf/wire/wire.h"

enum wire_reason { /* why a thread is blocked; the order of blocked_reason in events.json */
		   WIRE_BLOCKED_OTHER,
		   WIRE_BLOCKED_LOCK,
		   WIRE_BLOCKED_WAIT,
		   WIRE_BLOCKED_PARK,
		   WIRE_BLOCKED_SLEEP,
		   WIRE_BLOCKED_IO,
		   WIRE_BLOCKED_PAUSE,
		   WIRE_REASON_COUNT,
};

/*
 * What Java said at attach of a thread that was blocked: enum wire_reason, and whether a probe will
 * report when that is over.
 */
#define WIRE_FIRST_REASON 0xff
#define WIRE_FIRST_HAS_END 0x100

/* All counts of a thread: cpu + stolen + runnable + blocked is the time since it was first seen. */
struct wire_states {
	struct wire_counters counters;
	__u64 blocked_ns;
	__u64 reason_ns[WIRE_REASON_COUNT]; /* of blocked_ns; [0] is a part of the rest */
};

struct wire_sample {
	struct wire_head head;
	struct wire_states self;
};

/* The thread is back on a CPU. */
struct wire_off_cpu {
	struct wire_head head;
	struct wire_counters self;
	__u64 off_ns;
	__u64 cpu_wait_ns;  /* of off_ns */
	__u64 throttled_ns; /* of cpu_wait_ns */
	__u32 reason;       /* enum wire_reason */
	__u32 stack;        /* where it was; 0: not looked at, or not known */
};

/* The thread leaves its CPU. */
struct wire_theft {
	struct wire_head head;
	__u64 taken_ns;
	__u64 turn_ns; /* the time on the CPU, what was taken included */
	__u32 cpu;
	__u32 pad;
};

struct wire_span {
	struct wire_head head;
	struct wire_states self;
	__u32 name_length; /* bytes in name */
	__u32 pad;
	char name[WIRE_NAME_MAX];
};

#define WIRE_SPAN_SHORT __builtin_offsetof(struct wire_span, name_length)

/* As in wire_kinds.h. */
#define WIRE_STATES_KINDS(KIND)                                                                    \
	KIND(THREAD_END, sizeof(struct wire_sample), EVENT_THREAD_END)                             \
	KIND(THREAD_SAMPLE, sizeof(struct wire_sample), EVENT_THREAD_SAMPLE)                       \
	KIND(OFF_CPU, sizeof(struct wire_off_cpu), EVENT_OFF_CPU)                                  \
	KIND(THEFT, sizeof(struct wire_theft), EVENT_THEFT)                                        \
	KIND(SPAN_BEGIN, sizeof(struct wire_span), EVENT_SPAN_BEGIN)                               \
	KIND(SPAN_END, WIRE_SPAN_SHORT, EVENT_SPAN_END)                                            \
	KIND(RENAME, sizeof(struct wire_span), EVENT_THREAD_RENAME)
