#include "base/tables/hash.h"

#include <string.h>
#include <sys/auxv.h>
#include <sys/random.h>

#include "base/tables/siphash.h"

/* Written once, before main() and before there is any thread. */
static struct hash_secret key;
const struct hash_secret *const hash_secret = &key;

uint64_t hash_bytes(const void *bytes, size_t count)
{
	return siphash_with(key.text, bytes, count, (struct siphash_rounds){1, 3});
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
}
