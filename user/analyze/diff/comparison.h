/* analyze/diff/comparison.h: two sides of recordings, measure by measure: what differs, and what
 * may be chance. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/diff/measures.h"

#define COMPARISON_LOGS_MAX 20 /* of a side */
/* From so many logs on each side on, chance is judged by how the logs of a side differ; else by how
 * the windows of the logs do. */
#define COMPARISON_LOGS_ENOUGH 4

struct comparison_side {
	struct measures logs[COMPARISON_LOGS_MAX];
	unsigned count;
};

/* How it is known what may be chance. */
enum comparison_basis { COMPARISON_NONE, COMPARISON_WINDOWS, COMPARISON_LOGS };

/* Rates, in ns a unit: the median of the logs; and the lowest and the highest. */
struct comparison_figure {
	double rate, lowest, highest;
	uint64_t ns, count; /* the sum over the logs; of a level the largest */
	bool known;         /* a log has it */
};

struct comparison_row {
	const char *name; /* lent by the sides, as they are until comparison_free */
	enum measure_part part;
	bool level;
	struct comparison_figure before, after;
	enum comparison_basis basis;
	double chance;   /* of such a difference where there is none: see rank_sum.h */
	double noise;    /* by which part of the median half of the windows, or logs, differ from
			  it; the larger of both sides */
	bool stands_out; /* it is hardly chance, also if it is one of many rows */
};

struct comparison {
	const struct comparison_side *before, *after;
	enum measure_per per;
	struct comparison_row *rows; /* by part, then by the size of the change */
	uint32_t count;
};

/* The sides are lent until comparison_free. 0 or -ENOMEM. */
int comparison_make(const struct comparison_side *before, const struct comparison_side *after,
		    enum measure_per per, struct comparison *ret);
void comparison_free(struct comparison *c);
static inline double comparison_change(const struct comparison_row *r)
{
	return r->after.rate - r->before.rate;
}
/* NULL: no log has it. */
const struct comparison_row *comparison_find(const struct comparison *c, enum measure_part part,
					     const char *name);
