/* bpf/wire/wire_fragment.h: stack fragments: with a sample, what its thread had on the stack. They
 * cross in a ring of their own, which has no other records. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#include "bpf/wire/wire_profile.h"

#define WIRE_FRAGMENT_MIN 4096 /* bytes of the stack; powers of two */
#define WIRE_FRAGMENT_MAX 65536
#define WIRE_ANCHOR_WORDS 4
#define WIRE_KERNEL_FRAMES 48

struct wire_fragment {
	struct wire_run_sample sample; /* with what the walk in BPF has found */
	__u64 pc, sp, fp, bcp, method, link; /* as struct hs_start has them */
	__u64 java_thread, stack_high;
	__u64 anchor[WIRE_ANCHOR_WORDS]; /* from the thread's frame anchor on */
	__u32 code_epoch;                /* of code unloading, at the walk */
	__u32 own;                       /* the sample is only here */
	__u32 length;                    /* of bytes: from sp on, not beyond stack_high */
	__u32 unread;                    /* not 0: the stack, or the anchor, cannot be read */
	/* Of a sample in the kernel, if native callers are wanted: return addresses, from the
	 * sampling itself on, over the interrupt; sample.pc is among them where it is known. */
	__u64 kernel[WIRE_KERNEL_FRAMES];
	__u32 kernel_count;
	__u32 pad;
	__u8 bytes[];
};
