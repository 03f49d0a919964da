#include "base/tables/keymap.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* Up to so many keys are compared one by one: that is faster than to hash, and many tables, as of
 * the holds while one thread is blocked, are that small and soon cleared. */
#define FEW 8

static bool keys_equal(const struct keymap_key *x, const struct keymap_key *y)
{
	return !((x->a ^ y->a) | (x->b ^ y->b) | (x->c ^ y->c) | (x->d ^ y->d) | (x->e ^ y->e) |
		 (x->f ^ y->f));
}

/* The key's slot, or the free one where it belongs. */
static struct slot *slot_of(const struct keymap *p, const struct keymap_key *key, uint32_t hash)
{
	struct slot *slot = slots_first(&p->slots, hash);

	while (slot->index && !keys_equal(&p->keys[slot->index - 1], key))
		slot = slots_next(&p->slots, slot);
	return slot;
}

static uint32_t few_find(const struct keymap *p, const struct keymap_key *key)
{
	for (uint32_t i = 0; i < p->count; i++) {
		if (keys_equal(&p->keys[i], key))
			return i;
	}
	return INDEX_NONE;
}

uint32_t keymap_find_hashed(const struct keymap *p, const struct keymap_key *key)
{
	return p->count > FEW ? slot_of(p, key, keymap_hash(key))->index - 1 : few_find(p, key);
}

/* There are no longer few keys. */
static void slots_fill(struct keymap *p)
{
	for (uint32_t i = 0; i < p->count; i++) {
		uint32_t hash = keymap_hash(&p->keys[i]);

		*slot_of(p, &p->keys[i], hash) = (struct slot){hash, i + 1};
	}
}

static bool is_direct(const struct keymap *p, const struct keymap_key *key)
{
	return !(key->b | key->c | key->d | key->e | key->f) && key->a < p->direct_capacity;
}

/* Room for the key, if it is a number that the table is dense enough for; then for all such. */
static int direct_grow(struct keymap *p, const struct keymap_key *key)
{
	uint32_t before = p->direct_capacity;
	int err;

	if (key->b | key->c | key->d | key->e | key->f || key->a < before ||
	    key->a >= KEYMAP_DIRECT_MIN + (uint64_t)p->count * KEYMAP_DENSE)
		return 0;
	err = array_grow(&p->direct, &p->direct_capacity, (uint32_t)key->a, sizeof(*p->direct));
	for (uint32_t i = 0; !err && i < p->count; i++)
		if (is_direct(p, &p->keys[i]) && p->keys[i].a >= before)
			p->direct[p->keys[i].a] = i + 1;
	return err;
}

static int add(struct keymap *p, const struct keymap_key *key, uint32_t hash, uint32_t *ret)
{
	int err = p->count < FEW ? 0 : slots_reserve(&p->slots, p->count);

	if (!err)
		err = array_grow(&p->keys, &p->keys_capacity, p->count, sizeof(*p->keys));
	if (!err)
		err = direct_grow(p, key);
	if (err)
		return err;
	p->keys[p->count] = *key;
	if (is_direct(p, key))
		p->direct[key->a] = p->count + 1;
	*ret = p->count++;
	if (p->count == FEW + 1)
		slots_fill(p);
	else if (p->count > FEW)
		*slot_of(p, key, hash) = (struct slot){hash, p->count};
	return 0;
}

int keymap_add_hashed(struct keymap *p, const struct keymap_key *key, uint32_t *ret)
{
	uint32_t hash = p->count > FEW ? keymap_hash(key) : 0;
	uint32_t found = p->count > FEW ? slot_of(p, key, hash)->index - 1 : few_find(p, key);

	if (found == INDEX_NONE)
		return add(p, key, hash, ret);
	*ret = found;
	return 0;
}

uint32_t keymap_find_large(const struct keymap *p, uint64_t a)
{
	return keymap_find_hashed(p, &(struct keymap_key){.a = a});
}

int keymap_add_new(struct keymap *p, uint64_t a, uint32_t *ret)
{
	return keymap_add_hashed(p, &(struct keymap_key){.a = a}, ret);
}

void keymap_clear(struct keymap *p)
{
	bool hashed = p->count > FEW;

	while (p->count) {
		const struct keymap_key *key = &p->keys[p->count - 1];

		if (hashed)
			slots_remove(&p->slots, slot_of(p, key, keymap_hash(key)));
		if (is_direct(p, key))
			p->direct[key->a] = 0;
		p->count--;
	}
}

void keymap_free(struct keymap *p)
{
	free(p->keys);
	slots_free(&p->slots);
	free(p->direct);
	*p = (struct keymap){0};
}
