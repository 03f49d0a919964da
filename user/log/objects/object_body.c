#include "log/objects/object_body.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"
#include "log/format/block.h"
#include "log/format/codec.h"
#include "log/format/object_record.h"
#include "log/format/text.h"
#include "log/format/unpack.h"

void object_body_free(struct object_body *o)
{
	codec_free(o->codec);
	free(o->bytes);
}

int object_body_open(struct object_body *o, const struct block *b)
{
	struct preamble p;
	int err;

	o->left = o->raw_bytes = 0;
	o->in = (struct unpack){b->payload, b->payload};
	if (preamble_get(b->payload, b->length, &p))
		return -EBADMSG;
	o->in = (struct unpack){b->payload + PREAMBLE_BYTES, b->payload + b->length};
	if (p.codec == BLOCK_CODEC_NONE) {
		if ((size_t)(o->in.end - o->in.at) != p.raw_bytes) {
			o->in.at = o->in.end;
			return -EBADMSG;
		}
	} else {
		if (bytes_reserve(&o->bytes, &o->capacity, p.raw_bytes) ||
		    (!o->codec && codec_new(&o->codec)))
			return -ENOMEM;
		if (!o->bytes)
			return -EBADMSG;
		err = codec_decompress(o->codec, p.codec, o->in.at, (size_t)(o->in.end - o->in.at),
				       o->bytes, p.raw_bytes);
		o->in.at = o->in.end;
		if (err)
			return err;
		o->in = (struct unpack){o->bytes, o->bytes + p.raw_bytes};
	}
	o->raw_bytes = p.raw_bytes;
	o->left = b->events;
	return 0;
}

static int read_text(struct unpack *u, const char **ret, uint32_t *ret_bytes)
{
	struct unpack_value v;

	if (unpack_value(u, &v) || v.type != UNPACK_STR || v.count > OBJECT_NAME_MAX ||
	    !text_is_clean(v.data, v.count))
		return -EBADMSG;
	*ret = v.data;
	*ret_bytes = v.count;
	return 0;
}

static int read_frames(struct unpack *u, struct object_record *ret)
{
	uint32_t count;
	uint64_t n;

	if (unpack_array(u, &count) || count % 2 || count > 2 * OBJECT_FRAMES_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < count; i++) {
		if (unpack_uint(u, &n) || n > UINT32_MAX)
			return -EBADMSG;
		ret->frames[i / 2][i % 2] = (uint32_t)n;
	}
	ret->frame_count = count / 2;
	return 0;
}

static int read_words(struct unpack *u, struct object_record *ret)
{
	struct unpack_value v;

	if (unpack_value(u, &v) || v.type != UNPACK_BIN || v.count > OBJECT_WORDS_MAX)
		return -EBADMSG;
	ret->words = (const uint8_t *)v.data;
	ret->word_bytes = v.count;
	return 0;
}

static int read_known(struct unpack *u, uint32_t count, struct object_record *ret)
{
	uint32_t numbers = object_record_numbers(ret->kind), texts = object_record_texts(ret->kind);
	bool words = object_record_has_words(ret->kind);
	uint32_t more = texts + (ret->kind == OBJECT_SITE || words);
	int err = count < 1 + numbers + more ? -EBADMSG : 0;

	for (uint32_t i = 0; i < numbers && !err; i++)
		err = unpack_uint(u, &ret->number[i]);
	for (uint32_t i = 0; i < texts && !err; i++)
		err = read_text(u, &ret->text[i], &ret->text_bytes[i]);
	if (!err && ret->kind == OBJECT_SITE)
		err = read_frames(u, ret);
	if (!err && words)
		err = read_words(u, ret);
	for (count -= 1 + numbers + more; count && !err; count--)
		err = unpack_skip(u);
	return err;
}

static int record_read(struct unpack *u, struct object_record *ret)
{
	uint64_t kind;
	uint32_t count;

	memset(ret, 0, sizeof(*ret));
	if (unpack_array(u, &count) || !count || unpack_uint(u, &kind))
		return -EBADMSG;
	if (kind && kind < OBJECT_KIND_END) {
		ret->kind = (enum object_record_kind)kind;
		return read_known(u, count, ret);
	}
	for (; count > 1; count--)
		if (unpack_skip(u))
			return -EBADMSG;
	return 0;
}

int object_body_next(struct object_body *o, struct object_record *ret)
{
	if (!o->left && o->in.at == o->in.end)
		return 0;
	if (!o->left) {
		o->in.at = o->in.end;
		return -EBADMSG;
	}
	o->left--;
	if (!record_read(&o->in, ret))
		return 1;
	o->left = 0;
	o->in.at = o->in.end;
	return -EBADMSG;
}
