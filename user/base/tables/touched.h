/* base/tables/touched.h: which rows of a table were touched since the last round: what is done of
 * all of them at the end of a round costs no more than what they were touched for. */
#pragma once

#include <stdint.h>
#include <stdlib.h>

#include "base/tables/array.h"

/* All zero at the start. */
struct touched {
	uint32_t *rows; /* their indexes, each once */
	uint32_t count, capacity;
	uint32_t round;
};

/* mark: the row's own, 0 in a new row. 0 or -ENOMEM. */
static inline int touched_add(struct touched *t, uint32_t *mark, uint32_t row)
{
	int err;

	if (*mark == t->round + 1)
		return 0;
	err = array_grow(&t->rows, &t->capacity, t->count, sizeof(*t->rows));
	if (err)
		return err;
	t->rows[t->count++] = row;
	*mark = t->round + 1;
	return 0;
}

static inline void touched_next_round(struct touched *t)
{
	t->count = 0;
	t->round++;
}

static inline void touched_free(struct touched *t)
{
	free(t->rows);
	*t = (struct touched){0};
}
