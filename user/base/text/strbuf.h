/* base/text/strbuf.h: texts that grow, piece by piece. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* All zero, but for most, is an empty one. */
struct strbuf {
	char *text; /* NULL: nothing is in it yet */
	size_t used, room;
	size_t most; /* bytes at most; 0: no limit */
	int err;     /* 0 or -ENOMEM: pieces are missing */
	bool is_cut; /* it would have been longer, and ends in "..." */
};

/* What a %s stands for goes in as it is: see base/text/print.h for the way out. Nothing is added
 * any more where a piece is missing. */
void strbuf_add(struct strbuf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* As they are; bytes may be NULL if there are none. */
void strbuf_put(struct strbuf *b, const char *bytes, size_t count);
/* "" of an empty one. Lent until the next call. */
const char *strbuf_text(const struct strbuf *b);
/* An empty one again, without errors; the memory stays. */
void strbuf_clear(struct strbuf *b);
void strbuf_free(struct strbuf *b);

/* The same for the text in an array of size bytes, 1 or more: what there is no room for is cut. */
void buffer_add(char *buf, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
