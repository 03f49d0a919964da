/* heap/replay/object_choice.h: which births count, and what they are put together to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "heap/replay/object_names.h"

struct object_thread;

struct object_birth {
	const struct object_thread *thread; /* lent for the call */
	uint32_t stream;                    /* its number: 0, 1, 2, ... */
	uint32_t site, class;               /* indexes of names; INDEX_NONE: not known */
	bool is_array, in_tlab;
	uint64_t length, bytes; /* length: of an array */
	/* Not before this, and not after the next such time of its thread: that of its TLAB, of its
	 * slot, of the collection before. */
	uint64_t from_ns;
	bool was_found; /* in the heap, when events were switched on: it has no time */
};

struct object_choice {
	/* The part that the object belongs to, or OBJECT_PART_NONE. *ret_by_time: it would have
	 * been another one, or none, at another time. */
	uint32_t (*part)(void *ctx, const struct object_birth *b, bool *ret_by_time);
	/* Would a birth at the one time be of another part than at the other? */
	bool (*edge)(void *ctx, const struct object_birth *b, uint64_t to_ns);
	void *ctx;
};
