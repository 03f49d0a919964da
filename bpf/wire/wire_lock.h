/* bpf/wire/wire_lock.h: ring records of monitors and of parking threads, of the locks' classes, and
 * of who owns them. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#include "bpf/wire/wire.h"

#define WIRE_CLASS_NAME_MAX 256 /* bytes; a power of two; longer names are cut and marked */

enum wire_owner_source { /* the order of owner_source in events.json */
			 WIRE_OWNER_UNKNOWN,
			 WIRE_OWNER_NONE,
			 WIRE_OWNER_JAVA_THREAD,
			 WIRE_OWNER_STACK_LOCK,
			 WIRE_OWNER_EXCLUSIVE,
			 WIRE_OWNER_FIRST_READER,
			 WIRE_OWNER_UNRESOLVED, /* the owner word is set, but no thread of ours fits
						 */
			 WIRE_OWNER_VIRTUAL,    /* a virtual thread, */
			 WIRE_OWNER_UNMOUNTED,  /* which is on no carrier */
};

enum wire_lock_flags { /* further flags of struct wire_head */
		       WIRE_AFTER_WAIT = 256,
		       WIRE_IN_WAIT = 512,
		       WIRE_RESOLVES = 1024,
		       WIRE_UNMOUNTS = 2048, /* park begin: the virtual thread leaves its carrier */
		       WIRE_HANDLE_MOVES = 4096, /* handle is the oop: a collector changes it */
};

/*
 * What the probes of jvm-hooks/probes.h give no number to: inflation, deflation, the begin and the
 * end of a wait. Numbers begin with 1.
 */
#define WIRE_UNNUMBERED (~0ull)

/*
 * An event of a monitor, or of a thread that parks or unparks another one. The sequence number says
 * from whose probes the record is: 0 from a stock JVM's, any other number from a patched JVM's.
 * Fields that the one or the other does not have are 0. Of a patched JVM the head's time is the one
 * that the event is of (acquired, released), which may be before the probe was hit; the counters
 * are of the hit.
 */
struct wire_lock {
	struct wire_head head;
	struct wire_counters self;
	/* ObjectMonitor. Parks: the blocker's address when the thread parked; patched: 0. */
	__u64 object;
	/* Stock: of a monitor the WeakHandle's slot; of a park's end the blocker's address now. */
	__u64 handle;
	__u64 klass;    /* 0: could not be read, or the probe does not have it */
	__u64 sequence; /* 0: a stock JVM's; of a patched one the event's number, or UNNUMBERED */
	__u64 time; /* wait: ms. park: ns or deadline. patched exit: ns of its hold, 0: not known */
	__u64 forward; /* patched exit. patched park end: the number of the unpark that ended it */
	__u32 hash;    /* identity hash; 0: none, or klass is 0 */
	__u32 how;     /* patched: wait end, park end; inflate: the cause */
	__u32 target;  /* unpark, patched notify: kernel thread id; 0: not known */
	__u32 readers; /* park begin: holds of readers */
	__u32 stack;   /* id of a struct wire_stack; 0: not known */
	__u32 carrier; /* kernel thread id; 0: it is no virtual thread's record */
	/* records without an owner end here */
	struct wire_counters owner;
	__u64 owner_doing_ns; /* for how long it has been blocked; 0: it is not */
	__u32 owner_tid, owner_source;
	__u32 owner_stack, owner_doing; /* enum wire_reason */
	__u32 owner_carrier;            /* of a virtual thread; 0: it is on none, or not known */
	__u32 pad;
};

#define WIRE_LOCK_SHORT __builtin_offsetof(struct wire_lock, owner)

/*
 * A wait that is over, as the scheduler has seen it: the record of its begin, and what that of its
 * end has besides (an enter or a wait of a monitor, a park). Both are events of their own in the
 * log.
 */
struct wire_wait {
	struct wire_lock begin; /* but for the kind */
	__u64 end_ns;
	struct wire_counters end_self, end_owner;
	__u32 end_owner_tid, end_owner_source;
	__u32 what; /* WIRE_BLOCKED_LOCK, WIRE_BLOCKED_WAIT, WIRE_BLOCKED_PARK */
	__u32 pad;
};

/* Waits that were no contentions, and short, of one thread, on one blocker, with one call chain. */
struct wire_wait_sum {
	struct wire_head head;
	__u64 object, handle, klass; /* as in struct wire_lock */
	__u32 hash, stack;
	__u32 what;        /* WIRE_BLOCKED_WAIT, WIRE_BLOCKED_PARK */
	__u32 count;       /* at least 1 */
	__u64 first_ns;    /* when the first one began */
	__u64 off_ns;      /* of all: from leaving a CPU to getting one */
	__u64 runnable_ns; /* of off_ns: the threads waited for a CPU */
	__u64 longest_ns;
	__u64 pad;
};

/* Releases of a patched JVM's monitor that had no record each; the time is the last one's. */
struct wire_fold {
	struct wire_head head;
	__u64 object; /* ObjectMonitor */
	__u64 first, last, like, count;
	__u64 held_ns;
	__u32 owner_tid; /* 0: of several threads */
	__u32 parts;
};

struct wire_class {
	struct wire_head head;
	__u64 klass;
	__u32 name_length; /* bytes in name; '/' separated, modified UTF-8 */
	__u32 pad;
	char name[WIRE_CLASS_NAME_MAX];
};

/* As in wire_kinds.h. */
#define WIRE_LOCK_KINDS(KIND)                                                                      \
	KIND(CLASS, sizeof(struct wire_class), EVENT_CLASS)                                        \
	KIND(MONITOR_ENTER, sizeof(struct wire_lock), EVENT_MONITOR_CONTENDED_ENTER)               \
	KIND(MONITOR_ENTERED, sizeof(struct wire_lock), EVENT_MONITOR_CONTENDED_ENTERED)           \
	KIND(MONITOR_OWNER_SEEN, sizeof(struct wire_lock), EVENT_MONITOR_OWNER_SEEN)               \
	KIND(PARK_BEGIN, sizeof(struct wire_lock), EVENT_PARK_BEGIN)                               \
	KIND(PARK_END, sizeof(struct wire_lock), EVENT_PARK_END)                                   \
	KIND(MONITOR_EXIT, WIRE_LOCK_SHORT, EVENT_MONITOR_CONTENDED_EXIT)                          \
	KIND(MONITOR_WAIT_BEGIN, WIRE_LOCK_SHORT, EVENT_MONITOR_WAIT_BEGIN)                        \
	KIND(MONITOR_WAIT_END, WIRE_LOCK_SHORT, EVENT_MONITOR_WAIT_END)                            \
	KIND(MONITOR_NOTIFY, WIRE_LOCK_SHORT, EVENT_MONITOR_NOTIFY)                                \
	KIND(UNPARK, WIRE_LOCK_SHORT, EVENT_UNPARK)                                                \
	KIND(WAIT, sizeof(struct wire_wait), 0)                                                    \
	KIND(WAIT_SUM, sizeof(struct wire_wait_sum), EVENT_WAIT_SUM)                               \
	KIND(MONITOR_INFLATE, WIRE_LOCK_SHORT, EVENT_MONITOR_INFLATE)                              \
	KIND(MONITOR_DEFLATE, WIRE_LOCK_SHORT, EVENT_MONITOR_DEFLATE)                              \
	KIND(MONITOR_FOLD, sizeof(struct wire_fold), EVENT_MONITOR_FOLD)
