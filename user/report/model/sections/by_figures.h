/* report/model/sections/by_figures.h: the figures of a group of contentions, as columns; for
 * by_*.c. */
#pragma once

#include "analyze/groups/groups.h"
#include "report/model/findings.h"

#define BY_FIGURES 26

/* time: what people see above the column of blocked time. */
void by_figures_columns(const char *time, struct findings_column columns[BY_FIGURES]);
/* People see two quantiles of the four, but if all is true. */
void by_figures_show(struct findings_column columns[BY_FIGURES], bool all);
/* longest: max_ns and quantiles are known. */
void by_figures_add(struct findings *f, const struct group *g, bool longest);
