/* log/read/ahead.h: decodes blocks ahead of who reads them, in threads, and hands them out in
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

struct ahead;

/* jobs: threads that work, the caller's included. -ENOMEM. */
int ahead_new(unsigned jobs, struct ahead **ret);
void ahead_free(struct ahead *a); /* accepts NULL */

/* A slot to be filled in, then ahead_put; NULL: enough has been read ahead. */
struct decode_slot *ahead_room(struct ahead *a);
/*
 * Where blocks are read ahead the block is copied; else its payload is lent until ahead_done.
 * -ENOMEM.
 */
int ahead_put(struct ahead *a, struct decode_slot *s, const struct block *b);
/* The oldest slot that was put, decoded; NULL: there is none. It stays the oldest until ahead_done.
 */
struct decode_slot *ahead_oldest(struct ahead *a);
/* The rest of the block, if decoder_more says so, into a new batch. */
int ahead_more(struct ahead *a, struct decode_slot *s);
void ahead_done(struct ahead *a);

/* A batch that its holder needs no more; batches of slots are let go with them. */
void ahead_release(struct ahead *a, struct batch *b);
