/* log/read/read_ahead.h: decodes blocks ahead of who reads them, in threads, and hands them out in
 * order. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "log/format/block.h"
#include "log/read/batch.h"
#include "log/read/reader.h"

/* Bytes of blocks, as they are in the file and decompressed, that are read ahead at most, but for
 * one block. */
#define AHEAD_BYTES (16 * 1024 * 1024)
#define AHEAD_JOBS_MAX 16

struct decode_slot {
	struct block block;
	struct preamble preamble; /* all zero if it has none */
	uint8_t *bytes;           /* the block's copy, if there is one */
	size_t capacity;
	size_t taken; /* of AHEAD_BYTES */
	struct decoder decoder;
	struct batch *batch;
	int err; /* of decoding */
	bool done;
	struct log_reader_stats seen; /* the reader's, when it came to this block */
	bool hole;                    /* blocks are missing before it */
	bool fresh;                   /* nothing came before it: nothing can be open */
};

struct read_ahead;

/* jobs: threads that work, the caller's included. -ENOMEM. */
int read_ahead_new(unsigned jobs, struct read_ahead **ret);
void read_ahead_free(struct read_ahead *a); /* accepts NULL */

/* A slot to be filled in, then read_ahead_put; NULL: enough has been read ahead. */
struct decode_slot *read_ahead_room(struct read_ahead *a);
/*
 * Where blocks are read ahead the block is copied; else its payload is lent until read_ahead_done.
 * -ENOMEM.
 */
int read_ahead_put(struct read_ahead *a, struct decode_slot *s, const struct block *b);
/* The oldest slot that was put, decoded; NULL: there is none. It stays the oldest until
 * read_ahead_done. */
struct decode_slot *read_ahead_oldest(struct read_ahead *a);
/* The rest of the block, if decoder_more says so, into a new batch. */
int read_ahead_more(struct read_ahead *a, struct decode_slot *s);
void read_ahead_done(struct read_ahead *a);

/* A batch that its holder needs no more; batches of slots are let go with them. */
void read_ahead_release(struct read_ahead *a, struct batch *b);
