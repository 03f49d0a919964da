/* log/read/prefix_sums.h: checksums of any stretch of a stream, at a cost that its length does not
 * matter to. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "log/format/block.h"

/*
 * The CRC-32 of all bytes from a begin up to each PREFIX_STEP-th one, for the last PREFIX_SPAN
 * bytes. CRCs can be combined: those of the bytes up to a stretch and up to its end say what that
 * of the stretch is.
 */
#define PREFIX_STEP 256
#define PREFIX_SPAN (32u << 20) /* more than the longest block, and what is after it */

struct prefix_sums;

/* The first byte that counts is at this offset. -ENOMEM. */
int prefix_sums_new(uint64_t begin, struct prefix_sums **ret);
void prefix_sums_free(struct prefix_sums *p); /* accepts NULL */
/* What follows begins here, and has nothing to do with what was before. */
void prefix_sums_restart(struct prefix_sums *p, uint64_t begin);
/*
 * Whether the block whose first byte is bytes[0], at this offset of the stream, is intact. The
 * whole block is in memory. Offsets do not go back.
 */
bool prefix_sums_check(struct prefix_sums *p, const uint8_t *bytes, uint64_t offset,
		       const struct block *b);
/* How many bytes it has taken checksums of, at most. */
uint64_t prefix_sums_work(const struct prefix_sums *p);
