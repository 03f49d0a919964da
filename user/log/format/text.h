/* log/format/text.h: text in a log: UTF-8 without NUL, each text kept once in memory. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* True if it is UTF-8 (no surrogates, nothing overlong, nothing past U+10FFFF) without a NUL. */
bool text_is_clean(const char *text, size_t length);

/*
 * Copies text, with U+FFFD for each byte that is no part of a character and for NUL, and cuts it
 * after the last whole character that fits. buf has room for size bytes; returns how many are
 * used.
 */
size_t text_clean(const char *text, size_t length, char *buf, size_t size);

struct text_set;

/* NULL: no memory. The text is cleaned, ends in a NUL, and is lent until text_set_free. */
const char *text_set_add(struct text_set **set, const char *text, size_t length);
void text_set_free(struct text_set **set);
