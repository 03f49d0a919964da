/* bpf/lib/segment.bpf.h: walks of samples, by segments of the stack that are remembered each by
 * itself. */
#pragma once

/*
 * What is innermost differs from sample to sample, and what is further out stays. So a sampled
 * stack is walked in segments: one ends with the first frame that begins in other 4 KB of the
 * stack than the one before it, wherever the walk has begun. For each the words that were read of
 * it are noted (hs_note), with the frames' hash, and where the next one begins. A walk that comes
 * to where a segment begins compares these words: if they are the same, it goes on at the next one.
 *
 * Each segment is a chain of its own, that goes on with the chain that begins with the next one
 * (struct wire_stack, rest): so of a chain that is new the frames of those segments are sent, and
 * resolved in user space, that have not been seen on these callers. Chains are numbered from the
 * outermost segment on. If the frames of a segment are needed that was not walked, as it was
 * remembered with other callers, it is walked once more.
 *
 * Measured (1 ms, two virtual CPUs): a step of a walk takes 0.7 us in programs that use the caches
 * themselves, a segment that is the same 1.1 us. Segments of 1 KB and 16 KB were slower.
 *
 * Threads with a virtual thread mounted that has frames in the heap are walked as a whole: what was
 * read there has to be compared with the innermost frames (chunk.bpf.h).
 */

#include "bpf/lib/chain.bpf.h"

#define SEGMENT_WAYS 8

#define SEGMENT_STEPS_MAX (HS_STEPS_MAX + 2 * HS_SEGMENTS_MAX)

#define SEGMENT_LAST (HS_SEGMENTS_MAX - 2) /* this one goes up to the end of the stack */

/* Stack fragments are compared with whole chains. */
const volatile __u32 walk_whole __weak = 0;

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1); /* 16384 with samples: set before load */
	__type(key, struct hs_segment_key);
	__type(value, struct hs_segment_memo);
} segment_memos __weak SEC(".maps");

struct segment_loop {
	struct walk_slot *slot;
};

static __always_inline int segments_apply(struct walk_slot *s)
{
	struct hs_walk *w = &s->walk;

	return !walk_whole && w->from && !(HS_CHUNKS && HS_CHUNK(w, ready) && hs_chunk_first(w));
}

static __always_inline struct hs_segment *segment_row(struct hs_segments *g, __u32 at)
{
	return &g->rows[at & (HS_SEGMENTS_MAX - 1)];
}

static __always_inline void segments_begin(struct walk_slot *s)
{
	struct hs_segments *g = &s->segments;

	g->count = g->frames = g->known = g->ended = g->again = g->id = g->numbered = 0;
	g->have = HS_SEGMENTS_MAX;
	g->begin = 1;
	g->code_epoch = code_epoch;
	g->class_epoch = class_epoch;
}

/* --- what is remembered -------------------------------------------------------------------- */

/* The words that were noted, by a hash, HASHED at a time. */
struct segment_hash {
	struct walk_slot *slot;
	struct hs_segment_memo *memo;
	__u64 hash1, hash2;
	int kept; /* the words of walk.memo, else those of words[] */
};

#define HASHED 4

static long segment_hash_step(__u32 i, struct segment_hash *h)
{
	struct walk_slot *s = h->slot;
	__u32 first = i * HASHED & (HS_SEGMENT_NOTES_MAX - 1);
	__u64 word;

	if (!s || !h->memo)
		return 1;
#pragma clang loop unroll(full)
	for (__u32 k = 0; k < HASHED; k++) {
		word = h->kept ? s->walk.memo.note[first + k]
			       : s->words[h->memo->note_at[first + k] & (HS_SPAN_WORDS - 1)];
		h->hash1 = hs_mix(h->hash1, word);
		h->hash2 = (h->hash2 + word) * 0xd6e8feb86659fd93ull;
		h->hash2 ^= h->hash2 >> 32;
	}
	return 0;
}

static __always_inline void segment_words_hash(struct segment_hash *h)
{
	bpf_loop((h->memo->notes + HASHED - 1) / HASHED, segment_hash_step, h, 0);
}

/* As memo_same() of stack.bpf.h. */
HS_SUBPROGRAM int segment_same(struct walk_slot *s, struct hs_segment_memo *m)
{
	struct segment_hash h = {.slot = s, .memo = m};
	__u64 bytes;

	if (!s || !m || m->code_epoch != code_epoch || m->class_epoch != class_epoch ||
	    (m->fp_used && m->fp != s->walk.fp))
		return 0;
	bytes = (__u64)m->span * 8;
	asm volatile("if %0 <= %1 goto +1; %0 = %1" : "+r"(bytes) : "i"(HS_SPAN_WORDS * 8));
	if (s->words_read < bytes) {
		if (bpf_probe_read_user(s->words, bytes, (void *)s->walk.sp))
			return 0;
		s->words_read = bytes;
	}
	segment_words_hash(&h);
	return h.hash1 == m->words_hash1 && h.hash2 == m->words_hash2;
}

/* NULL: there is none; then key is where this one is kept. */
static __always_inline struct hs_segment_memo *segment_find(struct walk_slot *s,
							    struct hs_segment_key *key)
{
	struct hs_segment_memo *m;

	s->words_read = 0;
#pragma clang loop unroll(disable)
	for (__u32 way = 0; way < SEGMENT_WAYS; way++) {
		key->way = way;
		m = bpf_map_lookup_elem(&segment_memos, key);
		if (!m)
			return 0;
		if (segment_same(s, m))
			return m;
	}
	key->way = bpf_get_prandom_u32() % SEGMENT_WAYS;
	return 0;
}

/* Which word has the frame pointer now, which is read with those that are compared; HS_SPAN_WORDS:
 * it is as it was; more: it is too far away. */
static __always_inline __u32 segment_fp_at(struct hs_walk *w)
{
	__u64 at = (w->fp_at - w->from) >> 3;

	if (!w->fp_at)
		return HS_SPAN_WORDS;
	if (w->fp_at < w->from || at >= HS_SPAN_WORDS)
		return HS_SPAN_WORDS + 1;
	if (at >= w->memo.span)
		w->memo.span = (__u32)at + 1;
	return (__u32)at;
}

/* ended: the stack ends with this one, which is what is kept, too. */
static __always_inline void segment_keep(struct walk_slot *s, const struct hs_segment *row,
					 int ended)
{
	struct hs_walk *w = &s->walk;
	struct hs_segment_memo *m = &s->segments.memo;
	struct hs_segment_key key = row->key;
	struct segment_hash h = {.slot = s, .memo = m, .kept = 1};
	__u32 number = w->slot, fp_at = segment_fp_at(w), n = w->memo.notes;
	struct walk_slot *own;

	if (!n || n > HS_SEGMENT_NOTES_MAX - HASHED || fp_at > HS_SPAN_WORDS || w->ask)
		return;
	/* The last one again, as they are hashed HASHED at a time. */
	for (__u32 i = 0; i < HASHED - 1; i++) {
		w->memo.note[(n + i) & (HS_NOTES_MAX - 1)] =
			w->memo.note[(n - 1) & (HS_NOTES_MAX - 1)];
		w->memo.note_at[(n + i) & (HS_NOTES_MAX - 1)] =
			w->memo.note_at[(n - 1) & (HS_NOTES_MAX - 1)];
	}
	m->code_epoch = s->segments.code_epoch;
	m->class_epoch = s->segments.class_epoch;
	m->fp = w->memo.fp;
	m->fp_used = w->memo.fp_used;
	m->notes = w->memo.notes;
	m->span = w->memo.span;
	m->count = row->count;
	m->hash1 = row->hash1;
	m->hash2 = row->hash2;
	m->next_sp = ended ? 0 : w->sp;
	m->next_pc = ended ? 0 : w->pc;
	m->next_fp_at = fp_at;
	m->pad = 0;
	m->chain = 0;
	__builtin_memcpy(m->note_at, w->memo.note_at, sizeof(m->note_at));
	segment_words_hash(&h);
	m->words_hash1 = h.hash1;
	m->words_hash2 = h.hash2;
	/* The same memory: but what a function was passed may be no map's value (Linux 6.1). */
	own = bpf_map_lookup_elem(&walk_slots, &number);
	if (own)
		bpf_map_update_elem(&segment_memos, &key, &own->segments.memo, BPF_ANY);
}

/* --- the way out --------------------------------------------------------------------------- */

/* The walk goes on from here as if it began here. */
static __always_inline void segment_from(struct hs_walk *w)
{
	w->from = w->sp;
	w->fp_at = 0;
	w->memo.fp = w->fp;
	w->memo.fp_used = 0;
	w->memo.notes = 0;
	w->memo.span = 0;
	w->hash1 = 0;
	w->hash2 = 0;
	w->interpreted = 0;
	w->stack.count = 0;
}

#define SEGMENT_NATIVE 0x100 /* in hs_segment_key.first */

/* 1: the walk is at its end. */
HS_SUBPROGRAM int segment_begin(struct walk_slot *s)
{
	struct hs_segment_key key = {};
	struct hs_segment_memo *m;
	struct hs_segment *row;
	struct hs_segments *g;
	struct hs_walk *w;

	if (!s)
		return 1;
	w = &s->walk;
	g = &s->segments;
	row = segment_row(g, g->count);
	segment_from(w);
	if (g->frames >= WIRE_FRAMES_MAX)
		return hs_end(w, WIRE_WALK_CUT);
	key.sp = w->sp;
	key.pc = w->pc;
	key.first = w->first | (w->native ? SEGMENT_NATIVE : 0);
	m = g->count < SEGMENT_LAST ? segment_find(s, &key) : 0;
	row->key = key;
	row->fp = w->fp;
	row->chain = 0;
	if (!m) {
		g->begin = 0;
		g->have = g->count;
		return 0;
	}
	row->hash1 = m->hash1;
	row->hash2 = m->hash2;
	row->chain = m->chain;
	row->count = m->count;
	g->count++;
	g->known++;
	g->frames += m->count;
	if (!m->next_sp) {
		g->ended = 1;
		return 1;
	}
	if (m->next_fp_at < HS_SPAN_WORDS)
		w->fp = s->words[m->next_fp_at & (HS_SPAN_WORDS - 1)];
	w->pc = m->next_pc;
	w->native = 0;
	w->first = WIRE_FRAME_COMPILED;
	return hs_up(w, m->next_sp);
}

static __always_inline struct hs_segment *segment_add(struct walk_slot *s)
{
	struct hs_segments *g = &s->segments;
	struct hs_segment *row = segment_row(g, g->count);
	struct hs_walk *w = &s->walk;

	/* A Method's address may be used again after unloading. */
	row->hash1 = w->interpreted ? hs_mix(w->hash1, g->class_epoch) : w->hash1;
	row->hash2 = w->hash2;
	row->count = w->stack.count;
	g->frames += w->stack.count;
	g->count++;
	return row;
}

HS_SUBPROGRAM int segment_mark(struct walk_slot *s)
{
	if (!s)
		return 1;
	segment_keep(s, segment_add(s), 0);
	s->segments.begin = 1;
	return 0;
}

/* Whether the walk is at the begin of another segment. */
static __always_inline int segment_is_over(const struct walk_slot *s)
{
	const struct hs_walk *w = &s->walk;

	return w->sp >> HS_SEGMENT_SHIFT != w->from >> HS_SEGMENT_SHIFT && w->stack.count &&
	       !w->native && s->segments.count < SEGMENT_LAST &&
	       !(HS_CHUNKS && w->pc >= java_code.barrier_low && w->pc < java_code.barrier_high);
}

static long segment_step(__u32 i, struct segment_loop *l)
{
	struct walk_slot *s = l->slot;

	if (!s)
		return 1;
	if (s->segments.begin)
		return segment_begin(s) ? 1 : 0;
	s->walk.steps++;
	if (hs_step(&s->walk))
		return 1;
	return segment_is_over(s) && segment_mark(s) ? 1 : 0;
}

HS_SUBPROGRAM int segments_end(struct walk_slot *s)
{
	struct hs_segments *g;
	struct hs_segment *row;

	if (!s)
		return 1;
	g = &s->segments;
	/* The steps have come to their end before it could begin: it has no frames. */
	if (g->begin)
		segment_from(&s->walk);
	/* Not to be expected: see above. */
	if (HS_CHUNKS && s->walk.chunk) {
		s->walk.stack.count = s->walk.heap_count;
		s->walk.hash1 = s->walk.heap_hash1;
		s->walk.hash2 = s->walk.heap_hash2;
		s->walk.stack.result = WIRE_WALK_IN_HEAP;
	}
	g->result = s->walk.stack.result;
	if (g->ended) {
		g->result = WIRE_WALK_COMPLETE;
	} else {
		g->have = g->count & (HS_SEGMENTS_MAX - 1);
		row = segment_add(s);
		if (g->result == WIRE_WALK_COMPLETE && !g->begin)
			segment_keep(s, row, 1);
	}
	if (s->walk.ask)
		native_ask(&s->walk);
	g->at = g->count - 1;
	return 0;
}

/* --- the way back: numbers ----------------------------------------------------------------- */

/* What number its chain has with these callers is remembered. */
static __always_inline void segment_number_keep(const struct hs_segment *row, __u32 id, __u32 rest)
{
	struct hs_segment_key key = row->key;
	struct hs_segment_memo *m = bpf_map_lookup_elem(&segment_memos, &key);

	if (m && m->hash1 == row->hash1 && m->hash2 == row->hash2)
		m->chain = (__u64)id << 32 | rest;
}

static __always_inline void segment_again(struct walk_slot *s, __u32 at)
{
	struct hs_segments *g = &s->segments;
	const struct hs_segment *row = segment_row(g, at);
	struct hs_walk *w = &s->walk;

	w->sp = row->key.sp;
	w->pc = row->key.pc;
	w->fp = row->fp;
	w->first = row->key.first & ~SEGMENT_NATIVE;
	w->native = !!(row->key.first & SEGMENT_NATIVE);
	w->libjvm = 0;
	segment_from(w);
	g->until = segment_row(g, at + 1)->key.sp;
	g->again = 1;
}

/* The frames are those of the segment; 0: they could not be sent. */
static __always_inline __u32 segment_send(struct walk_slot *s, const struct hs_segment *row,
					  const struct chain_key *key, __u32 result)
{
	__u32 id = __sync_fetch_and_add(&chain_count, 1) + 1;
	struct chain_key own = *key;

	s->walk.stack.count = row->count;
	s->walk.stack.result = result;
	if (chain_send(&s->walk, id, s->segments.id)) {
		count_drop(WIRE_STACK, WIRE_LOST_RING);
		return 0;
	}
	bpf_map_update_elem(&chains, &own, &id, BPF_ANY);
	return id;
}

/* 1: all have one, or one cannot be had, and then there is none of the whole. */
HS_SUBPROGRAM int segment_number(struct walk_slot *s)
{
	struct chain_key key;
	__u32 *known, id, rest, at, last, result;
	struct hs_segments *g;
	struct hs_segment *row;

	if (!s)
		return 1;
	g = &s->segments;
	at = g->at & (HS_SEGMENTS_MAX - 1);
	row = segment_row(g, at);
	rest = g->id;
	last = at + 1 == g->count;
	result = last ? g->result : WIRE_WALK_COMPLETE;
	if (!row->count && (result == WIRE_WALK_COMPLETE || g->count == 1)) {
		id = 0;
	} else if (row->chain && (__u32)row->chain == rest) {
		id = row->chain >> 32;
	} else {
		key.hash1 = hs_mix(row->hash1, chain_end(result));
		key.hash2 = hs_mix(row->hash2, row->count);
		if (rest)
			key.hash2 = hs_mix(key.hash2, rest);
		known = bpf_map_lookup_elem(&chains, &key);
		if (!known && g->have != at) {
			segment_again(s, at);
			return 0;
		}
		id = known ? *known : segment_send(s, row, &key, result);
		if (!id)
			return 1;
		if (result == WIRE_WALK_COMPLETE)
			segment_number_keep(row, id, rest);
	}
	g->id = id;
	g->at = at - 1;
	g->numbered = !at;
	return !at;
}

/* The frames of a segment that was not walked. 1: it is not what it was. */
static __always_inline int segment_again_step(struct walk_slot *s)
{
	struct hs_segments *g = &s->segments;
	const struct hs_segment *row = segment_row(g, g->at);
	struct hs_walk *w = &s->walk;

	w->steps++;
	if (hs_step(w) || w->sp > g->until)
		return 1;
	if (w->sp < g->until)
		return 0;
	if ((w->interpreted ? hs_mix(w->hash1, g->class_epoch) : w->hash1) != row->hash1 ||
	    w->hash2 != row->hash2 || w->stack.count != row->count)
		return 1;
	g->have = g->at & (HS_SEGMENTS_MAX - 1);
	g->again = 0;
	return 0;
}

static long segment_number_step(__u32 i, struct segment_loop *l)
{
	struct walk_slot *s = l->slot;

	if (!s)
		return 1;
	return (s->segments.again ? segment_again_step(s) : segment_number(s)) ? 1 : 0;
}
