/* report/heap/heap_diff.h: two heaps beside each other: which groups have grown. */
#pragma once

#include <stdio.h>

#include "report/heap/heap_report.h"

/* The same groups of two heaps; all is lent. The levels, the condition and the format are those of
 * after. */
struct heap_diff {
	const struct heap_report *before, *after;
};

/* 0 or -ENOMEM. */
int heap_report_diff(const struct heap_diff *d, FILE *out);
