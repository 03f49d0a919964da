/* report/csv/heatmap_csv.h: when time was lost on locks, and when threads were sampled. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct cell;
struct cell_windows;
struct log_names;
struct profile_course;

#define HEATMAP_SLOT_NS 20000000ull /* of samples */

struct heatmap_input {
	const struct log_names *names;
	const struct cell *cells; /* of all contentions, or those that are chosen */
	uint32_t cell_count;
	bool chosen; /* of blocked time, that of these cells only */
	const struct cell_windows *windows;  /* not full */
	const struct profile_course *course; /* not full; without steps if there are no samples */
	uint64_t start_ns;                   /* of the recording: times are since then */
};

/* A row for each window, lock and pair of threads with blocked time, then one for each slot and
 * thread with samples. 0 or -ENOMEM; out's error flag says the rest. */
int heatmap_csv(const struct heatmap_input *in, FILE *out);
