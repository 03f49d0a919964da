/* Keyed hashes: of this process, and such that keys that were made to collide do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/tables/hash.h"
#include "log/format/event.h"
#include "log/read/names.h"
#include "tests/unit/alloc_fail.h" /* for the --wrap of the link */

#define COUNT 32768u

/* The most keys that share their lowest 16 bits. */
static unsigned top(uint64_t (*key)(uint64_t))
{
	unsigned *counts = calloc(65536, sizeof(*counts)), most = 0;

	for (uint64_t i = 0; i < COUNT; i++) {
		unsigned *c = &counts[hash_number(key(i)) & 65535];

		most = ++*c > most ? *c : most;
	}
	free(counts);
	return most;
}

static uint64_t in_order(uint64_t i)
{
	return i;
}

static uint64_t far_apart(uint64_t i)
{
	return i << 48;
}

static uint64_t pages(uint64_t i)
{
	return i << 12;
}

/* Multiples of the inverse of 2^64 divided by the golden ratio, by which numbers are often hashed:
 * all had the first slot. */
static uint64_t made_to_collide(uint64_t i)
{
	return (i + 1) * 0xf1de83e19937733dull;
}

static void numbers_are_spread(void **state)
{
	(void)state;
	assert_int_equal((uint64_t)(0x9e3779b97f4a7c15ull * 0xf1de83e19937733dull), 1);
	/* By chance 1 of 10^9 tables with 32768 keys in 65536 slots has 14 in one of them. */
	assert_in_range(top(in_order), 1, 16);
	assert_in_range(top(far_apart), 1, 16);
	assert_in_range(top(pages), 1, 16);
	assert_in_range(top(made_to_collide), 1, 16);
}

/* Words that differ in their upper bits only: sums of their products with anything are few. */
static void words_are_spread(void **state)
{
	unsigned *counts = calloc(65536, sizeof(*counts)), most = 0;

	(void)state;
	for (unsigned bits = 1; bits <= 4; bits++) {
		memset(counts, 0, 65536 * sizeof(*counts));
		most = 0;
		for (uint64_t i = 0; i < COUNT; i++) {
			uint64_t words[HASH_WORDS] = {0};
			unsigned *c;

			for (unsigned k = 0; k < HASH_WORDS; k++)
				words[k] = (i >> k * bits) << (64 - bits);
			words[HASH_WORDS - 1] = i >> (HASH_WORDS - 1) * bits << 48;
			c = &counts[hash_words(words, HASH_WORDS) & 65535];
			most = ++*c > most ? *c : most;
		}
		assert_in_range(most, 1, 16);
	}
	free(counts);
}

static void words_and_bytes(void **state)
{
	const uint64_t a[HASH_WORDS] = {1, 2, 3, 4, 5, 6}, b[HASH_WORDS] = {1, 2, 3, 4, 6, 5};

	(void)state;
	assert_true(hash_words(a, HASH_WORDS) == hash_words(a, HASH_WORDS));
	assert_true(hash_words(a, HASH_WORDS) != hash_words(b, HASH_WORDS));
	assert_true(hash_bytes("abcdefgh", 8) == hash_bytes("abcdefgh", 8));
	assert_true(hash_bytes("abcdefgh", 8) != hash_bytes("abcdefgh", 9));
	assert_true(hash_bytes("", 0) != hash_bytes("", 1));
	assert_true(hash_bytes("abcdefghi", 9) != hash_bytes("abcdefghj", 9));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_spread),
		cmocka_unit_test(words_are_spread),
		cmocka_unit_test(words_and_bytes),
	};

	(void)argc;
	(void)argv;
	return cmocka_run_group_tests_name("base_hash", tests, NULL, NULL);
}
