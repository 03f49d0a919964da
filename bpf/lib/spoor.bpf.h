/* bpf/lib/spoor.bpf.h: maps, emit, count_drop, and a thread's state: what all BPF programs
 * share. */
#pragma once

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/wire/wire.h"
#include "bpf/wire/wire_cpu.h"
#include "bpf/wire/wire_gc.h"
#include "bpf/wire/wire_layout.h"
#include "bpf/wire/wire_lock.h"
#include "bpf/wire/wire_states.h"
#include "bpf/wire/wire_thread.h"

/* Verified by itself, once, and with a stack frame of its own: frames of all functions that
 * call each other may have 512 bytes together. */
#define PART __weak __noinline

#define BARRIER() asm volatile("" ::: "memory")

#define REASON_SLOTS 8 /* a power of two: a mask bounds the index for the verifier */
_Static_assert(WIRE_REASON_COUNT <= REASON_SLOTS, "each has one");

enum thread_run { RUN_BLOCKED, RUN_RUNNABLE, RUN_RUNNING };

/*
 * One per thread of the target. The scheduler's programs write the first part under seq (odd: being
 * written); the thread's own probes write the second. cpu + stolen + runnable + blocked + (now -
 * since) == now - first seen. What every switch touches comes first: three cache lines.
 */
struct thread_state {
	__u32 tid; /* whose it is; see thread_find() */
	__u32 seq;
	__u64 since;
	__u32 run; /* enum thread_run, since `since` */
	__u32 cpu;
	__u64 cpu_ns, stolen_ns, runnable_ns, blocked_ns;
	__u64 steal_base; /* the CPU's steal clock when this thread was switched in */

	__u64 off_since;               /* when it left its CPU; 0: not seen */
	__u64 off_wait, off_throttled; /* runnable_ns and throttled_ns at that moment */
	__u32 reason;                  /* why it is blocked; enum wire_reason */
	__u32 first; /* blocked since before it was first seen: the reason is not known */
	__u32 doing, doing_before; /* what its own probes say it is in; enum wire_reason */
	__u32 pause_first;         /* safepoints that had ended when it left its CPU */
	/* Safepoints that had ended when it last asked for one, and 1 more; 0: it never did. */
	__u32 requested;
	__u64 java_thread; /* 0: not known */

	__u64 reason_ns[REASON_SLOTS]; /* of blocked_ns; by enum wire_reason */

	__u64 throttled_ns;  /* of runnable_ns */
	__u64 throttle_rq;   /* its cfs_rq when it began to wait for a CPU, */
	__u64 throttle_base; /* and for how long that had been throttled by then */
	__u64 regs;          /* the user's registers at the top of its kernel stack */
	__u64 task;          /* its task_struct */
	__u64 monitor;       /* the one it is blocked on, or has lately owned; 0: none */
	__u32 want; /* a thread that is blocked by this one and wants its call chain; 0: none */
	__u32 want_tries;
	__u64 java_known; /* what java_thread_of has for it; 0: not looked up, or nothing */

	__u32 ns_tid;
	__u32 told;          /* a struct wire_thread has been sent */
	__u64 thread_handle; /* JavaThread::_threadObj: address of the oop */
	__u64 parker;
	__u64 park_object; /* the blocker when it parked */
	__u64 park_klass;
	__u32 park_owner, park_owner_source;
	__u32 park_hash;
	__u32 lookups; /* failed searches for its JavaThread */
	__u32 monitor_blocked;
	__u32 monitor_misses; /* looks at it in a row that told nothing */
	__u64 osthread; /* JavaThread::_osthread, by which java_thread is known to be still the same
			 */
	__u64 stack_high;
	__u32 memo_misses; /* walks in a row that were not a repetition */
	__u32 long_walks;  /* see walk_worth(): a window, and points in its lowest byte */
};

#define THREAD_SLOTS 32768 /* a power of two */

/* A monitor as last seen; an LRU, so that losing one costs a holder's snapshot and nothing else. */
struct monitor_state {
	__u64 handle;
	__u64 klass;
	__u32 hash;
	__u32 owner; /* the thread last known to own it, and the one before, another */
	__u32 previous;
	__u32 released; /* the last thing known is that owner gave it up */
	__u64 sequence; /* a patched JVM's, of what told of the owner */
};

struct class_state {
	__u32 epoch; /* of class unloading: an older one may be another class by now */
	__u32 flags; /* WIRE_CLASS_* */
};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 16 * 1024 * 1024);
} events __weak SEC(".maps");

/*
 * Not the kernel's hash table: every switch looks two threads up, and each look would be a call
 * and a hash. Which element is whose: thread_find().
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, THREAD_SLOTS);
	__type(key, __u32);
	__type(value, struct thread_state);
} threads __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WIRE_CPUS_MAX);
	__type(key, __u32);
	__type(value, struct wire_cpu);
} cpus __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_KIND_COUNT *WIRE_PLACE_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} lost __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64); /* JavaThread */
	__type(value, struct wire_java_thread);
} java_threads __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);   /* kernel tid */
	__type(value, __u64); /* JavaThread */
} java_thread_of __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);   /* tid in the target's pid namespace */
	__type(value, __u32); /* kernel tid */
} ns_tids __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64);   /* Parker */
	__type(value, __u32); /* kernel tid */
} parkers __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 32768);
	__type(key, __u32);   /* kernel tid, of a thread that was blocked at attach */
	__type(value, __u32); /* WIRE_FIRST_* */
} first_reasons __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64); /* ObjectMonitor */
	__type(value, struct monitor_state);
} monitors __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, __u64); /* Klass */
	__type(value, struct class_state);
} classes __weak SEC(".maps");

/* Set by user space while the programs run; it changes only until the JVM has started up. */
struct wire_layout layout __weak = {};
__u32 target_tgid __weak = 0; /* in the initial pid namespace */
__u32 class_epoch __weak = 0;
/* The scheduler's programs are detached: the last sample reads the steal clocks as sample_cpus()
 * left them. */
__u32 frozen __weak = 0;
/* Bytes of unread records from which a submit wakes the reader; below, its timer does. */
const volatile __u64 wake_bytes __weak = 1024 * 1024;
__u32 in_pid_namespace __weak = 0; /* the target's tids are not the kernel's */
/* Some thread of the target is in a cgroup with a CPU quota. */
__u32 quota_on __weak = 0;
/* A safepoint begins, or is on; how many have ended, and when the last ones did. */
#define SAFEPOINT_ENDS 16 /* a power of two */
__u32 safepoint_on __weak = 0;
__u32 safepoints_ended __weak = 0;
__u64 safepoint_ends_ns[SAFEPOINT_ENDS] __weak = {};
/* Threads that are off the CPUs for less are not told one by one. */
const volatile __u64 off_cpu_ns __weak = 1000000;
/* The JVM is patched: no owner is silent, monitors are not looked at. */
const volatile __u32 exact __weak = 0;

static __always_inline void count_drop(__u32 kind, __u32 place)
{
	__u32 key = kind * WIRE_PLACE_COUNT + place;
	__u64 *n = bpf_map_lookup_elem(&lost, &key);

	if (n)
		__sync_fetch_and_add(n, 1);
}

static __always_inline void *emit_reserve(__u32 kind, __u64 size)
{
	void *p = bpf_ringbuf_reserve(&events, size, 0);

	if (!p)
		count_drop(kind, WIRE_LOST_RING);
	return p;
}

/* A wake-up costs the traced thread an IPI and the reader a switch; so only when much is waiting.
 */
static __always_inline void emit_submit(void *p)
{
	__u64 waiting = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA);

	bpf_ringbuf_submit(p, waiting >= wake_bytes ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP);
}

static __always_inline void head_fill(struct wire_head *h, __u32 kind, __u32 flags, __u32 tid,
				      __u64 now)
{
	h->kind = kind;
	h->flags = flags;
	h->tid = tid;
	h->time_ns = now;
}

static __always_inline void emit_head(__u32 kind, __u32 tid)
{
	struct wire_head *h = emit_reserve(kind, sizeof(*h));

	if (!h)
		return;
	head_fill(h, kind, 0, tid, bpf_ktime_get_ns());
	emit_submit(h);
}

static __always_inline __u32 current_tid(void)
{
	return (__u32)bpf_get_current_pid_tgid();
}

static __always_inline __u64 read_u64(__u64 addr)
{
	__u64 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (void *)addr);
	return v;
}

static __always_inline __u32 read_u32(__u64 addr)
{
	__u32 v = 0;

	bpf_probe_read_user(&v, sizeof(v), (void *)addr);
	return v;
}

/*
 * Reads a name of `length` bytes, cut to size - 1 (size: a power of two); the bytes read. The mask
 * is written in assembly because clang drops it as redundant after the comparison, and the verifier
 * then sees no bound.
 */
static __always_inline __u32 read_name(char *to, __u64 size, __u64 from, __u32 length)
{
	__u64 n = length < size ? length : size - 1;

	asm volatile("%0 &= %1" : "+r"(n) : "i"(size - 1));
	return bpf_probe_read_user(to, n, (void *)from) ? 0 : n;
}
