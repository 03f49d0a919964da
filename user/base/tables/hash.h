/* base/tables/hash.h: keyed hashes, for tables whose keys come from outside. */
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
	uint64_t low[HASH_WORDS], high[HASH_WORDS];
	uint64_t text[2];
};
extern const struct hash_secret *const hash_secret;

/*
 * MULTILINEAR-HM of the words' halves (Lemire, Kaser: Strongly universal string hashing is fast,
 * 2014): whatever two keys somebody has chosen, the upper halves of their sums are any two numbers
 * with equal chance. Products of whole words are not enough, whatever the factors: where words
 * differ in their upper four bits only, all sums do, too, and there are 16 of them.
 */
static inline uint64_t hash_word(uint64_t word, unsigned i)
{
	return (hash_secret->low[i] + (uint32_t)word) * (hash_secret->high[i] + (word >> 32));
}

/* Numbers in order have sums in steps; mixed, they lie anywhere (as in MurmurHash3's end). Each
 * step can be undone, so what holds for two sums still does. */
static inline uint32_t hash_end(uint64_t sum)
{
	uint32_t upper = (uint32_t)(sum >> 32);

	upper = (upper ^ upper >> 16) * 0x85ebca6bu;
	return upper ^ upper >> 13;
}

static inline uint32_t hash_number(uint64_t a)
{
	return hash_end(hash_secret->offset + hash_word(a, 0));
}

/* Up to HASH_WORDS words; the keys of a table have the same count. */
static inline uint32_t hash_words(const uint64_t *words, unsigned count)
{
	uint64_t sum = hash_secret->offset;

	for (unsigned i = 0; i < count; i++)
		sum += hash_word(words[i], i);
	return hash_end(sum);
}

/* SipHash-1-3 (Aumasson, Bernstein 2012). */
uint64_t hash_bytes(const void *bytes, size_t count);
