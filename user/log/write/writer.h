/* log/write/writer.h: writes an event log, block by block; the format is schemas/event-log.md. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "log/format/block.h"

struct budget;
struct event;
struct log_output;
struct log_writer;
struct packet;

struct log_compression {
	enum block_codec codec;
	int level; /* of zstd; 0: its default */
};

struct log_writer_options {
	/* "-": standard output; of parts: "app.spoor" makes app-000001.spoor, ... */
	const char *path;
	bool overwrite;
	struct log_compression compression;
	/* Of all files together; 0: one file without limit. At least log_writer_least_bytes(). */
	uint64_t max_bytes;
	/* How much less than max_bytes may be kept, 1 to 100: ceil(100 / this) parts. 0: 25. */
	unsigned deviation_pct;
	/* Not 0: a flight recorder, which keeps about this much in memory, max_bytes of it at most;
	 * a part is this share of it. Needs an output. */
	uint64_t keep_ns;
	/* Instead of path: no part has been begun; the writer's from log_writer_open on, also when
	 * that fails. */
	struct log_output *output;
	/* Not NULL: is shown every event, before it is written. */
	void (*watch)(void *ctx, const struct event *e);
	void *watch_ctx;
	/* Of what parts need of those before; lent; NULL: without bound. */
	struct budget *carry;
	uint64_t sync_ns;     /* not 0: a block of synchronization each time this much has passed */
	uint32_t block_bytes; /* of a body; 0: the default */
};

#define LOG_BLOCK_BYTES (128 * 1024) /* a block is closed when its body reaches this */
#define LOG_DEVIATION_PCT 25
#define LOG_PART_BYTES_MIN (256 * 1024)

struct log_writer_stats {
	uint64_t events;
	uint64_t bytes;     /* there now in all files, without what is on its way */
	uint64_t written;   /* in all; more than bytes if parts have been deleted */
	uint64_t blocks;    /* without indexes and ends of files */
	uint64_t raw_bytes; /* of the bodies, before they were compressed */
	uint64_t blocks_with[BLOCK_CODEC_COUNT];
	uint64_t blocks_less; /* compressed less than asked for, as more waited */
	uint64_t waited_ns;   /* by log_write and log_writer_flush, for room in the queue */
	uint32_t parts, parts_deleted;
};

/*
 * Creates the file and writes the header block. header is a JSON object, only read here; the keys
 * "format", "version", "features" and "part" are set by the writer. -EEXIST: there is such a file
 * (or a part of that name) and overwrite is not set. -EDOM: max_bytes, deviation_pct or keep_ns are
 * out of bounds. Other errors are those of open(2) and write(2).
 *
 * All functions are for one thread. A thread of the writer's own compresses and writes what is
 * handed over; at most DELIVER_QUEUE_BYTES of it wait.
 */
int log_writer_open(const struct log_writer_options *o, const json_t *header,
		    struct log_writer **ret);

/*
 * What else begins with a part. The two are called in the midst of log_write() or log_writer_put():
 * before a part ends, when what is open is to be put; and when the next one has begun.
 */
struct log_writer_parts {
	void (*ends)(void *ctx);
	void (*begun)(void *ctx);
	void *ctx;
};
void log_writer_set_parts(struct log_writer *w, const struct log_writer_parts *p);
/* Little is to be carried over just now: a new part begins, if most of this one is used. */
void log_writer_offer_cut(struct log_writer *w);
bool log_writer_has_parts(const struct log_writer *w);

/* The least that max_bytes may be with this deviation. */
uint64_t log_writer_least_bytes(unsigned deviation_pct);

/* Sticky: after the first error nothing more is written; log_writer_error returns it (negative
 * errno), some time after it happened. */
void log_write(struct log_writer *w, const struct event *e);
/* The number that this event has defined (EVENT_LOCK, ...) is in no event from now on: no later
 * part needs its definition. */
void log_forget(struct log_writer *w, uint16_t event, uint64_t number);
/* The event that has defined the number (EVENT_LOCK, ...), without its time; texts are lent until
 * the next log_write or log_forget. False: that is not kept, as in a log without parts. */
bool log_definition(struct log_writer *w, uint16_t event, uint64_t number, struct event *ret);
/* An empty packet (writer_thread.h) for a block that is no block of events; NULL: no memory. Put,
 * it is the writer's; it may be in the file before events that were written before it. */
struct packet *log_writer_packet(struct log_writer *w);
void log_writer_put(struct log_writer *w, struct packet *p);
void log_writer_flush(struct log_writer *w); /* closes the open blocks and hands them over */
int log_writer_error(const struct log_writer *w);
/* Those of the bytes are exact after log_writer_sync and log_writer_finish. */
void log_writer_stats(const struct log_writer *w, struct log_writer_stats *ret);

/* Flushes, and waits until the kernel has it. The first error. */
int log_writer_sync(struct log_writer *w);
/* Flushes, writes index and end of file, waits. Nothing may come after it. The first error. */
int log_writer_finish(struct log_writer *w);
/* Flushes and waits, then calls with the output while nothing is written. What call returns. */
int log_writer_call(struct log_writer *w, int (*call)(struct log_output *, void *), void *ctx);

/*
 * Finishes, closes, frees; accepts NULL. Returns the first error of the writer's whole life. On
 * -ENOSPC and other short writes the file is cut back to the last complete block.
 */
int log_writer_close(struct log_writer *w);
