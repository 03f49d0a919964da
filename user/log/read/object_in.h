/* log/read/object_in.h: reads the blocks of object events of a log, record by record. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "log/format/unpack.h"

struct block;
struct codec;
struct object_in;
struct object_record;

struct object_in_stats {
	uint64_t blocks, raw_bytes, bytes; /* blocks of object events: decompressed, in the file */
	uint64_t records;
	uint64_t damaged; /* blocks; what is after the damage is left out */
	uint64_t missing; /* blocks of whatever kind, of which some may have been such */
};

/* What opening said, -EPROTO: no event log. On success *ret is the caller's. */
int object_in_open(const char *path, struct object_in **ret);
void object_in_close(struct object_in *in);
/* 1: *ret is the next record, its texts and words lent until the next call. 0: the end. Otherwise
 * what reading or malloc said. */
int object_in_next(struct object_in *in, struct object_record *ret);
void object_in_stats(const struct object_in *in, struct object_in_stats *ret);

/* The records of one block. Zeroed before it is first opened; freed once. */
struct object_body {
	struct codec *codec;
	uint8_t *bytes;
	size_t capacity;
	struct unpack in;
	uint32_t raw_bytes, left; /* left: records */
};

/* b is lent until it is freed or opened anew. -EBADMSG: it is damaged. -ENOTSUP: compressed as this
 * version cannot. -ENOMEM. */
int object_body_open(struct object_body *o, const struct block *b);
/* 1: *ret; its kind is 0 if it is not known here. 0: the end. -EBADMSG, also if there is more than
 * the block says. */
int object_body_next(struct object_body *o, struct object_record *ret);
void object_body_free(struct object_body *o);
