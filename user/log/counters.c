#include "log/counters.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BITS 6

void counters_free(struct counters *c)
{
	free(c->slots);
	memset(c, 0, sizeof(*c));
}

void counters_reset(struct counters *c)
{
	c->used = 0;
	if (++c->generation)
		return;
	if (c->slots)
		memset(c->slots, 0, sizeof(*c->slots) << c->bits);
	c->generation = 1; /* 0 marks a free slot in fresh memory */
}

/* The thread's slot, or the free one where it belongs. */
static struct counters_slot *find(const struct counters *c, uint64_t thread)
{
	size_t mask = ((size_t)1 << c->bits) - 1;
	size_t i = (size_t)(thread * 0x9e3779b97f4a7c15ull >> (64 - c->bits));

	while (c->slots[i].generation == c->generation && c->slots[i].thread != thread)
		i = (i + 1) & mask;
	return &c->slots[i];
}

static int grow(struct counters *c)
{
	struct counters bigger = *c;
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

uint64_t *counters_of(struct counters *c, uint64_t thread)
{
	struct counters_slot *slot = c->slots ? find(c, thread) : NULL;

	if (slot && slot->generation == c->generation)
		return slot->v;
	if (!c->slots || c->used >= 1u << (c->bits - 1)) {
		if (grow(c))
			return NULL;
		slot = find(c, thread);
	}
	memset(slot, 0, sizeof(*slot));
	slot->thread = thread;
	slot->generation = c->generation;
	c->used++;
	return slot->v;
}
