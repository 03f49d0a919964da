#include "base/text/utf.h"

#include <string.h>

/* Appends one character, if it fits with a NUL after it. */
static bool utf8_put(uint32_t c, char *ret, size_t size, size_t *at)
{
	unsigned char bytes[4];
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};

	if (*at + n >= size)
		return false;
	for (size_t i = n; i-- > 1; c >>= 6)
		bytes[i] = 0x80 | (c & 0x3f);
	bytes[0] = (unsigned char)(lead[n] | c);
	memcpy(ret + *at, bytes, n);
	*at += n;
	return true;
}

size_t latin1_to_utf8(const uint8_t *text, size_t len, char *ret, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < len && utf8_put(text[i] ? text[i] : '?', ret, size, &at); i++)
		;
	ret[at] = 0;
	return at;
}

size_t utf16_to_utf8(const uint16_t *text, size_t len, char *ret, size_t size)
{
	size_t at = 0;

	for (size_t i = 0; i < len; i++) {
		uint32_t c = text[i] ? text[i] : '?';

		if (c >= 0xd800 && c < 0xdc00 && i + 1 < len && (text[i + 1] & 0xfc00) == 0xdc00)
			c = 0x10000 + ((c & 0x3ff) << 10) + (text[++i] & 0x3ff);
		else if (c >= 0xd800 && c < 0xe000)
			c = '?';
		if (!utf8_put(c, ret, size, &at))
			break;
	}
	ret[at] = 0;
	return at;
}

unsigned utf8_sequence(const uint8_t *s, size_t left)
{
	unsigned n = !left                         ? 0
		     : s[0] < 0x80                 ? 1
		     : s[0] >= 0xc2 && s[0] < 0xe0 ? 2
		     : (s[0] & 0xf0) == 0xe0       ? 3
		     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
						   : 0;

	if (!n || n > left || !s[0])
		return 0;
	for (unsigned i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90))
		return 0;
	return n;
}

bool utf8_of_surrogates(const uint8_t *s, size_t left, char ret[4])
{
	uint32_t high, low, c;

	if (left < 6 || s[0] != 0xed || (s[1] & 0xf0) != 0xa0 || (s[2] & 0xc0) != 0x80 ||
	    s[3] != 0xed || (s[4] & 0xf0) != 0xb0 || (s[5] & 0xc0) != 0x80)
		return false;
	high = (uint32_t)(s[1] & 0x0f) << 6 | (s[2] & 0x3f);
	low = (uint32_t)(s[4] & 0x0f) << 6 | (s[5] & 0x3f);
	c = 0x10000 + (high << 10) + low;
	ret[0] = (char)(0xf0 | c >> 18);
	ret[1] = (char)(0x80 | (c >> 12 & 0x3f));
	ret[2] = (char)(0x80 | (c >> 6 & 0x3f));
	ret[3] = (char)(0x80 | (c & 0x3f));
	return true;
}
