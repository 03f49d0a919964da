/* analyze/cells/lengths.h: how long the contentions of each cell were, in bounded memory: counts by
 * length, in steps of 1/64 of it. */
#pragma once

#include <stdint.h>

/* A step is a number below LENGTH_STEPS; lengths below 64 ns have one each. */
#define LENGTH_BITS 6
#define LENGTH_STEPS (59u << LENGTH_BITS)
/* Beyond so many different pairs of cell and step, steps become twice as wide. */
#define LENGTHS_MAX (1u << 21)

/* Which lengths are asked for: of 1,000 contentions, so many were not longer. */
#define LENGTH_QUANTILES 4
extern const unsigned length_per_mille[LENGTH_QUANTILES];

struct length_row {
	uint64_t key; /* the cell's number and the step; 0: free */
	uint64_t count;
};

/* All zero at the start. */
struct lengths {
	struct length_row *rows; /* a hash table with open addressing, half full at most */
	uint32_t capacity, count;
	uint32_t max;   /* if not 0, in place of LENGTHS_MAX */
	unsigned shift; /* so many times steps have become twice as wide; LENGTH_BITS at most */
};

/* number is not 0. 0 or -ENOMEM. */
int lengths_add(struct lengths *l, uint32_t number, uint64_t ns);
/* What from has of each number below count, for the one that numbers has of it; 0: for none. 0 or
 * -ENOMEM. */
int lengths_merge(struct lengths *to, const struct lengths *from, const uint32_t *numbers,
		  uint32_t count);
void lengths_free(struct lengths *l);

/* The row at an index of rows. */
static inline uint32_t length_number(const struct length_row *row)
{
	return (uint32_t)(row->key >> 12);
}
static inline unsigned length_step(const struct length_row *row)
{
	return row->key & 0xfff;
}

/* The same by number: to sum up those of many cells. */
struct length_index {
	struct length_row *rows; /* those of number n from first[n] to first[n + 1] */
	uint32_t *first;
	uint32_t numbers; /* all are below it */
	unsigned shift;
};

/* Numbers up to cells. 0 or -ENOMEM. */
int length_index_make(const struct lengths *l, uint32_t cells, struct length_index *ret);
void length_index_free(struct length_index *x);

/* Sums of several cells; all zero between two uses. */
struct length_sums {
	uint64_t counts[LENGTH_STEPS], total;
	unsigned low, end; /* no step has any below low, or from end on */
};

void length_sums_add(struct length_sums *s, const struct length_index *x, uint32_t number);
/* The quantiles, and s is all zero again. longest_ns: of all these contentions. Zeros: there are
 * none. */
void length_sums_take(struct length_sums *s, unsigned shift, uint64_t longest_ns,
		      uint64_t ret[LENGTH_QUANTILES]);
