/* bpf/lib/chain.bpf.h: call chains that were walked: each is sent once, and has an id. */
#pragma once

#include "bpf/lib/jvm.bpf.h"

#include "bpf/wire/wire_stack.h"

struct wire_code java_code __weak = {};

#include "bpf/walk/hotspot.bpf.h"

struct chain_key {
	__u64 hash1, hash2; /* 128 bits of hash: two chains that share one are not to be expected */
};

/* Chains that were sent. One that is evicted gets a new id, and is sent again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, struct chain_key);
	__type(value, __u32);
} chains __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, WIRE_WALK_COUNT);
	__type(key, __u32);
	__type(value, __u64);
} walks __weak SEC(".maps");

__u32 chain_count __weak = 0; /* ids given so far */
__u64 chain_wake __weak = 0;  /* when the reader was last woken for a chain */

static __noinline int count_walk(__u32 result)
{
	__u64 *n = bpf_map_lookup_elem(&walks, &result);

	if (n)
		__sync_fetch_and_add(n, 1);
	return 0;
}

static __noinline struct walk_slot *slot_take(void)
{
	__u32 first = bpf_get_smp_processor_id() * WALKS_PER_CPU;

	for (__u32 i = 0; i < WALKS_PER_CPU; i++) {
		__u32 key = first + i;
		struct walk_slot *s = bpf_map_lookup_elem(&walk_slots, &key);

		if (s && !__sync_val_compare_and_swap(&s->busy, 0, 1)) {
			s->walk.slot = key;
			return s;
		}
	}
	return 0;
}

static __always_inline void slot_give(struct walk_slot *s)
{
	__sync_val_compare_and_swap(&s->busy, 1, 0);
}

#define NATIVE_WORDS_LEAST 64 /* near the end of a stack */

/* User space is asked once for the rule of a pc. */
static __noinline int native_ask(const struct hs_walk *w)
{
	/* Not on the stack: this is the end of the longest chain of calls. */
	static const struct wire_native_rule none = {.flags = WIRE_RULE_ASKED};
	__u64 key = w->ask;
	struct wire_native *r;

	if (bpf_map_update_elem(&native_rules, &key, &none, BPF_NOEXIST))
		return 0;
	r = emit_reserve(WIRE_NATIVE, sizeof(*r));
	if (!r) {
		bpf_map_delete_elem(&native_rules, &key);
		return 0;
	}
	head_fill(&r->head, WIRE_NATIVE, 0, current_tid(), bpf_ktime_get_ns());
	r->pc = key;
	r->sp = w->sp;
	r->fp = w->fp;
	r->pad = 0;
	r->length = WIRE_NATIVE_WORDS;
	if (bpf_probe_read_user(r->words, sizeof(r->words), (void *)w->sp)) {
		r->length = NATIVE_WORDS_LEAST;
		if (bpf_probe_read_user(r->words, 8 * NATIVE_WORDS_LEAST, (void *)w->sp))
			r->length = 0;
	}
	bpf_ringbuf_submit(r, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/* A new chain is to be resolved before its code can vanish: the reader is woken, once a
 * millisecond. */
static __always_inline __u64 chain_wake_flags(__u64 now)
{
	if (now - chain_wake < 1000000)
		return BPF_RB_NO_WAKEUP;
	chain_wake = now;
	return BPF_RB_FORCE_WAKEUP;
}

/* rest: the id of the chain in which that of the walk's frames goes on; 0: they are all. */
static __always_inline int chain_send(struct hs_walk *w, __u32 id, __u32 rest)
{
	__u64 now = bpf_ktime_get_ns();
	__u64 n = w->stack.count;

	head_fill(&w->stack.head, WIRE_STACK, 0, current_tid(), now);
	w->stack.id = id;
	w->stack.rest = rest;
	w->stack.pad = 0;
	w->stack.class_epoch = class_epoch;
	/* In assembly, as clang knows that count has no other values, and the verifier does not. */
	asm volatile("if %0 <= %1 goto +1; %0 = %1" : "+r"(n) : "i"(WIRE_FRAMES_MAX));
	return bpf_ringbuf_output(&events, &w->stack,
				  __builtin_offsetof(struct wire_stack, frames) +
					  n * sizeof(struct wire_frame),
				  chain_wake_flags(now));
}

/* Samples carry the result of their walk, and are not counted with those of events. */
static __always_inline void count_result(struct walk_slot *s, __u32 result)
{
	if (!s->start.split)
		count_walk(result);
}

/* How a walk ended, as far as chains differ by that. */
static __always_inline __u32 chain_end(__u32 result)
{
	return result <= WIRE_WALK_CUT || result == WIRE_WALK_IN_HEAP ? result : WIRE_WALK_NO_CODE;
}

/* The id of a chain that was walked; 0: there are no frames, or it could not be sent. */
HS_SUBPROGRAM __u32 chain_id(struct walk_slot *s)
{
	struct hs_walk *w;
	struct chain_key key;
	__u32 *known, id, result;

	if (!s)
		return 0;
	w = &s->walk;
	result = w->stack.result;
	count_result(s, result);
	if (w->ask)
		native_ask(w);
	if (!w->stack.count)
		return 0;
	key.hash1 = hs_mix(w->hash1, chain_end(result));
	key.hash2 = hs_mix(w->hash2, w->stack.count);
	/* A Method's address may be used again after unloading. */
	if (w->interpreted)
		key.hash1 = hs_mix(key.hash1, class_epoch);
	known = bpf_map_lookup_elem(&chains, &key);
	if (known) {
		count_result(s, WIRE_WALK_KNOWN);
		return *known;
	}
	id = __sync_fetch_and_add(&chain_count, 1) + 1;
	if (chain_send(w, id, 0)) {
		count_result(s, WIRE_WALK_NOT_SENT);
		count_drop(WIRE_STACK, WIRE_LOST_RING);
		return 0;
	}
	bpf_map_update_elem(&chains, &key, &id, BPF_ANY);
	return id;
}
