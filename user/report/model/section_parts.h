/* report/model/section_parts.h: cells that several sections have. */
#pragma once

#include "report/model/findings.h"

struct log_names;
struct pause_times;

/* A string of the log; of one that is not in it "", and what people see. */
void section_string(struct findings *f, const struct log_names *names, uint64_t string,
		    const char *unknown);
/* The cells of FINDINGS_TIMES. */
void section_times(struct findings *f, const struct pause_times *t);
