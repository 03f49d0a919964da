/* bpf/wire/wire_native.h: how the walker gets out of native code. */
#pragma once

#include "bpf/wire/wire.h"

#define WIRE_RULE_RETURN (1ull << 63) /* in the key of a rule: pc is a return address */

#define WIRE_NATIVE_WORDS 512

/* The walker needs to know how to get out of the native function that pc lies in, and then out of
 * its callers: they are in the copy of the stack. */
struct wire_native {
	struct wire_head head;
	__u64 pc;     /* with WIRE_RULE_RETURN: the key of the rule */
	__u64 sp, fp; /* there */
	__u32 length; /* of the copy, in words from sp on; 0: there is none */
	__u32 pad;
	__u64 words[WIRE_NATIVE_WORDS];
};

enum wire_native_rule_flags {
	WIRE_RULE_CFA_FP = 1,   /* CFA = fp + cfa_offset; else sp + cfa_offset */
	WIRE_RULE_FP_SAVED = 2, /* the caller's fp is at CFA + fp_offset; else it is fp itself */
	WIRE_RULE_UNUSABLE = 4,
	WIRE_RULE_ASKED = 8, /* user space has not answered yet */
	/* The return address is in its register; else it is at CFA + return_offset. */
	WIRE_RULE_KEPT = 16,
};

/* From a pc in native code to its caller: sp becomes CFA. */
struct wire_native_rule {
	__s32 cfa_offset;
	__s16 fp_offset, return_offset;
	__u32 flags;
};
