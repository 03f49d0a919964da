/* bpf/wire/wire.h: what crosses between BPF and user/record: ring records, drop counters. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#define WIRE_CLASS_NAME_MAX 256 /* bytes; a power of two; longer names are cut and marked */
#define WIRE_NAME_MAX 128       /* thread, VM operation, pool and manager names */
#define WIRE_CPUS_MAX 1024

enum wire_kind {
#define KIND(name, size, event) WIRE_##name,
#include "bpf/wire/kinds.def"
#undef KIND
	WIRE_KIND_COUNT,
};

enum wire_place { /* where a record was lost; the order of lost_place in events.json */
		  WIRE_LOST_RING,
		  WIRE_LOST_MAP,
		  WIRE_LOST_READ,
		  WIRE_PLACE_COUNT,
};

enum wire_owner_source { /* the order of owner_source in events.json */
			 WIRE_OWNER_UNKNOWN,
			 WIRE_OWNER_NONE,
			 WIRE_OWNER_JAVA_THREAD,
			 WIRE_OWNER_STACK_LOCK,
			 WIRE_OWNER_EXCLUSIVE,
			 WIRE_OWNER_FIRST_READER,
			 WIRE_OWNER_UNRESOLVED, /* the owner word is set, but no thread of ours fits
						 */
};

enum wire_flags {
	WIRE_ABSOLUTE = 1, /* park: time is a deadline */
	WIRE_NOTIFY_ALL = 2,
	WIRE_EXISTED = 4, /* thread: was there at attach */
	WIRE_POOL_AFTER = 8,
	WIRE_NAME_CUT = 16,
	WIRE_DAEMON = 32,
	WIRE_CLASS_AOS = 64,   /* class: a subclass of AbstractOwnableSynchronizer */
	WIRE_CLASS_RRWL = 128, /* class: a subclass of ReentrantReadWriteLock$Sync */
};

struct wire_head {
	__u16 kind;
	__u16 flags;
	__u32 tid; /* kernel thread id in the initial pid namespace */
	__u64 time_ns;
};

struct wire_counters {
	__u64 cpu_ns;
	__u64 stolen_ns;
	__u64 runnable_ns;
	__u64 throttled_ns; /* of runnable_ns */
};

struct wire_lock {
	struct wire_head head;
	struct wire_counters self;
	__u64 object; /* ObjectMonitor, or the blocker's address when it parked; 0: none */
	__u64 handle; /* monitors: the WeakHandle's slot. park end: the blocker's address now */
	__u64 klass;  /* 0: could not be read */
	__u64 time;   /* wait: ms. park: ns or deadline */
	__u32 hash;   /* identity hash; 0: none */
	__u32 readers;
	__u32 stack; /* id of a struct wire_stack; 0: not known */
	__u32 pad;
	/* records without an owner end here */
	struct wire_counters owner;
	__u64 owner_doing_ns; /* for how long it has been blocked; 0: it is not */
	__u32 owner_tid, owner_source;
	__u32 owner_stack, owner_doing; /* enum wire_reason */
};

#define WIRE_LOCK_SHORT __builtin_offsetof(struct wire_lock, owner)

struct wire_unpark {
	struct wire_head head;
	struct wire_counters self;
	__u32 target_tid;
	__u32 stack;
};

struct wire_thread {
	struct wire_head head;
	__u64 start_ns; /* task_struct::start_boottime */
	__u32 ns_tid;
	__u32 pad;
	char comm[16];
};

struct wire_thread_java {
	struct wire_head head;
	__u64 java_id;
	__u64 java_thread;
	__u32 ns_tid;
	__u32 name_length;
	char name[WIRE_NAME_MAX];
};

struct wire_class {
	struct wire_head head;
	__u64 klass;
	__u32 name_length; /* bytes in name; '/' separated, modified UTF-8 */
	__u32 pad;
	char name[WIRE_CLASS_NAME_MAX];
};

struct wire_vmop {
	struct wire_head head;
	__u32 mode;
	__u32 name_length;
	char name[WIRE_NAME_MAX];
};

struct wire_pool {
	struct wire_head head;
	__u64 used, committed, max;
	__u32 manager_length, pool_length;
	char manager[WIRE_NAME_MAX];
	char pool[WIRE_NAME_MAX];
};

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
	__u64 pad[6];    /* two cache lines, so that no CPU writes into another's */
};

enum wire_cpu_current { WIRE_CPU_OTHER, WIRE_CPU_JVM, WIRE_CPU_IDLE };
