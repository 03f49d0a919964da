#include "base/tables/slots.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 32
#define CAPACITY_MAX (1u << 30)

static struct slot *free_slot(const struct slots *s, uint32_t hash)
{
	uint32_t mask = s->capacity - 1, i = hash & mask;

	while (s->all[i].index)
		i = (i + 1) & mask;
	return &s->all[i];
}

int slots_grow(struct slots *s)
{
	struct slots new = {.capacity = s->capacity ? s->capacity * 2 : FIRST_CAPACITY};

	if (new.capacity > CAPACITY_MAX)
		return -ENOMEM;
	new.all = calloc(new.capacity, sizeof(*new.all));
	if (!new.all)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->capacity; i++)
		if (s->all[i].index)
			*free_slot(&new, s->all[i].hash) = s->all[i];
	free(s->all);
	*s = new;
	return 0;
}

/* Those after it, up to the next free slot, move to where a search still finds them. */
void slots_remove(struct slots *s, struct slot *slot)
{
	uint32_t mask = s->capacity - 1, gap = (uint32_t)(slot - s->all), i = (gap + 1) & mask;

	for (; s->all[i].index; i = (i + 1) & mask) {
		if (((i - s->all[i].hash) & mask) < ((i - gap) & mask))
			continue; /* its search begins after the gap */
		s->all[gap] = s->all[i];
		gap = i;
	}
	s->all[gap].index = 0;
}

void slots_free(struct slots *s)
{
	free(s->all);
	*s = (struct slots){0};
}
