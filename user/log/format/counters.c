#include "log/format/counters.h"

#include <stdlib.h>

void counters_free(struct delta_table *c)
{
	places_free(&c->threads);
	free(c->rows);
	*c = (struct delta_table){.rows = NULL};
}

void counters_reset(struct delta_table *c)
{
	places_clear(&c->threads);
}

uint64_t *counters_new(struct delta_table *c, uint64_t thread)
{
	uint32_t place = c->threads.count;

	if (array_grow(&c->rows, &c->capacity, place, sizeof(*c->rows)) ||
	    places_add_number(&c->threads, thread, &place))
		return NULL;
	c->rows[place] = (struct counters_row){{0}};
	return c->rows[place].v;
}
