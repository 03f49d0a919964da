/*
 * UNSIGNED5 (share/utilities/unsigned5.hpp; up to JDK 19 in share/code/compressedStream.hpp): each
 * byte but the fifth is the last one if it is below 192, and counts 64 times as much as the byte
 * before it. Excluded byte values are taken off first.
 */
#include "jvm/layout/unsigned5.h"

#define BYTES_MAX 5
#define LOW_CODES 192 /* excluded ones are among them */

bool unsigned5_read(const uint8_t *bytes, size_t len, size_t *at, uint32_t excluded, uint32_t *ret)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < BYTES_MAX; i++) {
		uint32_t b;

		if (*at >= len || bytes[*at] < excluded)
			return false;
		b = bytes[(*at)++] - excluded;
		sum += b << 6 * i;
		if (b < LOW_CODES - excluded)
			break;
	}
	*ret = sum;
	return true;
}
