/* bpf/wire/wire.h: what the records of all families have: their head, flags, counters. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#define WIRE_NAME_MAX 128 /* thread, VM operation, pool and manager names */

enum wire_loss_stage { /* where a record was lost; the order of lost_place in events.json */
		       WIRE_LOST_RING,
		       WIRE_LOST_MAP,
		       WIRE_LOST_READ,
		       WIRE_LOSS_STAGE_COUNT,
};

enum wire_flags {
	WIRE_ABSOLUTE = 1, /* park: time is a deadline */
	WIRE_NOTIFY_ALL = 2,
	WIRE_EXISTED = 4, /* thread: was there at attach */
	WIRE_POOL_AFTER = 8,
	WIRE_NAME_CUT = 16,
	WIRE_DAEMON = 32,
	WIRE_CLASS_AOS = 64,    /* class: a subclass of AbstractOwnableSynchronizer */
	WIRE_CLASS_RRWL = 128,  /* class: a subclass of ReentrantReadWriteLock$Sync */
	WIRE_CLASS_LOCK = 4096, /* class: threads that park on it contend for a lock */
	WIRE_NAME_UTF16 = 8192, /* name of a virtual thread; else it is Latin-1 */
	WIRE_PINNED = 16384,    /* the virtual thread cannot leave its carrier */
	WIRE_NO_END = 32768,    /* it can, and nothing will report the end of this block or wait */
};

/* Not a kernel thread, but the virtual thread whose java.lang.Thread has the id in the other bits.
 * While it is pinned its counters are its carrier's; else they are all zero, which is not known. */
#define WIRE_VIRTUAL (1u << 31)

struct wire_head {
	__u16 kind; /* enum wire_kind */
	__u16 flags;
	__u32 tid; /* kernel thread id in the initial pid namespace; or WIRE_VIRTUAL */
	__u64 time_ns;
};

struct wire_counters {
	__u64 cpu_ns;
	__u64 stolen_ns;
	__u64 runnable_ns;
	__u64 throttled_ns; /* of runnable_ns */
};
