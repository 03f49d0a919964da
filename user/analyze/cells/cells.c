#include "analyze/cells/cells.h"

#include <errno.h>
#include <stdlib.h>

/* Threads have 32 bits: there is room for the flag, and for the facets, which differ in 31 bits. */
static uint32_t hash_of(const struct cell_key *key)
{
	const struct keymap_key index = {
		key->lock,
		key->waiter ^ (uint64_t)key->after_wait << 32 ^ (uint64_t)key->facets << 33,
		key->holder,
		key->waiter_stack,
		key->holder_stack,
		key->blocked_on};

	return keymap_hash(&index);
}

static bool has_key(const struct cell *cell, const struct cell_key *key)
{
	return !((cell->lock ^ key->lock) | (cell->waiter ^ key->waiter) |
		 (cell->holder ^ key->holder) | (cell->waiter_stack ^ key->waiter_stack) |
		 (cell->holder_stack ^ key->holder_stack) | (cell->blocked_on ^ key->blocked_on) |
		 (cell->facets ^ key->facets)) &&
	       cell->after_wait == key->after_wait;
}

/* The cell's slot, or the free one where it belongs. */
static struct slot *slot_of(const struct cells *c, const struct cell_key *key, uint32_t hash)
{
	struct slot *slot = slots_first(&c->slots, hash);

	while (slot->index && !has_key(&c->rows[slot->index - 1], key))
		slot = slots_next(&c->slots, slot);
	return slot;
}

static int add(struct cells *c, const struct cell_key *key, uint32_t hash, uint32_t *ret)
{
	int err = slots_reserve(&c->slots, c->count);

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
				      .blocked_on = key->blocked_on,
				      .after_wait = key->after_wait,
				      .facets = key->facets,
				      .number = c->count};
	*slot_of(c, key, hash) = (struct slot){hash, c->count};
	return 0;
}

static uint32_t find(const struct cells *c, const struct cell_key *key, uint32_t hash)
{
	return c->count ? slot_of(c, key, hash)->index - 1 : INDEX_NONE;
}

struct cell_key cell_key_of(const struct cell *cell)
{
	return (struct cell_key){.lock = cell->lock,
				 .waiter = cell->waiter,
				 .holder = cell->holder,
				 .waiter_stack = cell->waiter_stack,
				 .holder_stack = cell->holder_stack,
				 .blocked_on = cell->blocked_on,
				 .after_wait = cell->after_wait,
				 .facets = cell->facets};
}

/* What would be one too many. */
static int add_others(struct cells *c, const struct cell_key *key, uint32_t max, uint32_t *ret)
{
	struct cell_key others = *key;
	uint32_t hash;

	others.waiter_stack = STACK_OTHERS;
	if (holder_is_thread(key->holder))
		others.holder_stack = STACK_OTHERS;
	hash = hash_of(&others);
	*ret = find(c, &others, hash);
	if (*ret != INDEX_NONE)
		return 0;
	if (c->count < max + max / 4)
		return add(c, &others, hash, ret);
	others.waiter = THREAD_OTHERS;
	if (holder_is_thread(key->holder))
		others.holder = THREAD_OTHERS;
	others.blocked_on = 0;
	hash = hash_of(&others);
	*ret = find(c, &others, hash);
	return *ret == INDEX_NONE ? add(c, &others, hash, ret) : 0;
}

int cells_add(struct cells *c, const struct cell_key *key, uint32_t *ret)
{
	uint32_t max = c->max ? c->max : CELLS_MAX;
	uint32_t hash = hash_of(key);

	*ret = find(c, key, hash);
	if (*ret != INDEX_NONE)
		return 0;
	return c->count < max ? add(c, key, hash, ret) : add_others(c, key, max, ret);
}

int cells_count(struct cells *c, uint32_t index, uint64_t whole_ns)
{
	struct cell *cell = &c->rows[index];

	cell->count++;
	if (whole_ns > cell->max_ns)
		cell->max_ns = whole_ns;
	return lengths_add(&c->lengths, cell->number, whole_ns);
}

static uint64_t greater(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void cell_sum(struct cell *cell, const struct cell *more)
{
	cell->count += more->count;
	cell->blocked_ns += more->blocked_ns;
	cell->max_ns = greater(cell->max_ns, more->max_ns);
	cell->max_held_ns = greater(cell->max_held_ns, more->max_held_ns);
	cell->max_part_ns = greater(cell->max_part_ns, more->max_part_ns);
	cell->first_reader_ns += more->first_reader_ns;
	split_add(&cell->split, &more->split);
	for (int i = 0; i < HOLDER_STACK_FROM_COUNT; i++)
		cell->stack_from_ns[i] += more->stack_from_ns[i];
	cell->monitor |= more->monitor;
	cell->numbered |= more->numbered;
}

int cells_merge(struct cells *to, const struct cells *from, uint32_t (*change)(uint32_t facets))
{
	uint32_t *numbers = malloc((from->count + 1ul) * sizeof(*numbers)), index;
	int err = numbers ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < from->count && !err; i++) {
		struct cell_key key = cell_key_of(&from->rows[i]);

		key.facets = change ? change(key.facets) : key.facets;
		err = cells_add(to, &key, &index);
		if (err)
			break;
		cell_sum(&to->rows[index], &from->rows[i]);
		numbers[from->rows[i].number] = to->rows[index].number;
	}
	if (!err)
		err = lengths_merge(&to->lengths, &from->lengths, numbers, from->count + 1);
	free(numbers);
	return err;
}

void cells_free(struct cells *c)
{
	lengths_free(&c->lengths);
	free(c->rows);
	slots_free(&c->slots);
	*c = (struct cells){0};
}
