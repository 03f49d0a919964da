/* base/text/utf.h: the encodings of Java's strings. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Latin-1 and UTF-16 to UTF-8, cut at a character; lone surrogates and NULs become '?'. Returns the
 * length. */
size_t latin1_to_utf8(const uint8_t *text, size_t len, char *ret, size_t size);
size_t utf16_to_utf8(const uint16_t *text, size_t len, char *ret, size_t size);

/* Bytes of the well-formed UTF-8 sequence at s, of which left bytes are there; 0: there is none, or
 * it is a NUL. Modified UTF-8 (JVM specification 4.4.7) has some that are not well formed. */
unsigned utf8_sequence(const uint8_t *s, size_t left);

/* A character above U+FFFF is two surrogates of three bytes each in modified UTF-8: such six bytes
 * at s as four of UTF-8. false: there are none. */
bool utf8_of_surrogates(const uint8_t *s, size_t left, char ret[4]);
