/* report/jfr/jfr_bytes.h: numbers and texts of a chunk, as a reader of JDK 17 takes them. */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "base/text/strbuf.h"

/* Compressed: seven bits a byte, the lowest first; the ninth byte has eight. */
void jfr_number(struct strbuf *b, uint64_t n);
/* UTF-8 without a NUL. */
void jfr_text(struct strbuf *b, const char *text);
/* Not compressed, the highest byte first. */
void jfr_raw(struct strbuf *b, uint64_t n, unsigned bytes);
void jfr_write(const struct strbuf *b, FILE *out);
/* An event, which begins with its length, that included. Empties event. */
void jfr_event(struct strbuf *b, struct strbuf *event);
