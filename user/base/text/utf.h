/* base/text/utf.h: the encodings of Java's strings. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Latin-1 and UTF-16 to UTF-8, cut at a character; lone surrogates and NULs become '?'. Returns the
 * length. */
size_t latin1_to_utf8(const uint8_t *text, size_t len, char *ret, size_t size);
size_t utf16_to_utf8(const uint16_t *text, size_t len, char *ret, size_t size);
