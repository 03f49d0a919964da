/* bpf/wire/wire_exact.h: ring records of what a patched JVM's probes tell (jvm-hooks/probes.h). */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#include "bpf/wire/wire.h"

enum wire_exact_flags { /* further flags of struct wire_head */
			WIRE_AFTER_WAIT = 256,
			WIRE_IN_WAIT = 512,
			WIRE_RESOLVES = 1024,
};

/*
 * An event of a monitor, or of a thread that parks. The head's time is the one that the event is
 * of (acquired, released), which may be before the probe was hit; the counters are of the hit.
 */
struct wire_exact {
	struct wire_head head;
	struct wire_counters self;
	__u64 object; /* ObjectMonitor; parks: 0 */
	__u64 klass; /* inflate, deflate, enter, wait, park begin and end; others: if it was read */
	__u64 sequence;
	__u64 time;    /* wait: ms. park: ns or deadline. exit: ns of its hold, 0: not known */
	__u64 forward; /* exit. park end: the sequence number of the unpark that ended it */
	__u32 hash;    /* with klass */
	__u32 how;     /* wait end, park end; inflate: the cause */
	__u32 target;  /* notify, unpark: kernel thread id */
	__u32 readers; /* park begin */
	__u32 stack;
	__u32 pad;
	/* records without an owner end here */
	struct wire_counters owner;
	__u64 owner_doing_ns;
	__u32 owner_tid, owner_source; /* enum wire_owner_source */
	__u32 owner_stack, owner_doing;
};

#define WIRE_EXACT_SHORT __builtin_offsetof(struct wire_exact, owner)

/* Releases of a monitor that were not told one by one; the time is that of the last. */
struct wire_fold {
	struct wire_head head;
	__u64 object;
	__u64 first, last, like, count;
	__u64 held_ns;
	__u32 owner_tid; /* 0: of several threads */
	__u32 parts;
};
