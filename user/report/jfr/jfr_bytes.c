#include "report/jfr/jfr_bytes.h"

#include <errno.h>
#include <string.h>

#define NUMBER_BYTES_MAX 9

enum { TEXT_EMPTY = 1, TEXT_UTF8 = 3 };

static unsigned number_bytes(uint64_t n, unsigned char bytes[NUMBER_BYTES_MAX])
{
	unsigned count = 0;

	for (; n > 0x7f && count < NUMBER_BYTES_MAX - 1; n >>= 7)
		bytes[count++] = (unsigned char)(n | 0x80);
	bytes[count++] = (unsigned char)n;
	return count;
}

void jfr_number(struct strbuf *b, uint64_t n)
{
	unsigned char bytes[NUMBER_BYTES_MAX];
	unsigned count = number_bytes(n, bytes);

	strbuf_put(b, (const char *)bytes, count);
}

void jfr_text(struct strbuf *b, const char *text)
{
	size_t length = strlen(text);

	jfr_number(b, length ? TEXT_UTF8 : TEXT_EMPTY);
	if (!length)
		return;
	jfr_number(b, length);
	strbuf_put(b, text, length);
}

void jfr_raw(struct strbuf *b, uint64_t n, unsigned bytes)
{
	while (bytes--) {
		char c = (char)(n >> 8 * bytes);

		strbuf_put(b, &c, 1);
	}
}

void jfr_write(const struct strbuf *b, FILE *out)
{
	if (b->used)
		fwrite(b->text, 1, b->used, out);
}

void jfr_event(struct strbuf *b, struct strbuf *event)
{
	unsigned char bytes[NUMBER_BYTES_MAX];
	unsigned count = 1;

	while (number_bytes(event->used + count, bytes) > count)
		count++;
	if (event->err || event->used > INT32_MAX - NUMBER_BYTES_MAX)
		b->err = -ENOMEM; /* its length is an int */
	jfr_number(b, event->used + count);
	strbuf_put(b, event->text, event->used);
	strbuf_clear(event);
}
