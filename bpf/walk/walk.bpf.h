/* bpf/walk/walk.bpf.h: the walk of one stack: its state, its frames, and what it has read. */
#pragma once

#include "bpf/wire/wire_profile.h"
#include "bpf/wire/wire_stack.h"

#define HS_HEAPS WIRE_CODE_HEAPS
#define HS_STEPS_MAX (WIRE_FRAMES_MAX + 128) /* frames, and stubs between them */
#define HS_HOPS_MAX 128                      /* in a segment map: a block of 4 MB has 128 */
#define HS_HOPS_WALK_MAX 2048                /* in one walk: each new pc takes one or two */
#define HS_NATIVE_MAX 24                     /* frames of libjvm */
#define HS_FRAME_WORDS_MAX 0x10000
#define HS_NOTES_MAX 512   /* a power of two */
#define HS_SPAN_WORDS 4096 /* of the stack, from where the walk begins; likewise */

enum hs_kind {
	HS_COMPILED,
	HS_DEOPTIMIZED, /* a return address that was replaced by the deoptimization handler's */
	HS_STUB,        /* code with a frame of known size that is no Java method's */
	HS_BARE,        /* code without a frame size */
};

/* What a pc in the code cache belongs to. */
struct hs_code {
	__u32 kind; /* enum hs_kind */
	__u32 id;   /* compile id, with WIRE_ID_OSR */
	__u32 frame_bytes;
	__u32 orig_pc_offset; /* of a deoptimized frame, from sp */
	__u64 blob;
	__u32 epoch; /* of code unloading */
	__u32 pad;
};

/* What a walk has read of its stack. */
struct hs_memo {
	__u32 code_epoch, class_epoch;
	__u64 fp; /* at the begin */
	__u32 fp_used;
	__u32 id;
	__u32 notes; /* more than HS_NOTES_MAX: they do not fit, or are of no use */
	__u32 span;  /* words */
	__u64 note[HS_NOTES_MAX];
	__u16 note_at[HS_NOTES_MAX]; /* in words from the begin */
};

/* The walk of one stack; in BPF in a map, as it is too large for the stack there. */
struct hs_walk {
	__u64 pc, sp, fp;
	__u64 fp_at; /* the word that fp came from; 0: the register at the begin */
	__u64 bcp;   /* the interpreter's bytecode pointer, if the thread was interrupted */
	/* Registers in which the interpreter has a Method, and a return address, while it makes a
	 * frame: if the thread was interrupted. */
	__u64 method, link;
	__u64 stack_high;
	__u64 from; /* sp at the begin */
	__u64 hash1, hash2;
	__u64 ask;         /* a pc in native code without a rule */
	/* Of a virtual thread's frames in the heap: see chunk.bpf.h. */
	__u64 java_thread;
	__u64 chunk;       /* that sp is in; 0: it is in the stack */
	__u64 first_chunk; /* where the heap was entered, */
	__u64 collections; /* what hs_collections() was, */
	__u64 heap_hash1, heap_hash2;
	__u32 heap_count;  /* and how many frames there were before that */
	__u32 chunks;      /* so far */
	__u32 settled;     /* enum hs_settled */
	__u32 chunks_end;  /* there are no more: pc is enterSpecial's, or 0 */
	__u32 native;      /* native frames so far, and one; 0: the pc is in Java code */
	__u32 first;       /* enum wire_frame_kind of the next compiled frame */
	__u32 libjvm;      /* one of the native frames was libjvm's own */
	__u32 interpreted; /* there is an interpreted frame among them */
	__u32 slot;        /* in BPF: the number of the slot that it is in */
	__u32 hops;        /* in segment maps */
	__u32 steps;
	__u64 block; /* of the code that is looked up: see hs_block_find() */
	__u32 via;             /* enum wire_via */
	struct wire_frame top; /* see hs_split() */
	struct hs_memo memo;
	struct wire_stack stack;
};

/* Whether a thread may be where it changes the chunks of a virtual thread. */
enum hs_settled {
	HS_UNSETTLED,       /* it may */
	HS_SETTLED,         /* it is not: at a probe, or in a system call */
	HS_SETTLED_IN_JAVA, /* it is not, but may have done so just now */
};

/* Where a walk begins: registers, and the thread's anchor and stack. */
struct hs_start {
	__u64 pc, sp, fp, bcp;
	__u64 method, link; /* as in struct hs_walk */
	__u64 java_thread;
	__u64 stack_high;
	__u32 unlock; /* a lock is being released, most often in a call without debug information */
	__u32 settled; /* enum hs_settled, unless it is in Java code */
	__u32 split;   /* see hs_split() */
	__u32 pad;
};

#ifdef __bpf__
#define HS_FN static __always_inline
/* Virtual threads have frames in the heap. */
const volatile __u32 walk_chunks __weak = 1;
#define HS_CHUNKS walk_chunks
/* Verified by itself, once per program, and not at each call site. */
#define HS_SUBPROGRAM __weak __noinline
#define HS_CODE(w, field) (java_code.field)
#define HS_READ(w, to, addr) bpf_probe_read_user(to, sizeof(*(to)), (void *)(addr))
#else
struct hs_host {
	const struct wire_code *code;
	int (*read)(void *ctx, __u64 addr, void *to, __u32 size); /* 0: all of it */
	/* As in struct wire_native_rule; is_return: pc is a return address. 0: there is one. */
	int (*native_rule)(void *ctx, __u64 pc, int is_return, struct wire_native_rule *ret);
	void *ctx;
};

struct hs_host_walk {
	struct hs_walk walk;
	const struct hs_host *host;
};

#define HS_FN static inline
#define HS_CHUNKS 1
#define HS_SUBPROGRAM static inline
#define HS_HOST(w) (((struct hs_host_walk *)(w))->host)
#define HS_CODE(w, field) (HS_HOST(w)->code->field)
#define HS_READ(w, to, addr) HS_HOST(w)->read(HS_HOST(w)->ctx, addr, to, sizeof(*(to)))
#endif

struct hs_pair {
	__u64 low, high;
};

struct hs_anchor_words {
	__u64 w[4]; /* a JavaFrameAnchor has three words and, on some machines, flags */
};

struct hs_bytes {
	__u8 b[32]; /* from 8 bytes before the pc */
};

/* Ends the walk. */
HS_FN int hs_end(struct hs_walk *w, __u32 result)
{
	w->stack.result = result;
	return 1;
}

HS_FN __u64 hs_word(__u64 base, __s32 words)
{
	return base + (__u64)((__s64)words * 8);
}

HS_FN __u64 hs_mix(__u64 hash, __u64 value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
	return hash ^ (hash >> 29);
}

HS_FN int hs_push(struct hs_walk *w, __u64 address, __u32 id, __u32 kind)
{
	__u32 n = w->stack.count;
	struct wire_frame *f;

	if (n >= WIRE_FRAMES_MAX)
		return hs_end(w, WIRE_WALK_CUT);
	f = &w->stack.frames[n & (WIRE_FRAMES_MAX - 1)];
	f->code = address;
	f->id = id;
	f->kind = kind;
	w->stack.count = n + 1;
	w->hash1 = hs_mix(w->hash1, address);
	w->hash2 = hs_mix(w->hash2, address + ((__u64)id << 32 | kind) * 0xd6e8feb86659fd93ull);
	return 0;
}

/* What comes next depends on this word of the stack. */
HS_FN void hs_note(struct hs_walk *w, __u64 address, __u64 value)
{
	__u64 at = (address - w->from) >> 3;
	__u32 n = w->memo.notes;

	if (n >= HS_NOTES_MAX || address < w->from || at >= HS_SPAN_WORDS) {
		w->memo.notes = HS_NOTES_MAX + 1;
		return;
	}
	w->memo.note[n & (HS_NOTES_MAX - 1)] = value;
	w->memo.note_at[n & (HS_NOTES_MAX - 1)] = (__u16)at;
	w->memo.notes = n + 1;
	if (at >= w->memo.span)
		w->memo.span = (__u32)at + 1;
}

/* ... on the frame pointer. */
HS_FN void hs_note_fp(struct hs_walk *w)
{
	if (w->fp_at)
		hs_note(w, w->fp_at, w->fp);
	else
		w->memo.fp_used = 1;
}

/* The next frame's sp: it must be further up, and in the stack. */
HS_FN int hs_up(struct hs_walk *w, __u64 sp)
{
	if (sp <= w->sp || sp > w->stack_high || (sp & 7))
		return hs_end(w, WIRE_WALK_OUTSIDE);
	w->sp = sp;
	return 0;
}
