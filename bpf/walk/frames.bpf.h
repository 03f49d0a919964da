/* bpf/walk/frames.bpf.h: how HotSpot's code of an architecture makes and unmakes its frames. */
#pragma once

/*
 * Each architecture's header gives the same names:
 *	HS_LINK               calls leave the return address in a register, w->link; else it is
 *	                      pushed
 *	hs_native_return(w, rule, cfa, &pc) the return address of a native frame; -1: it cannot be
 *	                      read
 *	hs_native_left(w)     corrects sp of the Java code at w->pc that a native frame has
 *	                      returned to; -1: its code cannot be read
 *	hs_unwind_left(w)     where the return address is, from sp on, in a stub without a frame
 *	                      that a native frame has returned to; -1: it is not known
 *	HS_SENDER_LOW(fp, sp) the sender's sp that an interpreted frame has cannot be
 *	hs_sender_sp(fp, sp)  of the same, the caller's sp
 *	hs_built(w, c)        enum hs_built of an interrupted compiled method; -1: it cannot be seen
 *	hs_stub_built(w, blob) likewise of a stub with a frame; -1: it is not known how it makes it
 *	hs_making(w)          enum hs_making of the interpreter's code at w->pc; -1: it
 *	                      cannot be seen
 *	hs_is_call(before)    whether the word before a pc ends with a call
 *	HS_HAS_PUSHED_LINK(i) whether a stub's instruction, the one before pc, has put fp and the
 *	                      return address onto the stack (HS_LINK)
 *	hs_sp_unused(w)       whether a stub's sp is that of its caller (HS_LINK)
 *	HS_HAS_PUSHED_FP(b)   whether the code of a stub, of which 8 bytes before b and 24 from it
 *	                      can be looked at, has put fp onto the stack, and not replaced it yet
 *	HS_HAS_ALIGNED(b)     likewise, whether there is a word below its return address
 *	hs_subtype_built(w, blob, b) where the return address is, from sp on, in C1's stub that
 *	                      looks for a supertype; -1: it is another stub
 *	HS_SUBTYPE_PUSHED     what that stub's caller has pushed besides
 *
 * On the host, frames are its own machine's, but where a test says HS_FRAMES_X86_64 or
 * HS_FRAMES_ARM64.
 */
#include "bpf/walk/code_cache.bpf.h"

/* How much of an interrupted compiled method's frame is there. */
enum hs_built {
	HS_BUILT,
	HS_RETURN_ON_TOP,   /* the return address is at sp; fp is the caller's */
	HS_RETURN_BELOW_FP, /* at sp + 8, the caller's fp at sp */
	HS_BUILT_NO_FP,     /* built, but fp is not saved yet */
	HS_RETURN_IN_LINK,  /* nothing is there: sp and fp are the caller's (HS_LINK) */
	HS_LINK_BELOW_CFA,  /* the same, but sp is that of the whole frame (HS_LINK) */
	HS_BUILT_AT_FP,     /* of a stub: fp leads to the caller's fp and the return address */
};

/* How much of an interpreted frame is there. */
enum hs_making {
	HS_MADE,          /* all of it, or it cannot be seen that something is missing */
	HS_MAKING_LINK,   /* the return address is in a register; fp is the caller's */
	HS_MAKING_TOP,    /* ... at sp */
	HS_MAKING_PUSHED, /* ... at sp + 8, the caller's fp at sp, and still in its register */
	HS_MAKING_OWN_FP, /* fp is its own, and words below are being pushed */
	HS_LEFT_TOP,      /* fp is the caller's again, the return address is at sp, */
	HS_LEFT,          /* in the register of the bytecode pointer (HS_LINK: in w->link), */
	HS_LEFT_SP,       /* and sp is the caller's, too */
	HS_MAKING_UNSEEN, /* it is being made or left, but how far cannot be seen */
};

#if !defined(HS_FRAMES_X86_64) && !defined(HS_FRAMES_ARM64)
#if defined(__TARGET_ARCH_arm64) || (!defined(__bpf__) && defined(__aarch64__))
#define HS_FRAMES_ARM64
#else
#define HS_FRAMES_X86_64
#endif
#endif

#ifdef HS_FRAMES_ARM64
#include "bpf/walk/frames_arm64.bpf.h"
#else
#include "bpf/walk/frames_x86_64.bpf.h"
#endif
