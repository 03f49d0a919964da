/*
 * Parks of virtual threads that leave their carriers (JEP 444): no probe, but two functions of
 * libjvm.so (usdt_flat_functions()).
 *
 * LockSupport.park() sets Thread.parkBlocker before the virtual thread yields, and clears it when
 * it goes on: one that is about to unmount with a blocker parks on that. Sleeps, I/O and
 * Thread.yield() have none, nor has a bare park(). The thread is in Java code there and reaches no
 * safepoint before it has left, so that collectors that stop threads move nothing while it is
 * looked at; its frame anchor is set.
 *
 * HotSpot decides only after that whether it may unmount. If not (it is pinned), it parks on its
 * carrier, at the probe of which the unmounting is forgotten; without probes on parks, when its
 * carrier blocks with it, and the park is its carrier's. So the record of the begin is sent
 * when the virtual thread is on a carrier again, or, if that takes long, by flush_parks().
 *
 * A virtual thread has no time of its own on or off a CPU, so that the counters of both are 0.
 */
#include "bpf/lib/blocker.bpf.h"
#include "bpf/lib/probe.bpf.h"

/* Pinned ones have parked on their carriers long before. */
#define UNMOUNTED_NS 50000000ull

static const struct wire_lock nothing = {};

static __always_inline void without_counters(struct wire_lock *r)
{
	r->self = (struct wire_counters){};
	r->head.flags &= ~WIRE_PINNED;
}

/* freeze(JavaThread *, intptr_t *sp) */
PROBE(virtual_unmount)
{
	__u64 now = bpf_ktime_get_ns(), id;
	struct thread_state *t = thread_current(now);
	struct blocker b = {};
	__u32 tid = thread_subject(t, 0), stack, owner_stack;
	struct wire_lock *r;

	if (!t || !(tid & WIRE_VIRTUAL))
		return 0;
	id = tid & ~WIRE_VIRTUAL;
	b.object = blocker_read(t, tid);
	if (!b.object) {
		if (t->java.leaving == id) /* it was pinned, and did not have to wait */
			bpf_map_delete_elem(&virtual_parks, &id);
		return 0;
	}
	blocker_look(&b);
	t->chain.want = 0;
	stack = stack_here(ctx, t, 0);
	owner_stack = blocker_owner_stack(b.object, b.flags, b.owner);
	if (bpf_map_update_elem(&virtual_parks, &id, &nothing, BPF_ANY) ||
	    !(r = bpf_map_lookup_elem(&virtual_parks, &id))) {
		count_drop(WIRE_PARK_BEGIN, WIRE_LOST_MAP);
		return 0;
	}
	now = bpf_ktime_get_ns(); /* as in park_begin */
	park_begin_set(r, t, tid, &b, stack, owner_stack, now);
	r->time = r->self.cpu_ns;
	without_counters(r);
	r->head.flags |= WIRE_UNMOUNTS;
	r->head.kind = 0;
	BARRIER();
	r->head.kind = WIRE_PARK_BEGIN;
	t->java.leaving = (__u32)id;
	return 0;
}

/* Sends the begin, once. */
static __always_inline int unmounted_send(struct wire_lock *kept)
{
	struct wire_lock *r;
	__u64 begin = kept->head.time_ns;

	if (__sync_val_compare_and_swap(&kept->pad, 0, 1))
		return 0;
	r = emit_reserve(WIRE_PARK_BEGIN, sizeof(*r));
	if (!r)
		return 0;
	__builtin_memcpy(r, kept, sizeof(*r));
	r->pad = 0;
	r->time = 0;
	/* The element may have become another one's meanwhile, if this is flush_parks(). */
	if (r->head.kind != WIRE_PARK_BEGIN || r->head.time_ns != begin) {
		bpf_ringbuf_discard(r, BPF_RB_NO_WAKEUP);
		__sync_val_compare_and_swap(&kept->pad, 1, 0);
		return 0;
	}
	emit_submit(r);
	return 0;
}

/* Continuation::prepare_thaw(JavaThread *, bool return_barrier) */
PROBE(virtual_mount, __u64 java_thread, __u64 more)
{
	__u64 now, id;
	struct thread_state *t;
	struct wire_lock *kept, *r;
	__u32 tid;

	if (more & 0xff)
		return 0;
	now = bpf_ktime_get_ns();
	t = thread_current(now);
	tid = thread_subject(t, 0);
	if (!t || !(tid & WIRE_VIRTUAL))
		return 0;
	t->java.leaving = 0;
	id = tid & ~WIRE_VIRTUAL;
	kept = bpf_map_lookup_elem(&virtual_parks, &id);
	if (!kept)
		return 0;
	unmounted_send(kept);
	r = emit_reserve(WIRE_PARK_END, sizeof(*r));
	if (r) {
		lock_fill(r, WIRE_PARK_END, 0, tid, t, now);
		without_counters(r);
		r->object = kept->object;
		r->handle = blocker_read(t, tid); /* as in park_end */
		r->klass = kept->klass;
		r->hash = kept->hash;
		lock_owner_was(r, kept->owner_tid,
			       kept->owner_tid & WIRE_VIRTUAL ? 0 : kept->owner_tid,
			       kept->owner_source, now);
		emit_submit(r);
	}
	bpf_map_delete_elem(&virtual_parks, &id);
	return 0;
}

static long flush_park(void *map, __u64 *id, struct wire_lock *kept, __u64 *now)
{
	if (kept->head.kind == WIRE_PARK_BEGIN && !kept->pad &&
	    since(*now, kept->head.time_ns) >= UNMOUNTED_NS)
		unmounted_send(kept);
	return 0;
}

/* Begins of parks that go on; run by user space between the samples. */
SEC("syscall")
int flush_parks(void *ctx)
{
	__u64 now = bpf_ktime_get_ns();

	bpf_for_each_map_elem(&virtual_parks, flush_park, &now, 0);
	return 0;
}
