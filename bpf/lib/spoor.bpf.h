/* bpf/lib/spoor.bpf.h: maps, emit, count_drop: what all BPF programs share. */
#pragma once

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "bpf/lib/arch.bpf.h"
#include "bpf/lib/kernel.bpf.h"
#include "bpf/lib/state.bpf.h"
#include "bpf/wire/wire_cpu.h"
#include "bpf/wire/wire_kinds.h"
#include "bpf/wire/wire_layout.h"

/* Verified by itself, once, and with a stack frame of its own: frames of all functions that
 * call each other may have 512 bytes together. */
#define SUBPROGRAM __weak __noinline

#define THREAD_SLOTS 32768 /* a power of two; user space may have set thread_slots to less */

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
	__uint(max_entries, WIRE_KIND_COUNT *WIRE_LOSS_STAGE_COUNT);
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
	__uint(max_entries, 1); /* THREAD_SLOTS where there is need: set before load */
	__type(key, __u32);   /* tid in the target's pid namespace */
	__type(value, __u32); /* kernel tid */
} ns_tids __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* THREAD_SLOTS where there is need: set before load */
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

/* What a virtual thread was in when it unmounted, by its id; an LRU, as some ends are not reported.
 */
struct virtual_wait {
	__u64 monitor;
	__u32 kind; /* of the record that ends it */
	__u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* VIRTUAL_SLOTS if there may be any: set before load */
	__type(key, __u64);
	__type(value, struct virtual_wait);
} virtual_waits __weak SEC(".maps");

/* Parks of virtual threads that are on no carrier, by their ids: the record of the begin, whose pad
 * is 1 once it has been sent, and whose time is the carrier's CPU time. Its kind is 0 while it is
 * not complete. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* likewise */
	__type(key, __u64);
	__type(value, struct wire_lock);
} virtual_parks __weak SEC(".maps");

/* Those whose names have been sent. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* likewise */
	__type(key, __u64);
	__type(value, __u32);
} virtual_named __weak SEC(".maps");

/* Set by user space while the programs run; it changes only until the JVM has started up. */
struct wire_layout layout __weak = {};
__u32 target_tgid __weak = 0; /* in the initial pid namespace */
__u32 class_epoch __weak = 0;
/* The class of virtual threads' objects, once one has been seen. */
__u64 virtual_klass __weak = 0;
/* Nothing reports when a virtual thread that has unmounted goes on: libjvm's symbol table lacks the
 * functions that would. */
__u32 no_virtual_ends __weak = 0;
/* Some Java thread is not known by its id: there was no room. */
__u32 ids_incomplete __weak = 0;
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
__u32 safepoint_epoch __weak = 1; /* another one at each begin and end of one */
__u32 safepoints_told __weak = 0; /* both have probes, which are attached */
__u32 safepoints_ended __weak = 0;
__u64 safepoint_ends_ns[SAFEPOINT_ENDS] __weak = {};
/* Off-CPU intervals of at least this have a record each. 0: all have, with their chains, also those
 * that have other events. */
const volatile __u64 off_cpu_ns __weak = 1000000;
const volatile __u32 off_cpu_chains __weak = 0; /* those intervals have chains */
/* The scheduler's programs report waits, and no probe: see waits.bpf.h. */
const volatile __u32 by_switches __weak = 0;
/* And the kernel has sched_entry_tp (Linux 6.15). */
/* Parks of virtual threads that unmount are reported. */
const volatile __u32 virtual_parks_too __weak = 0;
/* The JVM is patched: no owner is silent, monitors are not looked at. */
const volatile __u32 numbered __weak = 0;

static __always_inline void count_drop(__u32 kind, __u32 stage)
{
	__u32 key = kind * WIRE_LOSS_STAGE_COUNT + stage;
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
