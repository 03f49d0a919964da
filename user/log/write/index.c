#include "log/write/index.h"

#include <errno.h>
#include <string.h>

#define ENTRY_BYTES_MAX (1 + 8 * 9) /* an array of 8 integers */

void log_index_init(struct log_index *x)
{
	msgpack_sbuffer_init(&x->buf);
	x->count = 0;
}

void log_index_free(struct log_index *x)
{
	msgpack_sbuffer_destroy(&x->buf);
}

int log_index_begin(struct log_index *x, uint64_t previous)
{
	static const char room[BLOCK_HEADER_BYTES];
	msgpack_packer pk;

	msgpack_sbuffer_clear(&x->buf);
	x->count = 0;
	msgpack_packer_init(&pk, &x->buf, msgpack_sbuffer_write);
	if (msgpack_sbuffer_write(&x->buf, room, sizeof(room)) || msgpack_pack_array(&pk, 1) ||
	    msgpack_pack_uint64(&pk, previous))
		return -ENOMEM;
	return 0;
}

int log_index_add(struct log_index *x, uint64_t offset, const struct sealed *block)
{
	const uint64_t entry[] = {
		offset,          block->count - BLOCK_HEADER_BYTES,
		block->sequence, block->kind,
		block->events,   block->flags,
		block->first_ns, block->last_ns,
	};
	msgpack_packer pk;
	unsigned i;
	int err;

	msgpack_packer_init(&pk, &x->buf, msgpack_sbuffer_write);
	err = msgpack_pack_array(&pk, sizeof(entry) / sizeof(*entry));
	for (i = 0; i < sizeof(entry) / sizeof(*entry) && !err; i++)
		err = msgpack_pack_uint64(&pk, entry[i]);
	x->count++;
	return err ? -ENOMEM : 0;
}

void log_index_seal(struct log_index *x, uint32_t sequence, struct sealed *ret)
{
	struct block b = {.length = (uint32_t)(x->buf.size - BLOCK_HEADER_BYTES),
			  .sequence = sequence,
			  .kind = BLOCK_KIND_INDEX};
	uint8_t *bytes = (uint8_t *)x->buf.data;

	block_seal(&b, bytes);
	*ret = (struct sealed){
		.bytes = bytes, .count = x->buf.size, .kind = b.kind, .sequence = sequence};
}

uint64_t log_index_reserve(const struct log_index *x)
{
	return x->buf.size + ENTRY_BYTES_MAX + BLOCK_HEADER_BYTES + LOG_END_BYTES;
}

void log_end_seal(uint64_t last_index, uint32_t sequence,
		  uint8_t bytes[BLOCK_HEADER_BYTES + LOG_END_BYTES], struct sealed *ret)
{
	struct block b = {.length = LOG_END_BYTES, .sequence = sequence, .kind = BLOCK_KIND_END};
	unsigned i;

	for (i = 0; i < LOG_END_BYTES; i++)
		bytes[BLOCK_HEADER_BYTES + i] = (uint8_t)(last_index >> 8 * i);
	block_seal(&b, bytes);
	*ret = (struct sealed){.bytes = bytes,
			       .count = BLOCK_HEADER_BYTES + LOG_END_BYTES,
			       .kind = b.kind,
			       .sequence = sequence};
}
