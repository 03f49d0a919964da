/* bpf/lib/wait_reason.bpf.h: why a thread blocks, by what the VM says of it (see waits.bpf.h). */
#pragma once

#include "bpf/lib/blocker.bpf.h"

/* HotSpot's enum ThreadState. */
enum os_state {
	OS_MONITOR_WAIT = 3,
	OS_CONDVAR_WAIT = 4,
	OS_OBJECT_WAIT = 5,
};

/* JavaThreadStatus (share/classfile/javaThreadStatus.hpp): bits of JVMTI, in these combinations
 * only. */
enum java_status {
	STATUS_PARKED = 0x291,
	STATUS_PARKED_TIMED = 0x2a1,
	STATUS_SLEEPING = 0xe1,
	STATUS_BLOCKED_ON_MONITOR = 0x401,
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* THREAD_SLOTS if by_switches: set before load */
	__type(key, __u32);
	__type(value, struct thread_wait);
} waits __weak SEC(".maps");

/* What is read of the target in the scheduler, which is not preempted: nothing else that uses this
 * runs on the CPU meanwhile. */
#define WAIT_WORDS (WIRE_WAIT_BYTES / 8) /* a power of two */
#define STACK_WORDS 1024                 /* likewise */

struct wait_scratch {
	__u64 words[WAIT_WORDS];
	__u64 stack[STACK_WORDS];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct wait_scratch);
} wait_scratch __weak SEC(".maps");

static __always_inline struct wait_scratch *scratch_get(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&wait_scratch, &zero);
}

static __always_inline struct thread_wait *wait_of(const struct thread_state *t)
{
	__u32 index = t->index;

	return bpf_map_lookup_elem(&waits, &index);
}

static __always_inline int wait_is_open(const struct thread_state *t)
{
	struct thread_wait *w = wait_of(t);

	return w && w->turn & WAIT_OPEN;
}

/*
 * What is read of the target at each switch is read with as few calls as can be: each costs about
 * 50 ns, whatever its length. The words are aligned, so that a field of 4 bytes is half of one.
 */
static __always_inline __u32 words_u32(const __u64 *words, __u32 at)
{
	__u64 word = words[at >> 3 & (WAIT_WORDS - 1)];

	return at & 4 ? word >> 32 : word;
}

/* An oop field of the object that was read into words. */
static __always_inline __u64 words_oop(const __u64 *words, __u32 at)
{
	__u64 oop;

	if (!layout.compressed_oops)
		return oop_copy(oop_address(words[at >> 3 & (WAIT_WORDS - 1)]));
	oop = words_u32(words, at);
	if (!oop)
		return 0;
	return oop_copy(layout.narrow_oop_base + (oop << (layout.narrow_oop_shift & 63)));
}

/* The status in the java.lang.Thread that was read into words. */
static __always_inline __u32 status_in(const __u64 *words)
{
	__u64 holder;

	if (layout.holder_status < 0)
		return words_u32(words, layout.thread_status);
	holder = words_oop(words, layout.thread_holder);
	return holder ? read_u32(holder + layout.holder_status) : 0;
}

/* Reads what is at addr, up to the 8 bytes at offset `last`. */
static __always_inline long words_read(struct wait_scratch *s, __u64 addr, __u32 last)
{
	__u64 bytes = (__u64)last + 8;

	asm volatile("if %0 <= %1 goto +1; %0 = %1" : "+r"(bytes) : "i"(WAIT_WORDS * 8));
	return bpf_probe_read_user(s->words, bytes, (void *)addr);
}

/* Of the running thread's OSThread into w->words. 0: it is that of its kernel thread. */
static __always_inline int os_thread_read(struct thread_state *t, struct wait_scratch *w)
{
	if (!t->java.osthread && !java_thread_checked(t, t->tid, 1))
		return -1;
	return !t->java.osthread || words_read(w, t->java.osthread, layout.os_thread_id) ||
	       words_u32(w->words, layout.os_thread_id) != t->ns_tid;
}

/* Whether the running thread's OSThread, which was read as that of its kernel thread or of `other`,
 * is to be read once more: the thread has detached, and may be another JavaThread now. What that
 * left behind may look as it did: if it says that the thread runs, but it waits for a futex, its
 * java.lang.Thread is asked, too. */
static __always_inline int os_state_again(struct thread_state *t, int other, __u32 state, __u64 at)
{
	if (other > 0)
		return java_thread_again(t);
	if (other || !at || (state >= OS_MONITOR_WAIT && state <= OS_OBJECT_WAIT))
		return 0;
	thread_object(t);
	return !t->java.osthread;
}

/* Of the running thread, which waits at a futex or 0; 0: it is none of Java's. */
static __always_inline __u32 os_state_read(struct thread_state *t, struct wait_scratch *w, __u64 at)
{
	int other = os_thread_read(t, w);
	__u32 state = other ? 0 : words_u32(w->words, layout.os_state);

	if (!os_state_again(t, other, state, at))
		return state;
	return os_thread_read(t, w) ? 0 : words_u32(w->words, layout.os_state);
}

/* Its java.lang.Thread into s->words. 0: it is its own. */
static __always_inline int object_read(struct thread_state *t, struct thread_wait *w,
				       struct wait_scratch *s)
{
	__s32 last = layout.holder_status >= 0 ? layout.thread_holder : layout.thread_status;

	if (layout.thread_park_blocker > last)
		last = layout.thread_park_blocker;
	if (layout.thread_eetop > last)
		last = layout.thread_eetop;
	if (last < 0 || !w->java.oop || words_read(s, w->java.oop, last))
		return -1;
	return layout.thread_eetop >= 0 &&
	       s->words[layout.thread_eetop >> 3 & (WAIT_WORDS - 1)] != t->java.thread;
}

/*
 * Reads the running thread's java.lang.Thread into s->words; its status (enum java_status, or
 * another one). While there is no collection, the object stays where it is, and the blocker that
 * was known there is the same object.
 */
SUBPROGRAM __u32 status_read(struct thread_state *t, struct thread_wait *w, struct wait_scratch *s)
{
	__u64 begin = gc_since(), stamp;
	__u32 status, epoch = safepoint_epoch;
	int other;

	if (!t || !w || !s)
		return 0;
	if (w->java.stamp & 1 || !no_safepoint_since(w->java.epoch)) {
		w->java.epoch = epoch;
		stamp = gc_stamp();
	} else {
		stamp = w->java.stamp;
	}
	w->java.moved = stamp != w->java.stamp || stamp & 1;
	w->java.stamp = stamp;
	if (w->java.moved || !w->java.oop || !layout.stops_to_move)
		w->java.oop = thread_object_here(t);
	other = object_read(t, w, s);
	if (other) /* that of the JavaThread that it had before: it is looked for the next time */
		w->java.oop = 0;
	status = other ? 0 : status_in(s->words);
	w->java.moving = other > 0 || stamp & 1 || gc_had_time(begin);
	return status;
}

/* As gc_still(), of what status_read() began. */
static __always_inline int java_still(const struct thread_wait *w, __u64 since_ns)
{
	if (!(w->java.stamp & 1) && no_safepoint_since(w->java.epoch))
		return 1;
	return gc_still(w->java.stamp, since_ns);
}

/* The address at which the running thread waits in futex(2); 0: it is in another call. */
static __always_inline __u64 futex_address(void)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(bpf_get_current_task_btf());

	return SYSCALL_NUMBER(regs) == CALL_FUTEX ? SYSCALL_FIRST(regs) : 0;
}

static __always_inline int in_parker(const struct thread_wait *w, __u64 address)
{
	return w->java.park_low && address - w->java.park_low <= w->java.park_span;
}

/* It parks, and waits at that address, which is therefore in its Parker. */
static __always_inline void parker_learn(struct thread_wait *w, __u64 address)
{
	__u64 low = w->java.park_low, high = low + w->java.park_span;

	if (!address || in_parker(w, address))
		return;
	if (!low || address + PARKER_BYTES < high || address > low + PARKER_BYTES)
		low = high = address;
	if (address < low)
		low = address;
	if (address > high)
		high = address;
	w->java.park_low = low;
	w->java.park_span = high - low;
}

static __always_inline int is_parked(__u32 status)
{
	return status == STATUS_PARKED || status == STATUS_PARKED_TIMED;
}

/* Why the running thread blocks, if for one of these reasons; else WIRE_BLOCKED_OTHER. */
SUBPROGRAM int wait_reason(struct thread_state *t)
{
	struct thread_wait *w = t ? wait_of(t) : 0;
	struct wait_scratch *s = scratch_get();
	__u64 begin, at = futex_address();
	__u32 status;

	if (!w || !s)
		return WIRE_BLOCKED_OTHER;
	/* It is not asked for the thread's state then: that is a read less. */
	if (t->java.thread && in_parker(w, at) && is_parked(status_read(t, w, s)) &&
	    !w->java.moving)
		return WIRE_BLOCKED_PARK;
	switch (os_state_read(t, s, at)) {
	case OS_MONITOR_WAIT:
		return WIRE_BLOCKED_LOCK;
	case OS_OBJECT_WAIT:
		return WIRE_BLOCKED_WAIT;
	case OS_CONDVAR_WAIT:
		begin = gc_since();
		status = status_read(t, w, s);
		/* The CPU may have been taken away meanwhile, for a whole collection: once more.
		 * (Of what is parked, blocker_find() sees to that.) */
		if (w->java.moving || (!is_parked(status) && !java_still(w, begin)))
			status = status_read(t, w, s);
		if (is_parked(status)) {
			parker_learn(w, at);
			return WIRE_BLOCKED_PARK;
		}
		return status == STATUS_SLEEPING ? WIRE_BLOCKED_SLEEP : WIRE_BLOCKED_OTHER;
	}
	return WIRE_BLOCKED_OTHER;
}

static __always_inline __u64 pending_monitor(const struct thread_state *t)
{
	return read_u64(t->java.thread + layout.jt_pending_monitor);
}

static __always_inline __u64 waiting_monitor(const struct thread_state *t)
{
	return read_u64(t->java.thread + layout.jt_waiting_monitor);
}
