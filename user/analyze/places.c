#include "analyze/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_CAPACITY 16

/* Rounds as in splitmix64's finalizer: numbers that are handed out in order must not cluster. */
static uint64_t hash_of(const struct place_key *key)
{
	const uint64_t parts[] = {key->a, key->b, key->c, key->d, key->e};
	uint64_t x = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		x = (x ^ parts[i]) * 0xbf58476d1ce4e5b9ull;
		x ^= x >> 31;
	}
	return x;
}

static uint32_t *slot_of(const struct places *p, struct place_key key)
{
	uint32_t i = (uint32_t)hash_of(&key) & (p->slots_capacity - 1);

	while (p->slots[i] && memcmp(&p->keys[p->slots[i] - 1], &key, sizeof(key)))
		i = (i + 1) & (p->slots_capacity - 1);
	return &p->slots[i];
}

uint32_t places_find(const struct places *p, struct place_key key)
{
	uint32_t slot = p->slots_capacity ? *slot_of(p, key) : 0;

	return slot ? slot - 1 : PLACE_NONE;
}

static int slots_grow(struct places *p)
{
	uint32_t capacity = p->slots_capacity ? p->slots_capacity * 2 : FIRST_CAPACITY;
	uint32_t *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(p->slots);
	p->slots = slots;
	p->slots_capacity = capacity;
	for (uint32_t i = 0; i < p->count; i++)
		*slot_of(p, p->keys[i]) = i + 1;
	return 0;
}

int array_grow(void *array, uint32_t *capacity, uint32_t count, size_t size)
{
	uint32_t wanted = *capacity ? *capacity * 2 : FIRST_CAPACITY;
	char *first;

	if (count < *capacity)
		return 0;
	if (count >= UINT32_MAX / 4)
		return -ENOMEM;
	/* Copied, not cast: the caller's pointer is to some other type. */
	memcpy(&first, array, sizeof(first));
	first = realloc(first, wanted * size);
	if (!first)
		return -ENOMEM;
	memset(first + *capacity * size, 0, (wanted - *capacity) * size);
	memcpy(array, &first, sizeof(first));
	*capacity = wanted;
	return 0;
}

int places_add(struct places *p, struct place_key key, uint32_t *ret)
{
	uint32_t found = places_find(p, key);
	int err = 0;

	if (found != PLACE_NONE) {
		*ret = found;
		return 0;
	}
	if (p->count + 1 > p->slots_capacity / 4 * 3)
		err = slots_grow(p);
	if (!err)
		err = array_grow(&p->keys, &p->keys_capacity, p->count, sizeof(*p->keys));
	if (err)
		return err;
	p->keys[p->count] = key;
	*slot_of(p, key) = p->count + 1;
	*ret = p->count++;
	return 0;
}

int places_add_row(struct places *p, struct place_key key, void *rows, uint32_t *capacity,
		   size_t size, uint32_t *ret)
{
	int err = array_grow(rows, capacity, p->count, size);

	return err ? err : places_add(p, key, ret);
}

void places_free(struct places *p)
{
	free(p->keys);
	free(p->slots);
	*p = (struct places){0};
}
