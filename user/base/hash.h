/* base/hash.h: keyed hashes, for tables whose keys come from outside. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/*
 * The key is random and of this process: whoever writes a log, or runs the JVM that is recorded,
 * cannot know which of his numbers or names share a slot. So no output may be in the order of a
 * hash.
 */
#define HASH_WORDS 6

struct hash_secret {
	uint64_t offset;
	uint64_t odd[HASH_WORDS]; /* odd numbers */
	uint64_t text[2];
};
extern const struct hash_secret *const hash_secret;

/*
 * Of a sum of products with random odd factors (Dietzfelbinger 1996: two sums share their upper
 * half by chance only). The lower bits of a product depend on the lower bits of its factors alone:
 * so the sum is mixed, by a round of splitmix64's finalizer; both halves are good then.
 */
static inline uint64_t hash_mix(uint64_t sum)
{
	sum = (sum ^ sum >> 32) * 0xbf58476d1ce4e5b9ull;
	return sum ^ sum >> 29;
}

static inline uint64_t hash_number(uint64_t a)
{
	return hash_mix(hash_secret->offset + a * hash_secret->odd[0]);
}

/* Up to HASH_WORDS words. */
static inline uint64_t hash_words(const uint64_t *words, unsigned count)
{
	uint64_t sum = hash_secret->offset;

	for (unsigned i = 0; i < count; i++)
		sum += words[i] * hash_secret->odd[i];
	return hash_mix(sum);
}

/* SipHash-1-3 (Aumasson, Bernstein 2012). */
uint64_t hash_bytes(const void *bytes, size_t count);
