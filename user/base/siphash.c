/* Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; the test has their vectors. */
#include "base/siphash.h"

#include <endian.h>
#include <string.h>

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static void rounds(uint64_t v[4], int count)
{
	while (count--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate(v[1], 13) ^ v[0];
		v[3] = rotate(v[3], 16) ^ v[2];
		v[0] = rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate(v[1], 17) ^ v[2];
		v[3] = rotate(v[3], 21) ^ v[0];
		v[2] = rotate(v[2], 32);
	}
}

static uint64_t word(const uint8_t *bytes, size_t count)
{
	uint64_t n = 0;

	memcpy(&n, bytes, count);
	return le64toh(n);
}

static void add(uint64_t v[4], uint64_t m)
{
	v[3] ^= m;
	rounds(v, 2);
	v[0] ^= m;
}

uint64_t siphash(const uint8_t key[SIPHASH_KEY_BYTES], const void *bytes, size_t count)
{
	uint64_t k0 = word(key, 8), k1 = word(key + 8, 8);
	uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d, k0 ^ 0x6c7967656e657261,
			 k1 ^ 0x7465646279746573};
	const uint8_t *at = bytes;
	size_t left = count;

	for (; left >= 8; at += 8, left -= 8)
		add(v, word(at, 8));
	add(v, (left ? word(at, left) : 0) | (uint64_t)count << 56);
	v[2] ^= 0xff;
	rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
