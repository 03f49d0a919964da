/* log/check/check.h: checks a log against its description, byte by byte, and says what is in it. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "log/format/block.h"
#include "log/format/event.h"

#define CHECK_TEXT_MAX 200
#define CHECK_SAMPLES 5

/* What numbers are defined and used; in the order of enum log_names_kind. */
enum check_number {
	CHECK_THREAD,
	CHECK_CLASS,
	CHECK_LOCK,
	CHECK_STRING,
	CHECK_METHOD,
	CHECK_STACK,
	CHECK_NUMBER_COUNT,
};

/*
 * Damage: bytes are not what was written, or missing. Doubt: they are, but what they say cannot be
 * quite right, or is not whole: a number without its definition, a counter that runs backwards.
 */
enum check_weight { CHECK_DAMAGE, CHECK_DOUBT };

struct check_finding {
	enum check_weight weight;
	uint64_t offset; /* in the file */
	bool in_block;   /* and of this block */
	uint32_t sequence;
	char text[CHECK_TEXT_MAX];
};

struct check_numbers {
	uint64_t defined, undefined;     /* different ones; undefined: used, but not defined */
	uint64_t samples[CHECK_SAMPLES]; /* of the undefined ones, the smallest */
};

struct log_check {
	json_t *header;                /* NULL: damaged */
	uint64_t bytes;                /* of the file */
	uint64_t blocks, blocks_other; /* other: of kinds that are not known here */
	uint64_t blocks_of[BLOCK_KIND_COUNT];
	uint64_t codec_blocks[BLOCK_CODEC_COUNT];
	uint64_t codec_bytes[BLOCK_CODEC_COUNT], codec_raw[BLOCK_CODEC_COUNT]; /* of bodies */
	uint64_t blocks_relative;          /* with relative numbers */
	uint64_t blocks_sync, events_sync; /* of synchronization; their events are not in events */
	uint64_t blocks_damaged, blocks_missing, bytes_skipped;
	bool lost_known;      /* an index says what was in the blocks that are missing: */
	uint64_t lost_events; /* this many */
	uint64_t events, events_unknown;
	uint64_t events_of[SCHEMA_ID_MAX + 1];
	/* Of these: as they are in bodies; and their share by that of bodies as stored. */
	uint64_t bytes_of[SCHEMA_ID_MAX + 1], stored_of[SCHEMA_ID_MAX + 1];
	uint64_t first_ns, last_ns; /* of all events, if there are any */
	bool ended;                 /* there is an event "end" */
	bool closed;                /* the last block is an end of file */
	struct check_numbers numbers[CHECK_NUMBER_COUNT];
	uint64_t counters_back;      /* times that a counter ran backwards */
	uint64_t counters_back_most; /* by how much at most */
	uint64_t damage, doubts;     /* findings */
};

/* Called with each finding as it comes; may be NULL. */
typedef void (*check_report)(void *ctx, const struct check_finding *f);

/*
 * path may be "-": standard input. 0, whatever the log is like; it is sound if ret->damage is 0.
 * -EPROTO: there is nothing in it that is of a spoor log. -ENOTSUP: of a newer version. Others: it
 * cannot be read, -ENOMEM. *ret is to be freed by log_check_free after success.
 *
 * Memory: a block, 2 bits per number that is defined (numbers from CHECK_NUMBER_MAX on are not
 * looked at), the last counters of CHECK_THREADS_MAX threads, 48 bytes per block since the last
 * index.
 */
#define CHECK_BACK_NS 10000000ull /* a doubt: two CPUs that read a counter differ by less, a tick */
#define CHECK_NUMBER_MAX (1u << 26)
#define CHECK_THREADS_MAX (1u << 16)
int log_check(const char *path, check_report report, void *ctx, struct log_check *ret);
void log_check_free(struct log_check *c);
