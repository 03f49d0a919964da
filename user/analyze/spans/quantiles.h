/* analyze/spans/quantiles.h: how long things took, in bounded memory: counts by length, in steps
 * of 1/64 of it. */
#pragma once

#include <stdint.h>

/* A quantile is off by at most this part of it; lengths below 64 are exact. */
#define QUANTILES_ERROR (1.0 / 128)

#define QUANTILES_ROWS 59

struct quantiles {
	uint64_t count, max;
	uint64_t *rows[QUANTILES_ROWS]; /* by the highest bit; NULL: none of these */
};

/* 0 or -ENOMEM, and then nothing has changed. */
int quantiles_add(struct quantiles *q, uint64_t value);
/* The value that this many of 1,000 do not exceed; 0: there are none. */
uint64_t quantiles_at(const struct quantiles *q, unsigned per_mille);
/* The step that a value is counted in, from 0 on: analyze/cells/lengths.c has the same ones. */
unsigned quantiles_step(uint64_t value);
void quantiles_free(struct quantiles *q);
