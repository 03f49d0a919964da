/* tests/fuzz/log_mutate.h: changes logs so that what is behind their checksums and compression is changed, too. */
#pragma once

#include "fuzz.h"
#include "log/format/block.h"
#include "log/format/codec.h"

#define BODY_ROOM (64 * 1024)
#define BLOCKS_MAX 64

static const char fuzz_block_magic[4] = "\xc1SPB";

/* Where blocks seem to be; those are *ret_count, at[*ret_count] is the end. */
static unsigned blocks_find(const uint8_t *data, size_t size, size_t at[BLOCKS_MAX + 1])
{
	const uint8_t *p = data, *found;
	unsigned count = 0;

	while (count < BLOCKS_MAX && (found = memmem(p, (size_t)(data + size - p), fuzz_block_magic, 4))) {
		at[count++] = (size_t)(found - data);
		p = found + 4;
	}
	at[count] = size;
	return count;
}

/* Makes the blocks intact again: else their checksums would keep all changes from the decoder. Each file that begins in
 * the data has numbers of its own. */
static void blocks_seal(uint8_t *data, size_t size)
{
	size_t at[BLOCKS_MAX + 1], end, before = 0;
	unsigned i, count = blocks_find(data, size, at);
	struct block b = {0};

	for (i = 0; i < count; i++) {
		end = at[i + 1];
		if (i && memmem(data + before, at[i] - before, LOG_MAGIC, LOG_MAGIC_BYTES))
			b.sequence = 0;
		if (end < size && end - at[i] >= LOG_MAGIC_BYTES &&
		    !memcmp(data + end - LOG_MAGIC_BYTES, LOG_MAGIC, LOG_MAGIC_BYTES))
			end -= LOG_MAGIC_BYTES;
		before = at[i];
		if (end - at[i] < BLOCK_HEADER_BYTES)
			continue;
		b.length = (uint32_t)(end - at[i]) - BLOCK_HEADER_BYTES;
		memcpy(&b.events, data + at[i] + 16, sizeof(b.events));
		memcpy(&b.kind, data + at[i] + 20, sizeof(b.kind));
		block_seal(&b, data + at[i]);
		b.sequence++;
	}
}

/* Puts bytes in the place of others; the new size, or the old one if there is no room. */
static size_t bytes_splice(uint8_t *data, size_t size, size_t max, size_t from, size_t to, const uint8_t *with,
			   size_t n)
{
	if (size - (to - from) + n > max)
		return size;
	memmove(data + from + n, data + to, size - to);
	memcpy(data + from, with, n);
	return size - (to - from) + n;
}

/* Changes the body of one packed block, and compresses it again, by any codec. */
static size_t body_mutate(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	size_t at[BLOCKS_MAX + 1], used, n;
	unsigned count = blocks_find(data, size, at), i = count ? seed % count : 0;
	uint8_t *body = malloc(BODY_ROOM), *packed = malloc(BODY_ROOM), *p = data + at[i] + BLOCK_HEADER_BYTES;
	unsigned to = seed >> 8 & 3;
	struct preamble preamble;
	struct codec *c = NULL;

	ENSURE(body && packed);
	n = count && at[i + 1] - at[i] >= BLOCK_HEADER_BYTES ? at[i + 1] - at[i] - BLOCK_HEADER_BYTES : 0;
	if (n < PREAMBLE_BYTES || data[at[i] + 20] != BLOCK_KIND_PACKED ||
	    preamble_get(p, (uint32_t)n, &preamble) || preamble.raw_bytes > BODY_ROOM / 2 ||
	    codec_decompress(NULL, preamble.codec, p + PREAMBLE_BYTES, n - PREAMBLE_BYTES, body, preamble.raw_bytes))
		goto out;
	preamble.raw_bytes = (uint32_t)LLVMFuzzerMutate(body, preamble.raw_bytes, BODY_ROOM / 2);
	preamble.codec = (uint8_t)(to % BLOCK_CODEC_COUNT);
	if (codec_new(&c) || codec_compress(c, preamble.codec, 1, body, preamble.raw_bytes, packed + PREAMBLE_BYTES,
					    BODY_ROOM - PREAMBLE_BYTES, &used))
		goto out;
	preamble_put(&preamble, packed);
	size = bytes_splice(data, size, max, at[i] + BLOCK_HEADER_BYTES, at[i + 1], packed, PREAMBLE_BYTES + used);
out:
	codec_free(c);
	free(body);
	free(packed);
	return size;
}

/* A block twice, or not at all, or with another kind or flags. */
static size_t block_mutate(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	size_t at[BLOCKS_MAX + 1], n;
	unsigned count = blocks_find(data, size, at), i = count ? seed % count : 0;
	uint8_t *copy;

	if (!count)
		return size;
	n = at[i + 1] - at[i];
	copy = malloc(n ? n : 1);
	ENSURE(copy);
	memcpy(copy, data + at[i], n);
	if (seed & 0x100)
		size = bytes_splice(data, size, max, at[i], at[i + 1], copy, 0);
	else if (seed & 0x200)
		size = bytes_splice(data, size, max, at[seed >> 16 & i], at[seed >> 16 & i], copy, n);
	else if (n > BLOCK_HEADER_BYTES + PREAMBLE_BYTES)
		data[at[i] + (seed & 0x400 ? 20 : BLOCK_HEADER_BYTES + 21)] = seed >> 16 & 7;
	free(copy);
	return size;
}

/* skip: bytes in front that are no log. */
__attribute__((unused)) static size_t log_mutate(uint8_t *data, size_t size, size_t max, unsigned seed, size_t skip)
{
	unsigned how = seed % 8;

	seed /= 8;
	if (size <= skip || how < 3)
		size = LLVMFuzzerMutate(data, size, max);
	else if (how < 7)
		size = skip + body_mutate(data + skip, size - skip, max - skip, seed);
	else
		size = skip + block_mutate(data + skip, size - skip, max - skip, seed);
	if (size > skip && how)
		blocks_seal(data + skip, size - skip);
	return size;
}
