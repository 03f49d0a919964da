/* Places of keys against an array that is searched from its begin. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tables/keymap.h"
#include "tests/unit/alloc_fail.h"

#define KEYS_MAX 4096

struct model {
	struct keymap p;
	struct keymap_key keys[KEYS_MAX];
	uint32_t count;
};

static uint64_t mix(uint64_t n)
{
	n = (n ^ n >> 30) * 0xbf58476d1ce4e5b9ull;
	n = (n ^ n >> 27) * 0x94d049bb133111ebull;
	return n ^ n >> 31;
}

static bool is_number(const struct keymap_key *key)
{
	return !(key->b | key->c | key->d | key->e | key->f);
}

static uint32_t model_find(const struct model *m, const struct keymap_key *key)
{
	for (uint32_t i = 0; i < m->count; i++)
		if (!memcmp(&m->keys[i], key, sizeof(*key)))
			return i;
	return INDEX_NONE;
}

static void check_find(const struct model *m, const struct keymap_key *key)
{
	uint32_t want = model_find(m, key);

	assert_int_equal(keymap_find(&m->p, *key), want);
	if (is_number(key))
		assert_int_equal(keymap_find_number(&m->p, key->a), want);
}

static void model_add(struct model *m, const struct keymap_key *key, bool as_number)
{
	uint32_t want = model_find(m, key), index = 4711;
	int err;

	check_find(m, key);
	if (want == INDEX_NONE) {
		assert_true(m->count < KEYS_MAX);
		want = m->count;
		m->keys[m->count++] = *key;
	}
	err = as_number && is_number(key) ? keymap_add_number(&m->p, key->a, &index)
					  : keymap_add(&m->p, *key, &index);
	assert_int_equal(err, 0);
	assert_int_equal(index, want);
	assert_int_equal(m->p.count, m->count);
	check_find(m, key);
}

static void model_check(const struct model *m)
{
	for (uint32_t i = 0; i < m->count; i++) {
		assert_int_equal(keymap_find(&m->p, m->keys[i]), i);
		assert_memory_equal(&m->p.keys[i], &m->keys[i], sizeof(*m->keys));
	}
}

static void model_clear(struct model *m)
{
	uint32_t count = m->count;

	keymap_clear(&m->p);
	assert_int_equal(m->p.count, 0);
	m->count = 0;
	for (uint32_t i = 0; i < count; i++)
		check_find(m, &m->keys[i]);
}

static void test_few(void **state)
{
	static struct model m;
	struct keymap_key zero = {0};

	(void)state;
	m = (struct model){0};
	check_find(&m, &zero);
	check_find(&m, &(struct keymap_key){.f = 1});
	model_clear(&m);
	model_add(&m, &zero, false);
	model_add(&m, &zero, true);
	model_add(&m, &(struct keymap_key){.f = UINT64_MAX}, false);
	model_add(&m, &(struct keymap_key){.a = UINT64_MAX}, true);
	model_check(&m);
	model_clear(&m);
	keymap_free(&m.p);
	keymap_free(&m.p);
}

/* Keys that differ in one word only, in each of them; and those that share a sum of words. */
static void test_words(void **state)
{
	static struct model m;

	(void)state;
	m = (struct model){0};
	for (unsigned word = 0; word < 6; word++)
		for (unsigned bit = 0; bit < 64; bit += 7) {
			struct keymap_key key = {0};

			((uint64_t *)&key)[word] = 1ull << bit;
			model_add(&m, &key, false);
		}
	for (uint64_t n = 0; n < 200; n++)
		model_add(&m, &(struct keymap_key){.a = n, .b = 200 - n}, false);
	model_check(&m);
	keymap_free(&m.p);
}

/* Numbers that are found directly, and those next to them that are not. */
static void test_numbers(void **state)
{
	static const uint64_t numbers[] = {KEYMAP_DIRECT_MIN - 1,
					   KEYMAP_DIRECT_MIN,
					   KEYMAP_DIRECT_MIN + 1,
					   0,
					   1,
					   15,
					   16,
					   17,
					   KEYMAP_DIRECT_MIN / 2,
					   UINT32_MAX,
					   (uint64_t)UINT32_MAX + 1,
					   INT64_MAX,
					   UINT64_MAX - 1,
					   UINT64_MAX};
	const unsigned count = sizeof(numbers) / sizeof(*numbers);
	static struct model m;

	(void)state;
	for (unsigned begin = 0; begin < count; begin++) {
		m = (struct model){0};
		for (unsigned i = 0; i < count; i++)
			check_find(&m, &(struct keymap_key){.a = numbers[i]});
		for (unsigned i = 0; i < count; i++) {
			model_add(&m, &(struct keymap_key){.a = numbers[(begin + i) % count]},
				  i % 2);
			for (unsigned k = 0; k < count; k++)
				check_find(&m, &(struct keymap_key){.a = numbers[k]});
		}
		model_check(&m);
		model_clear(&m);
		model_add(&m, &(struct keymap_key){.a = numbers[begin]}, true);
		keymap_free(&m.p);
	}
}

/* Of any kind, so few that they are compared one by one up to thousands; cleared and used again. */
static void test_many(void **state)
{
	static const unsigned sizes[] = {1, 7, 8, 9, 10, 11, 12, 13, 24, 25, 100, 1000};
	static struct model m;
	uint64_t seed = 1;

	(void)state;
	m = (struct model){0};
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes) * 3; i++) {
		unsigned size = sizes[i * 5 % (sizeof(sizes) / sizeof(*sizes))];

		while (m.count < size) {
			uint64_t r = mix(seed++);
			struct keymap_key key = {.a = r >> 8 & 1023};

			if (r % 4 == 0)
				key = (struct keymap_key){.a = mix(r) % 64, .c = r >> 40 & 31};
			else if (r % 4 == 1)
				key.a = mix(r) >> (r >> 8 & 63);
			model_add(&m, &key, r & 16);
		}
		model_check(&m);
		if (i % 3 != 2)
			model_clear(&m);
	}
	keymap_free(&m.p);
}

/* Memory for small numbers is bounded, whatever numbers there are. */
static void test_bounds(void **state)
{
	struct keymap p = {0};
	uint32_t index;

	(void)state;
	for (unsigned n = 0; n < 64; n++)
		assert_int_equal(keymap_add_number(&p, 1ull << n, &index), 0);
	assert_int_equal(p.count, 64);
	assert_true(p.direct_capacity <= 2 * (KEYMAP_DIRECT_MIN + 64 * KEYMAP_DENSE));
	assert_true(p.keys_capacity <= 128 && p.slots.capacity <= 256);
	keymap_free(&p);
}

static void test_rows(void **state)
{
	struct keymap p = {0};
	uint32_t capacity = 0, index;
	uint64_t *rows = NULL;

	(void)state;
	for (uint64_t n = 0; n < 300; n++) {
		struct keymap_key key = {.a = n % 150, .b = 3};

		assert_int_equal(keymap_add_row(&p, key, &rows, &capacity, sizeof(*rows), &index),
				 0);
		assert_int_equal(index, n % 150);
		assert_int_equal(rows[index], n < 150 ? 0 : index + 1);
		rows[index] = index + 1;
	}
	assert_true(capacity >= 150);
	free(rows);
	keymap_free(&p);
}

/* A key for which there is no memory is not there; all others still are. */
static void test_nth_allocation_fails(void **state)
{
	static struct model m;
	unsigned long fails = 0;

	(void)state;
	for (unsigned which = 0; which < 4; which++) {
		m = (struct model){0};
		for (uint64_t n = 0; n < 300; n++) {
			struct keymap_key key = {.a = n % 3 ? n : n * 37, .b = n % 4 == 1};
			uint32_t index = 4711;
			int err;

			alloc_fail_at(which);
			err = keymap_add(&m.p, key, &index);
			if (alloc_fail_off()) {
				fails++;
				assert_int_equal(err, -ENOMEM);
				assert_int_equal(index, 4711);
				check_find(&m, &key);
				model_check(&m);
				model_add(&m, &key, false);
				continue;
			}
			assert_int_equal(err, 0);
			assert_int_equal(index, m.count);
			m.keys[m.count++] = key;
		}
		model_check(&m);
		keymap_free(&m.p);
	}
	assert_true(fails > 12); /* tables double */
}

/* Whatever order the keys' slots have got by growing, none of them outlives the keys. */
static void test_cleared(void **state)
{
	(void)state;
	for (uint64_t round = 0; round < 2000; round++) {
		struct keymap p = {0};
		uint32_t index;

		for (unsigned again = 0; again < 3; again++) {
			for (uint32_t n = 0; n < 40; n++) {
				struct keymap_key key = {.a = mix(round * 120 + again * 40 + n),
							 .b = 1};

				assert_int_equal(keymap_add(&p, key, &index), 0);
				assert_int_equal(index, n);
			}
			keymap_clear(&p);
			for (uint32_t i = 0; i < p.slots.capacity; i++)
				assert_int_equal(p.slots.all[i].index, 0);
		}
		keymap_free(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few),     cmocka_unit_test(test_words),
		cmocka_unit_test(test_numbers), cmocka_unit_test(test_many),
		cmocka_unit_test(test_bounds),  cmocka_unit_test(test_rows),
		cmocka_unit_test(test_cleared), cmocka_unit_test(test_nth_allocation_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
