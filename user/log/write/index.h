/* log/write/index.h: where the blocks of a file are: its blocks of the kinds index and end. */
#pragma once

#include <msgpack.h>
#include <stdint.h>

#include "log/format/block.h"
#include "log/write/output.h"

#define LOG_INDEX_BLOCKS 1024 /* a block of index is written after so many others */
#define LOG_END_BYTES 8       /* payload of the block of the kind end of file */

struct log_index {
	msgpack_sbuffer buf; /* room for the block's header, then its payload */
	uint32_t count;      /* blocks in it */
};

void log_index_init(struct log_index *x);
void log_index_free(struct log_index *x);
/* Empty again; previous is the offset of the index before, 0: there is none. -ENOMEM. */
int log_index_begin(struct log_index *x, uint64_t previous);
int log_index_add(struct log_index *x, uint64_t offset, const struct sealed *block); /* -ENOMEM */
/* The block with this sequence number, lent until the next call. */
void log_index_seal(struct log_index *x, uint32_t sequence, struct sealed *ret);
/* Bytes that this index and the end of file will take, if one more block comes. */
uint64_t log_index_reserve(const struct log_index *x);

/* The last block of a file, in bytes. */
void log_end_seal(uint64_t last_index, uint32_t sequence,
		  uint8_t bytes[BLOCK_HEADER_BYTES + LOG_END_BYTES], struct sealed *ret);
