/* analyze/groups/facets.h: properties of the pieces of one contention, by which a cell can be cut:
 * when it was, how long it took, what else went on. */
#pragma once

#include <stdint.h>

/* Which of them cells are cut by: bits. */
enum facet {
	FACET_WINDOW = 1,   /* of time */
	FACET_DURATION = 2, /* a class of the whole contention's length */
	FACET_GC = 4,       /* whether a collection was under way */
	FACET_SPAN = 8,     /* the waiter's innermost span */
	FACET_STATE = 16,   /* what the holder did */
};

enum facet_duration {
	DURATION_NONE, /* cells are not cut by it */
	DURATION_10US, /* below 10 us */
	DURATION_100US,
	DURATION_1MS,
	DURATION_10MS,
	DURATION_100MS,
	DURATION_1S,
	DURATION_10S,
	DURATION_MORE, /* 10 s and more */
	DURATION_COUNT,
};

enum facet_gc { GC_NONE, GC_OUTSIDE, GC_WITHIN, GC_COUNT };

enum facet_state {
	HOLDER_STATE_NONE,
	HOLDER_STATE_RUNNING,
	HOLDER_STATE_STOLEN,
	HOLDER_STATE_RUNNABLE,
	HOLDER_STATE_THROTTLED,
	HOLDER_STATE_LOCK, /* this and the next by enum blocked_reason */
	HOLDER_STATE_WAIT,
	HOLDER_STATE_PARK,
	HOLDER_STATE_SLEEP,
	HOLDER_STATE_IO,
	HOLDER_STATE_PAUSE,
	HOLDER_STATE_OTHER,     /* blocked for an unknown reason */
	HOLDER_STATE_NOT_SPLIT, /* a holder of whom it is not known */
	HOLDER_STATE_NOBODY,    /* no thread held the lock, or none that is known */
	HOLDER_STATE_COUNT,
};

/* 0 of any: cells are not cut by it. */
struct facets {
	unsigned window; /* 1 + its index, FACET_WINDOWS_MAX at most */
	enum facet_duration duration;
	enum facet_gc gc;
	enum facet_state state;
	unsigned span; /* 1 + the index of its name, or one of those below */
};

#define FACET_WINDOWS_MAX 4095
#define FACET_SPAN_NAMES 1021
#define FACET_SPAN_MORE 1022 /* of one of the names beyond so many */
#define FACET_SPAN_NONE 1023 /* in no span */

_Static_assert(DURATION_COUNT <= 16 && GC_COUNT <= 4 && HOLDER_STATE_COUNT <= 16, "4, 2, 4 bits");

/* In 12 bits, 4, 2, 4 and 10: two sets are compared at once. */
static inline uint32_t facets_pack(const struct facets *f)
{
	return f->window | f->duration << 12 | f->gc << 16 | f->state << 18 | f->span << 22;
}

static inline struct facets facets_unpack(uint32_t packed)
{
	return (struct facets){.window = packed & 0xfff,
			       .duration = packed >> 12 & 0xf,
			       .gc = packed >> 16 & 3,
			       .state = packed >> 18 & 0xf,
			       .span = packed >> 22};
}
