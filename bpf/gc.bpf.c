/* Garbage collections, memory pools, safepoints, VM operations. */
#include "bpf/jvm.bpf.h"

#include <bpf/usdt.bpf.h>

/* The stock probe's argument (full) is wrong for Serial and Parallel: user space finds the kind
 * otherwise. */
SEC("usdt")
int BPF_USDT(gc_begin)
{
	emit_head(WIRE_GC_BEGIN, current_tid());
	return 0;
}

SEC("usdt")
int BPF_USDT(gc_end)
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

SEC("usdt")
int BPF_USDT(gc_pool_begin, __u64 manager, __u32 manager_length, __u64 pool, __u32 pool_length,
	     __u64 init, __u64 used, __u64 committed, __u64 max)
{
	return emit_pool(0, manager, manager_length, pool, pool_length, used, committed, max);
}

SEC("usdt")
int BPF_USDT(gc_pool_end, __u64 manager, __u32 manager_length, __u64 pool, __u32 pool_length,
	     __u64 init, __u64 used, __u64 committed, __u64 max)
{
	return emit_pool(WIRE_POOL_AFTER, manager, manager_length, pool, pool_length, used,
			 committed, max);
}

SEC("usdt")
int BPF_USDT(safepoint_begin)
{
	emit_head(WIRE_SAFEPOINT_BEGIN, current_tid());
	return 0;
}

SEC("usdt")
int BPF_USDT(safepoint_end)
{
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

SEC("usdt")
int BPF_USDT(vmop_request, __u64 name, __u32 length, __u32 mode)
{
	return emit_vmop(WIRE_VMOP_REQUEST, name, length, mode);
}

SEC("usdt")
int BPF_USDT(vmop_begin, __u64 name, __u32 length, __u32 mode)
{
	return emit_vmop(WIRE_VMOP_BEGIN, name, length, mode);
}

SEC("usdt")
int BPF_USDT(vmop_end, __u64 name, __u32 length, __u32 mode)
{
	return emit_vmop(WIRE_VMOP_END, name, length, mode);
}
