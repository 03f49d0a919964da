#include "log/format/codec.h"

#include <errno.h>
#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

_Static_assert(BLOCK_PAYLOAD_MAX < LZ4_MAX_INPUT_SIZE, "LZ4 counts in int");

struct codec {
	ZSTD_CCtx *zstd;   /* NULL: not used yet */
	ZSTD_DCtx *unzstd; /* likewise */
};

static const char *const names[] = {"none", "lz4", "zstd"};
_Static_assert(sizeof(names) / sizeof(*names) == BLOCK_CODEC_COUNT, "every codec has a name");

const char *codec_name(enum block_codec codec)
{
	return names[codec];
}

int codec_new(struct codec **ret)
{
	struct codec *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*ret = c;
	return 0;
}

void codec_free(struct codec *c)
{
	if (!c)
		return;
	ZSTD_freeCCtx(c->zstd);
	ZSTD_freeDCtx(c->unzstd);
	free(c);
}

size_t codec_bound(enum block_codec codec, size_t count)
{
	if (codec == BLOCK_CODEC_ZSTD)
		return ZSTD_compressBound(count);
	return codec == BLOCK_CODEC_LZ4 ? (size_t)LZ4_compressBound((int)count) : count;
}

static int zstd_error(size_t code, int otherwise)
{
	return ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation ? -ENOMEM : otherwise;
}

static int compress_zstd(struct codec *c, int level, const void *src, size_t count, void *dst,
			 size_t room, size_t *ret)
{
	size_t used;

	if (level < 0 || level > CODEC_ZSTD_LEVEL_MAX)
		return -EINVAL;
	if (!c->zstd)
		c->zstd = ZSTD_createCCtx();
	if (!c->zstd)
		return -ENOMEM;
	used = ZSTD_compressCCtx(c->zstd, dst, room, src, count, level ? level : CODEC_ZSTD_LEVEL);
	if (ZSTD_isError(used))
		return zstd_error(used, -ENOBUFS);
	*ret = used;
	return 0;
}

int codec_compress(struct codec *c, enum block_codec codec, int level, const void *src,
		   size_t count, void *dst, size_t room, size_t *ret)
{
	int used;

	if (count > BLOCK_PAYLOAD_MAX)
		return -EINVAL;
	switch (codec) {
	case BLOCK_CODEC_NONE:
		if (room < count)
			return -ENOBUFS;
		memcpy(dst, src, count);
		*ret = count;
		return 0;
	case BLOCK_CODEC_LZ4:
		if (room > LZ4_MAX_INPUT_SIZE)
			room = LZ4_MAX_INPUT_SIZE;
		used = LZ4_compress_default(src, dst, (int)count, (int)room);
		if (used <= 0)
			return -ENOBUFS;
		*ret = (size_t)used;
		return 0;
	case BLOCK_CODEC_ZSTD:
		return compress_zstd(c, level, src, count, dst, room, ret);
	default:
		return -EINVAL;
	}
}

/* One frame and nothing after it; a decoder that is fed a second one would take it too. */
static int decompress_zstd(struct codec *c, const void *src, size_t count, void *dst, size_t raw)
{
	size_t frame = ZSTD_findFrameCompressedSize(src, count), got;

	if (ZSTD_isError(frame) || frame != count)
		return -EBADMSG;
	if (c && !c->unzstd)
		c->unzstd = ZSTD_createDCtx();
	if (c && !c->unzstd)
		return -ENOMEM;
	got = c ? ZSTD_decompressDCtx(c->unzstd, dst, raw, src, count)
		: ZSTD_decompress(dst, raw, src, count);
	if (ZSTD_isError(got))
		return zstd_error(got, -EBADMSG);
	return got == raw ? 0 : -EBADMSG;
}

int codec_decompress(struct codec *c, unsigned codec, const void *src, size_t count, void *dst,
		     size_t raw)
{
	int got;

	if (count > BLOCK_PAYLOAD_MAX || raw > BLOCK_PAYLOAD_MAX)
		return -EBADMSG;
	switch (codec) {
	case BLOCK_CODEC_NONE:
		if (count != raw)
			return -EBADMSG;
		memcpy(dst, src, count);
		return 0;
	case BLOCK_CODEC_LZ4:
		got = LZ4_decompress_safe(src, dst, (int)count, (int)raw);
		return got >= 0 && (size_t)got == raw ? 0 : -EBADMSG;
	case BLOCK_CODEC_ZSTD:
		return decompress_zstd(c, src, count, dst, raw);
	default:
		return -ENOTSUP;
	}
}
