/* bpf/lib/exact.bpf.h: records of a patched JVM's monitors and parks, filled. */
#pragma once

#include "bpf/lib/stack.bpf.h"

#include "jvm-hooks/probes.h"

/* All but the owner, and what only some events have. */
static __always_inline void exact_fill(struct wire_exact *r, __u32 kind, __u32 flags,
				       const struct thread_state *t, __u64 now)
{
	head_fill(&r->head, kind, flags, current_tid(), now);
	thread_snapshot(t, now, &r->self);
	r->object = 0;
	r->klass = 0;
	r->sequence = 0;
	r->time = 0;
	r->forward = 0;
	r->hash = 0;
	r->how = 0;
	r->target = 0;
	r->readers = 0;
	r->stack = 0;
	r->pad = 0;
}

static __always_inline void exact_owner(struct wire_exact *r, __u32 owner, __u32 source,
					__u32 stack, __u64 now)
{
	thread_snapshot_of(owner, now, &r->owner);
	r->owner_tid = owner;
	r->owner_source = source;
	r->owner_stack = stack;
	r->owner_doing = thread_doing(owner, now, &r->owner_doing_ns);
}

/* A record without an owner; NULL: it is lost, and counted. */
static __always_inline struct wire_exact *exact_short(__u32 kind, __u32 flags,
						      const struct thread_state *t, __u64 now)
{
	struct wire_exact *r = emit_reserve(kind, WIRE_EXACT_SHORT);

	if (r)
		exact_fill(r, kind, flags, t, now);
	return r;
}
