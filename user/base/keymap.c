#include "base/keymap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Up to so many keys are compared one by one: that is faster than to hash, and many tables, as of
 * the holds while one thread is blocked, are that small and soon cleared. */
#define FEW 8

static bool keys_equal(const struct place_key *x, const struct place_key *y)
{
	return !((x->a ^ y->a) | (x->b ^ y->b) | (x->c ^ y->c) | (x->d ^ y->d) | (x->e ^ y->e) |
		 (x->f ^ y->f));
}

/* The key's slot, or the free one where it belongs. */
static struct slot *slot_of(const struct places *p, const struct place_key *key, uint32_t hash)
{
	struct slot *slot = slots_first(&p->slots, hash);

	while (slot->place && !keys_equal(&p->keys[slot->place - 1], key))
		slot = slots_next(&p->slots, slot);
	return slot;
}

static uint32_t few_find(const struct places *p, const struct place_key *key)
{
	for (uint32_t i = 0; i < p->count; i++) {
		if (keys_equal(&p->keys[i], key))
			return i;
	}
	return PLACE_NONE;
}

uint32_t places_find_hashed(const struct places *p, const struct place_key *key)
{
	return p->count > FEW ? slot_of(p, key, place_hash(key))->place - 1 : few_find(p, key);
}

/* There are no longer few keys. */
static void slots_fill(struct places *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		uint32_t hash = place_hash(&p->keys[i]);

		*slot_of(p, &p->keys[i], hash) = (struct slot){hash, i + 1};
	}
}

static bool is_direct(const struct place_key *key)
{
	return !(key->b | key->c | key->d | key->e | key->f) && key->a < PLACES_DIRECT_MAX;
}

/* Room for the key, if it is a small number. */
static int direct_grow(struct places *p, const struct place_key *key)
{
	if (!is_direct(key) || key->a < p->direct_capacity)
		return 0;
	return array_grow(&p->direct, &p->direct_capacity, (uint32_t)key->a, sizeof(*p->direct));
}

static int add(struct places *p, const struct place_key *key, uint32_t hash, uint32_t *ret)
{
	int err = p->count < FEW ? 0 : slots_reserve(&p->slots, p->count);

	if (!err)
		err = array_grow(&p->keys, &p->keys_capacity, p->count, sizeof(*p->keys));
	if (!err)
		err = direct_grow(p, key);
	if (err)
		return err;
	p->keys[p->count] = *key;
	if (is_direct(key))
		p->direct[key->a] = p->count + 1;
	*ret = p->count++;
	if (p->count == FEW + 1)
		slots_fill(p);
	else if (p->count > FEW)
		*slot_of(p, key, hash) = (struct slot){hash, p->count};
	return 0;
}

int places_add_hashed(struct places *p, const struct place_key *key, uint32_t *ret)
{
	uint32_t hash = p->count > FEW ? place_hash(key) : 0;
	uint32_t found = p->count > FEW ? slot_of(p, key, hash)->place - 1 : few_find(p, key);

	if (found == PLACE_NONE)
		return add(p, key, hash, ret);
	*ret = found;
	return 0;
}

uint32_t places_find_large(const struct places *p, uint64_t a)
{
	return places_find_hashed(p, &(struct place_key){.a = a});
}

int places_add_new(struct places *p, uint64_t a, uint32_t *ret)
{
	return places_add_hashed(p, &(struct place_key){.a = a}, ret);
}

void places_clear(struct places *p)
{
	bool hashed = p->count > FEW;

	while (p->count) {
		const struct place_key *key = &p->keys[p->count - 1];

		if (hashed)
			slots_remove(&p->slots, slot_of(p, key, place_hash(key)));
		if (is_direct(key))
			p->direct[key->a] = 0;
		p->count--;
	}
}

void places_free(struct places *p)
{
	free(p->keys);
	slots_free(&p->slots);
	free(p->direct);
	*p = (struct places){0};
}
