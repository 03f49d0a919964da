/* base/tables/slots.h: the slots of a hash table with open addressing: from a key's hash to its
 * index in an array of the caller's. */
#pragma once

#include <stdint.h>

/*
 * The lower bits of a hash say where the search for it begins, so slots grow without a look at the
 * keys. As a slot has the whole hash, a search seldom looks at any key but the one that it is for.
 */
struct slot {
	uint32_t hash;  /* keyed: see base/tables/hash.h */
	uint32_t index; /* 1 + index in the array, 0: free */
};

/* All zero at the start. Half full at most: a search ends at the first slot or the next. */
struct slots {
	struct slot *all;
	uint32_t capacity; /* 0 or a power of two */
};

static inline struct slot *slots_from(const struct slots *s, struct slot *slot, uint32_t hash)
{
	while (slot->index && slot->hash != hash)
		slot = slot == &s->all[s->capacity - 1] ? s->all : slot + 1;
	return slot;
}

/*
 * The first slot that has the hash, or the free one where it belongs; there must have been a
 * slots_reserve. The caller compares the keys, and goes on while they differ:
 *
 *	slot = slots_first(s, hash);
 *	while (slot->index && !is_equal(key, &keys[slot->index - 1]))
 *		slot = slots_next(s, slot);
 */
static inline struct slot *slots_first(const struct slots *s, uint32_t hash)
{
	return slots_from(s, &s->all[hash & (s->capacity - 1)], hash);
}

/* The next one with the same hash as a slot that is in use, or the free one. */
static inline struct slot *slots_next(const struct slots *s, struct slot *slot)
{
	struct slot *next = slot == &s->all[s->capacity - 1] ? s->all : slot + 1;

	return slots_from(s, next, slot->hash);
}

int slots_grow(struct slots *s);

/* Room for one more slot than the count that is in use. 0 or -ENOMEM, and then nothing has changed.
 * Pointers to slots are void. */
static inline int slots_reserve(struct slots *s, uint32_t count)
{
	return count < s->capacity / 2 ? 0 : slots_grow(s);
}

/* Of a slot that is in use. Pointers to slots are void. */
void slots_remove(struct slots *s, struct slot *slot);
void slots_free(struct slots *s);
