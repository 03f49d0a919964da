/* report/live/metrics_table.h: sums by labels, of which there is a bounded number. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define METRICS_LABELS 2

/* A row's values are the caller's. The last row is the one of all others; it has no labels. */
struct metrics_table {
	char *(*labels)[METRICS_LABELS]; /* count of them, NULL where there is no second */
	uint64_t *values;
	unsigned width; /* values of a row */
	uint32_t count, max;
	bool others; /* something is in the row of all others, whether there is room or not */
};

/* Zero, with room for max rows and that of the others. 0 or -ENOMEM; free it in any case. */
int metrics_table_init(struct metrics_table *t, uint32_t max, unsigned width);
void metrics_table_free(struct metrics_table *t);
/* The values of a row, a new one while there is room, else those of the others. second may be NULL.
 * NULL: no memory. They stay where they are. */
uint64_t *metrics_table_row(struct metrics_table *t, const char *first, const char *second);
/* Those that there are already; NULL: there is no such row. */
uint64_t *metrics_table_known(const struct metrics_table *t, const char *first, const char *second);
/* Those of all others. */
uint64_t *metrics_table_others(struct metrics_table *t);
/* Of rows 0 to count - 1, and max, which is that of the others. */
static inline uint64_t *metrics_table_values(const struct metrics_table *t, uint32_t row)
{
	return t->values + (uint64_t)row * t->width;
}

/* A label's value: any text, as both formats quote it. */
void metrics_put_label(const char *name, const char *value, FILE *out);
/* ns as seconds, without loss. */
void metrics_put_seconds(uint64_t ns, FILE *out);
