/* log/read/reader.h: reads a spoor event log, one event at a time. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
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
	uint64_t part_begin_ns;  /* of the part that it is in: when that was begun; 0: unknown */
	uint64_t holes;          /* in what is asked for, between events: of whatever kind */
	uint64_t hole_end_ns;    /* of the last hole, from the first block after it; 0: unknown */
};

struct log_reader_options {
	unsigned
		jobs; /* threads that decode ahead; 0: one per CPU; 1: none, the caller's does it */
	bool holes;   /* log_reader_next is to report them */
};

/* What log_reader_next returns, if asked for, once between the events before a hole (blocks or
 * parts that are missing or damaged) and those after it. The next call goes on. */
#define LOG_READER_HOLE 2

/*
 * -EPROTO: not a spoor log. -ENOTSUP: written by a newer spoor (its major version is unknown here).
 * -EBADMSG: the header block is damaged. On success *ret is the caller's.
 */
int log_reader_open(const char *path, struct log_reader **ret);

/*
 * The files of one recording, in this order, as one log; "-" is standard input, which is read as a
 * stream. options may be NULL. A first file that cannot be opened is reported as by
 * log_reader_open, another one by log_reader_next when its turn comes.
 */
int log_reader_open_with(const char *const *paths, unsigned count,
			 const struct log_reader_options *options, struct log_reader **ret);

/*
 * To be called before the first log_reader_next: of the blocks with other events than definitions,
 * only those are of interest in which something happened from from_ns to to_ns (UINT64_MAX: to the
 * end). More comes out than that: whole blocks, and what leads to from_ns from the last block of
 * synchronization before it; see log/read/range.h. 0 or what reading the file said.
 */
int log_reader_limit(struct log_reader *r, uint64_t from_ns, uint64_t to_ns);

/*
 * To be called before the first log_reader_next, too: only definitions are read. Blocks that have
 * none are checked and passed over; where definitions are not apart, all events come out.
 */
void log_reader_definitions(struct log_reader *r);

struct log_reader_span {
	bool any;
	bool goes_on;               /* something is after the limit, and was passed over */
	uint64_t first_ns, last_ns; /* of events that were passed over for not being definitions */
};
/* At the end. */
struct log_reader_span log_reader_span(const struct log_reader *r);

void log_reader_close(struct log_reader *r);

/* The header of the first file, lent until close. */
const json_t *log_reader_header(const struct log_reader *r);

/*
 * 1: *ret is the next event, lent until the next call (strings until close). 0: the end, and all
 * was intact. -EBADMSG: the end, but something was damaged or cut off on the way (see the stats);
 * all intact blocks, also those after a damaged one, have been returned before. Other negative
 * errno: the file cannot be read on. LOG_READER_HOLE: only if it was asked for.
 */
int log_reader_next(struct log_reader *r, const struct event **ret);

/*
 * Events where they have been decoded, one after the other: each takes as many bytes as the table
 * says for its id.
 */
struct batch;
struct log_run {
	struct batch *batch;
	const uint8_t *at, *end;
	uint32_t count;
	const uint16_t *event_bytes;
};
/*
 * log_reader_next for as many events as have been decoded by now. They stay where they are until
 * log_reader_release of their batch, or until close.
 */
int log_reader_run(struct log_reader *r, struct log_run *ret);
void log_reader_release(struct log_reader *r, struct batch *b);

void log_reader_stats(const struct log_reader *r, struct log_reader_stats *ret);
