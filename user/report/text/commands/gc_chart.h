/* report/text/commands/gc_chart.h: the heap over time, as a chart on a terminal. */
#pragma once

#include <stdio.h>

struct gc_model;

/* Prints nothing if no collection has figures of the heap. 0 or -ENOMEM. */
int gc_chart_print(const struct gc_model *m, FILE *out);
