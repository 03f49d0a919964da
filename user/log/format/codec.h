/* log/format/codec.h: compresses and decompresses the bodies of blocks. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "log/format/block.h"

#define CODEC_ZSTD_LEVEL 1 /* what level 0 means: measured in docs/recording.md */
#define CODEC_ZSTD_LEVEL_MAX 19

/* "none", "lz4", "zstd": also the names of the features that a log's header has for them. */
const char *codec_name(enum block_codec codec);

/* What is kept from one block to the next; for one thread at a time. */
struct codec;

int codec_new(struct codec **ret);
void codec_free(struct codec *c);

/* Room that compressed bytes take at most. */
size_t codec_bound(enum block_codec codec, size_t count);

/*
 * *ret is how many of the room bytes at dst are used now. level is that of zstd, 0: the default.
 * -ENOBUFS: there is less room than codec_bound. -ENOMEM. -EINVAL: no such codec or level.
 */
int codec_compress(struct codec *c, enum block_codec codec, int level, const void *src,
		   size_t count, void *dst, size_t room, size_t *ret);

/*
 * From count bytes at src to exactly raw at dst: nothing is written after them. -EBADMSG: they are
 * damaged, or give another number of bytes. -ENOTSUP: an unknown codec. -ENOMEM. c may be NULL:
 * nothing is kept.
 */
int codec_decompress(struct codec *c, unsigned codec, const void *src, size_t count, void *dst,
		     size_t raw);
