#include "analyze/time_buckets.h"

static const uint64_t most_ns[TIME_BUCKETS] = {100000,     1000000,    10000000,   100000000,
					       1000000000, 3000000000, 10000000000};

void time_buckets_add(struct time_buckets *b, uint64_t ns)
{
	unsigned i = 0;

	while (i < TIME_BUCKETS && ns > most_ns[i])
		i++;
	b->counts[i]++;
}
