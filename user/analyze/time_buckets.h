/* analyze/time_buckets.h: how many of some times are how long, in few steps: for histograms of
 * metrics. */
#pragma once

#include <stdint.h>

/* Up to 0.1 ms, 1 ms, 10 ms, 0.1 s, 1 s, 3 s, 10 s; and that of all longer times. */
#define TIME_BUCKETS 7

struct time_buckets {
	uint64_t counts[TIME_BUCKETS + 1];
};

void time_buckets_add(struct time_buckets *b, uint64_t ns);
