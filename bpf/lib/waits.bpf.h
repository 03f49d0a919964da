/* bpf/lib/waits.bpf.h: what threads block on and who ends that, seen by the scheduler; no probe. */
#pragma once

/*
 * A thread that blocks goes through the scheduler, and HotSpot says in the thread itself why it
 * does: OSThread::_state (JDK 11 to 25, share/runtime/osThread.hpp), set before it goes to sleep:
 * MONITOR_WAIT on a contended monitor, in ObjectMonitor::enter and after Object.wait(); OBJECT_WAIT
 * in Object.wait(); CONDVAR_WAIT when it parks or sleeps, and in the VM's own waits, from which
 * java.lang.Thread.threadStatus distinguishes both. JavaThread::_current_pending_monitor and
 * ::_current_waiting_monitor are the monitor, Thread.parkBlocker is the blocker.
 *
 * So wait_ahead() reads that when a thread is about to leave its CPU, at the begin of the scheduler
 * (tracepoint sched_entry_tp, Linux 6.15): the run queue is not locked there. Whoever wakes a
 * thread that is just leaving has to wait until it has left, so that what is read later delays
 * both. On older kernels wait_left() reads it, at the switch itself. The thread's memory is what a
 * user read reads, there and here.
 *
 * wait_left() opens the wait at the switch. wait_over() runs when the thread gets a CPU again: a
 * park and an Object.wait() are over then. A contended enter may not be: the thread tries to get
 * the monitor, and blocks again if another was faster. If it blocks on the same monitor after less
 * than RETRY_NS of CPU time, or less than SPIN_NS and the monitor still says that it has the same
 * owner (a thread spins before it goes to sleep again), and has not released that meanwhile, the
 * contention goes on; else it ended at the last wake-up. That is known when the thread leaves its
 * CPU the next time, or, if it keeps it, at the flush.
 *
 * Who wakes a thread is the current one in sched_waking. It has done so by futex(2), at the address
 * that the thread waits at: wake-ups by timers and signals are thus distinguished from releases,
 * and an interrupt that comes by the way is not taken for one.
 *
 * Contentions are emitted one by one, other waits (conditions, queues, idle pools) if they took
 * single_ns: each is one record, when it is over. The flush emits the begin of what is not over,
 * whose end is a record of its own then. Shorter waits are added up by thread, blocker and chain,
 * and emitted as sums.
 *
 * The thread is blocked, so that a collector may move objects while they are read: see gc_stamp().
 */

#include "bpf/lib/monitor.bpf.h"
#include "bpf/lib/wait_emit.bpf.h"
#include "bpf/lib/wait_stack.bpf.h"

#define RETRY_NS 200000
#define SPIN_NS 5000000

/* Waits that are no contentions and shorter are summed up. */
const volatile __u64 single_ns __weak = 1000000;

/* A thread has blocked on a lock that somebody owns; user space takes it back. */
__u32 contended __weak = 0;

/* Whether the scheduler's programs emit such waits: all but those of monitors that have hooks. */
static __always_inline int waits_by_switches(__u32 reason)
{
	return by_switches && (!numbered || reason == WIRE_BLOCKED_PARK);
}

/* --- the thread's switches --------------------------------------------------------------- */

static __always_inline void wait_open(struct thread_state *t, struct thread_wait *w, __u32 what,
				      __u64 now)
{
	w->what = what;
	w->begin_ns = now;
	w->end.ns = 0;
	w->end.released = 0;
	w->at_begin.cpu_ns = t->time.cpu_ns;
	w->at_begin.stolen_ns = t->time.stolen_ns;
	w->at_begin.runnable_ns = t->time.runnable_ns;
	w->at_begin.throttled_ns = t->time.throttled_ns;
}

static __always_inline void wait_is_monitor(struct thread_wait *w, __u64 monitor,
					    const struct monitor_state *m)
{
	w->on.object = monitor;
	w->on.handle = m->handle;
	w->on.klass = m->klass;
	w->on.hash = m->hash;
}

/* These read what the thread blocks on, and who has that. 1: it is a contention; 0: it is none; -1:
 * nothing is known. */
SUBPROGRAM int lock_look(struct thread_state *t, struct thread_wait *w)
{
	struct monitor_state *m;
	__u64 monitor;

	if (!t || !w)
		return -1;
	monitor = pending_monitor(t);
	w->on.flags = 0;
	if (!monitor) {
		monitor = waiting_monitor(t);
		w->on.flags = WIRE_AFTER_WAIT;
	}
	if (!monitor) /* stopped by a safepoint on its way: it is not blocked on it yet */
		return -1;
	m = monitor_read(monitor, 1);
	if (!m) {
		count_drop(WIRE_MONITOR_ENTER, WIRE_LOST_MAP);
		return -1;
	}
	w->owner.word = monitor_block(t, monitor);
	w->owner.tid = monitor_owner(m, monitor, w->owner.word, &w->owner.source, &w->owner.on);
	t->chain.want = 0;
	wait_is_monitor(w, monitor, m);
	class_flags(m->klass);
	return 1;
}

SUBPROGRAM int object_wait_look(struct thread_state *t, struct thread_wait *w)
{
	struct monitor_state *m;
	__u64 monitor;

	if (!t || !w)
		return -1;
	monitor = waiting_monitor(t);
	if (!monitor) /* likewise */
		return -1;
	m = monitor_read(monitor, 1);
	if (!m) {
		count_drop(WIRE_MONITOR_WAIT_BEGIN, WIRE_LOST_MAP);
		return -1;
	}
	if (m->owner == t->tid)
		m->released = 1;
	t->monitor.address = monitor;
	t->monitor.misses = 0;
	t->chain.want = 0;
	wait_is_monitor(w, monitor, m);
	class_flags(m->klass);
	return 0;
}

/* The blocker, as wait_reason() has read it with the thread's java.lang.Thread. */
static __always_inline __u64 blocker_in(const struct wait_scratch *w)
{
	return layout.thread_park_blocker < 0 ? 0 : words_oop(w->words, layout.thread_park_blocker);
}

SUBPROGRAM int wait_blocker_look(struct blocker *ret)
{
	if (ret)
		blocker_look(ret);
	return 0;
}

/* What is known of the blocker; nothing if a collection may have moved it. */
static __always_inline void blocker_find(struct thread_state *t, struct thread_wait *w,
					 struct blocker *ret)
{
	struct wait_scratch *s = scratch_get();
	__u64 begin = gc_since();

	ret->object = s ? blocker_in(s) : 0;
	if (layout.stops_to_move && !w->java.moved && !w->java.moving &&
	    w->what == WIRE_BLOCKED_PARK && ret->object == w->on.object &&
	    w->on.class_epoch == class_epoch) {
		ret->klass = w->on.klass;
		ret->flags = w->on.flags;
		ret->hash = w->on.hash;
		ret->owner_source = WIRE_OWNER_UNKNOWN;
		if (ret->flags & WIRE_CLASS_AOS)
			ret->owner = blocker_owner(ret->object, ret->flags, &ret->owner_source,
						   &ret->readers);
	} else {
		wait_blocker_look(ret);
	}
	if (!w->java.moving && java_still(w, begin))
		return;
	if (!w->java.moving && s) { /* as in wait_reason() */
		begin = gc_since();
		status_read(t, w, s);
		ret->object = blocker_in(s);
		wait_blocker_look(ret);
		if (!w->java.moving && java_still(w, begin))
			return;
	}
	*ret = (struct blocker){.owner_source = WIRE_OWNER_UNKNOWN};
	count_drop(WIRE_PARK_BEGIN, WIRE_LOST_READ);
}

SUBPROGRAM int park_look(struct thread_state *t, struct thread_wait *w)
{
	struct blocker b = {};

	if (!t || !w)
		return -1;
	blocker_find(t, w, &b);
	w->on.class_epoch = class_epoch;
	w->on.flags = b.flags;
	w->owner.readers = b.readers;
	w->owner.tid = w->owner.on = b.owner;
	w->owner.source = b.owner_source;
	park_keep(t, &b);
	t->chain.want = 0;
	w->on.object = b.object;
	w->on.handle = 0;
	w->on.klass = b.klass;
	w->on.hash = b.hash;
	return b.owner || b.readers || b.flags & WIRE_CLASS_LOCK;
}

/* Keeps who owns what the thread blocks on, and what that thread does now. owner_stack: the owner's
 * chain, if it has not run since it had left its CPU for the time `switches`. */
SUBPROGRAM int wait_keep_owner(struct thread_state *t, struct thread_wait *w, __u32 owner_stack,
			       __u64 switches)
{
	struct wait_begin *b;
	__u32 on, again;

	if (!t || !w)
		return 0;
	b = &w->begin;
	on = w->owner.on;
	if (w->what == WIRE_BLOCKED_PARK && on & WIRE_VIRTUAL)
		on = 0;
	if (owner_stack) {
		if (w->what == WIRE_BLOCKED_LOCK
			    ? read_u64(w->on.object + layout.mon_owner) != w->owner.word
			    : blocker_owner(w->on.object, w->on.flags, &again, &again) !=
				      w->owner.tid)
			owner_stack = 0;
		else if (!owner_still(w->owner.on, switches))
			owner_stack = 0;
	}
	thread_snapshot_of(may_unmount(w->owner.tid) ? 0 : on, w->begin_ns, &b->owner);
	b->doing = thread_blocked(on, w->begin_ns, &b->doing_ns);
	b->tid = w->owner.tid;
	b->source = w->owner.source;
	b->stack = owner_stack;
	b->carrier = b->tid & WIRE_VIRTUAL ? on : 0;
	return 0;
}

/* The contention that the thread seemed to have ended goes on. reason: as of wait_left(); cpu_ns:
 * the CPU time that the thread has had. */
static __always_inline int lock_goes_on(struct thread_state *t, struct thread_wait *w, __u32 reason,
					int runnable, __u64 cpu_ns)
{
	struct wait_scratch *s = scratch_get();
	__u64 monitor, ran = since(cpu_ns, w->end.self.cpu_ns);

	if (!s || w->end.released || ran >= SPIN_NS)
		return 0;
	/* What wait_reason() has read is needed yet, if it blocks. */
	if (runnable ? os_state_read(t, s, 0) != OS_MONITOR_WAIT : reason != WIRE_BLOCKED_LOCK)
		return 0;
	monitor = pending_monitor(t);
	if ((monitor ? monitor : waiting_monitor(t)) != w->on.object)
		return 0;
	return ran < RETRY_NS || read_u64(w->on.object + layout.mon_owner) == w->owner.word;
}

/* What the running thread blocks on, and with which chain, into w. As of lock_look(). */
static __always_inline int wait_look(struct thread_state *t, struct thread_wait *w, __u32 reason)
{
	int begun = -1;

	if (!waits_by_switches(reason))
		return begun;
	if (reason == WIRE_BLOCKED_LOCK)
		begun = lock_look(t, w);
	else if (reason == WIRE_BLOCKED_WAIT)
		begun = object_wait_look(t, w);
	else if (reason == WIRE_BLOCKED_PARK)
		begun = park_look(t, w);
	if (begun >= 0)
		w->stack = wait_stack(t);
	return begun;
}

static __always_inline int in_futex_call(struct task_struct *task)
{
	struct pt_regs *regs = (void *)bpf_task_pt_regs(task);

	return SYSCALL_NUMBER(regs) == CALL_FUTEX;
}

/* Of wait_next.begun: the contention that seemed to be over goes on. */
#define WAIT_GOES_ON 0x100

/* What wait_ahead() has found. */
static __always_inline __u32 wait_next(struct thread_state *t, struct task_struct *task)
{
	struct thread_wait *w = wait_of(t);

	return w && in_futex_call(task) ? w->next.what : WIRE_BLOCKED_OTHER;
}

/* The contention goes on; likewise. entry: wait_ahead() has been called. */
static __always_inline int still_blocked(struct thread_state *t, struct thread_wait *w,
					 __u32 reason, int runnable, const int entry)
{
	if (entry && !runnable)
		return reason == WIRE_BLOCKED_LOCK && w->next.begun == WAIT_GOES_ON;
	return lock_goes_on(t, w, reason, runnable, t->time.cpu_ns);
}

static __always_inline int reason_has_events(__u32 reason)
{
	return reason == WIRE_BLOCKED_LOCK || reason == WIRE_BLOCKED_WAIT ||
	       reason == WIRE_BLOCKED_PARK;
}

/* The running thread leaves its CPU; reason: of wait_reason(), if it could not run. entry: as of
 * still_blocked(). */
static __always_inline void wait_left(struct thread_state *t, __u32 reason, int runnable, __u64 now,
				      const int entry)
{
	struct thread_wait *w = wait_of(t);
	__u32 turn, owner_stack;
	__u64 switches;
	int begun;

	if (!w)
		return;
	turn = w->turn;
	if (turn & WAIT_OPEN && w->what == WIRE_BLOCKED_LOCK) {
		if (w->end.ns && still_blocked(t, w, reason, runnable, entry)) {
			w->end.ns = 0;
			return;
		}
		t->monitor.blocked = 0;
		wait_emit_end(t, w, turn, w->end.ns);
	}
	if (runnable || !reason_has_events(reason) || !waits_by_switches(reason))
		return;
	begun = entry ? w->next.begun : wait_look(t, w, reason);
	if (begun < 0)
		return;
	if (begun == WAIT_GOES_ON) { /* the flush has said meanwhile that it was over */
		begun = 1;
		w->next.owner_stack = 0;
	}
	wait_open(t, w, reason, now);
	w->contends = begun;
	if (begun) {
		if (entry) {
			owner_stack = w->next.owner_stack;
			switches = w->next.switches;
		} else {
			owner_stack = stack_of_owner(w->owner.on, t->tid, &switches);
		}
		wait_keep_owner(t, w, owner_stack, switches);
		if (!contended && (reason == WIRE_BLOCKED_LOCK || w->owner.tid))
			contended = 1;
	} else {
		__builtin_memset(&w->begin, 0, sizeof(w->begin));
		w->begin.source = reason == WIRE_BLOCKED_PARK ? t->park.owner_source
							      : WIRE_OWNER_UNKNOWN;
	}
	BARRIER();
	turn = (w->turn & ~3u) + WAIT_TURN + WAIT_OPEN;
	w->turn = turn;
	/* The number of a lock whose monitor has its object's address follows that by begins. */
	if (begun && layout.raw_oops)
		wait_emit_begin(t, w, turn);
}

/* A contended monitor may be its own now. */
static __noinline int lock_seems_over(struct thread_state *t, struct thread_wait *w, __u64 now)
{
	struct monitor_state *m = bpf_map_lookup_elem(&monitors, &w->on.object);

	w->end.self.cpu_ns = t->time.cpu_ns;
	w->end.self.stolen_ns = t->time.stolen_ns;
	w->end.self.runnable_ns = t->time.runnable_ns;
	w->end.self.throttled_ns = t->time.throttled_ns;
	w->owner.tid = !m ? 0 : m->owner != t->tid ? m->owner : m->previous;
	thread_snapshot_of(w->owner.tid, now, &w->end.owner);
	w->end.released = 0;
	w->end.ns = now;
	return 0;
}

/* The thread is on a CPU again. */
SUBPROGRAM int wait_over(struct thread_state *t, __u64 now)
{
	struct thread_wait *w = t ? wait_of(t) : 0;
	struct blocker none = {};
	__u32 turn;

	if (!w || !(w->turn & WAIT_OPEN))
		return 0;
	if (w->what == WIRE_BLOCKED_LOCK)
		return lock_seems_over(t, w, now);
	turn = w->turn;
	if (!(w->contends | (turn & WAIT_BEGUN)) && since(now, w->begin_ns) < single_ns &&
	    wait_sum_add(t, w, now))
		w->turn = (w->turn & ~3u) + WAIT_TURN;
	else if (!wait_emit_end(t, w, turn, now))
		w->turn = (w->turn & ~3u) + WAIT_TURN; /* there was no room */
	if (w->what == WIRE_BLOCKED_PARK)
		park_keep(t, &none);
	return 0;
}

/* The thread is on a CPU, since then: was the switch to it seen? */
static __always_inline void wait_check(struct thread_state *t, __u64 since_ns)
{
	struct thread_wait *w = wait_of(t);

	if (w && w->turn & WAIT_OPEN && (w->what != WIRE_BLOCKED_LOCK || !w->end.ns))
		wait_over(t, since_ns);
}

/* The running thread is about to leave its CPU, as it waits in futex(2): reads all that there is to
 * be read. */
SUBPROGRAM int wait_ahead(struct thread_state *t)
{
	struct thread_wait *w = t ? wait_of(t) : 0;
	struct wire_counters c = {};
	__u32 reason, turn;
	int begun;

	if (!w)
		return 0;
	if (t->time.run != RUN_RUNNING)
		thread_is_on(t, bpf_ktime_get_ns());
	wait_check(t, t->time.since);
	w->next.what = WIRE_BLOCKED_OTHER;
	if (t->reason.probe) /* a hook has said why */
		return 0;
	reason = wait_reason(t);
	turn = w->turn;
	if (turn & WAIT_OPEN && w->what == WIRE_BLOCKED_LOCK) {
		thread_snapshot(t, bpf_ktime_get_ns(), &c);
		if (lock_goes_on(t, w, reason, 0, c.cpu_ns)) {
			w->next.begun = WAIT_GOES_ON;
			goto out;
		}
		wait_emit_end(t, w, turn, w->end.ns);
	}
	t->monitor.blocked = 0;
	begun = wait_look(t, w, reason);
	w->next.begun = begun;
	if (begun > 0)
		w->next.owner_stack = stack_of_owner(w->owner.on, t->tid, &w->next.switches);
out:
	BARRIER();
	w->next.what = reason;
	return 0;
}

/* --- who wakes it ------------------------------------------------------------------------ */

/* Whether `by`, which is running, wakes the task by futex(2) at the address that it waits at. */
static __always_inline int woken_by_futex(struct task_struct *by, struct task_struct *task)
{
	struct pt_regs *its = (void *)bpf_task_pt_regs(task), *own = (void *)bpf_task_pt_regs(by);

	return SYSCALL_NUMBER(its) == CALL_FUTEX && SYSCALL_NUMBER(own) == CALL_FUTEX &&
	       SYSCALL_FIRST(its) == SYSCALL_FIRST(own);
}

/* The running thread by has released the monitor that w is about. */
static __noinline int release_emit(struct thread_state *by, struct thread_wait *w, __u64 now)
{
	struct monitor_state *m = monitor_read(w->on.object, 1);
	struct thread_wait *own = wait_of(by);
	struct wire_lock *r;
	__u32 turn, stack;

	if (!m)
		return 0;
	/* An interrupt, and not a release: the owner that it had is there yet, and is another. */
	if (m->owner && m->owner != by->tid && !m->released) {
		__u64 word = read_u64(w->on.object + layout.mon_owner);
		struct wire_java_thread *owner =
			word ? bpf_map_lookup_elem(&java_threads, &word) : 0;

		if (owner && owner->tid == m->owner)
			return 0;
	}
	/* It has had the monitor, then. */
	turn = own ? own->turn : 0;
	if (turn & WAIT_OPEN && own->what == WIRE_BLOCKED_LOCK && own->end.ns) {
		if (own->on.object == w->on.object)
			own->end.released = 1;
		wait_emit_end(by, own, turn, own->end.ns);
		by->monitor.blocked = 0;
	}
	if (m->owner == by->tid)
		m->released = 1;
	by->monitor.address = w->on.object;
	by->monitor.blocked = 0;
	by->monitor.misses = 0;
	by->chain.want = 0;
	class_flags(m->klass);
	stack = stack_in_call(by, 1);
	r = emit_reserve(WIRE_MONITOR_EXIT, WIRE_LOCK_SHORT);
	if (!r)
		return 0;
	lock_fill(r, WIRE_MONITOR_EXIT, 0, by->tid, by, now);
	lock_is_monitor(r, w->on.object, m);
	r->stack = stack;
	emit_submit(r);
	return 0;
}

static __noinline int unpark_emit(struct thread_state *by, __u32 target, __u64 now)
{
	struct wire_lock *r;
	__u32 stack;

	by->chain.want = 0;
	stack = stack_in_call(by, 0);
	r = emit_reserve(WIRE_UNPARK, WIRE_LOCK_SHORT);
	if (!r)
		return 0;
	lock_fill(r, WIRE_UNPARK, 0, by->tid, by, now);
	r->target = target;
	r->stack = stack;
	emit_submit(r);
	return 0;
}

/* Whether a thread in Object.wait() has been notified: then it waits for the monitor. Its
 * java.lang.Thread is known since it began to wait, if it has parked or waited before. */
static __always_inline int was_notified(struct thread_state *t)
{
	__u64 handle = t->java.handle, oop;

	if (!handle && t->java.thread)
		handle = t->java.handle = handle_at(t->java.thread + layout.jt_thread_obj);
	oop = handle ? read_handle(handle) : 0;
	if (oop && layout.holder_status >= 0) {
		oop = read_oop(oop + layout.thread_holder);
		return oop && read_u32(oop + layout.holder_status) == STATUS_BLOCKED_ON_MONITOR;
	}
	return oop && layout.thread_status >= 0 &&
	       read_u32(oop + layout.thread_status) == STATUS_BLOCKED_ON_MONITOR;
}

/* What t waits for, if it is worth to know who wakes it. */
static __always_inline struct thread_wait *wait_worth(const struct thread_state *t, __u64 now)
{
	struct thread_wait *w = wait_of(t);

	if (!w || !(w->turn & WAIT_OPEN))
		return 0;
	return w->contends || w->turn & WAIT_BEGUN || since(now, w->begin_ns) >= single_ns ||
			       w->what == WIRE_BLOCKED_WAIT
		       ? w
		       : 0;
}

/* The running thread `by` wakes t. */
static __always_inline void wait_woken(struct thread_state *t, struct thread_wait *w,
				       struct thread_state *by, __u64 now)
{
	if (w->what == WIRE_BLOCKED_PARK)
		unpark_emit(by, t->tid, now);
	else if (w->what == WIRE_BLOCKED_LOCK || was_notified(t))
		release_emit(by, w, now);
}

/* --- the flush --------------------------------------------------------------------------- */

/* What a thread has not reported because it still waits, or keeps its CPU. Any CPU. */
static __always_inline void wait_flush(struct thread_state *t, __u64 now)
{
	struct thread_wait *w = wait_of(t);
	__u32 turn;

	if (!w)
		return;
	turn = w->turn;
	if (turn & WAIT_OPEN && w->what == WIRE_BLOCKED_LOCK && t->time.run == RUN_RUNNING &&
	    w->end.ns && since(now, w->end.ns) > RETRY_NS) {
		if (wait_emit_end(t, w, turn, w->end.ns))
			t->monitor.blocked = 0;
	} else if (turn & WAIT_OPEN && !(turn & WAIT_BEGUN) &&
		   (w->contends || since(now, w->begin_ns) >= single_ns)) {
		wait_emit_begin(t, w, turn);
	}
	if (!(w->sums.of[0].count | w->sums.of[1].count) || !wait_sums_take(w))
		return;
	now = bpf_ktime_get_ns(); /* waits may have ended since the flush began */
	if (w->sums.of[0].count)
		wait_sum_emit(&w->sums.of[0], t->tid, now);
	if (w->sums.of[1].count)
		wait_sum_emit(&w->sums.of[1], t->tid, now);
	wait_sums_give(w);
}

/* The thread ends: what is known of its waits is reported, and its element is another thread's
 * next. */
static __always_inline void wait_end(struct thread_state *t, __u64 now)
{
	struct thread_wait *w = wait_of(t);

	if (!w)
		return;
	if (w->turn & WAIT_OPEN && w->what == WIRE_BLOCKED_LOCK && w->end.ns)
		wait_emit_end(t, w, w->turn, w->end.ns);
	wait_flush(t, now);
	w->turn = (w->turn & ~3u) + WAIT_TURN;
	w->what = 0;
	w->java.oop = 0;
	w->java.park_low = 0;
	w->memo.id = 0;
	w->sums.of[0].count = w->sums.of[1].count = 0;
}
