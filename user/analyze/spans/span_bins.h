/* analyze/spans/span_bins.h: ended spans by name and by the windows of time in which they began
 * and ended, in bounded memory. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/threads/states.h"
#include "base/tables/keymap.h"

/* At most so many windows of equal length; a log that is longer, or that has more rows than there
 * is room for, gets windows of twice the length. With fewer than the least all is given up. */
#define SPAN_BINS_WINDOWS_MAX 512
#define SPAN_BINS_WINDOWS_LEAST 16
#define SPAN_BINS_ROWS_MAX 60000
#define SPAN_BINS_LENGTHS_MAX 300000

struct span_ended;
struct span_name;

/* Spans of one name that began in one window and ended in another or the same. */
struct span_bin {
	const struct span_name *name; /* lent by the spans */
	uint32_t from, to;
	uint64_t count, total_ns, self_ns, max_ns;
	struct states states, self;
};

/* How many spans of a bin were as long as a step says: quantiles_step(). */
struct span_length {
	uint32_t bin, step;
	uint64_t count;
};

/* All zero but for begin_ns and length_ns at first. */
struct span_bins {
	uint64_t begin_ns, length_ns;
	bool full;         /* too many: nothing is known */
	uint32_t rows_max; /* not 0: in place of SPAN_BINS_ROWS_MAX */
	struct keymap bin_map, length_map;
	struct span_bin *bins;       /* bin_map.count of them */
	struct span_length *lengths; /* length_map.count of them */
	uint32_t bins_capacity, lengths_capacity;
};

/* For spans_options.ended, with bins as its context. 0 or -ENOMEM. */
int span_bins_add(void *bins, const struct span_ended *e);
void span_bins_free(struct span_bins *b);
