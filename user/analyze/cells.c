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

int cells_add(struct cells *c, uint64_t lock, uint64_t waiter, uint64_t holder, uint32_t *ret)
{
	struct place_key key = {lock, waiter, holder};
	int err = places_add_row(&c->places, key, &c->rows, &c->capacity, sizeof(*c->rows), ret);

	if (err)
		return err;
	c->rows[*ret].lock = lock;
	c->rows[*ret].waiter = waiter;
	c->rows[*ret].holder = holder;
	return 0;
}

void cells_free(struct cells *c)
{
	places_free(&c->places);
	free(c->rows);
	*c = (struct cells){0};
}
