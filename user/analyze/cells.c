#include "analyze/cells.h"

#include <stdlib.h>

void split_add(struct split *s, const struct split *more)
{
	s->running_ns += more->running_ns;
	s->stolen_ns += more->stolen_ns;
	s->runnable_ns += more->runnable_ns;
	s->blocked_ns += more->blocked_ns;
	s->unknown_ns += more->unknown_ns;
}

int cells_add(struct cells *c, const struct cell_key *key, uint32_t *ret)
{
	struct place_key place = {key->lock, key->waiter, key->holder, key->waiter_stack,
				  key->holder_stack};
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
	return 0;
}

void cells_free(struct cells *c)
{
	places_free(&c->places);
	free(c->rows);
	*c = (struct cells){0};
}
