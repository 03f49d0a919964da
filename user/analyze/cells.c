#include "analyze/cells.h"

#include <stdlib.h>

int cells_add(struct cells *c, const struct cell_key *key, uint32_t *ret)
{
	/* Threads have 32 bits: there is room for the flag. */
	struct place_key place = {key->lock,         key->waiter | (uint64_t)key->after_wait << 32,
				  key->holder,       key->waiter_stack,
				  key->holder_stack, key->behind};
	struct cell *cell;
	int err = places_add_row(&c->places, place, &c->rows, &c->capacity, sizeof(*c->rows), ret);

	if (err)
		return err;
	cell = &c->rows[*ret];
	cell->lock = key->lock;
	cell->waiter = key->waiter;
	cell->holder = key->holder;
	cell->waiter_stack = key->waiter_stack;
	cell->holder_stack = key->holder_stack;
	cell->behind = key->behind;
	cell->after_wait = key->after_wait;
	return 0;
}

void cells_free(struct cells *c)
{
	places_free(&c->places);
	free(c->rows);
	*c = (struct cells){0};
}
