#include "base/text/strbuf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/tables/array.h"

#define FIRST_ROOM 128

static const char cut_mark[] = "...";

static int grow(struct strbuf *b, size_t needed)
{
	size_t room = b->room ? b->room : FIRST_ROOM;

	while (room < needed)
		room *= 2;
	return bytes_reserve(&b->text, &b->room, room);
}

/* Takes back what is too long, up to the beginning of a character. */
static void cut(struct strbuf *b)
{
	const size_t mark = sizeof(cut_mark) - 1;

	b->is_cut = true;
	b->used = b->most > mark ? b->most - mark : 0;
	while (b->used && ((unsigned char)b->text[b->used] & 0xc0) == 0x80)
		b->used--;
	snprintf(b->text + b->used, b->most - b->used + 1, "%s", cut_mark);
	b->used += strlen(b->text + b->used);
}

void strbuf_add(struct strbuf *b, const char *format, ...)
{
	va_list args;
	int n;

	if (b->err || b->is_cut)
		return;
	va_start(args, format);
	n = vsnprintf(NULL, 0, format, args);
	va_end(args);
	b->err = n < 0 ? -ENOMEM : grow(b, b->used + (size_t)n + 1);
	if (b->err)
		return;
	va_start(args, format);
	vsnprintf(b->text + b->used, (size_t)n + 1, format, args);
	va_end(args);
	b->used += (size_t)n;
	if (b->most && b->used > b->most)
		cut(b);
}

void strbuf_put(struct strbuf *b, const char *bytes, size_t count)
{
	if (b->err || b->is_cut)
		return;
	b->err = grow(b, b->used + count + 1);
	if (b->err)
		return;
	if (count)
		memcpy(b->text + b->used, bytes, count);
	b->used += count;
	b->text[b->used] = '\0';
	if (b->most && b->used > b->most)
		cut(b);
}

void strbuf_clear(struct strbuf *b)
{
	b->used = 0;
	b->err = 0;
	b->is_cut = false;
	if (b->text)
		b->text[0] = '\0';
}

const char *strbuf_text(const struct strbuf *b)
{
	return b->text ? b->text : "";
}

void strbuf_free(struct strbuf *b)
{
	free(b->text);
	*b = (struct strbuf){.most = b->most};
}

void buffer_add(char *buf, size_t size, const char *format, ...)
{
	size_t used = strnlen(buf, size);
	va_list args;

	if (used >= size)
		return;
	va_start(args, format);
	vsnprintf(buf + used, size - used, format, args);
	va_end(args);
}
