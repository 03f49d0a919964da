/* log/read/batch.h: decodes a block of events into memory, a part of it at a time. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/format/block.h"
#include "log/format/counters.h"
#include "log/format/schema.h"
#include "log/format/unpack.h"

/* What a batch holds at most, but for one event: a block with more than that takes several. */
#define BATCH_BYTES (2 * 1024 * 1024)

/* Events one after the other, each only as long as the fields of its kind. */
struct batch {
	uint8_t *bytes;
	size_t used, capacity;
	uint32_t events;
	bool texts;     /* there may be some with texts */
	unsigned holds; /* of those who use it still: whoever owns the batch counts them */
	struct batch *next;
};

static inline size_t batch_event_bytes(const struct event_desc *desc)
{
	return offsetof(struct event, v) + desc->field_count * sizeof(union field_value);
}

/* What is open of one block. All zero at first; for one thread at a time. */
struct decoder {
	struct unpack in;
	uint32_t left; /* events */
	uint64_t time_ns;
	bool relative;    /* numbers are stored so: see schemas/event-log.md */
	uint64_t stack;   /* the last one that was defined */
	bool damaged;     /* the contents: nothing more comes */
	uint32_t unknown; /* events of kinds that this version does not know */
	struct delta_table counters;
	struct event_plan *plans; /* by id */
	struct codec *codec;
	uint8_t *body; /* decompressed */
	size_t body_capacity;
};

/*
 * Begins a block of kind 2 or 3; its payload is lent until the last text of it has been taken. That
 * its contents are damaged is no error. -ENOMEM.
 */
int decoder_begin(struct decoder *d, const struct block *b);
/* The next events, in place of what was in the batch; there may be none. -ENOMEM. */
int decoder_next(struct decoder *d, struct batch *ret);
static inline bool decoder_more(const struct decoder *d)
{
	return d->left && !d->damaged;
}
/* The text of an event in a batch of this decoder: only its field's position is in the event. */
void decoder_text(const struct decoder *d, const char *at, const char **ret, size_t *ret_length);
/* Between two blocks: keeps at most this much memory for what is decompressed. */
void decoder_trim(struct decoder *d, size_t kept);
void decoder_free(struct decoder *d);
