#include "base/tables/siphash.h"

uint64_t siphash(const uint8_t key[SIPHASH_KEY_BYTES], const void *bytes, size_t count)
{
	uint64_t words[2];

	memcpy(words, key, sizeof(words));
	words[0] = le64toh(words[0]);
	words[1] = le64toh(words[1]);
	return siphash_with(words, bytes, count, (struct siphash_rounds){2, 4});
}
