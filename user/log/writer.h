/* log/writer.h: writes an event log, block by block; the format is schemas/event-log.md. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "log/block.h"

struct event;
struct log_writer;

struct log_compression {
	enum block_codec codec;
	int level; /* of zstd; 0: its default */
};

struct log_writer_options {
	const char
		*path; /* "-": standard output; of parts: "app.spoor" makes app-000001.spoor, ... */
	bool overwrite;
	struct log_compression compression;
	uint64_t max_bytes; /* of all files together; 0: one file without limit */
	unsigned
		deviation_pct; /* how much less than max_bytes may be kept: ceil(100 / this) parts */
	uint64_t
		keep_ns; /* not 0: a flight recorder, which keeps about this much in memory, at most
			   * max_bytes of it, and writes it when told to */
};

#define LOG_BLOCK_BYTES (64 * 1024) /* a block is closed when its payload reaches this */

struct log_writer_stats {
	uint64_t events;
	uint64_t bytes; /* in the file so far, without the open block */
	uint64_t blocks;
};

/*
 * Creates the file and writes the header block. header is a JSON object, only read here; the keys
 * "format", "version" and "features" are set by the writer. -EEXIST: there is such a file and
 * overwrite is not set. Other errors are those of open(2) and write(2).
 */
int log_writer_open(const struct log_writer_options *o, const json_t *header,
		    struct log_writer **ret);

/* Sticky: after the first error nothing more is written; log_writer_error tells it (negative
 * errno). */
void log_write(struct log_writer *w, const struct event *e);
void log_writer_flush(struct log_writer *w); /* closes the open block and hands it to the kernel */
int log_writer_error(const struct log_writer *w);
void log_writer_stats(const struct log_writer *w, struct log_writer_stats *ret);

/*
 * Flushes, closes, frees; accepts NULL. Returns the first error of the writer's whole life. On
 * -ENOSPC and other short writes the file is cut back to the last complete block.
 */
int log_writer_close(struct log_writer *w);
