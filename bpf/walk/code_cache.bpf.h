/* bpf/walk/code_cache.bpf.h: what a pc in the code cache belongs to. */
#pragma once

#include "bpf/walk/segments.bpf.h"
#include "bpf/walk/walk.bpf.h"

struct hs_hop {
	struct hs_walk *w;
	__u64 segmap;
	__u64 segment;
	__u64 found;
};

/* A segment's byte says how many segments to go back; 0: its block begins here; 0xff: it is free.
 */
HS_FN long hs_hop(struct hs_hop *h)
{
	__u8 back = 0xff;

	/* The map is the target's: it could lead a long way for each frame. */
	if (++h->w->hops > HS_HOPS_WALK_MAX)
		return 1;
	if (HS_READ(h->w, &back, h->segmap + h->segment) || back == 0xff || back > h->segment)
		return 1;
	if (!back) {
		h->found = 1;
		return 1;
	}
	h->segment -= back;
	return 0;
}

#ifdef __bpf__
static long hs_hop_step(__u32 i, struct hs_hop *h)
{
	return hs_hop(h);
}
#endif

HS_FN __u64 hs_block_in(struct hs_walk *w, const struct wire_code_heap *heap, __u64 pc)
{
	__u64 shift = heap->segment_shift & 31;
	struct hs_hop h = {
		.w = w, .segmap = heap->segmap, .segment = (pc - heap->low) >> shift, .found = 0};

#ifdef __bpf__
	bpf_loop(HS_HOPS_MAX, hs_hop_step, &h, 0);
#else
	for (int i = 0; i < HS_HOPS_MAX; i++)
		if (hs_hop(&h))
			break;
#endif
	return h.found ? heap->low + (h.segment << shift) : 0;
}

HS_FN int hs_in_heap(struct hs_walk *w, __u64 pc)
{
	for (int i = 0; i < HS_HEAPS; i++)
		if (pc >= HS_CODE(w, heaps[i].low) && pc < HS_CODE(w, heaps[i].high))
			return i;
	return -1;
}

/* A number that has less than 64 bits, out of a word that begins with it. */
HS_FN __u64 hs_number(__u64 word, __u32 spare)
{
	spare &= 63;
	return (__u64)((__s64)(word << spare) >> spare);
}

/* Where in a blob's code: an address, or an int that is counted from the blob. */
HS_FN long hs_code_address(struct hs_walk *w, __u64 blob, __u32 at, __u64 *ret)
{
	__u64 word = 0;

	if (HS_READ(w, &word, blob + at))
		return -1;
	*ret = HS_CODE(w, address_spare) ? blob + hs_number(word, HS_CODE(w, address_spare)) : word;
	return 0;
}

/* Finds the block of the code cache that a pc is in: w->block, 0: there is none. It is called
 * before hs_code_learn(), and not by it: the two frames have no room one below the other. */
HS_SUBPROGRAM int hs_block_find(struct hs_walk *w, __u64 pc)
{
	struct wire_code_heap heap = {};
	int at;

	if (!w)
		return 0;
	w->block = 0;
	at = hs_in_heap(w, pc);
	if (at == 0)
		heap = HS_CODE(w, heaps[0]);
	else if (at == 1)
		heap = HS_CODE(w, heaps[1]);
	else if (at == 2)
		heap = HS_CODE(w, heaps[2]);
	else
		return 0;
	w->block = hs_block_in(w, &heap, pc);
	return 0;
}

/* Reads what a pc in w->block belongs to. 0, or why not (enum wire_walk). */
HS_FN __u32 hs_code_read(struct hs_walk *w, __u64 pc, struct hs_code *ret)
{
	__u64 block = w->block, word = 0; /* one for all words that are read: the stack is short */
	__s32 number = 0;
	__u8 used = 0;
	int deoptimized;

	if (!block || HS_READ(w, &used, block + HS_CODE(w, block_used)) || used != 1)
		return WIRE_WALK_NO_CODE;
	ret->blob = block + HS_CODE(w, heap_block_size);
	if (HS_READ(w, &word, ret->blob + HS_CODE(w, blob_kind)) ||
	    HS_READ(w, &number, ret->blob + HS_CODE(w, blob_frame_size)))
		return WIRE_WALK_READ;
	if (HS_CODE(w, blob_kind))
		word &= 0xff;
	ret->id = 0;
	ret->frame_bytes = number > 0 && number < HS_FRAME_WORDS_MAX ? (__u32)number * 8 : 0;
	ret->kind = ret->frame_bytes ? HS_STUB : HS_BARE;
	if (word != HS_CODE(w, nmethod_vtable))
		return 0;
	/* Method handles' linkers are native methods without a frame. */
	if (!ret->frame_bytes)
		return 0;
	if (ret->frame_bytes < 16)
		return WIRE_WALK_FRAME_SIZE;
	ret->kind = HS_COMPILED;
	if (HS_READ(w, &ret->id, ret->blob + HS_CODE(w, nmethod_compile_id)) ||
	    HS_READ(w, &number, ret->blob + HS_CODE(w, nmethod_entry_bci)) ||
	    hs_code_address(w, ret->blob, HS_CODE(w, nmethod_deopt), &word))
		return WIRE_WALK_READ;
	if (number != -1)
		ret->id |= WIRE_ID_OSR;
	deoptimized = pc == word;
	if (hs_code_address(w, ret->blob, HS_CODE(w, nmethod_deopt_mh), &word))
		return WIRE_WALK_READ;
	if (!deoptimized && pc != word)
		return 0;
	ret->kind = HS_DEOPTIMIZED;
	if (HS_READ(w, &ret->orig_pc_offset, ret->blob + HS_CODE(w, nmethod_orig_pc_offset)))
		return WIRE_WALK_READ;
	return 0;
}

#ifdef __bpf__
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 65536);
	__type(key, __u64); /* a return address in the code cache */
	__type(value, struct hs_code);
} codes __weak SEC(".maps");

/* A compiled method is only replaced by another one after it was unloaded: then everything is
 * looked up anew. */
__u32 code_epoch __weak = 0;

/*
 * A walk needs more room than the BPF stack has. It may be preempted by another thread of the
 * target that walks too (uprobe programs are preemptible), and that by the scheduler's program and
 * the sampler: so each CPU has some slots, and each walk takes one that is free.
 */
#define WALKS_PER_CPU 4

struct walk_slot {
	__u32 busy;
	__u32 pad;
	__u64 words_read; /* bytes of them */
	__u64 words[HS_SPAN_WORDS];
	struct hs_walk walk;
	struct hs_start start;
	struct hs_code code; /* being learnt */
	struct hs_segments segments;
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, WALKS_PER_CPU); /* times the CPUs: set before load */
	__type(key, __u32);
	__type(value, struct walk_slot);
} walk_slots __weak SEC(".maps");

HS_SUBPROGRAM __u32 hs_code_learn(struct hs_walk *w, __u64 pc, struct hs_code *ret)
{
	struct walk_slot *own;
	__u32 why, number;

	if (!w || !ret)
		return WIRE_WALK_READ;
	/* The slot that w is in: but what a function was passed may be no map's value (Linux 6.1).
	 */
	number = w->slot;
	own = bpf_map_lookup_elem(&walk_slots, &number);
	if (!own)
		return WIRE_WALK_READ;
	own->code.epoch = code_epoch;
	own->code.pad = 0;
	own->code.orig_pc_offset = 0;
	why = hs_code_read(w, pc, &own->code);
	if (!why)
		bpf_map_update_elem(&codes, &pc, &own->code, BPF_ANY);
	*ret = own->code;
	return why;
}

HS_FN __u32 hs_code_find(struct hs_walk *w, __u64 pc, struct hs_code *ret)
{
	struct hs_code *known = bpf_map_lookup_elem(&codes, &pc);

	if (!known || known->epoch != code_epoch) {
		hs_block_find(w, pc);
		return hs_code_learn(w, pc, ret);
	}
	*ret = *known;
	return 0;
}
#else
HS_FN __u32 hs_code_find(struct hs_walk *w, __u64 pc, struct hs_code *ret)
{
	hs_block_find(w, pc);
	return hs_code_read(w, pc, ret);
}
#endif
