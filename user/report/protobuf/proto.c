#include "report/protobuf/proto.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "log/format/text.h"

enum { TYPE_VARINT = 0, TYPE_FIXED64 = 1, TYPE_BYTES = 2 };

static void proto_varint(struct strbuf *m, uint64_t n)
{
	char bytes[10];
	size_t count = 0;

	for (; n > 0x7f; n >>= 7)
		bytes[count++] = (char)(n | 0x80);
	bytes[count++] = (char)n;
	strbuf_put(m, bytes, count);
}

void proto_number(struct strbuf *m, unsigned field, uint64_t n)
{
	proto_varint(m, field << 3 | TYPE_VARINT);
	proto_varint(m, n);
}

void proto_packed(struct strbuf *m, uint64_t n)
{
	proto_varint(m, n);
}

void proto_fixed64(struct strbuf *m, unsigned field, uint64_t n)
{
	char bytes[8];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)(n >> 8 * i);
	proto_varint(m, field << 3 | TYPE_FIXED64);
	strbuf_put(m, bytes, sizeof(bytes));
}

void proto_double(struct strbuf *m, unsigned field, double value)
{
	uint64_t bits;

	_Static_assert(sizeof(bits) == sizeof(value), "as IEEE 754 has it");
	memcpy(&bits, &value, sizeof(bits));
	proto_fixed64(m, field, bits);
}

static void proto_bytes(struct strbuf *m, unsigned field, const char *bytes, size_t count)
{
	proto_varint(m, field << 3 | TYPE_BYTES);
	proto_varint(m, count);
	strbuf_put(m, bytes, count);
}

void proto_text(struct strbuf *m, unsigned field, const char *text)
{
	size_t length = strlen(text);
	char *clean;

	if (text_is_clean(text, length)) {
		proto_bytes(m, field, text, length);
		return;
	}
	clean = malloc(3 * length); /* U+FFFD has three bytes */
	if (!clean) {
		m->err = -ENOMEM;
		return;
	}
	proto_bytes(m, field, clean, text_clean(text, length, clean, 3 * length));
	free(clean);
}

void proto_part(struct strbuf *m, unsigned field, struct strbuf *part)
{
	if (part->err)
		m->err = part->err;
	proto_bytes(m, field, part->text, part->used);
	strbuf_clear(part);
}

int proto_write(struct strbuf *m, FILE *out)
{
	int err = m->err;

	if (!err && m->used)
		fwrite(m->text, 1, m->used, out);
	strbuf_clear(m);
	return err;
}
