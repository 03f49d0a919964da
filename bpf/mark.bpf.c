/* Marks that the application sets itself (jvm-hooks/mark): spans, with the thread's states. */
#include "bpf/thread.bpf.h"

#include <bpf/usdt.bpf.h>

SEC("usdt")
int BPF_USDT(mark_begin, __u64 name, __u32 length)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	__u32 tid = current_tid();
	struct wire_span *r;

	if (!t) {
		count_drop(WIRE_SPAN_BEGIN, WIRE_LOST_MAP);
		return 0;
	}
	r = emit_reserve(WIRE_SPAN_BEGIN, sizeof(*r));
	if (!r)
		return 0;
	head_fill(&r->head, WIRE_SPAN_BEGIN, 0, tid, now);
	thread_states(t, tid, now, &r->self);
	r->name_length = read_name(r->name, WIRE_NAME_MAX, name, length);
	r->pad = 0;
	if (length && !r->name_length)
		count_drop(WIRE_SPAN_BEGIN, WIRE_LOST_READ);
	emit_submit(r);
	return 0;
}

SEC("usdt")
int BPF_USDT(mark_end)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread_state *t = thread_current(now);
	__u32 tid = current_tid();
	struct wire_span *r;

	if (!t) {
		count_drop(WIRE_SPAN_END, WIRE_LOST_MAP);
		return 0;
	}
	r = emit_reserve(WIRE_SPAN_END, WIRE_SPAN_SHORT);
	if (!r)
		return 0;
	head_fill(&r->head, WIRE_SPAN_END, 0, tid, now);
	thread_states(t, tid, now, &r->self);
	emit_submit(r);
	return 0;
}
