/* report/model/sections/section_internal.h: cells that several sections have. */
#pragma once

#include "analyze/threads/states.h"
#include "report/model/findings.h"

struct log_names;
struct pause_times;

/* A string of the log; of one that is not in it "", and what people see. */
void section_string(struct findings *f, const struct log_names *names, uint64_t string,
		    const char *unknown);
/* How often, and for how long. */
#define FINDINGS_TIMES                                                                             \
	{.key = "count", .title = "count", .unit = FINDINGS_COUNT, .least = 6},                    \
		{.key = "total_ns", .title = "total", .unit = FINDINGS_NS},                        \
		FINDINGS_MEAN_OF(-1, -2),                                                          \
	{                                                                                          \
		.key = "max_ns", .title = "max", .unit = FINDINGS_NS, .flags = FINDINGS_NO_SUM     \
	}
#define FINDINGS_MEAN_OF(of_, per_)                                                                \
	{                                                                                          \
		.title = "mean", .unit = FINDINGS_NS, .show = FINDINGS_MEAN, .of = (of_),          \
		.per = (per_)                                                                      \
	}
/* Its cells. */
void section_times(struct findings *f, const struct pause_times *t);
/* Columns as `like`, whose per is that of the first. In a log that does not distinguish states
 * there is "blocked", and nobody sees the columns of those that are within it. */
void section_states(struct findings_column columns[STATE_COUNT], const struct findings_column *like,
		    bool has_reasons);
