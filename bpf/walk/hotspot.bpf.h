/* bpf/walk/hotspot.bpf.h: walks the stack of a Java thread of HotSpot. Compiles for the host
 * too. */
#pragma once

/*
 * How a stack of HotSpot is walked from outside
 *
 * What differs by architecture is in frames.bpf.h; this page is written for x86-64. On arm64
 * compiled frames are the same, with x29 for rbp, but calls leave the return address in a register
 * (HS_LINK). What differs by version (offsets, slots of interpreted frames) is in
 * WIRE_CODE_FIELDS, which user space fills from the version's table (user/jvm/layout/versions). The
 * constants here are the same in JDK 11 to 25: the segment map's bytes, the words of a compiled
 * frame below its sp, the return address below an anchor's sp, InvocationEntryBci (-1),
 * JavaFrameAnchor's three words.
 *
 * Where to begin. A thread that is in the VM, in native code or blocked has left its Java code
 * through a frame anchor (JavaThread::_anchor): sp, pc and fp of its last Java frame. A thread that
 * is in Java code, or that was called from it as a leaf (a monitor exit from C2 code or from the
 * interpreter), has a clear anchor: then the walk begins at its registers. Out of libjvm it goes by
 * the library's own unwind rules (.eh_frame), which user space looks up for each pc that comes by,
 * once. libjvm's code keeps no frame pointers, and its frames are full of stale return addresses,
 * so nothing is scanned.
 *
 * Each frame has a pc, an sp and an fp. The code cache's segment map leads from the pc to the
 * CodeBlob:
 * - an nmethod (native wrappers are some): the caller's pc is the word below sp + frame size, its
 * fp the word below that: all compiled frames save rbp there, and if the caller is interpreted that
 * is its frame pointer. (C2 uses rbp as a general register: no chain of frame pointers is
 * followed.) A frame that is to be deoptimized returns to the deoptimization handler: the pc that
 * it would have returned to is kept in the frame.
 * - a stub with a frame size: the same, but it is no Java frame.
 * - the interpreter: everything is relative to fp. The bytecode pointer must lie in
 *   the code of its Method.
 * - the call stub (StubRoutines::_call_stub_return_address): Java code called from native code. The
 *   JavaCallWrapper in its frame has the anchor of the Java frames below; none: this is the base.
 *
 * Return addresses lie at points where frames are whole. Only the first frame of a thread that was
 * interrupted in Java code may be half built: in the prologue or the epilogue of compiled code the
 * next instructions show how far. User space then demands a PcDesc of exactly that pc for each
 * compiled frame but an interrupted one, so that a walk that has gone astray is found out.
 *
 * sp grows with every frame: the walk ends, whatever it reads.
 *
 * Most walks repeat an earlier one. A walk is a function of where it begins, of the code cache, and
 * of the words of the stack that it reads: return addresses, some frame pointers, the interpreter's
 * Method, bytecode pointer and sender sp. These words are noted (hs_note), and kept with the
 * chain's id. The next walk that begins at the same sp and pc reads that part of the stack at once;
 * if all noted words are the same, and no code or class has been unloaded, it is the same chain.
 * Frame pointers are noted only where one is used: rbp may hold anything else.
 */

#include "bpf/walk/steps.bpf.h"

/* --- the beginning ----------------------------------------------------------------------- */

/* Whether pc follows a call in Java code: a return address, and no look-alike. */
HS_FN int hs_is_return(struct hs_walk *w, __u64 pc)
{
	struct hs_code c = {};
	__u64 before = 0;

	/* Adapters and linkers are called by the interpreter too. */
	if (hs_in_interpreter(w, pc))
		return 1;
	if (hs_in_heap(w, pc) < 0 || hs_code_find(w, pc, &c) || c.kind != HS_COMPILED ||
	    HS_READ(w, &before, pc - 8))
		return 0;
	return hs_is_call(before);
}

/* To the caller of a frame of which only the return address, at sp + skip, is there. */
HS_FN int hs_frameless(struct hs_walk *w, __u64 skip)
{
	__u64 pc = 0, fp = w->fp;

	if (HS_READ(w, &pc, w->sp + skip) || (skip && HS_READ(w, &fp, w->sp)))
		return hs_end(w, WIRE_WALK_READ);
	w->pc = pc;
	w->fp = fp;
	return hs_up(w, w->sp + skip + 8);
}

/* Native code has returned to a stub without a frame: see hs_unwind_left(). */
HS_FN int hs_bare_here(struct hs_walk *w)
{
	int below = hs_unwind_left(w);
	__u64 pc = 0;

	if (below < 0)
		return hs_end(w, WIRE_WALK_STUB);
	w->sp += (__u64)below;
	if (HS_READ(w, &pc, w->sp))
		return hs_end(w, WIRE_WALK_READ);
	hs_note(w, w->sp, pc);
	if (!hs_is_return(w, pc))
		return hs_end(w, WIRE_WALK_STUB);
	w->first = WIRE_FRAME_COMPILED;
	return hs_frameless(w, 0);
}

HS_SUBPROGRAM int hs_bare(struct hs_walk *w)
{
	return w ? hs_bare_here(w) : 1;
}

/* To the caller of a frame of which there is nothing, but that sp may be its own already. */
HS_FN int hs_linked(struct hs_walk *w, __u32 frame_bytes)
{
	w->pc = w->link;
	return frame_bytes ? hs_up(w, w->sp + frame_bytes) : 0;
}

HS_FN int hs_is_in_stack(struct hs_walk *w, __u64 fp)
{
	return fp >= w->sp && fp < w->stack_high && !(fp & 7);
}

/* Whether fp is that of an interpreted frame. */
HS_FN int hs_is_interpreted(struct hs_walk *w, __u64 fp)
{
	__u64 method = 0, bcp = 0;

	return !HS_READ(w, &method, hs_word(fp, HS_CODE(w, interpreter_method))) &&
	       !HS_READ(w, &bcp, hs_word(fp, HS_CODE(w, interpreter_bcp))) &&
	       hs_bci(w, method, bcp) >= 0;
}

/* Whether compiled code that a return address leads to has its frame at sp: what it returns to is
 * a caller, too, and has its own frame where it has to be. */
HS_FN int hs_fits(struct hs_walk *w, __u64 pc, __u64 sp)
{
	struct hs_code c = {};
	struct hs_pair at = {};

	if (hs_code_find(w, pc, &c) || c.kind != HS_COMPILED ||
	    HS_READ(w, &at, sp + c.frame_bytes - 16))
		return 0;
	if (at.high != HS_CODE(w, call_stub_return) && !hs_in_interpreter(w, at.high)) {
		sp += c.frame_bytes;
		return hs_is_return(w, at.high) && !hs_code_find(w, at.high, &c) &&
		       !HS_READ(w, &at, sp + c.frame_bytes - 16) &&
		       (at.high == HS_CODE(w, call_stub_return) || hs_is_return(w, at.high));
	}
	if (!hs_is_in_stack(w, at.low) || at.low < sp + c.frame_bytes)
		return 0;
	return at.high == HS_CODE(w, call_stub_return) || hs_is_interpreted(w, at.low);
}

/*
 * A stub without a frame size where calls leave the return address in a register: what is on the
 * stack by then is not known. So the caller's frame has to fit: with nothing on the stack, or with
 * fp and the return address, to which fp leads or which are on top. What a stub has called itself
 * has changed that register: then it is not known.
 */
HS_FN int hs_linked_stub(struct hs_walk *w)
{
	struct hs_pair at_fp = {};
	__u32 before = 0;

	if (HS_READ(w, &before, w->pc - 4))
		return hs_end(w, WIRE_WALK_READ);
	if (!hs_is_return(w, w->link))
		return hs_end(w, WIRE_WALK_STUB);
	if (hs_in_interpreter(w, w->link))
		return hs_linked(w, 0);
	if (HS_HAS_PUSHED_LINK(before))
		return hs_fits(w, w->link, w->sp + 16) ? hs_frameless(w, 8)
						       : hs_end(w, WIRE_WALK_STUB);
	if (hs_is_in_stack(w, w->fp) && !HS_READ(w, &at_fp, w->fp) && at_fp.high == w->link &&
	    hs_fits(w, w->link, w->fp + 16)) {
		w->sp = w->fp;
		return hs_frameless(w, 8);
	}
	return hs_sp_unused(w) && hs_fits(w, w->link, w->sp) ? hs_linked(w, 0)
							     : hs_end(w, WIRE_WALK_STUB);
}

/* Whether the VM has called the code that it has generated, as when it flushes what it has patched;
 * *ret is the sp of the anchor that the thread has left then. */
HS_FN int hs_called_by_vm(struct hs_walk *w, __u64 return_address, __u64 *ret)
{
	__u64 anchor = w->java_thread + HS_CODE(w, thread_anchor);

	return hs_in_libjvm(w, return_address) &&
	       !HS_READ(w, ret, anchor + HS_CODE(w, anchor_sp)) && *ret;
}

/* Goes on with that anchor. */
HS_FN int hs_at_anchor(struct hs_walk *w, __u64 last_sp)
{
	w->via = WIRE_VIA_ANCHOR;
	w->sp = last_sp - 8;
	w->first = WIRE_FRAME_UNLOCK; /* as in hs_start() */
	return hs_anchor(w, w->java_thread + HS_CODE(w, thread_anchor), WIRE_WALK_READ);
}

/* On the way from the interpreter, or from the call stub, to compiled code: fp is theirs. */
HS_FN int hs_aligning(struct hs_walk *w)
{
	if (!hs_is_in_stack(w, w->fp))
		return hs_end(w, WIRE_WALK_STUB);
	w->first = WIRE_FRAME_COMPILED;
	w->pc = hs_is_interpreted(w, w->fp) ? HS_CODE(w, interpreter_low)
					    : HS_CODE(w, call_stub_return);
	return 0;
}

/* Stubs without a frame size: called from compiled code, with nothing, or with fp, on the stack. */
HS_FN int hs_frameless_stub(struct hs_walk *w, __u64 blob)
{
	struct hs_pair top = {};
	struct hs_bytes code = {};
	__u64 last_sp = 0;
	int below;

	if (HS_READ(w, &top, w->sp) || HS_READ(w, &code, w->pc - 8))
		return hs_end(w, WIRE_WALK_READ);
	if (hs_is_aligning(code.b + 8))
		return hs_aligning(w);
	below = hs_subtype_built(w, blob, code.b + 8);
	if (below >= 0) {
		if (HS_READ(w, &top, w->sp + (__u64)below))
			return hs_end(w, WIRE_WALK_READ);
		if (!hs_is_return(w, top.low))
			return hs_end(w, WIRE_WALK_STUB);
		w->pc = top.low;
		return hs_up(w, w->sp + (__u64)below + 8 + HS_SUBTYPE_PUSHED);
	}
	if (hs_called_by_vm(w, top.low, &last_sp))
		return hs_at_anchor(w, last_sp);
	if (HS_HAS_ALIGNED(code.b + 8)) {
		if (hs_is_return(w, top.high)) {
			w->sp += 8;
			return hs_frameless(w, 0);
		}
	} else if (hs_is_return(w, top.low)) {
		return hs_frameless(w, 0);
	}
	if (HS_HAS_PUSHED_FP(code.b + 8) && hs_is_return(w, top.high))
		return hs_frameless(w, 8);
	if (w->fp >= w->sp && w->fp < w->stack_high && !(w->fp & 7) && !HS_READ(w, &top, w->fp) &&
	    hs_is_return(w, top.high)) {
		w->sp = w->fp;
		return hs_frameless(w, 8);
	}
	return hs_end(w, WIRE_WALK_STUB);
}

/*
 * An interpreted frame that is being made. The callee's Method is in a register all the while, and
 * so is the sender's sp, until it is pushed; then that register gets the bytecode pointer, which
 * is that of the method's first bytecode: what is in registers and in the frame so far has to fit
 * together.
 */
HS_FN int hs_making_here(struct hs_walk *w, int making)
{
	__u64 fp = w->fp, sender_sp = w->bcp, constant = 0, word = 0;
	struct hs_pair caller = {.low = w->fp, .high = w->link};

	if (HS_READ(w, &constant, w->method + HS_CODE(w, method_const)) ||
	    hs_bci(w, w->method, constant + HS_CODE(w, const_size)) < 0)
		return hs_end(w, WIRE_WALK_HALF_BUILT);
	if (making == HS_MAKING_TOP && HS_READ(w, &caller.high, w->sp))
		return hs_end(w, WIRE_WALK_READ);
	if (making == HS_MAKING_PUSHED && HS_READ(w, &caller, w->sp))
		return hs_end(w, WIRE_WALK_READ);
	if (making == HS_MAKING_OWN_FP) {
		if (HS_READ(w, &caller, fp))
			return hs_end(w, WIRE_WALK_READ);
		if (w->sp <= hs_word(fp, HS_CODE(w, interpreter_sender_sp)) &&
		    HS_READ(w, &sender_sp, hs_word(fp, HS_CODE(w, interpreter_sender_sp))))
			return hs_end(w, WIRE_WALK_READ);
		if (w->sp <= hs_word(fp, HS_CODE(w, interpreter_method)) &&
		    (w->bcp != constant + HS_CODE(w, const_size) ||
		     HS_READ(w, &word, hs_word(fp, HS_CODE(w, interpreter_method))) ||
		     word != w->method))
			return hs_end(w, WIRE_WALK_HALF_BUILT);
		if (sender_sp <= fp)
			return hs_end(w, WIRE_WALK_HALF_BUILT);
	}
	if (hs_push(w, w->method, 0, WIRE_FRAME_INTERPRETED))
		return 1;
	w->interpreted = 1;
	/* Where fp will be. The sender's sp may be that of the return address: linkers of method
	 * handles take an argument off the stack. */
	if (making == HS_MAKING_LINK)
		w->sp -= 16;
	if (making == HS_MAKING_TOP)
		w->sp -= 8;
	w->pc = caller.high;
	w->fp = caller.low;
	return hs_up(w, sender_sp);
}

/* An interpreted frame that is gone: what is left of it is the return address, and the sender's sp
 * in the register that has a Method else. */
HS_FN int hs_left_here(struct hs_walk *w, int making)
{
	__u64 pc = HS_LINK ? w->link : w->bcp;

	if (making == HS_LEFT_TOP && HS_READ(w, &pc, w->sp))
		return hs_end(w, WIRE_WALK_READ);
	w->pc = pc;
	if (making == HS_LEFT_SP)
		return 0;
	w->sp -= making == HS_LEFT ? 16 : 8; /* where fp was */
	return hs_up(w, w->method);
}

/* 0 or 1: as a step; 2: the frame is whole, as far as can be seen. */
HS_SUBPROGRAM int hs_half_interpreted(struct hs_walk *w)
{
	int making, ended;

	if (!w)
		return 1;
	making = hs_making(w);
	if (!making)
		return 2;
	if (making < 0)
		return hs_end(w, WIRE_WALK_READ);
	w->via = WIRE_VIA_PROLOGUE;
	if (HS_LINK && making == HS_MAKING_UNSEEN)
		return hs_end(w, WIRE_WALK_HALF_BUILT);
	ended = making >= HS_LEFT_TOP ? hs_left_here(w, making) : hs_making_here(w, making);
	w->bcp = 0;
	w->first = WIRE_FRAME_COMPILED;
	return ended;
}

/* The first frame of a thread that was interrupted in the interpreter. */
HS_SUBPROGRAM int hs_interrupted_interpreter(struct hs_walk *w)
{
	int built;

	if (!w)
		return 1;
	w->via = WIRE_VIA_INTERPRETER;
	built = hs_half_interpreted(w);
	if (built < 2)
		return built;
	/* Frames that are being made or unmade lack what is last to be pushed. */
	if (w->sp > hs_word(w->fp, HS_CODE(w, interpreter_bcp)))
		return hs_end(w, WIRE_WALK_HALF_BUILT);
	return hs_interpreted(w);
}

/* In code that was compiled, or a stub. */
HS_FN int hs_interrupted_here(struct hs_walk *w)
{
	struct hs_code c = {};
	__u64 caller_fp, sp;
	__u32 why;
	int built;

	w->bcp = 0;
	hs_block_find(w, w->pc);
	why = hs_code_read(w, w->pc, &c);
	if (why)
		return hs_end(w, why);
	w->via = c.kind == HS_COMPILED ? WIRE_VIA_COMPILED : WIRE_VIA_STUB;
	if (c.kind == HS_STUB)
		return HS_LINK ? hs_end(w, WIRE_WALK_STUB) : HS_IN_STUB;
	if (c.kind != HS_COMPILED)
		return HS_LINK ? HS_IN_STUB : hs_frameless_stub(w, c.blob);
	built = hs_built(w, &c);
	if (built)
		w->via = WIRE_VIA_PROLOGUE;
	if (built < 0)
		return hs_end(w, WIRE_WALK_HALF_BUILT);
	if (hs_push(w, w->pc, c.id, WIRE_FRAME_INTERRUPTED))
		return 1;
	w->first = WIRE_FRAME_COMPILED;
	if (HS_LINK && built >= HS_RETURN_IN_LINK)
		return hs_linked(w, built == HS_LINK_BELOW_CFA ? c.frame_bytes : 0);
	if (built == HS_RETURN_ON_TOP || built == HS_RETURN_BELOW_FP)
		return hs_frameless(w, built == HS_RETURN_ON_TOP ? 0 : 8);
	caller_fp = w->fp;
	sp = w->sp;
	if (hs_sized_frame(w, c.frame_bytes))
		return 1;
	/* C2's code that compresses a string's characters has pushed a word meanwhile. */
	if (!HS_LINK && built == HS_BUILT && hs_in_heap(w, w->pc) < 0) {
		w->sp = sp + 8;
		if (hs_sized_frame(w, c.frame_bytes))
			return 1;
	}
	if (built == HS_BUILT_NO_FP)
		w->fp = caller_fp;
	return 0;
}

/*
 * A loop is interrupted at many addresses, each of which would make another chain. So the frame
 * where it was is taken off, and the chain is that of the callers: it begins at a return address,
 * as if it were a walk of its own, and is remembered like one. A stub has no frame that is told,
 * nor has the interpreter when a method has returned: there is none to be taken off.
 */
HS_FN void hs_split(struct hs_walk *w)
{
	w->top.code = 0;
	if (w->stack.count)
		w->top = w->stack.frames[0];
	w->stack.count = 0;
	w->hash1 = 0;
	w->hash2 = 0;
	w->interpreted = 0;
	w->from = w->sp;
	w->fp_at = 0;
	w->memo.fp = w->fp;
	w->memo.notes = 0;
}

/* A stub that has a frame, or had it. There are old return addresses in the frames of stubs: so how
 * much of one is there is seen by the code alone, and what it leads to has to be a call. */
HS_FN int hs_framed_stub(struct hs_walk *w)
{
	struct hs_code c = {};
	__u64 fp = w->fp;
	int built = hs_code_find(w, w->pc, &c) ? -1 : hs_stub_built(w, c.blob), ended;

	if (built < 0 || (built == HS_BUILT_AT_FP && !hs_is_in_stack(w, fp)))
		return hs_end(w, WIRE_WALK_STUB);
	if (built == HS_BUILT_AT_FP)
		w->sp = fp;
	if (built == HS_BUILT || built == HS_BUILT_NO_FP)
		ended = hs_sized_frame(w, c.frame_bytes);
	else
		ended = hs_frameless(w, built == HS_RETURN_ON_TOP ? 0 : 8);
	if (built == HS_BUILT_NO_FP)
		w->fp = fp;
	return ended || hs_is_return(w, w->pc) ? ended : hs_end(w, WIRE_WALK_STUB);
}

HS_SUBPROGRAM int hs_interrupted_stub(struct hs_walk *w)
{
	return !w ? 1 : HS_LINK ? hs_linked_stub(w) : hs_framed_stub(w);
}

HS_SUBPROGRAM int hs_interrupted_code(struct hs_walk *w)
{
	return w ? hs_interrupted_here(w) : 1;
}

/* Parts, each called from here: their frames would have no room together on Linux 6.1. */
HS_FN int hs_interrupted(struct hs_walk *w)
{
	int ended;

	if (hs_in_interpreter(w, w->pc))
		return hs_interrupted_interpreter(w);
	ended = hs_interrupted_code(w);
	return ended == HS_IN_STUB ? hs_interrupted_stub(w) : ended;
}

#define HS_IN_JAVA 2 /* the walk begins in Java code: go on with hs_interrupted() */

/* As hs_begin(), up to there. */
HS_FN int hs_start(struct hs_walk *w, const struct hs_start *s)
{
	__u64 anchor = s->java_thread + HS_CODE(w, thread_anchor), last_sp = 0;
	int ended;

	w->pc = s->pc;
	w->sp = s->sp;
	w->fp = s->fp;
	w->bcp = s->bcp;
	w->method = s->method;
	w->link = s->link;
	w->stack_high = s->stack_high;
	w->hash1 = 0;
	w->hash2 = 0;
	w->ask = 0;
	w->hops = 0;
	w->steps = 0;
	w->native = 0;
	w->libjvm = 0;
	w->interpreted = 0;
	/* Code that was interrupted, or that has called a leaf, has no debug information there. */
	w->first = s->unlock ? WIRE_FRAME_UNLOCK : WIRE_FRAME_INTERRUPTED;
	w->java_thread = s->java_thread;
	w->chunk = 0;
	w->chunks = 0;
	w->chunks_end = 0;
	w->settled = s->settled;
	w->via = WIRE_VIA_NONE;
	w->top.code = 0;
	w->from = 0;
	w->fp_at = 0;
	w->memo.notes = HS_NOTES_MAX + 1;
	w->memo.fp_used = 0;
	w->memo.span = 0;
	w->stack.count = 0;
	w->stack.result = WIRE_WALK_CUT; /* if it takes more steps than there may be */
	if (hs_in_interpreter(w, w->pc) || hs_in_heap(w, w->pc) >= 0) {
		w->settled = HS_SETTLED_IN_JAVA;
		return HS_IN_JAVA;
	}
	w->bcp = 0;
	if (HS_READ(w, &last_sp, anchor + HS_CODE(w, anchor_sp)))
		return hs_end(w, WIRE_WALK_READ);
	w->via = last_sp ? WIRE_VIA_ANCHOR : WIRE_VIA_NATIVE;
	if (last_sp) {
		w->sp = last_sp - 8; /* the anchor may be above or below where the kernel left sp */
		/* Of the calls that leave an anchor, C1's to release a lock is the only one. */
		w->first = WIRE_FRAME_UNLOCK;
		ended = hs_anchor(w, anchor, WIRE_WALK_READ);
	} else {
		w->native = 1;
		ended = 0;
	}
	w->from = w->sp;
	w->memo.fp = w->fp;
	w->memo.notes = 0;
	return ended;
}

#ifndef __bpf__
/* 0: there are frames to be walked. */
HS_FN int hs_begin(struct hs_walk *w, const struct hs_start *s)
{
	int ended = hs_start(w, s);

	if (ended != HS_IN_JAVA)
		return ended;
	ended = hs_interrupted(w);
	if (s->split)
		hs_split(w);
	return ended;
}
#endif

HS_FN int hs_step(struct hs_walk *w)
{
	int ended;

	if (w->native)
		return hs_native(w);
	if (HS_CHUNKS && w->chunks_end)
		return hs_chunks_end(w);
	if (HS_CHUNKS && (hs_at_chunk_end(w) || hs_at_barrier(w)))
		return hs_chunk(w);
	if (hs_in_interpreter(w, w->pc))
		return hs_interpreted(w);
	if (w->pc == HS_CODE(w, call_stub_return))
		return hs_entry(w);
	ended = hs_compiled(w);
	return ended == HS_IN_STUB ? hs_bare(w) : ended;
}

#ifndef __bpf__
/* Frames are in w->walk.stack afterwards, and how it ended. w->host is the caller's. */
HS_FN void hs_walk_host(struct hs_host_walk *w, const struct hs_start *s)
{
	if (hs_begin(&w->walk, s))
		return;
	for (int i = 0; i < HS_STEPS_MAX; i++)
		if (hs_step(&w->walk))
			break;
	hs_chunk_verify(&w->walk);
}
#endif
