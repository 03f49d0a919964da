/* base/tables/keymap.h: gives every key an index in a table: 0, 1, 2, ... in the order in which
 * keys come. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/tables/array.h"
#include "base/tables/hash.h"
#include "base/tables/segments.h"
#include "base/tables/slots.h"

/* Tables that need less leave the last ones zero. */
struct keymap_key {
	uint64_t a, b, c, d, e, f;
};

static inline uint32_t keymap_hash(const struct keymap_key *key)
{
	return hash_end(hash_secret->offset + hash_word(key->a, 0) + hash_word(key->b, 1) +
			hash_word(key->c, 2) + hash_word(key->d, 3) + hash_word(key->e, 4) +
			hash_word(key->f, 5));
}

struct keymap {
	struct keymap_key *keys; /* by index */
	struct slots slots;      /* not used for a few keys */
	uint32_t *direct;        /* by a, of keys that are small numbers: 1 + index, 0: none */
	uint32_t count;
	uint32_t keys_capacity;
	uint32_t direct_capacity;
};

#define INDEX_NONE UINT32_MAX

/* Keys in a alone are found by direct[a] as long as they are dense: below so many times the count
 * of keys, or so few. A table that has few keys, whatever they are, is cheap to make. */
#define KEYMAP_DENSE 4
#define KEYMAP_DIRECT_MIN 256

uint32_t keymap_find_hashed(const struct keymap *p, const struct keymap_key *key);
int keymap_add_hashed(struct keymap *p, const struct keymap_key *key, uint32_t *ret);
uint32_t keymap_find_large(const struct keymap *p, uint64_t a);
int keymap_add_new(struct keymap *p, uint64_t a, uint32_t *ret);

/* Keys in a only, as the numbers of threads and locks are. Inlined it is all of a look-up, and no
 * key is ever made of the number: written word by word and read back in larger pieces, that costs
 * more than the look-up. */
static inline uint32_t keymap_find_number(const struct keymap *p, uint64_t a)
{
	return a < p->direct_capacity ? p->direct[a] - 1 : keymap_find_large(p, a);
}

static inline int keymap_add_number(struct keymap *p, uint64_t a, uint32_t *ret)
{
	uint32_t index = keymap_find_number(p, a);

	if (index == INDEX_NONE)
		return keymap_add_new(p, a, ret);
	*ret = index;
	return 0;
}

/* INDEX_NONE: the key has no index. */
static inline uint32_t keymap_find(const struct keymap *p, struct keymap_key key)
{
	if (!(key.b | key.c | key.d | key.e | key.f))
		return keymap_find_number(p, key.a);
	return keymap_find_hashed(p, &key);
}

/* The key's index, a new one if need be (then it is the count of before). 0 or -ENOMEM. */
static inline int keymap_add(struct keymap *p, struct keymap_key key, uint32_t *ret)
{
	if (!(key.b | key.c | key.d | key.e | key.f))
		return keymap_add_number(p, key.a, ret);
	return keymap_add_hashed(p, &key, ret);
}

/* Forgets all keys; the memory stays. */
void keymap_clear(struct keymap *p);
void keymap_free(struct keymap *p);

/* As keymap_add, with the table that belongs to it: its row for a new key is zero. Pointers to rows
 * are void if the key is new, and stay good if there was an index for it. */
static inline int keymap_add_row(struct keymap *p, struct keymap_key key, void *rows,
				 uint32_t *capacity, size_t size, uint32_t *ret)
{
	uint32_t index = keymap_find(p, key);
	int err;

	if (index != INDEX_NONE) {
		*ret = index;
		return 0;
	}
	err = array_grow(rows, capacity, p->count, size);
	return err ? err : keymap_add(p, key, ret);
}

/* As keymap_add_row, with rows that never move. */
static inline int keymap_add_segment_row(struct keymap *p, struct keymap_key key,
					 struct segments *rows, size_t size, uint32_t *ret)
{
	uint32_t index = keymap_find(p, key);
	int err;

	if (index != INDEX_NONE) {
		*ret = index;
		return 0;
	}
	err = segments_reserve(rows, p->count, size);
	return err ? err : keymap_add(p, key, ret);
}
