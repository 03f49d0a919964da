#include "log/block.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* 0xc1 is the one byte that begins no msgpack value. */
static const uint8_t block_magic[4] = {0xc1, 'S', 'P', 'B'};

/* Places in the block header; the checksum covers all that follows it. */
enum { AT_CRC = 4, AT_LENGTH = 8, AT_SEQUENCE = 12, AT_EVENTS = 16, AT_KIND = 20 };

#define SCAN_BYTES (64 * 1024)

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

/* 0, or -EBADMSG where the file has become shorter meanwhile. */
static int read_at(int fd, uint8_t *buf, size_t count, uint64_t offset)
{
	ssize_t n;

	while (count) {
		n = pread(fd, buf, count, (off_t)offset);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			return -EBADMSG;
		buf += n;
		count -= (size_t)n;
		offset += (uint64_t)n;
	}
	return 0;
}

static int reserve(struct block_file *f, size_t count)
{
	uint8_t *bytes;

	if (count <= f->capacity)
		return 0;
	bytes = realloc(f->bytes, count);
	if (!bytes)
		return -ENOMEM;
	f->bytes = bytes;
	f->capacity = count;
	return 0;
}

/* 0, or -EBADMSG: no intact block at f->offset. */
static int load(struct block_file *f, uint32_t least_sequence, struct block *ret)
{
	uint64_t left = f->size - f->offset;
	uint8_t head[BLOCK_HEADER_BYTES];
	struct block b;
	int err;

	if (left < sizeof(head))
		return -EBADMSG;
	err = read_at(f->fd, head, sizeof(head), f->offset);
	if (err)
		return err;
	b.length = get32(head + AT_LENGTH);
	b.sequence = get32(head + AT_SEQUENCE);
	b.events = get32(head + AT_EVENTS);
	b.kind = get32(head + AT_KIND);
	if (memcmp(head, block_magic, sizeof(block_magic)) || b.length > BLOCK_PAYLOAD_MAX ||
	    b.length > left - sizeof(head) || b.sequence < least_sequence)
		return -EBADMSG;
	err = reserve(f, sizeof(head) + b.length);
	if (err)
		return err;
	memcpy(f->bytes, head, sizeof(head));
	b.payload = f->bytes + sizeof(head);
	err = read_at(f->fd, f->bytes + sizeof(head), b.length, f->offset + sizeof(head));
	if (err)
		return err;
	if (checksum(f->bytes, b.length) != get32(head + AT_CRC))
		return -EBADMSG;
	*ret = b;
	return 0;
}

/* Moves f->offset on to the next place where a block may begin, or to the end. */
static int scan(struct block_file *f)
{
	const uint8_t *found;
	size_t count;
	int err;

	err = reserve(f, SCAN_BYTES);
	while (!err && f->size - f->offset >= sizeof(block_magic)) {
		count = f->size - f->offset < SCAN_BYTES ? f->size - f->offset : SCAN_BYTES;
		err = read_at(f->fd, f->bytes, count, f->offset);
		if (err)
			break;
		found = memmem(f->bytes, count, block_magic, sizeof(block_magic));
		if (found) {
			f->offset += (uint64_t)(found - f->bytes);
			return 0;
		}
		f->offset += count - (sizeof(block_magic) - 1);
	}
	if (err && err != -EBADMSG)
		return err;
	f->offset = f->size;
	return 0;
}

int block_file_next(struct block_file *f, uint32_t least_sequence, struct block *ret)
{
	uint64_t begin = f->offset;
	int err;

	while (f->offset < f->size) {
		err = load(f, least_sequence, ret);
		if (err && err != -EBADMSG)
			return err;
		if (err) {
			f->offset++;
			err = scan(f);
			if (err)
				return err;
			continue;
		}
		break;
	}
	if (f->offset > begin) {
		f->gaps++;
		f->gap_bytes += f->offset - begin;
	}
	if (f->offset >= f->size)
		return 0;
	f->offset += BLOCK_HEADER_BYTES + ret->length;
	return 1;
}

void block_file_free(struct block_file *f)
{
	free(f->bytes);
	f->bytes = NULL;
	f->capacity = 0;
}
