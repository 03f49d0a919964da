/* log/objects/object_body.h: the records of one block of object events. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "log/format/unpack.h"

struct block;
struct codec;
struct object_record;

/* Zeroed before it is first opened; freed once. */
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
