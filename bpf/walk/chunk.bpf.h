/* bpf/walk/chunk.bpf.h: goes on with a walk in the frames of a virtual thread that are in the heap.
 * Compiles for the host too. */
#pragma once

/*
 * Where the other frames of a virtual thread are
 *
 * A virtual thread that leaves its carrier has its frames copied into a StackChunk, a Java object
 * whose last part is a piece of stack. Mounted again, it gets the innermost ones back, and the
 * others one after the other as they are returned to; until then the outermost frame on the
 * carrier's stack returns to the return barrier. The carrier's Thread.cont leads to the
 * Continuation that runs, its tail to the chunk, whose sp says which part of it is in use, and
 * whose parent is an older one. (HotSpot: share/runtime/continuationFreezeThaw.cpp,
 * share/runtime/stackChunkFrameStream.inline.hpp and its part for x86.)
 *
 * Frames lie there as on the stack: with the pc of the innermost one, and the frame pointer, in the
 * two words below sp. So the walk goes on with sp in the chunk. Only what interpreted frames have
 * of addresses in the stack is relative: their frame pointer to the word in which a callee has
 * saved it, the sender's sp and the locals to the frame pointer, all in words.
 *
 * Why that is not the chain of something else. The chunk of a thread that is mounted is changed by
 * that thread alone, but a collector may move it. Only with collectors that move objects while Java
 * threads are stopped is it read at all (chunk.ready): G1, Serial, Parallel; with ZGC and
 * Shenandoah an address may be stale, with nothing to see it by. The VM's flag that such a
 * collection is going on, and its count of collections, must be the same before and after. The
 * thread itself changes the chunk within libjvm, in the call that unmounts it or brings frames
 * back: so it must be at a probe, in a system call, or in Java code. After libjvm has copied the
 * frames of a thread that unmounts, they are still on the stack for some instructions: so a walk
 * which finds in the heap what it began with is not believed.
 *
 * Whatever does not fit: the walk ends where it came to the heap, as one that never looked there.
 */

#include "bpf/walk/walk.bpf.h"

#define HS_CHUNK_WORDS_MAX (1 << 20)
#define HS_CHUNKS_MAX 64  /* looked at in one walk */
#define HS_CHUNKS_EMPTY 4 /* one after the other */

#define HS_CHUNK(w, field) HS_CODE(w, chunk.field)

/* How many collections there have been; odd: one is going on. */
HS_FN __u64 hs_collections(struct hs_walk *w)
{
	__u32 count = 0;
	__u8 active = 1;

	if (HS_READ(w, &active, HS_CHUNK(w, gc_active)) ||
	    HS_READ(w, &count, HS_CHUNK(w, gc_count)))
		return 1;
	return (__u64)count << 1 | !!active;
}

/* An oop field of an object; 0, too: it cannot be read. */
HS_FN __u64 hs_oop(struct hs_walk *w, __u64 address)
{
	__u64 word = 0;
	__u32 narrow = 0;

	if (!HS_CHUNK(w, compressed_oops))
		return HS_READ(w, &word, address) ? 0 : word;
	if (HS_READ(w, &narrow, address) || !narrow)
		return 0;
	return HS_CHUNK(w, narrow_oop_base) +
	       ((__u64)narrow << (HS_CHUNK(w, narrow_oop_shift) & 63));
}

HS_FN int hs_is_of(struct hs_walk *w, __u64 object, __u64 klass)
{
	__u64 word = 0;
	__u32 narrow = 0;

	if (!object)
		return 0;
	if (HS_CHUNK(w, mark_klass_shift)) {
		if (HS_READ(w, &word, object + HS_CHUNK(w, oop_mark)))
			return 0;
		narrow = word >> (HS_CHUNK(w, mark_klass_shift) & 63);
	} else if (!HS_CHUNK(w, compressed_klass)) {
		return !HS_READ(w, &word, object + HS_CHUNK(w, oop_klass)) && word == klass;
	} else if (HS_READ(w, &narrow, object + HS_CHUNK(w, oop_klass))) {
		return 0;
	}
	return HS_CHUNK(w, narrow_klass_base) +
		       ((__u64)narrow << (HS_CHUNK(w, narrow_klass_shift) & 63)) ==
	       klass;
}

/* The newest chunk of the virtual thread that is mounted; 0: it has none that can be read. */
HS_FN __u64 hs_chunk_first(struct hs_walk *w)
{
	__u64 handle = 0, thread = 0, cont;

	if (HS_READ(w, &handle, w->java_thread + HS_CHUNK(w, thread_obj)) || !handle ||
	    HS_READ(w, &thread, handle) || !thread)
		return 0;
	cont = hs_oop(w, thread + HS_CHUNK(w, thread_cont));
	return cont ? hs_oop(w, cont + HS_CHUNK(w, cont_tail)) : 0;
}

/* Where its frames are. 0: so it is; 1: it has none. */
HS_FN int hs_chunk_read(struct hs_walk *w, __u64 chunk, __u64 *ret_sp, __u64 *ret_end)
{
	__u64 stack = chunk + HS_CHUNK(w, chunk_stack);
	__s32 size = 0, sp = 0, bottom = 0;

	if (!hs_is_of(w, chunk, HS_CHUNK(w, chunk_klass)) ||
	    HS_READ(w, &size, chunk + HS_CHUNK(w, chunk_size)) ||
	    HS_READ(w, &sp, chunk + HS_CHUNK(w, chunk_sp)) ||
	    HS_READ(w, &bottom, chunk + HS_CHUNK(w, chunk_bottom)))
		return -1;
	if (HS_CHUNK(w, chunk_bottom_is_argsize))
		bottom = size - bottom;
	if (size < 0 || size > HS_CHUNK_WORDS_MAX || bottom < 0 || bottom > size || sp < 0 ||
	    sp > size)
		return -1;
	if (sp >= bottom)
		return 1;
	*ret_sp = stack + (__u64)sp * 8;
	*ret_end = stack + (__u64)bottom * 8;
	return sp < 2 ? -1 : 0;
}

/* To the innermost frame of this chunk, or of the next one that has any. */
HS_FN int hs_chunk_enter(struct hs_walk *w, __u64 chunk)
{
	struct hs_pair below = {};
	__u64 sp = 0, end = 0;
	int none = 1;

	for (int i = 0; none > 0 && i < HS_CHUNKS_EMPTY; i++) {
		if (!chunk) {
			/* As the outermost frame has it, if it was not replaced there. */
			if (HS_CHUNK(w, entry_return))
				w->pc = HS_CHUNK(w, entry_return);
			w->chunks_end = 1;
			return 0;
		}
		if (++w->chunks > HS_CHUNKS_MAX)
			return hs_end(w, WIRE_WALK_IN_HEAP);
		none = hs_chunk_read(w, chunk, &sp, &end);
		w->chunk = chunk;
		chunk = none > 0 ? hs_oop(w, chunk + HS_CHUNK(w, chunk_parent)) : chunk;
	}
	if (none || HS_READ(w, &below, sp - 16))
		return hs_end(w, WIRE_WALK_IN_HEAP);
	w->sp = sp;
	w->stack_high = end;
	w->fp = below.low;
	w->fp_at = sp - 16;
	w->pc = below.high;
	return 0;
}

/* At the return barrier, or at the end of a chunk. */
HS_FN int hs_chunk_here(struct hs_walk *w)
{
	if (w->chunk)
		return hs_chunk_enter(w, hs_oop(w, w->chunk + HS_CHUNK(w, chunk_parent)));
	w->heap_count = w->stack.count;
	w->heap_hash1 = w->hash1;
	w->heap_hash2 = w->hash2;
	w->collections = 1;
	/* What is read there is not remembered. */
	w->memo.notes = HS_NOTES_MAX + 1;
	if (!HS_CHUNK(w, ready) || !w->settled)
		return hs_end(w, WIRE_WALK_IN_HEAP);
	w->collections = hs_collections(w);
	w->first_chunk = w->collections & 1 ? 0 : hs_chunk_first(w);
	return w->first_chunk ? hs_chunk_enter(w, w->first_chunk) : hs_end(w, WIRE_WALK_IN_HEAP);
}

HS_SUBPROGRAM int hs_chunk(struct hs_walk *w)
{
	return w ? hs_chunk_here(w) : 1;
}

/* No frame has less than two words. */
HS_FN int hs_at_chunk_end(struct hs_walk *w)
{
	return w->chunk && w->sp + 16 >= w->stack_high;
}

HS_FN int hs_frames_same(struct hs_walk *w, __u32 a, __u32 b)
{
	const struct wire_frame *x = &w->stack.frames[a & (WIRE_FRAMES_MAX - 1)];
	const struct wire_frame *y = &w->stack.frames[b & (WIRE_FRAMES_MAX - 1)];

	return x->code == y->code && x->id == y->id;
}

/* The end of a walk that has been in the heap. */
HS_FN int hs_chunk_verify_here(struct hs_walk *w)
{
	__u32 result = w->stack.result;

	if (!w->chunk)
		return 0;
	if ((result == WIRE_WALK_COMPLETE || result == WIRE_WALK_CUT) &&
	    w->stack.count > w->heap_count && !hs_frames_same(w, w->heap_count, 0) &&
	    (w->settled != HS_SETTLED_IN_JAVA || w->heap_count < 2 ||
	     !hs_frames_same(w, w->heap_count, 1)) &&
	    hs_chunk_first(w) == w->first_chunk && hs_collections(w) == w->collections)
		return 0;
	w->stack.count = w->heap_count;
	w->hash1 = w->heap_hash1;
	w->hash2 = w->heap_hash2;
	w->stack.result = WIRE_WALK_IN_HEAP;
	return 0;
}

HS_SUBPROGRAM int hs_chunk_verify(struct hs_walk *w)
{
	return w ? hs_chunk_verify_here(w) : 1;
}
