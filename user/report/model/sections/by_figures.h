/* report/model/sections/by_figures.h: the figures of a group of contentions, as columns; for
 * by_*.c. */
#pragma once

#include "analyze/cells/groups.h"
#include "report/model/findings.h"

#define BY_FIGURES 20

/* time: what people see above the column of blocked time. */
void by_figures_columns(const char *time, struct findings_column columns[BY_FIGURES]);
/* longest: max_ns is known. */
void by_figures_add(struct findings *f, const struct group *g, bool longest);
