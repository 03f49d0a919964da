/* analyze/spans/span_kept.h: the spans that are in memory: open ones, the latest, and the
 * slowest. */
#pragma once

#include "analyze/spans/spans.h"

/* How many of the latest are kept for waits that are reported late. */
#define SPANS_RECENT_MAX 4096

struct span_thread;

/* A span, and what is needed while it is kept. */
struct kept {
	struct span span;
	uint64_t raw_name;   /* a string of the log */
	uint32_t name;       /* index of its name; not known before it ends */
	struct states inner; /* of the spans within, in sum */
	uint64_t inner_ns;
	bool was_blocked; /* by anything that may be a lock */
	unsigned users;   /* of recent and slowest */
	struct span_thread *thread;
	struct kept *newer, *older; /* of the thread's ended ones */
};

struct span_thread {
	uint64_t thread;
	uint32_t touched;
	struct kept **open; /* [depth], the outermost first; those too deep are not in it */
	uint32_t depth, capacity;
	struct kept *latest;   /* ended; by their ends */
	uint64_t forgotten_ns; /* the latest end of those that are not kept any more */
};

struct kept_spans {
	struct kept *recent[SPANS_RECENT_MAX]; /* a ring */
	uint32_t recent_count, recent_first;
	struct span **slowest; /* of struct kept; a heap: the fastest of them first */
	uint32_t slowest_count, slowest_capacity, top;
};

/* Whether a is to be listed before b: it is slower, or else it came earlier. */
bool span_is_slower(const struct span *a, const struct span *b);

/* The span has ended and is not the caller's any more: it is kept for as long as it is one of the
 * slowest, or of the latest that were blocked. 0 or -ENOMEM. */
int kept_add(struct kept_spans *k, struct kept *span);
void kept_free_all(struct kept_spans *k);

void blockers_add(struct span_blockers *b, const struct span_blocker *more);
