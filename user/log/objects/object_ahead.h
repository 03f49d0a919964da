/* log/objects/object_ahead.h: decompresses blocks of object events ahead of who reads them, in
 * threads, and hands them out in order. */
#pragma once

#include "log/format/block.h"
#include "log/objects/object_body.h"

/* Bytes of blocks, as they are in the file and decompressed, that are read ahead at most, but for
 * one block. */
#define OBJECT_AHEAD_BYTES (16u * 1024 * 1024)
#define OBJECT_AHEAD_JOBS_MAX 16

struct object_ahead_slot {
	struct block block;
	struct object_body body;
	int err;          /* of decompressing: as object_body_open */
	uint64_t missing; /* blocks of whatever kind before it */
	uint8_t *bytes;   /* the block's copy, if there is one */
	size_t capacity;
	size_t taken; /* of OBJECT_AHEAD_BYTES */
	bool done;
};

struct object_ahead;

/* jobs: threads that work, the caller's included; 1: no other. -ENOMEM. */
int object_ahead_new(unsigned jobs, struct object_ahead **ret);
void object_ahead_free(struct object_ahead *a); /* accepts NULL */

/* A slot for the next block, or NULL: enough has been read ahead. */
struct object_ahead_slot *object_ahead_room(struct object_ahead *a);
/* With other threads the block is copied; else its payload is lent until object_ahead_done.
 * -ENOMEM. */
int object_ahead_put(struct object_ahead *a, const struct block *b);
/* The oldest slot that was put, decompressed, until object_ahead_done; NULL: there is none. */
struct object_ahead_slot *object_ahead_oldest(struct object_ahead *a);
void object_ahead_done(struct object_ahead *a);
