/* bpf/lib/wait_stack.bpf.h: the call chain of a thread that blocks; quick if it is the last one. */
#pragma once

#include "bpf/lib/wait_reason.bpf.h"

struct wait_hash {
	const struct wait_memo *memo;
	const struct wait_scratch *scratch;
	__u64 hash1, hash2;
};

static __always_inline void note_hash(struct wait_hash *h, __u32 at)
{
	__u64 word =
		h->scratch->stack[h->memo->note_at[at & (WAIT_NOTES_MAX - 1)] & (STACK_WORDS - 1)];

	h->hash1 = hs_mix(h->hash1, word);
	h->hash2 = (h->hash2 ^ word) * 0xd6e8feb86659fd93ull;
	h->hash2 ^= h->hash2 >> 32;
}

static long note_hash_step(__u32 i, struct wait_hash *h)
{
	note_hash(h, NOTES_IN_LINE + i);
	return 0;
}

/* The words of the stack that a walk from here would read, as hashes. */
static __always_inline void memo_hash(const struct wait_memo *m, const struct wait_scratch *s,
				      struct wait_hash *ret)
{
	__u32 n = m->notes;

	ret->memo = m;
	ret->scratch = s;
	ret->hash1 = n;
	ret->hash2 = m->span;
	for (__u32 i = 0; i < NOTES_IN_LINE; i++) {
		if (i >= n)
			return;
		note_hash(ret, i);
	}
	if (n > NOTES_IN_LINE)
		bpf_loop(n - NOTES_IN_LINE, note_hash_step, ret, 0);
}

/* Where a walk of the thread begins: its anchor's sp, pc, fp. 0: it has one. */
static __always_inline int anchor_read(const struct thread_state *t, struct hs_anchor_words *ret)
{
	struct hs_anchor_words a = {};

	if (bpf_probe_read_user(&a, sizeof(a), (void *)(t->java.thread + java_code.thread_anchor)))
		return -1;
	ret->w[0] = a.w[java_code.anchor_sp >> 3 & 3];
	ret->w[1] = a.w[java_code.anchor_pc >> 3 & 3];
	ret->w[2] = a.w[java_code.anchor_fp >> 3 & 3];
	if (!ret->w[0])
		return -1;
	if (!ret->w[1])
		ret->w[1] = read_u64(ret->w[0] - 8);
	return 0;
}

static __always_inline int memo_read(const struct wait_memo *m, struct wait_scratch *s)
{
	__u64 bytes = (__u64)m->span * 8;

	asm volatile("if %0 <= %1 goto +1; %0 = %1" : "+r"(bytes) : "i"(STACK_WORDS * 8));
	return bpf_probe_read_user(s->stack, bytes, (void *)m->sp);
}

/*
 * The id of the chain with which the running thread blocked last, if it is the same now; else 0.
 * It is cheaper than the walker's own memory of walks, which is for all threads.
 */
SUBPROGRAM int wait_stack_same(struct thread_state *t)
{
	struct thread_wait *w = t ? wait_of(t) : 0;
	struct wait_scratch *s = scratch_get();
	struct hs_anchor_words at = {};
	struct wait_memo *m;
	struct wait_hash h = {};

	if (!w || !s || !walks_ready())
		return 0;
	m = &w->memo;
	if (!m->id || m->code_epoch != code_epoch || m->class_epoch != class_epoch ||
	    anchor_read(t, &at) || m->sp != at.w[0] || m->pc != at.w[1] ||
	    (m->fp_used && m->fp != at.w[2]) || memo_read(m, s))
		return 0;
	memo_hash(m, s, &h);
	return h.hash1 == m->hash1 && h.hash2 == m->hash2 ? m->id : 0;
}

/* What the walker has kept of the walk of chain id; NULL: nothing. */
static __always_inline struct hs_memo *memo_of(struct memo_key *key, __u32 id)
{
	struct hs_memo *m;

	/* At each call site the kernel puts a lookup's instructions in, which costs. */
#pragma clang loop unroll(disable)
	for (__u32 way = 0; way < MEMO_WAYS; way++) {
		key->way = way;
		m = bpf_map_lookup_elem(&memos, key);
		if (!m)
			return 0;
		if (m->id == id)
			return m;
	}
	return 0;
}

/* Keeps what the walk of chain id has noted, if the walker has remembered it. */
SUBPROGRAM int wait_stack_keep(struct thread_state *t, __u32 id)
{
	struct thread_wait *w = t ? wait_of(t) : 0;
	struct wait_scratch *s = scratch_get();
	struct hs_anchor_words at = {};
	struct hs_memo *from;
	struct memo_key key = {};
	struct wait_memo *m;
	struct wait_hash h = {};

	if (!w || !s)
		return 0;
	m = &w->memo;
	m->id = 0;
	if (!id || anchor_read(t, &at))
		return 0;
	key.sp = m->sp = at.w[0];
	key.pc = m->pc = at.w[1];
	m->fp = at.w[2];
	from = memo_of(&key, id);
	if (!from || from->notes > WAIT_NOTES_MAX || from->span > STACK_WORDS)
		return 0;
	m->notes = from->notes;
	m->span = from->span;
	m->fp_used = from->fp_used;
	m->code_epoch = from->code_epoch;
	m->class_epoch = from->class_epoch;
	__builtin_memcpy(m->note_at, from->note_at, sizeof(m->note_at));
	if (memo_read(m, s))
		return 0;
	memo_hash(m, s, &h);
	m->hash1 = h.hash1;
	m->hash2 = h.hash2;
	m->id = id;
	return 0;
}

/* The chain of the running thread, which is blocked. (Inline: the walker's frames need all the
 * room that there is.) */
static __always_inline __u32 wait_stack(struct thread_state *t)
{
	__u32 id = wait_stack_same(t);

	if (id) {
		count_walk(WIRE_WALK_COMPLETE);
		count_walk(WIRE_WALK_KNOWN);
		return id;
	}
	id = stack_interrupted(t);
	wait_stack_keep(t, id);
	return id;
}
