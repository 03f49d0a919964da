/* base/tables/store.h: against a plain array, within its budget, and with the nth allocation failing. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/tables/store.h"
#include "tests/unit/alloc_fail.h"

struct row {
	uint64_t key;
	uint64_t value;
};

static uint64_t seed;

static uint64_t pick(uint64_t below)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (seed >> 33) % below;
}

static struct store *open_store(struct budget *budget, bool (*forget)(void *, void *), void *ctx)
{
	struct store *s;

	assert_int_equal(store_new(&(struct store_options){.key_bytes = sizeof(uint64_t),
							   .entry_bytes = sizeof(struct row),
							   .budget = budget,
							   .forget = forget,
							   .ctx = ctx},
				   &s),
			 0);
	return s;
}

static struct row *add(struct store *s, uint64_t key)
{
	void *entry = NULL;

	assert_int_equal(store_add(s, &key, &entry), 0);
	return entry;
}

enum { KEYS = 5000 };

/* Adding, removing and finding in any order, over many splits; entries do not move. */
static void it_does_what_an_array_does(void **state)
{
	static struct row *rows[KEYS];
	struct store *s = open_store(NULL, NULL, NULL);
	unsigned count = 0, seen = 0;
	struct row *r = NULL;

	(void)state;
	seed = 3;
	for (unsigned i = 0; i < 100000; i++) {
		uint64_t key = pick(KEYS);

		assert_ptr_equal(store_find(s, &key), rows[key]);
		if (rows[key] && pick(3)) {
			store_remove(s, rows[key]);
			rows[key] = NULL;
			count--;
		} else if (!rows[key]) {
			rows[key] = add(s, key);
			assert_int_equal(rows[key]->value, 0);
			rows[key]->value = key + 1;
			count++;
		}
		assert_int_equal(store_count(s), count);
	}
	while ((r = store_next(s, r))) {
		assert_ptr_equal(r, rows[r->key]);
		assert_int_equal(r->value, r->key + 1);
		seen++;
		store_remove(s, r);
	}
	assert_int_equal(seen, count);
	assert_int_equal(store_count(s), 0);
	store_free(s);
	memset(rows, 0, sizeof(rows));
}

static bool any_goes(void *ctx, void *entry)
{
	(void)entry;
	++*(uint64_t *)ctx;
	return true;
}

/* Without end: what is used stays, what is not goes, and the budget holds. */
static void what_is_used_stays(void **state)
{
	struct budget budget = {.max = 100 * 1024};
	uint64_t gone = 0, hot = 1u << 20;
	struct store *s = open_store(&budget, any_goes, &gone);

	(void)state;
	add(s, hot)->value = 77;
	for (uint64_t key = 1; key <= 200000; key++) {
		add(s, key);
		if (key % 100 == 0)
			assert_int_equal(((struct row *)store_find(s, &hot))->value, 77);
		assert_true(budget.used <= budget.max);
	}
	assert_int_equal(store_count(s) + gone, 200001);
	assert_true(store_count(s) > 2000);
	store_free(s);
	assert_int_equal(budget.used, 0);
}

struct keeper {
	uint64_t below, gone;
};

static bool keep_small(void *ctx, void *entry)
{
	struct keeper *k = ctx;

	if (((struct row *)entry)->key < k->below)
		return false;
	k->gone++;
	return true;
}

static void what_is_needed_stays_and_others_are_refused(void **state)
{
	struct budget budget = {.max = 20 * 1024};
	struct keeper k = {.below = UINT64_MAX};
	struct store *s = open_store(&budget, keep_small, &k);
	uint64_t key = 0, full;
	void *entry;

	(void)state;
	while (!store_add(s, &key, &entry))
		key++;
	full = key;
	assert_true(full > 300);
	for (unsigned i = 0; i < 1000; i++) /* it asks again, and stays as it is */
		assert_int_equal(store_add(s, &key, &entry), -ENOSPC);
	assert_int_equal(store_squeeze(s), -ENOSPC);
	for (key = 0; key < full; key++)
		assert_non_null(store_find(s, &key));
	k.below = full / 2;
	for (unsigned i = 0; i < 100; i++) { /* the hand gets there in the end */
		key = full + i;
		while (store_add(s, &key, &entry))
			;
	}
	assert_int_equal(k.gone, 100);
	for (key = 0; key < k.below; key++)
		assert_non_null(store_find(s, &key));
	store_free(s);
}

/* No more of the hand's steps than a few for each entry that comes, whatever there is. */
static void the_work_is_bounded(void **state)
{
	struct budget budget = {.max = 4 << 20};
	struct keeper k = {.below = UINT64_MAX};
	struct store *s = open_store(&budget, keep_small, &k);
	uint64_t key = 0;
	void *entry;

	(void)state;
	while (!store_add(s, &key, &entry))
		key++;
	k.below = 0;
	for (unsigned i = 0; i < 100000; i++, key++)
		assert_int_equal(store_add(s, &key, &entry), 0);
	assert_int_equal(k.gone, 100000);
	store_free(s);
}

static void digests_differ(void **state)
{
	struct store *s = open_store(NULL, NULL, NULL), *t = open_store(NULL, NULL, NULL);
	uint64_t a[2], b[2];

	(void)state;
	store_digest(s, "abcdefgh", 8, a);
	store_digest(s, "abcdefgh", 8, b);
	assert_memory_equal(a, b, sizeof(a));
	store_digest(s, "abcdefgh\0\0", 10, b);
	assert_int_not_equal(a[0], b[0]);
	assert_int_not_equal(a[1], b[1]);
	assert_int_not_equal(a[0], a[1]);
	store_digest(t, "abcdefgh", 8, b); /* another process could not tell */
	assert_int_not_equal(a[0], b[0]);
	store_free(s);
	store_free(t);
}

static void memory_may_run_out(void **state)
{
	unsigned long n = 0;
	bool failed;

	(void)state;
	do {
		struct budget budget = {.max = 1 << 20};
		struct store *s = NULL;
		uint64_t key, added = 0;
		void *entry;
		int err;

		alloc_fail_at(n++);
		err = store_new(&(struct store_options){.key_bytes = sizeof(uint64_t),
							.entry_bytes = sizeof(struct row),
							.budget = &budget},
				&s);
		for (key = 0; !err && key < 2000; key++) {
			err = store_add(s, &key, &entry);
			added += !err;
		}
		failed = alloc_fail_off();
		assert_true(!err || (failed && err == -ENOMEM));
		for (key = 0; key < added; key++)
			assert_non_null(store_find(s, &key));
		store_free(s);
		assert_int_equal(budget.used, 0);
	} while (failed);
	assert_true(n > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_does_what_an_array_does),
		cmocka_unit_test(what_is_used_stays),
		cmocka_unit_test(what_is_needed_stays_and_others_are_refused),
		cmocka_unit_test(the_work_is_bounded),
		cmocka_unit_test(digests_differ),
		cmocka_unit_test(memory_may_run_out),
	};

	return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}
