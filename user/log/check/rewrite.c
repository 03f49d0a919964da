/*
 * Values are copied byte by byte, but for the texts among an event's fields, also of events that
 * this spoor does not know: no number, and so no figure, changes.
 */
#include "log/check/rewrite.h"

#include <errno.h>
#include <msgpack.h>

#include "log/format/block.h"
#include "log/format/unpack.h"

#define FIELDS 3 /* id, time and thread come before them */

static int put(msgpack_sbuffer *out, const uint8_t *from, const uint8_t *to)
{
	return msgpack_sbuffer_write(out, (const char *)from, (size_t)(to - from)) ? -ENOMEM : 0;
}

/* No text of a log is longer; what is cut ends with a whole character. */
static size_t cut(const char *text, size_t length)
{
	if (length <= LOG_TEXT_MAX)
		return length;
	length = LOG_TEXT_MAX;
	while (length && ((unsigned char)text[length] & 0xc0) == 0x80)
		length--;
	return length;
}

static int put_text(const struct log_rewrite *r, struct rewrite_text *t,
		    const struct unpack_value *v, msgpack_sbuffer *out)
{
	const char *text;
	size_t length;
	msgpack_packer pk;
	int err;

	t->text = v->data;
	t->length = v->count;
	if (!t->first) {
		t->first = t->text;
		t->first_length = t->length;
	}
	err = r->text(r->ctx, t, &text, &length);
	if (err)
		return err;
	msgpack_packer_init(&pk, out, msgpack_sbuffer_write);
	return msgpack_pack_str_with_body(&pk, text, cut(text, length)) ? -ENOMEM : 0;
}

static int rewrite_event(const struct log_rewrite *r, struct unpack *in, msgpack_sbuffer *out)
{
	const uint8_t *from = in->at;
	struct rewrite_text t = {0};
	struct unpack_value v;
	uint32_t count;
	int err = unpack_array(in, &count);

	err = err ? err : put(out, from, in->at);
	for (uint32_t i = 0; i < count && !err; i++) {
		from = in->at;
		err = unpack_value(in, &v);
		if (err || v.type == UNPACK_ARRAY || v.type == UNPACK_MAP)
			return -EBADMSG;
		if (!i && v.type == UNPACK_UINT)
			t.event = v.u;
		if (i == FIELDS - 1 && v.type == UNPACK_UINT)
			t.thread = v.u;
		if (i == FIELDS && v.type == UNPACK_UINT)
			t.number = v.u;
		t.field = i < FIELDS ? 0 : i - FIELDS;
		err = v.type == UNPACK_STR ? put_text(r, &t, &v, out) : put(out, from, in->at);
	}
	return err;
}

int rewrite_body(const struct log_rewrite *r, const uint8_t *begin, const uint8_t *end,
		 struct msgpack_sbuffer *out)
{
	struct unpack in = {begin, end};
	int err = unpack_skip(&in); /* the time that the first event's counts from */

	err = err ? err : put(out, begin, in.at);
	while (!err && in.at < in.end)
		err = rewrite_event(r, &in, out);
	return err;
}
