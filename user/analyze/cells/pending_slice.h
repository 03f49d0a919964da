/* analyze/cells/pending_slice.h: slices of blocked time, and the call chains that they are charged
 * to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/cells/cells.h"

/* A thread's call chain at a moment. */
struct chain_seen {
	uint64_t stack; /* 0: not known */
	enum holder_stack_from from;
};

/* The chain of a thread that blocked on a lock, or waits. */
struct shown {
	uint64_t lock, stack;
	uint64_t number; /* of all that were shown, from 1 */
};

/* Time of one blocked thread in one hold, of which the holder's call chain is not known yet. */
struct pending_slice {
	uint64_t begin_ns; /* of the first one in it */
	uint64_t ns, first_reader_ns;
	struct split split;
	bool first; /* the contention began with it */
};

/* What a contention that is going on has in one cell: not in its sums before the contention ends.
 * Apart, as there are many cells, and few of them have any. */
struct pending {
	uint64_t begin_ns; /* of the first slice in it */
	uint64_t ns, first_reader_ns;
	struct split split;
	uint64_t from_ns[HOLDER_STACK_FROM_COUNT];
	uint32_t cell;
	/* Of this contention, INDEX_NONE: the last. Of a free one 1 + the next, 0: none. */
	uint32_t next;
	uint32_t holder; /* the holder's index in the table of threads, or INDEX_NONE */
};
