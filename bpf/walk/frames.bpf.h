/* bpf/walk/frames.bpf.h: how HotSpot's code of an architecture makes and unmakes its frames. */
#pragma once

/*
 * Each architecture's header gives the same names:
 *	HS_FRAMES_KNOWN       0: they are not; then user space never lets a walk begin
 *	HS_RETURN_BYTES       a native frame's return address is so far below its CFA
 *	hs_built(w, c)        enum hs_built of an interrupted compiled method; -1: it cannot be seen
 *	hs_making(w)          enum hs_making of the interpreter's code at w->pc; -1: it
 *	                      cannot be seen
 *	hs_is_call(before)    whether the word before a pc ends with a call
 *	HS_HAS_PUSHED_FP(b)   whether the code of a stub, of which 8 bytes before b and 24 from it
 *	                      can be looked at, has put fp onto the stack, and not replaced it yet
 *
 * On the host, images of stacks are walked: those of x86-64, whatever the host is.
 */
#include "bpf/walk/code_cache.bpf.h"

/* How much of an interrupted compiled method's frame is there. */
enum hs_built {
	HS_BUILT,
	HS_RETURN_ON_TOP,   /* the return address is at sp; fp is the caller's */
	HS_RETURN_BELOW_FP, /* at sp + 8, the caller's fp at sp */
	HS_BUILT_NO_FP,     /* built, but fp is not saved yet */
};

/* How much of an interpreted frame is there. */
enum hs_making {
	HS_MADE,          /* all of it, or it cannot be seen that something is missing */
	HS_MAKING_LINK,   /* the return address is in a register; fp is the caller's */
	HS_MAKING_TOP,    /* ... at sp */
	HS_MAKING_PUSHED, /* ... at sp + 8, the caller's fp at sp, and still in its register */
	HS_MAKING_OWN_FP, /* fp is its own, and words below are being pushed */
	HS_LEFT_TOP,      /* fp is the caller's again, the return address is at sp, */
	HS_LEFT,          /* in the register of the bytecode pointer, */
	HS_LEFT_SP,       /* and sp is the caller's, too */
};

#if defined(__TARGET_ARCH_arm64)
#include "bpf/walk/frames_arm64.bpf.h"
#else
#include "bpf/walk/frames_x86_64.bpf.h"
#endif
