#include "log/format/counters.h"

#include <stdlib.h>

void counters_free(struct delta_table *c)
{
	keymap_free(&c->threads);
	free(c->rows);
	*c = (struct delta_table){.rows = NULL};
}

void counters_reset(struct delta_table *c)
{
	keymap_clear(&c->threads);
}

struct counters_row *counters_new(struct delta_table *c, uint64_t thread)
{
	uint32_t index = c->threads.count;

	if (array_grow(&c->rows, &c->capacity, index, sizeof(*c->rows)) ||
	    keymap_add_number(&c->threads, thread, &index))
		return NULL;
	c->rows[index] = (struct counters_row){.timed = false};
	return &c->rows[index];
}
