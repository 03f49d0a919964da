/* bpf/lib/jvm.bpf.h: what is read of the target: objects, classes, owners, the thread's own
 * JavaThread */
#pragma once

#include "bpf/lib/thread.bpf.h"

/* markWord, 64 bit: unlocked is 001 in the low three bits, in JDK 11 to 25 (101 is biased, up to
 * 17: there is a thread where the hash would be). Where the hash is differs: it is in the layout.
 */
#define MARK_LOCK_MASK 7
#define MARK_UNLOCKED 1

#define LOCK_STACK_MAX 8     /* LockStack::CAPACITY, 21 to 25 */
#define LOCK_STACK_READS 512 /* for one anonymous owner, of about 50 ns each */

#define LIST_SCAN_MAX 16384 /* Java threads searched for one that is not known, */
#define LIST_SCAN_SHORT 256 /* while the kernel switches tasks; user space finds the others */
/* Entries of the list that are looked at for a thread in a window of 1.07 s, of 0.1 us each; and in
 * a list that may be the same one, at each so many occasions. */
#define SEARCHED_MAX 16384
#define SEARCH_SAME_EACH 16
#define SEARCH_WINDOW_SHIFT 30
#define LIST_SCAN_ID 64     /* for an owner by its id: most often it is a virtual thread on none */

static __always_inline __u32 mark_hash(__u64 mark)
{
	return (mark & MARK_LOCK_MASK) == MARK_UNLOCKED
		       ? mark >> (layout.mark_hash_shift & 63) & layout.mark_hash_mask
		       : 0;
}

/* From what a monitor has in the place of its object's header. */
static __always_inline __u32 monitor_hash(__u64 header)
{
	return layout.monitor_table ? header & layout.mark_hash_mask : mark_hash(header);
}

/* The address of an object, from a word that refers to it: see user/jvm/oop.c. */
static __always_inline __u64 oop_address(__u64 word)
{
	__u32 color = word >> 12 & 15;

	if (!layout.colored_oops)
		return word;
	if (ZGC_SHIFT)
		return word >> ZGC_SHIFT;
	return color & 1   ? word >> 13
	       : color & 2 ? word >> 14
	       : color & 4 ? word >> 15
	       : color     ? word >> 16
			   : 0;
}

#define MARK_FORWARDED 3 /* markWord::marked_value */
#define OOP_ALIGNED 7

/*
 * Shenandoah copies an object while threads run, and has the copy's address in the old one's mark
 * from then on: what is written goes to the copy, and references follow later. Other collectors
 * have such marks only while Java threads stand still, of objects that are not copied yet.
 */
static __always_inline __u64 oop_copy(__u64 oop)
{
	__u64 mark;

	if (!layout.forwards || !oop)
		return oop;
	mark = read_u64(oop + layout.oop_mark);
	return (mark & MARK_FORWARDED) == MARK_FORWARDED ? mark & ~(__u64)OOP_ALIGNED : oop;
}

/* What a handle in the VM's memory refers to. */
static __always_inline __u64 read_handle(__u64 addr)
{
	return oop_copy(oop_address(read_u64(addr)));
}

/* The handle in a field of a JavaThread or of a monitor: where that has the oop itself, the field.
 */
static __always_inline __u64 handle_at(__u64 addr)
{
	return layout.raw_oops ? addr : read_u64(addr);
}

/* An oop field of an object. */
static __always_inline __u64 read_oop(__u64 addr)
{
	__u32 narrow;

	if (!layout.compressed_oops)
		return read_handle(addr);
	narrow = read_u32(addr);
	if (!narrow)
		return 0;
	return oop_copy(layout.narrow_oop_base +
			((__u64)narrow << (layout.narrow_oop_shift & 63)));
}

/*
 * Whoever reads objects while the running thread is blocked may meet a collection. What was read
 * since gc_stamp() was read is to be believed if gc_still() says so: no collection was going on
 * then, and none has begun since. (A JVM's stores become visible in their order, and a collector
 * says so before it moves the first object.) One that moves objects while threads run need not
 * begin for that: there was no time for a whole one since then.
 */
#define GC_SHORTEST_NS 20000

/* How many collections there have been; odd: one is going on, or the VM does not say. */
static __always_inline __u64 gc_stamp(void)
{
	__u64 words[4] = {}; /* the two fields are near to each other */
	__u64 at = layout.gc_count - layout.gc_active;

	if (!layout.gc_active || at > 20 || (at & 3) ||
	    bpf_probe_read_user(words, 24, (void *)layout.gc_active))
		return 1;
	return (__u64)((__u32 *)words)[at >> 2 & 7] << 1 | !!(words[0] & 0xff);
}

/* The clock takes as long as a read (50 ns on a virtual machine): only for whom it is needed. */
static __always_inline __u64 gc_since(void)
{
	return layout.stops_to_move ? 0 : bpf_ktime_get_ns();
}

static __always_inline int gc_had_time(__u64 since_ns)
{
	return !layout.stops_to_move && bpf_ktime_get_ns() - since_ns >= GC_SHORTEST_NS;
}

static __always_inline int gc_still(__u64 stamp, __u64 since_ns)
{
	BARRIER();
	return !(stamp & 1) && gc_stamp() == stamp && !gc_had_time(since_ns);
}

/*
 * Collectors that stop threads to move objects do so in a safepoint, whose begin has a probe: the
 * VM goes on when the probe's program is done. So none has moved any since safepoint_epoch was
 * `epoch`, and no read is needed to see that. (Of a safepoint that was on before the probes were
 * there, the end is seen.)
 */
static __always_inline int no_safepoint_since(__u32 epoch)
{
	BARRIER();
	return layout.stops_to_move && safepoints_told && !safepoint_on && safepoint_epoch == epoch;
}

static __always_inline __u64 oop_klass(__u64 oop)
{
	__u64 narrow;

	if (!layout.ready)
		return 0;
	if (!layout.compressed_klass)
		return read_u64(oop + layout.oop_klass);
	narrow = layout.mark_klass_shift
			 ? read_u64(oop + layout.oop_mark) >> (layout.mark_klass_shift & 63)
			 : read_u32(oop + layout.oop_klass);
	return layout.narrow_klass_base + (narrow << (layout.narrow_klass_shift & 63));
}

#define LOCKS "java/util/concurrent/locks/"
#define LOCKS_OUTER 21 /* bytes of it that are the name of java.util.concurrent */

static __always_inline int name_is(const char *name, const char *expected, int from, int to)
{
	int differ = 0;

#pragma unroll
	for (int i = from; i < to; i++)
		differ |= name[i] ^ expected[i];
	return !differ;
}

/* AbstractOwnableSynchronizers are locks, but for those of java.util.concurrent that are none
 * (semaphores, latches); and StampedLock, which is no such synchronizer. */
static __always_inline __u32 class_lock_flag(const struct wire_class *r, __u32 flags)
{
	static const char stamped[] = LOCKS "StampedLock";
	int lock;

	if (flags & WIRE_CLASS_AOS)
		lock = !name_is(r->name, LOCKS, 0, LOCKS_OUTER) ||
		       name_is(r->name, LOCKS, LOCKS_OUTER, sizeof(LOCKS) - 1);
	else
		lock = r->name_length == sizeof(stamped) - 1 &&
		       name_is(r->name, stamped, 0, sizeof(stamped) - 1);
	return lock ? WIRE_CLASS_LOCK : 0;
}

/* Sends user space the name of a class; once per class and epoch, before the first event that
 * refers to it. */
SUBPROGRAM __u32 class_define(__u64 klass)
{
	struct class_state fresh = {.epoch = class_epoch};
	struct wire_class *r;
	__u64 symbol, now = bpf_ktime_get_ns();
	__u16 length = 0;

	symbol = read_u64(klass + layout.klass_name);
	bpf_probe_read_user(&length, sizeof(length), (void *)(symbol + layout.symbol_length));
	if (!symbol || !length) {
		count_drop(WIRE_CLASS, WIRE_LOST_READ);
		return 0;
	}
	if (layout.aos_klass && read_u64(klass + layout.aos_super_check) == layout.aos_klass)
		fresh.flags |= WIRE_CLASS_AOS;
	if (layout.rrwl_klass && read_u64(klass + layout.rrwl_super_check) == layout.rrwl_klass)
		fresh.flags |= WIRE_CLASS_RRWL;
	r = emit_reserve(WIRE_CLASS, sizeof(*r));
	if (!r)
		return fresh.flags; /* not marked as sent: the next event tries again */
	head_fill(&r->head, WIRE_CLASS, fresh.flags, current_tid(), now);
	if (length >= WIRE_CLASS_NAME_MAX)
		r->head.flags |= WIRE_NAME_CUT;
	r->klass = klass;
	r->pad = 0;
	r->name_length =
		read_name(r->name, WIRE_CLASS_NAME_MAX, symbol + layout.symbol_body, length);
	fresh.flags |= class_lock_flag(r, fresh.flags);
	emit_submit(r);
	bpf_map_update_elem(&classes, &klass, &fresh, BPF_ANY);
	return fresh.flags;
}

/* WIRE_CLASS_* flags of a class; makes it known. */
static __always_inline __u32 class_flags(__u64 klass)
{
	struct class_state *c;

	if (!klass)
		return 0;
	c = bpf_map_lookup_elem(&classes, &klass);
	if (c && c->epoch == class_epoch)
		return c->flags;
	return class_define(klass);
}

struct range_search {
	__u64 addr;
	__u64 java_thread; /* found */
	__u32 tid;         /* likewise */
	__u32 reads; /* of lock stacks, so far */
};

static long stack_match(void *map, const __u64 *java_thread, struct wire_java_thread *j,
			struct range_search *s)
{
	if (s->addr < j->stack_low || s->addr >= j->stack_high)
		return 0;
	s->java_thread = *java_thread;
	s->tid = j->tid;
	return 1;
}

/* Makes a JavaThread known whose kernel thread we follow; 0: it is not one. */
static __always_inline __u32 java_thread_learn(__u64 java_thread)
{
	struct wire_java_thread j = {};
	__u64 osthread = read_u64(java_thread + layout.jt_osthread), size;

	if (!osthread)
		return 0;
	j.tid = tid_from_ns(read_u32(osthread + layout.os_thread_id));
	if (!j.tid || !thread_find(j.tid))
		return 0;
	j.stack_high = read_u64(java_thread + layout.jt_stack_base);
	size = read_u64(java_thread + layout.jt_stack_size);
	if (!size || size > j.stack_high)
		return 0;
	j.stack_low = j.stack_high - size;
	/* While a virtual thread runs on it, the id is that one's. */
	if (layout.jt_owner_id >= 0 && layout.jt_cont_entry >= 0 &&
	    !read_u64(java_thread + layout.jt_cont_entry))
		j.id = read_u64(java_thread + layout.jt_owner_id);
	if (j.id > WIRE_OWNER_DEFLATER && bpf_map_update_elem(&java_threads, &j.id, &j, BPF_ANY))
		ids_incomplete = 1;
	bpf_map_update_elem(&java_threads, &java_thread, &j, BPF_ANY);
	bpf_map_update_elem(&java_thread_of, &j.tid, &java_thread, BPF_ANY);
	return j.tid;
}

static __noinline int java_thread_forget(__u64 java_thread)
{
	struct wire_java_thread *j = bpf_map_lookup_elem(&java_threads, &java_thread);
	__u64 id = j ? j->id : 0;

	if (id)
		bpf_map_delete_elem(&java_threads, &id);
	bpf_map_delete_elem(&java_threads, &java_thread);
	return 0;
}

/* The thread of a JavaThread; 0: none of ours. */
static __always_inline __u32 java_thread_tid(__u64 java_thread)
{
	struct wire_java_thread *j;

	if (!java_thread)
		return 0;
	j = bpf_map_lookup_elem(&java_threads, &java_thread);
	return j ? j->tid : java_thread_learn(java_thread);
}

struct list_search {
	__u64 threads; /* ThreadsList::_threads; of a chain, the next JavaThread */
	__u32 count;
	__u32 ns_tid;
	__u64 id;
	__u64 found;
};

static __always_inline int list_is_over(__u32 i, const struct list_search *s)
{
	return i >= s->count || !s->threads;
}

/* The i-th JavaThread; 0: it cannot be read. */
static __always_inline __u64 list_entry(__u32 i, struct list_search *s)
{
	__u64 java_thread = s->threads;

	if (layout.jt_next >= 0)
		s->threads = read_u64(java_thread + layout.jt_next);
	else /* from the end: new threads are added there */
		java_thread = read_u64(s->threads + 8 * (__u64)(s->count - 1 - i));
	return java_thread;
}

/* Whether a JavaThread says that this is its thread. */
static __always_inline int java_thread_runs(__u64 java_thread, __u32 ns_tid)
{
	__u64 osthread = read_u64(java_thread + layout.jt_osthread);

	return osthread && read_u32(osthread + layout.os_thread_id) == ns_tid;
}

static long list_match(__u32 i, struct list_search *s)
{
	__u64 java_thread;

	if (list_is_over(i, s))
		return 1;
	java_thread = list_entry(i, s);
	if (!java_thread || !java_thread_runs(java_thread, s->ns_tid))
		return 0;
	s->found = java_thread;
	return 1;
}

static long list_match_id(__u32 i, struct list_search *s)
{
	__u64 java_thread;

	if (list_is_over(i, s))
		return 1;
	java_thread = list_entry(i, s);
	if (!java_thread || read_u64(java_thread + layout.jt_owner_id) != s->id)
		return 0;
	s->found = java_thread;
	return 1;
}

static __always_inline void list_begin(struct list_search *s)
{
	__u64 list = read_u64(layout.java_thread_list);

	if (!list)
		return;
	if (layout.jt_next >= 0) { /* a chain, newest first */
		s->count = LIST_SCAN_MAX;
		s->threads = list;
	} else {
		s->count = read_u32(list + layout.list_length);
		s->threads = read_u64(list + layout.list_threads);
	}
}

/*
 * Threads of native code attach and detach, and have another JavaThread each time, often at the
 * address that the one before had; no probe tells (thread__start and thread__stop are of threads
 * that Java starts). What a freed JavaThread leaves behind may look as it did. Its java.lang.Thread
 * does not: that refers to the JavaThread (eetop) until it detaches.
 */

/* Whether the list may be searched for this thread: at most SEARCHED_MAX entries in a window. */
static __always_inline int search_allowed(struct thread_state *t)
{
	__u32 window = bpf_ktime_get_ns() >> SEARCH_WINDOW_SHIFT;

	if (t->java.window != window) {
		t->java.window = window;
		t->java.searched = 0;
	}
	return t->java.searched < SEARCHED_MAX;
}

/* The target's threads that have ended. */
__u32 threads_ended __weak = 0;

/* What tells the VM's list from one before it at the same address: how long it is, and how many
 * threads have ended, as one that is as long has another thread in the place of one of those; of a
 * chain, whose thread is its newest. */
static __always_inline __u32 list_mark(__u64 list)
{
	if (!list)
		return 0;
	if (layout.jt_next < 0)
		return read_u32(list + layout.list_length) + (threads_ended << 16);
	return read_u32(read_u64(list + layout.jt_osthread) + layout.os_thread_id);
}

/* Not a Java thread, or its list entry is not there yet: the list is not searched anew while it is
 * the same one. */
static __always_inline int search_due(struct thread_state *t)
{
	__u64 list = read_u64(layout.java_thread_list);
	__u32 mark = list_mark(list);

	if (list == t->java.list && mark == t->java.list_mark &&
	    ++t->java.skipped % SEARCH_SAME_EACH)
		return 0;
	if (!search_allowed(t))
		return 0;
	t->java.list = list;
	t->java.list_mark = mark;
	return 1;
}

/* The running thread's JavaThread in the VM's list; 0: it is not there. */
SUBPROGRAM __u64 search_list(struct thread_state *t)
{
	struct list_search s = {};
	__u32 most = by_switches ? LIST_SCAN_SHORT : LIST_SCAN_MAX;

	if (!t)
		return 0;
	s.ns_tid = t->ns_tid;
	list_begin(&s);
	t->java.searched += bpf_loop(most, list_match, &s, 0);
	t->java.in_part = s.count > most;
	if (s.found)
		java_thread_learn(s.found);
	return s.found;
}

/* The running thread's JavaThread, from what user space found at attach, else from the VM's list.
 */
SUBPROGRAM __u64 java_thread_search(struct thread_state *t)
{
	__u64 *known;
	__u32 tid;

	if (!t || !search_due(t))
		return 0;
	tid = t->tid;
	known = bpf_map_lookup_elem(&java_thread_of, &tid);
	return known && java_thread_runs(*known, t->ns_tid) ? *known : search_list(t);
}

static __always_inline __u64 java_thread_current(struct thread_state *t)
{
	if (!t->java.thread)
		t->java.thread = java_thread_search(t);
	return t->java.thread;
}

/* What is known of its JavaThread, which may be none any more, or another's. It is looked for at
 * the next occasion. */
static __always_inline void java_thread_drop(struct thread_state *t)
{
	t->java.thread = t->java.known = t->java.osthread = 0;
	t->java.handle = t->java.vthread = 0;
	t->java.list = 0;
}

/*
 * The running thread's JavaThread does not look like its own: it is looked for in the VM's list. 1:
 * it has one now, of which nothing else is known yet. Where it is the same as before, or the list
 * is too long to be sure, it is kept.
 */
SUBPROGRAM int java_thread_again(struct thread_state *t)
{
	struct wire_java_thread *j;
	__u64 was, found;
	__u32 tid;

	if (!t || !search_allowed(t))
		return 0;
	was = t->java.thread;
	tid = t->tid;
	found = search_list(t);
	if (!found && t->java.in_part && was && java_thread_runs(was, t->ns_tid))
		found = was;
	if (was && found != was) {
		j = bpf_map_lookup_elem(&java_threads, &was);
		if (j && j->tid == tid)
			java_thread_forget(was);
	}
	if (!found)
		bpf_map_delete_elem(&java_thread_of, &tid);
	java_thread_drop(t);
	t->java.thread = found;
	return found != 0;
}

/* --- whose is ObjectMonitor::_owner? ------------------------------------------------------ */

/* How a virtual thread is called in records, by its id; 0: nobody has so many. */
static __always_inline __u32 virtual_tid(__u64 id)
{
	return id && id < WIRE_VIRTUAL ? id | WIRE_VIRTUAL : 0;
}

/* Such a thread leaves its carrier when it has to wait for a monitor, or while it has one (JEP
 * 491), unless it is pinned. If not, it is pinned: its carrier's counters are its own meanwhile. */
static __always_inline int may_unmount(__u32 tid)
{
	return tid & WIRE_VIRTUAL && layout.mon_owner_word == WIRE_OWNER_WORD_ID;
}

/* Whether the id that a JavaThread says it runs is that of a virtual thread, and not its own, which
 * is known or else is there when it carries none. */
static __always_inline int is_carrying(__u64 java_thread, __u64 id)
{
	struct wire_java_thread *j = bpf_map_lookup_elem(&java_threads, &java_thread);

	if (j && j->id)
		return j->id != id;
	return layout.jt_cont_entry >= 0 && read_u64(java_thread + layout.jt_cont_entry);
}

/* An id that no known thread has, and that not all threads were asked for, is a virtual thread's if
 * there are such threads, and all others are known by their ids. */
static __always_inline int is_virtual_id(__u64 id)
{
	return virtual_klass && !ids_incomplete && virtual_tid(id);
}

/* The object is one that the thread has locked without a monitor. */
static long lock_stack_match(void *map, const __u64 *java_thread, struct wire_java_thread *j,
			     struct range_search *s)
{
	__u64 at;
	__u32 bytes;

	if (*java_thread == j->id)
		return 0;
	if (s->reads++ >= LOCK_STACK_READS)
		return 1;
	at = *java_thread + layout.jt_lock_stack_base;
	bytes = read_u32(*java_thread + layout.jt_lock_stack_top) - layout.jt_lock_stack_base;
	for (__u32 i = 0; i < LOCK_STACK_MAX; i++) {
		if (8 * i >= bytes)
			return 0;
		s->reads++;
		if (read_u64(at + 8 * i) == s->addr) {
			s->java_thread = *java_thread;
			s->tid = j->tid;
			return 1;
		}
	}
	return 0;
}

/*
 * Until its owner comes by, a monitor that another thread has made of a lock does not say whose it
 * is: the object is on its owner's lock stack, or (-XX:LockingMode=1) its BasicLock is on its
 * owner's stack. object: of the monitor.
 */
SUBPROGRAM __u64 owner_anonymous(__u64 monitor, __u64 object, __u32 *ret_source)
{
	struct range_search s = {};
	__u64 id;

	if (!ret_source)
		return 0;
	if (layout.mon_stack_locker >= 0)
		s.addr = read_u64(monitor + layout.mon_stack_locker);
	if (s.addr) {
		bpf_for_each_map_elem(&java_threads, stack_match, &s, 0);
		*ret_source = s.tid ? WIRE_OWNER_STACK_LOCK : WIRE_OWNER_UNRESOLVED;
		return (__u64)s.tid << 32 | s.tid;
	}
	s.addr = object;
	if (s.addr && layout.jt_lock_stack_base >= 0)
		bpf_for_each_map_elem(&java_threads, lock_stack_match, &s, 0);
	*ret_source = s.tid ? WIRE_OWNER_JAVA_THREAD : WIRE_OWNER_UNRESOLVED;
	/* While it carries a virtual thread, the lock stack is that one's. */
	if (!s.tid || layout.jt_owner_id < 0)
		return (__u64)s.tid << 32 | s.tid;
	id = read_u64(s.java_thread + layout.jt_owner_id);
	if (!virtual_tid(id) || !is_carrying(s.java_thread, id))
		return (__u64)s.tid << 32 | s.tid;
	*ret_source = WIRE_OWNER_VIRTUAL;
	return (__u64)s.tid << 32 | virtual_tid(id);
}

/* A thread that is not known yet, or a virtual one. Above the low half: the kernel thread that it
 * is on, if it is on one. */
SUBPROGRAM __u64 owner_by_id(__u64 id, __u32 *ret_source)
{
	struct wire_java_thread *j = bpf_map_lookup_elem(&java_threads, &id);
	struct list_search s = {.id = id};
	__u64 on = 0;

	if (!ret_source)
		return 0;
	if (j) {
		*ret_source = WIRE_OWNER_JAVA_THREAD;
		return (__u64)j->tid << 32 | j->tid;
	}
	*ret_source = WIRE_OWNER_UNRESOLVED;
	if (layout.jt_owner_id < 0 || layout.jt_cont_entry < 0 || !virtual_tid(id))
		return 0;
	list_begin(&s);
	bpf_loop(LIST_SCAN_ID, list_match_id, &s, 0);
	if (s.found)
		on = java_thread_tid(s.found);
	if (s.found && !is_carrying(s.found, id)) {
		*ret_source = on ? WIRE_OWNER_JAVA_THREAD : WIRE_OWNER_UNRESOLVED;
		return on << 32 | on;
	}
	if (s.found)
		*ret_source = WIRE_OWNER_VIRTUAL;
	else if (s.count && s.count <= LIST_SCAN_ID)
		*ret_source = WIRE_OWNER_UNMOUNTED;
	else if (is_virtual_id(id)) /* on one that was not asked, or on none */
		*ret_source = WIRE_OWNER_VIRTUAL;
	else
		return 0;
	return on << 32 | virtual_tid(id);
}

/*
 * A virtual thread that is pinned, as it owns a monitor (JDK 21 to 23): its carrier says who it is.
 * Its two objects are compared, which a collector may be moving: what is not a virtual thread is
 * none. Without probes the waiters are known as their carriers, so the owner is, too.
 */
static __always_inline __u64 pinned_by(__u64 java_thread, __u64 on, __u32 *ret_source)
{
	__u64 own, object;
	__u32 id;

	if (!on || by_switches || layout.jt_vthread < 0 || layout.thread_tid < 0 || !virtual_klass)
		return on << 32 | on;
	own = handle_at(java_thread + layout.jt_thread_obj);
	object = read_u64(java_thread + layout.jt_vthread);
	own = own ? read_handle(own) : 0;
	object = object ? read_handle(object) : 0;
	if (!object || object == own || oop_klass(object) != virtual_klass)
		return on << 32 | on;
	id = virtual_tid(read_u64(object + layout.thread_tid));
	if (!id)
		return on << 32 | on;
	*ret_source = WIRE_OWNER_VIRTUAL;
	return on << 32 | id;
}

/* Else pinned_by() may have named another one: the owner may have given up the monitor, and its
 * carrier gone on to the next virtual thread, before the carrier was asked. */
static __always_inline int pinned_still(__u64 monitor, __u64 word)
{
	return layout.jt_owner_id >= 0 || read_u64(monitor + layout.mon_owner) == word;
}

/* The word is an address: a JavaThread, or, until the owner of a stack lock that was inflated
 * touches it again, a BasicLock on that owner's stack. As owner_by_id(). */
SUBPROGRAM __u64 owner_by_address(__u64 word, __u32 *ret_source)
{
	struct range_search s = {.addr = word};
	struct wire_java_thread *j = bpf_map_lookup_elem(&java_threads, &word);

	if (!ret_source)
		return 0;
	*ret_source = WIRE_OWNER_JAVA_THREAD;
	if (j)
		return pinned_by(word, j->tid, ret_source);
	bpf_for_each_map_elem(&java_threads, stack_match, &s, 0);
	if (s.tid) {
		*ret_source = WIRE_OWNER_STACK_LOCK;
		return pinned_by(s.java_thread, s.tid, ret_source);
	}
	s.tid = java_thread_learn(word);
	*ret_source = s.tid ? WIRE_OWNER_JAVA_THREAD : WIRE_OWNER_UNRESOLVED;
	return pinned_by(word, s.tid, ret_source);
}

/* As far as that takes no search. 0: it is not known. */
static __noinline __u64 owner_at_once(__u64 monitor, __u64 word)
{
	struct wire_java_thread *j = bpf_map_lookup_elem(&java_threads, &word);
	__u64 on = j ? j->tid : 0, both;
	__u32 source;

	if (layout.mon_owner_word != WIRE_OWNER_WORD_ID) {
		both = on ? pinned_by(word, on, &source) : 0;
		return (__u32)both == on || pinned_still(monitor, word) ? both : on << 32 | on;
	}
	if (on)
		return on << 32 | on;
	return word > WIRE_OWNER_DEFLATER && is_virtual_id(word) ? virtual_tid(word) : 0;
}

/* The thread that a monitor's word about its owner stands for; object: the monitor's. *ret_on: the
 * kernel thread that it is on, for a virtual one is on another or on none. */
static __always_inline __u32 owner_tid(__u64 monitor, __u64 object, __u64 word, __u32 *ret_source,
				       __u32 *ret_on)
{
	__u64 both;

	*ret_on = 0;
	*ret_source = WIRE_OWNER_NONE;
	if (!word)
		return 0;
	*ret_source = WIRE_OWNER_UNRESOLVED;
	if (layout.mon_owner_word == WIRE_OWNER_WORD_UNKNOWN || word == WIRE_OWNER_DEFLATER)
		return 0;
	if (word == WIRE_OWNER_ANONYMOUS)
		both = owner_anonymous(monitor, object, ret_source);
	else if (layout.mon_owner_word == WIRE_OWNER_WORD_ID)
		both = owner_by_id(word, ret_source);
	else
		both = owner_by_address(word, ret_source);
	*ret_on = both >> 32;
	if (*ret_source == WIRE_OWNER_VIRTUAL && !pinned_still(monitor, word)) {
		*ret_source = WIRE_OWNER_JAVA_THREAD;
		return *ret_on;
	}
	return both;
}
