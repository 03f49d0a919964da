/* analyze/gc/gc_sums.h: collections by collector, operation and cause; how long pauses are; how
 * fast the application allocates. */
#pragma once

#include <stdint.h>

#include "analyze/gc/gc_series.h"
#include "analyze/vm/pause.h"

/* Collections of one kind, by one collector, for one reason. */
struct gc_group {
	struct gc_row like; /* the first: collector, kind, operation and cause are those of all */
	struct pause_times times;
	uint64_t heaps; /* of which the heap is known; sums over these: */
	uint64_t freed_bytes, before_bytes, after_bytes, survivor_bytes, promoted_bytes;
};

struct gc_quantiles {
	uint64_t p50_ns, p90_ns, p99_ns, p999_ns; /* the length that so many do not exceed */
};

struct gc_sums {
	struct gc_group *groups; /* in the order in which they came */
	uint32_t group_count;
	struct pause_times pauses;
	struct gc_quantiles quantiles; /* of the pauses that are kept */
	uint64_t cycles;
	uint64_t freed_bytes;
	uint64_t allocated_bytes; /* between the collections that do not overlap ... */
	uint64_t allocated_ns;    /* ... in so much time */
};

/* What a collection has freed; 0 if more was there after it than before. */
uint64_t gc_row_freed(const struct gc_row *r);
static inline uint64_t gc_row_ns(const struct gc_row *r)
{
	return r->end_ns > r->begin_ns ? r->end_ns - r->begin_ns : 0;
}

/* 0: *ret is to be freed; -ENOMEM. */
int gc_sums_make(const struct gc_row *rows, uint32_t count, struct gc_sums *ret);
void gc_sums_free(struct gc_sums *s);
