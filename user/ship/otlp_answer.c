/* Fields that are not known are passed over, as readers of protobuf do. */
#include "ship/otlp_answer.h"

#include <string.h>

#include "base/text/print.h"

enum { RESPONSE_PARTIAL_SUCCESS = 1 };
enum { PARTIAL_REJECTED = 1, PARTIAL_TEXT = 2 };
enum { STATUS_MESSAGE = 2 };

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

struct bytes {
	const uint8_t *at, *end;
};

struct field {
	uint64_t number, value; /* value: of a varint */
	struct bytes bytes;     /* of what has a length; else NULL */
};

static bool varint(struct bytes *b, uint64_t *ret)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 64 && b->at < b->end; shift += 7) {
		uint8_t byte = *b->at++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			*ret = value;
			return true;
		}
	}
	return false;
}

static bool skip(struct bytes *b, uint64_t count)
{
	if ((uint64_t)(b->end - b->at) < count)
		return false;
	b->at += count;
	return true;
}

static bool field_next(struct bytes *b, struct field *ret)
{
	uint64_t key, length;

	*ret = (struct field){0};
	if (!varint(b, &key) || !(key >> 3))
		return false;
	ret->number = key >> 3;
	switch (key & 7) {
	case WIRE_VARINT:
		return varint(b, &ret->value);
	case WIRE_FIXED64:
		return skip(b, 8);
	case WIRE_FIXED32:
		return skip(b, 4);
	case WIRE_BYTES:
		if (!varint(b, &length) || (uint64_t)(b->end - b->at) < length)
			return false;
		ret->bytes = (struct bytes){b->at, b->at + length};
		return skip(b, length);
	default:
		return false;
	}
}

/* A NUL would end it before its end. */
static bool text_of(const struct bytes *b, char ret[OTLP_TEXT_MAX])
{
	size_t length = (size_t)(b->end - b->at);
	char text[OTLP_TEXT_MAX];

	if (!b->at || memchr(b->at, 0, length))
		return false;
	length = length < sizeof(text) ? length : sizeof(text) - 1;
	memcpy(text, b->at, length);
	text[length] = 0;
	print_buffer(ret, OTLP_TEXT_MAX, "%s", text);
	return true;
}

static bool partial_read(struct bytes b, struct otlp_answer *ret)
{
	struct field f;

	while (b.at < b.end) {
		if (!field_next(&b, &f))
			return false;
		if (f.number == PARTIAL_REJECTED)
			ret->rejected = f.value;
		else if (f.number == PARTIAL_TEXT && !text_of(&f.bytes, ret->text))
			return false;
	}
	return true;
}

bool otlp_answer_read(const uint8_t *bytes, size_t count, struct otlp_answer *ret)
{
	struct bytes b = {bytes, bytes + count};
	struct otlp_answer found = {0};
	struct field f;

	*ret = (struct otlp_answer){0};
	while (b.at < b.end) {
		if (!field_next(&b, &f))
			return false;
		if (f.number == RESPONSE_PARTIAL_SUCCESS &&
		    (!f.bytes.at || !partial_read(f.bytes, &found)))
			return false;
	}
	*ret = found;
	return true;
}

bool otlp_status_read(const uint8_t *bytes, size_t count, char ret[OTLP_TEXT_MAX])
{
	struct bytes b = {bytes, bytes + count};
	char text[OTLP_TEXT_MAX] = "";
	struct field f;

	while (b.at < b.end) {
		if (!field_next(&b, &f) ||
		    (f.number == STATUS_MESSAGE && !text_of(&f.bytes, text)))
			return false;
	}
	memcpy(ret, text, sizeof(text));
	return *text != 0;
}
