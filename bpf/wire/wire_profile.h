/* bpf/wire/wire_profile.h: ring records of running threads that the clock of --sample has found. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#include "bpf/wire/wire_stack.h"

enum wire_mode { /* where the pc was; the order of sample_mode in events.json */
		 WIRE_MODE_UNKNOWN,
		 WIRE_MODE_JAVA,
		 WIRE_MODE_NATIVE,
		 WIRE_MODE_VM,
		 WIRE_MODE_KERNEL,
		 WIRE_MODE_SPIN, /* in the VM, where it spins for a monitor */
};

enum wire_via { /* how the walk began; the order of walk_begin in events.json */
		WIRE_VIA_NONE,
		WIRE_VIA_INTERPRETER,
		WIRE_VIA_COMPILED,
		WIRE_VIA_PROLOGUE, /* or the epilogue: the frame was half built */
		WIRE_VIA_STUB,
		WIRE_VIA_ANCHOR,
		WIRE_VIA_NATIVE, /* out of native code by its unwind rules */
		WIRE_VIA_FRAGMENT, /* not in BPF: see wire_fragment.h */
};

struct wire_run_sample {
	struct wire_head head;
	struct wire_counters self;
	/* Where the thread was interrupted in Java code; code 0: it was not. The chain has the
	 * callers then, so that all addresses of a loop have one chain. */
	struct wire_frame top;
	__u32 stack;
	__u32 class_epoch; /* of class unloading, at the walk */
	__u32 mode;        /* enum wire_mode */
	__u32 via;         /* enum wire_via */
	__u32 result;      /* enum wire_walk */
	__u32 pad;
	__u64 pc;        /* where the thread was interrupted, be it in the kernel */
	__u64 compiling; /* of a compiler thread: the Method; 0: it is none, or not known */
};

/* As in wire_kinds.h. */
#define WIRE_PROFILE_KINDS(KIND) KIND(RUN_SAMPLE, sizeof(struct wire_run_sample), EVENT_RUN_SAMPLE)
