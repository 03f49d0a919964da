/* tests/unit/log/flight_model.h: a flight recorder's memory, and what of it must be there. */
#pragma once

#include <assert.h>
#include <msgpack.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/block.h"
#include "log/format/header.h"
#include "log/write/flight.h"
#include "log/write/output.h"
#include "log_fixture.h"

#define PARTS_MAX 4096
#define NO_LIMIT (1ull << 40)

/* --- parts and blocks, made by hand ----------------------------------------------------------- */

/* What begins a part: magic and header. */
static inline void make_part(uint64_t begin_ns, unsigned number, msgpack_sbuffer *ret)
{
	static const char *const features[] = {"packed", "lz4", NULL};
	static const char room[BLOCK_HEADER_BYTES];
	json_t *header =
		json_pack("{s:s, s:{s:s, s:i, s:I}}", "spoor", "0.1.0", "part", "recording", "4711",
			  "number", number, "begin_ns", (json_int_t)begin_ns);
	struct block b = {.kind = BLOCK_KIND_HEADER};

	msgpack_sbuffer_init(ret);
	assert_int_equal(msgpack_sbuffer_write(ret, LOG_MAGIC, LOG_MAGIC_BYTES), 0);
	assert_int_equal(msgpack_sbuffer_write(ret, room, sizeof(room)), 0);
	assert_int_equal(header_pack(ret, header, features), 0);
	b.length = (uint32_t)(ret->size - LOG_MAGIC_BYTES - BLOCK_HEADER_BYTES);
	block_seal(&b, (uint8_t *)ret->data + LOG_MAGIC_BYTES);
	json_decref(header);
}

/* A block with one event: a note of so many bytes, whose level tells its number. */
static inline void make_block(uint64_t number, uint64_t time_ns, size_t text, uint8_t flags,
			      msgpack_sbuffer *buf, struct sealed *ret)
{
	static const char room[BLOCK_HEADER_BYTES + PREAMBLE_BYTES];
	struct preamble p = {time_ns, time_ns, 0, BLOCK_CODEC_NONE, flags};
	/* Of its part: the file has its own numbers. */
	struct block b = {.kind = BLOCK_KIND_PACKED, .events = 1, .sequence = 77};
	char *fill = calloc(1, text + 1);
	msgpack_packer pk;

	memset(fill, 'x', text);
	msgpack_sbuffer_init(buf);
	msgpack_packer_init(&pk, buf, msgpack_sbuffer_write);
	msgpack_sbuffer_write(buf, room, sizeof(room));
	msgpack_pack_array(&pk, 1);
	msgpack_pack_uint64(&pk, time_ns);
	msgpack_pack_array(&pk, 5);
	msgpack_pack_uint64(&pk, EVENT_NOTE);
	msgpack_pack_uint64(&pk, 0);
	msgpack_pack_uint64(&pk, 0);
	msgpack_pack_uint64(&pk, number);
	msgpack_pack_str(&pk, text);
	msgpack_pack_str_body(&pk, fill, text);
	free(fill);
	p.raw_bytes = (uint32_t)(buf->size - sizeof(room));
	preamble_put(&p, (uint8_t *)buf->data + BLOCK_HEADER_BYTES);
	b.length = (uint32_t)(buf->size - BLOCK_HEADER_BYTES);
	block_seal(&b, (uint8_t *)buf->data);
	*ret = (struct sealed){.bytes = (const uint8_t *)buf->data,
			       .count = buf->size,
			       .kind = BLOCK_KIND_PACKED,
			       .flags = flags,
			       .sequence = 77,
			       .events = 1,
			       .first_ns = time_ns,
			       .last_ns = time_ns};
}

/* --- a model ---------------------------------------------------------------------------------- */

struct model {
	struct log_output *o;
	uint64_t keep_ns, max_bytes, part_bytes, part_ns;
	unsigned parts, deleted;
	uint64_t begin_ns[PARTS_MAX], bytes[PARTS_MAX];
	uint64_t first_block[PARTS_MAX]; /* number of the first block of a part */
	uint64_t block, now_ns, total, written;
	unsigned for_room; /* parts that went for want of room */
};

static inline void model_init(struct model *m, uint64_t keep_ns, uint64_t max_bytes)
{
	*m = (struct model){.keep_ns = keep_ns, .max_bytes = max_bytes, .now_ns = 1000000};
	assert_int_equal(output_flight_open(keep_ns, max_bytes, &m->o), 0);
	assert_true(m->o->no_index);
}

static inline void model_drop(struct model *m)
{
	m->total -= m->bytes[m->deleted++];
}

static inline void check_model(const struct model *m)
{
	assert_int_equal(m->o->bytes, m->total);
	assert_int_equal(m->o->written, m->written);
	assert_int_equal(m->o->parts, m->parts);
	assert_int_equal(m->o->parts_deleted, m->deleted);
	assert_true(m->o->bytes <= m->max_bytes);
}

static inline void model_add(struct model *m, size_t bytes)
{
	while (m->total + bytes + m->o->reserve > m->max_bytes && m->deleted + 1 < m->parts) {
		model_drop(m);
		m->for_room++;
	}
	m->bytes[m->parts - 1] += bytes;
	m->total += bytes;
	m->written += bytes;
	check_model(m);
}

static inline void model_part(struct model *m)
{
	msgpack_sbuffer buf;

	assert_true(m->parts < PARTS_MAX);
	make_part(m->now_ns, m->parts + 1, &buf);
	assert_int_equal(m->o->ops->part(m->o, (const uint8_t *)buf.data, buf.size), 0);
	m->begin_ns[m->parts] = m->now_ns;
	m->first_block[m->parts++] = m->block;
	/* Gone is what the next part covers the time of. */
	while (m->deleted + 1 < m->parts && m->begin_ns[m->deleted + 1] + m->keep_ns <= m->now_ns)
		model_drop(m);
	model_add(m, buf.size);
	msgpack_sbuffer_destroy(&buf);
}

static inline void model_block(struct model *m, size_t text, uint8_t flags)
{
	struct sealed block;
	msgpack_sbuffer buf;

	make_block(m->block, m->now_ns, text, flags, &buf, &block);
	assert_int_equal(m->o->ops->write(m->o, &block), 0);
	msgpack_sbuffer_destroy(&buf);
	m->block++;
	model_add(m, block.count);
}
