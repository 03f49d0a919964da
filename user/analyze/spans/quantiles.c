#include "analyze/spans/quantiles.h"

#include <errno.h>
#include <stdlib.h>

#define BITS 6
#define STEPS (1u << BITS)

_Static_assert(QUANTILES_ROWS == 64 - BITS + 1, "a row for each highest bit, and one below");

/* The lowest of a step's values is (STEPS + step) << (row - 1); in row 0 it is the step itself. */
static unsigned row_of(uint64_t value)
{
	return value < STEPS ? 0 : 64 - BITS - (unsigned)__builtin_clzll(value);
}

static unsigned step_of(uint64_t value, unsigned row)
{
	return (unsigned)(row ? value >> (row - 1) : value) % STEPS;
}

static uint64_t middle_of(unsigned row, unsigned step)
{
	return row ? ((uint64_t)(STEPS + step) << (row - 1)) + ((uint64_t)1 << (row - 1)) / 2
		   : step;
}

unsigned quantiles_step(uint64_t value)
{
	unsigned row = row_of(value);

	return row * STEPS + step_of(value, row);
}

int quantiles_add(struct quantiles *q, uint64_t value)
{
	unsigned row = row_of(value);

	if (!q->rows[row])
		q->rows[row] = calloc(STEPS, sizeof(**q->rows));
	if (!q->rows[row])
		return -ENOMEM;
	q->rows[row][step_of(value, row)]++;
	q->count++;
	if (value > q->max)
		q->max = value;
	return 0;
}

/* Rounded up: of 10 values, 999 of 1,000 are 10. Multiplied in two parts, which cannot overflow. */
static uint64_t rank_of(uint64_t count, unsigned per_mille)
{
	uint64_t rank = count / 1000 * per_mille + (count % 1000 * per_mille + 999) / 1000;

	return rank ? rank : 1;
}

uint64_t quantiles_at(const struct quantiles *q, unsigned per_mille)
{
	uint64_t left = rank_of(q->count, per_mille), value;

	if (left >= q->count) /* the longest, which is known */
		return q->max;
	for (unsigned row = 0; row < QUANTILES_ROWS; row++) {
		for (unsigned step = 0; q->rows[row] && step < STEPS; step++) {
			if (q->rows[row][step] < left) {
				left -= q->rows[row][step];
				continue;
			}
			value = middle_of(row, step);
			return value < q->max ? value : q->max;
		}
	}
	return 0;
}

void quantiles_free(struct quantiles *q)
{
	for (unsigned row = 0; row < QUANTILES_ROWS; row++)
		free(q->rows[row]);
	*q = (struct quantiles){0};
}
