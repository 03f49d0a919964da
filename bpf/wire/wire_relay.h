/* bpf/wire/wire_relay.h: what the relay of `spoor watch` and its recorders share. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#define WIRE_RELAY_SLOTS 256    /* recorders at a time; slot 0 is none */
#define WIRE_RELAY_TARGETS 4096 /* a power of two, many times as large */
#define WIRE_RELAY_LOOKS 16

/*
 * The processes that are recorded, as an open hash table: the entry of one is among the
 * WIRE_RELAY_LOOKS that begin at tgid % WIRE_RELAY_TARGETS, before the first that was never used.
 * One that has been taken out has slot 0. Written and read as one word.
 */
struct wire_relay_target {
	__u32 tgid; /* in the initial pid namespace */
	__u32 slot;
};

/* One per CPU, written by that CPU when it becomes idle and when it stops being so. */
struct wire_relay_cpu {
	__u64 rq;            /* address of its run queue; 0: not known yet */
	__u64 idle_clock_ns; /* the steal clock when it became idle */
	__u64 idle_ns;       /* what the clock has grown by while it was idle */
	__u32 idle;          /* it is now */
	__u32 pad[9];        /* a cache line */
};

/* The scheduler's tracepoints, and the programs of a recorder that are called from there. */
enum wire_relay_hook {
	WIRE_RELAY_SWITCH,
	WIRE_RELAY_WAKEUP,
	WIRE_RELAY_WAKEUP_NEW,
	WIRE_RELAY_WAKING,
	WIRE_RELAY_ENTRY,
	WIRE_RELAY_EXIT,
	WIRE_RELAY_RENAME,
	WIRE_RELAY_HOOK_COUNT
};

/* A ring record of its own: a process in which a thread is called as HotSpot's VM thread is. */
struct wire_relay_start {
	__u32 pid; /* in user space's pid namespace */
	__u32 pad;
};
