/* bpf/lib/monitor.bpf.h: who owns a monitor, as its events report and as seen between them. */
#pragma once

#include "bpf/lib/lock.bpf.h"
#include "bpf/lib/virtual.bpf.h"

/* Two threads may do this at once: a holder may then be missed, never made up. */
static __always_inline void monitor_owned_by(struct monitor_state *m, __u32 tid, __u32 on)
{
	m->released = 0;
	if (m->owner == tid)
		return;
	m->previous = m->owner;
	m->previous_on = m->owner_on;
	m->owner = tid;
	m->owner_on = on;
}

/*
 * While a virtual thread of JDK 21 schedules another one, or has its own timeout set or cancelled,
 * it runs as its carrier, for the VM, too. It cannot have left that one, as it is pinned, and what
 * the carrier itself does takes no monitor that others are blocked on: it is who it was before.
 */
static __always_inline __u32 monitor_same_owner(const struct monitor_state *m, __u32 owner)
{
	if (layout.mon_owner_word == WIRE_OWNER_WORD_ADDRESS && m->owner & WIRE_VIRTUAL &&
	    m->owner_on == owner && !m->released)
		return m->owner;
	return owner;
}

/* How an owner is known that an event has had before. */
static __always_inline __u32 owner_was_source(__u32 owner)
{
	return !owner                 ? WIRE_OWNER_UNKNOWN
	       : owner & WIRE_VIRTUAL ? WIRE_OWNER_VIRTUAL
				      : WIRE_OWNER_JAVA_THREAD;
}

/* Which monitor a record is of, as last seen. */
static __always_inline void lock_is_monitor(struct wire_lock *r, __u64 monitor,
					    const struct monitor_state *m)
{
	if (layout.raw_oops)
		r->head.flags |= WIRE_HANDLE_MOVES;
	r->object = monitor;
	r->handle = m->handle;
	r->klass = m->klass;
	r->hash = m->hash;
}

/*
 * The call chain of a monitor's owner, for its waiter `tid`; word: what the monitor said of its
 * owner. 0: it is not there, or somebody else may have got the monitor during the walk.
 */
static __always_inline __u32 monitor_owner_stack(__u64 monitor, __u64 word, __u32 owner, __u32 tid)
{
	__u64 switches;
	__u32 stack = stack_of_owner(owner, tid, &switches);

	if (stack &&
	    (read_u64(monitor + layout.mon_owner) != word || !owner_still(owner, switches)))
		stack = 0;
	return stack;
}

#define MARK_MONITOR 2

/* ZGC moves objects while threads run, and the handle is updated late: but an object that has a
 * monitor refers to it. If the VM has a table of them, it is found there by the object's hash. */
static __always_inline int monitor_is_of(__u64 monitor, __u64 header, __u64 oop)
{
	__u64 mark;

	if (!layout.colored_oops)
		return 1;
	mark = read_u64(oop + layout.oop_mark);
	if (!layout.monitor_table)
		return mark == (monitor | MARK_MONITOR);
	return !((mark >> (layout.mark_hash_shift & 63) ^ header) & layout.mark_hash_mask);
}

/*
 * Reads the object of a monitor, and keeps it for the events that follow. moving: a collector may
 * move the object meanwhile, and what is read of it may be anything: then the class is the one that
 * was read before, if it was.
 */
SUBPROGRAM int monitor_update(__u64 monitor, __u32 moving)
{
	struct monitor_state *m, fresh = {};
	__u64 oop, header, stamp = moving ? gc_stamp() : 0;

	fresh.handle = read_u64(monitor + layout.mon_object);
	oop = layout.raw_oops  ? oop_copy(fresh.handle)
	      : fresh.handle ? read_handle(fresh.handle)
			     : 0;
	header = read_u64(monitor + layout.mon_header);
	if (oop && monitor_is_of(monitor, header, oop))
		fresh.klass = oop_klass(oop);
	fresh.hash = monitor_hash(header);
	m = bpf_map_lookup_elem(&monitors, &monitor);
	if ((moving && (stamp & 1 || gc_stamp() != stamp)) || (oop && !fresh.klass))
		fresh.klass = m && m->handle == fresh.handle ? m->klass : 0;
	if (m && m->handle == fresh.handle && m->klass == fresh.klass) {
		m->hash = fresh.hash;
		return 0;
	}
	bpf_map_update_elem(&monitors, &monitor, &fresh, BPF_ANY);
	return 0;
}

static __always_inline struct monitor_state *monitor_read(__u64 monitor, __u32 moving)
{
	monitor_update(monitor, moving);
	return bpf_map_lookup_elem(&monitors, &monitor);
}

static __always_inline struct monitor_state *monitor_find(__u64 monitor)
{
	struct monitor_state *m = bpf_map_lookup_elem(&monitors, &monitor);

	return m ? m : monitor_read(monitor, 0);
}

/* The running thread is blocked on this monitor; what the monitor says of its owner. */
static __always_inline __u64 monitor_block(struct thread_state *t, __u64 monitor)
{
	t->monitor.address = monitor;
	t->monitor.blocked = 1;
	t->monitor.misses = 0;
	return read_u64(monitor + layout.mon_owner);
}

/* Who has a monitor that monitor_read() has just read; ret_on as in owner_tid(). */
static __always_inline __u32 monitor_owner(struct monitor_state *m, __u64 monitor, __u64 word,
					   __u32 *ret_source, __u32 *ret_on)
{
	__u64 object = word == WIRE_OWNER_ANONYMOUS && m->handle ? read_handle(m->handle) : 0;
	__u32 owner = owner_tid(monitor, object, word, ret_source, ret_on);

	if (owner && monitor_same_owner(m, owner) != owner) {
		owner = m->owner;
		*ret_source = WIRE_OWNER_VIRTUAL;
	}
	if (owner)
		monitor_owned_by(m, owner, *ret_on);
	return owner;
}

/* A contention of the running thread's, or of what it carries, begins; without its owner and its
 * chains. NULL: it is lost, and counted. */
static __always_inline struct wire_lock *monitor_enter_fill(struct thread_state *t, __u32 tid,
							    __u64 monitor,
							    const struct monitor_state *m,
							    __u32 flags, __u64 now)
{
	struct wire_lock *r = emit_reserve(WIRE_MONITOR_ENTER, sizeof(*r));

	if (!r)
		return 0;
	lock_fill(r, WIRE_MONITOR_ENTER, flags, tid, t, now);
	lock_is_monitor(r, monitor, m);
	return r;
}

#define MONITOR_MISSES_MAX 16

/*
 * A monitor can change hands without any event: its owner may get it back on the fast path while
 * those it has woken are still on their way, and they go to sleep again without a word. So when a
 * thread leaves its CPU, the monitor that it is blocked on is looked at (its waiter has just failed
 * to get it), and the one that it owned last (it may hold it again, and everybody waits for it to
 * get a CPU). An owner that is in no event is reported.
 *
 * Called in sched_switch: `prev` is still current, so that its memory is what a user read reads.
 */
static __always_inline void monitor_look(struct thread_state *t, __u32 tid, __u64 now)
{
	__u64 monitor = t->monitor.address, word, both;
	struct monitor_state *m;
	struct wire_lock *r;
	__u32 owner, on, stack;

	m = bpf_map_lookup_elem(&monitors, &monitor);
	word = m ? read_u64(monitor + layout.mon_owner) : 0;
	both = word ? owner_at_once(monitor, word) : 0;
	on = both >> 32;
	owner = m ? monitor_same_owner(m, both) : 0;
	if (!owner || (owner == m->owner && !m->released)) {
		/* A thread that only owned it once is not looked at for ever. */
		if (!t->monitor.blocked && ++t->monitor.misses > MONITOR_MISSES_MAX)
			t->monitor.address = 0;
		return;
	}
	/* Freed by a deflation and used for something else? Then nothing that it says is true. One
	 * that somebody is blocked on is not freed, but the oop in it may have changed. */
	if (!m->handle || (read_u64(monitor + layout.mon_object) != m->handle &&
			   !(layout.raw_oops && t->monitor.blocked))) {
		t->monitor.address = 0;
		return;
	}
	t->monitor.misses = 0;
	monitor_owned_by(m, owner, on);
	if (on == tid)
		stack = stack_interrupted(t);
	else
		stack = monitor_owner_stack(monitor, word, on, tid);
	r = emit_reserve(WIRE_MONITOR_OWNER_SEEN, sizeof(*r));
	if (!r)
		return;
	lock_fill(r, WIRE_MONITOR_OWNER_SEEN, 0, tid, t, now);
	lock_is_monitor(r, monitor, m);
	lock_owner(r, owner, on, owner & WIRE_VIRTUAL ? WIRE_OWNER_VIRTUAL : WIRE_OWNER_JAVA_THREAD,
		   stack, now);
	emit_submit(r);
}
