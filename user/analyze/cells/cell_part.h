/* analyze/cells/cell_part.h: blocked intervals that have ended, as observers are given them. */
#pragma once

#include "analyze/cells/cell.h"

/* A part of an interval: the lock was held by one holder, in one call chain. */
struct cell_part {
	struct cell_key key;
	bool monitor, numbered;
	/* The parts of an interval come one after the other, by when each first began: what a
	 * holder had later is together with what it had first. */
	uint64_t from_ns, to_ns;
	uint64_t first_reader_ns;
	struct split split;
	uint64_t stack_from_ns[HOLDER_STACK_FROM_COUNT];
};

/* A blocked interval that has ended, when all of its parts are known. */
struct cell_interval {
	struct cell_key key; /* of the part that it began with; the waiter is never THREAD_OTHERS */
	bool monitor;
	uint64_t since_ns, until_ns;
	uint64_t last; /* the other thread that is known to have held the lock last; 0: none is */
};

typedef void cell_part_observer(void *context, const struct cell_part *part);
typedef void cell_interval_observer(void *context, const struct cell_interval *interval);
