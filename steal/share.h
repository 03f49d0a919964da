/* steal/share.h: shares a sum out in proportion to weights, so that nothing is lost or made up. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct share {
	uint64_t weight;
	uint64_t key;  /* decides who gets a rest that two have the same claim to */
	uint64_t rest; /* of the division; for share_out only */
	uint64_t part; /* the result */
};

/*
 * part = total * weight / whole, rounded down or up such that all parts add up to what the sum of
 * the weights has of the whole; the return value is what remains of total for the rest of whole.
 * whole is at least the sum of the weights (if it is less, it counts as that sum). The order of
 * v changes, but no result depends on it if the keys differ.
 */
uint64_t share_out(uint64_t total, uint64_t whole, struct share *v, size_t count);
