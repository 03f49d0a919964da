/* Garbage collections, memory pools, safepoints, VM operations; and what a patched JVM reports
 * of them besides. */
#include "bpf/lib/jvm.bpf.h"
#include "bpf/lib/probe.bpf.h"

#define VM_OPERATION_SAFEPOINT 0 /* VM_Operation::_safepoint */

/* The stock probe's argument (full) is wrong for Serial and Parallel: user space finds the kind
 * otherwise. */
PROBE(gc_begin)
{
	emit_head(WIRE_GC_BEGIN, current_tid());
	return 0;
}

PROBE(gc_end)
{
	emit_head(WIRE_GC_END, current_tid());
	return 0;
}

static __always_inline int emit_pool(__u32 flags, __u64 manager, __u32 manager_length, __u64 pool,
				     __u32 pool_length, __u64 used, __u64 committed, __u64 max)
{
	struct wire_pool *r = emit_reserve(WIRE_GC_POOL, sizeof(*r));

	if (!r)
		return 0;
	head_fill(&r->head, WIRE_GC_POOL, flags, current_tid(), bpf_ktime_get_ns());
	r->used = used;
	r->committed = committed;
	r->max = max;
	r->manager_length = read_name(r->manager, WIRE_NAME_MAX, manager, manager_length);
	r->pool_length = read_name(r->pool, WIRE_NAME_MAX, pool, pool_length);
	emit_submit(r);
	return 0;
}

PROBE(gc_pool_begin, __u64 manager, __u32 manager_length, __u64 pool, __u32 pool_length,
	     __u64 init, __u64 used, __u64 committed, __u64 max)
{
	return emit_pool(0, manager, manager_length, pool, pool_length, used, committed, max);
}

PROBE(gc_pool_end, __u64 manager, __u32 manager_length, __u64 pool, __u32 pool_length,
	     __u64 init, __u64 used, __u64 committed, __u64 max)
{
	return emit_pool(WIRE_POOL_AFTER, manager, manager_length, pool, pool_length, used,
			 committed, max);
}

PROBE(safepoint_begin)
{
	safepoint_on = 1;
	BARRIER();
	safepoint_epoch++;
	emit_head(WIRE_SAFEPOINT_BEGIN, current_tid());
	return 0;
}

PROBE(safepoint_end)
{
	/* The VM thread alone ends them. */
	safepoint_ends_ns[safepoints_ended & (SAFEPOINT_ENDS - 1)] = bpf_ktime_get_ns();
	safepoints_ended++;
	safepoint_epoch++;
	BARRIER();
	safepoint_on = 0;
	emit_head(WIRE_SAFEPOINT_END, current_tid());
	return 0;
}

static __always_inline int emit_vmop(__u32 kind, __u64 name, __u32 length, __u32 mode)
{
	struct wire_vmop *r = emit_reserve(kind, sizeof(*r));

	if (!r)
		return 0;
	head_fill(&r->head, kind, 0, current_tid(), bpf_ktime_get_ns());
	r->mode = mode;
	r->name_length = read_name(r->name, WIRE_NAME_MAX, name, length);
	emit_submit(r);
	return 0;
}

PROBE(vmop_request, __u64 name, __u32 length, __u32 mode)
{
	struct thread_state *t = thread_find(current_tid());

	if (t && mode == VM_OPERATION_SAFEPOINT)
		t->pause.requested = safepoints_ended + 1;
	return emit_vmop(WIRE_VMOP_REQUEST, name, length, mode);
}

PROBE(vmop_begin, __u64 name, __u32 length, __u32 mode)
{
	return emit_vmop(WIRE_VMOP_BEGIN, name, length, mode);
}

PROBE(vmop_end, __u64 name, __u32 length, __u32 mode)
{
	return emit_vmop(WIRE_VMOP_END, name, length, mode);
}

/* A string of the target that ends with NUL; its length. */
static __always_inline __u32 read_text(char to[WIRE_NAME_MAX], __u64 from)
{
	long n = bpf_probe_read_user_str(to, WIRE_NAME_MAX, (void *)from);

	return n > 0 ? (__u32)n - 1 : 0;
}

PROBE(num_gc_begin, __u64 gc, __u64 collector, __u64 cause)
{
	struct wire_collection *r = emit_reserve(WIRE_COLLECTION_BEGIN, sizeof(*r));

	if (!r)
		return 0;
	head_fill(&r->head, WIRE_COLLECTION_BEGIN, 0, current_tid(), bpf_ktime_get_ns());
	r->gc = gc;
	r->collector_length = read_text(r->collector, collector);
	r->cause_length = read_text(r->cause, cause);
	emit_submit(r);
	return 0;
}

PROBE(num_gc_end, __u64 gc)
{
	struct wire_collection *r = emit_reserve(WIRE_COLLECTION_END, WIRE_COLLECTION_SHORT);

	if (!r)
		return 0;
	head_fill(&r->head, WIRE_COLLECTION_END, 0, current_tid(), bpf_ktime_get_ns());
	r->gc = gc;
	r->collector_length = 0;
	r->cause_length = 0;
	emit_submit(r);
	return 0;
}

static __always_inline int emit_phase(__u32 kind, __u64 gc, __u64 name, __u64 level, __u64 phase)
{
	struct wire_phase *r = emit_reserve(kind, sizeof(*r));

	if (!r)
		return 0;
	head_fill(&r->head, kind, 0, current_tid(), bpf_ktime_get_ns());
	r->gc = gc;
	r->level = (__u32)level;
	r->kind = (__u32)phase;
	r->name_length = read_text(r->name, name);
	r->pad = 0;
	emit_submit(r);
	return 0;
}

PROBE(num_phase_begin, __u64 gc, __u64 name, __u64 level, __u64 kind)
{
	return emit_phase(WIRE_PHASE_BEGIN, gc, name, level, kind);
}

PROBE(num_phase_end, __u64 gc, __u64 name, __u64 level, __u64 kind)
{
	return emit_phase(WIRE_PHASE_END, gc, name, level, kind);
}

PROBE(num_safepoint, __u64 name, __u64 length, __u64 ns_tid, __u64 begun, __u64 reached,
	     __u64 cleaned, __u64 ended, __u64 threads, __u64 running)
{
	struct wire_safepoint *r = emit_reserve(WIRE_SAFEPOINT, sizeof(*r));

	if (!r)
		return 0;
	head_fill(&r->head, WIRE_SAFEPOINT, 0, current_tid(), ended);
	r->reach_ns = since(reached, begun);
	r->cleanup_ns = since(cleaned, reached);
	r->operation_ns = since(ended, cleaned);
	r->requester = ns_tid ? tid_of_hook(ns_tid) : 0;
	r->threads = (__u32)threads;
	r->running = (__u32)running;
	r->name_length = read_name(r->name, WIRE_NAME_MAX, name, (__u32)length);
	emit_submit(r);
	return 0;
}
