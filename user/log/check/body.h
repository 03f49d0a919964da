/* log/check/body.h: the contents of one block, looked at strictly: for those who judge a log. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "log/format/block.h"
#include "log/format/counters.h"
#include "log/format/event.h"
#include "log/format/unpack.h"

/*
 * Shares nothing with the reader but what a msgpack value is: what both say of a log has been found
 * out twice. All zero at first.
 */
struct body {
	struct preamble preamble; /* of kind 3; else zero, but for the codec */
	const uint8_t *begin;
	struct unpack in;
	uint32_t left; /* events that the block's header promises still */
	uint32_t events;
	uint64_t time_ns;
	bool relative;  /* numbers are stored so */
	uint64_t stack; /* the last one that was defined */
	uint64_t first_ns, last_ns; /* of the events so far */
	uint32_t definitions;       /* events that define a number */
	uint32_t texts_unclean;     /* no UTF-8, or with a NUL */
	const char *why;            /* after -EBADMSG: what is wrong */
	struct delta_table counters;
	struct codec *codec; /* NULL: not used yet */
	uint8_t *bytes;      /* decompressed */
	size_t capacity;
};

/*
 * The block is of kind 2 or 3; its payload is lent until the last event. -EBADMSG. -ENOTSUP: an
 * unknown codec. -ENOMEM.
 */
int body_open(struct body *b, const struct block *block);

/*
 * 1: *ret is the next event; its texts are NULL, and its id is 0 if it is of an unknown kind.
 * 0: the end, and all was as promised. -EBADMSG, -ENOMEM.
 */
int body_next(struct body *b, struct event *ret);
void body_free(struct body *b);
