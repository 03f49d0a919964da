/*
 * Needed are all definitions, and the events from the last block of synchronization on before
 * which nothing is in the range: what was open there is open in the range, unless it ends between.
 * Where a block is, and whether it is needed, its own first bytes say; the blocks of index only
 * save looking at them, and a file without any, for its recorder was killed, is read as well.
 */
#include "log/read/seek.h"

#include <errno.h>
#include <stdlib.h>

#include "base/tables/array.h"
#include "log/format/unpack.h"
#include "log/read/stream.h"

#define PEEK_BYTES (BLOCK_HEADER_BYTES + PREAMBLE_BYTES)
#define PEEK_CHUNK 512 /* what is read to look at a block */
#define END_BYTES (BLOCK_HEADER_BYTES + 8)
#define POSITIONS_MAX 65536 /* of an index; after them the blocks are looked at themselves */

void seek_free(struct seek *s)
{
	free(s->indexes);
	free(s->positions);
	*s = (struct seek){0};
}

static int index_offset_add(struct seek *s, uint64_t offset)
{
	int err = array_grow(&s->indexes, &s->index_capacity, s->index_count, sizeof(*s->indexes));

	if (!err)
		s->indexes[s->index_count++] = offset;
	return err;
}

/* The block at an offset. 1: it is intact and of this kind. 0: it is not. */
static int block_at(struct stream *in, uint64_t offset, enum block_kind kind, struct block *ret)
{
	int err = stream_seek(in, offset);

	if (!err)
		err = stream_block(in, 0, ret);
	if (err <= 0)
		return err;
	return ret->kind == kind && in->offset == offset + BLOCK_HEADER_BYTES + ret->length;
}

/* The array that every index begins with. */
static int index_previous(struct unpack *u, uint64_t *ret)
{
	uint32_t count;
	int err = unpack_array(u, &count) || !count || unpack_uint(u, ret) ? -EBADMSG : 0;

	while (!err && --count)
		err = unpack_skip(u);
	return err;
}

static uint64_t little_endian(const uint8_t *bytes)
{
	uint64_t value = 0;

	for (unsigned i = 8; i--;)
		value = value << 8 | bytes[i];
	return value;
}

/* From the file's end back to its beginning. A chain that breaks serves as far as it goes. */
static int indexes_find(struct seek *s, struct stream *in)
{
	uint64_t offset = in->size - END_BYTES, previous;
	struct unpack u;
	struct block b;
	int err;

	s->index_count = s->next_position = s->position_count = 0;
	if (in->size < END_BYTES)
		return 0;
	err = block_at(in, offset, BLOCK_KIND_END, &b);
	if (err != 1 || b.length < 8)
		return err < 0 ? err : 0;
	for (previous = little_endian(b.payload); previous && previous < offset;) {
		offset = previous;
		err = block_at(in, offset, BLOCK_KIND_INDEX, &b);
		if (err != 1)
			return err;
		u = (struct unpack){b.payload, b.payload + b.length};
		if (index_previous(&u, &previous))
			return 0;
		err = index_offset_add(s, offset);
		if (err)
			return err;
	}
	return 0;
}

static int position_read(struct unpack *u, struct seek_position *ret)
{
	uint64_t v[8];
	uint32_t count, i;

	if (unpack_array(u, &count) || count < 8)
		return -EBADMSG;
	for (i = 0; i < 8; i++)
		if (unpack_uint(u, &v[i]))
			return -EBADMSG;
	for (; i < count; i++)
		if (unpack_skip(u))
			return -EBADMSG;
	*ret = (struct seek_position){
		.offset = v[0],
		.length = (uint32_t)v[1],
		.sequence = (uint32_t)v[2],
		.kind = (uint32_t)v[3],
		.preamble = {.flags = (uint8_t)v[5], .first_ns = v[6], .last_ns = v[7]},
	};
	return v[1] > BLOCK_PAYLOAD_MAX || v[2] > UINT32_MAX ? -EBADMSG : 0;
}

/* Takes the next block of index into use. */
static int positions_load(struct seek *s, struct stream *in)
{
	uint64_t here = in->offset, previous;
	struct seek_position p;
	struct unpack u;
	struct block b;
	int err;

	s->next_position = s->position_count = 0;
	err = block_at(in, s->indexes[--s->index_count], BLOCK_KIND_INDEX, &b);
	u = (struct unpack){b.payload, b.payload + b.length};
	if (err == 1)
		err = index_previous(&u, &previous);
	while (!err && u.at < u.end && s->position_count < POSITIONS_MAX &&
	       !position_read(&u, &p)) {
		if (array_grow(&s->positions, &s->position_capacity, s->position_count,
			       sizeof(*s->positions)))
			return -ENOMEM;
		s->positions[s->position_count++] = p;
	}
	return err < 0 && err != -EBADMSG ? err : stream_seek(in, here);
}

/* What an index says of the block here. 1: *ret. 0: none says anything. */
static int position_from_index(struct seek *s, struct stream *in, struct seek_position *ret)
{
	int err;

	for (;;) {
		while (s->next_position < s->position_count &&
		       s->positions[s->next_position].offset < in->offset)
			s->next_position++;
		if (s->next_position < s->position_count || !s->index_count)
			break;
		if (s->indexes[s->index_count - 1] <= in->offset) {
			s->index_count--; /* of blocks before this one */
			continue;
		}
		err = positions_load(s, in);
		if (err)
			return err;
		if (!s->position_count)
			break;
	}
	if (s->next_position == s->position_count ||
	    s->positions[s->next_position].offset != in->offset)
		return 0;
	*ret = s->positions[s->next_position];
	return 1;
}

/* 1: *ret is the block here, or what its first bytes say. 0: there is no such block. */
static int peek(struct seek *s, struct stream *in, struct seek_position *ret)
{
	struct block b;
	int err = position_from_index(s, in, ret);

	if (err)
		return err;
	err = stream_need(in, BLOCK_HEADER_BYTES);
	if (err <= 0)
		return err;
	if (block_parse(stream_bytes(in), &b))
		return 0;
	*ret = (struct seek_position){in->offset, b.length, b.sequence, b.kind, {0}};
	if (b.kind != BLOCK_KIND_PACKED)
		return 1;
	err = stream_need(in, PEEK_BYTES);
	if (err <= 0)
		return err;
	return !preamble_get(stream_bytes(in) + BLOCK_HEADER_BYTES, b.length, &ret->preamble);
}

/* Goes past a block, if another one or the end of the file is after it. 1: it has. */
static int pass(struct stream *in, const struct seek_position *p)
{
	uint64_t here = in->offset, next = here + BLOCK_HEADER_BYTES + p->length;
	struct block b;
	int err;

	if (next >= in->size)
		return next == in->size ? (err = stream_seek(in, next)) ? err : 1 : 0;
	err = stream_seek(in, next);
	if (!err)
		err = stream_need(in, BLOCK_HEADER_BYTES);
	if (err == 1 && !block_parse(stream_bytes(in), &b))
		return 1;
	return err < 0 ? err : stream_seek(in, here);
}

static bool is_open_events(const struct seek_position *p)
{
	return p->kind == BLOCK_KIND_PACKED && p->preamble.flags & BLOCK_SYNC;
}

/* Looks for s->begin, from the first block on, as long as nothing of the range can be before it. */
static int begin_find(struct seek *s, struct stream *in)
{
	struct seek_position p;
	int err;

	while ((err = peek(s, in, &p)) == 1) {
		if (p.kind == BLOCK_KIND_EVENTS)
			return 0; /* it does not say of what time it is */
		if (is_open_events(&p))
			s->begin = p.sequence;
		if (p.kind == BLOCK_KIND_PACKED && !(p.preamble.flags & BLOCK_DEFINITIONS) &&
		    p.preamble.last_ns >= s->from_ns)
			return 0;
		err = pass(in, &p);
		if (err != 1)
			break;
	}
	return err;
}

int seek_begin(struct seek *s, struct stream *in)
{
	uint64_t here = in->offset;
	int err;

	s->begin = 0;
	if (!s->limited || !in->seekable)
		return 0;
	in->chunk = PEEK_CHUNK;
	err = indexes_find(s, in);
	if (!err)
		err = stream_seek(in, here);
	if (!err)
		err = begin_find(s, in);
	if (err < 0)
		return err;
	err = indexes_find(s, in);
	in->gaps = in->gap_bytes = 0;
	return err ? err : stream_seek(in, here);
}

bool seek_wants(struct seek *s, const struct preamble *p)
{
	if (!s->limited || p->flags & BLOCK_DEFINITIONS || p->first_ns <= s->to_ns)
		return true;
	s->goes_on = true;
	return false;
}

static bool needs(struct seek *s, const struct seek_position *p)
{
	if (p->kind == BLOCK_KIND_EVENTS || p->kind == BLOCK_KIND_END)
		return true;
	if (p->kind != BLOCK_KIND_PACKED)
		return false;
	if (p->sequence < s->begin && !(p->preamble.flags & BLOCK_DEFINITIONS))
		return false;
	return seek_wants(s, &p->preamble);
}

int seek_skip(struct seek *s, struct stream *in, uint32_t *sequence)
{
	struct seek_position p;
	int err = 1;

	if (!s->limited || !in->seekable)
		return 0;
	while (err == 1 && (err = peek(s, in, &p)) == 1 && p.sequence >= *sequence &&
	       !needs(s, &p)) {
		err = pass(in, &p);
		if (err == 1)
			*sequence = p.sequence + 1;
	}
	return err < 0 ? err : 0;
}
