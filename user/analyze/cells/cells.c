#include "analyze/cells/cells.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_SLOTS 64

/* Threads have 32 bits: there is room for the flag. */
static uint64_t hash_of(const struct cell_key *key)
{
	const struct place_key place = {
		key->lock,         key->waiter ^ (uint64_t)key->after_wait << 32,
		key->holder,       key->waiter_stack,
		key->holder_stack, key->behind};

	return place_hash(&place);
}

static struct cell_key key_of(const struct cell *cell)
{
	return (struct cell_key){.lock = cell->lock,
				 .waiter = cell->waiter,
				 .holder = cell->holder,
				 .waiter_stack = cell->waiter_stack,
				 .holder_stack = cell->holder_stack,
				 .behind = cell->behind,
				 .after_wait = cell->after_wait};
}

static bool has_key(const struct cell *cell, const struct cell_key *key)
{
	return !((cell->lock ^ key->lock) | (cell->waiter ^ key->waiter) |
		 (cell->holder ^ key->holder) | (cell->waiter_stack ^ key->waiter_stack) |
		 (cell->holder_stack ^ key->holder_stack) | (cell->behind ^ key->behind)) &&
	       cell->after_wait == key->after_wait;
}

/* The cell's slot, or the free one where it belongs. */
static struct place_slot *slot_of(const struct cells *c, const struct cell_key *key, uint64_t hash)
{
	uint32_t mask = c->slots_capacity - 1, tag = (uint32_t)(hash >> 32);
	struct place_slot *slot = &c->slots[hash & mask];

	while (slot->place && (slot->tag != tag || !has_key(&c->rows[slot->place - 1], key)))
		slot = slot == &c->slots[mask] ? c->slots : slot + 1;
	return slot;
}

/* Half full at most. */
static int slots_grow(struct cells *c)
{
	uint32_t capacity = c->slots_capacity ? c->slots_capacity * 2 : FIRST_SLOTS;
	struct place_slot *slots = calloc(capacity, sizeof(*slots));

	if (!slots)
		return -ENOMEM;
	free(c->slots);
	c->slots = slots;
	c->slots_capacity = capacity;
	for (uint32_t i = 0; i < c->count; i++) {
		struct cell_key key = key_of(&c->rows[i]);
		uint64_t hash = hash_of(&key);

		*slot_of(c, &key, hash) = (struct place_slot){(uint32_t)(hash >> 32), i + 1};
	}
	return 0;
}

static int add(struct cells *c, const struct cell_key *key, uint64_t hash, uint32_t *ret)
{
	int err = c->count < c->slots_capacity / 2 ? 0 : slots_grow(c);

	if (!err)
		err = array_grow(&c->rows, &c->capacity, c->count, sizeof(*c->rows));
	if (err)
		return err;
	*ret = c->count++;
	c->rows[*ret] = (struct cell){.lock = key->lock,
				      .waiter = key->waiter,
				      .holder = key->holder,
				      .waiter_stack = key->waiter_stack,
				      .holder_stack = key->holder_stack,
				      .behind = key->behind,
				      .after_wait = key->after_wait};
	*slot_of(c, key, hash) = (struct place_slot){(uint32_t)(hash >> 32), c->count};
	return 0;
}

static uint32_t find(const struct cells *c, const struct cell_key *key, uint64_t hash)
{
	return c->slots_capacity ? slot_of(c, key, hash)->place - 1 : PLACE_NONE;
}

/* What would be one too many. */
static int add_others(struct cells *c, const struct cell_key *key, uint32_t max, uint32_t *ret)
{
	struct cell_key others = *key;
	uint64_t hash;

	others.waiter_stack = STACK_OTHERS;
	if (holder_is_thread(key->holder))
		others.holder_stack = STACK_OTHERS;
	hash = hash_of(&others);
	*ret = find(c, &others, hash);
	if (*ret != PLACE_NONE)
		return 0;
	if (c->count < max + max / 4)
		return add(c, &others, hash, ret);
	others.waiter = THREAD_OTHERS;
	if (holder_is_thread(key->holder))
		others.holder = THREAD_OTHERS;
	others.behind = 0;
	hash = hash_of(&others);
	*ret = find(c, &others, hash);
	return *ret == PLACE_NONE ? add(c, &others, hash, ret) : 0;
}

int cells_add(struct cells *c, const struct cell_key *key, uint32_t *ret)
{
	uint32_t max = c->max ? c->max : CELLS_MAX;
	uint64_t hash = hash_of(key);

	*ret = find(c, key, hash);
	if (*ret != PLACE_NONE)
		return 0;
	return c->count < max ? add(c, key, hash, ret) : add_others(c, key, max, ret);
}

void cells_free(struct cells *c)
{
	free(c->rows);
	free(c->slots);
	*c = (struct cells){0};
}
