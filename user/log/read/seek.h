/* log/read/seek.h: which blocks are needed for a range of time, and how to get past the others. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/format/block.h"

struct stream;

/* What is known of a block without reading all of it. */
struct seek_position {
	uint64_t offset;
	uint32_t length; /* of its payload */
	uint32_t sequence;
	uint32_t kind;
	struct preamble preamble; /* of packed blocks; of codec and length nothing is known */
};

/* All zero: no limits. */
struct seek {
	bool limited;
	bool goes_on; /* there is something after to_ns, and it was passed over */
	uint64_t from_ns, to_ns;
	uint32_t begin; /* the block from which on events are needed; 0: from the first one on */
	/* The blocks of index of the file, backwards, and what the one that is in use says. */
	uint64_t *indexes;
	uint32_t index_count, index_capacity;
	struct seek_position *positions;
	uint32_t next_position, position_count, position_capacity;
};

/*
 * A new file, at its first block after the header: finds where to begin. Stays there. Pipes are
 * read from where they are. -ENOMEM, or what reading says.
 */
int seek_begin(struct seek *s, struct stream *in);

/*
 * Goes past blocks that are not needed. *sequence, which the next block has at least, goes along.
 * Where something looks damaged it stops, for the block to be read.
 */
int seek_skip(struct seek *s, struct stream *in, uint32_t *sequence);

/* Whether a packed block is needed that has been read. */
bool seek_wants(struct seek *s, const struct preamble *p);

void seek_free(struct seek *s);
