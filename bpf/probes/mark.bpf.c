/* Marks that the application sets itself (jvm-hooks/mark): spans, with the thread's states. */
#include "bpf/lib/thread.bpf.h"
#include "bpf/lib/probe.bpf.h"

#define TRIES 4

/*
 * The thread's states, and the moment that they are of. It may be preempted here, and then its
 * counts are of a later moment than `now`: it has been switched in after that.
 */
static __always_inline void fill(struct wire_span *r, __u32 kind, const struct thread_state *t,
				 __u32 tid)
{
	const volatile struct thread_state *v = t;
	__u64 now;

	for (int i = 0; i < TRIES; i++) {
		now = bpf_ktime_get_ns();
		thread_states(t, tid, now, &r->self);
		if (v->time.since <= now)
			break;
	}
	head_fill(&r->head, kind, 0, tid, now);
}

PROBE(mark_begin, __u64 name, __u32 length)
{
	struct thread_state *t = thread_current(bpf_ktime_get_ns());
	__u32 tid = current_tid();
	struct wire_span *r;

	if (!t) {
		count_drop(WIRE_SPAN_BEGIN, WIRE_LOST_MAP);
		return 0;
	}
	r = emit_reserve(WIRE_SPAN_BEGIN, sizeof(*r));
	if (!r)
		return 0;
	fill(r, WIRE_SPAN_BEGIN, t, tid);
	r->name_length = read_name(r->name, WIRE_NAME_MAX, name, length);
	r->pad = 0;
	if (length && !r->name_length)
		count_drop(WIRE_SPAN_BEGIN, WIRE_LOST_READ);
	emit_submit(r);
	return 0;
}

PROBE(mark_end)
{
	struct thread_state *t = thread_current(bpf_ktime_get_ns());
	__u32 tid = current_tid();
	struct wire_span *r;

	if (!t) {
		count_drop(WIRE_SPAN_END, WIRE_LOST_MAP);
		return 0;
	}
	r = emit_reserve(WIRE_SPAN_END, WIRE_SPAN_SHORT);
	if (!r)
		return 0;
	fill(r, WIRE_SPAN_END, t, tid);
	emit_submit(r);
	return 0;
}
