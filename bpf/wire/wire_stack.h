/* bpf/wire/wire_stack.h: call chains, and what the walker in BPF knows of the code. */
#pragma once

/* Fixed-width types come from vmlinux.h in BPF and from linux/types.h in user space. */

#include "bpf/wire/wire.h"
#include "bpf/wire/wire_native.h"

#define WIRE_FRAMES_MAX 512
#define WIRE_CODE_HEAPS 3

enum wire_frame_kind {
	WIRE_FRAME_COMPILED,    /* code: pc, a return address; id: compile id */
	WIRE_FRAME_INTERRUPTED, /* the same, but pc is where the thread was interrupted */
	WIRE_FRAME_UNLOCK,      /* the same, but it may be that of a call that releases a lock */
	WIRE_FRAME_INTERPRETED, /* code: Method; id: bci */
};

#define WIRE_ID_OSR 0x80000000u /* in a compile id: it is an OSR method's, counted by itself */

struct wire_frame {
	__u64 code;
	__u32 id;
	__u32 kind; /* enum wire_frame_kind */
};

enum wire_walk { /* how a walk ended; the order of walk_result in events.json, but for two */
		 WIRE_WALK_COMPLETE,
		 WIRE_WALK_CUT,            /* it has more than WIRE_FRAMES_MAX frames */
		 WIRE_WALK_NO_JAVA_FRAMES, /* the VM's own doing: there is no Java frame */
		 WIRE_WALK_NO_JAVA_THREAD,
		 WIRE_WALK_NO_CODE, /* a pc outside of all code that is known */
		 WIRE_WALK_NO_ROOM, /* too many walks at once on this CPU */
		 WIRE_WALK_READ,    /* the stack, or what it points to, cannot be read */
		 WIRE_WALK_OUTSIDE, /* a frame outside of the thread's stack */
		 WIRE_WALK_FRAME_SIZE,
		 WIRE_WALK_INTERPRETER,
		 WIRE_WALK_ENTRY,
		 WIRE_WALK_DEOPTIMIZED,
		 WIRE_WALK_STUB,
		 WIRE_WALK_HALF_BUILT,  /* in a prologue or epilogue that is not understood */
		 WIRE_WALK_NATIVE_RULE, /* native code: no rule for this pc yet; it is asked for */
		 WIRE_WALK_NATIVE_LOST, /* native code: more frames than are believed */
		 WIRE_WALK_MOVED,       /* another thread's stack: that thread ran meanwhile */
		 WIRE_WALK_NOT_SENT,
		 WIRE_WALK_KNOWN,           /* counted besides: the chain had been sent before */
		 WIRE_WALK_NATIVE_UNUSABLE, /* native code: there is no rule that can be followed */
		 WIRE_WALK_TOO_OFTEN,       /* not begun: see walk_worth() in stack.bpf.h */
		 WIRE_WALK_IN_HEAP, /* a virtual thread's: its other frames are in the heap */
		 WIRE_WALK_COUNT,
};

/* A call chain, sent once; events refer to it by id. */
struct wire_stack {
	struct wire_head head;
	__u32 id;
	__u32 count;
	__u32 class_epoch;                         /* of class unloading, at the walk */
	__u32 result;                              /* enum wire_walk */
	__u32 rest; /* the id of the chain of the callers of the last frame; 0: see result */
	__u32 pad;
	struct wire_frame frames[WIRE_FRAMES_MAX]; /* innermost first; count of them are sent */
};

/* A thread that owns a lock, seen after somebody has blocked on it. */
struct wire_owner_stack {
	struct wire_head head; /* tid: the owner */
	__u32 waiter_tid;
	__u32 stack;
	__u32 source; /* enum wire_stack_source */
	__u32 pad;
};

enum wire_stack_source { /* the order of stack_source in events.json */
			 WIRE_STACK_NONE,
			 WIRE_STACK_BLOCK,
			 WIRE_STACK_SWITCH,
			 WIRE_STACK_SAMPLE,
};

struct wire_code_heap {
	__u64 low, high;
	__u64 segmap;
	__u64 segment_shift;
};

/* What the walker needs of struct code_layout (user/jvm/layout/code_layout.h): as in
 * wire_layout.h. */
#define WIRE_CODE_FIELDS(F)                                                                        \
	F(__u64, interpreter_low, interpreter_low)                                                 \
	F(__u64, interpreter_high, interpreter_high)                                               \
	F(__u64, call_stub_return, call_stub_return)                                               \
	F(__u64, barrier_low, barrier_low)                                                         \
	F(__u64, barrier_high, barrier_high)                                                       \
	F(__u64, nmethod_vtable, nmethod_vtable)                                                   \
	F(__u32, heap_block_size, heap_block_size)                                                 \
	F(__u32, block_used, block_used)                                                           \
	F(__u32, blob_frame_complete, blob_frame_complete)                                         \
	F(__u32, blob_frame_size, blob_frame_size)                                                 \
	F(__u32, blob_code_begin, blob_code_begin)                                                 \
	F(__u32, blob_code_end, blob_code_end)                                                     \
	F(__u32, blob_kind, blob_kind)                                                             \
	F(__u32, nmethod_compile_id, nmethod_compile_id)                                           \
	F(__u32, nmethod_entry_bci, nmethod_entry_bci)                                             \
	F(__u32, nmethod_orig_pc_offset, nmethod_orig_pc_offset)                                   \
	F(__u32, nmethod_deopt, nmethod_deopt)                                                     \
	F(__u32, nmethod_deopt_mh, nmethod_deopt_mh)                                               \
	F(__u32, nmethod_verified_entry, nmethod_verified_entry)                                   \
	F(__u32, method_const, method_const)                                                       \
	F(__u32, const_size, const_size)                                                           \
	F(__u32, const_code_size, const_code_size)                                                 \
	F(__u32, anchor_sp, anchor_sp)                                                             \
	F(__u32, anchor_pc, anchor_pc)                                                             \
	F(__u32, anchor_fp, anchor_fp)                                                             \
	F(__u32, call_wrapper_anchor, call_wrapper_anchor)                                         \
	F(__u32, thread_anchor, java_thread_anchor)                                                \
	F(__s32, entry_call_wrapper, entry_call_wrapper)                                           \
	F(__s32, interpreter_sender_sp, interpreter_sender_sp)                                     \
	F(__s32, interpreter_method, interpreter_method)                                           \
	F(__s32, interpreter_bcp, interpreter_bcp)                                                 \
	F(__u32, address_spare, address_spare)                                                     \
	F(__u32, entry_spare, entry_spare)                                                         \
	F(__u32, frame_complete_spare, frame_complete_spare)

/* What the walker needs of struct jvm_layout (user/jvm/layout/jvm_layout.h) to go on in the heap:
 * likewise. */
#define WIRE_CHUNK_FIELDS(F)                                                                       \
	F(__u64, gc_active, heap_gc_active)                                                        \
	F(__u64, gc_count, heap_collections)                                                       \
	F(__u64, narrow_oop_base, narrow_oop_base)                                                 \
	F(__u64, narrow_klass_base, narrow_klass_base)                                             \
	F(__u64, chunk_klass, chunk.klass)                                                         \
	F(__u64, entry_return, chunk.entry_return)                                                 \
	F(__u32, narrow_oop_shift, narrow_oop_shift)                                               \
	F(__u32, narrow_klass_shift, narrow_klass_shift)                                           \
	F(__u32, compressed_oops, compressed_oops)                                                 \
	F(__u32, compressed_klass, compressed_klass)                                               \
	F(__u32, mark_klass_shift, mark_klass_shift)                                               \
	F(__u32, oop_mark, oop_mark)                                                               \
	F(__u32, oop_klass, oop_klass)                                                             \
	F(__u32, thread_obj, java_thread_thread_obj)                                               \
	F(__s32, thread_cont, chunk.thread_cont)                                                   \
	F(__s32, cont_tail, chunk.cont_tail)                                                       \
	F(__s32, chunk_parent, chunk.parent)                                                       \
	F(__s32, chunk_size, chunk.size)                                                           \
	F(__s32, chunk_sp, chunk.sp)                                                               \
	F(__s32, chunk_bottom, chunk.bottom)                                                       \
	F(__u32, chunk_bottom_is_argsize, chunk.bottom_is_argsize)                                 \
	F(__u32, chunk_stack, chunk.stack)

#define WIRE_CODE_FIELD(type, name, ...) type name;

struct wire_chunk {
	WIRE_CHUNK_FIELDS(WIRE_CODE_FIELD)
	__u32 ready; /* all of it is known, and objects are moved only while Java threads stand */
};

#define WIRE_SPIN_RANGES 2

struct wire_spin_range {
	__u64 low, high; /* [low, high): both 0: there is none */
};

struct wire_code {
	struct wire_code_heap heaps[WIRE_CODE_HEAPS];
	__u64 libjvm_low, libjvm_high; /* its executable part */
	struct wire_spin_range spins[WIRE_SPIN_RANGES]; /* in it: a thread spins for a monitor */
	struct wire_chunk chunk;
	WIRE_CODE_FIELDS(WIRE_CODE_FIELD)
	__u32 ready; /* all of it is known: stacks are walked */
};

/* As in wire_kinds.h. Of STACK and NATIVE the length varies. */
#define WIRE_STACK_KINDS(KIND)                                                                     \
	KIND(STACK, 0, EVENT_STACK)                                                                \
	KIND(NATIVE, 0, 0)                                                                         \
	KIND(OWNER_STACK, sizeof(struct wire_owner_stack), EVENT_OWNER_STACK)
