/* base/tables/siphash.h: SipHash: who does not know the key can neither foresee nor undo it. */
#pragma once

#include <endian.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SIPHASH_KEY_BYTES 16

/* SipHash-2-4. */
uint64_t siphash(const uint8_t key[SIPHASH_KEY_BYTES], const void *bytes, size_t count);

/* --- for siphash.c and hash.c, which take different numbers of rounds ----------------------- */

struct siphash_rounds {
	int word, end; /* after each word, and at the end */
};

static inline uint64_t siphash_rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static inline void siphash_mix(uint64_t v[4], int count)
{
	while (count--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = siphash_rotate(v[1], 13) ^ v[0];
		v[3] = siphash_rotate(v[3], 16) ^ v[2];
		v[0] = siphash_rotate(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = siphash_rotate(v[1], 17) ^ v[2];
		v[3] = siphash_rotate(v[3], 21) ^ v[0];
		v[2] = siphash_rotate(v[2], 32);
	}
}

static inline void siphash_add(uint64_t v[4], uint64_t m, int rounds)
{
	v[3] ^= m;
	siphash_mix(v, rounds);
	v[0] ^= m;
}

/* Aumasson and Bernstein, "SipHash: a fast short-input PRF", 2012; the test of siphash() has their
 * vectors. */
static inline uint64_t siphash_with(const uint64_t key[2], const void *bytes, size_t count,
				    struct siphash_rounds rounds)
{
	uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
			 key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
	const uint8_t *at = bytes;
	size_t left = count;
	uint64_t word;

	for (; left >= sizeof(word); at += sizeof(word), left -= sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		siphash_add(v, le64toh(word), rounds.word);
	}
	word = 0;
	if (left)
		memcpy(&word, at, left);
	siphash_add(v, le64toh(word) | (uint64_t)count << 56, rounds.word);
	v[2] ^= 0xff;
	siphash_mix(v, rounds.end);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}
