/* bpf/lib/virtual.bpf.h: virtual threads (JEP 444, 491): which one a thread carries, what it is
 * called, and what it was in when it unmounted. */
#pragma once

#include "bpf/lib/jvm.bpf.h"

#define NAME_LATIN1 0 /* String.coder */
/* HotSpot takes microseconds of CPU time to unmount one. Less than UNMOUNTED_NS. */
#define STAYS_NS 20000000ull

/* The java.lang.Thread of its JavaThread; 0: it is not known, or stands for another one. */
SUBPROGRAM __u64 own_object(struct thread_state *t)
{
	__u64 oop;

	if (!t)
		return 0;
	if (!t->java.handle)
		t->java.handle = handle_at(t->java.thread + layout.jt_thread_obj);
	oop = t->java.handle ? read_handle(t->java.handle) : 0;
	if (!oop || (layout.thread_eetop >= 0 &&
		     read_u64(oop + layout.thread_eetop) != t->java.thread))
		return 0;
	return oop;
}

/* The running thread's java.lang.Thread; 0: it is not known. */
static __always_inline __u64 thread_object_here(struct thread_state *t)
{
	__u64 oop;

	if (!layout.ready || !java_thread_current(t))
		return 0;
	oop = own_object(t);
	if (!oop && java_thread_again(t))
		oop = own_object(t);
	return oop;
}

/* The same; where stacks are deep, a frame less is needed without the call. */
SUBPROGRAM __u64 thread_object(struct thread_state *t)
{
	return t ? thread_object_here(t) : 0;
}

/* The java.lang.Thread that runs on this JavaThread. */
static __always_inline __u64 vthread_object(__u64 java_thread)
{
	return layout.jt_vthread < 0 ? 0 : read_handle(read_u64(java_thread + layout.jt_vthread));
}

/* The java.lang.VirtualThread that its JavaThread carries (JDK 21); 0: none. */
static __always_inline __u64 carried_object(struct thread_state *t)
{
	__u64 object;

	if (!t->java.handle || !t->java.vthread) {
		t->java.handle = handle_at(t->java.thread + layout.jt_thread_obj);
		t->java.vthread = read_u64(t->java.thread + layout.jt_vthread);
	}
	object = read_handle(t->java.vthread);
	return object == read_handle(t->java.handle) ? 0 : object;
}

/*
 * The id of the virtual thread that the running thread carries; 0: none. java_id: of the running
 * thread itself, as a probe has it; 0: not known. Where monitors have ids of their owners, the
 * VM says whose it is now; else (JDK 21) the two objects are compared, which stay where they are,
 * as the thread is in the VM.
 */
static __always_inline __u64 virtual_id(struct thread_state *t, __u64 java_id)
{
	__u64 java_thread = layout.jt_vthread < 0 ? 0 : java_thread_current(t), id, object;

	if (!java_thread || !layout.ready)
		return 0;
	if (layout.jt_owner_id >= 0 && layout.jt_cont_entry >= 0) {
		id = read_u64(java_thread + layout.jt_owner_id);
		return id != java_id && read_u64(java_thread + layout.jt_cont_entry) ? id : 0;
	}
	object = carried_object(t);
	/* The handles stay where they are as long as the JavaThread: is it still this one? */
	if (object) {
		object = thread_object(t);
		t->java.vthread = 0;
		object = object ? carried_object(t) : 0;
	}
	return object && layout.thread_tid >= 0 ? read_u64(object + layout.thread_tid) : 0;
}

/* Sends user space its name, once. */
SUBPROGRAM int virtual_name(__u64 java_thread, __u64 id)
{
	__u64 object = vthread_object(java_thread), name, array = 0;
	struct wire_thread_java *r;
	__u32 one = 1, length = 0;
	__u8 coder = NAME_LATIN1;

	r = emit_reserve(WIRE_THREAD_VIRTUAL, sizeof(*r));
	if (!r)
		return 0;
	head_fill(&r->head, WIRE_THREAD_VIRTUAL, 0, virtual_tid(id), bpf_ktime_get_ns());
	r->java_id = id;
	r->java_thread = java_thread;
	r->ns_tid = 0;
	if (object && layout.thread_tid >= 0 && read_u64(object + layout.thread_tid) == id) {
		virtual_klass = oop_klass(object);
		name = layout.array_bytes < 0 ? 0 : read_oop(object + layout.thread_name);
		array = name ? read_oop(name + layout.string_value) : 0;
		bpf_probe_read_user(&coder, sizeof(coder), (void *)(name + layout.string_coder));
	}
	if (array)
		length = read_u32(array + layout.array_length);
	if (coder != NAME_LATIN1)
		r->head.flags |= WIRE_NAME_UTF16;
	if (length >= WIRE_NAME_MAX)
		r->head.flags |= WIRE_NAME_CUT;
	r->name_length = read_name(r->name, WIRE_NAME_MAX, array + layout.array_bytes, length);
	emit_submit(r);
	bpf_map_update_elem(&virtual_named, &id, &one, BPF_ANY);
	return 0;
}

/* Whose the running thread's event is: its own, or the virtual thread's that it carries. */
SUBPROGRAM __u32 thread_subject(struct thread_state *t, __u64 java_id)
{
	__u64 id;

	if (!t)
		return 0;
	id = virtual_id(t, java_id);
	if (!virtual_tid(id))
		return t->tid;
	if (!bpf_map_lookup_elem(&virtual_named, &id))
		virtual_name(t->java.thread, id);
	return virtual_tid(id);
}

/* Of the record with which a thread blocks on a monitor, or begins to wait. */
static __always_inline __u32 virtual_flags(__u32 tid)
{
	return no_virtual_ends && may_unmount(tid) ? WIRE_NO_END : 0;
}

static __always_inline void virtual_waits_for(__u32 tid, __u64 monitor, __u32 kind)
{
	struct virtual_wait w = {.monitor = monitor, .kind = kind};
	__u64 id = tid & ~WIRE_VIRTUAL;

	if (!no_virtual_ends)
		bpf_map_update_elem(&virtual_waits, &id, &w, BPF_ANY);
}

/* One that was about to unmount is pinned: it parks on its carrier. */
static __always_inline void virtual_stays(__u32 tid)
{
	__u64 id = tid & ~WIRE_VIRTUAL;

	if (tid & WIRE_VIRTUAL)
		bpf_map_delete_elem(&virtual_parks, &id);
}

/* The running thread leaves its CPU, and one was about to unmount: it has, or stays likewise, as
 * its carrier parks with it, or has run for long. (With probes, that of the park comes before.) */
SUBPROGRAM int virtual_left(struct thread_state *t, int parks)
{
	__u64 id = t ? t->java.leaving : 0;
	struct wire_lock *kept;

	if (!id)
		return 0;
	kept = bpf_map_lookup_elem(&virtual_parks, &id);
	if (kept && virtual_id(t, 0) == id) {
		if (!parks && since(t->time.cpu_ns, kept->time) < STAYS_NS)
			return 0;
		bpf_map_delete_elem(&virtual_parks, &id);
	}
	t->java.leaving = 0;
	return 0;
}

static __always_inline void virtual_waits_no_more(__u32 tid)
{
	__u64 id = tid & ~WIRE_VIRTUAL;

	if (tid & WIRE_VIRTUAL)
		bpf_map_delete_elem(&virtual_waits, &id);
}
