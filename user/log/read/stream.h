/* log/read/stream.h: the blocks of a log, from a file or from a pipe that cannot go back. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/format/block.h"

/* Holds at most one block and STREAM_CHUNK bytes, or two of the largest blocks where the log is
 * damaged: what it keeps does not grow with the log. */
#define STREAM_CHUNK (256 * 1024)

struct stream {
	int fd;
	bool seekable;
	bool ended;      /* nothing more can be read */
	uint64_t size;   /* of the file when it was opened; UINT64_MAX: a pipe */
	uint64_t offset; /* in the file, of the next byte */
	uint8_t *bytes;
	size_t at, filled; /* the next byte, and the end, in bytes */
	size_t capacity;
	size_t chunk;  /* how much is read at once, if that is enough */
	uint64_t gaps; /* stretches that are no intact block */
	uint64_t gap_bytes;
	struct prefix_sums *sums; /* NULL: as long as all that looked like a block was one */
};

/* "-" is standard input. What open(2) says. */
int stream_open(struct stream *s, const char *path);
void stream_close(struct stream *s); /* once more does no harm: fd is -1 then */

/* 1: the next count bytes are in memory. 0: it ends before. Otherwise what read(2) says. */
int stream_need(struct stream *s, size_t count);
static inline const uint8_t *stream_bytes(const struct stream *s)
{
	return s->bytes + s->at;
}

/*
 * 1: *ret is the next intact block, its payload lent until the next call. 0: the end. A block's
 * sequence number is at least least_sequence. Otherwise what read(2) or malloc(3) said.
 */
int stream_block(struct stream *s, uint32_t least_sequence, struct block *ret);

/* Goes to an offset in the file: forward only where it is a pipe. 0, or what reading says. */
int stream_seek(struct stream *s, uint64_t offset);
