/* report/model/sections/section_parts.h: cells that several sections have. */
#pragma once

#include "analyze/threads/states.h"
#include "report/model/findings.h"

struct log_names;
struct pause_times;

/* A string of the log; of one that is not in it "", and what people see. */
void section_string(struct findings *f, const struct log_names *names, uint64_t string,
		    const char *unknown);
/* The cells of FINDINGS_TIMES. */
void section_times(struct findings *f, const struct pause_times *t);
/* Columns as `like`, whose per is that of the first. In a log that does not tell states apart there
 * is "blocked", and nobody sees the columns of those that are within it. */
void section_states(struct findings_column columns[STATE_COUNT], const struct findings_column *like,
		    bool told);
