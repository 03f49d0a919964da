/* Decompresses any bytes to any length: it ends, writes nothing beyond, and allocates little whatever a frame says of
 * itself; and what is compressed comes out again. Input: codec, length in 4 bytes, the frame. */
#include <errno.h>

#include "fuzz.h"
#include "log/format/codec.h"

#define HEAD 5
/* zstd's decoder and its tables; it keeps no window of its own where the whole output is there. */
#define DECODER_BYTES (1024 * 1024)

static void *copy_of(const uint8_t *data, size_t size)
{
	void *copy = malloc(size ? size : 1);

	ENSURE(copy);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

static void hostile(unsigned codec, size_t raw, const uint8_t *data, size_t size)
{
	uint8_t *src = copy_of(data, size);
	uint8_t *dst = malloc(raw ? raw : 1);
	int err;

	ENSURE(dst);
	fuzz_memory_begin();
	err = codec_decompress(NULL, codec, src, size, dst, raw);
	fuzz_memory_end(DECODER_BYTES, DECODER_BYTES);
	ENSURE(!err || err == -EBADMSG || err == -ENOTSUP);
	ENSURE((err == -ENOTSUP) == (codec >= BLOCK_CODEC_COUNT && raw <= BLOCK_PAYLOAD_MAX));
	if (!err && raw < 1024 * 1024) {
		uint8_t *again = malloc(raw + 1);

		/* The length is part of what a block says: no other one will do. */
		ENSURE(again && codec_decompress(NULL, codec, src, size, again, raw + 1) == -EBADMSG);
		ENSURE(!raw || codec_decompress(NULL, codec, src, size, again, raw - 1) == -EBADMSG);
		ENSURE(!codec_decompress(NULL, codec, src, size, again, raw) && !memcmp(again, dst, raw));
		free(again);
	}
	free(src);
	free(dst);
}

static void round_trip(unsigned codec, int level, const uint8_t *data, size_t size)
{
	size_t room = codec_bound(codec, size), used, cut;
	uint8_t *packed = malloc(room ? room : 1), *out = malloc(size ? size : 1), *frame;
	struct codec *c;

	ENSURE(packed && out && !codec_new(&c));
	ENSURE(!codec_compress(c, codec, level, data, size, packed, room, &used) && used <= room);
	frame = copy_of(packed, used);
	ENSURE(!codec_decompress(c, codec, frame, used, out, size) && !memcmp(out, data, size));
	/* What is missing is missed. */
	cut = used ? (size * 7 + (size_t)level) % used : 0;
	if (used && size)
		ENSURE(codec_decompress(c, codec, frame, cut, out, size) == -EBADMSG);
	/* Less room than is promised is an error, not a step beyond. */
	free(packed);
	packed = malloc(cut ? cut : 1);
	ENSURE(packed);
	if (used)
		ENSURE(codec_compress(c, codec, level, data, size, packed, cut, &used) == -ENOBUFS);
	codec_free(c);
	free(frame);
	free(packed);
	free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t raw;

	if (size < HEAD)
		return 0;
	memcpy(&raw, data + 1, sizeof(raw));
	hostile(data[0] & 3, raw % (BLOCK_PAYLOAD_MAX + 2), data + HEAD, size - HEAD);
	if (data[0] % BLOCK_CODEC_COUNT != BLOCK_CODEC_ZSTD || size < 512)
		round_trip(data[0] % BLOCK_CODEC_COUNT, data[0] >> 2 & 3, data + HEAD, size - HEAD);
	return 0;
}

/* Mostly frames that are nearly right: random bytes get no further than a frame's first field. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed)
{
	unsigned codec = size ? data[0] % BLOCK_CODEC_COUNT : 0;
	uint8_t *packed;
	uint32_t raw;
	struct codec *c;
	size_t used;

	if (size > HEAD && max > HEAD && seed % 4 == 0) {
		raw = (uint32_t)(size - HEAD);
		packed = malloc(max);
		ENSURE(packed && !codec_new(&c));
		if (!codec_compress(c, codec, (int)(seed >> 2 & 7), data + HEAD, raw, packed, max - HEAD, &used)) {
			memcpy(data + HEAD, packed, used);
			data[0] = (uint8_t)codec;
			memcpy(data + 1, &raw, sizeof(raw));
			size = HEAD + used;
		}
		codec_free(c);
		free(packed);
		return size;
	}
	if (size > HEAD && max > HEAD && seed % 4 == 1) /* the frame only */
		return HEAD + LLVMFuzzerMutate(data + HEAD, size - HEAD, max - HEAD);
	return LLVMFuzzerMutate(data, size, max);
}
