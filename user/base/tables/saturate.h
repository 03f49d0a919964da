/* base/tables/saturate.h: sums of counts that come out of a log: any, up to 2^64 - 1. */
#pragma once

#include <stdint.h>

/* At most UINT64_MAX: a sum that wraps would be less than one of its parts, and whoever divides by
 * the whole relies on every part being at most the whole. */
static inline uint64_t sum_saturated(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}
