#include "log/format/block.h"

#include <errno.h>
#include <string.h>
#include <zlib.h>

/* 0xc1 is the one byte that begins no msgpack value. */
static const uint8_t block_magic[4] = {0xc1, 'S', 'P', 'B'};

/* Places in the block header; the checksum covers all that follows it. */
enum { AT_CRC = 4, AT_LENGTH = 8, AT_SEQUENCE = 12, AT_EVENTS = 16, AT_KIND = 20 };

static void put32(uint8_t *p, uint32_t value)
{
	unsigned i;

	for (i = 0; i < 4; i++)
		p[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static uint32_t checksum(const uint8_t *bytes, uint32_t length)
{
	return (uint32_t)crc32(0, bytes + AT_LENGTH, BLOCK_HEADER_BYTES - AT_LENGTH + length);
}

void block_seal(const struct block *b, uint8_t *bytes)
{
	memcpy(bytes, block_magic, sizeof(block_magic));
	put32(bytes + AT_LENGTH, b->length);
	put32(bytes + AT_SEQUENCE, b->sequence);
	put32(bytes + AT_EVENTS, b->events);
	put32(bytes + AT_KIND, b->kind);
	put32(bytes + AT_CRC, checksum(bytes, b->length));
}

int block_parse(const uint8_t *bytes, struct block *ret)
{
	uint32_t length = get32(bytes + AT_LENGTH);

	if (memcmp(bytes, block_magic, sizeof(block_magic)) || length > BLOCK_PAYLOAD_MAX)
		return -EBADMSG;
	*ret = (struct block){
		.length = length,
		.sequence = get32(bytes + AT_SEQUENCE),
		.events = get32(bytes + AT_EVENTS),
		.kind = get32(bytes + AT_KIND),
		.payload = bytes + BLOCK_HEADER_BYTES,
	};
	return 0;
}

bool block_is_sound(const uint8_t *bytes)
{
	return checksum(bytes, get32(bytes + AT_LENGTH)) == get32(bytes + AT_CRC);
}

_Static_assert(BLOCK_CRC_FROM == AT_LENGTH, "the checksum is of all that follows it");

uint32_t block_crc(const uint8_t *bytes)
{
	return get32(bytes + AT_CRC);
}

const uint8_t *block_find(const uint8_t *bytes, size_t count)
{
	return memmem(bytes, count, block_magic, sizeof(block_magic));
}

static void put64(uint8_t *p, uint64_t value)
{
	put32(p, (uint32_t)value);
	put32(p + 4, (uint32_t)(value >> 32));
}

static uint64_t get64(const uint8_t *p)
{
	return get32(p) | (uint64_t)get32(p + 4) << 32;
}

enum { AT_FIRST = 0, AT_LAST = 8, AT_RAW = 16, AT_CODEC = 20, AT_FLAGS = 21 };

void preamble_put(const struct preamble *p, uint8_t bytes[PREAMBLE_BYTES])
{
	memset(bytes, 0, PREAMBLE_BYTES);
	put64(bytes + AT_FIRST, p->first_ns);
	put64(bytes + AT_LAST, p->last_ns);
	put32(bytes + AT_RAW, p->raw_bytes);
	bytes[AT_CODEC] = p->codec;
	bytes[AT_FLAGS] = p->flags;
}

int preamble_get(const uint8_t *payload, uint32_t length, struct preamble *ret)
{
	struct preamble p;

	if (length < PREAMBLE_BYTES)
		return -EBADMSG;
	p.first_ns = get64(payload + AT_FIRST);
	p.last_ns = get64(payload + AT_LAST);
	p.raw_bytes = get32(payload + AT_RAW);
	p.codec = payload[AT_CODEC];
	p.flags = payload[AT_FLAGS];
	if (p.raw_bytes > BLOCK_PAYLOAD_MAX)
		return -EBADMSG;
	*ret = p;
	return 0;
}
