/* steal/compare.h: how far the proportional method is from the exact one. */
#pragma once

#include "steal/audit.h"

/*
 * exact, with the proportional shares of other, a span of the same time from another source; what
 * only other has is appended. ret->threads is the caller's to free; the rest is exact's. -ENOMEM.
 */
int steal_span_join(const struct steal_span *exact, const struct steal_span *other,
		    struct steal_span *ret);

/* Of a span that has both. */
struct steal_error {
	uint64_t exact_ns, proportional_ns; /* of threads */
	/* Charged to a thread from which it was not stolen, or not charged: half of the sum of the
	 * differences. Threads that have ended are reported by proportional as one per process, and
	 * compared like this. */
	uint64_t misplaced_ns;
	/* The differences of single threads, in millionths of their corrected CPU time (exact); of
	 * those for which that is least_ns or more. */
	size_t threads;
	uint64_t median_ppm, p90_ppm, max_ppm;
	struct steal_use top; /* the one of max_ppm */
};

int steal_compare(const struct steal_span *both, uint64_t least_ns, struct steal_error *ret);
