/* log/format/block.h: the blocks that a log file consists of, as schemas/event-log.md describes
 * them. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LOG_MAGIC "\x89SPOOR\r\n"
#define LOG_MAGIC_BYTES 8
#define BLOCK_HEADER_BYTES 24
#define BLOCK_PAYLOAD_MAX (16u * 1024 * 1024)
#define LOG_TEXT_MAX (64u * 1024)

enum block_kind {
	BLOCK_KIND_HEADER = 1,
	BLOCK_KIND_EVENTS = 2,
	BLOCK_KIND_PACKED = 3,
	BLOCK_KIND_INDEX = 4,
	BLOCK_KIND_END = 5,
	BLOCK_KIND_OBJECTS = 6, /* log/format/object_record.h */
	BLOCK_KIND_COUNT,
};

#define PREAMBLE_BYTES 24
#define FEATURE_PACKED "packed"
#define FEATURE_RELATIVE "relative"

/* Behind a block's base time: how numbers of events are stored (schemas/event-log.md). */
enum block_numbers {
	BLOCK_NUMBERS_PLAIN, /* nothing stands there, or what is not known */
	BLOCK_NUMBERS_RELATIVE,
};

enum block_codec {
	BLOCK_CODEC_NONE,
	BLOCK_CODEC_LZ4,
	BLOCK_CODEC_ZSTD,
	BLOCK_CODEC_COUNT,
};

enum block_flag {
	BLOCK_DEFINITIONS = 1,
	BLOCK_SYNC = 2,
};

/* What the payload of a block of packed events begins with. */
struct preamble {
	uint64_t first_ns, last_ns; /* times of the earliest and the latest event */
	uint32_t raw_bytes;         /* of the body, decompressed */
	uint8_t codec;              /* enum block_codec, or what a newer spoor wrote */
	uint8_t flags;              /* enum block_flag */
};

void preamble_put(const struct preamble *p, uint8_t bytes[PREAMBLE_BYTES]);
/* -EBADMSG: too short, or more than a block may have. */
int preamble_get(const uint8_t *payload, uint32_t length, struct preamble *ret);

struct block {
	uint32_t length; /* of the payload */
	uint32_t sequence;
	uint32_t events;
	uint32_t kind;
	const uint8_t *payload;
};

/* Fills in the header in front of the payload: bytes has BLOCK_HEADER_BYTES + b->length of them. */
void block_seal(const struct block *b, uint8_t *bytes);

/*
 * What the BLOCK_HEADER_BYTES at bytes say; the payload is after them. -EBADMSG: they do not begin
 * with the magic, or state a length that no payload has.
 */
int block_parse(const uint8_t *bytes, struct block *ret);
/* Whether the checksum of a block that block_parse takes is right; all of it is there. */
bool block_is_sound(const uint8_t *bytes);
/* What the block's first bytes say is the CRC-32 of the bytes from BLOCK_CRC_FROM on. */
#define BLOCK_CRC_FROM 8
uint32_t block_crc(const uint8_t *bytes);
/* The first address where a block may begin; NULL: none in these bytes. */
const uint8_t *block_find(const uint8_t *bytes, size_t count);
