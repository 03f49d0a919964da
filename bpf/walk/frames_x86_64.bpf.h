/* bpf/walk/frames_x86_64.bpf.h: x86-64, as frames.bpf.h says. */
#pragma once

#define HS_LINK 0

HS_FN int hs_native_return(struct hs_walk *w, const struct wire_native_rule *rule, __u64 cfa,
			   __u64 *ret)
{
	(void)rule;
	if (HS_READ(w, ret, cfa - 8))
		return -1;
	hs_note(w, cfa - 8, *ret);
	return 0;
}

HS_FN int hs_is(const __u8 *b, __u8 b0, __u8 b1, __u8 b2)
{
	return b[0] == b0 && b[1] == b1 && b[2] == b2;
}

/* The four bytes of a jump or a call, as a distance. */
HS_FN __u64 hs_relative(const __u8 *b)
{
	return (__u64)(__s64)(__s32)((__u32)b[0] | (__u32)b[1] << 8 | (__u32)b[2] << 16 |
				     (__u32)b[3] << 24);
}

HS_FN int hs_native_left(struct hs_walk *w)
{
	(void)w;
	return 0;
}

/*
 * C1's stub at the end of a method that throws has no frame: it asks the VM by a leaf where the
 * caller, to which its return address leads, catches that: [sub rsp, 8;] call; [add rsp, 8; jmp;]
 * mov rbx, rax; mov rax, r14; pop rdx; jmp rbx.
 */
HS_FN int hs_unwind_left(struct hs_walk *w)
{
	struct hs_bytes code = {};
	__u64 at = w->pc, after = 0;
	const __u8 *b = code.b + 8;
	int below = 0;

	if (HS_READ(w, &code, at - 8))
		return -1;
	if (b[0] == 0x48 && hs_is(b + 1, 0x83, 0xc4, 8) && b[4] == 0xe9) {
		below = 8;
		at += 9 + hs_relative(b + 5);
	}
	if (HS_READ(w, &after, at))
		return -1;
	return (after & 0xffffffffffffff) == 0x5ac68b49d88b48 ? below : -1;
}

/*
 * An adapter from the interpreter to compiled code aligns sp below the return address, which is in
 * a register meanwhile: [pop rax; sub rsp, n;] and rsp, -16; push rax (JDK 21 on), without the pop
 * up to JDK 17.
 */
HS_FN int hs_is_aligned_next(const __u8 *b)
{
	return b[0] == 0x48 && hs_is(b + 1, 0x83, 0xe4, 0xf0) && b[4] == 0x50;
}

HS_FN int hs_is_aligning(const __u8 *b)
{
	return hs_is_aligned_next(b) || hs_is_aligned_next(b - 4) ||
	       (hs_is(b, 0x48, 0x83, 0xec) && hs_is_aligned_next(b + 4)) ||
	       (hs_is(b, 0x48, 0x81, 0xec) && hs_is_aligned_next(b + 7));
}

/* In C1's stub above, while there is a word below the return address. */
#define HS_HAS_ALIGNED(b)                                                                          \
	(((b)[0] == 0xe8 && (b)[-4] == 0x48 && hs_is((b)-3, 0x83, 0xec, 8)) ||                     \
	 ((b)[-5] == 0xe8 && (b)[0] == 0x48 && hs_is((b) + 1, 0x83, 0xc4, 8)))

#define HS_SENDER_LOW(fp, sp) ((sp) <= (fp))

HS_FN __u64 hs_sender_sp(__u64 fp, __u64 sender_sp)
{
	(void)fp;
	return sender_sp;
}

/*
 * Prologues of C1 and C2 (JDK 17; 21 and 25 add an entry barrier after the frame is whole):
 * [mov [rsp - bang], eax] push rbp; sub rsp, n, or sub rsp, n; mov [rsp + n], rbp; of native
 * wrappers: push rbp; mov rbp, rsp; sub rsp, n. Epilogue: add rsp, n; pop rbp; [cmp rsp, [r15 +
 * reserved]; jb; where a method may use the reserved stack] cmp rsp, [r15 + poll]; ja poll stub;
 * ret; up to JDK 15: mov r10, [r15 + page]; test [r10], eax; ret, or test [rip + page], eax; ret.
 * Where an exception goes to the caller: add rsp, n; pop rbp; jmp to the stub that looks for who
 * catches it there.
 * The poll stub: mov r10, pc; mov [r15 + n], r10; jmp: without a frame too. (C2's allocation
 * and the anchor of native wrappers store r10 likewise, but do not jump then.)
 */
HS_FN int hs_is_poll_stub(const __u8 *b)
{
	return (b[0] == 0x49 && b[1] == 0xba && hs_is(b + 10, 0x4d, 0x89, 0x97) && b[17] == 0xe9) ||
	       (hs_is(b, 0x4c, 0x8d, 0x15) && hs_is(b + 7, 0x4d, 0x89, 0x97) && b[14] == 0xe9) ||
	       (hs_is(b, 0x4d, 0x89, 0x97) && b[7] == 0xe9) ||
	       (hs_is(b - 7, 0x4d, 0x89, 0x97) && b[0] == 0xe9);
}

/* cmp rsp, [r15 + n]; ja or jb. n has 4 bytes in JDK 11 to 21, and 1 in 25. */
HS_FN int hs_is_compare(const __u8 *b, __u8 operands, int bytes)
{
	return hs_is(b, 0x49, 0x3b, operands) && b[bytes] == 0x0f &&
	       (b[bytes + 1] == 0x87 || b[bytes + 1] == 0x82);
}

/* Between its frame and its return a method reads the polling page. */
HS_FN int hs_is_page_poll(const __u8 *b)
{
	return (hs_is(b, 0x4d, 0x8b, 0x97) && hs_is(b + 7, 0x41, 0x85, 0x02) && b[10] == 0xc3) ||
	       (hs_is(b, 0x41, 0x85, 0x02) && b[3] == 0xc3) ||
	       (b[0] == 0x85 && b[1] == 0x05 && b[6] == 0xc3);
}

/*
 * C1's stub that looks through a class's supertypes, which takes its time: push rdi, rsi, rcx, rax,
 * and pops of these before it returns. Its caller has pushed two words.
 */
#define HS_SUBTYPE_PUSHED 16 /* bytes */

HS_FN int hs_is_subtype(struct hs_walk *w, __u64 begin)
{
	__u32 first = 0;

	return !HS_READ(w, &first, begin) && first == 0x50515657;
}

/* What compiled code has pushed for that stub. */
HS_FN __u64 hs_subtype_arguments(struct hs_walk *w, const __u8 *b)
{
	if (b[0] == 0xe8 && hs_is_subtype(w, w->pc + 5 + hs_relative(b + 1)))
		return HS_SUBTYPE_PUSHED;
	if (b[-5] == 0xe8 && hs_is_subtype(w, w->pc + hs_relative(b - 4)))
		return HS_SUBTYPE_PUSHED;
	return 0;
}

/* Where the return address is, from sp on; -1: it is another stub. */
HS_FN int hs_subtype_built(struct hs_walk *w, __u64 blob, const __u8 *b)
{
	__u64 begin = 0;

	if (hs_code_address(w, blob, HS_CODE(w, blob_code_begin), &begin) ||
	    !hs_is_subtype(w, begin))
		return -1;
	if (w->pc - begin < 4)
		return (int)(w->pc - begin) * 8;
	return b[0] == 0xc3 ? 0 : b[0] == 0x5f ? 8 : b[0] == 0x5e ? 16 : b[0] == 0x59 ? 24 : 32;
}

/* At the jump after the frame of so many bytes (at least rbp and the return address). */
HS_FN int hs_is_throwing_on(const __u8 *b, __u64 frame_bytes)
{
	return b[0] == 0xe9 && b[-1] == 0x5d &&
	       (frame_bytes <= 16 || hs_is(b - 5, 0x48, 0x83, 0xc4) ||
		hs_is(b - 8, 0x48, 0x81, 0xc4));
}

HS_FN int hs_built(struct hs_walk *w, const struct hs_code *c)
{
	struct hs_bytes code = {};
	__u64 begin = 0, entry = 0, pc = w->pc;
	__u32 complete = 0;
	const __u8 *b = code.b + 8;

	if (HS_READ(w, &code, pc - 8) ||
	    hs_code_address(w, c->blob, HS_CODE(w, blob_code_begin), &begin) ||
	    HS_READ(w, &entry, c->blob + HS_CODE(w, nmethod_verified_entry)) ||
	    HS_READ(w, &complete, c->blob + HS_CODE(w, blob_frame_complete)))
		return -1;
	if (HS_CODE(w, entry_spare))
		entry = begin +
			(entry << (HS_CODE(w, entry_spare) & 63) >> (HS_CODE(w, entry_spare) & 63));
	if (pc < begin + hs_number(complete, 32 + HS_CODE(w, frame_complete_spare))) {
		if (pc <= entry || hs_is(b, 0x89, 0x84, 0x24) || b[0] == 0x55)
			return HS_RETURN_ON_TOP;
		if (hs_is(b, 0x48, 0x8b, 0xec) && b[-1] == 0x55)
			return HS_RETURN_BELOW_FP;
		if (hs_is(b, 0x48, 0x83, 0xec) || hs_is(b, 0x48, 0x81, 0xec))
			return b[-1] == 0x55 || hs_is(b - 3, 0x48, 0x8b, 0xec) ? HS_RETURN_BELOW_FP
									       : HS_RETURN_ON_TOP;
		if (hs_is(b, 0x48, 0x89, 0x6c) || hs_is(b, 0x48, 0x89, 0xac))
			return HS_BUILT_NO_FP;
		return HS_BUILT;
	}
	if (b[0] == 0x5d)
		return HS_RETURN_BELOW_FP;
	if (b[0] == 0xc3 || (b[0] == 0x0f && b[1] == 0x87 && b[6] == 0xc3) ||
	    (b[0] == 0x0f && b[1] == 0x82 &&
	     (hs_is(b - 7, 0x49, 0x3b, 0xa7) || hs_is(b - 4, 0x49, 0x3b, 0x67))) ||
	    hs_is_compare(b, 0xa7, 7) || hs_is_compare(b, 0x67, 4) || hs_is_poll_stub(b) ||
	    hs_is_page_poll(b) || hs_is_throwing_on(b, c->frame_bytes))
		return HS_RETURN_ON_TOP;
	w->sp += hs_subtype_arguments(w, b);
	return HS_BUILT;
}

/*
 * The stub to which C2's code jumps with an exception: push rdx, which has the address where that
 * was thrown; sub rsp, 8; mov [rsp], rbp; a call of the VM, with an anchor; mov rbp, [rsp];
 * add rsp, 8; pop rdx; and more, by which sp is that of the method again.
 */
HS_FN int hs_exception_built(struct hs_walk *w, const __u8 *b, __u64 begin)
{
	if (w->pc == begin + 1 || b[0] == 0x5a)
		return HS_RETURN_ON_TOP;
	if (w->pc == begin + 5)
		return HS_BUILT_NO_FP;
	return hs_is(b, 0x49, 0x89, 0x87) || hs_is(b, 0x49, 0x89, 0x97) ||
			       hs_is(b, 0xc5, 0xf8, 0x77) || hs_is(b, 0x4d, 0x89, 0x97) ||
			       hs_is(b, 0x49, 0x89, 0xa7) || hs_is(b, 0x49, 0x8b, 0xff) ||
			       hs_is(b, 0x48, 0x83, 0xe4) || hs_is(b, 0x48, 0x8b, 0x2c) ||
			       hs_is(b, 0x48, 0x83, 0xc4) || b[0] == 0xe8 ||
			       (b[0] == 0x49 && b[1] == 0xba) ||
			       (hs_is(b, 0x49, 0xc7, 0x87) && (b[11] != 0x41 || b[12] != 0xff))
		       ? HS_BUILT
		       : -1;
}

/*
 * Stubs of C1's runtime begin with push rbp; mov rbp, rsp, and end with leave; ret, or leave and a
 * jump; those of C2's have the prologue and the epilogue of its methods, after which the one that
 * throws on pops its return address into rdx.
 */
HS_FN int hs_stub_built(struct hs_walk *w, __u64 blob)
{
	struct hs_bytes code = {};
	const __u8 *b = code.b + 8;
	__u64 begin = 0, first = 0;
	int at_fp;

	if (hs_code_address(w, blob, HS_CODE(w, blob_code_begin), &begin) ||
	    HS_READ(w, &first, begin) || HS_READ(w, &code, w->pc - 8))
		return -1;
	if ((__u32)first == 0xec834852)
		return hs_exception_built(w, b, begin);
	at_fp = (__u32)first == 0xec8b4855;
	if (!at_fp && (__u8)first != 0x55 && (first & 0xfdffff) != 0x00ec8148)
		return -1;
	if (w->pc == begin || b[0] == 0xc3 || (at_fp && b[-1] == 0xc9) ||
	    (b[0] == 0x5a && b[-1] == 0x5d))
		return HS_RETURN_ON_TOP;
	if (at_fp)
		return w->pc == begin + 1 ? HS_RETURN_BELOW_FP : HS_BUILT_AT_FP;
	if (b[0] == 0x5d || (w->pc == begin + 1 && (first >> 8 & 0xfdffff) == 0x00ec8148))
		return HS_RETURN_BELOW_FP;
	if (hs_is(b, 0x48, 0x89, 0x6c) || hs_is(b, 0x48, 0x89, 0xac))
		return HS_BUILT_NO_FP;
	return HS_BUILT;
}

/*
 * The interpreter's entries make a frame by (JDK 11 to 25): pop rax, and what the arguments lack of
 * the locals; push rax; push rbp; mov rbp, rsp; push r13; push 0; mov r13, [rbx + n]; lea r13, [r13
 * + n]; push rbx; and more, until push r13 and what is below it. In JDK 25 after push r13: mov rax,
 * [rbx + n]; lea r13, [rax + n]; mov rax, [rax + n]; push 0; push rbx. It is left by: leave; pop
 * r13; mov rsp, rbx; jmp r13.
 */
HS_FN int hs_making_at(struct hs_walk *w, const __u8 *b)
{
	if (hs_is(b, 0x41, 0x5d, 0x48) && hs_is(b + 3, 0x8b, 0xe3, 0x41) && b[-1] == 0xc9)
		return HS_LEFT_TOP;
	if (hs_is(b, 0x48, 0x8b, 0xe3) && hs_is(b + 3, 0x41, 0xff, 0xe5) &&
	    hs_is(b - 3, 0xc9, 0x41, 0x5d))
		return HS_LEFT;
	if (hs_is(b, 0x41, 0xff, 0xe5) && hs_is(b - 5, 0x41, 0x5d, 0x48) &&
	    hs_is(b - 3, 0x48, 0x8b, 0xe3) && b[-6] == 0xc9)
		return HS_LEFT_SP;
	if (hs_is(b, 0x50, 0x55, 0x48) && hs_is(b + 3, 0x8b, 0xec, 0x41) && b[6] == 0x55)
		return HS_MAKING_LINK;
	if (hs_is(b, 0x55, 0x48, 0x8b) && hs_is(b + 3, 0xec, 0x41, 0x55) && b[-1] == 0x50)
		return HS_MAKING_TOP;
	if (hs_is(b, 0x48, 0x8b, 0xec) && b[3] == 0x41 && b[4] == 0x55 && b[-1] == 0x55)
		return HS_MAKING_PUSHED;
	if (w->sp == w->fp)
		return b[0] == 0x41 && b[1] == 0x55 && hs_is(b - 3, 0x48, 0x8b, 0xec)
			       ? HS_MAKING_OWN_FP
			       : HS_MADE;
	if (w->sp == w->fp - 8)
		return (hs_is(b - 5, 0x48, 0x8b, 0xec) && b[-2] == 0x41 && b[-1] == 0x55) ||
				       (hs_is(b, 0x4c, 0x8d, 0x68) &&
					hs_is(b - 4, 0x48, 0x8b, 0x43)) ||
				       (hs_is(b, 0x48, 0x8b, 0x40) &&
					hs_is(b - 4, 0x4c, 0x8d, 0x68)) ||
				       (b[0] == 0x68 && b[5] == 0x53 &&
					hs_is(b - 4, 0x48, 0x8b, 0x40))
			       ? HS_MAKING_OWN_FP
			       : HS_MADE;
	if (w->sp == w->fp - 16)
		return (hs_is(b, 0x4c, 0x8b, 0x6b) && hs_is(b + 4, 0x4d, 0x8d, 0x6d)) ||
				       (hs_is(b, 0x4d, 0x8d, 0x6d) && b[4] == 0x53 &&
					hs_is(b - 4, 0x4c, 0x8b, 0x6b)) ||
				       (b[0] == 0x53 && (hs_is(b - 4, 0x4d, 0x8d, 0x6d) ||
							 (b[-5] == 0x68 && hs_is(b - 4, 0, 0, 0))))
			       ? HS_MAKING_OWN_FP
			       : HS_MADE;
	return HS_MADE;
}

/* From the Method on what has been pushed says that this frame is being made: the essay of
 * hs_making_here(). */
HS_FN int hs_making(struct hs_walk *w)
{
	struct hs_bytes code = {};

	/* In none of these cases is that register 0: so registers are not known. */
	if (!w->method)
		return HS_MADE;
	if (w->sp <= hs_word(w->fp, HS_CODE(w, interpreter_method)) &&
	    w->sp > hs_word(w->fp, HS_CODE(w, interpreter_bcp)))
		return HS_MAKING_OWN_FP;
	return HS_READ(w, &code, w->pc - 8) ? -1 : hs_making_at(w, code.b + 8);
}

/* call rel32, or call reg. */
HS_FN int hs_is_call(__u64 before)
{
	return (before >> 24 & 0xff) == 0xe8 || (before >> 48 & 0xf8ff) == 0xd0ff;
}

#define HS_HAS_PUSHED_LINK(before) 0
#define hs_sp_unused(w) 0

/* After push rbp; at mov rbp, rsp. */
#define HS_HAS_PUSHED_FP(b) ((b)[-1] == 0x55 && hs_is(b, 0x48, 0x8b, 0xec))
