/* log/objects/object_in.h: reads the blocks of object events of a log, record by record. */
#pragma once

#include <stddef.h>
#include <stdint.h>

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
/* Threads that decompress, the caller's included: blocks are read ahead, of OBJECT_AHEAD_BYTES at
 * most. 0 and 1: no other. To be called before the first record. */
void object_in_jobs(struct object_in *in, unsigned jobs);
/* 1: *ret is the next record, its texts and words lent until the next call. 0: the end. Otherwise
 * what reading or malloc said. */
int object_in_next(struct object_in *in, struct object_record *ret);
void object_in_stats(const struct object_in *in, struct object_in_stats *ret);
