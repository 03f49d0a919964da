#include "log/objects/object_in.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/block.h"
#include "log/format/object_record.h"
#include "log/objects/object_ahead.h"
#include "log/read/stream.h"

struct object_in {
	struct stream in;
	struct object_ahead *ahead; /* NULL: nothing was asked for yet */
	unsigned jobs;
	struct object_body *open; /* of the block that is read; NULL: none */
	uint32_t sequence;
	uint64_t missing; /* blocks, before the next one of object events */
	bool ended;       /* the stream has: */
	int end;          /* 0, or an error */
	struct object_in_stats seen;
};

int object_in_open(const char *path, struct object_in **ret)
{
	struct object_in *in = calloc(1, sizeof(*in));
	int err;

	if (!in)
		return -ENOMEM;
	in->in.fd = -1;
	err = stream_open(&in->in, path);
	if (!err) {
		err = stream_need(&in->in, LOG_MAGIC_BYTES);
		if (err >= 0)
			err = err && !memcmp(stream_bytes(&in->in), LOG_MAGIC, LOG_MAGIC_BYTES)
				      ? 0
				      : -EPROTO;
	}
	if (err) {
		object_in_close(in);
		return err;
	}
	*ret = in;
	return 0;
}

void object_in_close(struct object_in *in)
{
	if (!in)
		return;
	object_ahead_free(in->ahead);
	stream_close(&in->in);
	free(in);
}

void object_in_jobs(struct object_in *in, unsigned jobs)
{
	in->jobs = jobs;
}

void object_in_stats(const struct object_in *in, struct object_in_stats *ret)
{
	*ret = in->seen;
}

/* The next block of object events. 1; 0: the end. */
static int objects_find(struct object_in *in, struct block *ret)
{
	int err;

	while ((err = stream_block(&in->in, in->sequence, ret)) > 0) {
		in->missing += ret->sequence - in->sequence;
		in->sequence = ret->sequence + 1;
		if (ret->kind == BLOCK_KIND_OBJECTS)
			return 1;
	}
	return err;
}

/* As many blocks as may be read ahead. 0 or -ENOMEM. */
static int read_ahead(struct object_in *in)
{
	struct object_ahead_slot *s;
	struct block b;
	int err = 0;

	while (!in->ended && !err && (s = object_ahead_room(in->ahead))) {
		in->end = objects_find(in, &b);
		in->ended = in->end <= 0;
		if (in->ended)
			break;
		s->missing = in->missing;
		in->missing = 0;
		err = object_ahead_put(in->ahead, &b);
	}
	return err;
}

static int ahead_start(struct object_in *in)
{
	return in->ahead ? 0 : object_ahead_new(in->jobs, &in->ahead);
}

/* 1: a block is open. 0: the end. */
static int block_next(struct object_in *in)
{
	struct object_ahead_slot *s;
	int err = ahead_start(in);

	while (!err) {
		if (in->open)
			object_ahead_done(in->ahead);
		in->open = NULL;
		err = read_ahead(in);
		s = err ? NULL : object_ahead_oldest(in->ahead);
		if (!s)
			break;
		in->open = &s->body;
		in->seen.missing += s->missing;
		in->seen.blocks++;
		in->seen.bytes += BLOCK_HEADER_BYTES + s->block.length;
		if (s->err == -ENOMEM)
			return s->err;
		in->seen.damaged += s->err != 0;
		in->seen.raw_bytes += s->body.raw_bytes;
		if (!s->err)
			return 1;
	}
	if (err)
		return err;
	in->seen.missing += in->missing;
	in->missing = 0;
	return in->end;
}

int object_in_next(struct object_in *in, struct object_record *ret)
{
	int err = in->open ? object_body_next(in->open, ret) : 0;

	while (err <= 0 || !ret->kind) {
		in->seen.damaged += err < 0;
		if (err <= 0) {
			err = block_next(in);
			if (err <= 0)
				return err;
		}
		err = object_body_next(in->open, ret);
	}
	in->seen.records++;
	return 1;
}
