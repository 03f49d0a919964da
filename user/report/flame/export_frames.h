/* report/flame/export_frames.h: the frames of exported chains, each one once. */
#pragma once

#include "base/tables/keymap.h"
#include "report/flame/export.h"

struct labels;
struct text_set;

/* What stands in a chain where no method can. */
enum export_mark {
	EXPORT_UNKNOWN,        /* of a chain nothing is known */
	EXPORT_MISSING,        /* the callers could not be recorded, or the log has lost them */
	EXPORT_CUT,            /* there are more frames than are recorded */
	EXPORT_IN_HEAP,        /* a virtual thread's other frames are in the heap */
	EXPORT_UNLOADED,       /* the code was gone before it was named */
	EXPORT_UNKNOWN_METHOD, /* the log has lost its name */
	EXPORT_ALL_HIDDEN,     /* all frames of a chain are hidden ones */
	EXPORT_HAND_OVER,      /* nobody is known to have held the lock */
	EXPORT_UNKNOWN_HOLDER, /* nothing says who held it */
	EXPORT_BLOCKED_BY,     /* between the waiter's chain and the holder's */
	EXPORT_OTHERS,         /* chains of which there were too many to be distinguished */
	EXPORT_MARK_COUNT,
};

/* Its text is all five parts in their order; none is NULL. They are lent until export_frames_free.
 */
struct export_frame {
	const char *before;
	const char *outer; /* from the log */
	const char *joint;
	const char *name; /* from the log */
	const char *after;
	const char *file; /* from the log; "": not known */
	uint64_t line;    /* 0: not known, or not wanted */
};

/* One number of a call chain; chains of the log share their outer ones. */
struct export_step {
	uint32_t frame;  /* INDEX_NONE: hidden, and not wanted */
	uint32_t caller; /* index of its step; INDEX_NONE: there is none */
};

struct export_frames {
	const struct export_input *in;
	struct labels *labels;
	struct text_set *texts;
	struct keymap map;
	struct export_frame *rows; /* map.count of them */
	uint32_t capacity;
	struct keymap step_map;
	struct export_step *steps; /* step_map.count of them */
	uint32_t steps_capacity;
};

/* in is lent until export_frames_free. 0 or -ENOMEM; free it in any case. */
int export_frames_init(struct export_frames *f, const struct export_input *in);
void export_frames_free(struct export_frames *f);

/* The index of a frame. 0 or -ENOMEM. */
int export_frames_mark(struct export_frames *f, enum export_mark mark, uint32_t *ret);
int export_frames_thread(struct export_frames *f, uint64_t thread, uint32_t *ret);
int export_frames_lock(struct export_frames *f, uint64_t lock, uint32_t *ret);
/* The index of a chain's innermost step: all its steps are there. 0 or -ENOMEM. */
int export_frames_chain(struct export_frames *f, uint64_t stack, uint32_t *ret);
