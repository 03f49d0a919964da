/* bpf/walk/segments.bpf.h: what is remembered of a segment of a stack, and a walk in segments. */
#pragma once

#include "bpf/walk/walk.bpf.h"

/* A segment ends with the first frame that begins in other 4 KB of the stack. */
#define HS_SEGMENT_SHIFT 12
#define HS_SEGMENT_NOTES_MAX 256 /* a power of two */
#define HS_SEGMENTS_MAX 64       /* a power of two; the last one goes up to the end */

struct hs_segment_key {
	__u64 sp, pc;
	__u32 first; /* kind of its first compiled frame, and whether pc is native */
	__u32 way;
};

/* What was read of a segment, what chain that made, and where the next one begins. */
struct hs_segment_memo {
	__u32 code_epoch, class_epoch;
	__u64 fp; /* at the begin */
	__u32 fp_used;
	__u32 notes;
	__u32 span;             /* words */
	__u32 count;            /* frames */
	__u64 hash1, hash2;     /* of them */
	__u64 next_sp, next_pc; /* 0: the stack ends here */
	__u32 next_fp_at; /* the word that fp has then; HS_SPAN_WORDS: fp is as it was */
	__u32 pad;
	__u64 words_hash1, words_hash2; /* of those that were noted */
	__u64 chain; /* the ids of its chain, << 32, and of the next segment's */
	__u16 note_at[HS_SEGMENT_NOTES_MAX]; /* in words from the begin */
};

/* A segment of the walk at work. */
struct hs_segment {
	struct hs_segment_key key;
	__u64 fp;
	__u64 hash1, hash2;
	__u64 chain; /* of its memo, if it has one that was the same; else 0 */
	__u32 count;
	__u32 pad;
};

struct hs_segments {
	struct hs_segment rows[HS_SEGMENTS_MAX]; /* innermost first */
	struct hs_segment_memo memo;             /* as it is kept */
	__u64 until;         /* sp at which the one that is walked again ends */
	__u32 count, frames; /* so far */
	__u32 known;         /* how many were the same as remembered */
	__u32 have;          /* of which the frames are those in walk.stack */
	__u32 begin;         /* the next step begins a segment */
	__u32 ended;         /* with one that was remembered */
	__u32 again;         /* one is being walked once more, for its frames */
	__u32 at;            /* the one to be numbered next */
	__u32 numbered;      /* all are */
	__u32 id;            /* of the chain from the one before it; in the end, of the whole */
	__u32 result;        /* enum wire_walk */
	__u32 code_epoch, class_epoch; /* at the begin of the walk */
};
