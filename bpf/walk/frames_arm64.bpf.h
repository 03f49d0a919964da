/* bpf/walk/frames_arm64.bpf.h: arm64, as frames.bpf.h says. */
#pragma once

#define HS_LINK 1

HS_FN int hs_native_return(struct hs_walk *w, const struct wire_native_rule *rule, __u64 cfa,
			   __u64 *ret)
{
	__u64 at = cfa + (__u64)(__s64)rule->return_offset;

	if (rule->flags & WIRE_RULE_KEPT) {
		/* A caller of another function has put it elsewhere. What a register says is not
		 * noted, so that the walk is not remembered. */
		w->memo.notes = HS_NOTES_MAX + 1;
		*ret = w->link;
		return w->native == 2 ? 0 : -1;
	}
	if (HS_READ(w, ret, at))
		return -1;
	hs_note(w, at, *ret);
	return 0;
}

/*
 * The interpreter's sp is further down than its expression stack reaches, and a callee that is
 * interpreted too lies in between: its sender's sp may be below it. Then the caller, which is
 * interpreted, is found by its fp, and sp is that of the call. (safe_for_sender(),
 * cpu/aarch64/frame_aarch64.cpp)
 */
#define HS_SENDER_LOW(fp, sp) 0

HS_FN __u64 hs_sender_sp(__u64 fp, __u64 sender_sp)
{
	return sender_sp > fp ? sender_sp : fp + 16;
}

#define HS_BEFORE 2
#define HS_AFTER 4
#define HS_AHEAD 14 /* so many are looked through, two at a time: the stack is short */

/* The kernel's verifier is for loops that are entered at their head, clang for others. */
#ifdef __bpf__
#define HS_UNROLL _Pragma("clang loop unroll(full)")
#else
#define HS_UNROLL
#endif

/* Instructions around a pc. */
struct hs_code_words {
	__u32 i[HS_BEFORE + HS_AFTER];
};

#define HS_CODE_AT(w, to, pc) HS_READ(w, to, (pc) - 4 * HS_BEFORE)

#define HS_PUSH_LINK 0xa9bf7bfdu /* stp x29, x30, [sp, -16]! */
#define HS_POP_LINK 0xa8c17bfdu  /* ldp x29, x30, [sp], 16 */
#define HS_RET 0xd65f03c0u
#define HS_MOV_FP_SP 0x910003fdu
#define HS_MOV_SP_ESP 0x9100029fu /* mov sp, x20 */
#define HS_AND_SP_ESP 0x927cee9fu /* and sp, x20, -16 */
#define HS_STORE_SENDER_SP 0xa90437ffu /* stp xzr, x13, [sp, 64] */
#define HS_CMP_SP_X8 0xeb2863ffu

/* sub sp, sp, n, or sub sp, sp, x8 */
HS_FN int hs_is_sub_sp(__u32 i)
{
	return (i & 0xff8003ff) == 0xd10003ff || i == 0xcb2863ff;
}

/* add sp, sp, n, or add sp, sp, x8 */
HS_FN int hs_is_add_sp(__u32 i)
{
	return ((i & 0xff8003ff) == 0x910003ff && i & 0x003ffc00) || i == 0x8b2863ff;
}

/* stp x29, x30, [sp, n] */
HS_FN int hs_is_save_link(__u32 i)
{
	return (i & 0xffc07fff) == 0xa9007bfd;
}

/* ldp x29, x30, [sp, n] */
HS_FN int hs_is_load_link(__u32 i)
{
	return (i & 0xffc07fff) == 0xa9407bfd;
}

/* mov x8, n, in up to two instructions: the size of large frames. */
HS_FN int hs_is_mov_x8(__u32 i)
{
	return (i & 0xff80001f) == 0xd2800008 || (i & 0xff80001f) == 0xf2800008;
}

/* bl, blr */
HS_FN int hs_is_call_at(__u32 i)
{
	return (i & 0xfc000000) == 0x94000000 || (i & 0xfffffc1f) == 0xd63f0000;
}

/* b, br, ret: what follows is other code. */
HS_FN int hs_is_jump(__u32 i)
{
	return (i & 0xfc000000) == 0x14000000 ||
	       ((i & 0xfe000000) == 0xd6000000 && !hs_is_call_at(i));
}

/* How far an instruction moves sp, if it stores or loads there: stp, str [sp, -n]!; ldp, ldr [sp],
 * n. 0: it does not. */
HS_FN __s32 hs_pushes(__u32 i)
{
	__u32 pair = i & 0xffc003e0, one = i & 0xffe00fe0;

	/* of x registers, of d registers */
	if (pair == 0xa98003e0 || pair == 0xa8c003e0 || pair == 0x6d8003e0 || pair == 0x6cc003e0)
		return ((__s32)(i << 10) >> 25) * 8;
	return one == 0xf8000fe0 || one == 0xf84007e0 ? (__s32)(i << 11) >> 23 : 0;
}

/*
 * Compiled code moves its sp where it calls the VM out of a barrier, or a stub that wants its
 * arguments on the stack: registers are pushed before, and popped behind the call. What will be
 * popped from here on, and will not have been pushed from here on, is on the stack now.
 */
struct hs_pushes_found {
	__s32 to_come, pushed, done;
};

HS_FN void hs_pushed_by(struct hs_pushes_found *f, __u32 i)
{
	__s32 moves = hs_pushes(i);

	if (f->done)
		return;
	f->done = i == HS_POP_LINK || hs_is_jump(i);
	if (f->done)
		return;
	if (moves < 0)
		f->to_come -= moves;
	else if (f->to_come >= moves)
		f->to_come -= moves;
	else
		f->pushed += moves;
}

/* Bytes; -1: the code cannot be read. */
HS_FN int hs_pushed(struct hs_walk *w)
{
	struct hs_pushes_found f = {};
	__u64 two = 0;

	HS_UNROLL
	for (int n = 0; n < HS_AHEAD && !f.done; n += 2) {
		if (HS_READ(w, &two, w->pc + (__u64)n * 4))
			return -1;
		hs_pushed_by(&f, (__u32)two);
		hs_pushed_by(&f, (__u32)(two >> 32));
	}
	return f.pushed;
}

/* As the base of a load, a store, or of a sum. */
HS_FN int hs_uses_sp(__u32 i)
{
	return (i >> 5 & 31) == 31 &&
	       ((i & 0x0a000000) == 0x08000000 || (i & 0x1f000000) == 0x11000000);
}

/* Two instructions: 0: go on; 1: it leaves; 2: it uses sp, or cannot be read. */
HS_FN int hs_sp_step(struct hs_walk *w, __u64 at)
{
	__u64 two = 0;

	if (HS_READ(w, &two, w->pc + at))
		return 2;
	if (hs_is_jump((__u32)two))
		return 1;
	if (hs_uses_sp((__u32)two))
		return 2;
	if (hs_is_jump((__u32)(two >> 32)))
		return 1;
	return hs_uses_sp((__u32)(two >> 32)) ? 2 : 0;
}

/* Whether a stub goes on without its stack pointer to where it leaves: then sp is the caller's. (An
 * adapter that has made room for arguments stores them there, or passes sp on.) */
HS_FN int hs_sp_unused(struct hs_walk *w)
{
	int step = hs_sp_step(w, 0);

	step = step ? step : hs_sp_step(w, 8);
	step = step ? step : hs_sp_step(w, 16);
	step = step ? step : hs_sp_step(w, 24);
	step = step ? step : hs_sp_step(w, 32);
	return step == 1;
}

/* adr x8, .; str x8, [x28, n]; b or adrp: the stub of the poll at a return (and not where a call
 * leaves an anchor: there sp is stored next). */
HS_FN int hs_is_poll_stub(const __u32 *i)
{
	HS_UNROLL
	for (int n = -1; n <= 0; n++)
		if ((i[n] & 0x9f00001f) == 0x10000008 && (i[n + 1] & 0xffc003ff) == 0xf9000388 &&
		    ((i[n + 2] & 0xfc000000) == 0x14000000 ||
		     (i[n + 2] & 0x9f00001f) == 0x90000008))
			return 1;
	return 0;
}

/* After the frame: [ldr x8, [x28, n]; cmp sp, x8; b.hi or b.ls, of the poll and of the reserved
 * stack]; ret, or b to where exceptions are thrown on. Native wrappers: ldr x8, [x28, n]; cbnz x8;
 * ret. */
HS_FN int hs_is_after_frame(const __u32 *i)
{
	return i[0] == HS_RET || i[-1] == HS_POP_LINK || i[-2] == HS_POP_LINK ||
	       (hs_is_add_sp(i[-1]) && hs_is_load_link(i[-2])) || i[0] == HS_CMP_SP_X8 ||
	       ((i[0] & 0xffc003ff) == 0xf9400388 && i[1] == HS_CMP_SP_X8) ||
	       ((i[0] & 0xff000010) == 0x54000000 && i[-1] == HS_CMP_SP_X8) ||
	       ((i[0] & 0xfc000000) == 0x14000000 && i[-1] == HS_RET);
}

/*
 * Prologues of C1 and C2 (macroAssembler_aarch64.cpp, build_frame()): nop; [sub x9, sp, bang; str
 * xzr, [x9]]; sub sp, sp, n; stp x29, x30, [sp, n - 16]; or, of frames from 528 bytes on and of
 * native wrappers: stp x29, x30, [sp, -16]!; [mov x29, sp;] [mov x8, n - 16;] sub sp, sp, n - 16 or
 * x8. Epilogue: ldp x29, x30, [sp, n - 16]; add sp, sp, n, or add sp, sp, n - 16 or x8; ldp x29,
 * x30, [sp], 16; then as hs_is_after_frame() has it. x29 is not set, but for native wrappers.
 */
HS_FN int hs_built_prologue(struct hs_walk *w, const __u32 *i, __u64 complete)
{
	__u64 two = 0;

	if (hs_is_save_link(i[0]) && hs_is_sub_sp(i[-1]))
		return HS_LINK_BELOW_CFA;
	if (i[-1] == HS_PUSH_LINK || i[-1] == HS_MOV_FP_SP ||
	    (hs_is_sub_sp(i[0]) && hs_is_mov_x8(i[-1])) ||
	    (hs_is_mov_x8(i[0]) && i[-2] == HS_PUSH_LINK))
		return HS_RETURN_BELOW_FP;
	HS_UNROLL
	for (int n = 0; n < HS_AHEAD; n += 2) {
		__u64 at = w->pc + (__u64)n * 4;

		if (at >= complete)
			break;
		if (HS_READ(w, &two, at))
			return -1;
		if (hs_is_sub_sp((__u32)two) || (__u32)two == HS_PUSH_LINK ||
		    (at + 4 < complete &&
		     (hs_is_sub_sp((__u32)(two >> 32)) || (__u32)(two >> 32) == HS_PUSH_LINK)))
			return HS_RETURN_IN_LINK;
	}
	return HS_BUILT;
}

HS_FN int hs_built(struct hs_walk *w, const struct hs_code *c)
{
	struct hs_code_words code = {};
	const __u32 *i = code.i + HS_BEFORE;
	__u64 begin = 0, entry = 0, complete = 0, pc = w->pc;
	__u32 offset = 0;
	int pushed;

	if (HS_CODE_AT(w, &code, pc) ||
	    hs_code_address(w, c->blob, HS_CODE(w, blob_code_begin), &begin) ||
	    HS_READ(w, &entry, c->blob + HS_CODE(w, nmethod_verified_entry)) ||
	    HS_READ(w, &offset, c->blob + HS_CODE(w, blob_frame_complete)))
		return -1;
	if (HS_CODE(w, entry_spare))
		entry = begin +
			(entry << (HS_CODE(w, entry_spare) & 63) >> (HS_CODE(w, entry_spare) & 63));
	complete = begin + hs_number(offset, 32 + HS_CODE(w, frame_complete_spare));
	if (pc <= entry)
		return HS_RETURN_IN_LINK;
	if (pc < complete)
		return hs_built_prologue(w, i, complete);
	if (hs_is_add_sp(i[0]) && hs_is_load_link(i[-1]))
		return HS_LINK_BELOW_CFA;
	if (i[0] == HS_POP_LINK)
		return HS_RETURN_BELOW_FP;
	if (hs_is_after_frame(i) || hs_is_poll_stub(i))
		return HS_RETURN_IN_LINK;
	pushed = hs_pushed(w);
	if (pushed < 0)
		return -1;
	w->sp += (__u64)pushed;
	return HS_BUILT;
}

/* Back from a leaf in native code, that compiled code may have called with words pushed. */
HS_FN int hs_native_left(struct hs_walk *w)
{
	int pushed = hs_pushed(w);

	if (pushed < 0)
		return -1;
	w->sp += (__u64)pushed;
	return 0;
}

/*
 * While the interpreter calls a method, makes its frame, or has left it, the Method in its register
 * is not that of the frame that fp leads to, unless a method calls itself (then what is being
 * called may not be in the chain). If the link register says that the caller is interpreted, or is
 * the call stub, fp is the caller's: then the chain begins there. Of a caller that is compiled
 * nothing says where its frame is: the sender's sp is in a register (x13) that is not looked at. A
 * frame is left by: ldp x29, x30, [sp], 16; and sp, x20, -16, or mov sp, x20; ret: then sp is the
 * sender's.
 */
HS_FN int hs_making(struct hs_walk *w)
{
	struct hs_pair code = {};
	__u64 method = 0;
	__u32 here, before;

	if (HS_READ(w, &code, w->pc - 8))
		return -1;
	here = (__u32)code.high;
	before = (__u32)(code.low >> 32);
	if (here == HS_RET && (before == HS_AND_SP_ESP || before == HS_MOV_SP_ESP))
		return HS_LEFT_SP;
	if (here == HS_STORE_SENDER_SP)
		return HS_MAKING_UNSEEN;
	if (before != HS_POP_LINK || (here != HS_AND_SP_ESP && here != HS_MOV_SP_ESP)) {
		if (!w->method)
			return HS_MADE;
		if (HS_READ(w, &method, hs_word(w->fp, HS_CODE(w, interpreter_method))))
			return HS_MAKING_UNSEEN;
		if (method == w->method)
			return HS_MADE;
		/* It has called nothing yet: the register is as on entry. */
		if (HS_READ(w, &method, w->fp + 8))
			return HS_MAKING_UNSEEN;
		if (method == w->link)
			return HS_MADE;
	}
	return w->link == HS_CODE(w, call_stub_return) ||
			       (w->link >= HS_CODE(w, interpreter_low) &&
				w->link < HS_CODE(w, interpreter_high))
		       ? HS_LEFT_SP
		       : HS_MAKING_UNSEEN;
}

HS_FN int hs_is_call(__u64 before)
{
	return hs_is_call_at((__u32)(before >> 32));
}

#define HS_HAS_PUSHED_FP(b) 0
#define HS_HAS_ALIGNED(b) 0
#define hs_is_aligning(b) 0
#define HS_SUBTYPE_PUSHED 0
#define hs_subtype_built(w, blob, b) ((void)(blob), -1)

HS_FN int hs_unwind_left(struct hs_walk *w)
{
	(void)w;
	return -1;
}

HS_FN int hs_stub_built(struct hs_walk *w, __u64 blob)
{
	(void)w;
	(void)blob;
	return -1;
}
#define HS_HAS_PUSHED_LINK(before) ((before) == HS_PUSH_LINK)
