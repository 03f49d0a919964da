/* bpf/lib/state.bpf.h: what is kept of a thread, family by family, of a monitor, and of a class. */
#pragma once

#include "vmlinux.h"

#include "bpf/wire/wire.h"
#include "bpf/wire/wire_stack.h"
#include "bpf/wire/wire_states.h"

#define REASON_SLOTS 8 /* a power of two: a mask bounds the index for the verifier */
_Static_assert(WIRE_REASON_COUNT <= REASON_SLOTS, "each has one");

#define WAIT_OPEN 1  /* it waits, or seems to have got its lock */
#define WAIT_BEGUN 2 /* its begin is in the ring */
#define WAIT_TURN 4
#define WAIT_NOTES_MAX 128
#define OFF_SHORT 1
#define OFF_OPEN 2  /* it has not come back yet */
#define WAIT_SUMS 2 /* call sites where a thread may wait by turns; a power of two */

enum thread_run { RUN_BLOCKED, RUN_RUNNABLE, RUN_RUNNING };

/* Safepoints. */
struct thread_pause {
	__u32 first; /* safepoints that had ended when the thread left its CPU */
	/* Safepoints that had ended when it last asked for one, and 1 more; 0: it never did. */
	__u32 requested;
};

/* While it waits for a CPU: its cfs_rq when it began to wait, and for how long that had been
 * throttled by then. */
struct thread_throttle {
	__u64 rq; /* 0: it does not wait, or nothing throttles it */
	__u64 base;
};

/* The monitor that it is blocked on, or has lately owned. */
struct thread_monitor {
	__u64 address; /* 0: none */
	__u32 blocked;
	__u32 misses; /* looks at it in a row that found nothing */
};

/* Its call chain, as others walk it. */
struct thread_chain {
	__u32 want;  /* a thread that is blocked by this one and wants its chain; 0: none */
	__u32 tries; /* to walk it */
	__u64 regs;  /* the user's registers at the top of its kernel stack */
	__u64 task;  /* its task_struct */
};

struct thread_java {
	__u64 thread;   /* JavaThread; 0: not known */
	__u64 known;    /* what java_thread_of has for it; 0: not looked up, or nothing */
	__u64 handle;   /* JavaThread::_threadObj: address of the oop; or that of the field */
	__u64 vthread;  /* JavaThread::_vthread, likewise; valid with it */
	__u64 osthread; /* JavaThread::_osthread, by which `thread` is known to be still the same */
	__u64 list;     /* the VM's list of threads when it was last looked for there, */
	__u32 list_mark, skipped;   /* as of list_mark(), and how often that was not done since */
	__u32 window, searched;     /* entries that were looked at in this window */
	__u32 in_part; /* the list was too long to look at all of it */
	__u32 leaving;  /* the virtual thread that is about to leave it, until it is seen to have */
};

/* What it parks on, from park_begin to park_end. */
struct thread_park {
	__u64 parker; /* its Parker */
	__u64 object; /* the blocker when it parked */
	__u64 klass;
	__u32 owner, owner_source;
	__u32 hash;
	__u32 subject; /* what the parker is known to park: the thread, or what it carries */
};

/* What earlier walks of its stack have found. */
struct thread_walk {
	__u64 stack_high;
	__u32 memo_misses; /* walks in a row that were not a repetition */
	__u32 long_walks;  /* see walk_worth(): a window, and points in its lowest byte */
	/* Where it last left its CPU for something that has no events, as off_cpu_due() has
	 * found it, and whether it was back soon. */
	__u64 off_pc, off_sp;
	__u32 off_short; /* OFF_SHORT, OFF_OPEN */
	__u32 off_skipped;
};

/* What the clock of --sample last found, on its way into the record. */
struct thread_sample {
	__u32 via;
	__u32 result;
	__u32 class_epoch, code_epoch;
	struct wire_frame top;
	struct wire_counters counters;
	__u64 compiling; /* the Method that a compiler thread compiles; 0: none, or it is none */
};

/* Where its time went. cpu + stolen + runnable + blocked + (now - since) == now - first seen. */
struct thread_time {
	__u32 seq; /* odd: the times are being written */
	__u32 run; /* enum thread_run, since `since` */
	__u64 since;
	__u64 cpu_ns, stolen_ns, runnable_ns, blocked_ns;
	__u64 steal_base;   /* the CPU's steal clock when this thread was switched in */
	__u64 throttled_ns; /* of runnable_ns */
	__u32 cpu;
	__u32 pad;
};

/* Its last off-CPU interval. */
struct thread_off {
	__u64 since;                     /* when it left its CPU; 0: not seen */
	__u64 runnable_ns, throttled_ns; /* its counters at that moment */
	__u32 stack; /* its chain, off its CPU; 0: not looked at, or not known */
	__u32 stack_before; /* of a break whose end was not seen; see sched_entry() */
};

/* Why it is blocked, and was: enum wire_reason. */
struct thread_reason {
	__u32 now;
	__u32 first; /* blocked since before it was first seen: the reason is not known */
	__u32 probe, probe_before; /* by its own probes */
};

/*
 * One per thread of the target, a struct for each family of events. The scheduler's programs write
 * its time under seq, its off-CPU interval, its reason and its throttling; the thread's own probes
 * write the others. What every switch touches comes first: four cache lines.
 */
struct thread_state {
	__u32 tid; /* whose it is; see thread_find() */
	__u32 ns_tid;
	__u32 emitted; /* a struct wire_thread has been sent */
	__u32 index;   /* of this element, in its map */
	struct thread_time time;
	struct thread_off off;
	struct thread_pause pause;
	struct thread_reason reason;
	__u64 reason_ns[REASON_SLOTS]; /* of blocked_ns, by reason */
	struct thread_throttle throttle;
	struct thread_monitor monitor;
	struct thread_chain chain;
	struct thread_java java;
	struct thread_park park;
	struct thread_walk walk;
	struct thread_sample sample;
};

/* Waits that are no contentions and were short, put together; by all but the counts. */
struct wait_sum {
	__u64 object, handle, klass;
	__u32 hash, stack, what;
	__u32 count; /* 0: the sum is empty */
	__u64 first_ns;
	__u64 off_ns, runnable_ns, longest_ns;
};

/*
 * The chain with which a thread blocked last. A walk is a function of where it begins and of the
 * words that it notes (hotspot.bpf.h): if these are the same, it is the same chain.
 */
struct wait_memo {
	__u64 sp, pc, fp;
	__u64 hash1, hash2; /* of the words: 128 bits, as of a chain */
	__u32 code_epoch, class_epoch;
	__u32 id; /* 0: there is none */
	__u32 fp_used;
	__u32 notes;
	__u32 span; /* words, from sp */
	__u16 note_at[WAIT_NOTES_MAX];
};

/* The lock or the blocker of a wait. */
struct wait_subject {
	__u64 object; /* ObjectMonitor, or the address of the blocker */
	__u64 handle; /* of a monitor */
	__u64 klass;
	__u32 hash;
	__u32 flags;       /* of a blocker: WIRE_CLASS_*, */
	__u32 class_epoch; /* in this epoch of class unloading; of a lock: WIRE_AFTER_WAIT */
	__u32 pad;
};

/* Who owned the lock when the thread blocked, and before the thread had the lock. */
struct wait_owner {
	__u64 word; /* what a monitor said of its owner */
	__u32 tid;  /* 0: not known */
	__u32 source;
	__u32 on;      /* the kernel thread that the owner is on; 0: none */
	__u32 readers; /* of a blocker */
};

/* Of a lock that the thread seems to have got. */
struct wait_lock_end {
	__u64 ns; /* 0: it has not */
	struct wire_counters self, owner;
	__u32 released; /* the thread has woken others that were blocked on this lock */
	__u32 pad;
};

/* The owner when a contention began, for the record that is emitted when it is over. */
struct wait_begin {
	struct wire_counters owner;
	__u64 doing_ns;
	__u32 tid, source, stack, doing, carrier;
	__u32 pad;
};

/* What the thread is about to block on: see wait_ahead(). */
struct wait_next {
	__u32 what; /* enum wire_reason */
	int begun;
	__u64 switches;
	__u32 owner_stack;
	__u32 pad;
};

/* The thread's java.lang.Thread, from which its status and its blocker are read. */
struct wait_java {
	__u64 oop;    /* when the thread last parked; 0: not known */
	__u64 stamp;  /* of collections then */
	__u32 moved;  /* a collection may have moved the thread's objects since, */
	__u32 moving; /* or while they were read */
	__u32 epoch;  /* of safepoints, before the stamp was read */
	/* Between these addresses is the Parker: where it has waited in futex(2) as it parked. */
	__u32 park_span;
	__u64 park_low; /* 0: not known */
};

#define PARKER_BYTES 256 /* more than it has: an integer, a mutex, two conditions */

struct wait_sums {
	__u32 taken; /* somebody is writing them */
	__u32 pad;
	struct wait_sum of[WAIT_SUMS];
};

/*
 * What a thread blocks on, by what the VM says of the thread when it leaves its CPU (waits.bpf.h),
 * a struct for each family as in struct thread_state. The thread's own switches write it, and the
 * flush at the end of a window, which must win `turn` for that.
 */
struct thread_wait {
	__u32 turn; /* WAIT_OPEN, WAIT_BEGUN, and above these a number of each wait's own */
	__u32 what; /* enum wire_reason */
	__u64 begin_ns;
	__u32 stack;
	__u32 contends; /* somebody has what it waits for: it is emitted however short it is */
	struct wire_counters at_begin;
	struct wait_subject on;
	struct wait_owner owner;
	struct wait_begin begin;
	struct wait_lock_end end;
	struct wait_next next;
	struct wait_java java;
	struct wait_memo memo;
	struct wait_sums sums;
};

/* A monitor as last seen; an LRU, so that losing one costs a holder's snapshot and nothing else. */
struct monitor_state {
	__u64 handle;
	__u64 klass;
	__u32 hash;
	__u32 owner; /* the thread last known to own it, and the one before, another */
	__u32 previous;
	__u32 released; /* the last thing known is that owner gave it up */
	/* The kernel threads that these two were on; 0: not known. */
	__u32 owner_on, previous_on;
	__u64 sequence; /* a patched JVM's, of the event that had the owner */
};

struct class_state {
	__u32 epoch; /* of class unloading: an older one may be another class by now */
	__u32 flags; /* WIRE_CLASS_* */
};
