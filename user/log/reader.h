/* log/reader.h: reads a spoor event log, one event at a time. */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct log_reader;
struct event;

struct log_reader_stats {
	uint64_t events; /* returned so far */
	uint64_t blocks;
	uint64_t blocks_damaged; /* checksum wrong: skipped; contents wrong: the rest of it skipped
				  */
	uint64_t blocks_missing; /* holes in the sequence numbers, beyond the damaged ones */
	uint64_t bytes_skipped;  /* bytes that belong to no intact block, the cut end included */
	uint64_t events_unknown; /* of kinds that this version does not know */
};

/*
 * -EPROTO: not a spoor log. -ENOTSUP: written by a newer spoor (its major version is unknown here).
 * -EBADMSG: the header block is damaged. On success *ret is the caller's.
 */
int log_reader_open(const char *path, struct log_reader **ret);
void log_reader_close(struct log_reader *r);

/* The header, lent until close. */
const json_t *log_reader_header(const struct log_reader *r);

/*
 * 1: *ret is the next event, lent until the next call (strings until close). 0: the end, and all
 * was intact. -EBADMSG: the end, but something was damaged or cut off on the way (see the stats);
 * all intact blocks, also those behind a damaged one, have been returned before. Other negative
 * errno: the file cannot be read on.
 */
int log_reader_next(struct log_reader *r, const struct event **ret);
void log_reader_stats(const struct log_reader *r, struct log_reader_stats *ret);
