/* analyze/diff/time_bins.h: when things were, in bins of equal width, before it is known when the
 * end is. */
#pragma once

#include <stdint.h>

#define DIFF_WINDOWS 10 /* of a recording, of equal length */
#define TIME_BINS 160   /* an even number */
#define TIME_BINS_ROWS_MAX (1u << 15)

/* All zero at first, but from_ns. Bins become twice as wide when there would be more of them. */
struct time_bins {
	uint64_t from_ns;  /* what is before is left out */
	uint64_t width_ns; /* 0: nothing is in it yet */
	float (*rows)[TIME_BINS];
	uint32_t count, capacity;
};

/* Its index. 0; -ENOMEM; -E2BIG: there are TIME_BINS_ROWS_MAX. */
int time_bins_row(struct time_bins *b, uint32_t *ret);
/* An interval, with its ns; or a moment (from_ns is to_ns), which counts 1. */
void time_bins_add(struct time_bins *b, uint32_t row, uint64_t from_ns, uint64_t to_ns);
/* What a row has in each window of the time from from_ns to to_ns; is added to ret. */
void time_bins_windows(const struct time_bins *b, uint32_t row, uint64_t from_ns, uint64_t to_ns,
		       double ret[DIFF_WINDOWS]);
void time_bins_free(struct time_bins *b);

/* What of an amount that is spread evenly from begin_ns to end_ns is in each window. */
void windows_spread(double amount, uint64_t begin_ns, uint64_t end_ns, uint64_t from_ns,
		    uint64_t to_ns, double ret[DIFF_WINDOWS]);
