/* bpf/walk/steps.bpf.h: from one frame to its caller: see the essay in hotspot.bpf.h. */
#pragma once

#include "bpf/walk/chunk.bpf.h"
#include "bpf/walk/frames.bpf.h"

/* --- frames ------------------------------------------------------------------------------ */

/* To the caller of a frame of known size. */
HS_FN int hs_sized_frame(struct hs_walk *w, __u32 frame_bytes)
{
	struct hs_pair caller = {};
	__u64 sp = w->sp;

	if (hs_up(w, sp + frame_bytes))
		return 1;
	if (HS_READ(w, &caller, sp + frame_bytes - 16))
		return hs_end(w, WIRE_WALK_READ);
	w->fp = caller.low;
	w->fp_at = sp + frame_bytes - 16;
	w->pc = caller.high;
	hs_note(w, sp + frame_bytes - 8, caller.high);
	return 0;
}

#define HS_IN_STUB 2 /* go on with the stub at pc */

HS_FN int hs_compiled_here(struct hs_walk *w)
{
	struct hs_code c = {};
	__u32 why = hs_code_find(w, w->pc, &c), id;
	__u64 pc = 0, blob;

	if (why)
		return hs_end(w, why);
	if (c.kind == HS_DEOPTIMIZED) {
		blob = c.blob;
		id = c.id;
		if (HS_READ(w, &pc, w->sp + c.orig_pc_offset))
			return hs_end(w, WIRE_WALK_READ);
		hs_note(w, w->sp + c.orig_pc_offset, pc);
		if (hs_code_find(w, pc, &c) || c.kind != HS_COMPILED || c.blob != blob ||
		    c.id != id)
			return hs_end(w, WIRE_WALK_DEOPTIMIZED);
		w->pc = pc;
	}
	if (c.kind == HS_BARE)
		return w->stack.count ? hs_end(w, WIRE_WALK_STUB) : HS_IN_STUB;
	if (c.kind == HS_COMPILED) {
		if (hs_push(w, w->pc, c.id, w->first))
			return 1;
		w->first = WIRE_FRAME_COMPILED;
	}
	return hs_sized_frame(w, c.frame_bytes);
}

/* After the frames in the heap: the one that is always on the carrier's stack. Below it are the
 * carrier's own. */
HS_FN int hs_chunks_end_here(struct hs_walk *w)
{
	struct hs_code c = {};

	if (w->pc && !hs_code_find(w, w->pc, &c) && c.kind == HS_COMPILED &&
	    hs_push(w, w->pc, c.id, WIRE_FRAME_COMPILED))
		return 1;
	return hs_end(w, WIRE_WALK_COMPLETE);
}

HS_SUBPROGRAM int hs_chunks_end(struct hs_walk *w)
{
	return w ? hs_chunks_end_here(w) : 1;
}

HS_SUBPROGRAM int hs_compiled(struct hs_walk *w)
{
	return w ? hs_compiled_here(w) : 1;
}

/* The bytecode index; -1: this is no interpreter's frame; -2: it cannot be read. Native methods
 * have no bytecode pointer, but the one of where bytecodes would begin if the frame has called the
 * VM itself, as it does when its invocations are many. A Method's vtable is not asked for: those of
 * archived classes (CDS) have one of their own. */
HS_FN __s32 hs_bci(struct hs_walk *w, __u64 method, __u64 bcp)
{
	__u64 constant = 0, bci;
	__u16 code_size = 0;

	if (HS_READ(w, &constant, method + HS_CODE(w, method_const)) ||
	    HS_READ(w, &code_size, constant + HS_CODE(w, const_code_size)))
		return -2;
	bci = bcp - (constant + HS_CODE(w, const_size));
	if (!code_size)
		return bcp && bci ? -1 : 0;
	return bci < code_size ? (__s32)bci : -1;
}

HS_FN int hs_interpreted_here(struct hs_walk *w)
{
	__u64 fp = w->fp, method = 0, bcp = 0, sender_sp = 0;
	struct hs_pair caller = {};
	__s32 bci;

	if (w->chunk)
		fp = w->fp_at + fp * 8;
	if (fp < w->sp || fp >= w->stack_high || (fp & 7))
		return hs_end(w, WIRE_WALK_INTERPRETER);
	if (HS_READ(w, &method, hs_word(fp, HS_CODE(w, interpreter_method))) ||
	    HS_READ(w, &bcp, hs_word(fp, HS_CODE(w, interpreter_bcp))) ||
	    HS_READ(w, &sender_sp, hs_word(fp, HS_CODE(w, interpreter_sender_sp))) ||
	    HS_READ(w, &caller, fp))
		return hs_end(w, WIRE_WALK_READ);
	if (w->chunk)
		sender_sp = fp + sender_sp * 8;
	hs_note_fp(w);
	hs_note(w, hs_word(fp, HS_CODE(w, interpreter_method)), method);
	hs_note(w, hs_word(fp, HS_CODE(w, interpreter_bcp)), bcp);
	hs_note(w, hs_word(fp, HS_CODE(w, interpreter_sender_sp)), sender_sp);
	hs_note(w, fp + 8, caller.high);
	/* Interrupted in the interpreter: there it is in a register, but for native methods, and
	 * for calls, which have saved it, and use the register otherwise. */
	bci = bcp && w->bcp ? hs_bci(w, method, w->bcp) : -1;
	w->bcp = 0;
	if (bci == -1)
		bci = hs_bci(w, method, bcp);
	if (bci < 0 || HS_SENDER_LOW(fp, sender_sp))
		return hs_end(w, WIRE_WALK_INTERPRETER);
	if (hs_push(w, method, (__u32)bci, WIRE_FRAME_INTERPRETED))
		return 1;
	w->interpreted = 1;
	w->first = WIRE_FRAME_COMPILED;
	w->pc = caller.high;
	w->fp = caller.low;
	w->fp_at = fp;
	/* The outermost frame's arguments may be beyond the chunk's frames. */
	if (w->chunk && sender_sp > w->stack_high)
		sender_sp = w->stack_high;
	return hs_up(w, hs_sender_sp(fp, sender_sp));
}

HS_SUBPROGRAM int hs_interpreted(struct hs_walk *w)
{
	return w ? hs_interpreted_here(w) : 1;
}

/* Goes on at an anchor: a JavaThread's or a JavaCallWrapper's. 1: the walk is at its end. */
HS_FN int hs_anchor(struct hs_walk *w, __u64 anchor, __u32 result_if_clear)
{
	struct hs_anchor_words a = {};
	__u64 sp, pc, fp;

	if (HS_READ(w, &a, anchor))
		return hs_end(w, WIRE_WALK_READ);
	sp = a.w[HS_CODE(w, anchor_sp) >> 3 & 3];
	pc = a.w[HS_CODE(w, anchor_pc) >> 3 & 3];
	fp = a.w[HS_CODE(w, anchor_fp) >> 3 & 3];
	if (w->from) {
		hs_note(w, anchor + HS_CODE(w, anchor_sp), sp);
		hs_note(w, anchor + HS_CODE(w, anchor_pc), pc);
	}
	if (!sp)
		return hs_end(w, result_if_clear);
	/* Not made walkable by the VM: the call out of Java code has pushed it. */
	if (!pc) {
		if (HS_READ(w, &pc, sp - 8))
			return hs_end(w, WIRE_WALK_READ);
		if (w->from)
			hs_note(w, sp - 8, pc);
	}
	w->pc = pc;
	w->fp = fp;
	w->fp_at = w->from ? anchor + HS_CODE(w, anchor_fp) : 0;
	return hs_up(w, sp);
}

HS_FN int hs_entry_here(struct hs_walk *w)
{
	__u64 wrapper = 0;

	if (w->fp < w->sp || w->fp >= w->stack_high || (w->fp & 7) ||
	    HS_READ(w, &wrapper, hs_word(w->fp, HS_CODE(w, entry_call_wrapper))) || !wrapper)
		return hs_end(w, WIRE_WALK_ENTRY);
	hs_note_fp(w);
	hs_note(w, hs_word(w->fp, HS_CODE(w, entry_call_wrapper)), wrapper);
	return hs_anchor(w, wrapper + HS_CODE(w, call_wrapper_anchor), WIRE_WALK_COMPLETE);
}

HS_SUBPROGRAM int hs_entry(struct hs_walk *w)
{
	return w ? hs_entry_here(w) : 1;
}

HS_FN int hs_in_interpreter(struct hs_walk *w, __u64 pc)
{
	return pc >= HS_CODE(w, interpreter_low) && pc < HS_CODE(w, interpreter_high);
}

HS_FN int hs_in_libjvm(struct hs_walk *w, __u64 pc)
{
	return pc >= HS_CODE(w, libjvm_low) && pc < HS_CODE(w, libjvm_high);
}

/*
 * A virtual thread that has been off its carrier gets its innermost frames back on the carrier's
 * stack, and the others when they are returned to: so the outermost one returns to the VM's
 * "return barrier", a stub of its own (share/runtime/continuationFreezeThaw.cpp). A walk that
 * begins in that stub's code (in the VM's call that brings frames back) has no frames yet.
 */
HS_FN int hs_at_barrier(struct hs_walk *w)
{
	return w->stack.count && !w->chunk && w->pc >= HS_CODE(w, barrier_low) &&
	       w->pc < HS_CODE(w, barrier_high);
}

/* --- libjvm ------------------------------------------------------------------------------ */

#ifdef __bpf__
/* A long recording asks for more than there is room for: what was not used for long goes. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, __u64); /* pc, with WIRE_RULE_RETURN */
	__type(value, struct wire_native_rule);
} native_rules __weak SEC(".maps");
#endif

HS_FN int hs_rule_find(struct hs_walk *w, struct wire_native_rule *ret)
{
	__u64 key = w->pc | (w->native > 1 ? WIRE_RULE_RETURN : 0);
#ifdef __bpf__
	struct wire_native_rule *rule = bpf_map_lookup_elem(&native_rules, &key);

	if (rule)
		*ret = *rule;
	else
		w->ask = key;
	return !rule;
#else
	return HS_HOST(w)->native_rule(HS_HOST(w)->ctx, w->pc, !!(key & WIRE_RULE_RETURN), ret);
#endif
}

/* One frame of libjvm, or of what it has called: libc, the vDSO. The anchor is clear: so below
 * libjvm is Java code, or there is no Java code at all. */
HS_FN int hs_native_here(struct hs_walk *w)
{
	struct wire_native_rule rule = {};
	__u64 cfa, pc = 0;

	if (hs_in_libjvm(w, w->pc)) {
		w->libjvm = 1;
	} else if (hs_in_interpreter(w, w->pc) || hs_in_heap(w, w->pc) >= 0) {
		w->native = 0;
		return hs_native_left(w) ? hs_end(w, WIRE_WALK_READ) : 0;
	} else if (w->libjvm) {
		return hs_end(w, WIRE_WALK_NO_JAVA_FRAMES);
	}
	if (hs_rule_find(w, &rule) || rule.flags & WIRE_RULE_ASKED)
		return hs_end(w, WIRE_WALK_NATIVE_RULE);
	if (rule.flags & WIRE_RULE_UNUSABLE)
		return hs_end(w, WIRE_WALK_NATIVE_UNUSABLE);
	if (rule.flags & WIRE_RULE_CFA_FP)
		hs_note_fp(w);
	cfa = (rule.flags & WIRE_RULE_CFA_FP ? w->fp : w->sp) + (__u64)(__s64)rule.cfa_offset;
	if (w->native++ > HS_NATIVE_MAX)
		return hs_end(w, WIRE_WALK_NATIVE_LOST);
	if (rule.flags & WIRE_RULE_FP_SAVED) {
		w->fp_at = cfa + (__u64)(__s64)rule.fp_offset;
		if (HS_READ(w, &w->fp, w->fp_at))
			return hs_end(w, WIRE_WALK_READ);
	}
	if (hs_native_return(w, &rule, cfa, &pc))
		return hs_end(w, WIRE_WALK_READ);
	w->pc = pc;
	/* A leaf has put nothing onto the stack. */
	return HS_LINK && rule.flags & WIRE_RULE_KEPT && cfa == w->sp ? 0 : hs_up(w, cfa);
}

HS_SUBPROGRAM int hs_native(struct hs_walk *w)
{
	return w ? hs_native_here(w) : 1;
}
