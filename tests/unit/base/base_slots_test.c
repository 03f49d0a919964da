/* Slots against an array of keys that is searched from its begin. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/tables/slots.h"
#include "tests/unit/alloc_fail.h"

#define KEYS_MAX 4096

static uint64_t keys[KEYS_MAX];
static uint32_t hashes[KEYS_MAX];
static struct slots slots;
static uint32_t count;

static struct slot *slot_of(uint64_t key, uint32_t hash)
{
	struct slot *slot = slots_first(&slots, hash);

	while (slot->index && keys[slot->index - 1] != key) {
		assert_int_equal(slot->hash, hash);
		slot = slots_next(&slots, slot);
	}
	return slot;
}

static void add(uint64_t key, uint32_t hash)
{
	struct slot *slot;

	assert_int_equal(slots_reserve(&slots, count), 0);
	slot = slot_of(key, hash);
	assert_int_equal(slot->index, 0);
	keys[count] = key;
	hashes[count] = hash;
	*slot = (struct slot){hash, ++count};
}

static void check_all(void)
{
	assert_true(count <= slots.capacity / 2);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(slot_of(keys[i], hashes[i])->index, i + 1);
}

static void free_all(void)
{
	slots_free(&slots);
	slots_free(&slots);
	assert_null(slots.all);
	assert_int_equal(slots.capacity, 0);
	count = 0;
}

static uint32_t mix(uint32_t n)
{
	n = (n ^ n >> 16) * 0x7feb352du;
	return n ^ n >> 15;
}

static void spread(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < KEYS_MAX; n++) {
		add(n, mix(n));
		if (n % 97 == 0)
			check_all();
	}
	check_all();
	assert_int_equal(slot_of(KEYS_MAX, mix(KEYS_MAX))->index, 0);
	free_all();
}

/* All keys have one of a few hashes, some of which lie at the end: the search goes on at the begin.
 */
static void hashes_collide(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 300; n++) {
		add(n, UINT32_MAX - n % 3);
		check_all();
	}
	assert_int_equal(slot_of(300, UINT32_MAX)->index, 0);
	assert_int_equal(slot_of(300, 0)->index, 0);
	free_all();
}

/* Hashes of which only the upper bits differ: all begin at one slot, and none is taken for another.
 */
static void upper_bits(void **state)
{
	(void)state;
	for (uint32_t n = 0; n < 256; n++)
		add(n, n << 24);
	check_all();
	free_all();
}

/* Removed in any order, of clusters that lie over the end, too; those that are left are found. */
static void removed(void **state)
{
	(void)state;
	for (uint32_t round = 0; round < 200; round++) {
		for (uint32_t n = 0; n < 100; n++)
			add(n, mix(n * 211 + round) | (round % 2 ? 0 : 0xc0));
		while (count) {
			uint32_t gone = mix(count + round) % count;

			slots_remove(&slots, slot_of(keys[gone], hashes[gone]));
			assert_int_equal(slot_of(keys[gone], hashes[gone])->index, 0);
			count--;
			if (gone < count) { /* the last one takes its place */
				slot_of(keys[count], hashes[count])->index = gone + 1;
				keys[gone] = keys[count];
				hashes[gone] = hashes[count];
			}
			check_all();
		}
		for (uint32_t i = 0; i < slots.capacity; i++)
			assert_int_equal(slots.all[i].index, 0);
	}
	free_all();
}

/* What cannot grow is as it was. */
static void no_memory(void **state)
{
	unsigned failed = 0;

	(void)state;
	for (uint32_t n = 0; n < 300; n++) {
		struct slots before = slots;

		alloc_fail_at(0);
		if (slots_reserve(&slots, count)) {
			failed++;
			assert_true(alloc_fail_off());
			assert_ptr_equal(slots.all, before.all);
			assert_int_equal(slots.capacity, before.capacity);
			if (count)
				check_all();
		}
		alloc_fail_off();
		add(n, mix(n));
	}
	check_all();
	assert_int_equal(failed, 6); /* 32, 64, ... 1024 */
	free_all();
}

/* They are not allocated: the bound comes before. */
static void too_many(void **state)
{
	struct slots full = {.all = NULL, .capacity = 1u << 30};

	(void)state;
	assert_int_equal(slots_reserve(&full, 1u << 29), -ENOMEM);
	assert_int_equal(full.capacity, 1u << 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(spread),     cmocka_unit_test(hashes_collide),
		cmocka_unit_test(upper_bits), cmocka_unit_test(no_memory),
		cmocka_unit_test(too_many),   cmocka_unit_test(removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
