/* base/keymap.h: gives every key a place in a table: 0, 1, 2, ... in the order in which keys
 * come. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/segments.h"
#include "base/slots.h"

/* Tables that need less leave the last ones zero. */
struct place_key {
	uint64_t a, b, c, d, e, f;
};

static inline uint32_t place_hash(const struct place_key *key)
{
	return hash_end(hash_secret->offset + hash_word(key->a, 0) + hash_word(key->b, 1) +
			hash_word(key->c, 2) + hash_word(key->d, 3) + hash_word(key->e, 4) +
			hash_word(key->f, 5));
}

struct places {
	struct place_key *keys; /* by place */
	struct slots slots;     /* not used for a few keys */
	uint32_t *direct;       /* by a, of keys that are small numbers: 1 + place, 0: none */
	uint32_t count;
	uint32_t keys_capacity;
	uint32_t direct_capacity;
};

#define PLACE_NONE UINT32_MAX

/* Numbers from here on are hashed: at most 1 MiB for those below. */
#define PLACES_DIRECT_MAX (1u << 18)

uint32_t places_find_hashed(const struct places *p, const struct place_key *key);
int places_add_hashed(struct places *p, const struct place_key *key, uint32_t *ret);
uint32_t places_find_large(const struct places *p, uint64_t a);
int places_add_new(struct places *p, uint64_t a, uint32_t *ret);

/* Keys in a only, as the numbers of threads and locks are. Inlined it is all of a look-up, and no
 * key is ever made of the number: written word by word and read back in larger pieces, that costs
 * more than the look-up. */
static inline uint32_t places_find_number(const struct places *p, uint64_t a)
{
	if (a < p->direct_capacity)
		return p->direct[a] - 1;
	return a < PLACES_DIRECT_MAX ? PLACE_NONE : places_find_large(p, a);
}

static inline int places_add_number(struct places *p, uint64_t a, uint32_t *ret)
{
	uint32_t place = places_find_number(p, a);

	if (place == PLACE_NONE)
		return places_add_new(p, a, ret);
	*ret = place;
	return 0;
}

/* PLACE_NONE: the key has no place. */
static inline uint32_t places_find(const struct places *p, struct place_key key)
{
	if (!(key.b | key.c | key.d | key.e | key.f))
		return places_find_number(p, key.a);
	return places_find_hashed(p, &key);
}

/* The key's place, a new one if need be (then it is the count of before). 0 or -ENOMEM. */
static inline int places_add(struct places *p, struct place_key key, uint32_t *ret)
{
	if (!(key.b | key.c | key.d | key.e | key.f))
		return places_add_number(p, key.a, ret);
	return places_add_hashed(p, &key, ret);
}

/* Forgets all keys; the memory stays. */
void places_clear(struct places *p);
void places_free(struct places *p);

/* As places_add, with the table that belongs to it: its row for a new key is zero. Pointers to rows
 * are void if the key is new, and stay good if there was a place for it. */
static inline int places_add_row(struct places *p, struct place_key key, void *rows,
				 uint32_t *capacity, size_t size, uint32_t *ret)
{
	uint32_t place = places_find(p, key);
	int err;

	if (place != PLACE_NONE) {
		*ret = place;
		return 0;
	}
	err = array_grow(rows, capacity, p->count, size);
	return err ? err : places_add(p, key, ret);
}

/* As places_add_row, with rows that never move. */
static inline int places_add_segment_row(struct places *p, struct place_key key,
					 struct segments *rows, size_t size, uint32_t *ret)
{
	uint32_t place = places_find(p, key);
	int err;

	if (place != PLACE_NONE) {
		*ret = place;
		return 0;
	}
	err = segments_reserve(rows, p->count, size);
	return err ? err : places_add(p, key, ret);
}
