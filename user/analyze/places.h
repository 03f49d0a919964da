/* analyze/places.h: gives every key a place in a table: 0, 1, 2, ... in the order in which keys
 * come. */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Tables that need less leave the last ones zero. */
struct place_key {
	uint64_t a, b, c, d, e, f;
};

struct places {
	struct place_key *keys; /* by place */
	uint32_t *slots;        /* open addressing; 1 + place, 0: free */
	uint32_t count;
	uint32_t keys_capacity;
	uint32_t slots_capacity; /* 0 or a power of two */
};

#define PLACE_NONE UINT32_MAX

/* PLACE_NONE: the key has no place. */
uint32_t places_find(const struct places *p, struct place_key key);
/* The key's place, a new one if need be (then it is the count of before). 0 or -ENOMEM. */
int places_add(struct places *p, struct place_key key, uint32_t *ret);
/* Forgets all keys; the memory stays. */
void places_clear(struct places *p);
void places_free(struct places *p);

/*
 * Makes room for one more element of size bytes behind the first count; what is new is zero. array
 * is the address of the pointer to the first. 0 or -ENOMEM, and then nothing has changed.
 */
int array_grow(void *array, uint32_t *capacity, uint32_t count, size_t size);

/* As places_add, with the table that belongs to it: its row for a new key is zero. */
int places_add_row(struct places *p, struct place_key key, void *rows, uint32_t *capacity,
		   size_t size, uint32_t *ret);
