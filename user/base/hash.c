#include "base/hash.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

/* Written once, before main() and before there is any thread. */
static struct hash_secret key;
const struct hash_secret *const hash_secret = &key;

struct sip {
	uint64_t v0, v1, v2, v3;
};

static inline uint64_t left(uint64_t x, unsigned bits)
{
	return x << bits | x >> (64 - bits);
}

static inline void sip_round(struct sip *s)
{
	s->v0 += s->v1;
	s->v2 += s->v3;
	s->v1 = left(s->v1, 13) ^ s->v0;
	s->v3 = left(s->v3, 16) ^ s->v2;
	s->v0 = left(s->v0, 32);
	s->v2 += s->v1;
	s->v0 += s->v3;
	s->v1 = left(s->v1, 17) ^ s->v2;
	s->v3 = left(s->v3, 21) ^ s->v0;
	s->v2 = left(s->v2, 32);
}

static inline void sip_word(struct sip *s, uint64_t word)
{
	s->v3 ^= word;
	sip_round(s);
	s->v0 ^= word;
}

uint64_t hash_bytes(const void *bytes, size_t count)
{
	struct sip s = {key.text[0] ^ 0x736f6d6570736575ull, key.text[1] ^ 0x646f72616e646f6dull,
			key.text[0] ^ 0x6c7967656e657261ull, key.text[1] ^ 0x7465646279746573ull};
	const char *at = bytes;
	uint64_t word, last = (uint64_t)count << 56;

	for (; count >= sizeof(word); count -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sip_word(&s, word);
	}
	for (size_t i = 0; i < count; i++)
		last |= (uint64_t)(unsigned char)at[i] << 8 * i;
	sip_word(&s, last);
	s.v2 ^= 0xff;
	for (int i = 0; i < 3; i++)
		sip_round(&s);
	return s.v0 ^ s.v1 ^ s.v2 ^ s.v3;
}

/* Where getrandom() has nothing yet, or is forbidden, what the kernel gave the process when it was
 * started serves: through the hash, as it is the stack protector's secret, too. */
static void __attribute__((constructor)) key_make(void)
{
	const void *started = (const void *)getauxval(AT_RANDOM);

	if (getrandom(&key, sizeof(key), GRND_NONBLOCK) != sizeof(key)) {
		uint64_t *words = (uint64_t *)&key;

		if (started)
			memcpy(key.text, started, sizeof(key.text));
		for (uint64_t i = 0; i < sizeof(key) / sizeof(*words) - 2; i++)
			words[i] = hash_bytes(&i, sizeof(i));
		key.text[0] = hash_bytes("0", 1);
		key.text[1] = hash_bytes("1", 1);
	}
	for (int i = 0; i < HASH_WORDS; i++)
		key.odd[i] |= 1;
}
