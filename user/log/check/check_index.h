/* log/check/check_index.h: whether the index of a log is right about its blocks. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "log/format/block.h"

/* What an index has of a block; kind 0: it is none. */
struct index_entry {
	uint64_t offset;
	uint64_t length, sequence, kind, events, flags;
	uint64_t first_ns, last_ns;
};

/* The blocks since the last index; all zero at first. */
struct check_blocks {
	struct index_entry *entries;
	uint32_t count, capacity;
	uint64_t last_index; /* offset; 0: there was none */
};

#define CHECK_BLOCKS_MAX (1u << 20) /* between two indexes; an index of more is not looked at */

int check_blocks_add(struct check_blocks *c, const struct index_entry *entry); /* -ENOMEM */

/* What an index says of blocks that are not there. */
struct index_lost {
	uint64_t blocks, events;
	uint64_t first_ns, last_ns; /* 0: not known */
};

/*
 * Compares the payload of an index, which is at offset in the file, with the blocks since the last
 * one, and begins anew. NULL: it is right, but for blocks that are missing; else what is wrong
 * with it.
 */
const char *check_blocks_compare(struct check_blocks *c, const struct block *index, uint64_t offset,
				 struct index_lost *ret);
void check_blocks_free(struct check_blocks *c);
