/* report/model/diff/diff_running.h: CPU time of a log by method, and its calling context tree; for
 * diff_log.c. */
#pragma once

#include <jansson.h>

#include "analyze/diff/call_paths.h"
#include "analyze/diff/time_bins.h"
#include "analyze/profile/profile.h"
#include "base/tables/keymap.h"

struct analysis;
struct diff_collect;
struct range;
struct session_log;

/* All zero at first. */
struct diff_running {
	struct profile profile;
	const struct log_names *names;
	struct time_bins bins;
	struct keymap frames; /* innermost ones, by method or symbol: their rows in bins */
	int err;
};

/* Before the first event: r has to stay where it is until diff_running_free. from_ns: of bins. */
void diff_running_begin(struct diff_running *r, const struct analysis *a, const json_t *header,
			const struct range *range, uint64_t from_ns);
/* Measures, of MEASURE_RUNNING, and edges: of all samples, and of those alone whose chain is whole
 * and of Java frames. 0 or -ENOMEM. */
int diff_running_collect(const struct diff_collect *c, struct diff_running *r,
			 const struct session_log *log, struct call_paths *all,
			 struct call_paths *whole);
void diff_running_free(struct diff_running *r);
