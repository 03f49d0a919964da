#include "log/format/counters.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#define FIRST_BITS 6
#define SMALL_FIRST 64
#define SMALL_MAX 4096

void counters_free(struct delta_table *c)
{
	free(c->small);
	free(c->slots);
	memset(c, 0, sizeof(*c));
}

void counters_reset(struct delta_table *c)
{
	c->used = 0;
	if (++c->generation)
		return;
	if (c->small)
		memset(c->small, 0, c->small_count * sizeof(*c->small));
	if (c->slots)
		memset(c->slots, 0, sizeof(*c->slots) << c->bits);
	c->generation = 1; /* 0 marks a free slot in fresh memory */
}

/* The thread's slot, or the free one where it belongs. */
static struct counters_slot *find(const struct delta_table *c, uint64_t thread)
{
	size_t mask = ((size_t)1 << c->bits) - 1;
	size_t i = hash_number(thread) & mask;

	while (c->slots[i].generation == c->generation && c->slots[i].thread != thread)
		i = (i + 1) & mask;
	return &c->slots[i];
}

static int grow(struct delta_table *c)
{
	struct delta_table bigger = *c;
	size_t i;

	bigger.bits = c->slots ? c->bits + 1 : FIRST_BITS;
	bigger.slots = calloc((size_t)1 << bigger.bits, sizeof(*bigger.slots));
	if (!bigger.slots)
		return -1;
	for (i = 0; c->slots && i < (size_t)1 << c->bits; i++)
		if (c->slots[i].generation == c->generation)
			*find(&bigger, c->slots[i].thread) = c->slots[i];
	free(c->slots);
	*c = bigger;
	return 0;
}

static uint64_t *slot_begin(const struct delta_table *c, struct counters_slot *slot,
			    uint64_t thread)
{
	memset(slot, 0, sizeof(*slot));
	slot->thread = thread;
	slot->generation = c->generation;
	return slot->v;
}

static int small_grow(struct delta_table *c, uint64_t thread)
{
	uint32_t count = c->small_count ? c->small_count : SMALL_FIRST;
	struct counters_slot *small;

	while (count <= thread)
		count *= 2;
	small = realloc(c->small, count * sizeof(*small));
	if (!small)
		return -1;
	memset(small + c->small_count, 0, (count - c->small_count) * sizeof(*small));
	c->small = small;
	c->small_count = count;
	return 0;
}

static uint64_t *small_of(struct delta_table *c, uint64_t thread)
{
	if (thread >= c->small_count && small_grow(c, thread))
		return NULL;
	if (c->small[thread].generation == c->generation)
		return c->small[thread].v;
	return slot_begin(c, &c->small[thread], thread);
}

uint64_t *counters_of(struct delta_table *c, uint64_t thread)
{
	struct counters_slot *slot;

	if (thread < SMALL_MAX)
		return small_of(c, thread);
	slot = c->slots ? find(c, thread) : NULL;
	if (slot && slot->generation == c->generation)
		return slot->v;
	if (!c->slots || c->used >= 1u << (c->bits - 1)) {
		if (grow(c))
			return NULL;
		slot = find(c, thread);
	}
	c->used++;
	return slot_begin(c, slot, thread);
}
